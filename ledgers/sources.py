"""Where an argument's value stood before: exact places only.

A source counts only if the agent had received it before it decided: calls of one batch cannot source each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers.conversation import Answered, Conversation, Decided, UserSaid
from sandtrail.ledgers.trees import as_list, as_object


@dataclass(frozen=True, slots=True)
class Source:
    """One place a value stood: a user message, or a result with its JSON pointer."""

    call: int | None
    tool: str | None
    pointer: str | None

    def __str__(self) -> str:
        return "said by the user" if self.call is None else f"call {self.call} {self.pointer}"


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a JSON value with their JSON pointers (RFC 6901).

    >>> list(leaves({"a": [1, {"b/c": None}]}))
    [('/a/0', 1), ('/a/1/b~1c', None)]
    """
    if (fields := as_object(value)) is not None:
        for key, item in fields.items():
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from leaves(item, f"{pointer}/{step}")
    elif (items := as_list(value)) is not None:
        for place, item in enumerate(items):
            yield from leaves(item, f"{pointer}/{place}")
    else:
        yield pointer, value


def sources(value: Any, conversation: Conversation, before: int) -> tuple[Source, ...]:
    """Every place where `value` stood, exactly, before call number `before` (from 1) was decided. True is not 1."""
    found: list[Source] = []
    number, decided_at = 0, _decision_of(conversation, before)
    for place, message in enumerate(conversation):
        if place >= decided_at:
            break
        if isinstance(message, UserSaid):
            if (
                isinstance(value, str | int)
                and not isinstance(value, bool)
                and _said(str(value), message.text)
            ):
                found.append(Source(None, None, None))
        elif isinstance(message, Answered):
            number += 1
            found += [
                Source(number, message.call.tool, pointer)
                for pointer, leaf in leaves(parsed(message.text))
                if leaf == value and type(leaf) is type(value)
            ]
    return tuple(found)


def _decision_of(conversation: Conversation, call: int) -> int:
    """The index of the decision that made call number `call`."""
    number, decision = 0, len(conversation)
    for place, message in enumerate(conversation):
        if isinstance(message, Decided):
            decision = place
        elif isinstance(message, Answered):
            number += 1
            if number == call:
                return decision
    return len(conversation)


def _said(value: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def parsed(text: str) -> Any:
    """A result's JSON value; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
