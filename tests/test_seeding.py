"""A specification becomes rows, or says which symbol and field is wrong and what is near."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Annotated, Any, ClassVar

import pytest

from sandtrail.fakes import SERVICES, Entity, Id, Ref, Service, World
from sandtrail.fakes.billing import Invoice, Payment, Posting
from sandtrail.fakes.customers import Customer, CustomerCache, Login
from sandtrail.fakes.orders import Order, Product, Shipment
from sandtrail.fakes.seeding import BadSeed
from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.specs import DEFAULT_NOW
from worlds import ENTITIES, world

Entities = Mapping[str, Mapping[str, Any]]

LEE: Entities = {"$customer.lee": {"name": "Lee Ahn", "email": "lee@example.test"}}
SUE: Entities = {"$customer.sue": {"name": "Sue South", "email": "sue@example.test", "tenant": "south"}}


class Node(Entity, table=True):
    """What may refer to its like."""

    id: Annotated[str, Id("node")]
    parent_id: Annotated[str | None, Ref("node")] = None
    flag: bool = False


class Nodes(Service):
    """A service of one table."""

    name = "nodes"
    entities: ClassVar = (Node,)


def opened(entities: Entities, **rest: Any) -> World:
    return World.open(WorldSpec(entities, **rest), services=SERVICES)


def refused(entities: Entities) -> BadSeed:
    with pytest.raises(BadSeed) as caught:
        opened(entities)
    return caught.value


def one(here: World, entity: type[Any], symbol: str) -> Any:
    (row,) = here.rows(entity, id=symbol)
    return row


# -- what is wrong with a specification --------------------------------------------------------------------

BAD: list[tuple[Entities, str, str | None, str]] = [
    ({"$custmer.lee": {}}, "$custmer.lee", None, "no entity kind 'custmer' in the services of this world; did you mean customer?"),
    ({"$zzz.lee": {}}, "$zzz.lee", None, "no entity kind 'zzz' in the services of this world; known are customer, address, note, "),
    ({"$customer.lee": {"nmae": "Lee"}}, "$customer.lee", "nmae", "customer has no field 'nmae'; did you mean name?"),
    ({"$customer.lee": {"zzz": 1}}, "$customer.lee", "zzz", "customer has no field 'zzz'; known are id, tenant, name, email, "),
    ({"$customer.lee": {"name": "Lee"}}, "$customer.lee", None, "needs email"),
    ({"$customer.lee": {}}, "$customer.lee", None, "needs name, email"),
    ({"$customer.lee": {"name": 5, "email": "e"}}, "$customer.lee", "name", "5 is a int; wanted str"),
    ({"$customer.lee": {"name": None, "email": "e"}}, "$customer.lee", "name", "None is a NoneType; wanted str"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "stock": "ten"}}, "$product.lamp", "stock", "'ten' is a str; wanted int"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "stock": True}}, "$product.lamp", "stock", "True is a bool; wanted int"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "stock": 1.0}}, "$product.lamp", "stock", "1.0 is a float; wanted int"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "stock": 2**63}}, "$product.lamp", None, "does not fit 64 bits"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "price": "42.50"}}, "$product.lamp", "price", "'42.50' is no amount; write for example 42.50 USD"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "price": "42.505 USD"}}, "$product.lamp", "price", "42.505 has 3 decimals, USD has 2"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "price": "42.50 usd"}}, "$product.lamp", "price", "currency='usd' is not known; known are "),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "price": "much USD"}}, "$product.lamp", "price", "'much' is no amount of money"),
    ({"$product.lamp": {"name": "Lamp", "sku": "L", "price": 42.5}}, "$product.lamp", "price", "42.5 is a float; wanted int"),
    ({**LEE, "$login.lee": {"customer": "lee", "email": "e"}}, "$login.lee", "customer", "'lee' is no symbol of a customer; write $customer.name"),
    ({**LEE, "$login.lee": {"customer": 5, "email": "e"}}, "$login.lee", "customer", "5 is no symbol of a customer; write $customer.name"),
    ({**LEE, "$login.lee": {"customer_id": "$customer.", "email": "e"}}, "$login.lee", "customer_id", "'$customer.' is no symbol of a customer"),
    ({**LEE, "$login.lee": {"customer": "$order.lamp", "email": "e"}}, "$login.lee", "customer", "'$order.lamp' is no symbol of a customer"),
    ({**LEE, "$login.lee": {"customer": None, "email": "e"}}, "$login.lee", "customer", "None is a NoneType; wanted str"),
    ({**LEE, "$login.lee": {"customer": "$customer.le", "email": "e"}}, "$login.lee", "customer", "$customer.le is not defined; did you mean $customer.lee?"),
    ({**LEE, "$login.lee": {"like": "$login.le"}}, "$login.lee", "like", "$login.le is not defined; did you mean $login.lee?"),
    ({**LEE, "$login.lee": {"like": "$customer.lee"}}, "$login.lee", "like", "'$customer.lee' is no other login"),
    ({**LEE, "$customer.max": {"like": "lee"}}, "$customer.max", "like", "'lee' is no other customer"),
    ({**LEE, "$customer.max": {"like": 5}}, "$customer.max", "like", "5 is no other customer"),
    ({"$customer.lee": {"like": "$customer.lee"}}, "$customer.lee", "like", "is like itself through $customer.lee -> $customer.lee"),
    (
        {"$customer.a": {"like": "$customer.b"}, "$customer.b": {"like": "$customer.c"}, "$customer.c": {"like": "$customer.a"}},
        "$customer.c", "like", "is like itself through $customer.a -> $customer.b -> $customer.c -> $customer.a",
    ),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "2026-03-02T09:00:00"}}, "$login.lee", "last_seen_at", "2026-03-02T09:00:00 has no zone; end it with Z or an offset such as +01:00"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "2026-03-02"}}, "$login.lee", "last_seen_at", "2026-03-02 has no zone"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": datetime(2026, 3, 2)}}, "$login.lee", "last_seen_at", "2026-03-02T00:00:00 has no zone"),  # noqa: DTZ001  what must be refused
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "yesterday"}}, "$login.lee", "last_seen_at", "yesterday"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "3 fortnights ago"}}, "$login.lee", "last_seen_at", "'3 fortnights' is no length of time"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "in 0 days"}}, "$login.lee", "last_seen_at", "time moves forward only"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "999999 weeks ago"}}, "$login.lee", "last_seen_at", "999999 weeks"),
    ({**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": 5}}, "$login.lee", "last_seen_at", "5 is a int; wanted datetime"),
    ({**LEE, "$invoice.x": {"customer": "$customer.lee", "number": "1", "total": "5.00 USD", "due": "5.00 EUR"}}, "$invoice.x", "due", "EUR"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entities", "symbol", "field", "reason"),
    BAD,
    ids=[f"{symbol} {reason}"[:60] for _, symbol, _, reason in BAD],
)
def test_an_entity_that_cannot_be_made_is_named_with_its_field_and_what_is_near(
    entities: Entities, symbol: str, field: str | None, reason: str
) -> None:
    error = refused(entities)
    assert (error.symbol, error.field) == (symbol, field)
    assert str(error).startswith(f"{symbol}{f'.{field}' if field else ''}: ")
    assert reason in str(error)


def test_an_id_is_its_symbol_and_no_field() -> None:
    error = refused({"$customer.lee": {"id": "$customer.max", "name": "Lee", "email": "e"}})
    assert (error.symbol, error.field) == ("$customer.lee", "id")
    assert "did you mean id" not in str(error)


@pytest.mark.parametrize(
    "symbol",
    [
        "customer.lee",
        "$customer",
        "$customer.",
        "$Customer.lee",
        "$customer.1",
        "$customer.lee ahn",
        "$.lee",
        "",
    ],
)
def test_what_is_no_symbol_makes_no_specification(symbol: str) -> None:
    with pytest.raises(ValueError, match=r"is no symbol; write .* with a name that is not a number"):
        WorldSpec({symbol: {}})


def test_a_specification_with_a_naive_clock_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^now=2026-03-02T00:00:00 is naive; give it a zone"):
        WorldSpec(now=datetime(2026, 3, 2))  # noqa: DTZ001  what must be refused


def test_references_in_a_circle_are_named_in_order() -> None:
    nodes = {
        "$node.a": {"parent": "$node.b"},
        "$node.b": {"parent": "$node.c"},
        "$node.c": {"parent": "$node.a"},
    }
    with pytest.raises(
        BadSeed,
        match=r"^\$node\.a.*: refers to itself through \$node\.a -> \$node\.b -> \$node\.c -> \$node\.a$",
    ):
        World.open(WorldSpec(nodes), services=[Nodes])


# -- what a specification becomes --------------------------------------------------------------------------


def test_a_reference_may_leave_out_its_id_and_point_forward() -> None:
    entities = {
        "$payment.lamp": {"order": "$order.lamp", "captured": "42.50 USD"},
        "$order.lamp": {"customer_id": "$customer.lee", "number": "4412"},
        **LEE,
    }
    with opened(entities) as here:
        payment = one(here, Payment, "$payment.lamp")
        assert (payment.order_id, payment.customer_id) == ("$order.lamp", "$customer.lee")
        assert here.ledger.verify() == []
        assert [binding.symbol for binding in here.ledger.bindings] == list(entities)


def test_like_copies_what_is_not_said_otherwise() -> None:
    entities = {
        **LEE,
        "$payment.second": {"like": "$payment.first", "card": "amex 1"},
        "$payment.first": {
            "customer": "$customer.lee",
            "captured": "42.50 EUR",
            "created_at": "3 days ago",
            "status": "disputed",
        },
        "$payment.third": {"like": "$payment.second", "captured": "9800 JPY", "status": "succeeded"},
    }
    with opened(entities) as here:
        first, second, third = (
            one(here, Payment, f"$payment.{name}") for name in ("first", "second", "third")
        )
        assert second.model_dump() == {**first.model_dump(), "id": "$payment.second", "card": "amex 1"}
        assert (third.captured, third.currency, third.card, third.created_at) == (
            9800,
            "JPY",
            "amex 1",
            first.created_at,
        )
        assert third.status == "succeeded"


def test_tenant_and_customer_are_those_of_what_is_referred_to() -> None:
    entities = {
        **LEE,
        **SUE,
        "$order.sue": {"customer": "$customer.sue", "number": "1"},
        "$payment.sue": {"order": "$order.sue", "captured": "5.00 USD"},
        "$login.sue": {"customer": "$customer.sue", "email": "e"},
        "$shipment.sue": {"order": "$order.sue", "tracking": "1Z"},
        "$payment.moved": {"order": "$order.sue", "tenant": "north", "customer": "$customer.lee"},
        "$payment.loose": {"customer": "$customer.lee"},
    }
    with opened(entities) as here:
        assert one(here, Order, "$order.sue").tenant == "south"
        assert (
            one(here, Payment, "$payment.sue").tenant,
            one(here, Payment, "$payment.sue").customer_id,
        ) == ("south", "$customer.sue")
        assert one(here, Login, "$login.sue").tenant == "south"
        moved = one(here, Payment, "$payment.moved")
        assert (moved.tenant, moved.customer_id) == ("north", "$customer.lee")
        assert one(here, Payment, "$payment.loose").order_id is None
        owners = {binding.symbol: (binding.owner, binding.tenant) for binding in here.ledger.bindings}
        assert owners["$customer.sue"] == ("$customer.sue", "south")
        assert owners["$payment.sue"] == ("$customer.sue", "south")
        assert owners["$payment.moved"] == ("$customer.lee", "north")


def test_a_copy_that_refers_to_somebody_elses_order_is_theirs() -> None:
    entities = {
        **LEE,
        **SUE,
        "$order.lee": {"customer": "$customer.lee", "number": "1"},
        "$order.sue": {"customer": "$customer.sue", "number": "2"},
        "$payment.lee": {"order": "$order.lee", "captured": "5.00 USD"},
        "$payment.sue": {"like": "$payment.lee", "order": "$order.sue"},
    }
    with opened(entities) as here:
        payment = one(here, Payment, "$payment.sue")
        assert (payment.order_id, payment.customer_id, payment.tenant) == (
            "$order.sue",
            "$customer.sue",
            "south",
        )


@pytest.mark.parametrize(
    ("written", "minor", "currency"),
    [
        ("42.50 USD", 4250, "USD"),
        ("1.200,50 EUR", 120050, "EUR"),
        ("5,800 JPY", 5800, "JPY"),
        ("4.250 KWD", 4250, "KWD"),
        (4250, 4250, "USD"),
    ],
)
def test_money_is_written_as_people_write_it(written: str | int, minor: int, currency: str) -> None:
    with opened({"$product.lamp": {"name": "Lamp", "sku": "L", "price": written}}) as here:
        product = one(here, Product, "$product.lamp")
        assert (product.price, product.currency) == (minor, currency)


NOW = datetime(2026, 7, 1, 12, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("written", "instant"),
    [
        ("3 days ago", datetime(2026, 6, 28, 10, tzinfo=UTC)),
        ("in 2 hours", datetime(2026, 7, 1, 12, tzinfo=UTC)),
        ("1 hour 30 minutes ago", datetime(2026, 7, 1, 8, 30, tzinfo=UTC)),
        ("2026-03-02T09:00:00Z", datetime(2026, 3, 2, 9, tzinfo=UTC)),
        ("2026-03-02T09:00:00-08:00", datetime(2026, 3, 2, 17, tzinfo=UTC)),
        (NOW, NOW),
        (None, None),
    ],
)
def test_instants_are_written_absolute_or_from_the_worlds_present(
    written: Any, instant: datetime | None
) -> None:
    entities = {**LEE, "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": written}}
    with opened(entities, now=NOW) as here:
        assert one(here, Login, "$login.lee").last_seen_at == instant


def test_what_was_created_when_is_the_present_unless_it_is_said() -> None:
    entities = {
        **LEE,
        "$customer.old": {"name": "Old", "email": "old@example.test", "created_at": "200 days ago"},
    }
    with opened(entities) as here:
        assert one(here, Customer, "$customer.lee").created_at == DEFAULT_NOW
        assert one(here, Customer, "$customer.old").created_at == DEFAULT_NOW - timedelta(days=200)


def test_truth_values_are_written_as_such() -> None:
    with World.open(
        WorldSpec({"$node.a": {"flag": True}, "$node.b": {"parent": "$node.a"}}), services=[Nodes]
    ) as here:
        assert [(node.id, node.parent_id, node.flag) for node in here.rows(Node)] == [
            ("$node.a", None, True),
            ("$node.b", "$node.a", False),
        ]


def test_a_seeded_world_has_empty_books_and_money_that_adds_up() -> None:
    with world() as here:
        assert here.ledger.pages == ()
        assert here.ledger.changes(bookkeeping=True) == []
        assert here.ledger.verify() == []
        posted: dict[str, int] = {}
        for posting in here.rows(Posting):
            posted[posting.currency] = posted.get(posting.currency, 0) + posting.amount
        assert posted == {"USD": 0, "JPY": 0, "KWD": 0}
        due = sum(posting.amount for posting in here.rows(Posting, account="receivable"))
        assert due == sum(invoice.due for invoice in here.rows(Invoice))


def test_services_complete_what_a_specification_left_out_and_leave_what_it_says() -> None:
    stale = {
        "$customer_cache.lee": {"customer": "$customer.lee", "name": "Old Name", "email": "old@example.test"}
    }
    with opened({**LEE, **SUE, **stale}) as here:
        assert {row.customer_id: (row.name, row.tenant) for row in here.rows(CustomerCache)} == {
            "$customer.lee": ("Old Name", "north"),
            "$customer.sue": ("Sue South", "south"),
        }


def test_a_template_is_made_once_and_no_world_changes_it() -> None:
    with world() as here:
        here.call("update_customer", customer_id=here.id("$customer.lee"), name="Leo")
        with world() as there:
            assert one(there, Customer, "$customer.lee").name == "Lee Ahn"
            assert len(there.rows(Shipment)) == sum(symbol.startswith("$shipment.") for symbol in ENTITIES)


def test_two_specifications_that_differ_in_the_clock_alone_differ_in_their_rows() -> None:
    entities = {
        **LEE,
        "$login.lee": {"customer": "$customer.lee", "email": "e", "last_seen_at": "3 days ago"},
    }
    with opened(entities) as here, opened(entities, now=NOW) as there:
        difference = (
            one(there, Login, "$login.lee").last_seen_at - one(here, Login, "$login.lee").last_seen_at
        )
        assert difference == NOW - DEFAULT_NOW


@pytest.mark.parametrize("count", [1, 25])
def test_a_population_adds_unnamed_customers_with_an_order_and_a_payment_each(count: int) -> None:
    with opened(LEE, population=count) as here:
        assert len(here.rows(Customer)) == count + 1
        assert len(here.rows(Order)) == len(here.rows(Payment)) == count
        assert here.ledger.verify() == []
        assert here.ledger.pages == ()
