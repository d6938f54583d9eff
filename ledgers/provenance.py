"""Where did this value come from: for each leaf of each call's arguments, a verdict with its sources.

    provenance(trajectory) -> (Traced, ...)     one per leaf, and one per optional argument that was left out
    Traced.verdict      exact, normalised, derived, ... or invented, near_miss, wrong_kind, ...
    Traced.line         the verdict in one line, with symbols

Three questions are asked: was the value seen before the decision, is it of the kind that belongs there, is it the row
that is meant. Values are rendered into their surface forms and looked up in the facts (`ledgers.facts`); the ladder that
does so is in `ledgers.resolve`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sandtrail.ledgers.records import Fact, FactKind
from sandtrail.ledgers.specs import Risk, Slot
from sandtrail.ledgers.trajectory import Trajectory


class Verdict(StrEnum):
    """What is to be said of the origin of one value.

    Grounded:
    * exact          stood there as it is          * normalised   stood there in another surface form
    * partial        is part of what stood there, or put together of its parts
    * derived        computed from what stood there
    * weak           could be computed, but chance is not ruled out
    * default, enum  the schema's own default, one of the schema's values
    * low_information  true, 1, USD: proves nothing either way
    * user_unknown   the user gave an id that exists nowhere
    * generated      made up by the caller, as it must be: an idempotency key
    * omitted        an optional argument that was left out
    Not grounded: see the codes `provenance.*`.
    """

    EXACT = "exact"
    NORMALISED = "normalised"
    PARTIAL = "partial"
    DERIVED = "derived"
    WEAK = "weak"
    DEFAULT = "default"
    ENUM = "enum"
    LOW_INFORMATION = "low_information"
    USER_UNKNOWN = "user_unknown"
    GENERATED = "generated"
    OMITTED = "omitted"
    INVENTED = "invented"
    INVENTED_PROPAGATED = "invented_propagated"
    NEAR_MISS = "near_miss"
    WRONG_KIND = "wrong_kind"
    WRONG_BINDING = "wrong_binding"
    MIXED_ENTITY = "mixed_entity"
    STALE = "stale"
    UNIT_SLIP = "unit_slip"
    UNSEEN_REAL = "unseen_real"
    SCHEMA_EXAMPLE = "schema_example"
    SOURCE_POLICY = "source_policy"
    UNTRUSTED_SOURCE = "untrusted_source"

    @property
    def grounded(self) -> bool:
        """Whether the value may be used."""
        return self in _GROUNDED


_GROUNDED = frozenset(list(Verdict)[: list(Verdict).index(Verdict.INVENTED)])


@dataclass(frozen=True, slots=True)
class Resolved:
    """A verdict on one value, why (in words, with symbols), and all places where it stood."""

    verdict: Verdict
    why: str = ""
    facts: tuple[Fact, ...] = field(default=(), repr=False)


@dataclass(frozen=True, repr=False)
class Traced:
    """The origin of one argument leaf. `call` counts from 1, `pointer` is a JSON pointer into the arguments.

    `shown` is the value with symbols for ids, `sources` are all places where it stood, in words by `str`. `required` and `committed` say what the slot and the call were: what was
    committed weighs more.
    """

    call: int
    tool: str
    pointer: str
    value: Any
    shown: Any
    verdict: Verdict
    why: str
    slot: Slot = field(repr=False)
    sources: tuple[Fact, ...] = field(default=(), repr=False)
    required: bool = False
    writes: bool = False
    committed: bool = False

    @property
    def grounded(self) -> bool:
        """Whether the value may be used."""
        return self.verdict.grounded

    @property
    def name(self) -> str:
        """The argument as people write it: `flights[0].flight_number`."""
        steps = self.pointer.split("/")[1:]
        return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in steps).removeprefix(".")

    @property
    def weight(self) -> int:
        """By how many levels the circumstances raise (or lower) what the code weighs by itself.

        What was committed weighs one level more. On a call that only reads, a made-up search word weighs one less.
        """
        if self.committed:
            return 1
        return -1 if not self.writes and self.slot.risk is Risk.LOW and not self.required else 0

    @property
    def line(self) -> str:
        """The verdict in one line: `refund_payment.payment_id = $order.lamp: an order id; ...`."""
        value = "(left out)" if self.verdict is Verdict.OMITTED else _short(self.shown)
        return f"{self.tool}.{self.name} = {value}: {self.why}"

    def came_from(self, tool: str, pointer: str | None = None) -> bool:
        """Whether the value stood in a result of this tool, at this JSON pointer where one is given."""
        return any(
            fact.kind in {FactKind.RESULT, FactKind.PLANTED}
            and fact.tool == tool
            and pointer in {None, fact.pointer}
            for fact in self.sources
        )

    def said_by_user(self) -> bool:
        """Whether the user said it."""
        return any(fact.kind is FactKind.USER for fact in self.sources)

    def __repr__(self) -> str:
        return f"<{self.line}>"

    def is_(self, symbol: object) -> bool:
        """Whether it is this entity (a symbol), or this value."""
        return bool(self.shown == symbol)


def _short(value: object) -> str:
    text = value if isinstance(value, str) and value.startswith("$") and " " not in value else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def argument_of(
    trajectory: Trajectory, origins: Sequence[Traced], tool: str, name: str, *, nth: int = 1
) -> Traced:
    """The origin of an argument of the nth call of a tool; `name` is as `Traced.name` writes it, or a JSON pointer.

    Raises LookupError with what was called, or given, instead.
    """
    calls = [made for made in trajectory.made if made.call.tool == tool]
    if not 1 <= nth <= len(calls):
        called = ", ".join(made.call.tool for made in trajectory.made) or "nothing"
        raise LookupError(f"{tool} was called {len(calls)} times, not {nth}; the calls were: {called}")
    number = calls[nth - 1].number
    given = [traced for traced in origins if traced.call == number]
    for traced in given:
        if name in {traced.name, traced.pointer}:
            return traced
    names = ", ".join(traced.name for traced in given if traced.verdict is not Verdict.OMITTED) or "none"
    raise LookupError(f"call {number} of {tool} has no {name!r}; it has {names}")
