"""What a run may take. A budget that is used up ends a run with a reason, never with an exception."""

from __future__ import annotations

from dataclasses import dataclass

from sandtrail.ledgers.conversation import Usage
from sandtrail.ledgers.trajectory import Ended


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a run may take. `seconds` is real time, `cost` in US dollars; None: no bound.

    `repeats` is the loop guard: so many equal calls with equal answers in a row end a run.
    """

    steps: int = 30
    turns: int = 30
    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    repeats: int = 8

    def __post_init__(self) -> None:
        for name in ("steps", "turns", "calls", "tokens", "seconds", "cost", "repeats"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise ValueError(f"{name}={value}: a limit is above 0; leave it out for none")

    def exceeded(
        self, *, steps: int, turns: int, calls: int, usage: Usage, seconds: float
    ) -> tuple[Ended, str] | None:
        """Which budget is used up, and what to say of it."""
        cost = (usage.cost or 0) / 1_000_000
        for ended, name, took, most in (
            (Ended.MAX_STEPS, "decisions", steps, self.steps),
            (Ended.MAX_TURNS, "turns", turns, self.turns),
            (Ended.MAX_CALLS, "calls", calls, self.calls),
            (Ended.MAX_TOKENS, "tokens", usage.tokens, self.tokens),
            (Ended.MAX_TIME, "seconds", seconds, self.seconds),
            (Ended.MAX_COST, "US dollars", cost, self.cost),
        ):
            if most is not None and took >= most:
                shown = f"{took:.2f}" if isinstance(took, float) else str(took)
                return ended, f"the agent did not end within its budget: {shown} of {most} {name}"
        return None
