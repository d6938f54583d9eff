"""The test that is running, as the runner and the sandbox see it: which repetition, which seed, and what it has run.

    begun(current)   while a test runs       running()   the test that runs here, or None

Standard library only: the pytest plugin loads it with every test session.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Current:
    """One test on its way. `results` (Result) and `sandboxes` (Sandbox) are what it has made, for the report of a failing one;
    `earlier` are the books of repetitions that failed."""

    seed: int | None = None
    repetition: int = 1
    results: list[Any] = field(default_factory=list[Any])
    sandboxes: list[Any] = field(default_factory=list[Any])
    earlier: list[str] = field(default_factory=list[str])


_HERE: ContextVar[Current | None] = ContextVar("sandtrail_current", default=None)
_RUNNING: list[Current] = []


@contextmanager
def begun(current: Current) -> Generator[None]:
    """A test is running."""
    token = _HERE.set(current)
    _RUNNING.append(current)
    try:
        yield
    finally:
        _RUNNING.remove(current)
        _HERE.reset(token)


def running() -> Current | None:
    """The test that runs here; None outside of tests.

    The context knows it, but for two cases: a thread that the test began has an empty one, and an event loop that
    outlives a test (a loop for the whole session) still has that of the test which began it. There it is the
    test that began last in this process.
    """
    found = _HERE.get()
    if found in _RUNNING:
        return found
    return next(reversed(_RUNNING), None)
