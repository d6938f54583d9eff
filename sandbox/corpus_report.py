"""How well a detector tells found arguments from bad ones on the labelled corpus.

    compared    several detectors over the same specimens, in one pass
    measured    one of them
    lines       what came out, in 80 columns

A false alarm is a legitimate argument that is called not grounded; a miss is a bad one that is called grounded. A bad one
that is caught under a code that no careful person would give it is misnamed: caught all the same, and counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol, TypeAlias

from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox.baselines import argument, substring, token_set
from sandtrail.sandbox.corpus import CENTS, CLASSES, Class, Specimen, specimens
from sandtrail.sandbox.trail import WIDTH, Line

MOST = 0.01
"""The share of false alarms, and of misses, from which the self-test fails."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a detector says of one argument. A detector without codes says only whether it is grounded."""

    grounded: bool
    verdict: str = ""


Detect: TypeAlias = Callable[[Trajectory, int, str], Said]


class Judgement(Protocol):
    """What a provenance engine says of one argument."""

    @property
    def call(self) -> int:
        """The call's number, from 1."""
        ...

    @property
    def pointer(self) -> str:
        """Where in its arguments."""
        ...

    @property
    def verdict(self) -> str:
        """The code."""
        ...

    @property
    def grounded(self) -> bool:
        """Whether the value is accounted for."""
        ...


def by(traced: Callable[[Trajectory], Sequence[Judgement]]) -> Detect:
    """A provenance engine as a detector. Of an argument that is left out it need not say anything.

    Raises LookupError where it says nothing of an argument that is there.
    """

    def detect(trajectory: Trajectory, call: int, pointer: str) -> Said:
        """What the engine says of one argument."""
        for one in traced(trajectory):
            if one.call == call and one.pointer == pointer:
                return Said(one.grounded, str(one.verdict))
        if argument(trajectory, call, pointer) in {None, ""}:
            return Said(grounded=True, verdict="omitted")
        raise LookupError(f"call {call}: nothing was said of the argument at {pointer}")

    return detect


ENGINE: Detect = by(provenance)
"""The shipped provenance engine."""


def _plain(grounded: Callable[[Trajectory, int, str], bool]) -> Detect:
    return lambda trajectory, call, pointer: Said(grounded(trajectory, call, pointer))


BASELINES: Mapping[str, Detect] = {"substring": _plain(substring), "token_set": _plain(token_set)}
"""The detectors to compare with, by name."""


@dataclass
class Tally:
    """What came out for one class: how many there were, and the seeds at which it came out wrong."""

    name: str
    bad: bool
    values: int = 0
    wrong: list[int] = field(default_factory=list[int])
    misnamed: list[int] = field(default_factory=list[int])
    verdicts: Counter[str] = field(default_factory=Counter[str])

    def count(self, specimen: Specimen, said: Said) -> None:
        """Add what a detector says of a specimen."""
        self.values += 1
        self.verdicts[said.verdict or ("grounded" if said.grounded else "not grounded")] += 1
        if said.grounded is specimen.bad:
            self.wrong.append(specimen.seed)
        elif specimen.bad and said.verdict and said.verdict not in specimen.verdicts:
            self.misnamed.append(specimen.seed)


@dataclass(frozen=True)
class Measured:
    """How one detector did. `seconds` is the detector's own time, without making the specimens."""

    per_class: tuple[Tally, ...] = ()
    seconds: float = 0.0

    @property
    def classes(self) -> int:
        """How many classes there were."""
        return len(self.per_class)

    @property
    def values(self) -> int:
        """How many arguments there were."""
        return sum(one.values for one in self.per_class)

    @property
    def false_alarms(self) -> float:
        """The share of the legitimate arguments that were called not grounded."""
        return _share(one for one in self.per_class if not one.bad)

    @property
    def misses(self) -> float:
        """The share of the bad arguments that were called grounded."""
        return _share(one for one in self.per_class if one.bad)

    @property
    def misnamed(self) -> float:
        """The share of the bad arguments that were caught under another code than the right ones."""
        bad = [one for one in self.per_class if one.bad]
        return sum(len(one.misnamed) for one in bad) / max(1, sum(one.values for one in bad))

    @property
    def accidental(self) -> float:
        """The share of invented amounts to the cent that were called grounded: derived by accident."""
        return _share(one for one in self.per_class if one.name in CENTS)

    @property
    def passed(self) -> bool:
        """Whether false alarms and misses are rare enough."""
        return self.false_alarms <= MOST and self.misses <= MOST

    def as_json(self) -> dict[str, float]:
        """The classes, the values and the two rates."""
        return {
            "classes": self.classes,
            "values": self.values,
            "false_alarm_rate": round(self.false_alarms, 5),
            "miss_rate": round(self.misses, 5),
        }

    def in_full(self) -> dict[str, float]:
        """The same with what is measured beside it, and the milliseconds for each value."""
        return self.as_json() | {
            "misnamed_rate": round(self.misnamed, 5),
            "accidental_rate": round(self.accidental, 5),
            "value_ms": round(self.seconds / max(1, self.values) * 1000, 4),
        }


def _share(tallies: Iterable[Tally]) -> float:
    """The wrong ones of all; none of none is 0."""
    counted = list(tallies)
    return sum(len(one.wrong) for one in counted) / max(1, sum(one.values for one in counted))


def measured(seeds: Iterable[int], detect: Detect, classes: Sequence[Class] = CLASSES) -> Measured:
    """What a detector says of every class at every seed, against the labels."""
    return compared(seeds, {"": detect}, classes)[""]


def compared(
    seeds: Iterable[int], detectors: Mapping[str, Detect], classes: Sequence[Class] = CLASSES
) -> dict[str, Measured]:
    """Several detectors over the same specimens; each is made once."""
    tallies = {name: {one.name: Tally(one.name, one.bad) for one in classes} for name in detectors}
    seconds = dict.fromkeys(detectors, 0.0)
    for specimen in specimens(seeds, classes):
        for name, detect in detectors.items():
            start = perf_counter()
            said = detect(specimen.trajectory, specimen.call, specimen.pointer)
            seconds[name] += perf_counter() - start
            tallies[name][specimen.cls].count(specimen, said)
    return {name: Measured(tuple(tallies[name].values()), seconds[name]) for name in detectors}


# -- in words --------------------------------------------------------------------------------------------------


def lines(found: Measured) -> Iterator[Line]:
    """One line for each class that came out wrong anywhere, the worst first, and the sum of it."""
    wrong = [one for one in found.per_class if one.wrong or one.misnamed]
    for one in sorted(wrong, key=lambda one: (-len(one.wrong), -len(one.misnamed), one.name)):
        yield from _class_lines(one)
    yield Line(summary(found), "bold" if found.passed else "bold red")


def _class_lines(one: Tally) -> Iterator[Line]:
    what = "missed" if one.bad else "false alarms"
    seeds = ", ".join(map(str, (one.wrong or one.misnamed)[:4]))
    said = f"{len(one.wrong)} {what}" if one.wrong else f"{len(one.misnamed)} misnamed"
    yield Line(
        f"{one.name:<32}{said} of {one.values}, seeds {seeds}"[:WIDTH], "red" if one.wrong else "yellow"
    )
    verdicts = ", ".join(f"{verdict} {count}" for verdict, count in one.verdicts.most_common(4))
    yield Line(f"    said: {verdicts}"[:WIDTH], "dim")


def summary(found: Measured) -> str:
    """What it comes to, in one line."""
    return (
        f"{found.classes} classes, {found.values} values: "
        f"{found.false_alarms:.2%} false alarms, {found.misses:.2%} missed"
    )


def table(found: Mapping[str, Measured]) -> Iterator[Line]:
    """The detectors beside each other."""
    yield Line(
        f"{'provenance: detector':<24}{'false alarms':>14}{'missed':>10}{'misnamed':>10}{'ms a value':>12}",
        "bold",
    )
    for name, one in found.items():
        yield Line(
            f"{name.replace('_', ' '):<24}{one.false_alarms:>14.2%}{one.misses:>10.2%}"
            f"{one.misnamed:>10.2%}{one.seconds / max(1, one.values) * 1000:>12.3f}"
        )
    some = next(iter(found.values()))
    yield Line(f"{some.classes} classes, {some.values} values in all", "dim")
