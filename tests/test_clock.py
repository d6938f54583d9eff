"""The virtual clock moves only forward, only when it is moved, and never guesses a zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.fakes.clock import Clock, instant_text, span

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
NAIVE = datetime(2026, 3, 2, 12, 0)  # noqa: DTZ001  what must be refused


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("1 second", timedelta(seconds=1)),
        ("90 seconds", timedelta(seconds=90)),
        ("3 days", timedelta(days=3)),
        ("2 weeks", timedelta(weeks=2)),
        ("1 hour 30 minutes", timedelta(minutes=90)),
        ("1 hour, 30 minutes", timedelta(minutes=90)),
        ("1 day and 2 hours", timedelta(hours=26)),
        (timedelta(minutes=5), timedelta(minutes=5)),
    ],
)
def test_a_length_of_time_is_read_from_words(text: str | timedelta, length: timedelta) -> None:
    assert span(text) == length


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "3",
        "days",
        "3 fortnights",
        "3 dayss",
        "3 days ago",
        "1.5 hours",
        "-1 day",
        "1 day x",
        "3d",
    ],
)
def test_words_that_are_no_length_of_time_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no length of time; write for example '3 days'"):
        span(text)


@pytest.mark.parametrize("length", ["0 days", "0 hours 0 minutes", timedelta(), timedelta(seconds=-1)])
def test_time_moves_forward_only(length: str | timedelta) -> None:
    with pytest.raises(ValueError, match="time moves forward only"):
        span(length)


def test_a_length_beyond_all_calendars_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="99999999999999 weeks"):
        span("99999999999999 weeks")


@given(
    weeks=st.integers(0, 50), days=st.integers(0, 50), hours=st.integers(0, 50), seconds=st.integers(1, 9999)
)
def test_the_parts_of_a_length_add_up(weeks: int, days: int, hours: int, seconds: int) -> None:
    said = f"{weeks} weeks {days} days {hours} hours {seconds} seconds"
    assert span(said) == timedelta(weeks=weeks, days=days, hours=hours, seconds=seconds)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (NOON, "2026-03-02T12:00:00Z"),
        (NOON.replace(microsecond=999_999), "2026-03-02T12:00:00Z"),
        (datetime(2026, 3, 2, 12, 0, tzinfo=timezone(timedelta(hours=-8))), "2026-03-02T20:00:00Z"),
        (datetime(2026, 3, 2, 0, 30, tzinfo=timezone(timedelta(hours=1))), "2026-03-01T23:30:00Z"),
    ],
)
def test_an_instant_is_written_in_utc_and_whole_seconds(moment: datetime, text: str) -> None:
    assert instant_text(moment) == text


def test_a_naive_datetime_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"^2026-03-02T12:00:00 is a naive datetime; give it a zone"):
        instant_text(NAIVE)
    with pytest.raises(ValueError, match=r"^now=2026-03-02T12:00:00 is naive; give it a zone"):
        Clock(NAIVE)


@pytest.mark.parametrize("zone", ["", "Mars", "Nowhere/x", "../etc/passwd", "/etc", "\0", "Europe"])
def test_an_unknown_zone_is_refused_with_an_example(zone: str) -> None:
    with pytest.raises(ValueError, match=r"^zone=.* is not known; write an IANA name such as Europe/Berlin"):
        Clock(NOON, zone)


def test_a_clock_stands_still_until_it_is_moved() -> None:
    clock = Clock(NOON)
    assert clock.now() == clock.now() == NOON
    clock.move(timedelta(hours=2))
    assert clock.now() == NOON + timedelta(hours=2)
    assert clock.text == "2026-03-02T14:00:00Z"


def test_instants_are_utc_whatever_zone_they_are_given_in() -> None:
    clock = Clock(datetime(2026, 3, 2, 13, 0, 0, 5, tzinfo=timezone(timedelta(hours=1))), "Asia/Tokyo")
    assert clock.now() == NOON
    assert clock.now().tzinfo is UTC
    assert clock.text == "2026-03-02T12:00:00Z"


def test_the_wall_clock_follows_its_zone_through_a_change_of_summer_time() -> None:
    clock = Clock(datetime(2026, 3, 29, 0, 59, tzinfo=UTC), "Europe/Berlin")
    assert clock.local().strftime("%H:%M") == "01:59"
    clock.move(timedelta(minutes=1))
    assert clock.local().strftime("%H:%M") == "03:00"
    assert clock.local() == clock.now()


def test_a_copy_goes_its_own_way() -> None:
    clock = Clock(NOON, "Asia/Tokyo")
    twin = clock.copy()
    twin.move(timedelta(days=1))
    assert clock.now() == NOON
    assert twin.now() == NOON + timedelta(days=1)
    assert str(twin.zone) == "Asia/Tokyo"
