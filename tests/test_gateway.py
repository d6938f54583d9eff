"""The gateway: all that a handler sees of the store, narrowed to what its principal may see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.fakes import SERVICES, Entity, Id, NotFound, Tx
from sandtrail.fakes.billing import Invoice, Payment
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.customers import Address, Customer, CustomerCache, Login
from sandtrail.fakes.gateway import AtLeast, AtMost, BadWrite, Contains, OneOf, Same
from sandtrail.fakes.image import template
from sandtrail.fakes.orders import Message, Order, Product
from sandtrail.fakes.store import Store
from sandtrail.ledgers import Effect, Outcome, Principal, WorldSpec
from sandtrail.ledgers.entries import RowClaim
from sandtrail.ledgers.specs import DEFAULT_NOW
from worlds import ENTITIES, LEE, NORTH, SUPPORT, world

EVERYBODY = Principal("world", tenants=("*",))


class Elsewhere(Entity, table=True):
    """A table that no service of these worlds has."""

    id: Annotated[str, Id("elsewhere")]


def no_sibling(tx: Tx, name: str, arguments: Mapping[str, Any]) -> Any:
    raise AssertionError(f"{tx}, {name}, {arguments}: these tests call no sibling")


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(template(WorldSpec(ENTITIES), SERVICES).image)
    yield made
    made.close()


def transaction(store: Store, principal: Principal = SUPPORT, *, external: tuple[str, ...] = ()) -> Tx:
    return Tx(
        store,
        clock=Clock(DEFAULT_NOW, "Europe/Berlin"),
        principal=principal,
        counters={},
        call=no_sibling,
        offered={"get_payment"}.__contains__,
        attempt=4,
        external=external,
    )


@pytest.fixture
def tx(store: Store) -> Tx:
    return transaction(store)


def names(rows: list[Any]) -> list[str]:
    return [row.id.partition(".")[2] for row in rows]


def cells(store: Store, entity: type[Entity], key: str) -> dict[str, Any]:
    """A row as the store keeps it."""
    table = store.schema.by_entity[entity]
    (row,) = store.run(table.get_sql, (key,))
    return dict(zip(table.columns, row, strict=True))


# -- whose rows there are ----------------------------------------------------------------------------------


def test_a_row_is_read_by_its_id(tx: Tx) -> None:
    found = tx.get(Payment, "$payment.first")
    assert (found.id, found.captured, found.currency) == ("$payment.first", 4250, "USD")
    assert found.created_at == DEFAULT_NOW


@pytest.mark.parametrize("key", ["$payment.none", "$order.lamp", "", "pay_7Q2M9XKD"])
def test_an_id_that_names_no_row_is_not_found(tx: Tx, key: str) -> None:
    with pytest.raises(NotFound) as caught:
        tx.get(Payment, key)
    assert (caught.value.status, caught.value.outcome) == (404, Outcome.REJECTED)
    assert caught.value.detail == f"There is no payment {key}."


@pytest.mark.parametrize(
    ("principal", "entity", "key"),
    [
        (NORTH, Customer, "$customer.sue"),
        (NORTH, Payment, "$payment.south"),
        (NORTH, Order, "$order.south"),
        (LEE, Customer, "$customer.max"),
        (LEE, Payment, "$payment.disputed"),
        (LEE, Invoice, "$invoice.open"),
        (LEE, Customer, "$customer.sue"),
    ],
)
def test_a_row_of_somebody_else_is_answered_like_an_unknown_one_and_on_record_as_denied(
    store: Store, principal: Principal, entity: type[Any], key: str
) -> None:
    tx = transaction(store, principal)
    with pytest.raises(NotFound) as caught:
        tx.get(entity, key)
    with pytest.raises(NotFound) as unknown:
        tx.get(entity, "$none.none")
    assert caught.value.outcome is Outcome.DENIED
    assert unknown.value.outcome is Outcome.REJECTED
    assert caught.value.body() == {
        **unknown.value.body(),
        "detail": unknown.value.detail.replace("$none.none", key),
    }
    assert tx.find(entity, id=key) is None
    assert tx.select(entity, id=key) == []
    assert key not in [row.id for row in tx.select(entity)]


@pytest.mark.parametrize(
    ("principal", "payments", "customers"),
    [
        (EVERYBODY, {"first", "second", "south", "disputed", "old", "yen", "dinar"}, {"lee", "max", "sue"}),
        (SUPPORT, {"first", "second", "south", "disputed", "old", "yen", "dinar"}, {"lee", "max", "sue"}),
        (NORTH, {"first", "second", "disputed", "old", "yen", "dinar"}, {"lee", "max"}),
        (Principal("sam", tenants=("south",)), {"south"}, {"sue"}),
        (Principal("eve", tenants=("east",)), set[str](), set[str]()),
        (LEE, {"first", "second"}, {"lee"}),
        (Principal("max", customer="$customer.max", tenants=("south",)), set[str](), set[str]()),
    ],
    ids=lambda value: value.subject if isinstance(value, Principal) else "",
)
def test_a_query_finds_what_the_principal_may_see(
    store: Store, principal: Principal, payments: set[str], customers: set[str]
) -> None:
    tx = transaction(store, principal)
    assert set(names(tx.select(Payment))) == payments
    assert set(names(tx.select(Customer))) == customers


@pytest.mark.parametrize("entity", [Payment, Order, Invoice, Login, Address, CustomerCache])
def test_a_customer_who_asks_for_another_customers_rows_gets_nothing(store: Store, entity: type[Any]) -> None:
    tx = transaction(store, LEE)
    assert tx.select(entity, customer_id="$customer.max") == []
    assert tx.find(entity, customer_id="$customer.max") is None
    assert {row.customer_id for row in tx.select(entity)} <= {"$customer.lee"}
    assert {
        row.customer_id for row in tx.select(entity, customer_id=OneOf(("$customer.max", "$customer.lee")))
    } <= {"$customer.lee"}


def test_a_tenant_asked_for_does_not_widen_what_the_principal_may_see(store: Store) -> None:
    assert transaction(store, NORTH).select(Customer, tenant="south") == []
    assert names(transaction(store, SUPPORT).select(Customer, tenant="south")) == ["sue"]


# -- conditions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entity", "wanted", "found"),
    [
        (Customer, {"name": "Lee Ahn"}, ["lee"]),
        (Customer, {"name": "lee ahn"}, []),
        (Customer, {"name": Contains("LEE")}, ["lee"]),
        (Customer, {"name": Contains("o")}, ["max", "sue"]),
        (Customer, {"name": Contains("%")}, []),
        (Customer, {"name": Contains("_")}, []),
        (Customer, {"name": Contains("")}, ["lee", "max", "sue"]),
        (Customer, {"email": Same("LEE@Example.TEST")}, ["lee"]),
        (Customer, {"email": Same("lee@example")}, []),
        (Customer, {"phone": None}, ["max", "sue"]),
        (Customer, {"phone": "+15550001"}, ["lee"]),
        (Customer, {"name": Contains("e"), "phone": None}, ["sue"]),
        (Customer, {"id": OneOf(("$customer.sue", "$customer.lee"))}, ["lee", "sue"]),
        (Customer, {"id": OneOf(())}, []),
        (Payment, {"captured": 4250, "currency": "USD"}, ["first", "second"]),
        (Payment, {"captured": AtLeast(4250)}, ["first", "second", "yen", "dinar"]),
        (Payment, {"captured": AtMost(1000)}, ["south", "disputed", "old"]),
        (Payment, {"captured": AtLeast(4251)}, ["yen"]),
        (Payment, {"captured": AtMost(499)}, []),
        (Payment, {"created_at": AtMost(DEFAULT_NOW - timedelta(days=1))}, ["old"]),
        (Payment, {"order_id": None}, ["disputed", "old", "yen", "dinar"]),
        (Invoice, {"due_at": AtMost(DEFAULT_NOW + timedelta(days=2))}, ["open"]),
        (Invoice, {"due_at": AtMost(DEFAULT_NOW + timedelta(days=2, seconds=-1))}, []),
        (Login, {"last_seen_at": AtMost(DEFAULT_NOW)}, []),
    ],
)
def test_a_query_finds_the_rows_that_fit_oldest_first(
    tx: Tx, entity: type[Any], wanted: dict[str, Any], found: list[str]
) -> None:
    assert names(tx.select(entity, **wanted)) == found
    first = tx.find(entity, **wanted)
    assert (first is None) is (not found)
    assert first is None or names([first]) == found[:1]


def test_letters_outside_ascii_are_found_whatever_their_case(tx: Tx) -> None:
    tx.insert(
        Customer, id="$customer.umlaut", name="\u00c4nne \u00d6sterreich", email="a@b.test", created_at=tx.now
    )
    assert names(tx.select(Customer, name=Contains("\u00c4nne"))) == ["umlaut"]
    assert names(tx.select(Customer, name=Contains("\u00e4NNE"))) == ["umlaut"]
    assert names(tx.select(Customer, name=Same("\u00e4nne \u00f6sterreich"))) == ["umlaut"]


def test_pages_follow_each_other(tx: Tx) -> None:
    every = names(tx.select(Payment))
    assert names(tx.select(Payment, limit=2)) == every[:2]
    assert names(tx.select(Payment, after=f"$payment.{every[1]}", limit=3)) == every[2:5]
    assert names(tx.select(Payment, after=f"$payment.{every[-1]}")) == []
    assert tx.select(Payment, limit=0) == []


@pytest.mark.parametrize("ask", [Tx.select, Tx.find])
def test_a_column_that_a_table_does_not_have_is_no_condition(tx: Tx, ask: Callable[..., Any]) -> None:
    with pytest.raises(
        BadWrite, match=r"^payment has no column colour; it has id, tenant, customer_id, .*created_at$"
    ):
        ask(tx, Payment, colour="red")


@pytest.mark.parametrize("value", ["42", True, 42.5, AtLeast("42"), OneOf((1, "2"))])
def test_a_condition_of_another_type_than_its_column_is_an_error(tx: Tx, value: object) -> None:
    with pytest.raises(TypeError, match="wanted int"):
        tx.select(Payment, captured=value)


def test_a_table_of_another_world_is_refused(tx: Tx) -> None:
    for act in (
        lambda: tx.get(Elsewhere, "$elsewhere.x"),
        lambda: tx.select(Elsewhere),
        lambda: tx.insert(Elsewhere),
    ):
        with pytest.raises(
            BadWrite, match=r"^Elsewhere is no table of this world; it has idempotency, customer, .*message$"
        ):
            act()


# -- records -----------------------------------------------------------------------------------------------


def test_a_record_is_frozen_and_says_how_to_change_it(tx: Tx) -> None:
    payment = tx.get(Payment, "$payment.first")
    with pytest.raises(AttributeError, match=r"is frozen; write tx\.update\(row, refunded=\.\.\.\) instead$"):
        payment.refunded = 5
    assert payment.refunded == 0
    assert tx.get(Payment, "$payment.first").refunded == 0


def test_records_of_equal_rows_are_equal(tx: Tx) -> None:
    assert tx.get(Payment, "$payment.first") == tx.get(Payment, "$payment.first")
    assert tx.get(Payment, "$payment.first") != tx.get(Payment, "$payment.second")


def test_a_handler_knows_the_time_here_and_in_the_zone(tx: Tx) -> None:
    assert tx.now == tx.local_now == DEFAULT_NOW
    assert tx.local_now.hour == DEFAULT_NOW.hour + 1
    assert tx.offers("get_payment")
    assert not tx.offers("no_such_tool")


# -- inserting ---------------------------------------------------------------------------------------------


def test_a_new_row_has_a_minted_id_and_its_defaults(store: Store, tx: Tx) -> None:
    made = tx.insert(
        Customer, name="Ann", email="ann@example.test", created_at=tx.now, effect="customer.added"
    )
    assert made.id == "$customer.1"
    assert (made.tenant, made.phone, made.language, made.status, made.version) == (
        "north",
        None,
        "en",
        "active",
        1,
    )
    assert tx.get(Customer, "$customer.1") == made
    assert cells(store, Customer, "$customer.1")["created_at"] == "2026-03-02T09:00:00Z"
    assert tx.created == ["$customer.1"]
    second = tx.insert(Customer, name="Bob", email="bob@example.test", created_at=tx.now)
    assert second.id == "$customer.2"


def test_an_id_that_is_given_is_kept(tx: Tx) -> None:
    assert tx.insert(Product, id="$product.lid", name="Lid", sku="LID-1").id == "$product.lid"
    assert tx.created == []


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"name": "Ann", "email": "a@b.test"}, r"^customer\.created_at has no default; give it a value$"),
        ({"name": "Ann", "mail": "a@b.test", "colour": "red"}, r"^customer has no column colour, mail; it has id, tenant, name"),
        ({"name": 5, "email": "a@b.test", "created_at": DEFAULT_NOW}, r"^customer: name=5 is a int; wanted str$"),
        ({"name": None, "email": "a@b.test", "created_at": DEFAULT_NOW}, r"^customer: name must not be None$"),
        ({"name": "A", "email": "a@b.test", "created_at": "2026-03-02T09:00:00Z"}, r"created_at='2026-03-02T09:00:00Z' is a str; wanted datetime$"),
        ({"name": "A", "email": "a@b.test", "created_at": datetime(2026, 3, 2)}, r"^customer: 2026-03-02T00:00:00 is a naive datetime"),  # noqa: DTZ001  what must be refused
        ({"name": "A", "email": "a@b.test", "created_at": DEFAULT_NOW, "version": True}, r"^customer: version=True is a bool; wanted int$"),
        ({"name": "A", "email": "a@b.test", "created_at": DEFAULT_NOW, "version": 2**63}, r"^customer: version=9223372036854775808 does not fit 64 bits$"),
        ({"name": "A", "email": "a@b.test", "created_at": DEFAULT_NOW, "version": 1.0}, r"^customer: version=1\.0 is a float; wanted int$"),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_its_table_is_not_written(
    store: Store, tx: Tx, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadWrite, match=said):
        tx.insert(Customer, **values)
    assert store.take().changes == ()


# -- updating ----------------------------------------------------------------------------------------------


def test_an_update_gives_the_next_version_of_the_row(store: Store, tx: Tx) -> None:
    before = tx.get(Customer, "$customer.lee")
    after = tx.update(before, name="Leo", phone=None, effect="customer.renamed")
    assert (after.name, after.phone, after.version) == ("Leo", None, 2)
    assert (before.name, before.version) == ("Lee Ahn", 1)
    assert tx.get(Customer, "$customer.lee") == after
    assert tx.update(after, name="Len").version == after.version + 1
    assert cells(store, Customer, "$customer.lee")["version"] == after.version + 1


def test_a_row_without_a_version_is_changed_without_one(tx: Tx) -> None:
    assert (
        tx.update(tx.get(Product, "$product.lamp"), stock=3).stock == tx.get(Product, "$product.lamp").stock
    )


@pytest.mark.parametrize(
    "values", [{}, {"name": "Lee Ahn"}, {"name": "Lee Ahn", "phone": "+15550001", "status": "active"}]
)
def test_an_update_of_nothing_writes_nothing(store: Store, tx: Tx, values: dict[str, Any]) -> None:
    before = tx.get(Customer, "$customer.lee")
    with tx.effect("customer.updated", customer=before.id):
        assert tx.update(before, **values) == before
    assert store.take().changes == ()
    assert [effect.rows for effect in tx.effects] == [()]


def test_what_an_update_of_an_old_record_gives_back_is_what_the_store_has(tx: Tx) -> None:
    old = tx.get(Product, "$product.lamp")
    tx.update(old, stock=3)
    undone = tx.update(old, stock=old.stock)
    assert undone.stock == tx.get(Product, "$product.lamp").stock == old.stock


def test_true_is_not_one_in_an_update(tx: Tx) -> None:
    product = tx.update(tx.get(Product, "$product.lamp"), stock=1)
    with pytest.raises(BadWrite, match=r"stock=True is a bool; wanted int"):
        tx.update(product, stock=True)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"id": "$customer.other"}, r"^customer: cannot set id; it has id, tenant, name"),
        ({"colour": "red"}, r"^customer: cannot set colour; it has id, tenant, name"),
        ({"name": None}, r"^customer: name must not be None$"),
        ({"name": 5}, r"^customer: name=5 is a int; wanted str$"),
    ],
)
def test_an_update_that_does_not_fit_its_table_is_not_written(
    store: Store, tx: Tx, values: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadWrite, match=said):
        tx.update(tx.get(Customer, "$customer.lee"), **values)
    assert store.take().changes == ()


@settings(max_examples=30, deadline=None)
@given(name=st.text(st.characters(codec="utf-8")), phone=st.none() | st.text(st.characters(codec="utf-8")))
def test_what_is_written_is_what_is_read(name: str, phone: str | None) -> None:
    store = Store(template(WorldSpec(ENTITIES), SERVICES).image)
    tx = transaction(store)
    after = tx.update(tx.get(Customer, "$customer.lee"), name=name, phone=phone)
    assert tx.get(Customer, "$customer.lee") == after
    assert (after.name, after.phone) == (name, phone)
    store.close()


def test_a_deleted_row_is_gone(store: Store, tx: Tx) -> None:
    tx.delete(tx.get(Address, "$address.lee"), effect="address.removed")
    assert tx.find(Address, customer_id="$customer.lee") is None
    (change,) = store.take().changes
    assert (change.key, change.new) == ("$address.lee", None)
    assert tx.effects == [
        Effect(
            "address.removed",
            {"address": "$address.lee"},
            (RowClaim("address", "$address.lee", None),),
            attempt=4,
        )
    ]


# -- effects -----------------------------------------------------------------------------------------------


def test_an_effect_on_a_write_names_the_row_and_the_cells_it_wrote(tx: Tx) -> None:
    tx.update(tx.get(Customer, "$customer.lee"), name="Leo", status="active", effect="customer.renamed")
    (effect,) = tx.effects
    assert (effect.name, effect.facts, effect.attempt, effect.external) == (
        "customer.renamed",
        {"customer": "$customer.lee"},
        4,
        False,
    )
    assert effect.rows == (RowClaim("customer", "$customer.lee", {"name": "Leo", "version": 2}),)


def test_an_effect_around_writes_names_them_all_and_what_was_written_last(tx: Tx) -> None:
    with tx.effect("moved", why="test"):
        lamp = tx.update(tx.get(Product, "$product.lamp"), stock=3)
        tx.update(lamp, stock=2, price=1)
        made = tx.insert(Product, name="Lid", sku="LID-1")
    (effect,) = tx.effects
    assert effect.facts == {"why": "test"}
    assert effect.rows[0] == RowClaim("product", "$product.lamp", {"stock": 2, "price": 1})
    assert (effect.rows[1].key, dict(effect.rows[1].cells or {})["sku"]) == (made.id, "LID-1")


def test_the_innermost_effect_has_the_row(tx: Tx) -> None:
    with tx.effect("outer"):
        tx.update(tx.get(Product, "$product.lamp"), stock=3)
        with tx.effect("inner"):
            tx.update(tx.get(Product, "$product.mat"), stock=3)
        tx.update(tx.get(Product, "$product.lamp"), price=1)
    assert [(effect.name, [row.key for row in effect.rows]) for effect in tx.effects] == [
        ("inner", ["$product.mat"]),
        ("outer", ["$product.lamp"]),
    ]


def test_an_effect_on_a_write_is_its_own_also_inside_another(tx: Tx) -> None:
    with tx.effect("outer"):
        tx.update(tx.get(Product, "$product.lamp"), stock=3, effect="stock.counted")
        tx.update(tx.get(Product, "$product.mat"), stock=3)
    assert [(effect.name, [row.key for row in effect.rows]) for effect in tx.effects] == [
        ("stock.counted", ["$product.lamp"]),
        ("outer", ["$product.mat"]),
    ]


def test_what_is_written_and_deleted_in_one_effect_is_claimed_as_deleted(tx: Tx) -> None:
    with tx.effect("tried"):
        made = tx.insert(Product, name="Lid", sku="LID-1")
        tx.delete(made)
    assert tx.effects[0].rows == (RowClaim("product", made.id, None),)


def test_bookkeeping_rows_belong_to_no_effect(tx: Tx) -> None:
    cached = tx.select(CustomerCache, customer_id="$customer.lee")[0]
    with tx.effect("cached"):
        tx.update(cached, name="Leo")
    assert tx.effects[0].rows == ()


def test_an_effect_that_raises_is_not_declared(tx: Tx) -> None:
    with pytest.raises(ZeroDivisionError), tx.effect("tried"):
        tx.update(tx.get(Product, "$product.lamp"), stock=1 // 0)
    assert tx.effects == []
    with tx.effect("done"):
        tx.update(tx.get(Product, "$product.lamp"), stock=3)
    assert [effect.name for effect in tx.effects] == ["done"]


def test_what_leaves_the_world_must_be_declared_by_the_operation(store: Store) -> None:
    mail: dict[str, Any] = {
        "tenant": "north",
        "customer_id": "$customer.lee",
        "subject": "Hello",
        "created_at": DEFAULT_NOW,
    }
    undeclared = transaction(store)
    with (
        pytest.raises(
            BadWrite,
            match=r"^mail\.sent leaves the world, but the operation does not declare external=\('mail\.sent',\)$",
        ),
        undeclared.effect("mail.sent", external=True),
    ):
        raise AssertionError("nothing is sent")
    declared = transaction(store, external=("mail.sent",))
    with declared.effect("mail.sent", external=True):
        declared.insert(Message, **mail)
    assert [(effect.name, effect.external) for effect in declared.effects] == [("mail.sent", True)]


def test_a_customers_tools_answer_about_nobody_else() -> None:
    with world(principal=LEE) as here:
        mine = here.call("list_payments", customer_id=here.id("$customer.lee"))
        assert len(mine.json()["payments"]) == len(["first", "second"])
        theirs = [
            here.call("list_payments", customer_id=here.id("$customer.max")),
            here.call("get_payment", payment_id=here.id("$payment.disputed")),
            here.call("list_orders", customer_id=here.id("$customer.sue")),
            here.call("update_customer", customer_id=here.id("$customer.max"), name="Mine"),
        ]
        assert [answer.status for answer in theirs] == [404] * len(theirs)
        assert len(here.ledger.attempts(outcome="denied")) == len(theirs)
        assert here.ledger.read_only
