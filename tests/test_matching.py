"""Canonical comparison of values, rows and calls."""

from __future__ import annotations

import json
import time
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.scenarios.contract import Compare
from sandtrail.scenarios.matching import (
    ABSENT,
    GotCall,
    MatchVerdict,
    WantedCall,
    assignment,
    differences,
    equal,
    match_calls,
    row_differences,
)

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
Rows = dict[str, dict[str, Any]]
CALLS = st.lists(
    st.builds(
        GotCall, st.sampled_from(["a", "b"]), st.fixed_dictionaries({}, optional={"x": st.integers(0, 1)})
    ),
    max_size=6,
)


def wanted(calls: Sequence[GotCall]) -> list[WantedCall]:
    return [WantedCall(call.name, call.arguments) for call in calls]


# -- values ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (True, 1, False),
        (False, 0, False),
        ("5", 5, False),
        (None, "null", False),
        (12, 12.0, True),
        (12, Decimal("12.00"), True),
        (0.1, Decimal("0.1"), True),
        ([12.0, 15.0], [12, 15], True),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ({"a": None}, {}, False),
        ({}, [], False),
        (9007199254740993, 9007199254740992, False),
        (9007199254740993, 9007199254740992.0, False),
        (10**40, 10**40 + 1, False),
        ("caf\u00e9", "cafe\u0301", True),
        ("c277e5e0-aa", "C277E5E0-AA", False),
        ("c277e5e0-aa", "c277e5e0-aa ", False),
        ("\ufb01", "fi", False),
    ],
)
def test_which_values_are_the_same(one: object, other: object, same: bool) -> None:  # noqa: FBT001  a column of the table
    assert equal(one, other) is same
    assert equal(other, one) is same
    assert (differences(one, other) == ()) is same


@pytest.mark.parametrize(
    ("one", "other", "by"),
    [
        ("Ivo@Example.test", "ivo@example.test", {Compare.CASEFOLD, Compare.NORMALISED, Compare.IGNORED}),
        ("a  b ", "A b", {Compare.NORMALISED, Compare.IGNORED}),
        ("a", "b", {Compare.IGNORED}),
        (5, "5", {Compare.IGNORED}),
        (True, 1, {Compare.IGNORED}),
    ],
)
def test_a_comparator_loosens_texts_and_nothing_else(one: object, other: object, by: set[Compare]) -> None:
    assert {compare for compare in Compare if equal(one, other, compare=compare)} == by


@given(VALUES)
def test_a_value_is_equal_to_itself_and_to_its_json(value: Any) -> None:
    for compare in Compare:
        assert equal(value, value, compare=compare)
    assert differences(value, value) == ()
    assert equal(value, json.loads(json.dumps(value)))


@given(VALUES, VALUES)
def test_comparison_is_symmetric_and_agrees_with_its_differences(one: Any, other: Any) -> None:
    for compare in Compare:
        assert equal(one, other, compare=compare) is equal(other, one, compare=compare)
        assert equal(one, other, compare=compare) is (not differences(one, other, compare=compare))


@given(st.integers(min_value=2**53), st.integers(1, 9))
def test_big_integers_are_never_rounded(number: int, more: int) -> None:
    assert not equal(number, number + more)
    assert not equal({"n": [number]}, {"n": [number + more]})
    assert equal(number, json.loads(str(number)))


@given(st.text())
def test_texts_are_compared_in_nfc(text: str) -> None:
    assert equal(text, unicodedata.normalize("NFD", text))


def test_what_json_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="no JSON value"):
        equal({1, 2}, {1, 2})


def test_a_difference_says_where_and_what() -> None:
    found = differences({"a": [1, {"b/c": True}], "d": 1}, {"a": [1, {"b/c": 1}], "e": None})
    assert [(one.pointer, one.wanted, one.got) for one in found] == [
        ("/a/1/b~1c", True, 1),
        ("/d", 1, ABSENT),
        ("/e", ABSENT, None),
    ]
    assert [str(one) for one in found] == [
        "/a/1/b~1c: wanted true, got 1 (true or false against a number)",
        "/d: wanted 1, got nothing",
        "/e: wanted nothing, got null",
    ]
    assert str(differences("5", 5)[0]) == 'the whole: wanted "5", got 5 (a text against a number)'


def test_rows_are_compared_by_key_and_cell() -> None:
    before: Rows = {"$order.a": {"status": "open", "total": 5}, "$order.b": {"status": "open"}}
    after: Rows = {"$order.a": {"status": "closed", "total": 5}, "$order.c": {"status": "open"}}
    assert row_differences(before, before) == ()
    assert [str(one) for one in row_differences(before, after)] == [
        'row $order.a: /status: wanted "open", got "closed"',
        "row $order.b: wanted, and not there",
        "row $order.c: there, and not wanted",
    ]


# -- calls -------------------------------------------------------------------------------------------------


def test_repeated_calls_are_counted_each() -> None:
    book = GotCall("slots_book", {"slot_id": "s1"})
    assert match_calls(wanted([book, book]), [book, book], ordered=False).score == 1
    half = match_calls(wanted([book, book]), [book], ordered=False)
    assert (half.score, half.verdict, half.missing) == (Fraction(1, 2), MatchVerdict.DIFFERS, (1,))
    assert half.reason == 'missing: slots_book(slot_id="s1"), wanted at 1'


def test_nothing_wanted_and_nothing_made_is_full() -> None:
    nothing = match_calls([], [], ordered=True)
    assert (nothing.score, nothing.verdict, nothing.reason) == (Fraction(1), MatchVerdict.EQUAL, "")
    some = match_calls([], [GotCall("orders_get", {"order_id": "o"})], ordered=False)
    assert (some.score, some.verdict) == (Fraction(0), MatchVerdict.DIFFERS)
    assert some.reason == 'unexpected call: orders_get(order_id="o"), made at 0'


def test_no_arguments_wanted_is_another_thing_than_any_arguments() -> None:
    made = [GotCall("refund_payment", {"payment_id": "pay_1"})]
    none = match_calls([WantedCall("refund_payment", {})], made, ordered=False)
    unset = match_calls([WantedCall("refund_payment")], made, ordered=False)
    assert (none.verdict, none.unchecked) == (MatchVerdict.DIFFERS, ())
    assert none.reason == 'refund_payment (wanted at 0, made at 0): /payment_id: wanted nothing, got "pay_1"'
    assert (unset.verdict, unset.unchecked) == (MatchVerdict.EQUAL, ("refund_payment",))


def test_the_reason_of_a_wrong_order_names_the_swap() -> None:
    web, query = GotCall("web"), GotCall("query")
    found = match_calls(wanted([web, query, web]), [web, web, query], ordered=True)
    assert found.verdict is MatchVerdict.ORDER
    assert found.lines == ("position 1: expected query, got web; web at 1 and query at 2 are swapped",)
    assert found.score == Fraction(2, 3)
    assert match_calls(wanted([web, query, web]), [web, web, query], ordered=False)


def test_a_call_that_came_later_is_told_with_its_place() -> None:
    a, b, c = GotCall("a"), GotCall("b"), GotCall("c")
    found = match_calls(wanted([a, b, c]), [b, c, a], ordered=True)
    assert found.lines[0] == "position 0: expected a, got b; a came at 2"


def test_calls_of_one_name_are_told_apart_by_their_arguments() -> None:
    one, two = GotCall("get", {"id": 1}), GotCall("get", {"id": 2})
    found = match_calls(wanted([one, two]), [two, one], ordered=True)
    assert found.reason.startswith("position 0: expected get(id=1), got get(id=2)")


def test_a_default_written_out_is_the_same_as_left_out() -> None:
    made = GotCall("list", {"limit": 20})
    call = WantedCall("list", {}, defaults={"limit": 20})
    assert match_calls([call], [made], ordered=False)
    assert match_calls([call], [GotCall("list")], ordered=False)
    assert not match_calls([call], [GotCall("list", {"limit": 21})], ordered=False)
    assert match_calls(
        [WantedCall("list", {"limit": 20}, defaults={"limit": 20})], [GotCall("list")], ordered=True
    )


def test_an_ignored_argument_may_be_anything_or_absent() -> None:
    call = WantedCall("note", {"text": "x"}, comparators={"text": Compare.IGNORED})
    assert match_calls([call], [GotCall("note", {"text": 5})], ordered=False)
    assert match_calls([call], [GotCall("note")], ordered=False)


def test_the_assignment_is_optimal_where_a_greedy_one_is_not() -> None:
    general, special = WantedCall("get"), WantedCall("get", {"id": 1})
    assert match_calls(
        [general, special], [GotCall("get", {"id": 1}), GotCall("get", {"id": 2})], ordered=False
    )


def test_what_is_left_is_paired_with_the_nearest_of_its_name() -> None:
    far, near = GotCall("get", {"id": 1, "a": 1}), GotCall("get", {"id": 2, "a": 2})
    found = match_calls(
        wanted([far, near]),
        [GotCall("get", {"id": 2, "a": 3}), GotCall("get", {"id": 1, "a": 3})],
        ordered=False,
    )
    assert found.lines == (
        "get (wanted at 0, made at 1): /a: wanted 1, got 3",
        "get (wanted at 1, made at 0): /a: wanted 2, got 3",
    )


@given(CALLS, CALLS, st.booleans())
@settings(max_examples=300)
def test_a_match_agrees_with_trying_every_assignment(
    ours: list[GotCall],
    made: list[GotCall],
    ordered: bool,  # noqa: FBT001  drawn
) -> None:
    found = match_calls(wanted(ours), made, ordered=ordered)
    short, long = sorted((ours, made), key=len)
    best = max(
        sum(one == other for one, other in zip(short, chosen, strict=True))
        for chosen in permutations(long, len(short))
    )
    assert len(found.pairs) == best
    assert bool(found) is (ours == made if ordered else best == len(ours) == len(made))
    assert bool(found) is (found.reason == "") is (found.score == 1)
    assert len(found.missing) + len(found.pairs) == len(ours)
    assert len(found.unexpected) + len(found.pairs) == len(made)


@given(CALLS, CALLS)
def test_matching_is_symmetric(ours: list[GotCall], made: list[GotCall]) -> None:
    for ordered in (True, False):
        there = match_calls(wanted(ours), made, ordered=ordered)
        back = match_calls(wanted(made), ours, ordered=ordered)
        assert (there.score, there.verdict) == (back.score, back.verdict)


@given(CALLS, st.data())
def test_the_order_of_unordered_calls_does_not_matter(calls: list[GotCall], data: st.DataObject) -> None:
    assert match_calls(wanted(calls), data.draw(st.permutations(calls)), ordered=False).score == 1


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
def test_an_assignment_costs_the_least(costs: list[list[int]]) -> None:
    pairs = assignment(costs)
    assert sorted(row for row, _ in pairs) == sorted(column for _, column in pairs) == list(range(len(costs)))
    least = min(
        sum(costs[row][column] for row, column in enumerate(order))
        for order in permutations(range(len(costs)))
    )
    assert sum(costs[row][column] for row, column in pairs) == least


def test_fifty_by_fifty_is_quick() -> None:
    made = [GotCall("get", {"id": n % 7, "page": n % 3}) for n in range(50)]
    begin = time.process_time()
    assert match_calls(wanted(made), list(reversed(made)), ordered=False).score == 1
    assert time.process_time() - begin < 5
