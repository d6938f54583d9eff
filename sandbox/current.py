"""The test that is running, as the runner and the sandbox see it: which repetition, which seed, and what it has run.

Standard library only: the pytest plugin loads it with every test session.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Current:
    """One test on its way. `results` (Result) and `sandboxes` (Sandbox) are what it has made, for the report of a failing one;
    `earlier` are the books of repetitions that failed."""

    seed: int | None = None
    repetition: int = 1
    results: list[Any] = field(default_factory=list[Any])
    sandboxes: list[Any] = field(default_factory=list[Any])
    earlier: list[str] = field(default_factory=list[str])


CURRENT: ContextVar[Current | None] = ContextVar("sandtrail_current", default=None)
"""The running test's, where the plugin runs it."""
