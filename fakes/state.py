"""What a client sends, what a fault holds open, and all of a world that changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sandtrail.fakes.clock import Clock
from sandtrail.fakes.edge import Edge
from sandtrail.fakes.faults import Faults
from sandtrail.fakes.problems import Problem
from sandtrail.fakes.store import Store
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.specs import Principal


@dataclass(frozen=True, slots=True)
class Call:
    """What a client sends: `arguments` as JSON text or a mapping; `path` says on which way it came.

    `refusal` is what the wire found wrong with the request before any operation was asked.
    """

    operation: str
    arguments: str | Mapping[str, Any]
    principal: Principal
    idempotency_key: str | None = None
    if_version: int | None = None
    path: str = "direct"
    in_path: Mapping[str, Any] = field(default_factory=dict[str, Any])
    resumes: int | None = None
    refusal: Problem | None = None
    redelivered: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """A call that a fault holds open until an instant."""

    call: Call
    until: datetime
    attempt: int
    key: str | None


@dataclass(slots=True)
class State:
    """All of a world that changes; a reset replaces it, a fork copies it."""

    store: Store
    clock: Clock
    edge: Edge
    faults: Faults
    book: Book
    counters: dict[str, int] = field(default_factory=dict[str, int])
    held: list[Held] = field(default_factory=list[Held])
