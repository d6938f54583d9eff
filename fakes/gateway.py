"""The gateway: all that a handler sees of the store.

    tx.get(Ticket, ticket_id)                       one row, or NotFound
    tx.find(Ticket, customer_id=..., status="open") the first that fits, or None
    tx.select(Ticket, subject=Contains("lamp"))     all that fit, oldest first
    tx.insert(Ticket, customer_id=...)              a new row; its id is minted
    tx.update(ticket, status="closed")              the next version of a row
    tx.delete(ticket)

Rows of other tenants, or of other customers than the principal's own, are not there. Every write belongs to
an effect: `effect="ticket.closed"` on the write itself, or around several of them

    with tx.effect("refund.created", payment=payment.id, amount=4250):
        ...

A handler calls its siblings through `tx.call("get_balance", customer_id=...)`, in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from sandtrail.fakes.clock import Clock
from sandtrail.fakes.entities import Entity, Table
from sandtrail.fakes.problems import NotFound
from sandtrail.fakes.store import Schema, Store
from sandtrail.ledgers.entries import Effect, RowClaim, Scalar
from sandtrail.ledgers.specs import Principal

E = TypeVar("E", bound=Entity)


class BadWrite(TypeError):
    """A handler asked the gateway for something that cannot be: a bug in the service, never the agent's fault."""


@dataclass(frozen=True, slots=True)
class Contains:
    """Text that contains this, whatever the case."""

    text: str


@dataclass(frozen=True, slots=True)
class Same:
    """Text that is this, whatever the case."""

    text: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A value among these."""

    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A value not below this."""

    value: Any


@dataclass(frozen=True, slots=True)
class AtMost:
    """A value not above this."""

    value: Any


Condition: TypeAlias = Contains | Same | OneOf | AtLeast | AtMost


class _Open:
    """An effect that is being filled: the rows written while it is the innermost one."""

    def __init__(self, name: str, facts: Mapping[str, Any], *, external: bool) -> None:
        self.name, self.facts, self.external = name, facts, external
        self.rows: dict[tuple[str, str], dict[str, Scalar] | None] = {}

    def claim(self, table: str, key: str, cells: Mapping[str, Scalar] | None) -> None:
        known = self.rows.get((table, key))
        self.rows[table, key] = None if cells is None else {**(known or {}), **cells}

    def close(self, attempt: int | None) -> Effect:
        rows = tuple(RowClaim(table, key, cells) for (table, key), cells in self.rows.items())
        return Effect(self.name, self.facts, rows, self.external, attempt)


class Tx:
    """One handler's transaction."""

    def __init__(
        self,
        store: Store,
        *,
        clock: Clock,
        principal: Principal,
        counters: dict[str, int],
        call: Callable[[Tx, str, Mapping[str, Any]], Any],
        offered: Callable[[str], bool],
        attempt: int | None = None,
        external: Sequence[str] = (),
    ) -> None:
        self._store, self._clock, self._counters = store, clock, counters
        self._call, self._offered, self._attempt, self._external = call, offered, attempt, external
        self._open: list[_Open] = []
        self.latest: dict[tuple[str, str], Any] = {}
        self._checked: dict[tuple[type[Entity], str], Any] = {}
        self.principal = principal
        self.over = False
        self.effects: list[Effect] = []
        self.created: list[str] = []

    @property
    def now(self) -> datetime:
        """The virtual instant, in UTC."""
        return self._clock.now()

    @property
    def local_now(self) -> datetime:
        """The virtual instant on a wall clock of the world's zone."""
        return self._clock.local()

    # -- reading ---------------------------------------------------------------------------------------

    def get(self, entity: type[E], key: str, /) -> E:
        """The row with this id. Raises NotFound where there is none that the principal may see."""
        known = self._checked.pop((entity, key), None)
        if isinstance(known, entity):
            return known
        table = self._table(entity)
        rows = self._store.run(table.get_sql, (key,))
        if not rows:
            raise NotFound(table.kind or table.name, key)
        record: E = table.record(rows[0])
        if not self.sees(table, record):
            raise NotFound(table.kind or table.name, key, denied=True)
        return record

    def check(self, entity: type[Entity], key: str, /) -> Any:
        """The row behind an id argument, checked before the handler runs; its own first `get` is then free."""
        row = self.get(entity, key)
        self._checked[entity, key] = row
        return row

    def find(self, entity: type[E], /, **wanted: Any) -> E | None:
        """The oldest row that fits, or None."""
        found = self.select(entity, limit=1, **wanted)
        return found[0] if found else None

    def select(
        self,
        entity: type[E],
        /,
        *,
        after: str | None = None,
        limit: int | None = None,
        **wanted: Any,
    ) -> list[E]:
        """The rows that fit every named column, oldest first: a value, None, or Contains, Same, OneOf, AtLeast,
        AtMost.

        `after` is the id of the last row of the page before.
        """
        table = self._table(entity)
        clauses, values = _conditions(table, [*wanted.items(), *self._narrowed(table)])
        if after is not None:
            clauses.append(f'rowid > (SELECT rowid FROM "{table.name}" WHERE "id" = ?)')
            values.append(after)
        sql = table.select_sql + (f" WHERE {' AND '.join(clauses)}" if clauses else "")
        sql += " ORDER BY rowid" + (f" LIMIT {int(limit)}" if limit is not None else "")
        return [table.record(row) for row in self._store.run(sql, values)]

    def taken(self, entity: type[Entity], /, *, besides: str | None = None, **wanted: Any) -> bool:
        """Whether any row has these values, `besides` aside, in whoever's hands: for what must be unique."""
        table = self._table(entity)
        clauses, values = _conditions(table, list(wanted.items()))
        sql = f'SELECT "id" FROM "{table.name}" WHERE {" AND ".join(clauses)}'
        return any(key != besides for (key,) in self._store.run(sql, values))

    def sees(self, table: Table, record: Any) -> bool:
        """Whether the principal may see a row: its tenant and, for a customer, only what is theirs."""
        if (
            table.has_tenant
            and record.tenant not in self.principal.tenants
            and "*" not in self.principal.tenants
        ):
            return False
        own = self.principal.customer
        return own is None or table.owner is None or getattr(record, table.owner) == own

    def _narrowed(self, table: Table) -> list[tuple[str, Any]]:
        """The conditions that keep a query to what the principal may see."""
        narrowed: list[tuple[str, Any]] = []
        if table.has_tenant and "*" not in self.principal.tenants:
            narrowed.append(("tenant", OneOf(self.principal.tenants)))
        if self.principal.customer is not None and table.owner is not None:
            narrowed.append((table.owner, self.principal.customer))
        return narrowed

    # -- writing ---------------------------------------------------------------------------------------

    def insert(self, entity: type[E], /, *, effect: str | None = None, **values: Any) -> E:
        """A new row; its id is minted, missing columns take their defaults."""
        table = self._table(entity)
        unknown = set(values) - set(table.by_name)
        if unknown:
            raise BadWrite(
                f"{table.name} has no column {', '.join(sorted(unknown))}; it has {', '.join(table.columns)}"
            )
        key: str = values.get("id") or self._mint(table)
        stored = self._stored(table, {**values, "id": key})
        for field in table.fields:
            if field.name not in stored:
                if field.default is None:
                    raise BadWrite(f"{table.name}.{field.name} has no default; give it a value")
                stored |= self._stored(table, {field.name: field.default()})
        row = tuple(stored[name] for name in table.columns)
        self._store.run(table.insert_sql, row)
        self._claim(table, key, stored, effect, {table.kind or table.name: key})
        return self._kept(entity, table, table.record(row))

    def _kept(self, _: type[E], table: Table, record: Any) -> E:
        """The record, remembered as the row's present one: an older record of it is then no base for an update."""
        self.latest[table.name, record.id] = record
        self._checked.clear()
        kept: E = record
        return kept

    def update(self, row: E, /, *, effect: str | None = None, **values: Any) -> E:
        """The row with these columns changed (and its version, where it has one, moved on); the same row if none differs."""
        table = self._table(type(row))
        unknown = set(values) - set(table.by_name)
        if unknown or "id" in values:
            raise BadWrite(
                f"{table.name}: cannot set {', '.join(sorted(unknown or {'id'}))}; it has {', '.join(table.columns)}"
            )
        key: str = getattr(row, "id")  # noqa: B009  every table has one, Entity itself does not
        base = self.latest.get((table.name, key), row)
        given = self._stored(table, values)
        stored = {
            name: cell
            for name, cell in given.items()
            if table.by_name[name].store(getattr(base, name)) != cell
        }
        changed = {name: values[name] for name in stored}
        if table.has_version and changed:
            changed["version"] = stored["version"] = getattr(base, "version") + 1  # noqa: B009  checked by has_version
        if stored:
            self._store.run(_update_sql(table, list(stored)), [*stored.values(), key])
        self._claim(table, key, stored, effect, {table.kind or table.name: key})
        return self._kept(type(row), table, table.changed(base, changed))

    def delete(self, row: Entity, /, *, effect: str | None = None) -> None:
        """Remove a row."""
        table = self._table(type(row))
        key: str = getattr(row, "id")  # noqa: B009  every table has one, Entity itself does not
        self._checked.clear()
        self._store.run(f'DELETE FROM "{table.name}" WHERE "id" = ?', (key,))
        self._claim(table, key, None, effect, {table.kind or table.name: key})

    @contextmanager
    def effect(self, name: str, /, *, external: bool = False, **facts: Any) -> Generator[None]:
        """Declare what the writes inside it mean. `external` marks what leaves the world."""
        opened = _Open(name, facts, external=self._is_external(name, external=external))
        self._open.append(opened)
        try:
            yield
        finally:
            self._open.pop()
        self.effects.append(opened.close(self._attempt))

    def _is_external(self, name: str, *, external: bool) -> bool:
        if external and name not in self._external:
            raise BadWrite(
                f"{name} leaves the world, but the operation does not declare external=({name!r},)"
            )
        return external

    def _claim(
        self,
        table: Table,
        key: str,
        cells: Mapping[str, Scalar] | None,
        effect: str | None,
        facts: Mapping[str, Any],
    ) -> None:
        if effect is not None:
            opened = _Open(effect, facts, external=False)
            self.effects.append(self._claimed(opened, table, key, cells).close(self._attempt))
        elif self._open and cells != {}:
            self._claimed(self._open[-1], table, key, cells)

    @staticmethod
    def _claimed(opened: _Open, table: Table, key: str, cells: Mapping[str, Scalar] | None) -> _Open:
        if cells != {} and table.fact.business:
            opened.claim(table.name, key, cells)
        return opened

    def _stored(self, table: Table, values: Mapping[str, Any]) -> dict[str, Scalar]:
        try:
            return table.cells(values)
        except (TypeError, ValueError) as error:
            raise BadWrite(f"{table.name}: {error}") from error

    def _mint(self, table: Table) -> str:
        kind = table.kind or table.name
        self._counters[kind] = self._counters.get(kind, 0) + 1
        symbol = f"${kind}.{self._counters[kind]}"
        self.created.append(symbol)
        return symbol

    # -- siblings --------------------------------------------------------------------------------------

    def offers(self, operation: str) -> bool:
        """Whether this world has an operation of that name."""
        return self._offered(operation)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """What another operation's handler returns, inside this transaction. Ids are symbols here."""
        return self._call(self, operation, arguments)

    def _table(self, entity: type[Entity]) -> Table:
        if self.over:
            raise BadWrite(
                "this transaction has ended; a handler acts while it is called, with the tx it was given"
            )
        schema: Schema = self._store.schema
        table = schema.by_entity.get(entity)
        if table is None:
            raise BadWrite(f"{entity.__name__} is no table of this world; it has {', '.join(schema.by_name)}")
        return table


def _update_sql(table: Table, names: Sequence[str]) -> str:
    sets = ", ".join(f'"{name}" = ?' for name in names)
    return f'UPDATE "{table.name}" SET {sets} WHERE "id" = ?'


def _conditions(table: Table, wanted: Sequence[tuple[str, Any]]) -> tuple[list[str], list[Any]]:
    """The SQL of the conditions, and the values they bind."""
    clauses: list[str] = []
    values: list[Any] = []
    for name, value in wanted:
        field = table.by_name.get(name)
        if field is None:
            raise BadWrite(f"{table.name} has no column {name}; it has {', '.join(table.columns)}")
        match value:
            case None:
                clauses.append(f'"{name}" IS NULL')
            case Contains(text):
                clauses.append(f'instr({_folding(text)}("{name}"), ?) > 0')
                values.append(text.casefold())
            case Same(text):
                clauses.append(f'{_folding(text)}("{name}") = ?')
                values.append(text.casefold())
            case OneOf(members):
                clauses.append(f'"{name}" IN ({", ".join("?" for _ in members)})')
                values.extend(field.store(member) for member in members)
            case AtLeast(bound):
                clauses.append(f'"{name}" >= ?')
                values.append(field.store(bound))
            case AtMost(bound):
                clauses.append(f'"{name}" <= ?')
                values.append(field.store(bound))
            case _:
                clauses.append(f'"{name}" = ?')
                values.append(field.store(value))
    return clauses, values


def _folding(text: str) -> str:
    """SQLite's own `lower` knows ASCII only; `fold` is Python's, and slower."""
    return "lower" if text.isascii() else "fold"
