"""Nothing leaves the sandbox, and no request lands in another one's books."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import aiohttp
import anthropic
import httpx
import httpx2
import openai
import pytest
import requests
import respx

from sandtrail.ledgers import Outcome, WorldSpec
from sandtrail.sandbox import Block, BlockedRequest, Record, Sandbox, UnreadBlocks
from worlds import ENTITIES, SUPPORT

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)
URLS = {"https://billing.internal/v1": "billing"}
MESSAGE: Any = [{"role": "user", "content": "hi"}]


async def _aiohttp_get() -> None:
    async with aiohttp.ClientSession() as session, session.get("http://example.com/x"):
        pass


async def _async_get(library: Any) -> None:
    async with library.AsyncClient() as client:
        await client.get("https://example.com/x")


def _raw_socket() -> None:
    with socket.socket() as made:
        made.connect(("203.0.113.9", 80))


def _datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.sendto(b"x", ("203.0.113.9", 53))


def _ask_anthropic() -> None:
    anthropic.Anthropic(api_key="k", max_retries=0).messages.create(model="m", max_tokens=9, messages=MESSAGE)


def _ask_openai() -> None:
    openai.OpenAI(api_key="k", max_retries=0).chat.completions.create(model="m", messages=MESSAGE)


LEAVING: dict[str, tuple[Callable[[], object], str]] = {
    "httpx": (lambda: httpx.get("https://example.com/x"), "example.com"),
    "httpx async": (lambda: asyncio.run(_async_get(httpx)), "example.com"),
    "httpx2": (lambda: httpx2.get("https://example.com/x"), "example.com"),
    "httpx2 async": (lambda: asyncio.run(_async_get(httpx2)), "example.com"),
    "requests": (lambda: requests.get("https://example.com/x", timeout=1), "example.com"),
    "urllib": (lambda: urllib.request.urlopen("http://example.com/x", timeout=1), "example.com"),
    "aiohttp": (lambda: asyncio.run(_aiohttp_get()), "example.com"),
    "socket": (_raw_socket, "203.0.113.9"),
    "datagram": (_datagram, "203.0.113.9"),
    "name look-up": (lambda: socket.getaddrinfo("example.com", 80), "example.com"),
    "anthropic": (_ask_anthropic, "api.anthropic.com"),
    "openai": (_ask_openai, "api.openai.com"),
    "a sibling of a mapped path": (
        lambda: httpx.get("https://billing.internal/v2/payments"),
        "billing.internal",
    ),
    "another port": (lambda: httpx.get("https://billing.internal:8443/v1/payments"), "billing.internal"),
    "another scheme": (lambda: httpx.get("http://billing.internal/v1/payments"), "billing.internal"),
}


@pytest.mark.parametrize("way", LEAVING)
def test_a_request_to_elsewhere_is_refused_by_name_and_on_record(way: str) -> None:
    leave, host = LEAVING[way]
    with Sandbox(SPEC, urls=URLS) as sandbox:
        with pytest.raises(Exception) as refused:  # noqa: PT011  each library wraps the refusal in an error of its own
            leave()
        said = str(refused.getrepr(chain=True))
        assert "sandtrail sandbox" in said
        assert sandbox.blocked_hosts() == [host]
        assert not sandbox.ledger.read_only


def test_a_swallowed_refusal_still_fails_the_test_that_never_looked() -> None:
    def careless_agent() -> None:
        with contextlib.suppress(Exception):
            httpx.get("https://example.com/secret?token=abc")

    with pytest.raises(UnreadBlocks, match=r"example\.com"), Sandbox(SPEC):
        careless_agent()


def test_the_record_of_a_refusal_keeps_no_query() -> None:
    with Sandbox(SPEC) as sandbox:
        for client in (httpx.Client(), httpx.Client(transport=sandbox.transport())):
            with client, pytest.raises(BlockedRequest):
                client.get("https://user:abc@example.com/x?token=abc")
        for library in (httpx2, requests):
            with pytest.raises(BlockedRequest) as refused:
                library.get("https://user:abc@example.com/x?token=abc")
            assert "abc" not in str(refused.value)
        assert "abc" not in repr(sandbox.ledger)
        assert len(sandbox.ledger.attempts(outcome="blocked")) == 4


def test_an_error_of_the_test_itself_is_not_hidden_by_unread_blocks() -> None:
    def failing_test() -> None:
        with pytest.raises(BlockedRequest):
            httpx.get("https://example.com")
        raise KeyError("mine")

    with pytest.raises(KeyError), Sandbox(SPEC):
        failing_test()


def test_outside_a_sandbox_nothing_is_touched() -> None:
    with Sandbox(SPEC):
        pass
    with served() as url:
        assert httpx.get(url).text == "real"
        assert httpx2.get(url).text == "real"
        assert requests.get(url, timeout=5).text == "real"


@contextmanager
def served() -> Generator[str]:
    """A real server on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "4")
            self.end_headers()
            self.wfile.write(b"real")

        do_POST = do_GET  # noqa: N815  the base class's naming

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the base class's naming
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_loopback_is_refused_unless_allowed() -> None:
    with served() as url:
        with Sandbox(SPEC) as sandbox:
            for get in (httpx.get, httpx2.get, urllib.request.urlopen):
                with pytest.raises(Exception, match="sandtrail sandbox"):
                    get(url)
            assert sandbox.blocked_hosts() == ["127.0.0.1"]
        with Sandbox(SPEC, loopback=True), urllib.request.urlopen(url, timeout=5) as answer:
            assert answer.read() == b"real"


def test_the_recording_lane_lets_its_hosts_through_and_nothing_else() -> None:
    with served() as url, Sandbox(SPEC, models=Record("127.0.0.1")) as sandbox:
        assert httpx.post(f"{url}/v1/messages", content=b"hello").text == "real"
        assert httpx2.get(url).text == "real"
        assert requests.get(url, timeout=5).text == "real"
        with pytest.raises(BlockedRequest):
            httpx.get("https://example.com")
        assert [(r.method, r.host, r.path, r.size) for r in sandbox.model_requests[:1]] == [
            ("POST", "127.0.0.1", "/v1/messages", 5)
        ]
        assert len(sandbox.model_requests) == 3
        assert sandbox.blocked_hosts() == ["example.com"]


def test_a_lane_without_hosts_is_refused() -> None:
    with pytest.raises(ValueError, match="name the hosts"):
        Record()
    assert not Block().lets("api.anthropic.com")


def test_two_sandboxes_get_each_its_own_requests() -> None:
    with Sandbox(SPEC, seed=1) as one, Sandbox(SPEC, seed=2) as two:
        for sandbox in (one, two, one):
            answer = httpx.get(f"{sandbox.url('billing')}/v1/payments/{sandbox.id('$payment.first')}")
            assert answer.status_code == 200
        assert httpx.get(f"{one.url('billing')}/v1/payments/{two.id('$payment.first')}").status_code == 404
        assert [len(sandbox.ledger.attempts()) for sandbox in (one, two)] == [3, 1]


def test_a_shared_production_url_goes_to_the_sandbox_of_the_context() -> None:
    def work(seed: int) -> list[str]:
        with Sandbox(SPEC, seed=seed, urls=URLS) as sandbox:
            ids = [
                httpx.get(
                    "https://billing.internal/v1/payments", params={"order_id": sandbox.id("$order.lamp")}
                ).json()["payments"][0]["id"]
                for _ in range(20)
            ]
            assert set(ids) == {sandbox.id("$payment.first")}
            assert len(sandbox.ledger.attempts()) == 20
            return ids

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(16)))
    assert len({ids[0] for ids in found}) == 16


def test_tasks_and_to_thread_inherit_the_sandbox_and_bare_threads_find_the_only_one() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        url = f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}"

        async def many() -> list[int]:
            async with httpx.AsyncClient() as client:
                tasks = [client.get(url) for _ in range(5)]
                others = [asyncio.to_thread(httpx.get, url) for _ in range(5)]
                return [answer.status_code for answer in await asyncio.gather(*tasks, *others)]

        assert asyncio.run(many()) == [200] * 10
        with ThreadPoolExecutor(4) as pool:
            assert [answer.status_code for answer in pool.map(httpx.get, [url] * 4)] == [200] * 4
        assert len(sandbox.ledger.attempts(outcome="ok")) == 14


def test_a_bare_thread_among_several_sandboxes_is_refused_not_guessed() -> None:
    errors: list[BaseException] = []

    def stray() -> None:
        try:
            httpx.get("https://billing.internal/v1/payments")
        except BaseException as error:  # noqa: BLE001  whatever it is, the test looks at it
            errors.append(error)

    with Sandbox(SPEC, seed=1, urls=URLS) as one, Sandbox(SPEC, seed=2, urls=URLS) as two:
        thread = threading.Thread(target=stray)
        thread.start()
        thread.join()
        assert "2 sandboxes are active" in str(errors[0])
        named = httpx.get(
            f"https://billing.internal/v1/payments/{one.id('$payment.first')}",
            headers={"X-Sandtrail": two.name},
        )
        assert named.status_code == 404
        assert len(two.ledger.attempts()) == 1


def test_a_sandbox_in_a_sandbox_gives_the_outer_one_back() -> None:
    with Sandbox(SPEC, seed=1, urls=URLS) as outer:
        with Sandbox(SPEC, seed=2, urls=URLS):
            pass
        assert (
            httpx.get(f"https://billing.internal/v1/payments/{outer.id('$payment.first')}").status_code == 200
        )


def test_the_users_own_respx_keeps_its_routes_and_cannot_take_ours() -> None:
    with respx.mock(assert_all_called=False, assert_all_mocked=False) as router:
        router.get("https://weather.test/").respond(json={"sun": True})
        with Sandbox(SPEC, urls=URLS) as sandbox:
            assert httpx.get("https://weather.test/").json() == {"sun": True}
            assert (
                httpx.get(f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}").json()[
                    "amount"
                ]
                == 4250
            )
        assert httpx.get("https://weather.test/").json() == {"sun": True}


def test_a_respx_started_inside_leaves_the_door_first() -> None:
    with Sandbox(SPEC, urls=URLS) as sandbox:
        with respx.mock(assert_all_called=False) as router:
            router.get("https://weather.test/").respond(json={"sun": True})
            assert httpx.get("https://weather.test/").json() == {"sun": True}
            assert (
                httpx.get(f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}").status_code
                == 200
            )
            with pytest.raises(BlockedRequest):
                httpx.get("https://other.test/")
        assert (
            httpx.get(f"https://billing.internal/v1/payments/{sandbox.id('$payment.first')}").status_code
            == 200
        )
        assert sandbox.blocked_hosts() == ["other.test"]


def test_clients_that_are_imported_late_are_met_too() -> None:
    code = """
from sandtrail.sandbox import Sandbox
from sandtrail.ledgers import WorldSpec
spec = WorldSpec({"$customer.lee": {"name": "Lee", "email": "lee@example.test"}, "$payment.a": {"customer": "$customer.lee", "captured": 5}})
with Sandbox(spec, urls={"https://b.test": "billing"}) as sandbox:
    for name in ("httpx2", "requests", "httpx"):
        library = __import__(name)
        answer = library.get("https://b.test/v1/payments/" + sandbox.id("$payment.a"))
        print(name, answer.status_code)
    print(sorted({attempt.path for attempt in sandbox.ledger.attempts()}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        "httpx2 200",
        "requests 200",
        "httpx 200",
        "['httpx', 'httpx2', 'requests']",
    ], done.stderr


def test_an_unmapped_service_in_urls_is_an_error_that_names_the_known_ones() -> None:
    for url, service in (("https://b.test", "bilng"), ("ftp://b.test", "billing"), ("nothing", "billing")):
        with pytest.raises(ValueError, match="customers, billing, orders"):
            Sandbox(SPEC, urls={url: service})


def test_the_longest_base_url_wins() -> None:
    with Sandbox(SPEC, urls={"https://gw.test": "orders", "https://gw.test/pay": "billing"}) as sandbox:
        assert httpx.get(f"https://gw.test/pay/v1/payments/{sandbox.id('$payment.first')}").status_code == 200
        assert httpx.get(f"https://gw.test/v1/orders/{sandbox.id('$order.lamp')}").status_code == 200
        assert httpx.get("https://gw.test/payments").status_code == 404
        assert len(sandbox.ledger.attempts(outcome=Outcome.UNKNOWN)) == 1
