"""Somebody else's ledger lines as books of grade `reported`: attempts and effects as they were told, never proved.

    {"op": "refund.create", "target": "pay_7", "by_call": "t1", "status": "committed", "amount_cents": 800}

Lines of one call are one attempt with several effects. `delivered: false` is a commit whose answer was lost. There are no
row changes: nothing below the service was seen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import ToolCall
from sandtrail.ledgers.entries import Attempt, Effect, Origin, Page
from sandtrail.ledgers.words import Access, Delivery, Grade, OriginKind, Outcome

_OUTCOMES = {
    "committed": Outcome.OK,
    "rejected": Outcome.REJECTED,
    "denied": Outcome.DENIED,
    "replayed": Outcome.REPLAYED,
    "conflict": Outcome.CONFLICT,
    "invalid": Outcome.INVALID,
}
_AMOUNTS = ("amount_minor", "amount_cents", "amount")
_IRREGULAR = {"cancel": "cancelled", "send": "sent", "pay": "paid", "set": "set", "undo": "undone"}


class BadLines(ValueError):
    """A line that is no ledger line; the message says which, and what one is."""


def effect_name(operation: str) -> str:
    """An operation of a reported line as the effect it has.

    >>> effect_name("refund.create"), effect_name("order.cancel"), effect_name("note.append")
    ('refund.created', 'order.cancelled', 'note.appended')
    """
    head, dot, verb = operation.rpartition(".")
    if verb.endswith("ed"):
        return operation
    past = _IRREGULAR.get(verb) or (f"{verb}d" if verb.endswith("e") else f"{verb}ed")
    return f"{head}{dot}{past}"


def facts_of(line: Mapping[str, Any]) -> dict[str, Any]:
    """What a line says of its effect: the target, the amount in minor units, the currency."""
    facts: dict[str, Any] = {"target": line["target"]} if line.get("target") is not None else {}
    amount = next((line[name] for name in _AMOUNTS if name in line), None)
    if amount is not None:
        facts["amount"] = amount
    if "currency" in line:
        facts["currency"] = line["currency"]
    return facts


def reported_ledger(
    lines: Iterable[Mapping[str, Any]],
    calls: Mapping[str, ToolCall],
    run: str = "reported",
    *,
    bindings: tuple[Binding, ...] = (),
) -> tuple[Ledger, dict[str, int]]:
    """The books that these lines tell of, and the attempt of each call id. Raises BadLines."""
    book, attempts = Book(run, {}, bindings), dict[str, int]()
    ordered = list(lines)
    for number, line in enumerate(ordered, start=1):
        if not isinstance(line.get("op"), str) or line.get("status") not in _OUTCOMES:
            known = ", ".join(_OUTCOMES)
            raise BadLines(
                f"line {number}: wanted op, target, by_call and a status of {known}; got {dict(line)}"
            )
    for call_id, group in groupby(ordered, key=lambda line: str(line.get("by_call", ""))):
        told = list(group)
        attempt = _attempt(book.attempts + 1, told, calls.get(call_id))
        attempts[call_id] = attempt.seq
        effects = tuple(
            Effect(effect_name(line["op"]), facts_of(line), attempt=attempt.seq)
            for line in told
            if line["status"] == "committed"
        )
        book.append(Page(Origin(OriginKind.ATTEMPT), attempt, effects), judged=False)
    return Ledger(book, grade=Grade.REPORTED), attempts


def _attempt(seq: int, told: list[Mapping[str, Any]], call: ToolCall | None) -> Attempt:
    first = told[0]
    key = next((line["idempotency_key"] for line in told if "idempotency_key" in line), None)
    return Attempt(
        seq,
        call.tool if call else str(first["op"]),
        Access.WRITE,
        call.text if call else json.dumps(facts_of(first)),
        "agent",
        _OUTCOMES[first["status"]],
        Delivery.LOST if first.get("delivered") is False else Delivery.DELIVERED,
        path="reported",
        idempotency_key=key,
    )
