"""A scenario: a world, a user, and what should happen. Frozen, symbols only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sandtrail.ledgers.specs import WorldSpec
from sandtrail.scenarios.contract import Contract


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario. `says` are the user's messages, one a turn; `places` tells where in the file each part stands."""

    id: str
    why: str
    world: WorldSpec
    says: tuple[str, ...]
    expect: Contract
    places: Mapping[str, Place]

    def place(self, part: str) -> Place:
        """Where a part stands: "$payment.first", "expect.effects", ...; the nearest part around it otherwise."""
        while part and part not in self.places:
            part = part.rpartition(".")[0]
        return self.places[part]
