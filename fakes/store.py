"""The store: one in-memory SQLite per world, cloned from an image, that records every change of a row by itself.

Evidence does not rest on what services say. Triggers on every table write before and after of each row into
`_change`; an allow-list authorizer refuses whatever could switch them off; pragmas are asserted at every open
(a clone forgets them); the schema's version and SQLite's own count of changes are compared after each call.
Services never hold the connection: they get a gateway (fakes.gateway).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sandtrail.fakes.entities import Table
from sandtrail.ledgers.entries import Change, Scalar
from sandtrail.ledgers.specs import TableFact

_CHANGE = "CREATE TABLE _change (n INTEGER PRIMARY KEY, tbl INTEGER NOT NULL, old TEXT, new TEXT) STRICT"
_read = json.JSONDecoder().raw_decode
_TAKE = "SELECT n, tbl, old, new FROM _change WHERE n > ? ORDER BY n"
_PRAGMAS = {"recursive_triggers": 1, "foreign_keys": 1}
_FUNCTIONS = frozenset(
    {"json_array", "instr", "lower", "fold", "count", "sum", "max", "min", "coalesce", "total_changes"}
)
_VERBS = {sqlite3.SQLITE_INSERT: "INSERT", sqlite3.SQLITE_UPDATE: "UPDATE", sqlite3.SQLITE_DELETE: "DELETE"}
_ACTIONS = {
    getattr(sqlite3, name): name.removeprefix("SQLITE_").replace("_", " ")
    for name in dir(sqlite3)
    if name.startswith(
        ("SQLITE_CREATE", "SQLITE_DROP", "SQLITE_ALTER", "SQLITE_ATTACH", "SQLITE_DETACH", "SQLITE_PRAGMA")
    )
    or name
    in {"SQLITE_TRANSACTION", "SQLITE_SAVEPOINT", "SQLITE_ANALYZE", "SQLITE_REINDEX", "SQLITE_FUNCTION"}
}


@dataclass(frozen=True, slots=True)
class Guards:
    """Which guards of the evidence stand. All of them, except where the self-test lifts one to prove another.

    authorizer: refuses statements at prepare time · schema: notices a changed schema or pragma ·
    fence: compares SQLite's own count with the captured rows · replay: redoes all changes at the end (R3)
    """

    authorizer: bool = True
    schema: bool = True
    fence: bool = True
    replay: bool = True


class Schema:
    """The tables of a world, in a fixed order, with everything that is derived from them once."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tuple(tables)
        self.by_name = {table.name: table for table in tables}
        self.by_kind = {table.kind: table for table in tables if table.kind}
        self.by_entity = {table.entity: table for table in tables}
        self.facts: Mapping[str, TableFact] = {table.name: table.fact for table in tables}

    def create(self, db: sqlite3.Connection) -> None:
        """Make the tables, their indexes, their triggers and the change table."""
        present = {kind: table.name for kind, table in self.by_kind.items()}
        db.execute(_CHANGE)
        for number, table in enumerate(self.tables):
            for statement in (*table.ddl(present), *table.triggers(number)):
                db.execute(statement)


@dataclass(frozen=True, slots=True)
class Image:
    """A seeded store as bytes, with its schema: what worlds are cloned from."""

    schema: Schema
    data: bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """What one take found: the captured changes, and whether the database counted more than it captured."""

    changes: tuple[Change, ...]
    hole: str | None


@dataclass(frozen=True, slots=True)
class Misfit:
    """A row that is not what the recorded changes lead to, in words."""

    table: str
    key: str
    reason: str


class Store:
    """One world's database. Not thread-safe by itself: the world's lock stands around every use."""

    def __init__(self, image: Image, guards: Guards = Guards()) -> None:
        self.schema, self._guards = image.schema, guards
        self._db = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=512
        )
        self._db.deserialize(image.data)
        self._db.create_function("fold", 1, _fold, deterministic=True)
        for name, value in _PRAGMAS.items():
            self._db.execute(f"PRAGMA {name} = {value}")
        self._privileged = False
        self._secret = f" /* {secrets.token_hex(8)} */"
        self._taken = self._last("SELECT coalesce(max(n), 0) FROM _change")
        self._total = self._db.total_changes
        self._shape = self._versions()
        self.refused: list[str] = []
        if guards.authorizer:
            self._db.set_authorizer(self._authorize)

    def close(self) -> None:
        """Give the memory back. The store cannot be used afterwards."""
        self._db.close()

    def image(self) -> Image:
        """The present committed state as an image."""
        return Image(self.schema, self._db.serialize())

    def blank_image(self) -> Image:
        """The present rows as a template: with no changes on record, since nobody has acted yet."""
        with self._privilege():
            self._db.execute("DELETE FROM _change")
            self._db.execute("VACUUM")
        return self.image()

    # -- statements ------------------------------------------------------------------------------------

    def run(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement of the gateway and fetch everything it gives."""
        return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _privilege(self) -> Generator[None]:
        self._privileged = True
        try:
            yield
        finally:
            self._privileged = False

    def begin(self) -> None:
        """Start the transaction of a call."""
        self._own("BEGIN")

    def defer_references(self) -> None:
        """Check foreign keys at the end of this transaction only: a specification may name things in any order."""
        with self._privilege():
            self._db.execute("PRAGMA defer_foreign_keys = 1")

    def end(self, *, commit: bool) -> bool:
        """End the transaction; False where the service had ended it itself, or left it so that it cannot commit."""
        if not self._db.in_transaction:
            return False
        try:
            self._own("COMMIT" if commit else "ROLLBACK")
        except sqlite3.Error:  # an open cursor of a service, say
            self._own("ROLLBACK")
            self.forget_rollback()
            return False
        return True

    def _own(self, statement: str) -> None:
        """Run the world's own statement, in a text that no service knows: a cached one is not authorized again."""
        self._privileged = True
        try:
            self._db.execute(statement + self._secret)
        finally:
            self._privileged = False

    # -- evidence --------------------------------------------------------------------------------------

    def take(self) -> Taken:
        """The changes since the last take, and a hole where the database counted more than it captured.

        Nearly free where nothing changed. Call it outside a transaction.
        """
        total = self._db.total_changes
        if total == self._total:
            return Taken((), None)
        self._privileged = True
        try:
            rows = self._db.execute(_TAKE, (self._taken,)).fetchall()
        finally:
            self._privileged = False
        changes = tuple(self._change(*row) for row in rows)
        counted, self._total = total - self._total, total
        if rows:
            self._taken = rows[-1][0]
        hole = None
        if self._guards.fence and counted > 2 * len(rows):
            hole = f"the database counted {counted} row writes, {len(rows)} changes were captured (at most {2 * len(rows)} writes)"
        return Taken(changes, hole)

    def forget_rollback(self) -> None:
        """After a rollback: what was counted in it left nothing behind."""
        last = self._last("SELECT coalesce(max(n), 0) FROM _change")
        if last == self._taken:
            self._total = self._db.total_changes

    def tampering(self, *, wrote: bool) -> tuple[str, ...]:
        """What was refused, or has changed, about the evidence itself since the last look."""
        found, self.refused = tuple(self.refused), []
        if not self._guards.schema:
            return found
        shape = self._versions()
        if shape != self._shape:
            found = (*found, f"the schema was changed (version {self._shape} -> {shape}): {self._missing()}")
            self._shape = shape
        if wrote or found:
            off = [name for name, value in _PRAGMAS.items() if self._last(f"PRAGMA {name}") != value]
            found = (*found, *(f"PRAGMA {name} was switched off" for name in off))
            for name in off:
                with self._privilege():
                    self._db.execute(f"PRAGMA {name} = {_PRAGMAS[name]}")
        return found

    def _versions(self) -> tuple[int, int]:
        """SQLite's own counters of schema changes: the world's, and that of temporary tables and triggers."""
        return self._last("PRAGMA main.schema_version"), self._last("PRAGMA temp.schema_version")

    def _missing(self) -> str:
        with self._privilege():
            rows = self._db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' UNION SELECT name FROM sqlite_temp_master"
            ).fetchall()
        there = {name for (name,) in rows}
        wanted = {f"{table.name}_{verb.lower()}" for table in self.schema.tables for verb in _VERBS.values()}
        gone, new = sorted(wanted - there), sorted(there - wanted)
        words = [f"trigger {name} is gone" for name in gone] + [f"trigger {name} is new" for name in new]
        return ", ".join(words) or "tables or indexes differ"

    def _last(self, sql: str) -> int:
        self._privileged = True
        try:
            return int(self._db.execute(sql).fetchall()[0][0])
        finally:
            self._privileged = False

    def _change(self, n: int, number: int, old: str | None, new: str | None) -> Change:
        fact = self.schema.tables[number].fact
        before: tuple[Scalar, ...] | None = None if old is None else tuple(_read(old)[0])
        after: tuple[Scalar, ...] | None = None if new is None else tuple(_read(new)[0])
        row = before or after or ()
        return Change(
            n, fact.name, str(row[fact.columns.index(fact.key)]), fact.columns, before, after, fact.business
        )

    def _authorize(
        self, action: int, first: str | None, second: str | None, _: str | None, trigger: str | None
    ) -> int:
        """SQLite's authorizer: an allow-list, asked when a statement is prepared."""
        if self._privileged or action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE}:
            return sqlite3.SQLITE_OK
        if action in {sqlite3.SQLITE_READ, *_VERBS}:
            if first in self.schema.by_name:
                return sqlite3.SQLITE_OK
            if first == "_change" and trigger and action in {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_READ}:
                return sqlite3.SQLITE_OK
        elif action == sqlite3.SQLITE_FUNCTION and second in _FUNCTIONS:
            return sqlite3.SQLITE_OK
        what = (
            f"{_VERBS[action]} on {first}"
            if action in _VERBS
            else f"{_ACTIONS.get(action, f'action {action}')} {first or ''}"
        )
        said = f"a statement was refused: {what.strip()}{f' {second}' if second and action not in _VERBS else ''}"
        if said not in self.refused:
            self.refused.append(said)
        return sqlite3.SQLITE_DENY

    # -- redo ------------------------------------------------------------------------------------------

    def redo(self, changes: Iterable[Change]) -> Misfit | None:
        """Apply recorded changes in order, each only onto its before-image; the first that does not fit.

        Foreign keys wait (cascades record children first). For replay, stale reads and branches.
        """
        with self._privilege():
            self._db.execute("PRAGMA foreign_keys = 0")
            for change in changes:
                sql, values = _redo_statement(change)
                try:
                    fits = self._db.execute(sql, values).rowcount == 1
                except sqlite3.IntegrityError:
                    fits = False
                if not fits:
                    return Misfit(
                        change.table, change.key, f"change {change.n} does not fit the rows: {change}"
                    )
            self._db.execute("PRAGMA foreign_keys = 1")
        return None

    def rows(self, table: Table) -> list[tuple[Any, ...]]:
        """Every row of a table."""
        return self.run(table.select_sql)


def _fold(text: object) -> str | None:
    return text.casefold() if isinstance(text, str) else None


def _redo_statement(change: Change) -> tuple[str, list[Scalar]]:
    names = change.columns
    if change.old is None:
        places = ", ".join("?" for _ in names)
        columns = ", ".join(f'"{name}"' for name in names)
        return f'INSERT INTO "{change.table}" ({columns}) VALUES ({places})', list(change.new or ())
    where = " AND ".join(f'"{name}" IS ?' for name in names)
    if change.new is None:
        return f'DELETE FROM "{change.table}" WHERE {where}', list(change.old)
    sets = ", ".join(f'"{name}" = ?' for name in names)
    return f'UPDATE "{change.table}" SET {sets} WHERE {where}', [*change.new, *change.old]


def replay(image: Image, changes: Iterable[Change], store: Store) -> Misfit | None:
    """R3: whether redoing the changes from the image, before-image checks included, leads to the store's rows.

    The first difference, or None. Costs grow with the world: for the end of a run.
    """
    twin = Store(image)
    try:
        misfit = twin.redo(changes)
        if misfit:
            return misfit
        if _content(twin) == _content(store):  # the same steps on the same pages: equal to the last byte
            return None
        for table in image.schema.tables:
            expected, found = twin.rows(table), store.rows(table)
            if expected != found and set(expected) != set(found):
                return _difference(table, expected, found)
    finally:
        twin.close()
    return None


def _content(store: Store) -> bytes:
    """The database's bytes without the two counters of transactions in its header (sqlite.org/fileformat.html, 1.3.7)."""
    data = store.image().data
    return data[:24] + data[28:92] + data[96:]


def _difference(table: Table, expected: list[tuple[Any, ...]], found: list[tuple[Any, ...]]) -> Misfit:
    place = table.columns.index("id")
    before, after = ({row[place]: row for row in rows} for rows in (expected, found))
    key = min(key for key in {*before, *after} if before.get(key) != after.get(key))
    if key not in after:
        reason = f"{table.name} {key} is gone, and no captured change deleted it"
    elif key not in before:
        reason = f"{table.name} {key} is there, and no captured change added it"
    else:
        cells = zip(table.columns, before[key], after[key], strict=True)
        wrong = [
            f"{name} is {now}, the captured changes lead to {then}"
            for name, then, now in cells
            if then != now
        ]
        reason = f"{table.name} {key}: {', '.join(wrong)}"
    return Misfit(table.name, key, reason)
