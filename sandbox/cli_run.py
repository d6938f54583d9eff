"""`sandtrail run`: the main job. Scenarios and an agent in, verdicts, a report and an exit code out."""

from __future__ import annotations

import argparse
import secrets
import shlex
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandtrail.ledgers import Overall
from sandtrail.sandbox.batch import Trial, performed, plan
from sandtrail.sandbox.choosing import chosen
from sandtrail.sandbox.cli import EXIT_CODES, UsageError, print_json, print_lines
from sandtrail.sandbox.limits import Limits
from sandtrail.sandbox.loading import Loaded
from sandtrail.sandbox.registry import Agents, UnknownAgent
from sandtrail.sandbox.runner import Result, Setting
from sandtrail.sandbox.summary import because, failures, finding_as_json, overall, repeats, rows, totals, used
from sandtrail.sandbox.trail import LEGEND, Line, clean, counted, cut, trail

if TYPE_CHECKING:
    from sandtrail.sandbox.payloads import PayloadLog
    from sandtrail.sandbox.stored import Keeper

FEW = 3
"""Up to so many runs are shown step by step without being asked."""


def run_command(options: argparse.Namespace) -> int:
    """Run, judge, report."""
    agents = _agents(options)
    try:
        loaded = chosen(
            options.scenarios,
            tags=options.tag,
            ids=options.sample_id,
            limit=options.limit,
            catalog=options.catalog,
        )
        return _performed(options, agents, loaded)
    finally:
        agents.close()


def _performed(options: argparse.Namespace, agents: Agents, loaded: list[Loaded]) -> int:
    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    keeper = _keeper(options, seed)
    if keeper is not None:
        seed = keeper.seed
    loaded, without = _scripted(agents, loaded, seed, named=bool(options.scenarios))
    repetitions = [options.repetition] if options.repetition else range(1, options.repetitions + 1)
    try:
        trials = plan(
            loaded,
            list(repetitions),
            lambda one, repetition: agents.for_trial(one, seed=seed, repetition=repetition),
            seed=seed,
        )
    except UnknownAgent as error:
        raise UsageError(str(error)) from None
    log = _payload_log(options)
    try:
        results = _through(options, trials, keeper, log)
    finally:
        if log is not None:
            log.close()
    if options.save:
        _save(options.save, results)
    verdict = overall([result.overall for result in results])
    if keeper is not None:
        keeper.finish()
    if options.json:
        print_json(_as_json(options.agent, seed, verdict, results, keeper))
    else:
        _report(options, results, without, keeper)
    if log is not None:
        _tell(log)
    return EXIT_CODES[verdict]


def _agents(options: argparse.Namespace) -> Agents:
    from sandtrail.sandbox.providers import Prices, ProviderOptions  # noqa: PLC0415  names only, but many

    prices = Prices(input=options.price[0], output=options.price[1]) if options.price else None
    if options.cost_limit and prices is None:
        raise UsageError("--cost-limit needs --price IN,OUT: what a token costs is not known here")
    try:
        chosen_options = ProviderOptions(
            model="of the name",
            max_tokens=options.max_tokens,
            temperature=options.temperature,
            thinking=options.thinking,
            prices=prices,
        )
        return Agents(options.agent, chosen_options)
    except (UnknownAgent, ValueError) as error:
        raise UsageError(str(error)) from None


def _scripted(
    agents: Agents, loaded: list[Loaded], seed: int, *, named: bool
) -> tuple[list[Loaded], list[Loaded]]:
    """Of all shipped scenarios, those that have a script of this name; those named must have one."""
    if not agents.by_script:
        return loaded, []
    having: list[Loaded] = []
    error: UnknownAgent | None = None
    for one in loaded:
        try:
            agents.for_trial(one, seed=seed, repetition=1)
        except UnknownAgent as missing:
            error = missing
            if named:
                break
        else:
            having.append(one)
    if error is not None and (named or not having):
        raise UsageError(str(error)) from None
    return having, [one for one in loaded if one not in having]


def _payload_log(options: argparse.Namespace) -> PayloadLog | None:
    if options.payloads is None:
        return None
    from sandtrail.sandbox.payloads import PayloadLog  # noqa: PLC0415  only where asked for
    from sandtrail.sandbox.places import BadStore  # noqa: PLC0415  as above

    try:
        return PayloadLog.open(options.payloads)
    except BadStore as error:
        raise UsageError(f"--payloads {error}") from None


def _tell(log: PayloadLog) -> None:
    """What became of the log, where it is not what was hoped for; beside the results, which stay what they are."""
    if log.failure:
        sys.stderr.write(f"--payloads {clean(str(log.path))}: {log.failure}; the log lacks requests\n")
    elif not log.written:
        sys.stderr.write(
            f"--payloads {clean(str(log.path))}: the agent has asked no model; nothing was added\n"
        )


def _keeper(options: argparse.Namespace, seed: int) -> Keeper | None:
    if options.store is None and options.resume is None:
        return None
    from sandtrail.sandbox.stored import Keeper  # noqa: PLC0415  SQLModel is heavy, and only for a store

    return Keeper.opened(options, seed)


# -- running ---------------------------------------------------------------------------------------------


def _through(
    options: argparse.Namespace, trials: list[Trial], keeper: Keeper | None, log: PayloadLog | None
) -> list[Result]:
    """Every run; the results in the order of the plan, those of an earlier session among them."""
    kept: dict[int, Result] = {} if keeper is None else keeper.earlier(trials)
    todo = [trial for trial in trials if trial.number not in kept]
    progress = Progress(len(todo), shown=sys.stderr.isatty() and not options.json)
    begin = progress.starts if keeper is None else keeper.starts
    setting = Setting(
        limits=_limits(options),
        urls=_urls(options.url),
        cancel=threading.Event(),
        loopback=True,
        payloads=None if log is None else partial(log.write, "" if keeper is None else keeper.run),
    )
    found = dict(kept)
    for trial, result in performed(todo, setting, at_once=options.max_connections, starts=begin):
        found[trial.number] = result
        if keeper is not None:
            keeper.ends(trial, result)
        progress.ended(result)
    progress.gone()
    return [found[number] for number in sorted(found)]


def _limits(options: argparse.Namespace) -> Limits:
    given = {
        "steps": options.message_limit,
        "tokens": options.token_limit,
        "seconds": options.time_limit,
        "cost": options.cost_limit,
    }
    return Limits(**{name: value for name, value in given.items() if value is not None})


def _urls(pairs: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in pairs:
        url, equals, service = pair.rpartition("=")
        if not equals or not url:
            raise UsageError(
                f"--url {pair!r}: write URL=SERVICE, for example https://billing.internal/v1=billing"
            )
        found[url] = service
    return found


class Progress:
    """One line that counts: done, failed, time left, tokens and spend; on a terminal only."""

    def __init__(self, total: int, *, shown: bool) -> None:
        self._total, self._shown = total, shown
        self._done: list[Result] = []
        self._started = time.monotonic()

    def starts(self, trial: Trial) -> None:
        """A run begins."""
        self._write(trial.loaded.scenario.id)

    def ended(self, result: Result) -> None:
        """A run has ended."""
        self._done.append(result)
        self._write(result.scenario.id)

    def gone(self) -> None:
        """Take the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _write(self, name: str) -> None:
        if not self._shown:
            return
        done, usage = len(self._done), used(self._done)
        failed = sum(result.overall not in {Overall.PASS, Overall.WARN} for result in self._done)
        spent = time.monotonic() - self._started
        left = f", {spent / done * (self._total - done):.0f} s left" if done else ""
        cost = f", {usage.cost / 1_000_000:.2f} USD" if usage.cost else ""
        text = f"{done}/{self._total} runs, {failed} failed{left}, {usage.tokens} tokens{cost}  {name}"
        sys.stderr.write(f"\r\x1b[K{cut(text, 79)}")
        sys.stderr.flush()


# -- reporting -------------------------------------------------------------------------------------------


def _report(
    options: argparse.Namespace, results: list[Result], without: list[Loaded], keeper: Keeper | None
) -> None:
    if options.trail or len(results) <= FEW:
        for result in results:
            print_lines([*trail(result, options.agent, more=_more(options)), Line("")])
        if results:
            print_lines([Line(LEGEND, "dim")])
    if len(results) > FEW:
        print_lines(rows(results))
        print_lines(failures(results))
        print_lines(repeats(results, options.agent, _more(options)))
    print_lines(totals(results))
    if without:
        told = f"{counted(len(without), 'scenario')} without a script {options.agent!r} left out"
        print_lines([Line(told)])
    if keeper is not None:
        print_lines([Line(f"stored as {keeper.run} in {keeper.place}: sandtrail show {keeper.run}")])
    verdict = overall([result.overall for result in results])
    print_lines([Line(f"exit {EXIT_CODES[verdict]}: {because(results)}{_nothing(options, results)}", "bold")])


def _nothing(options: argparse.Namespace, results: list[Result]) -> str:
    """Why nothing was evaluated."""
    if results or not (options.tag or options.scenarios):
        return ""
    tags = " and ".join(options.tag)
    return f": no scenario has the tag {tags}" if tags else f": {', '.join(options.scenarios)} holds no case"


_REPEATED = ("message_limit", "token_limit", "time_limit", "cost_limit", "temperature", "thinking")


def _more(options: argparse.Namespace) -> str:
    """The other options that decide what a run does, as they stand in the command that repeats it."""
    given = {name: getattr(options, name) for name in _REPEATED}
    given["price"] = options.price and ",".join(f"{one:g}" for one in options.price)
    given["max_tokens"] = None if options.max_tokens == 4096 else options.max_tokens
    words = [f" --{name.replace('_', '-')} {value}" for name, value in given.items() if value is not None]
    return "".join([*words, *(f" --url {shlex.quote(url)}" for url in options.url)])


def _as_json(
    agent: str, seed: int, verdict: Overall, results: list[Result], keeper: Keeper | None
) -> dict[str, Any]:
    usage = used(results)
    return {
        "overall": verdict,
        "agent": agent,
        "seed": seed,
        "run": None if keeper is None else keeper.run,
        "scenarios": [_one_as_json(result) for result in results],
        "unexpected_writes": sum(result.unexpected_writes for result in results),
        "tokens": usage.tokens,
        "cost_usd": None if usage.cost is None else usage.cost / 1_000_000,
    }


def _one_as_json(result: Result) -> dict[str, Any]:
    verdict = result.verdict
    return {
        "id": result.scenario.id,
        "revision": result.scenario.revision,
        "repetition": result.trajectory.repetition,
        "overall": result.overall,
        "ended": result.trajectory.ended,
        "first_decision": verdict.first,
        "recovery": verdict.recovery.label,
        "unexpected_writes": result.unexpected_writes,
        "idle_passes": result.scenario.idle_passes,
        "ambiguous": result.scenario.expect.ambiguous,
        "counts": dict(verdict.counts),
        "not_evaluable": list(verdict.not_evaluable),
        "turns": result.trajectory.turns,
        "calls": len(result.trajectory.made),
        "findings": [finding_as_json(one) for one in result.findings],
    }


def _save(path: str, results: Sequence[Result]) -> None:
    from sandtrail.ledgers.saved import dump  # noqa: PLC0415  only where asked for

    try:
        Path(path).write_text("".join(f"{dump(one.trajectory)}\n" for one in results), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--save {path}: {error.strerror}") from None
