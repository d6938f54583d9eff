"""Typed mentions: what a text names, and which parameter each may fill."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.sandbox.mentions import Kind, Parameter, fits, mentions, parameters, said


def offered(
    name: str, text: str, *, tool: str = "do_thing", required: bool = True, **schema: Any
) -> list[Any]:
    parameter = Parameter(name, {"type": "string", **schema}, required)
    return list(said(parameter, text, mentions(text), tool=tool))


@pytest.mark.parametrize(
    ("text", "kind", "value", "currency"),
    [
        ("mail lee@example.test.", Kind.EMAIL, "lee@example.test", ""),
        ("call +1 555 0001 now", Kind.PHONE, "+1 555 0001", ""),
        ("call 555-123-4567", Kind.PHONE, "555-123-4567", ""),
        ("since 2026-03-02", Kind.DATE, "2026-03-02", ""),
        ("refund $15", Kind.MONEY, "15", "USD"),
        ("refund 15.00 USD", Kind.MONEY, "15.00", "USD"),
        ("refund EUR 1.200,50", Kind.MONEY, "1.200,50", "EUR"),
        ("refund 20 euros", Kind.MONEY, "20", "EUR"),
        ("refund 900 yen", Kind.MONEY, "900", "JPY"),
        ("show it in GBP", Kind.CURRENCY, "GBP", "GBP"),
        ("show pay_4F0ZJDQD", Kind.ID, "pay_4F0ZJDQD", ""),
        (
            "show 0b9c7b1e-1111-2222-3333-444455556666",
            Kind.ID,
            "0b9c7b1e-1111-2222-3333-444455556666",
            "",
        ),
        ("order #4412", Kind.NUMBER, "4412", ""),
        ("invoice INV-7", Kind.NUMBER, "INV-7", ""),
    ],
)
def test_a_mention_has_the_kind_that_its_shape_shows(
    text: str, kind: Kind, value: str, currency: str
) -> None:
    (found,) = mentions(text)
    assert (found.kind, found.text, found.currency) == (kind, value, currency)


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("order 4412", "order"),
        ("Orders #4412", "order"),
        ("order number is 4412", "order"),
        ("the order no. 4412", "order"),
        ("order: 4412", "order"),
        ("4412", ""),
    ],
)
def test_a_number_knows_the_noun_before_it(text: str, noun: str) -> None:
    assert mentions(text)[0].noun == noun


def test_the_name_of_a_tool_is_no_id() -> None:
    assert mentions("use refund_payment for it") == ()


def test_an_order_number_fits_where_orders_are_searched_and_nowhere_else() -> None:
    assert offered("number", "Where is order 4412?", tool="search_orders") == ["4412"]
    assert offered("order_number", "Where is order 4412?", tool="track") == ["4412"]
    assert offered("number", "Where is order 4412?", tool="search_invoices") == []


def test_an_id_fits_by_its_prefix_by_the_noun_before_it_or_by_what_results_showed() -> None:
    assert offered("payment_id", "Refund pay_4F0ZJDQD") == ["pay_4F0ZJDQD"]
    assert offered("charge_id", "Refund charge pay_4F0ZJDQD") == ["pay_4F0ZJDQD"]
    assert offered("order_id", "Refund pay_4F0ZJDQD") == []
    text = "Refund zz_4F0ZJDQD"
    parameter = Parameter("payment_id", {"type": "string"}, required=True)
    assert list(said(parameter, text, mentions(text), tool="t", prefixes=frozenset({"zz"}))) == [
        "zz_4F0ZJDQD"
    ]


@pytest.mark.parametrize(
    ("name", "schema", "text", "value"),
    [
        ("amount_minor", {"type": "integer"}, "$15", 1500),
        ("amount_minor", {"type": "integer"}, "5,800 JPY", 5800),
        ("amount", {"type": "integer", "description": "in cents"}, "15.5 USD", 1550),
        ("amount", {"type": "integer"}, "15 USD", 15),
        ("amount", {"type": "number"}, "15.50 USD", 15.5),
        ("amount", {"type": "string"}, "15.50 USD", "15.50"),
        ("amount_minor", {"type": "integer"}, "refund 15.00 of it", 1500),
    ],
)
def test_an_amount_is_written_as_the_parameter_counts(
    name: str, schema: dict[str, Any], text: str, value: Any
) -> None:
    assert offered(name, text, **schema) == [value]


def test_an_amount_with_too_many_decimals_is_none() -> None:
    assert offered("amount_minor", "15.005 USD", type="integer") == []
    assert offered("amount", "15.50 USD", type="integer") == []


@pytest.mark.parametrize(
    ("name", "schema", "text", "values"),
    [
        ("status", {"enum": ["open", "paid"]}, "my open invoices", ["open"]),
        ("status", {"enum": ["cancelled", 1]}, "cancel it", []),
        ("currency", {"pattern": "^[A-Z]{3}$"}, "20 euros", ["EUR"]),
        ("country", {"pattern": "^[A-Z]{2}$"}, "he moved to DE, OK?", ["DE"]),
        ("quantity", {"type": "integer"}, "the quantity is 3", [3]),
        ("quantity", {"type": "integer"}, "order 4412", []),
        ("from_date", {"format": "date"}, "from 2026-03-02", ["2026-03-02"]),
        ("plan", {}, "the plan is Plus", ["Plus"]),
        ("reason", {}, "cancel it because of the rain. Thanks", ["the rain"]),
        ("reason", {}, "Cancel it. Reason: it broke", ["it broke"]),
        ("text", {}, 'add the note "calls at noon"', ["calls at noon"]),
        ("text", {}, "add a note: calls at noon.", ["calls at noon"]),
        ("address", {}, "send it to 12 Oak Ave, Salem.", ["12 Oak Ave, Salem"]),
        ("name", {}, "Find Lee Ahn's account", ["Lee Ahn"]),
        ("name", {}, "What is the weather in Salem", []),
        ("line", {}, "I read it online 5 times", []),
        ("confirm", {"type": "boolean"}, "confirm true", []),
    ],
)
def test_a_text_offers_what_a_parameter_is_called(
    name: str, schema: dict[str, Any], text: str, values: list[Any]
) -> None:
    assert offered(name, text, **schema) == values


def test_what_does_not_fit_the_schema_is_not_offered() -> None:
    assert offered("email", "lee@example.test", maxLength=5) == []
    assert offered("email", "lee@example.test", pattern="^x") == []


@pytest.mark.parametrize(
    ("value", "schema", "does"),
    [
        (1, {"type": "integer"}, True),
        (True, {"type": "integer"}, False),
        (True, {"type": "boolean"}, True),
        (1.5, {"type": "number", "maximum": 1}, False),
        (float("nan"), {}, False),
        ("a", {"type": ["null", "string"]}, True),
        ("a", {"enum": ["b"]}, False),
        ("aaa", {"pattern": "^(a+)+b$"}, True),
        ("a", {"pattern": "("}, True),
        ("a", {"pattern": "^b$"}, False),
        ([], {"type": "object"}, False),
    ],
)
def test_a_schema_takes_a_value_or_not(value: Any, schema: dict[str, Any], does: bool) -> None:  # noqa: FBT001  a row
    assert fits(value, schema) is does


def test_a_parameter_is_read_through_references_and_choices() -> None:
    schema = {
        "properties": {
            "orderId": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Key"}]},
            "loop": {"$ref": "#/$defs/Loop"},
        },
        "required": ["orderId", "unknown", 3],
        "$defs": {"Key": {"type": "integer"}, "Loop": {"$ref": "#/$defs/Loop"}},
    }
    key, loop, unknown = parameters(schema)
    assert (key.entity, key.type, key.required, key.kind) == ("order", "integer", True, Kind.ID)
    assert (loop.type, loop.required) == ("", False)
    assert (unknown.name, unknown.required) == ("unknown", True)


@pytest.mark.parametrize("schema", [{}, {"properties": []}, {"properties": {"a": 3}, "required": "a"}])
def test_a_schema_of_any_shape_is_read(schema: dict[str, Any]) -> None:
    assert all(parameter.kind is Kind.TEXT for parameter in parameters(schema))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.sampled_from("aZ_0 9.,:-@$€#'\"\n+(İß٣"), max_size=120))
def test_no_text_makes_it_raise(text: str) -> None:
    found = mentions(text)
    assert all(mention.text in text for mention in found)
    for name in ("email", "amount_minor", "order_id", "number", "name", "reason", "quantity", "line"):
        for value in said(Parameter(name, {}, required=True), text, found, tool="search_orders"):
            assert value not in {None, ""}


def test_a_huge_text_is_read_only_so_far() -> None:
    assert mentions("x " * 10_000 + "order 4412") == ()
