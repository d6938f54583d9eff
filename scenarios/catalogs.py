"""Catalog files: an ordered, versioned list of tools (`NAME.catalog.yaml`), and the plain selection dataset (JSONL).

catalog: support
version: 1
tools:
  - search_customers                                        an operation, as it describes itself
  - {tool: find_user, operation: search_customers, deprecated: search_customers, description: ...}
  - {tool: get_weather, input: {type: object}, answers: {sky: clear}}     a canned reply
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from sandtrail.ledgers.specs import SYMBOL, WorldSpec
from sandtrail.ledgers.trees import as_object
from sandtrail.scenarios.contract import Contract
from sandtrail.scenarios.nodes import NOT_TEXT, BadScenario, Reader
from sandtrail.scenarios.scenario import CatalogFile, Place, Scenario, ToolEntry, User
from sandtrail.scenarios.shapes import CATALOG, ID_PATTERN, TOOL


def parse_catalog(text: str, origin: str) -> CatalogFile:
    """The catalog in a YAML text. Raises BadScenario with file and line."""
    read = Reader(origin)
    top = read.shaped(read.composed(text), "", CATALOG)
    name = read.text(top["catalog"])
    if not re.fullmatch(ID_PATTERN, name):
        raise read.bad(
            top["catalog"], f"catalog: {name!r} is no name; use lower-case letters, digits and dashes"
        )
    tools: list[ToolEntry] = []
    for node in read.listed(top["tools"]):
        entry = _entry(read, node)
        if entry.name in {tool.name for tool in tools}:
            raise read.bad(node, f"tool {entry.name!r} stands twice; names must be unique")
        read.places[f"tools.{entry.name}"] = read.place(node)
        tools.append(entry)
    if not tools:
        raise read.bad(top["tools"], "tools: at least one is wanted")
    if "why" in top:
        read.words(top["why"], "why")
    return CatalogFile(name, read.number(top["version"], least=1), tuple(tools), read.places)


def _entry(read: Reader, node: yaml.Node) -> ToolEntry:
    if isinstance(node, yaml.ScalarNode):
        name = read.tool_name(node)
        return ToolEntry(name, name)
    fields = read.shaped(node, "tools", TOOL)
    name = read.tool_name(fields["tool"])
    description = read.text(fields["description"]) if "description" in fields else None
    deprecated = read.text(fields["deprecated"]) if "deprecated" in fields else ""
    if "answers" not in fields:
        if "input" in fields:
            raise read.bad(
                fields["input"], f"{name}: only a canned tool (answers: ...) has an input of its own"
            )
        operation = read.text(fields["operation"]) if "operation" in fields else name
        return ToolEntry(name, operation, description, deprecated)
    if "operation" in fields:
        raise read.bad(node, f"{name}: either an operation or a canned reply, not both")
    if description is None:
        raise read.bad(node, f"{name}: a canned tool needs a description")
    schema: Mapping[str, Any] = {"type": "object", "properties": {}}
    if "input" in fields:
        schema = _schema(read, fields["input"], name)
    return ToolEntry(name, None, description, deprecated, read.json(fields["answers"]), schema)


def _schema(read: Reader, node: yaml.Node, name: str) -> Mapping[str, Any]:
    """The JSON Schema of a canned tool's arguments."""
    from jsonschema import Draft202012Validator, SchemaError  # noqa: PLC0415  slow, and for canned tools only

    schema = as_object(read.json(node))
    if schema is None:
        raise read.bad(node, f"{name}: input is a JSON Schema, an object")
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise read.bad(node, f"{name}: input is no JSON Schema: {error.message}") from None
    return schema


# -- the plain selection dataset ---------------------------------------------------------------------------


def parse_dataset(text: str, origin: str) -> Iterator[Scenario]:
    """The cases of a selection dataset: a line each, `{"id", "input", "expected_tool": name | null}`.

    Each is judged on the first decision only. Raises BadScenario with file and line.
    """
    seen: set[str] = set()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = Place(origin, number)
        case = _case(line, place)
        name, said, tool = case["id"], case["input"], case["expected_tool"]
        if not isinstance(name, str) or not isinstance(said, str) or not name.strip() or not said.strip():
            raise BadScenario(place, "id and input are texts, and not empty")
        if not name.isprintable():
            raise BadScenario(place, f"the id {name!r} holds characters that cannot be printed")
        if NOT_TEXT.search(said):
            raise BadScenario(place, "the input holds a NUL or half a surrogate pair")
        if mention := re.search(rf"\{{{SYMBOL.pattern}[.}}]", said):
            raise BadScenario(place, f"{mention[0]}: the input names an entity, and a dataset has no world")
        if tool is not None and not isinstance(tool, str):
            raise BadScenario(place, f"expected_tool is {tool!r}; wanted a tool's name or null")
        if name in seen:
            raise BadScenario(place, f"the id {name!r} stands twice")
        seen.add(name)
        expect = Contract(first=() if tool is None else (tool,))
        places = {"": place, "scenario": place, "expect.first": place, "user.says": place}
        yield Scenario(
            name, "a case of a selection dataset", WorldSpec(), User(said), expect, places, first_only=True
        )


def _case(line: str, place: Place) -> Mapping[str, Any]:
    """One line as an object with the wanted keys."""
    try:
        case = as_object(json.loads(line, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        raise BadScenario(place, f"no JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise BadScenario(place, f"no JSON: {str(error) or 'nested too deep'}") from None
    missing = [key for key in ("id", "input", "expected_tool") if case is None or key not in case]
    if case is None or missing:
        said = "" if case is None else f"{', '.join(missing)} missing; "
        raise BadScenario(
            place, f'{said}a case is {{"id": ..., "input": ..., "expected_tool": name or null}}'
        )
    return case


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    for key in keys:
        if keys.count(key) > 1:
            raise ValueError(f"the key {key!r} stands twice")
    return dict(pairs)
