"""What the self-test found out about the judges, in 80 columns: a line for each flaw and each label of recovery."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from sandtrail.sandbox.recoveries import Judged
from sandtrail.sandbox.trail import WIDTH, Line
from sandtrail.sandbox.zoo import Hunt, Sighting


def zoo_lines(found: Hunt) -> Iterator[Line]:
    """Every flaw: in how many scenarios it was named, and as what; what was missed stands below it."""
    for flaw, tried in groupby(found.sightings, key=lambda one: one.flaw):
        sightings = list(tried)
        named = sum(one.named for one in sightings)
        yield _marked(
            f"{named}/{len(sightings)} {flaw.name:<27} {_codes(sightings)}", ok=named == len(sightings)
        )
        for one in sightings:
            if not one.named:
                yield from _below(one.said)
    for flaw in found.homeless:
        yield _marked(f"0/0 {flaw.name}", ok=False)
        yield from _below("it fits no scenario")


def recovery_lines(found: Sequence[Judged]) -> Iterator[Line]:
    """Every label: how many runs were given it that should have it; the others stand below it."""
    wanted = Counter(one.case.label for one in found)
    right = Counter(one.case.label for one in found if one.agrees)
    for label, count in wanted.items():
        yield _marked(f"{right[label]}/{count} {label.replace('_', ' ')}", ok=right[label] == count)
        for one in found:
            if one.case.label is label and not one.agrees:
                yield from _below(f"{one.case.name}: {one.said}")


def _codes(sightings: Sequence[Sighting]) -> str:
    codes = list(dict.fromkeys(one.strike.code for one in sightings))
    return codes[0] + (f" (+{len(codes) - 1})" if len(codes) > 1 else "")


def _marked(text: str, *, ok: bool) -> Line:
    return Line(f"{'named ' if ok else 'MISSED'} {text}", "" if ok else "bold red")


def _below(text: str) -> Iterator[Line]:
    for line in textwrap.wrap(text, WIDTH, initial_indent=" " * 7, subsequent_indent=" " * 9):
        yield Line(line, "red")
