"""Small trajectories by hand, for the judges: tools that read or write, calls and answers, books of a few lines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandtrail.ledgers import Access, Catalog, Effect, Grade, Ledger, Outcome, ToolSpec
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import Answered, Calls, Decided, Message, Reply, ToolCall, UserSaid
from sandtrail.ledgers.entries import Attempt, Change, Origin, Page
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import OperationFact
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.ledgers.words import OriginKind

ASKED = UserSaid("Please.")
ANYTHING: Mapping[str, Any] = {"type": "object"}


def call(tool: str, number: int = 1, /, **arguments: Any) -> ToolCall:
    return ToolCall(f"c{number}", tool, arguments)


def batch(*calls: ToolCall, text: str = "") -> Decided:
    return Decided(Calls(calls, text))


def told(asked: ToolCall, value: Any = None, *, error: bool = False, attempt: int | None = None) -> Answered:
    return Answered(asked, json.dumps({"ok": True} if value is None else value), error, attempt)


def one(
    asked: ToolCall, value: Any = None, *, error: bool = False, attempt: int | None = None
) -> list[Message]:
    """A step with one call, and its answer."""
    return [batch(asked), told(asked, value, error=error, attempt=attempt)]


def say(text: str) -> Decided:
    return Decided(Reply(text))


def reads(name: str, **more: Any) -> ToolFact:
    return ToolFact(name, OperationFact(name, "orders", Access.READ), **more)


def writes(name: str, **more: Any) -> ToolFact:
    return ToolFact(name, OperationFact(name, "orders", Access.WRITE), **more)


def offer(
    *facts: ToolFact, step: int = 0, withheld: tuple[str, ...] = (), **schemas: Mapping[str, Any]
) -> Offer:
    """These tools under their own names, each with the schema given for it."""
    specs = tuple(ToolSpec(fact.name, f"{fact.name}.", schemas.get(fact.name, ANYTHING)) for fact in facts)
    return Offer(step, Catalog(specs), {fact.name: fact for fact in facts}, withheld)


def attempt(
    seq: int,
    operation: str,
    access: Access = Access.WRITE,
    outcome: Outcome = Outcome.OK,
    *,
    arguments: str = "{}",
    **more: Any,
) -> Attempt:
    return Attempt(seq, operation, access, arguments, "agent", outcome, **more)


def effect(name: str, attempt: int = 1, *, external: bool = False, **facts: Any) -> Effect:
    return Effect(name, facts, external=external, attempt=attempt)


Line = Attempt | tuple[Attempt, tuple[Effect | Change, ...]]


def books(*lines: Line, grade: Grade = Grade.PROVED) -> Ledger:
    """Books of these attempts, each alone or with what it declared and changed."""
    book = Book("hand", {})
    for line in lines:
        tried, done = line if isinstance(line, tuple) else (line, ())
        effects = tuple(entry for entry in done if isinstance(entry, Effect))
        changes = tuple(entry for entry in done if isinstance(entry, Change))
        book.append(Page(Origin(OriginKind.ATTEMPT), tried, effects, changes), judged=False)
    return Ledger(book, grade=grade)


def did(*effects: Effect, grade: Grade = Grade.PROVED) -> Trajectory:
    """Books of these effects, one attempt each, and no talk."""
    return trail(
        ledger=books(*((attempt(one.attempt or 0, one.name), (one,)) for one in effects), grade=grade)
    )


def trail(*messages: Message | Sequence[Message], ledger: Ledger | None = None, **more: Any) -> Trajectory:
    flat = tuple(one for item in messages for one in (item if isinstance(item, Sequence) else [item]))
    return Trajectory("hand", "hand", 7, 1, flat, ledger or books(), **more)


def said(findings: Any) -> list[tuple[str, str]]:
    """Codes and places."""
    found: list[Finding] = list(findings)
    return [(finding.code, finding.at) for finding in found]
