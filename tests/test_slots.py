"""Slots of parameters: a write whose ids or amounts have none is refused, with the words to write."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel

from sandtrail.fakes import SERVICES, Service, Tx, World, operation
from sandtrail.fakes.entities import Id, Money, Ref, Unit
from sandtrail.fakes.image import compiled
from sandtrail.fakes.operations import BadOperation, operations_of
from sandtrail.fakes.slots import bare

Order = Annotated[str, Ref("order")]
Minor = Annotated[int, Money("currency")]


class Line(BaseModel):
    product_id: str
    price_minor: Annotated[int, Unit("minor")]


class Nested(BaseModel):
    lines: list[Line]


def service(annotation: Any, name: str, access: Literal["read", "write"]) -> Service:
    """A service with one operation, `act`, of one parameter."""
    source = f"def act(self, tx, {name}):\n    'Do it. Returns whether it was done.'\n    return True\n"
    made: dict[str, Any] = {}
    exec(source, made)  # the parameter has a name of its own
    act = made["act"]
    act.__annotations__ = {"tx": Tx, name: annotation, "return": bool}
    marked = (
        operation("POST /v1/x", access="write", undone_by=None)(act)
        if access == "write"
        else operation("GET /v1/x", access="read")(act)
    )
    kind = type("Odd", (Service,), {"name": "odd", "entities": (), "act": marked, "__module__": __name__})
    found: Service = kind()
    return found


@pytest.mark.parametrize(
    ("name", "annotation", "said"),
    [
        ("ticket_id", str, 'ticket_id is an id by its name: write Annotated[str, Ref("ticket")]'),
        ("ticket_id", str | None, 'Annotated[str, Ref("ticket")]'),
        ("ticket_ids", list[str], 'ticket_ids is an id by its name: write Annotated[str, Ref("ticket")]'),
        ("id", str, 'id is an id by its name: write Annotated[str, Ref("kind")]'),
        ("ticket_id", int, 'Annotated[str, Ref("ticket")]'),
        ("ticket_id", Annotated[str, Unit("a")], 'Annotated[str, Ref("ticket")]'),
        ("amount", int, 'amount is an amount by its name: write Annotated[int, Money("currency")], or'),
        ("amount_minor", int | None, 'Annotated[int, Money("currency")]'),
        ("total_cents", Annotated[int, Ref("x")], 'Annotated[int, Money("currency")]'),
        ("unit_price", int, 'Unit("...")'),
        ("line", Line, 'line.product_id is an id by its name: write Annotated[str, Ref("product")]'),
        ("lines", list[Nested], 'lines.lines.product_id is an id by its name'),
    ],
)  # fmt: skip
def test_a_write_says_what_its_ids_and_amounts_are(name: str, annotation: Any, said: str) -> None:
    with pytest.raises(BadOperation) as error:
        operations_of(service(annotation, name, "write"))
    assert str(error.value).startswith("act writes, and judges must know what it writes to: ")
    assert said in str(error.value)
    assert operations_of(service(annotation, name, "read"))


@pytest.mark.parametrize(
    ("name", "annotation"),
    [
        ("order_id", Order),
        ("order_id", Order | None),
        ("order_ids", list[Order]),
        ("id", Annotated[str, Id("order")]),
        ("amount_minor", Minor),
        ("amount", Minor | None),
        ("fee", Annotated[int, Unit("percent")]),
        ("note", str),
        ("paid", int),
        ("price_list", int),
        ("identity", str),
        ("amount", str),
    ],
)
def test_what_has_a_slot_or_is_neither_id_nor_amount_is_fine(name: str, annotation: Any) -> None:
    assert list(bare(name, annotation)) == []
    assert operations_of(service(annotation, name, "write"))


def test_a_service_of_ones_own_is_refused_when_a_world_opens_with_it() -> None:
    with pytest.raises(BadOperation, match="ticket_id is an id by its name"):
        World.open(services=(*SERVICES, type(service(str, "ticket_id", "write"))))


def test_every_shipped_write_has_its_slots() -> None:
    assert sum(one.access == "write" for one in compiled(SERVICES).operations.values()) > 10
