"""Whatever a client sends is answered: exactly refused, explained, on record, and without any effect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from sandtrail.fakes import SERVICES, Entity, Id, Instant, Service, Tx, World, operation
from sandtrail.ledgers import Outcome, Principal, WorldSpec
from sandtrail.ledgers.specs import SYMBOL
from worlds import ENTITIES, LEE, NORTH, SUPPORT


class Booking(Entity, table=True):
    """A table for two."""

    id: Annotated[str, Id("booking")]
    at: Instant
    seats: int = 1
    firm: bool = False


class Bookings(Service):
    """A service with the argument types that the shipped ones do without."""

    name = "bookings"
    entities = (Booking,)

    @operation("POST /v1/bookings", access="write", undone_by=None)
    def book(self, tx: Tx, at: Instant, seats: int = 1, firm: bool = False) -> Booking:  # noqa: FBT001, FBT002
        """Book a table. Writes. Returns the booking."""
        return tx.insert(Booking, at=at, seats=seats, firm=firm, effect="booking.made")


READER = Principal("rae", tenants=("north", "south"), scopes=("customers:read", "billing:read"))
CLERK = Principal("cleo", tenants=("north",), scopes=("billing:write",))
ADDRESS = {"line": "1 Elm St", "city": "Salem", "postcode": "97301"}


@dataclass(frozen=True)
class Bad:
    """A call that must be refused: `says` stands in the detail, `pointer` in the errors.

    Symbols in `sent` stand for raw ids, unless it is to go out `literally`.
    """

    operation: str
    sent: str | Mapping[str, Any]
    status: int
    rule: str
    says: str
    pointer: str | None = None
    outcome: Outcome = Outcome.INVALID
    by: Principal = SUPPORT
    literally: bool = False

    def body(self, opened: World) -> str:
        """What goes out, as JSON text."""
        text = self.sent if isinstance(self.sent, str) else json.dumps(self.sent)
        return text if self.literally else SYMBOL.sub(lambda symbol: opened.id(symbol[0]), text)


def invalid(operation: str, sent: str | Mapping[str, Any], pointer: str, says: str) -> Bad:
    """Arguments that are JSON, but do not fit the schema."""
    return Bad(operation, sent, 422, "schema", says, pointer)


def no_json(sent: str, says: str) -> Bad:
    """A body that is not one strict JSON object."""
    return Bad("get_customer", sent, 400, "json", says)


def absent(
    operation: str,
    sent: Mapping[str, Any],
    says: str,
    *,
    by: Principal = SUPPORT,
    outcome: Outcome = Outcome.REJECTED,
) -> Bad:
    """An id that names nothing the principal may see."""
    return Bad(operation, sent, 404, "not_found", says, outcome=outcome, by=by)


def refund(amount: str) -> str:
    """A refund with this JSON text for its amount."""
    return f'{{"payment_id": "$payment.first", "amount_minor": {amount}}}'


def nested(open_: str, close: str, depth: int) -> str:
    """A value in so many others."""
    return open_ * depth + "1" + close * depth


BAD: Mapping[str, Bad] = {
    # -- ids -------------------------------------------------------------------------------------------
    "made-up id": absent("get_customer", {"customer_id": "cus_00000000"}, "no customer cus_00000000"),
    "empty id": absent("get_customer", {"customer_id": ""}, "no customer"),
    "id of another kind": absent("get_payment", {"payment_id": "$order.lamp"}, "no payment"),
    "order id as payment id": absent(
        "refund_payment", {"payment_id": "$order.lamp", "amount_minor": 5}, "no payment"
    ),
    "id of another kind, deep": absent(
        "place_order",
        {
            "customer_id": "$customer.lee",
            "lines": [{"product_id": "$order.lamp", "quantity": 1}],
            "address": "1 Elm St",
        },
        "no product",
    ),
    "id as cursor": absent(
        "list_orders", {"customer_id": "$customer.lee", "cursor": "$order.lamp"}, "no cursor"
    ),
    "other tenant": absent(
        "get_customer", {"customer_id": "$customer.sue"}, "no customer", by=NORTH, outcome=Outcome.DENIED
    ),
    "other tenant, write": absent(
        "refund_payment",
        {"payment_id": "$payment.south", "amount_minor": 5},
        "no payment",
        by=NORTH,
        outcome=Outcome.DENIED,
    ),
    "other customer": absent(
        "get_order", {"order_id": "$order.south"}, "no order", by=LEE, outcome=Outcome.DENIED
    ),
    "other customer's note": absent(
        "add_note",
        {"customer_id": "$customer.max", "text": "hi"},
        "no customer",
        by=LEE,
        outcome=Outcome.DENIED,
    ),
    "tenant not served": Bad(
        "search_customers", {"name": "a", "tenant": "west"}, 403, "tenant", "tenant", outcome=Outcome.DENIED
    ),
    "scope": Bad(
        "add_note",
        {"customer_id": "$customer.lee", "text": "hi"},
        403,
        "scope",
        "customers:write",
        outcome=Outcome.DENIED,
        by=READER,
    ),
    "scope of another service": Bad(
        "get_customer",
        {"customer_id": "$customer.lee"},
        403,
        "scope",
        "customers:read",
        outcome=Outcome.DENIED,
        by=CLERK,
    ),
    # -- symbols, which never were ids -----------------------------------------------------------------
    "symbol as id": Bad(
        "get_customer",
        {"customer_id": "$customer.lee"},
        404,
        "not_found",
        "no customer",
        outcome=Outcome.REJECTED,
        literally=True,
    ),
    "unknown symbol as id": Bad(
        "get_customer",
        {"customer_id": "$customer.nobody"},
        404,
        "not_found",
        "no customer",
        outcome=Outcome.REJECTED,
        literally=True,
    ),
    "marked symbol as id": Bad(
        "get_customer",
        {"customer_id": "{$customer.lee}"},
        404,
        "not_found",
        "no customer",
        outcome=Outcome.REJECTED,
        literally=True,
    ),
    "symbol as field": Bad(
        "get_customer",
        {"$customer.lee": 1},
        422,
        "schema",
        "unknown argument",
        "/$customer.lee",
        literally=True,
    ),
    "symbol twice": Bad(
        "get_customer",
        '{"$customer.lee": 1, "$customer.lee": 2}',
        400,
        "json",
        "stands twice",
        literally=True,
    ),
    "symbol as tool": Bad(
        "$customer.lee", {}, 404, "unknown_operation", "no tool", outcome=Outcome.UNKNOWN, literally=True
    ),
    "symbol in an object": invalid(
        "get_customer", {"customer_id": {"$id": "x"}}, "/customer_id", "text is wanted"
    ),
    # -- bodies ----------------------------------------------------------------------------------------
    "nothing": no_json("", "not JSON"),
    "malformed": no_json('{"customer_id": ', "not JSON"),
    "no JSON": no_json("customer_id=5", "not JSON"),
    "single quotes": no_json("{'customer_id': 'x'}", "not JSON"),
    "trailing comma": no_json('{"customer_id": "x",}', "not JSON"),
    "two objects": no_json('{"customer_id": "x"}{}', "not JSON"),
    "byte order mark": no_json("\ufeff{}", "not JSON"),
    "duplicate key": no_json('{"customer_id": "a", "customer_id": "b"}', "'customer_id' stands twice"),
    "duplicate key, escaped": no_json(
        '{"customer_id": "a", "customer\\u005fid": "b"}', "'customer_id' stands twice"
    ),
    "duplicate key, deep": no_json('{"customer_id": {"a": 1, "a": 1}}', "'a' stands twice"),
    "array": no_json('["customer_id"]', "list"),
    "text": no_json('"customer_id"', "str"),
    "null": no_json("null", "NoneType"),
    "number": no_json("5", "int"),
    "NaN": no_json('{"customer_id": NaN}', "NaN is no JSON number"),
    "minus infinity": no_json('{"customer_id": -Infinity}', "-Infinity is no JSON number"),
    "huge literal": no_json(f'{{"customer_id": {"9" * 10_000}}}', "4300 digits"),
    "deep objects": no_json(nested('{"customer_id":', "}", 10_000), "nest deeper than 64"),
    "deep arrays": no_json('{"customer_id":' + nested("[", "]", 10_000) + "}", "nest deeper than 64"),
    "a little too deep": no_json(nested('{"customer_id":', "}", 65), "nest deeper than 64"),
    "deep and cut": no_json("[" * 10_000, "nest deeper than 64"),
    "raw NUL": no_json('{"customer_id": "a\x00b"}', "not JSON"),
    "five megabytes": Bad(
        "get_customer", f'{{"customer_id": "{"x" * 5_000_000}"}}', 413, "too_large", "5000019"
    ),
    "too large in bytes": Bad(
        "get_customer", f'{{"customer_id": "{"é" * 900_000}"}}', 413, "too_large", "has"
    ),
    # -- characters ------------------------------------------------------------------------------------
    "escaped NUL": Bad(
        "get_customer", '{"customer_id": "a\\u0000b"}', 422, "characters", "NUL", "/customer_id"
    ),
    "escaped lone surrogate": Bad(
        "get_customer",
        '{"customer_id": "\\ud83c"}',
        422,
        "characters",
        "half a surrogate pair",
        "/customer_id",
    ),
    "raw lone surrogate": Bad(
        "get_customer",
        '{"customer_id": "\udf88"}',
        422,
        "characters",
        "half a surrogate pair",
        "/customer_id",
    ),
    "lone surrogate in a list": Bad(
        "place_order",
        '{"customer_id": "$customer.lee", "lines": [{"product_id": "\\uDC00", "quantity": 1}], "address": "1 Elm St"}',
        422,
        "characters",
        "half a surrogate pair",
        "/lines/0/product_id",
    ),
    "lone surrogate as key": Bad(
        "get_customer", '{"\\ud83c": 1}', 422, "characters", "half a surrogate pair", ""
    ),
    "NUL in an idempotency key": Bad(
        "add_note",
        '{"customer_id": "$customer.lee", "text": "hi", "idempotency_key": "\\u0000"}',
        422,
        "characters",
        "NUL",
        "/idempotency_key",
    ),
    # -- fields ----------------------------------------------------------------------------------------
    "unknown field": invalid(
        "get_customer", {"customer_id": "$customer.lee", "verbose": True}, "/verbose", "unknown argument"
    ),
    "misspelt field": invalid(
        "list_orders", {"customer_id": "$customer.lee", "limt": 5}, "/limt", "did you mean limit?"
    ),
    "field with a slash": invalid(
        "get_customer", {"customer_id": "$customer.lee", "a/b~c": 1}, "/a~1b~0c", "unknown argument"
    ),
    "missing field": invalid("refund_payment", {"payment_id": "$payment.first"}, "/amount_minor", "required"),
    "no field at all": invalid("get_customer", {}, "/customer_id", "required"),
    "null for an id": invalid("get_customer", {"customer_id": None}, "/customer_id", "text is wanted"),
    "number for an id": invalid("get_customer", {"customer_id": 5}, "/customer_id", "text is wanted"),
    "list for an id": invalid(
        "get_customer", {"customer_id": ["$customer.lee"]}, "/customer_id", "text is wanted"
    ),
    "empty text": invalid("add_note", {"customer_id": "$customer.lee", "text": ""}, "/text", "at least 1"),
    "text too long": invalid(
        "add_note", {"customer_id": "$customer.lee", "text": "x" * 2001}, "/text", "at most 2000"
    ),
    "text of a wrong form": invalid(
        "set_address", {"customer_id": "$customer.lee", **ADDRESS, "country": "usa"}, "/country", "pattern"
    ),
    "status nobody knows": invalid(
        "list_orders", {"customer_id": "$customer.lee", "status": "lost"}, "/status", "'placed'"
    ),
    "flaw in a list": invalid(
        "place_order",
        {
            "customer_id": "$customer.lee",
            "lines": [{"product_id": "$product.lamp", "quantity": 0}],
            "address": "1 Elm St",
        },
        "/lines/0/quantity",
        "greater than or equal to 1",
    ),
    "field too many in a list": invalid(
        "place_order",
        {
            "customer_id": "$customer.lee",
            "lines": [{"product_id": "$product.lamp", "quantity": 1, "price": 1}],
            "address": "1 Elm St",
        },
        "/lines/0/price",
        "unknown argument",
    ),
    "object for a list": invalid(
        "place_order",
        {"customer_id": "$customer.lee", "lines": {"product_id": "$product.lamp"}, "address": "1 Elm St"},
        "/lines",
        "a list is wanted",
    ),
    "empty list": invalid(
        "place_order",
        {"customer_id": "$customer.lee", "lines": [], "address": "1 Elm St"},
        "/lines",
        "at least 1",
    ),
    # -- numbers ---------------------------------------------------------------------------------------
    "float money": invalid("refund_payment", refund("42.5"), "/amount_minor", "minor units"),
    "float money, whole": invalid("refund_payment", refund("42.0"), "/amount_minor", "minor units"),
    "money in powers": invalid("refund_payment", refund("1e3"), "/amount_minor", "minor units"),
    "money as text": invalid("refund_payment", refund('"4250"'), "/amount_minor", "minor units"),
    "money as truth": invalid("refund_payment", refund("true"), "/amount_minor", "minor units"),
    "no money": invalid("refund_payment", refund("0"), "/amount_minor", "greater than or equal to 1"),
    "money owed": invalid("refund_payment", refund("-5"), "/amount_minor", "greater than or equal to 1"),
    "endless money": invalid("refund_payment", refund(str(10**60)), "/amount_minor", "less than or equal"),
    "number beyond 64 bits": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "seats": 2**63}, "/seats", "less than or equal"
    ),
    "number far beyond": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "seats": -(10**60)}, "/seats", "greater than"
    ),
    "truth for a number": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "seats": True}, "/seats", "whole number"
    ),
    "text for a number": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "seats": "2"}, "/seats", "whole number"
    ),
    "number for a truth": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "firm": 1}, "/firm", "true or false"
    ),
    "text for a truth": invalid(
        "book", {"at": "2026-03-02T09:00:00Z", "firm": "true"}, "/firm", "true or false"
    ),
    # -- instants --------------------------------------------------------------------------------------
    "naive instant": invalid("book", {"at": "2026-03-02T09:00:00"}, "/at", "no zone"),
    "day for an instant": invalid("book", {"at": "2026-03-02"}, "/at", "no zone"),
    "words for an instant": invalid("book", {"at": "tomorrow"}, "/at", "an instant such as"),
    "a day that never is": invalid("book", {"at": "2026-02-30T09:00:00Z"}, "/at", "an instant such as"),
    "an instant beyond": invalid("book", {"at": "9999-12-31T23:59:59-12:00"}, "/at", "beyond the calendar"),
    "number for an instant": invalid("book", {"at": 1_772_442_000}, "/at", "an instant such as"),
    # -- keys and versions -----------------------------------------------------------------------------
    "empty key": invalid(
        "add_note",
        {"customer_id": "$customer.lee", "text": "hi", "idempotency_key": ""},
        "/idempotency_key",
        "1 to 128",
    ),
    "key too long": invalid(
        "add_note",
        {"customer_id": "$customer.lee", "text": "hi", "idempotency_key": "k" * 129},
        "/idempotency_key",
        "1 to 128",
    ),
    "number for a key": invalid(
        "add_note",
        {"customer_id": "$customer.lee", "text": "hi", "idempotency_key": 5},
        "/idempotency_key",
        "1 to 128",
    ),
    "key where none is taken": invalid(
        "cancel_subscription",
        {"subscription_id": "$subscription.lee", "idempotency_key": "k"},
        "/idempotency_key",
        "unknown argument",
    ),
    "truth for a version": invalid(
        "update_customer",
        {"customer_id": "$customer.lee", "name": "L", "if_version": True},
        "/if_version",
        "whole number",
    ),
    "text for a version": invalid(
        "update_customer",
        {"customer_id": "$customer.lee", "name": "L", "if_version": "1"},
        "/if_version",
        "whole number",
    ),
    "endless version": Bad(
        "update_customer",
        {"customer_id": "$customer.lee", "name": "L", "if_version": 10**60},
        412,
        "version",
        "the present version is 1",
        outcome=Outcome.CONFLICT,
    ),
    # -- tools -----------------------------------------------------------------------------------------
    "no tool": Bad("frobnicate", {}, 404, "unknown_operation", "'frobnicate'", outcome=Outcome.UNKNOWN),
    "misspelt tool": Bad(
        "get_custommer", {}, 404, "unknown_operation", "'get_custommer'", outcome=Outcome.UNKNOWN
    ),
    "surrogate for a tool": Bad("\ud800", {}, 404, "unknown_operation", "no tool", outcome=Outcome.UNKNOWN),
    "no tool, no JSON": Bad(
        "frobnicate", "{", 404, "unknown_operation", "'frobnicate'", outcome=Outcome.UNKNOWN
    ),
}


def opened_world() -> World:
    """A world of the shipped services and the one above."""
    return World.open(WorldSpec(ENTITIES, principal=SUPPORT), 7, services=(*SERVICES, Bookings))


def every_row(opened: World) -> list[str]:
    """All rows of all tables, bookkeeping included."""
    return [repr(opened.rows(table.entity)) for table in opened.services.schema.tables]


def told(opened: World, text: str, sent: str) -> list[str]:
    """What an answer tells that its client did not say: raw ids of this world, and symbols."""
    raw = [opened.id(symbol) for symbol in ENTITIES]
    return [word for word in (*raw, *SYMBOL.findall(text)) if word in text and word not in sent]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused_and_changes_nothing(bad: Bad) -> None:
    with opened_world() as opened:
        sent = bad.body(opened)
        before = every_row(opened)
        answer = opened.call(bad.operation, sent, principal=bad.by)
        attempt = opened.ledger.attempts()[-1]
        assert (answer.status, attempt.rule, attempt.outcome) == (bad.status, bad.rule, bad.outcome), (
            attempt.detail
        )

        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (problem["status"], problem["rule"]) == (bad.status, bad.rule)
        assert problem["type"] == f"urn:sandtrail:problem:{bad.rule}"
        assert bad.says in problem["detail"]
        if bad.pointer is not None:
            assert bad.pointer in [error["pointer"] for error in problem["errors"]]
        assert told(opened, answer.text, f"{bad.operation} {sent}") == []
        assert not any(word in answer.text for word in ("Traceback", "Error", ".py"))

        assert (attempt.seq, attempt.arguments, attempt.status) == (1, sent, bad.status)
        assert every_row(opened) == before
        assert opened.ledger.read_only
        assert opened.ledger.breaches == []
        assert opened.ledger.verify() == []


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), "\ud800", "a\x00b", 10**60, 4.5, True, [1], None]
)
def test_a_mapping_is_read_as_strictly_as_text(value: object) -> None:
    with opened_world() as opened:
        given = {"payment_id": opened.id("$payment.first"), "amount_minor": value}
        answer = opened.call("refund_payment", given)
        assert answer.status in {400, 422}
        assert opened.ledger.attempts()[-1].outcome is Outcome.INVALID
        assert opened.ledger.unchanged("billing")


@pytest.mark.parametrize("by", [SUPPORT, NORTH], ids=["not there", "not theirs"])
def test_what_is_not_theirs_is_answered_like_what_is_not_there(by: Principal) -> None:
    with opened_world() as opened:
        raw = opened.id("$customer.sue") if by is NORTH else "cus_00000000"
        answer = opened.call("get_customer", customer_id=raw, principal=by)
        assert json.loads(answer.text.replace(raw, "?")) == {
            "type": "urn:sandtrail:problem:not_found",
            "title": "Not found",
            "status": 404,
            "rule": "not_found",
            "detail": "There is no customer ?.",
            "allowed": "customer ids that a call has returned",
        }


@pytest.mark.parametrize(
    "text", ["see $customer.max", "see {$customer.max}", "$note.1", "{$note.1}", "$5 off, {all} $a.b"]
)
def test_text_that_looks_like_a_symbol_is_only_text(text: str) -> None:
    with opened_world() as opened:
        sent = {"customer_id": opened.id("$customer.lee"), "text": text}
        answer = opened.call("add_note", sent)
        assert opened.ledger.attempts()[-1].outcome in {Outcome.OK, Outcome.INVALID}, (
            opened.ledger.attempts()[-1]
        )
        assert opened.id("$customer.max") not in answer.text
        assert not answer.ok or answer.json()["text"] == text


def test_text_of_an_earlier_note_never_breaks_a_later_read() -> None:
    with opened_world() as opened:
        lee = opened.id("$customer.lee")
        opened.call("add_note", customer_id=lee, text="$note.2")
        opened.call("add_note", customer_id=lee, text="hello")
        assert opened.call("get_customer_profile", customer_id=lee).ok


def test_text_of_just_the_permitted_length_may_mention_an_id() -> None:
    with opened_world() as opened:
        lee = opened.id("$customer.lee")
        text = f"{lee} ".ljust(2000, "x")
        answer = opened.call("add_note", customer_id=lee, text=text)
        assert answer.status == 200, answer.text
        assert answer.json()["text"] == text


def test_a_cursor_of_one_list_opens_no_other() -> None:
    with opened_world() as opened:
        lee = opened.id("$customer.lee")
        cursor = opened.call("list_orders", customer_id=lee, limit=1).json()["next_cursor"]
        answer = opened.call("list_payments", customer_id=lee, cursor=cursor)
        assert (answer.status, answer.json()["rule"]) == (422, "cursor")
        assert opened.ledger.attempts()[-1].outcome is Outcome.REJECTED


def test_good_input_to_the_same_service_is_taken() -> None:
    with opened_world() as opened:
        answer = opened.call("book", at="2026-03-02T10:00:00+01:00", seats=2**63 - 1, firm=True)
        assert answer.status == 200
        wanted = {"at": "2026-03-02T09:00:00Z", "seats": 2**63 - 1, "firm": True}
        assert wanted.items() <= answer.json().items()
        assert opened.ledger.verify() == []
