"""Whatever stands in calls, results, schemas and surroundings: tracing and auditing answer, and never raise."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from origins import NOW, Talk, trajectory, user

from sandtrail.ledgers import Overall
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.conversation import Answered, Calls, Decided, Reply, ToolCall, UserSaid
from sandtrail.ledgers.provenance import Verdict
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.specs import Form, Slot, ToolSpec
from sandtrail.sandbox.auditing import audited
from sandtrail.sandbox.interchange.recording import Recording, Tool

TELLING = st.sampled_from(
    [
        "0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-02-30", "2026-W21-2",
        "24:00", "99:99", "1e999", "NaN", "-0", "١٢", "²", "1.5.2", "$", "#", "@", "a@", "+", "\ud800", "\x00", "İ", "ß" * 9,
        "pay_7Q2M9XKD", "ord_1A2B3C", "4412", "42.50", "tomorrow", "in two weeks", "10 %", "null", "~0~1", "/", "/0/1",
        "2026-03-03", "JFK", "New York", "1 2 3 4 5 6 7 8 9", "+1 (415) 555-0001", "lee@mail.test", "__proto__", "9" * 5000,
    ]
)  # fmt: skip
NUMBERS = (
    st.sampled_from(
        [0, -1, 1, 4250, 42.5, 1e-300, 1e308, -0.0, 10**15, 10**60, -(10**60), float("nan"), float("inf")]
    )
    | st.integers()
    | st.floats()
)
SCALARS = st.none() | st.booleans() | NUMBERS | TELLING | st.text(max_size=12)
NAMES = (
    st.sampled_from(
        ["id", "payment_id", "order_ids", "amount", "amount_minor", "currency", "date", "starts_at", "email", "phone", "name",
         "address", "status", "note", "expression", "tenant", "quantity", "percent", "insurance", "payments", "passengers",
         "idempotency_key", "flight_number", "cabin", "origin", "price", "items", "cursor", "unit_price", "9" * 5000, "²"]
    )
    | st.text(max_size=6)
)  # fmt: skip
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=15,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=6)
CYCLES: list[dict[str, Any]] = [
    {"$ref": "#"},
    {"properties": {"payment_id": {"$ref": "#"}, "amount": {"$ref": "#/properties/amount"}}},
    {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 9}}, "properties": {"note": {"$ref": "#/$defs/a"}}},
    {"properties": {"id": {"$ref": "#/$defs/missing"}, "name": {"$ref": "http://other.test/x"}}},
    {"properties": {"items": {"items": {"$ref": "#/properties/items"}}}},
]
SCHEMAS = (
    st.sampled_from(CYCLES)
    | OBJECTS
    | st.fixed_dictionaries(
        {},
        optional={
            "type": JSON,
            "required": JSON,
            "properties": JSON | st.dictionaries(NAMES, JSON | st.fixed_dictionaries({}, optional={
                "type": JSON, "enum": JSON, "const": JSON, "default": JSON, "examples": JSON, "example": JSON, "format": JSON,
                "description": JSON, "anyOf": JSON, "items": JSON, "$ref": JSON,
            }), max_size=5),
        },
    )
)  # fmt: skip
RESULTS = JSON.map(lambda one: json.dumps(one, default=str)) | st.text(max_size=40)
SLOTS = st.dictionaries(
    NAMES,
    st.builds(
        Slot,
        kind=st.none() | st.sampled_from(["payment", "cursor", ""]),
        unit=st.none() | st.sampled_from(["minor", "major", "percent"]),
        form=st.none() | st.sampled_from(list(Form)),
    ),
    max_size=5,
)
BOUND = (Binding("$payment.lamp", "pay_7Q2M9XKD", "payment"), Binding("$order.lamp", "ord_1A2B3C", "order"))
KEYS = ["payment_id", "order_id", "amount", "date", "email", "note", "lines"]


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(
    OBJECTS, OBJECTS, RESULTS, SCHEMAS, SLOTS, st.text(max_size=40), st.sampled_from([(), BOUND]),
    st.sampled_from([NOW, "", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59", "whenever"]),
    st.sampled_from(["UTC", "Pacific/Kiritimati", "Nowhere/Land", "", "/etc/passwd", "\x00"]), st.booleans(),
)  # fmt: skip
def test_tracing_never_raises(
    first: dict[str, Any], second: dict[str, Any], result: str, schema: dict[str, Any], slots: dict[str, Slot], text: str,
    bindings: tuple[Binding, ...], now: str, zone: str, writes: bool,  # noqa: FBT001  drawn
) -> None:  # fmt: skip
    call = ToolCall("a", "act", first)
    talk = Talk(
        user(f"Refund $42.50 of pay_7Q2M9XKD tomorrow. {text}"),
        Decided(Calls((call, call))), Answered(call, result, is_error=False), Answered(call, text, is_error=True),
    )  # fmt: skip
    run = trajectory(
        talk,
        "act",
        second,
        slots=slots,
        bindings=bindings,
        writes=writes,
        now=now,
        zone=zone,
        description=text,
    )
    (offer,) = run.offers
    object.__setattr__(offer.catalog.tools[0], "input_schema", schema)
    for one in provenance(run):
        assert one.verdict in set(Verdict)
        assert one.line.startswith(f"act.{one.name} = ")
        assert one.why


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(
    OBJECTS,
    RESULTS,
    SCHEMAS,
    st.text(max_size=60),
    st.sampled_from([NOW, "", "x"]),
    st.sampled_from(["UTC", "x/y"]),
)
def test_auditing_never_raises_and_its_report_is_json(
    arguments: dict[str, Any], result: str, schema: dict[str, Any], text: str, now: str, zone: str
) -> None:
    calls = [ToolCall(str(number), "refund_payment", arguments) for number in range(2)]
    conversation = (
        UserSaid(f"Don't change anything. {text}"),
        Decided(Calls((calls[0],))), Answered(calls[0], result, is_error=False),
        Decided(Calls((calls[1],))), Answered(calls[1], result, is_error=False),
        Decided(Reply(f"I have refunded it on 31.12.9999, $42.50. {text} {result[:200]}")),
    )  # fmt: skip
    tools = (Tool(ToolSpec("refund_payment", text, schema)),)
    run = audited(Recording("x", "tau", conversation=conversation, tools=tools, now=now, zone=zone))
    assert run.overall in set(Overall)
    assert json.loads(json.dumps(run.as_json()))["id"] == "x"
