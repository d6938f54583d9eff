"""Counts with intervals: a percentage alone says nothing about how little it rests on."""

from __future__ import annotations

from math import sqrt

Z95 = 1.959963984540054
"""The two-sided 95 % point of the standard normal distribution."""


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % score interval of a proportion (Wilson 1927); (0, 1) where nothing was tried.

    >>> [round(end, 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is no count")
    if trials == 0:
        return 0.0, 1.0
    share, z2 = successes / trials, Z95 * Z95
    middle = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    half = Z95 * sqrt(share * (1 - share) / trials + z2 / (4 * trials * trials)) / (1 + z2 / trials)
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    return low, 1.0 if successes == trials else min(1.0, middle + half)


def share_text(successes: int, trials: int) -> str:
    """A count with its interval in words.

    >>> share_text(8, 10), share_text(0, 0)
    ('8 of 10 (49-94 %)', '0 of 0')
    """
    if trials == 0:
        return "0 of 0"
    low, high = wilson(successes, trials)
    return f"{successes} of {trials} ({low * 100:.0f}-{high * 100:.0f} %)"
