"""The world's own table: what was answered under which idempotency key.

The contract is Stripe's (https://docs.stripe.com/api/idempotent_requests): the same key with the same request is
answered from the record, refusals included; with another request it is a conflict. A request that failed
validation, or was never begun, leaves no record.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from sandtrail.fakes.edge import Edge
from sandtrail.fakes.entities import Entity, Id
from sandtrail.ledgers.trees import as_list, as_object


class Idempotency(Entity, table=True):
    """One key of one principal: the request's fingerprint and the answer, with symbols for ids."""

    business: ClassVar[bool] = False

    id: Annotated[str, Id("idempotency")]
    fingerprint: str
    status: int
    body: str


class SymbolicEdge(Edge):
    """An edge that leaves ids as marked symbols, so that an answer can be kept and given again in any run."""

    def __init__(self) -> None:
        super().__init__(b"")

    def raw(self, symbol: str) -> Any:
        """The symbol, marked as an id."""
        return {"$id": symbol}

    def outward(self, text: str) -> str:
        """The text as it is."""
        return text


def materialised(tree: Any, edge: Edge) -> Any:
    """A kept answer with this run's raw ids."""
    if (fields := as_object(tree)) is not None:
        symbol = fields.get("$id")
        return (
            edge.raw(symbol) if symbol else {name: materialised(item, edge) for name, item in fields.items()}
        )
    if (items := as_list(tree)) is not None:
        return [materialised(item, edge) for item in items]
    return edge.said(tree) if isinstance(tree, str) else tree
