"""Items of OpenAI's Responses API: a list of them, a request's body, a response's, or both.

    message                    {"role", "content": text or [{"type": "input_text" | "output_text" | "refusal"}]}
    function_call              {"call_id", "name", "arguments": text}      custom_tool_call {"call_id", "name", "input"}
    function_call_output       {"call_id", "output": text or blocks}
    reasoning                  what the model thought; no decision
    mcp_call                   a call that the provider carried out, with its output or error
    web_search_call, ...       the provider's own tools; what they found is not recorded

What the model puts out between two inputs is one decision. The items are rewritten as Chat Completions and read as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandtrail.ledgers.conversation import Answered
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange.dialects import RESPONSES_TYPES, dialect_of, run_of
from sandtrail.sandbox.interchange.openai_chat import conversation_of, flaws_in
from sandtrail.sandbox.interchange.reading import bounded, kind_of, sound, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.tools import offered

FORMAT = "responses"

_CALLS = ("function_call", "custom_tool_call", "mcp_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_TEXTS = ("input_text", "output_text")


def recognises(value: object) -> bool:
    """Whether a document holds items of this dialect."""
    fields = as_object(value) or {}
    if fields.get("object") == "response" and as_list(fields.get("output")) is not None:
        return True
    run = run_of(value)
    return run is not None and dialect_of(run) == FORMAT


def read(value: object, name: str) -> Iterator[Recording]:
    """The one run in a document."""
    run = run_of(value)
    if run is None:
        yield unreadable(FORMAT, name, "no items: a list of items is wanted, or a response with its output")
        return
    turns = _Turns()
    if isinstance(system := run.around.get("instructions"), str) and system:
        turns.add({"role": "system", "content": system})
    for index, item in enumerate(run.messages):
        turns.item(item, f"items.{index}")
    turns.end(_finish(run.around))
    messages, unfit = sound(turns.messages)
    tools, bad = offered(run.around.get("tools"))
    conversation = tuple(
        replace(spoken, is_error=True) if isinstance(spoken, Answered) and message.get("failed") else spoken
        for message, spoken in zip(messages, conversation_of(messages), strict=True)
    )
    flaws = [*turns.flaws, *_around(run.around), *unfit, *bad, *flaws_in(messages)]
    yield Recording(name, FORMAT, conversation=conversation, tools=tools, flaws=bounded(flaws))


def _finish(around: Mapping[str, Any]) -> str | None:
    """How the last response ended, in the words of Chat Completions."""
    if around.get("status") != "incomplete":
        return None
    reason = (as_object(around.get("incomplete_details")) or {}).get("reason")
    return "content_filter" if reason == "content_filter" else "length"


def _around(around: Mapping[str, Any]) -> Iterator[Finding]:
    error = as_object(around.get("error"))
    if error is not None:
        yield Finding("trace.errored", "response", f"the provider failed: {error.get('message')!s:.200}")
    elif around.get("previous_response_id") and "input" not in around:
        reason = "it goes on from an earlier response (previous_response_id), which is not recorded here"
        yield Finding("trace.incomplete", "response", reason)


class _Turns:
    """Messages of Chat Completions while they are gathered from items."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.flaws: list[Finding] = []
        self._blocks: list[Any] = []
        self._calls: list[dict[str, Any]] = []
        self._answers: list[dict[str, Any]] = []
        self._cut = False
        self._silent = True

    def add(self, message: dict[str, Any]) -> None:
        """A message that is not the model's: what the model put out before it is one decision."""
        self.end(None)
        self.messages.append(message)

    def item(self, item: object, place: str) -> None:
        """The next item."""
        fields = as_object(item)
        kind = None if fields is None else fields.get("type")
        if fields is None or not ("role" in fields or isinstance(kind, str)):
            reason = f"an item with a type or a role is wanted; got {kind_of(item)}"
            self.flaws.append(Finding("wire.unreadable", place, reason))
        elif kind in _CALLS:
            self._call(fields)
        elif kind in _OUTPUTS:
            call = str(fields.get("call_id") or "")
            self.add({"role": "tool", "tool_call_id": call, "content": _content(fields.get("output"))})
        elif kind == "item_reference":
            reason = f"an item that stands at the provider only: {fields.get('id')!s:.80}"
            self.flaws.append(Finding("trace.incomplete", place, reason))
        elif "role" in fields:
            self._message(fields)
        elif kind not in RESPONSES_TYPES and not str(kind).endswith("_call"):
            self.flaws.append(Finding("trace.incomplete", place, f"an item of an unknown type: {kind!s:.80}"))

    def _message(self, fields: Mapping[str, Any]) -> None:
        content = _content(fields.get("content"))
        if fields.get("role") != "assistant":
            self.add({"role": fields.get("role"), "content": content})
            return
        self._silent = False
        self._cut = self._cut or fields.get("status") == "incomplete"
        if content is not None:
            self._blocks += [content] if isinstance(content, str) else as_list(content) or []

    def _call(self, fields: Mapping[str, Any]) -> None:
        self._silent = False
        self._cut = self._cut or fields.get("status") == "incomplete"
        id = str(fields.get("call_id") or fields.get("id") or "")  # noqa: A001  the provider's word
        arguments = fields.get("arguments", fields.get("input"))
        self._calls.append({"id": id, "function": {"name": fields.get("name"), "arguments": arguments}})
        if fields.get("type") == "mcp_call":
            failed = fields.get("error") is not None
            told = fields.get("error") if failed else fields.get("output")
            said = told if isinstance(told, str) or told is None else str(told)
            self._answers.append({"role": "tool", "tool_call_id": id, "content": said, "failed": failed})

    def end(self, finish: str | None) -> None:
        """The model has put out all of one decision."""
        if self._silent:
            return
        message: dict[str, Any] = {"role": "assistant", "content": self._blocks or None}
        if self._calls:
            message["tool_calls"] = self._calls
        if finish or self._cut:
            message["finish_reason"] = finish or "length"
        self.messages += [message, *self._answers]
        self._blocks, self._calls, self._answers = [], [], []
        self._cut, self._silent = False, True


def _content(content: object) -> object:
    """The content with its texts under the name that they have in Chat Completions."""
    blocks = as_list(content)
    return content if blocks is None else [_text(block) for block in blocks]


def _text(block: object) -> object:
    fields = as_object(block)
    if fields is None or fields.get("type") not in _TEXTS:
        return block
    return {"type": "text", "text": fields.get("text")}
