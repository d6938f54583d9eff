"""What became of a wrong choice: the label a careful person gives, whatever the tools are called."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import permutations

import pytest
from talks import reported, transcript

from sandtrail.fakes import World
from sandtrail.ledgers import Ledger, WorldSpec
from sandtrail.ledgers.conversation import Decided, Reply, UserSaid
from sandtrail.ledgers.trajectory import Sees, Trajectory
from sandtrail.sandbox.agents import Scripted
from sandtrail.sandbox.recoveries import WORLD, Judged, RecoveryCase, label_of, recoveries
from sandtrail.sandbox.runner import run
from sandtrail.sandbox.saboteur import SPEC, Saboteur
from sandtrail.sandbox.zoo_programs import DONE, find, move, note, order, who
from sandtrail.sandbox.zoo_report import recovery_lines
from sandtrail.scenarios import Contract, Scenario, User, WantedEffect
from sandtrail.scenarios.contract import Norm, Stated
from sandtrail.scenarios.recovery import Recovered, Recovery, recovery, recovery_of

CASES = list(recoveries())
NEW = "9 Pine Rd, Salem"
MOVED = Contract(effects=(WantedEffect("order.address_changed", {"order": "$order.mat", "address": NEW}),))


def recovered(expect: Contract, *program: object, world: WorldSpec = WORLD) -> Recovered:
    agent = Scripted("made", [*program, DONE])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    return run(Scenario("made", "a test", world, User("Please."), expect), agent, seed=0).verdict.recovery


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_run_gets_the_label_that_a_person_gives_it(case: RecoveryCase) -> None:
    assert label_of(case) == case.label, case.why


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_label_survives_renaming_every_tool(case: RecoveryCase) -> None:
    assert label_of(case, renamed=True) == case.label, case.why


def test_every_label_stands_in_at_least_three_cases() -> None:
    counts = Counter(case.label for case in CASES)
    assert set(counts) == set(Recovery)
    assert min(counts.values()) >= 3
    assert sum(counts.values()) >= 24
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_residue_is_told_row_by_row() -> None:
    found = recovered(MOVED, find("4413"), who("lee"), note(1), move(1, "8 Fir Rd, Salem"))
    assert found.label is Recovery.MADE_WORSE
    assert found.residue == (
        "+ note $note.1",
        "~ order $order.mat  address 2 Oak St, Salem -> 8 Fir Rd, Salem",
    )


def test_the_latency_counts_calls_up_to_the_first_that_undid_something() -> None:
    slip = (find("4412"), find("4413"), move(1, NEW), find("4400"), move(1, "1 Elm St, Salem"))
    assert recovered(MOVED, *slip).latency == 2
    assert recovered(MOVED, *slip[:3]).latency is None


def test_an_address_written_over_by_the_right_one_leaves_nothing() -> None:
    found = recovered(MOVED, find("4413"), move(1, "8 Fir Rd, Salem"), move(1, NEW))
    assert (found.label, found.residue) == (Recovery.RECOVERED_CLEAN, ())


def test_a_right_refund_is_not_lost_to_a_wrong_one_on_the_same_payment() -> None:
    refund = {"payment_id": {"from": "list_payments", "at": "/payments/0/id"}}
    expect = Contract(
        effects=(
            WantedEffect("refund.created", {"payment": "$payment.mat", "amount": 100}),
            WantedEffect("note.added", {"customer": "$customer.lee"}),
        )
    )
    found = recovered(
        expect,
        find("4413"),
        who("lee"),
        {"call": "list_payments", "with": {"order_id": order(1)}},
        {"call": "refund_payment", "with": {**refund, "amount_minor": 100}},
        {"call": "refund_payment", "with": {**refund, "amount_minor": 200}},
        note(1),
    )
    assert found.label is Recovery.RECOVERED_WITH_RESIDUE


def test_a_bug_in_a_service_says_nothing_of_the_agent() -> None:
    with World.open(SPEC, 7, services=(Saboteur,)) as world:
        world.call("act", deed="honest")
        wrong = transcript(world.ledger)
        assert recovery_of(Contract(), wrong, frozenset()).label is Recovery.NOT_RECOVERED
        world.call("act", deed="crash")
        assert recovery_of(Contract(), wrong, frozenset()).label is Recovery.INCONCLUSIVE


def test_a_row_replaced_under_its_key_is_read_cell_by_cell() -> None:
    with World.open(SPEC, 7, services=(Saboteur,)) as world:
        world.call("act", deed="replace_claimed")
        found = recovery_of(Contract(), transcript(world.ledger), frozenset())
    assert found.label is Recovery.NOT_RECOVERED
    assert found.residue == ("~ item $item.three  status open -> gone",)


def of_lines(ledger: Ledger, expect: Contract) -> Recovery:
    trajectory: Trajectory = transcript(ledger)
    return recovery_of(expect, trajectory, frozenset()).label


def test_a_reported_ledger_without_rows_still_shows_what_stands() -> None:
    wrong, right = {"payment": "$payment.a"}, {"payment": "$payment.b"}
    expect = Contract(effects=(WantedEffect("refund.created", right),))
    assert of_lines(reported(("refund.created", right)), expect) is Recovery.NEVER_WRONG
    assert of_lines(reported(("refund.created", wrong)), expect) is Recovery.NOT_RECOVERED
    both = (("refund.created", wrong), ("refund.created", right))
    assert of_lines(reported(*both), expect) is Recovery.RECOVERED_WITH_RESIDUE
    assert of_lines(reported(*both, ("refund.created", wrong)), expect) is Recovery.MADE_WORSE


def test_the_order_of_right_and_wrong_deeds_is_no_matter() -> None:
    deeds = [("refund.created", {"payment": one}) for one in ("$payment.b", "$payment.c", "$payment.a")]
    expect = Contract(effects=tuple(WantedEffect(*one) for one in deeds[:2]))
    labels = {of_lines(reported(*some), expect) for some in permutations(deeds)}
    assert labels == {Recovery.RECOVERED_WITH_RESIDUE}
    twice = {of_lines(reported(*some), expect) for some in permutations([*deeds, deeds[2]])}
    assert twice == {Recovery.MADE_WORSE}
    half = {of_lines(reported(*some), expect) for some in permutations(deeds[1:])}
    assert half == {Recovery.NOT_RECOVERED}


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        (Contract(states=(Stated("60.00 USD"),)), "It was 60.00 USD."),
        (Contract(refusal=Norm.EXPECTED), "I can't refund that."),
        (Contract(handoff=Norm.EXPECTED), "I am handing you over to a colleague."),
    ],
)
def test_the_goal_is_more_than_the_effects(expect: Contract, said: str) -> None:
    refused = reported(("refund.created", {}, "rejected"))
    for text, label in ((said, Recovery.RECOVERED_CLEAN), ("Well.", Recovery.NOT_RECOVERED)):
        talk = transcript(refused, UserSaid("Please."), Decided(Reply(text)))
        assert recovery_of(expect, talk, frozenset()).label is label


def test_a_run_that_shows_no_tools_is_not_held_to_its_calls() -> None:
    refused = reported(("refund.created", {}, "rejected"))
    expect = Contract(calls=("list_payments",))
    blind = replace(transcript(refused), sees=frozenset({Sees.HTTP}))
    assert recovery_of(expect, transcript(refused), frozenset()).label is Recovery.NOT_RECOVERED
    assert recovery_of(expect, blind, frozenset()).label is Recovery.RECOVERED_CLEAN


def test_what_was_recovered_in_full_is_told_only_where_something_was_committed() -> None:
    assert list(recovery(Recovered(Recovery.RECOVERED_CLEAN))) == []
    assert list(recovery(Recovered(Recovery.NEVER_WRONG))) == []
    told = list(recovery(Recovered(Recovery.RECOVERED_CLEAN, ("a slip",), latency=2)))
    assert [(one.code, one.reason) for one in told] == [
        ("recovery.recovered", "recovered_clean: a slip; noticed after 2 calls")
    ]


def test_the_report_counts_each_label_and_says_where_it_disagrees() -> None:
    case = CASES[0]
    right = Judged(case, case.label, case.label)
    wrong = Judged(replace(case, name="another"), case.label, Recovery.CONTAINED)
    text = [line.text for line in recovery_lines([right, wrong])]
    assert text[0] == "MISSED 1/2 never wrong"
    assert "another: wanted never_wrong" in text[1]
    assert "contained with other names" in " ".join(text)
    assert max(map(len, text)) <= 80
    assert [line.text for line in recovery_lines([right])] == ["named  1/1 never wrong"]
