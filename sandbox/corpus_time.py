"""Days and times: said in words, in digits, relative to the clock; and the ones that come out wrong."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from sandtrail.sandbox import corpus_words as words
from sandtrail.sandbox.corpus_parts import Ambiguous, Label
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import listed, met

DAY = ("normalised", "derived", "exact", "partial")
WRONG = ("invented", "near_miss", "wrong_binding", "unit_slip")
VISIT = "Somebody should come and look at my oven"


def _visit(scene: Scene, day: date, *verdicts: str) -> Label:
    at = scene.call("book_visit", customer_id=scene.customer.id, date=day.isoformat())
    return scene.label(at, "date", *verdicts)


def _coming(scene: Scene, *, least: int = 20, most: int = 300) -> date:
    """A day in the coming months; its day of the month can be no month."""
    day = scene.today + timedelta(days=scene.rng.randint(least, most))
    return day.replace(day=scene.rng.randint(13, 28))


def _english(scene: Scene, day: date) -> str:
    month, ending = words.MONTHS[day.month - 1], {21: "st", 22: "nd", 23: "rd"}.get(day.day, "th")
    return scene.rng.choice(
        (
            f"{month} {day.day}",
            f"{month[:3]} {day.day}",
            f"{day.day} {month}",
            f"the {day.day}{ending} of {month}",
        )
    )


def _distracted(scene: Scene) -> None:
    """Orders with dates of their own, in half of the scenes."""
    if scene.rng.random() < 0.5:
        listed(scene, scene.orders(5, 20))


def month_name(scene: Scene) -> Label:
    """May 26, and the year is the coming one."""
    day = _coming(scene, most=200)
    met(scene, f"{VISIT} on {_english(scene, day)}.")
    _distracted(scene)
    return _visit(scene, day, *DAY)


def with_year(scene: Scene) -> Label:
    """26 May 2026, May 26, 2026 or 5/26/2026."""
    day = _coming(scene)
    month = words.MONTHS[day.month - 1]
    said = scene.rng.choice(
        (
            f"{day.day} {month} {day.year}",
            f"{month} {day.day}, {day.year}",
            f"{day.month}/{day.day}/{day.year}",
            f"{day.day}.{day.month}.{day.year}",
        )
    )
    met(scene, f"{VISIT} on {said}.")
    _distracted(scene)
    return _visit(scene, day, *DAY)


def day_first(scene: Scene) -> Label:
    """26.5., as it is written in Germany."""
    day = _coming(scene, most=200)
    met(scene, f"Bitte schicken Sie jemanden am {day.day}.{day.month}. vorbei.")
    _distracted(scene)
    return _visit(scene, day, *DAY)


def german_month(scene: Scene) -> Label:
    """26. Mai."""
    day = _coming(scene, most=200)
    met(scene, f"Können Sie am {day.day}. {words.MONATE[day.month - 1]} jemanden schicken?")
    _distracted(scene)
    return _visit(scene, day, *DAY)


def tomorrow(scene: Scene) -> Label:
    """Today, tomorrow, the day after, or the same in German."""
    ahead, said = scene.rng.choice(
        ((0, "today"), (1, "tomorrow"), (2, "the day after tomorrow"), (1, "morgen"), (2, "übermorgen"))
    )
    met(scene, f"{VISIT}, {said} if you can." if said.isascii() and said != "morgen" else f"Bitte {said}.")
    _distracted(scene)
    return _visit(scene, scene.today + timedelta(days=ahead), *DAY)


def _elsewhere(scene: Scene) -> None:
    """A clock whose day in UTC is not the day where the customer is."""
    scene.zone, hour = scene.rng.choice(
        (("Asia/Tokyo", 22), ("Australia/Brisbane", 21), ("America/New_York", 2), ("America/Los_Angeles", 3))
    )
    day = scene.now.date()
    scene.now = datetime(day.year, day.month, day.day, hour, scene.rng.randrange(60), tzinfo=UTC)
    scene.clocked = True
    assert scene.today != scene.now.date()


def tomorrow_elsewhere(scene: Scene) -> Label:
    """Tomorrow where the customer is, which is not tomorrow in UTC."""
    _elsewhere(scene)
    met(scene, f"{VISIT}, tomorrow if you can.")
    return _visit(scene, scene.today + timedelta(days=1), *DAY)


def next_weekday(scene: Scene) -> Label:
    """Next Friday: the coming one, or that of next week; people mean either."""
    ahead = scene.rng.randint(2, 6)
    day = scene.today + timedelta(days=ahead)
    name = words.WEEKDAYS[day.weekday()]
    said, later = scene.rng.choice(
        ((f"this {name}", 0), (f"next {name}", 0), (f"next {name}", 7), (f"on {name}", 0))
    )
    if said.startswith("this") and day.isocalendar().week != scene.today.isocalendar().week:
        raise Ambiguous("this week's one is over")
    if later and day.isocalendar().week != scene.today.isocalendar().week:
        raise Ambiguous("the coming one is next week's already")
    met(scene, f"{VISIT} {said}.")
    _distracted(scene)
    return _visit(scene, day + timedelta(days=later), *DAY)


def in_some_weeks(scene: Scene) -> Label:
    """In two weeks, in 10 days, in a week."""
    said, ahead = scene.rng.choice(
        (("in two weeks", 14), ("in 10 days", 10), ("in a week", 7), ("in three days", 3), ("in 3 weeks", 21))
    )
    met(scene, f"{VISIT} {said}.")
    _distracted(scene)
    return _visit(scene, scene.today + timedelta(days=ahead), *DAY)


def time_of_day(scene: Scene) -> Label:
    """3 pm is 15:00."""
    hour = scene.rng.randint(1, 8)
    minute = scene.rng.choice((0, 0, 30))
    exact = f"{hour}:{minute:02}" if minute else str(hour)
    said = scene.rng.choice((f"{exact} pm", f"{exact}pm", f"{exact} p.m.", f"{hour + 12}:{minute:02}"))
    met(scene, f"{VISIT} tomorrow at {said}.")
    day = scene.today + timedelta(days=1)
    at = scene.call(
        "book_visit",
        customer_id=scene.customer.id,
        date=day.isoformat(),
        time=f"{hour + 12}:{minute:02}",
    )
    return scene.label(at, "time", *DAY)


def day_and_time(scene: Scene) -> Label:
    """Day and time, said apart and put together."""
    hour, day = scene.rng.randint(1, 8), _coming(scene, most=200)
    met(scene, f"{VISIT} on {_english(scene, day)} at {hour} pm.")
    starts = f"{day.isoformat()}T{hour + 12}:00{scene.rng.choice(('', ':00'))}"
    at = scene.call("book_visit", customer_id=scene.customer.id, starts_at=starts)
    return scene.label(at, "starts_at", *DAY)


def from_instant(scene: Scene) -> Label:
    """The day of an instant that a result gave."""
    order = scene.order()
    day = _coming(scene)
    met(scene, f"Somebody should set up what I bought in order {order.number} on the day it comes.")
    row = scene.order_row(order) | {scene.shown("delivers_at"): f"{day.isoformat()}T12:30:00Z"}
    scene.call("list_orders", {"orders": [row]}, customer_id=scene.customer.id)
    return _visit(scene, day, *DAY)


def from_result(scene: Scene) -> Label:
    """A day as a result gave it, in another order of its parts in half of the scenes."""
    order, day = scene.order(), _coming(scene)
    met(scene, f"Somebody should set up what I bought in order {order.number} on the day it comes.")
    told = scene.rng.choice((day.isoformat(), f"{day:%d %b %Y}", f"{day:%B %d, %Y}", f"{day:%Y/%m/%d}"))
    row = scene.order_row(order) | {scene.shown("delivers_on"): told}
    scene.call("list_orders", {"orders": [row]}, customer_id=scene.customer.id)
    return _visit(scene, day, *DAY)


def birth_date(scene: Scene) -> Label:
    """June 5, 1990."""
    day = date(scene.rng.randint(1950, 2005), scene.rng.randint(1, 12), scene.rng.randint(1, 28))
    month = words.MONTHS[day.month - 1]
    met(scene, f"My birthday is wrong, it is {month} {day.day}, {day.year}.")
    at = scene.call("update_customer", customer_id=scene.customer.id, birth_date=day.isoformat())
    return scene.label(at, "birth_date", *DAY)


# -- the wrong ones ------------------------------------------------------------------------------------------


def invented(scene: Scene) -> Label:
    """A day that nobody said."""
    met(scene, f"{VISIT}, please.")
    _distracted(scene)
    day = _coming(scene)
    scene.nowhere(day.isoformat())
    return _visit(scene, day, "invented")


def wrong_day_elsewhere(scene: Scene) -> Label:
    """Tomorrow by the clock in UTC, where the customer's day is another one."""
    _elsewhere(scene)
    met(scene, f"{VISIT}, tomorrow if you can.")
    return _visit(scene, scene.now.date() + timedelta(days=1), *WRONG)


def swapped(scene: Scene) -> Label:
    """4 May became 5 April."""
    day = scene.today + timedelta(days=scene.rng.randint(20, 150))
    day = day.replace(day=scene.rng.choice([one for one in range(1, 13) if one != day.month]))
    met(scene, f"{VISIT} on {words.MONTHS[day.month - 1]} {day.day}.")
    return _visit(scene, date(day.year, day.day, day.month), *WRONG)


def wrong_weekday(scene: Scene) -> Label:
    """The day before the Friday that was asked for, or the day after it."""
    day = scene.today + timedelta(days=scene.rng.randint(3, 6))
    off = scene.rng.choice((-1, 1))
    met(scene, f"{VISIT} on {words.WEEKDAYS[day.weekday()]}.")
    return _visit(scene, day + timedelta(days=off), *WRONG)


def wrong_year(scene: Scene) -> Label:
    """The right day of a year that is over."""
    day = _coming(scene, most=200)
    wrong = day.replace(year=scene.today.year - scene.rng.randint(1, 3))
    met(scene, f"{VISIT} on {_english(scene, day)}.")
    return _visit(scene, wrong, *WRONG)


def day_off(scene: Scene) -> Label:
    """May 27, where the user said May 26."""
    day = _coming(scene, most=200)
    met(scene, f"{VISIT} on {_english(scene, day)}.")
    wrong = day + timedelta(days=scene.rng.choice((-3, -2, -1, 1, 2, 3)))
    scene.nowhere(wrong.isoformat())
    return _visit(scene, wrong, *WRONG)


def night_for_day(scene: Scene) -> Label:
    """3 pm became 03:00."""
    hour = scene.rng.randint(1, 8)
    met(scene, f"{VISIT} tomorrow at {hour} pm.")
    scene.nowhere(f"0{hour}:00")
    at = scene.call("book_visit", customer_id=scene.customer.id, time=f"0{hour}:00")
    return scene.label(at, "time", *WRONG)


def invented_birth_date(scene: Scene) -> Label:
    """A date of birth that nobody gave."""
    met(scene, "My birthday is wrong in your books.")
    day = date(scene.rng.randint(1950, 2005), scene.rng.randint(1, 12), scene.rng.randint(1, 28))
    at = scene.call("update_customer", customer_id=scene.customer.id, birth_date=day.isoformat())
    return scene.label(at, "birth_date", "invented")
