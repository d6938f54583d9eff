"""What the Messages API refuses of a request's shape, before the law of tool calls: a 400 in its own words.

misshapen(body, continued=)  the fields, the messages one by one, the tools
illegal(flaw)                a flaw of the law, as the API says it
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.script_wire import Wrong, objects_of, twice
from sandtrail.sandbox.wire_law import WireFlaw, anthropic_law

_ROLES = ("user", "assistant", "system")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_LAW = {
    "wire.unpaired_tool_use": "`tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each"
    " `tool_use` block must have a corresponding `tool_result` block in the next message.",
    "wire.orphan_tool_result": "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block"
    " must have a corresponding `tool_use` block in the previous message.",
    "wire.duplicate_id": "`tool_use` ids must be unique, and each has one `tool_result`: {id}",
}


def misshapen(body: Mapping[str, Any], *, continued: bool) -> Wrong | None:
    """What is wrong with a body's shape; one that continues a thread may send no messages."""
    return (
        _fields(body)
        or _messages(as_list(body.get("messages")), empty=continued)
        or _tools(objects_of(body.get("tools") or []))
    )


def illegal(flaw: WireFlaw) -> Wrong:
    """A flaw of the law in the API's words, with the law's own as why."""
    words = _LAW.get(flaw.code)
    # The API names the message of a call, and the block of a result.
    at = ".".join(flaw.at.split(".")[:2]) if flaw.code == "wire.unpaired_tool_use" else flaw.at
    return Wrong(f"{at}: {words.format(id=flaw.id) if words else flaw.reason}", why=str(flaw))


def _fields(body: Mapping[str, Any]) -> Wrong | None:
    if not isinstance(body.get("model"), str):
        return Wrong("model: Field required")
    limit = body.get("max_tokens")
    if limit is None:
        return Wrong("max_tokens: Field required")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        return Wrong("max_tokens: Input should be a valid integer, greater than or equal to 0")
    return None


def _messages(sent: Sequence[Any] | None, *, empty: bool) -> Wrong | None:
    """What is wrong with messages one by one; `empty` permits none at all."""
    if sent is None:
        return Wrong("messages: Field required, a list of messages")
    if not sent and not empty:
        return Wrong("messages: at least one message is required")
    if not empty and (as_object(sent[0]) or {}).get("role") == "system":
        return Wrong("messages.0: the first words of the system go into the top-level `system` parameter")
    for index, item in enumerate(sent):
        wrong = _one(as_object(item), f"messages.{index}", last=index == len(sent) - 1)
        if wrong is not None:
            return wrong
    return None


def _one(message: Mapping[str, Any] | None, at: str, *, last: bool) -> Wrong | None:
    if message is None:
        return Wrong(f"{at}: Input should be an object")
    if any(flaw.code == "wire.mixed_dialect" for flaw in anthropic_law([message])):
        return None  # the law names it
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        return Wrong(
            f"{at}.role: Unexpected role {json.dumps(role)}. Allowed roles are 'user' or 'assistant'."
        )
    blocks = objects_of([{"type": "text", "text": content}] if isinstance(content, str) else content)
    if blocks is None or not all("type" in block for block in blocks):
        return Wrong(f"{at}.content: Input should be a valid string, or a list of blocks with a type")
    if not content and not (last and role == "assistant"):
        return Wrong(
            f"{at}: all messages must have non-empty content except for the optional final assistant message"
        )
    return _blocks(blocks if content else [], at, role)


def _blocks(blocks: Sequence[dict[str, Any]], at: str, role: object) -> Wrong | None:
    for place, block in enumerate(blocks):
        where = f"{at}.content.{place}"
        if block["type"] == "text" and not str(block.get("text", "")).strip():
            return Wrong(f"{where}: text content blocks must contain non-whitespace text")
        if block["type"] == "tool_use" and role != "assistant":
            return Wrong(f"{where}: `tool_use` blocks can only be in `assistant` messages")
        if block["type"] == "tool_use" and not (block.get("id") and block.get("name")):
            return Wrong(f"{where}.tool_use: id and name: Field required")
        if block["type"] == "tool_use" and as_object(block.get("input")) is None:
            return Wrong(f"{where}.tool_use.input: Input should be a valid dictionary")
    return None


def _tools(tools: Sequence[Mapping[str, Any]] | None) -> Wrong | None:
    if tools is None:
        return Wrong("tools: Input should be a valid list of tools")
    for index, tool in enumerate(tools):
        custom = tool.get("type") in (None, "custom")
        if custom and not (isinstance(tool.get("name"), str) and _NAME.fullmatch(tool["name"])):
            return Wrong(f"tools.{index}.custom.name: String should match pattern '^{_NAME.pattern}$'")
        if custom and (as_object(tool.get("input_schema")) or {}).get("type") != "object":
            return Wrong(f"tools.{index}.custom.input_schema: Field required, with the type 'object'")
    if (name := twice(str(tool["name"]) for tool in tools if "name" in tool)) is not None:
        return Wrong(f"tools: Tool names must be unique: {name}")
    return None
