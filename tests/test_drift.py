"""Two catalogs beside each other: every difference at its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from casework import case, spec_of
from sandtrail.ledgers import Catalog, Overall, ToolSpec
from sandtrail.ledgers.findings import overall_of
from sandtrail.scenarios.drift import catalog_changes


def catalog(**schemas: Any) -> Catalog:
    return Catalog(tuple(ToolSpec(name, f"{name}.", schema) for name, schema in schemas.items()))


def test_a_server_that_changes_an_approved_tool_is_seen() -> None:
    given = case("reg-03")["input"]
    before, after = (Catalog(tuple(map(spec_of, given[when]))) for when in ("before", "after"))
    findings = catalog_changes(before, after)
    assert {(finding.code, finding.at) for finding in findings} == {
        ("catalog.changed", "refund_payment.description"),
        ("catalog.changed", "refund_payment.inputSchema.properties.bcc"),
    }
    assert overall_of(findings) is Overall.FAIL
    assert before.digest in findings[0].evidence[0]
    assert after.digest in findings[0].evidence[1]
    assert catalog_changes(before, before) == ()


def test_tools_that_come_go_and_move_are_told_apart() -> None:
    one, two, three = (spec_of({"name": name}) for name in ("a", "b", "c"))
    codes = [finding.code for finding in catalog_changes(Catalog((one, two)), Catalog((three, two)))]
    assert codes == ["catalog.removed", "catalog.added"]
    (moved,) = catalog_changes(Catalog((one, two)), Catalog((two, one)))
    assert (moved.code, moved.reason) == ("catalog.order_changed", "the order was a, b")


OLD: dict[str, Any] = {
    "type": "object",
    "properties": {"amount": {"type": "integer", "minimum": 1}, "unit": {"enum": ["a", "b"]}},
    "required": ["amount", "unit"],
}


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("properties", "amount", "minimum"), 0, "properties.amount.minimum"),
        (("properties", "amount", "type"), "number", "properties.amount.type"),
        (("properties", "unit", "enum"), ["b", "a"], "properties.unit.enum"),
        (("properties", "bcc"), {"type": "string"}, "properties.bcc"),
        (("required",), ["amount"], "required"),
        (("additionalProperties",), False, "additionalProperties"),
        (("properties", "amount"), True, "properties.amount"),
    ],
)
def test_a_difference_stands_at_its_deepest_place(path: tuple[str, ...], value: Any, place: str) -> None:
    new = json.loads(json.dumps(OLD))
    inner = new
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    (finding,) = catalog_changes(catalog(pay=OLD), catalog(pay=new))
    assert (finding.code, finding.at) == ("catalog.changed", f"pay.inputSchema.{place}")


def test_what_means_the_same_is_no_difference() -> None:
    moved = {"required": ["unit", "amount"], "properties": OLD["properties"], "type": "object"}
    assert catalog_changes(catalog(pay=OLD), catalog(pay=moved)) == ()


def test_a_field_that_is_gone_says_what_it_was() -> None:
    bare: dict[str, Any] = {"type": "object", "properties": {}, "required": ["amount", "unit"]}
    reasons = [finding.reason for finding in catalog_changes(catalog(pay=OLD), catalog(pay=bare))]
    assert 'amount is gone: was {"type": "integer", "minimum": 1}' in reasons


def test_a_long_text_is_cut_in_the_reason() -> None:
    long = {**OLD, "title": "x" * 200}
    (finding,) = catalog_changes(catalog(pay=OLD), catalog(pay=long))
    assert finding.reason.endswith("…")
