"""The labelled corpus of arguments: the same for the same seed, and its labels are true of its specimens."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from random import Random
from typing import Any

import pytest

from sandtrail.ledgers.conversation import Answered, Briefed, Calls, Decided, Reply, UserSaid
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox.baselines import argument
from sandtrail.sandbox.corpus import CENTS, CLASSES, Class, Specimen, specimen, specimens
from sandtrail.sandbox.corpus_parts import Ambiguous, Label, edits, far
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_tools import DIALECTS, offer_of

BY_NAME = {one.name: one for one in CLASSES}
SAMPLE = range(12)
"""Every dialect, in our own world and abroad, easy and hard."""


def text_before(one: Specimen) -> str:
    """Everything that was said before the call was decided, the schemas too."""
    step = one.trajectory.made[one.call - 1].step
    return "\n".join([*said(one.trajectory, step.index), *schemas(one.trajectory)])


def said(trajectory: Trajectory, until: int) -> Iterator[str]:
    for message in trajectory.conversation[:until]:
        match message:
            case Decided(decision=Calls() as calls):
                yield from (call.text for call in calls.calls)
            case Decided(decision=Reply() as reply):
                yield reply.text
            case Briefed() | UserSaid() | Answered():
                yield message.text
            case _:
                raise AssertionError(message)


def schemas(trajectory: Trajectory) -> list[str]:
    return [json.dumps(tool.input_schema) for tool in trajectory.offers[0].catalog.tools]


def value_of(one: Specimen) -> Any:
    return argument(one.trajectory, one.call, one.pointer)


def bare(text: str) -> str:
    """Letters and digits only."""
    return re.sub(r"[\W_]+", "", text.lower())


def sample(name: str) -> list[Specimen]:
    return [specimen(BY_NAME[name], seed) for seed in SAMPLE]


def results(one: Specimen) -> list[Any]:
    before = one.trajectory.made[: one.call - 1]
    return [json.loads(made.answered.text) for made in before if made.answered and not made.answered.is_error]


# -- all of them -----------------------------------------------------------------------------------------


def test_there_are_more_than_enough_classes_of_both_sorts() -> None:
    bad = [one for one in CLASSES if one.bad]
    assert len(CLASSES) == len(BY_NAME) >= 48
    assert len(bad) >= 24
    assert len(CLASSES) - len(bad) >= 24
    assert all(one.why.endswith(".") for one in CLASSES)
    assert set(BY_NAME) >= CENTS


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.name)
def test_every_class_has_a_specimen_at_every_seed_and_the_same_one_each_time(one: Class) -> None:
    for seed in SAMPLE:
        first, again = specimen(one, seed), specimen(one, seed)
        assert first.trajectory.conversation == again.trajectory.conversation
        assert (first.call, first.pointer, first.verdicts) == (again.call, again.pointer, again.verdicts)
        assert first.trajectory.made[first.call - 1].call.flaw == ""
        assert first.verdicts


@pytest.mark.parametrize("name", [name for name in BY_NAME if name != "rest.left_out"])
def test_the_labelled_argument_is_there(name: str) -> None:
    assert all(value_of(one) is not None for one in sample(name))


def test_what_is_left_out_is_left_out_or_given_as_nothing() -> None:
    assert {value_of(one) for one in sample("rest.left_out")} == {None, ""}


def test_two_seeds_have_nothing_in_common() -> None:
    first, second = sample("id.from_result")[:2]
    assert value_of(first) != value_of(second)
    assert value_of(specimen(BY_NAME["id.from_result"], 0)) != value_of(specimen(BY_NAME["id.twice"], 0))


def test_half_of_them_play_in_our_own_world() -> None:
    for one in specimens(range(4), CLASSES[:8]):
        facts = one.trajectory.offers[0].tools.values()
        assert one.known is bool(one.trajectory.ledger.bindings) is any(fact.slots for fact in facts)
        assert one.known is bool(one.trajectory.ledger.pages)


def test_ours_are_bound_with_the_ids_that_are_spoken() -> None:
    one = specimen(BY_NAME["id.from_result"], 0)
    bound = {binding.raw: binding.kind for binding in one.trajectory.ledger.bindings}
    assert bound[value_of(one)] == "payment"


def test_every_dialect_is_spoken() -> None:
    seen = {one.trajectory.offers[0].catalog.digest for one in sample("rest.reason")}
    assert {offer_of(name, "").catalog.digest for name in DIALECTS if name != "prefix"} <= seen
    assert offer_of("prefix", "_cents").catalog.digest in seen


def test_a_class_that_is_always_ambiguous_is_named() -> None:
    def make(scene: Scene) -> Label:
        raise Ambiguous(str(scene.seed))

    with pytest.raises(LookupError, match="never at seed 3"):
        specimen(Class("never", "", bad=True, make=make), 3)


# -- labels are true -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["id.from_result", "id.order_from_result", "id.only_one", "id.from_user", "id.from_system", "id.object_key",
     "id.from_error", "id.of_nobody", "id.twice", "id.in_a_list", "id.after_a_write", "id.in_lines",
     "id.other_case", "id.earlier_turn", "people.email", "people.new_email", "people.phone", "people.back_again"],
)  # fmt: skip
def test_a_found_id_occurs_before(name: str) -> None:
    for one in sample(name):
        found = bare(value_of(one)).removeprefix("1" if name == "people.phone" else "\0")
        assert found in bare(text_before(one)), (name, one.seed)


@pytest.mark.parametrize(
    "name", [name for name in BY_NAME if name.startswith("bad_") and "invented" in name and name not in CENTS]
)
def test_an_invented_value_occurs_nowhere(name: str) -> None:
    for one in sample(name):
        value = value_of(one)
        shown = f" {value}" if isinstance(value, int | float) else value.lower()
        assert shown not in text_before(one).lower(), (name, one.seed)


@pytest.mark.parametrize("name", sorted(CENTS))
def test_an_invented_amount_occurs_in_no_unit(name: str) -> None:
    for one in sample(name):
        value = value_of(one)
        minor = round(value * 100) if isinstance(value, float) else value
        seen = text_before(one)
        assert str(minor) not in seen
        assert f"{minor / 100:.2f}" not in seen


@pytest.mark.parametrize(
    "name", ["bad_id.one_off", "bad_id.two_off", "bad_id.transposed", "bad_id.cut_short"]
)
def test_a_near_miss_is_near_one_that_was_seen(name: str) -> None:
    for one in sample(name):
        words = set(re.findall(r'"([^"]+)"', text_before(one)))
        assert not all(far(value_of(one), word) for word in words)
        assert f'"{value_of(one)}"' not in text_before(one)


@pytest.mark.parametrize("name", ["bad_id.sibling", "bad_id.known_later", "bad_id.never_shown"])
def test_an_unseen_id_is_shown_only_afterwards(name: str) -> None:
    for one in sample(name):
        everything = "\n".join(said(one.trajectory, len(one.trajectory.conversation)))
        assert value_of(one) not in text_before(one)
        assert value_of(one) in everything
        if one.known:
            assert value_of(one) in {binding.raw for binding in one.trajectory.ledger.bindings}


def test_the_id_of_another_row_is_of_a_row_that_the_user_did_not_name() -> None:
    for one in sample("bad_id.other_row"):
        user = next(message.text for message in one.trajectory.conversation if isinstance(message, UserSaid))
        rows = results(one)[1]["orders"]
        row = next(row for row in rows if value_of(one) in row.values())
        assert row["number"] not in user
        assert any(other["number"] in user for other in rows)


def test_a_total_is_the_sum_of_its_list() -> None:
    for one in sample("money.total_of_list"):
        rows = results(one)[-1]["payments"]
        amounts = [next(row[key] for key in row if key.startswith("amount")) for row in rows]
        assert sum(map(float, amounts)) == pytest.approx(value_of(one))


def test_a_list_with_one_too_many_is_no_whole_list() -> None:
    for one in sample("bad_money.one_too_many"):
        totals = [float(row["total"]) for row in results(one)[-1]["orders"]]
        assert sum(totals) != pytest.approx(value_of(one))


def test_tomorrow_is_another_day_elsewhere() -> None:
    for good, bad in zip(
        sample("time.tomorrow_elsewhere"), sample("bad_time.wrong_day_elsewhere"), strict=True
    ):
        assert date.fromisoformat(value_of(good)).year > 2000
        assert bad.trajectory.now
        days = (date.fromisoformat(value_of(bad)) - date.fromisoformat(bad.trajectory.now[:10])).days
        assert days == 1
        away = (date.fromisoformat(value_of(good)) - date.fromisoformat(good.trajectory.now[:10])).days
        assert away in {0, 2}


@pytest.mark.parametrize(
    "name", ["bad_people.stale_email", "bad_people.stale_phone", "bad_money.stale_price"]
)
def test_what_is_stale_was_right_once_and_our_books_say_when_it_changed(name: str) -> None:
    for one in sample(name):
        if one.known:
            changes = [change for page in one.trajectory.ledger.pages for change in page.changes]
            assert [next(iter(change.cells.values()))[0] for change in changes] == [value_of(one)]


# -- the parts -------------------------------------------------------------------------------------------


def test_far_says_what_edits_count() -> None:
    pairs = [
        ("pay_7Q2M9XKD", "pay_7Q2M9XKD"),
        ("abcd", "abdc"),
        ("abc", "xyz"),
        ("abcdef", "fedcba"),
        ("ab", "abcde"),
    ]
    assert [edits(*pair) for pair in pairs] == [0, 2, 3, 6, 3]
    assert [far(*pair) for pair in pairs] == [False, False, True, True, True]


def test_a_draw_that_has_nothing_left_is_ambiguous() -> None:
    scene = Scene(0, Random(1))
    scene.once(lambda: "the only one")
    with pytest.raises(Ambiguous):
        scene.once(lambda: "the only one")
