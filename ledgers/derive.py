"""Derivations: numbers that can be computed from seen ones, in few and typed ways, with the chance of an accident.

    sum of one list, sum of its named rows · quantity x price, and their sum · a share in percent · the difference of two

Only numbers of one result are put together (of one owner); what may be combined with what is fixed here. Each computed
number is a candidate; with many candidates some match anything. So a match carries the chance that a made-up
amount of this size and roundness would have matched by accident: candidates over the amounts that size allows. Above
`ACCEPTED` a match is weak, above `HOPELESS` it is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from sandtrail.ledgers.folding import decimal_of, plain
from sandtrail.ledgers.naming import is_count_word, is_money_word, words_of
from sandtrail.ledgers.records import Fact, Record
from sandtrail.ledgers.rows import own_id

ACCEPTED = 0.005
"""The highest chance of an accident at which a match counts as derived."""
HOPELESS = 0.05
"""Above this chance a match says nothing."""

MOST = 400
"""So many numbers are put together at most, the last ones that were received."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A way to compute a number: in words, from which facts, and how likely a match is by accident."""

    expression: str
    facts: tuple[Fact, ...]
    chance: float

    @property
    def accepted(self) -> bool:
        """Whether chance is small enough."""
        return self.chance <= ACCEPTED


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a result, ready to be computed with."""

    value: Decimal
    fact: Fact
    money: bool
    count: bool

    @property
    def column(self) -> tuple[int | None, str, str]:
        """The list and field it stands in: the numbers of one column can be summed."""
        record = self.fact.record
        pointer = re.sub(r"/[^/]*$", "", record.pointer) if record is not None else ""
        return self.fact.call, pointer, self.fact.key


def numbers(facts: Iterable[Fact], step: int) -> tuple[Number, ...]:
    """The numbers known at a step that are amounts or counts."""
    found: list[Number] = []
    for fact in facts:
        if fact.since > step:
            continue
        words = words_of(fact.key)
        count = any(map(is_count_word, words))
        money = not count and any(map(is_money_word, words))
        value = decimal_of(fact.value) if money or count else None
        if value is not None:
            found.append(Number(value, fact, money, count))
    return tuple(found[-MOST:])


Named = Callable[[Record], bool]
"""Whether a row is named: its id stands in the call's other arguments, or in what the user said."""


def derived(
    wanted: Decimal,
    known: tuple[Number, ...],
    shares: Iterable[tuple[Decimal, Fact]],
    named: Named,
    places: int,
) -> Derivation | None:
    """How a number can be computed; None where it cannot, or so much can that a match says nothing.

    `places` is how many decimals an amount of this slot has beyond its unit (0 in minor units, 2 in major ones).
    """
    tried: set[Decimal] = set()
    largest = abs(wanted)
    for family in (_sums, _products, _shares, _differences):
        matches: list[tuple[str, tuple[Fact, ...]]] = []
        for value, expression, used in family(known, tuple(shares), named):
            tried.add(value)
            largest = max(largest, abs(value))
            if value == wanted:
                matches.append((expression, used))
        if matches:
            chance = _chance(wanted, tried, largest, places)
            return Derivation(*matches[0], chance) if chance <= HOPELESS else None
    return None


def own_row(wanted: Decimal, row: tuple[Number, ...]) -> Derivation | None:
    """What is left of an amount in the row of the entity that the call is about: 86.00 less 30.00 refunded.

    `row` are the numbers of that row alone: so few that only chance among them is counted.
    """
    found = [
        (value, expression, facts) for value, expression, facts in _differences(row, (), lambda _: False)
    ]
    match = next((one for one in found if one[0] == wanted), None)
    if match is None or len({value for value, _, _ in found}) > _FEW:
        return None
    return Derivation(match[1], match[2], 0.0)


_FEW = 8


def _chance(wanted: Decimal, tried: set[Decimal], largest: Decimal, places: int) -> float:
    """The share of the amounts of this size and roundness that the candidates cover."""
    minor = wanted.scaleb(places)
    grain = 1
    for step in (10, 50, 100, 500, 1000, 5000, 10000):
        if minor % step == 0:
            grain = step
    alike = [one for one in tried if one.scaleb(places) % grain == 0 and one != wanted]
    allowed = max(Decimal(1), largest.scaleb(places) / grain)
    return float(min(Decimal(1), (len(alike) + 1) / allowed))


Found = Iterator[tuple[Decimal, str, tuple[Fact, ...]]]


def _sums(known: tuple[Number, ...], _: tuple[tuple[Decimal, Fact], ...], named: Named) -> Found:
    columns: dict[tuple[int | None, str, str], list[Number]] = {}
    for one in known:
        if one.money:
            columns.setdefault(one.column, []).append(one)
    for (call, pointer, key), column in columns.items():
        if len(column) < 2:
            continue
        where = f"call {call} {pointer or '/'}"
        yield _total(column), f"the sum of {key} over {where}", tuple(one.fact for one in column)
        chosen = [one for one in column if one.fact.record is not None and named(one.fact.record)]
        if 1 < len(chosen) < len(column):
            yield (
                _total(chosen),
                f"the sum of {key} over the named rows of {where}",
                tuple(one.fact for one in chosen),
            )


def _total(column: Iterable[Number]) -> Decimal:
    return sum((one.value for one in column), Decimal(0))


def _products(known: tuple[Number, ...], _: tuple[tuple[Decimal, Fact], ...], named: Named) -> Found:
    rows: dict[int, list[Number]] = {}
    for one in known:
        rows.setdefault(id(one.fact.record), []).append(one)
    lists: dict[tuple[int | None, str, str], list[tuple[Decimal, Number]]] = {}
    for row in rows.values():
        for price in (one for one in row if one.money):
            for count in (one for one in row if one.count):
                product = price.value * count.value
                if count.value not in {0, 1}:
                    yield (
                        product,
                        f"{count.fact.key} {plain(count.value)} x {price.fact.key} {plain(price.value)}",
                        (count.fact, price.fact),
                    )
                lists.setdefault(price.column, []).append((product, price))
    for (call, pointer, key), terms in lists.items():
        if len(terms) > 1:
            total = sum((value for value, _ in terms), Decimal(0))
            yield (
                total,
                f"the sum of quantity x {key} over call {call} {pointer}",
                tuple(price.fact for _, price in terms),
            )


def _shares(known: tuple[Number, ...], shares: tuple[tuple[Decimal, Fact], ...], named: Named) -> Found:
    for percent, said in shares:
        for one in known:
            if one.money and one.value:
                value = one.value * percent / 100
                yield value, f"{plain(percent)} % of {one.fact.key} {plain(one.value)}", (said, one.fact)
                yield (
                    one.value - value,
                    f"{one.fact.key} {plain(one.value)} less {plain(percent)} %",
                    (said, one.fact),
                )


def _differences(known: tuple[Number, ...], _: tuple[tuple[Decimal, Fact], ...], named: Named) -> Found:
    money = [one for one in known if one.money and one.value]
    rows: dict[int, list[Number]] = {}
    columns: dict[str, list[Number]] = {}
    for one in money:
        rows.setdefault(id(one.fact.record), []).append(one)
        if one.fact.record is not None and named(one.fact.record):
            columns.setdefault(one.fact.key, []).append(one)
    for group in (*rows.values(), *(column for column in columns.values() if len(column) <= 8)):
        for one, other in combinations(group, 2):
            high, low = (one, other) if one.value >= other.value else (other, one)
            expression = f"{high.fact.key} {plain(high.value)} less {low.fact.key} {plain(low.value)}"
            yield high.value - low.value, expression, (high.fact, low.fact)


def named_in(texts: Iterable[str], keys: frozenset[str]) -> Named:
    """Rows whose id is among some keys, or one of whose telling fields stands in what the user said."""
    said = tuple(texts)

    def named(record: Record) -> bool:
        own = own_id(record)
        if own is not None and own in keys:
            return True
        return any(len(label) > 2 and any(_stands(label, text) for text in said) for label in record.texts)

    return named


def _stands(label: str, text: str) -> bool:
    """Whether a label stands in a text as words of its own, in the singular or the plural."""
    return label in text and re.search(rf"(?<!\w){re.escape(label)}(?:e?s)?(?!\w)", text) is not None
