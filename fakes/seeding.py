"""From a specification to a seeded template image.

`$payment.first: {order: $order.lamp, captured: 42.50 USD}`: a reference may leave out `_id`, money is written as
people write it, `like:` copies another entity, and the tenant and the customer are those of what is referred to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from sandtrail.fakes.clock import span
from sandtrail.fakes.entities import Field, Table
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.store import Schema
from sandtrail.ledgers.money import minor_units
from sandtrail.ledgers.specs import SYMBOL, WorldSpec, kind_of


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
            except (TypeError, sqlite3.IntegrityError) as error:
                raise BadSeed(symbol, str(error)) from error
            owners[symbol] = (symbol if table.owner == "id" else row.get("customer_id"), row.get("tenant"))
        return owners

    def _table(self, symbol: str) -> Table:
        table = self._schema.by_kind.get(kind_of(symbol))
        if table is None:
            raise BadSeed(symbol, f"no entity kind {kind_of(symbol)!r}{_near(kind_of(symbol), self._schema.by_kind)}")
        return table

    def _row(self, symbol: str) -> dict[str, Any]:
        """The columns of an entity, references resolved first."""
        if symbol in self._rows:
            return self._rows[symbol]
        if symbol not in self._spec.entities:
            raise BadSeed(self._resolving[-1], f"refers to {symbol}, which is not defined{_near(symbol, self._spec.entities)}")
        if symbol in self._resolving:
            raise BadSeed(symbol, f"refers to itself through {' -> '.join([*self._resolving, symbol])}")
        self._resolving.append(symbol)
        row = self._filled(symbol, dict(self._spec.entities[symbol]))
        self._resolving.pop()
        self._rows[symbol] = row
        return row

    def _filled(self, symbol: str, given: dict[str, Any]) -> dict[str, Any]:
        table = self._table(symbol)
        row: dict[str, Any] = {"id": symbol}
        like = given.pop("like", None)
        if like is not None:
            if kind_of(str(like)) != kind_of(symbol):
                raise BadSeed(symbol, f"like: {like} is of another kind", field="like")
            row = {**self._row(like), **row}
        for name, value in given.items():
            row.update(self._column(symbol, table, name, value))
        for name in ("tenant", "customer_id"):
            if name in table.by_name and name not in row:
                row.update(self._inherited(table, row, name))
        if "created_at" in table.by_name:
            row.setdefault("created_at", self._tx.now)
        missing = [field.name for field in table.fields if field.required and field.name not in row]
        if missing:
            raise BadSeed(symbol, f"needs {', '.join(missing)}")
        return row

    def _inherited(self, table: Table, row: Mapping[str, Any], name: str) -> dict[str, Any]:
        for field in table.fields:
            target = row.get(field.name)
            if field.kind and not field.is_key and isinstance(target, str):
                source = self._row(target)
                if name == "customer_id" and kind_of(target) == "customer":
                    return {name: target}
                if source.get(name) is not None:
                    return {name: source[name]}
        return {}

    def _column(self, symbol: str, table: Table, name: str, value: Any) -> dict[str, Any]:
        field = table.by_name.get(name) or table.by_name.get(f"{name}_id")
        if field is None or field.is_key:
            raise BadSeed(symbol, f"{table.name} has no field {name!r}{_near(name, table.by_name)}", field=name)
        try:
            return self._value(field, value)
        except ValueError as error:
            raise error if isinstance(error, BadSeed) else BadSeed(symbol, str(error), field=name) from error

    def _value(self, field: Field, value: Any) -> dict[str, Any]:
        if field.kind and value is not None:
            if not isinstance(value, str) or not SYMBOL.fullmatch(value) or kind_of(value) != field.kind:
                raise ValueError(f"{value!r} is no symbol of a {field.kind}; write ${field.kind}.name")
            self._row(value)
            return {field.name: value}
        if field.money and isinstance(value, str):
            text, _, currency = value.rpartition(" ")
            if not text:
                raise ValueError(f"{value!r} is no amount; write for example 42.50 USD")
            return {field.name: minor_units(text, currency), field.money.currency: currency}
        if field.type is datetime and isinstance(value, str):
            return {field.name: self._instant(value)}
        if field.type is datetime and isinstance(value, datetime) and value.tzinfo is None:
            raise ValueError(f"{value.isoformat()} has no zone; end it with Z or an offset such as +01:00")
        if type(value) is not field.type and not (value is None and field.nullable):
            raise ValueError(f"{value!r} is a {type(value).__name__}; wanted {field.type.__name__}")
        return {field.name: value}

    def _instant(self, text: str) -> datetime:
        """An ISO instant, or a distance from the world's present: "3 days ago", "in 2 hours"."""
        if text.endswith(" ago"):
            return self._tx.now - span(text.removesuffix(" ago"))
        if text.startswith("in "):
            return self._tx.now + span(text.removeprefix("in "))
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise ValueError(f"{text} has no zone; end it with Z or an offset such as +01:00")
        return moment


def _near(word: str, known: Mapping[str, Any]) -> str:
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(sorted(map(str, known)))}"
