"""The judges together: pure functions of (contract, trajectory), each finding with its place, reason and evidence.

    judge(contract, trajectory) -> Verdict

They read the books, not the agent's words; words are read only for what an answer claims and states. They run again on
a saved trajectory, with no world and no network. Boundaries are scored apart; the headline is the worst of them. What a
trajectory does not show is `not_evaluable`, and no pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from sandtrail.ledgers.book import Records
from sandtrail.ledgers.findings import Finding, overall_of
from sandtrail.ledgers.trajectory import Ended, Sees, Trajectory
from sandtrail.ledgers.words import Grade, Outcome, Overall, Severity
from sandtrail.scenarios import effects as side_effects
from sandtrail.scenarios.arguments import arguments, tenants
from sandtrail.scenarios.claims import claims
from sandtrail.scenarios.conduct import conduct
from sandtrail.scenarios.contract import Contract
from sandtrail.scenarios.recovery import Recovered, Recovery, recovery, recovery_of
from sandtrail.scenarios.retries import retries
from sandtrail.scenarios.selection import FirstDecision, choices, first_decision
from sandtrail.scenarios.sequence import endings, sequence

VERSION = 1
"""Counts up when a judge says something else about the same trajectory."""

Judge = Callable[[Contract, Trajectory], Iterator[Finding]]

BOUNDARIES: Mapping[str, tuple[Judge, ...]] = {
    "selection": (choices,),
    "arguments": (arguments, tenants),
    "sequence": (sequence, endings),
    "effects": (side_effects.effects, side_effects.tried, retries, side_effects.foreign),
    "conduct": (conduct,),
    "claims": (claims,),
}
"""The judges by the boundary they look at."""

NEEDS: Mapping[str, Sees] = {
    "selection": Sees.TOOLS,
    "arguments": Sees.TOOLS,
    "sequence": Sees.TOOLS,
}
"""What a trajectory must show for a boundary to be judged."""


@dataclass(frozen=True)
class Verdict:
    """What is to be said of a run: all findings (gravest first), and each boundary by itself."""

    findings: tuple[Finding, ...]
    first: FirstDecision | None
    recovery: Recovered
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    not_evaluable: tuple[str, ...] = ()

    @property
    def overall(self) -> Overall:
        """The worst of it."""
        found = overall_of(self.findings)
        good = found in {Overall.PASS, Overall.WARN}
        return Overall.NOT_EVALUABLE if good and "effects" in self.not_evaluable else found

    @property
    def unexpected_writes(self) -> int:
        """How many committed effects the contract does not allow."""
        return self.counts.get("unauthorized", 0)

    def graver(self, than: Severity = Severity.INFO) -> Records[Finding]:
        """The findings that weigh more than a severity."""
        return Records(finding for finding in self.findings if finding.severity.rank > than.rank)


def judge(contract: Contract, trajectory: Trajectory, /) -> Verdict:
    """Everything that is to be said of a run."""
    blind = tuple(name for name, needed in NEEDS.items() if needed not in trajectory.sees)
    unkept = contract.writes_wanted and trajectory.ledger.grade not in {Grade.PROVED, Grade.REPORTED}
    found: list[Finding] = [*trajectory.ledger.verify(), *_surroundings(contract, trajectory)]
    for name, judges in BOUNDARIES.items():
        if name not in blind:
            found += [finding for one in judges for finding in one(contract, trajectory)]
    excused = _MISSED if _cut_short(trajectory) else _UNKEPT if unkept else frozenset[str]()
    found = [finding for finding in found if finding.code not in excused]
    first = None
    if "selection" not in blind:
        first = first_decision(contract, trajectory, _bad_arguments(trajectory, found))
        found += first.findings if first else ()
    recovered = recovery_of(contract, trajectory, _wrong_attempts(trajectory, found))
    found += recovery(recovered)
    return Verdict(
        sorted_findings(found),
        first.category if first else None,
        recovered,
        side_effects.counts(contract, trajectory),
        (*blind, "effects") if unkept else blind,
    )


_MISSED = frozenset(
    {
        "effect.missing",
        "answer.missing",
        "call.missing",
        "handoff.missing",
        "refusal.missing",
        "clarification.missing",
    }
)
"""What a run that was cut short by the harness cannot be held to."""

_UNKEPT = frozenset({"effect.missing"})
"""What cannot be said where nobody kept books."""


def _cut_short(trajectory: Trajectory) -> bool:
    """Whether a provider, a server or a stop ended the run before the agent could."""
    return trajectory.ended in {Ended.PROVIDER_ERROR, Ended.TOOLS_DROPPED, Ended.CANCELLED}


def judge_first(contract: Contract, trajectory: Trajectory, /) -> Verdict:
    """Only the first decision: for selection datasets, and for runs that stop there."""
    found = [*choices(contract, trajectory), *arguments(contract, trajectory), *endings(contract, trajectory)]
    first = first_decision(contract, trajectory, _bad_arguments(trajectory, found))
    found += first.findings if first else ()
    found += _ambiguous(contract)
    return Verdict(
        sorted_findings(found), first.category if first else None, Recovered(Recovery.INCONCLUSIVE)
    )


def sorted_findings(found: list[Finding]) -> tuple[Finding, ...]:
    """The findings, each once (code, place, reason) and the gravest first; of equal ones in the order they came."""
    once = dict.fromkeys((f.code, f.at, f.reason) for f in found)
    kept = {(f.code, f.at, f.reason): f for f in reversed(found)}
    return tuple(sorted((kept[key] for key in once), key=lambda finding: -finding.severity.rank))


def _surroundings(contract: Contract, trajectory: Trajectory) -> Iterator[Finding]:
    """Requests that left for hosts no fake answers, faults that never fired, labels that disagree."""
    for attempt in trajectory.ledger.attempts(outcome=Outcome.BLOCKED):
        yield Finding("net.blocked", f"attempt {attempt.seq}", f"{attempt.operation} was refused")
    for attempt in trajectory.ledger.attempts(outcome=Outcome.CRASHED):
        reason = f"{attempt.operation}: {attempt.detail or attempt.rule or 'a bug in the service'}"
        yield Finding("harness.service_crashed", f"attempt {attempt.seq}", reason, (str(attempt),))
    for fault in trajectory.unfired if trajectory.ended is Ended.DONE else ():
        yield Finding("fault.not_fired", "final", f"{fault} never fired: this run says nothing about it")
    yield from _ambiguous(contract)


def _ambiguous(contract: Contract) -> Iterator[Finding]:
    if contract.ambiguous:
        said = "; ".join(f"{label.by}: {' or '.join(label.first) or 'no tool'}" for label in contract.labels)
        yield Finding("case.ambiguous", "step 1", f"people disagree on the right first tool: {said}")


_ARGUMENT_FAMILIES = ("args.", "provenance.", "money.", "time.")
_WRONG_EFFECTS = ("effect.wrong_", "money.scale")


def _bad_arguments(trajectory: Trajectory, found: list[Finding]) -> frozenset[str]:
    """The places of calls whose arguments are wrong, or led to a wrong effect."""
    grave = [finding for finding in found if finding.severity.rank >= Severity.MINOR.rank]
    places = {f.at.split("/", 1)[0] for f in grave if f.code.startswith(_ARGUMENT_FAMILIES)}
    attempts = {f.at for f in grave if f.code.startswith(_WRONG_EFFECTS)}
    for made in trajectory.made:
        if made.answered and f"attempt {made.answered.attempt}" in attempts:
            places.add(made.at)
    return frozenset(places)


_WRONG_CALLS = (
    "selection.wrong",
    "selection.forbidden",
    "selection.unknown",
    "selection.unavailable",
    *_ARGUMENT_FAMILIES,
)


def _wrong_attempts(trajectory: Trajectory, found: list[Finding]) -> frozenset[int]:
    """The attempts of calls that were judged wrong."""
    places = {
        f.at.split("/", 1)[0]
        for f in found
        if f.severity.rank >= Severity.MAJOR.rank and f.code.startswith(_WRONG_CALLS)
    }
    return frozenset(
        made.answered.attempt
        for made in trajectory.made
        if made.at in places and made.answered and made.answered.attempt is not None
    )
