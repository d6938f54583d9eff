"""Lint with a world at hand: a scenario's own flaws, what its prompts leak, and whether its reference run agrees with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sandtrail.ledgers import Finding
from sandtrail.ledgers.conversation import Briefed, UserSaid
from sandtrail.sandbox.agents import REFERENCE, OffScript, good_scripts, scripted
from sandtrail.sandbox.drive import briefing
from sandtrail.sandbox.loading import Loaded
from sandtrail.sandbox.runner import Result, run
from sandtrail.scenarios.effects import committed
from sandtrail.scenarios.linting import flaws, leaks, oracle_conflicts


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
        good = [
            scripted(scenario.id, name, folder=loaded.folder)
            for name in good_scripts(scenario.id, folder=loaded.folder)
        ]
    except OffScript as error:
        yield Finding("case.oracle_conflict", "scenario", str(error))
        return
    for agent in good:
        result = run(scenario, agent, seed=1)
        yield from _conflicts(result, "" if agent.name == REFERENCE else agent.name)
        heard = result.trajectory.conversation
        yield from leaks(scenario, [one.text for one in heard if isinstance(one, Briefed | UserSaid)])


def _conflicts(result: Result, name: str) -> Iterator[Finding]:
    """A run that is to be good, and that its own contract fails; `name` is empty for the reference."""
    told = f"the good run {name}" if name else "the reference run"
    conflicts = list(oracle_conflicts(result.scenario.expect, committed(result.trajectory)))
    for one in conflicts:  # each speaks of the reference
        yield replace(one, reason=one.reason.replace("the reference", told, 1)) if name else one
    if not conflicts:
        for finding in result.findings:
            reason = f"{told} does not pass: {finding.code} at {finding.at}: {finding.reason}"
            yield Finding("case.oracle_conflict", "expect", reason)
