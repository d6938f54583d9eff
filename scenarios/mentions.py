"""Values as people write them in running text: amounts, dates, counts, order numbers and ids.

    sentences   a text as its sentences, lines and bullets
    amounts     42.50 USD, $42.50, ¥5,800, 42,50 €, 58 yen, and 12.00 without a currency; a bare number is none
    counts      two payments, 3 open orders: a small number before one of the given nouns
    names       pay_7Q2M9XKD, $payment.lamp, order 4412, invoice INV-7

Everything is read conservatively: what could be something else is not read at all.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sandtrail.ledgers.money import DECIMALS, decimals, minor_units
from sandtrail.scenarios.days import dates, pointed

# -- sentences ---------------------------------------------------------------------------------------------

_SHORT = re.compile(
    r"(?:^|[\s(])(?:(?P<number>nos?)|(?P<money>kr)|nr|approx|e\.g|i\.e|mr|mrs|ms|dr|st|inc|ltd|etc|vs|resp)\.$",
    re.IGNORECASE,
)
_CODE = r"#? ?(?:[A-Za-z]{1,6}-?)?(?!\d+[.,]\d{2}(?!\d))\d"
_NUMBER_SIGN = re.compile(
    rf"(?<!\w)(?:nos?\.:?|№|(?:(?<=order )|(?<=invoice )|(?<=item )|(?<=tracking )|(?<=ticket )|(?<=account ))nos?:?) ?(?={_CODE})",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]*\"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?<!\w)[\u2018'][^'\u2018\u2019\n]*['\u2019](?!\w)|```.*?(?:```|$)",
    re.DOTALL,
)
_LONGEST = 1000
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+")


def plain(text: str) -> str:
    r"""The text in NFC, with straight apostrophes and plain blanks, without emphasis marks.

    >>> plain("I **haven\u2019t** paid")
    "I haven't paid"
    """
    grouped = re.sub(r"(?<=\d)[\u00a0\u202f](?=\d{3}(?!\d))", "'", unicodedata.normalize("NFC", text))
    return re.sub(
        r"\*\*|__|`", "", grouped.replace("\u2019", "'").replace("\u00a0", " ").replace("\u202f", " ")
    )


def unquoted(text: str) -> str:
    """The text without what it quotes: quotation marks, code and lines that begin with `>`.

    >>> unquoted('You wrote "I refunded it" and it is open.')
    'You wrote (quoted) and it is open.'
    """
    own = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))
    return _QUOTED.sub("(quoted)", own)


def sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text; a line ends one, unless it ends with a colon.

    >>> sentences("Done. Order No. 4412 costs 42.50 USD!\\n- It is open")
    ('Done.', 'Order No. 4412 costs 42.50 USD!', 'It is open')
    """
    found: list[str] = []
    for line in re.sub(r":[ \t]*\n+\s*(?:[-*•+]\s+)?", ": ", text).split("\n"):
        begin = 0
        body = _BULLET.sub("", line)
        for stop in re.finditer(r"(?<![.!?…])[.!?…]+[\"')\]]*(?=\s)|[\u3002\uff01\uff1f]", body):
            if _ends(body[begin : stop.end()], body[stop.end() :].lstrip()):
                found.append(body[begin : stop.end()].strip())
                begin = stop.end()
        found.append(body[begin:].strip())
    return tuple(
        part
        for one in found
        if one
        for part in (textwrap.wrap(one, _LONGEST) if len(one) > _LONGEST else (one,))
    )


def _ends(before: str, after: str) -> bool:
    """Whether a sentence ends before `after`: not at "e.g.", nor at the point of "no. 4412", "20. März", "312 kr. each"."""
    short = _SHORT.search(before)
    if short is None:
        return not pointed(before, after)
    if short["number"]:
        return re.match(_CODE, after) is None
    return not after[:1].islower() if short["money"] else False


def numbered(text: str) -> str:
    """The text with its number signs written out, so that none is read as a denial.

    >>> numbered("Order no. 4412 is open, no refund was made. No. 42.50 USD is right.")
    'Order number 4412 is open, no refund was made. No. 42.50 USD is right.'
    """
    return _NUMBER_SIGN.sub("number ", text)


# -- amounts -----------------------------------------------------------------------------------------------

_DOLLARS, _KRONER = ("USD", "AUD", "CAD", "NZD", "SGD", "MXN", "CLP"), ("DKK", "SEK", "NOK", "ISK")
_SIGNS = {
    "$": _DOLLARS, "US$": ("USD",), "C$": ("CAD",), "CA$": ("CAD",), "A$": ("AUD",), "AU$": ("AUD",), "NZ$": ("NZD",),
    "S$": ("SGD",), "MX$": ("MXN",), "R$": ("BRL",), "€": ("EUR",), "£": ("GBP",), "¥": ("JPY", "CNY"), "₹": ("INR",),
    "₩": ("KRW",), "₺": ("TRY",), "₫": ("VND",), "円": ("JPY",), "元": ("CNY",), "원": ("KRW",), "kr": _KRONER,
    "kr.": _KRONER, "zł": ("PLN",), "Kč": ("CZK",),
}  # fmt: skip
_WORDS = {
    "dollar": _DOLLARS, "euro": ("EUR",), "yen": ("JPY",), "pound": ("GBP",), "yuan": ("CNY",), "krone": _KRONER,
    "kroner": _KRONER, "krona": _KRONER, "kronor": _KRONER, "crown": (*_KRONER, "CZK"), "koruna": ("CZK",),
    "zloty": ("PLN",), "złoty": ("PLN",), "franc": ("CHF", "XAF", "XOF"), "rupee": ("INR",), "peso": ("MXN", "CLP"),
    "reais": ("BRL",), "rand": ("ZAR",), "lira": ("TRY",), "dinar": ("KWD", "BHD", "IQD", "JOD", "LYD", "TND"),
}  # fmt: skip
_NUMBER = r"(?:\d{1,3}(?:[,.'][0-9]{3})+(?:[.,]\d{1,3})?|\d+(?:[.,]\d{1,3})?)(?!\d)"
_MARKS = r"[$€£¥₹₩₺₫]"
_BEFORE = rf"(?:US|CA?|AU?|NZ|S|MX|R)\$|{_MARKS}|\bkr\.?|\b(?:{'|'.join(sorted(DECIMALS))})\b"
_AFTER = (
    rf"(?:{_MARKS}|[円元원]|zł(?!\w)|Kč(?!\w)|kr\b|(?:{'|'.join(sorted(DECIMALS))})\b"
    rf"|(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})s?\b)"
)
AMOUNT = re.compile(
    rf"(?<![\w.,#])(?:(?P<before>{_BEFORE})\s?(?P<first>{_NUMBER})|(?P<second>{_NUMBER})\s?(?P<after>{_AFTER})"
    r"|(?P<bare>(?:\d{1,3}(?:,\d{3})+|\d+)\.\d{2}|(?:\d{1,3}(?:\.\d{3})+|\d+),\d{2})(?![\d%]|[.,/]\d|\s?%))"
)


_NO_MONEY = re.compile(r"\b(?:version|v|release|section|chapter|rating|at|until|by)\.?\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount of money as it was written; without a sign or a code it may be of any currency (`currencies` empty)."""

    text: str
    digits: str
    currencies: tuple[str, ...]
    start: int
    end: int

    def minor(self, currency: str) -> int | None:
        """Its minor units in a currency; None where it is no amount of that one."""
        if currency not in DECIMALS or (self.currencies and currency not in self.currencies):
            return None
        try:
            return minor_units(self.digits, currency)
        except ValueError:
            return None

    @property
    def value(self) -> Decimal:
        """Its size in major units."""
        currency = self.currencies[0] if self.currencies else "USD"
        return Decimal(minor_units(self.digits, currency)).scaleb(-decimals(currency))


def amounts(text: str) -> tuple[Amount, ...]:
    """The amounts of money in a text, each with its currencies.

    >>> [(one.text, one.minor("USD"), one.minor("JPY")) for one in amounts("$42.50, 12.00 and ¥5,800; order 4412")]
    [('$42.50', 4250, None), ('12.00', 1200, None), ('¥5,800', None, 5800)]
    """
    return tuple(_amounts(text)) if any(map(str.isdigit, text)) else ()


def _amounts(text: str) -> Iterator[Amount]:
    for found in AMOUNT.finditer(text):
        sign = found["before"] or found["after"] or ""
        said = _SIGNS.get(sign) or _WORDS.get(sign.removesuffix("s")) or ((sign,) if sign else ())
        digits = found["first"] or found["second"] or found["bare"]
        amount = Amount(found[0].strip(), digits, said, found.start(), found.end())
        if not sign and _NO_MONEY.search(text[: found.start()]):
            continue
        fitting = tuple(currency for currency in said if amount.minor(currency) is not None)
        if fitting or not said:
            yield Amount(amount.text, digits, fitting, amount.start, amount.end)


# -- counts ------------------------------------------------------------------------------------------------

_ONES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")  # fmt: skip
NUMBERS = {word: number for number, word in enumerate(_ONES)}
"""Number words up to twenty."""
NUMBER_WORDS = "|".join(NUMBERS)


@dataclass(frozen=True, slots=True)
class Count:
    """A number of things. `bare` where the noun follows at once: two payments, not two open payments."""

    text: str
    number: int
    noun: str
    bare: bool
    start: int
    end: int


def number_of(text: str) -> int:
    """A number out of digits or a word."""
    return NUMBERS[text.lower()] if text.lower() in NUMBERS else int(text)


def counts(text: str, nouns: Iterable[str]) -> tuple[Count, ...]:
    """The small numbers that stand before one of the nouns, or one word before it.

    >>> [(one.number, one.noun, one.bare) for one in counts("Two payments, 3 open orders, order 44 payments", ["payments", "orders"])]
    [(2, 'payments', True), (3, 'orders', False)]
    """
    wanted = "|".join(re.escape(noun) for noun in sorted(set(nouns), key=len, reverse=True))
    if not wanted:
        return ()
    pattern = rf"(?<![\w.,#$€£¥:/-])(?P<number>\d{{1,3}}|{NUMBER_WORDS})\s+(?P<kind>(?!(?:is|are|was|were|to|for|in|on|of|and|or|the|at|per)\s)[a-z]+\s)?(?P<noun>{wanted})\b"
    days = [(one.start, one.end) for one in dates(text)]
    return tuple(
        Count(found[0], number_of(found["number"]), found["noun"].lower(), not found["kind"], *found.span())
        for found in re.finditer(pattern, text, re.IGNORECASE)
        if not re.search(r"(?:order|invoice|number|no\.?|#)\s*$", text[: found.start()], re.IGNORECASE)
        and not any(start < found.end() and found.start() < end for start, end in days)
    )


# -- names -------------------------------------------------------------------------------------------------

_NAME = re.compile(
    r"(?P<symbol>\$[a-z_]+\.\w+)"
    r"|(?<![\w$.@/-])(?P<id>[a-z]{2,12}_(?=\w*[\dA-Z])[A-Za-z0-9_]+)(?!\w)"
    r"|\b(?P<word>[Oo]rder|[Ii]nvoice)s?,?\s+(?:(?:[Nn]umber|[Nn]o\.?|[Nn]r\.?|ID|id)\s*)?[:#]?\s*#?"
    r"(?P<number>(?=[A-Z0-9-]*\d)[A-Z0-9][A-Z0-9-]*[A-Z0-9](?![\w%]|[.,:/]\d|-\w))"
)


@dataclass(frozen=True, slots=True)
class Name:
    """An entity as it was named: a symbol, a raw id, or the number of an order or invoice (`kind` is that word).

    >>> [(one.text, one.kind) for one in names("pay_D1 for order 4412, invoice #INV-7, $payment.lamp")]
    [('pay_D1', 'pay'), ('4412', 'order'), ('INV-7', 'invoice'), ('$payment.lamp', 'payment')]
    """

    text: str
    kind: str
    numbered: bool
    start: int
    end: int


def kind_of(text: str) -> str:
    """The kind that an id shows: `payment` of $payment.lamp, `pay` of pay_D1; empty where it shows none."""
    if text.startswith("$"):
        return text[1:].partition(".")[0]
    return text.partition("_")[0] if "_" in text else ""


def names(text: str) -> tuple[Name, ...]:
    """The entities that a text names by symbol, id or number."""
    return tuple(_names(text))


def _names(text: str) -> Iterator[Name]:
    taken = [(one.start, one.end) for one in amounts(text)] + [(one.start, one.end) for one in dates(text)]
    for found in _NAME.finditer(text):
        group = "symbol" if found["symbol"] else "id" if found["id"] else "number"
        start, end = found.span(group)
        if any(start < last and first < end for first, last in taken):
            continue
        if group == "number" and len(found["number"]) < 3:
            continue
        kind = found["word"].lower() if group == "number" else kind_of(found[group])
        yield Name(found[group], kind, group == "number", start, end)
