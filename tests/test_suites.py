"""What a team's own suite runs into: frozen clocks, threads, loops, services nobody touched, model clients."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import anthropic
import pytest

from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import Sandbox
from sandtrail.sandbox.errors import Uncalled
from worlds import ENTITIES, NORTH

SPEC = WorldSpec(ENTITIES, principal=NORTH)
MOMENT = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)


def test_an_agents_turn_sleeps_and_wakes_under_a_frozen_clock() -> None:
    async def turn(sandbox: Sandbox) -> str:
        await asyncio.sleep(0)
        return sandbox.clock.now().isoformat() + datetime.now(UTC).isoformat()

    with Sandbox(WorldSpec(ENTITIES, now=MOMENT), freeze=True) as sandbox:
        assert asyncio.run(turn(sandbox)) == MOMENT.isoformat() * 2
        sandbox.call("get_order", order_id=sandbox.id("$order.lamp"))
        assert sandbox.ledger.attempts()[0].at.startswith("2026-03-01T10:00:00")


def test_threads_see_one_world_and_lose_nothing() -> None:
    entities = {**ENTITIES, "$payment.big": {"customer": "$customer.lee", "captured": "10.00 USD"}}
    with Sandbox(WorldSpec(entities, principal=NORTH)) as sandbox:
        payment = sandbox.id("$payment.big")

        def refund(number: int) -> int:
            arguments = {"payment_id": payment, "amount_minor": 10, "idempotency_key": f"k{number}"}
            return sandbox.call("refund_payment", arguments).status

        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(refund, range(40)))
        assert set(statuses) == {200}
        assert len(sandbox.ledger.effects("refund.created")) == 40


def test_a_service_that_nobody_touched_is_reported() -> None:
    sandbox = Sandbox(SPEC).__enter__()
    sandbox.expect_calls("list_charges", "get_order")
    sandbox.call("get_order", order_id=sandbox.id("$order.lamp"))
    (finding,) = sandbox.verify()
    assert (finding.code, finding.at) == ("call.missing", "list_charges")
    with pytest.raises(Uncalled, match="never answered: list_charges; answered were get_order"):
        sandbox.__exit__(None, None, None)


def test_a_refused_call_is_no_answer_and_an_answered_one_settles_it() -> None:
    with Sandbox(SPEC) as sandbox:
        sandbox.expect_calls("get_order")
        sandbox.call("get_order", order_id="ord_NOTHERE0")
        assert len(sandbox.verify()) == 1
        sandbox.call("get_order", order_id=sandbox.id("$order.lamp"))
        assert sandbox.verify() == []


def test_an_operation_that_is_not_there_cannot_be_expected() -> None:
    with Sandbox(SPEC) as sandbox, pytest.raises(LookupError, match="did you mean list_charges"):
        sandbox.expect_calls("list_charge")


def test_a_sync_call_and_three_loops_after_it_hang_on_nothing() -> None:
    with Sandbox(SPEC) as sandbox:
        order = sandbox.id("$order.lamp")
        sandbox.call("get_order", order_id=order)
        for _ in range(3):
            asyncio.run(sandbox.acall("get_order", order_id=order))
        assert len(sandbox.ledger.attempts()) == 4


def test_a_model_client_that_nobody_scripted_is_blocked_before_a_socket_opens() -> None:
    with Sandbox(SPEC) as sandbox:
        client = anthropic.Anthropic(api_key="k", max_retries=0)
        with pytest.raises(Exception) as error:  # noqa: PT011  whatever the SDK wraps it in
            client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}])
        assert "sandbox" in str(error.getrepr(chain=True)).lower()
        assert sandbox.blocked_hosts() == ["api.anthropic.com"]
