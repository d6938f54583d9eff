"""Telephone numbers and endings of cards in running text, compared as they are dialled and not as they are written.

phones    +1 (555) 0001 · 0049 30 1234567 · your phone is 555 0100
dialled   whether a text holds a number, however it is grouped, with or without the code of its country
endings   a card ending in 4242 · visa 4242 · the last four digits are 4242
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_GAP = r"[ ().\-/]{0,3}"
_RUN = re.compile(rf"(?<![\w+])[+(]{{0,2}}\d(?:{_GAP}\d){{5,17}}(?!\d)")
_ABROAD = re.compile(rf"(?<![\w+])\(?(?:\+|00(?=[1-9]))\d(?:{_GAP}\d){{6,14}}(?!\d)")
_LABEL = re.compile(
    r"\b(?:telephone|phone|mobile|cell(?:phone)?|fax|whatsapp|telefon|handy)\b(?: (?:number|no\.))?"
    r"(?:,? (?:on (?:file|record)|is|was|now|to|as|currently|still))*:? ?(?=[(\d])",
    re.IGNORECASE,
)
_SHORTEST, _CODE = 7, 3
"""A number has at least so many digits, the code of a country at most so many."""


@dataclass(frozen=True, slots=True)
class Phone:
    """A telephone number: as it was written, its digits without leading zeros, and whether it names its country."""

    text: str
    digits: str
    abroad: bool

    @classmethod
    def of(cls, text: str) -> Phone:
        """The number that is written so.

        >>> Phone.of("+49 (0)30 123 4567").digits, Phone.of("0049-30-1234567").digits, Phone.of("030 1234567").digits
        ('49301234567', '49301234567', '301234567')
        """
        digits = re.sub(r"\D", "", text)
        abroad = text.lstrip("( ").startswith("+") or digits.startswith("00")
        if abroad:
            digits = re.sub(r"\D", "", re.sub(r"\(0\)", "", text))
        return cls(text, digits.lstrip("0"), abroad)

    def same(self, other: Phone) -> bool:
        """Whether both reach the same telephone; who leaves out the country's code names no other country."""
        if self.digits == other.digits:
            return True
        short, long = sorted((self, other), key=lambda one: len(one.digits))
        beyond = len(long.digits) - len(short.digits)
        return (
            not short.abroad
            and len(short.digits) >= _SHORTEST
            and 0 < beyond <= _CODE
            and long.digits.endswith(short.digits)
        )


def phones(text: str) -> tuple[Phone, ...]:
    """The telephone numbers of a text: those with a country's code, and those that are called one.

    >>> [one.text for one in phones("Call +1 (555) 000-1234; your phone is 555 0100, order 4412 of 2026-03-20.")]
    ['+1 (555) 000-1234', '555 0100']
    """
    found = {match.start(): match[0] for match in _ABROAD.finditer(text)}
    for label in _LABEL.finditer(text):
        run = _RUN.match(text, label.end())
        if run and len(re.sub(r"\D", "", run[0])) >= _SHORTEST:
            found.setdefault(run.start(), run[0])
    return tuple(Phone.of(written.strip()) for _, written in sorted(found.items()))


def runs(texts: Iterable[str]) -> frozenset[Phone]:
    """Everything in texts that may be dialled: each run of digits, and the parts of one that blanks cut into groups."""
    return frozenset(part for text in texts for run in _RUN.finditer(text) for part in _parts(run[0]))


def _parts(run: str) -> Iterator[Phone]:
    groups = run.split(" ")
    whole = Phone.of(run).abroad  # then what stands first is its country's code
    for first in range(1 if whole else len(groups)):
        for last in range(first + 1, len(groups) + 1):
            part = " ".join(groups[first:last])
            if sum(char.isdigit() for char in part) >= _SHORTEST:
                yield Phone.of(part)


def dialled(wanted: str, text: str) -> bool:
    """Whether a text holds this number.

    >>> dialled("+15550001", "It is +1 555-0001."), dialled("+15550001", "It is +1 555-0002.")
    (True, False)
    """
    number = Phone.of(wanted)
    return any(number.same(one) for one in runs([text]))


def is_phone(text: str) -> bool:
    """Whether a whole text is a telephone number with its country's code, or one that is grouped like one.

    >>> is_phone("+15550001"), is_phone("(555) 000-1234"), is_phone("4412"), is_phone("2026-03-20")
    (True, True, False, False)
    """
    if re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{4}|\d+(?:\.\d+)?|.*\d\.\d+", text):
        return False
    run = _RUN.fullmatch(text)
    return run is not None and len(re.sub(r"\D", "", text)) >= _SHORTEST


# -- the endings of cards ------------------------------------------------------------------------------------

_CARD = r"(?:card|visa|mastercard|amex|american express|maestro|discover|debit|credit card)"
_ENDING = re.compile(
    rf"\b(?:ending|ends|ended)(?: (?:in|with|on))?:? (?P<a>\d{{4}})(?![\w/-]|[.,:]\d)"
    rf"|\blast (?:four|4)(?: digits)?(?: (?:are|is|of (?:your|the) card(?: are| is)?))?:? (?P<b>\d{{4}})(?![\w/-]|[.,:]\d)"
    rf"|\b{_CARD}(?: number| no\.)?:? ?[(]?[•·*x#.\u2026 -]*(?P<c>\d{{4}})(?![\w/-]|[.,:]\d| ?(?:\d{{4}}|[A-Z]{{3}}\b|[€£¥]))",
    re.IGNORECASE,
)


def endings(text: str) -> tuple[str, ...]:
    """The last four digits that a text gives of cards (and of what else "ends in" them).

    >>> endings("To your card ending in 4242, not Visa •••• 1881; the card of 2026-03-01 is gone")
    ('4242', '1881')
    """
    return tuple(found["a"] or found["b"] or found["c"] for found in _ENDING.finditer(text))
