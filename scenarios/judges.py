"""The judges: pure functions of (contract, trajectory), each finding with its place, its reason and its evidence.

They read the books, not the agent's words; words are read only for what the answer must state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sandtrail.ledgers.entries import Effect
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.sources import sources
from sandtrail.ledgers.trajectory import Ended, Trajectory
from sandtrail.ledgers.words import Access, Outcome
from sandtrail.scenarios.contract import Contract, WantedEffect


def judge(contract: Contract, trajectory: Trajectory, /) -> tuple[Finding, ...]:
    """Everything that is to be said of a run, gravest first."""
    judges = (books, endings, effects, read_only, calls, arguments, answer, blocks, faults)
    found = [finding for one in judges for finding in one(contract, trajectory)]
    return tuple(sorted(found, key=lambda finding: -finding.severity.rank))


def books(_: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """What the books themselves say: a run on broken books is no verdict on an agent."""
    yield from trajectory.ledger.verify()


def endings(_: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Runs that did not end by themselves."""
    codes = {
        Ended.MAX_STEPS: "run.max_steps",
        Ended.AGENT_ERROR: "run.agent_error",
        Ended.OFF_SCRIPT: "simulator.off_script",
    }
    if trajectory.ended in codes:
        yield Finding(
            codes[trajectory.ended], "final", trajectory.detail or f"the run ended with {trajectory.ended}"
        )


def effects(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Committed effects against the declared footprint: wrong, too many, too few, or not allowed at all."""
    spent: dict[int, int] = {}
    for effect in trajectory.ledger.effects():
        fitting = [
            n
            for n, wanted in enumerate(contract.effects)
            if wanted.name == effect.name and effect.matches(wanted.facts)
        ]
        free = next((n for n in fitting if spent.get(n, 0) < contract.effects[n].times), None)
        if free is not None:
            spent[free] = spent.get(free, 0) + 1
        elif fitting:
            reason = f"{effect} was committed again; wanted {_times(contract.effects[fitting[0]].times)}"
            yield Finding("effect.duplicate", _at(effect), reason, (str(effect),))
        else:
            yield _unwanted(contract, effect)
    for n, wanted in enumerate(contract.effects):
        if spent.get(n, 0) < wanted.times:
            yield Finding(
                "effect.missing",
                "final",
                f"{wanted} was wanted {_times(wanted.times)} and happened {_times(spent.get(n, 0))}",
            )


def _unwanted(contract: Contract, effect: Effect) -> Finding:
    """An effect that no line allows: with a wrong fact where a line names it, else not authorized."""
    named = [wanted for wanted in contract.effects if wanted.name == effect.name]
    if not named:
        return Finding(
            "effect.unauthorized_write", _at(effect), f"{effect} was not asked for", (str(effect),)
        )
    wrong = _wrong_facts(named[0], effect)
    code = "effect.wrong_amount" if set(wrong) <= {"amount", "currency"} else "effect.wrong_target"
    said = ", ".join(f"{name} is {effect.facts.get(name)}, wanted {named[0].facts[name]}" for name in wrong)
    return Finding(code, _at(effect), f"{effect.name}: {said}", (str(effect),))


def _wrong_facts(wanted: WantedEffect, effect: Effect) -> list[str]:
    return [name for name, value in wanted.facts.items() if not effect.matches({name: value})]


def unexpected_writes(contract: Contract, trajectory: Trajectory, /) -> int:
    """How many committed effects the contract does not allow."""
    codes = {"effect.duplicate", "effect.wrong_amount", "effect.wrong_target", "effect.unauthorized_write"}
    return sum(finding.code in codes for finding in effects(contract, trajectory))


def read_only(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Writes that were tried on a read-only request and did not commit (those that did are effects)."""
    if not contract.read_only:
        return
    for attempt in trajectory.ledger.attempts(access=Access.WRITE):
        if attempt.outcome is not Outcome.OK:
            reason = f"{attempt.operation} was tried on a read-only request: {attempt.outcome}"
            yield Finding(
                "effect.write_attempt_on_read_only", f"attempt {attempt.seq}", reason, (str(attempt),)
            )


def calls(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Calls that had to be made."""
    done = {Outcome.OK, Outcome.REPLAYED}
    made = {attempt.operation for attempt in trajectory.ledger.attempts() if attempt.outcome in done}
    for tool in contract.calls:
        if tool not in made:
            yield Finding("call.missing", "final", f"{tool} never answered a call")


def arguments(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Arguments that name another entity than they must, or come from elsewhere."""
    projection = trajectory.ledger.projection
    for number, answered in enumerate(trajectory.answers, start=1):
        for wanted in contract.arguments:
            if answered.call.tool != wanted.tool or wanted.name not in answered.call.arguments:
                continue
            value = answered.call.arguments[wanted.name]
            shown = projection.value(value)
            at = f"attempt {answered.attempt}"
            if wanted.symbol is not None and shown != wanted.symbol:
                reason = f"{wanted.tool}.{wanted.name} is {shown}, the request is about {wanted.symbol}"
                yield Finding("provenance.wrong_binding", at, reason)
            elif wanted.sources:
                found = sources(value, trajectory.conversation, number)
                if not any(source.tool in wanted.sources for source in found):
                    where = ", ".join(map(str, found)) or "nowhere before"
                    reason = f"{wanted.tool}.{wanted.name} = {shown} must come from {' or '.join(wanted.sources)}; it stood: {where}"
                    yield Finding("provenance.source_policy", at, reason)


def answer(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """What the replies must state, and do not."""
    said = " ".join(trajectory.replies())
    for wanted in contract.states:
        amount = wanted.rsplit(" ", 1)[0] if wanted[-3:].isupper() else wanted
        if not _stands_in(amount, said):
            yield Finding("answer.missing", "final", f"no reply states {wanted}")


def blocks(_: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Requests that left for hosts no fake answers."""
    for attempt in trajectory.ledger.attempts(outcome=Outcome.BLOCKED):
        yield Finding("net.blocked", f"attempt {attempt.seq}", f"{attempt.operation} was refused")


def faults(_: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Planned faults that never fired."""
    for fault in trajectory.unfired:
        yield Finding("fault.not_fired", "final", f"{fault} never fired: this run says nothing about it")


def _stands_in(wanted: str, said: str) -> bool:
    """Whether a text holds this as a whole: 42.50 does not stand in 142.50."""
    return re.search(rf"(?<![\w.,]){re.escape(wanted)}(?![\w]|[.,]\d)", said) is not None


def _at(effect: Effect) -> str:
    return "the world" if effect.attempt is None else f"attempt {effect.attempt}"


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
