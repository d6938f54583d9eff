"""What the replies state: the values they name against what was seen, and what a contract wants stated.

    values   an amount, a day, an order number or id, a count that nothing seen holds: answer.unsupported_value
    stated   what the contract wants to be said and no reply says: answer.missing; the reverse: answer.forbidden

Seen is what stood before the reply in a result, in the user's words or in an earlier call's arguments, the sums and
differences of two seen amounts of one currency, a column's total, and the clock's day. Both judges are conservative:
only what can be nothing else is read (see `mentions`), and an order number is never found inside a longer one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sandtrail.ledgers.conversation import Decided, Reply
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.money import DECIMALS
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.scenarios.contract import Contract, Stated
from sandtrail.scenarios.days import dates
from sandtrail.scenarios.digits import dialled, endings, is_phone, phones
from sandtrail.scenarios.mentions import (
    NUMBER_WORDS,
    NUMBERS,
    Amount,
    Count,
    amounts,
    counts,
    names,
    number_of,
    numbered,
    plain,
    sentences,
    unquoted,
)
from sandtrail.scenarios.seen import Seen

# -- values ------------------------------------------------------------------------------------------------


def values(_: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """The values that replies state and that nothing seen by then holds; each value once."""
    told: set[str] = set()
    for at, index, text in _replies(trajectory):
        seen = Seen(trajectory, index)
        own = plain(unquoted(text))
        supported = seen.supported(amounts(own))
        for sentence in sentences(own):
            for value, why in _unsupported(sentence, own, seen, supported):
                if value not in told:
                    told.add(value)
                    reason = trajectory.ledger.projection.text(f"{value}: {why}; searched: {seen.searched}")
                    said = trajectory.ledger.projection.text(f"{at}: {sentence}")
                    evidence = (said, f"searched: {seen.searched}")
                    yield Finding("answer.unsupported_value", at, reason, evidence, trajectory.ledger.grade)


def _replies(trajectory: Trajectory) -> list[tuple[str, int, str]]:
    """Each reply with its name and its place in the conversation."""
    found = [
        (index, message.decision.text)
        for index, message in enumerate(trajectory.conversation)
        if isinstance(message, Decided) and isinstance(message.decision, Reply)
    ]
    return [
        ("final" if number == len(found) else f"reply {number}", index, text)
        for number, (index, text) in enumerate(found, start=1)
    ]


def _unsupported(sentence: str, text: str, seen: Seen, supported: set[str]) -> Iterator[tuple[str, str]]:
    """The values of a sentence that nothing seen holds, each with what is wrong."""
    for name in names(sentence):
        if not name.text.startswith("$") and not seen.has_text(name.text):
            yield name.text, "an id or number that nothing seen holds"
    if OFFERED.search(sentence) is None:
        yield from _wrong_amounts(sentence, seen, supported)
        yield from (
            (one.text, "a day that nothing seen holds")
            for one in dates(sentence)
            if not seen.has_day(one, text)
        )
        yield from _wrong_digits(sentence, seen)
        for count in counts(sentence, seen.nouns):
            if not _count_holds(count, sentence, seen):
                yield count.text, f"seen are {', '.join(map(str, sorted(seen.lengths(count.noun))))}"


def _wrong_amounts(sentence: str, seen: Seen, supported: set[str]) -> Iterator[tuple[str, str]]:
    for amount in amounts(sentence):
        if amount.text not in supported:
            yield amount.text, "an amount that nothing seen holds, nor a sum or difference of two"
        elif _is_rest(sentence, amount) and not seen.leaves_rest(amount):
            yield amount.text, "a rest that only something left that did not happen"


def _wrong_digits(sentence: str, seen: Seen) -> Iterator[tuple[str, str]]:
    for phone in phones(sentence):
        if not seen.has_phone(phone):
            yield phone.text, "a telephone number that nothing seen holds"
    for ending in endings(sentence):
        if not seen.has_ending(ending):
            yield ending, "the last digits of nothing that was seen"


def _is_rest(sentence: str, amount: Amount) -> bool:
    """Whether an amount is said to be what remains: remaining 56.00 EUR, 56.00 EUR are left."""
    before, after = sentence[: amount.start].lower(), sentence[amount.end :].lower()
    return bool(_REST_OF.search(before) or _REST.match(after))


_REST_OF = re.compile(
    r"\b(?:remaining|remainder|rest|leaves|leaving|outstanding|left(?: over)?)(?: (?:of|is|are|was|amount|balance|sum|you|with|a|the|at|now|still)|:)* $"
)
_REST = re.compile(
    r" (?:(?:of it|is|are|was|were|still|now|that|which|will|then|the|as) )*(?:remain(?:s|ing|ed)?|left|outstanding)\b"
)
OFFERED = re.compile(
    r"\?\s*$|\b(?:for example|e\.g\.|say,|such as|up to|at least|at most|more than|less than|about|around|maximum|minimum"
    r"|I'll|I will|let me|let's|would|if)\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\s*(?:[.,;:!)]|$|for\b|on\b|of\b|in\b|and\b)")
_HAS = re.compile(
    r"\b(?:have|has|there is|are|were|found|see|shows?|exactly)\s+(?:only |just |exactly )?$", re.IGNORECASE
)


def _count_holds(count: Count, sentence: str, seen: Seen) -> bool:
    """Whether a count fits some list of this name. Fewer than there are is a part of them, unless it is said to be all."""
    lengths = seen.lengths(count.noun)
    if not lengths or count.number in lengths | seen.group_sizes(count.noun) | seen.said_counts(count.noun):
        return True
    if count.number > max(lengths):
        return seen.more(count.noun)
    whole = count.bare and _HAS.search(sentence[: count.start]) and _WHOLE.match(sentence[count.end :])
    return not whole


# -- what must be stated, and what must not ------------------------------------------------------------------


def stated(contract: Contract, trajectory: Trajectory, /) -> Iterator[Finding]:
    """What no reply states although it must, and what one states although it must not."""
    projection, grade = trajectory.ledger.projection, trajectory.ledger.grade
    replies = [(at, projection.text(plain(text))) for at, _, text in _replies(trajectory)]
    said = tuple(f"{at}: {text}" for at, text in replies) or ("the agent gave no reply",)
    for wanted in contract.states:
        if not any(states(text, wanted) for _, text in replies):
            reason = projection.text(f"no reply states {wanted}")
            yield Finding("answer.missing", "final", reason, said, grade)
    for forbidden in contract.never_states:
        for at, text in replies:
            if mentions(text, forbidden):
                reason = projection.text(f"a reply states {forbidden}, which it must not")
                yield Finding("answer.forbidden", at, reason, (f"{at}: {text}",), grade)


def states(text: str, wanted: Stated) -> bool:
    """Whether a text states this, in any usual writing; with `near`, in a sentence that holds one of these words.

    >>> states("You get $42.50 back.", Stated("42.50 USD")), states("You get $142.50 back.", Stated("42.50 USD"))
    (True, False)
    >>> states("We are open until 10.", Stated("10")), states("I refunded ten orders.", Stated("10", ("refunded",)))
    (False, True)
    """
    own, sought = plain(text), plain(wanted.text).strip()
    parts: Sequence[str] = sentences(own) if wanted.near else (*sentences(own), own)
    return any(
        _near(part, wanted.near) and any(not _denied(part[:place], sought) for place in _places(part, sought))
        for part in parts
    )


def mentions(text: str, forbidden: str) -> bool:
    """Whether a text holds this in any usual writing, denied or not: to deny a thing is to tell of it.

    >>> mentions("It was not order no. 4412.", "4412"), states("It is not packed yet.", Stated("packed"))
    (True, False)
    """
    own, wanted = plain(text), plain(forbidden).strip()
    return any(True for part in (*sentences(own), own) for _ in _places(part, wanted))


def _near(sentence: str, words: Sequence[str]) -> bool:
    """Whether it holds one of the words; a longer one also with an ending (refund, refunded)."""
    folded = sentence.casefold()
    ends = {True: r"\w*", False: r"(?!\w)"}
    return not words or any(
        re.search(rf"(?<!\w){re.escape(plain(word).casefold())}{ends[len(word) > 3]}", folded)
        for word in words
    )


_NUMERAL = re.compile(rf"0|[1-9]\d{{0,8}}|{NUMBER_WORDS}")
"""A number, of which other writings are the same; one that begins with a zero is a text."""


def _places(sentence: str, wanted: str) -> Iterator[int]:
    """Where a sentence holds something, in any usual writing."""
    money, days = amounts(wanted), dates(wanted)
    if money and money[0].text == wanted.rstrip("."):
        yield from (one.start for one in amounts(sentence) if _same_amount(money[0], one))
    elif days and days[0].text == wanted.rstrip("."):
        yield from (one.start for one in dates(sentence) if days[0].same(one))
    elif _NUMERAL.fullmatch(wanted.casefold()):
        yield from _numbers(sentence, number_of(wanted))
    elif words := r"\s+".join(map(re.escape, wanted.casefold().split())):
        exact = rf"(?<![\w$])(?<!\d[.,]){words}(?!\w|\.\w)"
        found = [one.start() for one in re.finditer(exact, sentence.casefold())]
        if not found and is_phone(wanted) and dialled(wanted, sentence):
            found = [0]
        yield from found


def _same_amount(wanted: Amount, said: Amount) -> bool:
    """Whether two amounts may be the same one: a currency that is not said is no other one."""
    codes = set(wanted.currencies or said.currencies or ("USD",)) & set(
        said.currencies or wanted.currencies or ("USD",)
    )
    return any(code in DECIMALS and wanted.minor(code) == said.minor(code) is not None for code in codes)


_CLOCK = r"(?:until|till|at|by|from|since|before|after|between|o'clock)\s+(?:about\s+|around\s+)?"
_DENIAL = re.compile(r"\b(?:not|never|cannot|unable|failed|no)\b|n't\b", re.IGNORECASE)
_MILD = (
    r"(?:yet|been|be|being|got|already|fully|completely|actually|really|currently|even|quite|exactly|officially|a|an|the"
    r"|any|your|in|as|marked|shown|listed|considered|status|state)"
)
_DENIED = re.compile(
    rf"(?:\b(?:not|never|cannot|no longer|nor|neither|no|without|far from|anything but)|n't)(?:\s+{_MILD})*\s+['\"(]*$"
    rf"|\b(?:nothing|nobody|none(?: of (?:\w+ )?\w+)?|neither(?: of (?:\w+ )?\w+)?)(?:\s+(?:is|was|are|were|has|have|had|{_MILD}))*\s+$"
    r"|\b(?:yet|still|waiting|about|remains) to (?:be|get)(?:\s+\w+ly)?\s+$",
    re.IGNORECASE,
)


def _denied(before: str, wanted: str) -> bool:
    """Whether the words before deny what follows: a number anywhere in its clause, anything else just before it."""
    told = numbered(f"{before}0").removesuffix("0")
    if _NUMERAL.fullmatch(wanted.casefold()):
        return _DENIAL.search(re.split(r"[,;:]|\bbut\b", told)[-1]) is not None
    return _DENIED.search(told) is not None


def _numbers(sentence: str, number: int) -> Iterator[int]:
    """Where a number stands as a number: as no part of an amount, a day, a time of day or an id."""
    taken = [(one.start, one.end) for one in amounts(sentence)]
    taken += [(one.start, one.end) for one in dates(sentence)]
    word = next((word for word, value in NUMBERS.items() if value == number), None)
    digits = rf"(?<![\w.:/-])(?<!\d,)(?:{number}|{number:,})(?!\w|[.,:/-]\d|\s?(?:[ap]\.?m\b|%|o'clock))"
    written = rf"{digits}|\b{word}\b" if word else digits
    for found in re.finditer(written, sentence, re.IGNORECASE):
        inside = any(start < found.end() and found.start() < end for start, end in taken)
        clock = number < 25 and re.search(rf"\b{_CLOCK}$", sentence[: found.start()], re.IGNORECASE)
        if not inside and not clock:
            yield found.start()
