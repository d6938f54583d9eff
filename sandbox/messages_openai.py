"""The OpenAI Chat Completions dialect, both ways, without its SDK.

    tools_of(catalog)          the tools of a request       catalog_digest(catalog)  SHA-256 over their exact bytes
    messages_of(conversation)  its messages, the system text first
    decode(body)               a response's body -> Decided
    read_messages(messages)    somebody's recorded transcript -> Conversation     system_of(messages)  its system text
    read_events(chunks)        the chunks of a stream -> the body of a response, which decode takes

The text of arguments is kept byte for byte, sent back as it came, and read strictly: it is never repaired. A tool
message has no flag for an error: whether a recorded result was one stands in its text only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Conversation,
    Decided,
    Decision,
    Malformed,
    Message,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.specs import Catalog
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.messages import (
    GO_ON,
    NO_TEXT,
    NOT_CARRIED_OUT,
    Open,
    acted,
    blocks_of,
    briefing_of,
    calls_of,
    digest_of,
    filler_of,
    fresh,
    malformed,
    offered,
    words_of,
)

_SYSTEM = {"system", "developer"}

# -- to the provider ---------------------------------------------------------------------------------------


def tools_of(catalog: Catalog, *, meta: bool = False) -> list[dict[str, Any]]:
    """The tools of a request, the same bytes for the same catalog."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.input_schema),
            },
        }
        for tool in offered(catalog, meta=meta)
    ]


def catalog_digest(catalog: Catalog, *, meta: bool = False) -> str:
    """SHA-256 over the exact bytes of the tools that are sent; empty where none are."""
    tools = tools_of(catalog, meta=meta)
    return digest_of(tools) if tools else ""


def messages_of(conversation: Conversation, *, system: str = "") -> list[dict[str, Any]]:
    """The messages of a request: the system text, then a tool message for each call right after its assistant message.

    >>> messages_of((UserSaid("Hello."),), system="Help.")
    [{'role': 'system', 'content': 'Help.'}, {'role': 'user', 'content': 'Hello.'}]
    """
    turns = _Turns(briefing_of(conversation, system))
    for message in conversation:
        turns.add(message)
    turns.end()
    return turns.turns


class _Turns:
    """Messages while they are written, and the calls that still want a result."""

    def __init__(self, system: str) -> None:
        self.turns: list[dict[str, Any]] = [{"role": "system", "content": system}] if system else []
        self._seen: set[str] = set()
        self._open: list[str] = []
        self._filler = NOT_CARRIED_OUT

    def add(self, message: Message) -> None:
        """The next message of the conversation."""
        match message:
            case Briefed():  # the system text stands in front
                pass
            case UserSaid():
                self._close()
                self.turns.append({"role": "user", "content": message.text or NO_TEXT})
            case Answered():
                if message.call.id in self._open:
                    self._open.remove(message.call.id)
                self._told(message.call.id, message.text)
            case Decided():
                self._close()
                self._filler, _ = filler_of(message.decision)
                self._assistant(message)

    def end(self) -> None:
        """A request ends with a user or a tool message."""
        self._close()
        if self.turns and self.turns[-1]["role"] == "assistant":
            self.turns.append({"role": "user", "content": GO_ON})

    def _close(self) -> None:
        for id in self._open:  # noqa: A001  the provider's word
            self._told(id, self._filler)
        self._open = []

    def _told(self, id: str, text: str) -> None:  # noqa: A002  the provider's word
        self.turns.append({"role": "tool", "tool_call_id": id, "content": text})

    def _assistant(self, decided: Decided) -> None:
        calls = list(calls_of(decided.decision))
        ours = len(decided.opaque) == 1 and decided.opaque[0].get("role") == "assistant"
        sent = dict(decided.opaque[0]) if ours else _written(decided.decision)
        kept: list[dict[str, Any]] = []
        for call in _calls_in(sent):
            name = _function(call).get("name")
            mine = bool(calls) and calls[0].tool == name
            id = calls.pop(0).id if mine else fresh(str(call.get("id") or ""), self._seen)  # noqa: A001
            self._seen.add(id)
            self._open.append(id)
            kept.append({**call, "id": id})
        if kept:
            sent["tool_calls"] = kept
        if kept or sent.get("content") or sent.get("refusal"):
            self.turns.append(sent)


def _written(decision: Decision) -> dict[str, Any]:
    """The message of a decision that came from elsewhere."""
    text = "" if isinstance(decision, Malformed) else decision.text
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.text}}
        for call in calls_of(decision)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    return {**message, "tool_calls": calls} if calls else message


# -- from the provider -------------------------------------------------------------------------------------


def decode(body: object, *, taken: Collection[str] = (), meta: bool = False) -> Decided:
    """What a response decides. `taken` are the ids of earlier calls: a call that repeats one gets an id of ours.

    >>> decode({"choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]}).decision
    Reply(text='Done.', declared=None)
    """
    seen = set(taken)

    def renamed(id: str) -> str:  # noqa: A002  the provider's word
        seen.add(found := fresh(id, seen))
        return found

    fields = as_object(body) or {}
    choices = as_list(fields.get("choices")) or [None]
    choice = as_object(choices[0]) or {}
    message = as_object(choice.get("message"))
    if fields.get("error") is not None or message is None:
        return Decided(malformed(_no_choice(fields), body))
    return _decoded(message, choice.get("finish_reason"), renamed, body, meta=meta)


def _no_choice(fields: Mapping[str, Any]) -> str:
    error = fields.get("error")
    if error is not None:
        said = as_object(error) or {"message": error}
        return f"an error instead of a choice: {said.get('message') or said.get('type')}"
    return "a response has a choice with a message; there is none"


def _decoded(
    message: Mapping[str, Any],
    finish: object,
    named: Callable[[str], str],
    body: object,
    *,
    meta: bool = False,
) -> Decided:
    calls = [
        _call(fields, named(str(fields.get("id") or "")), batch)
        for batch, fields in enumerate(_calls_in(message))
    ]
    decision = _decision(message, calls, finish, meta=meta)
    if isinstance(decision, Malformed):
        return Decided(malformed(decision.reason, body))
    # What is null says nothing, and some servers refuse it; the old function_call has no id to answer.
    sent = {name: value for name, value in message.items() if value is not None or name == "content"}
    return Decided(decision, opaque=() if "function_call" in sent else ({**sent, "role": "assistant"},))


def _calls_in(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = [
        fields for call in as_list(message.get("tool_calls")) or () if (fields := as_object(call)) is not None
    ]
    old = as_object(message.get("function_call"))
    return found if found or old is None else [{"function": old}]


def _function(call: object) -> Mapping[str, Any]:
    """What a call names and gives; that of a custom tool has an `input` in place of arguments."""
    fields = as_object(call) or {}
    return as_object(fields.get("function")) or as_object(fields.get("custom")) or {}


def _call(call: Mapping[str, Any], id: str, batch: int) -> ToolCall:  # noqa: A002  the provider's word
    function = _function(call)
    raw = function.get("arguments", function.get("input"))
    if raw is None:
        raw = ""
    # Some servers give the object itself; its text is ours then.
    text = raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
    return ToolCall.read(id, str(function.get("name") or ""), text, batch=batch)


def _decision(message: Mapping[str, Any], calls: list[ToolCall], finish: object, *, meta: bool) -> Decision:
    parts = blocks_of(message.get("content"))
    text = "".join(str(part.get("text", "")) for part in parts if part["type"] == "text")
    refusal = message.get("refusal") or "".join(
        str(part.get("refusal", "")) for part in parts if part["type"] == "refusal"
    )
    if refusal or finish == "content_filter":
        return Refused(str(refusal or text))
    if finish == "length":
        return Truncated(text, tuple(calls))
    if calls:
        return acted(calls, text, meta=meta)
    if finish in ("tool_calls", "function_call"):
        return Malformed(f"finish_reason {finish}, and no call")
    return Reply(text) if text.strip() else Malformed("neither a text nor a call")


# -- what somebody recorded --------------------------------------------------------------------------------


def system_of(messages: Iterable[Mapping[str, Any]]) -> str:
    """The text of the system (or developer) messages among the messages."""
    systems = (message for message in messages if message.get("role") in _SYSTEM)
    return "\n".join(words_of(message.get("content")) for message in systems)


def read_messages(messages: Iterable[Mapping[str, Any]], stop_reason: str | None = None) -> Conversation:
    """A recorded transcript, in message order. `stop_reason` is the finish_reason of its last message.

    Results are paired with calls by id, never by their order (a repeated id: by order), and ids stay as they are; a
    result of no call has a call without a tool. `wire_law` says where a transcript is not legal.
    """
    told = [message for message in messages if message.get("role") not in _SYSTEM]
    found: list[Message] = []
    waiting = Open()
    for index, message in enumerate(told):
        role = message.get("role")
        if role == "assistant":
            stop = stop_reason if index == len(told) - 1 and stop_reason else message.get("finish_reason")
            decided = _decoded(message, stop, str, message)
            waiting.add(calls_of(decided.decision))
            found.append(decided)
        elif role in ("tool", "function"):
            call = waiting.answered(str(message.get("tool_call_id") or ""))
            found.append(Answered(call, words_of(message.get("content")), is_error=False))
        else:
            found.append(UserSaid(words_of(message.get("content"))))
    return tuple(found)


# -- a stream ----------------------------------------------------------------------------------------------


def read_events(chunks: Iterable[Mapping[str, Any]], finish_reason: str | None = None) -> dict[str, Any]:
    """The body of a response from the chunks of its stream, or from deltas of calls: `{index, id, name, arguments}`.

    Fragments belong to the call of their index, however they are interleaved; a new id at a used index is a new call
    (some servers number every call 0).
    """
    message: dict[str, Any] = {"role": "assistant", "content": None}
    body: dict[str, Any] = {}
    calls = _Fragments()
    for chunk in chunks:
        if "choices" not in chunk and "error" not in chunk:
            calls.add(chunk)
            continue
        body |= {
            name: value
            for name, value in chunk.items()
            if name in ("id", "model", "usage", "error") and value
        }
        for choice in as_list(chunk.get("choices")) or ():
            delta = as_object(choice.get("delta")) or {}
            for field in ("content", "refusal", "reasoning_content"):
                if isinstance(delta.get(field), str):
                    message[field] = str(message.get(field) or "") + delta[field]
            for call in as_list(delta.get("tool_calls")) or ():
                calls.add(call)
            finish_reason = choice.get("finish_reason") or finish_reason
    if calls.calls:
        message["tool_calls"] = calls.calls
    return {**body, "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}]}


class _Fragments:
    """Calls while their fragments come in."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []
        self._at: dict[object, dict[str, Any]] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """One fragment. A name that is sent again is the same name, not more of it."""
        function = as_object(delta.get("function")) or delta
        call = self._call(delta.get("index"), str(delta.get("id") or ""))
        into = call["function"]
        name = str(function.get("name") or "")
        into["name"] += name if name != into["name"] else ""
        into["arguments"] += str(function.get("arguments") or "")

    def _call(self, index: object, id: str) -> dict[str, Any]:  # noqa: A002  the provider's word
        running = self._at.get(index)
        if running is None or (id and running["id"] and id != running["id"]):
            running = {"id": id, "type": "function", "function": {"name": "", "arguments": ""}}
            self.calls.append(running)
            self._at[index] = running
        running["id"] = running["id"] or id
        return running
