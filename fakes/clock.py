"""The virtual clock: it moves only when somebody moves it, and knows zones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_PART = re.compile(r"(\d+)\s*(second|minute|hour|day|week)s?")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800}


def span(text: str | timedelta) -> timedelta:
    """A length of time in words. Raises ValueError where it is not positive, or not understood.

    >>> span("3 days"), span("1 hour 30 minutes")
    (datetime.timedelta(days=3), datetime.timedelta(seconds=5400))
    """
    if isinstance(text, timedelta):
        length = text
    else:
        rest = re.sub(r"[\s,]|and", "", _PART.sub("", text))
        parts = _PART.findall(text)
        if rest or not parts:
            raise ValueError(
                f"{text!r} is no length of time; write for example '3 days' or '1 hour 30 minutes'"
            )
        try:
            length = timedelta(seconds=sum(int(count) * _SECONDS[unit] for count, unit in parts))
        except OverflowError:
            raise ValueError(f"{text!r} is beyond the calendar") from None
    if length <= timedelta():
        raise ValueError(f"{text!r}: time moves forward only")
    return length


def instant_text(moment: datetime) -> str:
    """The instant as the store and the wire write it: UTC, whole seconds, `2026-03-02T09:00:00Z`.

    Raises ValueError for a naive datetime.
    """
    if moment.tzinfo is None:
        raise ValueError(f"{moment.isoformat()} is a naive datetime; give it a zone, for example +00:00")
    return moment.astimezone(UTC).isoformat(timespec="seconds")[:-6] + "Z"


class Clock:
    """The time of one world. Instants are UTC inside; `local` is what a person in the world's zone reads, `text` what the books say."""

    def __init__(self, now: datetime, zone: str = "UTC") -> None:
        if now.tzinfo is None:
            raise ValueError(f"now={now.isoformat()} is naive; give it a zone, for example +00:00")
        try:
            self.zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise ValueError(
                f"zone={zone!r} is not known; write an IANA name such as Europe/Berlin"
            ) from error
        self._now = now.astimezone(UTC).replace(microsecond=0)
        self.text = instant_text(self._now)

    def now(self) -> datetime:
        """The present instant, in UTC."""
        return self._now

    def local(self) -> datetime:
        """The present instant on a wall clock of the world's zone."""
        return self._now.astimezone(self.zone)

    def move(self, length: timedelta) -> None:
        """Let time pass. The world's `advance` also runs what is due."""
        try:
            self._now += length
        except OverflowError:
            raise ValueError(f"{length} from {self.text} is beyond the calendar") from None
        self.text = instant_text(self._now)

    def copy(self) -> Clock:
        """A clock that shows the same and goes its own way from here."""
        return Clock(self._now, str(self.zone))
