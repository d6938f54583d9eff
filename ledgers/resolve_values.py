"""The ladder for everything that is no id: amounts, dates, names, addresses, numbers, codes.

as it is · in another surface form · put together of parts · computed · said by the agent and confirmed
a default, one of the listed values, too little to say · an example · a unit slip · a corrupted copy · made up
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal

from sandtrail.ledgers.aliases import PLACES
from sandtrail.ledgers.derive import Derivation, Number, derived, named_in, numbers, own_row
from sandtrail.ledgers.facts import Fact, FactKind, Hit, unit_of
from sandtrail.ledgers.near import nearest
from sandtrail.ledgers.origins import (
    TIMELESS,
    Asked,
    Known,
    Sources,
    confirmed,
    is_leaf,
    propagated,
    schema_example,
    schema_says,
    sorted_out,
    where,
    whole,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.resolve_ids import ids_seen, named_row
from sandtrail.ledgers.rows import own_id
from sandtrail.ledgers.slots import is_count_word, is_money_word, words_of
from sandtrail.ledgers.specs import Form, Risk, Slot
from sandtrail.ledgers.surface import (
    Clock,
    Rendered,
    decimal_of,
    digits_of,
    fold,
    halves,
    plain,
    rendered,
    shifted,
)

_SLIPS = (Decimal(100), Decimal(1) / 100, Decimal(1000), Decimal(1) / 1000)
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
_SIGN = re.compile(r"(?:[$€£¥₹₩]|\b(?:usd|eur|gbp|jpy|chf|cad|aud|dkk|sek|nok|krw|kwd|bhd))\s?$")
_CODE = re.compile(
    r"^\s?(?:[$€£¥₹₩]|(?:usd|eur|gbp|jpy|chf|cad|aud|dkk|sek|nok|krw|kwd|bhd|dollars?|euros?|pounds?|yen|bucks|franken|pfund)\b)"
)
_LABEL = re.compile(
    r"(?:order|invoice|number|no\.?|nr\.?|item|card|ending(?: in)?|zip|flight|room|apt\.?|suite|#)\s*#?$"
)
_CENTS = re.compile(r"^\s?(?:cents?|minor)\b")
_YEAR = re.compile(r"^(?:,? ?|[ /.-])(\d{4})(?!\d)")
_FARTHEST_BACK, _FARTHEST_AHEAD = 183, 366


def resolve_value(known: Known, asked: Asked) -> Resolved:
    """The origin of a value that is no id."""
    said = schema_says(asked)
    if said is not None and said.verdict is Verdict.ENUM and asked.slot.form is Form.CODE:
        return said
    seen = _seen(known, asked)
    if seen is not None:
        return seen
    if said is not None:
        return said
    return _put_together(known, asked) or _not_seen(known, asked)


def _seen(known: Known, asked: Asked) -> Resolved | None:
    found, how, verdict = _as_it_is(known, asked), "", Verdict.EXACT
    if not found:
        for form, facts in _forms(known, asked):
            other = sorted_out(known, facts, asked.key)
            if other:
                found, how, verdict = other, f"{form.how}{_doubt(form)}: ", Verdict.NORMALISED
                break
    if not found:
        return None
    return (
        _stale(known, asked, found)
        or _other_amount(known, asked, found)
        or _other_person(known, asked, found)
        or _untrusted(asked, found)
        or Resolved(verdict, f"{how}{where(found.facts)}", found.facts)
    )


def _doubt(form: Rendered) -> str:
    return " (which may also be read otherwise)" if form.ambiguous else ""


def _as_it_is(known: Known, asked: Asked) -> Sources:
    facts = list(whole(known, asked))
    if asked.slot.form is Form.MONEY:
        facts = [fact for fact in facts if _is_amount(fact, asked.slot)]
    elif asked.slot.form is Form.DATE and _other_day_said(known, asked):
        facts = [fact for fact in facts if fact.kind is not FactKind.SYSTEM]
    elif asked.slot.form is Form.PHONE:
        facts += [hit.fact for hit in known.facts.phones(digits_of(str(asked.value)), asked.step)]
    return sorted_out(known, facts, asked.key)


def _forms(known: Known, asked: Asked) -> Iterator[tuple[Rendered, Iterable[Fact]]]:
    """The surface forms of a value with the facts that hold them."""
    slot, step = asked.slot, asked.step
    for form in rendered(asked.value, slot, known.clock):
        leaves = known.facts.leaves(form.text, step)
        facts = [fact for fact in leaves if slot.form is not Form.MONEY or _unit_fits(fact, form, slot)]
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


# -- amounts -------------------------------------------------------------------------------------------------


def _is_amount(fact: Fact, slot: Slot) -> bool:
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
    if _SIGN.search(before) or _CODE.search(after) or "." in str(fact.value):
        return True
    return len(str(fact.value)) > 1 and not _LABEL.search(before)


def _minor_in_text(fact: Fact) -> bool:
    before, after = _around(fact)
    if _CENTS.search(after):
        return True
    return (
        len(str(fact.value)) > 3
        and not _SIGN.search(before)
        and not _CODE.search(after)
        and not _LABEL.search(before)
    )


def _around(fact: Fact) -> tuple[str, str]:
    folded = fact.text.folded if fact.text else ""
    place = folded.find(str(fact.value))
    return folded[max(0, place - 16) : place], folded[place + len(str(fact.value)) :][:12]


def _unit_fits(fact: Fact, form: Rendered, slot: Slot) -> bool:
    """Whether a leaf that reads like another form of an amount is meant in that form's unit."""
    if set(words_of(fact.key)) & _NO_MONEY:
        return False
    unit = unit_of(fact)
    if form.unit == "minor":
        return unit == "minor" or (not unit and isinstance(fact.value, int) and slot.unit == "major")
    if slot.unit == "minor":  # 42.50 in a result is 4250; a bare 42 there may be anything
        return (unit == "major" and form.unit == "major2") or (form.unit == "major0" and unit == "")
    return True


def _hit_fits(known: Known, asked: Asked, form: Rendered, hit: Hit) -> bool:
    if asked.slot.form is Form.MONEY:
        return _money_fits(form, hit)
    if asked.slot.form in {Form.DATE, Form.TIME}:
        if form.relative:
            return hit.text.kind in {FactKind.USER, FactKind.ASSISTANT}
        return _year_fits(known, asked, hit)
    if form.unit == "percent":
        return re.match(r"\s?(?:%|percent|per cent|prozent)", hit.after) is not None
    if asked.slot.form is Form.NUMBER:
        return not _SIGN.search(hit.before)
    return True


_YEN = re.compile(r"[¥₩]\s?$|(?:jpy|krw|clp)\s?$")
_YEN_AFTER = re.compile(r"^\s?(?:[¥₩]|jpy|krw|clp|yen\b|won\b)")
_DINAR = re.compile(r"^\s?(?:kwd|bhd|omr|tnd|jod)\b|(?:kwd|bhd|omr|tnd|jod)\s?$")


def _money_fits(form: Rendered, hit: Hit) -> bool:
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
    if _SIGN.search(hit.before) or _CODE.search(hit.after) or "." in form.text or "," in form.text:
        return True
    return not _LABEL.search(hit.before) and (len(form.text) > 1 or hit.text.kind is not FactKind.RESULT)


def _other_amount(known: Known, asked: Asked, found: Sources) -> Resolved | None:
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


# -- dates ---------------------------------------------------------------------------------------------------


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


# -- seen, and wrong -----------------------------------------------------------------------------------------


def _stale(known: Known, asked: Asked, found: Sources) -> Resolved | None:
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


def _other_person(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """The address or number of somebody else than the one whom the user named."""
    if not asked.writes or asked.slot.form not in {Form.EMAIL, Form.PHONE}:
        return None
    if any(fact.kind is not FactKind.RESULT or fact.record is None for fact in found.facts):
        return None
    return named_row(known, asked.step, found.facts)


def _untrusted(asked: Asked, found: Sources) -> Resolved | None:
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


# -- put together --------------------------------------------------------------------------------------------


def _put_together(known: Known, asked: Asked) -> Resolved | None:
    if asked.slot.form in {Form.MONEY, Form.NUMBER} or (
        asked.slot.form is Form.TOKEN and decimal_of(asked.value) is not None
    ):
        found = computed(known, asked)
        return _as_derived(found) if found is not None and found.accepted else None
    if asked.slot.form is Form.DATE:
        return _next_day(known, asked)
    if isinstance(asked.value, str) and asked.slot.form in {Form.NAME, Form.ADDRESS, Form.TOKEN, Form.CODE}:
        return _of_parts(known, asked)
    return None


_NEXT = ("next day", "day after", "following day", "day later", "tag danach", "nächsten tag", "folgetag")
_PREVIOUS = ("previous day", "day before", "day earlier", "tag davor", "tag zuvor")


def _next_day(known: Known, asked: Asked) -> Resolved | None:
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
        again = _instead(asked, other.isoformat())
        found = _as_it_is(known, again) or next(
            (
                sources
                for _, facts in _forms(known, again)
                if (sources := sorted_out(known, facts, again.key))
            ),
            Sources(),
        )
        if any(fact.kind is not FactKind.SYSTEM for fact in found.facts):
            said = "the day after" if step < 0 else "the day before"
            return Resolved(Verdict.DERIVED, f"{said} {other} ({where(found.facts)})", found.facts)
    return None


def _instead(asked: Asked, value: object) -> Asked:
    """The same leaf with another value."""
    return replace(asked, value=value)


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


_SMALLEST = 3


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
            again = _instead(asked, int(total) if total == total.to_integral_value() else float(total))
            said = (
                [fact for _, facts in _forms(known, again) for fact in facts if fact.kind is FactKind.USER]
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
                    and not _SIGN.search(hit.before)
                    and not _LABEL.search(hit.before)
                ):
                    expression = (
                        f"{hit.fact.value} (said by the user) x {price.fact.key} {plain(price.value)}"
                    )
                    return Derivation(expression, (hit.fact, price.fact), 0.0)
    return None


MOST_OF_A_ROW = 12
"""So many numbers of one entity are put together with what the user said."""


def _spoken_share(text: object, found: re.Match[str]) -> Fact:
    return Fact(FactKind.USER, found[1], getattr(text, "since", 0), None, "")


def _as_derived(found: Derivation) -> Resolved:
    verdict = Verdict.DERIVED if found.accepted else Verdict.WEAK
    doubt = "" if found.accepted else f" (by chance in {found.chance:.1%} of such amounts)"
    return Resolved(verdict, f"{found.expression}{doubt}", found.facts)


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
        return next(
            (
                fact
                for key, fact in known.facts.known(asked.step)
                if fact.kind is not FactKind.ARGUMENT and parts.search(key)
            ),
            None,
        )
    return None


# -- not seen ------------------------------------------------------------------------------------------------


def _not_seen(known: Known, asked: Asked) -> Resolved:
    hops = sorted_out(
        known,
        [*whole(known, asked), *(fact for _, facts in _forms(known, asked) for fact in facts)],
        asked.key,
    ).hops
    return (
        propagated(known, asked)
        or _hopped(known, asked, hops)
        or schema_example(known, asked)
        or _says_nothing(known, asked)
        or _slipped(known, asked)
        or _weak(known, asked)
        or _corrupted(known, asked)
        or Resolved(Verdict.INVENTED, _made_up(asked))
    )


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
    return is_today and not _other_day_said(known, asked)


def _other_day_said(known: Known, asked: Asked) -> bool:
    """Whether the user spoke of a day by its distance from today: the clock alone is no source of today's date then."""
    words = ("tomorrow", "yesterday", "morgen", "gestern", "übermorgen")
    return any(
        hit.text.kind is FactKind.USER for word in words for hit in known.facts.prose(word, asked.step)
    )


def _slipped(known: Known, asked: Asked) -> Resolved | None:
    """An amount that was seen a hundred or a thousand times larger or smaller."""
    number = decimal_of(asked.value) if asked.slot.form is Form.MONEY else None
    if not number:
        return None
    for factor in _SLIPS:
        other = number * factor
        value = int(other) if other == other.to_integral_value() else float(other)
        if abs(other) < Decimal("0.5"):
            continue
        again = _instead(asked, value)
        found = _priced(_as_it_is(known, again))
        for _, facts in () if found else _forms(known, again):
            found = found or _priced(sorted_out(known, facts, again.key))
        if found:
            times = (
                f"{plain(1 / factor)} times too much" if factor < 1 else f"{plain(factor)} times too little"
            )
            return Resolved(
                Verdict.UNIT_SLIP, f"{times}: {plain(other)} was meant ({where(found.facts)})", found.facts
            )
    return None


def _priced(found: Sources) -> Sources:
    """The sources that are plainly amounts: fields of money, numbers with a currency or with decimals."""
    return Sources(tuple(fact for fact in found.facts if _is_priced(fact)))


def _is_priced(fact: Fact) -> bool:
    if fact.text is None:
        words = words_of(fact.key)
        return any(map(is_money_word, words)) and not any(map(is_count_word, words))
    before, after = _around(fact)
    return bool(_SIGN.search(before) or _CODE.search(after) or re.search(r"\d[.,]\d\d$", str(fact.value)))


def _weak(known: Known, asked: Asked) -> Resolved | None:
    if asked.slot.form is not Form.MONEY:
        return None
    found = computed(known, asked)
    return None if found is None else _as_derived(found)


def _corrupted(known: Known, asked: Asked) -> Resolved | None:
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
    again = _instead(asked, value)
    seen = _seen(known, again)
    return (
        None
        if seen is None
        else Resolved(Verdict.NEAR_MISS, f"day and month changed about: {value} was meant ({seen.why})")
    )
