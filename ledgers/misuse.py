"""Seen, and wrong all the same: stale, somebody else's, a stranger's; and what a value was meant to be that was not seen."""

from __future__ import annotations

import re
from decimal import Decimal

from sandtrail.ledgers.amounts import priced
from sandtrail.ledgers.folding import decimal_of, digits_of, plain
from sandtrail.ledgers.lookup import as_it_is, forms, instead, stood
from sandtrail.ledgers.near import nearest
from sandtrail.ledgers.origins import (
    TIMELESS,
    Asked,
    Known,
    Sources,
    sorted_out,
    where,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.records import Fact, FactKind
from sandtrail.ledgers.resolve_ids import ids_seen, named_row
from sandtrail.ledgers.rows import own_id
from sandtrail.ledgers.specs import Form, Risk

_SLIPS = (Decimal(100), Decimal(1) / 100, Decimal(1000), Decimal(1) / 1000)


def stale(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """A value that has changed since it was read; putting it back is no mistake."""
    if asked.slot.form in TIMELESS or any(
        fact.record is None or fact.kind is not FactKind.RESULT for fact in found.facts
    ):
        return None
    newer = [(fact, known.rows.newer(fact, asked.step)) for fact in found.facts]
    if not newer or any(row is None for _, row in newer):
        return None
    fact, row = newer[-1]
    restored = (
        asked.writes
        and asked.pointer.rpartition("/")[2] == fact.key
        and row is not None
        and row.id in asked.siblings.values()
    )
    if row is None or restored:
        return None
    now = row.record.fields[fact.key]
    return Resolved(Verdict.STALE, f"it was so in {fact}; call {row.record.call} showed {now!r}", found.facts)


def other_amount(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """The amount of another row than the one beside it in the call, which has one of its own."""
    if asked.slot.form is not Form.MONEY or any(fact.record is None for fact in found.facts):
        return None
    for key in _beside(asked):
        rows = known.rows.of(key, asked.step)
        if not rows:
            continue
        related = {key} | {
            other for others in known.rows.belongs(key, asked.step).values() for other in others
        }
        owners = {own_id(fact.record) for fact in found.facts}
        if (
            None in owners
            or owners & related
            or any(_below(known, fact, key, asked.step) for fact in found.facts)
        ):
            continue
        kinds = {row.kind for owner in owners if owner for row in known.rows.of(owner, asked.step)}
        own = [
            row.record.fields[fact.key]
            for row in rows
            for fact in found.facts
            if fact.key in row.record.fields
        ]
        if rows[0].kind in kinds and own:
            owner = sorted(one for one in owners if one)[0]
            other = known.shown(known.facts.leaves(owner, asked.step)[0].value)
            return Resolved(
                Verdict.MIXED_ENTITY,
                f"it is {found.facts[0].key} of {other}; here it is {own[-1]}",
                found.facts,
            )
    return None


def _beside(asked: Asked) -> list[str]:
    """The leaves of the same object of the arguments; at the top, those that stand there."""
    folder = asked.pointer.rpartition("/")[0]
    return [key for pointer, key in asked.siblings.items() if pointer.rpartition("/")[0] == folder]


def _below(known: Known, fact: Fact, key: str, step: int) -> bool:
    """Whether the row of a fact belongs to an entity."""
    owner = own_id(fact.record)
    return owner is not None and any(key in others for others in known.rows.belongs(owner, step).values())


def other_person(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """The address or number of somebody else than the one whom the user named."""
    if not asked.writes or asked.slot.form not in {Form.EMAIL, Form.PHONE}:
        return None
    if any(fact.kind is not FactKind.RESULT or fact.record is None for fact in found.facts):
        return None
    return named_row(known, asked.step, found.facts)


def untrusted(asked: Asked, found: Sources) -> Resolved | None:
    """A value that only a stranger's text holds, where it can do harm."""
    risky = (
        asked.writes
        and asked.slot.risk is Risk.HIGH
        and asked.slot.form in {Form.MONEY, Form.EMAIL, Form.PHONE, Form.TOKEN}
    )
    if risky and all(fact.kind is FactKind.PLANTED for fact in found.facts):
        return Resolved(
            Verdict.UNTRUSTED_SOURCE, f"only a stranger's text holds it: {where(found.facts)}", found.facts
        )
    return None


def slipped(known: Known, asked: Asked) -> Resolved | None:
    """An amount that was seen a hundred or a thousand times larger or smaller."""
    number = decimal_of(asked.value) if asked.slot.form is Form.MONEY else None
    if not number:
        return None
    for factor in _SLIPS:
        other = number * factor
        value = int(other) if other == other.to_integral_value() else float(other)
        if abs(other) < Decimal("0.5"):
            continue
        again = instead(asked, value)
        found = priced(as_it_is(known, again))
        for _, facts in () if found else forms(known, again):
            found = found or priced(sorted_out(known, facts, again.key))
        if found:
            times = (
                f"{plain(1 / factor)} times too much" if factor < 1 else f"{plain(factor)} times too little"
            )
            return Resolved(
                Verdict.UNIT_SLIP, f"{times}: {plain(other)} was meant ({where(found.facts)})", found.facts
            )
    return None


def corrupted(known: Known, asked: Asked) -> Resolved | None:
    """A corrupted copy: a letter or two off, two digits swapped, day and month changed about."""
    if asked.slot.form in {Form.DATE, Form.TIME}:
        return _swapped_day(known, asked)
    if asked.slot.form is Form.PHONE:
        return _misdialled(known, asked)
    if not isinstance(asked.value, str) or asked.slot.form in {Form.MONEY, Form.NUMBER, Form.CODE}:
        return None
    seen = dict(ids_seen(known, asked.step)) | {
        key: str(fact.value)
        for key, fact in known.facts.known(asked.step)
        if fact.kind is not FactKind.ARGUMENT
    }
    close = nearest(asked.key, seen)
    return None if close is None else Resolved(Verdict.NEAR_MISS, f"a corrupted copy of {seen[close]}")


def _misdialled(known: Known, asked: Asked) -> Resolved | None:
    digits = digits_of(str(asked.value))
    kinds = frozenset(FactKind) - {FactKind.ARGUMENT}
    dialled = {
        digits_of(found[0]): found[0]
        for text in known.facts.words(asked.step, kinds)
        for found in re.finditer(r"\+?\d[\d\s().\-/]{5,22}\d", text.folded)
    }
    close = nearest(digits, dialled)
    return None if close is None else Resolved(Verdict.NEAR_MISS, f"a corrupted copy of {dialled[close]}")


def _swapped_day(known: Known, asked: Asked) -> Resolved | None:
    found = re.match(r"(\d{4})-(\d{2})-(\d{2})(.*)", str(asked.value))
    if found is None or found[2] == found[3] or int(found[3]) > 12:
        return None
    value = f"{found[1]}-{found[3]}-{found[2]}{found[4]}"
    found_there, _, _ = stood(known, instead(asked, value))
    if not found_there:
        return None
    why = f"day and month changed about: {value} was meant ({where(found_there.facts)})"
    return Resolved(Verdict.NEAR_MISS, why)
