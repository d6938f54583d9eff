"""Looking a value up: as it is, then in each of its surface forms, typed by its slot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from sandtrail.ledgers.amounts import SIGN, is_amount, money_fits, of_currency, unit_fits
from sandtrail.ledgers.folding import digits_of, shifted
from sandtrail.ledgers.origins import (
    Asked,
    Known,
    Sources,
    is_leaf,
    sorted_out,
    verbatim,
    whole,
)
from sandtrail.ledgers.provenance import Verdict
from sandtrail.ledgers.records import Fact, FactKind, Hit
from sandtrail.ledgers.specs import Form
from sandtrail.ledgers.surface import Clock, Rendered, halves, rendered

_YEAR = re.compile(r"^(?:,? ?|[ /.-])(\d{4})(?!\d)")


_FARTHEST_BACK, _FARTHEST_AHEAD = 183, 366


def stood(known: Known, asked: Asked) -> tuple[Sources, Verdict, str]:
    """Where a value stood, whether as it is or in another form, and in words what was done with it."""
    found = as_it_is(known, asked)
    if found:
        same = verbatim(asked, found.facts)
        verdict = Verdict.EXACT if same else Verdict.NORMALISED
        return Sources((*found.facts, *_said_otherwise(known, asked)), found.hops), verdict, ""
    for form, facts in forms(known, asked):
        other = sorted_out(known, facts, asked.key)
        if other:
            doubt = " (which may also be read otherwise)" if form.ambiguous else ""
            return other, Verdict.NORMALISED, f"{form.how}{doubt}: "
    return found, Verdict.EXACT, ""


_SAID_OTHERWISE = frozenset({Form.MONEY, Form.DATE, Form.TIME})


def _said_otherwise(known: Known, asked: Asked) -> tuple[Fact, ...]:
    """Where the user said in words what a result holds as it was sent: both are sources."""
    if asked.slot.form not in _SAID_OTHERWISE:
        return ()
    kept = (asked.key, asked.slot.unit, asked.slot.form, _currency(asked), asked.step)
    if kept not in known.read.said:  # a day is asked for again and again
        said = (fact for _, facts in forms(known, asked) for fact in facts if fact.kind is FactKind.USER)
        first = next(said, None)
        known.read.said[kept] = (first,) if first is not None else ()
    return known.read.said[kept]


def as_it_is(known: Known, asked: Asked) -> Sources:
    """The facts that hold a value as it was sent, as far as they are values of its sort."""
    facts = list(whole(known, asked))
    if asked.slot.form is Form.MONEY:
        facts = [fact for fact in facts if is_amount(fact, asked.slot)]
    elif asked.slot.form is Form.DATE and other_day_said(known, asked):
        facts = [fact for fact in facts if fact.kind is not FactKind.SYSTEM]
    elif asked.slot.form is Form.PHONE:
        facts += [hit.fact for hit in known.facts.phones(digits_of(str(asked.value)), asked.step)]
    return sorted_out(known, facts, asked.key)


def forms(known: Known, asked: Asked) -> Iterator[tuple[Rendered, Iterable[Fact]]]:
    """The surface forms of a value with the facts that hold them."""
    slot, step = asked.slot, asked.step
    for form in rendered(asked.value, slot, known.clock, known.facts.has_word):
        leaves = known.facts.leaves(form.text, step)
        facts = [fact for fact in leaves if slot.form is not Form.MONEY or unit_fits(fact, form, slot)]
        hits = known.facts.prose(form.text, step)
        facts += [hit.fact for hit in hits if not is_leaf(hit) and _hit_fits(known, asked, form, hit)]
        if facts:
            yield form, facts
    if slot.form in {Form.TIME, Form.DATE} and isinstance(asked.value, str) and len(asked.value) > 10:
        yield from _day_and_hour(known, asked)
    elif slot.form is Form.DATE and isinstance(asked.value, str):
        yield from _day_of_instant(known, asked)


def _day_and_hour(known: Known, asked: Asked) -> Iterator[tuple[Rendered, Iterable[Fact]]]:
    """An instant whose day and hour were said apart: "tomorrow at 3 pm"."""
    parts = halves(str(asked.value), known.clock)
    if parts is None:
        return
    days = [hit.fact for form in parts[0] for hit in known.facts.prose(form.text, asked.step)]
    hours = [hit.fact for form in parts[1] for hit in known.facts.prose(form.text, asked.step)]
    if days and hours:
        yield Rendered(asked.key, "the day and the hour, said apart"), [*days[:1], *hours[:1]]


def _day_of_instant(known: Known, asked: Asked) -> Iterator[tuple[Rendered, Iterable[Fact]]]:
    """The day of a seen instant in the user's zone, where that is another day than in UTC."""
    try:
        day = date.fromisoformat(asked.value.strip())
    except ValueError:
        return
    for step in (-1, 1):
        other = shifted(day, step)
        facts = known.facts.leaves(other.isoformat(), asked.step) if other else []
        same = [
            fact
            for fact in facts
            if Clock.of(str(fact.value).replace("z", "Z"), str(known.clock.zone)).today == day
        ]
        if same:
            yield Rendered(asked.key, f"the day of that instant in {known.clock.zone}"), same


def _currency(asked: Asked) -> str:
    """The currency that another argument beside an amount names."""
    folder = asked.pointer.rpartition("/")[0]
    return asked.siblings.get(f"{folder}/currency", "").upper()


def _hit_fits(known: Known, asked: Asked, form: Rendered, hit: Hit) -> bool:
    if asked.slot.form is Form.MONEY:
        return money_fits(form, hit) and of_currency(hit, _currency(asked))
    if asked.slot.form in {Form.DATE, Form.TIME}:
        if form.relative:
            return hit.text.kind in {FactKind.USER, FactKind.ASSISTANT}
        return _year_fits(known, asked, hit)
    if form.unit == "percent":
        return re.match(r"\s?(?:%|percent|per cent|prozent)", hit.after) is not None
    if asked.slot.form is Form.NUMBER:
        return not SIGN.search(hit.before)
    return True


def _year_fits(known: Known, asked: Asked, hit: Hit) -> bool:
    """Whether the year behind a day is the value's, and without one, whether the day is near enough to be meant."""
    try:
        day = date.fromisoformat(str(asked.value).strip()[:10])
    except ValueError:
        return True
    year = _YEAR.match(hit.after)
    if year is not None:
        return int(year[1]) == day.year
    if str(day.year) in hit.text.folded[hit.start : hit.end] or known.clock.today is None:
        return True
    return -_FARTHEST_BACK <= (day - known.clock.today).days <= _FARTHEST_AHEAD


def other_day_said(known: Known, asked: Asked) -> bool:
    """Whether the user spoke of a day by its distance from today: the clock alone is no source of today's date then."""
    words = ("tomorrow", "yesterday", "morgen", "gestern", "übermorgen")
    return any(
        hit.text.kind is FactKind.USER for word in words for hit in known.facts.prose(word, asked.step)
    )


def instead(asked: Asked, value: object) -> Asked:
    """The same leaf with another value."""
    return replace(asked, value=value)
