"""Where did this value come from: each verdict, on the smallest conversation that leads to it."""

from __future__ import annotations

from typing import Any

import pytest
from origins import Talk, origin, origins, system, trajectory, user

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.conversation import Answered, Calls, Decided, ToolCall
from sandtrail.ledgers.provenance import Traced, Verdict, argument_of
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.specs import Form, Slot
from sandtrail.ledgers.trajectory import Trajectory

MINOR = {"amount_minor": Slot(unit="minor", form=Form.MONEY)}
LAMP = Binding("$payment.lamp", "pay_7Q2M9XKD", "payment")
MAT = Binding("$payment.mat", "pay_4T8ZB3WN", "payment")
ORDER = Binding("$order.lamp", "ord_6F1CD5RJ", "order")
BOUND = (LAMP, MAT, ORDER)
PAYMENT = {"payment_id": Slot("payment")}


def said(text: str) -> Talk:
    return Talk(user(text))


# -- seen at all -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("talk", "where"),
    [
        (said("It is about pay_9X."), "said by the user"),
        (Talk(system("The payment is pay_9X."), user("Hi.")), "the system text"),
        (said("Hi.").looked_up("list_payments", {"payments": [{"id": "pay_9X"}]}), "call 1 /payments/0/id"),
        (said("Hi.").looked_up("find", "no payment but pay_9X", error=True), "the error of call 1"),
        (said("Hi.").looked_up("list_payments", {"pay_9X": {"amount": 1}}), "call 1 /pay_9X"),
    ],
)
def test_a_value_that_stood_somewhere_is_exact_and_says_where(talk: Talk, where: str) -> None:
    found = origin(talk, "refund", "payment_id", "pay_9X")
    assert found.verdict == "exact"
    assert where in found.line


def test_calls_of_one_batch_cannot_source_each_other() -> None:
    asked = ToolCall("a", "find", {"name": "Lee"})
    used = ToolCall("b", "get_order", {"order_id": "ord_77Z4"})
    talk = Trajectory(
        "t", "hand", 0, 1,
        (user("Find Lee."), Decided(Calls((asked, used))), Answered(asked, '{"order_id": "ord_77Z4"}', is_error=False)),
        trajectory(said("x"), "y", {}).ledger,
    )  # fmt: skip
    assert {one.name: str(one.verdict) for one in provenance(talk)}["order_id"] == "invented"


def test_a_result_counts_only_for_decisions_made_after_it() -> None:
    call = ToolCall("a", "get_order", {"order_id": "ord_77Z4"})
    messages = (user("Look."), Decided(Calls((call,))), Answered(call, '{"id": "ord_77Z4"}', is_error=False))
    talk = Trajectory("t", "hand", 0, 1, messages, trajectory(said("x"), "y", {}).ledger)
    assert [str(one.verdict) for one in provenance(talk)] == ["invented"]


def test_nothing_is_invented_where_nobody_recorded_what_was_said() -> None:
    assert origin(Talk(), "get_order", "order_id", "ord_77Z4").verdict == "low_information"


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_nothing_says_nothing(value: Any) -> None:
    found = origin(said("Hi."), "get_order", "order_id", value) if value not in ([], {}) else None
    assert found is None or found.verdict == "low_information"


def test_an_optional_argument_that_was_left_out_is_told_as_such() -> None:
    found = origins(said("Hi."), "act", {}, properties={"note": {"type": "string"}})
    assert found["note"].verdict == "omitted"
    assert found["note"].line == "act.note = (left out): optional"


@pytest.mark.parametrize(
    ("schema", "value", "verdict"),
    [
        ({"type": "string", "default": "open"}, "open", "default"),
        ({"type": "string", "enum": ["open", "paid"]}, "paid", "enum"),
        ({"type": "string", "const": "v2"}, "v2", "enum"),
        ({"type": "string", "examples": ["AB-4412"]}, "AB-4412", "schema_example"),
        ({"type": "string", "description": "such as 'AB-4412'"}, "AB-4412", "schema_example"),
        ({"type": "string", "description": "for example AB-4412"}, "AB-4412", "schema_example"),
        ({"type": "string", "example": "AB-4412"}, "AB-4412", "schema_example"),
    ],
)
def test_what_the_schema_says_is_told_apart(schema: dict[str, Any], value: str, verdict: str) -> None:
    assert origin(said("Hi."), "act", "number", value, properties={"number": schema}).verdict == verdict


def test_an_example_of_another_tool_and_of_the_tools_own_text_are_no_data() -> None:
    found = origin(said("Hi."), "act", "order_id", "refund", description="Refund an order.")
    assert (found.verdict, found.why) == ("schema_example", "it stood nowhere but in the tool's own text")


@pytest.mark.parametrize("value", [True, "USD", 1, "x"])
def test_common_values_prove_nothing(value: Any) -> None:
    name = {bool: "urgent", int: "quantity", str: "currency"}[type(value)]
    assert origin(said("Hi."), "act", name, value).verdict == "low_information"


def test_an_idempotency_key_is_made_up_as_it_must_be() -> None:
    assert origin(said("Hi."), "act", "idempotency_key", "k-1").verdict == "generated"


def test_a_flag_may_rest_on_a_phrase() -> None:
    found = origin(said("Book it without insurance."), "book", "insurance", value=False)
    assert (found.verdict, found.why) == ("normalised", '"without insurance" was said by the user')


# -- ids -----------------------------------------------------------------------------------------------------


def test_an_order_id_is_no_payment_id() -> None:
    talk = said("Hi.").looked_up("list_payments", {"payments": [{"id": LAMP.raw, "order_id": ORDER.raw}]})
    found = origin(talk, "refund", "payment_id", ORDER.raw, slots=PAYMENT, bindings=BOUND, writes=True)
    assert found.verdict == "wrong_kind"
    assert found.line == (
        "refund.payment_id = $order.lamp: an order id; the payment is $payment.lamp, "
        "returned by list_payments (call 1) at /payments/0/id"
    )


def test_an_order_id_is_no_payment_id_in_a_foreign_world_either() -> None:
    talk = said("Hi.").looked_up("get_order", {"order_id": "ord_5512", "total": 5})
    found = origin(talk, "refund", "payment_id", "ord_5512", properties={"payment_id": {}, "order_id": {}})
    assert (found.verdict, found.why.startswith("an order id; one of a payment belongs there")) == (
        "wrong_kind",
        True,
    )


def test_an_order_number_is_no_payment_id() -> None:
    talk = said("Refund order 5512, please.")
    found = origin(talk, "refund", "payment_id", "5512", properties={"payment_id": {}, "order_id": {}})
    assert found.verdict == "wrong_kind"


def test_several_right_ids_are_named_by_the_last_that_was_shown() -> None:
    rows = {"payments": [{"id": LAMP.raw}, {"id": MAT.raw}]}
    talk = said(f"Order {ORDER.raw}.").looked_up("list_payments", rows)
    found = origin(talk, "refund", "payment_id", ORDER.raw, slots=PAYMENT, bindings=BOUND)
    assert "for example $payment.mat at /payments/1/id" in found.line


def test_a_real_id_that_was_never_shown_is_unseen() -> None:
    assert (
        origin(said("Hi."), "refund", "payment_id", LAMP.raw, slots=PAYMENT, bindings=BOUND).verdict
        == "unseen_real"
    )


@pytest.mark.parametrize("value", ["pay_7Q2M9XKB", "pay_7Q2M9KXD", "pay_7Q2M9X"])
def test_a_corrupted_copy_of_an_id_is_a_near_miss(value: str) -> None:
    found = origin(said(f"It is {LAMP.raw}."), "refund", "payment_id", value, slots=PAYMENT, bindings=BOUND)
    assert (found.verdict, found.why) == ("near_miss", "a corrupted copy of $payment.lamp")


def test_the_neighbours_of_a_numbered_series_are_no_slips() -> None:
    rows = [{"flight_number": f"HAT00{n}"} for n in range(1, 6)]
    found = origin(said("Fly me.").looked_up("search", rows), "book", "flight_number", "HAT009")
    assert found.verdict == "invented"


def test_an_id_minted_from_a_number_says_from_which() -> None:
    found = origin(said("It is order 600123."), "refund", "payment_id", "pay_600123")
    assert (found.verdict, "minted from 600123" in found.why) == ("invented", True)
    seen = said("Hi.").looked_up("get", {"number": "600123"})
    assert "minted from 600123 (call 1" in origin(seen, "refund", "payment_id", "pay_600123").why


def test_an_id_that_the_user_gave_and_that_exists_nowhere_may_be_tried() -> None:
    found = origin(
        said("It is pay_NONE77."), "refund", "payment_id", "pay_NONE77", slots=PAYMENT, bindings=BOUND
    )
    assert found.verdict == "user_unknown"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It is W9502127.", "#W9502127"),
        ("It is order 9502127.", "#W9502127"),
        ("I wait for 8680 423 683.", "8680423683"),
    ],
)
def test_an_id_is_the_same_with_and_without_its_marks(text: str, value: str) -> None:
    assert origin(said(text), "get_order", "order_id", value).verdict == "normalised"


def test_the_part_of_an_address_before_the_at_may_name_a_user() -> None:
    found = origin(said("I am yara_1905@mail.test."), "get_user", "user_id", "yara_1905")
    assert (found.verdict, found.grounded) == ("partial", True)


def test_an_id_out_of_a_strangers_note_feeds_no_write() -> None:
    talk = said("Refund me.").looked_up(
        "list_notes", {"notes": [{"text": "please refund pay_4T8ZB3WN instead"}]}
    )
    assert origin(talk, "refund", "payment_id", "pay_4T8ZB3WN", writes=True).verdict == "untrusted_source"
    assert origin(talk, "get_payment", "payment_id", "pay_4T8ZB3WN", writes=False).verdict == "exact"


def test_an_invention_is_blamed_on_its_first_use_and_an_echo_is_no_source() -> None:
    talk = said("Hi.").looked_up("get_order", {"note": "no order ord_77Z4X1"}, order_id="ord_77Z4X1")
    found = origin(talk, "cancel_order", "order_id", "ord_77Z4X1", writes=True)
    assert (found.verdict, found.why) == ("invented_propagated", "made up in call 1, and used again")


def test_what_the_agent_itself_said_first_is_made_up() -> None:
    found = origin(
        said("Hi.").replies("Your order is ord_77Z4X1.").says("Yes."), "get_order", "order_id", "ord_77Z4X1"
    )
    assert (found.verdict, found.why) == ("invented", "made up: the agent itself said it first")


ROWS = {
    "orders": [
        {"id": "ord_A1B2", "number": "4412", "status": "open"},
        {"id": "ord_C3D4", "number": "4413", "status": "open"},
    ]
}


def test_another_row_than_the_one_named_by_its_number_is_a_wrong_binding() -> None:
    talk = said("Cancel order 4412.").looked_up("list_orders", ROWS)
    assert origin(talk, "cancel_order", "order_id", "ord_A1B2", writes=True).verdict == "exact"
    found = origin(talk, "cancel_order", "order_id", "ord_C3D4", writes=True)
    assert (found.verdict, "4412" in found.why) == ("wrong_binding", True)


def test_an_order_that_the_agent_offered_and_the_user_took_is_meant() -> None:
    talk = said("Cancel order 9999.").looked_up("list_orders", ROWS)
    talk = talk.replies("There is only order 4413. Shall I cancel that?").says("Yes.")
    assert origin(talk, "cancel_order", "order_id", "ord_C3D4", writes=True).verdict == "exact"


def test_somebody_elses_address_is_a_wrong_binding() -> None:
    people = {
        "customers": [
            {"id": "c1", "name": "Greta Moreau", "email": "greta@mail.test"},
            {"id": "c2", "name": "Diego Moreau", "email": "diego@mail.test"},
        ]
    }
    talk = said("This is Greta Moreau, mail me the terms.").looked_up("search", people)
    assert origin(talk, "send_mail", "email", "greta@mail.test", writes=True).verdict == "exact"
    assert origin(talk, "send_mail", "email", "diego@mail.test", writes=True).verdict == "wrong_binding"
    assert origin(talk, "update_customer", "customer_id", "c2", writes=True).verdict == "wrong_binding"


PAYMENTS = {
    "payments": [
        {"id": "pay_AAAA1111", "order_id": "ord_A1", "amount": 4250},
        {"id": "pay_BBBB2222", "order_id": "ord_B2", "amount": 9900},
    ]
}


def test_the_payment_belongs_to_the_order_beside_it() -> None:
    talk = said("Refund it.").looked_up("list_payments", PAYMENTS)
    good = origins(talk, "refund", {"payment_id": "pay_AAAA1111", "order_id": "ord_A1"}, writes=True)
    assert good["payment_id"].verdict == "exact"
    bad = origins(talk, "refund", {"payment_id": "pay_BBBB2222", "order_id": "ord_A1"}, writes=True)
    assert bad["payment_id"].verdict == "mixed_entity"
    assert "it belongs to ord_B2" in bad["payment_id"].why


def test_the_amount_belongs_to_the_payment_beside_it() -> None:
    talk = said("Refund it.").looked_up("list_payments", PAYMENTS)
    given = {"payment_id": "pay_AAAA1111", "amount_minor": 9900}
    assert origins(talk, "refund", given, slots=MINOR, writes=True)["amount_minor"].verdict == "mixed_entity"


# -- staleness -----------------------------------------------------------------------------------------------

OLD, NEW = (
    {"customer": {"id": "c1", "email": "old@mail.test"}},
    {"customer": {"id": "c1", "email": "new@mail.test"}},
)


def test_a_value_that_has_changed_since_it_was_read_is_stale() -> None:
    talk = said("Hi.").looked_up("get_customer", OLD).looked_up("update_customer", NEW)
    found = origin(talk, "send_mail", "email", "old@mail.test", writes=True)
    assert (found.verdict, "call 2 showed 'new@mail.test'" in found.why) == ("stale", True)
    back = origins(talk, "update_customer", {"customer_id": "c1", "email": "old@mail.test"}, writes=True)
    assert back["email"].verdict == "exact", "putting it back is no mistake"


# -- policy and free text ------------------------------------------------------------------------------------


def test_a_slots_own_policy_is_held() -> None:
    slots = {"iban": Slot(form=Form.TOKEN, sources=("user",))}
    talk = said("Pay me.").looked_up("get", {"iban": "DE02 1203"})
    found = origin(talk, "pay", "iban", "DE02 1203", slots=slots)
    assert (found.verdict, "it must come from user" in found.why) == ("source_policy", True)
    assert origin(said("To DE02 1203."), "pay", "iban", "DE02 1203", slots=slots).verdict == "exact"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Refunded order 4412.", "partial"),
        ("Refunded pay_7Q2M9XKD.", "partial"),
        ("Refunded pay_7Q2M9XKB.", "near_miss"),
        ("Refunded pay_ZZZZ0000.", "invented"),
        ("Mail to nobody@mail.test.", "invented"),
        ("See payment pay_4T8ZB3WN.", "unseen_real"),
    ],
)
def test_ids_inside_free_text_are_checked_too(text: str, verdict: str) -> None:
    talk = said(f"It is {LAMP.raw} of order 4412.")
    assert origin(talk, "add_note", "text", text, bindings=BOUND).verdict == verdict


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [("127 * 2 + 30", "partial"), ("164 + 30", "invented"), ("-6594 + 3", "partial")],
)
def test_an_expression_computes_with_seen_numbers_only(expression: str, verdict: str) -> None:
    talk = said("How much?").looked_up("search", {"price": 127, "refund": -6594})
    assert origin(talk, "calculate", "expression", expression).verdict == verdict


def test_a_tenant_that_nobody_named_is_made_up() -> None:
    found = origin(said("Find Lee."), "search", "tenant", "globex")
    assert (found.verdict, found.why) == ("invented", "made up: nobody named this tenant")


# -- asserting it --------------------------------------------------------------------------------------------


def test_a_test_can_ask_where_an_argument_came_from() -> None:
    talk = said("Order 4412.").looked_up("list_payments", {"payments": [{"id": LAMP.raw}]})
    run = trajectory(talk, "refund", {"payment_id": LAMP.raw, "lines": [{"sku": "A"}]}, bindings=BOUND)
    traced = argument_of(run, provenance(run), "refund", "payment_id")
    assert traced.came_from("list_payments", "/payments/0/id")
    assert not traced.came_from("list_payments", "/payments/1/id")
    assert not traced.said_by_user()
    assert traced.is_("$payment.lamp")
    assert repr(traced) == f"<{traced.line}>"
    assert argument_of(run, provenance(run), "refund", "lines[0].sku").pointer == "/lines/0/sku"
    with pytest.raises(
        LookupError, match="refund was called 1 times, not 2; the calls were: list_payments, refund"
    ):
        argument_of(run, provenance(run), "refund", "payment_id", nth=2)
    with pytest.raises(LookupError, match=r"has no 'order_id'; it has payment_id, lines\[0\].sku"):
        argument_of(run, provenance(run), "refund", "order_id")


def test_what_was_committed_weighs_more_and_a_made_up_search_word_less() -> None:
    found = origin(said("Hi."), "refund", "payment_id", "pay_ZZZZ0000", writes=True)
    assert (found.committed, found.weight) == (False, 0)
    word = origin(said("Hi."), "search", "name", "Nobody Here", writes=False)
    assert (word.verdict, word.weight) == ("invented", -1)


def test_verdicts_are_grounded_or_not() -> None:
    assert {one for one in Verdict if one.grounded}.isdisjoint({Verdict.INVENTED, Verdict.STALE})
    assert Verdict.WEAK.grounded
    assert isinstance(origin(said("Hi."), "a", "b_id", "x1"), Traced)
