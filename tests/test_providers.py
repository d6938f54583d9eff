"""Agents of model providers, over the real SDKs and a loopback server: every request on record, every error a sentence."""

from __future__ import annotations

import asyncio
import gc
import gzip
import hashlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Declared,
    Malformed,
    Refused,
    Reply,
    Truncated,
    Usage,
    UserSaid,
)
from sandtrail.ledgers.saved import dump
from sandtrail.ledgers.saved import load as loads
from sandtrail.ledgers.specs import Catalog, ToolSpec, WorldSpec
from sandtrail.sandbox import agent_provider, arun, messages_anthropic, messages_openai, run
from sandtrail.sandbox.agent_provider import ProviderAgent
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.payloads import PayloadLog, payloads
from sandtrail.sandbox.providers import (
    Prices,
    ProviderError,
    ProviderOptions,
    RequestLog,
    ToolsDropped,
    counts_no_tools,
    provider,
    said_by,
)
from sandtrail.sandbox.runner import Result
from sandtrail.scenarios import Contract, Scenario, User
from sandtrail.scenarios.scenario import CatalogChange, Offered, Place

KINDS = ("anthropic", "openai")
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CATALOG = Catalog((ToolSpec("get_order", "Läs en order.", SCHEMA), ToolSpec("ping", "Ping.", SCHEMA)))
SAID = (UserSaid("Where is order 4412? 🎈"),)
PLACE = {"": Place("here", 1)}
SECRET = "sk-test-0123456789"

Canned = tuple[int, object] | tuple[int, object, dict[str, str]]


@dataclass
class Server:
    """A model provider on loopback that answers from a list, and keeps what it was sent. The last line repeats."""

    port: int
    lines: list[Canned] = field(default_factory=list[Canned])
    sent: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    raw: list[bytes] = field(default_factory=list[bytes])
    paths: list[str] = field(default_factory=list[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    together: threading.Barrier = field(default_factory=lambda: threading.Barrier(1))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["content-length"]))
            found.raw.append(raw)
            found.sent.append(json.loads(raw))
            found.paths.append(self.path)
            found.headers.append({name.lower(): value for name, value in self.headers.items()})
            found.together.wait()
            status, answer, *more = found.lines.pop(0) if len(found.lines) > 1 else found.lines[0]
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            headers = {"content-type": "application/json", "retry-after-ms": "1", "request-id": "req_1"}
            for name, value in (headers | (more[0] if more else {})).items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Server(http.server_port)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CONFIG_DIR", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{found.port}")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{found.port}/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    yield found
    http.shutdown()
    http.server_close()
    thread.join()


def use(id: str, **arguments: object) -> dict[str, Any]:  # noqa: A002
    return {"type": "tool_use", "id": id, "name": "get_order", "input": arguments}


def message(*content: dict[str, Any], stop: str = "end_turn", **usage: Any) -> dict[str, Any]:
    counts = {"input_tokens": 500, "output_tokens": 20, **usage}
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "model-2", "content": list(content),
        "stop_reason": stop, "usage": counts,
    }  # fmt: skip


def completion(
    content: str | None, *calls: tuple[str, str], finish: str = "stop", **usage: Any
) -> dict[str, Any]:
    made = [
        {"id": id, "type": "function", "function": {"name": "get_order", "arguments": raw}}
        for id, raw in calls  # noqa: A001
    ]
    counts = {"prompt_tokens": 500, "completion_tokens": 20, **usage}
    said: dict[str, Any] = {"role": "assistant", "content": content}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": "model-2", "usage": counts,
        "choices": [{"index": 0, "finish_reason": finish, "message": {**said, "tool_calls": made} if made else said}],
    }  # fmt: skip


HELLO = {"anthropic": message({"type": "text", "text": "Hello."}), "openai": completion("Hello.")}
ERROR = {"error": {"type": "x_error", "message": "Slow down."}}


def agent_of(kind: str, **options: Any) -> ProviderAgent:
    return provider(f"{kind}:m", ProviderOptions(model="m", **options))


def sync(agent: ProviderAgent) -> Decided:
    try:
        return agent.decide(SAID, CATALOG)
    finally:
        agent.close()


def awaited(agent: ProviderAgent) -> Decided:
    return asyncio.run(agent.adecide(SAID, CATALOG))


WAYS: list[Callable[[ProviderAgent], Decided]] = [sync, awaited]


def failed(server: Server, kind: str, *lines: Canned, **options: Any) -> ProviderError:
    server.lines[:] = lines
    with pytest.raises(ProviderError) as raised:
        sync(agent_of(kind, **options))
    assert SECRET not in str(raised.value)
    return raised.value


# -- what is sent and read


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_decision_comes_with_its_request(
    server: Server, kind: str, way: Callable[[ProviderAgent], Decided]
) -> None:
    server.lines[:] = [(200, HELLO[kind])]
    agent = agent_of(kind, prices=Prices(input=3.0, output=15.0))
    decided = way(agent)
    assert agent.name == f"{kind}:m"
    assert repr(agent) == f"<agent {kind}:m>"
    assert decided.decision == Reply("Hello.")
    (request,) = decided.requests
    assert (request.asked, request.got, request.status, request.id) == ("m", "model-2", 200, "req_1")
    assert request.usage == Usage(500, 20, cost=1800)
    assert 0 < request.seconds < 60
    assert server.paths == [{"anthropic": "/v1/messages", "openai": "/v1/chat/completions"}[kind]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_tools_go_out_in_the_bytes_that_the_digest_is_over(server: Server, kind: str) -> None:
    server.lines[:] = [(200, HELLO[kind])]
    sync(agent_of(kind))
    dialect = {"anthropic": messages_anthropic, "openai": messages_openai}[kind]
    tools = json.dumps(dialect.tools_of(CATALOG), ensure_ascii=False, separators=(",", ":")).encode()
    assert tools in server.raw[0]
    assert dialect.catalog_digest(CATALOG) == hashlib.sha256(tools).hexdigest()
    assert "4412? 🎈".encode() in server.raw[0]


def test_parallel_calls_thinking_and_results_make_the_round_trip_anthropic(server: Server) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln=="}
    content = [thinking, use("a", order_id="ö"), use("b", order_id="2")]
    server.lines[:] = [(200, message(*content, stop="tool_use")), (200, HELLO["anthropic"])]
    agent = agent_of("anthropic", thinking=2048, system="Help.")
    briefed = (Briefed("It is Monday."), *SAID)
    decided = agent.decide(briefed, CATALOG)
    assert isinstance(decided.decision, Calls)
    one, two = decided.decision.calls
    answers = (Answered(two, "no", is_error=True), Answered(one, "{}", is_error=False))
    assert agent.decide((*briefed, decided, *answers), CATALOG).decision == Reply("Hello.")
    agent.close()
    first, second = server.sent
    assert first["system"] == "Help.\n\nIt is Monday."
    assert first["thinking"] == {"type": "enabled", "budget_tokens": 2048}
    assert second["messages"][1]["content"] == content
    assert [block["tool_use_id"] for block in second["messages"][2]["content"]] == ["b", "a"]


def test_parallel_calls_and_raw_arguments_make_the_round_trip_openai(server: Server) -> None:
    raw = '{"order_id":"ö"'
    server.lines[:] = [
        (200, completion(None, ("a", raw), ("a", "{}"), finish="tool_calls")),
        (200, completion(None, ("a", "{}"))),
    ]
    agent = agent_of("openai", system="Help.")
    decided = agent.decide(SAID, CATALOG)
    assert isinstance(decided.decision, Calls)
    one, two = decided.decision.calls
    assert (one.raw, one.flaw.partition(":")[0]) == (raw, "args.malformed")
    answers = (Answered(one, "bad", is_error=True), Answered(two, "{}", is_error=False))
    again = agent.decide((*SAID, decided, *answers), CATALOG)
    agent.close()
    assert isinstance(again.decision, Calls)
    assert [call.id for call in (one, two, *again.decision.calls)] == ["a", "a_2", "a_3"]
    sent = server.sent[1]["messages"]
    assert sent[0] == {"role": "system", "content": "Help."}
    assert [call["function"]["arguments"] for call in sent[2]["tool_calls"]] == [raw, "{}"]
    assert [one["tool_call_id"] for one in sent[3:]] == ["a", "a_2"]


@pytest.mark.parametrize(
    ("kind", "answer", "decision"),
    [
        ("anthropic", message(stop="refusal"), Refused()),
        ("anthropic", message({"type": "text", "text": "Cu"}, stop="max_tokens"), Truncated("Cu")),
        ("openai", completion("Half", finish="content_filter"), Refused("Half")),
        ("openai", completion("Cu", finish="length"), Truncated("Cu")),
    ],
)
def test_stop_reasons_become_decisions(
    server: Server, kind: str, answer: dict[str, Any], decision: object
) -> None:
    server.lines[:] = [(200, answer)]
    assert sync(agent_of(kind)).decision == decision


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_without_a_message_is_malformed_and_not_asked_for_again(server: Server, kind: str) -> None:
    server.lines[:] = [(200, {"odd": True})]
    decided = sync(agent_of(kind))
    assert isinstance(decided.decision, Malformed)
    assert (len(server.sent), decided.requests[0].usage) == (1, Usage())


def test_meta_tools_are_offered_and_read(server: Server) -> None:
    question = {"type": "tool_use", "id": "q", "name": "ask_user", "input": {"question": "Which?"}}
    server.lines[:] = [(200, message(question, input_tokens=1))]
    assert sync(agent_of("anthropic", meta=True)).decision == Reply("Which?", Declared.QUESTION)
    assert [tool["name"] for tool in server.sent[0]["tools"]][2:] == ["ask_user", "finish"]


# -- options


def body_of(server: Server, kind: str, catalog: Catalog = CATALOG, **options: Any) -> dict[str, Any]:
    server.lines[:] = [(200, HELLO[kind])]
    agent = agent_of(kind, **options)
    agent.decide(SAID, catalog)
    agent.close()
    return server.sent[-1]


def test_what_is_not_chosen_is_not_sent(server: Server) -> None:
    assert sorted(body_of(server, "anthropic")) == ["max_tokens", "messages", "model", "tools"]
    assert sorted(body_of(server, "anthropic", Catalog(()))) == ["max_tokens", "messages", "model"]
    assert sorted(body_of(server, "openai", Catalog(()))) == ["max_tokens", "messages", "model"]


@pytest.mark.parametrize("kind", KINDS)
def test_sampling_and_extra_fields_reach_the_body(server: Server, kind: str) -> None:
    extra = {"metadata": {"user_id": "u"}, "max_tokens": 7}
    body = body_of(server, kind, temperature=0.0, top_p=0.5, effort="low", extra_body=extra)
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.0, 0.5, 7)
    assert body["metadata"] == {"user_id": "u"}
    effort = body["reasoning_effort"] if kind == "openai" else body["output_config"]["effort"]
    assert effort == "low"


def test_one_call_at_a_time_and_no_cache(server: Server) -> None:
    body = body_of(server, "anthropic", parallel=False, cache=False)
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert "cache_control" not in body["tools"][-1]
    assert body_of(server, "openai", parallel=False)["parallel_tool_calls"] is False


def test_thinking_is_adaptive_or_off(server: Server) -> None:
    assert body_of(server, "anthropic", thinking="adaptive")["thinking"] == {"type": "adaptive"}
    assert body_of(server, "anthropic", thinking=0, top_p=0.5)["thinking"] == {"type": "disabled"}


def test_openai_itself_is_sent_the_new_name_of_the_limit() -> None:
    agent = agent_of("openai")
    assert agent.request(SAID, CATALOG, "https://api.openai.com/v1/")["max_completion_tokens"] == 4096
    assert agent.request(SAID, CATALOG, "http://127.0.0.1/v1/")["max_tokens"] == 4096


@pytest.mark.parametrize(
    ("kind", "options", "reason"),
    [
        ("anthropic", {"max_tokens": 0}, "no room"),
        ("anthropic", {"thinking": 100}, "at least 1024"),
        ("anthropic", {"thinking": 4096}, "below max_tokens=4096"),
        ("anthropic", {"thinking": 2048, "temperature": 0.0}, "takes no temperature"),
        ("anthropic", {"thinking": "adaptive", "top_p": 0.5}, "takes no temperature"),
        ("openai", {"thinking": 2048}, "say effort="),
    ],
)
def test_options_that_cannot_be_are_refused(kind: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        agent_of(kind, **options)


def test_a_name_says_the_provider_and_the_model() -> None:
    assert provider("openai:ft:gpt:x").name == "openai:ft:gpt:x"
    assert provider("anthropic:b", ProviderOptions(model="a", max_tokens=5)).options.max_tokens == 5
    for name in ("needle", "anthropic:", "mistral:large"):
        with pytest.raises(ValueError, match="anthropic:MODEL or openai:MODEL"):
            provider(name)
    with pytest.raises(ValueError, match="names its model"):
        ProviderOptions(model="")


# -- every request on record


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_retry_by_the_sdk_is_a_request_of_its_own(
    server: Server, kind: str, way: Callable[[ProviderAgent], Decided]
) -> None:
    server.lines[:] = [(429, ERROR), (529, b"<busy>", {"content-type": "text/html"}), (200, HELLO[kind])]
    decided = way(agent_of(kind))
    assert [request.status for request in decided.requests] == [429, 529, 200]
    assert [request.usage.tokens for request in decided.requests] == [0, 0, 520]
    assert [headers["x-stainless-retry-count"] for headers in server.headers] == ["0", "1", "2"]


def test_cached_tokens_are_counted_apart(server: Server) -> None:
    usage: dict[str, Any] = {
        "input_tokens": 10,
        "cache_read_input_tokens": 70,
        "cache_creation_input_tokens": 20,
    }
    server.lines[:] = [(200, message({"type": "text", "text": "x"}, **usage))]
    prices = Prices(input=1.0, output=10.0, cache_read=0.1, cache_write=1.25)
    (request,) = sync(agent_of("anthropic", prices=prices)).requests
    assert request.usage == Usage(10, 20, 70, 20, cost=10 + 200 + 7 + 25)
    details = {"cached_tokens": 70, "cache_write_tokens": 20}
    server.lines[:] = [(200, completion("x", prompt_tokens=100, prompt_tokens_details=details))]
    (request,) = sync(agent_of("openai")).requests
    assert request.usage == Usage(10, 20, 70, 20)


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None, "output_tokens": "many"}])
def test_a_server_that_reports_no_usage_has_no_cost(server: Server, usage: object) -> None:
    answer = {**HELLO["anthropic"], "usage": usage}
    answer.pop("id")
    server.lines[:] = [(200, answer, {"request-id": ""})]
    (request,) = sync(agent_of("anthropic", prices=Prices(input=1.0, output=1.0))).requests
    assert (request.usage.tokens, request.id) == (0, "")
    assert request.usage.cost in {None, 0}


def test_seconds_are_real_under_a_frozen_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)  # what freezegun does
    log = RequestLog("m", lambda _: Usage())
    log.sent()
    log.came(200, {}, b"{}")
    assert 0 < log.calls[0].seconds < 60


# -- what goes wrong


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_limit_is_an_error_only_after_all_retries(server: Server, kind: str) -> None:
    error = failed(server, kind, (429, ERROR))
    assert [request.status for request in error.requests] == [429, 429, 429]
    assert error.status == 429
    assert "answered 429 after 3 requests: Slow down.; wait, or ask less at a time" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_not_there(server: Server, kind: str) -> None:
    error = failed(server, kind, (404, {"error": {"message": "model: m"}}))
    url = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}[kind]
    assert error.status == 404
    assert f"knows no such model or path (404: model: m); check the name, and {url}" in str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_key_is_never_shown(server: Server, kind: str) -> None:
    error = failed(server, kind, (401, {"error": {"message": f"Incorrect API key provided: {SECRET}"}}))
    assert error.status == 401
    assert f"refused the key (401); check {kind.upper()}_API_KEY" in str(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_a_missing_key_is_named(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Any,
    kind: str,
    way: Callable[[ProviderAgent], Decided],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv(f"{kind.upper()}_API_KEY")
    with pytest.raises(ProviderError, match=f"there is no key; set {kind.upper()}_API_KEY") as raised:
        way(agent_of(kind))
    assert (raised.value.status, raised.value.requests, server.sent) == (0, (), [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_down(server: Server, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv(f"{kind.upper()}_BASE_URL", f"http://user:hunter22@{place}/x?key=hunter22")
    error = failed(server, kind, max_retries=0)
    said = str(error)
    assert f"no connection to http://{place}/x (" in said
    assert f"refused); is the server up at {kind.upper()}_BASE_URL?" in said
    assert "hunter22" not in said
    (request,) = error.requests
    assert (request.status, request.usage) == (0, Usage())
    assert request.seconds > 0


def test_a_server_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        with pytest.raises(ProviderError, match=r"no answer from http://127\.0\.0\.1:\d+ within 0\.05 s"):
            sync(agent_of("anthropic", timeout=0.05, max_retries=0))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_instead_of_an_api(server: Server, kind: str) -> None:
    error = failed(server, kind, (200, b"<html>Welcome</html>", {"content-type": "text/html"}))
    assert "answered what is no JSON object; is" in str(error)
    broken = failed(server, kind, (200, b'{"id": '), max_retries=0)
    assert "no JSON" in str(broken)
    assert f"{kind.upper()}_BASE_URL right?" in str(broken)


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_in_a_good_answer_is_an_error(server: Server, kind: str) -> None:
    error = failed(server, kind, (200, ERROR))
    assert (error.status, len(error.requests)) == (200, 1)
    assert "answered an error: Slow down." in str(error)


def test_a_bad_request_says_what_the_provider_says_in_one_short_line(server: Server) -> None:
    long = "prompt\n is too  long " + "x" * 1000 + SECRET
    error = failed(server, "anthropic", (400, {"error": {"message": long}}))
    assert "answered 400: prompt is too long x" in str(error)
    assert str(error).endswith("x...; look at the options and extra_body")
    assert len(str(error)) < 500


def test_what_looks_like_a_key_is_left_out() -> None:
    assert said_by({"error": {"message": "bad sk-abc***def and Bearer abcdef"}}, []) == "bad ... and ..."
    assert said_by("my hunter22!", ["hunter22"]) == "my ...!"
    assert said_by({"error": None}, []) == ""


def test_a_base_url_that_is_none(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-team: hunter22")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:hunter22")
    error = failed(server, "anthropic")
    assert "anthropic:m: the SDK cannot ask http://127.0.0.1:...: InvalidURL" in str(error)
    assert "hunter22" not in str(error)
    for text, place in (("http://[x", "the base URL"), ("", "the API of anthropic")):
        monkeypatch.setenv("ANTHROPIC_BASE_URL", text)
        assert agent_of("anthropic")._place() == place


def test_openai_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(ProviderError, match=r"needs the OpenAI SDK; pip install 'sandtrail\[openai\]'"):
        agent_of("openai").decide(SAID, CATALOG)


def test_naming_an_agent_loads_no_sdk() -> None:
    code = (
        "import sys; from sandtrail.sandbox.providers import provider\n"
        "provider('anthropic:m'); provider('openai:m').close()\n"
        "print(sorted({'anthropic', 'openai', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_text_that_no_json_holds_is_sent_as_what_is_nearest(server: Server) -> None:
    server.lines[:] = [(200, message(use("a", amount=float("nan")))), (200, HELLO["anthropic"])]
    agent = agent_of("anthropic")
    decided = agent.decide((UserSaid("half \ud83d"),), CATALOG)
    assert isinstance(decided.decision, Calls)
    told = Answered(decided.decision.calls[0], "{}", is_error=False)
    agent.decide((*SAID, decided, told), CATALOG)
    agent.close()
    assert server.sent[0]["messages"][0]["content"] == "half ?"
    assert server.sent[1]["messages"][1]["content"][0]["input"] == {"INVALID_JSON": '{"amount": NaN}'}


def test_numbers_that_no_json_holds_become_null(server: Server) -> None:
    assert body_of(server, "openai", extra_body={"seed": float("inf")})["seed"] is None


# -- tools that a server drops

MANY = Catalog(
    tuple(
        ToolSpec(
            f"tool_{n}", "Does this and that with the order of a customer, and says what came of it.", SCHEMA
        )
        for n in range(12)
    )
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_leaves_tools_out_is_found_out_at_the_first_reply(server: Server, kind: str) -> None:
    counts: dict[str, Any] = {"input_tokens": 20} if kind == "anthropic" else {"prompt_tokens": 20}
    hello = message({"type": "text", "text": "Hi."}, **counts) if kind == "anthropic" else None
    server.lines[:] = [(200, hello or completion("Hi.", **counts))]
    with pytest.raises(ToolsDropped, match="counts 20 tokens for a prompt with 12 tools") as raised:
        agent_of(kind).decide(SAID, MANY)
    assert [request.status for request in raised.value.requests] == [200]
    believer = agent_of(kind, check_tools=False)
    assert believer.decide(SAID, MANY).decision == Reply("Hi.")
    believer.close()
    gc.collect()


def test_a_server_that_makes_a_call_knows_of_tools_whatever_it_counts(server: Server) -> None:
    server.lines[:] = [
        (200, message(use("a"), input_tokens=20)),
        (200, message({"type": "text", "text": "Hi."}, input_tokens=20)),
    ]
    agent = agent_of("anthropic")
    agent.decide(SAID, MANY)
    assert agent.decide(SAID, MANY).decision == Reply("Hi.")
    agent.close()


def test_each_catalog_is_checked_once(server: Server) -> None:
    server.lines[:] = [
        (200, message({"type": "text", "text": "Hi."})),
        (200, message({"type": "text", "text": "Hi."}, input_tokens=20)),
    ]
    agent = agent_of("anthropic")
    agent.decide(SAID, MANY)
    agent.decide(SAID, MANY)
    with pytest.raises(ToolsDropped):
        agent.decide(SAID, Catalog(MANY.tools[1:]))
    agent.close()


def test_tokens_read_from_the_cache_are_tokens(server: Server) -> None:
    answer = message({"type": "text", "text": "Hi."}, input_tokens=5, cache_read_input_tokens=900)
    server.lines[:] = [(200, answer)]
    agent = agent_of("anthropic")
    assert agent.decide(SAID, MANY).decision == Reply("Hi.")
    agent.close()


@pytest.mark.parametrize(
    ("reported", "words", "tools", "dropped"),
    [
        (0, 30, 12, False),  # nothing reported, nothing known
        (35, 100, 12, True),
        (36, 100, 12, False),
        (10, 100, 12, False),  # too few for the words alone: no count of a prompt
        (30, 100, 0, False),
    ],
)
def test_only_a_count_that_cannot_be_right_proves_anything(
    reported: int,
    words: int,
    tools: int,
    dropped: bool,  # noqa: FBT001
) -> None:
    assert counts_no_tools(reported, words, [{"name": "get_order"}] * tools) is dropped


def test_a_large_catalog_needs_more_than_three_tokens_a_tool() -> None:
    tools = messages_anthropic.tools_of(MANY)
    size = len(json.dumps(tools))
    assert counts_no_tools(500 // 4, 500, tools)  # the words alone, at their usual four characters
    assert not counts_no_tools(500 // 4 + size // 4, 500, tools)
    assert not counts_no_tools(500 // 4 + size // 8, 500, tools)  # a server that renders them tersely


# -- what is on record of an agent


def sent_tools(server: Server, number: int) -> str:
    """The digest over the bytes of the tools in a request that came."""
    tools = json.dumps(server.sent[number]["tools"], ensure_ascii=False, separators=(",", ":")).encode()
    assert tools in server.raw[number]
    return hashlib.sha256(tools).hexdigest()


ODD_TOOLS: list[dict[str, Any]] = [
    {"name": "a", "description": "half a pair: \ud800", "input_schema": SCHEMA}
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "options", [{}, {"meta": True}, {"cache": False}, {"extra_body": {"tools": ODD_TOOLS}}]
)
def test_a_saved_run_says_which_bytes_the_model_was_given(
    server: Server, kind: str, options: dict[str, Any]
) -> None:
    offer = Offered(changes=(CatalogChange(2, remove=("get_order",)),))
    talk = Scenario("made", "a test", WorldSpec(), User("Hello.", ("More?",)), Contract(), PLACE, offer=offer)
    server.lines[:] = [(200, HELLO[kind])]
    agent = agent_of(kind, check_tools=False, **options)
    result = run(talk, agent)
    agent.close()
    first, second = loads(dump(result.trajectory)).recorded["catalogs"]
    assert (first["from_step"], second["from_step"]) == (0, 1)
    assert (first["sent_digest"], second["sent_digest"]) == (sent_tools(server, 0), sent_tools(server, 1))
    assert (first["sent_digest"] == second["sent_digest"]) is ("extra_body" in options)


@pytest.mark.parametrize("kind", KINDS)
def test_where_no_tools_are_sent_there_is_no_digest_of_any(server: Server, kind: str) -> None:
    assert "tools" not in body_of(server, kind, Catalog(()))
    assert agent_of(kind).catalog_digest(Catalog(())) == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_run_says_how_the_model_was_asked_and_no_secret(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.lines[:] = [(200, HELLO[kind])]
    extra = {"api_key": "hunter2hunter2", "metadata": {"user": "lee@example.test"}, "seed": 7, "stop": ["x"]}
    agent = agent_of(kind, system="Help.", top_p=0.5, extra_body=extra, prices=Prices(input=1, output=2))
    result = run(Scenario("made", "a test", WorldSpec(), User("Hello."), Contract(), PLACE), agent)
    agent.close()
    line = dump(result.trajectory)
    told = loads(line).recorded["provider"]
    assert (told["provider"], told["model"], told["host"]) == (kind, "m", f"127.0.0.1:{server.port}")
    assert told["sdk"].startswith(f"{kind} ")
    assert told["system_digest"] == hashlib.sha256(b"Help.").hexdigest()
    assert (told["options"]["top_p"], told["options"]["max_tokens"]) == (0.5, 4096)
    assert told["options"]["prices"]["output"] == 2
    assert told["options"]["extra_body"]["seed"] == 7
    assert not any(secret in line for secret in (SECRET, "hunter2", "lee@example.test"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_host_on_record_is_without_credentials_and_paths(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url, host in (
        ("https://lee:hunter2@gateway.test:8443/v1/hunter2?key=hunter2", "gateway.test:8443"),
        ("", ""),
        ("http://[", ""),
    ):
        monkeypatch.setenv(f"{kind.upper()}_BASE_URL", url)
        told = agent_of(kind).configuration
        assert told["host"] == host
        assert "hunter2" not in json.dumps(told)


def test_options_that_no_json_holds_and_an_sdk_that_is_not_there_are_told_as_far_as_they_go(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(agent_provider, "version", absent)
    told = agent_of("openai", temperature=float("nan")).configuration
    assert (told["sdk"], told["system_digest"], told["options"]["temperature"]) == ("", "", None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["run", "arun"])
def test_payloads_are_logged_with_their_trial_when_asked_for(
    server: Server, kind: str, way: str, tmp_path: Path
) -> None:
    server.lines[:] = [(429, {"error": {"message": f"{SECRET}: slow down"}}), (200, HELLO[kind])]
    talk = Scenario("made", "a test", WorldSpec(), User("Hello."), Contract(), PLACE)
    log, agent = PayloadLog.open(tmp_path / "p.gz"), agent_of(kind)
    told = partial(log.write, "run_1")
    if way == "run":
        run(talk, agent, repetition=3, payloads=told)
    else:
        asyncio.run(arun(talk, agent, repetition=3, payloads=told))
    agent.close()
    log.close()
    refused, answered = payloads(log.path)
    assert (answered["run"], answered["scenario"], answered["repetition"]) == ("run_1", "made", 3)
    assert (refused["payload"]["status"], answered["payload"]["status"]) == (429, 200)
    assert [one["payload"]["request"] for one in (refused, answered)] == server.sent
    assert answered["payload"]["response"] == HELLO[kind]
    assert SECRET.encode() not in gzip.decompress(log.path.read_bytes())


def test_payloads_of_the_command_line_carry_the_stored_run(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.lines[:] = [(200, message({"type": "text", "text": "Hello."}, input_tokens=20_000))]
    words = ["run", "charged-twice-look-only", "--agent", "anthropic:m", "--repetitions", "2", "--json"]
    main([*words, "--payloads", str(tmp_path / "p.gz"), "--store", str(tmp_path / "r.sqlite")])
    stored = json.loads(capsys.readouterr().out)["run"]
    found = {(one["run"], one["repetition"]) for one in payloads(tmp_path / "p.gz")}
    assert found == {(stored, 1), (stored, 2)}


# -- clients


def test_one_client_serves_many_threads_and_its_records_do_not_mix(server: Server) -> None:
    server.lines[:] = [(200, HELLO["anthropic"])]
    agent = agent_of("anthropic")
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(agent.decide, SAID, CATALOG) for _ in range(24)]
    found = [one.result() for one in asked]
    agent.close()
    assert [len(decided.requests) for decided in found] == [1] * 24
    assert len(server.sent) == 24


def test_async_decisions_run_beside_each_other_and_in_one_loop_after_another(server: Server) -> None:
    server.lines[:] = [(200, HELLO["openai"])]
    agent = agent_of("openai")

    async def several() -> list[Decided]:
        return await asyncio.gather(*(agent.adecide(SAID, CATALOG) for _ in range(4)))

    for _ in range(2):
        assert [len(decided.requests) for decided in asyncio.run(several())] == [1] * 4
    assert {headers["connection"] for headers in server.headers}


def test_runs_of_a_providers_agent_go_on_beside_each_other_in_one_loop(server: Server) -> None:
    server.lines[:] = [(200, HELLO["openai"])]
    server.together = threading.Barrier(2, timeout=10)  # answers once both have asked
    talk = Scenario("made", "a test", WorldSpec(), User("Hello."), Contract(), PLACE)
    agent = agent_of("openai", check_tools=False)

    async def several() -> list[Result]:
        return [*await asyncio.gather(*(arun(talk, agent, repetition=number) for number in (1, 2)))]

    found = [one.trajectory for one in asyncio.run(several())]
    agent.close()
    assert [(one.agent, one.repetition, one.final) for one in found] == [
        ("openai:m", 1, "Hello."), ("openai:m", 2, "Hello."),
    ]  # fmt: skip
    assert found[0].recorded["provider"] == agent.configuration
    assert found[0].recorded["catalogs"][0]["sent_digest"] == sent_tools(server, 0)


def test_a_closed_agent_opens_again(server: Server) -> None:
    server.lines[:] = [(200, HELLO["openai"])]
    agent = agent_of("openai")
    agent.close()
    for _ in range(2):
        assert sync(agent).decision == Reply("Hello.")
