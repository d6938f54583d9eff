"""Messages of LangChain and LangGraph, in the forms that they are dumped in.

    {"type": "ai", "content", "tool_calls": [{"name", "args", "id"}]}     model_dump, a state's JSON
    {"type": "ai", "data": {...}}                                         messages_to_dict
    {"lc": 1, "type": "constructor", "id": [..., "AIMessage"], "kwargs"}  dumpd
    {"role": "ai", ...}                                                   OpenAI's names over LangChain's calls

They are rewritten as Chat Completions and read as such. A call may be stored up to three times (`tool_calls`, the raw
form in `additional_kwargs`, a `tool_use` block): it is one, and its arguments are the raw text where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandtrail.ledgers.conversation import Answered
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.dialects import dialect_of, run_of
from sandtrail.sandbox.interchange.openai_chat import conversation_of, flaws_in
from sandtrail.sandbox.interchange.reading import bounded, sound, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.tools import offered

FORMAT = "langchain"

_ROLES = {
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_ENDS = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "safety": "content_filter",
}
_THOUGHT = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")


def recognises(value: object) -> bool:
    """Whether a document holds messages of LangChain."""
    run = run_of(value)
    return run is not None and dialect_of(run) == FORMAT


def read(value: object, name: str) -> Iterator[Recording]:
    """The one run in a document."""
    run = run_of(value)
    if run is None:
        yield unreadable(FORMAT, name, "no messages: a list of messages is wanted, or a state with one")
        return
    rewritten = [_rewritten(item) for item in run.messages if not _removes(item)]
    messages, flaws = sound(rewritten)
    tools, unfit = offered(run.around.get("tools"))
    conversation = tuple(
        replace(spoken, is_error=True)
        if isinstance(spoken, Answered) and message.get("status") == "error"
        else spoken
        for message, spoken in zip(messages, conversation_of(messages), strict=True)
    )
    found: list[Finding] = [*flaws, *unfit, *flaws_in(messages)]
    yield Recording(name, FORMAT, conversation=conversation, tools=tools, flaws=bounded(found))


def _removes(item: object) -> bool:
    """An order to the state to forget a message is none itself."""
    return (as_object(item) or {}).get("type") in ("remove", "RemoveMessage")


def _rewritten(item: object) -> object:
    """One message as Chat Completions write it; what is none stays as it is, and is told as a flaw."""
    outer = as_object(item)
    if outer is None:
        return item
    kind, fields = _kind_and_fields(outer)
    role = _ROLES.get(kind)
    if role is None:
        return {**fields, "role": None}
    message: dict[str, Any] = {"role": role, "content": fields.get("content")}
    if role == "tool":
        return {
            **message,
            "tool_call_id": fields.get("tool_call_id") or "",
            "status": fields.get("status"),
        }
    return message if role != "assistant" else _assistant(fields)


def _kind_and_fields(outer: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    kind, fields = outer.get("type"), outer
    if "lc" in outer and (inner := as_object(outer.get("kwargs"))) is not None:
        fields = inner
        kind = (as_list(outer.get("id")) or [""])[-1]
    elif (
        "role" not in outer and "content" not in outer and (inner := as_object(outer.get("data"))) is not None
    ):
        fields = inner
    if kind in (None, "chat", "ChatMessage") or not isinstance(kind, str) or "role" in outer:
        kind = fields.get("role")
    name = str(kind).removesuffix("Chunk").removesuffix("Message")
    return name.lower(), fields


def _assistant(fields: Mapping[str, Any]) -> dict[str, Any]:
    raw = as_object(fields.get("additional_kwargs")) or {}
    content, used = _without_calls(fields.get("content"))
    calls = list(_calls(fields, raw, used))
    about = as_object(fields.get("response_metadata")) or {}
    end = about.get("finish_reason") or about.get("stop_reason") or about.get("done_reason")
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        message["tool_calls"] = calls
    if raw.get("refusal"):
        message["refusal"] = raw["refusal"]
    if finish := _ENDS.get(str(end).lower()):
        message["finish_reason"] = finish
    return message


def _without_calls(content: object) -> tuple[object, list[dict[str, Any]]]:
    """The content without blocks of calls and thoughts, and the calls that stood in it."""
    blocks = as_list(content)
    if blocks is None:
        return content, []
    used: list[dict[str, Any]] = []
    rest: list[Any] = []
    for block in blocks:
        fields = as_object(block) or {}
        if fields.get("type") in ("tool_use", "tool_call", "function_call"):
            used.append(fields)
        elif fields.get("type") not in _THOUGHT:
            rest.append(block)
    return rest, used


def _calls(
    fields: Mapping[str, Any], raw: Mapping[str, Any], used: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Each call once, in the form of Chat Completions."""
    texts = [call for one in as_list(raw.get("tool_calls")) or () if (call := as_object(one))]
    written = {str(call.get("id")): call for call in texts if call.get("id")}
    listed = [
        call
        for name in ("tool_calls", "invalid_tool_calls")
        for one in as_list(fields.get(name)) or ()
        if (call := as_object(one)) is not None
    ]
    if listed:
        for call in listed:
            yield written.get(str(call.get("id"))) or _call(call)
    elif texts:
        yield from texts
    elif (old := as_object(raw.get("function_call"))) is not None:
        yield {"id": "", "function": old}
    else:
        for block in used:
            yield _call(block)


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    if as_object(call.get("function")) is not None:
        return dict(call)
    arguments = next((call[name] for name in ("args", "input", "arguments") if name in call), None)
    return {
        "id": call.get("id") or call.get("call_id") or "",
        "type": "function",
        "function": {"name": call.get("name"), "arguments": arguments},
    }
