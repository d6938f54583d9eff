"""Surface forms: the ways in which people and services write a value.

An argument is rendered into its forms and those are looked up; prose is never parsed into dates and prices. Each renderer
yields `Rendered(text, how)`: folded text that must stand in a source as a whole, and in words what was done.

    rendered(value, slot, clock)   every form of a value in a slot

Ambiguous forms say so (`Rendered.ambiguous`): 05/06 is a day in May and one in June.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from decimal import Decimal
from typing import Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sandtrail.ledgers.aliases import PLACES, STREETS
from sandtrail.ledgers.folding import decimal_of, fold, plain, unaccented
from sandtrail.ledgers.languages import PACKS
from sandtrail.ledgers.money import DECIMALS
from sandtrail.ledgers.specs import Form, Slot

_LONGEST = 4000


@dataclass(frozen=True, slots=True)
class Clock:
    """The instant of a run and the user's zone, as far as they are known."""

    now: datetime | None = None
    zone: tzinfo = UTC

    @classmethod
    def of(cls, now: str, zone: str = "UTC") -> Clock:
        """The clock of a trajectory; one without an instant where the text is none.

        >>> Clock.of("2026-08-24T22:03:00Z", "Australia/Brisbane").today
        datetime.date(2026, 8, 25)
        """
        try:
            place: tzinfo = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            place = UTC
        try:
            instant = datetime.fromisoformat(now)
        except ValueError:
            return cls(None, place)
        return cls(instant if instant.tzinfo else instant.replace(tzinfo=place), place)

    @property
    def today(self) -> date | None:
        """The day it is for the user."""
        try:
            return self.now.astimezone(self.zone).date() if self.now else None
        except (OverflowError, ValueError):
            return None


Spoken: TypeAlias = Callable[[str], bool]


def _anything(_: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Rendered:
    """One form of a value. `unit` is set where it is an amount in that unit, `ambiguous` where it may be another value.

    A `relative` form (tomorrow, Friday) is one only in what somebody says, not in the text that tells the date.
    """

    text: str
    how: str
    ambiguous: bool = False
    unit: str = ""
    relative: bool = False


def rendered(value: Any, slot: Slot, clock: Clock, spoken: Spoken = _anything) -> Iterator[Rendered]:
    """The forms of a value beside itself, the likeliest first.

    `spoken` says whether a word stands anywhere at all: forms with the names of units are only made of such.

    >>> from sandtrail.ledgers.specs import Form, Slot
    >>> [one.text for one in rendered(4250, Slot(unit="minor", form=Form.MONEY), Clock())][:3]
    ['42.50', '42,50', '42.5']
    """
    form = slot.form
    if form is Form.MONEY:
        yield from _money(value, slot.unit, spoken)
    elif form in {Form.NUMBER, Form.FLAG}:
        yield from _number(value)
    elif form is Form.DATE and isinstance(value, str):
        yield from _date(value, clock)
    elif form is Form.TIME and isinstance(value, str):
        yield from _time(value, clock)
    elif isinstance(value, str):
        yield from _text(value[:_LONGEST], form, clock)
    else:
        yield from _number(value)


def _money(value: Any, unit: str | None, spoken: Spoken) -> Iterator[Rendered]:
    number = decimal_of(value)
    if number is None:
        return
    if unit == "minor":
        for places in (2, 0, 3):
            how = f"{plain(number)} minor units are {plain(number.scaleb(-places))}"
            yield from (
                Rendered(text, how, unit=f"major{places}")
                for text in _written(number.scaleb(-places), places)
            )
            yield from (
                Rendered(text, how, unit="named") for text in _named(number.scaleb(-places), places, spoken)
            )
        return
    yield from (Rendered(text, "the amount as people write it", unit="major") for text in _written(number, 2))
    yield from (Rendered(text, "the amount in words", unit="named") for text in _named(number, 2, spoken))
    minor = number.scaleb(2)
    if minor == minor.to_integral_value():
        yield Rendered(plain(minor), f"{plain(number)} is {plain(minor)} minor units", unit="minor")


def _written(number: Decimal, places: int) -> Iterator[str]:
    """An amount in major units as people write it, with and without decimals and groups; then in words."""
    sign, size = ("-" if number < 0 else ""), abs(number)
    if size != size.quantize(Decimal(1).scaleb(-places)):
        return
    fixed = f"{size:.{places}f}"
    whole, _, cents = fixed.partition(".")
    grouped = f"{int(whole):,}"
    forms = [fixed, fixed.replace(".", ","), plain(size)]
    if grouped != whole:
        for comma, point in ((",", "."), (".", ","), ("'", "."), (" ", ",")):
            mark = grouped.replace(",", comma)
            forms += [f"{mark}{point}{cents}" if cents else mark, *([mark] if not cents.strip("0") else [])]
    for text in dict.fromkeys(forms):
        yield f"{sign}{text}"
    if size == size.to_integral_value() and size <= 1000:
        yield from _words(int(size))


def _named(number: Decimal, places: int, spoken: Spoken) -> Iterator[str]:
    """An amount with the names of its units: 42 dollars and 50 cents, two dinars and seven hundred fifty fils."""
    whole, fraction = int(number), int((number % 1).scaleb(places)) if number > 0 else 0
    if not 0 < whole < 1000 or not fraction or number != number.quantize(Decimal(1).scaleb(-places)):
        return
    for pack in PACKS:
        for currency, names in pack.money.items():
            units = tuple(unit for unit in names if spoken(unit))
            if not units or DECIMALS.get(currency) != places:
                continue
            parts = ("", *(f" {name}" for name in pack.cents.get(currency, ())))
            for big in (str(whole), *pack.numbers.get(whole, ())):
                for small in (str(fraction), *pack.numbers.get(fraction, ())):
                    for link in (" ", f" {pack.joint} "):
                        yield from (
                            f"{big} {unit}{link}{small}{part}" for unit in units[:2] for part in parts
                        )


def _words(number: int) -> Iterator[str]:
    for pack in PACKS:
        yield from pack.numbers.get(number, ())


def _number(value: Any) -> Iterator[Rendered]:
    number = decimal_of(value)
    if number is None:
        return
    whole = number == number.to_integral_value()
    yield Rendered(plain(number), "the number")
    if whole:
        yield from (
            Rendered(word, "the number in words") for word in _words(int(number)) if abs(number) <= 1000
        )
        if abs(number) >= 1000:
            yield from (Rendered(text, "the number with its thousands apart") for text in _written(number, 0))
    elif abs(number) < 10:
        yield Rendered(plain(number * 100), "the share as a percentage", unit="percent")
        yield Rendered(plain(number).replace(".", ","), "the number with a comma")


def _date(value: str, clock: Clock) -> Iterator[Rendered]:
    try:
        day = date.fromisoformat(value.strip()[:10])
    except ValueError:
        yield from _text(value, None, clock)  # no day at all, whatever it looks like: 2026-02-30
        return
    if len(value.strip()) > 10:
        yield from _time(value, clock)
        return
    yield from _days(day, clock)


def _days(day: date, clock: Clock) -> Iterator[Rendered]:
    year = day.year
    for pack in PACKS:
        for template in pack.dates:
            for month in pack.months[day.month - 1]:
                for ordinal in pack.ordinals[day.day]:
                    text = template.format(d=day.day, o=ordinal, m=month)
                    yield Rendered(text, f"{day} is {text}")
    yield from _figures(day, year)
    if clock.today is not None:
        yield from _relative(day, clock.today)


def _figures(day: date, year: int) -> Iterator[Rendered]:
    """The day in figures: day first, month first and year first; either order of day and month where both can be."""
    both = day.day <= 12 and day.day != day.month
    for d, m in {(str(day.day), str(day.month)), (f"{day.day:02d}", f"{day.month:02d}")}:
        for sep in "/.-":
            for y in (f"{sep}{year}", f"{sep}{year % 100:02d}", "." if sep == "." else ""):
                if not y and sep == "-":
                    continue
                yield Rendered(f"{d}{sep}{m}{y}", f"{day} written day first", both and sep != ".")
                if sep != ".":
                    yield Rendered(f"{m}{sep}{d}{y}", f"{day} written month first", both)
        yield Rendered(f"{year}/{m}/{d}", f"{day} written year first")
    yield Rendered(f"{year}{day.month:02d}{day.day:02d}", f"{day} without marks")
    yield Rendered(f"{year}年{day.month}月{day.day}日", f"{day} in Japanese or Chinese")


def _relative(day: date, today: date) -> Iterator[Rendered]:
    distance = (day - today).days
    if (day.year, day.month) == (today.year, today.month):
        for pack in PACKS:
            for ordinal in pack.ordinals[day.day]:
                yield from (
                    Rendered(f"{article} {ordinal}", "the day of this month", ambiguous=True, relative=True)
                    for article in pack.articles
                )
    for pack in PACKS:
        how = f"today is {today}"
        yield from (
            Rendered(word, how, relative=True) for word, days in pack.days.items() if days == distance
        )
        if 0 <= distance <= 400:
            for number in (str(distance), *pack.numbers.get(distance, ())):
                yield from (Rendered(one.format(n=number), how, relative=True) for one in pack.in_days)
            if distance % 7 == 0:
                for number in (str(distance // 7), *pack.numbers.get(distance // 7, ())):
                    yield from (Rendered(one.format(n=number), how, relative=True) for one in pack.in_weeks)
        if -7 <= distance <= 14:
            yield from (
                Rendered(name, how, not 0 < distance < 7, relative=True)
                for name in pack.weekdays[day.weekday()]
                if len(name) > 3
            )


def _time(value: str, clock: Clock) -> Iterator[Rendered]:
    """The instant in other writings; the day and the hour are looked up apart by `halves`."""
    text = value.strip()
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        yield from _hour(text)
        return
    zones = {instant.replace(tzinfo=instant.tzinfo or clock.zone)}
    try:
        for zone in (UTC, clock.zone):
            zones.add(next(iter(zones)).astimezone(zone))
    except (OverflowError, ValueError):
        pass
    for one in zones:
        bare = one.replace(tzinfo=None).isoformat()
        for written in (
            one.isoformat(),
            f"{bare}z",
            bare,
            bare.replace("T", " "),
            bare[:16],
            bare[:16].replace("T", " "),
        ):
            yield Rendered(fold(written), "the same instant")


def _hour(text: str) -> Iterator[Rendered]:
    found = re.fullmatch(r"(\d{1,2}):(\d{2})(?::\d{2})?", text)
    if found is None or int(found[1]) > 24:
        return
    hour, minute = int(found[1]), found[2]
    yield Rendered(f"{hour}:{minute}", "the hour")
    half, twelve = ("am" if hour % 24 < 12 else "pm"), (hour % 12 or 12)
    for tail in ("", f":{minute}") if minute == "00" else (f":{minute}",):
        for mark in (half, f" {half}", f" {half[0]}.m.", f" {half[0]}.m"):
            yield Rendered(f"{twelve}{tail}{mark}", f"{text} on a clock of twelve hours")
    if minute == "00":
        yield Rendered(f"{hour} uhr", "the hour in German")
        yield from (
            [Rendered("noon", "the hour in words"), Rendered("midday", "the hour in words")]
            if hour == 12
            else ()
        )


def halves(value: str, clock: Clock) -> tuple[tuple[Rendered, ...], tuple[Rendered, ...]] | None:
    """The forms of the day and of the hour of an instant, in the user's zone; None where it is no instant.

    >>> day, hour = halves("2026-05-26T15:00:00", Clock())
    >>> day[0].text, hour[1].text
    ('may 26', '3pm')
    """
    try:
        instant = datetime.fromisoformat(value.strip())
        local = instant.astimezone(clock.zone) if instant.tzinfo else instant
    except (ValueError, OverflowError):
        return None
    return tuple(_days(local.date(), clock)), tuple(_hour(local.strftime("%H:%M")))


def _text(value: str, form: Form | None, clock: Clock) -> Iterator[Rendered]:
    folded = fold(value)
    if form is Form.ID or form is Form.TOKEN:
        yield from _id(folded)
        if form is Form.ID:
            return
    if form in {Form.CODE, Form.ADDRESS, Form.TOKEN, Form.NAME}:
        yield from (Rendered(other, f"{value} is {other}") for other in PLACES.get(folded, ()))
    spaced = re.sub(r"[_-]+", " ", folded)
    if spaced != folded:
        yield Rendered(spaced, "the same words")
    if form in {Form.CODE, Form.TOKEN} and " " in folded:
        yield Rendered(folded.replace(" ", "_"), "the same words")
    if form is Form.ADDRESS or (form is Form.TOKEN and re.match(r"\d+[a-z]? \w", folded)):
        yield from _streets(folded)
    if not folded.isascii():
        yield from (Rendered(other, "the same letters without accents") for other in unaccented(folded))
    if form is Form.TOKEN and re.fullmatch(r"\d{4}-\d{2}-\d{2}", folded):
        yield from _date(folded, clock)
    if decimal_of(value) is not None and form is not Form.EMAIL:
        yield from _number(value)


def _id(folded: str) -> Iterator[Rendered]:
    bare = folded.strip("#")
    if bare and bare != folded:
        yield Rendered(bare, "without #")
    elif bare:
        yield Rendered(f"#{bare}", "with #")
    joined = re.sub(r"[\s-]+", "", folded)
    if joined != folded and len(joined) > 3:
        yield Rendered(joined, "without blanks and dashes")


def _streets(folded: str) -> Iterator[Rendered]:
    words = re.split(r"([\s.,]+)", folded)
    long = "".join(STREETS.get(word, word) for word in words).replace(".", "")
    back = {full: short for short, full in STREETS.items()}
    short = "".join(back.get(word, word) for word in words)
    for other in {long, short, short.replace(".", ""), f"{short}."} - {folded}:
        yield Rendered(other, "the same address with a word abbreviated")
