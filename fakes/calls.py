"""One call, from the door to the books.

    take strays -> parse -> [door faults] -> validate -> scope -> idempotency -> unknown ids -> [stale read]
    -> BEGIN -> visible ids -> version -> handler -> encode -> [time-out] -> COMMIT or ROLLBACK
    -> take changes -> page (reconciled) -> [answer lost, slow, malformed, twice] -> answer

Everything here runs under the world's lock. No text a client sends, and no bug in a service, makes it raise: whatever
became of a call is in its attempt. (A Python caller's arguments that are no JSON are a TypeError.)
"""

from __future__ import annotations

import hashlib
import json
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sandtrail.fakes.answers import Answer, Exchange
from sandtrail.fakes.arguments import parse
from sandtrail.fakes.bookkeeping import Idempotency, SymbolicEdge, materialised
from sandtrail.fakes.encoding import Arrivals
from sandtrail.fakes.faults import Point
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.image import Services, canonical, sibling, system_tx
from sandtrail.fakes.operations import BadOperation, Operation
from sandtrail.fakes.pages import Pages
from sandtrail.fakes.problems import (
    Conflict,
    Denied,
    Failed,
    Flaw,
    Invalid,
    NotFound,
    Problem,
    Unknown,
    Unready,
)
from sandtrail.fakes.state import Call, Held, State
from sandtrail.fakes.store import Image, Store
from sandtrail.ledgers.entries import Attempt, Effect, Origin
from sandtrail.ledgers.specs import Fault, FaultKind, kind_of
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.words import Access, Delivery, OriginKind, Outcome

_DOOR = {
    FaultKind.RATE_LIMITED: (429, "rate_limited", "Too many requests; wait {seconds} seconds."),
    FaultKind.UNAVAILABLE: (503, "unavailable", "The service is not available right now."),
}


@dataclass(slots=True)
class _Run:
    """One call on its way: filled step by step, closed into an attempt."""

    call: Call
    seq: int
    operation: Operation | None
    text: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    outcome: Outcome = Outcome.OK
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    rule: str | None = None
    detail: str | None = None
    delivery: Delivery = Delivery.DELIVERED
    faults: list[Fault] = field(default_factory=list[Fault])
    effects: tuple[Effect, ...] = ()
    key: str | None = None
    version: int | None = None
    rows: Mapping[tuple[str, str], Any] = field(default_factory=dict[tuple[str, str], Any])


class Dispatcher:
    """Takes calls for one world's present state."""

    def __init__(self, services: Services, state: State, origin: Image) -> None:
        self._services, self._state = services, state
        self.pages = Pages(services, state, origin)

    # -- the way of a call -----------------------------------------------------------------------------

    def perform(self, call: Call) -> Exchange:
        """One call and what became of it."""
        self.pages.strays()
        run = _Run(call, self._state.book.attempts + 1, self._services.operations.get(call.operation), "")
        try:
            self._prepare(run)
            if not self._at_door(run):
                self._execute(run)
        except Problem as problem:
            self._refuse(run, problem)
        exchange = self._close(run)
        if any(fault.kind is FaultKind.DUPLICATE_DELIVERY for fault in run.faults):
            self.perform(replace(call, resumes=None, redelivered=True))
        return exchange

    def _prepare(self, run: _Run) -> None:
        """Read the arguments; the headers' key and version may also stand among them."""
        call = run.call
        run.text = (
            call.arguments
            if isinstance(call.arguments, str)
            else _dumped(call.operation, {**call.in_path, **call.arguments})
        )
        if run.operation is None:
            hint = near(call.operation, self._services.operations)
            raise Unknown("unknown_operation", f"There is no tool {call.operation!r}{hint}")
        if call.refusal is not None:
            raise call.refusal
        run.arguments = parse(run.text)
        sent: Mapping[str, Any] = run.arguments if isinstance(call.arguments, str) else call.arguments
        twice = sorted(name for name in call.in_path if name in sent)
        if twice:
            detail = f"{', '.join(twice)} stands in the path and again beside it."
            raise Invalid("twice", detail, allowed="once, in the path", status=422)
        if call.in_path and isinstance(call.arguments, str):
            run.arguments = {**call.in_path, **run.arguments}
            run.text = to_json(run.arguments)
        declared = run.operation.declared
        run.key, run.version = call.idempotency_key, call.if_version
        if declared.idempotent and "idempotency_key" in run.arguments:
            run.key = run.arguments.pop("idempotency_key")
        if declared.versioned and "if_version" in run.arguments:
            run.version = run.arguments.pop("if_version")
        _check_headers(run)

    def _at_door(self, run: _Run) -> bool:
        """Whether a fault stops the call before it is validated."""
        fault = self._strike(run, Point.DOOR)
        if fault is None:
            return False
        run.outcome = Outcome.NOT_APPLIED
        if fault.kind is FaultKind.HELD_OPEN:
            run.delivery = Delivery.LOST
            until = self._state.clock.now() + timedelta(seconds=fault.seconds)
            self._state.held.append(
                Held(replace(run.call, resumes=run.seq), until, run.seq, self._record_id(run))
            )
            return True
        status, rule, words = _DOOR[fault.kind]
        headers = {"retry-after": str(fault.seconds)} if status == 429 else {}
        raise Unready(rule, words.format(seconds=fault.seconds), status=status, headers=headers)

    def _execute(self, run: _Run) -> None:
        """Validate, permit, and let the handler act in one transaction."""
        operation = _known(run)
        arrivals = Arrivals(lambda symbol: self._visible(run, symbol))
        arguments = operation.decode(run.arguments, self._state.edge, arrivals)
        if not run.call.principal.may(operation.scope):
            raise Denied(
                "scope",
                f"{operation.name} needs the scope {operation.scope}.",
                allowed="ask a person who has it",
            )
        if self._replayed(run):
            return
        store = self._state.store
        stale = self._strike(run, Point.STORE)
        if stale is not None:
            store = self.pages.as_of(self._state.clock.now() - timedelta(seconds=stale.seconds))
        try:
            self._transact(run, operation, arguments, arrivals, store)
        finally:
            if store is not self._state.store:
                store.close()

    def _transact(
        self, run: _Run, operation: Operation, arguments: Mapping[str, Any], arrivals: Arrivals, store: Store
    ) -> None:
        tx = self._tx(run, operation, store)
        counters = dict(self._state.counters)
        store.begin()
        commit = False
        try:
            self._permit(tx, operation, arguments, arrivals, run.version)
            commit = self._handle(run, operation, arguments, tx)
        except Problem:
            raise
        except Exception as error:  # noqa: BLE001  a service may raise anything; that is an outcome of its own
            self._crash(run, error)
        except BaseException:  # an interrupt: on record, then on its way
            run.outcome, run.status, run.detail = Outcome.CRASHED, 500, "interrupted"
            self._finish(store, tx, counters, commit=False)
            self._close(run)
            raise
        finally:
            ended = self._finish(store, tx, counters, commit=commit)
        if run.outcome is Outcome.CRASHED:
            return
        if not ended:
            self._crash(run, RuntimeError("the service ended the transaction itself"))
        elif not commit:
            run.outcome, run.delivery, run.detail = (
                Outcome.NOT_APPLIED,
                Delivery.LOST,
                "rolled back before commit",
            )
        else:
            run.effects, run.rows = tuple(tx.effects), tx.latest
            if self._strike(run, Point.AFTER_COMMIT) is not None:
                run.delivery = Delivery.LOST

    def _handle(self, run: _Run, operation: Operation, arguments: Mapping[str, Any], tx: Tx) -> bool:
        """Let the handler act, and encode what it returns; whether to commit."""
        result: Any = operation.handler(tx, **arguments)
        self._state.edge.keep_apart(tx.created)
        if isinstance(result, Iterator):
            result = [*result]  # pyright: ignore[reportUnknownVariableType]  it is read twice where the answer is kept
        run.body = operation.encode(result, self._state.edge)
        to_json(run.body)  # what is no JSON must not commit
        _entitle(run, result)
        if self._strike(run, Point.BEFORE_COMMIT) is not None:
            return False
        self._record(run, operation.encode(result, SymbolicEdge()) if run.key else None, tx)
        return True

    def _finish(self, store: Store, tx: Tx, counters: Mapping[str, int], *, commit: bool) -> bool:
        """End the transaction; a rollback also takes back the ids it made. False where the service had ended it."""
        ended = store.end(commit=commit)
        tx.over = True
        if not commit:
            store.forget_rollback()
            self._state.edge.forget(tx.created)
            self._state.counters.clear()
            self._state.counters.update(counters)
        return ended

    def _close(self, run: _Run) -> Exchange:
        """The attempt into the books, its changes and issued ids with it; then the wire's own faults."""
        if run.delivery is not Delivery.LOST and not run.call.redelivered:
            self._on_wire(run)
        text = to_json(run.body)
        attempt = Attempt(
            seq=run.seq,
            operation=run.call.operation,
            access=run.operation.access if run.operation else Access.READ,
            arguments=run.text,
            principal=run.call.principal.subject,
            outcome=run.outcome,
            delivery=run.delivery,
            fault=" + ".join(map(str, run.faults)) or None,
            status=run.status,
            rule=run.rule,
            answer=text,
            at=self._state.clock.text,
            path=run.call.path,
            idempotency_key=run.key,
            resumes=run.call.resumes,
            detail=run.detail,
            symbolic=self._state.edge.symbolic(run.text),
        )
        self.pages.close(Origin(OriginKind.ATTEMPT), attempt, run.effects, run.rows)
        for fault in run.faults:
            if fault.kind is FaultKind.SLOW:
                self.advance(timedelta(seconds=fault.seconds))
        seen = text[: len(text) // 2] if run.delivery is Delivery.CORRUPTED else text
        content = "application/json" if run.status < 400 else "application/problem+json"
        return Exchange(attempt, Answer(run.status, seen, {"content-type": content, **run.headers}, run.seq))

    def _on_wire(self, run: _Run) -> None:
        fault = self._strike(run, Point.WIRE)
        if fault is not None and fault.kind is not FaultKind.DUPLICATE_DELIVERY:
            run.delivery = Delivery.CORRUPTED if fault.kind is FaultKind.MALFORMED else Delivery.DELAYED

    # -- the steps -------------------------------------------------------------------------------------

    def _permit(
        self,
        tx: Tx,
        operation: Operation,
        arguments: Mapping[str, Any],
        arrivals: Arrivals,
        version: int | None,
    ) -> None:
        """Every id, in the order of the arguments, names a row that the principal may see, at the version it has read.

        One pass for unknown and foreign ids, so that the order of checks does not tell the two apart.
        """
        for kind, raw, symbol in arrivals.ids:
            if symbol is None:
                raise NotFound(kind, self._state.edge.inward(raw, lambda _: False))
            table = self._services.schema.by_kind.get(kind)
            if table is not None:
                tx.check(table.entity, symbol)
        named = operation.declared.versioned
        if named is not None and version is not None:
            table = self._services.schema.by_kind[operation.id_kinds[named][0]]
            row = tx.get(table.entity, arguments[named])
            tx.check(table.entity, arguments[named])
            if row.__dict__["version"] != version:
                detail = f"You hold version {version}, the present version is {row.__dict__['version']}."
                raise Conflict("version", detail, allowed="read it again, then decide", status=412)

    def _visible(self, run: _Run, symbol: str) -> bool:
        """Whether the principal may see an entity that its text mentions; else the text stays as it is."""
        table = self._services.schema.by_kind.get(kind_of(symbol))
        if table is None or run.operation is None:
            return False
        try:
            self._tx(run, run.operation, self._state.store).get(table.entity, symbol)
        except NotFound:
            return False
        return True

    def _replayed(self, run: _Run) -> bool:
        """Whether the idempotency record answers this call. Raises Conflict for a key in use."""
        record_id = self._record_id(run)
        if record_id is None:
            return False
        if any(held.key == record_id and held.attempt != run.call.resumes for held in self._state.held):
            raise Conflict(
                "idempotency.in_flight",
                "A request with this key is still in flight.",
                allowed="wait, then repeat it",
            )
        record = system_tx(self._state.store, self._state.clock, {}, self._services).find(
            Idempotency, id=record_id
        )
        if record is None:
            return False
        if record.fingerprint != _fingerprint(run):
            detail = "This idempotency key was used for another request."
            raise Conflict("idempotency.conflict", detail, allowed="a new key for a new request", status=422)
        run.outcome, run.status, run.rule = Outcome.REPLAYED, record.status, "idempotency.replay"
        run.body = materialised(json.loads(record.body), self._state.edge)
        run.headers["idempotent-replayed"] = "true"
        return True

    def _record_id(self, run: _Run) -> str | None:
        if run.key is None or run.operation is None or not run.operation.declared.idempotent:
            return None
        who = run.call.principal
        said = canonical([who.subject, who.tenants, who.customer, run.key])
        return f"$idempotency.{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def _record(self, run: _Run, body: Any, tx: Tx) -> None:
        """Keep the answer under the call's key, in the transaction of its effects."""
        record_id = self._record_id(run)
        if record_id is not None:
            tx.insert(
                Idempotency,
                id=record_id,
                fingerprint=_fingerprint(run),
                status=run.status,
                body=json.dumps(body),
            )

    def _refuse(self, run: _Run, problem: Problem) -> None:
        """The problem document as the answer; a business refusal under a key is kept like any answer."""
        body = problem.body()
        try:
            to_json(body)
        except TypeError as error:
            self._crash(run, error)
            return
        run.outcome, run.status, run.rule = problem.outcome, problem.status, problem.rule
        run.headers.update(problem.headers)
        # these speak about the client's own text, where a symbol is just text
        own_words = isinstance(problem, Invalid | Unknown)
        run.body = body if own_words else materialised(body, self._state.edge)
        run.detail = self._state.edge.symbolic(problem.detail)
        if (
            problem.outcome is Outcome.REJECTED
            and not isinstance(problem, NotFound)
            and self._record_id(run) is not None
        ):
            store = self._state.store
            store.begin()
            tx = system_tx(store, self._state.clock, {}, self._services)
            if tx.find(Idempotency, id=self._record_id(run)) is None:
                self._record(run, body, tx)
            store.end(commit=True)

    def _crash(self, run: _Run, error: Exception) -> None:
        """A service's bug: an answer without its innards, and the place of the bug in the books."""
        frame = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
        where = f" at {Path(frame.filename).name}:{frame.lineno}" if frame else ""
        problem = Failed("internal", "The service failed.")
        run.outcome, run.status, run.rule, run.body = Outcome.CRASHED, 500, "internal", problem.body()
        run.headers.clear()
        run.detail = f"{type(error).__name__}: {_words_of(error)}{where}"

    def _tx(self, run: _Run, operation: Operation, store: Store) -> Tx:
        def call(tx: Tx, name: str, arguments: Mapping[str, Any]) -> Any:
            other = self._services.operations.get(name)
            if other is not None and operation.access is Access.READ and other.access is Access.WRITE:
                raise BadOperation(f"{operation.name} only reads; it cannot call {name}, which writes")
            return sibling(self._services, tx, name, arguments)

        return Tx(
            store,
            clock=self._state.clock,
            principal=run.call.principal,
            counters=self._state.counters,
            call=call,
            offered=self._services.operations.__contains__,
            attempt=run.seq,
            external=operation.declared.external,
        )

    def _strike(self, run: _Run, point: Point) -> Fault | None:
        if self._state.faults.quiet:
            return None
        fault = self._state.faults.strike(point, run.call.operation, lambda: self._named(run.arguments))
        if fault is not None:
            run.faults.append(fault)
        return fault

    def _named(self, arguments: Mapping[str, Any]) -> list[str]:
        found = (self._state.edge.anything(value) for value in arguments.values() if isinstance(value, str))
        return [symbol for symbol in found if symbol is not None]

    # -- time and events -------------------------------------------------------------------------------

    def advance(self, length: timedelta) -> None:
        """Let time pass: held calls that are due run, then what time does by itself."""
        before = self._state.clock.now()
        self._state.clock.move(length)
        self._release(self._state.clock.now())
        after = self._state.clock.now()
        with self.pages.event(OriginKind.CLOCK, self._state.clock.text) as tx:
            for service in self._services.instances:
                service.on_clock(tx, before, after)

    def _release(self, now: datetime) -> None:
        """Run the held calls that are due; their answers reach nobody."""
        for held in [held for held in self._state.held if held.until <= now]:
            exchange = self._perform_late(held)
            self._state.held.remove(held)
            assert exchange.attempt.resumes == held.attempt

    def _perform_late(self, held: Held) -> Exchange:
        self.pages.strays()
        run = _Run(
            held.call, self._state.book.attempts + 1, self._services.operations.get(held.call.operation), ""
        )
        run.delivery = Delivery.LOST
        try:
            self._prepare(run)
            self._execute(run)
        except Problem as problem:
            self._refuse(run, problem)
        run.delivery = Delivery.LOST
        return self._close(run)


to_json = json.JSONEncoder(ensure_ascii=False).encode
"""JSON text as the world writes it."""


def _words_of(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an exception of a service may be unable to say what it is
        return "(it cannot say what)"


def _known(run: _Run) -> Operation:
    assert run.operation is not None, "an unknown operation was refused before"
    return run.operation


def _dumped(operation: str, arguments: Mapping[str, Any]) -> str:
    try:
        return to_json(arguments)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(f"{operation}: the arguments are no JSON: {error}") from None


def _check_headers(run: _Run) -> None:
    flaws: list[Flaw] = []
    if run.key is not None and not (isinstance(run.key, str) and 1 <= len(run.key) <= 128):  # pyright: ignore[reportUnnecessaryIsInstance]
        flaws.append(Flaw("/idempotency_key", "text of 1 to 128 characters is wanted"))
        run.key = None
    if run.version is not None and type(run.version) is not int:
        flaws.append(Flaw("/if_version", "a whole number is wanted"))
        run.version = None
    if flaws:
        raise Invalid(
            "schema", "; ".join(f"{flaw.pointer}: {flaw.detail}" for flaw in flaws), flaws=tuple(flaws)
        )


def _fingerprint(run: _Run) -> str:
    return hashlib.sha256(
        canonical([run.call.operation, run.arguments]).encode("utf-8", "surrogatepass")
    ).hexdigest()


def _entitle(run: _Run, result: Any) -> None:
    version = getattr(result, "version", None)
    if isinstance(version, int):
        run.headers["etag"] = f'"{version}"'
