"""The one way in which texts and numbers are compared: folded, without accents where people leave them out, exact."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, timedelta
from decimal import Decimal, InvalidOperation

_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u2011": "-", "\u00a0": " ", "\u202f": " "})  # fmt: skip


_WIDE = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "đ": "dj", "ł": "l"})


_NARROW = str.maketrans({"å": "a", "ø": "o", "æ": "ae", "đ": "d", "ł": "l"})


_MOST_BITS = 133  # forty digits: longer ones take long to write, and nobody writes them
_LARGEST = Decimal(10) ** 15


def fold(text: str) -> str:
    """The text as it is compared: NFKC, case folded, with straight quotes and dashes and single blanks.

    >>> fold("  Stra\u00dfe \u2019n \u2013 9 ")
    "strasse 'n - 9"
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_QUOTES)).translate(_QUOTES).casefold()
    else:
        text = text.lower()
    if text.isalnum():
        return text
    return " ".join(text.split())


def unaccented(folded: str) -> tuple[str, str]:
    """A folded text without accents: with ae, oe, ue for umlauts, and with the bare letters.

    >>> unaccented("jürgen moré")
    ('juergen more', 'jurgen more')
    """
    return _bare(folded.translate(_WIDE)), _bare(folded.translate(_NARROW))


def _bare(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))


def key_of(value: object) -> str | None:
    """The folded text of a JSON scalar: numbers without trailing zeros, true and false in words; None where it is none.

    >>> key_of(42.50), key_of(4250), key_of(True), key_of("A1"), key_of([1])
    ('42.5', '4250', 'true', 'a1', None)
    """
    if isinstance(value, str):
        return fold(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if value.bit_length() < _MOST_BITS else "a very large number"
    if isinstance(value, float):
        number = decimal_of(value)
        return plain(number) if number is not None else str(value)
    return None


def decimal_of(value: object) -> Decimal | None:
    """The number in a JSON scalar, exactly as written; None where it is none, or no number of a sane size.

    >>> decimal_of(0.1), decimal_of("42.50"), decimal_of(True), decimal_of("1e999")
    (Decimal('0.1'), Decimal('42.50'), None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and not re.fullmatch(r"[-+]?\d{1,16}(?:\.\d{1,8})?", value.strip()):
        return None
    if isinstance(value, int) and abs(value) >= 10**15:
        return None
    try:
        number = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number) < _LARGEST else None


def plain(number: Decimal) -> str:
    """A number without exponent and trailing zeros.

    >>> plain(Decimal("42.50")), plain(Decimal("4E+3"))
    ('42.5', '4000')
    """
    text = f"{number:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def digits_of(text: str) -> str:
    """A phone number as dialled within its country: its digits without 00, country sign or trunk zero in front.

    >>> digits_of("+49 (0)30 901820"), digits_of("0049 30 901820"), digits_of("030 901820")
    ('4930901820', '4930901820', '30901820')
    """
    return re.sub(r"\D", "", text.replace("(0)", "")).lstrip("0")


def shifted(day: date, days: int) -> date | None:
    """The day so many days later; None beyond the calendar."""
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None
