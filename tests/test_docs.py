"""What a person can read is run: docstring examples, the README, the docs, every command they name."""

from __future__ import annotations

import doctest
import importlib
import re
import shlex
from pathlib import Path

import pytest

from sandtrail.sandbox.cli import main

ROOT = Path(__file__).parent.parent
MODULES = [
    f"sandtrail.{file.relative_to(ROOT).with_suffix('').as_posix().replace('/', '.').removesuffix('.__init__')}"
    for layer in ("ledgers", "fakes", "scenarios", "sandbox")
    for file in sorted((ROOT / layer).rglob("*.py"))
]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
BLOCKS = [
    (page, number, block)
    for page in PAGES
    for number, block in enumerate(
        re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    )
]
COMMANDS = sorted(
    {
        line.split("#")[0].strip().removeprefix("$ ")
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if re.match(r"(\$ )?sandtrail [a-z]", line)
    }
)


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples_run(module: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(module))
    assert failed == 0


@pytest.mark.parametrize(
    ("page", "number", "block"), BLOCKS, ids=[f"{page.name}-{number}" for page, number, _ in BLOCKS]
)
def test_python_blocks_run(
    page: Path, number: int, block: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {"__name__": f"{page.stem}_{number}"}
    exec(compile(block, f"{page.name}-{number}", "exec", dont_inherit=True), scope)
    tests = [found for name, found in scope.items() if name.startswith("test_") and callable(found)]
    for test in tests:
        test()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_in_the_docs_runs(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = shlex.split(command)[1:]
    if words[0] == "bench":
        words = ["bench", "--customers", "5", "--rounds", "3"]
    assert main(words) == (1 if "careless" in words else 0)
    assert capsys.readouterr().out
