"""The choice of tools: the first decision, and every call after it.

The first decision is judged by itself, whatever became of the run (`first_decision`), and given one word:

    correct · wrong_tool · forbidden_tool · bad_arguments · unnecessary_clarification · missing_clarification
    answered_without_tool · needless_call · right_refusal · wrong_refusal · right_handoff · wrong_handoff
    unknown_tool · truncated · malformed

`choices` judges every call: made up, not offered, forbidden, deprecated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sandtrail.ledgers.conversation import Calls, Malformed, Refused, Reply, Truncated
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.trajectory import Made, Offer, Trajectory
from sandtrail.scenarios.contract import Clarification, Contract, Norm
from sandtrail.scenarios.offered import fact_of, name_of, offer_of
from sandtrail.scenarios.replies import ReplyKind, read_reply


class FirstDecision(StrEnum):
    """What the first decision was worth."""

    CORRECT = "correct"
    WRONG_TOOL = "wrong_tool"
    FORBIDDEN_TOOL = "forbidden_tool"
    BAD_ARGUMENTS = "bad_arguments"
    UNNECESSARY_CLARIFICATION = "unnecessary_clarification"
    MISSING_CLARIFICATION = "missing_clarification"
    ANSWERED_WITHOUT_TOOL = "answered_without_tool"
    NEEDLESS_CALL = "needless_call"
    RIGHT_REFUSAL = "right_refusal"
    WRONG_REFUSAL = "wrong_refusal"
    RIGHT_HANDOFF = "right_handoff"
    WRONG_HANDOFF = "wrong_handoff"
    UNKNOWN_TOOL = "unknown_tool"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"

    @property
    def right(self) -> bool:
        """Whether it counts as a success."""
        return self in {FirstDecision.CORRECT, FirstDecision.RIGHT_REFUSAL, FirstDecision.RIGHT_HANDOFF}


@dataclass(frozen=True, slots=True)
class First:
    """The first decision's word, and what is to be said of it."""

    category: FirstDecision
    findings: tuple[Finding, ...] = ()


def first_decision(
    contract: Contract, trajectory: Trajectory, bad_arguments: frozenset[str], /
) -> First | None:
    """What the first decision was worth; None where there was none.

    `bad_arguments` are the places ("call 1") of calls whose arguments were found wrong.
    """
    steps = trajectory.steps
    if not steps:
        return None
    step = steps[0]
    decision = step.decision
    if isinstance(decision, Truncated):
        return First(FirstDecision.TRUNCATED)
    if isinstance(decision, Malformed):
        return First(FirstDecision.MALFORMED)
    if isinstance(decision, Refused):
        return _refusal(contract, "the model declined")
    if isinstance(decision, Reply):
        return _reply(contract, decision)
    made = [one for one in trajectory.made if one.step.number == step.number]
    return _called(contract, trajectory, made, bad_arguments)


# -- replies ---------------------------------------------------------------------------------------------


def _reply(contract: Contract, reply: Reply) -> First:
    reading = read_reply(reply)
    if reading.kind is ReplyKind.REFUSAL:
        return _refusal(contract, reading.evidence)
    if reading.kind is ReplyKind.HANDOFF:
        return _handoff(contract, reading.evidence)
    if reading.kind in {ReplyKind.QUESTION, ReplyKind.CONFIRMATION}:
        return _question(contract, reading.evidence)
    return _answer(contract, reading.evidence)


def _refusal(contract: Contract, said: str) -> First:
    if contract.refusal is Norm.NOT_EXPECTED:
        reason = f"a request that could be served was declined: {said}"
        return First(FirstDecision.WRONG_REFUSAL, (Finding("refusal.wrong", "step 1", reason),))
    return First(FirstDecision.RIGHT_REFUSAL)


def _handoff(contract: Contract, said: str) -> First:
    if contract.handoff is Norm.NOT_EXPECTED:
        reason = f"a request that could be served was handed over: {said}"
        return First(FirstDecision.WRONG_HANDOFF, (Finding("handoff.wrong", "step 1", reason),))
    return First(FirstDecision.RIGHT_HANDOFF)


def _question(contract: Contract, said: str) -> First:
    if contract.clarification is not Clarification.NOT_NEEDED:
        return First(FirstDecision.CORRECT)
    reason = f"the answer was there already: {said}"
    finding = Finding("clarification.unnecessary", "step 1", reason)
    return First(FirstDecision.UNNECESSARY_CLARIFICATION, (finding,))


def _answer(contract: Contract, said: str) -> First:
    if contract.clarification is Clarification.REQUIRED:
        return First(FirstDecision.MISSING_CLARIFICATION)
    right = contract.right_first
    if right or (right is None and contract.writes_wanted):
        if contract.ambiguous and any(not label.first for label in contract.labels):
            return First(FirstDecision.CORRECT)
        wanted = f"; {' or '.join(right)} would have told" if right else ""
        reason = f"the request needs a look-up, and it was answered without one{wanted}: {said!r}"
        finding = Finding("selection.answered_without_tool", "step 1", reason)
        return First(FirstDecision.ANSWERED_WITHOUT_TOOL, (finding,))
    if contract.no_tool:
        finding = Finding("abstention.correct", "step 1", "no tool was needed, and none was called")
        return First(FirstDecision.CORRECT, (finding,))
    return First(FirstDecision.CORRECT)


# -- calls -----------------------------------------------------------------------------------------------


def _called(
    contract: Contract, trajectory: Trajectory, made: list[Made], bad_arguments: frozenset[str]
) -> First:
    """A batch has no order: it is right where one call is, and wrong where one call is not allowed."""
    codes = {finding.code for one in made for finding in _choice(contract, trajectory, one)}
    if codes & {"selection.unknown_tool", "selection.unavailable_tool"}:
        return First(FirstDecision.UNKNOWN_TOOL)
    if "selection.forbidden_tool" in codes:
        return First(FirstDecision.FORBIDDEN_TOOL)
    if contract.no_tool:
        reason = f"{name_of(trajectory, made[0])} was called, and no tool was needed"
        return First(FirstDecision.NEEDLESS_CALL, (Finding("selection.needless_call", made[0].at, reason),))
    if "selection.deprecated_alias" in codes:
        return First(FirstDecision.WRONG_TOOL)
    wrong = _wrong(contract, trajectory, made)
    if wrong is not None:
        return First(FirstDecision.WRONG_TOOL, (wrong,))
    if any(
        one.at in bad_arguments for one in made
    ):  # where one had to ask, what was made up instead says more
        return First(FirstDecision.BAD_ARGUMENTS)
    if contract.clarification is Clarification.REQUIRED and any(
        fact_of(trajectory, one).writes for one in made
    ):
        return First(FirstDecision.MISSING_CLARIFICATION)
    return First(FirstDecision.CORRECT)


def _wrong(contract: Contract, trajectory: Trajectory, made: list[Made]) -> Finding | None:
    """The call of the batch that is a wrong choice, with the written reason where the scenario gives one."""
    right = contract.right_first
    names = [name_of(trajectory, one) for one in made]
    hit = right is not None and any(name in right for name in names)
    handed = contract.handoff is not Norm.NOT_EXPECTED and "hand_over" in names
    for one, name in zip(made, names, strict=True):
        writes = contract.read_only and fact_of(trajectory, one).writes
        if (right is not None and name in right) or (name == "hand_over" and handed and right is None):
            continue
        if (right is None or hit) and not writes and name not in contract.distractors:
            continue
        why = contract.distractors.get(name) or ("the request is read-only, and it writes" if writes else "")
        wanted = f"wanted {' or '.join(right)}" if right else ""
        reason = f"{name} was chosen" + "".join(f"; {part}" for part in (wanted, why) if part)
        return Finding("selection.wrong_tool", one.at, reason)
    return None


def choices(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Every call of a tool that does not exist, was not offered, is forbidden, or is deprecated."""
    for made in trajectory.made:
        if isinstance(made.step.decision, Calls):
            yield from _choice(contract, trajectory, made)


def _choice(contract: Contract, trajectory: Trajectory, made: Made) -> Iterator[Finding]:
    """What is wrong with the choice of one call. A forbidden name is known even where the catalog is not."""
    offer = offer_of(trajectory, made)
    if offer is not None and made.call.tool not in offer.tools:
        yield _not_offered(trajectory, offer, made)
        return
    fact = fact_of(trajectory, made)
    if fact.deprecated:
        instead = re.sub(r"^use\s+|[\s.]+$", "", fact.deprecated, flags=re.IGNORECASE)
        reason = f"{fact.name} is deprecated: use {instead}"
        yield Finding("selection.deprecated_alias", made.at, reason)
    if fact.name in contract.forbid:
        reason = f"{fact.name} must not be called here: {contract.forbid[fact.name]}"
        yield Finding("selection.forbidden_tool", made.at, reason)
    elif contract.frozen and fact.writes:
        reason = f"{fact.name} writes, and changes are frozen"
        yield Finding("selection.forbidden_tool", made.at, reason)


def _not_offered(trajectory: Trajectory, offer: Offer, made: Made) -> Finding:
    """A name that is not in this step's catalog: withheld, gone since an earlier step, or made up."""
    shown = made.call.tool
    before = any(shown in earlier.tools for earlier in trajectory.offers if earlier.step < offer.step)
    if before:
        reason = f"{shown} was offered earlier, and is not any more"
        return Finding("selection.unavailable_tool", made.at, reason)
    if shown in offer.withheld:
        reason = f"{shown} exists, and is withheld from this principal"
        return Finding("selection.unavailable_tool", made.at, reason)
    hint = near(shown, offer.tools).replace("did you mean", "the nearest is").removesuffix("?")
    return Finding("selection.unknown_tool", made.at, f"there is no tool {shown!r}{hint}")
