"""Messages of any provider or framework, read into one shape: what was said, called and answered.

    spoken(value)      the messages in a value: a text, a message, a list of them, a request, a response
    said_in(message)   what one message says; one that holds several results says several things

Recorders keep messages as they got them, so one file may hold several dialects: OpenAI (Chat, Responses), Anthropic,
Gemini, LangChain, the Vercel AI SDK, Inspect, and the parts of the GenAI conventions. Sources: the API references of the
first three; langchain_core.messages; ai-sdk.dev "ModelMessage"; inspect_ai/model/_chat_message.py;
open-telemetry/semantic-conventions-genai docs/gen-ai/gen-ai-input-messages.json and gen-ai-output-messages.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.loose import canonical, first, label, objects, parsed, text_of

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Part: TypeAlias = tuple[str, Mapping[str, Any]]

_ROLES: Mapping[str, Role] = {
    "system": "system", "developer": "system", "systemmessage": "system", "instruction": "system",
    "user": "user", "human": "user", "humanmessage": "user", "customer": "user",
    "assistant": "assistant", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "model": "assistant", "bot": "assistant", "agent": "assistant",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "functionmessage": "tool",
}  # fmt: skip
_TEXTS = {"text", "input_text", "output_text", "refusal"}
_CALLS = {"tool_call", "tool_use", "tool-call", "function_call", "custom_tool_call"}
_RESULTS = {
    "tool_call_response", "tool_result", "tool-result", "function_call_output", "custom_tool_call_output",
}  # fmt: skip
_SILENT = {"reasoning", "thinking", "redacted_thinking", "item_reference"}
_MEDIA = {
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "file",
    "input_file",
    "document",
    "blob",
    "uri",
}
_PARTS = _TEXTS | _CALLS | _RESULTS | _SILENT | _MEDIA
_SHOWN = ("text", "image", "image_url", "document")
_FINISHES = ("finish_reason", "stop_reason", "finishReason", "stopReason")
_NAMING = (
    "role",
    "type",
    "content",
    "parts",
    "text",
    "tool_calls",
    "function_call",
    "additional_kwargs",
    "refusal",
)
_WRAPPING = (
    "messages",
    "contents",
    "choices",
    "candidates",
    "generations",
    "kwargs",
    "message",
    "response",
    "output",
    "input",
)
_BESIDE = {"tool_calls", "additional_kwargs", "invalid_tool_calls", "function_call"}
_WORDLESS = _CALLS | _RESULTS | _SILENT
_LEVELS = 6


@dataclass(frozen=True, slots=True)
class Asked:
    """A call in a message. `raw` is the text of its arguments, None where they were not recorded."""

    id: str
    tool: str
    raw: str | None
    flaw: str = ""

    @property
    def same(self) -> tuple[str, str]:
        """What it shares with another record of the same call that has no id."""
        return self.tool, canonical(self.raw)


@dataclass(frozen=True, slots=True)
class Said:
    """One message. A tool's has the `call_id` it answers and `failed`; `bare` says that its content was not recorded."""

    role: Role
    text: str = ""
    calls: tuple[Asked, ...] = ()
    call_id: str = ""
    tool: str = ""
    failed: bool = False
    finish: str = ""
    bare: bool = False

    @property
    def is_reply(self) -> bool:
        """Whether the model only says something."""
        return self.role == "assistant" and not self.calls

    @property
    def key(self) -> tuple[object, ...]:
        """Two records of one message have the same key."""
        if self.calls:
            ids = tuple(call.id for call in self.calls)
            return ("calls", ids if all(ids) else tuple(call.same for call in self.calls))
        if self.role == "tool" and self.call_id:
            return ("result", self.call_id)
        return (self.role, self.text.strip())


def spoken(value: object, role: Role = "user", *, level: int = 0) -> tuple[Said, ...]:
    """The messages in a value. `role` is that of a message that does not say who speaks.

    >>> spoken('{"role": "assistant", "content": "Done."}')[0].text
    'Done.'
    >>> spoken("Cancel it.")[0].role
    'user'
    """
    whole = parsed(value)
    if whole is None or level > _LEVELS:
        return ()
    items, fields = as_list(whole), as_object(whole)
    if isinstance(whole, str):
        return (Said(role, whole),)
    if not (items or fields or isinstance(whole, bool | int | float)):
        return ()
    if isinstance(value, str) and not any(_is_message(item) for item in items or [fields]):
        return (Said(role, value),)
    if items is not None:
        if all(_is_part(item) for item in items):
            return tuple(_message({"content": items}, role))
        return _items(items, role, level)
    if fields is None or not _is_message(fields):
        return (Said(role, text_of(whole)),)
    return _object(fields, role, level)


def _is_message(value: object) -> bool:
    """Whether an object has a field that messages, or what wraps them, have."""
    fields = as_object(value)
    return fields is not None and any(name in fields for name in _NAMING + _WRAPPING)


def _items(items: list[Any], role: Role, level: int) -> tuple[Said, ...]:
    """The messages of a list. Calls that are items of their own (Responses) are one decision with those before them."""
    found: list[Said] = []
    for item in items:
        told = spoken(item, role, level=level + 1)
        alone = len(told) == 1 and bool(told[0].calls) and _is_part(item)
        if alone and found and found[-1].role == "assistant":
            found[-1] = replace(found[-1], calls=found[-1].calls + told[0].calls, bare=False)
        else:
            found.extend(told)
    return tuple(found)


def _is_part(item: object) -> bool:
    fields = as_object(item)
    return fields is not None and "role" not in fields and text_of(fields.get("type")) in _PARTS


def _object(fields: Mapping[str, Any], role: Role, level: int) -> tuple[Said, ...]:
    """A message, or what wraps messages: a request, a response, a choice."""
    if "role" in fields:
        return tuple(_message(fields, role))
    for name in _WRAPPING:
        inner = fields.get(name)
        if name == "output" or (isinstance(inner, str) and name != "input"):
            continue  # what a model put out in several items is joined below
        if isinstance(inner, str) or as_list(inner) is not None or as_object(inner) is not None:
            found = spoken(inner, _speaker(fields, name, role), level=level + 1)
            return _system_of(fields) + _finished(found, fields)
    content = as_object(fields.get("content"))
    if content is not None and "parts" in content:  # a candidate of Gemini
        return _finished(tuple(_message(content, role)), fields)
    output = as_list(fields.get("output"))
    if output is not None:  # a response of OpenAI's
        return _joined(spoken(output, "assistant", level=level + 1))
    if _is_part(fields):
        return () if fields.get("type") in _SILENT else tuple(_message({"content": [fields]}, role))
    if not any(name in fields for name in _NAMING):
        return (Said(role, text_of(fields)),)
    return tuple(_message(fields, role))


def _speaker(fields: Mapping[str, Any], name: str, role: Role) -> Role:
    """Who speaks in what is wrapped under this name. LangChain names the class of a message beside it."""
    if name in ("choices", "candidates", "generations", "response"):
        return "assistant"
    if name == "kwargs" and (path := as_list(fields.get("id"))):
        return role_of({"type": path[-1]}, role)
    return role


def _system_of(fields: Mapping[str, Any]) -> tuple[Said, ...]:
    """The system text that stands beside the messages of a request."""
    system = first(fields, "system", "instructions", "system_instruction", "systemInstruction")
    inner = as_object(system) or {}
    text = _words(first(inner, "parts", "content", "text") if inner else system)
    return (Said("system", text),) if text else ()


def _finished(found: tuple[Said, ...], fields: Mapping[str, Any]) -> tuple[Said, ...]:
    """Why the model stopped stands beside its message in some shapes."""
    finish = text_of(first(fields, *_FINISHES)) if first(fields, *_FINISHES) is not None else ""
    return tuple(
        replace(said, finish=finish) if finish and said.role == "assistant" and not said.finish else said
        for said in found
    )


def _joined(found: tuple[Said, ...]) -> tuple[Said, ...]:
    """What a response says in several items is one decision."""
    mine = [said for said in found if said.role == "assistant"]
    if len(mine) < 2:
        return found
    text = "\n".join(said.text for said in mine if said.text)
    calls = tuple(call for said in mine for call in said.calls)
    rest = tuple(said for said in found if said.role != "assistant")
    return (replace(mine[0], text=text, calls=calls, bare=all(said.bare for said in mine)), *rest)


# -- one message -------------------------------------------------------------------------------------------


def role_of(fields: Mapping[str, Any], role: Role) -> Role:
    """Who speaks; LangChain says it in `type`."""
    for name in ("role", "type"):
        word = fields.get(name)
        if isinstance(word, str) and (known := _ROLES.get(word.lower())) is not None:
            return known
    return role


def _message(fields: Mapping[str, Any], default: Role) -> Iterator[Said]:
    role = role_of(fields, default)
    content = first(fields, "content", "parts", "text")
    parts = [] if isinstance(content, str) else [(_kind(part), part) for part in _parts(content)]
    results = [_result(part) for kind, part in parts if kind in _RESULTS]
    if role == "tool" and not results:
        yield _tool_message(fields, content)
        return
    calls = _calls(fields, parts)
    text = content if isinstance(content, str) else _words(content, parts)
    if results and role != "assistant":
        yield from results  # the results of a batch come first in a message
        if text or calls:
            yield Said(role, text, calls)
        return
    refusal = fields.get("refusal")
    said = isinstance(refusal, str) and refusal
    finish = "refusal" if said else text_of(first(fields, *_FINISHES))
    words = text or (str(refusal) if said else "")
    bare = not words and not calls and (content is None or _hollow(parts))
    # A part of the function_call kind names no role: it is the model's.
    yield Said("assistant" if calls else role, words, calls, finish=finish, bare=bare)
    yield from results


def _hollow(parts: list[Part]) -> bool:
    """Whether there are parts, and the recorder left out what was in them."""
    return bool(parts) and all(
        kind in _TEXTS and "text" not in part and "content" not in part for kind, part in parts
    )


def _parts(content: object) -> Iterator[Mapping[str, Any]]:
    one = as_object(content)
    yield from objects([one] if one is not None else content)


def _kind(part: Mapping[str, Any]) -> str:
    """The kind of a part; Gemini says it by the name of a field."""
    if "functionCall" in part or "function_call" in part:
        return "tool_call"
    if "functionResponse" in part or "function_response" in part:
        return "tool_result"
    kind = part.get("type")
    return kind if isinstance(kind, str) else "text"


def _words(content: object, parts: list[Part] | None = None) -> str:
    """The words of a content; what has none is named."""
    if isinstance(content, str):
        return content
    plain = as_list(content)
    if plain and all(isinstance(item, str) for item in plain):
        return "\n".join(plain)
    found: list[str] = []
    for kind, part in [(_kind(part), part) for part in _parts(content)] if parts is None else parts:
        if kind in _TEXTS:
            found.append(text_of(first(part, "text", "content", "refusal", "parts")))
        elif kind not in _WORDLESS:
            found.append(f"[{label(kind, 40)}]")
    return "\n".join(text for text in found if text)


def _calls(fields: Mapping[str, Any], parts: list[Part]) -> tuple[Asked, ...]:
    """The calls of a message. Some recorders keep them twice: in the parts and beside them."""
    if not fields.keys() & _BESIDE:
        return tuple([_call(part) for kind, part in parts if kind in _CALLS])
    extra = as_object(fields.get("additional_kwargs")) or {}
    broken = [_call(call) for call in objects(fields.get("invalid_tool_calls"))]
    for listed in (fields.get("tool_calls"), extra.get("tool_calls")):
        wrapped = (as_object(call.get("tool_call")) or call for call in objects(parsed(listed)))
        if calls := [_call(call) for call in wrapped]:
            return (*calls, *broken)
    if inline := [_call(part) for kind, part in parts if kind in _CALLS]:
        return (*inline, *broken)
    old = as_object(fields.get("function_call"))
    return tuple(broken) if old is None else (_call(old),)


def _call(fields: Mapping[str, Any]) -> Asked:
    named = first(fields, "functionCall", "function_call", "function", "custom")
    inner = as_object(named) or fields
    given = first(inner, "arguments", "args", "input")
    if given is None:
        given = first(fields, "arguments", "args", "input")
    name = first(inner, "name", "toolName", "tool_name")
    tool = named if isinstance(named, str) else name
    broken = fields.get("parse_error")
    return Asked(
        text_of(first(fields, "call_id", "tool_call_id", "toolCallId", "id") or inner.get("id")),
        text_of(tool),
        None if given is None else text_of(given),
        f"args.malformed: {label(broken)}" if isinstance(broken, str) and broken else "",
    )


def _result(part: Mapping[str, Any]) -> Said:
    inner = as_object(first(part, "functionResponse", "function_response")) or part
    given = first(inner, "response", "result", "output", "content")
    typed = as_object(given) or {}
    if typed.get("type") in ("text", "json", "error-text", "error-json"):  # the AI SDK, from 5 on
        given = typed.get("value", given)
    return Said(
        "tool",
        result_text(given),
        call_id=text_of(first(inner, "tool_use_id", "toolCallId", "call_id", "tool_call_id", "id")),
        tool=text_of(first(inner, "name", "toolName")),
        failed=part.get("is_error") is True or text_of(typed.get("type")).startswith("error-"),
        bare=given is None,
    )


def _tool_message(fields: Mapping[str, Any], content: object) -> Said:
    error = fields.get("error")
    failed = fields.get("status") == "error" or bool(error) or fields.get("is_error") is True
    text = result_text(content)
    if not text and failed:
        text = text_of((as_object(error) or {}).get("message") or error)
    return Said(
        "tool",
        text,
        call_id=text_of(first(fields, "tool_call_id", "toolCallId", "id")),
        tool=text_of(first(fields, "name", "function")),
        failed=failed,
        bare=content is None and not failed,
    )


def result_text(content: object) -> str:
    """What the model was told: the words of a list of blocks, else the text or the JSON."""
    blocks = as_list(content)
    if blocks and all((as_object(block) or {}).get("type") in _SHOWN for block in blocks):
        return _words(content)
    return text_of(content)
