"""What results say of entities: which row an id is of, to whom it belongs, and what of it has changed since.

Rows(facts)
    .of(id)             the rows that an id names, in the order in which they were received
    .belongs(id, step)  the other entities named in those rows: kind to ids
    .newer(fact, step)  a later row of the same entity in which that field reads otherwise
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sandtrail.ledgers.facts import Facts
from sandtrail.ledgers.folding import key_of
from sandtrail.ledgers.naming import id_kind
from sandtrail.ledgers.records import Fact, Record


@dataclass(frozen=True)
class Row:
    """One row of a result: the entity's kind and id, its fields, and where it stood."""

    kind: str
    id: str
    record: Record
    parents: tuple[tuple[str, str], ...] = field(default=())


class Rows:
    """The rows of a facts index, found by id. Built when first asked."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._rows: dict[str, list[Row]] = {}
        self._lists: dict[tuple[int, str], list[Record]] | None = None
        own: dict[int, tuple[str, str]] = {}
        for record in facts.records:
            named = record.own
            if named is None:
                continue
            own[id(record)] = named
            row = Row(*named, record, tuple(self._parents(record, own, named)))
            self._rows.setdefault(row.id, []).append(row)

    def _parents(
        self, record: Record, own: dict[int, tuple[str, str]], named: tuple[str, str]
    ) -> Iterator[tuple[str, str]]:
        for key, value in record.fields.items():
            kind = id_kind(key) if isinstance(value, str | int) else None
            if kind and (kind, key_of(value)) != named and kind != named[0]:
                yield kind, key_of(value) or ""
        above = record.parent
        while above is not None:
            if id(above) in own:
                yield own[id(above)]
            above = above.parent

    def of(self, key: str, step: int) -> list[Row]:
        """The rows of an id (folded) known at a step."""
        return [row for row in self._rows.get(key, ()) if row.record.since <= step]

    def belongs(self, key: str, step: int) -> dict[str, set[str]]:
        """The other entities that the rows of an id name, by kind."""
        found: dict[str, set[str]] = {}
        for row in self.of(key, step):
            for kind, other in row.parents:
                found.setdefault(kind, set()).add(other)
        return found

    def beside(self, record: Record, step: int) -> list[Record]:
        """The other items of the list that an object is an item of."""
        if self._lists is None:
            self._lists = {}
            for one in self._facts.records:
                if one.list is not None:
                    self._lists.setdefault(one.list, []).append(one)
        found = self._lists.get(record.list, []) if record.list is not None else []
        return [one for one in found if one is not record and one.since <= step]

    def newer(self, fact: Fact, step: int) -> Row | None:
        """The latest row of the entity that a fact stood in, if that field reads otherwise there."""
        record = fact.record
        named = record.own if record is not None else None
        if record is None or named is None or not fact.key:
            return None
        later = [
            row
            for row in self.of(named[1], step)
            if row.record.since > record.since and fact.key in row.record.fields
        ]
        if not later:
            return None
        value: Any = later[-1].record.fields[fact.key]
        return later[-1] if key_of(value) != key_of(fact.value) else None


def own_id(record: Record | None) -> str | None:
    """The folded id of the entity that a row is of; None where it shows none."""
    return record.own[1] if record is not None and record.own else None
