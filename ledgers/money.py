"""Money as people write it, and as the books keep it: integers of the currency's minor unit.

The number of decimals is ISO 4217's (JPY 0, USD 2, KWD 3). Nothing is rounded: text with more decimals
than the currency has is an error.
"""

from __future__ import annotations

import re
from types import MappingProxyType

DECIMALS = MappingProxyType(
    {
        **dict.fromkeys(("AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "INR", "MXN"), 2),
        **dict.fromkeys(("NOK", "NZD", "PLN", "SEK", "SGD", "TRY", "USD", "ZAR"), 2),
        **dict.fromkeys(("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"), 0),
        **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    }
)
"""Currency code to its number of decimals (ISO 4217)."""

_GROUPED = re.compile(r"\d{1,3}(?:([,.' ])\d{3})(?:\1\d{3})*|\d+")


def decimals(currency: str) -> int:
    """How many decimals a currency has; ValueError for a code the table does not know."""
    if currency not in DECIMALS:
        raise ValueError(f"currency={currency!r} is not known; known are {', '.join(sorted(DECIMALS))}")
    return DECIMALS[currency]


def minor_units(text: str, currency: str) -> int:
    """The amount in minor units, exactly.

    Both `1,200.50` and `1.200,50` are read; a single separator followed by three digits is the decimal
    sign only in a currency with three decimals, else it groups thousands.
    Raises ValueError where the text is no amount of this currency.

    >>> minor_units("80.60", "USD"), minor_units("1.200,50", "EUR"), minor_units("5,800", "JPY")
    (8060, 120050, 5800)
    >>> minor_units("1.005", "USD")
    Traceback (most recent call last):
    ValueError: 1.005 has 3 decimals, USD has 2
    """
    places = decimals(currency)
    body = text.strip()
    sign = -1 if body.startswith("-") else 1
    body = body.removeprefix("-")
    whole, fraction = _split(body, places)
    digits = re.sub(r"[,.' ]", "", whole)
    if not digits.isascii() or not digits.isdigit() or (fraction and not fraction.isdigit()):
        raise ValueError(f"{text!r} is no amount of money")
    if len(fraction) > places:
        raise ValueError(f"{text} has {len(fraction)} decimals, {currency} has {places}")
    return sign * (int(digits) * 10**places + int(fraction.ljust(places, "0") or 0))


def _split(body: str, places: int) -> tuple[str, str]:
    """Whole part (maybe grouped) and fraction of an unsigned amount."""
    match = re.fullmatch(r"(.*?)(?:([.,])(\d*))?", body, re.DOTALL)
    if match is None or match[2] is None:
        return body, ""
    whole, mark, fraction = match[1], match[2], match[3]
    grouped = _GROUPED.fullmatch(body)
    leading_zero = whole in {"", "0"}
    if len(fraction) == 3 and grouped and places != 3 and not leading_zero and (mark == "," or whole.count(mark)):
        return body, ""
    return whole, fraction


def amount_text(minor: int, currency: str) -> str:
    """The amount as people write it, with its currency code.

    >>> amount_text(4250, "USD"), amount_text(5800, "JPY"), amount_text(-1500, "KWD")
    ('42.50 USD', '5800 JPY', '-1.500 KWD')
    """
    places = decimals(currency)
    sign, size = ("-" if minor < 0 else ""), abs(minor)
    if places == 0:
        return f"{sign}{size} {currency}"
    return f"{sign}{size // 10**places}.{size % 10**places:0{places}d} {currency}"
