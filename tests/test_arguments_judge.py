"""Arguments against what the scenario wants, and where ids come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from trails import ASKED, attempt, batch, books, call, offer, one, reads, said, told, trail, writes

from sandtrail.ledgers import Access, Effect
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import Briefed, Decided, Message, ToolCall, Truncated, UserSaid
from sandtrail.ledgers.entries import Change
from sandtrail.ledgers.specs import OperationFact, Slot
from sandtrail.ledgers.trajectory import ToolFact, Trajectory
from sandtrail.scenarios import Contract, WantedArgument
from sandtrail.scenarios.arguments import arguments
from sandtrail.scenarios.contract import ArgumentsPolicy, Compare

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "payment_id": {"type": "string"},
        "amount": {"type": "integer"},
        "date": {"type": "string"},
    },
}
REFUND = writes("refund", slots={"payment_id": Slot("payment"), "amount": Slot(unit="minor")})
OFFER = offer(REFUND, reads("find", slots={"ids": Slot("payment")}), refund=SCHEMA)
BOUND = (
    Binding("$payment.lamp", "pay_7Q2M9XKD", "payment"),
    Binding("$payment.mat", "pay_4T8ZB3WN", "payment"),
    Binding("$order.lamp", "ord_6F1CD5RJ", "order"),
)
LAMP, MAT, ORDER = (one.raw for one in BOUND)
SHOWN = UserSaid(f"Look at {LAMP}, {MAT} and {ORDER}.")


def bound(*pages: Any) -> Ledger:
    book = Book("hand", {}, BOUND)
    book.pages.extend(books(*pages).pages)
    return Ledger(book)


def judged(contract: Contract, *messages: Message | Sequence[Message], **more: Any) -> list[tuple[str, str]]:
    return said(arguments(contract, talk(*messages, **more)))


def talk(*messages: Message | Sequence[Message], ledger: Ledger | None = None, **more: Any) -> Trajectory:
    return trail(*messages, ledger=ledger or bound(), **{"offers": (OFFER,), **more})


def wants(name: str, value: Any = None, **more: Any) -> Contract:
    wanted = (
        WantedArgument("refund", name, value, **more)
        if value is not None
        else WantedArgument("refund", name, **more)
    )
    return Contract(arguments=(wanted,))


# -- the schema ------------------------------------------------------------------------------------------


def test_text_that_is_no_object_is_said_with_the_text_and_nothing_else() -> None:
    broken = ToolCall.read("c1", "refund", '{"payment_id": \\n"p"}')
    (finding,) = arguments(wants("payment_id", "$payment.lamp", optional=False), talk(SHOWN, batch(broken)))
    assert (finding.code, finding.at) == ("args.malformed", "call 1")
    assert finding.evidence == ('{"payment_id": \\n"p"}',)


def test_a_flaw_stands_at_its_pointer() -> None:
    assert judged(Contract(), SHOWN, batch(call("refund", amount="5"))) == [("args.type", "call 1/amount")]


def test_a_call_that_was_cut_off_or_whose_tool_is_not_known_has_no_schema() -> None:
    cut = Decided(Truncated("", (call("refund", amount="5"),)))
    assert judged(Contract(), SHOWN, cut) == []
    assert judged(Contract(), SHOWN, batch(call("refund", amount="5")), offers=()) == []
    assert judged(Contract(), SHOWN, batch(call("refnd", amount="5"))) == []


def test_a_contract_can_close_every_schema() -> None:
    asked = batch(call("refund", force=True))
    assert judged(Contract(closed=True), SHOWN, asked) == [("args.unknown_field", "call 1/force")]
    assert judged(Contract(), SHOWN, asked) == [("args.undeclared", "call 1/force")]


# -- wanted values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "given", "codes"),
    [
        (wants("amount", 500), {"amount": 500}, []),
        (wants("amount", 500), {"amount": 510}, ["args.wrong_value"]),
        (wants("amount", 500), {"amount": 50000}, ["money.scale"]),
        (wants("amount", 500), {"amount": "500"}, ["args.type"]),
        (wants("amount", 500), {}, []),
        (wants("amount", 500, optional=False), {}, ["args.missing_required"]),
        (wants("amount", absent=True), {"amount": 1}, ["args.must_be_absent"]),
        (wants("amount", absent=True), {}, []),
        (wants("amount"), {"amount": 1}, []),
        (wants("amount", 500, compare=Compare.IGNORED), {"amount": 1}, []),
        (wants("date", "A B", compare=Compare.NORMALISED), {"date": " a  b"}, []),
        (wants("date", "2026-03-03"), {"date": "2026-03-02"}, ["time.wrong_day"]),
        (wants("date", "2026-03-03T00:00:00Z"), {"date": "2026-03-03T01:00:00Z"}, ["time.boundary"]),
        (wants("date", "soon"), {"date": "2026-03-02"}, ["args.wrong_value"]),
        (wants("date", "soon"), {"date": 5}, ["args.type"]),
    ],
)  # fmt: skip
def test_a_value_is_held_against_the_wanted_one(
    wanted: Contract, given: Mapping[str, Any], codes: list[str]
) -> None:
    assert [code for code, _ in judged(wanted, SHOWN, batch(call("refund", 1, **given)))] == codes


def test_a_converted_value_is_held_against_the_wanted_one_as_what_it_became() -> None:
    coerce = Contract(
        arguments=(WantedArgument("refund", "amount", 500),), arguments_policy=ArgumentsPolicy.COERCE
    )
    assert judged(coerce, SHOWN, batch(call("refund", amount="500"))) == [("args.coerced", "call 1/amount")]
    codes = [code for code, _ in judged(coerce, SHOWN, batch(call("refund", amount="501")))]
    assert codes == ["args.coerced", "args.wrong_value"]


def test_a_factor_of_ten_is_only_money_where_the_argument_is() -> None:
    plain = offer(writes("refund"), refund=SCHEMA)
    asked = batch(call("refund", amount=50))
    assert judged(wants("amount", 500), SHOWN, asked, offers=(plain,)) == [
        ("args.wrong_value", "call 1/amount")
    ]
    money = wants("amount", 500, currency="USD")
    assert judged(money, SHOWN, asked, offers=(plain,)) == [("money.scale", "call 1/amount")]


def test_a_tool_is_wanted_by_the_name_that_the_scenario_gives_it() -> None:
    renamed = offer(ToolFact("refund", OperationFact("refund", "billing", Access.WRITE)))
    renamed.tools["shown"] = renamed.tools["refund"]  # type: ignore[index]
    assert judged(wants("amount", 5), SHOWN, batch(call("shown", amount=6)), offers=(renamed,)) == [
        ("args.wrong_value", "call 1/amount")
    ]


# -- wanted entities -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "codes"),
    [
        (LAMP, []),
        (MAT, ["provenance.wrong_binding"]),
        (ORDER, ["provenance.wrong_kind"]),
        ("pay_7Q2M9XKX", ["provenance.near_miss"]),
        ("pay_EXAMPLE", ["provenance.schema_example"]),
        ("PAY-1234567890", ["provenance.invented"]),
        ("Look", ["args.wrong_value"]),
        (5, ["args.type"]),
    ],
)
def test_an_entity_is_the_wanted_one_or_wrong_in_its_own_way(value: Any, codes: list[str]) -> None:
    schema = {"type": "object", "properties": {"payment_id": {"type": "string", "examples": ["pay_EXAMPLE"]}}}
    offers = (offer(REFUND, refund=schema),)
    found = judged(
        wants("payment_id", "$payment.lamp"), SHOWN, batch(call("refund", payment_id=value)), offers=offers
    )
    assert [code for code, _ in found] == codes


def test_an_entity_is_judged_without_a_catalog_too() -> None:
    asked = batch(call("refund", payment_id="pay_EXAMPLE"))
    found = judged(wants("payment_id", "$payment.lamp"), SHOWN, asked, offers=())
    assert found == [("provenance.invented", "call 1/payment_id")]


def test_an_example_in_the_tools_own_words_is_one_too() -> None:
    spec = offer(REFUND, refund=SCHEMA)
    found = judged(Contract(), SHOWN, batch(call("refund", payment_id="refund")), offers=(spec,))
    assert found == [("provenance.schema_example", "call 1/payment_id")]


# -- ids with a slot -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shown", "value", "codes"),
    [
        (SHOWN, LAMP, []),
        (SHOWN, ORDER, ["provenance.wrong_kind"]),
        (ASKED, LAMP, ["provenance.unseen_real"]),
        (ASKED, "pay_7Q2M9XKX", ["provenance.near_miss"]),
        (ASKED, "pay_7Q2M9X", ["provenance.near_miss"]),
        (ASKED, "pay_0000", ["provenance.invented"]),
        (UserSaid("It is pay_0000."), "pay_0000", []),
        (Briefed(f"The payment is {LAMP}."), LAMP, []),
        (ASKED, 7, ["args.type"]),
    ],
)
def test_an_id_must_have_been_shown_and_be_of_its_kind(shown: Message, value: Any, codes: list[str]) -> None:
    assert [code for code, _ in judged(Contract(), shown, batch(call("refund", payment_id=value)))] == codes


def test_each_id_of_a_list_is_looked_at() -> None:
    asked = batch(call("find", ids=[LAMP, ORDER, "pay_0000", 7]))
    assert judged(Contract(), SHOWN, asked) == [
        ("provenance.wrong_kind", "call 1/ids/1"),
        ("provenance.invented", "call 1/ids/2"),
    ]


def test_an_id_in_a_result_counts_for_later_steps_and_not_for_its_own_batch() -> None:
    asked = call("find", 1)
    later = talk(ASKED, batch(asked), told(asked, {"id": LAMP}), batch(call("refund", 2, payment_id=LAMP)))
    assert said(arguments(Contract(), later)) == []
    text = talk(
        ASKED, batch(asked), told(asked, f"the id is {LAMP}"), batch(call("refund", 2, payment_id=LAMP))
    )
    assert said(arguments(Contract(), text)) == []
    both = talk(ASKED, batch(asked, call("refund", 2, payment_id=LAMP)), told(asked, {"id": LAMP}))
    assert said(arguments(Contract(), both)) == [("provenance.unseen_real", "call 2/payment_id")]


def test_an_id_in_a_key_that_json_hides_is_found_as_a_leaf() -> None:
    odd = "a/b\u00e9-1"
    asked = call("find", 1)
    seen = talk(ASKED, batch(asked), told(asked, {"id": odd}), batch(call("refund", 2, payment_id=odd)))
    assert said(arguments(Contract(), seen)) == []


# -- sources ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "codes"), [("find", []), ("user", []), ("list", ["provenance.source_policy"])]
)
def test_a_value_must_come_from_where_the_scenario_says(source: str, codes: list[str]) -> None:
    asked = call("find", 1)
    wanted = wants("amount", 500, sources=(source,))
    seen = talk(
        UserSaid("Refund 5.00."), batch(asked), told(asked, {"a": 500}), batch(call("refund", 2, amount=500))
    )
    assert [code for code, _ in said(arguments(wanted, seen))] == codes


def test_a_value_that_stood_nowhere_came_from_nowhere() -> None:
    (finding,) = arguments(wants("amount", sources=("find",)), talk(ASKED, batch(call("refund", amount=77))))
    assert "nowhere before" in finding.reason


def test_a_renamed_source_keeps_the_name_that_the_scenario_knows() -> None:
    before = offer(REFUND, reads("find"))
    before.tools["lookup"] = ToolFact("find")  # type: ignore[index]
    asked = call("lookup", 1)
    seen = talk(
        ASKED, batch(asked), told(asked, {"a": 500}), batch(call("refund", 2, amount=500)), offers=(before,)
    )
    assert said(arguments(wants("amount", 500, sources=("find",)), seen)) == []
    later = offer(REFUND, reads("find"), step=1)
    moved_on = talk(
        ASKED,
        batch(asked),
        told(asked, {"a": 500}),
        batch(call("refund", 2, amount=500)),
        offers=(before, later),
    )
    assert said(arguments(wants("amount", 500, sources=("find",)), moved_on)) == []
    blind = talk(
        ASKED, batch(asked), told(asked, {"a": 500}), batch(call("refund", 2, amount=500)), offers=()
    )
    assert said(arguments(wants("amount", 500, sources=("lookup",)), blind)) == []


# -- values that were right once -------------------------------------------------------------------------


def moved(seq: int) -> tuple[Any, tuple[Effect | Change, ...]]:
    row = Change(1, "payment", "$payment.lamp", ("id", "amount"), ("p", 300), ("p", 500))
    return attempt(seq, "change"), (row,)


def test_a_value_that_has_changed_before_the_call_is_stale() -> None:
    asked = call("find", 1)
    steps: list[Message] = [batch(asked), told(asked, attempt=1)]
    late = talk(ASKED, steps, one(call("refund", 2, amount=300), attempt=2), ledger=bound(moved(1)))
    assert said(arguments(wants("amount", 500), late)) == [("provenance.stale", "call 2/amount")]
    unanswered = talk(ASKED, steps, batch(call("refund", 2, amount=300)), ledger=bound(moved(1)))
    assert said(arguments(wants("amount", 500), unanswered)) == [("provenance.stale", "call 2/amount")]


def test_a_value_that_changes_only_afterwards_is_merely_wrong() -> None:
    early = talk(ASKED, one(call("refund", amount=300), attempt=1), ledger=bound(moved(1)))
    assert said(arguments(wants("amount", 500), early)) == [("args.wrong_value", "call 1/amount")]
    blocked = talk(
        ASKED, batch(call("refund", amount=300)), one(call("find", 2), attempt=2), ledger=bound(moved(2))
    )
    assert said(arguments(wants("amount", 500), blocked)) == [("args.wrong_value", "call 1/amount")]


def test_true_and_nothing_are_never_stale() -> None:
    flag = ToolFact("flag", OperationFact("flag", "orders", Access.WRITE))
    contract = Contract(arguments=(WantedArgument("flag", "on", "x"),))
    seen = talk(ASKED, one(call("flag", on=True), attempt=2), ledger=bound(moved(1)), offers=(offer(flag),))
    assert said(arguments(contract, seen)) == [("args.wrong_value", "call 1/on")]


def test_a_new_row_makes_no_value_stale() -> None:
    row = Change(1, "payment", "$payment.lamp", ("id", "amount"), None, ("p", 300))
    seen = talk(ASKED, one(call("refund", amount=300), attempt=2), ledger=bound((attempt(1, "add"), (row,))))
    assert said(arguments(wants("amount", 500), seen)) == [("args.wrong_value", "call 1/amount")]
