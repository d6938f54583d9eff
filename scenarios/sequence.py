"""The sequence of calls: what had to come before what, repetition, detours, budgets, and how the run ended."""

from __future__ import annotations

from collections.abc import Iterator

from sandtrail.ledgers.conversation import (
    Calls,
    Decided,
    Declared,
    Malformed,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trajectory import Ended, Made, Trajectory
from sandtrail.ledgers.words import Outcome
from sandtrail.scenarios.canonical import equal
from sandtrail.scenarios.contract import Clarification, Contract, OrderRule
from sandtrail.scenarios.offered import fact_of, name_of
from sandtrail.scenarios.replies import consent_asked_in, markers_in
from sandtrail.scenarios.users import Cause

LOOP = 3
"""From how many rounds of equal calls with equal answers in a row on it is a loop."""

WIDEST = 4
"""The most calls that one round of a loop has."""

STUCK = 5
"""From how many failed calls in a row on a run gets nowhere."""


def sequence(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Everything that is to be said of the order and the number of calls."""
    yield from _ordered(contract, trajectory)
    yield from _missing(contract, trajectory)
    loops = list(_loops(trajectory))
    yield from loops
    if not loops:
        yield from _no_progress(trajectory)
    yield from _redundant(trajectory, looping=bool(loops))
    yield from _detour(contract, trajectory)


# -- order -----------------------------------------------------------------------------------------------


def _ordered(contract: Contract, trajectory: Trajectory) -> Iterator[Finding]:
    for rule in contract.order:
        for made in trajectory.made:
            if name_of(trajectory, made) != rule.tool or not isinstance(made.step.decision, Calls):
                continue
            if rule.confirm and not _confirmed(trajectory, made):
                reason = f"{rule.tool} was called before the user had confirmed it"
                yield Finding("sequence.unconfirmed", made.at, reason)
            elif rule.before and not _answered(trajectory, rule, made):
                reason = f"{rule.tool} was called before {rule.before} had answered"
                yield Finding("sequence.order", made.at, reason)


def _answered(trajectory: Trajectory, rule: OrderRule, made: Made) -> bool:
    """Whether the earlier tool had answered in an earlier step: calls of one batch are made together."""
    return any(
        name_of(trajectory, other) == rule.before
        and other.step.number < made.step.number
        and other.answered is not None
        and not other.answered.is_error
        for other in trajectory.made
    )


_AGREES = {Cause.CONFIRMS, Cause.CHOOSES}


def _confirmed(trajectory: Trajectory, made: Made) -> bool:
    """Whether the agent had asked for consent, and the user had given it, in an earlier turn."""
    asked = False
    for message in trajectory.conversation[: made.step.index]:
        if isinstance(message, UserSaid):
            if asked and (not message.cause or message.cause in _AGREES):
                return True
        elif isinstance(message, Decided) and isinstance(message.decision, Reply):
            asked = bool(consent_asked_in(message.decision)) or message.decision.declared is Declared.QUESTION
    return False


def _missing(contract: Contract, trajectory: Trajectory) -> Iterator[Finding]:
    done = {Outcome.OK, Outcome.REPLAYED}
    answered = {attempt.operation for attempt in trajectory.ledger.attempts() if attempt.outcome in done}
    answered |= {
        name_of(trajectory, made) for made in trajectory.made if made.answered and not made.answered.is_error
    }
    for tool in contract.calls:
        if tool not in answered:
            yield Finding(
                "call.missing", "final", f"{tool} never answered a call", grade=trajectory.ledger.grade
            )


# -- repetition ------------------------------------------------------------------------------------------


def _loops(trajectory: Trajectory) -> Iterator[Finding]:
    """Calls in a circle: the same ones with the same answers, so many rounds in a row. The shortest circle counts."""
    made = list(trajectory.made)
    start = 0
    while start < len(made):
        size, rounds = _circle(made, start)
        if rounds < LOOP:
            start += 1
            continue
        tools = ", then ".join(dict.fromkeys(one.call.tool for one in made[start : start + size]))
        end = start + size * rounds
        reason = f"{tools} with the same arguments got the same answer {rounds} times in a row"
        yield Finding("run.loop", f"calls {start + size * (LOOP - 1) + 1}-{end}", reason)
        start = end


def _circle(made: list[Made], start: int) -> tuple[int, int]:
    """The size of the circle that begins here, and how many rounds of it there are."""
    for size in range(1, WIDEST + 1):
        place = start + size
        while place < len(made) and _same(made[place - size], made[place]):
            place += 1
        if (place - start) // size >= LOOP:
            return size, (place - start) // size
    return 1, 1


def _same(one: Made, other: Made) -> bool:
    return _same_call(one, other) and _same_answer(one, other)


def _no_progress(trajectory: Trajectory) -> Iterator[Finding]:
    """Calls in a row that all failed."""
    failed: list[Made] = []
    for made in (*trajectory.made, None):
        if made is not None and made.answered is not None and made.answered.is_error:
            failed.append(made)
            continue
        if len(failed) >= STUCK:
            tools = ", ".join(dict.fromkeys(one.call.tool for one in failed))
            place = f"calls {failed[0].number}-{failed[-1].number}"
            yield Finding("run.no_progress", place, f"{len(failed)} calls in a row failed: {tools}")
        failed.clear()


def _same_call(one: Made, other: Made) -> bool:
    return _equal_calls(one.call, other.call)


def _equal_calls(one: ToolCall, other: ToolCall) -> bool:
    if one.flaw or other.flaw:
        return one.tool == other.tool and one.text == other.text
    return one.tool == other.tool and equal(dict(one.arguments), dict(other.arguments))


def _same_answer(one: Made, other: Made) -> bool:
    mine, others = one.answered, other.answered
    if mine is None or others is None:
        return mine is others
    return (mine.text, mine.is_error) == (others.text, others.is_error)


def _redundant(trajectory: Trajectory, *, looping: bool) -> Iterator[Finding]:
    """Reads made again in the same turn with nothing changed in between; a loop is said once."""
    if looping:
        return
    seen: list[Made] = []
    for made in trajectory.made:
        if _changed(trajectory, made):
            seen.clear()
            continue
        twin = next((one for one in seen if _same_call(one, made) and one.step.turn == made.step.turn), None)
        if twin is not None and made.answered and not made.answered.is_error and _same_answer(twin, made):
            reason = f"{made.call.tool} had answered the same at {twin.at}, and nothing has changed since"
            yield Finding("selection.redundant_call", made.at, reason)
        seen.append(made)


def _changed(trajectory: Trajectory, made: Made) -> bool:
    """Whether a call changed something, or left open whether it had. Somebody else's ledger shows effects alone."""
    if made.answered is None:
        return False
    attempts = made.answered.attempts or (made.answered.attempt,)
    pages = [page for page in trajectory.ledger.pages if page.attempt and page.attempt.seq in attempts]
    if not pages:
        return fact_of(trajectory, made).writes and not made.answered.is_error
    return any(
        page.effects or page.committed or page.attempt.delivery == "lost" for page in pages if page.attempt
    )


def _detour(contract: Contract, trajectory: Trajectory) -> Iterator[Finding]:
    budgets = contract.budgets
    for name, most, took in (
        ("call", budgets.calls, len(trajectory.made)),
        ("step", budgets.steps, len(trajectory.steps)),
        ("turn", budgets.turns, trajectory.turns),
    ):
        if most is not None and took > most:
            reason = f"{took} {name}s were made where {most} would do"
            yield Finding("sequence.detour", "final", reason)


# -- the end ---------------------------------------------------------------------------------------------

_ENDS = {
    Ended.MAX_STEPS: "run.max_steps",
    Ended.MAX_TURNS: "run.budget",
    Ended.MAX_CALLS: "run.budget",
    Ended.MAX_TOKENS: "run.budget",
    Ended.MAX_TIME: "run.budget",
    Ended.MAX_COST: "run.budget",
    Ended.AGENT_ERROR: "run.agent_error",
    Ended.PROVIDER_ERROR: "harness.provider",
    Ended.TOOLS_DROPPED: "harness.tools_dropped",
    Ended.OFF_SCRIPT: "simulator.off_script",
    Ended.CANCELLED: "run.cancelled",
}


def endings(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Runs that did not end by themselves, and decisions that the provider cut, refused or spoilt.

    A question that the user has no line for is the simulator's fault, unless the scenario says that nothing needs to be
    asked: then it is the agent's.
    """
    code = _ENDS.get(trajectory.ended)
    asked = trajectory.ended is Ended.OFF_SCRIPT and trajectory.detail.startswith("the agent asked: ")
    if asked and contract.clarification is Clarification.NOT_NEEDED:
        reason = f"nothing needs to be asked here; {trajectory.detail}"
        yield Finding("clarification.unnecessary", f"step {len(trajectory.steps)}", reason)
    elif code is not None:
        at = str(len(trajectory.steps)) if trajectory.ended is Ended.MAX_STEPS else "final"
        yield Finding(code, at, trajectory.detail or f"the run ended with {trajectory.ended}")
    if not trajectory.steps and trajectory.ended is Ended.DONE:
        yield Finding("run.empty", "final", "the agent decided nothing")
    for step in trajectory.steps:
        at = f"step {step.number + 1}"
        match step.decision:
            case Truncated(calls=calls):
                named = f" during a call of {calls[-1].tool}; it was not carried out" if calls else ""
                place = _made_at(trajectory, calls[-1]) if calls else at
                yield Finding("stop.truncated", place, f"the answer was cut at the limit of tokens{named}")
            case Refused(text=text):
                yield Finding("stop.refusal", at, f"the model declined{f': {text[:200]}' if text else ''}")
            case Malformed(reason=reason, raw=raw):
                yield Finding("stop.malformed", at, reason, (raw[:500],))
            case Reply(text=text, declared=None) if not text.strip():
                yield Finding("run.empty", at, "the agent said nothing, and called nothing")
            case Reply(text=text) if markers_in(text):
                reason = f"{', '.join(markers_in(text))} in the agent's text does not end a talk"
                yield Finding("simulator.marker_ignored", at, reason)
            case _:
                pass


def _made_at(trajectory: Trajectory, call: ToolCall) -> str:
    return next(made.at for made in trajectory.made if made.call is call)
