"""A world: one isolated instance of the services, with its store, clock, ids, faults and books.

    world = World.open(WorldSpec({"$customer.lee": {"name": "Lee Ahn", ...}}), seed=7, services=SERVICES)
    answer = world.call("get_customer", customer_id=world.id("$customer.lee"))
    world.ledger.read_only, world.advance("3 days"), world.fork(), world.reset()

Two worlds share nothing that changes. One lock stands around each call; nothing waits inside it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sandtrail.fakes.answers import Answer, Exchange, NestedCall
from sandtrail.fakes.calls import Dispatcher
from sandtrail.fakes.clock import Clock, span
from sandtrail.fakes.edge import Edge, run_key
from sandtrail.fakes.entities import Entity
from sandtrail.fakes.faults import Faults
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.image import Services, Template, classes_of, compiled, system_tx, template
from sandtrail.fakes.operations import Operation, Service
from sandtrail.fakes.state import Call, State
from sandtrail.fakes.store import Guards, Store, replay
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.entries import Attempt, Origin, Page
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import Catalog, Fault, FaultKind, Principal, WorldSpec
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.words import Access, OriginKind, Outcome

if TYPE_CHECKING:
    from sqlmodel import Session


@dataclass(frozen=True, slots=True)
class Opening:
    """What a world was opened with, all of it: enough to open it again."""

    spec: WorldSpec
    services: Services
    origin: Template
    seed: int
    run: str
    style: str
    guards: Guards

    def state(self) -> State:
        """The state at the opening: a fresh store, named entities bound, clock set, faults armed, books empty."""
        kinds = self.services.schema.by_kind
        edge = Edge(run_key(self.seed, self.run), style=self.style, kinds=kinds)
        edge.keep_apart(self.origin.owners)
        for symbol in self.origin.owners:
            edge.raw(symbol)
        opening = edge.issued(lambda symbol: self.origin.owners[symbol])
        faults = Faults(self.spec.faults, self.seed, lambda fault: check_fault(fault, self.services))
        book = Book(f"{self.run}-{self.seed}", self.services.schema.facts, opening)
        store, clock = Store(self.origin.image, self.guards), Clock(self.spec.now, self.spec.zone)
        return State(store, clock, edge, faults, book, dict(self.origin.counters))


class ClosedWorld(RuntimeError):
    """The world was closed; its ledger can still be read."""

    def __init__(self) -> None:
        super().__init__(
            "this world is closed: act on it inside its `with` block; its ledger can still be read"
        )


class World:
    """One isolated instance of the services. Made by `World.open`; closed by `close` or a `with` block."""

    def __init__(self, opening: Opening, state: State) -> None:
        self._opening, self._state = opening, state
        self._lock = threading.Lock()
        self._holder: int | None = None
        self._forks = 0
        self._closed = False

    @classmethod
    def open(
        cls,
        spec: WorldSpec | None = None,
        seed: int = 0,
        *,
        services: Iterable[type[Service] | Service],
        run: str = "run",
        style: str = "typed",
        guards: Guards = Guards(),  # noqa: B008  a frozen value
    ) -> World:
        """A new world of this specification; the same seed and run name give the same ids.

        Raises BadSeed where the specification does not fit the services.
        """
        spec = spec or WorldSpec()
        classes = classes_of(services)
        opening = Opening(spec, compiled(classes), template(spec, classes), seed, run, style, guards)
        return cls(opening, opening.state())

    @property
    def spec(self) -> WorldSpec:
        """What the world was made from."""
        return self._opening.spec

    @property
    def services(self) -> Services:
        """The services of the world, compiled."""
        return self._opening.services

    @property
    def seed(self) -> int:
        """The seed of its ids and of faults by chance."""
        return self._opening.seed

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def ledger(self) -> Ledger:
        """The three books, for reading."""
        return Ledger(self._state.book, replay=self._replay)

    @property
    def clock(self) -> Clock:
        """The virtual clock. Move it with `advance`."""
        return self._state.clock

    @property
    def faults(self) -> Faults:
        """The planned faults."""
        return self._state.faults

    @property
    def catalog(self) -> Catalog:
        """The tools of every operation, in the order of their declaration."""
        return Catalog(tuple(operation.tool for operation in self.services.operations.values()))

    def operation(self, name: str) -> Operation:
        """An operation by name. Raises LookupError with the nearest name."""
        found = self.services.operations.get(name)
        if found is None:
            raise LookupError(_no_operation(name, self.services))
        return found

    def id(self, symbol: str) -> str:
        """The raw id of an entity in this run. Raises LookupError for one that does not exist."""
        if symbol not in self._state.edge:
            self.row(symbol)
        with self._locked():
            return self._state.edge.raw(symbol)

    def row(self, symbol: str) -> Any:
        """The present row of an entity, as a frozen record. Raises LookupError where there is none."""
        table = self.services.schema.by_kind.get(symbol[1:].split(".", 1)[0])
        with self._locked():
            rows = self._state.store.run(table.get_sql, (symbol,)) if table else []
        if table is None or not rows:
            raise LookupError(
                f"{symbol} is no entity of this world; named are {', '.join(self._opening.origin.owners) or 'none'}"
            )
        return table.record(rows[0])

    def symbol(self, raw: str) -> str | None:
        """The symbol behind a raw id, or None."""
        return self._state.edge.anything(raw)

    @contextmanager
    def inspect(self) -> Generator[Session]:
        """A SQLModel session over a copy of the rows: look at will, nothing you do reaches the world."""
        from sandtrail.fakes.inspection import session  # noqa: PLC0415  SQLAlchemy's engine is heavy, and only for looking

        with self._locked():
            image = self._state.store.image()
        with session(image) as opened:
            yield opened

    # -- acting ----------------------------------------------------------------------------------------

    def call(
        self,
        operation: str,
        arguments: str | Mapping[str, Any] | None = None,
        /,
        *,
        principal: Principal | None = None,
        **named: Any,
    ) -> Answer:
        """Call an operation as a client would: raw ids in, raw ids out.

        `arguments` is JSON text or a mapping; or name them. Refusals are answers with a status of 400 and more;
        raises AnswerLost where a planned fault keeps the answer from the client.
        """
        given = arguments if arguments is not None else named
        return self.exchange(Call(operation, given, principal or self.spec.principal)).delivered()

    def exchange(self, call: Call, /) -> Exchange:
        """One call with everything that became of it, for callers that look behind the answer (wire, runner)."""
        with self._locked():
            return self._dispatcher().perform(call)

    def note(
        self,
        attempt: str,
        outcome: Outcome,
        *,
        detail: str,
        status: int = 0,
        path: str = "direct",
        arguments: str = "",
    ) -> Attempt:
        """Put an attempt on record that reached no operation: an unknown path, or a blocked request."""
        with self._locked():
            made = Attempt(
                seq=self._state.book.attempts + 1,
                operation=attempt,
                access=Access.READ,
                arguments=arguments,
                principal=self.spec.principal.subject,
                outcome=outcome,
                status=status,
                at=self._now_text(),
                path=path,
                detail=detail,
            )
            self._state.book.append(Page(Origin(OriginKind.ATTEMPT), made, at=made.at))
            return made

    def advance(self, length: str | timedelta) -> None:
        """Let time pass: "3 days". What is due then happens, held calls run; the books name the clock as its origin."""
        with self._locked():
            self._dispatcher().advance(span(length))

    @contextmanager
    def event(self, what: str) -> Generator[Tx]:
        """Something that happens in the world by itself, told in words; its changes have the origin "event"."""
        with self._locked(), self._dispatcher().pages.event(OriginKind.EVENT, what) as tx:
            yield tx

    def fork(self) -> World:
        """A world that continues from here with the same ids and books; this one is untouched. Refused inside a call."""
        with self._locked():
            self._forks += 1
            now = self._state
            state = State(
                Store(now.store.image(), self._opening.guards),
                now.clock.copy(),
                now.edge.copy(),
                now.faults.copy(),
                now.book.copy(f"{now.book.run}/fork-{self._forks}"),
                dict(now.counters),
                list(now.held),
            )
            return World(self._opening, state)

    def reset(self) -> None:
        """Back to the opening: a new store, new books, the clock and the faults as specified. Ids stay the same."""
        with self._locked():
            old = self._state
            self._state = self._opening.state()
            old.store.close()

    def close(self) -> None:
        """Give the store's memory back. The ledger stays readable, but can no longer be replayed."""
        with self._locked():
            self._state.store.close()
            self._closed = True

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def rows(self, entity: type[Entity], /, **wanted: Any) -> list[Any]:
        """The present rows of an entity that fit, oldest first, as frozen records with symbols."""
        with self._locked():
            return system_tx(self._state.store, self._state.clock, {}, self.services).select(entity, **wanted)

    # -- inside ----------------------------------------------------------------------------------------

    @contextmanager
    def _locked(self) -> Generator[None]:
        me = threading.get_ident()
        if self._holder == me:
            raise NestedCall
        if self._closed:
            raise ClosedWorld
        with self._lock:
            self._holder = me
            try:
                yield
            finally:
                self._holder = None

    def _dispatcher(self) -> Dispatcher:
        return Dispatcher(self.services, self._state, self._opening.origin.image)

    def _now_text(self) -> str:
        return self._state.clock.text

    def _replay(self) -> tuple[Finding, ...]:
        """R3 over the whole world. A hole, or a row, that the books already name is not said again."""
        with self._locked():
            self._dispatcher().pages.strays()
            breaches = self._state.book.breaches
            known = {"ledger.capture_hole", "ledger.tampered"}
            if not self._opening.guards.replay or any(breach.code in known for breach in breaches):
                return ()
            changes = [change for page in self._state.book.pages for change in page.changes]
            misfit = replay(self._opening.origin.image, changes, self._state.store)
            if misfit is None:
                return ()
            row = re.compile(rf"{re.escape(f'{misfit.table} {misfit.key}')}(?![\w-])")
            if any(row.search(breach.reason) for breach in breaches):
                return ()
            return (Finding("ledger.capture_hole", "the end", misfit.reason),)


def check_fault(fault: Fault, services: Services) -> None:
    """Raise LookupError for an operation that is not there, ValueError for one that the fault cannot strike."""
    operation = services.operations.get(fault.operation)
    if operation is None:
        raise LookupError(_no_operation(fault.operation, services))
    if fault.kind is FaultKind.STALE_READ and operation.access is Access.WRITE:
        raise ValueError(f"stale_read cannot strike {fault.operation}: it writes; only reads can be stale")


def _no_operation(name: str, services: Services) -> str:
    return f"no operation {name!r}{near(name, services.operations)}"
