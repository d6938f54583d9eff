"""The JSON Schema of scenario files says what the reader says: it takes the same files, and refuses the same."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

import pytest
from formats import CATALOG_TEXT, FULL, PATHS, SAID, Path, at, changed, data, dumped, validator
from jsonschema import Draft202012Validator

from sandtrail.ledgers.trees import as_object
from sandtrail.scenarios import BadScenario, parse
from sandtrail.scenarios.catalogs import parse_catalog
from sandtrail.scenarios.parsing import parse_world
from sandtrail.scenarios.shapes import CATALOG, FORMAT, WORLD, Shape, json_schema

SCHEMA = validator()
WRONG: tuple[Any, ...] = (
    7, 0, -1, 1.5, True, None, "text", "  ", "", [], ["text"], [7], [["text"]], {}, {"text": "text"}, {"text": 7},
    ["text", "text"], [{"text": "text"}], {"text": {"text": "text"}}, {"text": ["text"]}, "5.00 USD",
)  # fmt: skip
ONLY_THE_READER = re.compile(
    r"is not in world|is no id|an instant such as|has no zone|cannot be both|lies no count|simply left out"
    r"|although no clarification|no symbol like|must be absent|characters"
)
"""What no schema can say: how parts of a file hang together, and what an instant is."""


def reader_says(value: Any) -> str:
    try:
        parse(dumped(value), "a")
    except BadScenario as error:
        return error.reason
    return ""


def test_the_schema_is_one() -> None:
    for shape in (FORMAT, WORLD, CATALOG):
        Draft202012Validator.check_schema(json_schema(shape))


def test_the_schema_takes_the_full_example() -> None:
    assert list(SCHEMA.iter_errors(data(FULL))) == []
    assert list(validator(CATALOG).iter_errors(data(CATALOG_TEXT))) == []


@pytest.mark.parametrize("path", PATHS, ids=SAID)
def test_reader_and_schema_refuse_the_same_values(path: Path) -> None:
    for new in WRONG:
        value = changed(path, new)
        said, valid = reader_says(value), SCHEMA.is_valid(value)
        assert valid or said, f"{path} = {new!r}: the schema refuses what the reader takes"
        assert not said or not valid or ONLY_THE_READER.search(said), f"{path} = {new!r}: {said}"


@pytest.mark.parametrize("path", [(), *(path for path in PATHS if as_object(at(data(FULL), path)))], ids=str)
def test_a_key_too_many_is_refused_by_both_or_by_none(path: Path) -> None:
    value = copy.deepcopy(data(FULL))
    at(value, path)["surplus"] = "text"
    assert SCHEMA.is_valid(value) is (reader_says(value) == "")


READERS: Mapping[str, tuple[Shape, str, Callable[[str, str], object]]] = {
    "scenario": (FORMAT, FULL, parse),
    "world": (WORLD, "world: {}\nnow: 2026-01-01T00:00:00Z\n", parse_world),
    "catalog": (CATALOG, CATALOG_TEXT, parse_catalog),
}


@pytest.mark.parametrize("kind", READERS)
def test_what_is_required_is_required_by_both(kind: str) -> None:
    shape, text, read = READERS[kind]
    assert shape.required
    for key in shape.required:
        left = {name: value for name, value in data(text).items() if name != key}
        assert not validator(shape).is_valid(left)
        with pytest.raises(BadScenario, match=f"{key} missing"):
            read(dumped(left), "a")


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("catalog", "only"), ["get_order"]),
        (("tenants",), ["north"]),
        (("catalog", "changes", 0), {"turn": 2}),
        (("catalog", "changes", 0, "turn"), 1),
        (("faults", 0, "slow"), "get_order"),
        (("expect", "order", 0, "confirm"), "refund_payment"),
        (("expect", "budgets", "steps"), 0),
        (("catalog", "rename", "get_order"), "order of"),
        (("principal", "tenants"), []),
    ],
)
def test_what_excludes_each_other_is_refused_by_both(path: Path, new: object) -> None:
    value = changed(path, new)
    assert reader_says(value)
    assert not SCHEMA.is_valid(value)


@pytest.mark.parametrize(
    "entry",
    [
        {"tool": "a", "operation": "get_order", "answers": 1, "description": "A."},
        {"tool": "a", "answers": 1},
        {"tool": "a", "input": {"type": "object"}},
        {"operation": "get_order"},
        {"tool": "a b"},
        "a b",
        7,
    ],
    ids=str,
)
def test_an_entry_of_a_catalog_is_refused_by_both(entry: object) -> None:
    value = {"catalog": "a", "version": 1, "tools": [entry]}
    assert not validator(CATALOG).is_valid(value)
    with pytest.raises(BadScenario):
        parse_catalog(dumped(value), "a")


SHIPPED = sorted(
    (entry.name, entry.read_text(encoding="utf-8"))
    for entry in (files("sandtrail.scenarios") / "library").iterdir()
    if entry.name.endswith((".scenario.yaml", ".catalog.yaml"))
)


@pytest.mark.parametrize(("name", "text"), SHIPPED, ids=[name for name, _ in SHIPPED])
def test_the_schema_takes_every_shipped_file(name: str, text: str) -> None:
    errors = validator(CATALOG if name.endswith(".catalog.yaml") else FORMAT).iter_errors(data(text))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []
