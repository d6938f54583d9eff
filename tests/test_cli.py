"""The command line, as a person or a script meets it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    code, out, _ = printed(capsys, "run")
    assert code == 0
    assert out.rstrip().splitlines()[-1] == "exit 0: every run passes"
    assert out.count("PASS") == 3


def test_the_careless_agent_fails_each_scenario_for_its_own_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = printed(capsys, "run", "--agent", "careless", "--json")
    told = json.loads(out)
    assert code == 1
    assert told["overall"] == "fail"
    assert told["unexpected_writes"] == 3
    assert {one["id"]: one["findings"][0]["code"] for one in told["scenarios"]} == {
        "charged-twice-look-only": "effect.unauthorized_write",
        "refund-the-second-charge": "effect.wrong_target",
        "refund-with-a-lost-answer": "effect.duplicate",
    }
    for one in told["scenarios"]:
        for finding in one["findings"]:
            assert set(finding) == {"code", "at", "severity", "reason"}


def test_json_of_a_pass_has_the_documented_shape(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "run", "--agent", "scripted", "--json")
    told = json.loads(out)
    assert (code, told["overall"], told["unexpected_writes"]) == (0, "pass", 0)
    assert [one["findings"] for one in told["scenarios"]] == [[], [], []]


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
    code, out, _ = printed(capsys, "run", "refund-the-second-charge", "--repetitions", "3", "--json")
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
    code, _, err = printed(capsys, "run", str(file))
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
    assert (code, "1 of 1 run pass" in out) == (0, True)
    for text, agent, said in (
        (scripts.read_text(), "rude", "each step of rude is {say: text} or {call: tool"),
        (scripts.read_text(), "shy", "there is no script 'shy' for mine; there are polite, rude"),
        (SCRIPTS, "polite", "mine.scripts.yaml is no YAML"),
        ("[]", "polite", "there is no script 'polite'"),
    ):
        scripts.write_text(text)
        code, _, err = printed(capsys, "run", str(file), "--agent", agent)
        assert (code, said in err) == (2, True), err


def test_every_invocation_draws_fresh_ids_unless_told_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = {json.loads(printed(capsys, "run", "--json")[1])["seed"] for _ in range(4)}
    assert len(seeds) > 1
    assert json.loads(printed(capsys, "run", "--json", "--seed", "7")[1])["seed"] == 7


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
        (("run", "no-such-scenario"), "there is no scenario 'no-such-scenario'; shipped are"),
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
    assert len(listed) == 3
    assert all(set(one) == {"id", "why"} and one["why"] for one in listed)


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
    assert done.stdout.startswith("charged-twice-look-only")
    assert "Traceback" not in done.stderr
