"""Lint with a world at hand: a scenario's own flaws, what its prompts leak, and whether its reference run agrees with it."""

from __future__ import annotations

from collections.abc import Iterator

from sandtrail.ledgers import Finding
from sandtrail.ledgers.conversation import Briefed, UserSaid
from sandtrail.sandbox.agents import OffScript, scripted
from sandtrail.sandbox.drive import briefing
from sandtrail.sandbox.loading import Loaded
from sandtrail.sandbox.runner import Result, run
from sandtrail.scenarios.effects import committed
from sandtrail.scenarios.linting import flaws, leaks, oracle_conflicts

REFERENCE = "scripted"
"""The script that is a scenario's reference run."""


def lint(loaded: Loaded) -> Iterator[Finding]:
    """Everything that is wrong with a scenario, each at its part, and once."""
    yield from dict.fromkeys(_found(loaded))


def _found(loaded: Loaded) -> Iterator[Finding]:
    scenario = loaded.scenario
    yield from flaws(scenario)
    told = [briefing(scenario), *scenario.user.texts()]
    yield from leaks(scenario, told)
    if scenario.first_only:
        return
    try:
        reference = run(scenario, scripted(scenario.id, REFERENCE, folder=loaded.folder), seed=1)
    except OffScript as error:
        yield Finding("case.oracle_conflict", "scenario", str(error))
        return
    yield from _reference(reference)
    seen = [
        message.text
        for message in reference.trajectory.conversation
        if isinstance(message, Briefed | UserSaid)
    ]
    yield from leaks(scenario, seen)


def _reference(result: Result) -> Iterator[Finding]:
    """A reference run that its own contract fails."""
    conflicts = list(oracle_conflicts(result.scenario.expect, committed(result.trajectory)))
    yield from conflicts
    if not conflicts:
        for finding in result.findings:
            reason = f"the reference run does not pass: {finding.code} at {finding.at}: {finding.reason}"
            yield Finding("case.oracle_conflict", "expect", reason)
