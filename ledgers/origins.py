"""What a resolver knows when it is asked for the origin of a value, and what both ladders (ids, other values) share.

Known    the facts, rows, clock and bindings of one trajectory, and which values were invented so far
Asked    one leaf of one call
sources  the facts that may have fed it, hops (the agent's own words and earlier calls) apart
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any

from sandtrail.ledgers.bindings import Binding, Projection
from sandtrail.ledgers.conversation import Conversation
from sandtrail.ledgers.facts import Facts
from sandtrail.ledgers.folding import key_of
from sandtrail.ledgers.identity import Identical
from sandtrail.ledgers.naming import id_kind, kind_word
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.records import Fact, FactKind, Hit, kinds_of
from sandtrail.ledgers.rows import Rows
from sandtrail.ledgers.slots import Told
from sandtrail.ledgers.specs import Form, Slot
from sandtrail.ledgers.surface import Clock

HOPS = frozenset({FactKind.ARGUMENT, FactKind.ASSISTANT})
"""What the agent itself said or sent: no source, but a way on which a value came."""


@dataclass(frozen=True)
class Asked:
    """One leaf of a call's arguments. `siblings` are the call's other texts, folded, by pointer, and `given` all of its leaves; `absent` marks an optional
    argument that was left out."""

    call: int
    tool: str
    pointer: str
    value: Any
    slot: Slot
    told: Told
    step: int
    writes: bool
    siblings: Mapping[str, str] = field(default_factory=dict[str, str])
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    absent: bool = False

    @property
    def key(self) -> str:
        """The folded value."""
        return key_of(self.value) or ""


class Read:
    """What is read of one conversation once, for all who ask: its facts, and when first asked its
    rows, and what the user said in words of values that results hold."""

    def __init__(self, conversation: Conversation) -> None:
        self.facts = Facts.of(conversation)
        self.said: dict[tuple[object, ...], tuple[Fact, ...]] = {}

    @cached_property
    def rows(self) -> Rows:
        """The rows of all results."""
        return Rows(self.facts)

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The entity kinds that fields of results name."""
        fields = {key for record in self.facts.records[:5000] for key in record.fields}
        return frozenset(kind for key in fields if (kind := id_kind(str(key))))


@lru_cache(maxsize=8)
def read_of(conversation: Identical) -> Read:
    """What is read of a conversation, which is kept while it is judged."""
    return Read(conversation.value)


@dataclass
class Known:
    """One trajectory, as far as resolvers ask. `invented` is filled as calls are resolved in their order: the folded
    value and the call that used it first. `carried` are the folded leaves of each call's arguments."""

    read: Read
    clock: Clock
    bindings: Mapping[str, Binding]
    projection: Projection
    kinds: frozenset[str]
    tenants: tuple[str, ...] = ()
    examples: frozenset[str] = frozenset()
    invented: dict[str, int] = field(default_factory=dict[str, int])
    carried: dict[int, frozenset[str]] = field(default_factory=dict[int, frozenset[str]])
    prices: Mapping[str, tuple[tuple[Fact, Decimal], ...]] | None = None

    @property
    def facts(self) -> Facts:
        """The facts of its conversation."""
        return self.read.facts

    @property
    def rows(self) -> Rows:
        """The rows of all results."""
        return self.read.rows

    def shown(self, value: object) -> str:
        """A value in words: a symbol, or the text itself."""
        found = self.projection.value(value)
        return found if isinstance(found, str) else str(found)

    def is_echo(self, fact: Fact, key: str) -> bool:
        """Whether a result only says again what an invention had sent."""
        first = self.invented.get(key)
        return (
            first is not None
            and fact.kind in {FactKind.RESULT, FactKind.ERROR, FactKind.PLANTED}
            and fact.call is not None
            and fact.call >= first
            and key in self.carried.get(fact.call, frozenset())
        )


@dataclass(frozen=True, slots=True)
class Sources:
    """The facts that hold a value: those that count, and the hops."""

    facts: tuple[Fact, ...] = ()
    hops: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.facts)


def sorted_out(known: Known, facts: Iterable[Fact], key: str) -> Sources:
    """Facts that count and hops apart; echoes of an invention are neither."""
    counted: list[Fact] = []
    hops: list[Fact] = []
    for fact in facts:
        if fact.kind in HOPS:
            hops.append(fact)
        elif not known.is_echo(fact, key):
            counted.append(fact)
    return Sources(tuple(counted), tuple(hops))


def whole(known: Known, asked: Asked) -> Iterator[Fact]:
    """The facts that hold the value as it is: whole leaves first, then running text.

    A short code in capitals is found in capitals only: LAS is not Las Vegas.
    """
    yield from known.facts.leaves(asked.key, asked.step)
    code = asked.value if isinstance(asked.value, str) and _CODE.fullmatch(asked.value) else ""
    for hit in known.facts.prose(asked.key, asked.step):
        if not is_leaf(hit) and (not code or code in hit.text.raw):
            yield hit.fact


_CODE = re.compile(r"[A-Z]{2,4}")


def verbatim(asked: Asked, facts: Iterable[Fact]) -> bool:
    """Whether some source holds the value as it was sent, letter for letter."""
    if not isinstance(asked.value, str):
        return True
    return any(
        fact.value == asked.value or (fact.text is not None and asked.value in fact.text.raw)
        for fact in facts
    )


def is_leaf(hit: Hit) -> bool:
    """Whether a hit is the whole of a leaf, which was found as such."""
    return hit.text.record is not None and hit.start == 0 and hit.end == len(hit.text.folded)


def confirmed(known: Known, hops: Iterable[Fact], step: int) -> Fact | None:
    """What the agent proposed in a reply and the user answered afterwards."""
    users = [text.order for text in known.facts.words(step, frozenset({FactKind.USER}))]
    last = max(users, default=-1)
    for fact in hops:
        if fact.kind is FactKind.ASSISTANT and fact.text is not None and fact.text.order < last:
            return fact
    return None


def propagated(known: Known, asked: Asked) -> Resolved | None:
    """An invention used again is blamed on its first use."""
    first = known.invented.get(asked.key)
    if first is None or first >= asked.call:
        return None
    return Resolved(Verdict.INVENTED_PROPAGATED, f"made up in call {first}, and used again")


def where(facts: Iterable[Fact], most: int = 3) -> str:
    """The places of facts in words."""
    said: dict[str, None] = {}
    for fact in facts:
        tool = (
            f", returned by {fact.tool}"
            if fact.kind in {FactKind.RESULT, FactKind.PLANTED} and fact.tool
            else ""
        )
        said.setdefault(f"{fact}{tool}")
    shown = list(said)[:most]
    more = f" and {len(said) - most} more" if len(said) > most else ""
    return "; ".join(shown) + more


def schema_says(asked: Asked) -> Resolved | None:
    """A value that the tool's own schema holds: its default, one of its values, or an example."""
    told = asked.told
    if told.has_default and key_of(told.default) == asked.key:
        return Resolved(Verdict.DEFAULT, "the schema's default")
    if any(key_of(one) == asked.key for one in told.enum):
        return Resolved(Verdict.ENUM, "one of the values that the schema lists")
    return None


def schema_example(known: Known, asked: Asked) -> Resolved | None:
    """An example out of the schema of this tool, or of another one, used as if it were data."""
    if any(key_of(one) == asked.key for one in asked.told.examples):
        return Resolved(Verdict.SCHEMA_EXAMPLE, "it stood nowhere but as an example in the tool's own schema")
    if asked.slot.form is Form.ID and re.search(rf"(?<!\w){re.escape(asked.key)}(?!\w)", asked.told.text):
        return Resolved(Verdict.SCHEMA_EXAMPLE, "it stood nowhere but in the tool's own text")
    if asked.key in known.examples:
        return Resolved(Verdict.SCHEMA_EXAMPLE, "it stood nowhere but as an example in another tool's schema")
    return None


# -- kinds ---------------------------------------------------------------------------------------------------

_MENTION = re.compile(r"(\w+)(?:\s+(?:number|id|ids|no\.?|nr\.?|numbers|is|nummer))*\s*[:#(]*\s*$")


def fact_kinds(known: Known, fact: Fact) -> frozenset[str]:
    """The entity kinds that a fact's place tells: by its field, by the word in front of it in a text."""
    if fact.text is None:
        return kinds_of(fact)
    if fact.kind is FactKind.PLANTED or isinstance(fact.value, str) is False:
        return frozenset()
    place = fact.text.folded.find(str(fact.value))
    found = _MENTION.search(fact.text.folded[max(0, place - 40) : place])
    word = kind_word(found[1]) if found else ""
    return frozenset({word}) if word in known.kinds else frozenset()


ENTITIES = frozenset(
    [
        "order",
        "invoice",
        "payment",
        "customer",
        "account",
        "ticket",
        "booking",
        "reservation",
        "user",
        "product",
        "subscription",
    ]
)
"""Kinds that people call by their names, whether or not a tool takes their ids."""

_ALIKE = (
    frozenset(["customer", "user", "client", "account", "member", "person"]),
    frozenset(["booking", "reservation"]),
    frozenset(["payment", "charge", "transaction"]),
    frozenset(["ticket", "case", "issue"]),
    frozenset(["invoice", "bill"]),
)


def fits(kind: str, others: frozenset[str]) -> bool:
    """Whether an id of one of these kinds may stand where one of `kind` belongs: payment_method fits payment.

    >>> fits("payment", frozenset({"payment_method"})), fits("payment", frozenset({"order"})), fits("payment", frozenset())
    (True, False, True)
    >>> fits("customer", frozenset({"user"}))
    True
    """
    if not others or not kind:
        return True
    wanted = set(kind.split("_"))
    wanted |= {word for group in _ALIKE if group & wanted for word in group}
    return any(set(other.split("_")) & wanted for other in others)


TIMELESS = frozenset({Form.ID, Form.GENERATED, Form.FLAG, Form.TEXT})
"""Forms whose values do not go stale."""
