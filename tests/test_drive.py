"""One run on its way: turns, budgets, parallel calls, catalogs that change, async agents, black boxes."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
import pytest

from sandtrail.ledgers import Catalog, Outcome, Overall, WorldSpec
from sandtrail.ledgers.conversation import (
    Briefed,
    Calls,
    Conversation,
    Decided,
    Malformed,
    ModelCall,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    Usage,
    UserSaid,
)
from sandtrail.ledgers.trajectory import Ended, Sees
from sandtrail.sandbox import arun, run
from sandtrail.sandbox.agents import BlackBox, Replay, Scripted
from sandtrail.sandbox.drive import briefing
from sandtrail.sandbox.limits import Limits
from sandtrail.sandbox.providers import ProviderError, ToolsDropped
from sandtrail.sandbox.runner import Result, as_agent
from sandtrail.sandbox.trail import trail
from sandtrail.scenarios import Contract, Scenario, User, WantedEffect
from sandtrail.scenarios.scenario import CatalogChange, Offered
from sandtrail.scenarios.selection import FirstDecision
from worlds import ENTITIES, NORTH

FIND = {"call": "search_orders", "with": {"number": "4412"}}
NOTE = WantedEffect("note.added")


def scenario(expect: Contract = Contract(), **parts: Any) -> Scenario:  # noqa: B008  a frozen value
    parts.setdefault("user", User("Hello {$order.lamp.number}."))
    return Scenario("made", "a test", WorldSpec(ENTITIES, principal=NORTH), expect=expect, **parts)


def program(*lines: dict[str, Any] | str) -> Scripted:
    return Scripted("made", [{"say": line} if isinstance(line, str) else line for line in lines])


def said(result: Result) -> list[str]:
    return [message.text for message in result.trajectory.conversation if isinstance(message, UserSaid)]


@dataclass
class Counting:
    """An agent that makes the same decision again and again, and counts."""

    decision: Any
    name: str = "counting"
    seen: list[tuple[Conversation, Catalog]] = field(default_factory=list[Any])

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Any:
        self.seen.append((conversation, catalog))
        return self.decision


# -- the user --------------------------------------------------------------------------------------------


def test_the_user_answers_what_is_asked_and_confirms() -> None:
    user = User("Close my account.", knows={"e-mail": "lee@example.test"}, confirms="yes")
    agent = program("What is your e-mail address?", "Shall I close it for good?", "It cannot be closed now.")
    result = run(scenario(user=user), agent)
    assert said(result)[1:] == ["My e-mail is lee@example.test.", "Yes, please go on."]
    assert result.trajectory.ended is Ended.DONE


def test_a_question_that_nobody_can_answer_is_the_harness_fault_and_is_quoted() -> None:
    result = run(scenario(), program("What is your favourite colour?"))
    assert (result.trajectory.ended, result.overall) == (Ended.OFF_SCRIPT, Overall.HARNESS_FAULT)
    assert "favourite colour" in result.trajectory.detail


def test_the_talk_goes_on_until_the_goal_is_settled_by_the_books_and_not_by_words() -> None:
    talk = User("Note that I prefer mail.", then=("Is it noted?",))
    lookup = {"call": "search_customers", "with": {"email": "lee@example.test"}}
    note = {
        "call": "add_note",
        "with": {"customer_id": {"from": "search_customers", "at": "/customers/0/id"}, "text": "mail"},
    }
    claims = run(scenario(Contract(effects=(NOTE,)), user=talk), program("It is noted.", "Yes, it is."))
    does = run(scenario(Contract(effects=(NOTE,)), user=talk), program(lookup, note, "It is noted.", "Yes."))
    assert claims.trajectory.detail == "gave_up"
    assert does.trajectory.detail == "settled"


def test_each_user_message_names_the_transition_that_made_it() -> None:
    result = run(scenario(user=User("One.", then=("Two.",))), program("First.", "Second."))
    causes = [m.cause for m in result.trajectory.conversation if isinstance(m, UserSaid)]
    assert causes == ["opens", "follows_up"]
    assert [one["cause"] for one in result.trajectory.recorded["user"]] == ["opens", "follows_up", "settled"]


def test_the_agent_is_briefed_with_clock_zone_and_tenants_and_nothing_else() -> None:
    made = scenario()
    first = run(made, program("Hello.")).trajectory.conversation[0]
    assert isinstance(first, Briefed)
    assert first.text == briefing(made)
    assert "2026-03-02T09:00:00+00:00" in first.text
    assert "north" in first.text


# -- calls -----------------------------------------------------------------------------------------------


def test_parallel_calls_are_made_in_order_and_numbered() -> None:
    agent = program(
        {"calls": [FIND, {"call": "search_products", "with": {"name": "lamp"}}], "saying": "One moment."},
        "Done.",
    )
    result = run(scenario(), agent)
    assert [(made.call.tool, made.call.batch) for made in result.trajectory.made] == [
        ("search_orders", 0),
        ("search_products", 1),
    ]
    assert [answered.attempt for answered in result.trajectory.answers] == [1, 2]


def test_ids_that_come_back_are_made_fresh_so_that_results_pair() -> None:
    call = Calls((ToolCall("same", "search_orders", {"number": "4412"}), ToolCall("same", "get_balance", {})))
    result = run(scenario(), Counting(call), limits=Limits(steps=2))
    ids = [made.call.id for made in result.trajectory.made]
    assert len(set(ids)) == len(ids) == 4


def test_a_tool_that_is_gone_is_refused_at_the_next_turn_and_told_apart_from_a_made_up_one() -> None:
    offer = Offered(changes=(CatalogChange(2, remove=("search_orders",)),))
    user = User("One.", then=("Again.",))
    result = run(scenario(offer=offer, user=user), program(FIND, "Found.", FIND, "I cannot look again."))
    assert [attempt.outcome for attempt in result.ledger.attempts()] == [Outcome.OK, Outcome.UNAVAILABLE]
    assert [finding.code for finding in result.findings if finding.code.startswith("selection")] == [
        "selection.unavailable_tool"
    ]
    assert [offer.step for offer in result.trajectory.offers] == [0, 2]


def test_only_the_first_decision_is_asked_for_where_a_dataset_wants_no_more() -> None:
    case = scenario(Contract(first=("search_orders",)), first_only=True)
    agent = Counting(Calls((ToolCall("1", "search_orders", {"number": "4412"}),)))
    result = run(case, agent)
    assert (len(agent.seen), result.verdict.first) == (1, FirstDecision.CORRECT)
    assert result.ledger.attempts() == []


def test_functions_of_ones_own_are_offered_beside_the_catalog() -> None:
    def fetch_weather(city: str) -> str:
        """Tell the weather of a city."""
        return f"sunny in {city}"

    result = run(
        scenario(),
        program({"call": "fetch_weather", "with": {"city": "Rome"}}, "Sunny."),
        tools=[fetch_weather],
    )
    assert result.trajectory.answers[0].text == "sunny in Rome"


def test_a_forced_step_is_marked() -> None:
    agent = program("unused", "It is placed.")
    result = run(scenario(), agent, forced={0: Calls((ToolCall("f", "search_orders", {"number": "4412"}),))})
    assert [step.decided.forced for step in result.trajectory.steps] == [True, False]


# -- ends ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "ended"),
    [
        (Limits(steps=3, repeats=99), Ended.MAX_STEPS),
        (Limits(calls=3, repeats=99), Ended.MAX_CALLS),
        (Limits(tokens=25, repeats=99), Ended.MAX_TOKENS),
        (Limits(cost=0.00002, repeats=99), Ended.MAX_COST),
        (Limits(seconds=1e-9), Ended.MAX_TIME),
        (Limits(repeats=4), Ended.LOOP),
    ],
)
def test_a_budget_ends_a_run_with_a_reason(limits: Limits, ended: Ended) -> None:
    call = Calls((ToolCall("x", "search_orders", {"number": "4412"}),))
    usage = ModelCall("m", usage=Usage(input=8, output=2, cost=10))
    result = run(scenario(), Counting(Decided(call, requests=(usage,))), limits=limits)
    assert result.trajectory.ended is ended
    assert result.trajectory.detail
    assert result.overall is Overall.FAIL


def test_turns_are_a_budget_too() -> None:
    result = run(scenario(user=User("a", then=("b", "c"))), Counting(Reply("Yes.")), limits=Limits(turns=2))
    assert (result.trajectory.ended, result.trajectory.turns) == (Ended.MAX_TURNS, 2)


@pytest.mark.parametrize("name", ["steps", "turns", "calls", "tokens", "seconds", "cost", "repeats"])
def test_a_limit_of_nothing_is_no_limit(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=0"):
        Limits(**{name: 0})


def test_a_run_can_be_stopped() -> None:
    stop = threading.Event()
    stop.set()
    result = run(scenario(), program("Hello."), cancel=stop)
    assert result.trajectory.ended is Ended.CANCELLED


@pytest.mark.parametrize(
    ("error", "ended", "code"),
    [
        (
            ProviderError("down", status=503, requests=(ModelCall("m", status=503),)),
            Ended.PROVIDER_ERROR,
            "harness.provider",
        ),
        (ToolsDropped("gone"), Ended.TOOLS_DROPPED, "harness.tools_dropped"),
    ],
)
def test_a_provider_at_fault_is_no_fault_of_the_agent(error: Exception, ended: Ended, code: str) -> None:
    class Failing:
        name = "failing"

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Reply:
            raise error

    result = run(scenario(), Failing())
    assert (result.trajectory.ended, result.overall) == (ended, Overall.HARNESS_FAULT)
    assert code in {finding.code for finding in result.findings}
    assert len(result.trajectory.recorded["failed_requests"]) == len(getattr(error, "requests", ()))


@pytest.mark.parametrize(
    ("decision", "first"),
    [
        (Truncated("", (ToolCall("t", "cancel_order", {}),)), FirstDecision.TRUNCATED),
        (Malformed("no choices", "{}"), FirstDecision.MALFORMED),
        (Refused("no"), FirstDecision.WRONG_REFUSAL),
    ],
)
def test_what_is_no_call_and_no_reply_is_never_carried_out(decision: Any, first: FirstDecision) -> None:
    result = run(scenario(), Counting(decision))
    assert result.verdict.first is first
    assert result.ledger.attempts() == []


# -- kinds of agents -------------------------------------------------------------------------------------


async def asks_later(conversation: Conversation, catalog: Catalog) -> Reply:
    await asyncio.sleep(0)
    return Reply(f"{len(conversation)} messages, {len(catalog.tools)} tools.")


def test_an_async_agent_runs_from_sync_code_and_from_async_code() -> None:
    assert run(scenario(), asks_later).trajectory.final == "2 messages, 34 tools."
    assert asyncio.run(arun(scenario(), asks_later)).trajectory.final == "2 messages, 34 tools."


def test_run_and_arun_take_the_same_options() -> None:
    assert inspect.signature(run).parameters == inspect.signature(arun).parameters
    with pytest.raises(TypeError, match="sead"):
        asyncio.run(arun(scenario(), asks_later, sead=1))
    made = asyncio.run(arun(scenario(), asks_later, seed=4)).trajectory
    assert (made.seed, made.repetition) == (4, 1)


def test_a_sync_function_that_returns_an_awaitable_is_waited_for() -> None:
    def asks(conversation: Conversation, catalog: Catalog) -> Any:
        return asks_later(conversation, catalog)

    assert run(scenario(), asks).trajectory.final


def test_a_sync_agent_runs_inside_an_event_loop_without_waiting() -> None:
    async def inside() -> str:
        return run(scenario(), program("Hello.")).trajectory.final

    assert asyncio.run(inside()) == "Hello."


URLS = {"https://orders.internal": "orders"}


def looks(message: str) -> str:
    found = httpx.get("https://orders.internal/v1/order-search", params={"number": "4412"}).json()
    return f"Order {found['orders'][0]['number']} is {found['orders'][0]['status']}."


async def looks_later(message: str) -> str:
    async with httpx.AsyncClient() as client:
        answer = await client.get("https://orders.internal/v1/order-search", params={"number": "4412"})
    return f"Order {answer.json()['orders'][0]['number']}."


@pytest.mark.parametrize("box", [looks, looks_later])
def test_a_black_box_shows_its_requests_only(box: Callable[[str], Any]) -> None:
    result = run(scenario(Contract(read_only=True)), box, urls=URLS)
    assert result.trajectory.sees == {Sees.HTTP}
    assert [attempt.operation for attempt in result.ledger.attempts()] == ["search_orders"]
    assert set(result.verdict.not_evaluable) == {"selection", "arguments", "sequence"}
    assert result.overall is Overall.PASS
    assert result.verdict.first is None


def test_a_black_box_that_writes_on_a_read_only_request_is_caught() -> None:
    def writes(message: str) -> str:
        found = httpx.get("https://orders.internal/v1/order-search", params={"number": "4412"}).json()
        httpx.post(f"https://orders.internal/v1/orders/{found['orders'][0]['id']}/cancel", json={})
        return "I only looked."

    result = run(scenario(Contract(read_only=True)), writes, urls=URLS)
    assert result.unexpected_writes == 2
    assert {"effect.unauthorized_write", "claim.contradicts_ledger"} <= {one.code for one in result.findings}


def test_a_black_box_that_leaves_the_sandbox_is_a_finding_and_no_exception() -> None:
    def leaves(message: str) -> str:
        try:
            httpx.get("https://example.com/")
        except AssertionError:
            return "I could not."
        return "I did."

    result = run(scenario(), leaves)
    assert "net.blocked" in {finding.code for finding in result.findings}


@pytest.mark.parametrize(
    ("agent", "detail"),
    [
        (BlackBox("raises", lambda message: 1 / 0), "ZeroDivisionError"),  # type: ignore[arg-type, return-value]
        (BlackBox("numbers", lambda message: 7), "it replied 7"),  # type: ignore[arg-type, return-value]
    ],
)
def test_a_black_box_that_fails_is_a_finding(agent: BlackBox, detail: str) -> None:
    result = run(scenario(), agent)
    assert result.trajectory.ended is Ended.AGENT_ERROR
    assert detail in result.trajectory.detail


def three(one: Any, two: Any, other: Any) -> None:
    """No agent takes so many."""


def test_what_is_no_agent_is_refused_with_what_one_is() -> None:
    with pytest.raises(TypeError, match="is no agent"):
        as_agent(7)  # type: ignore[arg-type]  # pyright: ignore
    with pytest.raises(TypeError, match="takes 3 arguments"):
        as_agent(three)


def test_a_recorded_run_is_decided_again_and_ends_alike() -> None:
    agent = program(FIND, "It is placed.")
    recorded = run(scenario(), agent, seed=5)
    again = run(scenario(), Replay(recorded.trajectory), seed=5)
    assert again.trajectory.conversation == recorded.trajectory.conversation
    assert again.verdict.findings == recorded.verdict.findings


def test_a_replay_of_a_shorter_run_goes_off_script() -> None:
    recorded = run(scenario(), program("Hello."))
    longer = scenario(user=User("a", then=("b",)))
    assert run(longer, Replay(recorded.trajectory)).trajectory.ended is Ended.OFF_SCRIPT


# -- what is recorded ------------------------------------------------------------------------------------


def test_versions_digests_and_times_are_on_record() -> None:
    recorded = run(replace(scenario(), revision=3), program("Hello.")).trajectory.recorded
    assert recorded["scenario_revision"] == 3
    assert {
        "sandtrail",
        "judges",
        "reply_rules",
        "scenario_digest",
        "prompt_digest",
        "started",
        "ended",
    } <= recorded.keys()
    assert len(recorded["catalogs"][0]["digest"]) == 64
    assert recorded["first_decision_seconds"] >= 0


class Odd(Counting):
    """An agent of somebody's own that has something under the names the record asks for."""

    def __init__(self, configuration: Any) -> None:
        super().__init__(Reply("Hello."))
        self._configuration = configuration

    @property
    def configuration(self) -> Any:
        if isinstance(self._configuration, Exception):
            raise self._configuration
        return self._configuration

    def catalog_digest(self, catalog: Catalog, /) -> str:
        raise ValueError("no digest")


@pytest.mark.parametrize("odd", [RuntimeError("no"), 7, {"a": object()}, {"a": float("nan")}, None])
def test_a_run_is_not_lost_for_what_an_agent_says_of_itself(odd: Any) -> None:
    result = run(scenario(), Odd(odd))
    assert result.trajectory.ended is Ended.DONE
    assert result.trajectory.recorded["provider"] == {}
    assert result.trajectory.recorded["catalogs"][0]["sent_digest"] == ""


def test_what_an_agent_of_ones_own_says_of_itself_is_on_record_without_keys() -> None:
    told = run(scenario(), Odd({"model": "mine", "api_key": "hunter2hunter2"})).trajectory.recorded[
        "provider"
    ]
    assert told == {"model": "mine", "api_key": "[redacted]"}


def test_an_argument_tells_where_it_came_from() -> None:
    payments = {
        "call": "list_payments",
        "with": {"order_id": {"from": "search_orders", "at": "/orders/0/id"}},
    }
    result = run(scenario(), program(FIND, payments, "Two payments."))
    assert result.argument("list_payments", "order_id").came_from("search_orders", "/orders/0/id")
    assert not result.argument("list_payments", "order_id").came_from("get_order")
    assert result.argument("list_payments", "order_id").shown == "$order.lamp"
    with pytest.raises(LookupError, match="refund_payment was called 0 times"):
        result.argument("refund_payment", "payment_id")
    with pytest.raises(LookupError, match="has no 'payment_id'; it has order_id"):
        result.argument("list_payments", "payment_id")


def test_the_same_run_comes_to_the_same_whatever_runs_beside_it() -> None:
    agent = program(FIND, "Placed.")
    alone = run(scenario(), agent, seed=9)
    found: list[Result] = []

    def beside(seed: int) -> None:
        found.append(run(scenario(), agent, seed=seed))

    threads = [threading.Thread(target=beside, args=(seed,)) for seed in range(6, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    twin = next(one for one in found if one.trajectory.seed == 9)
    assert twin.trajectory.conversation == alone.trajectory.conversation
    assert all(not one.verdict.findings or one.overall is Overall.PASS for one in found)


def test_a_number_that_is_none_is_the_agents_error() -> None:
    result = run(scenario(), Counting(Calls((ToolCall("1", "get_order", {"order_id": float("nan")}),))))
    assert result.trajectory.ended is Ended.AGENT_ERROR
    assert "are no JSON" in result.trajectory.detail


def test_the_trail_shows_what_is_no_reply_and_no_call() -> None:
    cut = Truncated("", (ToolCall("t", "cancel_order", {}, raw='{"order'),))
    for decision, shown in (
        (cut, '(cut at the limit of tokens)  [cancel_order {"order]'),
        (Malformed("no choices", "{}"), "(no decision) no choices"),
        (Refused("no"), "(the model declined) no"),
    ):
        assert shown in "\n".join(line.text for line in trail(run(scenario(), Counting(decision))))


def test_the_trail_of_a_black_box_shows_its_own_requests() -> None:
    lines = [line.text for line in trail(run(scenario(), looks, urls=URLS))]
    assert any(line.strip().startswith("search_orders") and line.endswith("ok") for line in lines)


def test_the_trail_shows_malformed_arguments_as_they_came() -> None:
    call = Calls((ToolCall.read("1", "get_order", '{"order_id": }'),), text="One moment.")
    lines = "\n".join(line.text for line in trail(run(scenario(), Counting(call), limits=Limits(steps=1))))
    assert '{"order_id": }' in lines
    assert "agent  One moment." in lines
    assert "invalid" in lines
