"""One table of requests through every way into the world: equal answers, equal books."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import httpx2
import pytest
import requests

from sandtrail.fakes import AnswerLost
from sandtrail.fakes.world import World
from sandtrail.ledgers import Attempt, Outcome, WorldSpec
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox import Sandbox
from worlds import ENTITIES, SUPPORT

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)
BILLING, ORDERS, CUSTOMERS = (
    "https://billing.internal/v1",
    "https://shop.internal/api/orders",
    "https://crm.internal",
)
URLS = {BILLING: "billing", ORDERS: "orders", CUSTOMERS: "customers"}


@dataclass(frozen=True)
class Row:
    """One request: the operation and arguments of the direct call, and the same as HTTP."""

    operation: str
    arguments: dict[str, Any]
    method: str
    url: str
    query: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    fault: str | None = None


P = "{$payment.first}"
ROWS: tuple[Row, ...] = (
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}"),
    Row("get_payment", {"payment_id": "{$order.lamp}"}, "GET", f"{BILLING}/payments/{{$order.lamp}}"),
    Row(
        "list_payments",
        {"order_id": "{$order.lamp}", "limit": 1},
        "GET",
        f"{BILLING}/payments",
        [("order_id", "{$order.lamp}"), ("limit", "1")],
    ),
    Row(
        "list_payments",
        {"order_id": "{$order.lamp}", "limit": "x"},
        "GET",
        f"{BILLING}/payments",
        [("order_id", "{$order.lamp}"), ("limit", "x")],
    ),
    Row("list_payments", {"limit": 99}, "GET", f"{BILLING}/payments", [("limit", "99")]),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 100},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 100},
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 100, "reason": "see {$order.lamp} é€ 😀"},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 100, "reason": "see {$order.lamp} é€ 😀"},
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 10**7},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 10**7},
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 4.5},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 4.5},
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 7},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 7},
        headers={"Idempotency-Key": "k"},
        extra={"idempotency_key": "k"},
    ),
    Row(
        "cancel_order",
        {"order_id": "{$order.lamp}"},
        "POST",
        f"{ORDERS}/v1/orders/{{$order.lamp}}/cancel",
        body={},
        headers={"If-Match": '"9"'},
        extra={"if_version": 9},
    ),
    Row(
        "change_order_address",
        {"order_id": "{$order.lamp}", "address": "2 Oak Street"},
        "PATCH",
        f"{ORDERS}/v1/orders/{{$order.lamp}}/address",
        body={"address": "2 Oak Street"},
        headers={"If-Match": '"1"'},
        extra={"if_version": 1},
    ),
    Row(
        "place_order",
        {
            "customer_id": "{$customer.lee}",
            "lines": [{"product_id": "{$product.mat}", "quantity": 1}],
            "address": "1 Elm St",
        },
        "POST",
        f"{ORDERS}/v1/orders",
        body={
            "customer_id": "{$customer.lee}",
            "lines": [{"product_id": "{$product.mat}", "quantity": 1}],
            "address": "1 Elm St",
        },
    ),
    Row(
        "search_customers",
        {"email": "lee@example.test", "tenant": "north"},
        "GET",
        f"{CUSTOMERS}/v1/customers",
        [("email", "lee@example.test"), ("tenant", "north")],
    ),
    Row(
        "search_customers",
        {"email": "lee@example.test"},
        "GET",
        f"{CUSTOMERS}/v1/customers",
        [("email", "lee@example.test")],
    ),
    Row(
        "search_customers",
        {"email": "lee@example.test", "tenant": "west"},
        "GET",
        f"{CUSTOMERS}/v1/customers",
        [("email", "lee@example.test"), ("tenant", "west")],
    ),
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}", fault="rate_limit"),
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}", fault="unavailable"),
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}", fault="malform"),
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}", fault="slow"),
    Row("get_payment", {"payment_id": P}, "GET", f"{BILLING}/payments/{P}", fault="stale_read"),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 5},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 5},
        fault="lose_answer",
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 5},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 5},
        fault="time_out",
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 5},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 5},
        fault="deliver_twice",
    ),
    Row(
        "refund_payment",
        {"payment_id": P, "amount_minor": 5},
        "POST",
        f"{BILLING}/payments/{P}/refunds",
        body={"amount_minor": 5},
        fault="hold_open",
    ),
)

Seen = tuple[int, str, dict[str, str]] | str
Send = Callable[[Sandbox, Row], Seen]
_KEPT = ("content-type", "etag", "retry-after", "idempotent-replayed")


def filled(value: Any, world: World) -> Any:
    """The value with every `{$kind.name}` as this run's raw id."""
    if isinstance(value, str):
        for symbol in ENTITIES:
            value = value.replace(f"{{{symbol}}}", world.id(symbol))
        return value
    if (items := as_list(value)) is not None:
        return [filled(item, world) for item in items]
    fields = as_object(value)
    return value if fields is None else {key: filled(item, world) for key, item in fields.items()}


def seen(status: int, text: str, headers: Any) -> Seen:
    return status, text, {name: headers[name] for name in _KEPT if name in headers}


def direct(sandbox: Sandbox, row: Row) -> Seen:
    try:
        answer = sandbox.call(row.operation, {**filled(row.arguments, sandbox.world), **row.extra})
    except AnswerLost:
        return "lost"
    return seen(answer.status, answer.text, answer.headers)


def options(sandbox: Sandbox, row: Row) -> dict[str, Any]:
    made: dict[str, Any] = {
        "params": [(name, filled(text, sandbox.world)) for name, text in row.query],
        "headers": row.headers,
    }
    return made if row.body is None else {**made, "json": filled(row.body, sandbox.world)}


def intercepted(library: Any) -> Send:
    def send(sandbox: Sandbox, row: Row) -> Seen:
        try:
            answer = library.request(row.method, filled(row.url, sandbox.world), **options(sandbox, row))
        except (httpx.ReadTimeout, httpx2.ReadTimeout, requests.ReadTimeout):
            return "lost"
        return seen(answer.status_code, answer.text, answer.headers)

    return send


def through_transport(library: Any) -> Send:
    def send(sandbox: Sandbox, row: Row) -> Seen:
        with library.Client(transport=sandbox.transport()) as client:
            try:
                answer = client.request(row.method, filled(row.url, sandbox.world), **options(sandbox, row))
            except (httpx.ReadTimeout, httpx2.ReadTimeout):
                return "lost"
        return seen(answer.status_code, answer.text, answer.headers)

    return send


WAYS: dict[str, Send] = {
    "httpx": intercepted(httpx),
    "httpx2": intercepted(httpx2),
    "requests": intercepted(requests),
    "httpx transport": through_transport(httpx),
    "httpx2 transport": through_transport(httpx2),
}


@contextmanager
def opened(row: Row) -> Generator[Sandbox]:
    with Sandbox(SPEC, seed=3, urls=URLS) as sandbox:
        if row.fault:
            getattr(sandbox.faults, row.fault)(row.operation)
        yield sandbox


def comparable(attempt: Attempt) -> dict[str, Any]:
    entry = {
        name: getattr(attempt, name)
        for name in Attempt.__dataclass_fields__
        if name not in {"path", "arguments", "symbolic"}
    }
    arguments = json.loads(attempt.arguments)
    for name in ("idempotency_key", "if_version"):
        arguments.pop(name, None)
    return {**entry, "arguments": arguments}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.operation}-{row.fault or 'plain'}")
def test_every_way_into_the_world_gives_equal_answers_and_equal_books(way: str, row: Row) -> None:
    with opened(row) as sandbox:
        expected = direct(sandbox, row)
        sandbox.advance("1 hour")
        books = [comparable(attempt) for attempt in sandbox.ledger.attempts()]
        changes, effects = list(sandbox.ledger.changes()), list(sandbox.ledger.effects())
    with opened(row) as sandbox:
        assert WAYS[way](sandbox, row) == expected
        sandbox.advance("1 hour")
        assert [comparable(attempt) for attempt in sandbox.ledger.attempts()] == books
        assert list(sandbox.ledger.changes()) == changes
        assert list(sandbox.ledger.effects()) == effects


def test_a_repeated_key_is_replayed_on_every_way_with_the_same_body() -> None:
    row = next(row for row in ROWS if row.extra == {"idempotency_key": "k"})
    with opened(row) as sandbox:
        answers = [direct(sandbox, row), *(send(sandbox, row) for send in WAYS.values())]
        assert {answer[1] for answer in answers} == {answers[0][1]}
        assert len(sandbox.ledger.attempts(outcome=Outcome.REPLAYED)) == len(WAYS)
        assert len(sandbox.ledger.effects("refund.created")) == 1


@pytest.mark.parametrize(
    ("method", "path", "status", "outcome"),
    [
        ("GET", "/nothing", 404, Outcome.UNKNOWN),
        ("GET", "/payments/", 404, Outcome.UNKNOWN),
        ("GET", "/payments/x/y/z", 404, Outcome.UNKNOWN),
        ("DELETE", "/payments/x", 405, Outcome.UNKNOWN),
        ("PUT", "/payments", 405, Outcome.UNKNOWN),
        ("GET", "/payments/no%2Fslash", 404, Outcome.REJECTED),
    ],
)
def test_unknown_paths_and_methods_answer_as_a_server_would(
    method: str, path: str, status: int, outcome: Outcome
) -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        for library in (httpx, httpx2, requests):
            answer = library.request(method, BILLING + path)
            assert answer.status_code == status
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.json()["status"] == status
            assert (status == 405) is ("allow" in answer.headers)
        assert len(sandbox.ledger.attempts(outcome=outcome)) == 3


def test_head_is_get_without_a_body_and_options_tells_the_methods() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"{BILLING}/payments/{sandbox.id('$payment.first')}"
        got, head, asked = httpx.get(url), httpx.head(url), httpx.options(url)
        assert head.content == b""
        assert head.headers["content-length"] == str(len(got.content))
        assert asked.status_code == 204
        assert asked.headers["allow"] == "GET, HEAD, OPTIONS"
        assert httpx.head(f"{BILLING}/nothing").content == b""


@pytest.mark.parametrize(
    ("content", "headers", "status", "rule"),
    [
        (b'{"amount_minor": 1}', {"content-type": "text/plain"}, 415, "content_type"),
        (b"amount_minor=1", {"content-type": "application/x-www-form-urlencoded"}, 415, "content_type"),
        (b'{"amount_minor": 1}', {}, 415, "content_type"),
        (
            b'{"amount_minor": 1}',
            {"content-type": "application/json", "content-encoding": "gzip"},
            415,
            "content_encoding",
        ),
        (b"\xff\xfe", {"content-type": "application/json"}, 400, "json"),
        (b"{", {"content-type": "application/json"}, 400, "json"),
        (b"[1]", {"content-type": "application/json"}, 400, "json"),
        (b'{"amount_minor": 1, "amount_minor": 2}', {"content-type": "application/json"}, 400, "json"),
        (b"", {"content-type": "application/json"}, 422, "schema"),
        (b'{"amount_minor": 1}', {"content-type": "application/json", "if-match": "soon"}, 400, "if_match"),
        (
            b'{"amount_minor": 1, "payment_id": "pay_OTHER000"}',
            {"content-type": "application/json"},
            422,
            "twice",
        ),
    ],
)
def test_a_body_is_read_strictly(content: bytes, headers: dict[str, str], status: int, rule: str) -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        answer = httpx.post(
            f"{BILLING}/payments/{sandbox.id('$payment.first')}/refunds", content=content, headers=headers
        )
        assert (answer.status_code, answer.json()["rule"]) == (status, rule)
        assert sandbox.ledger.attempts()[0].operation == "refund_payment"
        assert sandbox.ledger.attempts()[0].outcome is Outcome.INVALID
        assert sandbox.ledger.read_only


def test_arguments_of_a_write_do_not_belong_into_the_query() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"{BILLING}/payments/{sandbox.id('$payment.first')}/refunds"
        answer = httpx.post(url, params={"amount_minor": 5}, json={"reason": "x"})
        assert (answer.status_code, answer.json()["rule"]) == (422, "query")


def test_streamed_bodies_are_read_whole() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"{BILLING}/payments/{sandbox.id('$payment.first')}/refunds"
        headers = {"content-type": "application/json"}

        def parts() -> Iterator[bytes]:
            yield b'{"amount_'
            yield b'minor": 3}'

        assert httpx.post(url, content=parts(), headers=headers).json()["amount"] == 3
        assert httpx2.post(url, content=parts(), headers=headers).json()["amount"] == 3
        assert requests.post(url, data=parts(), headers=headers, timeout=5).json()["amount"] == 3
        with httpx.stream("GET", f"{BILLING}/payments/{sandbox.id('$payment.first')}") as answer:
            assert b"".join(answer.iter_bytes()).startswith(b"{")


def test_a_scalar_twice_in_the_query_is_no_guess() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        answer = httpx.get(
            f"{BILLING}/payments",
            params=[("order_id", sandbox.id("$order.lamp")), ("limit", "1"), ("limit", "2")],
        )
        assert (answer.status_code, answer.json()["rule"]) == (400, "query")
