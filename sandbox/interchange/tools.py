"""Definitions of tools, in whatever shape somebody wrote them down.

    Anthropic          {"name", "description", "input_schema"}
    Chat Completions   {"type": "function", "function": {"name", "description", "parameters"}}
    Responses          {"type": "function", "name", "description", "parameters"}
    MCP                {"tools": [{"name", "description", "inputSchema", "annotations": {"readOnlyHint"}}]}

    read_tools(path)   a file's tools, strictly: BadTools says where and what is wanted
    tools_of(value)    the same for what is parsed already
    offered(value)     the tools a transcript carries: what cannot be read is a flaw, not an error

Tools that the provider runs by itself (web search) have no schema; they are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import ToolSpec
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.reading import kind_of
from sandtrail.sandbox.interchange.recording import Tool
from sandtrail.scenarios.schemas import schema_fault

_SCHEMAS = ("input_schema", "inputSchema", "parameters")


class BadTools(ValueError):
    """A file that defines no tools: which one, where in it (a JSON pointer), and what is wanted there."""

    def __init__(self, file: str, pointer: str, reason: str) -> None:
        self.file, self.pointer, self.reason = file, pointer, reason
        super().__init__(f"{file}{'#' if pointer else ''}{pointer}: {reason}")


def read_tools(path: str | Path) -> tuple[Tool, ...]:
    """The tools that a file defines. Raises BadTools, and nothing else."""
    file = Path(path)
    try:
        value = json.loads(file.read_bytes())
    except OSError as error:
        raise BadTools(str(path), "", f"{error.strerror or error}; a JSON file of tools is wanted") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise BadTools(str(path), "", f"invalid JSON at {where}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise BadTools(str(path), "", f"no JSON in UTF-8: {error!s:.200}") from None
    return tools_of(value, str(path))


def tools_of(value: object, file: str = "tools") -> tuple[Tool, ...]:
    """The tools in a parsed document. Raises BadTools.

    >>> tools_of([{"name": "ping", "input_schema": {"type": "object"}}])[0].spec.name
    'ping'
    >>> tools_of([{"type": "function", "function": {"name": 5}}])
    Traceback (most recent call last):
    sandtrail.sandbox.interchange.tools.BadTools: tools#/0/function/name: a name in text is wanted; got a number
    """
    pointer, items = _listed(value)
    if items is None:
        wanted = 'a list of tools, or {"tools": [...]}, is wanted'
        raise BadTools(file, pointer, f"{wanted}; got {kind_of(value)}")
    found: dict[str, Tool] = {}
    for index, item in enumerate(items):
        read = _tool(item, f"{pointer}/{index}", file)
        if read is None:
            continue
        tool, schema = read
        if (fault := schema_fault(tool.spec.input_schema)) is not None:
            raise BadTools(file, schema + fault.pointer, fault.reason)
        if tool.spec.name in found:
            raise BadTools(file, f"{pointer}/{index}", f"a second tool {tool.spec.name!r}; names are unique")
        found[tool.spec.name] = tool
    if not found:
        raise BadTools(file, pointer, "at least one tool is wanted; there is none")
    return tuple(found.values())


def offered(value: object) -> tuple[tuple[Tool, ...] | None, tuple[Finding, ...]]:
    """The tools that a transcript carries (None: it does not say), and what of them cannot be read."""
    if value is None:
        return None, ()
    pointer, items = _listed(value)
    if items is None:
        return None, (_flaw("tools", f"a list of tools is wanted; got {kind_of(value)}"),)
    found: dict[str, Tool] = {}
    flaws: list[Finding] = []
    for index, item in enumerate(items):
        try:
            read = _tool(item, f"{pointer}/{index}", "tools")
        except BadTools as error:
            flaws.append(_flaw(f"tools{error.pointer}", error.reason))
            continue
        if read is not None:
            found.setdefault(read[0].spec.name, read[0])
    return tuple(found.values()), tuple(flaws)


def _flaw(at: str, reason: str) -> Finding:
    return Finding("trace.incomplete", at, reason)


def _listed(value: object) -> tuple[str, list[Any] | None]:
    """The list of tools, and the pointer to it."""
    pointer, here = "", value
    for name in ("result", "tools", "functions"):
        fields = as_object(here)
        if fields is not None and name in fields:
            pointer, here = f"{pointer}/{name}", fields[name]
    return pointer, as_list(here)


def _tool(item: object, pointer: str, file: str) -> tuple[Tool, str] | None:
    """A tool and the pointer to its schema; None where the provider runs it by itself."""
    fields = as_object(item)
    if fields is None:
        raise BadTools(
            file, pointer, f"an object with name, description and a schema is wanted; got {kind_of(item)}"
        )
    inner = fields.get("function") if "function" in fields else fields
    if "function" in fields:
        pointer = f"{pointer}/function"
    told = as_object(inner)
    if told is None:
        raise BadTools(file, pointer, f"an object with name and parameters is wanted; got {kind_of(inner)}")
    named = next((name for name in _SCHEMAS if told.get(name) is not None), None)
    if named is None and isinstance(fields.get("type"), str) and fields["type"] != "function":
        return None
    name = told.get("name")
    if not isinstance(name, str) or not name:
        raise BadTools(file, f"{pointer}/name", f"a name in text is wanted; got {kind_of(name)}")
    description = told.get("description")
    if description is not None and not isinstance(description, str):
        raise BadTools(file, f"{pointer}/description", f"a text is wanted; got {kind_of(description)}")
    schema = {"type": "object"} if named is None else _schema(told[named], f"{pointer}/{named}", file)
    return Tool(ToolSpec(name, description or "", schema), _hint(fields)), f"{pointer}/{named}"


def _schema(value: object, pointer: str, file: str) -> Mapping[str, Any]:
    schema = as_object(value)
    if schema is None:
        raise BadTools(file, pointer, f"a JSON Schema object is wanted; got {kind_of(value)}")
    return schema


def _hint(fields: Mapping[str, Any]) -> bool | None:
    hint = (as_object(fields.get("annotations")) or {}).get("readOnlyHint")
    return hint if isinstance(hint, bool) else None
