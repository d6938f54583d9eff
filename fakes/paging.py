"""Cursor pagination: a page of rows, and an opaque cursor to the next.

Inside, a cursor is the symbol `$cursor.payment-lamp`, the last row of its page; outside, it is an id like any
other, so it differs in every run and fits no other world.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from sandtrail.fakes.entities import Entity, Ref
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.problems import Rejected
from sandtrail.ledgers.specs import kind_of

E = TypeVar("E", bound=Entity)

Cursor: TypeAlias = Annotated[str, Ref("cursor"), Field(description="next_cursor of the page before")]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=50, description="how many at most")]


class PageOf(NamedTuple):
    """The rows of one page and the cursor to the next, if there is one."""

    rows: list[Any]
    next_cursor: str | None


def page(
    tx: Tx,
    entity: type[E],
    kind: str,
    /,
    *,
    cursor: str | None,
    limit: int,
    wanted: Mapping[str, Any],
) -> PageOf:
    """One page of a query. Raises Rejected for a cursor of another list."""
    after = None
    if cursor is not None:
        of_kind, _, name = cursor.removeprefix("$cursor.").partition("-")
        if of_kind != kind:
            raise Rejected(
                "cursor",
                f"This cursor belongs to another list than {kind}s.",
                allowed="next_cursor of this list",
                status=422,
            )
        after = f"${kind}.{name}"
    rows: list[Any] = tx.select(entity, after=after, limit=limit + 1, **wanted)
    if len(rows) <= limit:
        return PageOf(rows, None)
    last: str = rows[limit - 1].id
    return PageOf(rows[:limit], f"$cursor.{kind_of(last)}-{last.partition('.')[2]}")


def crowd(kind: str, number: int) -> str:
    """The symbol of an unnamed entity of a population.

    >>> crowd("customer", 7)
    '$customer.p00007'
    """
    return f"${kind}.p{number:05d}"
