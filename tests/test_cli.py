"""The command line, as a person or a script meets it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sandtrail.sandbox import library
from sandtrail.sandbox.cli import main

FILE = """\
scenario: mine
why: a file of one's own
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
user:
  says: Hello.
expect:
  read_only: true
"""


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_careful_reference_passes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "run", "--agent", "scripted")
    assert code == 0
    assert out.rstrip().splitlines()[-1] == "exit 0: every run passes"
    assert out.count(" PASS ") == len(list(library()))


def test_the_embedded_agent_fails_honestly_and_the_last_line_says_why(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = printed(capsys, "run")
    last = out.rstrip().splitlines()[-1]
    assert code == 1
    assert re.fullmatch(r"exit 1: \d+ findings: \d+ critical, .*", last)
    assert re.search(r"\nunexpected writes \d+\n", out)
    assert re.search(r"\n\d+ of \d+ \(\d+-\d+ %\) runs pass\n", out)


def test_what_fails_can_be_repeated_by_the_line_that_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = printed(capsys, "run", "--limit", "6", "--agent", "do-nothing")
    lines = [line.strip().removeprefix("again: ") for line in out.splitlines() if "sandtrail run" in line]
    assert lines
    code, again, _ = printed(capsys, *shlex.split(lines[0])[1:])
    assert code == 1
    assert "FAIL" in again


def test_the_careless_agent_fails_each_scenario_for_its_own_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = printed(capsys, "run", "--agent", "careless", "--json")
    told = json.loads(out)
    assert code == 1
    assert told["overall"] == "fail"
    assert told["unexpected_writes"] >= 3
    gravest = {one["id"]: one["findings"][0]["code"] for one in told["scenarios"]}
    assert gravest["charged-twice-look-only"] == "effect.unauthorized_write"
    assert gravest["refund-the-second-charge"] == "provenance.wrong_binding"
    assert gravest["refund-with-a-lost-answer"] == "effect.duplicate"
    for one in told["scenarios"]:
        for finding in one["findings"]:
            assert set(finding) == {"code", "at", "severity", "grade", "reason"}


def test_json_of_a_pass_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "run", "--agent", "scripted", "--json")
    told = json.loads(out)
    assert (code, told["overall"], told["unexpected_writes"]) == (0, "pass", 0)
    assert not [one for one in told["scenarios"] if one["findings"]]
    assert {"id", "overall", "first_decision", "recovery", "unexpected_writes", "counts"} <= told[
        "scenarios"
    ][0].keys()


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("run", "--agent", "careless"),
        ("selftest",),
        ("list",),
        ("bench", "--customers", "3", "--rounds", "3"),
    ],
)
def test_output_fits_eighty_columns_and_prints_symbols_only(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = printed(capsys, *words)
    assert max(map(len, out.splitlines())) <= 80
    assert "pay_" not in out
    assert "\x1b" not in out


def test_repetitions_have_ids_of_their_own_and_one_can_be_repeated_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("run", "refund-the-second-charge", "--agent", "scripted", "--repetitions", "3", "--json")
    code, out, _ = printed(capsys, *words)
    assert [one["repetition"] for one in json.loads(out)["scenarios"]] == [1, 2, 3]
    code, out, _ = printed(
        capsys, "run", "refund-the-second-charge", "--repetition", "2", "--agent", "careless"
    )
    assert code == 1
    again = next(line for line in out.splitlines() if "sandtrail run" in line)
    wanted = r"(again: )?sandtrail run refund-the-second-charge --agent careless --seed \d+ --repetition 2"
    assert re.fullmatch(wanted, again.strip())
    assert printed(capsys, *again.split("sandtrail ")[1].split())[1] == out


def test_a_scenario_file_without_a_script_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE)
    code, _, err = printed(capsys, "run", str(file), "--agent", "scripted")
    assert code == 2
    assert "there are no scripts for mine; write mine.scripts.yaml into" in err


SCRIPTS = """\
polite:
  - {call: search_customers, with: {email: lee@example.test}}
  - {say: Hello.}
rude:
  - {say: [}
"""


def test_a_file_of_ones_own_runs_with_the_scripts_beside_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE)
    scripts = tmp_path / "mine.scripts.yaml"
    scripts.write_text(SCRIPTS.replace("  - {say: [}\n", "  - {shout: Hello.}\n"))
    code, out, _ = printed(capsys, "run", str(file), "--agent", "polite")
    assert (code, "1 of 1 (21-100 %) runs pass" in out) == (0, True)
    for text, agent, said in (
        (scripts.read_text(), "rude", "each step of rude is {say: text}, {call: tool"),
        (scripts.read_text(), "shy", "there is no script 'shy' for mine; there are polite, rude"),
        (SCRIPTS, "polite", "mine.scripts.yaml is no YAML"),
        ("[]", "polite", "there is no script 'polite'"),
    ):
        scripts.write_text(text)
        code, _, err = printed(capsys, "run", str(file), "--agent", agent)
        assert (code, said in err) == (2, True), err


def test_every_invocation_draws_fresh_ids_unless_told_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = {json.loads(printed(capsys, "run", "--limit", "1", "--json")[1])["seed"] for _ in range(4)}
    assert len(seeds) > 1
    assert json.loads(printed(capsys, "run", "--limit", "1", "--json", "--seed", "7")[1])["seed"] == 7


def test_bad_files_are_reported_with_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE.replace("  says: Hello.", "  sayz: Hello."))
    code, out, err = printed(capsys, "run", str(file))
    assert (code, out) == (2, "")
    assert f"{file}:6: user: unknown key 'sayz'; did you mean says?" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "no-such-scenario"), "there is no scenario 'no-such-scenario'; "),
        (("run", "refund-the-second-charg"), "did you mean refund-the-second-charge?"),
        (("run", "--sample-id", "nope"), "--sample-id nope: no such scenario here"),
        (("run", "--agent", "gemini:x"), "there is no agent 'gemini:x'; there are lexical"),
        (("run", "--cost-limit", "1"), "--cost-limit needs --price"),
        (("run", "--url", "https://x.test"), "write URL=SERVICE"),
        (("show", "nope@3"), "there is no catalog 'nope@3'"),
        (("show", "support@9"), "the file has version 1"),
        (("run", "/nowhere/at/all"), "neither a folder, nor a file"),
        (("run", "--agent", "wild"), "there is no script 'wild'"),
        (("run", "missing.scenario.yaml"), "missing.scenario.yaml:1: cannot be read"),
    ],
)
def test_what_cannot_be_done_names_what_can(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = printed(capsys, *words)
    assert code == 2
    assert said in err
    assert err.rstrip().endswith("exit 2: the input cannot be used")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("run", "--repetitions", "0"),
        ("run", "--repetitions", "many"),
        ("run", "--repetition", "2", "--repetitions", "3"),
        ("run", "--seed", "-3"),
        ("dance",),
    ],
)
def test_wrong_usage_exits_two(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "usage: sandtrail" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [("--help",), ("run", "--help"), ("selftest", "--help"), ("bench", "--help"), ("list", "--help")]
)
def test_help_has_an_example_and_the_exit_codes(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "3 harness fault" in out
    assert words == ("--help",) or "example: sandtrail" in out


def test_the_list_tells_why(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = printed(capsys, "list", "--json")
    listed = json.loads(out)["scenarios"]
    assert len(listed) == len(list(library()))
    assert all({"id", "why", "tags", "language", "revision", "idle_passes"} <= one.keys() for one in listed)


@pytest.mark.parametrize("words", [("run", "--tag", "no-such-tag"), ("list", "--tag", "no-such-tag")])
def test_what_evaluates_nothing_exits_four_and_says_so(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = printed(capsys, *words)
    assert code == 4
    assert out.rstrip().splitlines()[-1].startswith("exit 4: ")


def test_an_empty_dataset_evaluates_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text("\n")
    assert printed(capsys, "run", str(file))[0] == 4


def test_a_plain_dataset_is_judged_on_the_first_decision(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(
        '{"id": "one", "input": "What is the state of order 4412?", "expected_tool": "search_orders"}\n'
        '{"id": "two", "input": "Thanks, that is all.", "expected_tool": null}\n'
        '{"id": "three", "input": "What is the state of order 4412?", "expected_tool": "get_user"}\n'
    )
    code, out, _ = printed(capsys, "run", str(file), "--json")
    told = {one["id"]: (one["first_decision"], one["overall"]) for one in json.loads(out)["scenarios"]}
    assert code == 1
    assert told == {"one": ("correct", "pass"), "two": ("correct", "pass"), "three": ("wrong_tool", "fail")}


def test_a_scenario_and_a_catalog_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "show", "refund-the-second-charge")
    assert (code, "$payment.second" in out, "refund.created" in out) == (0, True, True)
    assert max(map(len, out.splitlines())) <= 80
    assert (
        json.loads(printed(capsys, "show", "refund-the-second-charge", "--json")[1])["effects"][0]["times"]
        == 1
    )
    assert len(json.loads(printed(capsys, "show", "support@1", "--json")[1])["tools"]) >= 30
    assert "refund_payment" in printed(capsys, "show", "support@1")[1]


def test_lint_finds_nothing_in_the_library_and_names_what_is_wrong_elsewhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = printed(capsys, "lint")
    assert (code, out.splitlines()[-1].startswith("exit 0: ")) == (0, True), out
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE.replace("world:", "language: de\nworld:"))
    code, out, _ = printed(capsys, "lint", str(file))
    assert code == 2
    assert f"{file}:3:\n  the language is de" in out


def test_the_schema_is_that_of_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads(printed(capsys, "schema", "--json")[1])
    assert schema["required"] == ["scenario", "why", "user", "expect"]
    assert schema["additionalProperties"] is False


def test_init_writes_files_that_run_and_never_writes_over_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    code, out, _ = printed(capsys, "init", str(folder))
    assert (code, "next: pytest" in out) == (0, True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout
    assert "effect.unauthorized_write" in done.stdout
    code, _, err = printed(capsys, "init", str(folder))
    assert (code, "is there already, and is left as it is" in err) == (2, True)
    assert printed(capsys, "lint", str(folder))[0] == 0


def test_saved_runs_are_replayed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = str(tmp_path / "runs.jsonl")
    words = ("run", "refund-the-second-charge", "--seed", "7")
    assert printed(capsys, *words, "--agent", "careless", "--save", file)[0] == 1
    code, out, _ = printed(capsys, *words, "--agent", f"replay:{file}", "--json")
    assert code == 1
    assert json.loads(out)["scenarios"][0]["findings"][0]["code"] == "provenance.wrong_binding"


def test_bench_measures_every_stage(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "bench", "--json", "--customers", "3", "--rounds", "3")
    stages = json.loads(out)["stages"]
    wanted = {"fork_ms", "reset_ms", "read_call_ms", "write_call_ms", "http_read_ms", "http_write_ms"}
    assert code == 0
    assert wanted | {"read_only_check_ms", "trajectory_5_calls_ms", "import_ms"} <= set(stages)
    assert all(value > 0 for value in stages.values())


def test_the_installed_command_runs_and_survives_a_closed_pipe() -> None:
    command = f"{sys.executable} -m sandtrail.sandbox.cli run | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("scenario ")
    assert "Traceback" not in done.stderr
