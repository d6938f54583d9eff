"""Money as people write it, and as the books keep it: integers of the currency's minor unit.

The number of decimals is ISO 4217's (JPY 0, USD 2, KWD 3). Nothing is rounded: text with more decimals
than the currency has is an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

DECIMALS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "INR", "MXN"), 2),
        **dict.fromkeys(("NOK", "NZD", "PLN", "SEK", "SGD", "TRY", "USD", "ZAR"), 2),
        **dict.fromkeys(("CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"), 0),
        **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    }
)
"""Currency code to its number of decimals (ISO 4217)."""

_PLAIN = re.compile(r"([0-9]+)(?:[.,]([0-9]+))?")
_GROUPED = re.compile(r"([1-9][0-9]{0,2}(?:([,.' ])[0-9]{3})(?:\2[0-9]{3})*)(?:(?!\2)[.,]([0-9]+))?")


def decimals(currency: str) -> int:
    """How many decimals a currency has; ValueError for a code the table does not know."""
    if currency not in DECIMALS:
        raise ValueError(f"currency={currency!r} is not known; known are {', '.join(sorted(DECIMALS))}")
    return DECIMALS[currency]


def minor_units(text: str, currency: str) -> int:
    """The amount in minor units, exactly.

    Both `1,200.50` and `1.200,50` are read. One comma before three digits groups thousands, one point is the
    decimal sign; in a currency with three decimals both are.
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
    whole, fraction = _split(body.removeprefix("-"), places)
    if not whole:
        raise ValueError(f"{text!r} is no amount of money")
    if len(fraction) > places:
        raise ValueError(f"{text} has {len(fraction)} decimals, {currency} has {places}")
    return sign * int(whole + fraction.ljust(places, "0"))


def _split(body: str, places: int) -> tuple[str, str]:
    """The digits before and after the decimal sign of an unsigned amount; empty where it is none."""
    grouped = _GROUPED.fullmatch(body)
    if grouped and not (_PLAIN.fullmatch(body) and (places == 3 or grouped[2] == ".")):
        return re.sub(r"[,.' ]", "", grouped[1]), grouped[3] or ""
    plain = _PLAIN.fullmatch(body)
    return (plain[1], plain[2] or "") if plain else ("", "")


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
