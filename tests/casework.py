"""A public case as the product takes it: its transcript, tools, contract and reported ledger. Nothing is judged here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtrail.ledgers import Finding, Ledger, Overall, ToolSpec
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import Decided, ToolCall
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.trajectory import Sees, Trajectory
from sandtrail.ledgers.words import Grade
from sandtrail.sandbox.auditing import trajectory_of
from sandtrail.sandbox.interchange.contracts import contract_of
from sandtrail.sandbox.interchange.detect import read_document
from sandtrail.sandbox.interchange.tools import tools_of
from sandtrail.sandbox.reported import reported_ledger
from sandtrail.scenarios import Contract
from sandtrail.scenarios.judge import Verdict, judge

FOLDER = Path(__file__).parent / "cases"


def case(name: str) -> dict[str, Any]:
    (file,) = FOLDER.glob(f"{name}*.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Judged:
    """What the product says of a case."""

    overall: Overall
    findings: tuple[Finding, ...]
    verdict: Verdict | None = None
    trajectory: Trajectory | None = None

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def places(self, code: str) -> list[str]:
        return [finding.at for finding in self.findings if finding.code == code]


def judged(given: Mapping[str, Any]) -> Judged:
    """A transcript in its envelope: legal or not at all; then read and judged, all of it by the product."""
    recordings = list(read_document(given, "case"))
    flaws = tuple(flaw for recording in recordings for flaw in recording.flaws)
    if flaws:
        return Judged(overall_of(flaws), flaws)
    (recording,) = recordings
    trajectory = trajectory_of(recording)
    verdict = judge(recording.contract or Contract(), trajectory)
    return Judged(verdict.overall, verdict.findings, verdict, trajectory)


def spec_of(tool: Mapping[str, Any]) -> ToolSpec:
    (read,) = tools_of([tool])
    return read.spec


def books_only(lines: list[Mapping[str, Any]]) -> Trajectory:
    """A ledger without a conversation: only its effects can be judged."""
    ledger, _ = reported_ledger(lines, {})
    return Trajectory("case", "recorded", 0, 1, (), ledger, sees=frozenset({Sees.HTTP}))


def decided(decision: Decided) -> Trajectory:
    """One decision, and nothing else."""
    return Trajectory("case", "recorded", 0, 1, (decision,), Ledger(Book("none", {}), grade=Grade.UNSEEN))


def call_named(trajectory: Trajectory, call_id: str) -> str:
    """Where findings about a call are, by the id it has in the transcript."""
    return next(made.at for made in trajectory.made if made.call.id == call_id)


__all__ = ["ToolCall", "books_only", "call_named", "case", "contract_of", "decided", "judged", "spec_of"]
