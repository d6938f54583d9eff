"""The fake Chat Completions endpoint: POST .../chat/completions.

    read     the body's shape and the law of tool calls; what is wrong is a 400 in the API's words
    speak    a completion, or its chunks: parallel calls come with their pieces interleaved, then finish_reason, the usage
             where stream_options asks for it, and [DONE]
    fail     429 rate_limit_exceeded, 503 and 500 server_error

One choice is answered: `n` above 1 is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from sandtrail.fakes.wire import Reply
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.script_steps import CutOff, Fails, Refuses, Says
from sandtrail.sandbox.script_wire import (
    Asked,
    Wrong,
    called,
    fragments,
    minted,
    objects_of,
    plain,
    streamed,
    tokens,
    twice,
)
from sandtrail.sandbox.wire_law import WireFlaw, openai_law

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_FAILURES = {
    "rate_limited": (429, "requests", "rate_limit_exceeded", "Rate limit reached for requests."),
    "overloaded": (503, "server_error", None, "The server is overloaded. Please try again later."),
    "server_error": (500, "server_error", None, "The server had an error while processing your request."),
}
_LAW = {
    "wire.unpaired_tool_use": "An assistant message with 'tool_calls' must be followed by tool messages responding to"
    " each 'tool_call_id'. The following tool_call_ids did not have response messages: {id}",
    "wire.orphan_tool_result": "Invalid parameter: messages with role 'tool' must be a response to a preceding message"
    " with 'tool_calls': {id}",
    "wire.duplicate_id": "Duplicate value for 'tool_call_id' of '{id}' in {at}",
}


class OpenAIChat:
    """The endpoint; it holds nothing between requests."""

    provider = "openai"
    path = "/chat/completions"

    def read(self, number: int, body: Mapping[str, Any], *, now: int) -> Asked | Wrong:
        """The question in a body, or what is wrong with it."""
        sent = as_list(body.get("messages"))
        tools = objects_of(body.get("tools") or [])
        wrong = _fields(body) or _messages(sent) or _tools(tools)
        if wrong is not None:
            return wrong
        history = tuple(sent or ())
        flaws = openai_law(history, request=True)
        if flaws:
            return _illegal(flaws[0])
        return Asked(number, now, body, history, tuple(tools or ()))

    def speak(self, asked: Asked, step: Says | Refuses | CutOff) -> Reply:
        """The answer, whole or as a stream."""
        headers = {"x-request-id": minted("req_", asked.number)}
        message, why = _message(asked, step), _finish_reason(step)
        usage = _usage(asked, message)
        shared = {"id": minted("chatcmpl-", asked.number), "created": asked.now, "model": asked.model}
        if asked.stream:
            asks = (as_object(asked.body.get("stream_options")) or {}).get("include_usage") is True
            counted = {"usage": None} if asks else {}
            chunks: list[dict[str, Any]] = [
                {**shared, "object": "chat.completion.chunk", "choices": [choice], **counted}
                for choice in _choices(message, why)
            ]
            if asks:
                chunks.append({**chunks[0], "choices": [], "usage": usage})
            return streamed([*(("", chunk) for chunk in chunks), ("", "[DONE]")], headers)
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": why}
        whole = {**shared, "object": "chat.completion", "choices": [choice], "usage": usage}
        return plain(200, whole, headers)

    def refuse(self, number: int, wrong: Wrong) -> Reply:
        """An invalid_request_error."""
        return _error(
            number, wrong.status, "invalid_request_error", wrong.code, wrong.message, wrong.param, {}
        )

    def fail(self, number: int, failure: Fails) -> Reply:
        """An error of the provider's own."""
        status, kind, code, message = _FAILURES[failure.kind]
        return _error(number, status, kind, code, message, None, failure.headers)


def _error(
    number: int,
    status: int,
    kind: str,
    code: str | None,
    message: str,
    param: str | None,
    headers: Mapping[str, str],
) -> Reply:
    said = {"message": message, "type": kind, "param": param, "code": code}
    return plain(status, {"error": said}, {"x-request-id": minted("req_", number), **headers})


# -- what is wrong with a question -------------------------------------------------------------------------


def _illegal(flaw: WireFlaw) -> Wrong:
    words = _LAW.get(flaw.code)
    return Wrong(words.format(id=flaw.id, at=flaw.at) if words else flaw.reason, param=flaw.at, why=str(flaw))


def _missing(name: str) -> Wrong:
    return Wrong(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")


def _typed(at: str, wanted: str) -> Wrong:
    return Wrong(f"Invalid type for '{at}': expected {wanted}.", at, "invalid_type")


def _fields(body: Mapping[str, Any]) -> Wrong | None:
    if not isinstance(body.get("model"), str):
        return _missing("model")
    if body.get("n") not in (None, 1):
        return Wrong(f"n={body['n']}: the fake model of a script answers one choice; leave n out", "n")
    return None


def _messages(sent: Sequence[Any] | None) -> Wrong | None:
    if sent is None:
        return _missing("messages")
    if not sent:
        return Wrong(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            "messages",
            "empty_array",
        )
    found = (_one(as_object(item), f"messages[{index}]") for index, item in enumerate(sent))
    return next((wrong for wrong in found if wrong is not None), None)


def _one(message: Mapping[str, Any] | None, at: str) -> Wrong | None:
    if message is None:
        return _typed(at, "an object")
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        known = ", ".join(f"'{name}'" for name in _ROLES)
        return Wrong(
            f"Invalid value: {json.dumps(role)}. Supported values are: {known}.",
            f"{at}.role",
            "invalid_value",
        )
    if content is None:
        # An assistant's content may be null beside calls or a refusal, nobody else's.
        if role != "assistant" or not any(
            message.get(name) for name in ("tool_calls", "refusal", "function_call")
        ):
            return _typed(f"{at}.content", "a string or an array of parts, but got null instead")
    elif not isinstance(content, str) and objects_of(content) is None:
        return _typed(f"{at}.content", "a string or an array of parts")
    if role == "tool" and not isinstance(message.get("tool_call_id"), str):
        return _missing(f"{at}.tool_call_id")
    return _tool_calls(message.get("tool_calls"), f"{at}.tool_calls")


def _tool_calls(value: Any, at: str) -> Wrong | None:
    if value is None:
        return None
    made = objects_of(value)
    if not made:
        return _typed(at, "an array of calls, at least one")
    for place, call in enumerate(made):
        function = as_object(call.get("function")) or {}
        if not (isinstance(call.get("id"), str) and call["id"]):
            return _missing(f"{at}[{place}].id")
        if call.get("type", "function") == "function" and not isinstance(function.get("arguments"), str):
            return _typed(f"{at}[{place}].function.arguments", "a string")
    return None


def _tools(tools: Sequence[Mapping[str, Any]] | None) -> Wrong | None:
    if tools is None:
        return _typed("tools", "an array of tools")
    named = [as_object(tool.get(str(tool.get("type", "")))) or {} for tool in tools]
    for index, tool in enumerate(named):
        if not (isinstance(tool.get("name"), str) and _NAME.fullmatch(tool["name"])):
            return Wrong(
                f"Invalid 'tools[{index}].function.name': expected a string that matches '^{_NAME.pattern}$'.",
                f"tools[{index}].function.name",
                "invalid_value",
            )
    if (name := twice(tool["name"] for tool in named)) is not None:
        return Wrong(f"Invalid 'tools': the function name '{name}' stands twice.", "tools", "invalid_value")
    return None


# -- answers -----------------------------------------------------------------------------------------------


def _message(asked: Asked, step: Says | Refuses | CutOff) -> dict[str, Any]:
    if isinstance(step, Refuses):
        return {"role": "assistant", "content": None, "refusal": step.words}
    made = [
        {"id": own, "type": "function", "function": {"name": call.tool, "arguments": call.text}}
        for own, call in called(step, "call_", asked.number)
    ]
    if isinstance(step, CutOff) and made:
        made[-1]["function"] = {"name": step.calls[-1].tool, "arguments": step.left}
    text = step.text if step.text or not made else None
    return {"role": "assistant", "content": text, "refusal": None, **({"tool_calls": made} if made else {})}


def _finish_reason(step: Says | Refuses | CutOff) -> str:
    match step:
        case CutOff():
            return "length"
        case Says(calls=made) if made:
            return "tool_calls"
        case _:
            return "stop"


def _usage(asked: Asked, message: Mapping[str, Any]) -> dict[str, Any]:
    read, written = asked.input_tokens, tokens(message)
    return {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _choices(message: Mapping[str, Any], why: str) -> Iterator[dict[str, Any]]:
    """The choice of each chunk: who speaks, the text, the calls, and why it ends."""
    for delta in _deltas(message):
        yield {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    yield {"index": 0, "delta": {}, "logprobs": None, "finish_reason": why}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    made = message.get("tool_calls", [])
    yield {"role": "assistant", "content": None if message["content"] is None else "", "refusal": None}
    for name in ("content", "refusal"):
        for piece in fragments(message[name] or ""):
            yield {name: piece}
    for index, call in enumerate(made):
        opened = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": opened}]}
    # A chunk names the call it belongs to; clients that add to the latest call mix the arguments up.
    for round_ in zip_longest(*(fragments(call["function"]["arguments"]) for call in made)):
        for index, piece in enumerate(round_):
            if piece is not None:
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}
