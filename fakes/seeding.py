"""From a specification to a seeded template image.

`$payment.first: {order: $order.lamp, captured: 42.50 USD}`: a reference may leave out `_id`, money is written as
people write it, `like:` copies another entity, and the tenant and the customer are those of what is referred to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sandtrail.fakes.clock import span
from sandtrail.fakes.entities import Field, Table
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.store import Schema
from sandtrail.ledgers.money import minor_units
from sandtrail.ledgers.specs import SYMBOL, WorldSpec, kind_of
from sandtrail.ledgers.spelling import near


class BadSeed(ValueError):
    """An entity of a specification that cannot be made. `symbol` and `field` say which."""

    def __init__(self, symbol: str, reason: str, *, field: str | None = None) -> None:
        self.symbol, self.field = symbol, field
        super().__init__(f"{symbol}{f'.{field}' if field else ''}: {reason}")


class Seeder:
    """Makes the entities of one specification, in its order."""

    def __init__(self, spec: WorldSpec, schema: Schema, tx: Tx) -> None:
        self._spec, self._schema, self._tx = spec, schema, tx
        self._rows: dict[str, dict[str, Any]] = {}
        self._resolving: list[str] = []

    def run(self) -> dict[str, tuple[str | None, str | None]]:
        """Insert everything; each symbol's customer and tenant."""
        owners: dict[str, tuple[str | None, str | None]] = {}
        for symbol in self._spec.entities:
            table, row = self._table(symbol), self._row(symbol)
            try:
                self._tx.insert(table.entity, **row)
            except (TypeError, ValueError, sqlite3.IntegrityError) as error:
                raise BadSeed(symbol, str(error)) from error
            owners[symbol] = (symbol if table.owner == "id" else row.get("customer_id"), row.get("tenant"))
        return owners

    def _table(self, symbol: str) -> Table:
        table = self._schema.by_kind.get(kind_of(symbol))
        if table is None:
            kinds = [one.kind for one in self._schema.tables if one.kind and one.fact.business]
            hint = near(kind_of(symbol), kinds)
            raise BadSeed(symbol, f"no entity kind {kind_of(symbol)!r} in the services of this world{hint}")
        return table

    def _row(self, symbol: str) -> dict[str, Any]:
        """The columns of an entity, references resolved first."""
        if symbol in self._rows:
            return self._rows[symbol]
        if symbol in self._resolving:
            raise BadSeed(symbol, f"refers to itself through {' -> '.join([*self._resolving, symbol])}")
        self._resolving.append(symbol)
        row = self._filled(symbol, self._given(symbol))
        self._resolving.pop()
        self._rows[symbol] = row
        return row

    def _given(self, symbol: str, likes: tuple[str, ...] = ()) -> dict[str, Any]:
        """What the specification says of an entity, with what it is `like` below it."""
        fields = self._spec.entities[symbol]
        if not isinstance(fields, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  it comes from a file
            raise BadSeed(symbol, f"{fields!r} is no set of fields; write {{}} for none")
        given = dict(fields)
        like = given.pop("like", None)
        if like is None:
            return given
        if not isinstance(like, str) or not SYMBOL.fullmatch(like) or kind_of(like) != kind_of(symbol):
            raise BadSeed(
                symbol, f"{like!r} is no other {kind_of(symbol)}; write ${kind_of(symbol)}.name", field="like"
            )
        if like not in self._spec.entities:
            raise BadSeed(symbol, f"{like} is not defined{near(like, self._spec.entities)}", field="like")
        if like in (symbol, *likes):
            raise BadSeed(
                symbol, f"is like itself through {' -> '.join([*likes, symbol, like])}", field="like"
            )
        return {**self._given(like, (*likes, symbol)), **given}

    def _filled(self, symbol: str, given: Mapping[str, Any]) -> dict[str, Any]:
        table = self._table(symbol)
        row: dict[str, Any] = {"id": symbol}
        for name, value in given.items():
            columns = self._column(symbol, table, name, value)
            for column, found in columns.items():
                if column in row and row[column] != found and column not in {name, f"{name}_id"}:
                    raise BadSeed(symbol, f"{column} is {row[column]} already, not {found}", field=name)
            row.update(columns)
        for name in ("tenant", "customer_id"):
            if name in table.by_name and name not in row:
                row.update(self._inherited(table, row, name))
        if "created_at" in table.by_name:
            row.setdefault("created_at", self._tx.now)
        missing = [field.name for field in table.fields if field.default is None and field.name not in row]
        if missing:
            raise BadSeed(symbol, f"needs {', '.join(missing)}")
        return row

    def _inherited(self, table: Table, row: Mapping[str, Any], name: str) -> dict[str, Any]:
        for field in table.fields:
            target = row.get(field.name)
            if field.kind and not field.is_key and isinstance(target, str):
                if name == "customer_id" and kind_of(target) == "customer":
                    return {name: target}
                source = self._row(target) if target in self._spec.entities else {}
                if source.get(name) is not None:
                    return {name: source[name]}
        return {}

    def _column(self, symbol: str, table: Table, name: str, value: Any) -> dict[str, Any]:
        field = table.by_name.get(name) or table.by_name.get(f"{name}_id")
        if field is not None and field.is_key:
            raise BadSeed(symbol, "the symbol is the id; leave it out", field=name)
        if field is None:
            raise BadSeed(
                symbol, f"{table.name} has no field {name!r}{near(name, table.by_name)}", field=name
            )
        try:
            return self._value(field, value)
        except BadSeed:
            raise
        except (ValueError, OverflowError) as error:
            raise BadSeed(symbol, str(error), field=name) from error

    def _value(self, field: Field, value: Any) -> dict[str, Any]:
        if field.kind and value is not None:
            return {field.name: self._reference(field, value)}
        if field.money and isinstance(value, str):
            text, _, currency = value.rpartition(" ")
            if not text:
                raise ValueError(f"{value!r} is no amount; write for example 42.50 USD")
            return {field.name: minor_units(text, currency), field.money.currency: currency}
        if field.is_instant and value is not None:
            return {field.name: self._instant(value)}
        if type(value) is not field.type and not (value is None and field.nullable):
            raise ValueError(f"{value!r} is a {type(value).__name__}; wanted {field.type.__name__}")
        return {field.name: value}

    def _reference(self, field: Field, value: Any) -> str:
        """A symbol of the right kind, defined where its service is in the world."""
        if not isinstance(value, str) or not SYMBOL.fullmatch(value) or kind_of(value) != field.kind:
            raise ValueError(f"{value!r} is no symbol of a {field.kind}; write ${field.kind}.name")
        if field.kind in self._schema.by_kind:
            if value not in self._spec.entities:
                raise ValueError(f"{value} is not defined{near(value, self._spec.entities)}")
            self._row(value)
        return value

    def _instant(self, value: Any) -> datetime:
        """An instant, ISO text of one, or a distance from the world's present: "3 days ago", "in 2 hours"."""
        if isinstance(value, str) and value.endswith(" ago"):
            return self._moved(value, -span(value.removesuffix(" ago")))
        if isinstance(value, str) and value.startswith("in "):
            return self._moved(value, span(value.removeprefix("in ")))
        moment = value
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value)
            except ValueError:
                raise ValueError(
                    f"{value!r} is no instant; write 2026-03-02T09:00:00Z, '3 days ago' or 'in 2 hours'"
                ) from None
        if not isinstance(moment, datetime):
            raise ValueError(f"{value!r} is a {type(value).__name__}; wanted datetime")  # noqa: TRY004  told like every other flaw
        if moment.tzinfo is None:
            said = value if isinstance(value, str) else moment.isoformat()
            raise ValueError(f"{said} has no zone; end it with Z or an offset such as +01:00")
        return moment

    def _moved(self, text: str, length: timedelta) -> datetime:
        try:
            return self._tx.now + length
        except OverflowError:
            raise ValueError(f"{text!r} is beyond the calendar") from None
