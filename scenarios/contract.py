"""What a scenario demands of a run.

    Contract
    ├── first, forbid, calls        which tools may be chosen first, which never, which must have answered
    ├── arguments                   which value each argument must have, and where it may come from
    ├── effects, read_only, frozen  the footprint: an effect that no line allows is unauthorized
    ├── order                       what comes before what
    ├── clarification, refusal, handoff   whether to ask, to decline, to hand over
    ├── answer                      what the replies must state, and must not
    └── budgets                     how many calls and steps it may take

Tools are named as the scenario calls them (a renamed tool keeps its name here), entities by symbol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Contradiction(ValueError):
    """What cannot be demanded together. `key` is the part of the contract that is to be changed."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        super().__init__(reason)


@dataclass(frozen=True)
class WantedEffect:
    """An effect with these facts: at least `times` and at most `most` times (None: as often as `times`).

    `times` 0 is an effect that may happen and need not.
    """

    name: str
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    times: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        if self.times < 0 or (self.most is not None and self.most < max(self.times, 1)):
            raise ValueError(f"{self.name}: between times={self.times} and most={self.most} lies no count")
        if self.times == 0 and self.most is None:
            raise ValueError(f"{self.name}: an effect that must not happen is simply left out")

    @property
    def limit(self) -> int:
        """How often it may happen."""
        return self.times if self.most is None else self.most

    def __str__(self) -> str:
        facts = " ".join(
            f"no {name}" if value is None else f"{name}={value}" for name, value in self.facts.items()
        )
        return f"{self.name} {facts}".strip()


class Compare(StrEnum):
    """How an argument's value is held against what is wanted.

    * exact       the canonical JSON value (True is not 1, 12 equals 12.0, text in NFC)
    * normalised  text without regard to case, surrounding and doubled blanks
    * casefold    text without regard to case
    * ignored     any value
    """

    EXACT = "exact"
    NORMALISED = "normalised"
    CASEFOLD = "casefold"
    IGNORED = "ignored"


ANY = object()
"""No value is demanded."""


@dataclass(frozen=True, slots=True)
class WantedArgument:
    """An argument of a tool.

    `value` is a literal or a symbol (ANY: not demanded), `compare` how it is held against it, `sources` the tools
    whose results it may come from ("user" for what the user said), `absent` that it must be left out, `optional` that
    it may be. `currency` is set where the scenario wrote an amount of money: the value is in its minor units.
    """

    tool: str
    name: str
    value: Any = ANY
    compare: Compare = Compare.EXACT
    sources: tuple[str, ...] = ()
    absent: bool = False
    optional: bool = True
    currency: str | None = None

    def __post_init__(self) -> None:
        if self.absent and (self.value is not ANY or self.sources or not self.optional):
            raise ValueError(f"{self.tool}.{self.name}: what must be absent has no value and no source")

    @property
    def symbol(self) -> str | None:
        """The entity it must be, where one is named."""
        return self.value if isinstance(self.value, str) and self.value.startswith("$") else None


@dataclass(frozen=True, slots=True)
class OrderRule:
    """`before` must have answered (a tool), or been confirmed by the user (`confirm`), before `tool` is called."""

    tool: str
    before: str = ""
    confirm: bool = False

    def __post_init__(self) -> None:
        if bool(self.before) is self.confirm:
            raise ValueError(f"order of {self.tool}: either a tool that comes before, or a confirmation")


class Clarification(StrEnum):
    """Whether the agent is to ask the user before it acts."""

    NOT_NEEDED = "not_needed"
    ALLOWED = "allowed"
    REQUIRED = "required"


class Norm(StrEnum):
    """Whether something is to happen: declining, handing over to a person."""

    NOT_EXPECTED = "not_expected"
    ALLOWED = "allowed"
    EXPECTED = "expected"


@dataclass(frozen=True, slots=True)
class Stated:
    """Something that the replies must state: an amount with currency, a count of something, a date, an id, or words.

    `near` narrows it to sentences that hold one of these words (10 *refunded*, not open until 10).
    """

    text: str
    near: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text + (f" (about {', '.join(self.near)})" if self.near else "")


@dataclass(frozen=True, slots=True)
class Budgets:
    """The most a run may take; None: no bound of the scenario's own."""

    calls: int | None = None
    steps: int | None = None
    turns: int | None = None


class ArgumentsPolicy(StrEnum):
    """What becomes of a value of another type that could be converted."""

    STRICT = "strict"
    COERCE = "coerce"


@dataclass(frozen=True, slots=True)
class Label:
    """Which first tools one person holds to be right (an empty tuple: none)."""

    by: str
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """What a scenario demands of a run. `read_only` is the same as no allowed effects, said on purpose.

    `first` None demands nothing of the first decision; an empty tuple says that no tool is to be called at all.
    `frozen` makes every write a forbidden tool. `distractors` are tools that look right, each with the reason why it
    is wrong here. `closed` makes every argument beyond a tool's schema an error. `foreign` are entities of others
    whose data must be neither asked for nor told. `labels` are the first tools that several people hold to be right.
    """

    read_only: bool = False
    frozen: bool = False
    first: tuple[str, ...] | None = None
    first_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    forbid: Mapping[str, str] = field(default_factory=dict[str, str])
    effects: tuple[WantedEffect, ...] = ()
    arguments: tuple[WantedArgument, ...] = ()
    order: tuple[OrderRule, ...] = ()
    clarification: Clarification = Clarification.ALLOWED
    asks: tuple[str, ...] = ()
    refusal: Norm = Norm.NOT_EXPECTED
    handoff: Norm = Norm.NOT_EXPECTED
    states: tuple[Stated, ...] = ()
    never_states: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    budgets: Budgets = Budgets()
    arguments_policy: ArgumentsPolicy = ArgumentsPolicy.STRICT
    closed: bool = False
    foreign: tuple[str, ...] = ()
    distractors: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        if self.read_only and self.effects:
            raise Contradiction("read_only", "a read-only scenario wants no effects; drop one of the two")
        if self.asks and self.clarification is Clarification.NOT_NEEDED:
            raise Contradiction(
                "asks", "what must be asked is named, although no clarification is needed; drop one"
            )
        if self.first is not None:
            both = sorted(set(self.first) & set(self.forbid))
            if both:
                raise Contradiction(
                    f"first.{both[0]}", f"{', '.join(both)} cannot be both a first tool and forbidden"
                )

    @property
    def ambiguous(self) -> bool:
        """Whether people disagree on the right first tool."""
        return len({frozenset(label.first) for label in self.labels}) > 1

    @property
    def right_first(self) -> tuple[str, ...] | None:
        """The first tools that count as right: the contract's, and those of every label."""
        if self.first is None and not self.labels:
            return None
        return tuple(
            dict.fromkeys([*(self.first or ()), *(tool for label in self.labels for tool in label.first)])
        )

    @property
    def no_tool(self) -> bool:
        """Whether no tool is to be called at all."""
        return self.right_first == () and not self.ambiguous

    @property
    def writes_wanted(self) -> bool:
        """Whether some effect has to happen."""
        return any(wanted.times > 0 for wanted in self.effects)
