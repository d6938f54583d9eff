"""Totals of what a call itself names: the prices of its rows, times how many it is for, less what its other payments pay.

    {"flights": [{"flight_number": "HAT014"}, {"flight_number": "HAT050"}], "cabin": "economy",
     "passengers": [{...}, {...}], "payments": [{"amount": 39}, {"amount": 507}]}

The rows of a list in the arguments are found in the results by their codes; their prices (of the same field, or under the
name that another argument says) are summed. Few amounts come out of this, so a match is no accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from sandtrail.ledgers.derive import Derivation
from sandtrail.ledgers.folding import decimal_of, fold, plain
from sandtrail.ledgers.naming import is_count_word, is_money_word, words_of
from sandtrail.ledgers.origins import Asked, Known
from sandtrail.ledgers.records import Fact, Record

_ROW = re.compile(r"(/.*?)/(\d{1,6})/(.+)")
_LEVELS = 2
"""So many levels above a number its row may show its code: {"flight_number": ..., "prices": {"economy": ...}}."""

LARGEST_PARTY = 9

Priced = Mapping[str, tuple[tuple[Fact, Decimal], ...]]
"""The prices in results by the codes of their rows."""


def total_of(known: Known, asked: Asked, wanted: Decimal) -> Derivation | None:
    """How an amount is the total of what the call names; None where it is not."""
    party = _party(asked)
    for total, expression, facts in _named(known, asked):
        if total == wanted:
            return Derivation(expression, facts, 0.0)
        if party > 1 and total * party == wanted:
            return Derivation(f"{party} times {expression}", facts, 0.0)
    return None


def others_of(asked: Asked) -> Decimal:
    """The other amounts of the list of payments that an amount stands in."""
    pattern = _pattern(asked.pointer)
    if pattern == asked.pointer:
        return Decimal(0)
    found = Decimal(0)
    for pointer, value in asked.given.items():
        number = decimal_of(value) if pointer != asked.pointer and _pattern(pointer) == pattern else None
        found += number or 0
    return found


def _pattern(pointer: str) -> str:
    return re.sub(r"/\d+(?=/|$)", "/*", pointer)


def _party(asked: Asked) -> int:
    """How many entries the longest list of objects beside this one has: the people it is for."""
    sizes: dict[str, int] = {}
    own = _ROW.match(asked.pointer)
    for pointer in asked.given:
        found = _ROW.match(pointer)
        if found is not None and (own is None or found[1] != own[1]):
            sizes[found[1]] = max(sizes.get(found[1], 0), int(found[2]) + 1)
    people = [
        size for name, size in sizes.items() if re.search(r"passenger|guest|person|people|traveller", name)
    ]
    return min(max(people, default=1), LARGEST_PARTY)


def _named(known: Known, asked: Asked) -> Iterator[tuple[Decimal, str, tuple[Fact, ...]]]:
    rows: dict[str, dict[str, list[str]]] = {}
    for pointer, text in asked.siblings.items():
        found = _ROW.match(pointer)
        if found is not None:
            rows.setdefault(found[1], {}).setdefault(found[2], []).append(text)
    words = set(asked.siblings.values())
    for name, entries in rows.items():
        prices = [_prices_of(priced(known), texts, asked.step) for texts in entries.values()]
        keys = set(prices[0]).intersection(*prices[1:]) if prices else set[str]()
        for key in sorted(keys & words or keys):
            chosen = [price[key] for price in prices]
            total = sum((value for _, value in chosen), Decimal(0))
            said = " + ".join(plain(value) for _, value in chosen)
            yield total, f"the {key} of its {name.strip('/')} ({said})", tuple(fact for fact, _ in chosen)


def _prices_of(prices: Priced, texts: list[str], step: int) -> dict[str, tuple[Fact, Decimal]]:
    """The prices of one row of the arguments by field; the row that shares most with it, and of those the last seen."""
    found: dict[str, tuple[int, Fact, Decimal]] = {}
    for code in (text for text in texts if any(char.isdigit() for char in text)):
        for fact, value in prices.get(code, ()):
            if fact.since > step:
                continue
            alike = len(_labels(fact.record).intersection(texts))
            if fact.key not in found or alike >= found[fact.key][0]:
                found[fact.key] = (alike, fact, value)
    return {key: (fact, value) for key, (_, fact, value) in found.items()}


def priced(known: Known) -> Priced:
    """The amounts in results by every code that their row shows; read once."""
    if known.prices is None:
        found: dict[str, list[tuple[Fact, Decimal]]] = {}
        for fact in known.facts.numeric:
            value = decimal_of(fact.value) if is_price(fact) else None
            if value is not None:
                for label in _labels(fact.record):
                    found.setdefault(label, []).append((fact, value))
        known.prices = {label: tuple(facts) for label, facts in found.items()}
    return known.prices


def is_price(fact: Fact) -> bool:
    """Whether a number is an amount of money by its own name, or by that of what holds it: {"prices": {"economy": 143}}."""
    words = words_of(fact.key)
    holder = words_of(fact.record.name) if fact.record is not None else ()
    money = any(map(is_money_word, words)) or any(map(is_money_word, holder))
    return money and not any(map(is_count_word, words))


def _labels(record: Record | None) -> frozenset[str]:
    """The codes and days that a row shows, in its own fields and in those above."""
    found: set[str] = set()
    for _ in range(_LEVELS):
        if record is None:
            break
        texts = (value for value in record.fields.values() if isinstance(value, str) and len(value) < 40)
        found |= {fold(text) for text in texts if any(char.isdigit() for char in text)}
        record = record.parent
    return frozenset(found)
