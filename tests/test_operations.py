"""Declare once: what a declaration leads to, and what cannot be declared says so with the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import BaseModel

from sandtrail.fakes import SERVICES, Billing, Entity, Id, Instant, Money, Ref, Service, Tx, World, operation
from sandtrail.fakes.edge import Edge, run_key
from sandtrail.fakes.encoding import Arrivals
from sandtrail.fakes.entities import BadEntity, Day, Unit
from sandtrail.fakes.image import Services
from sandtrail.fakes.operations import BadOperation, Operation, Parameter, operations_of, plain_schema
from sandtrail.fakes.problems import Invalid
from sandtrail.ledgers import Access
from sandtrail.ledgers.specs import OperationFact, Risk, Slot
from worlds import world

SHIPPED = Services(SERVICES).operations
PaymentId = Annotated[str, Ref("payment")]


class NoTable(Entity):
    """An entity that was declared without table=True."""

    id: Annotated[str, Id("no_table")]


def only(service: type[Service]) -> Operation:
    """The one operation of a service."""
    (made,) = operations_of(service())
    return made


# -- what cannot be declared -------------------------------------------------------------------------------


def test_a_write_says_what_undoes_it() -> None:
    with pytest.raises(
        BadOperation,
        match=r"^POST /v1/x: a write says what undoes it: undone_by='\.\.\.' or, .* undone_by=None$",
    ):
        operation("POST /v1/x", access="write")


@pytest.mark.parametrize(
    "claimed",
    [
        {"undone_by": "x"},
        {"undone_by": None},
        {"external": ("mail.sent",)},
        {"idempotent": True},
        {"versioned": "x_id"},
    ],
)
def test_a_read_has_nothing_to_undo_to_key_or_to_send(claimed: dict[str, Any]) -> None:
    with pytest.raises(
        BadOperation,
        match=r"^GET /v1/x: a read has nothing to undo, to key or to send; make it access='write'$",
    ):
        operation("GET /v1/x", access="read", **claimed)


@pytest.mark.parametrize(
    "route",
    ["", "/v1/x", "GET", "GET v1/x", "get /v1/x", "HEAD /v1/x", "GET  /v1/x", "GET /v1/X", "GET /v1/x?a=1"],
)
def test_a_route_is_a_method_and_a_path(route: str) -> None:
    with pytest.raises(
        BadOperation,
        match=rf"^{re.escape(repr(route))} is no route; write 'METHOD /v1/things/\{{thing_id\}}'$",
    ):
        operation(route, access="read")


class Nameless(Service):
    """A service without a name."""


class Mute(Service):
    """An operation without a docstring."""

    name = "mute"

    @operation("GET /v1/x", access="read")
    def get_x(self, tx: Tx) -> str:
        return str(tx)


class Astray(Service):
    """A path with a parameter that the method does not have."""

    name = "astray"

    @operation("GET /v1/x/{x_id}/{y_id}", access="read")
    def get_x(self, tx: Tx, x_id: str) -> str:
        """Get it. Returns text."""
        return f"{tx} {x_id}"


class Silent(Service):
    """An operation that does not say what it returns."""

    name = "silent"

    @operation("GET /v1/x", access="read")
    def get_x(self, tx: Tx):  # type: ignore[no-untyped-def]  # pyright: ignore  that is the point
        """Get it. Returns something."""
        return str(tx)


class Untyped(Service):
    """An operation with a parameter of no type."""

    name = "untyped"

    @operation("GET /v1/x", access="read")
    def get_x(self, tx: Tx, which) -> str:  # type: ignore[no-untyped-def]  # pyright: ignore  that is the point
        """Get it. Returns text."""
        return f"{tx} {which}"


class Unknown(Service):
    """An operation with a type that does not exist."""

    name = "unknown"

    @operation("GET /v1/x", access="read")
    def get_x(self, tx: Tx, which: Missing) -> str:  # type: ignore[name-defined]  # noqa: F821  # pyright: ignore  that is the point
        """Get it. Returns text."""
        return f"{tx} {which}"


class Unversioned(Service):
    """A version held against what is no id."""

    name = "unversioned"

    @operation("POST /v1/x/{x_id}", access="write", undone_by=None, versioned="x_id")
    def set_x(self, tx: Tx, x_id: str) -> str:
        """Set it. Writes. Returns text."""
        return f"{tx} {x_id}"


@pytest.mark.parametrize(
    ("service", "said"),
    [
        (Nameless, r"^Nameless has no name; set name = '\.\.\.'$"),
        (Mute, r"^get_x has no docstring; it is the description that the model reads$"),
        (Astray, r"^get_x: the path names y_id, the method has no such parameter$"),
        (Silent, r"^get_x: say what it returns; the edge translates ids by that type$"),
        (Untyped, r"^get_x: .*which"),
        (Unknown, r"^get_x: name 'Missing' is not defined; define it at the top level of the module$"),
        (Unversioned, r"^set_x: versioned='x_id' is no id parameter of it$"),
    ],
)
def test_a_declaration_that_cannot_be_served_says_what_and_the_remedy(
    service: type[Service], said: str
) -> None:
    with pytest.raises(BadOperation, match=said):
        operations_of(service())


class Twice(Service):
    """Another service's operation and table."""

    name = "twice"
    entities: ClassVar = ()

    @operation("GET /v1/p/{payment_id}", access="read")
    def get_payment(self, tx: Tx, payment_id: PaymentId) -> str:
        """Get it. Returns text."""
        return f"{tx} {payment_id}"


class Borrower(Service):
    """A service with the tables of another."""

    name = "borrower"
    entities = Billing.entities


class Box(Entity, table=True):
    """A table without a version."""

    id: Annotated[str, Id("box")]


class Boxes(Service):
    """A version held against rows that have none."""

    name = "boxes"
    entities = (Box,)

    @operation("POST /v1/box/{box_id}", access="write", undone_by=None, versioned="box_id")
    def set_box(self, tx: Tx, box_id: Annotated[str, Ref("box")]) -> Box:
        """Set it. Writes. Returns the box."""
        return tx.get(Box, box_id)


class Undone(Service):
    """A write that nothing there undoes."""

    name = "undone"
    entities: ClassVar = ()

    @operation("POST /v1/x", access="write", undone_by="unset_x")
    def set_x(self, tx: Tx) -> str:
        """Set it. Writes. Returns text."""
        return str(tx)


class Loosely(Service):
    """A service with a table that is none."""

    name = "loosely"
    entities = (NoTable,)


@pytest.mark.parametrize(
    ("services", "error", "said"),
    [
        (
            (*SERVICES, Twice),
            BadOperation,
            r"^get_payment is declared by billing and by twice; names are unique in a world$",
        ),
        (
            (*SERVICES, Borrower),
            BadOperation,
            r"^table credit belongs to two services; set `entities` on each service",
        ),
        ((*SERVICES, Undone), BadOperation, r"^set_x: undone_by='unset_x' is no operation of this world$"),
        ((Boxes,), BadOperation, r"^set_box: versioned='box_id'.* `version`"),
        ((Loosely,), BadEntity, r"^NoTable is no table; write class NoTable\(Entity, table=True\)$"),
    ],
)
def test_services_that_cannot_live_in_one_world_say_why(
    services: tuple[type[Service], ...], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        World.open(services=services)


@pytest.mark.parametrize(
    "returned",
    [float, bytes, object, dict[str, str], set[str], str | int, tuple[str, ...], list[float]],
    ids=str,
)
def test_a_type_that_cannot_cross_the_edge_is_refused(returned: Any) -> None:
    def get_x(self: Service, tx: Tx) -> Any:
        """Get it. Returns something."""
        return f"{self} {tx}"

    get_x.__annotations__["return"] = returned
    made = type(
        "Odd",
        (Service,),
        {"name": "odd", "get_x": operation("GET /v1/x", access="read")(get_x), "__module__": __name__},
    )
    with pytest.raises(
        BadEntity,
        match=r"^get_x returns: .* cannot leave a service; use str, int, bool, an aware datetime, an entity",
    ):
        operations_of(made())


# -- what a declaration leads to ---------------------------------------------------------------------------


class Line(BaseModel):
    """A line with a field that is called like a word of JSON Schema."""

    title: str
    payment_id: PaymentId | None = None


class Everything(Service):
    """One operation with a parameter of each kind."""

    name = "everything"

    @operation(
        "POST /v1/payments/{payment_id}/everything",
        access="write",
        undone_by=None,
        idempotent=True,
        versioned="payment_id",
    )
    def do_everything(
        self,
        tx: Tx,
        payment_id: PaymentId,
        amount_minor: Annotated[int, Money()],
        weight: Annotated[int, Unit("gram")],
        title: str,
        lines: list[Line],
        mood: Literal["good", "bad"] = "good",
        at: Instant | None = None,
        day: Day | None = None,
        count: int = 3,
        maybe: int | None = None,
        flag: bool = False,  # noqa: FBT001, FBT002  an argument of a tool
        friends: list[PaymentId] | None = None,
    ) -> list[Line]:
        """Do everything.
        Writes; cannot be undone.

        Returns
            the lines.
        """
        return [
            *lines,
            Line(
                title=f"{tx} {payment_id} {amount_minor} {weight} {title} {mood} {at} {day} {count} {maybe} {flag} {friends}"
            ),
        ]


EVERYTHING = only(Everything)


def test_the_docstring_is_the_description_in_one_line() -> None:
    assert EVERYTHING.tool.description == "Do everything. Writes; cannot be undone. Returns the lines."


def test_a_tools_schema_is_what_a_model_reads_best() -> None:
    assert EVERYTHING.tool.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["payment_id", "amount_minor", "weight", "title", "lines"],
        "properties": {
            "payment_id": {"type": "string"},
            "amount_minor": {"type": "integer"},
            "weight": {"type": "integer"},
            "title": {"type": "string"},
            "lines": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "A line with a field that is called like a word of JSON Schema.",
                    "required": ["title"],
                    "properties": {"title": {"type": "string"}, "payment_id": {"type": "string"}},
                },
            },
            "mood": {"type": "string", "enum": ["good", "bad"], "default": "good"},
            "at": {"type": "string", "format": "date-time"},
            "day": {"type": "string", "format": "date"},
            "count": {"type": "integer", "default": 3},
            "maybe": {"type": "integer"},
            "flag": {"type": "boolean", "default": False},
            "friends": {"type": "array", "items": {"type": "string"}},
            "idempotency_key": {
                "type": "string",
                "minLength": 1,
                "maxLength": 128,
                "description": "A key of your own choice. Send the same key when you repeat this very call after a failure.",
            },
            "if_version": {
                "type": "integer",
                "description": "The version you have read; the call is refused if the row has moved on since.",
            },
        },
    }


def test_slots_know_what_the_schema_hides() -> None:
    low, high = Slot(), Slot(kind="payment", risk=Risk.HIGH)
    assert EVERYTHING.parameters == (
        Parameter("payment_id", "path", high, required=True),
        Parameter("amount_minor", "body", Slot(unit="minor", risk=Risk.HIGH), required=True),
        Parameter("weight", "body", Slot(unit="gram"), required=True),
        Parameter("title", "body", low, required=True),
        Parameter("lines", "body", high, required=True),
        Parameter("mood", "body", low, required=False),
        Parameter("at", "body", low, required=False),
        Parameter("day", "body", low, required=False),
        Parameter("count", "body", low, required=False),
        Parameter("maybe", "body", low, required=False),
        Parameter("flag", "body", low, required=False),
        Parameter("friends", "body", high, required=False),
    )


def test_arguments_of_a_read_travel_in_the_query() -> None:
    places = {parameter.name: parameter.place for parameter in SHIPPED["list_invoices"].parameters}
    assert set(places.values()) == {"query"}
    assert [parameter.place for parameter in SHIPPED["get_invoice"].parameters] == ["path"]


def test_what_judges_must_know_of_an_operation() -> None:
    assert EVERYTHING.fact == OperationFact("do_everything", "everything", Access.WRITE, None, ())
    assert SHIPPED["place_order"].fact == OperationFact(
        "place_order", "orders", Access.WRITE, "cancel_order", ("mail.sent",)
    )
    assert SHIPPED["get_payment"].fact == OperationFact("get_payment", "billing", Access.READ, None, ())


def test_a_deprecated_operation_says_what_to_use_instead_and_stays_callable() -> None:
    assert SHIPPED["find_customer"].tool.description.startswith(
        "Deprecated: use search_customers. Find a customer"
    )
    with world() as here:
        assert here.call("find_customer", name="Lee", tenant="north").ok


# -- the two ways to write an id ---------------------------------------------------------------------------


class Short(Service):
    """The short form, which type checkers cannot follow."""

    name = "spelt"

    @operation("POST /v1/x/{payment_id}", access="write", undone_by=None, versioned="payment_id")
    def set_x(self, tx: Tx, payment_id: Ref["payment"], other: Ref["order"] | None = None) -> Ref["payment"]:  # type: ignore[name-defined, type-arg]  # noqa: F821, UP037  # pyright: ignore  the form in question
        """Set it. Writes. Returns the payment's id."""
        return f"{tx} {payment_id} {other}"  # type: ignore[return-value]  # pyright: ignore


class Long(Service):
    """The long form."""

    name = "spelt"

    @operation("POST /v1/x/{payment_id}", access="write", undone_by=None, versioned="payment_id")
    def set_x(
        self, tx: Tx, payment_id: PaymentId, other: Annotated[str | None, Ref("order")] = None
    ) -> PaymentId:
        """Set it. Writes. Returns the payment's id."""
        return f"{tx} {payment_id} {other}"


def test_the_short_form_of_an_id_is_the_long_one() -> None:
    short, long = only(Short), only(Long)
    assert short.tool == long.tool
    assert short.parameters == long.parameters
    assert short.id_kinds == long.id_kinds == {"payment_id": ("payment",), "other": ("order",)}
    assert short.fact == long.fact
    edge, other = (Edge(run_key(7, "run")) for _ in range(2))
    assert (
        short.encode("$payment.lamp", edge)
        == long.encode("$payment.lamp", other)
        == edge.raw("$payment.lamp")
    )
    given = {"payment_id": edge.raw("$payment.lamp"), "other": "ord_NONE"}
    other.raw("$payment.lamp")
    one, two = Arrivals(lambda _: True), Arrivals(lambda _: True)
    assert short.decode(given, edge, one) == long.decode(given, other, two)
    assert one.ids == two.ids


# -- arguments ---------------------------------------------------------------------------------------------

RIGHT: Mapping[str, Any] = {"amount_minor": 1, "weight": 2, "title": "t", "lines": []}


@pytest.fixture
def edge() -> Edge:
    made = Edge(run_key(7, "run"))
    made.raw("$payment.lamp")
    made.raw("$order.lamp")
    return made


def decoded(edge: Edge, **given: Any) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    arrivals = Arrivals(lambda _: True)
    values = EVERYTHING.decode({"payment_id": edge.raw("$payment.lamp"), **RIGHT, **given}, edge, arrivals)
    return values, [(kind, raw) for kind, raw, symbol in arrivals.ids if symbol is None]


def test_ids_become_symbols_wherever_they_stand(edge: Edge) -> None:
    lamp = edge.raw("$payment.lamp")
    line = {"title": f"see {lamp}", "payment_id": lamp}
    values, strange = decoded(edge, title=f"about {lamp}.", lines=[line], friends=[lamp])
    assert strange == []
    assert values["payment_id"] == "$payment.lamp"
    assert values["title"] == "about {$payment.lamp}."
    assert values["lines"] == [Line(title="see {$payment.lamp}", payment_id="$payment.lamp")]
    assert values["friends"] == ["$payment.lamp"]


def test_ids_that_are_none_of_this_kind_are_strange_wherever_they_stand(edge: Edge) -> None:
    order = edge.raw("$order.lamp")
    _, strange = decoded(
        edge, payment_id="pay_NONE", lines=[{"title": "t", "payment_id": order}], friends=[order, "x"]
    )
    assert strange == [("payment", "pay_NONE"), ("payment", order), ("payment", order), ("payment", "x")]


def test_what_was_left_out_has_its_default(edge: Edge) -> None:
    values, _ = decoded(edge, at="2026-03-02T10:00:00+01:00", day="2026-03-02")
    assert (values["mood"], values["count"], values["maybe"], values["flag"], values["friends"]) == (
        "good",
        3,
        None,
        False,
        None,
    )
    assert values["at"] == datetime.fromisoformat("2026-03-02T09:00:00Z")
    assert values["day"].isoformat() == "2026-03-02"


FLAWS: list[tuple[dict[str, Any], str, str]] = [
    ({"colour": "red"}, "/colour", "unknown argument"),
    ({"amount_minors": 1}, "/amount_minors", "unknown argument; did you mean amount_minor?"),
    ({"a/b~c": 1}, "/a~1b~0c", "unknown argument"),
    ({"title": 5}, "/title", "text is wanted"),
    ({"title": None}, "/title", "text is wanted"),
    ({"count": "3"}, "/count", "a whole number is wanted"),
    ({"count": True}, "/count", "a whole number is wanted"),
    ({"count": 3.5}, "/count", "a whole number is wanted"),
    (
        {"amount_minor": "42.50"},
        "/amount_minor",
        "a whole number is wanted of minor units (4250 is 42.50 USD)",
    ),
    ({"flag": 1}, "/flag", "true or false is wanted"),
    ({"lines": {}}, "/lines", "a list is wanted"),
    ({"lines": [5]}, "/lines/0", "an object is wanted"),
    ({"lines": [{}]}, "/lines/0/title", "required, but absent"),
    ({"mood": "odd"}, "/mood", "Input should be 'good' or 'bad'"),
    (
        {"at": "2026-03-02T09:00:00"},
        "/at",
        "this time has no zone; end it with Z or an offset such as +01:00",
    ),
    ({"at": "soon"}, "/at", "an instant such as 2026-03-02T09:00:00Z is wanted"),
    ({"at": "0001-01-01T00:00:00+23:00"}, "/at", "this instant is beyond the calendar"),
    ({"day": "2026-02-30"}, "/day", "a day such as 2026-03-02 is wanted"),
]


@pytest.mark.parametrize(("given", "pointer", "said"), FLAWS)
def test_an_argument_that_does_not_fit_is_named_by_its_place(
    edge: Edge, given: dict[str, Any], pointer: str, said: str
) -> None:
    with pytest.raises(Invalid) as caught:
        decoded(edge, **given)
    (flaw,) = caught.value.flaws
    assert flaw.pointer == pointer
    assert said in flaw.detail
    assert caught.value.allowed is not None
    assert caught.value.allowed.startswith("payment_id, amount_minor, weight, title, lines, mood (optional)")


@pytest.mark.parametrize("number", [2**63, -(2**63), 2**70, 10**400])
@pytest.mark.parametrize("name", ["count", "maybe", "weight"])
def test_no_number_is_too_large_for_the_store(edge: Edge, name: str, number: int) -> None:
    with pytest.raises(Invalid) as caught:
        decoded(edge, **{name: number})
    assert [flaw.pointer for flaw in caught.value.flaws] == [f"/{name}"]


def test_every_flaw_is_named(edge: Edge) -> None:
    with pytest.raises(Invalid) as caught:
        EVERYTHING.decode({"colour": "red", "title": 5}, edge, Arrivals(lambda _: True))
    assert [flaw.pointer for flaw in caught.value.flaws] == [
        "/payment_id",
        "/amount_minor",
        "/weight",
        "/title",
        "/lines",
        "/colour",
    ]


def test_a_sibling_is_checked_like_a_client() -> None:
    values = EVERYTHING.check({"payment_id": "$payment.lamp", **RIGHT})
    assert values["mood"] == "good"
    with pytest.raises(
        BadOperation,
        match=r"(?s)^do_everything was called by a sibling with arguments that do not fit: .*colour",
    ):
        EVERYTHING.check({"payment_id": "$payment.lamp", **RIGHT, "colour": "red"})


def test_references_in_a_schema_are_resolved_also_inside_each_other() -> None:
    inner = {
        "type": "object",
        "title": "Inner",
        "properties": {"title": {"type": "string", "title": "Title"}},
    }
    outer = {"title": "Outer", "type": "array", "items": {"$ref": "#/$defs/Inner"}}
    schema = {
        "$defs": {"Inner": inner, "Outer": outer},
        "properties": {"x": {"anyOf": [{"$ref": "#/$defs/Outer"}, {"type": "null"}], "default": None}},
    }
    assert plain_schema(schema) == {
        "properties": {
            "x": {"type": "array", "items": {"type": "object", "properties": {"title": {"type": "string"}}}}
        }
    }


# -- inheritance -------------------------------------------------------------------------------------------


class Base(Service):
    """A service to build on."""

    name = "base"

    @operation("GET /v1/a", access="read")
    def get_a(self, tx: Tx) -> str:
        """Get a. Returns text."""
        return f"a {tx.principal.subject}"


class Derived(Base):
    """One operation more."""

    name = "derived"

    @operation("GET /v1/b", access="read")
    def get_b(self, tx: Tx) -> str:
        """Get b. Returns text."""
        return f"b {tx.principal.subject}"


def test_operations_are_inherited_a_base_classs_first() -> None:
    assert [(made.name, made.service) for made in operations_of(Derived())] == [
        ("get_a", "derived"),
        ("get_b", "derived"),
    ]


# -- the shipped operations --------------------------------------------------------------------------------


def nodes(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Every object of a schema that is itself a schema."""
    if isinstance(schema, Mapping):
        yield schema  # pyright: ignore[reportUnknownVariableType]
        for key, value in schema.items():  # pyright: ignore[reportUnknownVariableType]
            for inner in value.values() if key == "properties" else [value]:  # pyright: ignore
                yield from nodes(inner)
    elif isinstance(schema, list):
        for item in schema:  # pyright: ignore[reportUnknownVariableType]
            yield from nodes(item)


every_operation = pytest.mark.parametrize("made", SHIPPED.values(), ids=SHIPPED)


@every_operation
def test_a_shipped_schema_has_no_titles_nulls_or_references(made: Operation) -> None:
    schema = made.tool.input_schema
    for node in nodes(schema):
        assert node.keys().isdisjoint({"title", "$ref", "$defs", "anyOf"})
        assert node.get("type") != "null"
        assert node.get("default", 0) is not None
    assert schema["additionalProperties"] is False
    assert schema.get("required", []) == [
        parameter.name for parameter in made.parameters if parameter.required
    ]


@every_operation
def test_a_shipped_tool_asks_for_a_key_or_a_version_only_where_they_are_declared(made: Operation) -> None:
    asked = made.tool.input_schema["properties"].keys() - {parameter.name for parameter in made.parameters}
    expected = [
        name
        for name, there in (
            ("idempotency_key", made.declared.idempotent),
            ("if_version", made.declared.versioned),
        )
        if there
    ]
    assert sorted(asked) == expected


@every_operation
def test_a_shipped_docstring_says_what_comes_back_and_whether_it_writes(made: Operation) -> None:
    assert "Returns" in made.description
    assert ("Writes" in made.description) is (made.access is Access.WRITE)


@every_operation
def test_what_undoes_a_shipped_write_is_a_write_that_exists(made: Operation) -> None:
    undo = made.fact.undone_by
    assert undo is None or SHIPPED[undo].access is Access.WRITE


@every_operation
def test_a_shipped_operation_needs_a_scope_of_its_service(made: Operation) -> None:
    assert made.scope is not None
    assert made.scope.partition(":")[0] == made.service
    assert made.scope.endswith(":read") is (made.access is Access.READ)


def test_a_catalog_has_every_operation_once_in_its_order() -> None:
    with world() as here:
        assert [tool.name for tool in here.catalog.tools] == list(SHIPPED)
        assert here.operation("get_payment").name == "get_payment"
        with pytest.raises(LookupError, match=r"^no operation 'get_paymet'; did you mean get_payment\?$"):
            here.operation("get_paymet")


def test_a_number_with_bounds_keeps_them() -> None:
    limit = SHIPPED["list_payments"].tool.input_schema["properties"]["limit"]
    assert limit == {
        "type": "integer",
        "default": 20,
        "minimum": 1,
        "maximum": 50,
        "description": "how many at most",
    }
