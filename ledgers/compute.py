"""What a value could have been computed from: numbers of one owner, amounts that the user said, the day after another."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from itertools import combinations

from sandtrail.ledgers.amounts import LABEL, SIGN, SIGNED
from sandtrail.ledgers.derive import Derivation, Number, derived, named_in, numbers, own_row
from sandtrail.ledgers.folding import decimal_of, plain, shifted
from sandtrail.ledgers.lookup import instead, stood
from sandtrail.ledgers.origins import (
    Asked,
    Known,
    where,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.records import Fact, FactKind, Text
from sandtrail.ledgers.rows import own_id
from sandtrail.ledgers.specs import Form, Slot
from sandtrail.ledgers.surface import rendered
from sandtrail.ledgers.totals import others_of, total_of

_NEXT = (
    "next day",
    "day after",
    "following day",
    "day later",
    "by one day",
    "back one day",
    "back by a day",
    "by a day",
    "one day later",
    "tag danach",
    "nächsten tag",
    "folgetag",
)


_PREVIOUS = (
    "previous day",
    "day before",
    "day earlier",
    "by one day",
    "by a day",
    "one day earlier",
    "tag davor",
    "tag zuvor",
)


def next_day(known: Known, asked: Asked) -> Resolved | None:
    """The day before or after one that was seen, where the user asked for that."""
    try:
        day = date.fromisoformat(str(asked.value).strip()[:10])
    except ValueError:
        return None
    for step, phrases in ((-1, _NEXT), (1, _PREVIOUS)):
        spoken = any(
            hit.text.kind is FactKind.USER for one in phrases for hit in known.facts.prose(one, asked.step)
        )
        other = shifted(day, step)
        if not spoken or other is None:
            continue
        found, _, _ = stood(known, instead(asked, other.isoformat()))
        if any(fact.kind is not FactKind.SYSTEM for fact in found.facts):
            said = "the day after" if step < 0 else "the day before"
            return Resolved(Verdict.DERIVED, f"{said} {other} ({where(found.facts)})", found.facts)
    return None


_SMALLEST = 3


def computed(known: Known, asked: Asked) -> Derivation | None:
    """How a number can be computed from seen ones."""
    wanted = decimal_of(asked.value)
    if wanted is None or (abs(wanted) < _SMALLEST and wanted == wanted.to_integral_value()):
        return None
    spoken = known.facts.words(asked.step, frozenset({FactKind.USER, FactKind.ASSISTANT}))
    beside = frozenset(asked.siblings.values())
    named = named_in((text.folded for text in spoken), beside)
    seen = numbers(known.facts.numeric, asked.step)
    row = tuple(one for one in seen if _about(known, one.fact, beside))
    prices = [one for one in seen if one.fact.record is not None and named(one.fact.record)]
    places = 0 if asked.slot.unit == "minor" or isinstance(asked.value, int) else 2
    return (
        own_row(wanted, row)
        or total_of(known, asked, wanted)
        or _rest_of(known, asked, wanted)
        or _said_and_seen(known, asked, row)
        or _said_together(known, asked, wanted)
        or _so_many(known, asked, wanted, prices)
        or derived(wanted, seen, _said_shares(known, asked), named, places)
    )


def _rest_of(known: Known, asked: Asked, wanted: Decimal) -> Derivation | None:
    """What is left of a total after the other payments of the call."""
    others = others_of(asked)
    if not others:
        return None
    total = wanted + others
    found = total_of(known, asked, total)
    if found is not None:
        return Derivation(f"{found.expression} less the other payments {plain(others)}", found.facts, 0.0)
    sources, _, _ = stood(known, instead(asked, _number(total)))
    if not sources:
        return None
    return Derivation(
        f"{plain(total)} ({where(sources.facts, 1)}) less the other payments {plain(others)}",
        sources.facts,
        0.0,
    )


def _number(value: Decimal) -> int | float:
    return int(value) if value == value.to_integral_value() else float(value)


def _spoken_amounts(known: Known, asked: Asked) -> list[tuple[Decimal, Text]]:
    """The figures in what the user said, in each way in which they can be read."""
    found: list[tuple[Decimal, Text]] = []
    for text in known.facts.words(asked.step, frozenset({FactKind.USER})):
        for figure in _FIGURE.findall(text.folded):
            for reading in {figure.replace(",", ""), figure.replace(".", "").replace(",", "."), figure}:
                number = decimal_of(reading)
                if number is not None:
                    found.append((number, text))
    return found


_FIGURE = re.compile(r"\d[\d.,]*(?<![.,])")


def _said_together(known: Known, asked: Asked, wanted: Decimal) -> Derivation | None:
    """The sum of two or three amounts that the user named in one message: the flights for $146 and $151."""
    if asked.slot.form is not Form.MONEY:
        return None
    said: dict[int, tuple[Text, list[Decimal]]] = {}
    scale = Decimal(100) if asked.slot.unit == "minor" else Decimal(1)
    for number, text in _spoken_amounts(known, asked):
        if SIGNED.search(text.folded) and number >= 2:
            said.setdefault(id(text), (text, []))[1].append(number * scale)
    for text, amounts in said.values():
        for size in (2, 3):
            for chosen in combinations(dict.fromkeys(amounts[:8]), size):
                if sum(chosen) == wanted:
                    fact = Fact(FactKind.USER, plain(wanted), text.since, None, "", text)
                    return Derivation(f"{' + '.join(map(plain, chosen))} (said by the user)", (fact,), 0.0)
    return None


def _said_shares(known: Known, asked: Asked) -> list[tuple[Decimal, Fact]]:
    """The percentages that the user or the system text names."""
    texts = known.facts.words(asked.step, frozenset({FactKind.USER, FactKind.SYSTEM}))
    return [
        (Decimal(found[1].replace(",", ".")), _spoken_share(text, found))
        for text in texts
        for found in re.finditer(
            r"(?<![\d.,])(\d{1,3}(?:[.,]\d{1,2})?)\s?(?:%|percent|per cent|prozent)", text.folded
        )
    ]


def _spoken_share(text: object, found: re.Match[str]) -> Fact:
    return Fact(FactKind.USER, found[1], getattr(text, "since", 0), None, "")


def _about(known: Known, fact: Fact, ids: frozenset[str]) -> bool:
    """Whether a number is of one of these entities: of its row, or in the answer to a call about it."""
    asked = known.carried.get(fact.call, frozenset()) if fact.call is not None else frozenset[str]()
    return own_id(fact.record) in ids or bool(asked & ids)


def _said_and_seen(known: Known, asked: Asked, row: tuple[Number, ...]) -> Derivation | None:
    """What is missing to, or over, an amount that the user said: 20.00 in all, less the 5.00 that are there."""
    wanted = decimal_of(asked.value)
    if wanted is None or asked.slot.form is not Form.MONEY:
        return None
    spoken = {number for number, _ in _spoken_amounts(known, asked)}
    scale = Decimal(100) if asked.slot.unit == "minor" else Decimal(1)
    for number in (one for one in row[:MOST_OF_A_ROW] if one.money and one.value):
        for total, words in ((wanted + number.value, "less"), (number.value - wanted, "taken from")):
            if total <= 0 or not {total, total / scale} & spoken:
                continue
            sources, _, _ = stood(known, instead(asked, _number(total)))
            said = next((fact for fact in sources.facts if fact.kind is FactKind.USER), None)
            if said is not None:
                expression = (
                    f"{said.value} (said by the user) {words} {number.fact.key} {plain(number.value)}"
                )
                return Derivation(expression, (said, number.fact), 0.0)
    return None


def _so_many(known: Known, asked: Asked, wanted: Decimal, prices: list[Number]) -> Derivation | None:
    """As many of a named thing as the user said, at its price: three of the tent."""
    for price in prices[:MOST_OF_A_ROW]:
        count = wanted / price.value if price.money and price.value else Decimal(0)
        if not 2 <= count <= 99 or count != count.to_integral_value():
            continue
        for form in rendered(int(count), Slot(form=Form.NUMBER), known.clock):
            for hit in known.facts.prose(form.text, asked.step):
                if (
                    hit.text.kind is FactKind.USER
                    and not SIGN.search(hit.before)
                    and not LABEL.search(hit.before)
                ):
                    expression = (
                        f"{hit.fact.value} (said by the user) x {price.fact.key} {plain(price.value)}"
                    )
                    return Derivation(expression, (hit.fact, price.fact), 0.0)
    return None


MOST_OF_A_ROW = 12
"""So many numbers of one entity are put together with what the user said."""


def as_derived(found: Derivation) -> Resolved:
    """A way to compute a value as a verdict: derived, or weak where chance is not ruled out."""
    verdict = Verdict.DERIVED if found.accepted else Verdict.WEAK
    doubt = "" if found.accepted else f" (by chance in {found.chance:.1%} of such amounts)"
    return Resolved(verdict, f"{found.expression}{doubt}", found.facts)
