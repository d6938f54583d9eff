"""What a test asks the books: queries that stand in a plain assert and print what they found."""

from __future__ import annotations

from typing import Any

import pytest

from sandtrail.fakes import World
from sandtrail.fakes.customers import Customer
from sandtrail.ledgers import (
    Access,
    Attempt,
    Binding,
    Change,
    Delivery,
    Effect,
    Finding,
    Ledger,
    Outcome,
    Overall,
    Page,
    Projection,
    Proof,
    Records,
    Severity,
)
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.entries import Origin, RowClaim
from sandtrail.ledgers.findings import CODES, overall_of
from sandtrail.ledgers.specs import TableFact
from sandtrail.ledgers.words import OriginKind
from sandtrail.sandbox.saboteur import SPEC as SABOTAGE
from sandtrail.sandbox.saboteur import Saboteur
from worlds import LEE, NORTH, world


def refund(here: World, symbol: str = "$payment.second", amount: int = 4250) -> int:
    return here.call("refund_payment", payment_id=here.id(symbol), amount_minor=amount).status


def rename(here: World, name: str) -> int:
    return here.call("update_customer", customer_id=here.id("$customer.lee"), name=name).status


# -- attempts and writes -----------------------------------------------------------------------------------


def test_writes_are_the_attempts_that_committed() -> None:
    with world() as here:
        here.call("list_payments", order_id=here.id("$order.lamp"))
        refund(here)
        refund(here)  # nothing is left: rejected
        (write,) = here.ledger.writes()
        assert (write.operation, write.seq, write.outcome) == ("refund_payment", 2, Outcome.OK)


def test_a_write_that_changed_nothing_is_no_commit() -> None:
    with World.open(SABOTAGE, services=(Saboteur,)) as here:
        for deed in ("nothing", "touch"):
            assert here.call("act", deed=deed).ok
        assert [attempt.operation for attempt in here.ledger.writes()] == ["act"]
        assert here.ledger.writes()[0].seq == 2


def test_attempts_are_found_by_their_fields() -> None:
    with world() as here:
        refund(here)
        refund(here)
        here.call("get_payment", payment_id=here.id("$payment.south"), principal=NORTH)
        here.call("no_such_tool")
        here.faults.lose_answer("add_note")
        with pytest.raises(TimeoutError):
            here.call("add_note", customer_id=here.id("$customer.lee"), text="hello")
        ledger = here.ledger
        assert [attempt.seq for attempt in ledger.attempts()] == [1, 2, 3, 4, 5]
        assert [
            attempt.seq for attempt in ledger.attempts(operation="refund_payment", outcome="rejected")
        ] == [2]
        assert [attempt.seq for attempt in ledger.attempts(outcome=Outcome.DENIED)] == [3]
        assert [attempt.seq for attempt in ledger.attempts(principal="ned")] == [3]
        assert [attempt.seq for attempt in ledger.attempts(outcome="unknown")] == [4]
        assert [attempt.seq for attempt in ledger.attempts(delivery=Delivery.LOST)] == [5]
        assert [attempt.rule for attempt in ledger.attempts(seq=2)] == ["refund.exceeds_captured"]
        assert ledger.attempts(operation="close_customer") == []


def test_a_field_that_attempts_do_not_have_is_an_error_that_names_those_they_have() -> None:
    with (
        world() as here,
        pytest.raises(
            TypeError, match=r"^attempts have no field 'tool'; known are seq, operation, .*outcome"
        ),
    ):
        here.ledger.attempts(tool="refund_payment")


def test_blocked_requests_are_unread_until_they_are_asked_for() -> None:
    with world() as here:
        here.note("GET https://mail.test/", Outcome.BLOCKED, detail="no fake answers")
        assert [attempt.operation for attempt in here.ledger.unread(Outcome.BLOCKED)] == [
            "GET https://mail.test/"
        ]
        here.ledger.attempts(outcome="ok")
        assert len(here.ledger.unread(Outcome.BLOCKED)) == 1
        assert len(here.ledger.attempts(outcome="blocked")) == 1
        assert here.ledger.unread(Outcome.BLOCKED) == []


def test_a_ledger_is_live() -> None:
    with world() as here:
        ledger = here.ledger
        assert ledger.effects() == []
        refund(here)
        assert len(ledger.effects()) == 1


# -- effects and changes -----------------------------------------------------------------------------------


def test_effects_are_equal_to_a_list_of_the_facts_they_name() -> None:
    with world() as here:
        refund(here, amount=4000)
        refund(here, amount=250)
        found = here.ledger.effects("refund.created")
        assert found == [
            {"payment": "$payment.second", "amount": 4000},
            {"payment": "$payment.second", "amount": 250},
        ]
        assert found != [{"amount": 250}, {"amount": 4000}]
        assert found != [{"amount": 4000}]
        assert found != [{"amount": 4000}, {"amount": 250, "reason": "none"}]
        assert here.ledger.effects("refund.created", amount=250) == [{"amount": 250, "currency": "USD"}]


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("refund", {}),
        ("refund.created", {"amount": "4250"}),
        ("refund.created", {"payment": "$payment.first"}),
        (None, {"reason": None}),
    ],
)
def test_effects_of_another_name_or_fact_are_not_found(name: str | None, facts: dict[str, Any]) -> None:
    with world() as here:
        refund(here)
        assert here.ledger.effects(name, **facts) == []
        assert len(here.ledger.effects(amount=4250)) == 1


def test_changes_are_the_business_rows_unless_more_is_asked_for() -> None:
    with world() as here:
        here.call("add_note", customer_id=here.id("$customer.lee"), text="hello", idempotency_key="k")
        assert [change.table for change in here.ledger.changes()] == ["note"]
        assert sorted(change.table for change in here.ledger.changes(bookkeeping=True)) == [
            "idempotency",
            "note",
        ]
        assert here.ledger.changes("idempotency") == []
        assert [change.after and change.after["text"] for change in here.ledger.changes("note")] == ["hello"]


def test_changes_are_those_of_attempts_and_without_touches() -> None:
    with world() as here:
        here.call(
            "set_address",
            customer_id=here.id("$customer.lee"),
            line="1 Elm St",
            city="Salem",
            postcode="97301",
            country="US",
        )
        here.advance("3 days")  # an invoice becomes overdue
        assert here.rows(Customer)
        assert here.ledger.changes() == []
        assert [page.origin.kind for page in here.ledger.pages] == ["attempt", "clock"]


@pytest.mark.parametrize("question", ["changes", "unchanged"])
def test_a_table_that_the_world_does_not_have_is_an_error_that_names_those_it_has(question: str) -> None:
    with (
        world() as here,
        pytest.raises(LookupError, match=r"'invoises' is neither .*; known are address, billing, .*, world"),
    ):
        getattr(here.ledger, question)("invoises")


# -- proofs ------------------------------------------------------------------------------------------------


def test_unchanged_answers_for_a_table_and_for_a_whole_service() -> None:
    with world() as here:
        refund(here)
        assert here.ledger.unchanged("customers")
        assert here.ledger.unchanged("orders")
        assert here.ledger.unchanged("invoice")
        broken = here.ledger.unchanged("billing")
        assert not broken
        assert "~ payment $payment.second  refunded 0 -> 4250" in broken.evidence
        assert repr(here.ledger.unchanged("payment")) == (
            "<broken: no row of payment was changed: ~ payment $payment.second  refunded 0 -> 4250>"
        )
        assert repr(here.ledger.unchanged("orders")) == "<holds: no row of orders was changed>"


def test_write_then_undo_is_a_change() -> None:
    with world() as here:
        rename(here, "Leo")
        rename(here, "Lee Ahn")
        assert not here.ledger.unchanged("customer")
        assert not here.ledger.read_only
        assert here.ledger.read_only.evidence == (
            "attempt 1 update_customer: ~ customer $customer.lee  name Lee Ahn -> Leo  version 1 -> 2",
            "attempt 2 update_customer: ~ customer $customer.lee  name Leo -> Lee Ahn  version 2 -> 3",
        )


def test_looking_being_refused_and_what_time_does_are_read_only() -> None:
    with world() as here:
        here.call("get_customer_profile", customer_id=here.id("$customer.lee"))
        here.call("get_customer", customer_id=here.id("$customer.max"), principal=LEE)
        refund(here, amount=99999)
        here.call("no_such_tool")
        here.advance("3 days")
        with here.event("a courier came"):
            pass
        proof = here.ledger.read_only
        assert isinstance(proof, Proof)
        assert proof
        assert repr(proof) == "<holds: nothing was mutated>"


def test_an_idempotency_record_is_no_mutation() -> None:
    with world() as here:
        here.call(
            "refund_payment", payment_id=here.id("$payment.disputed"), amount_minor=1, idempotency_key="k"
        )
        assert here.ledger.changes(bookkeeping=True) != []
        assert here.ledger.read_only


def test_a_blocked_request_breaks_read_only() -> None:
    with world() as here:
        here.note("POST https://mail.test/send", Outcome.BLOCKED, detail="no fake answers")
        assert not here.ledger.read_only
        assert here.ledger.read_only.evidence == (
            "attempt 1 POST https://mail.test/send: blocked POST https://mail.test/send",
        )


def test_a_mail_breaks_read_only_even_when_its_rows_are_bookkeeping() -> None:
    mail = Effect("mail.sent", {"customer": "$customer.lee"}, external=True, attempt=1)
    attempt = Attempt(1, "send", Access.WRITE, "{}", "amy", Outcome.OK)
    book = Book("r", {})
    book.append(Page(Origin(OriginKind.ATTEMPT), attempt, (mail,)), judged=False)
    proof = Ledger(book).read_only
    assert not proof
    assert proof.evidence == ("attempt 1 send: mail.sent  customer=$customer.lee  (external)",)


def test_what_nobody_did_breaks_read_only() -> None:
    row = Change(
        1, "customer", "$customer.lee", ("id", "name"), ("$customer.lee", "Lee"), ("$customer.lee", "Leo")
    )
    book = Book("r", {"customer": TableFact("customer", "customers", ("id", "name"))})
    book.append(Page(Origin(OriginKind.NONE, "after attempt 3"), changes=(row,)))
    ledger = Ledger(book)
    assert not ledger.read_only
    assert [breach.code for breach in ledger.breaches] == ["ledger.no_origin"]
    assert "after attempt 3: ~ customer $customer.lee  name Lee -> Leo" in ledger.read_only.evidence


def test_books_that_do_not_hold_prove_nothing() -> None:
    book = Book("r", {"customer": TableFact("customer", "customers", ("id", "name"))})
    attempt = Attempt(1, "look", Access.READ, "{}", "amy", Outcome.OK)
    book.append(
        Page(
            Origin(OriginKind.ATTEMPT),
            attempt,
            hole="the database counted 3 row writes, 0 changes were captured",
        )
    )
    ledger = Ledger(book)
    for proof in (ledger.read_only, ledger.unchanged("customer")):
        assert not proof
        assert "the books do not hold: critical ledger.capture_hole" in repr(proof)


def test_verify_adds_the_replay_to_the_breaches() -> None:
    late = Finding("ledger.capture_hole", "the end", "payment $payment.lamp is gone")
    ledger = Ledger(Book("r", {}), replay=lambda: (late,))
    assert ledger.breaches == []
    assert ledger.verify() == [late]


def test_an_honest_worlds_books_hold() -> None:
    with world() as here:
        refund(here)
        rename(here, "Leo")
        here.advance("3 days")
        assert here.ledger.verify() == []


# -- what is printed ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_a_ledger_prints_symbols_and_before_and_after_under_every_seed(seed: int) -> None:
    with world(seed=seed) as here:
        here.call("get_payment", payment_id=here.id("$payment.second"))
        refund(here)
        refund(here)
        here.advance("3 days")
        assert (
            repr(here.ledger)
            == f"""\
<ledger run-{seed}: 3 attempts, 1 writes>
attempt 1 get_payment {{"payment_id": "$payment.second"}} by amy: ok
attempt 2 refund_payment {{"payment_id": "$payment.second", "amount_minor": 4250}} by amy: ok
  refund.created  payment=$payment.second  amount=4250  currency=USD
  + refund $refund.1  tenant=north customer_id=$customer.lee payment_id=$payment.second amount=4250 currency=USD\
 created_at=2026-03-02T09:00:00Z
  ~ payment $payment.second  refunded 0 -> 4250
  + posting {_posting(here, 0)}  entry=$refund.1 account=refunded amount=4250 currency=USD
  + posting {_posting(here, 1)}  entry=$refund.1 account=cash amount=-4250 currency=USD
attempt 3 refund_payment {{"payment_id": "$payment.second", "amount_minor": 4250}} by amy: rejected (refund.exceeds_captured)
clock 2026-03-05T09:00:00Z
  invoice.overdue  invoice=$invoice.open
  ~ invoice $invoice.open  status open -> overdue"""
        )


def _posting(here: World, place: int) -> str:
    return here.ledger.changes("posting")[place].key


def test_records_print_a_line_for_each() -> None:
    assert repr(Records([1, 2])) == "[1,\n 2]"
    assert repr(Records[int]([])) == "[]"


COLUMNS = ("id", "name", "phone")


@pytest.mark.parametrize(
    ("old", "new", "printed"),
    [
        (("$c.x", "A", None), ("$c.x", "B", "1"), "~ c $c.x  name A -> B  phone none -> 1"),
        (("$c.x", "A", "1"), ("$c.x", "A", None), "~ c $c.x  phone 1 -> none"),
        (("$c.x", "A", None), ("$c.x", "A", None), "~ c $c.x  (same values)"),
        (None, ("$c.x", "A", None), "+ c $c.x  name=A"),
        (("$c.x", "A", None), None, "- c $c.x"),
    ],
)
def test_a_change_prints_what_the_row_did(old: Any, new: Any, printed: str) -> None:
    assert repr(Change(1, "c", "$c.x", COLUMNS, old, new)) == printed


def test_an_attempt_prints_what_became_of_it() -> None:
    crashed = Attempt(
        4, "get_x", Access.READ, '{"id": "pay_1"}', "amy", Outcome.CRASHED, Delivery.LOST, "timeout(get_x, nth=1)",
        rule="internal", detail="KeyError: 'x'", symbolic='{"id": "$payment.lamp"}',
    )  # fmt: skip
    assert repr(crashed) == (
        'attempt 4 get_x {"id": "$payment.lamp"} by amy: crashed (internal: KeyError: \'x\') answer lost fault timeout(get_x, nth=1)'
    )


# -- records -----------------------------------------------------------------------------------------------


def test_records_are_equal_to_lists_tuples_and_records_of_the_same() -> None:
    found = Records([1, 2, 3])
    assert found == [1, 2, 3]
    assert found == (1, 2, 3)
    assert found == Records([1, 2, 3])
    assert found != [1, 2]
    assert found != [1, 2, 3, 4]
    assert found != [3, 2, 1]
    assert found != {1, 2, 3}
    assert found != "123"


def test_a_slice_of_records_is_records() -> None:
    found = Records([1, 2, 3])
    assert isinstance(found[1:], Records)
    assert found[1:] == [2, 3]
    assert found[-1] == found[2]
    assert found[::-1] == [3, 2, 1]
    assert list(found) == [1, 2, 3]
    assert found.index(found[1]) == 1
    with pytest.raises(IndexError):
        found[3]


def test_records_are_true_only_where_something_was_found() -> None:
    assert not Records[int]([])
    assert Records([0])


def test_records_cannot_be_hashed() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(Records([1]))


# -- effects -----------------------------------------------------------------------------------------------

CREATED = Effect("refund.created", {"payment": "$payment.lamp", "amount": 1, "reason": None, "partial": True})


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({}, True),
        ({"amount": 1}, True),
        ({"amount": 1, "payment": "$payment.lamp"}, True),
        ({"partial": True}, True),
        ({"reason": None}, True),
        ({"amount": True}, False),
        ({"partial": 1}, False),
        ({"amount": 1.0}, False),
        ({"amount": "1"}, False),
        ({"amount": 2}, False),
        ({"amount": 1, "payment": "$payment.mat"}, False),
        ({"currency": None}, False),
    ],
)
def test_an_effect_has_just_the_facts_it_has(wanted: dict[str, Any], fits: bool) -> None:  # noqa: FBT001  a column of the table
    assert CREATED.matches(wanted) is fits
    assert (wanted == CREATED) is fits
    assert (Records([CREATED]) == [wanted]) is fits


def test_true_is_not_one_inside_a_fact_either() -> None:
    nested = Effect("order.placed", {"lines": [1], "gift": {"wrapped": True}})
    assert nested.matches({"lines": [1]})
    assert nested.matches({"gift": {"wrapped": True}})
    assert not nested.matches({"lines": [True]})
    assert not nested.matches({"gift": {"wrapped": 1}})


def test_two_effects_are_equal_where_everything_is() -> None:
    rows = (RowClaim("refund", "$refund.1", {"amount": 1}),)
    made = Effect("refund.created", {"amount": 1}, rows, attempt=2)
    assert made == Effect("refund.created", {"amount": 1}, rows, attempt=2)
    assert hash(made) == hash(Effect("refund.created", {"amount": 1}, rows, attempt=2))
    assert made != Effect("refund.made", {"amount": 1}, rows, attempt=2)
    assert made != Effect("refund.created", {"amount": 2}, rows, attempt=2)
    assert made != Effect("refund.created", {"amount": 1}, attempt=2)
    assert made != Effect("refund.created", {"amount": 1}, rows, attempt=3)
    assert made != Effect("refund.created", {"amount": 1}, rows, external=True, attempt=2)
    assert made != "refund.created"


# -- projections -------------------------------------------------------------------------------------------

LAMP = Binding("$payment.lamp", "pay_7Q2M9XKD", "payment")


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("refund pay_7Q2M9XKD now", "refund $payment.lamp now"),
        ("pay_7Q2M9XKD, pay_7Q2M9XKD.", "$payment.lamp, $payment.lamp."),
        ("/v1/payments/pay_7Q2M9XKD/refunds", "/v1/payments/$payment.lamp/refunds"),
        ("pay_7Q2M9XKDX", "pay_7Q2M9XKDX"),
        ("xpay_7Q2M9XKD", "xpay_7Q2M9XKD"),
        ("pay_7q2m9xkd", "pay_7q2m9xkd"),
        ("7Q2M9XKD", "7Q2M9XKD"),
        ("", ""),
    ],
)
def test_a_projection_replaces_whole_raw_ids_in_text(text: str, seen: str) -> None:
    assert Projection([LAMP]).text(text) == seen


def test_a_projection_goes_through_a_whole_value_and_leaves_its_keys() -> None:
    given = {"pay_7Q2M9XKD": ["pay_7Q2M9XKD", ["see pay_7Q2M9XKD"], 1, None, True, 0.5]}
    assert Projection([LAMP]).value(given) == {
        "pay_7Q2M9XKD": ["$payment.lamp", ["see $payment.lamp"], 1, None, True, 0.5]
    }


def test_a_ledger_projects_every_id_issued_so_far() -> None:
    with world() as here:
        answer = here.call("refund_payment", payment_id=here.id("$payment.second"), amount_minor=1)
        seen = here.ledger.projection.value(answer.json())
        assert (seen["id"], seen["payment_id"], seen["customer_id"]) == (
            "$refund.1",
            "$payment.second",
            "$customer.lee",
        )
        (made,) = [binding for binding in here.ledger.bindings if binding.symbol == "$refund.1"]
        assert made == Binding("$refund.1", answer.json()["id"], "refund", "$customer.lee", "north")


# -- findings ----------------------------------------------------------------------------------------------


def finding(code: str) -> Finding:
    return Finding(code, "attempt 1", "so it was")


def test_a_code_that_the_table_does_not_know_makes_no_finding() -> None:
    with pytest.raises(ValueError, match=r"code='ledger\.oops' is not in the table of codes"):
        finding("ledger.oops")


@pytest.mark.parametrize("code", list(CODES))
def test_a_findings_severity_is_the_tables(code: str) -> None:
    severity, meaning = CODES[code]
    assert finding(code).severity is severity
    assert meaning
    assert str(finding(code)) == f"{severity} {code}  at attempt 1: so it was"


def test_every_breach_of_the_books_is_critical() -> None:
    assert {CODES[code][0] for code in CODES if code.startswith("ledger.")} == {Severity.CRITICAL}


def test_the_table_of_codes_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CODES["ledger.oops"] = (Severity.INFO, "oops")  # type: ignore[index]  # pyright: ignore[reportIndexIssue]


def test_severities_rank_from_info_to_critical() -> None:
    words = ["info", "warning", "minor", "major", "critical"]
    assert [Severity(word).rank for word in words] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("codes", "overall"),
    [
        ([], Overall.PASS),
        (["effect.missing"], Overall.FAIL),
        (["effect.wrong_amount", "answer.missing"], Overall.FAIL),
        (["fault.not_fired"], Overall.INCONCLUSIVE),
        (["fault.not_fired", "effect.missing"], Overall.FAIL),
        (["ledger.money_leak"], Overall.HARNESS_FAULT),
        (["effect.missing", "ledger.money_leak"], Overall.HARNESS_FAULT),
        (["simulator.off_script", "fault.not_fired"], Overall.HARNESS_FAULT),
    ],
)
def test_the_verdict_follows_from_the_findings(codes: list[str], overall: Overall) -> None:
    assert overall_of(tuple(map(finding, codes))) is overall
    assert overall_of(tuple(map(finding, reversed(codes)))) is overall
