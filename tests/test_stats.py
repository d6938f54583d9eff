"""Counts with intervals."""

from __future__ import annotations

import pytest

from sandtrail.sandbox.stats import share_text, wilson


@pytest.mark.parametrize(("successes", "trials"), [(-1, 3), (4, 3)])
def test_what_is_no_count_has_no_interval(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="is no count"):
        wilson(successes, trials)


def test_nothing_tried_says_nothing() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert share_text(0, 0) == "0 of 0"


@pytest.mark.parametrize("trials", [1, 7, 300])
def test_the_ends_are_those_of_a_share(trials: int) -> None:
    for successes in range(trials + 1):
        low, high = wilson(successes, trials)
        assert 0 <= low <= successes / trials <= high <= 1
