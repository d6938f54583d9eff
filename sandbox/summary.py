"""What came of many runs, for people: a line for each, failures by severity, the counts, one line to repeat each.

80 columns; colour says the same as the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers import Finding, Overall, Severity
from sandtrail.ledgers.conversation import Usage
from sandtrail.sandbox.runner import Result
from sandtrail.sandbox.stats import share_text
from sandtrail.sandbox.trail import STYLES, WIDTH, WORDS, Line, again, counted, cut, padded, wrapped
from sandtrail.scenarios.recovery import Recovery

OTHERS = {
    Overall.HARNESS_FAULT: "harness",
    Overall.INCONCLUSIVE: "open",
    Overall.NOT_EVALUABLE: "unseen",
    Overall.INVALID_INPUT: "invalid",
}
"""Verdicts that say nothing of the agent, short enough for a column."""

_SHOWN = 5
"""So many failures of one code are told in full; the rest are counted."""


def finding_as_json(finding: Finding) -> dict[str, Any]:
    """A finding as every command tells it, with the lines of the books that it rests on."""
    return {
        "code": finding.code,
        "at": finding.at,
        "severity": finding.severity,
        "grade": finding.grade,
        "reason": finding.reason,
        "evidence": list(finding.evidence),
    }


def rows(results: Sequence[Result]) -> Iterator[Line]:
    """One line for each run, under a head."""
    yield Line(f"{'scenario':<31}{'verdict':<8}{'first decision':<15}{'gravest finding'}", "bold")
    for result in results:
        word, style = WORDS.get(result.overall, (OTHERS.get(result.overall, ""), "bold magenta"))
        first = str(result.verdict.first or "-").replace("_", " ")
        worst = result.findings[0].code if result.findings else _note(result)
        several = f"#{result.trajectory.repetition}" if result.trajectory.repetition > 1 else ""
        name = padded(f"{cut(result.scenario.id, 30 - len(several))}{several}", 31)
        yield Line(cut(f"{name}{padded(word, 8)}{padded(first, 15)}{worst}"), style.replace("bold ", ""))


def _note(result: Result) -> str:
    """What is to be said of a run without findings."""
    if result.scenario.idle_passes:
        return "(an idle agent passes)"
    recovered = result.verdict.recovery.label
    return "" if recovered is Recovery.NEVER_WRONG else f"({str(recovered).replace('_', ' ')})"


@dataclass(frozen=True, slots=True)
class Held:
    """One finding and the run it is held against."""

    result: Result
    finding: Finding


def failures(results: Sequence[Result]) -> Iterator[Line]:
    """The findings of runs that do not pass, gravest first and by code, each run with the line that repeats it."""
    held = [
        Held(result, finding)
        for result in results
        if result.overall not in {Overall.PASS, Overall.WARN}
        for finding in result.findings
    ]
    for severity in sorted(Severity, key=lambda one: -one.rank):
        mine = [one for one in held if one.finding.severity is severity]
        if not mine:
            continue
        yield Line("")
        yield Line(f"{severity}: {counted(len(mine), 'finding')}", STYLES[severity])
        for code in dict.fromkeys(one.finding.code for one in mine):
            yield from _told([one for one in mine if one.finding.code == code])


def _told(held: Sequence[Held]) -> Iterator[Line]:
    yield Line(f"  {held[0].finding.code}  {counted(len(held), 'time')}")
    for one in held[:_SHOWN]:
        text = f"{one.result.scenario.id}, {one.finding.at}: {one.finding.reason}"
        lines = list(wrapped(text, "    ", "      ", ""))
        yield from lines[:4] if len(lines) <= 4 else [*lines[:3], Line(cut(f"{lines[3].text} …", WIDTH))]
    if len(held) > _SHOWN:
        others = ", ".join(dict.fromkeys(one.result.scenario.id for one in held[_SHOWN:]))
        yield from wrapped(f"and {len(held) - _SHOWN} more: {others}", "    ", "      ", "dim")


def repeats(results: Sequence[Result], agent: str, more: str = "") -> Iterator[Line]:
    """One line for each run that does not pass: the command that repeats it. `more` are its other options."""
    failed = [result for result in results if result.overall not in {Overall.PASS, Overall.WARN}]
    if not failed:
        return
    yield Line("")
    yield Line("again, one by one:", "bold")
    for result in failed:
        yield from again(result, agent, more)


def totals(results: Sequence[Result]) -> Iterator[Line]:
    """The counts, with intervals: runs that pass, first decisions that are right, unexpected writes."""
    counting = [result for result in results if not result.scenario.idle_passes]
    idle = [result for result in results if result.scenario.idle_passes]
    passed = sum(_passes(result) for result in counting)
    yield Line("")
    yield Line(f"{share_text(passed, len(counting))} runs pass", "bold")
    if idle:
        said = f"{sum(map(_passes, idle))} of {len(idle)} pass that an agent passes by doing nothing"
        yield from wrapped(f"{said}; not counted above", "", "  ", "")
    firsts = [
        result.verdict.first
        for result in results
        if result.verdict.first and not result.scenario.expect.ambiguous
    ]
    yield Line(f"{share_text(sum(first.right for first in firsts), len(firsts))} first decisions are right")
    ambiguous = sum(result.scenario.expect.ambiguous for result in results)
    if ambiguous:
        said = f"{counted(ambiguous, 'run')} of cases that people label differently"
        told = "their first decisions are not counted here, and a tool that nobody named is still wrong"
        yield from wrapped(f"{said}: {told}", "", "  ", "")
    unexpected = sum(result.unexpected_writes for result in results)
    yield Line(f"unexpected writes {unexpected}", "bold red" if unexpected else "bold")
    usage = used(results)
    if usage.tokens:
        cost = "" if usage.cost is None else f" · {usage.cost / 1_000_000:.4f} USD"
        yield Line(f"{usage.input} tokens in, {usage.output} out, {usage.cache_read} from cache{cost}")


def _passes(result: Result) -> bool:
    return result.overall in {Overall.PASS, Overall.WARN}


def used(results: Iterable[Result]) -> Usage:
    """The tokens of all runs together."""
    total = Usage()
    for result in results:
        total = total + result.trajectory.usage
    return total


def because(results: Sequence[Result]) -> str:
    """Why a command exits as it does, in words."""
    found = [finding for result in results for finding in result.findings]
    if not results:
        return "nothing was evaluated"
    if not found:
        amiss = [str(result.overall).replace("_", " ") for result in results if not _passes(result)]
        told = ", ".join(f"{counted(amiss.count(word), 'run')} {word}" for word in dict.fromkeys(amiss))
        return told or "every run passes"
    weights = sorted({finding.severity for finding in found}, key=lambda severity: -severity.rank)
    by_weight = ", ".join(f"{sum(one.severity is weight for one in found)} {weight}" for weight in weights)
    return f"{counted(len(found), 'finding')}: {by_weight}"


def overall(verdicts: Sequence[Overall]) -> Overall:
    """The worst verdict of a set; a set without one is not evaluable.

    A fault of the harness in some runs does not hide that others fail: it is said beside them.
    """
    order = [
        Overall.INVALID_INPUT,
        Overall.FAIL,
        Overall.HARNESS_FAULT,
        Overall.INCONCLUSIVE,
        Overall.NOT_EVALUABLE,
        Overall.WARN,
    ]
    return next(
        (verdict for verdict in order if verdict in verdicts),
        Overall.PASS if verdicts else Overall.NOT_EVALUABLE,
    )
