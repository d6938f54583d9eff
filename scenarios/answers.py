"""What an answer states, traced like an argument: the amounts, days, ids and numbers that nothing seen holds.

    answers(trajectory)   answer.unsupported_value, each value once

The engine of `ledgers.resolve` looks each of them up as it would an argument of that kind. What a reply computes of its own
amounts (a total below a list) rests on these. Values in questions and offers are no statements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from sandtrail.ledgers.conversation import Decided, Reply
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.folding import decimal_of
from sandtrail.ledgers.provenance import Verdict
from sandtrail.ledgers.resolve import Tracing
from sandtrail.ledgers.specs import Form, Slot
from sandtrail.ledgers.totals import is_price
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.scenarios.days import Day, dates
from sandtrail.scenarios.mentions import Amount, amounts, names, plain, sentences, unquoted
from sandtrail.scenarios.stated import OFFERED

_SUPPORTED = frozenset(
    {
        Verdict.EXACT,
        Verdict.NORMALISED,
        Verdict.PARTIAL,
        Verdict.DERIVED,
        Verdict.WEAK,
        Verdict.LOW_INFORMATION,
    }
)


def answers(trajectory: Trajectory, /) -> Iterator[Finding]:
    """The values that replies state and that nothing seen by then holds."""
    tracing = Tracing(trajectory)
    told: set[str] = set()
    step = 0
    replies = [
        one for one in trajectory.conversation if isinstance(one, Decided) and isinstance(one.decision, Reply)
    ]
    number = 0
    for message in trajectory.conversation:
        if not isinstance(message, Decided):
            continue
        if isinstance(message.decision, Reply):
            number += 1
            at = "final" if number == len(replies) else f"reply {number}"
            for value, sentence in _unsupported(tracing, message.decision.text, step):
                if value not in told:
                    told.add(value)
                    reason = f"{value} stands in no result and no message before it: {sentence[:200]!r}"
                    yield Finding("answer.unsupported_value", at, reason, grade=trajectory.ledger.grade)
        step += 1


def _unsupported(tracing: Tracing, text: str, step: int) -> Iterator[tuple[str, str]]:
    own = plain(unquoted(text))
    if not any(char.isdigit() for char in own):
        return
    said = [one for sentence in sentences(own) if not OFFERED.search(sentence) for one in amounts(sentence)]
    wrong = {one.text for one in _without_source(tracing, said, step)}
    for sentence in sentences(own):
        for name in names(sentence):
            if not name.text.startswith("$") and not _stood(tracing, name.text, Slot(form=Form.ID), step):
                yield name.text, sentence
        if OFFERED.search(sentence):
            continue
        yield from ((one.text, sentence) for one in amounts(sentence) if one.text in wrong)
        yield from ((one.text, sentence) for one in dates(sentence) if not _day_stood(tracing, one, step))


def _stood(tracing: Tracing, value: object, slot: Slot, step: int) -> bool:
    return tracing.stood(value, slot, step) or tracing.of(value, slot, step).verdict in _SUPPORTED


def _day_stood(tracing: Tracing, day: Day, step: int) -> bool:
    """Whether a day was seen: as it is written, or in any reading with any year that the clock allows."""
    if _stood(tracing, day.text, Slot(form=Form.TOKEN), step):
        return True
    today = tracing.known.clock.today
    years = [day.year] if day.year else [today.year + n for n in (0, 1, -1)] if today else []
    days = [f"{year:04d}-{month:02d}-{number:02d}" for year in years for month, number in day.readings]
    return not days or any(_stood(tracing, one, Slot(form=Form.DATE), step) for one in days)


def _without_source(tracing: Tracing, said: Sequence[Amount], step: int) -> list[Amount]:
    """The amounts of a reply that neither stood before nor follow from those that did, and from others that follow."""
    good: set[Decimal] = set()
    left: list[Amount] = []
    for one in said[:_MOST]:
        if tracing.stood(_number(one), _AMOUNT, step):
            good.add(one.value)
        else:
            left.append(one)
    seen = _amounts_seen(tracing, step) if left else set[Decimal]()
    while left:
        known = good | seen | {sum(good, Decimal(0))}
        follow = [one for one in left if _follows(one.value, known)]
        if not follow:
            break
        good |= {one.value for one in follow}
        left = [one for one in left if one not in follow]
    return [one for one in left if tracing.of(_number(one), _AMOUNT, step).verdict not in _SUPPORTED]


_AMOUNT = Slot(form=Form.MONEY)


def _number(amount: Amount) -> int | float:
    return int(amount.value) if amount.value == amount.value.to_integral_value() else float(amount.value)


def _amounts_seen(tracing: Tracing, step: int) -> set[Decimal]:
    """The amounts in results known at a step, without their signs."""
    facts = (fact for fact in tracing.known.facts.numeric if fact.since <= step and is_price(fact))
    return {abs(value) for fact in facts if (value := decimal_of(fact.value)) is not None}


_MOST = 200
_TIMES = tuple(map(Decimal, range(1, 10)))


def _follows(value: Decimal, known: set[Decimal]) -> bool:
    """Whether a value is one of these, a few times one, or the sum or the difference of two."""
    if any(value / times in known for times in _TIMES):
        return True
    return any(value - one in known or value + one in known for one in known)
