"""What a value could have been computed from: numbers of one owner, amounts that the user said, the day after another."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

from sandtrail.ledgers.amounts import LABEL, SIGN
from sandtrail.ledgers.derive import Derivation, Number, derived, named_in, numbers, own_row
from sandtrail.ledgers.facts import Fact, FactKind
from sandtrail.ledgers.lookup import forms, instead, stood
from sandtrail.ledgers.origins import (
    Asked,
    Known,
    where,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.rows import own_id
from sandtrail.ledgers.specs import Form, Slot
from sandtrail.ledgers.surface import (
    decimal_of,
    plain,
    rendered,
    shifted,
)

_NEXT = ("next day", "day after", "following day", "day later", "tag danach", "nächsten tag", "folgetag")


_PREVIOUS = ("previous day", "day before", "day earlier", "tag davor", "tag zuvor")


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
    if wanted is None or abs(wanted) < _SMALLEST:
        return None
    spoken = known.facts.words(asked.step, frozenset({FactKind.USER, FactKind.ASSISTANT}))
    beside = frozenset(asked.siblings.values())
    named = named_in((text.folded for text in spoken), beside)
    seen = numbers(known.facts.numeric, asked.step)
    row = tuple(one for one in seen if _about(known, one.fact, beside))
    places = 0 if asked.slot.unit == "minor" or isinstance(asked.value, int) else 2
    return (
        own_row(wanted, row)
        or _said_and_seen(known, asked, row)
        or _so_many(
            known,
            asked,
            wanted,
            [one for one in seen if one.fact.record is not None and named(one.fact.record)],
        )
        or derived(wanted, seen, _said_shares(known, asked), named, places)
    )


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
    for number in (one for one in row[:MOST_OF_A_ROW] if one.money and one.value):
        for total, words in ((wanted + number.value, "less"), (number.value - wanted, "taken from")):
            again = instead(asked, int(total) if total == total.to_integral_value() else float(total))
            said = (
                [fact for _, facts in forms(known, again) for fact in facts if fact.kind is FactKind.USER]
                if total > 0
                else []
            )
            if said:
                expression = (
                    f"{said[0].value} (said by the user) {words} {number.fact.key} {plain(number.value)}"
                )
                return Derivation(expression, (said[0], number.fact), 0.0)
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
    verdict = Verdict.DERIVED if found.accepted else Verdict.WEAK
    doubt = "" if found.accepted else f" (by chance in {found.chance:.1%} of such amounts)"
    return Resolved(verdict, f"{found.expression}{doubt}", found.facts)
