"""The customer service against a model of its rules, over long random histories.

`ServiceMachine` is the part that the three machines share: it sends a call, asks the model what must become
of it, and compares. What it knows of keys, faults, forks and foreign ids holds for every service.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from machines import STEPS, Fields, No, Row, ServiceMachine, instant, maybe_keys, numbers, principals, shown
from sandtrail.fakes import SERVICES, AnswerLost, World
from sandtrail.fakes.customers import Address, Customer, CustomerCache, Handoff, Login, Note
from sandtrail.ledgers import Outcome, Principal, WorldSpec
from sandtrail.ledgers.specs import DEFAULT_NOW
from worlds import ENTITIES, LEE, world

MORE: Mapping[str, Mapping[str, Any]] = {
    "$customer.ann": {"name": "Ann Free", "email": "ann@example.test", "phone": "+1 (555) 000-2"},
    "$customer.bea": {"name": "Élan Béa", "email": "ÉLAN@example.test"},
    "$customer.sid": {"name": "Sid South", "email": "lee@example.test", "tenant": "south"},
    "$login.sid": {"customer": "$customer.sid", "email": "sid@example.test"},
}
OPEN_ORDERS = frozenset({"$customer.lee", "$customer.sue"})
OWING = frozenset({"$customer.max"})
OVERVIEW = {
    "$customer.lee": (2, 8500, "USD"),
    "$customer.max": (0, 2000, "USD"),
    "$customer.sue": (1, 500, "USD"),
}
"""Number of orders, sum paid and its currency; the customer service changes none of them."""

emails = st.sampled_from(
    (
        "lee@example.test",
        "LEE@example.test",
        "new@example.test",
        "élan@example.test",
        "sid@example.test",
        "x@y.zz",
    )
)
phones = st.sampled_from(("+15550001", "+1 555 0001", "+1-555-0002", "+15550002", "555 0003"))
names = st.sampled_from(("Lee Ahn", "Élan", "élan béa", "ROTH", "South", "nobody at all", "a"))
texts = st.sampled_from(("called", "called twice", "ünïcödé 🎈", "5 $ off {all}", "a" * 300))


def same(one: str, other: str) -> bool:
    """Text that is the same whatever the case."""
    return one.lower() == other.lower()


def dialled(phone: str) -> str:
    """A phone number without what people write between its digits."""
    return re.sub(r"[^0-9+]", "", phone)


class CustomersMachine(ServiceMachine):
    """Customers, addresses, notes, logins, the cache and hand-overs."""

    entities: ClassVar = {**ENTITIES, **MORE}
    watched: ClassVar = (Customer, Address, Note, Login, CustomerCache, Handoff)
    id_arguments: ClassVar = {
        "get_customer": ("customer_id", "customer", {}),
        "get_customer_profile": ("customer_id", "customer", {}),
        "update_customer": ("customer_id", "customer", {"name": "Zoe"}),
        "set_address": (
            "customer_id",
            "customer",
            {"line": "1 Elm St", "city": "Salem", "postcode": "97301", "country": "US"},
        ),
        "add_note": ("customer_id", "customer", {"text": "hello"}),
        "close_customer": ("customer_id", "customer", {}),
        "hand_over": ("customer_id", "customer", {"reason": "hello"}),
    }

    def time_passed(self, before: datetime) -> None:
        if before.date() == self.now.date():
            return
        for row in self.tables[CustomerCache].values():
            customer = self.tables[Customer][row["customer_id"]]
            midnight = self.now.replace(hour=0, minute=0, second=0)
            row.update({name: customer[name] for name in ("name", "email", "phone")}, created_at=midnight)

    def active(self, symbol: str, by: Principal, version: int | None = None) -> Row:
        """A customer that may be changed."""
        row = self.row(Customer, symbol, by)
        if version is not None and version != row["version"]:
            raise No("version", 412, Outcome.CONFLICT)
        if row["status"] == "closed":
            raise No("customer.closed")
        return row

    # -- reads -----------------------------------------------------------------------------------------

    @rule(number=numbers, by=principals)
    def get_customer(self, number: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)
        self.ask(
            "get_customer",
            lambda: shown(self.row(Customer, symbol, by)),
            {"customer_id": self.world.id(symbol)},
            by=by,
        )

    @rule(number=numbers, by=principals)
    def get_customer_profile(self, number: int, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            customer = self.row(Customer, symbol, by)
            address = next(iter(self.seen(Address, by, customer_id=symbol)), None)
            orders, paid, currency = OVERVIEW.get(symbol, (0, 0, None))
            notes = [self.said(shown(note)) for note in self.seen(Note, by, customer_id=symbol)]
            return {
                "customer": shown(customer),
                "address": address,
                "notes": notes,
                "orders_total": orders,
                "paid_total": paid,
                "currency": currency,
            }

        self.ask("get_customer_profile", model, {"customer_id": self.world.id(symbol)}, by=by)

    @rule(
        operation=st.sampled_from(("search_customers", "find_customer")),
        email=st.none() | emails,
        phone=st.none() | phones,
        name=st.none() | names,
        tenant=st.sampled_from((None, "north", "south", "west")),
        limit=st.sampled_from((1, 2, 20)),
        by=principals,
    )
    def search(
        self,
        *,
        operation: str,
        email: str | None,
        phone: str | None,
        name: str | None,
        tenant: str | None,
        limit: int,
        by: Principal,
    ) -> None:
        def fits(row: Row) -> bool:
            return (
                (email is None or same(row["email"], email))
                and (phone is None or (row["phone"] is not None and dialled(row["phone"]) == dialled(phone)))
                and (name is None or name.lower() in row["name"].lower())
                and row["tenant"] == (tenant or by.tenants[0])
            )

        def rows() -> list[Fields]:
            if email is None and phone is None and name is None:
                raise No("search.empty", 422)
            if tenant is None and len(by.tenants) > 1:
                raise No("tenant.required", 422)
            if tenant is not None and tenant not in by.tenants:
                raise No("tenant", 403, Outcome.DENIED)
            return [shown(row) for row in self.seen(Customer, by) if fits(row)]

        sent = {"email": email, "phone": phone, "name": name, "tenant": tenant}
        if operation == "search_customers":
            self.pages(operation, {**sent, "limit": limit}, by, "customers", rows)
        else:
            self.ask(operation, lambda: {"customers": rows(), "next_cursor": None}, sent, by=by)

    @rule(email=emails, by=principals)
    def lookup_customer_cache(self, email: str, by: Principal) -> None:
        def model() -> Fields:
            for row in self.seen(CustomerCache, by):
                if same(row["email"], email):
                    fields = {name: row[name] for name in ("customer_id", "name", "email", "phone")}
                    return {**fields, "cached_at": instant(row["created_at"])}
            raise No("not_found", 404)

        self.ask("lookup_customer_cache", model, {"email": email}, by=by)

    @rule(email=emails, by=principals)
    def get_user(self, email: str, by: Principal) -> None:
        def model() -> Fields:
            for row in self.seen(Login, by):
                if same(row["email"], email):
                    return {
                        "user_id": row["id"],
                        "email": row["email"],
                        "last_seen_at": instant(row["last_seen_at"]),
                    }
            raise No("not_found", 404)

        self.ask("get_user", model, {"email": email}, by=by)

    # -- writes ----------------------------------------------------------------------------------------

    @rule(
        number=numbers,
        email=st.none() | emails,
        phone=st.none() | phones,
        name=st.none() | names,
        version=st.sampled_from((None, None, 1, 2, 3)),
        by=principals,
    )
    def update_customer(
        self,
        *,
        number: int,
        email: str | None,
        phone: str | None,
        name: str | None,
        version: int | None,
        by: Principal,
    ) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            row = self.active(symbol, by, version)
            given = {"email": email, "phone": phone and dialled(phone), "name": name}
            changed = {column: value for column, value in given.items() if value not in (None, row[column])}
            if not changed:
                raise No("customer.unchanged")
            everyone = self.tables[Customer].values()
            others = [other for other in everyone if other["tenant"] == row["tenant"] and other is not row]
            if email is not None and any(same(other["email"], email) for other in others):
                raise No("customer.email_taken")
            row.update(changed, version=row["version"] + 1)
            return shown(row)

        self.ask(
            "update_customer",
            model,
            {
                "customer_id": self.world.id(symbol),
                "email": email,
                "phone": phone,
                "name": name,
                "if_version": version,
            },
            by=by,
        )

    @rule(
        number=numbers,
        line=st.sampled_from(("1 Elm St", "2 Oak Ave")),
        country=st.sampled_from(("US", "DE")),
        by=principals,
    )
    def set_address(self, number: int, line: str, country: str, by: Principal) -> None:
        symbol = self.pick(Customer, number)
        values = {"line": line, "city": "Salem", "postcode": "97301", "country": country}

        def model() -> Fields:
            self.active(symbol, by)
            row = next((row for row in self.tables[Address].values() if row["customer_id"] == symbol), None)
            if row is None:
                row = self.add(Address, "address", customer_id=symbol)
            if values.items() <= row.items():
                raise No("address.unchanged")
            row.update(values)
            return dict(row)

        self.ask("set_address", model, {"customer_id": self.world.id(symbol), **values}, by=by)

    def said(self, row: Row) -> Row:
        """A row whose text mentions entities, as it looks once raw ids are read as symbols."""
        return {n: re.sub(r"\{(\$[^}]*)\}", r"\1", v) if isinstance(v, str) else v for n, v in row.items()}

    @rule(number=numbers, text=texts, mentions=st.booleans(), by=principals, key=maybe_keys)
    def add_note(self, number: int, text: str, by: Principal, key: str | None, *, mentions: bool) -> None:
        symbol = self.pick(Customer, number)
        suffix = f" about {self.world.id(symbol)}" if mentions else ""

        def model() -> Fields:
            self.row(Customer, symbol, by)
            kept = f"{text} about {{{symbol}}}" if mentions else text
            note = {"customer_id": symbol, "text": kept, "author": by.subject, "created_at": self.now}
            return self.said(shown(self.add(Note, "note", **note)))

        raw = self.world.id(symbol)
        self.ask("add_note", model, {"customer_id": raw, "text": text + suffix}, by=by, key=key)

    @rule(number=numbers, version=st.sampled_from((None, None, 1, 2)), by=principals)
    def close_customer(self, number: int, version: int | None, by: Principal) -> None:
        symbol = self.pick(Customer, number)

        def model() -> Fields:
            row = self.active(symbol, by, version)
            if symbol in OPEN_ORDERS:
                raise No("customer.open_orders")
            if symbol in OWING:
                raise No("customer.balance")
            row.update(status="closed", version=row["version"] + 1)
            return shown(row)

        self.ask(
            "close_customer", model, {"customer_id": self.world.id(symbol), "if_version": version}, by=by
        )

    @rule(number=st.none() | numbers, reason=texts, by=principals, key=maybe_keys)
    def hand_over(self, number: int | None, reason: str, by: Principal, key: str | None) -> None:
        symbol = None if number is None else self.pick(Customer, number)

        def model() -> Fields:
            tenant = by.tenants[0] if symbol is None else self.row(Customer, symbol, by)["tenant"]
            made = {"tenant": tenant, "customer_id": symbol, "reason": reason, "created_at": self.now}
            return shown(self.add(Handoff, "handoff", **made))

        raw = None if symbol is None else self.world.id(symbol)
        self.ask("hand_over", model, {"reason": reason, "customer_id": raw}, by=by, key=key)


TestCustomers = CustomersMachine.TestCase
TestCustomers.settings = STEPS


def test_an_account_stays_open_while_its_fifty_first_order_is() -> None:
    many = {
        f"$order.n{n}": {"customer": "$customer.ann", "number": f"{n}", "status": "delivered"}
        for n in range(50)
    }
    last = {"$order.last": {"customer": "$customer.ann", "number": "last"}}
    with world(entities={"$customer.ann": MORE["$customer.ann"], **many, **last}) as opened:
        answer = opened.call("close_customer", customer_id=opened.id("$customer.ann"))
        assert (answer.status, answer.json().get("rule")) == (409, "customer.open_orders")


def test_an_overview_counts_every_order_and_payment() -> None:
    orders = {f"$order.n{n}": {"customer": "$customer.ann", "number": f"{n}"} for n in range(60)}
    paid = {f"$payment.n{n}": {"customer": "$customer.ann", "captured": "1.00 USD"} for n in range(60)}
    with world(entities={"$customer.ann": MORE["$customer.ann"], **orders, **paid}) as opened:
        overview = opened.call("get_customer_profile", customer_id=opened.id("$customer.ann")).json()
        assert (overview["orders_total"], overview["paid_total"]) == (60, 6000)


@pytest.mark.parametrize("name", ["Élan Béa", "élan béa", "ÉLAN", "Béa"])
def test_a_name_with_accents_is_found(name: str) -> None:
    with world(entities=MORE) as opened:
        found = opened.call("search_customers", name=name, tenant="north").json()
        assert [row["id"] for row in found["customers"]] == [opened.id("$customer.bea")]


@pytest.mark.parametrize("phone", ["+1 (555) 000-2", "+15550002"])
def test_a_phone_number_is_found_however_it_is_written(phone: str) -> None:
    with world(entities=MORE) as opened:
        found = opened.call("search_customers", phone=phone, tenant="north").json()
        assert [row["id"] for row in found["customers"]] == [opened.id("$customer.ann")]


def test_a_customer_cannot_take_an_address_that_another_has() -> None:
    with world() as opened:
        sent = {"customer_id": opened.id("$customer.lee"), "email": "max@example.test"}
        answer = opened.call("update_customer", sent, principal=LEE)
        assert (answer.status, answer.json().get("rule")) == (409, "customer.email_taken")


def test_the_same_postal_address_again_leaves_the_books_whole() -> None:
    with world() as opened:
        address = {"line": "1 Elm St", "city": "Salem", "postcode": "97301", "country": "US"}
        opened.call("set_address", {"customer_id": opened.id("$customer.lee"), **address})
        assert opened.ledger.breaches == []
        assert opened.ledger.unchanged("address")


def test_the_cache_is_fresh_after_a_slow_answer_crossed_midnight() -> None:
    with world() as opened:
        opened.call("update_customer", customer_id=opened.id("$customer.lee"), email="new@example.test")
        opened.faults.slow("get_user", seconds=20 * 60 * 60)
        opened.call("get_user", email="lee@example.test")
        opened.advance("1 minute")
        assert opened.clock.now().date() > DEFAULT_NOW.date()
        assert opened.call("lookup_customer_cache", email="new@example.test").ok


def test_an_id_belongs_to_its_entity_also_when_its_first_creation_timed_out() -> None:
    with world() as opened:
        sent = {"customer_id": opened.id("$customer.lee"), "text": "hello"}
        opened.faults.time_out("add_note")
        with pytest.raises(AnswerLost):
            opened.call("add_note", sent)
        raw = opened.call("add_note", sent).json()["id"]
        assert [b.owner for b in opened.ledger.bindings if b.raw == raw] == ["$customer.lee"]


def test_a_fork_has_every_id_that_was_issued_before_it_on_record() -> None:
    with World.open(WorldSpec(population=2), services=SERVICES) as opened:
        raw = opened.id("$customer.p00001")
        with opened.fork() as twin:
            assert twin.call("get_customer", customer_id=raw).ok
            assert twin.ledger.projection.text(raw) == "$customer.p00001"
