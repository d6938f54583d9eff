"""Somebody else's ledger lines as books of their own grade."""

from __future__ import annotations

from typing import Any

import pytest

from sandtrail.ledgers import Access, Delivery, Effect, Grade, Ledger, Outcome
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import ToolCall
from sandtrail.ledgers.entries import Attempt, Origin, Page
from sandtrail.ledgers.words import OriginKind
from sandtrail.sandbox.reported import BadLines, effect_name, facts_of, reported_ledger

CALL = ToolCall("t1", "refund_payment", {"payment_id": "pay_7"})


def line(call: str = "t1", status: str = "committed", **more: Any) -> dict[str, Any]:
    return {"op": "refund.create", "target": "pay_7", "by_call": call, "status": status, **more}


def test_a_line_is_an_attempt_with_its_effect() -> None:
    ledger, attempts = reported_ledger([line(amount_cents=800)], {"t1": CALL})
    (attempt,) = ledger.attempts()
    assert (attempt.operation, attempt.arguments, attempt.outcome) == (
        "refund_payment",
        CALL.text,
        Outcome.OK,
    )
    assert ledger.effects("refund.created") == [{"target": "pay_7", "amount": 800}]
    assert (ledger.grade, attempts) == (Grade.REPORTED, {"t1": 1})


def test_lines_of_one_call_are_one_attempt_with_several_effects() -> None:
    ledger, attempts = reported_ledger([line(), line(target="pay_8"), line("t2")], {})
    assert [len(page.effects) for page in ledger.pages] == [2, 1]
    assert attempts == {"t1": 1, "t2": 2}
    assert [effect.attempt for effect in ledger.effects()] == [1, 1, 2]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("rejected", Outcome.REJECTED), ("denied", Outcome.DENIED), ("replayed", Outcome.REPLAYED)],
)
def test_what_did_not_commit_has_no_effect(status: str, outcome: Outcome) -> None:
    ledger, _ = reported_ledger([line(status=status)], {})
    assert [attempt.outcome for attempt in ledger.attempts()] == [outcome]
    assert len(ledger.effects()) == 0


def test_a_commit_whose_answer_was_lost_says_so_and_keeps_its_key() -> None:
    ledger, _ = reported_ledger([line(delivered=False, idempotency_key="k")], {})
    (attempt,) = ledger.attempts()
    assert (attempt.delivery, attempt.idempotency_key) == (Delivery.LOST, "k")


def test_a_line_whose_call_is_not_known_says_what_it_did() -> None:
    ledger, _ = reported_ledger([line("elsewhere", amount=5)], {"t1": CALL})
    (attempt,) = ledger.attempts()
    assert (attempt.operation, attempt.arguments) == ("refund.create", '{"target": "pay_7", "amount": 5}')


@pytest.mark.parametrize(
    "bad", [{"target": "pay_7", "status": "committed"}, line(status="done"), {"op": 5, "status": "committed"}]
)
def test_a_line_that_is_none_says_which_and_what_one_is(bad: dict[str, Any]) -> None:
    with pytest.raises(BadLines, match="line 2: wanted op, target, by_call and a status of committed"):
        reported_ledger([line(), bad], {})


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("refund.create", "refund.created"), ("order.cancel", "order.cancelled"), ("note.append", "note.appended"),
        ("mail.send", "mail.sent"), ("slot.book", "slot.booked"), ("order.cancelled", "order.cancelled"),
        ("note.delete", "note.deleted"), ("touch", "touched"),
    ],
)  # fmt: skip
def test_an_operation_is_the_effect_that_it_has(operation: str, name: str) -> None:
    assert effect_name(operation) == name


def test_facts_are_target_amount_and_currency() -> None:
    assert facts_of(line(amount_minor=5, currency="USD")) == {
        "target": "pay_7",
        "amount": 5,
        "currency": "USD",
    }
    assert facts_of({"op": "x", "target": None}) == {}


def test_an_effect_that_was_reported_is_a_write_and_breaks_read_only() -> None:
    ledger, _ = reported_ledger([line(status="rejected"), line("t2")], {})
    assert [attempt.seq for attempt in ledger.writes()] == [2]
    proof = ledger.read_only
    assert not proof
    assert proof.evidence == ("attempt 2 refund.create: refund.created  target=pay_7",)


def test_a_look_that_reports_an_effect_is_no_write_and_still_breaks_read_only() -> None:
    book = Book("r", {})
    look = Attempt(1, "get_order", Access.READ, "{}", "x", Outcome.OK)
    seen = Effect("order.seen", {}, attempt=1)
    book.append(Page(Origin(OriginKind.ATTEMPT), look, (seen,)), judged=False)
    ledger = Ledger(book, grade=Grade.REPORTED)
    assert ledger.writes() == []
    assert not ledger.read_only
    assert Ledger(book).read_only  # in our own books rows tell


def test_what_is_only_reported_is_said_to_be() -> None:
    ledger, _ = reported_ledger([line(status="denied")], {})
    assert ledger.read_only
    assert repr(ledger.read_only) == "<holds: nothing was mutated, as far as is reported>"
    assert "0 writes" in repr(ledger)
