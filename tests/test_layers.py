"""The diamond: ledgers below, fakes and scenarios beside each other, sandbox above; and what each may import."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LAYERS = ("ledgers", "fakes", "scenarios", "sandbox")
MAY = {
    "ledgers": {"ledgers"},
    "fakes": {"ledgers", "fakes"},
    "scenarios": {"ledgers", "scenarios"},
    "sandbox": {"ledgers", "fakes", "scenarios", "sandbox"},
}
THIRD = {
    "ledgers": set[str](),
    "fakes": {"sqlmodel", "sqlalchemy", "pydantic"},
    "scenarios": {"jsonschema", "referencing", "yaml"},
    "sandbox": {
        "anthropic",
        "freezegun",
        "httpcore",
        "httpx",
        "httpx2",
        "openai",
        "pydantic",
        "pytest",
        "respx",
        "rich",
        "sqlalchemy",
        "sqlmodel",
        "yaml",
    },
}
FILES = [(layer, file) for layer in LAYERS for file in sorted((ROOT / layer).rglob("*.py"))]


def imports(file: Path, *, top_level: bool = False) -> Iterator[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in tree.body if top_level else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: a relative import"
            yield node.module or ""


@pytest.mark.parametrize(("layer", "file"), FILES, ids=[f"{layer}/{file.name}" for layer, file in FILES])
def test_a_module_imports_only_what_its_layer_may(layer: str, file: Path) -> None:
    for name in imports(file):
        head, *rest = name.split(".")
        if head == "sandtrail":
            assert rest[0] in MAY[layer], f"{file.name} imports {name}"
        elif head not in sys.stdlib_module_names:
            assert head in THIRD[layer], f"{file.name} imports {name}"


def test_no_module_is_imported_by_its_bare_name() -> None:
    for file in [*(file for _, file in FILES), *(ROOT / "tests").glob("*.py")]:
        assert not {name.split(".")[0] for name in imports(file)} & set(LAYERS), file


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("sandtrail.ledgers", {"pydantic", "sqlalchemy", "httpx", "yaml", "sqlite3"}),
        (
            "sandtrail.sandbox",
            {"pydantic", "sqlalchemy", "httpx", "respx", "yaml", "freezegun", "anthropic", "rich"},
        ),
        ("sandtrail.sandbox.cli", {"pydantic", "sqlalchemy", "httpx", "rich"}),
        ("sandtrail.fakes", {"httpx", "respx", "yaml", "freezegun", "hypothesis", "pytest"}),
    ],
)
def test_importing_a_package_leaves_heavy_things_alone(module: str, absent: set[str]) -> None:
    code = f"import sys, {module}; print(sorted({absent!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
