"""The fake Messages endpoint: POST .../v1/messages.

    read     the body's shape, its message thread, and the law of tool calls; what is wrong is a 400 in the API's words
    speak    a message, or its events: message_start, content_block_start/delta/stop, message_delta, message_stop
    fail     429 rate_limit_error, 529 overloaded_error, 500 api_error

Message threads (`"thread": {"type": "create"}`, then `continue` with only what is new; the default of the SDK's tool
runner) are kept here: each answer can be continued from once. A refusal is not kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from sandtrail.fakes.wire import Reply
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.script_anthropic_shape import illegal, misshapen
from sandtrail.sandbox.script_steps import CutOff, Fails, Refuses, Says
from sandtrail.sandbox.script_wire import (
    Asked,
    Wrong,
    called,
    fragments,
    minted,
    plain,
    streamed,
    tokens,
)
from sandtrail.sandbox.wire_law import anthropic_law

_FAILURES = {
    "rate_limited": (429, "rate_limit_error", "This request would exceed your rate limit."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
    "server_error": (500, "api_error", "Internal server error"),
}


@dataclass(frozen=True)
class _Thread:
    """What the server holds of a conversation up to one of its answers."""

    history: tuple[Any, ...]
    tools: tuple[Any, ...]
    system: Any


class AnthropicMessages:
    """The endpoint, and the message threads of a run."""

    provider = "anthropic"
    path = "/v1/messages"

    def __init__(self) -> None:
        self._threads: dict[str, _Thread] = {}
        self._continued: set[str] = set()

    def read(self, number: int, body: Mapping[str, Any], *, now: int) -> Asked | Wrong:
        """The question in a body, or what is wrong with it."""
        thread = self._thread(body)
        if isinstance(thread, Wrong):
            return thread
        wrong = misshapen(body, continued=bool(thread.history))
        if wrong is not None:
            return wrong
        history = (*thread.history, *body["messages"])
        flaws = anthropic_law(history, request=True)
        if flaws:
            return illegal(flaws[0])
        system = body.get("system", thread.system)
        tools = (*thread.tools, *(body.get("tools") or ()))
        return Asked(number, now, {**body, "system": system}, history, tools)

    def _thread(self, body: Mapping[str, Any]) -> _Thread | Wrong:
        """What is continued: nothing, where the body starts anew."""
        said = as_object(body.get("thread"))
        if said is None or said.get("type") == "create":
            return _Thread((), (), None)
        before = str(said.get("previous_message_id", ""))
        if before in self._continued:
            return _lost_thread("thread_already_continued", f"{before} was continued already", 400)
        if before not in self._threads:
            return _lost_thread("thread_not_found", f"no thread is held under {before!r}", 404)
        for name in ("system", "tools"):
            if name in body:
                return Wrong(f"{name}: a thread keeps the one it was created with; leave it out")
        return self._threads[before]

    def speak(self, asked: Asked, step: Says | Refuses | CutOff) -> Reply:
        """The answer, whole or as a stream; a thread holds it where the question asks for that."""
        message = _message(asked, step)
        if as_object(asked.body.get("thread")) and not isinstance(step, Refuses):
            self._hold(asked, message)
        headers = {"request-id": minted("req_", asked.number)}
        if asked.stream:
            return streamed(((str(event["type"]), event) for event in _events(message, step)), headers)
        return plain(200, message, headers)

    def _hold(self, asked: Asked, message: Mapping[str, Any]) -> None:
        thread = asked.body["thread"]
        if thread.get("type") != "create":
            before = str(thread["previous_message_id"])
            self._continued.add(before)
            del self._threads[before]
        said = {"role": "assistant", "content": message["content"]}
        self._threads[message["id"]] = _Thread((*asked.history, said), asked.tools, asked.body.get("system"))

    def refuse(self, number: int, wrong: Wrong) -> Reply:
        """An invalid_request_error, or a not_found_error for a thread."""
        kind = "not_found_error" if wrong.status == 404 else "invalid_request_error"
        return _error(number, wrong.status, kind, wrong.message, {}, wrong.details)

    def fail(self, number: int, failure: Fails) -> Reply:
        """An error of the provider's own."""
        status, kind, message = _FAILURES[failure.kind]
        return _error(number, status, kind, message, failure.headers)


def _error(
    number: int,
    status: int,
    kind: str,
    message: str,
    headers: Mapping[str, str],
    details: Mapping[str, Any] | None = None,
) -> Reply:
    said: dict[str, Any] = {"type": kind, "message": message, **({"details": details} if details else {})}
    request = minted("req_", number)
    return plain(
        status, {"type": "error", "error": said, "request_id": request}, {"request-id": request, **headers}
    )


def _lost_thread(code: str, why: str, status: int) -> Wrong:
    return Wrong(f"thread: {why}; send the whole history", status=status, details={"error_code": code})


# -- answers -----------------------------------------------------------------------------------------------


def _message(asked: Asked, step: Says | Refuses | CutOff) -> dict[str, Any]:
    content = _content(asked, step)
    return {
        "id": minted("msg_", asked.number),
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": _stop_reason(step),
        "stop_sequence": None,
        "stop_details": _details(step),
        "usage": {
            "input_tokens": asked.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": tokens(content),
            "service_tier": "standard",
        },
    }


def _content(asked: Asked, step: Says | Refuses | CutOff) -> list[dict[str, Any]]:
    if isinstance(step, Refuses):
        return []
    text = [{"type": "text", "text": step.text}] if step.text else []
    used: list[dict[str, Any]] = [
        {"type": "tool_use", "id": own, "name": made.tool, "input": made.object}
        for own, made in called(step, "toolu_", asked.number)
    ]
    if isinstance(step, CutOff) and used:
        used[-1]["input"] = step.left_object
    return [*text, *used]


def _stop_reason(step: Says | Refuses | CutOff) -> str:
    match step:
        case Refuses():
            return "refusal"
        case CutOff():
            return "max_tokens"
        case Says():
            return "tool_use" if step.calls else "end_turn"
        case _ as never:
            assert_never(never)


def _details(step: Says | Refuses | CutOff) -> dict[str, Any] | None:
    return (
        {"type": "refusal", "category": None, "explanation": step.words}
        if isinstance(step, Refuses)
        else None
    )


def _events(message: Mapping[str, Any], step: Says | Refuses | CutOff) -> Iterator[dict[str, Any]]:
    """The events of a stream. The texts of arguments come as they are written, in several pieces."""
    opening = {**message["usage"], "output_tokens": 1}
    nothing_yet: dict[str, Any] = {"content": [], "stop_reason": None, "stop_details": None, "usage": opening}
    yield {"type": "message_start", "message": {**message, **nothing_yet}}
    yield {"type": "ping"}
    written = [] if isinstance(step, Refuses) else [made.text for made in step.calls]
    if isinstance(step, CutOff) and written:
        written[-1] = step.left
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            opened: dict[str, Any] = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in fragments(block["text"])]
        else:
            opened = {**block, "input": {}}
            pieces = ["", *fragments(written.pop(0))]  # the API begins with an empty one
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {
        "type": "message_delta",
        "delta": ended,
        "usage": {"output_tokens": message["usage"]["output_tokens"]},
    }
    yield {"type": "message_stop"}
