"""Planned faults: what goes wrong, at which point of a call, and whether it ever fired.

    door           before validation   rate_limited (429, Retry-After) · unavailable (503) · held_open (runs later)
    store          before the handler  stale_read (reads only: an earlier state answers)
    before commit                      timeout (rolled back, no answer)
    after commit                       answer_lost (it happened, the client never hears of it)
    wire           on the way back     slow · malformed · duplicate_delivery (the request arrives twice)

A call counts for a fault when it reaches the fault's point. A fault that never fired proves nothing: it is in `unfired`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from sandtrail.ledgers.specs import Fault, FaultKind, FaultPlan


class Point(StrEnum):
    """Where in a call a fault strikes, in the order in which a call passes them."""

    DOOR = "door"
    STORE = "store"
    BEFORE_COMMIT = "before commit"
    AFTER_COMMIT = "after commit"
    WIRE = "wire"


POINTS = {
    FaultKind.RATE_LIMITED: Point.DOOR,
    FaultKind.UNAVAILABLE: Point.DOOR,
    FaultKind.HELD_OPEN: Point.DOOR,
    FaultKind.STALE_READ: Point.STORE,
    FaultKind.TIMEOUT: Point.BEFORE_COMMIT,
    FaultKind.ANSWER_LOST: Point.AFTER_COMMIT,
    FaultKind.SLOW: Point.WIRE,
    FaultKind.MALFORMED: Point.WIRE,
    FaultKind.DUPLICATE_DELIVERY: Point.WIRE,
}


@dataclass(slots=True)
class _Armed:
    fault: Fault
    seen: int = 0
    fired: int = 0


class Faults:
    """The armed faults of one world: `world.faults.lose_answer("refund_payment", nth=1)`."""

    def __init__(self, plan: FaultPlan, seed: int, check: Callable[[Fault], None]) -> None:
        self._armed: list[_Armed] = []
        self._random = Random(f"faults/{seed}")
        self._check = check
        for fault in plan:
            self.arm(fault)

    def copy(self) -> Faults:
        """The same faults with the same counts, going their own way from here."""
        twin = Faults(FaultPlan(), 0, self._check)
        twin._armed = [_Armed(armed.fault, armed.seen, armed.fired) for armed in self._armed]
        twin._random.setstate(self._random.getstate())
        return twin

    def arm(self, fault: Fault) -> Fault:
        """Add a fault. Raises LookupError for an operation that is not there, ValueError for one it cannot strike."""
        self._check(fault)
        self._armed.append(_Armed(fault))
        return fault

    def lose_answer(
        self, operation: str, *, nth: int = 1, times: int = 1, symbol: str | None = None
    ) -> Fault:
        """The nth such call commits, and its answer never arrives."""
        return self.arm(Fault(FaultKind.ANSWER_LOST, operation, nth, times, symbol))

    def time_out(self, operation: str, *, nth: int = 1, times: int = 1, symbol: str | None = None) -> Fault:
        """The nth such call is rolled back, and no answer arrives."""
        return self.arm(Fault(FaultKind.TIMEOUT, operation, nth, times, symbol))

    def rate_limit(self, operation: str, *, nth: int = 1, times: int = 1, seconds: int = 30) -> Fault:
        """The nth such call is answered 429 with Retry-After."""
        return self.arm(Fault(FaultKind.RATE_LIMITED, operation, nth, times, seconds=seconds))

    def unavailable(self, operation: str, *, nth: int = 1, times: int = 1) -> Fault:
        """The nth such call is answered 503."""
        return self.arm(Fault(FaultKind.UNAVAILABLE, operation, nth, times))

    def slow(self, operation: str, *, nth: int = 1, times: int = 1, seconds: int = 30) -> Fault:
        """The nth such answer takes that long; the virtual clock moves."""
        return self.arm(Fault(FaultKind.SLOW, operation, nth, times, seconds=seconds))

    def stale_read(self, operation: str, *, nth: int = 1, times: int = 1, seconds: int = 86400) -> Fault:
        """The nth such read is answered from the state of that long ago (at most: of the opening)."""
        return self.arm(Fault(FaultKind.STALE_READ, operation, nth, times, seconds=seconds))

    def malform(self, operation: str, *, nth: int = 1, times: int = 1) -> Fault:
        """The nth such answer arrives cut in half."""
        return self.arm(Fault(FaultKind.MALFORMED, operation, nth, times))

    def deliver_twice(self, operation: str, *, nth: int = 1, times: int = 1) -> Fault:
        """The nth such request reaches the service twice; the client hears the first answer."""
        return self.arm(Fault(FaultKind.DUPLICATE_DELIVERY, operation, nth, times))

    def hold_open(self, operation: str, *, nth: int = 1, times: int = 1, seconds: int = 30) -> Fault:
        """The nth such call is held, the client times out, and it runs when that much time has passed (`advance`)."""
        return self.arm(Fault(FaultKind.HELD_OPEN, operation, nth, times, seconds=seconds))

    @property
    def fired(self) -> tuple[Fault, ...]:
        """The faults that struck at least once."""
        return tuple(armed.fault for armed in self._armed if armed.fired)

    @property
    def unfired(self) -> tuple[Fault, ...]:
        """The faults that never struck: the run says nothing about them."""
        return tuple(armed.fault for armed in self._armed if not armed.fired)

    @property
    def quiet(self) -> bool:
        """Whether nothing is armed."""
        return not self._armed

    def strike(self, point: Point, operation: str, symbols: Callable[[], Iterable[str]]) -> Fault | None:
        """The fault that strikes this call at this point, if any; counts the call."""
        for armed in self._armed:
            fault = armed.fault
            if fault.operation != operation or POINTS[fault.kind] is not point:
                continue
            if fault.symbol is not None and fault.symbol not in symbols():
                continue
            armed.seen += 1
            if self._due(armed):
                armed.fired += 1
                return fault  # the call goes no further, so it does not count for the faults behind this one
        return None

    def _due(self, armed: _Armed) -> bool:
        fault = armed.fault
        if fault.probability is not None:
            return self._random.random() < fault.probability
        return fault.nth <= armed.seen < fault.nth + fault.times
