"""What a transcript claims was done: its writes as books of grade `claimed`, and which of its tools write at all.

Nobody kept books of somebody else's run. What its tools answered is all that is known: a write that was answered
without an error is claimed to have happened. That never proves that nothing else changed.

    writes_of(tool)            whether a tool writes, and by what that is known: a hint, its description, its verb
    claimed_ledger(...)        the calls of writing tools as attempts with one effect each
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import Answered, Conversation, ToolCall
from sandtrail.ledgers.entries import Attempt, Effect, Origin, Page
from sandtrail.ledgers.naming import id_kind, words_of
from sandtrail.ledgers.verbs import WRITES, verb_writes
from sandtrail.ledgers.words import Access, Grade, OriginKind, Outcome
from sandtrail.sandbox.interchange.recording import Tool
from sandtrail.sandbox.reported import effect_name


def writes_of(tool: Tool) -> tuple[bool, str]:
    """Whether a tool writes, and by what that is known.

    >>> from sandtrail.ledgers.specs import ToolSpec
    >>> writes_of(Tool(ToolSpec("cancel_order", "Cancel an order.", {})))
    (True, "inferred from the verb 'cancel'")
    """
    if tool.read_only is not None:
        return not tool.read_only, "its hint"
    said = tool.spec.description
    if re.search(r"\bWrites\b", said):
        return True, "its description"
    if re.search(r"\bread[- ]only\b", said, re.IGNORECASE):
        return False, "its description"
    return verb_writes(tool.spec.name)


def effect_of(name: str) -> str:
    """The effect that a tool's name claims.

    >>> effect_of("cancel_pending_order"), effect_of("orders.cancel"), effect_of("send_certificate")
    ('pending_order.cancelled', 'orders.cancelled', 'certificate.sent')
    """
    words = words_of(name)
    verb = next((word for word in words if word in WRITES), words[-1] if words else "done")
    rest = [word for word in words if word != verb]
    return effect_name(f"{'_'.join(rest) or 'thing'}.{verb}")


def claimed_ledger(
    conversation: Conversation,
    writing: Mapping[str, bool],
    bindings: tuple[Binding, ...] = (),
    run: str = "claimed",
) -> tuple[Ledger, dict[int, int]]:
    """The calls of writing tools as books, and the attempt of each answer by its index in the conversation."""
    book = Book(run, {}, bindings)
    placed: dict[int, int] = {}
    for index, message in enumerate(conversation):
        if not isinstance(message, Answered) or not writing.get(message.call.tool, False):
            continue
        seq = book.attempts + 1
        outcome = Outcome.REJECTED if message.is_error else Outcome.OK
        attempt = Attempt(
            seq, message.call.tool, Access.WRITE, message.call.text, "agent", outcome, path="transcript",
            answer=message.text, idempotency_key=_key(message.call),
        )  # fmt: skip
        effects = (
            ()
            if message.is_error
            else (Effect(effect_of(message.call.tool), _facts(message.call), attempt=seq),)
        )
        book.append(Page(Origin(OriginKind.ATTEMPT), attempt, effects), judged=False)
        placed[index] = seq
    return Ledger(book, grade=Grade.CLAIMED), placed


def _key(call: ToolCall) -> str | None:
    found = call.arguments.get("idempotency_key")
    return found if isinstance(found, str) else None


def _facts(call: ToolCall) -> dict[str, Any]:
    """What the arguments say of the effect: the entities by kind, and how much."""
    facts: dict[str, Any] = {}
    for name, value in call.arguments.items():
        kind = id_kind(name)
        if kind is not None and isinstance(value, str):
            facts[kind or "target"] = value
        elif "amount" in words_of(name) and isinstance(value, int | float) and not isinstance(value, bool):
            facts["amount"] = value
        elif name == "currency" and isinstance(value, str):
            facts["currency"] = value
    return facts
