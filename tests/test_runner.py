"""Runs: what drives them, what ends them, and what the judges say of hand-made ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import product

import pytest
import yaml

from sandtrail.ledgers import Catalog, FaultPlan, Finding, Outcome, Overall, WorldSpec
from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Conversation,
    Decided,
    Decision,
    Reply,
    ToolCall,
)
from sandtrail.ledgers.findings import CODES
from sandtrail.ledgers.specs import Fault, FaultKind
from sandtrail.ledgers.trajectory import Ended
from sandtrail.sandbox import library, run
from sandtrail.sandbox.agents import Agent, OffScript, Scripted, good_scripts, scripted
from sandtrail.sandbox.floors import DoNothing
from sandtrail.sandbox.limits import Limits
from sandtrail.sandbox.trail import clean, trail
from sandtrail.scenarios import Contract, Scenario, User, WantedArgument, WantedEffect
from sandtrail.scenarios.scenario import Place
from sandtrail.scenarios.selection import FirstDecision
from worlds import ENTITIES, NORTH

LIBRARY = {scenario.id: scenario for scenario in library()}
PLACE = {"": Place("here", 1)}
NO_FAULTS = FaultPlan()
ORDER, PAYMENT = "$order.lamp", "$payment.first"


def scenario(
    expect: Contract,
    *,
    says: Sequence[str] = ("Hello {$order.lamp.number}, it is about 1.00 USD.",),
    faults: FaultPlan = NO_FAULTS,
) -> Scenario:
    return Scenario(
        "made",
        "a test",
        WorldSpec(ENTITIES, principal=NORTH, faults=faults),
        User(says[0], tuple(says[1:])),
        expect,
        PLACE,
    )


def scripts_of(name: str) -> list[str]:
    home = files("sandtrail.scenarios") / "library"
    names = yaml.safe_load((home / f"{name}.scripts.yaml").read_text(encoding="utf-8"))
    return [kind for kind in names if kind != "good"]


def steps(*lines: str | tuple[str, dict[str, object]]) -> Scripted:
    """A program: text is said, tuples are calls of a tool with arguments."""
    program: list[dict[str, object]] = [
        {"say": line} if isinstance(line, str) else {"call": line[0], "with": line[1]} for line in lines
    ]
    return Scripted("made", program)


FIND: tuple[str, dict[str, object]] = ("search_orders", {"number": "4412"})
LIST: tuple[str, dict[str, object]] = (
    "list_payments",
    {"order_id": {"from": "search_orders", "at": "/orders/0/id"}},
)


def refund(place: int = 0, amount: int = 100) -> tuple[str, dict[str, object]]:
    return "refund_payment", {
        "payment_id": {"from": "list_payments", "at": f"/payments/{place}/id"},
        "amount_minor": amount,
    }


def codes(expect: Contract, agent: Agent, family: str = "") -> list[str]:
    """The codes of a family; recovery labels and claims have tests of their own."""
    found = run(scenario(expect), agent).findings
    return [finding.code for finding in found if finding.code.startswith(family)]


@pytest.mark.parametrize("name", LIBRARY)
def test_the_reference_run_of_every_shipped_scenario_passes_strictly_under_any_seed(name: str) -> None:
    for kind, seed in product(good_scripts(name), range(5)):
        result = run(LIBRARY[name], scripted(name, kind), seed=seed)
        assert (result.overall, result.unexpected_writes) == (Overall.PASS, 0)
        assert result.findings == []


@pytest.mark.parametrize("name", LIBRARY)
def test_scripts_hold_no_raw_id_and_no_symbol(name: str) -> None:
    for kind in scripts_of(name):
        text = repr(scripted(name, kind).program)
        assert "$" not in text
        assert not re.search(r"\b(?:pay|ord|cus|ref|inv)_[0-9A-Z]{8}\b", text)


@pytest.mark.parametrize("name", LIBRARY)
def test_findings_are_equal_under_every_seed_since_they_speak_symbols(name: str) -> None:
    for kind in scripts_of(name):
        runs = [run(LIBRARY[name], scripted(name, kind), seed=seed) for seed in range(3)]
        assert len({one.verdict.findings for one in runs}) == 1
        raw = {binding.raw for binding in runs[0].ledger.bindings}
        assert not [finding for finding in runs[0].findings if any(one in finding.reason for one in raw)]


@pytest.mark.parametrize("name", LIBRARY)
def test_every_scenario_has_a_flawed_run_that_fails(name: str) -> None:
    flawed = [kind for kind in scripts_of(name) if kind not in good_scripts(name)]
    assert flawed
    for kind in flawed:
        assert run(LIBRARY[name], scripted(name, kind)).overall is Overall.FAIL, kind


@pytest.mark.parametrize("name", LIBRARY)
def test_a_scenario_that_an_idle_agent_passes_says_so(name: str) -> None:
    result = run(LIBRARY[name], DoNothing())
    assert (result.overall in {Overall.PASS, Overall.WARN}) is LIBRARY[name].idle_passes


def test_an_agent_sees_raw_ids_of_its_run_only() -> None:
    @dataclass
    class Witness:
        name: str = "witness"
        seen: str = ""

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
            self.seen += repr(conversation) + repr(catalog)
            decided = sum(isinstance(message, Decided) for message in conversation)
            return Calls((ToolCall("a", *FIND),)) if decided == 0 else Reply("done")

    witness = Witness()
    run(LIBRARY["refund-the-second-charge"], witness)
    assert "ord_" in witness.seen
    assert "$order" not in witness.seen
    assert "effect" not in witness.seen
    assert "expect" not in witness.seen


# -- endings --------------------------------------------------------------------------------------------


def test_an_agent_that_never_ends_runs_out_of_steps() -> None:
    class Looping:
        name = "looping"

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
            return Calls((ToolCall("x", *FIND),))

    result = run(scenario(Contract(read_only=True)), Looping(), limits=Limits(steps=4))
    assert {finding.code for finding in result.findings} == {"run.max_steps", "run.loop"}
    assert len(result.trajectory.answers) == 4
    assert result.trajectory.ended is Ended.MAX_STEPS


def test_an_agent_that_raises_is_a_finding_and_keeps_what_it_did() -> None:
    class Broken:
        name = "broken"

        def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
            if any(isinstance(message, Answered) for message in conversation):
                raise ZeroDivisionError("oops")
            return Calls((ToolCall("x", *FIND),))

    result = run(scenario(Contract(read_only=True)), Broken())
    assert [(finding.code, finding.reason) for finding in result.findings] == [
        ("run.agent_error", "ZeroDivisionError: oops")
    ]
    assert len(result.trajectory.ledger.attempts()) == 1


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (steps(), "ends after 0 steps"),
        (steps(LIST), "search_orders has not been called yet"),
        (
            steps(FIND, ("list_payments", {"order_id": {"from": "search_orders", "at": "/orders/7/id"}})),
            "answered nothing at /orders/7/id",
        ),
    ],
)
def test_a_script_without_a_line_is_the_harness_fault_not_the_agents(agent: Scripted, said: str) -> None:
    result = run(scenario(Contract(read_only=True)), agent)
    assert result.overall is Overall.HARNESS_FAULT
    assert said in "".join(one.reason for one in result.findings if one.code == "simulator.off_script")


def test_scripts_are_found_by_name_or_the_others_are_named() -> None:
    with pytest.raises(OffScript, match="there are scripted"):
        scripted("refund-the-second-charge", "wild")
    with pytest.raises(OffScript, match="no scripts for nothing"):
        scripted("nothing", "scripted")


# -- judges ---------------------------------------------------------------------------------------------

WANTED = Contract(
    effects=(WantedEffect("refund.created", {"payment": PAYMENT, "amount": 100, "currency": "USD"}),)
)


@pytest.mark.parametrize(
    ("expect", "agent", "found"),
    [
        (WANTED, steps(FIND, LIST, refund(), "ok"), []),
        (WANTED, steps("ok"), ["effect.missing"]),
        (WANTED, steps(FIND, LIST, refund(1), "ok"), ["effect.wrong_target", "effect.missing"]),
        (WANTED, steps(FIND, LIST, refund(0, 90), "ok"), ["effect.wrong_amount", "effect.missing"]),
        (WANTED, steps(FIND, LIST, refund(), refund(), "ok"), ["effect.duplicate"]),
        (
            WANTED,
            steps(
                FIND,
                LIST,
                refund(),
                ("cancel_order", {"order_id": {"from": "search_orders", "at": "/orders/0/id"}}),
                "ok",
            ),
            ["effect.unauthorized_write", "effect.unauthorized_write", "effect.irreversible"],
        ),
        (
            replace(WANTED, effects=(replace(WANTED.effects[0], times=2),)),
            steps(FIND, LIST, refund(), refund(), "ok"),
            [],
        ),
        (Contract(read_only=True), steps(FIND, LIST, "ok"), []),
        (Contract(read_only=True), steps(FIND, LIST, refund(), "ok"), ["effect.unauthorized_write"]),
        (
            Contract(read_only=True),
            steps(FIND, LIST, refund(0, 10**9), "ok"),
            ["effect.write_attempt_on_read_only"],
        ),
    ],
)
def test_the_judges_name_what_is_wrong(expect: Contract, agent: Scripted, found: list[str]) -> None:
    assert codes(expect, agent, "effect.") == found


def test_a_call_that_must_be_made_is_missed() -> None:
    assert codes(Contract(calls=("list_charges",)), steps("ok")) == ["call.missing"]


def test_an_argument_must_name_the_right_entity_and_come_from_the_right_tool() -> None:
    rule = WantedArgument("refund_payment", "payment_id", PAYMENT, sources=("list_payments", "list_charges"))
    expect = Contract(effects=(WantedEffect("refund.created"),), arguments=(rule,))
    said = "I have refunded 1.00 USD."
    assert codes(expect, steps(FIND, LIST, refund(), said)) == []
    assert codes(expect, steps(FIND, LIST, refund(1), said)) == ["provenance.wrong_binding"]
    other = replace(expect, arguments=(replace(rule, sources=("list_charges",)),))
    result = run(scenario(other), steps(FIND, LIST, refund(), said))
    assert [finding.code for finding in result.findings] == ["provenance.source_policy"]
    assert "it stood: call 2 /payments/0/id" in result.findings[0].reason


def test_a_fault_that_never_fired_makes_a_pass_inconclusive() -> None:
    plan = FaultPlan((Fault(FaultKind.ANSWER_LOST, "refund_payment"),))
    result = run(scenario(Contract(read_only=True), faults=plan), steps(FIND, "ok"))
    assert [finding.code for finding in result.findings] == ["fault.not_fired"]
    assert result.overall is Overall.INCONCLUSIVE


def test_an_unknown_tool_is_an_attempt_and_an_error_to_the_agent() -> None:
    result = run(scenario(Contract(read_only=True)), steps(("refund_everything", {}), "sorry"))
    (answered,) = result.trajectory.answers
    assert answered.is_error
    assert "There is no tool" in answered.text
    assert result.trajectory.ledger.attempts()[0].outcome is Outcome.UNKNOWN
    assert [finding.code for finding in result.findings] == ["selection.unknown_tool"]
    assert result.verdict.first is FirstDecision.UNKNOWN_TOOL


def test_every_code_of_the_table_has_a_meaning_and_makes_a_finding() -> None:
    for code, (severity, meaning) in CODES.items():
        assert Finding(code, "here", "why").severity is severity
        assert len(meaning) > 15


# -- decisions ------------------------------------------------------------------------------------------


def test_a_decision_that_calls_nothing_is_no_calls() -> None:
    with pytest.raises(ValueError, match="an empty one is a Reply"):
        Calls(())


# -- the trail ------------------------------------------------------------------------------------------


def test_the_trail_shows_symbols_sources_and_rows_and_spells_out_terminal_escapes() -> None:
    agent = steps(FIND, LIST, refund(), "red \x1b[31mtext\u202e and \x07 more")
    lines = [line.text for line in trail(run(scenario(WANTED), agent))]
    text = "\n".join(lines)
    assert " 3 refund_payment payment_id=$payment.first  ok       call 2 /payments/0/id" in lines
    assert "     ~ payment $payment.first  refunded 0 -> 100" in lines
    assert "     + refund.created  payment $payment.first  amount 1.00 USD" in lines
    assert "\\x1b[31mtext\\u202e and \\x07 more" in text
    assert "\x1b" not in text
    assert max(map(len, lines)) <= 80


def test_clean_leaves_letters_of_every_script_alone() -> None:
    assert clean("Grüße, 東京, 😀\n") == "Grüße, 東京, 😀 "


def test_a_long_tool_name_has_a_line_of_its_own() -> None:
    lines = [
        line.text
        for line in trail(
            run(
                scenario(Contract(read_only=True)),
                steps(("lookup_customer_cache", {"email": "lee@example.test"}), "ok"),
            )
        )
    ]
    at = lines.index(" 1 lookup_customer_cache")
    assert lines[at + 1].split() == ["email=lee@example.test", "ok", "invented"]


def test_a_mail_is_shown_as_leaving_the_world() -> None:
    agent = steps(FIND, ("cancel_order", {"order_id": {"from": "search_orders", "at": "/orders/0/id"}}), "ok")
    text = "\n".join(line.text for line in trail(run(scenario(Contract()), agent)))
    assert "(leaves the world)" in text
    assert f"~ order {ORDER}  status placed -> cancelled" in text
