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
from collections.abc import Iterator
from typing import Any

import yaml

from sandtrail.ledgers.specs import WorldSpec
from sandtrail.ledgers.trees import as_object
from sandtrail.scenarios.contract import Contract
from sandtrail.scenarios.nodes import BadScenario, Reader
from sandtrail.scenarios.scenario import CatalogFile, Place, Scenario, ToolEntry, User
from sandtrail.scenarios.shapes import CATALOG, TOOL


def parse_catalog(text: str, origin: str) -> CatalogFile:
    """The catalog in a YAML text. Raises BadScenario with file and line."""
    read = Reader(origin)
    top = read.shaped(read.composed(text), "", CATALOG)
    tools: list[ToolEntry] = []
    for node in read.listed(top["tools"]):
        entry = _entry(read, node)
        if entry.name in {tool.name for tool in tools}:
            raise read.bad(node, f"tool {entry.name!r} stands twice; names must be unique")
        read.places[f"tools.{entry.name}"] = read.place(node)
        tools.append(entry)
    if not tools:
        raise read.bad(top["tools"], "tools: at least one is wanted")
    return CatalogFile(
        read.text(top["catalog"]), read.number(top["version"], least=1), tuple(tools), read.places
    )


def _entry(read: Reader, node: yaml.Node) -> ToolEntry:
    if isinstance(node, yaml.ScalarNode):
        name = read.text(node)
        return ToolEntry(name, name)
    fields = read.shaped(node, "tools", TOOL)
    name = read.text(fields["tool"])
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
    schema = as_object(_plain(fields["input"]) if "input" in fields else {"type": "object", "properties": {}})
    if schema is None:
        raise read.bad(fields["input"], f"{name}: input is a JSON Schema, an object")
    return ToolEntry(name, None, description, deprecated, _plain(fields["answers"]), schema)


def _plain(node: yaml.Node) -> Any:
    """A node as JSON; the reader has refused tags and anchors before."""
    loader: Any = yaml.SafeLoader("")
    return loader.construct_object(node, deep=True)


# -- the plain selection dataset ---------------------------------------------------------------------------


def parse_dataset(text: str, origin: str) -> Iterator[Scenario]:
    """The cases of a selection dataset: a line each, `{"id", "input", "expected_tool": name | null}`.

    Each is judged on the first decision only. Raises BadScenario with file and line.
    """
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        place = Place(origin, number)
        try:
            case = as_object(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise BadScenario(place, f"no JSON: {error}") from None
        if case is None or not {"id", "input", "expected_tool"} <= case.keys():
            raise BadScenario(place, 'a case is {"id": ..., "input": ..., "expected_tool": name or null}')
        name, said, tool = case["id"], case["input"], case["expected_tool"]
        if not isinstance(name, str) or not isinstance(said, str) or not name or not said.strip():
            raise BadScenario(place, "id and input are texts, and not empty")
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
