"""What stands in the three books.

    Attempt   one call that reached the dispatcher, whatever became of it    (book 1, outside the database)
    Effect    what the service says it did, and the rows that back it        (book 2, in the transaction)
    Change    what one row did, captured by the database itself              (book 3, by triggers)

A Page binds them: the effects and changes of one origin (an attempt, the clock, an event, or nobody).
Pages are what the chain links and what the rules R1-R7 judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.trees import same
from sandtrail.ledgers.words import Access, Delivery, OriginKind, Outcome

Scalar: TypeAlias = str | int | None
Values: TypeAlias = tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose doing something is; `detail` says more in words."""

    kind: OriginKind
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.detail}".strip()


@dataclass(frozen=True, slots=True)
class Change:
    """One row before and after, as the database captured it. An insert has no `old`, a delete no `new`.

    `columns` names the places of `old` and `new`; `key` is the row's symbol (before the change, if it had one).
    """

    n: int
    table: str
    key: str
    columns: tuple[str, ...]
    old: Values | None
    new: Values | None
    business: bool = True

    def __post_init__(self) -> None:
        if self.old is None and self.new is None:
            raise ValueError(f"change {self.n} of {self.table} has neither a before nor an after")

    @property
    def before(self) -> dict[str, Scalar] | None:
        """The row before, by column."""
        return None if self.old is None else dict(zip(self.columns, self.old, strict=True))

    @property
    def after(self) -> dict[str, Scalar] | None:
        """The row after, by column."""
        return None if self.new is None else dict(zip(self.columns, self.new, strict=True))

    @property
    def touch(self) -> bool:
        """An update that left every column as it was."""
        return self.old == self.new

    @property
    def cells(self) -> dict[str, tuple[Scalar, Scalar]]:
        """The columns that differ, each with before and after."""
        old = self.old or (None,) * len(self.columns)
        new = self.new or (None,) * len(self.columns)
        return {name: (a, b) for name, a, b in zip(self.columns, old, new, strict=True) if a != b}

    def __str__(self) -> str:
        if self.old is None:
            cells = {name: b for name, (_, b) in self.cells.items() if name != "id"}
            return f"+ {self.table} {self.key}  " + " ".join(
                f"{name}={value}" for name, value in cells.items()
            )
        if self.new is None:
            return f"- {self.table} {self.key}"
        cells_changed = "  ".join(f"{name} {_said(a)} -> {_said(b)}" for name, (a, b) in self.cells.items())
        return f"~ {self.table} {self.key}  {cells_changed or '(same values)'}"

    __repr__ = __str__


def _said(value: Scalar) -> str:
    return "none" if value is None else str(value)


@dataclass(frozen=True, slots=True)
class RowClaim:
    """A row that an effect accounts for: the cells as the service wrote them, or None where it deleted the row."""

    table: str
    key: str
    cells: Mapping[str, Scalar] | None


@dataclass(frozen=True, slots=True)
class Effect:
    """A business fact that a service declares, with the rows it accounts for.

    `external` marks what leaves the world (mail, webhook) and cannot be taken back.
    """

    name: str
    facts: Mapping[str, Any]
    rows: tuple[RowClaim, ...] = ()
    external: bool = False
    attempt: int | None = None

    def matches(self, wanted: Mapping[str, Any], /) -> bool:
        """Whether every fact named in `wanted` has just this value here. True is not 1.

        >>> Effect("refund.created", {"payment": "$payment.lamp", "amount": 4250}).matches({"amount": 4250})
        True
        """
        return all(name in self.facts and same(self.facts[name], value) for name, value in wanted.items())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Mapping):
            return self.matches(cast("Mapping[str, Any]", other))
        if isinstance(other, Effect):
            return (self.name, dict(self.facts), self.rows, self.external, self.attempt) == (
                other.name, dict(other.facts), other.rows, other.external, other.attempt,
            )  # fmt: skip
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.name, self.attempt, self.external))

    def __str__(self) -> str:
        facts = "  ".join(f"{name}={value}" for name, value in self.facts.items())
        return f"{self.name}  {facts}{'  (external)' if self.external else ''}"

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Attempt:
    """One call that reached the dispatcher, whatever became of it.

    `arguments` is the raw JSON text as sent, `answer` the raw text as the service gave it (whether or not
    it was delivered), `at` the virtual instant in UTC, `resumes` the attempt that was held open before;
    `symbolic` is the arguments with symbols for ids, which is what prints and compares.
    """

    seq: int
    operation: str
    access: Access
    arguments: str
    principal: str
    outcome: Outcome
    delivery: Delivery = Delivery.DELIVERED
    fault: str | None = None
    status: int = 200
    rule: str | None = None
    answer: str | None = None
    at: str = ""
    path: str = "direct"
    idempotency_key: str | None = None
    resumes: int | None = None
    detail: str | None = None
    symbolic: str | None = None

    @property
    def arguments_digest(self) -> str:
        """SHA-256 of the arguments as sent."""
        return hashlib.sha256(self.arguments.encode("utf-8", "surrogatepass")).hexdigest()

    def __str__(self) -> str:
        arguments = self.arguments if self.symbolic is None else self.symbolic
        words = [f"attempt {self.seq} {self.operation} {arguments} by {self.principal}: {self.outcome}"]
        if self.rule:
            words.append(f"({self.rule}{f': {self.detail}' if self.outcome is Outcome.CRASHED else ''})")
        if self.delivery is not Delivery.DELIVERED:
            words.append(f"answer {self.delivery}")
        if self.fault:
            words.append(f"fault {self.fault}")
        return " ".join(words)

    __repr__ = __str__


@dataclass(frozen=True, slots=True)
class Page:
    """One link of the chain: an origin, what was declared, what the rows did, which ids were issued, when (`at`).

    `tampering` names attempts to switch the evidence off that the store refused or noticed; `hole` says
    that the database counted more row changes than the triggers captured.
    """

    origin: Origin
    attempt: Attempt | None = None
    effects: tuple[Effect, ...] = ()
    changes: tuple[Change, ...] = ()
    bindings: tuple[Binding, ...] = ()
    at: str = ""
    tampering: tuple[str, ...] = ()
    hole: str | None = None

    def __post_init__(self) -> None:
        if (self.attempt is not None) is not (self.origin.kind is OriginKind.ATTEMPT):
            raise ValueError(f"a page of origin {self.origin} and attempt={self.attempt} contradicts itself")

    @property
    def place(self) -> str:
        """Where findings on this page are."""
        if self.attempt is not None:
            return f"attempt {self.attempt.seq}"
        return self.origin.detail if self.origin.kind is OriginKind.NONE else str(self.origin)

    @property
    def business(self) -> tuple[Change, ...]:
        """The changes of business rows, without updates that left everything as it was."""
        return tuple(change for change in self.changes if change.business and not change.touch)

    @property
    def committed(self) -> bool:
        """A write with outcome ok and at least one business change."""
        return (
            self.attempt is not None
            and self.attempt.access is Access.WRITE
            and self.attempt.outcome is Outcome.OK
            and bool(self.business)
        )
