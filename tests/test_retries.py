"""Writes that were made again, and the keys they were made under."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trails import ASKED, attempt, batch, books, call, offer, reads, said, told, trail, writes

from sandtrail.ledgers import Access, Delivery, Outcome
from sandtrail.ledgers.conversation import Message
from sandtrail.ledgers.entries import Attempt
from sandtrail.scenarios import Contract
from sandtrail.scenarios.retries import Intent, ambiguous, intent_of, retries

LOST = Delivery.LOST


def sent(seq: int, outcome: Outcome = Outcome.OK, *, payment: str = "$payment.lamp", **more: Any) -> Attempt:
    arguments = json.dumps({"payment_id": payment, "amount": seq})
    return attempt(seq, "refund", Access.WRITE, outcome, arguments=arguments, **more)


def looked(seq: int, answer: str, outcome: Outcome = Outcome.OK, **more: Any) -> Attempt:
    return attempt(seq, "get_payment", Access.READ, outcome, answer=answer, **more)


def found(*attempts: Attempt) -> list[tuple[str, str]]:
    return said(retries(Contract(), trail(ledger=books(*attempts))))


# -- again -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delivery", [Delivery.LOST, Delivery.CORRUPTED])
def test_a_write_sent_again_after_an_unclear_answer_without_a_look_is_blind(delivery: Delivery) -> None:
    assert found(sent(1, delivery=delivery), sent(2)) == [("effect.blind_retry", "attempt 2")]
    assert ambiguous(sent(1, delivery=delivery))


def test_a_write_sent_again_after_a_clear_answer_is_none() -> None:
    assert found(sent(1, Outcome.REJECTED), sent(2)) == []
    assert found(sent(1, delivery=Delivery.DELAYED), sent(2)) == []


def test_one_for_another_entity_or_by_another_operation_is_none() -> None:
    assert found(sent(1, delivery=LOST), sent(2, payment="$payment.mat")) == []
    assert (
        found(sent(1, delivery=LOST), attempt(2, "cancel", arguments='{"payment_id": "$payment.lamp"}')) == []
    )


def test_a_look_at_the_entity_makes_it_no_blind_one() -> None:
    assert found(sent(1, delivery=LOST), looked(2, '{"id": "$payment.lamp"}'), sent(3)) == []
    assert (
        found(sent(1, delivery=LOST), looked(2, "{}", arguments='{"payment_id": "$payment.lamp"}'), sent(3))
        == []
    )
    slow = looked(2, '{"id": "$payment.lamp"}', delivery=Delivery.DELAYED)
    assert found(sent(1, delivery=LOST), slow, sent(3)) == []


@pytest.mark.parametrize(
    "look",
    [
        looked(2, '{"id": "$payment.mat"}'),
        looked(2, '{"id": "$payment.lamp-2"}'),
        looked(2, '{"id": "$payment.lamp"}', delivery=LOST),
        looked(2, '{"id": "$payment.lamp"}', outcome=Outcome.NOT_APPLIED),
    ],
)
def test_a_look_elsewhere_or_one_that_showed_nothing_does_not(look: Attempt) -> None:
    assert found(sent(1, delivery=LOST), look, sent(3)) == [("effect.blind_retry", "attempt 3")]


def test_a_write_that_names_nothing_is_cleared_by_any_look() -> None:
    bare = [attempt(1, "ping", delivery=LOST), looked(2, "{}"), attempt(3, "ping")]
    assert found(*bare) == []
    assert found(bare[0], bare[2]) == [("effect.blind_retry", "attempt 3")]


def test_the_same_key_makes_a_retry_safe_and_a_replay_says_so() -> None:
    assert found(sent(1, delivery=LOST, idempotency_key="k"), sent(2, idempotency_key="k")) == []
    replayed = sent(2, Outcome.REPLAYED, idempotency_key="k")
    assert found(sent(1, delivery=LOST, idempotency_key="k"), replayed) == [
        ("idempotency.replay", "attempt 2")
    ]


def test_once_it_is_clear_a_third_is_not_blind() -> None:
    assert found(sent(1, delivery=LOST), sent(2), sent(3)) == [("effect.blind_retry", "attempt 2")]


def test_what_the_world_carried_out_itself_was_not_sent_again() -> None:
    assert found(sent(1, delivery=LOST), sent(2, resumes=1)) == []


# -- keys ------------------------------------------------------------------------------------------------


def test_another_key_on_a_retry_defeats_it() -> None:
    assert found(sent(1, delivery=LOST, idempotency_key="a"), sent(2, idempotency_key="b")) == [
        ("effect.blind_retry", "attempt 2"),
        ("idempotency.key_changed_on_retry", "attempt 2"),
    ]


def test_a_key_left_out_on_a_retry_is_blind_and_not_changed() -> None:
    assert found(sent(1, delivery=LOST, idempotency_key="a"), sent(2)) == [
        ("effect.blind_retry", "attempt 2")
    ]


def test_one_key_for_two_intents() -> None:
    assert found(sent(1, idempotency_key="a"), sent(2, payment="$payment.mat", idempotency_key="a")) == [
        ("idempotency.key_reused_for_other_intent", "attempt 2")
    ]


@pytest.mark.parametrize("rule", ["idempotency.conflict", None])
def test_a_key_that_came_back_with_other_arguments_was_refused(rule: str | None) -> None:
    conflict = sent(2, Outcome.CONFLICT, idempotency_key="a", rule=rule)
    assert found(sent(1, idempotency_key="a"), conflict) == [("idempotency.conflict", "attempt 2")]


def test_a_conflict_of_versions_is_none_of_keys() -> None:
    assert (
        found(sent(1, idempotency_key="a"), sent(2, Outcome.CONFLICT, idempotency_key="a", rule="version"))
        == []
    )
    assert found(sent(1, Outcome.CONFLICT, idempotency_key="a", rule="idempotency.conflict")) == []


# -- intents ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "entities"),
    [
        ('{"payment_id": "$payment.lamp", "amount": 5}', ("$payment.lamp",)),
        ('{"note": "$5.00 for $order.a1"}', ("$order.a1",)),
        ('{"payment_id": "pay_7", "reason": "pay_8"}', ("pay_7",)),
        ('{"order": {"id": "o1"}, "line_ids": ["b", "a"], "number": 7}', ("a", "b", "o1")),
        ('{"target": "slot_12", "request_id": "r1", "idempotency_id": "i", "trace_id": "t"}', ("slot_12",)),
        ('{"amount": 5}', ()),
        ("no json", ()),
    ],
)
def test_an_intent_is_the_operation_and_what_it_names(arguments: str, entities: tuple[str, ...]) -> None:
    assert intent_of(attempt(1, "refund", arguments=arguments)) == Intent("refund", entities)


def test_symbols_are_preferred_where_the_books_have_them() -> None:
    raw = attempt(
        1, "refund", arguments='{"payment_id": "pay_7"}', symbolic='{"payment_id": "$payment.lamp"}'
    )
    assert intent_of(raw).entities == ("$payment.lamp",)


# -- somebody else's ledger: writes alone, look-ups in the talk --------------------------------------------


def talked(look: str, *, error: bool = False) -> list[tuple[str, str]]:
    book, see = call("refund", 1, payment_id="pay_7"), call(look, 2, payment_id="pay_7")
    again = call("refund", 3, payment_id="pay_7")
    ledger = books(
        attempt(1, "refund", arguments=book.text, delivery=LOST), attempt(2, "refund", arguments=again.text)
    )
    messages: list[Message] = [ASKED, batch(book), told(book, "timeout", error=True, attempt=1), batch(see)]
    messages += [told(see, {"refunded": 0}, error=error), batch(again), told(again, attempt=2)]
    offers = (offer(writes("refund"), reads("get_payment"), writes("touch")),)
    return said(retries(Contract(), trail(*messages, ledger=ledger, offers=offers)))


def test_a_look_in_the_talk_counts_where_the_ledger_has_none() -> None:
    assert talked("get_payment") == []
    assert talked("something") == []


def test_a_failed_look_or_another_write_does_not() -> None:
    assert talked("get_payment", error=True) == [("effect.blind_retry", "attempt 2")]
    assert talked("touch") == [("effect.blind_retry", "attempt 2")]


def test_a_call_that_ends_the_talk_is_open_and_its_attempt_counts_all_the_same() -> None:
    asked = call("refund", 1, payment_id="$payment.lamp")
    ledger = books(sent(1, delivery=LOST), sent(2))
    assert said(retries(Contract(), trail(ASKED, batch(asked), ledger=ledger))) == [
        ("effect.blind_retry", "attempt 2")
    ]
