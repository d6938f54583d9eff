"""A short conversation and one call at its end, for tests of where a value came from."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Message,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.provenance import Traced
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.specs import Catalog, OperationFact, Slot, ToolSpec
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.ledgers.words import Access, Grade

NOW = "2026-03-02T09:00:00+00:00"


def user(text: str) -> Message:
    return UserSaid(text)


def system(text: str) -> Message:
    return Briefed(text)


def agent(text: str) -> Message:
    return Decided(Reply(text))


class Talk:
    """Messages in order; a look-up is a call with its answer."""

    def __init__(self, *messages: Message) -> None:
        self.messages = list(messages)

    def says(self, text: str) -> Talk:
        self.messages.append(UserSaid(text))
        return self

    def replies(self, text: str) -> Talk:
        self.messages.append(Decided(Reply(text)))
        return self

    def looked_up(self, tool: str, answer: Any, *, error: bool = False, **given: Any) -> Talk:
        call = ToolCall(f"c{len(self.messages)}", tool, given)
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        self.messages += [Decided(Calls((call,))), Answered(call, text, error)]
        return self


def trajectory(
    talk: Talk,
    tool: str,
    given: Mapping[str, Any],
    *,
    properties: Mapping[str, Any] | None = None,
    required: tuple[str, ...] = (),
    description: str = "",
    slots: Mapping[str, Slot] | None = None,
    bindings: tuple[Binding, ...] = (),
    writes: bool | None = None,
    now: str = NOW,
    zone: str = "UTC",
) -> Trajectory:
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}
    access = None if writes is None else Access.WRITE if writes else Access.READ
    operation = None if access is None else OperationFact(tool, "theirs", access)
    offer = Offer(
        0, Catalog((ToolSpec(tool, description, schema),)), {tool: ToolFact(tool, operation, slots or {})}
    )
    last = ToolCall("last", tool, given)
    ledger = Ledger(Book("none", {}, bindings), grade=Grade.UNSEEN)
    return Trajectory(
        "talk",
        "hand",
        0,
        1,
        (*talk.messages, Decided(Calls((last,)))),
        ledger,
        offers=(offer,),
        now=now,
        zone=zone,
    )


def origins(talk: Talk, tool: str, given: Mapping[str, Any], **more: Any) -> dict[str, Traced]:
    """The origins of the arguments of the last call, by name."""
    found = provenance(trajectory(talk, tool, given, **more))
    last = max((traced.call for traced in found), default=0)
    return {traced.name: traced for traced in found if traced.call == last}


def origin(talk: Talk, tool: str, name: str, value: Any, **more: Any) -> Traced:
    """The origin of a single argument."""
    return origins(talk, tool, {name: value}, **more)[name]


def verdicts(found: Mapping[str, Traced]) -> Iterator[tuple[str, str]]:
    return ((name, str(traced.verdict)) for name, traced in found.items())
