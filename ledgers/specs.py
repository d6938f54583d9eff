"""What a world, a tool and a plan are, before anything happens.

    WorldSpec   entities by symbol, clock, faults: everything a world opens with
    Principal   who acts: subject, role, tenants, scopes, optionally one customer
    FaultPlan   which answers go wrong, where
    ToolSpec    what the model sees          Slot  what it does not see about one parameter
    Catalog     the ordered list of tools offered at a step, with a digest
    TableFact   what the books must know of a table to judge its changes
    OperationFact  what judges must know of an operation

Frozen values without I/O; a value that exists is valid.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from sandtrail.ledgers.words import Access

SYMBOL = re.compile(r"\$[a-z][a-z_]*\.[A-Za-z0-9][A-Za-z0-9_-]*")
"""A symbol: `$kind.name`."""

DEFAULT_NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def kind_of(symbol: str) -> str:
    """The entity kind in a symbol.

    >>> kind_of("$payment.lamp")
    'payment'
    """
    return symbol[1 : symbol.index(".")]


@dataclass(frozen=True, slots=True)
class Principal:
    """Who acts. `customer` narrows everything to one customer's own rows."""

    subject: str
    role: str = "support"
    tenants: tuple[str, ...] = ("north",)
    scopes: tuple[str, ...] = ("*",)
    customer: str | None = None

    def __post_init__(self) -> None:
        if not self.tenants:
            raise ValueError(
                f"principal {self.subject!r}: tenants=() can see nothing; name at least one tenant"
            )
        if self.customer is not None and not SYMBOL.fullmatch(self.customer):
            raise ValueError(
                f"principal {self.subject!r}: customer={self.customer!r} is no symbol like $customer.lee"
            )

    def may(self, scope: str | None) -> bool:
        """Whether the scopes cover `scope`; `billing:*` covers every scope of billing.

        >>> Principal("amy", scopes=("billing:*",)).may("billing:refund")
        True
        """
        if scope is None or "*" in self.scopes or scope in self.scopes:
            return True
        return f"{scope.split(':', maxsplit=1)[0]}:*" in self.scopes


AGENT = Principal("agent")
"""The principal of a world that names none: a support agent of tenant north with every scope."""


LONGEST_FAULT = 10 * 366 * 86400
"""The longest a fault may take, in seconds: ten years."""


class FaultKind(StrEnum):
    """What goes wrong, and at which point of a call.

    before validation: rate_limited, unavailable · before commit: timeout · after commit: answer_lost
    on the wire: slow, malformed, duplicate_delivery · in the store: stale_read · held_open: parked, runs later
    """

    RATE_LIMITED = "rate_limited"
    UNAVAILABLE = "unavailable"
    TIMEOUT = "timeout"
    ANSWER_LOST = "answer_lost"
    SLOW = "slow"
    STALE_READ = "stale_read"
    MALFORMED = "malformed"
    DUPLICATE_DELIVERY = "duplicate_delivery"
    HELD_OPEN = "held_open"


@dataclass(frozen=True, slots=True)
class Fault:
    """One planned fault: it fires on the `nth` matching call (and `times - 1` after it), or by chance.

    `symbol` narrows it to calls that name that entity. `seconds` is Retry-After, the delay, the time a
    call is held open, or how far behind a stale read is.
    """

    kind: FaultKind
    operation: str
    nth: int = 1
    times: int = 1
    symbol: str | None = None
    probability: float | None = None
    seconds: int = 30

    def __post_init__(self) -> None:
        if self.nth < 1 or self.times < 1:
            raise ValueError(
                f"fault on {self.operation}: nth={self.nth}, times={self.times}; both count from 1"
            )
        if self.probability is not None and not 0 < self.probability <= 1:
            raise ValueError(
                f"fault on {self.operation}: probability={self.probability} must be above 0 and at most 1"
            )
        if not 0 <= self.seconds <= LONGEST_FAULT:
            raise ValueError(
                f"fault on {self.operation}: seconds={self.seconds} must not be negative, nor above {LONGEST_FAULT}"
            )

    def __str__(self) -> str:
        when = f"nth={self.nth}" if self.probability is None else f"probability={self.probability}"
        return f"{self.kind}({self.operation}, {when}{f', {self.symbol}' if self.symbol else ''})"


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """The faults of a world, in the order in which they are asked."""

    faults: tuple[Fault, ...] = ()

    def __iter__(self) -> Iterator[Fault]:
        return iter(self.faults)


@dataclass(frozen=True)
class WorldSpec:
    """Everything a world opens with. `entities` maps symbols to fields; `population` adds that many
    unnamed customers with an order, a payment and an address each.

    Raises ValueError where a symbol is malformed or the clock is naive.
    """

    entities: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    now: datetime = DEFAULT_NOW
    zone: str = "UTC"
    faults: FaultPlan = FaultPlan()
    principal: Principal = AGENT
    population: int = 0

    def __post_init__(self) -> None:
        if self.now.tzinfo is None:
            raise ValueError(f"now={self.now.isoformat()} is naive; give it a zone, for example +00:00")
        for symbol in self.entities:
            if not SYMBOL.fullmatch(symbol) or symbol.rsplit(".", 1)[1].isdigit():
                raise ValueError(
                    f"{symbol!r} is no symbol; write $kind.name with a name that is not a number"
                )

    @property
    def seed_text(self) -> str:
        """What the template image depends on, as canonical text."""
        start = self.now.astimezone(UTC).isoformat()
        return json.dumps([self.entities, start, self.population], ensure_ascii=False, default=str)


class Risk(StrEnum):
    """What a wrong value in a slot can do."""

    LOW = "low"
    HIGH = "high"


class Form(StrEnum):
    """What sort of value a slot takes: which surface forms it has, and what may be computed.

    * id         names one entity; nothing computes it        * generated  made up by the caller: an idempotency key
    * money      an amount of the slot's unit                 * number     a count, a quantity, a percentage
    * date, time a day, an instant                            * flag       true or false
    * email, phone, name, address                             * code       one word of a closed set: currency, country
    * text       free text; only what it names is checked     * token      any other short text: a number, a SKU
    """

    ID = "id"
    GENERATED = "generated"
    MONEY = "money"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    FLAG = "flag"
    EMAIL = "email"
    PHONE = "phone"
    NAME = "name"
    ADDRESS = "address"
    CODE = "code"
    TEXT = "text"
    TOKEN = "token"


@dataclass(frozen=True, slots=True)
class Slot:
    """A parameter's hidden type. Never shown to a model.

    `kind` is the entity kind of an id; `unit` says what a number counts: `minor` or `major` units of money;
    `form` is the sort of value (None: read off its name); `sources` is the source policy: which kinds of fact may
    feed it (empty: any its form allows). `inferred` says by what words a slot was guessed; it is empty where a
    service declared it.
    """

    kind: str | None = None
    unit: str | None = None
    sources: tuple[str, ...] = ()
    risk: Risk = Risk.LOW
    form: Form | None = None
    inferred: str = ""


@dataclass(frozen=True)
class ToolSpec:
    """What the model sees of a tool."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True)
class Catalog:
    """The ordered list of tools offered at a step.

    >>> tool = ToolSpec("ping", "Ping.", {"type": "object"})
    >>> Catalog((tool, tool))
    Traceback (most recent call last):
    ValueError: tool 'ping' is twice in the catalog; names must be unique
    """

    tools: tuple[ToolSpec, ...]

    def __post_init__(self) -> None:
        names = [tool.name for tool in self.tools]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"tool {name!r} is twice in the catalog; names must be unique")

    def __contains__(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    @property
    def digest(self) -> str:
        """SHA-256 over names, descriptions, schemas and their order."""
        body = [[tool.name, tool.description, tool.input_schema] for tool in self.tools]
        return hashlib.sha256(json.dumps(body, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class MoneyFact:
    """An integer column that carries money in minor units, and the posting account it must agree with.

    `account` None marks the posting table itself: its amounts sum to zero for each currency.
    """

    column: str
    currency: str
    account: str | None


@dataclass(frozen=True, slots=True)
class TableFact:
    """What the books must know of a table to judge its changes."""

    name: str
    service: str
    columns: tuple[str, ...]
    key: str = "id"
    business: bool = True
    money: tuple[MoneyFact, ...] = ()


@dataclass(frozen=True, slots=True)
class OperationFact:
    """What judges must know of an operation: whether it writes, what undoes it, what leaves the world."""

    name: str
    service: str
    access: Access
    undone_by: str | None = None
    external: tuple[str, ...] = ()
