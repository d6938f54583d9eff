"""The tools a transcript carries, in whichever shape: OpenAI, Anthropic, MCP, GenAI spans, Pydantic AI, Inspect, Gemini."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandtrail.ledgers.specs import ToolSpec
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import first, objects, parsed, text_of
from sandtrail.sandbox.interchange.recording import Tool

_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parameters_json_schema", "json_schema")


def tools_in(value: object) -> tuple[Tool, ...] | None:
    """The tools of a list of definitions (or its JSON text); None where there is none. Of two with a name, the first.

    >>> tools_in([{"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}])
    (Tool(spec=ToolSpec(name='ping', description='', input_schema={'type': 'object'}), read_only=None),)
    """
    return united([_tool(fields) for fields in _definitions(value)])


def united(tools: Iterable[Tool | None]) -> tuple[Tool, ...] | None:
    """The tools, each name once; None where there is none."""
    found: dict[str, Tool] = {}
    for tool in tools:
        if tool is not None and tool.spec.name:
            found.setdefault(tool.spec.name, tool)
    return tuple(found.values()) or None


def _definitions(value: object) -> Iterator[Mapping[str, Any]]:
    whole = parsed(value)
    items = as_list(whole)
    for item in [whole] if items is None else items:
        fields = as_object(parsed(item))
        if fields is None:
            continue
        if (declared := first(fields, "functionDeclarations", "function_declarations")) is not None:
            yield from objects(declared)
        else:
            yield fields


def _tool(fields: Mapping[str, Any]) -> Tool | None:
    inner = as_object(fields.get("function")) or as_object(fields.get("custom")) or fields
    name = inner.get("name")
    if not isinstance(name, str):
        return None
    schema = as_object(parsed(first(inner, *_SCHEMAS))) or {}
    hint = (as_object(fields.get("annotations")) or {}).get("readOnlyHint")
    spec = ToolSpec(name, text_of(inner.get("description")), schema)
    return Tool(spec, hint if isinstance(hint, bool) else None)
