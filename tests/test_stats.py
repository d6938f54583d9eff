"""Counts with intervals: held against the defining equation, and against what a reader may conclude."""

from __future__ import annotations

import re
from itertools import pairwise
from math import sqrt

import pytest

from sandtrail.sandbox.stats import Z95, share_text, wilson

COUNTS = [(k, n) for n in (1, 2, 5, 10, 37, 200, 5000) for k in {0, 1, n // 3, n // 2, n - 1, n}]


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
def test_the_ends_are_the_shares_that_the_score_test_just_keeps(successes: int, trials: int) -> None:
    share = successes / trials
    for end in wilson(successes, trials):
        if 0 < end < 1:
            assert abs(share - end) == pytest.approx(Z95 * sqrt(end * (1 - end) / trials))


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
def test_the_interval_holds_the_share_and_stays_within_0_and_1(successes: int, trials: int) -> None:
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1
    assert low < high


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
def test_what_fails_is_the_mirror_of_what_passes(successes: int, trials: int) -> None:
    low, high = wilson(successes, trials)
    assert wilson(trials - successes, trials) == pytest.approx((1 - high, 1 - low))


def test_more_trials_say_more() -> None:
    spans = [high - low for low, high in (wilson(n // 2, n) for n in (2, 10, 50, 250, 1250))]
    assert all(after < before for before, after in pairwise(spans))


def test_all_and_none_reach_the_end_and_never_close() -> None:
    assert wilson(20, 20)[1] == 1.0
    assert wilson(0, 20)[0] == 0.0
    assert 0.8 < wilson(20, 20)[0] < 0.9


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert share_text(0, 0) == "0 of 0"


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3), (1, 0), (0, -1)])
def test_what_is_no_count_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match=f"{successes} of {trials} is no count"):
        wilson(successes, trials)


@pytest.mark.parametrize(
    ("successes", "trials", "text"),
    [(1, 1, "1 of 1 (21-100 %)"), (0, 1, "0 of 1 (0-79 %)"), (8, 10, "8 of 10 (49-94 %)"), (50, 100, "50 of 100 (40-60 %)")],
)  # fmt: skip
def test_a_share_is_told_with_its_interval(successes: int, trials: int, text: str) -> None:
    assert share_text(successes, trials) == text


@pytest.mark.parametrize(("successes", "trials"), COUNTS)
def test_the_words_are_those_of_the_interval(successes: int, trials: int) -> None:
    found = re.fullmatch(rf"{successes} of {trials} \((\d+)-(\d+) %\)", share_text(successes, trials))
    assert found
    low, high = wilson(successes, trials)
    assert (int(found[1]), int(found[2])) == (round(low * 100), round(high * 100))
