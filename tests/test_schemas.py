"""Arguments against the schema of their tool: every flaw with its code and its JSON pointer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from sandtrail.scenarios import schemas
from sandtrail.scenarios.schemas import schema_flaws

ADDRESS: Mapping[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "floor": {"type": "integer", "minimum": 0}},
    "required": ["city"],
}
ORDER: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "amount": {"type": "integer", "minimum": 1},
        "rate": {"type": "number"},
        "gift": {"type": "boolean"},
        "note": {"type": "string", "maxLength": 5},
        "color": {"enum": ["red", "blue"]},
        "kind": {"const": "order"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "address": ADDRESS,
        "until": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        "place": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
        "size": {"anyOf": [{"enum": ["s", "l"]}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "string", "minLength": 3}, {"type": "string", "pattern": "^x"}]},
        "only": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    },
    "$defs": {"Place": ADDRESS, "Line": {"type": "object", "properties": {"sku": {"type": "string"}}}},
}


def flaws(
    arguments: Mapping[str, Any], schema: Mapping[str, Any] = ORDER, **how: bool
) -> list[tuple[str, str]]:
    return [(flaw.code, flaw.pointer) for flaw in schema_flaws(schema, arguments, **how)]


def test_arguments_that_fit_have_no_flaw() -> None:
    fits = {
        "amount": 1,
        "rate": 0.5,
        "gift": True,
        "note": "hi",
        "color": "red",
        "kind": "order",
        "until": None,
    }
    assert (
        flaws({**fits, "lines": [{"sku": "A"}], "address": {"city": "Ulm"}, "size": "s", "only": 0.5}) == []
    )


@pytest.mark.parametrize(
    ("arguments", "code", "pointer"),
    [
        ({"amount": "500"}, "args.type", "/amount"),
        ({"amount": True}, "args.type", "/amount"),
        ({"amount": None}, "args.type", "/amount"),
        ({"amount": 1.5}, "args.type", "/amount"),
        ({"note": ["hi"]}, "args.type", "/note"),
        ({"note": {"a": 1}}, "args.type", "/note"),
        ({"amount": 0}, "args.constraint", "/amount"),
        ({"note": "too long"}, "args.constraint", "/note"),
        ({"color": "green"}, "args.enum", "/color"),
        ({"kind": "offer"}, "args.enum", "/kind"),
        ({"lines": '[{"sku": "A"}]'}, "args.stringified", "/lines"),
        ({"address": '{"city": "Ulm"}'}, "args.stringified", "/address"),
        ({"address": "Ulm"}, "args.type", "/address"),
        ({"lines": "12"}, "args.type", "/lines"),
        ({"address": {}}, "args.missing_required", "/address/city"),
        ({"lines": [{"sku": "A"}, {"sku": 7}]}, "args.type", "/lines/1/sku"),
        ({"until": "5"}, "args.type", "/until"),
        ({"until": 0}, "args.constraint", "/until"),
        ({"place": {"floor": 1}}, "args.missing_required", "/place/city"),
        ({"place": '{"city": "Ulm"}'}, "args.stringified", "/place"),
        ({"size": "m"}, "args.enum", "/size"),
        ({"either": "a"}, "args.constraint", "/either"),
        ({"only": 1}, "args.constraint", "/only"),
        ({"colour": "red"}, "args.undeclared", "/colour"),
        ({"address": {"city": "Ulm", "zip": 1}}, "args.undeclared", "/address/zip"),
        ({"lines": [{"sku": "A", "a/b~c": 1}]}, "args.undeclared", "/lines/0/a~1b~0c"),
    ],
)
def test_a_flaw_has_a_code_and_a_place(arguments: Mapping[str, Any], code: str, pointer: str) -> None:
    assert flaws(arguments) == [(code, pointer)]


def test_each_absent_argument_is_named_whatever_it_is_called() -> None:
    names = ["a", "ab", "it's", 'say "hi"']
    schema = {"type": "object", "properties": dict.fromkeys(names, True), "required": names}
    assert flaws({"ab": 1}, schema) == [
        ("args.missing_required", f"/{name}") for name in ("a", "it's", 'say "hi"')
    ]


def test_a_type_is_told_in_words() -> None:
    (flaw,) = schema_flaws(ORDER, {"until": "5"})
    assert flaw.reason == "text was given, integer or null is wanted"


# -- beyond the schema -----------------------------------------------------------------------------------


def test_a_closed_schema_names_each_field_that_it_does_not_have() -> None:
    schema = {"type": "object", "properties": {"order_id": True}, "additionalProperties": False}
    assert flaws({"order_id": "o", "force": True, "tenant_id": "t"}, schema) == [
        ("args.unknown_field", "/force"),
        ("args.unknown_field", "/tenant_id"),
    ]


def test_a_contract_closes_an_open_schema_at_every_depth() -> None:
    given = {"force": True, "address": {"city": "Ulm", "zip": 1}, "lines": [{"skew": 1}]}
    assert sorted(flaws(given, closed=True)) == [
        ("args.unknown_field", "/address/zip"),
        ("args.unknown_field", "/force"),
        ("args.unknown_field", "/lines/0/skew"),
    ]


@pytest.mark.parametrize("closed", [False, True])
def test_a_schema_that_takes_any_name_of_a_kind_names_them_all(closed: bool) -> None:  # noqa: FBT001  a parameter
    free = {"type": "object", "properties": {"a": True}, "additionalProperties": {"type": "string"}}
    patterned = {"type": "object", "properties": {"a": True}, "patternProperties": {"^x-": True}}
    assert flaws({"a": 1, "b": "t"}, free, closed=closed) == []
    assert flaws({"x-b": 1}, {**patterned, "additionalProperties": False}, closed=closed) == []
    assert flaws({"x-b": 1}, patterned, closed=closed) == []
    assert [code for code, _ in flaws({"y": 1}, patterned, closed=closed)] == [
        "args.unknown_field" if closed else "args.undeclared"
    ]


def test_said_openness_is_no_warning_until_the_contract_closes_it() -> None:
    schema = {"type": "object", "properties": {"a": True}, "additionalProperties": True}
    assert flaws({"b": 1}, schema) == []
    assert flaws({"b": 1}, schema, closed=True) == [("args.unknown_field", "/b")]


def test_a_schema_without_properties_names_nothing() -> None:
    assert flaws({"b": 1}, {"type": "object"}, closed=True) == []


# -- conversion ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "converted"),
    [
        ({"amount": "500"}, 500),
        ({"amount": " 5 "}, 5),
        ({"rate": "-0.5"}, -0.5),
        ({"gift": "True"}, True),
        ({"gift": "false"}, False),
        ({"note": 12}, "12"),
        ({"until": "5"}, 5),
    ],
)
def test_what_can_be_converted_is_a_warning_where_the_contract_permits_it(
    arguments: Mapping[str, Any], converted: Any
) -> None:
    ((code, found),) = [(flaw.code, flaw.converted) for flaw in schema_flaws(ORDER, arguments, coerce=True)]
    assert (code, found) == ("args.coerced", converted)
    assert type(found) is type(converted)


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": "5.5"},
        {"amount": "five"},
        {"amount": "\u0665"},
        {"amount": ""},
        {"amount": True},
        {"amount": "9" * 30},
        {"gift": "yes"},
        {"note": True},
        {"note": None},
        {"rate": "1e3"},
    ],
)
def test_what_cannot_be_converted_without_loss_is_another_type(arguments: Mapping[str, Any]) -> None:
    ((code, _),) = flaws(arguments, coerce=True)
    assert code == "args.type"


def test_a_converted_value_must_still_fit_its_schema() -> None:
    assert flaws({"amount": "0"}, coerce=True) == [
        ("args.coerced", "/amount"),
        ("args.constraint", "/amount"),
    ]


def test_an_object_in_a_text_is_never_converted() -> None:
    assert flaws({"lines": "[]"}, coerce=True) == [("args.stringified", "/lines")]


# -- schemas that are none -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": "object", "properties": {"a": {"$ref": "https://example.test/schema.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"type": "object", "properties": {"a": {"pattern": r"^\p{L}+$"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
    ],
)
def test_a_schema_that_cannot_be_followed_judges_nothing(schema: Mapping[str, Any]) -> None:
    assert flaws({"a": "x"}, schema) == []


def test_what_was_found_before_a_schema_breaks_off_counts() -> None:
    schema = {"type": "object", "required": ["b"], "properties": {"a": {"$ref": "#/$defs/nowhere"}}}
    assert flaws({"a": "x"}, schema) == [("args.missing_required", "/b")]


@pytest.mark.parametrize("pointer", ["https://example.test/x", "#/$defs/nowhere", "#/$defs/Circle"])
def test_fields_behind_a_pointer_that_leads_nowhere_are_not_named(pointer: str) -> None:
    root = {"$defs": {"Circle": {"$ref": "#/$defs/Circle"}}, "properties": {"a": {"$ref": pointer}}}
    assert list(schemas._undeclared(root, {"a": {"b": 1}}, closed=True)) == []
