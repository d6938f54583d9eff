"""What the corpus says of detectors: an oracle is right, the published baselines are not, and each is counted truly."""

from __future__ import annotations

import pytest
from rich.cells import cell_len
from trails import call, one, trail

from sandtrail.ledgers.conversation import Briefed, Decided, Refused, UserSaid
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox import bench
from sandtrail.sandbox.baselines import argument, substring, token_set
from sandtrail.sandbox.corpus import CENTS, CLASSES, specimens
from sandtrail.sandbox.corpus_report import (
    BASELINES,
    ENGINE,
    Detect,
    Measured,
    Said,
    Tally,
    by,
    compared,
    lines,
    measured,
    summary,
    table,
)

FEW = range(3)


def labels() -> dict[tuple[str, int, str], Said]:
    return {
        (str(one.trajectory.conversation), one.call, one.pointer): Said(not one.bad, min(one.verdicts))
        for one in specimens(FEW)
    }


def always(said: Said) -> Detect:
    return lambda trajectory, call, pointer: said


# -- counting --------------------------------------------------------------------------------------------


def test_who_knows_the_labels_is_never_wrong() -> None:
    known = labels()
    found = measured(FEW, lambda seen, call, pointer: known[str(seen.conversation), call, pointer])
    assert (found.classes, found.values) == (len(CLASSES), len(CLASSES) * len(FEW))
    assert (found.false_alarms, found.misses, found.misnamed, found.accidental) == (0, 0, 0, 0)
    assert found.passed
    assert [line.text for line in lines(found)] == [summary(found)]


def test_who_believes_everything_misses_everything() -> None:
    found = measured(FEW, always(Said(grounded=True, verdict="exact")))
    assert (found.false_alarms, found.misses, found.misnamed, found.accidental) == (0, 1, 0, 1)
    assert not found.passed


def test_who_believes_nothing_accuses_everybody_and_names_little_rightly() -> None:
    found = measured(FEW, always(Said(grounded=False, verdict="near_miss")))
    assert (found.false_alarms, found.misses) == (1, 0)
    assert 0.5 < found.misnamed < 1


def test_a_detector_without_codes_misnames_nothing() -> None:
    assert measured(FEW, always(Said(grounded=False))).misnamed == 0


def test_the_rates_are_shares_of_their_own_sort() -> None:
    good = Tally("a", bad=False, values=200, wrong=[1, 2])
    bad = Tally(min(CENTS), bad=True, values=50, wrong=[3], misnamed=[4, 5])
    found = Measured((good, bad), seconds=0.5)
    assert found.as_json() == {"classes": 2, "values": 250, "false_alarm_rate": 0.01, "miss_rate": 0.02}
    told = found.in_full()
    assert (told["misnamed_rate"], told["accidental_rate"], told["value_ms"]) == (0.04, 0.02, 2)
    assert not found.passed


def test_nothing_measured_is_no_rate() -> None:
    assert Measured().in_full()["miss_rate"] == 0


def test_the_worst_come_first_with_their_seeds_in_80_columns() -> None:
    found = compared(FEW, {**BASELINES, "accuser": always(Said(grounded=False, verdict="wrong_kind"))})
    for one_found in found.values():
        told = [line.text for line in lines(one_found)]
        assert max(map(cell_len, told)) <= 80
        assert told[-1] == summary(one_found)
    told = [line.text for line in lines(found["accuser"])]
    assert "3 false alarms of 3, seeds 0, 1, 2" in told[0]
    assert any("3 misnamed of 3" in line for line in told)
    head, *rows, foot = [line.text for line in table(found)]
    assert max(map(cell_len, (head, *rows, foot))) <= 80
    assert [row.split()[0] for row in rows] == ["substring", "token", "accuser"]


# -- an engine as a detector -----------------------------------------------------------------------------


class Told:
    """What an engine says of one argument."""

    def __init__(self, call: int, pointer: str, verdict: str, *, grounded: bool) -> None:
        self.call, self.pointer, self.verdict, self.grounded = call, pointer, verdict, grounded


TWO = trail(UserSaid("x"), *one(call("get", 1, id="a")), *one(call("get", 2, id="b", note="")))


def test_an_engine_is_asked_of_its_call_and_pointer() -> None:
    told = (Told(1, "/id", "exact", grounded=True), Told(2, "/id", "invented", grounded=False))
    detect = by(lambda _: told)
    assert detect(TWO, 2, "/id") == Said(grounded=False, verdict="invented")
    assert detect(TWO, 1, "/id").grounded


def test_of_what_is_left_out_an_engine_need_say_nothing() -> None:
    detect = by(lambda _: ())
    assert detect(TWO, 1, "/note") == detect(TWO, 2, "/note") == Said(grounded=True, verdict="omitted")
    with pytest.raises(LookupError, match="call 2: nothing was said of the argument at /id"):
        detect(TWO, 2, "/id")


# -- the baselines ---------------------------------------------------------------------------------------


def grounded(value: object, *before: str) -> tuple[bool, bool]:
    """What both baselines say of a value after these user messages."""
    trajectory = trail(*map(UserSaid, before), *one(call("act", 1, value=value)))
    return substring(trajectory, 1, "/value"), token_set(trajectory, 1, "/value")


def test_the_baselines_look_for_text_and_words() -> None:
    assert grounded("pay_7Q2M", "refund PAY_7q2m.") == (True, True)
    assert grounded("pay_7Q2M", "refund it") == (False, False)
    assert grounded(4250, "order 142507") == (True, False)
    assert grounded("Mia Li", "li here, mia of course") == (False, True)
    assert grounded("Mia Li", "mia here") == (False, True)
    assert grounded("--", "nothing") == (False, True)
    assert grounded(None, "nothing") == (True, True)


def test_a_stricter_share_wants_all_words() -> None:
    trajectory = trail(UserSaid("mia here"), *one(call("act", 1, value="Mia Li")))
    assert not token_set(trajectory, 1, "/value", share=1.0)


def test_the_baselines_see_what_was_before_the_step_and_nothing_later() -> None:
    trajectory = trail(
        Briefed("North."), Decided(Refused("no")), *one(call("a", 1, id="north"), {"id": "z9"}), *one(call("b", 2, id="z9"))
    )  # fmt: skip
    assert substring(trajectory, 1, "/id")
    assert substring(trajectory, 2, "/id")
    alone = trail(UserSaid("x"), *one(call("a", 1, id="z9"), {"id": "z9"}))
    assert not substring(alone, 1, "/id")


@pytest.mark.parametrize(
    ("pointer", "value"),
    [("/a/0/b~1c", 1), ("/a/1", 2), ("/a/2", None), ("/a/x", None), ("/z", None), ("/s/0", None)],
)
def test_an_argument_is_found_by_its_pointer(pointer: str, value: object) -> None:
    trajectory: Trajectory = trail(*one(call("act", 1, a=[{"b/c": 1}, 2], s="text")))
    assert argument(trajectory, 1, pointer) == value


def test_both_baselines_are_wrong_on_more_than_a_fifth_in_each_direction() -> None:
    for name, found in compared(FEW, BASELINES).items():
        assert found.false_alarms > 0.2, name
        assert found.misses > 0.2, name


def test_the_benchmark_plays_the_corpus_to_both_and_to_the_engine() -> None:
    found = bench.detectors(rounds=1)
    assert list(found) == ["substring", "token_set", "sandtrail"]
    assert {one_found.values for one_found in found.values()} == {len(CLASSES)}
    assert all(one_found.seconds > 0 for one_found in found.values())
    ours, theirs = found["sandtrail"], found["substring"]
    assert ours.false_alarms < theirs.false_alarms
    assert ours.misses < theirs.misses


def test_the_engine_is_wrong_on_one_in_a_hundred_at_most() -> None:
    found = measured(range(100, 104), ENGINE)
    assert found.passed, [line.text for line in lines(found)]
    assert found.accidental == 0
