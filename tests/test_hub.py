"""Whose a request is, and what clients may hand over as a body."""

from __future__ import annotations

import contextvars
import io
import threading
from collections.abc import Callable
from typing import Any

import httpx
import pytest
import requests
import respx

from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import BlockedRequest, Sandbox
from sandtrail.sandbox.hub import HUB
from sandtrail.sandbox.interception import answer
from worlds import ENTITIES, SUPPORT

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)
URLS = {"https://billing.internal/v1": "billing"}


def test_with_no_sandbox_nothing_belongs_to_anyone() -> None:
    assert HUB.active == ()
    assert HUB.find("https://billing.internal/v1/payments") is None
    assert answer("GET", "https://billing.internal/v1/payments", {}, b"", path="httpx") is None


def test_in_a_fresh_context_the_only_sandbox_is_found_and_of_two_the_named_one() -> None:
    def elsewhere(act: Callable[[], Any]) -> Any:
        return contextvars.Context().run(act)

    with Sandbox(SPEC, urls=URLS) as one:
        assert elsewhere(HUB.find) is one
        with Sandbox(SPEC, urls=URLS) as two:
            assert elsewhere(lambda: HUB.find(None, {"x-sandtrail": one.name})) is one
            assert HUB.find() is two
            with pytest.raises(BlockedRequest, match="2 sandboxes are active"):
                elsewhere(HUB.find)
        assert HUB.find() is one
    assert HUB.find() is None


def test_a_sandbox_left_in_another_context_than_it_was_entered_in_is_gone_all_the_same() -> None:
    sandbox = Sandbox(SPEC)
    contextvars.Context().run(sandbox.__enter__)
    assert HUB.active == (sandbox,)
    sandbox.__exit__(None, None, None)
    assert not HUB.active


def test_sandboxes_may_be_left_in_any_order() -> None:
    one, two = Sandbox(SPEC, urls=URLS), Sandbox(SPEC, urls=URLS)
    one.__enter__()
    two.__enter__()
    one.__exit__(None, None, None)
    assert httpx.get(f"https://billing.internal/v1/payments/{two.id('$payment.first')}").status_code == 200
    two.__exit__(None, None, None)
    assert HUB.find() is None


@pytest.mark.parametrize(
    "body",
    [
        '{"amount_minor": 3}',
        b'{"amount_minor": 3}',
        io.BytesIO(b'{"amount_minor": 3}'),
        io.StringIO('{"amount_minor": 3}'),
    ],
    ids=["text", "bytes", "file", "text file"],
)
def test_requests_may_send_a_body_in_any_of_its_forms(body: Any) -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}/refunds"
        sent = requests.post(url, data=body, headers={"content-type": "application/json"}, timeout=5)
        assert sent.json()["amount"] == 3


def test_an_async_client_reaches_the_users_own_respx_routes() -> None:
    async def ask() -> Any:
        async with httpx.AsyncClient() as client:
            return (await client.get("https://weather.test/")).json()

    import asyncio

    with respx.mock(assert_all_called=False) as router, Sandbox(SPEC):
        router.get("https://weather.test/").respond(json={"sun": True})
        assert asyncio.run(ask()) == {"sun": True}


def test_a_request_to_a_url_that_is_not_claimed_is_blocked_by_serve_too() -> None:
    from sandtrail.fakes.wire import Request

    with Sandbox(SPEC, urls=URLS) as sandbox:
        with pytest.raises(BlockedRequest):
            sandbox.serve("https://other.test/x", Request("GET", "/x"), path="test")
        assert sandbox.blocked_hosts() == ["other.test"]


def test_threads_started_inside_find_the_sandbox_when_it_is_the_only_one() -> None:
    found: list[int] = []
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}"
        thread = threading.Thread(target=lambda: found.append(requests.get(url, timeout=5).status_code))
        thread.start()
        thread.join()
    assert found == [200]
