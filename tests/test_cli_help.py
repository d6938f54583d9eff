"""Help that is true and instant, and usage that is wrong."""

from __future__ import annotations

import argparse
import importlib
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import printed

from sandtrail.sandbox import cli, cli_scenarios
from sandtrail.sandbox.cli import main


def parsers() -> Mapping[str, argparse.ArgumentParser]:
    (chosen,) = (one for one in cli._parser()._actions if one.dest != "help" and one.nargs == "A...")
    choices: Any = chosen.choices
    return choices  # type: ignore[no-any-return]


PARSERS = parsers()


@pytest.mark.parametrize("command", ["", *PARSERS])
def test_help_is_true_and_fits_the_screen(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stopped:
        main([*command.split(), "--help"])
    out = capsys.readouterr().out
    assert stopped.value.code == 0
    assert "3 harness fault" in out
    assert max(map(len, out.splitlines())) <= 80
    if not command:
        assert all(re.search(rf"^    {name} ", out, re.MULTILINE) for name in PARSERS)
        return
    for action in PARSERS[command]._actions:
        assert action.help
        assert all(option in out for option in action.option_strings)
    example = re.search(r"^example: sandtrail (.+)$", out, re.MULTILINE)
    assert example
    assert cli._parser().parse_args(example[1].split()).command
    module, _, function = PARSERS[command].get_default("command").partition(":")
    assert callable(getattr(importlib.import_module(f"sandtrail.sandbox.{module}"), function))


@pytest.mark.parametrize("command", ["", *PARSERS])
def test_help_loads_nothing_heavy(command: str) -> None:
    code = (
        "import sys\nfrom sandtrail.sandbox.cli import main\n"
        f"try: main({[*command.split(), '--help']!r})\n"
        "except SystemExit: pass\n"
        "heavy = {'yaml', 'pydantic', 'sqlalchemy', 'sqlmodel', 'httpx', 'rich', 'jsonschema', 'sandtrail.fakes'}\n"
        "print('loaded:', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "loaded: []"


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
        (("run", "--agent", "lexcal"), "did you mean lexical?"),
        (("run", "--agent", "do-nothin", "--limit", "1"), "did you mean do-nothing?"),
        (("run", "--sample-id", "refund-the-second-charg"), "did you mean refund-the-second-charge?"),
        (("run", "refund-the-second-charge", "refund-the-second-charge"), "ids are unique in a run"),
        (("run", "--catalog", "support@1"), "--catalog is for selection datasets (.jsonl)"),
        (("list", "refund-the-second-charg"), "did you mean refund-the-second-charge?"),
        (("lint", "refund-the-second-charg"), "did you mean refund-the-second-charge?"),
        (("show", "refund-the-second-charg"), "did you mean refund-the-second-charge?"),
        (("show", "suport@1"), "did you mean support?"),
        (("show", "none.catalog.yaml"), "there is no catalog 'none.catalog.yaml'"),
        (("run", "--save", "/nowhere/at/all", "--limit", "1"), "--save /nowhere/at/all: No such file"),
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
        ("run", "--seed", "٣"),
        ("run", "--limit", "1000001"),
        ("run", "--cost-limit", "free"),
        ("run", "--cost-limit", "0"),
        ("run", "--cost-limit", "nan"),
        ("run", "--price", "3"),
        ("run", "--price", "3,x"),
        ("run", "--temperature", "warm"),
        ("show",),
        ("dance",),
    ],
)
def test_wrong_usage_exits_two(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    assert stopped.value.code == 2
    assert "usage: sandtrail" in capsys.readouterr().err


def test_a_command_that_is_stopped_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_scenarios, "schema_command", stopped)
    assert printed(capsys, "schema") == (130, "", "\nexit 130: stopped\n")


def test_an_error_of_the_module_run_as_a_program_is_told_like_any_other(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "sandtrail.sandbox.cli", "run", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == "exit 2: the input cannot be used"
    assert "Traceback" not in done.stderr
