"""How much and how often: the figures that a sentence ties to an act, against the deeds of its kind.

    wrong_amount   "¥5,800 refunded" while 58 JPY were committed
    wrong_count    "Refunded once." while two were committed · "refunded both payments" while one was

Only figures that stand at the verb itself are read: "refunded the payment of 42.50" says nothing of how much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from sandtrail.ledgers.money import DECIMALS, amount_text
from sandtrail.scenarios.acts import Said
from sandtrail.scenarios.evidence import Deed
from sandtrail.scenarios.mentions import NUMBER_WORDS, Amount, amounts, number_of

_FILL = r"(?:you|them|back|exactly|only|just|a|an|the|full|total|amount|sum|refund|credit|of|for|another|in|store|partial)"
_BE = r"(?:was|were|is|are|has|have|had|been|now|just|already|successfully|fully|in|full|back)"


def wrong_amount(sentence: str, said: Said, deeds: Sequence[Deed], told: Sequence[int] = ()) -> str | None:
    """What is wrong with the amounts at the act's verb, in words; None where nothing is, or none stands there.

    `told` are minor units that results tell of such acts, which count as well. Right is the amount of one deed, of all
    of them, or of those of one target.
    """
    bound = [one for one in amounts(sentence) if at_verb(sentence, one, said.word)]
    held = [deed.amount for deed in deeds if deed.amount is not None]
    if not bound or not held:
        return None
    right = {(sum(minor for minor, _ in group), currency) for currency, group in _grouped(held)} | set(held)
    for target in {deed.targets for deed in deeds}:
        of = [deed.amount for deed in deeds if deed.targets == target and deed.amount is not None]
        right |= {(sum(minor for minor, _ in group), currency) for currency, group in _grouped(of)}
    wrong = [one for one in bound if not any(_is(one, minor, currency) for minor, currency in right)]
    wrong = [one for one in wrong if not any(one.minor(code) in told for code in one.currencies or ("USD",))]
    if not wrong:
        return None
    return f"{wrong[0].text} is said, {' and '.join(_amount(*one) for one in held)} stands in the books"


def _grouped(
    held: Sequence[tuple[int, str | None]],
) -> list[tuple[str | None, list[tuple[int, str | None]]]]:
    in_order = sorted(held, key=lambda one: one[1] or "")
    return [(currency, list(group)) for currency, group in groupby(in_order, key=lambda one: one[1])]


def _is(amount: Amount, minor: int, currency: str | None) -> bool:
    """Whether an amount as written is this one; where the books name no currency, any it may be of will do."""
    codes = (currency,) if currency is not None else amount.currencies or ("USD",)
    return any(amount.minor(code) == minor for code in codes)


def _amount(minor: int, currency: str | None) -> str:
    return amount_text(minor, currency) if currency in DECIMALS and currency else f"{minor} minor units"


def at_verb(sentence: str, amount: Amount, verb: str) -> bool:
    """Whether an amount stands at a verb, as its object or its subject."""
    before, after = sentence[: amount.start].lower(), sentence[amount.end :].lower()
    said = re.escape(verb)
    return bool(
        re.search(rf"\b{said}(?:\s+{_FILL})*[\s:]*$", before)
        or re.match(rf"(?:\s+{_BE})*\s+{said}\b", after)
        or re.search(r"\b(?:refund|credit|voucher)s? (?:of|for|over)(?: exactly| the full)? $", before)
    )


# -- how often -----------------------------------------------------------------------------------------------

_GAP = (
    r"(?:(?!\b(?:that|which|was|were|is|are|been|charged|billed|paid|you|as|since|because)\b)[^,;:]){0,60}?"
)
_ONCE = r"(?:\bonce(?=\s*(?:[.,;!)]|$|(?:on|to|for|and|only|as|from|in)\b))|\bone time\b)"
_TIMES = rf"(?:\btwice\b|\b(?P<times>\d{{1,2}}|{NUMBER_WORDS}) times\b)"
_EACH = re.compile(r"\b(?:each|every|respectively|per)\b")
_UNITS = r"(?!days?\b|hours?\b|minutes?\b|weeks?\b|dollars?\b|euros?\b|yen\b|pounds?\b|cents?\b|business\b|percent\b|items?\b)"


def wrong_count(sentence: str, said: Said, deeds: Sequence[Deed], here: Sequence[Deed]) -> str | None:
    """What is wrong with how often the act is said to have been done; None where nothing is, or nothing is said.

    `deeds` are those by then, `here` those of the same turn: a number may be about either, or about the entities.
    """
    text = sentence.lower()
    number, exact = _counted(text, said.word, said.families)
    if number == 0 or (_EACH.search(text) and number == 1):
        return None
    fitting = {len(deeds), len(here), len({deed.targets for deed in deeds})} - {0}
    if exact and number == 1 and len(here or deeds) > 1:
        fitting.discard(1)
    if number in fitting or _is_part(re.sub(_TWO, "", text)) or (not exact and number < len(deeds)):
        return None
    return f"{number} said, {len(deeds)} in the books"


def _is_part(text: str) -> bool:
    return re.search(r"\b(?:of the (?:two|three|both)|another|other|more|again|second)\b", text) is not None


_ORDINAL = r"(?:first|second|third|fourth|other|last)"
_TWO = rf"(?:the )?{_ORDINAL}(?: [a-z]+)? and (?:the |also )*{_ORDINAL}\b"
_TIES = re.compile(
    r"\(?(?:with|of|for|containing|holding|including|in|from|on|at|to|about|over|under|beside|without)"
)


def _is_attribute(before: Sequence[str], families: Iterable[str]) -> bool:
    """Whether a number after these words belongs to a noun before it: order 9034 with the four vases is cancelled.

    In "the refunds for both payments are issued" it counts the acts.
    """
    while before and before[-1] in {"the", "all", "your", "its", "their", "these", "those"}:
        before = before[:-1]
    if not before or _TIES.fullmatch(before[-1]) is None:
        return False
    return not any(word.startswith(family) for word in before[-3:-1] for family in families)


def _counted(text: str, verb: str, families: Iterable[str]) -> tuple[int, bool]:
    """The number that the sentence ties to the verb, 0 where it ties none: once and twice are exact; of "both payments"
    or "ten of them" there may be more."""
    said = re.escape(verb)
    if re.search(rf"\b{said}\b{_GAP}{_ONCE}", text):
        return 1, True
    if times := re.search(rf"\b{said}\b{_GAP}{_TIMES}", text):
        return (number_of(times["times"]) if times["times"] else 2), True
    many = rf"(?P<n>both|\d{{1,3}}|{NUMBER_WORDS})"
    things = rf"\s+(?:of (?:them|the|your|these|those)\b|{_UNITS}(?:[a-z]+ )?{_UNITS}[a-z]+s\b)"
    after = re.search(rf"\b{said} (?:all |the |your |only |exactly )*{many}(?![.,:\w]*\d){things}", text)
    before = re.search(rf"(?:^|[\s,])(?:all |the |your )*{many}{things}(?: {_BE})+ {said}\b", text)
    if before and _is_attribute(text[: before.start()].split(), families):
        before = None
    if found := after or before:
        return (2 if found["n"] == "both" else number_of(found["n"])), False
    if re.search(rf"\b{said} {_TWO}", text) or re.search(rf"\b{_TWO}(?: [a-z]+)?(?: {_BE})+ {said}\b", text):
        return 2, False
    both = re.search(rf"\b{said} both\b|\bboth (?:{_BE} )+{said}\b", text)
    return (2 if both else 0), False
