"""The process clock for the user's own code, through freezegun; the fakes themselves read the virtual clock.

freezegun is process-global: overlapping freezes read the wrong time and leave modules patched
(https://github.com/spulec/freezegun/issues/503, /345), asyncio hangs without `real_asyncio`
(https://github.com/spulec/freezegun/issues/437). So there is one freezer, counted, and a second sandbox at another
time is refused. The scan at its start loads every lazy module of the OpenAI SDK unless told to leave it alone. Hypothesis
is left alone too, else its deadline would pass whenever virtual time does; the price is that `time.time()` called
directly in the body of a Hypothesis example is real (`datetime.now()` is not).
"""

from __future__ import annotations

from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sandtrail.sandbox.errors import FrozenElsewhere

if TYPE_CHECKING:
    from freezegun.api import FrozenDateTimeFactory

_UNTOUCHED = ["hypothesis", "openai"]


class Freezer:
    """The one freezer of the process."""

    def __init__(self) -> None:
        self._holders: list[object] = []
        self._frozen: Any = None
        self._factory: FrozenDateTimeFactory | None = None
        self._moment: datetime | None = None

    def freeze(self, holder: object, moment: datetime) -> None:
        """Freeze the process clock. Raises FrozenElsewhere where another sandbox holds it at another time."""
        if self._holders and moment != self._moment:
            held = self._moment.isoformat() if self._moment else "another time"
            raise FrozenElsewhere(
                f"the process clock is frozen at {held} by another sandbox; it cannot be {moment.isoformat()} too. "
                "Close that one first, or open this one with freeze=False: its fakes have their own clock anyway"
            )
        if not self._holders:
            import freezegun  # noqa: PLC0415  heavy; late, since a class with a datetime that is defined while frozen may fail

            _complete()
            self._frozen = freezegun.freeze_time(moment, real_asyncio=True, ignore=_UNTOUCHED)
            self._factory = self._frozen.start()
            self._moment = moment
        self._holders.append(holder)

    def move(self, holder: object, moment: datetime) -> None:
        """Follow the virtual clock. Raises FrozenElsewhere where others hold the clock too."""
        if holder not in self._holders or self._factory is None:
            return
        if len(self._holders) > 1:
            raise FrozenElsewhere(
                "two sandboxes have frozen the process clock together; neither can move it alone"
            )
        self._factory.move_to(moment)
        self._moment = moment

    def thaw(self, holder: object) -> None:
        """Give the clock up; the last holder starts real time again."""
        if holder not in self._holders:
            return
        self._holders.remove(holder)
        if not self._holders and self._frozen is not None:
            self._frozen.stop()
            self._frozen = self._factory = self._moment = None


def _complete() -> None:
    """Load what this package loads late: the scan at the start of a freeze would do it while frozen, and models with
    a datetime field that are defined while frozen raise (https://github.com/spulec/freezegun/issues/551)."""
    package = import_module("sandtrail.sandbox")
    for name in package.__all__:
        getattr(package, name)


FREEZER = Freezer()
"""The process's freezer."""
