"""Files of tools in every shape, and what is said of bad ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sandtrail.sandbox.interchange.tools import BadTools, offered, read_tools, tools_of

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}
SHAPES: list[Any] = [
    [{"name": "get", "description": "Gets.", "input_schema": SCHEMA}],
    [{"type": "function", "function": {"name": "get", "description": "Gets.", "parameters": SCHEMA}}],
    [{"type": "function", "name": "get", "description": "Gets.", "parameters": SCHEMA}],
    {"tools": [{"name": "get", "description": "Gets.", "inputSchema": SCHEMA}]},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "get", "description": "Gets.", "inputSchema": SCHEMA}]},
    },
    {"functions": [{"name": "get", "description": "Gets.", "parameters": SCHEMA}]},
]


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_is_the_same_in_every_shape(tmp_path: Path, shape: Any) -> None:
    (tool,) = read_tools(written(tmp_path / "tools.json", shape))
    assert (tool.spec.name, tool.spec.description, tool.spec.input_schema) == ("get", "Gets.", SCHEMA)
    assert tool.read_only is None


@pytest.mark.parametrize(
    ("annotations", "hint"), [({"readOnlyHint": True}, True), ({"readOnlyHint": 1}, None), (5, None)]
)
def test_a_hint_is_kept_where_it_is_one(annotations: Any, hint: bool | None) -> None:  # noqa: FBT001
    (tool,) = tools_of([{"name": "get", "inputSchema": SCHEMA, "annotations": annotations}])
    assert tool.read_only is hint


def test_a_tool_that_the_provider_runs_is_left_out() -> None:
    mine = {"type": "function", "name": "get"}
    assert [tool.spec.name for tool in tools_of([{"type": "web_search"}, mine])] == ["get"]
    assert tools_of([mine])[0].spec.input_schema == {"type": "object"}


BAD: list[tuple[Any, str, str]] = [
    (5, "", "a list of tools"),
    ({"tools": {}}, "/tools", "a list of tools"),
    ([], "", "at least one tool"),
    ([{"type": "web_search"}], "", "at least one tool"),
    ([7], "/0", "an object with name, description and a schema is wanted; got a number"),
    ([{"function": 5}], "/0/function", "an object with name and parameters"),
    ([{"input_schema": {}}], "/0/name", "a name in text is wanted; got null"),
    ([{"name": ""}], "/0/name", "a name in text is wanted; got a text"),
    ([{"name": "a", "description": 5}], "/0/description", "a text is wanted"),
    ({"tools": [{"name": "a", "inputSchema": []}]}, "/tools/0/inputSchema", "a JSON Schema object"),
    ([{"name": "a", "input_schema": {"type": "thing"}}], "/0/input_schema/type", "no JSON Schema"),
    ([{"name": "a"}, {"name": "a"}], "/1", "a second tool 'a'"),
]


@pytest.mark.parametrize(("value", "pointer", "says"), BAD)
def test_a_bad_file_says_where_and_what_is_wanted(
    tmp_path: Path, value: Any, pointer: str, says: str
) -> None:
    file = written(tmp_path / "tools.json", value)
    with pytest.raises(BadTools) as caught:
        read_tools(file)
    assert (caught.value.file, caught.value.pointer) == (str(file), pointer)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"{", "invalid JSON at line 1 column 2"),
        (b'"\xff"', "no JSON in UTF-8"),
        (b"[" * 100_000, "no JSON in UTF-8"),
        (b"9" * 5000, "no JSON in UTF-8"),
    ],
)
def test_a_file_that_is_no_json_says_so(tmp_path: Path, data: bytes, says: str) -> None:
    (tmp_path / "tools.json").write_bytes(data)
    with pytest.raises(BadTools, match=says):
        read_tools(tmp_path / "tools.json")


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadTools, match="No such file or directory; a JSON file of tools is wanted"):
        read_tools(tmp_path / "none.json")


def test_a_schema_that_is_nested_too_deep_says_so() -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"properties": {"a": deep}}
    with pytest.raises(BadTools, match="nested too deep"):
        tools_of([{"name": "a", "input_schema": deep}])


def test_of_the_tools_in_a_transcript_the_good_ones_are_kept() -> None:
    tools, flaws = offered([{"name": "a"}, {"name": 5}, {"name": "a", "description": "again"}])
    assert [(tool.spec.name, tool.spec.description) for tool in tools or ()] == [("a", "")]
    assert [(flaw.code, flaw.at) for flaw in flaws] == [("trace.incomplete", "tools/1/name")]
    assert offered(None) == (None, ())


def test_a_schema_that_is_none_does_not_spoil_a_transcript() -> None:
    tools, flaws = offered([{"name": "a", "input_schema": {"type": "thing"}}])
    assert [tool.spec.name for tool in tools or ()] == ["a"]
    assert flaws == ()
