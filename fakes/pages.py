"""The pages of one world's books: whose a change is, when, and which ids came up with it.

Change rows are taken before every call and again after its transaction has ended, whichever way it ended: read inside
it, they would be blamed on the next.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sandtrail.fakes.clock import instant_text
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.image import Services, system_tx
from sandtrail.fakes.state import State
from sandtrail.fakes.store import Image, Store
from sandtrail.ledgers.entries import Attempt, Effect, Origin, Page
from sandtrail.ledgers.specs import kind_of
from sandtrail.ledgers.words import OriginKind


class Pages:
    """Writes the pages of one world's present state."""

    def __init__(self, services: Services, state: State, origin: Image) -> None:
        self._services, self._state, self._origin = services, state, origin

    def strays(self) -> None:
        """Changes since the last page belong to nobody."""
        taken = self._state.store.take()
        tampering = self._state.store.tampering(wrote=bool(taken.changes))
        if taken.changes or taken.hole or tampering:
            after = (
                f"after attempt {self._state.book.attempts}"
                if self._state.book.attempts
                else "before any attempt"
            )
            self._state.book.append(
                Page(
                    Origin(OriginKind.NONE, after),
                    changes=taken.changes,
                    at=self._now(),
                    tampering=tampering,
                    hole=taken.hole,
                )
            )

    @contextmanager
    def event(self, kind: OriginKind, what: str) -> Generator[Tx]:
        """A transaction of the world itself; rolled back where the block raises."""
        self.strays()
        store = self._state.store
        tx = system_tx(store, self._state.clock, self._state.counters, self._services)
        counters = dict(self._state.counters)
        store.begin()
        try:
            yield tx
        except BaseException:
            store.end(commit=False)
            store.forget_rollback()
            self._state.counters.clear()
            self._state.counters.update(counters)
            raise
        store.end(commit=True)
        tx.over = True
        self._state.edge.keep_apart(tx.created)
        self.close(Origin(kind, what), None, tuple(tx.effects), tx.latest)

    def close(
        self,
        origin: Origin,
        attempt: Attempt | None,
        effects: tuple[Effect, ...],
        rows: Mapping[tuple[str, str], Any],
    ) -> None:
        """Take the changes, and close the page; `rows` are the records the transaction has at hand."""
        state = self._state
        taken = state.store.take()
        tampering = state.store.tampering(wrote=bool(taken.changes))
        bindings = state.edge.issued(lambda symbol: self._owner(symbol, rows))
        if attempt is None and not (taken.changes or taken.hole or tampering or effects or bindings):
            return
        state.book.append(
            Page(origin, attempt, effects, taken.changes, bindings, self._now(), tampering, taken.hole)
        )

    def _now(self) -> str:
        return self._state.clock.text

    def _owner(self, symbol: str, rows: Mapping[tuple[str, str], Any]) -> tuple[str | None, str | None]:
        """Whose an entity is: its customer and its tenant."""
        table = self._services.schema.by_kind.get(kind_of(symbol))
        if table is None:
            return None, None
        row = rows.get((table.name, symbol))
        if row is None:
            found = self._state.store.run(table.get_sql, (symbol,))
            if not found:
                return None, None
            row = table.record(found[0])
        return getattr(row, table.owner) if table.owner else None, row.tenant if table.has_tenant else None

    def as_of(self, moment: datetime) -> Store:
        """A store with the rows as they were at an instant, by redoing the changes from the template."""
        text = instant_text(moment)
        pages = [page for page in self._state.book.pages if page.at <= text]
        store = Store(self._origin)
        store.redo(change for page in pages for change in page.changes)
        return store
