"""Whether a number that stood somewhere is an amount of money, and in which unit.

A slot in minor units takes 4250 where a person says 42.50 USD; a bare 42 in a text may be anything, and says nothing.
"""

from __future__ import annotations

import re

from sandtrail.ledgers.money import DECIMALS
from sandtrail.ledgers.naming import is_count_word, is_money_word, words_of
from sandtrail.ledgers.origins import (
    Sources,
)
from sandtrail.ledgers.records import Fact, FactKind, Hit, unit_of
from sandtrail.ledgers.specs import Slot
from sandtrail.ledgers.surface import Rendered

_NO_MONEY = frozenset(
    [
        "quantity",
        "qty",
        "count",
        "version",
        "stock",
        "zip",
        "postcode",
        "year",
        "page",
        "limit",
        "line",
        "number",
        "nights",
        "days",
        "seats",
        "index",
        "id",
    ]
)


SIGN = re.compile(r"(?:[$€£¥₹₩]|\b(?:usd|eur|gbp|jpy|chf|cad|aud|dkk|sek|nok|krw|kwd|bhd))\s?$")


_CODE = re.compile(
    r"^\s?(?:[$€£¥₹₩]|(?:usd|eur|gbp|jpy|chf|cad|aud|dkk|sek|nok|krw|kwd|bhd|dollars?|euros?|pounds?|yen|bucks|franken|pfund)\b)"
)


SIGNED = re.compile(r"[$€£¥₹₩]|\b(?:usd|eur|gbp|jpy|chf|dollars?|euros?|pounds?|yen)\b")
LABEL = re.compile(
    r"(?:order|invoice|number|no\.?|nr\.?|item|card|ending(?: in)?|zip|flight|room|apt\.?|suite|#)\s*#?$"
)


_CENTS = re.compile(r"^\s?(?:cents?|minor)\b")


def is_amount(fact: Fact, slot: Slot) -> bool:
    """Whether a fact that reads like the value is an amount in the slot's unit."""
    if fact.text is not None and not (fact.record and fact.value == fact.text.folded):
        return (slot.unit != "minor" and _amount_in_text(fact)) or (
            slot.unit == "minor" and _minor_in_text(fact)
        )
    if set(words_of(fact.key)) & _NO_MONEY:
        return False
    unit = unit_of(fact)
    return not unit or slot.unit is None or unit == slot.unit


def _amount_in_text(fact: Fact) -> bool:
    before, after = _around(fact)
    if SIGN.search(before) or _CODE.search(after) or "." in str(fact.value):
        return True
    return len(str(fact.value)) > 1 and not LABEL.search(before)


def _minor_in_text(fact: Fact) -> bool:
    before, after = _around(fact)
    if _CENTS.search(after):
        return True
    return (
        len(str(fact.value)) > 3
        and not SIGN.search(before)
        and not _CODE.search(after)
        and not LABEL.search(before)
    )


def _around(fact: Fact) -> tuple[str, str]:
    folded = fact.text.folded if fact.text else ""
    place = folded.find(str(fact.value))
    return folded[max(0, place - 16) : place], folded[place + len(str(fact.value)) :][:12]


def unit_fits(fact: Fact, form: Rendered, slot: Slot) -> bool:
    """Whether a leaf that reads like another form of an amount is meant in that form's unit."""
    if set(words_of(fact.key)) & _NO_MONEY:
        return False
    unit = unit_of(fact)
    if form.unit == "minor":
        whole = not unit and isinstance(fact.value, int) and slot.unit == "major"
        return (unit == "minor" or whole) and _decimals_of(fact) == 2
    if slot.unit == "minor":  # 42.50 in a result is 4250; a bare 42 there may be anything
        return (unit == "major" and form.unit == "major2") or (form.unit == "major0" and unit == "")
    return True


def _decimals_of(fact: Fact) -> int:
    """How many decimals the currency beside an amount has; two where none is named."""
    currency = fact.record.fields.get("currency", "USD") if fact.record is not None else "USD"
    return DECIMALS.get(str(currency).upper(), 2)


_YEN = re.compile(r"[¥₩]\s?$|(?:jpy|krw|clp)\s?$")


_YEN_AFTER = re.compile(r"^\s?(?:[¥₩]|jpy|krw|clp|yen\b|won\b)")


_DINAR = re.compile(r"^\s?(?:kwd|bhd|omr|tnd|jod)\b|(?:kwd|bhd|omr|tnd|jod)\s?$")


def money_fits(form: Rendered, hit: Hit) -> bool:
    """Whether a form of an amount in a text is meant as an amount, in a currency of as many decimals."""
    if form.unit == "named":
        return True
    yen = _YEN.search(hit.before) or _YEN_AFTER.search(hit.after)
    dinar = _DINAR.search(hit.after) or _DINAR.search(hit.before)
    if (form.unit == "major0" and not yen) or (form.unit == "major3" and not dinar):
        return False
    if form.unit == "major2" and (yen or dinar):
        return False
    if _CENTS.search(hit.after):
        return form.unit == "minor"
    if form.unit == "minor":
        return False
    if SIGN.search(hit.before) or _CODE.search(hit.after) or "." in form.text or "," in form.text:
        return True
    return not LABEL.search(hit.before) and (len(form.text) > 1 or hit.text.kind is not FactKind.RESULT)


def priced(found: Sources) -> Sources:
    """The sources that are plainly amounts: fields of money, numbers with a currency or with decimals."""
    return Sources(tuple(fact for fact in found.facts if _is_priced(fact)))


def _is_priced(fact: Fact) -> bool:
    if fact.text is None:
        words = words_of(fact.key)
        return any(map(is_money_word, words)) and not any(map(is_count_word, words))
    before, after = _around(fact)
    return bool(SIGN.search(before) or _CODE.search(after) or re.search(r"\d[.,]\d\d$", str(fact.value)))


_CURRENCIES = {"$": ("USD", "AUD", "CAD", "NZD", "SGD", "MXN", "HKD"), "€": ("EUR",), "£": ("GBP",), "¥": ("JPY", "CNY"), "₹": ("INR",), "₩": ("KRW",)}  # fmt: skip


def of_currency(hit: Hit, wanted: str) -> bool:
    """Whether an amount in a text may be of a currency: it names none, or this one."""
    found = re.search(r"(us\$|[$€£¥₹₩]|\b[a-z]{3})\s?$", hit.before) or re.match(
        r"\s?([$€£¥₹₩]|[a-z]{3}\b)", hit.after
    )
    if not wanted or found is None:
        return True
    mark = found[1].upper().removeprefix("US") if found[1] != "usd" else "USD"
    named = _CURRENCIES.get(mark, (mark,) if mark in DECIMALS else ())
    return not named or wanted in named
