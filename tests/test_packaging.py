"""The package list, the package data, the tree and the wheel say the same."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LAYERS = ("ledgers", "fakes", "scenarios", "sandbox")


def packages_in_the_tree() -> set[str]:
    found = (
        file.parent.relative_to(ROOT) for layer in LAYERS for file in (ROOT / layer).rglob("__init__.py")
    )
    return {f"sandtrail.{'.'.join(folder.parts)}" for folder in found}


def files_in_the_tree() -> set[str]:
    kept = {".py", ".yaml", ".typed"}
    return {
        f"sandtrail/{file.relative_to(ROOT).as_posix()}"
        for layer in LAYERS
        for file in (ROOT / layer).rglob("*")
        if file.is_file()
        and (file.suffix in kept or file.name == "py.typed")
        and "__pycache__" not in file.parts
    }


def test_the_package_list_is_the_tree() -> None:
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == packages_in_the_tree()


@pytest.mark.parametrize("layer", LAYERS)
def test_every_layer_is_typed_and_linked_for_the_type_checkers(layer: str) -> None:
    assert (ROOT / layer / "py.typed").is_file()
    assert (ROOT / ".ci" / "types" / "sandtrail" / layer).resolve() == ROOT / layer


def test_sandtrail_itself_is_a_namespace() -> None:
    assert not (ROOT / "sandtrail").exists()
    assert not (ROOT / "__init__.py").exists()


def test_every_import_is_declared(subtests: pytest.Subtests) -> None:
    declared = {line.split(">")[0].split("=")[0] for line in PROJECT["project"]["dependencies"]}
    extras = PROJECT["project"]["optional-dependencies"]
    declared |= {line.split(">")[0] for line in extras["openai"]}
    # what a declared dependency brings along, and is itself about
    names = {"yaml": "pyyaml", "httpcore": "httpx", "referencing": "jsonschema", "httpx2": "anthropic"}
    for layer in LAYERS:
        for file in (ROOT / layer).rglob("*.py"):
            for name in imports(file):
                head = name.split(".")[0]
                if head not in sys.stdlib_module_names and head != "sandtrail":
                    with subtests.test(file=file.name, name=name):
                        assert names.get(head, head) in declared


def imports(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_the_wheel_holds_the_tree_and_nothing_else(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(tmp_path),
        str(ROOT),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    (wheel,) = tmp_path.glob("*.whl")
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == files_in_the_tree()
