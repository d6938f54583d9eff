"""The books as a whole, and the questions that a test asks of them.

A Book is where a world appends its pages. A Ledger is what everybody else reads: queries that stand in a
plain `assert` and print what they found.

    ledger.writes()                                        the attempts that committed
    ledger.effects("refund.created", payment="$payment.lamp")
    ledger.attempts(outcome="denied")
    ledger.changes("payment")
    ledger.unchanged("orders"), ledger.read_only           proofs: true or false, with the evidence
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast, overload

from sandtrail.ledgers.bindings import Binding, Projection
from sandtrail.ledgers.entries import Attempt, Change, Effect, Page
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.reconcile import reconcile
from sandtrail.ledgers.specs import TableFact
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.words import Access, Delivery, Grade, OriginKind, Outcome

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Proof:
    """True or false, with the evidence for it; prints what it rests on.

    >>> Proof(True, "no row of orders changed")
    <holds: no row of orders changed>
    """

    holds: bool
    claim: str
    evidence: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        found = "; ".join(self.evidence)
        return f"<{'holds' if self.holds else 'broken'}: {self.claim}{f': {found}' if found else ''}>"


class Records(Sequence[T], Generic[T]):
    """What a query found, in the order in which it happened; prints a line for each.

    Equal to a list of the same entries; effects are also equal to a mapping of the facts it names.

    >>> Records([Effect("refund.created", {"amount": 4250})]) == [{"amount": 4250}]
    True
    """

    __slots__ = ("_items",)

    def __init__(self, items: Iterable[T]) -> None:
        self._items = tuple(items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Records[T]: ...
    def __getitem__(self, index: int | slice) -> T | Records[T]:
        return Records(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, list | tuple | Records):
            return NotImplemented
        wanted = cast("Sequence[object]", other)
        return len(self) == len(wanted) and all(a == b for a, b in zip(self, wanted, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "[" + ",\n ".join(map(repr, self._items)) + "]"


@dataclass(eq=False)
class Book:
    """Where one world's pages stand, with its tables' facts. Only the world appends."""

    run: str
    tables: Mapping[str, TableFact]
    opening: tuple[Binding, ...] = ()
    pages: list[Page] = field(default_factory=list[Page])
    breaches: list[Finding] = field(default_factory=list[Finding])
    looked_at: set[int] = field(default_factory=set[int])
    attempts: int = 0

    def append(self, page: Page, *, judged: bool = True) -> None:
        """Add a page, and the breaches that the rules find on it unless it is not to be `judged`."""
        self.pages.append(page)
        if page.attempt is not None:
            self.attempts += 1
        if judged:
            self.breaches.extend(reconcile(page, self.tables))

    def copy(self, run: str) -> Book:
        """The same books under another run's name; what either appends later, the other does not see."""
        return Book(
            run,
            self.tables,
            self.opening,
            list(self.pages),
            list(self.breaches),
            set(self.looked_at),
            self.attempts,
        )


class Ledger:
    """The three books of one world, for reading. Live: it sees what is appended later."""

    def __init__(
        self,
        book: Book,
        *,
        grade: Grade = Grade.PROVED,
        replay: Callable[[], tuple[Finding, ...]] = tuple[Finding, ...],
    ) -> None:
        self._book = book
        self._replay = replay
        self.grade = grade

    @property
    def run(self) -> str:
        """The name of the run the books belong to."""
        return self._book.run

    @property
    def pages(self) -> tuple[Page, ...]:
        """The pages, in the order in which they happened."""
        return tuple(self._book.pages)

    @property
    def tables(self) -> Mapping[str, TableFact]:
        """The facts of every table."""
        return self._book.tables

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """Every id issued so far, in order."""
        return self._book.opening + tuple(b for page in self._book.pages for b in page.bindings)

    @property
    def projection(self) -> Projection:
        """Raw ids back to symbols, with every id issued so far."""
        return Projection(self.bindings)

    @property
    def breaches(self) -> Records[Finding]:
        """What the rules R1-R7 found wrong with the books so far (R3 over the whole world: `verify`)."""
        return Records(self._book.breaches)

    def verify(self) -> Records[Finding]:
        """All breaches, the full replay of the changes (R3) included; empty where the books hold."""
        replayed = self._replay()  # also takes what has changed since the last call, so it goes first
        return Records([*self._book.breaches, *replayed])

    def settled(self) -> Ledger:
        """This ledger with its last verdict on the whole world, for when the world is gone."""
        found = self._replay()
        return Ledger(self._book, grade=self.grade, replay=lambda: found)

    def attempts(self, **wanted: Any) -> Records[Attempt]:
        """The attempts whose named fields have these values; asking for blocked or crashed ones counts as looking.

        Raises TypeError for a field that attempts do not have, ValueError for an outcome, delivery or access that
        there is not: a misspelt one would find nothing, and prove nothing.
        """
        _known(Attempt, wanted)
        found = [page.attempt for page in self._book.pages if page.attempt and _fits(page.attempt, wanted)]
        if wanted.get("outcome") in {Outcome.BLOCKED, Outcome.CRASHED}:
            self._book.looked_at.update(attempt.seq for attempt in found)
        return Records(found)

    def unread(self, outcome: Outcome) -> Records[Attempt]:
        """The attempts of this outcome that nobody has asked for yet."""
        return Records(
            page.attempt
            for page in self._book.pages
            if page.attempt
            and page.attempt.outcome is outcome
            and page.attempt.seq not in self._book.looked_at
        )

    def writes(self) -> Records[Attempt]:
        """The attempts that committed: a write with outcome ok that changed at least one business row.

        Somebody else's books show no rows: there a write with outcome ok that had an effect did.
        """
        return Records(page.attempt for page in self._book.pages if page.attempt and self._committed(page))

    def _committed(self, page: Page) -> bool:
        return page.committed or (
            self._rowless
            and bool(page.effects)
            and page.attempt is not None
            and page.attempt.access is Access.WRITE
            and page.attempt.outcome is Outcome.OK
        )

    @property
    def _rowless(self) -> bool:
        """Whether these are somebody else's books, where effects alone tell of what was changed."""
        return self.grade is not Grade.PROVED

    def effects(self, name: str | None = None, /, **facts: Any) -> Records[Effect]:
        """The declared effects of this name with these facts (all, where nothing is named)."""
        return Records(
            effect
            for page in self._book.pages
            for effect in page.effects
            if (name is None or effect.name == name) and effect.matches(facts)
        )

    def changes(self, table: str | None = None, /, *, bookkeeping: bool = False) -> Records[Change]:
        """The row changes by attempts, of one table or all; bookkeeping rows only when asked for."""
        if table is not None:
            self._tables(table)
        return Records(
            change
            for page in self._book.pages
            if page.attempt is not None
            for change in page.changes
            if (bookkeeping or change.business)
            and not change.touch
            and (table is None or change.table == table)
        )

    def unchanged(self, name: str, /) -> Proof:
        """Whether no attempt changed a row of this table, or of any table of this service. Gross, not net."""
        tables = self._tables(name)
        found = [change for change in self.changes() if change.table in tables]
        return self._proof(f"no row of {name} was changed", [str(change) for change in found])

    @property
    def read_only(self) -> Proof:
        """Nothing was mutated: no business change by an attempt (gross), no external effect, no blocked request.

        In somebody else's books, which show no rows, no effect at all; what they do not tell, nobody proves.
        """
        found: list[str] = []
        for page in self._book.pages:
            if page.attempt is None and page.origin.kind is not OriginKind.NONE:
                continue
            lines = [str(change) for change in page.business]
            lines += [str(effect) for effect in page.effects if effect.external or self._rowless]
            if page.attempt and page.attempt.outcome is Outcome.BLOCKED:
                lines.append(f"blocked {page.attempt.operation}")
            what = f"attempt {page.attempt.seq} {page.attempt.operation}" if page.attempt else page.place
            found += [f"{what}: {line}" for line in lines]
        claim = "nothing was mutated" + (f", as far as is {self.grade}" if self._rowless else "")
        return self._proof(claim, found)

    def _proof(self, claim: str, found: Sequence[str]) -> Proof:
        holes = [f"the books do not hold: {finding}" for finding in self._book.breaches]
        return Proof(not found and not holes, claim, (*found, *holes))

    def _tables(self, name: str) -> frozenset[str]:
        services = {fact.service for fact in self._book.tables.values()}
        if name in self._book.tables:
            return frozenset({name})
        if name in services:
            return frozenset(fact.name for fact in self._book.tables.values() if fact.service == name)
        known = ", ".join(sorted(services | set(self._book.tables)))
        raise LookupError(f"{name!r} is neither a table nor a service of this world; known are {known}")

    def __repr__(self) -> str:
        lines = [f"<ledger {self.run}: {self._book.attempts} attempts, {len(self.writes())} writes>"]
        for page in self._book.pages:
            lines += [
                str(page.attempt or page.origin),
                *(f"  {line}" for line in (*page.effects, *page.business)),
            ]
        return "\n".join(map(str, lines))


_WORDS: Mapping[str, type[StrEnum]] = {"outcome": Outcome, "delivery": Delivery, "access": Access}


def _known(kind: type[Any], wanted: Mapping[str, Any]) -> None:
    for name, value in wanted.items():
        if name not in kind.__dataclass_fields__:
            known = ", ".join(kind.__dataclass_fields__)
            raise TypeError(f"{kind.__name__.lower()}s have no field {name!r}; known are {known}")
        if name in _WORDS and value not in set(_WORDS[name]):
            raise ValueError(
                f"there is no {name} {value!r}{near(str(value), [str(word) for word in _WORDS[name]])}"
            )


def _fits(entry: Attempt, wanted: Mapping[str, Any]) -> bool:
    return all(getattr(entry, name) == value for name, value in wanted.items())
