"""The customer service against a model of its rules, over long random histories.

`ServiceMachine` is the part that the three machines share: it sends a call, asks the model what must become
of it, and compares. What it knows of keys, faults, forks and foreign ids holds for every service.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sandtrail.fakes import SERVICES, Answer, AnswerLost, Entity, World
from sandtrail.fakes.customers import Address, Customer, CustomerCache, Handoff, Login, Note
from sandtrail.ledgers import Delivery, Outcome, Principal, WorldSpec
from sandtrail.ledgers.specs import DEFAULT_NOW, SYMBOL, FaultKind
from worlds import ENTITIES, LEE, NORTH, SUPPORT, world

Row: TypeAlias = dict[str, Any]
Fields: TypeAlias = dict[str, Any]
Tables: TypeAlias = dict[type[Entity], dict[str, Row]]

STEPS = settings(max_examples=120, stateful_step_count=50, deadline=None, report_multiple_bugs=False)

MOST_FORKS = 3

principals = st.sampled_from((*[SUPPORT] * 5, NORTH, LEE))
numbers = st.sampled_from(range(60))
maybe_keys = st.sampled_from((None, None, None, "key-1", "key-2", "key-3", "key-4", "key-5"))
spans = st.sampled_from(("20 seconds", "1 hour", "16 hours", "1 day", "3 days"))
broken_ids = st.sampled_from(("of another kind", "made up", "empty", "in lower case", "cut", "with a space"))


class No(Exception):
    """What the model says instead of an answer."""

    def __init__(self, rule: str, status: int = 409, outcome: Outcome = Outcome.REJECTED) -> None:
        super().__init__(rule)
        self.rule, self.status, self.outcome = rule, status, outcome


@dataclass(frozen=True)
class Wanted:
    """What must become of a call; `text` is the whole answer where it is known beforehand."""

    outcome: Outcome = Outcome.OK
    status: int = 200
    rule: str | None = None
    fields: Mapping[str, Any] | None = None
    text: str | None = None
    lost: bool = False
    fault: FaultKind | None = None


@dataclass(frozen=True)
class Kept:
    """A request that was answered under a key."""

    request: tuple[str, str]
    status: int
    text: str


def instant(moment: datetime | None) -> str | None:
    """The instant as answers write it."""
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def columns(row: Entity) -> Row:
    """A record as a plain dictionary."""
    return {name: getattr(row, name) for name in type(row).model_fields}


def shown(row: Row) -> Fields:
    """A row of the model as answers show it."""
    return {name: instant(value) if isinstance(value, datetime) else value for name, value in row.items()}


def sees(by: Principal, row: Row) -> bool:
    """Whether a principal may see a row: its tenants, and for a customer what is theirs."""
    owner = row.get("customer_id", row["id"])
    return row.get("tenant", "north") in by.tenants and by.customer in (None, owner)


class ServiceMachine(RuleBasedStateMachine):
    """One world, the model's rows of its tables, and what is known of keys and faults."""

    entities: ClassVar[Mapping[str, Mapping[str, Any]]] = ENTITIES
    watched: ClassVar[tuple[type[Entity], ...]] = ()
    id_arguments: ClassVar[Mapping[str, tuple[str, str, Mapping[str, Any]]]] = {}
    """Operation to the name and kind of its id argument, and valid other arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.world = world(entities=self.entities)
        self.tables: Tables = {
            entity: {row.id: columns(row) for row in self.world.rows(entity)} for entity in self.watched
        }
        self.now = DEFAULT_NOW
        self.calls = self.commits = 0
        self.minted: dict[str, int] = {}
        self.kept: dict[tuple[str, str], Kept] = {}
        self.armed: set[tuple[FaultKind, str]] = set()
        self.left: list[tuple[World, object]] = []
        self.last: Callable[[], object] | None = None

    # -- the model's own small language ----------------------------------------------------------------

    def pick(self, entity: type[Entity], number: int) -> str:
        """One of the entity's rows."""
        return list(self.tables[entity])[number % len(self.tables[entity])]

    def row(self, entity: type[Entity], symbol: str, by: Principal) -> Row:
        """The row that an id argument names, for this principal."""
        row = self.tables[entity][symbol]
        if not sees(by, row):
            raise No("not_found", 404, Outcome.DENIED)
        return row

    def seen(self, entity: type[Entity], by: Principal, **wanted: Any) -> list[Row]:
        """The rows with these values that the principal may see, oldest first."""
        rows = self.tables[entity].values()
        return [
            row for row in rows if sees(by, row) and all(row[name] == value for name, value in wanted.items())
        ]

    def add(self, entity: type[Entity], kind: str, **values: Any) -> Row:
        """A new row; symbols are counted by kind."""
        self.minted[kind] = self.minted.get(kind, 0) + 1
        symbol = f"${kind}.{self.minted[kind]}"
        self.tables[entity][symbol] = {"id": symbol, **values}
        return self.tables[entity][symbol]

    def present(self) -> tuple[Tables, dict[str, int]]:
        """The model as it is, for going back to."""
        return deepcopy(self.tables), dict(self.minted)

    # -- a call, and what must become of it ------------------------------------------------------------

    def ask(
        self,
        operation: str,
        model: Callable[[], Fields],
        arguments: Mapping[str, Any],
        /,
        *,
        by: Principal = SUPPORT,
        key: str | None = None,
    ) -> Fields | None:
        """Call the operation and compare with the model; the answer in symbols, or None where it is lost."""
        sent = {name: value for name, value in arguments.items() if value is not None}
        request = (
            operation,
            json.dumps({n: v for n, v in sent.items() if n != "if_version"}, sort_keys=True),
        )
        before = self.present()
        wanted = self.expected(request, model, by, key)
        if wanted.outcome is not Outcome.OK:
            self.tables, self.minted = before
        elif self.tables != before[0]:
            self.commits += 1
        if key is not None:
            sent["idempotency_key"] = key
            self.last = lambda: self.ask(operation, model, arguments, by=by, key=key)
        answer = self.delivered(operation, sent, by)
        self.calls += 1
        attempt = self.world.ledger.attempts()[-1]
        assert (attempt.seq, attempt.outcome, attempt.rule) == (self.calls, wanted.outcome, wanted.rule), (
            attempt
        )
        assert (attempt.fault or "").partition("(")[0] == (wanted.fault or ""), attempt
        assert (attempt.delivery is Delivery.LOST) == wanted.lost == (answer is None), attempt
        if key is not None and not wanted.lost:
            assert attempt.idempotency_key == key
        kept = wanted.outcome is Outcome.OK or (
            wanted.outcome is Outcome.REJECTED and wanted.rule != "not_found"
        )
        if key is not None and kept:
            self.kept[by.subject, key] = Kept(request, attempt.status, str(attempt.answer))
        return None if answer is None else self.compared(answer, wanted)

    def pages(
        self,
        operation: str,
        arguments: Fields,
        by: Principal,
        name: str,
        rows: Callable[[], list[Fields]],
    ) -> None:
        """Every page of a list, one call each."""
        found = 0
        cursor: str | None = None
        while True:

            def model(found: int = found) -> Fields:
                left = rows()[found:]
                last = {} if len(left) > arguments["limit"] else {"next_cursor": None}
                return {name: left[: arguments["limit"]]} | last

            body = self.ask(operation, model, {**arguments, "cursor": cursor}, by=by)
            if body is None or body.get("next_cursor") is None:
                return
            found += len(body[name])
            cursor = self.world.id(body["next_cursor"])

    def expected(
        self, request: tuple[str, str], model: Callable[[], Fields], by: Principal, key: str | None
    ) -> Wanted:
        """What must become of a call: the door, the key's record, the model's rules, then the way back."""
        operation = request[0]
        if self.fires(FaultKind.RATE_LIMITED, operation):
            return Wanted(Outcome.NOT_APPLIED, 429, "rate_limited", fault=FaultKind.RATE_LIMITED)
        kept = None if key is None else self.kept.get((by.subject, key))
        if kept is not None and kept.request != request:
            return Wanted(Outcome.CONFLICT, 422, "idempotency.conflict")
        if kept is not None:
            return Wanted(Outcome.REPLAYED, kept.status, "idempotency.replay", text=kept.text)
        try:
            fields = model()
        except No as no:
            return Wanted(no.outcome, no.status, no.rule)
        if self.fires(FaultKind.TIMEOUT, operation):
            return Wanted(Outcome.NOT_APPLIED, lost=True, fault=FaultKind.TIMEOUT)
        if self.fires(FaultKind.ANSWER_LOST, operation):
            return Wanted(fields=fields, lost=True, fault=FaultKind.ANSWER_LOST)
        return Wanted(fields=fields)

    def fires(self, kind: FaultKind, operation: str) -> bool:
        """Whether this fault is armed; it strikes once."""
        due = (kind, operation) in self.armed
        self.armed.discard((kind, operation))
        return due

    def delivered(self, operation: str, sent: Mapping[str, Any], by: Principal) -> Answer | None:
        """The answer, or None where it never arrives."""
        try:
            return self.world.call(operation, sent, principal=by)
        except AnswerLost as lost:
            number = lost.attempt
        assert number == self.calls + 1
        return None

    def compared(self, answer: Answer, wanted: Wanted) -> Fields:
        """The answer in symbols, once it is what was wanted."""
        assert answer.status == wanted.status, answer.text
        assert answer.attempt == self.calls
        assert not SYMBOL.search(answer.text), answer.text
        body: Fields = json.loads(self.symbolic(answer.text))
        if wanted.text is not None:
            assert answer.text == wanted.text
            assert answer.headers["idempotent-replayed"] == "true"
        elif wanted.outcome is Outcome.OK:
            assert wanted.fields is not None
            assert {name: body[name] for name in wanted.fields} == wanted.fields
            if "version" in body:
                assert answer.headers["etag"] == f'"{body["version"]}"'
        else:
            assert answer.headers["content-type"] == "application/problem+json"
            assert (body["status"], body["rule"]) == (wanted.status, wanted.rule)
            assert body["detail"]
        return body

    def symbolic(self, text: str) -> str:
        """The text with symbols for the raw ids of this world."""
        return re.sub(r"\w{8,}", lambda word: self.world.symbol(word[0]) or word[0], text)

    def raw(self, value: Any) -> Any:
        """A value with raw ids for its symbols."""
        return json.loads(SYMBOL.sub(lambda symbol: self.world.id(symbol[0]), json.dumps(value)))

    # -- what may happen in every service --------------------------------------------------------------

    @rule(
        kind=st.sampled_from((FaultKind.RATE_LIMITED, FaultKind.TIMEOUT, FaultKind.ANSWER_LOST)),
        number=numbers,
    )
    def plan_a_fault(self, kind: FaultKind, number: int) -> None:
        names = sorted(self.id_arguments)
        operation = names[number % len(names)]
        if (kind, operation) in self.armed:
            return
        self.armed.add((kind, operation))
        faults = self.world.faults
        match kind:
            case FaultKind.RATE_LIMITED:
                faults.rate_limit(operation)
            case FaultKind.TIMEOUT:
                faults.time_out(operation)
            case _:
                faults.lose_answer(operation)

    @rule(number=numbers, broken=broken_ids, by=principals, key=maybe_keys)
    def name_no_entity(self, number: int, broken: str, by: Principal, key: str | None) -> None:
        operation = sorted(self.id_arguments)[number % len(self.id_arguments)]
        name, kind, rest = self.id_arguments[operation]
        lee = self.world.id("$customer.lee")
        own = self.world.id(next(symbol for symbol in self.entities if symbol.startswith(f"${kind}.")))
        wrong = {
            "of another kind": self.world.id("$product.mat"),
            "made up": f"{lee[:4]}00000000",
            "empty": "",
            "in lower case": own.lower(),
            "cut": own[:-1],
            "with a space": f"{own} ",
        }[broken]

        def model() -> Fields:
            raise No("not_found", 404)

        keyed = key if self.world.operation(operation).declared.idempotent else None
        body = self.ask(operation, model, {name: wrong, **self.raw(rest)}, by=by, key=keyed)
        if body is not None and body["rule"] == "not_found":
            said = kind.replace("_", " ")
            assert body["detail"] == f"There is no {said} {self.symbolic(wrong)}."
            assert body["allowed"] == f"{said} ids that a call has returned"

    @precondition(lambda self: self.last is not None)
    @rule()
    def repeat_the_last_call_under_a_key(self) -> None:
        assert self.last is not None
        self.last()

    @rule(length=spans)
    def advance(self, length: str) -> None:
        count, unit = length.split()
        before = self.now
        self.now += timedelta(**{unit if unit.endswith("s") else f"{unit}s": int(count)})
        self.world.advance(length)
        assert self.world.clock.now() == self.now
        self.time_passed(before)

    def time_passed(self, before: datetime) -> None:
        """What time does to the model by itself."""

    @precondition(lambda self: len(self.left) < MOST_FORKS)
    @rule(stay=st.booleans())
    def fork(self, *, stay: bool) -> None:
        twin = self.world.fork()
        assert twin.ledger.pages == self.world.ledger.pages
        left, self.world = (twin, self.world) if stay else (self.world, twin)
        self.left.append((left, self.everything(left)))

    def everything(self, looked_at: World) -> object:
        """All that must not move in a world that nobody acts on."""
        rows = [[columns(row) for row in looked_at.rows(entity)] for entity in self.watched]
        return looked_at.ledger.pages, looked_at.ledger.bindings, looked_at.clock.now(), rows

    # -- what must hold --------------------------------------------------------------------------------

    @invariant()
    def no_breach(self) -> None:
        assert self.world.ledger.breaches == []
        assert len(self.world.ledger.attempts()) == self.calls
        assert len(self.world.ledger.writes()) == self.commits

    def teardown(self) -> None:
        try:
            assert self.world.ledger.verify() == []
            for entity in self.watched:
                assert [columns(row) for row in self.world.rows(entity)] == list(self.tables[entity].values())
            owners = {binding.symbol: binding.owner for binding in self.world.ledger.bindings}
            for rows in self.tables.values():
                for symbol in rows.keys() & owners.keys():
                    assert owners[symbol] == rows[symbol].get("customer_id", owners[symbol]), symbol
            for left, everything in self.left:
                assert self.everything(left) == everything
                assert left.ledger.verify() == []
        finally:
            for opened in (self.world, *(left for left, _ in self.left)):
                opened.close()


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
            row.update({name: customer[name] for name in ("name", "email", "phone")}, created_at=self.now)

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
            given = {"email": email, "phone": phone, "name": name}
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
