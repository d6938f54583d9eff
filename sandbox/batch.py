"""Many runs: each scenario so many times, several at once, in an order that does not depend on which ends first.

Every run has a world, ids and a seed of its own, so that what comes of it is the same whatever runs beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace

from sandtrail.sandbox.agents import Agent, BlackBox
from sandtrail.sandbox.loading import Loaded
from sandtrail.sandbox.runner import Result, Setting, run_with


@dataclass(frozen=True)
class Trial:
    """One run to be made. `number` is its place in the order of results."""

    number: int
    loaded: Loaded
    repetition: int
    agent: Agent | BlackBox
    seed: int


def plan(
    chosen: Sequence[Loaded],
    repetitions: Sequence[int],
    make: Callable[[Loaded, int], Agent | BlackBox],
    *,
    seed: int,
) -> list[Trial]:
    """The runs of some scenarios, repetitions of one scenario beside each other."""
    pairs = [(loaded, repetition) for loaded in chosen for repetition in repetitions]
    return [
        Trial(number, loaded, repetition, make(loaded, repetition), seed)
        for number, (loaded, repetition) in enumerate(pairs)
    ]


def performed(
    trials: Sequence[Trial],
    setting: Setting,
    *,
    at_once: int = 1,
    starts: Callable[[Trial], None] = lambda _: None,
) -> Iterator[tuple[Trial, Result]]:
    """Each run as it ends; `starts` is called before the first decision of each, in the thread that reads this.

    Leaving early (an exception, Ctrl-C) cancels what has not begun and tells what has to stop.
    """

    def one(trial: Trial) -> Result:
        own = replace(setting, seed=trial.seed, repetition=trial.repetition)
        return run_with(trial.loaded.scenario, trial.agent, own)

    if at_once <= 1:
        for trial in trials:
            starts(trial)
            yield trial, one(trial)
        return
    waiting = iter(trials)
    running: dict[Future[Result], Trial] = {}
    with ThreadPoolExecutor(at_once, thread_name_prefix="sandtrail") as pool:
        try:
            while True:
                while len(running) < at_once and (chosen := next(waiting, None)) is not None:
                    starts(chosen)
                    running[pool.submit(one, chosen)] = chosen
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda ended: running[ended].number):
                    yield running.pop(future), future.result()
        finally:
            if setting.cancel is not None and running:
                setting.cancel.set()
