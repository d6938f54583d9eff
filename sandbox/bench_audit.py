"""What provenance and audits cost: an index of 12,000 facts with 1,000 values looked up, and a run of 15 calls audited."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Conversation,
    Decided,
    Message,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.facts import Facts
from sandtrail.ledgers.specs import ToolSpec
from sandtrail.sandbox.auditing import audited
from sandtrail.sandbox.interchange.recording import Recording, Tool

ROWS, PAGE, LOOKED_UP = 1500, 150, 1000


def _row(number: int) -> dict[str, Any]:
    return {
        "id": f"pay_{number:06X}", "order_id": f"ord_{number:06X}", "amount": number * 37 + 5, "currency": "EUR",
        "status": "succeeded", "card": f"visa {number:04d}", "email": f"a{number}@example.test",
        "created_at": "2026-01-01T10:00:00Z",
    }  # fmt: skip


def many_facts() -> Conversation:
    """Ten answers of 150 rows with eight fields each: 12,000 facts."""
    messages: list[Message] = [UserSaid("Refund what I was charged.")]
    for start in range(0, ROWS, PAGE):
        call = ToolCall(f"c{start}", "list_payments", {"page": start})
        rows = json.dumps({"payments": [_row(start + number) for number in range(PAGE)]})
        messages += [Decided(Calls((call,))), Answered(call, rows, is_error=False)]
    return tuple(messages)


def indexed() -> Callable[[], object]:
    """Index 12,000 facts, and look 1,000 values up."""
    conversation = many_facts()
    keys = [f"pay_{number:06x}" for number in range(LOOKED_UP)]

    def act() -> int:
        facts = Facts.of(conversation)
        return sum(bool(facts.leaves(key, facts.steps)) for key in keys)

    assert act() == LOOKED_UP
    return act


def audited_run() -> Callable[[], object]:
    """Audit a run of 15 calls: look-ups of five rows, and a write with what they held."""
    tools = tuple(
        Tool(ToolSpec(name, "", {"type": "object", "properties": {key: {"type": "string"} for key in keys}}))
        for name, keys in (("list_payments", ("order_id",)), ("refund_payment", ("payment_id", "reason")))
    )
    messages: list[Message] = [UserSaid("Refund order ord_000001 and all the others of mine, please.")]
    for number in range(1, 15):
        call = ToolCall(f"c{number}", "list_payments", {"order_id": f"ord_{number:06X}"})
        rows = json.dumps({"payments": [_row(number + place) for place in range(5)]})
        messages += [Decided(Calls((call,))), Answered(call, rows, is_error=False)]
    last = ToolCall("last", "refund_payment", {"payment_id": "pay_000007", "reason": "charged twice"})
    messages += [
        Decided(Calls((last,))),
        Answered(last, '{"ok": true}', is_error=False),
        Decided(Reply("Done.")),
    ]

    def act() -> object:
        run = audited(Recording("bench", "tau", conversation=tuple(messages), tools=tools))
        return run.overall

    return act
