"""The command line, as a person or a script meets it."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FILE, printed
from rich.cells import cell_len

from sandtrail.sandbox import library
from sandtrail.sandbox.cli import main


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
            assert set(finding) == {"code", "at", "severity", "grade", "reason", "evidence"}


def test_json_has_the_same_keys_whatever_comes_of_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    keys = {"overall", "agent", "seed", "run", "scenarios", "unexpected_writes", "tokens", "cost_usd"}
    one_keys = {
        "id",
        "revision",
        "repetition",
        "overall",
        "ended",
        "first_decision",
        "recovery",
        "unexpected_writes",
    }
    one_keys |= {"idle_passes", "ambiguous", "counts", "not_evaluable", "turns", "calls", "findings"}
    every = [("--agent", "scripted"), ("--agent", "do-nothing"), ("--tag", "nothing")]
    for told in [json.loads(printed(capsys, "run", "--limit", "3", "--json", *words)[1]) for words in every]:
        assert set(told) == keys
        assert all(set(one) == one_keys for one in told["scenarios"])
        assert (told["run"], told["cost_usd"], told["tokens"]) == (None, None, 0)
    nothing = json.loads(printed(capsys, "run", "--json", "--tag", "nothing")[1])
    assert (nothing["overall"], nothing["scenarios"]) == ("not_evaluable", [])


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
        ("run", "--agent", "scripted", "--trail", "--limit", "20"),
        ("selftest",),
        ("list",),
        ("list", "--tag", "provenance"),
        ("show", "refund-the-second-charge"),
        ("show", "support@1"),
        ("lint", "refund-the-second-charge"),
        ("run", "--tag", "no-such-tag"),
        ("bench", "--customers", "3", "--rounds", "3"),
    ],
)
def test_output_fits_eighty_columns_and_prints_symbols_only(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sandtrail.sandbox.selftest.SEEDS", range(2))
    _, out, _ = printed(capsys, *words)
    assert max(map(cell_len, out.splitlines())) <= 80
    assert "pay_" not in out
    assert "\x1b" not in out


def test_a_scenario_file_without_a_script_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE)
    code, _, err = printed(capsys, "run", str(file), "--agent", "scripted")
    assert code == 2
    assert "there are no scripts for mine; write mine.scripts.yaml into" in err


SCRIPTS = """\
polite:
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


def test_bad_files_are_reported_with_line_and_exit_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE.replace("  says: Hello.", "  sayz: Hello."))
    code, out, err = printed(capsys, "run", str(file))
    assert (code, out) == (2, "")
    assert f"{file}:6: user: unknown key 'sayz'; did you mean says?" in err


@pytest.mark.parametrize("words", [("run", "--tag", "no-such-tag"), ("list", "--tag", "no-such-tag")])
def test_what_evaluates_nothing_exits_four_and_says_so(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = printed(capsys, *words)
    assert code == 4
    assert out.rstrip().splitlines()[-1].startswith("exit 4: ")
    assert out.rstrip().endswith("no scenario has the tag no-such-tag")


def test_an_empty_dataset_evaluates_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "none.jsonl"
    file.write_text("\n")
    for command in ("run", "list"):
        code, out, _ = printed(capsys, command, str(file))
        assert code == 4
        assert re.fullmatch(r"exit 4: .*none\.jsonl.*|exit 4: .*…", out.rstrip().splitlines()[-1])
        assert printed(capsys, command, str(file), "--json")[0] == 4
    code, out, _ = printed(capsys, "lint", str(file))
    assert (code, out) == (4, "exit 4: 0 scenarios checked\n")
    code, _, err = printed(capsys, "show", str(file))
    assert (code, "none.jsonl holds no scenario" in err) == (2, True)


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
    told = json.loads(out)
    stages = told["stages"]
    assert {"substring", "token_set", "sandtrail"} == set(told["provenance"])
    wanted = {"fork_ms", "reset_ms", "read_call_ms", "write_call_ms", "http_read_ms", "http_write_ms"}
    assert code == 0
    assert wanted | {"read_only_check_ms", "trajectory_5_calls_ms", "import_ms"} <= set(stages)
    assert all(value > 0 for value in stages.values())


def test_the_installed_command_runs_and_survives_a_closed_pipe() -> None:
    command = f"{sys.executable} -m sandtrail.sandbox.cli run | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("scenario ")
    assert "Traceback" not in done.stderr


class Terminal(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_how_far_it_is_and_a_pipe_is_not(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", "--limit", "4", "--agent", "do-nothing", "--max-connections", "1")
    assert printed(capsys, *words)[2] == ""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main([*words, "--json"]) == 1
    assert terminal.getvalue() == ""
    assert main(words) == 1
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown[1].startswith("0/4 runs, 0 failed, 0 tokens  ")
    assert re.match(r"4/4 runs, [0-4] failed, 0 s left, 0 tokens  ", shown[-2])
    assert shown[-1] == ""
    assert max(map(cell_len, shown)) <= 79


def test_scenarios_without_a_script_of_the_name_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("mine", "yours"):
        (tmp_path / f"{name}.scenario.yaml").write_text(FILE.replace("scenario: mine", f"scenario: {name}"))
    (tmp_path / "mine.scripts.yaml").write_text(SCRIPTS.replace("  - {say: [}\n", "  - {say: No.}\n"))
    code, _, err = printed(capsys, "run", str(tmp_path), "--agent", "polite")
    assert (code, "there are no scripts for yours" in err) == (2, True)
    code, out, _ = printed(capsys, "run", "--agent", "careless")
    left = re.search(r"\n(\d+) scenarios? without a script 'careless' left out\n", out)
    rows = [
        line for line in out.splitlines() if re.match(r"\S+ +(PASS|WARN|FAIL|harness|open|unseen) ", line)
    ]
    assert len(rows) + int(left[1] if left else 0) == len(list(library()))
