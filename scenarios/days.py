"""Days as people write them in running text.

    2026-08-26 · 2026/08/26 · 26 August 2026 · Aug 26
    26/08/2026 · 26.08.2026 · 26-08-2026 · 08/26/2026      (03/04/2026 may be either day: both are kept)
    26. August 2026 · 20. März · 20 de marzo de 2026 · 20 mars 2026
    2026年3月20日 · 3月20日 · 2026년 3월 20일

A month's name in another language than English is read only beside a year, or where a point or "de" ties it to the day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from types import MappingProxyType

_ENGLISH = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip
_OTHERS = """
januar februar märz april mai juni juli august september oktober november dezember
jänner feber maerz april mai juni juli august september oktober november december
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
januari februari maart april mei juni juli augustus september oktober november december
januari februari marts april maj juni juli augusti september oktober november december
"""
MONTHS: Mapping[str, int] = MappingProxyType(
    {name: place for line in _OTHERS.split("\n") for place, name in enumerate(line.split(), start=1)}
)
"""The names of months in other languages than English, in lower case."""

_MONTH = (
    rf"(?P<{{}}>{'|'.join(f'{name[:3]}(?:{name[3:]})?' if name[3:] else name for name in _ENGLISH)}|Sept)\.?"
)
_OTHER = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:19|20)\d{2}"
_DAY = re.compile(
    r"(?<![\d-])(?P<y1>\d{4})-(?P<m1>\d{2})-(?P<d1>\d{2})(?!\d)"
    rf"|(?<![\d.,])(?P<d2>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? {_MONTH.format('m2')}(?!\w)(?:,? (?P<y2>\d{{4}})(?!\d))?"
    rf"|\b{_MONTH.format('m3')} (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?![\d%]|[.:]\d)(?:,? (?P<y3>\d{{4}})(?!\d))?"
    rf"|(?<![\d.,])(?P<d4>\d{{1,2}})(?P<tie>\.|º|°|er| de| di)? (?i:(?P<m4>{_OTHER}))(?!\w)"
    rf"(?:,?(?: de| del)? (?P<y4>{_YEAR})(?![\d年]))?"
    rf"|(?<![\d./-])(?P<d5>\d{{1,2}})(?P<sep>[./-])(?P<m5>\d{{1,2}})(?P=sep)(?P<y5>{_YEAR})(?![\d/-]|\.\d)"
    rf"|(?<![\d./-])(?P<y6>{_YEAR})/(?P<m6>\d{{1,2}})/(?P<d6>\d{{1,2}})(?![\d/]|\.\d)"
    rf"|(?:(?<!\d)(?P<y7>\d{{4}}) ?[年년] ?|(?<![\d年년]))(?P<m7>\d{{1,2}}) ?[月월] ?(?P<d7>\d{{1,2}}) ?[日일号]"
)


@dataclass(frozen=True, slots=True)
class Day:
    """A day as it was written; `year` None where it was left out, `either` where day and month may be swapped."""

    text: str
    year: int | None
    month: int
    day: int
    start: int
    end: int
    either: bool = False

    @property
    def readings(self) -> tuple[tuple[int, int], ...]:
        """The months and days that it may be."""
        own = (self.month, self.day)
        return (own, (self.day, self.month)) if self.either else (own,)

    def fits(self, other: date) -> bool:
        """Whether it may name that day."""
        return (other.month, other.day) in self.readings and self.year in {None, other.year}

    def same(self, other: Day) -> bool:
        """Whether two may be the same day: a year that is not said is no other year."""
        years = {self.year, other.year} - {None}
        return len(years) < 2 and not set(self.readings).isdisjoint(other.readings)


def dates(text: str) -> tuple[Day, ...]:
    """The days that a text names.

    >>> [(one.year, one.month, one.day) for one in dates("2026-08-26, 26 August 2026 or Aug 26th; May I?")]
    [(2026, 8, 26), (2026, 8, 26), (None, 8, 26)]
    >>> [(one.year, one.readings) for one in dates("13/03/2026, 20. März, 2026年3月20日 and 03/04/2026")]
    [(2026, ((3, 13),)), (None, ((3, 20),)), (2026, ((3, 20),)), (2026, ((4, 3), (3, 4)))]
    """
    return tuple(_dates(text)) if any(map(str.isdigit, text)) else ()


def _dates(text: str) -> Iterator[Day]:
    for found in _DAY.finditer(text):
        kind = next(n for n in "1234567" if found[f"d{n}"])
        year = int(found[f"y{kind}"]) if found[f"y{kind}"] else None
        if kind == "4" and year is None and not found["tie"]:
            continue
        month, day, either = _month(found[f"m{kind}"]), int(found[f"d{kind}"]), False
        if kind == "5" and found["sep"] != ".":
            month, day = (day, month) if month > 12 else (month, day)
            either = max(month, day) <= 12 and month != day
        if _is_day(year, month, day):
            yield Day(found[0], year, month, day, found.start(), found.end(), either)


def _month(written: str) -> int:
    if written.isdigit():
        return int(written)
    other = MONTHS.get(written.lower())
    return other or [name[:3] for name in _ENGLISH].index(written[:3]) + 1


def _is_day(year: int | None, month: int, day: int) -> bool:
    try:
        date(2024 if year is None else year, month, day)
    except ValueError:
        return False
    return True


_POINTED = re.compile(r"(?<![\d.,])\d{1,2}\.$")
_NEXT = re.compile(rf"(?i:{_OTHER}|january|february|march|june|july|october|december)(?!\w)")
_TOLD = re.compile(rf"(?:{_MONTH.format('m')}) \d{{1,2}}\.$")


def pointed(before: str, after: str) -> bool:
    """Whether a point ends a day and no sentence: "am 20. März", and not "on March 20. August is far".

    >>> pointed("Am 20.", "März 2026"), pointed("On March 20.", "August is far."), pointed("I ordered 20.", "Maybe more.")
    (True, False, False)
    """
    return bool(_POINTED.search(before) and _NEXT.match(after)) and not _TOLD.search(before)
