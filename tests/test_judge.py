"""All judges together: what is said of a run, and what cannot be."""

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
    did,
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

from sandtrail.ledgers import Access, Grade, Outcome, Overall, Severity
from sandtrail.ledgers.conversation import Message
from sandtrail.ledgers.findings import CODES
from sandtrail.ledgers.trajectory import Ended, Sees, Trajectory
from sandtrail.scenarios import Contract, WantedEffect
from sandtrail.scenarios.contract import Budgets, Label, Norm, Stated
from sandtrail.scenarios.judge import BOUNDARIES, NEEDS, Verdict, judge, judge_first
from sandtrail.scenarios.recovery import Recovery
from sandtrail.scenarios.selection import FirstDecision

SCHEMA = {"type": "object", "properties": {"id": {"type": "string"}}}
OFFERS = (offer(reads("get"), writes("add"), get=SCHEMA),)
WANTED = Contract(effects=(WantedEffect("note.added", {"note": "$note.a"}),))
DONE = effect("note.added", note="$note.a")


def run(*messages: Message | Sequence[Message], **more: Any) -> Trajectory:
    return trail(ASKED, *messages, offers=OFFERS, **more)


def codes(verdict: Verdict) -> list[str]:
    return [finding.code for finding in verdict.findings]


def test_a_run_that_does_what_was_asked_passes() -> None:
    ledger = books((attempt(1, "add"), (DONE,)))
    verdict = judge(WANTED, run(one(call("add"), attempt=1), say("It is noted."), ledger=ledger))
    assert (verdict.overall, verdict.first, verdict.unexpected_writes) == (
        Overall.PASS,
        FirstDecision.CORRECT,
        0,
    )
    assert verdict.recovery.label is Recovery.NEVER_WRONG
    assert verdict.not_evaluable == ()


def test_the_gravest_finding_comes_first_and_each_is_said_once() -> None:
    contract = Contract(read_only=True, budgets=Budgets(calls=0))
    ledger = books((attempt(1, "add"), (DONE,)))
    verdict = judge(contract, run(one(call("add"), attempt=1), say("Hi."), ledger=ledger))
    ranks = [finding.severity.rank for finding in verdict.findings]
    assert ranks == sorted(ranks, reverse=True)
    assert codes(verdict)[0] == "effect.unauthorized_write"
    assert len({(one.code, one.at, one.reason) for one in verdict.findings}) == len(verdict.findings)
    assert verdict.unexpected_writes == 1
    assert [one.severity for one in verdict.graver(Severity.MAJOR)] == [Severity.CRITICAL]


def test_each_boundary_has_judges_and_what_it_needs_is_a_boundary() -> None:
    assert NEEDS.keys() <= BOUNDARIES.keys()
    assert all(BOUNDARIES.values())


# -- first decision --------------------------------------------------------------------------------------


def test_wrong_arguments_make_a_right_tool_a_bad_decision() -> None:
    verdict = judge(Contract(first=("get",)), run(batch(call("get", id=7))))
    assert (verdict.first, verdict.overall) == (FirstDecision.BAD_ARGUMENTS, Overall.FAIL)


def test_a_warning_about_an_argument_does_not() -> None:
    verdict = judge(Contract(first=("get",)), run(batch(call("get", more=7))))
    assert (verdict.first, verdict.overall) == (FirstDecision.CORRECT, Overall.WARN)


def test_a_wrong_effect_of_the_first_call_makes_it_a_bad_decision() -> None:
    ledger = books((attempt(1, "add"), (effect("note.added", note="$note.b"),)))
    verdict = judge(WANTED, run(one(call("add"), attempt=1), say("It is noted."), ledger=ledger))
    assert (codes(verdict)[0], verdict.first) == ("effect.wrong_target", FirstDecision.BAD_ARGUMENTS)


def test_only_the_first_decision_is_judged_where_a_run_stops_there() -> None:
    contract = Contract(
        first=("get",), states=(Stated("42.50 USD"),), labels=(Label("a", ("get",)), Label("b", ()))
    )
    verdict = judge_first(contract, run(batch(call("get"))))
    assert (verdict.first, codes(verdict)) == (FirstDecision.CORRECT, ["case.ambiguous"])
    assert verdict.recovery.label is Recovery.INCONCLUSIVE
    assert judge_first(contract, run()).first is None
    assert "selection.wrong_tool" in codes(judge_first(Contract(first=("get",)), run(batch(call("add")))))


def test_a_run_without_a_decision_has_no_first_one() -> None:
    verdict = judge(Contract(), run())
    assert (verdict.first, codes(verdict), verdict.overall) == (None, ["run.empty"], Overall.WARN)


# -- what a trajectory does not show ---------------------------------------------------------------------


def test_what_is_only_seen_on_the_wire_has_no_choice_and_no_sequence() -> None:
    blind = run(batch(call("nothing", id=7)), sees=frozenset({Sees.HTTP}))
    verdict = judge(Contract(first=("get",)), blind)
    assert verdict.first is None
    assert verdict.not_evaluable == ("selection", "arguments", "sequence")
    assert codes(verdict) == []


@pytest.mark.parametrize("grade", [Grade.CLAIMED, Grade.UNSEEN])
def test_a_wanted_effect_is_not_missed_where_nobody_kept_books(grade: Grade) -> None:
    verdict = judge(WANTED, run(one(call("add")), say("Hello."), ledger=books(grade=grade)))
    assert (verdict.overall, verdict.not_evaluable) == (Overall.NOT_EVALUABLE, ("effects",))
    assert "effect.missing" not in codes(verdict)


def test_what_is_wrong_all_the_same_is_wrong_without_books() -> None:
    verdict = judge(WANTED, run(batch(call("nothing")), ledger=books(grade=Grade.UNSEEN)))
    assert (verdict.overall, verdict.not_evaluable) == (Overall.FAIL, ("effects",))


def test_a_reported_ledger_is_enough_to_miss_an_effect() -> None:
    verdict = judge(WANTED, run(say("Hello."), ledger=books(grade=Grade.REPORTED)))
    assert "effect.missing" in codes(verdict)


def test_a_request_that_wants_no_write_needs_no_books() -> None:
    verdict = judge(
        Contract(read_only=True), run(one(call("get")), say("Hi."), ledger=books(grade=Grade.UNSEEN))
    )
    assert (verdict.overall, verdict.not_evaluable) == (Overall.PASS, ())


# -- the surroundings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "code", "overall"),
    [
        (Outcome.BLOCKED, "net.blocked", Overall.FAIL),
        (Outcome.CRASHED, "harness.service_crashed", Overall.HARNESS_FAULT),
    ],
)
def test_what_happens_around_a_run_is_told(outcome: Outcome, code: str, overall: Overall) -> None:
    tried = attempt(1, "GET api.example.test", Access.READ, outcome)
    verdict = judge(Contract(), run(say("Hi."), ledger=books(tried)))
    assert [finding for finding in said(verdict.findings) if finding[0] == code] == [(code, "attempt 1")]
    assert verdict.overall is overall


def test_a_fault_that_never_fired_makes_a_run_say_nothing() -> None:
    verdict = judge(Contract(), run(say("Hi."), unfired=("timeout(add, nth=1)",)))
    assert (codes(verdict), verdict.overall) == (["fault.not_fired"], Overall.INCONCLUSIVE)
    cut = run(say("Hi."), unfired=("timeout(add, nth=1)",), ended=Ended.MAX_STEPS)
    assert "fault.not_fired" not in codes(judge(Contract(), cut))


def test_labels_that_disagree_are_told_with_who_says_what() -> None:
    labels = (Label("ann", ("get", "list")), Label("bob", ()))
    verdict = judge(Contract(labels=labels), run(batch(call("get"))))
    (finding,) = [one for one in verdict.findings if one.code == "case.ambiguous"]
    assert finding.reason.endswith("ann: get or list; bob: no tool")


@pytest.mark.parametrize("how", [Ended.PROVIDER_ERROR, Ended.TOOLS_DROPPED, Ended.CANCELLED])
def test_a_run_that_the_harness_cut_short_is_not_held_to_what_is_missing(how: Ended) -> None:
    contract = Contract(
        effects=WANTED.effects, calls=("get",), refusal=Norm.EXPECTED, states=(Stated("42.50 USD"),)
    )
    found = codes(judge(contract, run(ended=how)))
    assert not [code for code in found if code.endswith(".missing")]
    assert judge(contract, run(say("Hi."))).overall is Overall.FAIL


# -- recovery --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["add", "get"])
def test_an_attempt_of_a_call_that_was_wrong_counts_against_the_run(tool: str) -> None:
    contract = Contract(forbid={tool: "not here"})
    verdict = judge(contract, run(one(call(tool), attempt=1), say("Hi."), ledger=books(attempt(1, tool))))
    assert verdict.recovery.label is not Recovery.NEVER_WRONG
    open_call = run(batch(call(tool)), ledger=books(attempt(1, tool)))
    assert judge(contract, open_call).recovery.label is Recovery.NEVER_WRONG


def test_two_wrong_effects_are_worse_than_one() -> None:
    wrong = [effect("note.added", n, note=f"$note.x{n}") for n in (1, 2)]
    assert judge(Contract(read_only=True), did(wrong[0])).recovery.label is Recovery.NOT_RECOVERED
    assert judge(Contract(read_only=True), did(*wrong)).recovery.label is Recovery.MADE_WORSE


def test_every_code_that_the_judges_use_here_is_in_the_table() -> None:
    talk = run(batch(call("nothing")), told(call("nothing"), error=True), say("I have added it."))
    assert set(codes(judge(WANTED, talk))) <= set(CODES)
