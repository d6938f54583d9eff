"""The command line in this process: what is printed, as text and as JSON, and which commands it tells to run again."""

from __future__ import annotations

import json
import shlex
from typing import Any

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


def commands(out: str) -> list[list[str]]:
    """The words of every command that an output tells to run again."""
    lines = (line.strip().removeprefix("again: ") for line in out.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.startswith("sandtrail run ")]


def found(capsys: pytest.CaptureFixture[str], *words: str) -> dict[tuple[str, int], Any]:
    """What is told of each run, as JSON."""
    told = json.loads(printed(capsys, *words, "--json")[1])["scenarios"]
    return {(one["id"], one["repetition"]): one for one in told}
