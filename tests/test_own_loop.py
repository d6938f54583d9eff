"""Loops of the user's own: tools in a provider's shape, answers to what a model called, talks."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic
import httpx
import openai
import pytest

from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.conversation import Answered, Calls, Decided, Refused, Reply, ToolCall
from sandtrail.sandbox import Sandbox, Script
from sandtrail.sandbox.script import call, calls, say
from sandtrail.sandbox.talk import NoReply
from worlds import ENTITIES, NORTH

SPEC = WorldSpec(ENTITIES, principal=NORTH)


def test_a_loop_over_the_anthropic_sdk_reaches_the_world() -> None:
    script = Script(
        [calls(call("search_orders", number="4412"), call("search_orders", number="4400")), say("Two.")]
    )
    with Sandbox(SPEC, models=script) as sandbox:
        client = anthropic.Anthropic(api_key="none")
        history: list[Any] = [{"role": "user", "content": "Which orders?"}]
        while True:
            reply = client.messages.create(
                model="m",
                max_tokens=99,
                messages=history,
                tools=sandbox.tools("anthropic"),  # type: ignore[arg-type]  # pyright: ignore
            )
            if reply.stop_reason != "tool_use":
                break
            history += sandbox.answer(reply)
        assert [message["role"] for message in history] == ["user", "assistant", "user"]
        assert len(history[2]["content"]) == 2
        assert [attempt.operation for attempt in sandbox.ledger.attempts()] == ["search_orders"] * 2
        assert len([one for one in sandbox.conversation if isinstance(one, Answered)]) == 2


def test_a_loop_over_the_openai_sdk_reaches_the_world() -> None:
    with Sandbox(SPEC, models=Script([call("search_orders", number="4412"), say("Placed.")])) as sandbox:
        client = openai.OpenAI(api_key="none")
        history: list[Any] = [{"role": "user", "content": "Where is it?"}]
        while True:
            reply = client.chat.completions.create(
                model="m",
                messages=history,
                tools=sandbox.tools("openai"),  # type: ignore[arg-type]  # pyright: ignore
            )
            if not reply.choices[0].message.tool_calls:
                break
            history += sandbox.answer(reply)
        assert [message["role"] for message in history] == ["user", "assistant", "tool"]
        assert sandbox.ledger.read_only


def test_a_body_as_a_dictionary_will_do() -> None:
    body = {
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t1", "name": "search_orders", "input": {"number": "4412"}}],
    }
    with Sandbox(SPEC) as sandbox:
        assert len(sandbox.answer(body)) == 2


def test_what_is_no_reply_of_a_provider_says_what_one_is() -> None:
    with Sandbox(SPEC) as sandbox:
        with pytest.raises(ValueError, match=r"answer\(int\): wanted what messages.create"):
            sandbox.answer(7)
        with pytest.raises(ValueError, match="'anthropic' and 'openai'"):
            sandbox.tools("gemini")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# -- talks -----------------------------------------------------------------------------------------------


def test_a_talk_with_a_black_box_acts_as_the_customer_who_is_signed_in() -> None:
    with Sandbox(SPEC, urls={"https://orders.internal": "orders"}) as sandbox:

        def agent(message: str) -> str:
            return str(httpx.get(f"https://orders.internal/v1/orders/{message}").status_code)

        talk = sandbox.converse(agent, principal="$customer.max")
        assert talk.says(sandbox.id("$order.lamp")) == "404"
        assert sandbox.converse(agent, principal="$customer.lee").says(sandbox.id("$order.lamp")) == "200"
        assert {attempt.principal for attempt in sandbox.ledger.attempts()} == {"max", "lee"}


def test_a_talk_with_a_decider_carries_its_calls_out() -> None:
    def agent(conversation: Any, catalog: Any) -> Any:
        if not any(isinstance(message, Answered) for message in conversation):
            return Calls((ToolCall("1", "search_orders", {"number": "4412"}),))
        return Decided(Reply("Placed."))

    with Sandbox(SPEC) as sandbox:
        assert sandbox.converse(agent).says("Where is it?") == "Placed."
        assert asyncio.run(sandbox.converse(agent).asays("And now?")) == "Placed."
        assert len(sandbox.ledger.attempts()) == 1


async def later(message: str) -> str:
    await asyncio.sleep(0)
    return message.upper()


def test_an_async_agent_is_waited_for() -> None:
    with Sandbox(SPEC) as sandbox:
        assert sandbox.converse(later).says("hi") == "HI"
        assert asyncio.run(sandbox.converse(later).asays("hi")) == "HI"


def numbers(message: str) -> Any:
    return 7


def nothing(conversation: Any, catalog: Any) -> Any:
    return None


def declines(conversation: Any, catalog: Any) -> Any:
    return Refused("no")


def circles(conversation: Any, catalog: Any) -> Any:
    return Calls((ToolCall("1", "get_user", {}),))


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (numbers, "replied 7; wanted text"),
        (nothing, "it decided None"),
        (declines, "decided Refused"),
        (circles, "did not reply within 30 decisions"),
    ],
)
def test_an_agent_that_does_not_hand_back_is_told_apart(agent: Any, reason: str) -> None:
    with Sandbox(SPEC) as sandbox, pytest.raises(NoReply, match=reason):
        sandbox.converse(agent).says("hi")


def test_a_sandbox_can_be_made_of_a_world_file(tmp_path: Any) -> None:
    file = tmp_path / "support.world.yaml"
    file.write_text("world:\n  $customer.lee: {name: Lee Ahn, email: lee@example.test}\n")
    with Sandbox(file, seed=3) as sandbox:
        assert (
            sandbox.call("get_customer", customer_id=sandbox.id("$customer.lee")).json()["name"] == "Lee Ahn"
        )
        assert repr(sandbox).endswith("seed=3: 1 attempts, active>")
