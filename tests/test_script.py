"""The fake model: what a script says reaches an unmodified agent as its provider would send it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest
import requests
import respx
from anthropic import beta_async_tool, beta_tool
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.fakes.wire import Request
from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import Block, BlockedRequest, Record, Sandbox, UnfiredFault, UnreadBlocks
from sandtrail.sandbox.models import ModelRequest
from sandtrail.sandbox.script import Script, ScriptRun
from sandtrail.sandbox.script_steps import (
    CutOff,
    Fails,
    Planned,
    Refuses,
    Says,
    ScriptedCall,
    call,
    calls,
    cut_off,
    lost,
    overloaded,
    rate_limited,
    refuse,
    say,
    server_error,
)
from worlds import ENTITIES, SUPPORT

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)
HELLO: Any = [{"role": "user", "content": "Why was I charged twice?"}]
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"order_id": {"type": "string"}}}
TOOLS: Any = [{"name": "list_payments", "description": "List payments.", "input_schema": SCHEMA}]
FUNCTIONS: Any = [{"type": "function", "function": {"name": "list_payments", "parameters": SCHEMA}}]
BOTH = say("Both.", call("list_payments", order_id="ord_1"), call("get_order", order_id="ord_2", deep=True))
ANTHROPIC = "https://api.anthropic.com/v1/messages"
OPENAI = "https://api.openai.com/v1/chat/completions"


@contextmanager
def script(*steps: Planned, **options: Any) -> Generator[Sandbox]:
    """A sandbox whose model follows these steps."""
    with Sandbox(SPEC, models=Script(steps), **options) as sandbox:
        yield sandbox


def ask(messages: Any = HELLO, *, retries: int = 0, **more: Any) -> Any:
    """One request of the Anthropic SDK."""
    client: Any = anthropic.Anthropic(api_key="secret-key", max_retries=retries)
    sent: dict[str, Any] = {"model": "claude-x", "max_tokens": 99, "messages": messages, **more}
    return client.messages.create(**sent)


def ask_openai(messages: Any = HELLO, *, retries: int = 0, **more: Any) -> Any:
    """One request of the OpenAI SDK."""
    client: Any = openai.OpenAI(api_key="secret-key", max_retries=retries)
    sent: dict[str, Any] = {"model": "gpt-x", "messages": messages, **more}
    return client.chat.completions.create(**sent)


def stream(messages: Any = HELLO) -> Any:
    """The message that the Anthropic SDK puts together from a stream."""
    client = anthropic.Anthropic(api_key="k", max_retries=0)
    with client.messages.stream(model="claude-x", max_tokens=99, messages=messages) as events:
        return events.get_final_message()


def put_together(chunks: Any) -> tuple[str, list[list[Any]], str]:
    """What a client makes of chunks: the text, the calls by index, why it ended."""
    text, made, why = "", dict[int, list[Any]](), ""
    for chunk in chunks:
        for choice in chunk.choices:
            text += choice.delta.content or choice.delta.refusal or ""
            for delta in choice.delta.tool_calls or ():
                entry = made.setdefault(delta.index, [None, None, ""])
                entry[0] = entry[0] or delta.id
                entry[1] = entry[1] or delta.function.name
                entry[2] += delta.function.arguments
            why = choice.finish_reason or why
    return text, [made[index] for index in sorted(made)], why


# -- answers ----------------------------------------------------------------------------------------------


def test_text_and_parallel_calls_reach_the_anthropic_sdk() -> None:
    with script(say("Hello."), BOTH):
        hello, both = ask(), ask()
    assert (hello.content[0].text, hello.stop_reason, hello.model) == ("Hello.", "end_turn", "claude-x")
    text, one, two = both.content
    assert (text.text, both.stop_reason) == ("Both.", "tool_use")
    assert (one.name, one.input) == ("list_payments", {"order_id": "ord_1"})
    assert (two.name, two.input) == ("get_order", {"order_id": "ord_2", "deep": True})
    ids = [hello.id, both.id, one.id, two.id]
    assert len(set(ids)) == 4
    assert [each[:5] for each in ids] == ["msg_0", "msg_0", "toolu", "toolu"]


def test_text_and_parallel_calls_reach_the_openai_sdk() -> None:
    with script(say("Hello."), BOTH, calls(call("ping"))) as sandbox:
        hello, both, lone = ask_openai(), ask_openai(), ask_openai()
        now = int(sandbox.clock.now().timestamp())
    assert (hello.choices[0].message.content, hello.choices[0].finish_reason) == ("Hello.", "stop")
    assert (hello.model, hello.created) == ("gpt-x", now)
    assert hello.choices[0].message.tool_calls is None
    choice = both.choices[0]
    assert (choice.message.content, choice.finish_reason) == ("Both.", "tool_calls")
    one, two = choice.message.tool_calls
    assert (one.function.name, one.function.arguments) == ("list_payments", '{"order_id": "ord_1"}')
    assert json.loads(two.function.arguments) == {"order_id": "ord_2", "deep": True}
    assert one.id != two.id
    assert lone.choices[0].message.content is None
    assert lone.choices[0].message.tool_calls[0].function.arguments == "{}"


def test_a_stream_comes_in_fragments_and_adds_up_to_the_same_message() -> None:
    with script(BOTH, BOTH):
        client = anthropic.Anthropic(api_key="k", max_retries=0)
        with client.messages.stream(model="claude-x", max_tokens=99, messages=HELLO) as events:
            kinds = [event.type for event in events]
            streamed = events.get_final_message()
        whole = ask()
    assert [block.model_dump(exclude={"id"}) for block in streamed.content] == [
        block.model_dump(exclude={"id"}) for block in whole.content
    ]
    assert (streamed.stop_reason, streamed.usage.output_tokens) == ("tool_use", whole.usage.output_tokens)
    assert kinds[0] == "message_start"
    assert kinds[-2:] == ["message_delta", "message_stop"]
    assert kinds.count("content_block_stop") == 3
    assert kinds.count("input_json") > 4


def test_the_events_of_a_stream_are_those_of_the_api() -> None:
    body = {"model": "m", "max_tokens": 9, "messages": HELLO, "stream": True}
    with script(say("Hi.", call("ping", n=1))):
        answer = httpx.post(ANTHROPIC, json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = answer.text.split("\n\n")
    assert lines[-1] == ""
    events = [line.split("\n") for line in lines[:-1]]
    assert all(name.startswith("event: ") and data.startswith("data: ") for name, data in events)
    told = [json.loads(data.removeprefix("data: ")) for _, data in events]
    assert [event["type"] for event in told] == [name.removeprefix("event: ") for name, _ in events]
    assert told[0]["message"]["content"] == []
    assert told[0]["message"]["stop_reason"] is None
    (begun,) = [event for event in told if event.get("content_block", {}).get("type") == "tool_use"]
    assert (begun["index"], begun["content_block"]["input"]) == (1, {})
    pieces = [event["delta"]["partial_json"] for event in told if "partial_json" in event.get("delta", {})]
    assert (pieces[0], "".join(pieces)) == ("", '{"n": 1}')


def test_parallel_calls_are_interleaved_in_chunks_and_usage_comes_where_it_was_asked_for() -> None:
    with script(BOTH, BOTH):
        chunks = list(ask_openai(stream=True, stream_options={"include_usage": True}))
        without = list(ask_openai(stream=True))
    text, made, why = put_together(chunks)
    assert (text, why) == ("Both.", "tool_calls")
    assert [(name, json.loads(arguments)) for _, name, arguments in made] == [
        ("list_payments", {"order_id": "ord_1"}),
        ("get_order", {"order_id": "ord_2", "deep": True}),
    ]
    order = [
        delta.index
        for chunk in chunks
        for choice in chunk.choices
        for delta in choice.delta.tool_calls or ()
        if delta.function.arguments
    ]
    assert order[:4] == [0, 1, 0, 1]
    assert chunks[-1].choices == []
    reasons = [choice.finish_reason for chunk in chunks for choice in chunk.choices]
    assert [reason for reason in reasons if reason] == reasons[-1:] == ["tool_calls"]
    assert (
        chunks[-1].usage.total_tokens == chunks[-1].usage.prompt_tokens + chunks[-1].usage.completion_tokens
    )
    assert all(chunk.usage is None for chunk in (*chunks[:-1], *without))
    assert len({chunk.id for chunk in chunks}) == 1
    assert put_together(without)[0] == "Both."


def test_a_stream_of_chunks_ends_with_done() -> None:
    with script(say("Hi.")):
        answer = requests.post(OPENAI, json={"model": "m", "messages": HELLO, "stream": True}, timeout=5)
    assert answer.text.endswith("data: [DONE]\n\n")
    assert "event:" not in answer.text


def test_the_openai_stream_helper_understands_the_chunks() -> None:
    with script(say("Hi.", call("list_payments", order_id="ord_1")), refuse("No.")):
        client = openai.OpenAI(api_key="k", max_retries=0)
        with client.chat.completions.stream(model="m", messages=HELLO, tools=FUNCTIONS) as events:
            made = events.get_final_completion().choices[0].message
        with client.chat.completions.stream(model="m", messages=HELLO) as events:
            refused = events.get_final_completion().choices[0].message
    assert made.content == "Hi."
    assert made.tool_calls is not None
    assert made.tool_calls[0].function.arguments == '{"order_id": "ord_1"}'
    assert (refused.refusal, refused.content) == ("No.", None)


def test_a_refusal_has_the_shape_of_its_provider() -> None:
    with script(*[refuse("Not that.")] * 4) as sandbox:
        whole, streamed = ask(), stream()
        for message in (whole, streamed):
            assert (message.content, message.stop_reason) == ([], "refusal")
            assert message.stop_details.explanation == "Not that."
        choice = ask_openai().choices[0]
        assert (choice.message.refusal, choice.message.content, choice.finish_reason) == (
            "Not that.",
            None,
            "stop",
        )
        assert put_together(ask_openai(stream=True)) == ("Not that.", [], "stop")
        assert {request.answered for request in sandbox.model_requests} == {"refusal"}


def test_an_answer_may_be_cut_in_its_text() -> None:
    with script(cut_off("I was abo"), cut_off("I was abo")):
        assert (ask().stop_reason, ask_openai().choices[0].finish_reason) == ("max_tokens", "length")


def test_an_answer_may_be_cut_in_the_middle_of_a_call() -> None:
    cut = cut_off("", call("ping"), call("refund_payment", payment_id="pay_1", amount_minor=4250), kept=25)
    with script(*[cut] * 4):
        whole, streamed = ask(), stream()
        for message in (whole, streamed):
            assert message.stop_reason == "max_tokens"
            assert [block.name for block in message.content] == ["ping", "refund_payment"]
            assert message.content[1].input == {"payment_id": "pay_1"}
        choice = ask_openai().choices[0]
        assert (choice.finish_reason, choice.message.tool_calls[1].function.arguments) == (
            "length",
            '{"payment_id": "pay_1", "',
        )
        _, made, why = put_together(ask_openai(stream=True))
        assert (made[1][2], why) == ('{"payment_id": "pay_1", "', "length")


def test_a_cut_call_keeps_half_of_its_arguments_where_it_is_not_said() -> None:
    cut = cut_off("", call("get_order", order_id="ord_123456789"))
    assert cut.left == '{"order_id": "'
    assert cut.left_object == {}
    assert cut_off("", call("f", a=1), kept=len('{"a": 1}')).left_object == {"a": 1}


def test_arguments_may_be_a_text_that_is_no_json() -> None:
    with script(*[call("list_payments", '{"order_id": ord}')] * 4):
        assert ask_openai().choices[0].message.tool_calls[0].function.arguments == '{"order_id": ord}'
        assert put_together(ask_openai(stream=True))[1][0][2] == '{"order_id": ord}'
        assert ask().content[0].input == {}
        with pytest.raises(ValueError, match="Unable to parse tool parameter JSON"):
            stream()


def test_an_empty_answer_is_an_answer() -> None:
    with script(say(""), say("")):
        assert (ask().content, ask_openai().choices[0].message.content) == ([], "")


def test_a_call_may_carry_an_id_of_the_tests_choice() -> None:
    with script(calls(ScriptedCall("a", {}, id="same"), ScriptedCall("b", {}, id="same"))):
        assert [block.id for block in ask().content] == ["same", "same"]


def test_the_same_run_gives_the_same_ids() -> None:
    def ids() -> list[str]:
        with script(BOTH, BOTH):
            message, completion = ask(), ask_openai()
            return [message.id, message.content[1].id, completion.id, completion._request_id]

    assert ids() == ids()


def test_tokens_are_counted_from_what_is_sent_and_said() -> None:
    with script(*[say("Hello.")] * 3, say("Hello, and a good deal more than that.")):
        short, same, long, more = ask(), ask(), ask(system="Be brief. " * 40), ask_openai()
    assert short.usage.input_tokens == same.usage.input_tokens < long.usage.input_tokens
    assert long.usage.input_tokens - short.usage.input_tokens == pytest.approx(100, abs=2)
    assert more.usage.completion_tokens > short.usage.output_tokens > 0


def test_text_beyond_ascii_arrives_whole() -> None:
    words = "Grüße 👋\u2028 \U0001f468\u200d\U0001f469 ok"
    with script(*[say(words)] * 4):
        assert (ask().content[0].text, stream().content[0].text) == (words, words)
        assert ask_openai().choices[0].message.content == words
        assert put_together(ask_openai(stream=True))[0] == words


# -- every client -----------------------------------------------------------------------------------------


def test_the_async_sdks_are_answered_too() -> None:
    async def talk() -> list[str]:
        one, two = anthropic.AsyncAnthropic(api_key="k"), openai.AsyncOpenAI(api_key="k")
        first = await one.messages.create(model="m", max_tokens=9, messages=HELLO)
        second = await two.chat.completions.create(model="m", messages=HELLO)
        async with one.messages.stream(model="m", max_tokens=9, messages=HELLO) as events:
            third = await events.get_final_message()
        chunks = [
            chunk async for chunk in await two.chat.completions.create(model="m", messages=HELLO, stream=True)
        ]
        return [
            first.content[0].text,  # type: ignore[union-attr]
            second.choices[0].message.content or "",
            third.content[0].text,  # type: ignore[union-attr]
            put_together(chunks)[0],
        ]

    with script(say("1"), say("2"), say("3"), say("4")):
        assert asyncio.run(talk()) == ["1", "2", "3", "4"]


@pytest.mark.parametrize("library", [httpx, httpx2, requests])
def test_a_hand_written_client_is_answered(library: Any) -> None:
    with script(say("Hello."), say("Hello.")):
        body = {"model": "m", "max_tokens": 9, "messages": HELLO}
        assert library.post(ANTHROPIC, json=body).json()["content"][0]["text"] == "Hello."
        assert library.post(OPENAI, json=body).json()["choices"][0]["message"]["content"] == "Hello."


def test_the_transport_of_a_sandbox_answers_for_the_model_too() -> None:
    with script(say("Hello."), lost()) as sandbox, httpx.Client(transport=sandbox.transport()) as client:
        assert client.post(OPENAI, json={"model": "m", "messages": HELLO}).status_code == 200
        with pytest.raises(httpx.ReadTimeout):
            client.post(OPENAI, json={"model": "m", "messages": HELLO})


def test_a_gateway_of_ones_own_is_answered_under_its_own_base_url() -> None:
    lane = Script([say("Hello.")], hosts=("llm.internal",))
    with Sandbox(SPEC, models=lane):
        client = openai.OpenAI(api_key="k", base_url="https://llm.internal/openai", max_retries=0)
        assert (
            client.chat.completions.create(model="m", messages=HELLO).choices[0].message.content == "Hello."
        )


def test_a_service_mapped_to_the_models_host_wins_over_the_script() -> None:
    urls = {"https://api.openai.com/billing/v1": "billing"}
    with script(say("Hello."), urls=urls) as sandbox:
        payment = sandbox.id("$payment.first")
        assert httpx.get(f"https://api.openai.com/billing/v1/payments/{payment}").json()["amount"] == 4250
        assert ask_openai().choices[0].message.content == "Hello."


# -- an agent's loop --------------------------------------------------------------------------------------


def second_payment(sent: ModelRequest) -> ScriptedCall:
    """What a model does that reads: refund the second payment that it was shown."""
    return call(
        "refund_payment", payment_id=sent.result("list_payments")["payments"][1]["id"], amount_minor=4250
    )


def test_an_unmodified_anthropic_loop_runs_against_the_world() -> None:
    with script(
        call("list_payments", order_id="ord"),
        second_payment,
        lambda sent: say(f"Done: {sent.result()['amount']}."),
    ) as sandbox:
        messages: list[Any] = list(HELLO)
        while (reply := ask(messages, tools=TOOLS)).stop_reason == "tool_use":
            used = reply.content[0]
            arguments = {
                **used.input,
                **({"order_id": sandbox.id("$order.lamp")} if "order_id" in used.input else {}),
            }
            told = sandbox.call(used.name, arguments).text
            result = {
                "type": "tool_result",
                "tool_use_id": used.id,
                "content": [{"type": "text", "text": told}],
            }
            messages += [
                {"role": "assistant", "content": reply.content},
                {"role": "user", "content": [result]},
            ]
        assert sandbox.ledger.effects("refund.created") == [{"payment": "$payment.second", "amount": 4250}]
        assert reply.content[0].text == "Done: 4250."
        assert [request.answered for request in sandbox.model_requests] == ["calls", "calls", "text"]
        assert [len(request.messages) for request in sandbox.model_requests] == [1, 3, 5]
        assert sandbox.model_steps_left == 0


def test_an_unmodified_openai_loop_runs_against_the_world() -> None:
    with script(call("list_payments", order_id="ord"), second_payment, say("Done.")) as sandbox:
        messages: list[Any] = list(HELLO)
        while made := (reply := ask_openai(messages, tools=FUNCTIONS).choices[0].message).tool_calls:
            arguments = json.loads(made[0].function.arguments)
            arguments |= {"order_id": sandbox.id("$order.lamp")} if "order_id" in arguments else {}
            told = sandbox.call(made[0].function.name, arguments).text
            messages += [reply, {"role": "tool", "tool_call_id": made[0].id, "content": told}]
        assert sandbox.ledger.effects("refund.created") == [{"payment": "$payment.second", "amount": 4250}]


def test_the_tool_runner_continues_a_message_thread_that_the_fake_keeps() -> None:
    seen: list[str] = []

    @beta_tool
    def list_payments(order_id: str) -> str:
        """List payments.

        Args:
            order_id: The order.
        """
        seen.append(order_id)
        return json.dumps({"payments": [{"id": f"pay_{order_id}"}]})

    def next_order(sent: ModelRequest) -> ScriptedCall:
        return call("list_payments", order_id=sent.result()["payments"][0]["id"])

    with script(call("list_payments", order_id="1"), next_order, say("Two.")) as sandbox:
        client = anthropic.Anthropic(api_key="k", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=99, messages=HELLO, tools=[list_payments], system="Be brief."
        )
        last = runner.until_done()
        assert last.content[0].text == "Two."  # type: ignore[union-attr]
        assert seen == ["1", "pay_1"]
        first, second, third = sandbox.model_requests
        assert [len(request.messages) for request in (first, second, third)] == [1, 1, 1]
        assert [len(request.history) for request in (first, second, third)] == [1, 3, 5]
        assert third.tools == first.tools == ("list_payments",)
        assert third.tools_digest == first.tools_digest
        assert third.system == "Be brief."


def test_the_tool_runner_works_without_threads_and_async_and_streamed() -> None:
    @beta_async_tool
    async def ping(text: str) -> str:
        """Ping.

        Args:
            text: What to send.
        """
        return text

    async def run(**options: Any) -> Any:
        client: Any = anthropic.AsyncAnthropic(api_key="k", max_retries=0)
        runner = client.beta.messages.tool_runner(
            model="m", max_tokens=99, messages=HELLO, tools=[ping], **options
        )
        return await runner.until_done()

    for options, sent in (({"thread": False}, 3), ({}, 1), ({"stream": True}, 1)):
        with script(call("ping", text="hi"), say("Done.")) as sandbox:
            assert asyncio.run(run(**options)).content[0].text == "Done."
            assert len(sandbox.model_requests[1].messages) == sent


def thread_body(**more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": HELLO, **more}


def test_a_thread_that_is_not_held_or_was_continued_is_refused_with_the_code_that_sdks_act_on() -> None:
    with script(say("1"), say("2"), say("3"), refuse()):
        lost_one = httpx.post(
            ANTHROPIC, json=thread_body(thread={"type": "continue", "previous_message_id": "x"})
        )
        assert lost_one.status_code == 404
        assert lost_one.json()["error"]["details"] == {"error_code": "thread_not_found"}
        first = httpx.post(ANTHROPIC, json=thread_body(thread={"type": "create"})).json()
        more = {"thread": {"type": "continue", "previous_message_id": first["id"]}}
        changed = httpx.post(ANTHROPIC, json=thread_body(**more, system="Other words."))
        assert changed.json()["error"]["message"].startswith("system: a thread keeps")
        assert httpx.post(ANTHROPIC, json=thread_body(**more)).status_code == 200
        again = httpx.post(ANTHROPIC, json=thread_body(**more))
        assert again.json()["error"]["details"] == {"error_code": "thread_already_continued"}
        unthreaded = httpx.post(ANTHROPIC, json=thread_body()).json()
        refused = httpx.post(ANTHROPIC, json=thread_body(thread={"type": "create"})).json()
        for body in (unthreaded, refused):
            after = {"type": "continue", "previous_message_id": body["id"]}
            assert httpx.post(ANTHROPIC, json=thread_body(thread=after)).status_code == 404


# -- failures ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "error", "openais", "status"),
    [
        (rate_limited, "rate_limit_error", "rate_limit_exceeded", (429, 429)),
        (overloaded, "overloaded_error", "server_error", (529, 503)),
        (server_error, "api_error", "server_error", (500, 500)),
    ],
)
def test_a_failure_has_the_status_and_body_of_its_provider(
    step: Callable[[], Fails], error: str, openais: str, status: tuple[int, int]
) -> None:
    with script(step(), step()) as sandbox:
        with pytest.raises(anthropic.APIStatusError) as one:
            ask()
        with pytest.raises(openai.APIStatusError) as two:
            ask_openai()
        assert (one.value.status_code, two.value.status_code) == status
        assert one.value.body["error"]["type"] == error  # type: ignore[index]
        assert openais in {two.value.type, two.value.code}
        assert [request.status for request in sandbox.model_requests] == list(status)
        assert {request.answered for request in sandbox.model_requests} == {step().kind}


def test_the_sdks_come_again_and_their_count_is_on_record() -> None:
    with script(rate_limited(), overloaded(), say("Now."), server_error(), say("Now.")) as sandbox:
        assert ask(retries=2).content[0].text == "Now."
        assert ask_openai(retries=2).choices[0].message.content == "Now."
        assert [request.retry for request in sandbox.model_requests] == [0, 1, 2, 0, 1]


def test_when_to_come_again_is_said_unless_it_is_not() -> None:
    with script(rate_limited(retry_after=1.5), rate_limited(retry_after=None)):
        answers = [httpx.post(OPENAI, json={"model": "m", "messages": HELLO}) for _ in range(2)]
    assert [answer.headers.get("retry-after") for answer in answers] == ["2", None]
    assert answers[0].headers["retry-after-ms"] == "1500"


def test_a_lost_answer_is_a_timeout_of_the_clients_own() -> None:
    with script(lost(), lost()) as sandbox:
        with pytest.raises(anthropic.APITimeoutError):
            ask()
        with pytest.raises(openai.APITimeoutError):
            ask_openai()
        assert [(request.status, request.answered) for request in sandbox.model_requests] == [
            (None, "lost")
        ] * 2


def test_a_failure_that_never_happened_warns_and_other_steps_left_do_not() -> None:
    with script(say("Hello."), say("More.")) as sandbox:
        ask()
        assert sandbox.model_steps_left == 1
    with pytest.warns(UnfiredFault, match="lost|Loses"), script(say("Hello."), lost()):
        ask()


# -- what the API would refuse ----------------------------------------------------------------------------

USE: dict[str, Any] = {"type": "tool_use", "id": "t1", "name": "ping", "input": {}}
TOLD = {"type": "tool_result", "tool_use_id": "t1", "content": "pong"}
MADE = {"id": "c1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}


def turns(*contents: Any) -> list[Any]:
    return [
        {"role": ("user", "assistant")[place % 2], "content": each} for place, each in enumerate(contents)
    ]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a call without its result": (
        {"messages": turns("Hi.", [USE], "And?")},
        r"messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1",
    ),
    "a call that ends the request": ({"messages": turns("Hi.", [USE])}, "`tool_use` ids were found without"),
    "a result without its call": (
        {"messages": turns([TOLD])},
        r"messages\.0\.content\.0: unexpected `tool_use_id`",
    ),
    "an id that stands twice": (
        {"messages": turns("Hi.", [USE, USE], [TOLD])},
        "`tool_use` ids must be unique",
    ),
    "OpenAI's result": (
        {"messages": [*turns("Hi.", [USE]), {"role": "tool", "tool_call_id": "t1", "content": "x"}]},
        r"messages\.2: the role 'tool' is not of this dialect",
    ),
    "OpenAI's call": (
        {"messages": [*HELLO, {"role": "assistant", "content": None, "tool_calls": [MADE]}]},
        r"messages\.1\.tool_calls: .*not of this dialect",
    ),
    "no limit of tokens": ({"max_tokens": None}, "max_tokens: Field required"),
    "a limit that is none": ({"max_tokens": "9"}, "max_tokens: Input should be"),
    "no model": ({"model": None}, "model: Field required"),
    "no messages at all": ({"messages": []}, "messages: at least one message is required"),
    "messages that are no list": ({"messages": "Hi."}, "messages: Field required"),
    "a message that is no object": ({"messages": ["Hi."]}, r"messages\.0: Input should be an object"),
    "a role nobody has": ({"messages": [{"role": "bot", "content": "x"}]}, 'Unexpected role "bot"'),
    "a role that is a list": ({"messages": [{"role": [], "content": "x"}]}, r"Unexpected role \[\]"),
    "the system among the messages": (
        {"messages": [{"role": "system", "content": "x"}]},
        "top-level `system`",
    ),
    "content that is none": ({"messages": [{"role": "user", "content": 3}]}, "valid string"),
    "blocks without a type": ({"messages": turns([{"text": "x"}])}, "blocks with a type"),
    "an empty content": ({"messages": turns([])}, "must have non-empty content"),
    "the empty content of a refusal sent back": (
        {"messages": turns("Hi.", [], "Go on.")},
        r"messages\.1: all messages",
    ),
    "an empty text": ({"messages": turns(" ")}, "non-whitespace text"),
    "a call by the user": ({"messages": turns([USE])}, "only be in `assistant` messages"),
    "a call without an id": ({"messages": turns("Hi.", [{**USE, "id": ""}])}, "id and name: Field required"),
    "an input that is a text": ({"messages": turns("Hi.", [{**USE, "input": "{}"}])}, "valid dictionary"),
    "a tool twice": ({"tools": [*TOOLS, *TOOLS]}, "Tool names must be unique: list_payments"),
    "tools that are none": ({"tools": [3]}, "tools: Input should be"),
    "a tool's name with a blank": ({"tools": [{**TOOLS[0], "name": "a b"}]}, r"tools\.0\.custom\.name"),
    "a tool without a schema": ({"tools": [{"name": "ping"}]}, r"tools\.0\.custom\.input_schema"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_messages_api_refuses_is_refused_and_takes_no_step(case: str) -> None:
    changes, words = REFUSED[case]
    body = {"model": "m", "max_tokens": 9, "messages": HELLO, **changes}
    with script(say("Hello.")) as sandbox:
        answer = httpx.post(ANTHROPIC, json=body)
        assert answer.status_code == 400
        said = answer.json()
        assert (said["type"], said["error"]["type"]) == ("error", "invalid_request_error")
        assert said["request_id"] == answer.headers["request-id"]
        assert sandbox.blocked_hosts() == []
        assert sandbox.model_steps_left == 1
        (request,) = sandbox.model_requests
        assert (request.status, request.answered) == (400, "invalid")
        assert re.search(words, said["error"]["message"])


ASSISTANT: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [MADE]}
REFUSED_BY_OPENAI: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "a call without its result": (
        {"messages": [*HELLO, ASSISTANT, *HELLO]},
        "must be followed by tool messages responding to each 'tool_call_id'.*: c1",
        "messages.1.tool_calls.0",
    ),
    "a call that ends the request": (
        {"messages": [*HELLO, ASSISTANT]},
        "must be followed by tool messages",
        None,
    ),
    "a result without its call": (
        {"messages": [*HELLO, {"role": "tool", "tool_call_id": "c1", "content": "x"}]},
        "must be a response to a preceding message with 'tool_calls'",
        "messages.1",
    ),
    "an id that stands twice": (
        {
            "messages": [
                {**ASSISTANT, "tool_calls": [MADE, MADE]},
                {"role": "tool", "tool_call_id": "c1", "content": ""},
            ]
        },
        "Duplicate value for 'tool_call_id' of 'c1'",
        None,
    ),
    "Anthropic's result": ({"messages": turns([TOLD])}, "tool_result block is not of this dialect", None),
    "no model": ({"model": None}, "Missing required parameter: 'model'", "model"),
    "two choices": ({"n": 2}, "one choice", "n"),
    "no messages": ({"messages": None}, "Missing required parameter: 'messages'", "messages"),
    "no messages at all": ({"messages": []}, "empty array", "messages"),
    "a message that is no object": ({"messages": ["Hi."]}, r"'messages\[0\]': expected an object", None),
    "a role nobody has": ({"messages": [{"role": "bot"}]}, 'Invalid value: "bot"', "messages[0].role"),
    "a user who says nothing": ({"messages": [{"role": "user", "content": None}]}, "got null", None),
    "an assistant who says nothing": ({"messages": [{"role": "assistant"}]}, "got null", None),
    "content that is an object": ({"messages": [{"role": "user", "content": {}}]}, "array of parts", None),
    "a result for nobody": ({"messages": [{"role": "tool", "content": ""}]}, "tool_call_id", None),
    "no calls in the list": (
        {"messages": [{**ASSISTANT, "content": "", "tool_calls": []}]},
        "at least one",
        None,
    ),
    "a call without an id": (
        {"messages": [{**ASSISTANT, "tool_calls": [{**MADE, "id": ""}]}]},
        r"tool_calls\[0\]\.id",
        None,
    ),
    "arguments that are an object": (
        {
            "messages": [
                {**ASSISTANT, "tool_calls": [{**MADE, "function": {"name": "ping", "arguments": {}}}]}
            ]
        },
        r"function\.arguments': expected a string",
        None,
    ),
    "a tool twice": ({"tools": [*FUNCTIONS, *FUNCTIONS]}, "'list_payments' stands twice", "tools"),
    "tools that are none": ({"tools": "ping"}, "'tools': expected an array", "tools"),
    "a tool in the other dialect": ({"tools": TOOLS}, r"tools\[0\]\.function\.name", None),
}


@pytest.mark.parametrize("case", REFUSED_BY_OPENAI)
def test_what_chat_completions_refuse_is_refused_and_takes_no_step(case: str) -> None:
    changes, words, param = REFUSED_BY_OPENAI[case]
    with script(say("Hello.")) as sandbox:
        answer = httpx.post(OPENAI, json={"model": "m", "messages": HELLO, **changes})
        error = answer.json()["error"]
        assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
        assert param in {None, error["param"]}
        assert re.search(words, error["message"])
        assert sandbox.model_steps_left == 1
        assert sandbox.model_requests[0].answered == "invalid"


@pytest.mark.parametrize("url", [ANTHROPIC, OPENAI])
@pytest.mark.parametrize("body", [b"{", b"[]", b"\xff", b"[" * 100_000], ids=["cut", "list", "bytes", "deep"])
def test_a_body_that_is_no_object_is_refused(url: str, body: bytes) -> None:
    with script(say("Hello.")):
        answer = httpx.post(url, content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == "The request body is no JSON object."


def test_the_sdks_raise_their_own_error_and_the_law_is_on_record() -> None:
    with script(say("Hello.")) as sandbox:
        with pytest.raises(anthropic.BadRequestError, match="tool_use"):
            ask(turns("Hi.", [USE], "And?"))
        with pytest.raises(openai.BadRequestError, match="tool_call_id"):
            ask_openai([*HELLO, ASSISTANT, *HELLO])
        assert [request.why.split(" ")[0] for request in sandbox.model_requests] == [
            "wire.unpaired_tool_use"
        ] * 2


LEGAL: dict[str, tuple[str, dict[str, Any]]] = {
    "a picture": (ANTHROPIC, {"messages": turns([{"type": "image", "source": {}}])}),
    "a prefill": (ANTHROPIC, {"messages": turns("Hi.", "The answer is (")}),
    "an empty last answer": (ANTHROPIC, {"messages": turns("Hi.", [])}),
    "a later word of the system": (ANTHROPIC, {"messages": [*HELLO, {"role": "system", "content": "Now."}]}),
    "a tool of the server's": (ANTHROPIC, {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    "parallel results in another order": (
        ANTHROPIC,
        {"messages": turns("Hi.", [USE, {**USE, "id": "t2"}], [{**TOLD, "tool_use_id": "t2"}, TOLD])},
    ),
    "a custom tool": (OPENAI, {"tools": [{"type": "custom", "custom": {"name": "shell"}}]}),
    "a call of a custom tool": (
        OPENAI,
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "custom", "custom": {"name": "shell"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": ""},
            ]
        },
    ),
    "a refusal sent back": (
        OPENAI,
        {"messages": [{"role": "assistant", "content": None, "refusal": "No."}, *HELLO]},
    ),
    "parts": (OPENAI, {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "n": 1}),
}


@pytest.mark.parametrize("case", LEGAL)
def test_what_the_apis_take_is_taken(case: str) -> None:
    url, changes = LEGAL[case]
    with script(say("Hello.")):
        answer = httpx.post(url, json={"model": "m", "max_tokens": 9, "messages": HELLO, **changes})
    assert answer.status_code == 200, answer.text


LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3)
NAMES = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "tool_calls",
        "id",
        "name",
        "function",
        "thread",
        "input_schema",
        "tool_call_id",
    ]
)
ODD = st.recursive(
    LEAVES
    | st.sampled_from(["user", "assistant", "tool", "tool_use", "tool_result", "text", "continue", "create"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=10,
)


@given(
    st.sampled_from(["/v1/messages", "/v1/chat/completions"]),
    st.fixed_dictionaries(
        {"model": st.just("m") | ODD, "max_tokens": st.just(9) | ODD, "messages": st.just(HELLO) | ODD},
        optional=dict.fromkeys(("tools", "system", "thread", "stream", "n", "stream_options"), ODD),
    ),
)
def test_whatever_an_agent_sends_is_answered_or_refused_and_never_crashes_the_fake(
    path: str, body: Any
) -> None:
    run = ScriptRun(Script([say("Hello.")]))
    sent = Request("POST", path, body=json.dumps(body).encode())
    played = run.play("api.openai.com", sent, now=0)
    assert played.record is not None
    assert played.reply is not None
    assert (played.reply.status == 200) == (len(run.left) == 0)


# -- what is blocked --------------------------------------------------------------------------------------


@pytest.mark.parametrize("again", [ask, ask_openai])
def test_a_request_beyond_the_script_is_blocked_and_says_what_to_do(again: Callable[[], Any]) -> None:
    with script(say("Hello.")) as sandbox:
        again()
        with pytest.raises(Exception) as refused:  # noqa: PT011  each SDK wraps it
            again()
        said = str(refused.getrepr(chain=True))
        assert "all 1 step(s) of the Script are used up; add one to Script([...])" in said
        assert len(sandbox.blocked_hosts()) == 1
        last = sandbox.model_requests[-1]
        assert (last.status, last.answered, len(last.messages)) == (None, "blocked", 1)


@pytest.mark.parametrize(
    ("method", "url", "words"),
    [
        (
            "POST",
            "https://api.openai.com/v1/responses",
            r"POST https://api\.openai\.com\.\.\./chat/completions",
        ),
        ("POST", f"{ANTHROPIC}/count_tokens", r"POST https://api\.anthropic\.com\.\.\./v1/messages"),
        ("GET", OPENAI, "a Script answers POST here, not GET"),
    ],
)
def test_another_path_or_method_of_the_models_host_is_blocked(method: str, url: str, words: str) -> None:
    with script(say("Hello.")) as sandbox:
        with pytest.raises(BlockedRequest, match=words):
            httpx.request(method, f"{url}?token=abc")
        assert sandbox.blocked_hosts() == [url.split("/")[2]]
        assert "abc" not in repr(sandbox.ledger)
        assert (sandbox.model_requests, sandbox.model_steps_left) == ((), 1)


def test_the_tests_own_respx_answers_for_other_paths_and_cannot_take_the_models() -> None:
    with respx.mock(assert_all_called=False) as router, script(say("Hello.")):
        router.post("https://api.openai.com/v1/embeddings").respond(json={"data": []})
        router.post(OPENAI).respond(500)
        assert httpx.post("https://api.openai.com/v1/embeddings", json={}).json() == {"data": []}
        assert ask_openai().choices[0].message.content == "Hello."


def test_another_host_is_blocked_as_ever() -> None:
    with script(say("Hello.")) as sandbox:
        with pytest.raises(BlockedRequest):
            httpx.post("https://api.mistral.ai/v1/chat/completions", json={})
        assert sandbox.blocked_hosts() == ["api.mistral.ai"]


def test_a_swallowed_request_beyond_the_script_still_fails_the_test() -> None:
    def agent() -> None:
        ask()
        with suppress(anthropic.APIConnectionError):
            ask()

    with pytest.raises(UnreadBlocks, match=r"api\.anthropic\.com"), script(say("Hello.")):
        agent()


def by_result(sent: ModelRequest) -> ScriptedCall:
    return call("x", id=sent.result("list_payments"))


def no_step(_: ModelRequest) -> Any:
    return "Hello."


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (by_result, "LookupError: result\\('list_payments'\\)"),
        (no_step, "TypeError: what step 1 of the Script gave is no step but str 'Hello.'"),
        (lost, "TypeError: lost"),
        (refuse, "no step but Refuses"),
    ],
)
def test_a_step_that_cannot_be_made_blocks_the_request_and_stays(step: Any, words: str) -> None:
    with script(step) as sandbox:
        with pytest.raises(BlockedRequest, match=words):
            httpx.post(OPENAI, json={"model": "m", "messages": HELLO})
        assert sandbox.model_steps_left == 1
        assert re.search(words, sandbox.model_requests[0].why)
        assert sandbox.blocked_hosts() == ["api.openai.com"]


# -- what is on record ------------------------------------------------------------------------------------


def test_the_record_says_what_was_offered_and_keeps_no_key() -> None:
    with script(say("Hello."), say("Hello."), say("Hello.")) as sandbox:
        ask(tools=TOOLS, system="Be brief.")
        ask_openai(tools=FUNCTIONS, stream=True)
        ask_openai(tools=[{"type": "custom", "custom": {"name": "shell"}}])
        one, two, three = sandbox.model_requests
        assert (one.provider, one.host, one.path) == ("anthropic", "api.anthropic.com", "/v1/messages")
        assert (one.model, one.stream, one.tools, one.system) == (
            "claude-x",
            False,
            ("list_payments",),
            "Be brief.",
        )
        assert (one.status, one.answered, one.messages) == (200, "text", tuple(HELLO))
        assert (two.provider, two.model, two.stream, two.tools) == (
            "openai",
            "gpt-x",
            True,
            ("list_payments",),
        )
        assert len({one.tools_digest, two.tools_digest, three.tools_digest}) == 3
        assert three.tools == ("shell",)
        for request in sandbox.model_requests:
            assert "secret-key" not in repr(vars(request))


def test_the_digest_is_that_of_the_catalog_that_was_sent() -> None:
    from sandtrail.ledgers.specs import Catalog, ToolSpec
    from sandtrail.sandbox.messages_anthropic import catalog_digest, tools_of

    catalog = Catalog((ToolSpec("list_payments", "List payments: für alle.", SCHEMA),))
    with script(say("Hello."), say("Hello.")) as sandbox:
        ask(tools=tools_of(catalog))
        ask()
        assert [request.tools_digest for request in sandbox.model_requests] == [catalog_digest(catalog), ""]


def test_a_toolset_without_a_name_is_recorded_by_its_type() -> None:
    with script(say("Hello.")) as sandbox:
        httpx.post(ANTHROPIC, json=thread_body(tools=[{"type": "browser_toolset_20260801"}]))
        assert sandbox.model_requests[0].tools == ("browser_toolset_20260801",)


def test_a_result_is_found_by_its_tool_in_either_dialect() -> None:
    def request(*history: Any) -> ModelRequest:
        return ModelRequest("POST", "h", "/", 0, history=history)

    asked: dict[str, Any] = {"role": "assistant", "content": [USE, {**USE, "id": "t2", "name": "look"}]}
    told = [
        {**TOLD, "tool_use_id": "t2", "content": '{"n": 1}'},
        {**TOLD, "content": [{"type": "text", "text": "po"}]},
    ]
    both = request(asked, {"role": "user", "content": told})
    assert (both.result("look"), both.result("ping"), both.result()) == ({"n": 1}, "po", "po")
    with pytest.raises(LookupError, match="results there are of: look, ping"):
        both.result("refund")
    with pytest.raises(LookupError, match="of: none"):
        request().result()
    again = request(ASSISTANT, {"role": "tool", "tool_call_id": "c1", "content": "1"})
    assert again.result("ping") == 1


def test_reset_plays_the_script_from_its_start() -> None:
    with script(say("1"), say("2")) as sandbox:
        assert ask().content[0].text == "1"
        sandbox.reset()
        assert (sandbox.model_requests, sandbox.model_steps_left) == ((), 2)
        assert ask().content[0].text == "1"


def test_one_script_in_two_sandboxes_is_played_twice() -> None:
    lane = Script([say("1"), say("2")])
    for _ in range(2):
        with Sandbox(SPEC, models=lane):
            assert ask().content[0].text == "1"

    def work(number: int) -> list[str]:
        with Sandbox(SPEC, seed=number, models=lane):
            return [ask().content[0].text, ask_openai().choices[0].message.content]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(12))) == [["1", "2"]] * 12


def test_threads_of_one_agent_share_the_steps_and_none_is_given_twice() -> None:
    with script(*[say(str(number)) for number in range(40)]) as sandbox, ThreadPoolExecutor(8) as pool:
        made: list[Any] = list(pool.map(ask_openai, [HELLO] * 40))
        said = [completion.choices[0].message.content for completion in made]
        assert sorted(map(int, said)) == list(range(40))
        assert len(sandbox.model_requests) == 40


# -- what a script may be ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Script([]), "answers nothing"),
        (lambda: Script(["Hello."]), "step 1 is no step but str .Hello.*write say"),  # type: ignore[list-item]
        (lambda: Script([say("x"), Says("x", ("y",))]), "step 2 is no step"),  # type: ignore[arg-type]
        (lambda: Script([say("x")], hosts=("https://api.openai.com",)), "bare names"),
        (lambda: Script([say("x")], hosts=("API.openai.com",)), "lower case"),
        (lambda: Script([say("x")], hosts=("",)), "bare names"),
        (calls, "calls nothing"),
        (lambda: call(""), "name of a tool"),
        (lambda: call("x", "{}", order_id=1), "leave order_id out"),
        (lambda: call("x", when={1, 2}), "arguments are JSON values"),
        (lambda: cut_off("x", kept=3), "there is no call"),
        (lambda: cut_off("", call("x"), kept=3), "2 are there"),
        (lambda: Fails("gone", None), "there are rate_limited"),  # type: ignore[arg-type]
        (lambda: rate_limited(retry_after=-1), "seconds from 0 on"),
    ],
)
def test_a_script_that_makes_no_sense_is_refused_where_it_is_written(
    make: Callable[[], Any], words: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_steps_and_lanes_are_values() -> None:
    assert Script([say("x")]) == Script((say("x"),), hosts=("api.anthropic.com", "api.openai.com"))
    assert Script([say("x")], hosts="llm.internal").hosts == ("llm.internal",)
    assert (say("x"), refuse("no"), cut_off("x", kept=None)) == (Says("x"), Refuses("no"), CutOff("x"))
    assert call("x", {"a-b": 1}, c=2) == ScriptedCall("x", {"a-b": 1, "c": 2})
    assert call("x", "[1]").object == {}
    assert not Script([say("x")]).lets("api.openai.com")
    assert not Block().answers("api.openai.com", "/v1/chat/completions")
    assert not Record("api.openai.com").answers("api.openai.com", "/v1/chat/completions")


def test_the_other_lanes_have_no_steps() -> None:
    with Sandbox(SPEC) as sandbox:
        assert sandbox.model_steps_left == 0
        sandbox.reset()
        assert sandbox.model_steps_left == 0
