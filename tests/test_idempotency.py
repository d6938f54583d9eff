"""One key, one effect: what a repeated call does, and what a held one does later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from sandtrail.fakes import Answer, AnswerLost, World
from sandtrail.fakes.billing import Refund
from sandtrail.fakes.customers import Note
from sandtrail.fakes.orders import Order, Shipment
from sandtrail.ledgers import Delivery, Outcome, Principal
from worlds import NORTH, SUPPORT, world


@pytest.fixture
def opened() -> Iterator[World]:
    """A world whose books must hold at the end, whatever the test did."""
    with world() as made:
        yield made
        assert made.ledger.verify() == []


def note(opened: World, key: str | None = "k", text: str = "hello", *, by: Principal = SUPPORT) -> Answer:
    """Add a note to Lee's account."""
    sent = {"customer_id": opened.id("$customer.lee"), "text": text}
    return opened.call("add_note", sent if key is None else {**sent, "idempotency_key": key}, principal=by)


def refund(opened: World, amount: int, key: str = "k", payment: str = "$payment.first") -> Answer:
    """Give money back."""
    sent = {"payment_id": opened.id(payment), "amount_minor": amount, "idempotency_key": key}
    return opened.call("refund_payment", sent)


def outcomes(opened: World) -> list[Outcome]:
    """What became of every attempt so far."""
    return [attempt.outcome for attempt in opened.ledger.attempts()]


def test_the_same_key_and_request_acts_once_and_answers_twice_alike(opened: World) -> None:
    first, second = note(opened), note(opened)
    assert (first.text, first.status) == (second.text, second.status)
    assert "idempotent-replayed" not in first.headers
    assert second.headers["idempotent-replayed"] == "true"
    assert outcomes(opened) == [Outcome.OK, Outcome.REPLAYED]
    assert len(opened.rows(Note)) == len(opened.ledger.writes()) == 1


def test_the_order_of_the_fields_does_not_make_another_request(opened: World) -> None:
    lee = opened.id("$customer.lee")
    first = opened.call("add_note", f'{{"customer_id": "{lee}", "text": "hi", "idempotency_key": "k"}}')
    second = opened.call("add_note", f'{{"idempotency_key":"k","text":"h\\u0069","customer_id":"{lee}"}}')
    assert second.text == first.text
    assert outcomes(opened) == [Outcome.OK, Outcome.REPLAYED]


def test_the_same_key_with_another_request_is_a_conflict(opened: World) -> None:
    note(opened)
    answer = note(opened, text="goodbye")
    assert (answer.status, answer.json()["rule"]) == (422, "idempotency.conflict")
    assert outcomes(opened) == [Outcome.OK, Outcome.CONFLICT]
    assert [row.text for row in opened.rows(Note)] == ["hello"]


def test_the_same_key_at_another_operation_is_a_conflict(opened: World) -> None:
    note(opened)
    answer = opened.call("hand_over", {"reason": "hello", "idempotency_key": "k"})
    assert (answer.status, answer.json()["rule"]) == (422, "idempotency.conflict")


def test_a_conflict_does_not_use_the_key_up(opened: World) -> None:
    first = note(opened)
    note(opened, text="goodbye")
    assert note(opened).text == first.text


def test_a_key_belongs_to_its_principal(opened: World) -> None:
    first, second = note(opened, by=SUPPORT), note(opened, by=NORTH)
    assert first.json()["id"] != second.json()["id"]
    assert outcomes(opened) == [Outcome.OK, Outcome.OK]


def test_without_a_key_every_call_acts(opened: World) -> None:
    note(opened, key=None)
    note(opened, key=None)
    assert len(opened.rows(Note)) == 2


def test_a_replay_gives_the_answer_of_then(opened: World) -> None:
    lamp, lee = opened.id("$product.lamp"), opened.id("$customer.lee")
    lines = [{"product_id": lamp, "quantity": 1}]
    sent = {"customer_id": lee, "lines": lines, "address": "1 Elm St", "idempotency_key": "k"}
    placed = opened.call("place_order", sent)
    opened.call("cancel_order", order_id=placed.json()["id"])
    opened.advance("3 days")
    again = opened.call("place_order", sent)
    assert again.text == placed.text
    assert again.json()["status"] == "placed"


@pytest.mark.parametrize(
    "text", ["plain", "{$foo.bar}", "$foo.bar", "5 $ {off}", '{"$id": "x"}', "ünïcödé 🎈 \\ \n"]
)
def test_a_replay_repeats_the_text_to_the_letter(opened: World, text: str) -> None:
    first = note(opened, text=text)
    assert note(opened, text=text).text == first.text


def test_a_replay_mentions_ids_like_the_first_answer(opened: World) -> None:
    text = f"about {opened.id('$order.lamp')}"
    first = note(opened, text=text)
    assert first.json()["text"] == text
    assert note(opened, text=text).text == first.text


# -- what leaves a record, and what does not ----------------------------------------------------------


def test_a_business_refusal_is_repeated_like_any_answer(opened: World) -> None:
    first = refund(opened, 4251)
    opened.call("refund_payment", payment_id=opened.id("$payment.first"), amount_minor=1)
    second = refund(opened, 4251)
    assert (first.status, first.json()["rule"]) == (409, "refund.exceeds_captured")
    assert (second.status, second.text) == (first.status, first.text)
    assert outcomes(opened) == [Outcome.REJECTED, Outcome.OK, Outcome.REPLAYED]


def test_a_refusal_is_repeated_even_once_it_would_be_allowed(opened: World) -> None:
    sent = {"order_id": opened.id("$order.lamp"), "reason": "broken", "idempotency_key": "k"}
    first = opened.call("create_return", sent)
    with opened.event("delivered") as tx:
        tx.update(tx.get(Order, "$order.lamp"), status="delivered", effect="order.delivered")
        tx.insert(
            Shipment, order_id="$order.lamp", tracking="1Z", delivered_at=tx.now, effect="shipment.delivered"
        )
    assert opened.call("create_return", sent).text == first.text
    assert opened.call("create_return", {**sent, "idempotency_key": "k2"}).ok


@pytest.mark.parametrize(
    "spoilt",
    [
        {"text": ""},
        {"customer_id": "cus_00000000"},
        {"verbose": True},
    ],
    ids=["does not fit", "names nobody", "unknown field"],
)
def test_a_call_that_failed_before_it_began_leaves_the_key_free(
    opened: World, spoilt: Mapping[str, Any]
) -> None:
    sent = {"customer_id": opened.id("$customer.lee"), "text": "hello", "idempotency_key": "k"}
    assert not opened.call("add_note", {**sent, **spoilt}).ok
    assert opened.call("add_note", sent).ok
    assert outcomes(opened)[-1] is Outcome.OK


def test_a_missing_scope_leaves_the_key_free(opened: World) -> None:
    reader, writer = (Principal("amy", scopes=scopes) for scopes in (("customers:read",), ("*",)))
    assert note(opened, by=reader).status == 403
    assert note(opened, by=writer).ok


@pytest.mark.parametrize("fault", ["rate_limit", "unavailable"])
def test_a_call_turned_away_at_the_door_leaves_the_key_free(opened: World, fault: str) -> None:
    getattr(opened.faults, fault)("add_note")
    assert note(opened).status in {429, 503}
    assert note(opened).ok
    assert outcomes(opened) == [Outcome.NOT_APPLIED, Outcome.OK]


def test_a_call_turned_away_at_the_door_does_not_bind_the_key_to_its_body(opened: World) -> None:
    opened.faults.unavailable("add_note")
    note(opened)
    assert note(opened, text="goodbye").ok


def test_a_time_out_leaves_the_key_free(opened: World) -> None:
    opened.faults.time_out("add_note")
    with pytest.raises(AnswerLost):
        note(opened)
    assert note(opened).ok
    assert outcomes(opened) == [Outcome.NOT_APPLIED, Outcome.OK]
    assert len(opened.rows(Note)) == 1


def test_a_stale_version_leaves_the_key_free(opened: World) -> None:
    sent = {"order_id": opened.id("$order.lamp"), "idempotency_key": "k"}
    assert opened.call("cancel_order", {**sent, "if_version": 9}).status == 412
    assert opened.call("cancel_order", {**sent, "if_version": 1}).ok


def test_the_answer_that_was_lost_is_given_to_the_same_key(opened: World) -> None:
    opened.faults.lose_answer("refund_payment")
    with pytest.raises(AnswerLost):
        refund(opened, 100)
    again = refund(opened, 100)
    assert again.text == opened.ledger.attempts()[0].answer
    assert outcomes(opened) == [Outcome.OK, Outcome.REPLAYED]
    assert [row.amount for row in opened.rows(Refund)] == [100]


def test_without_the_key_a_lost_answer_is_paid_for_twice(opened: World) -> None:
    opened.faults.lose_answer("refund_payment")
    with pytest.raises(AnswerLost):
        refund(opened, 100, key="one")
    refund(opened, 100, key="two")
    assert [row.amount for row in opened.rows(Refund)] == [100, 100]


def test_a_request_delivered_twice_acts_once_under_a_key(opened: World) -> None:
    opened.faults.deliver_twice("add_note")
    assert note(opened).ok
    assert outcomes(opened) == [Outcome.OK, Outcome.REPLAYED]


def test_a_request_delivered_twice_acts_twice_without_a_key(opened: World) -> None:
    opened.faults.deliver_twice("add_note")
    assert note(opened, key=None).ok
    assert outcomes(opened) == [Outcome.OK, Outcome.OK]


def test_a_fork_knows_the_keys_and_a_reset_forgets_them(opened: World) -> None:
    first = note(opened)
    with opened.fork() as twin:
        assert note(twin).text == first.text
        assert outcomes(twin) == [Outcome.OK, Outcome.REPLAYED]
        assert note(twin, key="twin's own").ok
    assert outcomes(opened) == [Outcome.OK]
    opened.reset()
    assert note(opened).ok
    assert outcomes(opened) == [Outcome.OK]


# -- held open ----------------------------------------------------------------------------------------


def hold(opened: World, key: str | None = "k", text: str = "hello") -> None:
    """A note whose request is held open for half a minute."""
    opened.faults.hold_open("add_note", seconds=30)
    with pytest.raises(AnswerLost):
        note(opened, key, text)


def test_a_held_call_has_done_nothing_yet(opened: World) -> None:
    hold(opened)
    attempt = opened.ledger.attempts()[-1]
    assert (attempt.outcome, attempt.delivery) == (Outcome.NOT_APPLIED, Delivery.LOST)
    assert opened.rows(Note) == []
    assert opened.ledger.read_only


@pytest.mark.parametrize("text", ["hello", "goodbye"], ids=["same body", "other body"])
def test_a_key_in_flight_is_a_conflict(opened: World, text: str) -> None:
    hold(opened)
    answer = note(opened, text=text)
    assert (answer.status, answer.json()["rule"]) == (409, "idempotency.in_flight")
    assert outcomes(opened) == [Outcome.NOT_APPLIED, Outcome.CONFLICT]
    assert opened.rows(Note) == []


def test_another_key_does_not_wait_for_the_held_one(opened: World) -> None:
    hold(opened)
    assert note(opened, key="other").ok


def test_a_held_call_runs_late_and_then_answers_its_key(opened: World) -> None:
    hold(opened)
    note(opened)
    opened.advance("29 seconds")
    assert len(outcomes(opened)) == 2
    opened.advance("1 second")
    late = opened.ledger.attempts()[-1]
    assert (late.outcome, late.resumes, late.delivery) == (Outcome.OK, 1, Delivery.LOST)
    assert len(opened.rows(Note)) == 1

    again = note(opened)
    assert (again.status, again.text) == (200, late.answer)
    assert outcomes(opened) == [Outcome.NOT_APPLIED, Outcome.CONFLICT, Outcome.OK, Outcome.REPLAYED]
    assert len(opened.rows(Note)) == 1
    opened.advance("1 day")
    assert len(opened.rows(Note)) == 1


def test_a_held_call_without_a_key_runs_late_beside_its_repetition(opened: World) -> None:
    hold(opened, key=None)
    assert note(opened, key=None).ok
    opened.advance("1 minute")
    assert outcomes(opened) == [Outcome.NOT_APPLIED, Outcome.OK, Outcome.OK]
    assert len(opened.rows(Note)) == 2


def test_a_held_call_that_is_refused_late_keeps_its_refusal(opened: World) -> None:
    opened.faults.hold_open("refund_payment")
    with pytest.raises(AnswerLost):
        refund(opened, 4250)
    opened.call("refund_payment", payment_id=opened.id("$payment.first"), amount_minor=1)
    opened.advance("1 minute")
    late = opened.ledger.attempts()[-1]
    assert (late.outcome, late.rule, late.resumes) == (Outcome.REJECTED, "refund.exceeds_captured", 1)
    again = refund(opened, 4250)
    assert (again.status, again.text) == (409, late.answer)


def test_a_held_call_runs_in_the_world_and_in_its_fork_apart(opened: World) -> None:
    hold(opened)
    with opened.fork() as twin:
        twin.advance("1 minute")
        assert len(twin.rows(Note)) == 1
        assert twin.ledger.verify() == []
        assert opened.rows(Note) == []
        assert note(opened).status == 409
    opened.advance("1 minute")
    assert len(opened.rows(Note)) == 1


def test_a_reset_drops_what_is_held(opened: World) -> None:
    hold(opened)
    opened.reset()
    opened.advance("1 minute")
    assert opened.rows(Note) == []


def test_a_held_call_runs_when_a_slow_answer_takes_the_clock_past_it(opened: World) -> None:
    hold(opened)
    opened.faults.slow("get_user", seconds=60)
    opened.call("get_user", email="lee@example.test")
    opened.advance("1 second")
    assert len(opened.rows(Note)) == 1
