"""What had to come before what, repetition, detours, and how a run ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from trails import (
    ASKED,
    attempt,
    batch,
    books,
    call,
    effect,
    offer,
    one,
    reads,
    said,
    say,
    told,
    trail,
    writes,
)

from sandtrail.ledgers import Access, Effect, Outcome
from sandtrail.ledgers.conversation import (
    Answered,
    Decided,
    Declared,
    Malformed,
    Message,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.entries import Change
from sandtrail.ledgers.trajectory import Ended, Trajectory
from sandtrail.ledgers.words import Delivery
from sandtrail.scenarios import Contract
from sandtrail.scenarios.contract import Budgets, Clarification, OrderRule
from sandtrail.scenarios.sequence import endings, sequence

OFFERS = (offer(reads("get"), reads("list"), writes("add")),)


def found(contract: Contract, *messages: Message | Sequence[Message], **more: Any) -> list[tuple[str, str]]:
    return said(sequence(contract, trail(ASKED, *messages, **more)))


# -- order -----------------------------------------------------------------------------------------------

FIRST = Contract(order=(OrderRule("add", before="get"),))
CONFIRMED = Contract(order=(OrderRule("add", confirm=True),))


def test_what_had_to_come_before_has_answered() -> None:
    assert found(FIRST, one(call("get", 1)), one(call("add", 2))) == []
    assert found(FIRST, one(call("list", 1))) == []


@pytest.mark.parametrize(
    "before",
    [
        [],
        one(call("list", 1)),
        one(call("get", 1), error=True),
        [batch(call("get", 1))],
    ],
)
def test_what_had_to_come_before_has_not_answered(before: list[Message]) -> None:
    place = f"call {1 + sum(isinstance(message, Decided) for message in before)}"
    assert found(FIRST, before, one(call("add", 2))) == [("sequence.order", place)]


def test_calls_of_one_batch_do_not_precede_each_other() -> None:
    look, act = call("get", 1), call("add", 2)
    assert found(FIRST, batch(look, act), told(look), told(act)) == [("sequence.order", "call 2")]


def test_a_call_that_was_cut_off_was_not_made_too_early() -> None:
    assert found(FIRST, Decided(Truncated("", (call("add"),)))) == []


@pytest.mark.parametrize("cause", ["", "confirms", "chooses"])
def test_a_write_after_the_users_consent_is_confirmed(cause: str) -> None:
    talk = [say("Shall I add it?"), UserSaid("Yes.", cause), *one(call("add"))]
    assert found(CONFIRMED, talk) == []


@pytest.mark.parametrize(
    "talk",
    [
        [],
        [say("Shall I add it?")],
        [say("Shall I add it?"), UserSaid("No.", "declines")],
        [say("It is one of three."), UserSaid("Yes.", "confirms")],
        [*one(call("get", 1)), UserSaid("Yes.", "confirms")],
    ],
)
def test_a_write_before_the_users_consent_is_not(talk: list[Message]) -> None:
    codes = [code for code, _ in found(CONFIRMED, talk, one(call("add", 2)))]
    assert codes == ["sequence.unconfirmed"]


def test_a_question_declared_by_a_meta_tool_asks_for_consent() -> None:
    asked = Decided(Reply("Add the lamp.", Declared.QUESTION))
    assert found(CONFIRMED, asked, UserSaid("Yes.", "confirms"), one(call("add"))) == []


# -- demanded calls --------------------------------------------------------------------------------------


def test_a_call_that_the_scenario_demands_and_nobody_made_is_missing() -> None:
    assert found(Contract(calls=("get", "list")), one(call("get"))) == [("call.missing", "final")]
    assert found(Contract(calls=("get",)), one(call("get"), error=True)) == [("call.missing", "final")]


@pytest.mark.parametrize(
    ("outcome", "missing"), [(Outcome.OK, 0), (Outcome.REPLAYED, 0), (Outcome.REJECTED, 1)]
)
def test_a_demanded_call_counts_where_only_the_books_show_it(outcome: Outcome, missing: int) -> None:
    ledger = books(attempt(1, "get", Access.READ, outcome))
    assert len(found(Contract(calls=("get",)), ledger=ledger)) == missing


# -- loops -----------------------------------------------------------------------------------------------


def repeated(tools: Sequence[str], rounds: int, value: Any = "same", *, error: bool = False) -> list[Message]:
    return [
        message
        for number in range(rounds)
        for place, tool in enumerate(tools)
        for message in one(call(tool, number * len(tools) + place), value, error=error)
    ]


def test_the_same_call_with_the_same_answer_three_times_is_a_loop() -> None:
    assert found(Contract(), repeated(["get"], 3)) == [("run.loop", "calls 3-3")]
    assert found(Contract(), repeated(["get"], 8)) == [("run.loop", "calls 3-8")]


@pytest.mark.parametrize(("size", "place"), [(2, "calls 5-6"), (3, "calls 7-9"), (4, "calls 9-12")])
def test_calls_in_a_circle_are_a_loop(size: int, place: str) -> None:
    tools = ["get", "list", "add", "ask"][:size]
    assert found(Contract(), repeated(tools, 3)) == [("run.loop", place)]


def test_a_loop_names_its_tools() -> None:
    (finding,) = sequence(Contract(), trail(ASKED, repeated(["get", "list"], 3)))
    assert finding.reason == "get, then list with the same arguments got the same answer 3 times in a row"


def test_a_loop_that_begins_late_and_one_that_follows_another_are_found() -> None:
    assert found(Contract(), one(call("add")), repeated(["get"], 3)) == [("run.loop", "calls 4-4")]
    assert found(Contract(), repeated(["get"], 3), repeated(["list"], 3)) == [
        ("run.loop", "calls 3-3"),
        ("run.loop", "calls 6-6"),
    ]


def test_another_answer_or_other_arguments_are_no_loop() -> None:
    polled = [message for n in range(4) for message in one(call("get", n), f"{n} %")]
    paged = [message for n in range(4) for message in one(call("get", n, page=n), "same")]
    assert found(Contract(), polled) == []
    assert found(Contract(), paged) == []


def test_unanswered_calls_and_broken_texts_loop_too() -> None:
    assert found(Contract(), [batch(call("get", n)) for n in range(3)]) == [("run.loop", "calls 3-3")]
    broken = [ToolCall.read(f"c{n}", "get", "{") for n in range(3)]
    assert found(Contract(), [batch(one) for one in broken]) == [("run.loop", "calls 3-3")]
    mixed = [*broken[:2], ToolCall.read("c3", "get", "{}")]
    assert found(Contract(), [batch(one) for one in mixed]) == []
    answered: list[Message] = [batch(broken[0]), batch(broken[1]), told(broken[1]), batch(broken[2])]
    assert found(Contract(), answered) == []


def test_five_failed_calls_in_a_row_lead_nowhere() -> None:
    failed = [message for n in range(5) for message in one(call("get", n, id=n), f"no {n}", error=True)]
    assert found(Contract(), failed) == [("run.no_progress", "calls 1-5")]
    assert found(Contract(), failed, one(call("get", 9))) == [("run.no_progress", "calls 1-5")]
    assert found(Contract(), failed[:8], one(call("get", 9)), failed[8:]) == []
    assert [code for code, _ in found(Contract(), repeated(["get"], 5, error=True))] == ["run.loop"]


# -- redundant reads -------------------------------------------------------------------------------------


def test_a_read_made_again_with_nothing_changed_is_redundant() -> None:
    assert found(Contract(), repeated(["get"], 2), offers=OFFERS) == [("selection.redundant_call", "call 2")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (one(call("get", 1), "a"), one(call("get", 2), "b")),
        (one(call("get", 1, id=1)), one(call("get", 2, id=2))),
        (one(call("get", 1), "x", error=True), one(call("get", 2), "x", error=True)),
        (one(call("get", 1)), [UserSaid("And now?"), *one(call("get", 2))]),
        ([batch(call("get", 1))], [batch(call("get", 2))]),
        (one(call("get", 1)), [*one(call("add", 2)), *one(call("get", 3))]),
    ],
)
def test_a_read_made_again_for_a_reason_is_not(first: list[Message], second: list[Message]) -> None:
    assert found(Contract(), first, second, offers=OFFERS) == []


def between(*done: Effect | Change, **more: Any) -> list[tuple[str, str]]:
    """Two equal reads with attempt 1 between them."""
    middle = call("touch", 2)
    ledger = books((attempt(1, "touch", **more), done))
    talk = [*one(call("get", 1)), batch(middle), told(middle, attempt=1), *one(call("get", 3))]
    return found(Contract(), talk, ledger=ledger)


def test_a_change_between_two_reads_is_a_reason() -> None:
    row = Change(1, "note", "$note.a", ("id",), None, ("n",))
    assert between(row) == []
    assert between(effect("note.added")) == [], "somebody else's ledger shows no rows"
    assert between(delivery=Delivery.LOST) == []
    assert between(outcome=Outcome.REJECTED) == [("selection.redundant_call", "call 3")]


def test_a_failed_write_between_two_reads_is_no_reason() -> None:
    talk = [*one(call("get", 1)), *one(call("add", 2), error=True), *one(call("get", 3))]
    assert found(Contract(), talk, offers=OFFERS) == [("selection.redundant_call", "call 3")]


def test_any_attempt_of_a_tool_of_ones_own_that_changes_something_is_a_reason() -> None:
    middle = call("own", 2)
    ledger = books(attempt(1, "get", Access.READ), (attempt(2, "add"), (effect("note.added", 2),)))
    several = Answered(middle, "done", is_error=False, attempt=1, attempts=(1, 2))
    assert (
        found(Contract(), one(call("get", 1)), batch(middle), several, one(call("get", 3)), ledger=ledger)
        == []
    )


# -- budgets ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budgets", [Budgets(calls=2), Budgets(steps=3), Budgets(turns=0)])
def test_more_than_the_request_needs_is_a_detour(budgets: Budgets) -> None:
    talk = [*one(call("get", 1)), *one(call("list", 2)), *one(call("add", 3)), say("Done.")]
    assert found(Contract(budgets=budgets), talk) == [("sequence.detour", "final")]


def test_as_much_as_the_request_needs_is_none() -> None:
    assert found(Contract(budgets=Budgets(calls=1, steps=2, turns=1)), one(call("get")), say("Done.")) == []


# -- the end ---------------------------------------------------------------------------------------------


def ended(
    how: Ended, *messages: Message, detail: str = "", contract: Contract | None = None
) -> list[tuple[str, str]]:
    return said(endings(contract or Contract(), trail(ASKED, *messages, ended=how, detail=detail)))


@pytest.mark.parametrize(
    ("how", "code"),
    [
        (Ended.MAX_STEPS, ("run.max_steps", "1")),
        (Ended.MAX_TURNS, ("run.budget", "final")),
        (Ended.MAX_COST, ("run.budget", "final")),
        (Ended.AGENT_ERROR, ("run.agent_error", "final")),
        (Ended.PROVIDER_ERROR, ("harness.provider", "final")),
        (Ended.TOOLS_DROPPED, ("harness.tools_dropped", "final")),
        (Ended.OFF_SCRIPT, ("simulator.off_script", "final")),
        (Ended.CANCELLED, ("run.cancelled", "final")),
    ],
)
def test_a_run_that_did_not_end_by_itself_says_why(how: Ended, code: tuple[str, str]) -> None:
    assert ended(how, say("Hm.")) == [code]


def test_a_run_that_ended_by_itself_says_nothing() -> None:
    assert ended(Ended.DONE, say("Done.")) == []
    assert ended(Ended.LOOP, say("Done.")) == []


def test_an_end_without_details_is_told_in_words() -> None:
    told_why = [finding.reason for finding in endings(Contract(), trail(ASKED, ended=Ended.MAX_TIME))]
    assert told_why == ["the run ended with max_time"]


def test_a_question_that_nobody_can_answer_is_the_simulators_fault_unless_none_was_needed() -> None:
    needless = Contract(clarification=Clarification.NOT_NEEDED)
    asked = "the agent asked: Which one?"
    assert ended(Ended.OFF_SCRIPT, say("Which one?"), detail=asked, contract=needless) == [
        ("clarification.unnecessary", "step 1")
    ]
    assert ended(Ended.OFF_SCRIPT, say("Which one?"), detail=asked) == [("simulator.off_script", "final")]


def test_a_run_in_which_nothing_was_decided_or_said_is_empty() -> None:
    assert ended(Ended.DONE) == [("run.empty", "final")]
    assert ended(Ended.MAX_TIME) == [("run.budget", "final")]
    assert ended(Ended.DONE, say(" ")) == [("run.empty", "step 1")]
    assert ended(Ended.DONE, Decided(Reply("", Declared.FINISH))) == []


def test_what_the_provider_cut_refused_or_spoilt_is_told_at_its_step() -> None:
    assert ended(Ended.DONE, Decided(Truncated("It is"))) == [("stop.truncated", "step 1")]
    assert ended(Ended.DONE, Decided(Truncated("", (call("get"), call("add", 2))))) == [
        ("stop.truncated", "call 2")
    ]
    assert ended(Ended.DONE, Decided(Refused())) == [("stop.refusal", "step 1")]
    assert ended(Ended.DONE, Decided(Malformed("two roles", "raw"))) == [("stop.malformed", "step 1")]
    assert ended(Ended.DONE, batch(call("get"))) == []


def test_the_words_of_a_refusal_are_kept() -> None:
    (finding,) = endings(Contract(), trail(ASKED, Decided(Refused("I must not."))))
    assert finding.reason == "the model declined: I must not."


def test_a_marker_in_the_agents_text_ends_nothing() -> None:
    assert ended(Ended.DONE, say("All done. ###STOP###")) == [("simulator.marker_ignored", "step 1")]


def test_a_trajectory_without_calls_has_no_sequence() -> None:
    empty: Trajectory = trail()
    assert said(sequence(Contract(), empty)) == []
