"""What a scenario demands: effects with their counts, arguments with their sources, and what the answer must state.

The footprint is declared: an effect that no line of the contract allows is unauthorized.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class WantedEffect:
    """An effect that must happen, exactly so often, with these facts."""

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    times: int = 1

    def __str__(self) -> str:
        facts = " ".join(f"{name}={value}" for name, value in self.facts.items())
        return f"{self.name} {facts}".strip()


@dataclass(frozen=True, slots=True)
class WantedArgument:
    """An argument of a tool: which entity it must be, and from which tools' results it may come."""

    tool: str
    name: str
    symbol: str | None = None
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contract:
    """What a scenario demands of a run. `read_only` is the same as no wanted effects, said on purpose."""

    read_only: bool = False
    effects: tuple[WantedEffect, ...] = ()
    arguments: tuple[WantedArgument, ...] = ()
    states: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.read_only and self.effects:
            raise ValueError("a read-only scenario wants no effects; drop one of the two")
