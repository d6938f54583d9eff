"""The ladder for everything that is no id: amounts, dates, names, addresses, numbers, codes.

as it is · in another surface form · put together of parts · computed · said by the agent and confirmed
a default, one of the listed values, too little to say · an example · a unit slip · a corrupted copy · made up
"""

from __future__ import annotations

import re

from sandtrail.ledgers.aliases import PLACES
from sandtrail.ledgers.compute import as_derived, computed, next_day
from sandtrail.ledgers.folding import decimal_of, fold
from sandtrail.ledgers.lookup import forms, other_day_said, stood
from sandtrail.ledgers.misuse import corrupted, other_amount, other_person, slipped, stale, untrusted
from sandtrail.ledgers.naming import words_of
from sandtrail.ledgers.origins import (
    Asked,
    Known,
    Sources,
    confirmed,
    fact_kinds,
    fits,
    propagated,
    schema_example,
    schema_says,
    sorted_out,
    where,
    whole,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.records import Fact, FactKind
from sandtrail.ledgers.resolve_ids import ids_seen
from sandtrail.ledgers.specs import Form


def resolve_value(known: Known, asked: Asked) -> Resolved:
    """The origin of a value that is no id."""
    said = schema_says(asked)
    if said is not None and said.verdict is Verdict.ENUM and asked.slot.form is Form.CODE:
        return said
    found = _seen(known, asked)
    if found is not None:
        return found
    if said is not None:
        return said
    return _put_together(known, asked) or _not_seen(known, asked)


def _seen(known: Known, asked: Asked) -> Resolved | None:
    found, verdict, how = stood(known, asked)
    if not found:
        return None
    return (
        _of_another_kind(known, asked, found)
        or stale(known, asked, found)
        or other_amount(known, asked, found)
        or other_person(known, asked, found)
        or untrusted(asked, found)
        or Resolved(verdict, f"{how}{where(found.facts)}", found.facts)
    )


def _of_another_kind(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """The id of a reservation where the number of a flight belongs."""
    words = words_of(asked.pointer.rpartition("/")[2])
    if asked.slot.form is not Form.TOKEN or len(words) < 2 or words[-1] not in {"number", "code", "no"}:
        return None
    kinds = [fact_kinds(known, fact) for fact in found.facts]
    other = min((kind for one in kinds for kind in one), default="")
    if not all(kinds) or other not in known.kinds or any(fits("_".join(words[:-1]), one) for one in kinds):
        return None
    why = f"the id of a {other.replace('_', ' ')}, where a {' '.join(words)} belongs"
    return Resolved(Verdict.WRONG_KIND, why, found.facts)


def _put_together(known: Known, asked: Asked) -> Resolved | None:
    if asked.slot.form in {Form.MONEY, Form.NUMBER} or (
        asked.slot.form is Form.TOKEN and decimal_of(asked.value) is not None
    ):
        found = computed(known, asked)
        return as_derived(found) if found is not None and found.accepted else None
    if asked.slot.form is Form.DATE:
        return next_day(known, asked)
    if isinstance(asked.value, str) and asked.slot.form in {Form.NAME, Form.ADDRESS, Form.TOKEN, Form.CODE}:
        return _of_parts(known, asked)
    return None


def _of_parts(known: Known, asked: Asked) -> Resolved | None:
    """A name or an address whose words all stood there; a name may be a part of an id like mia_li_3668."""
    words = re.findall(r"[^\W_]+(?:['-][^\W_]+)*", fold(str(asked.value)))
    if not words or (
        asked.slot.form in {Form.TOKEN, Form.CODE} and any(char.isdigit() for char in asked.key)
    ):
        return None
    found: list[Fact] = []
    for word in words:
        fact = _word(known, asked, word)
        if fact is None:
            return None
        found.append(fact)
    return Resolved(Verdict.PARTIAL, f"put together of {where(found)}", tuple(found))


def _word(known: Known, asked: Asked, word: str) -> Fact | None:
    stems = {word, word.removesuffix("s"), f"{word}s", word.removesuffix("es")} if len(word) > 2 else {word}
    for stem in sorted(stems):
        facts = sorted_out(known, (hit.fact for hit in known.facts.prose(stem, asked.step)), asked.key)
        leaves = sorted_out(known, known.facts.leaves(stem, asked.step), asked.key)
        if facts or leaves:
            return (facts.facts or leaves.facts)[0]
    if asked.slot.form is Form.NAME and len(word) > 1:
        parts = re.compile(rf"(?:^|[_.]){re.escape(word)}(?:[_.@]|\d|$)")
        found = next((shown for key, shown in ids_seen(known, asked.step) if parts.search(key)), None)
        if found is not None:
            whole_leaf = known.facts.leaves(fold(found), asked.step)
            texts = [hit.fact for hit in known.facts.prose(fold(found), asked.step)]
            return next(iter([*whole_leaf, *texts]), None)
    return None


def _not_seen(known: Known, asked: Asked) -> Resolved:
    hops = sorted_out(
        known,
        [*whole(known, asked), *(fact for _, facts in forms(known, asked) for fact in facts)],
        asked.key,
    ).hops
    return (
        propagated(known, asked)
        or _says_nothing(known, asked)
        or schema_example(known, asked)
        or _hopped(known, asked, hops)
        or slipped(known, asked)
        or _weak(known, asked)
        or corrupted(known, asked)
        or _small_change(asked)
        or Resolved(Verdict.INVENTED, _made_up(asked))
    )


def _small_change(asked: Asked) -> Resolved | None:
    """A whole amount of one digit, which proves nothing."""
    number = decimal_of(asked.value) if asked.slot.form is Form.MONEY and asked.slot.unit != "minor" else None
    if number is None or number >= 10 or number != number.to_integral_value():
        return None
    return Resolved(Verdict.LOW_INFORMATION, "an amount of one digit proves nothing")


def _made_up(asked: Asked) -> str:
    if "tenant" in words_of(asked.pointer.rpartition("/")[2]):
        return "made up: nobody named this tenant"
    need = (
        "an argument that must be given"
        if asked.told.required
        else "an argument that could have been left out"
    )
    return f"made up for {need}: it stood nowhere before call {asked.call}"


def _hopped(known: Known, asked: Asked, hops: tuple[Fact, ...]) -> Resolved | None:
    arguments = tuple(fact for fact in hops if fact.kind is FactKind.ARGUMENT)
    if arguments:
        return Resolved(Verdict.EXACT, where(arguments), arguments)
    proposed = confirmed(known, hops, asked.step)
    if proposed is not None and asked.slot.form not in {Form.EMAIL, Form.PHONE}:
        return Resolved(Verdict.EXACT, "proposed by the agent, and the user answered it", (proposed,))
    return None


def _says_nothing(known: Known, asked: Asked) -> Resolved | None:
    """Values that prove nothing either way."""
    form, nothing = asked.slot.form, Resolved(Verdict.LOW_INFORMATION, "too common to prove anything")
    if asked.value in ("", 0):
        return nothing
    if form is Form.NUMBER:
        number = decimal_of(asked.value)
        telling = {"percent", "percentage", "rate", "discount"} & set(
            words_of(asked.pointer.rpartition("/")[2])
        )
        return nothing if not telling and (number is None or abs(number) <= 1000) else None
    if form in {Form.CODE, Form.TOKEN, Form.NAME, Form.ADDRESS} and len(asked.key) < 3:
        return nothing
    if form is Form.CODE and not _names_a_place(asked.key):
        return nothing
    if form is Form.DATE and _is_today(known, asked):
        return Resolved(Verdict.NORMALISED, "today, by the clock")
    if isinstance(asked.value, bool):
        return nothing
    return None


def _names_a_place(key: str) -> bool:
    return key in PLACES and len(key) == 3


def _is_today(known: Known, asked: Asked) -> bool:
    """Whether it is today's date, and nobody spoke of another day by such a word."""
    today = known.clock.today
    is_today = today is not None and str(asked.value).strip()[:10] == today.isoformat()
    return is_today and not other_day_said(known, asked)


def _weak(known: Known, asked: Asked) -> Resolved | None:
    if asked.slot.form is not Form.MONEY:
        return None
    found = computed(known, asked)
    return None if found is None else as_derived(found)
