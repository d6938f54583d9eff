"""Canonical comparison and matching. Nothing here reads words or asks a model.

    equal, differences        two JSON values; True is not 1, "5" is not 5, 12 equals 12.0, integers stay exact
    row_differences           rows by key, cell by cell
    match_calls -> Match      wanted calls against made ones, by an optimal assignment: repeated calls are counted

A Match says in words what is missing, what was not expected, and which position is out of order; where it does not
hold its reason is never empty.

>>> equal({"n": 12}, {"n": 12.0}), equal(True, 1), equal(9007199254740993, 9007199254740992.0)
(True, False, False)
>>> web, query = ("web", {}), ("query", {})
>>> match_calls([WantedCall(*web), WantedCall(*query)], [GotCall(*query), GotCall(*web)], ordered=True).reason
'position 0: expected web, got query; query at 0 and web at 1 are swapped'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from sandtrail.scenarios.canonical import (
    ABSENT,
    Absent,
    Difference,
    differences,
    equal,
    row_differences,
    shown,
    walk,
)
from sandtrail.scenarios.contract import Compare

__all__ = [
    "ABSENT",
    "Absent",
    "Difference",
    "GotCall",
    "Match",
    "MatchVerdict",
    "WantedCall",
    "argument_differences",
    "assignment",
    "differences",
    "equal",
    "match_calls",
    "row_differences",
]


@dataclass(frozen=True)
class WantedCall:
    """A call that is wanted. `arguments` None wants nothing of them; an empty object wants that there are none.

    `comparators` loosen single arguments (an ignored one may be anything, or be left out), `defaults` are what the
    tool takes where an argument is left out: writing such a value out is the same as leaving it out.
    """

    name: str
    arguments: Mapping[str, Any] | None = None
    comparators: Mapping[str, Compare] = field(default_factory=dict[str, Compare])
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class GotCall:
    """A call that was made."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])


def argument_differences(wanted: WantedCall, got: GotCall) -> tuple[Difference, ...]:
    """Where a call's arguments are not the wanted ones; the names of the two are not looked at."""
    if wanted.arguments is None:
        return ()
    ours, theirs = _without_defaults(wanted.arguments, wanted), _without_defaults(got.arguments, wanted)
    found: list[Difference] = []
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        compare = wanted.comparators.get(name, Compare.EXACT)
        one, other = ours.get(name, ABSENT), theirs.get(name, ABSENT)
        if not equal(one, other, compare=compare):
            found += walk(one, other, compare, f"/{name}")
    return tuple(found)


def _without_defaults(arguments: Mapping[str, Any], wanted: WantedCall) -> dict[str, Any]:
    return {
        name: value
        for name, value in arguments.items()
        if name not in wanted.defaults or not equal(wanted.defaults[name], value)
    }


class MatchVerdict(StrEnum):
    """Equal; the same calls in another order; or other calls."""

    EQUAL = "match.equal"
    DIFFERS = "match.differs"
    ORDER = "match.order"


@dataclass(frozen=True)
class Match:
    """What became of holding made calls against wanted ones. True just where nothing is wrong.

    `pairs` are places (wanted, made) of calls that are the same; `missing` and `unexpected` the places that are in no
    pair. `matched` counts the pairs (in an ordered match: those that stand in the wanted order), `score` is its share
    of the longer side, and full where nothing was wanted and nothing made. `unchecked` names wanted calls whose
    arguments are not demanded.
    """

    verdict: MatchVerdict
    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    unexpected: tuple[int, ...]
    matched: int
    of: int
    lines: tuple[str, ...]
    unchecked: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.verdict is MatchVerdict.EQUAL

    @property
    def score(self) -> Fraction:
        """From 0 to 1, exactly."""
        return Fraction(self.matched, self.of) if self.of else Fraction(1)

    @property
    def reason(self) -> str:
        """Everything that is wrong, in words; empty just where nothing is."""
        return "; ".join(self.lines)


def match_calls(wanted: Sequence[WantedCall], got: Sequence[GotCall], *, ordered: bool) -> Match:
    """Hold made calls against wanted ones, each at most once.

    The assignment makes as many pairs of the same calls as can be made, and of what is left pairs calls of one name
    with the fewest differences, which is how their reasons are told.
    """
    assigned = [(w, g) for w, g in assignment(_costs(wanted, got)) if w < len(wanted) and g < len(got)]
    alike = [[_same(one, other) for other in got] for one in wanted]
    pairs = tuple((w, g) for w, g in assigned if alike[w][g])
    near = [(w, g) for w, g in assigned if not alike[w][g] and wanted[w].name == got[g].name]
    missing = tuple(sorted(set(range(len(wanted))) - {w for w, _ in pairs}))
    unexpected = tuple(sorted(set(range(len(got))) - {g for _, g in pairs}))
    in_order = _longest_in_order(alike) if ordered else len(pairs)
    lines = [*_wrong(wanted, got, near, missing, unexpected)]
    if in_order < len(pairs):
        lines += _out_of_order(wanted, got, alike, pairs)
    differs = bool(missing or unexpected)
    verdict = MatchVerdict.DIFFERS if differs else MatchVerdict.ORDER if lines else MatchVerdict.EQUAL
    unchecked = tuple(dict.fromkeys(call.name for call in wanted if call.arguments is None))
    of = max(len(wanted), len(got))
    return Match(verdict, pairs, missing, unexpected, in_order, of, tuple(lines), unchecked)


def _same(wanted: WantedCall, got: GotCall) -> bool:
    return wanted.name == got.name and not argument_differences(wanted, got)


def _costs(wanted: Sequence[WantedCall], got: Sequence[GotCall]) -> list[list[int]]:
    """What each pair costs: one that is not the same outweighs all other things, then one of another name."""
    size = max(len(wanted), len(got))
    apart = [
        [len(argument_differences(one, other)) if one.name == other.name else -1 for other in got]
        for one in wanted
    ]
    most = max((count for row in apart for count in row), default=0)
    other_name = (most + 1) * (size + 1)
    not_same = other_name * (size + 1)
    costs = [[not_same + other_name] * size for _ in range(size)]
    for w, row in enumerate(apart):
        for g, count in enumerate(row):
            if count >= 0:
                costs[w][g] = count + (not_same if count else 0)
    return costs


def assignment(costs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The (row, column) pairs of least cost in a square table, each row and column once.

    The Hungarian method in its O(n³) form with potentials and shortest augmenting paths (Kuhn 1955, Munkres 1957),
    in integers.

    >>> assignment([[4, 1], [2, 9]])
    [(0, 1), (1, 0)]
    """
    size = len(costs)
    rows, columns = [0] * (size + 1), [0] * (size + 1)  # the potentials; place 0 is the virtual start
    row_of = [0] * (size + 1)
    for row in range(1, size + 1):
        row_of[0] = row
        came_from = _augment(costs, rows, columns, row_of)
        column = came_from.pop()
        while column:
            row_of[column] = row_of[came_from[column]]
            column = came_from[column]
    return sorted((row_of[column] - 1, column - 1) for column in range(1, size + 1))


def _augment(
    costs: Sequence[Sequence[int]], rows: list[int], columns: list[int], row_of: list[int]
) -> list[int]:
    """The shortest path from the virtual column 0 to a free one: each column's predecessor, then the free column."""
    size = len(costs)
    least: list[int | None] = [None] * (size + 1)
    came_from, used = [0] * (size + 1), [False] * (size + 1)
    here = 0
    while row_of[here]:
        used[here] = True
        row, step, nearest = row_of[here], None, 0
        for column in range(1, size + 1):
            if used[column]:
                continue
            cost = costs[row - 1][column - 1] - rows[row] - columns[column]
            known = least[column]
            if known is None or cost < known:
                least[column], came_from[column], known = cost, here, cost
            if step is None or known < step:
                step, nearest = known, column
        step = step or 0
        for column in range(size + 1):
            known = least[column]
            if used[column]:
                rows[row_of[column]] += step
                columns[column] -= step
            elif known is not None:
                least[column] = known - step
        here = nearest
    return [*came_from, here]


def _longest_in_order(alike: Sequence[Sequence[bool]]) -> int:
    """The most pairs of the same calls that stand in one order on both sides (longest common subsequence)."""
    best = [0] * (len(alike[0]) + 1 if alike else 1)
    for row in alike:
        above = best[:]
        for place, fits in enumerate(row):
            best[place + 1] = max(above[place] + 1 if fits else 0, above[place + 1], best[place])
    return best[-1]


# -- reasons -----------------------------------------------------------------------------------------------


def _wrong(
    wanted: Sequence[WantedCall],
    got: Sequence[GotCall],
    near: Sequence[tuple[int, int]],
    missing: Sequence[int],
    unexpected: Sequence[int],
) -> Iterator[str]:
    """What is missing and what was not expected; a call that is near another is told with its differences."""
    for w, g in near:
        said = ", ".join(map(str, argument_differences(wanted[w], got[g])))
        yield f"{wanted[w].name} (wanted at {w}, made at {g}): {said}"
    told = {w for w, _ in near}, {g for _, g in near}
    for w in missing:
        if w not in told[0]:
            yield f"missing: {_call(wanted[w].name, wanted[w].arguments)}, wanted at {w}"
    for g in unexpected:
        if g not in told[1]:
            yield f"unexpected call: {_call(got[g].name, got[g].arguments)}, made at {g}"


def _call(name: str, arguments: Mapping[str, Any] | None) -> str:
    if arguments is None:
        return f"{name}(any arguments)"
    return f"{name}({', '.join(f'{key}={shown(value)}' for key, value in arguments.items())})"


def _out_of_order(
    wanted: Sequence[WantedCall],
    got: Sequence[GotCall],
    alike: Sequence[Sequence[bool]],
    pairs: Sequence[tuple[int, int]],
) -> Iterator[str]:
    """The positions, among the calls that are there on both sides, that hold another call than they must."""
    ours, theirs = [w for w, _ in pairs], sorted(g for _, g in pairs)
    settled: set[int] = set()
    for here, (w, g) in enumerate(zip(ours, theirs, strict=True)):
        if here in settled or alike[w][g]:
            continue
        later = [place for place in range(here + 1, len(ours)) if alike[w][theirs[place]]]
        swapped = next((place for place in later if alike[ours[place]][g]), None)
        said = f"position {w}: expected {_told(wanted[w], got[g])}, got {_told(got[g], wanted[w])}"
        if swapped is not None:
            settled.add(swapped)
            said += f"; {got[g].name} at {g} and {got[theirs[swapped]].name} at {theirs[swapped]} are swapped"
        elif later:
            said += f"; {wanted[w].name} came at {theirs[later[0]]}"
        yield said


def _told(call: WantedCall | GotCall, other: WantedCall | GotCall) -> str:
    """A call's name, with its arguments where the name alone would not tell the two apart."""
    return call.name if call.name != other.name else _call(call.name, call.arguments)
