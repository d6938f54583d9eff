"""Runs in a store: kept as they end, gone on with after an interruption, shown again later."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from sandtrail.ledgers import Severity
from sandtrail.ledgers.saved import BadTrajectory, dump, load
from sandtrail.sandbox.batch import Trial
from sandtrail.sandbox.cli import STORE, UsageError, print_json, print_lines
from sandtrail.sandbox.places import BadStore
from sandtrail.sandbox.results import Header, ResultsStore, TrialKey, TrialRow
from sandtrail.sandbox.runner import Result
from sandtrail.sandbox.summary import finding_as_json
from sandtrail.sandbox.trail import STYLES, Line, counted, cut, padded, wrapped
from sandtrail.scenarios import Scenario
from sandtrail.scenarios.digests import digest_of
from sandtrail.scenarios.judge import judge, judge_first


class Keeper:
    """Keeps one run in a store. `run` is its id, `seed` what its ids are drawn from."""

    def __init__(self, store: ResultsStore, run: str, seed: int) -> None:
        self._store, self.run, self.seed = store, run, seed
        self.place = store.place

    @classmethod
    def opened(cls, options: argparse.Namespace, seed: int) -> Keeper:
        """A new run, or the one to go on with. Raises UsageError where the store or the run cannot be used."""
        store = opened(options.store or STORE)
        if options.resume is None:
            command = " ".join(["sandtrail", *sys.argv[1:]])
            header = Header(options.agent, seed, command, _digest(options.agent), version("sandtrail"))
            return cls(store, store.begin(header), seed)
        try:
            row = store.run(options.resume)
        except LookupError as error:
            raise UsageError(str(error.args[0])) from None
        if row.agent != options.agent:
            raise UsageError(f"{row.id} was begun with --agent {row.agent}; go on with the same one")
        if row.agent_digest != _digest(options.agent):
            raise UsageError(f"{row.id}: the agent {row.agent} has changed since; begin a new run")
        return cls(store, row.id, row.seed)

    def earlier(self, trials: Sequence[Trial]) -> dict[int, Result]:
        """The results that a run of before left behind, by the numbers of this plan; judged again as they are read."""
        done = self._store.done(self.run)
        found: dict[int, Result] = {}
        for trial in trials:
            row = done.get(_key(trial))
            if row is None or not _same(row, trial.loaded.scenario):
                continue
            try:
                trajectory = load(row.trajectory)
            except BadTrajectory:
                continue  # it is run again
            scenario = trial.loaded.scenario
            verdict = (judge_first if scenario.first_only else judge)(scenario.expect, trajectory)
            found[trial.number] = Result(scenario, trajectory, verdict)
        return found

    def starts(self, trial: Trial) -> None:
        """On record before the first decision."""
        scenario = trial.loaded.scenario
        with _kept():
            self._store.started(
                self.run,
                _key(trial),
                revision=scenario.revision,
                seed=trial.seed,
                agent=trial.agent.name,
                digest=digest_of(scenario),
                agent_digest=_digest(trial.agent.name),
            )

    def ends(self, trial: Trial, result: Result) -> None:
        """On record as it ends."""
        usage = result.trajectory.usage
        findings = [finding_as_json(one) for one in result.verdict.findings]
        with _kept():
            self._store.ended(
                self.run,
                _key(trial),
                trajectory=dump(result.trajectory),
                findings=json.dumps(findings),
                overall=str(result.overall),
                first_decision=None if result.verdict.first is None else str(result.verdict.first),
                recovery=str(result.verdict.recovery.label),
                unexpected_writes=result.unexpected_writes,
                tokens=usage.tokens,
                cost=usage.cost,
            )

    def finish(self) -> None:
        """Every trial has ended."""
        self._store.finish(self.run)
        self._store.close()


@contextmanager
def _kept() -> Generator[None]:
    """A store that can no longer be written is told like any other place that cannot be used; what it holds is kept."""
    try:
        yield
    except BadStore as error:
        raise UsageError(f"{error} (what had ended before is kept)") from None


def opened(place: str) -> ResultsStore:
    """A store. Raises UsageError where the place is none."""
    try:
        return ResultsStore.open(place)
    except BadStore as error:
        raise UsageError(str(error)) from None


def _same(row: TrialRow, scenario: Scenario) -> bool:
    """Whether a trial was of this very scenario; one edited under its old revision is run again."""
    return row.revision == scenario.revision and row.digest in {"", digest_of(scenario)}


def _key(trial: Trial) -> TrialKey:
    return TrialKey(trial.loaded.scenario.id, trial.repetition)


def _digest(agent: str) -> str:
    """What the embedded agent's code is; others are named by themselves."""
    if agent != "lexical":
        return ""
    from sandtrail.sandbox.lexical import lexical_digest  # noqa: PLC0415  only for that agent

    return lexical_digest()


def show_run(place: str, name: str, *, as_json: bool) -> int:
    """Print a stored run."""
    store = opened(place)
    try:
        row = store.run(name)
    except LookupError as error:
        raise UsageError(str(error.args[0])) from None
    trials = store.trials(row.id)
    if as_json:
        print_json({"run": row.model_dump(), "trials": [_told(trial) for trial in trials]})
        return 0
    state = "ended" if row.ended else "interrupted: sandtrail run --resume " + row.id
    print_lines(
        [
            Line(f"{row.id}  {row.agent} · seed {row.seed} · {row.started} · {state}", "bold"),
            *(line for trial in trials for line in _lines(trial)),
            Line(counted(len(trials), "trial")),
        ]
    )
    return 0


def _lines(trial: TrialRow) -> Iterator[Line]:
    """One trial: what came of it, what was run, and each finding with the lines of the books that it rests on."""
    findings = [one for one in json.loads(trial.findings) if one["severity"] != Severity.INFO]
    name = cut(f"{trial.scenario}{f'#{trial.repetition}' if trial.repetition > 1 else ''}", 37)
    yield Line(cut(f"{padded(name, 38)}{trial.overall or trial.state:<16}{trial.first_decision or '-'}"))
    scenario = f"revision {trial.revision}{f' · digest {trial.digest[:12]}' if trial.digest else ''}"
    yield Line(cut(f"  {trial.agent}{' · ' if trial.agent else ''}{scenario}"), "dim")
    for one in findings:
        style = STYLES[Severity(one["severity"])]
        yield from wrapped(
            f"{one['severity']} {one['code']}  at {one['at']}: {one['reason']}", "  ", " " * 11, style
        )
        for said in one.get("evidence", ()):  # a store of before has none
            yield from wrapped(said, "    ", " " * 11, "dim")


def _told(trial: TrialRow) -> dict[str, Any]:
    shown = trial.model_dump(exclude={"trajectory"})
    shown["findings"] = json.loads(trial.findings)
    return shown
