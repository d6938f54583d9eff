"""Near misses: corrupted copies of values that were seen.

edits(one, other)     optimal string alignment distance (Damerau 1964), 3 for everything further apart
nearest(value, known) the seen value that this one is a corrupted copy of
"""

from __future__ import annotations

import re
from collections.abc import Iterable

FURTHEST = 2
_SHORTEST = 6
_DENSE = 2


def edits(one: str, other: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours lie between two texts; 3 means more than 2.

    >>> edits("pay_7Q2M", "pay_7QM2"), edits("abc", "abc"), edits("abcdef", "uvwxyz")
    (1, 0, 3)
    """
    if abs(len(one) - len(other)) > FURTHEST:
        return FURTHEST + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for number, char in enumerate(one, start=1):
        earlier, before, row = before, row, [number]
        for place, twin in enumerate(other, start=1):
            best = min(before[place] + 1, row[place - 1] + 1, before[place - 1] + (char != twin))
            if number > 1 and place > 1 and char == other[place - 2] and twin == one[number - 2]:
                best = min(best, earlier[place - 2] + 1)
            row.append(best)
        if min(row) > FURTHEST:
            return FURTHEST + 1
    return min(row[-1], FURTHEST + 1)


def nearest(value: str, known: Iterable[str]) -> str | None:
    """The known value that is at most two edits away; None where there is none, or so many that it says nothing.

    Values of less than six characters (after a prefix like `pay_`) are too short to tell a slip from another value. Where
    more than two known values are equally near, they are neighbours by nature (HAT001, HAT002), and a slip shows nothing.

    >>> nearest("pay_7q2m9xkd", ["pay_7q2m9xdk", "pay_zzzzzzzz"])
    'pay_7q2m9xdk'
    """
    body = re.sub(r"^#|^[a-z]{2,12}_", "", value)
    if len(body) < _SHORTEST:
        return None
    found: list[tuple[int, str]] = []
    for other in known:
        if abs(len(other) - len(value)) <= FURTHEST and other != value:
            distance = edits(value, other)
            if 0 < distance <= FURTHEST:
                found.append((distance, other))
    if not found:
        return None
    closest = min(found)[0]
    return (
        min(found)[1] if len({other for distance, other in found if distance == closest}) <= _DENSE else None
    )
