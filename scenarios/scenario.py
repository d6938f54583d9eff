"""A scenario: a world, a catalog, a user, and what should happen. Frozen, symbols only.

    Scenario
    ├── world     entities, clock, zone, faults, principal      ledgers.specs.WorldSpec
    ├── offer     which tools, which distractors, what changes between turns
    ├── user      the scripted user: a small state machine
    └── expect    the contract                                  contract.Contract

`visible()` is all of it that may reach the agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sandtrail.ledgers.specs import WorldSpec
from sandtrail.scenarios.contract import Contract, Contradiction


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in a file; lines count from 1."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Family(StrEnum):
    """How a distractor resembles the right tool."""

    LEXICAL_NEIGHBOUR = "lexical_neighbour"
    PARAMETER_TWIN = "parameter_twin"
    DOMAIN_NEIGHBOUR = "domain_neighbour"
    PERMISSION_MISMATCH = "permission_mismatch"
    DEPRECATED_ALIAS = "deprecated_alias"
    PREMATURE_TOOL = "premature_tool"


@dataclass(frozen=True, slots=True)
class Distractor:
    """A tool that looks right and is not, with the written reason why it is wrong for this request."""

    tool: str
    family: Family
    why: str

    def __post_init__(self) -> None:
        if not self.why.strip():
            raise ValueError(f"distractor {self.tool}: a reason is wanted: why is it wrong for this request?")


@dataclass(frozen=True, slots=True)
class CatalogChange:
    """What changes in the catalog when turn `turn` (from 2) begins: tools go, come back, or get another name."""

    turn: int
    remove: tuple[str, ...] = ()
    add: tuple[str, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if self.turn < 2:
            raise Contradiction(
                "turn", f"turn {self.turn}: a catalog changes from turn 2 on; before that, write it so"
            )
        if not (self.remove or self.add or self.rename):
            raise ValueError(f"turn {self.turn}: nothing changes; name remove, add or rename")


@dataclass(frozen=True, slots=True)
class Offered:
    """Which tools the agent is offered: those of a versioned catalog (empty: every operation of the world), narrowed by
    `only` or `without`.

    `withheld` are tools that exist and are not offered to this principal (absent by permission).
    """

    catalog: str = ""
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    changes: tuple[CatalogChange, ...] = ()
    rename: Mapping[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        if self.only and self.without:
            raise Contradiction("without", "only and without exclude each other; name one of the two")


@dataclass(frozen=True)
class ToolEntry:
    """One tool of a catalog: an operation under this name or another, or a canned reply (`answers` is not None)."""

    name: str
    operation: str | None = None
    description: str | None = None
    deprecated: str = ""
    answers: Any = None
    input_schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def canned(self) -> bool:
        """Whether it reaches no service."""
        return self.operation is None


@dataclass(frozen=True)
class CatalogFile:
    """A catalog as written down. `key` is what scenarios call it: support@1."""

    name: str
    version: int
    tools: tuple[ToolEntry, ...]
    places: Mapping[str, Place] = field(default_factory=dict[str, Place], repr=False)

    @property
    def key(self) -> str:
        """Name and version."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class User:
    """The scripted user, as written down; `scenarios.users` brings it to life.

    * says          the first message; the following ones stand in `then`, one whenever the agent has answered
    * knows         facts given when asked for, by name ("e-mail", "order number", ...)
    * confirms      what is said when the agent asks whether to go on: "yes", "no", or words of one's own
    * changes_mind  said instead of the confirmation the first time, or after the first answer where none is asked for
    * chooses       what is said when the agent asks which of several is meant
    * silent        says nothing more, whatever the agent asks
    * patience      how often it answers questions before it gives up
    """

    says: str
    then: tuple[str, ...] = ()
    knows: Mapping[str, str] = field(default_factory=dict[str, str])
    confirms: str = ""
    changes_mind: str = ""
    chooses: str = ""
    silent: bool = False
    patience: int = 6

    def texts(self) -> Iterator[str]:
        """Everything the user may say, as templates."""
        yield self.says
        yield from self.then
        yield from self.knows.values()
        yield from (text for text in (self.confirms, self.changes_mind, self.chooses) if text)


@dataclass(frozen=True, slots=True)
class Visible:
    """All of a scenario that may reach the agent: what the user says, and the tools (through the toolbox)."""

    says: str
    now: str
    zone: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario; `places` tells where in the file each part stands.

    `idle_passes` marks one that an agent passes by doing nothing; it never counts as a success. `first_only` ends a
    run after the first decision (plain selection datasets). `catalog` is the file that `offer.catalog` names.
    """

    id: str
    why: str
    world: WorldSpec
    user: User
    expect: Contract
    places: Mapping[str, Place] = field(default_factory=dict[str, Place], repr=False)
    revision: int = 1
    language: str = "en"
    reviewed: str = ""
    tags: tuple[str, ...] = ()
    offer: Offered = Offered()
    catalog: CatalogFile | None = field(default=None, repr=False)
    idle_passes: bool = False
    first_only: bool = False

    def place(self, part: str) -> Place:
        """Where a part stands: "$payment.first", "expect.effects", ...; the nearest part around it otherwise."""
        while part and part not in self.places:
            part = part.rpartition(".")[0]
        return self.places.get(part) or Place(self.id, 1)

    def visible(self) -> Visible:
        """What may reach the agent."""
        return Visible(self.user.says, self.world.now.isoformat(), self.world.zone)

    def summary(self) -> dict[str, Any]:
        """What `sandtrail list --json` says of it."""
        return {
            "id": self.id,
            "revision": self.revision,
            "why": self.why,
            "language": self.language,
            "tags": list(self.tags),
            "turns": 1 + len(self.user.then),
            "read_only": self.expect.read_only,
            "idle_passes": self.idle_passes,
            "ambiguous": self.expect.ambiguous,
        }
