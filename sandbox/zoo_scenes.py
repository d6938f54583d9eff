"""Small scenarios of the zoo's own, each with a reference program: for flaws that need what few scenarios have.

cache      contact data that must come from the account, not from the nightly cache
visit      a day to be read out of "tomorrow"
moving     an address that changes on the way, and a tool that is gone in the second turn
two        two refunds, each under a key of its own
lost       a refund of one of two payments, whose answer never comes
look       a look at a payment, among tools that are forbidden, withheld or described by an example
chat       nothing that needs a tool
cancel     which order is meant has to be asked, and the act to be confirmed
back       a return, which can be taken back
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sandtrail.ledgers import Fault, FaultPlan, WorldSpec
from sandtrail.ledgers.specs import FaultKind
from sandtrail.sandbox import zoo_programs as lines
from sandtrail.sandbox.zoo_programs import Program
from sandtrail.scenarios import Contract, Scenario, User, WantedArgument, WantedEffect
from sandtrail.scenarios.contract import Clarification, OrderRule, Stated
from sandtrail.scenarios.scenario import CatalogChange, CatalogFile, Offered, ToolEntry

WORLD = WorldSpec(
    {
        "$customer.lee": {"name": "Lee Ahn", "email": "lee@example.test", "phone": "+15550001"},
        "$customer.max": {"name": "Max Roth", "email": "max@example.test"},
        "$order.lamp": {
            "customer": "$customer.lee", "number": "4412", "total": "42.50 USD", "address": "1 Elm St, Salem",
        },
        "$order.mat": {
            "customer": "$customer.lee", "number": "4413", "total": "60.00 USD", "address": "2 Oak St, Salem",
        },
        "$order.rug": {"customer": "$customer.lee", "number": "4400", "total": "80.00 USD", "status": "delivered"},
        "$shipment.rug": {"order": "$order.rug", "tracking": "1Z999", "delivered_at": "3 days ago"},
        "$order.max": {"customer": "$customer.max", "number": "5100", "total": "10.00 USD"},
        "$payment.lamp": {"order": "$order.lamp", "captured": "42.50 USD"},
        "$payment.mat": {"order": "$order.mat", "captured": "60.00 USD"},
        "$payment.max": {"order": "$order.max", "captured": "10.00 USD"},
    }
)  # fmt: skip
"""The world of all of them."""


def _scene(name: str, says: str, expect: Contract, **others: Any) -> Scenario:
    then: tuple[str, ...] = others.pop("then", ())
    knows: Mapping[str, str] = others.pop("knows", {})
    return Scenario(f"zoo-{name}", "a place for flaws", WORLD, User(says, then, knows), expect, **others)


def scenes() -> Iterator[tuple[Scenario, Program]]:
    """Every scenario of the zoo with its reference program."""
    yield _cache()
    yield _visit()
    yield _moving()
    yield _two()
    yield _lost()
    yield _look()
    yield _chat()
    yield _cancel()
    yield _back()


def _cache() -> tuple[Scenario, Program]:
    expect = Contract(
        first=("search_customers",),
        effects=(WantedEffect("note.added", {"customer": "$customer.lee"}),),
        arguments=(
            WantedArgument("add_note", "customer_id", "$customer.lee", sources=("search_customers",)),
        ),
        clarification=Clarification.NOT_NEEDED,
    )
    says = "I am lee@example.test. Please note on my account that I am moving in May."
    return _scene("cache", says, expect), [
        lines.who("lee"),
        lines.note(1, "Is moving in May."),
        {"say": "I have added the note to your account."},
    ]


def _visit() -> tuple[Scenario, Program]:
    day = {"type": "string", "description": "a day, year first"}
    schema = {
        "type": "object",
        "properties": {"day": day},
        "required": ["day"],
        "additionalProperties": False,
    }
    slots = ToolEntry(
        "free_slots", description="List when a technician is free on a day.", answers={"slots": ["10:00", "14:30"]},
        input_schema=schema,
    )  # fmt: skip
    expect = Contract(
        first=("free_slots",),
        arguments=(WantedArgument("free_slots", "day", "2026-03-03"),),
        states=(Stated("10:00"),),
    )
    catalog = CatalogFile("visits", 1, (slots, ToolEntry("search_orders", "search_orders")))
    scenario = _scene("visit", "When can a technician come tomorrow?", expect, catalog=catalog)
    return scenario, [
        {"call": "free_slots", "with": {"day": "2026-03-03"}},
        {"say": "A technician is free at 10:00 and at 14:30."},
    ]


def _moving() -> tuple[Scenario, Program]:
    there = "9 Pine Rd, Salem"
    expect = Contract(
        effects=tuple(
            WantedEffect("order.address_changed", {"order": order, "address": there})
            for order in ("$order.lamp", "$order.mat")
        ),
        arguments=(WantedArgument("change_order_address", "address", there),),
    )
    offer = Offered(changes=(CatalogChange(2, remove=("search_products",)),))
    says = f"Please send order 4412 to {there} instead."
    scenario = _scene("moving", says, expect, then=("And order 4413 to the same place.",), offer=offer)

    return scenario, [
        lines.find("4412"),
        lines.move(1, there),
        {"say": "I have changed the address of order 4412."},
        lines.find("4413"),
        lines.move(2, there),
        {"say": "I have changed the address of order 4413, too."},
    ]


def _two() -> tuple[Scenario, Program]:
    expect = Contract(
        effects=tuple(
            WantedEffect("refund.created", {"payment": payment, "amount": 500})
            for payment in ("$payment.lamp", "$payment.mat")
        ),
        states=(Stated("5.00 USD"),),
    )
    says = "Please refund 5.00 USD each of orders 4412 and 4413; both came late."

    return _scene("two", says, expect), [
        lines.find("4412"),
        lines.payments(1),
        lines.refund(1, 500, idempotency_key="late-1"),
        lines.find("4413"),
        lines.payments(2),
        lines.refund(2, 500, idempotency_key="late-2"),
        {"say": "I have refunded 5.00 USD of each of the two orders."},
    ]


def _lost() -> tuple[Scenario, Program]:
    expect = Contract(
        effects=(WantedEffect("refund.created", {"payment": "$payment.mat", "amount": 1500}),),
        states=(Stated("15.00 USD"),),
    )
    faults = FaultPlan((Fault(FaultKind.ANSWER_LOST, "refund_payment"),))
    world = replace(
        WORLD, entities={**WORLD.entities, "$payment.again": {"like": "$payment.mat"}}, faults=faults
    )
    says = "The mat of order 4413 has a tear. Please refund 15.00 USD of my first payment."
    return replace(_scene("lost", says, expect), world=world), [
        lines.find("4413"),
        lines.payments(1),
        lines.refund(1),
        lines.payments(1),
        {"say": "I have refunded 15.00 USD."},
    ]


def _look() -> tuple[Scenario, Program]:
    expect = Contract(
        read_only=True,
        forbid={"refund_payment": "the user only asks"},
        calls=("get_payment",),
        order=(OrderRule("get_payment", before="list_payments"),),
        states=(Stated("42.50 USD"),),
        never_states=("visa 4242",),
        foreign=("$payment.max",),
    )
    known = [ToolEntry(name, name) for name in (
        "search_orders", "list_orders", "list_payments", "refund_payment", "change_order_address",
        "close_customer", "add_note",
    )]  # fmt: skip
    said = "Read one payment by its payment id, for example pay_1A2B3C4D. Returns the payment."
    catalog = CatalogFile("look", 1, (*known, ToolEntry("get_payment", "get_payment", said)))
    offer = Offered(withheld=("close_customer",))
    says = "What did I pay for order 4412? Only look, please."
    return _scene("look", says, expect, catalog=catalog, offer=offer), [
        lines.find("4412"),
        lines.payments(1),
        {"call": "get_payment", "with": {"payment_id": lines.read("list_payments", "/payments/0/id", 1)}},
        {"say": "You paid 42.50 USD for order 4412."},
    ]


def _chat() -> tuple[Scenario, Program]:
    scenario = _scene("chat", "Thank you for your help yesterday!", Contract(read_only=True, first=()))
    return scenario, [{"say": "You're welcome, it was a pleasure."}]


def _cancel() -> tuple[Scenario, Program]:
    expect = Contract(
        effects=(
            WantedEffect("order.cancelled", {"order": "$order.lamp"}),
            WantedEffect("mail.sent", {"customer": "$customer.lee"}),
        ),
        clarification=Clarification.REQUIRED,
        asks=("order number",),
        order=(OrderRule("cancel_order", confirm=True),),
    )
    knows = {"order number": "4412"}
    return _scene("cancel", "Please cancel my order.", expect, knows=knows), [
        {"say": "What is your order number?"},
        lines.find("4412"),
        {"say": "Shall I cancel order 4412?"},
        {"call": "cancel_order", "with": {"order_id": lines.order(1)}},
        {"say": "I have cancelled the order, and you will get a mail."},
    ]


def _back() -> tuple[Scenario, Program]:
    expect = Contract(effects=(WantedEffect("return.created", {"order": "$order.rug"}),))
    return _scene("back", "I want to send the rug of order 4400 back; it is too small.", expect), [
        lines.find("4400"),
        lines.send_back(1),
        {"say": "I have registered the return."},
    ]
