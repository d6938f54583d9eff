"""The self-test: what is seeded must be named, and what is honest must not be accused.

ledger     faults seeded into the evidence: the expected rule at the expected place, and no other of that severity
           beside it. Where several guards stand behind each other, they are lifted one at a time, so that each is
           seen to hold alone
judges     flawed agents (`zoo`), in scenarios that they fit: the expected finding at the expected place
recovery   runs with something wrong in them (`recoveries`), each with the label that a careful person gives
provenance the labelled corpus of arguments (`corpus`): found ones must not be accused, bad ones must not pass
honest     doings of services, and the reference runs of all scenarios: they must raise nothing
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sandtrail.fakes import World
from sandtrail.fakes.store import Guards
from sandtrail.ledgers import Fault, FaultPlan, Finding, WorldSpec
from sandtrail.ledgers.specs import FaultKind
from sandtrail.sandbox.corpus_report import ENGINE, Detect, Measured, lines, measured, summary
from sandtrail.sandbox.recoveries import Judged, judged
from sandtrail.sandbox.saboteur import SPEC, Saboteur
from sandtrail.sandbox.trail import Line
from sandtrail.sandbox.zoo import Hunt, hunt
from sandtrail.sandbox.zoo_evidence import ALL, Scene, Seeded, honest_scenes, ledger_faults
from sandtrail.sandbox.zoo_report import recovery_lines, zoo_lines

SEEDS = range(16)
"""The seeds at which the corpus is played here, each class once at each; `sandtrail bench` plays 200 of them."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the books said of one seeded fault."""

    fault: Seeded
    findings: tuple[Finding, ...]

    @property
    def named(self) -> bool:
        """Exactly the expected code, at the expected place, and nothing as grave beside it."""
        grave = [finding for finding in self.findings if finding.severity == self.expected.severity]
        return bool(grave) and all(
            finding.code == self.fault.code and finding.at == self.fault.at for finding in grave
        )

    @property
    def expected(self) -> Finding:
        """The finding that was to be made."""
        return Finding(self.fault.code, self.fault.at, self.fault.name)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """All that the self-test found out."""

    ledger: tuple[Checked, ...]
    false_alarms: tuple[tuple[str, tuple[Finding, ...]], ...]
    honest: int
    judges: Hunt = field(default_factory=Hunt)
    recovery: tuple[Judged, ...] = ()
    provenance: Measured = field(default_factory=Measured)

    @property
    def passed(self) -> bool:
        """Everything seeded was named, nothing honest was accused; the corpus with very few exceptions."""
        return not self.missed and not self.false_alarms

    @property
    def groups(self) -> dict[str, dict[str, int]]:
        """How many were seeded and how many were named, group by group."""
        counts = {
            "ledger": (len(self.ledger), sum(checked.named for checked in self.ledger)),
            "judges": (len(self.judges.sightings), self.judges.named),
            "recovery": (len(self.recovery), sum(one.agrees for one in self.recovery)),
        }
        return {group: {"seeded": seeded, "named": named} for group, (seeded, named) in counts.items()}

    @property
    def missed(self) -> tuple[str, ...]:
        """What was not named, group after group."""
        return (
            *(checked.fault.name for checked in self.ledger if not checked.named),
            *self.judges.missed,
            *(f"{one.case.name}: {one.said}" for one in self.recovery if not one.agrees),
            *(() if self.provenance.passed else (f"provenance: {summary(self.provenance)}",)),
        )

    def as_json(self) -> dict[str, object]:
        """The counts, the rates of the corpus, and what was missed."""
        groups = self.groups
        return {
            "seeded": sum(group["seeded"] for group in groups.values()),
            "named": sum(group["named"] for group in groups.values()),
            "false_alarms": len(self.false_alarms),
            "honest": self.honest,
            "groups": {**groups, "provenance": self.provenance.as_json()},
            "missed": list(self.missed),
        }


def selftest(detect: Detect = ENGINE) -> Outcomes:
    """Seed everything, and say what was named; `detect` is asked where each argument of the corpus came from."""
    ledger = tuple(Checked(fault, _played(fault.scene, fault.guards)) for fault in ledger_faults())
    honest = [(name, _played(scene, ALL)) for name, scene in honest_scenes()]
    judges = hunt()
    accused = [(f"the reference run of {name}", findings) for name, findings in judges.accused]
    alarms = (*(one for one in honest if one[1]), *accused)
    return Outcomes(
        ledger, alarms, len(honest) + judges.references, judges, judged(), measured(SEEDS, detect)
    )


def _played(scene: Scene, guards: Guards) -> tuple[Finding, ...]:
    late = FaultPlan((Fault(FaultKind.HELD_OPEN, "act", symbol="$item.three"),))
    spec = WorldSpec(SPEC.entities, faults=late)
    with World.open(spec, 7, services=(Saboteur,), guards=guards) as world:
        return scene(world)


def report(outcomes: Outcomes) -> Iterator[Line]:
    """The outcome as tables: what was seeded, what was said of it."""
    for checked in outcomes.ledger:
        mark = "named " if checked.named else "MISSED"
        fault = checked.fault
        said = f"{mark} {fault.code.removeprefix('ledger.'):<18} {fault.name}"
        yield Line(said, "" if checked.named else "bold red")
        if not checked.named:
            said = "; ".join(f"{finding.code} at {finding.at}" for finding in checked.findings) or "nothing"
            yield Line(f"       wanted at {fault.at}, found {said}", "red")
    yield Line("")
    yield from zoo_lines(outcomes.judges)
    yield Line("")
    yield from recovery_lines(outcomes.recovery)
    yield Line("")
    yield from lines(outcomes.provenance)
    yield from _summary(outcomes)


def _summary(outcomes: Outcomes) -> Iterator[Line]:
    """False alarms, a line for each group, and what it comes to."""
    for name, findings in outcomes.false_alarms:
        yield Line(f"FALSE ALARM on {name}: {findings[0]}", "bold red")
    yield Line("")
    said = {"ledger": "seeded faults named", "judges": "flawed runs named", "recovery": "labels agreed with"}
    for group, count in outcomes.groups.items():
        yield Line(f"{group:<8}  {count['named']} of {count['seeded']} {said[group]}", "bold")
    yield Line(f"corpus    {summary(outcomes.provenance)}", "bold")
    yield Line(f"honest    {outcomes.honest} scenes, {len(outcomes.false_alarms)} false alarms", "bold")
    yield Line(
        "exit 0: everything seeded is named"
        if outcomes.passed
        else "exit 3: the evidence or a judge has a gap; do not trust a run"
    )
