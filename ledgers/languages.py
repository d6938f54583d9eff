"""Language packs: how people of one language write the values that tools take.

A pack is a frozen value: month and weekday names, number words, words for days relative to today, money and percent.
Renderers go through all packs in `PACKS`; one for another language is one more value there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Language:
    """What one language calls things. All words in lower case.

    `dates` are templates of a day and a month: {d} day, {o} ordinal, {m} month name or its short form, {y} year.
    `in_days` are templates of a distance; `days` maps a word to its distance from today. `cents` are the names of the
    smaller unit, `joint` the word between the two, `articles` what stands before a day of the month. `yes` and `no` stand before a noun that is wanted or not.
    """

    name: str
    months: tuple[tuple[str, ...], ...]
    weekdays: tuple[tuple[str, ...], ...]
    numbers: Mapping[int, tuple[str, ...]]
    ordinals: Mapping[int, tuple[str, ...]]
    days: Mapping[str, int]
    dates: tuple[str, ...]
    in_days: tuple[str, ...]
    in_weeks: tuple[str, ...]
    money: Mapping[str, tuple[str, ...]]
    cents: Mapping[str, tuple[str, ...]]
    percent: tuple[str, ...]
    joint: str
    articles: tuple[str, ...]
    half_day: tuple[str, str] = ("", "")
    yes: tuple[str, ...] = ()
    no: tuple[str, ...] = ()


def _english_ordinal(day: int) -> str:
    ending = "th" if 11 <= day <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


_EN_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_EN_TENS = {30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}
_DE_ONES = [
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
    "zwanzig",
]
_DE_TENS = {20: "zwanzig", 30: "dreißig", 40: "vierzig", 50: "fünfzig", 60: "sechzig", 70: "siebzig", 80: "achtzig", 90: "neunzig"}  # fmt: skip


def _english_numbers() -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {number: (word,) for number, word in enumerate(_EN_ONES)}
    found[1] = ("one", "a single", "once")
    found[2] = ("two", "both", "a couple", "a pair", "twice")
    found[12] = ("twelve", "a dozen")
    for ten, word in {20: "twenty", **_EN_TENS}.items():
        found[ten] = (word,)
        for one in range(1, 10):
            found[ten + one] = (f"{word}-{_EN_ONES[one]}", f"{word} {_EN_ONES[one]}")
    found[100] = ("hundred", "a hundred", "one hundred")
    for hundred in range(2, 10):
        found[hundred * 100] = (f"{_EN_ONES[hundred]} hundred",)
    found[1000] = ("a thousand", "one thousand")
    for hundred in range(1, 10):
        for rest in range(1, 100):
            head = f"{_EN_ONES[hundred]} hundred"
            found[hundred * 100 + rest] = tuple(
                f"{head}{link}{tail}" for link in (" ", " and ") for tail in found[rest][:2]
            )
    return found


def _german_numbers() -> dict[int, tuple[str, ...]]:
    found: dict[int, tuple[str, ...]] = {number: (word,) for number, word in enumerate(_DE_ONES)}
    found[1] = ("eins", "ein", "eine", "einen", "einer", "einmal")
    found[2] = ("zwei", "beide", "beiden", "zweimal")
    found[12] = ("zwölf", "ein dutzend")
    for ten, word in _DE_TENS.items():
        found[ten] = (word,)
        for one in range(1, 10):
            found[ten + one] = (f"{'ein' if one == 1 else _DE_ONES[one]}und{word}",)
    found[100] = ("hundert", "einhundert")
    for hundred in range(2, 10):
        found[hundred * 100] = (f"{_DE_ONES[hundred]}hundert",)
    for hundred in range(1, 10):
        for rest in range(1, 100):
            heads = ("hundert", "einhundert") if hundred == 1 else (f"{_DE_ONES[hundred]}hundert",)
            found[hundred * 100 + rest] = tuple(f"{head}{found[rest][0]}" for head in heads)
    return found


ENGLISH = Language(
    name="English",
    months=(
        ("january", "jan"),
        ("february", "feb"),
        ("march", "mar"),
        ("april", "apr"),
        ("may",),
        ("june", "jun"),
        ("july", "jul"),
        ("august", "aug"),
        ("september", "sept", "sep"),
        ("october", "oct"),
        ("november", "nov"),
        ("december", "dec"),
    ),
    weekdays=(
        ("monday", "mon"),
        ("tuesday", "tue"),
        ("wednesday", "wed"),
        ("thursday", "thu"),
        ("friday", "fri"),
        ("saturday", "sat"),
        ("sunday", "sun"),
    ),
    numbers=_english_numbers(),
    ordinals={day: (_english_ordinal(day),) for day in range(1, 32)},
    days={
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "the day after tomorrow": 2,
        "yesterday": -1,
        "the day before yesterday": -2,
        "a week from today": 7,
        "next week": 7,
        "in a week": 7,
        "a week ago": -7,
    },
    dates=(
        "{m} {d}",
        "{m} {o}",
        "{d} {m}",
        "{o} {m}",
        "{o} of {m}",
        "the {o} of {m}",
        "{m}. {d}",
        "{m} the {o}",
    ),
    in_days=("in {n} days", "{n} days from now", "in {n} day"),
    in_weeks=("in {n} weeks", "{n} weeks from now", "in {n} week"),
    money={
        "USD": ("dollars", "dollar", "bucks"),
        "EUR": ("euros", "euro"),
        "GBP": ("pounds", "pound", "quid"),
        "JPY": ("yen",),
        "KWD": ("dinars", "dinar"),
        "DKK": ("kroner", "krone", "crowns"),
    },
    cents={
        "USD": ("cents", "cent"),
        "EUR": ("cents", "cent"),
        "GBP": ("pence", "p"),
        "KWD": ("fils",),
        "DKK": ("øre",),
    },
    percent=("percent", "per cent"),
    joint="and",
    articles=("the",),
    half_day=("am", "pm"),
    yes=("with", "include", "including", "add", "yes", "want"),
    no=("without", "no", "not", "don't want", "do not want", "skip", "exclude"),
)

GERMAN = Language(
    name="German",
    months=(
        ("januar", "jan", "jänner"),
        ("februar", "feb"),
        ("märz", "mär"),
        ("april", "apr"),
        ("mai",),
        ("juni", "jun"),
        ("juli", "jul"),
        ("august", "aug"),
        ("september", "sept", "sep"),
        ("oktober", "okt"),
        ("november", "nov"),
        ("dezember", "dez"),
    ),
    weekdays=(
        ("montag",),
        ("dienstag",),
        ("mittwoch",),
        ("donnerstag",),
        ("freitag",),
        ("samstag", "sonnabend"),
        ("sonntag",),
    ),
    numbers=_german_numbers(),
    ordinals={day: (f"{day}.",) for day in range(1, 32)},
    days={
        "heute": 0,
        "morgen": 1,
        "übermorgen": 2,
        "gestern": -1,
        "vorgestern": -2,
        "in einer woche": 7,
        "vor einer woche": -7,
    },
    dates=("{o} {m}", "{d} {m}", "{m} {d}"),
    in_days=("in {n} tagen", "in {n} tag"),
    in_weeks=("in {n} wochen", "in {n} woche"),
    money={
        "USD": ("dollar",),
        "EUR": ("euro",),
        "GBP": ("pfund",),
        "JPY": ("yen",),
        "CHF": ("franken",),
        "KWD": ("dinar",),
        "DKK": ("kronen",),
    },
    cents={"USD": ("cent",), "EUR": ("cent",), "CHF": ("rappen",), "KWD": ("fils",)},
    percent=("prozent",),
    joint="und",
    articles=("der", "den", "dem", "am"),
    half_day=("", "uhr"),
    yes=("mit", "inklusive", "ja"),
    no=("ohne", "kein", "keine", "keinen", "nicht"),
)

PACKS: tuple[Language, ...] = (ENGLISH, GERMAN)
"""The languages that renderers know."""
