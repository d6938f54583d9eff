"""Catalog files and datasets that cannot be used: each kind of error with file and line, and exit 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sandtrail.sandbox import load
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.loading import load_dataset
from sandtrail.scenarios import BadScenario
from sandtrail.scenarios.catalogs import parse_catalog

HEAD = "catalog: own\nversion: 1\ntools:\n"
SCENARIO = "scenario: a\nwhy: b\ncatalog:\n  from: own\nuser: {says: Hi.}\nexpect: {read_only: true}\n"


def test_the_head_that_is_spoilt_below_is_good() -> None:
    assert parse_catalog(f"{HEAD}  - get_order\n", "a").key == "own@1"


CATALOGS: tuple[tuple[str, int, str], ...] = (
    ("", 1, "the file is empty"),
    ("- get_order\n", 1, "the file: keys and values are wanted"),
    ("catalog: own\nversion: 1\ntools: []\n", 3, "tools: at least one is wanted"),
    ("catalog: own\nversion: 1\ntools: get_order\n", 3, "a list is wanted: [get_order]"),
    ("catalog: own\nversion: 1\ntools: [get_order, get_order]\n", 3, "tool 'get_order' stands twice"),
    ("catalog: own\nversion: 1\ntols: [get_order]\n", 3, "unknown key 'tols'; did you mean tools?"),
    ("catalog: own\ntools: [get_order]\n", 1, "the file: version missing"),
    ("catalog: own\nversion: one\ntools: [get_order]\n", 2, "a whole number is wanted"),
    ("catalog: own\nversion: 0\ntools: [get_order]\n", 2, "at least 1 is wanted, not 0"),
    (
        "catalog: Own Tools\nversion: 1\ntools: [get_order]\n",
        1,
        "'Own Tools' is no name; use lower-case letters",
    ),
    ("catalog: own\nwhy: ' '\nversion: 1\ntools: [get_order]\n", 2, "why: some words are wanted"),
    (f"{HEAD}  - get_order\n  - [x]\n", 5, "tools: keys and values are wanted"),
    (f"{HEAD}  - get_order\n  - 12\n", 5, "text is wanted, not 12; put it in quotes"),
    (f"{HEAD}  - get order\n", 4, "'get order' is no tool's name; use letters, digits, _ and -"),
    (f"{HEAD}  - {{tool: {'x' * 65}}}\n", 4, "is no tool's name"),
    (f"{HEAD}  - {{operation: get_order}}\n", 4, "tools: tool missing"),
    (f"{HEAD}  - {{tool: a, operaton: get_order}}\n", 4, "did you mean operation?"),
    (
        f"{HEAD}  - {{tool: a, operation: b, answers: 1}}\n",
        4,
        "either an operation or a canned reply, not both",
    ),
    (f"{HEAD}  - {{tool: a, answers: 1}}\n", 4, "a canned tool needs a description"),
    (f"{HEAD}  - {{tool: a, input: {{}}}}\n", 4, "only a canned tool (answers: ...) has an input"),
    (
        f"{HEAD}  - {{tool: a, description: d, answers: 1, input: []}}\n",
        4,
        "input is a JSON Schema, an object",
    ),
    (
        f"{HEAD}  - {{tool: a, description: d, answers: 1, input: {{type: objet}}}}\n",
        4,
        "input is no JSON Schema",
    ),
    (f"{HEAD}  - {{tool: a, description: d, answers: 1:30.5}}\n", 4, "1:30.5 is no JSON number"),
    (f"{HEAD}  - {{tool: a, description: d, answers: .inf}}\n", 4, ".inf is no JSON number"),
    (f"{HEAD}  - {{tool: a, description: d, answers: {{b: 1, b: 2}}}}\n", 4, "'b' stands twice"),
    (f"{HEAD}  - &a get_order\n", 4, "anchors, aliases and tags are not read"),
    (f"{HEAD}  - get_order\n  - get_ordr\n", 5, "there is no operation 'get_ordr'; did you mean get_order?"),
    (f"{HEAD}  - {{tool: a, operation: get_ordr}}\n", 4, "there is no operation 'get_ordr'"),
)


@pytest.mark.parametrize(("text", "line", "said"), CATALOGS, ids=[said[:40] for _, _, said in CATALOGS])
def test_a_bad_catalog_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, line: int, said: str
) -> None:
    catalog, file = tmp_path / "own.catalog.yaml", tmp_path / "mine.scenario.yaml"
    catalog.write_text(text)
    file.write_text(SCENARIO)
    with pytest.raises(BadScenario) as error:
        load(file)
    assert said in error.value.reason
    assert str(error.value.place) == f"{catalog}:{line}"
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[0].startswith(f"sandtrail: {catalog}:{line}: ")
    assert told.err.splitlines()[1:] == ["exit 2: the input cannot be used"]


def test_a_catalog_of_no_text_says_where(tmp_path: Path) -> None:
    (tmp_path / "own.catalog.yaml").write_bytes(b"catalog: own\nversion: \xff\n")
    (tmp_path / "mine.scenario.yaml").write_text(SCENARIO)
    with pytest.raises(BadScenario, match="no UTF-8 text") as error:
        load(tmp_path / "mine.scenario.yaml")
    assert str(error.value.place) == f"{tmp_path / 'own.catalog.yaml'}:2"


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("own@2", "the file has version 1"),
        ("own@one", "the file has version 1"),
        ("owm", "there is no catalog 'owm'"),
        ("supprt@1", "did you mean support?"),
        ("../own", "no path out of its folder"),
        ("below/../../own.catalog.yaml", "no path out of its folder"),
        ("/own", "no path out of its folder"),
    ],
)
def test_a_catalog_that_cannot_be_had_is_told_where_it_is_named(
    tmp_path: Path, named: str, said: str
) -> None:
    (tmp_path / "own.catalog.yaml").write_text(f"{HEAD}  - get_order\n")
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(SCENARIO.replace("from: own", f"from: {named}"))
    with pytest.raises(BadScenario, match=said) as error:
        load(file)
    assert str(error.value.place) == f"{file}:4"


# -- datasets ----------------------------------------------------------------------------------------------


def case(**changed: object) -> str:
    return json.dumps({"id": "a", "input": "b", "expected_tool": None, **changed})


LINES: tuple[tuple[str, str], ...] = (
    ("{", "no JSON: Expecting property name enclosed in double quotes at column 2"),
    ("[" * 100_000, "no JSON: "),
    (f'{{"id": {"9" * 5000}}}', "no JSON: Exceeds the limit"),
    ("[]", "a case is {"),
    ("7", "a case is {"),
    ("{}", "id, input, expected_tool missing; a case is"),
    ('{"id": "a", "input": "b"}', "expected_tool missing; a case is"),
    ('{"id": "a", "id": "c", "input": "b", "expected_tool": null}', "the key 'id' stands twice"),
    (case(id=1), "id and input are texts"),
    (case(id=" "), "and not empty"),
    (case(input=" "), "and not empty"),
    (case(input=None), "id and input are texts"),
    (case(id="a\x1b[31m"), "holds characters that cannot be printed"),
    (case(id="a\nb"), "holds characters that cannot be printed"),
    (case(input="a\ud800"), "the input holds a NUL or half a surrogate pair"),
    (case(input="a\x00"), "the input holds a NUL or half a surrogate pair"),
    (case(input="Order {$order.a.number}?"), "{$order.a.: the input names an entity"),
    (case(expected_tool=7), "expected_tool is 7; wanted a tool's name or null"),
    (case(id="good"), "the id 'good' stands twice"),
    (case(expected_tool="get_ordr"), "there is no tool 'get_ordr'; did you mean get_order?"),
)


@pytest.mark.parametrize(("line", "said"), LINES, ids=[said[:40] for _, said in LINES])
def test_a_bad_line_of_a_dataset_says_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f"{case(id='good')}\n\n{line}\n")
    with pytest.raises(BadScenario) as error:
        list(load_dataset(file))
    assert said in error.value.reason
    assert str(error.value.place) == f"{file}:3"
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"sandtrail: {file}:3: ")
    assert all(text.isprintable() for text in told.err.splitlines())


def test_a_line_that_unicode_would_break_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    text = json.dumps({"id": "a", "input": "b\u2028c", "expected_tool": None}, ensure_ascii=False)
    file.write_text(f"{text}\r\n{case(id='d')}\n", encoding="utf-8")
    assert [one.user.says for one in load_dataset(file)] == ["b\u2028c", "b"]


def test_a_catalog_that_is_not_there_is_told_at_the_first_case(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(f"\n{case()}\n")
    with pytest.raises(BadScenario, match=r"there is no catalog 'suport'; .*did you mean support") as error:
        list(load_dataset(file, catalog="suport"))
    assert str(error.value.place) == f"{file}:2"
