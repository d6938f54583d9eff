"""Writes that were made again: after an answer that left open whether they had happened, and under which keys.

An intent is what a write was for: its operation and the entities it names. Amounts and words may change when it is made
again, and so may its key.

    effect.blind_retry      idempotency.replay · conflict · key_changed_on_retry · key_reused_for_other_intent
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sandtrail.ledgers.entries import Attempt
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import SYMBOL
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import leaves, parsed
from sandtrail.ledgers.words import Access, Delivery, Outcome
from sandtrail.scenarios.contract import Contract
from sandtrail.scenarios.offered import fact_of

Shown: TypeAlias = str
"""What the agent was shown by a look-up: its arguments and its answer."""

_NAMING = re.compile(r"(?:^|_)(?:id|ids|number|numbers|target)$")
_BY_THE_WAY = re.compile(r"request|idempotency|trace|correlation")


@dataclass(frozen=True, slots=True)
class Intent:
    """What a write was for: its operation, and the entities its arguments name."""

    operation: str
    entities: tuple[str, ...]


def intent_of(attempt: Attempt) -> Intent:
    """The intent of a write: symbols where the books have them, else what stands under keys like `order_id`."""
    text = attempt.symbolic or attempt.arguments
    named = set(SYMBOL.findall(text)) or {
        leaf for pointer, leaf in leaves(parsed(text)) if isinstance(leaf, str) and _names(pointer)
    }
    return Intent(attempt.operation, tuple(sorted(named)))


def _names(pointer: str) -> bool:
    """Whether the value at this JSON pointer says what a call is about."""
    keys = [step.lower() for step in pointer.split("/") if step and not step.isdigit()]
    return bool(keys) and bool(_NAMING.search(keys[-1])) and not _BY_THE_WAY.search(keys[-1])


def ambiguous(attempt: Attempt) -> bool:
    """Whether the client cannot know if a write happened."""
    return attempt.delivery in {Delivery.LOST, Delivery.CORRUPTED}


def retries(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """Writes made again after an unclear answer without looking first, and what their keys say."""
    unclear: dict[Intent, Attempt] = {}
    keys: dict[str, Attempt] = {}
    for one in _happened(trajectory):
        if isinstance(one, Shown):
            unclear = {intent: attempt for intent, attempt in unclear.items() if not _tells(one, intent)}
            continue
        intent = intent_of(one)
        yield from _keys(one, intent, keys)
        before = unclear.get(intent)
        if before is not None:
            yield from _again(before, one)
        if ambiguous(one):
            unclear[intent] = one
        elif one.outcome in {Outcome.OK, Outcome.REPLAYED}:
            unclear.pop(intent, None)


def _happened(trajectory: Trajectory) -> Iterator[Attempt | Shown]:
    """Writes and what look-ups showed, in order. Somebody else's ledger has writes alone: the look-ups are in the talk.

    What a fault had held and the world carried out later is left out: nobody sent it again.
    """
    waiting = [attempt for attempt in trajectory.ledger.attempts() if attempt.resumes is None]
    for made in trajectory.made:
        if made.answered is None:
            continue
        told = [one for one in (made.answered.attempt, *made.answered.attempts) if one is not None]
        if not told and not made.answered.is_error and not fact_of(trajectory, made).writes:
            yield f"{made.call.text} {made.answered.text}"
        while told and waiting and waiting[0].seq <= max(told):
            yield from _read(trajectory, waiting.pop(0))
    for attempt in waiting:
        yield from _read(trajectory, attempt)


def _read(trajectory: Trajectory, attempt: Attempt) -> Iterator[Attempt | Shown]:
    if attempt.access is Access.WRITE:
        yield attempt
    elif attempt.outcome is Outcome.OK and attempt.delivery in {Delivery.DELIVERED, Delivery.DELAYED}:
        yield trajectory.ledger.projection.text(f"{attempt.arguments} {attempt.answer or ''}")


def _tells(shown: Shown, intent: Intent) -> bool:
    """Whether what a look-up showed speaks of the entities that a write was about."""
    return not intent.entities or any(
        re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", shown) for one in intent.entities
    )


def _again(before: Attempt, attempt: Attempt) -> Iterator[Finding]:
    at, both = f"attempt {attempt.seq}", (str(before), str(attempt))
    if attempt.outcome is Outcome.REPLAYED:
        return
    if before.idempotency_key is None or before.idempotency_key != attempt.idempotency_key:
        reason = f"{attempt.operation} was sent again after an unclear answer (attempt {before.seq}), without looking first"
        yield Finding("effect.blind_retry", at, reason, both)
    if before.idempotency_key and attempt.idempotency_key not in {None, before.idempotency_key}:
        reason = f"the same intent as attempt {before.seq}, with another idempotency key"
        yield Finding("idempotency.key_changed_on_retry", at, reason, both)


def _keys(attempt: Attempt, intent: Intent, keys: dict[str, Attempt]) -> Iterator[Finding]:
    key, at = attempt.idempotency_key, f"attempt {attempt.seq}"
    if attempt.outcome is Outcome.REPLAYED:
        reason = f"{attempt.operation} was answered from the record of its key"
        yield Finding("idempotency.replay", at, reason)
    if key is None:
        return
    first = keys.setdefault(key, attempt)
    if first is attempt:
        return
    both = (str(first), str(attempt))
    if intent_of(first) != intent:
        reason = f"the key of attempt {first.seq} ({first.operation}) is used for another intent"
        yield Finding("idempotency.key_reused_for_other_intent", at, reason, both)
    elif attempt.outcome is Outcome.CONFLICT and attempt.rule in {None, "idempotency.conflict"}:
        reason = f"the key of attempt {first.seq} came back with other arguments and was refused"
        yield Finding("idempotency.conflict", at, reason, both)
