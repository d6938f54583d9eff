"""Public cases that are carried out: in a real world, by the real runner."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from casework import case
from sandtrail.ledgers import Catalog, Outcome, Principal, WorldSpec
from sandtrail.ledgers.conversation import Calls, Conversation, Decided, Reply, ToolCall, UserSaid
from sandtrail.ledgers.trajectory import Ended
from sandtrail.sandbox import Limits, Sandbox, run
from sandtrail.sandbox.toolbox import Toolbox, all_tools, offered
from sandtrail.scenarios import Contract, Scenario, User
from sandtrail.scenarios.scenario import Offered
from sandtrail.scenarios.selection import FirstDecision
from worlds import ENTITIES, LEE, NORTH, world


def test_an_identical_loop_is_named_beside_the_budget_that_ended_it() -> None:
    given = case("stp-07")["input"]

    class Looping:
        name = "looping"

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Calls:
            return Calls((ToolCall("lp", "get_order", {"order_id": "ord_LP"}),))

    scenario = Scenario("loop", "a loop", WorldSpec(), User(given["user"]), Contract(read_only=True))
    result = run(scenario, Looping(), limits=Limits(steps=given["max_steps"], repeats=99))
    found = {(finding.code, finding.at) for finding in result.findings}
    assert {("run.loop", "calls 3-8"), ("run.max_steps", "8")} <= found
    assert result.trajectory.ended is Ended.MAX_STEPS
    assert result.unexpected_writes == 0


def test_a_withheld_tool_is_refused_and_nothing_near_it_runs() -> None:
    with world() as opened:
        (box,) = offered(Offered(withheld=("cancel_order",)), all_tools(opened.services))
        answer = box.act(
            opened, ToolCall("t1", "cancel_order", {"order_id": opened.id("$order.lamp")}), NORTH
        )
        assert answer.is_error
        assert [attempt.outcome for attempt in opened.ledger.attempts()] == [Outcome.UNAVAILABLE]
        assert opened.ledger.read_only


def test_somebody_elses_id_is_answered_like_an_unknown_one_and_the_agent_is_not_at_fault() -> None:
    entities = {**ENTITIES, "$order.max": {"customer": "$customer.max", "number": "9"}}
    scenario = Scenario(
        "foreign",
        "by hand",
        WorldSpec(entities, principal=LEE),
        User("Show {$order.max}."),
        Contract(read_only=True),
    )

    class Asking:
        name = "asking"

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Calls | Reply:
            said = next(message.text for message in conversation if isinstance(message, UserSaid))
            done = any(isinstance(message, Decided) for message in conversation)
            order = said.removeprefix("Show ").rstrip(".")
            return (
                Reply("There is no such order.")
                if done
                else Calls((ToolCall("o1", "get_order", {"order_id": order}),))
            )

    result = run(scenario, Asking())
    assert result.verdict.first is FirstDecision.CORRECT
    assert [finding.code for finding in result.verdict.findings] == ["tenant.denied"]
    asked = result.trajectory.made[0]
    assert asked.answered is not None
    with world(entities=entities, principal=LEE) as opened:
        box = Toolbox(all_tools(opened.services))
        unknown = box.act(opened, ToolCall("o1", "get_order", {"order_id": "ord_00000000"}), LEE)
    theirs, ours = json.loads(asked.answered.text), json.loads(unknown.text)
    assert theirs.keys() == ours.keys()
    assert theirs["detail"].replace(asked.call.arguments["order_id"], "X") == ours["detail"].replace(
        "ord_00000000", "X"
    )


@pytest.mark.parametrize("mode", ["sequential", "threads", "tasks"])
def test_one_key_has_one_effect_however_it_is_called(mode: str) -> None:
    entities = {**ENTITIES, "$payment.key": {"customer": "$customer.lee", "captured": "10.00 USD"}}
    with Sandbox(WorldSpec(entities, principal=Principal("agent"))) as sandbox:
        arguments = {"payment_id": sandbox.id("$payment.key"), "amount_minor": 300, "idempotency_key": "K1"}

        def refund(_: int) -> int:
            return sandbox.call("refund_payment", arguments).status

        async def at_once() -> list[int]:
            answers = await asyncio.gather(*(sandbox.acall("refund_payment", arguments) for _ in range(10)))
            return [answer.status for answer in answers]

        if mode == "threads":
            with ThreadPoolExecutor(10) as pool:
                statuses = list(pool.map(refund, range(10)))
        else:
            statuses = asyncio.run(at_once()) if mode == "tasks" else [refund(n) for n in range(10)]
        conflict = sandbox.call("refund_payment", {**arguments, "amount_minor": 301})
        outcomes = [attempt.outcome for attempt in sandbox.ledger.attempts()]
        assert set(statuses) == {200}
        assert conflict.status == 422
        assert (
            outcomes.count(Outcome.OK),
            outcomes.count(Outcome.REPLAYED),
            outcomes.count(Outcome.CONFLICT),
        ) == (1, 9, 1)
        assert len(sandbox.ledger.effects("refund.created")) == 1
