"""The Anthropic Messages dialect, both ways, without its SDK.

    tools_of(catalog)          the tools of a request       catalog_digest(catalog)  SHA-256 over their exact bytes
    messages_of(conversation)  its messages (`messages.briefing_of` is its system text)
    decode(body)               a response's body -> Decided
    read_messages(messages)    somebody's recorded transcript -> Conversation     system_of(messages)  its system text
    read_events(events)        the events of a stream -> the body of a response, which decode takes

Content that a provider sent goes back as it came (thinking signatures are checked over there), but for the ids of
calls: where a provider repeats one, the call has an id of ours. Every call is answered: one that was never carried
out (the answer was cut, or a meta tool said what the reply is) gets a result that says so, else the provider refuses
the next request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.messages import (
    GO_ON,
    NO_TEXT,
    NOT_CARRIED_OUT,
    Open,
    acted,
    blocks_of,
    calls_of,
    digest_of,
    filler_of,
    fresh,
    malformed,
    offered,
    words_of,
)

_CUT = {"max_tokens", "model_context_window_exceeded"}

# -- to the provider ---------------------------------------------------------------------------------------


def tools_of(catalog: Catalog, *, cache: bool = True, meta: bool = False) -> list[dict[str, Any]]:
    """The tools of a request, the same bytes for the same catalog; with a cache breakpoint on the last."""
    tools: list[dict[str, Any]] = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
        for tool in offered(catalog, meta=meta)
    ]
    if cache and tools:
        tools[-1]["cache_control"] = {"type": "ephemeral"}
    return tools


def catalog_digest(catalog: Catalog, *, cache: bool = True, meta: bool = False) -> str:
    """SHA-256 over the exact bytes of the tools that are sent; empty where none are."""
    tools = tools_of(catalog, cache=cache, meta=meta)
    return digest_of(tools) if tools else ""


def messages_of(conversation: Conversation) -> list[dict[str, Any]]:
    """The messages of a request: all results of one batch in one user message, in front of what the user says.

    >>> messages_of((UserSaid("Hello."),))
    [{'role': 'user', 'content': 'Hello.'}]
    """
    turns = _Turns()
    for message in conversation:
        turns.add(message)
    turns.end()
    return [{"role": role, "content": _plain(blocks)} for role, blocks in turns.turns]


class _Turns:
    """Messages while they are written, and the calls that still want a result."""

    def __init__(self) -> None:
        self.turns: list[tuple[str, list[dict[str, Any]]]] = []
        self._seen: set[str] = set()
        self._open: list[str] = []
        self._filler = (NOT_CARRIED_OUT, True)

    def add(self, message: Message) -> None:
        """The next message of the conversation."""
        match message:
            case UserSaid():
                self._close()
                self._user({"type": "text", "text": message.text if message.text.strip() else NO_TEXT})
            case Answered():
                if message.call.id in self._open:
                    self._open.remove(message.call.id)
                self._user(_result(message.call.id, message.text, is_error=message.is_error))
            case Briefed():  # the system text has a place of its own in a request
                pass
            case Decided():
                self._close()
                self._filler = filler_of(message.decision)
                if content := self._content(message):
                    self.turns.append(("assistant", content))

    def end(self) -> None:
        """A request ends with a user message; the provider would go on with the assistant's words otherwise."""
        self._close()
        if self.turns and self.turns[-1][0] == "assistant":
            self._user({"type": "text", "text": GO_ON})

    def _close(self) -> None:
        text, is_error = self._filler
        for id in self._open:  # noqa: A001  the provider's word
            self._user(_result(id, text, is_error=is_error))
        self._open = []

    def _user(self, block: dict[str, Any]) -> None:
        if not self.turns or self.turns[-1][0] != "user":
            self.turns.append(("user", []))
        self.turns[-1][1].append(block)

    def _content(self, decided: Decided) -> list[dict[str, Any]]:
        calls = list(calls_of(decided.decision))
        ours = bool(decided.opaque) and all(
            "type" in block and "role" not in block for block in decided.opaque
        )
        content = [dict(block) for block in decided.opaque] if ours else _written(decided.decision)
        kept = [block for block in content if not _unsendable(block)]
        for block in kept:
            if block["type"] == "tool_use":
                mine = bool(calls) and calls[0].tool == block.get("name")
                block["id"] = calls.pop(0).id if mine else fresh(str(block.get("id", "")), self._seen)
                self._seen.add(block["id"])
                self._open.append(block["id"])
        return kept


def _written(decision: Decision) -> list[dict[str, Any]]:
    """The content of a decision that came from elsewhere."""
    text = "" if isinstance(decision, Malformed) else decision.text
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.tool, "input": _input(call)}
        for call in calls_of(decision)
    ]
    return [{"type": "text", "text": text}, *calls]


def _input(call: ToolCall) -> dict[str, Any]:
    """An input must be an object; the documented way to send back what is none is to wrap its text."""
    return {"INVALID_JSON": call.text} if call.flaw else dict(call.arguments)


def _unsendable(block: Mapping[str, Any]) -> bool:
    """Empty texts are refused, and so is thinking that was cut before it was signed."""
    return (block["type"] == "text" and not str(block.get("text", "")).strip()) or (
        block["type"] == "thinking" and not block.get("signature")
    )


def _result(id: str, text: str, *, is_error: bool) -> dict[str, Any]:  # noqa: A002  the provider's word
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": text}
    return {**block, "is_error": True} if is_error else block


def _plain(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    lone = blocks[0] if len(blocks) == 1 else {}
    return str(lone["text"]) if lone.keys() == {"type", "text"} else blocks


# -- from the provider -------------------------------------------------------------------------------------


def decode(body: object, *, taken: Collection[str] = (), meta: bool = False) -> Decided:
    """What a response decides. `taken` are the ids of earlier calls: a call that repeats one gets an id of ours.

    >>> decode({"content": [{"type": "text", "text": "Done."}], "stop_reason": "end_turn"}).decision
    Reply(text='Done.', declared=None)
    """
    seen = set(taken)

    def renamed(id: str) -> str:  # noqa: A002  the provider's word
        seen.add(found := fresh(id, seen))
        return found

    return _decoded(body, renamed, meta=meta)


def _decoded(body: object, named: Callable[[str], str], *, meta: bool = False) -> Decided:
    fields = as_object(body)
    if fields is None or fields.get("error") is not None or fields.get("content") is None:
        return Decided(malformed(_no_message(fields), body))
    blocks = blocks_of(fields["content"])
    made = [block for block in blocks if block["type"] == "tool_use"]
    calls = [_call(block, named(str(block.get("id") or "")), batch=index) for index, block in enumerate(made)]
    decision = _decision(blocks, calls, fields.get("stop_reason"), meta=meta)
    if isinstance(decision, Malformed):
        return Decided(malformed(decision.reason, body))
    return Decided(decision, opaque=tuple(_as_it_came(block) for block in blocks))


def _no_message(fields: Mapping[str, Any] | None) -> str:
    if error := as_object((fields or {}).get("error")):
        return f"an error instead of a message: {error.get('message') or error.get('type')}"
    return "a message has a list of content blocks; there is none"


def _call(block: Mapping[str, Any], id: str, *, batch: int = 0) -> ToolCall:  # noqa: A002  the provider's word
    raw = block.get("partial_json") or ""
    if not raw and "input" in block:
        raw = json.dumps(block["input"], ensure_ascii=False)
    return ToolCall.read(id, str(block.get("name") or ""), raw, batch=batch)


def _as_it_came(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block without what read_events noted in it; an input that is no object is wrapped, or it is refused."""
    sent = {name: value for name, value in block.items() if name != "partial_json"}
    if block["type"] == "tool_use":
        sent["input"] = _input(_call(block, ""))
    return sent


def _decision(
    blocks: Sequence[Mapping[str, Any]], calls: list[ToolCall], stop: object, *, meta: bool
) -> Decision:
    text = "".join(str(block.get("text", "")) for block in blocks if block["type"] == "text")
    if stop == "refusal":
        return Refused(text)
    if stop in _CUT:
        return Truncated(text, tuple(calls))
    if stop == "pause_turn":
        return Malformed("stop_reason pause_turn: the provider wants to go on by itself, without our tools")
    if calls:
        return acted(calls, text, meta=meta)
    if stop == "tool_use":
        return Malformed("stop_reason tool_use, and no call")
    if text.strip():
        return Reply(text)
    kinds = sorted({str(block["type"]) for block in blocks} - {"text"})
    if set(kinds) - {"thinking", "redacted_thinking"}:
        return Malformed(f"only blocks of unknown kinds: {', '.join(kinds)}")
    return Malformed("neither a text nor a call" + (", only thinking" if kinds else ""))


# -- what somebody recorded --------------------------------------------------------------------------------


def system_of(messages: Iterable[Mapping[str, Any]]) -> str:
    """The text of the system messages among the messages (the dialect proper keeps it beside them)."""
    systems = (message for message in messages if message.get("role") == "system")
    return "\n".join(words_of(message.get("content")) for message in systems)


def read_messages(messages: Iterable[Mapping[str, Any]], stop_reason: str | None = None) -> Conversation:
    """A recorded transcript, in message order. `stop_reason` is that of its last message.

    Results are paired with calls by id (a repeated id: by order) and ids stay as they are; a result of no call has
    a call without a tool. What is no legal transcript is read all the same: `wire_law` says what is wrong with it.
    """
    told = [message for message in messages if message.get("role") != "system"]
    found: list[Message] = []
    waiting = Open()
    for index, message in enumerate(told):
        if message.get("role") == "assistant":
            stop = stop_reason if index == len(told) - 1 and stop_reason else message.get("stop_reason")
            decided = _decoded({**message, "stop_reason": stop}, str)
            waiting.add(calls_of(decided.decision))
            found.append(decided)
        else:
            found.extend(_said(message.get("content"), waiting))
    return tuple(found)


def _said(content: object, waiting: Open) -> Iterator[Message]:
    """A user message: its results, and what the user said around them."""
    words: list[str] = []
    for block in blocks_of(content):
        if block["type"] == "tool_result":
            if words:
                yield UserSaid("\n".join(words))
                words = []
            call = waiting.answered(str(block.get("tool_use_id", "")))
            yield Answered(call, words_of(block.get("content")), is_error=block.get("is_error") is True)
        else:
            words.append(words_of([block]))
    if words or not blocks_of(content):
        yield UserSaid("\n".join(words))


# -- a stream ----------------------------------------------------------------------------------------------


def read_events(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The body of a response from the events of its stream. A stream that breaks off has an `error` in it.

    The fragments of an input are kept as they came (`partial_json`, for decode); none at all is an empty object.
    """
    body: dict[str, Any] = {"type": "message", "role": "assistant", "content": [], "stop_reason": None}
    blocks: dict[int, dict[str, Any]] = {}
    running = set[int]()
    for event in events:
        index = event.get("index", 0)
        match event.get("type"):
            case "message_start":
                body |= as_object(event.get("message")) or {}
            case "content_block_start":
                blocks[index] = dict(as_object(event.get("content_block")) or {})
                running.add(index)
            case "content_block_delta":
                _grow(blocks.setdefault(index, {"type": "text", "text": ""}), event.get("delta"))
            case "content_block_stop":
                running.discard(index)
            case "message_delta":
                body |= as_object(event.get("delta")) or {}
                body["usage"] = {**(body.get("usage") or {}), **(event.get("usage") or {})}
            case "error":
                body["error"] = event.get("error")
            case _:  # message_stop, ping, and what is to come
                pass
    if running and body["stop_reason"] is None:
        body.setdefault("error", {"message": "the stream broke off inside a block"})
    # A tool without parameters may send one empty fragment: no arguments, which is {}.
    return {**body, "content": [_whole(blocks[index]) for index in sorted(blocks)]}


_GROWING = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}


def _grow(block: dict[str, Any], delta: object) -> None:
    fields = as_object(delta) or {}
    if field := _GROWING.get(str(fields.get("type"))):
        block[field] = str(block.get(field) or "") + str(fields.get(field) or "")


def _whole(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "input": _input(_call(block, ""))} if "partial_json" in block else block
