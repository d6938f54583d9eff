"""What the three state machines share: a world and a plain model of it, moved step by step together."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeAlias

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from sandtrail.fakes import Answer, AnswerLost, Entity, World
from sandtrail.ledgers import Delivery, Outcome, Principal
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
