"""Talks by hand: what was said and called in a real world, or in front of somebody else's ledger."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

from sandtrail.fakes import World
from sandtrail.fakes.answers import AnswerLost
from sandtrail.ledgers import Access, Delivery, Effect, Grade, Ledger, Outcome
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import Answered, Calls, Decided, Message, Reply, ToolCall, UserSaid
from sandtrail.ledgers.entries import Attempt, Origin, Page
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.words import OriginKind

NOW = "2026-03-02T09:00:00Z"


class Talk:
    """A conversation that grows line by line; `world` answers the calls. Symbols in texts and arguments become ids."""

    def __init__(self, world: World, user: str = "") -> None:
        self.world = world
        self.messages: list[Message] = [UserSaid(self._raw(user))] if user else []

    def _raw(self, text: str) -> str:
        for binding in sorted(self.world.ledger.bindings, key=lambda one: -len(one.symbol)):
            text = text.replace(binding.symbol, binding.raw)
        return text

    def user(self, text: str) -> Self:
        self.messages.append(UserSaid(self._raw(text)))
        return self

    def call(self, tool: str, *, text: str = "", **arguments: Any) -> Self:
        """One step with one call, answered by the world; a lost answer is told as a timeout."""
        given = json.loads(self._raw(json.dumps(arguments)))
        call = ToolCall(f"c{len(self.messages)}", tool, given)
        self.messages.append(Decided(Calls((call,), self._raw(text))))
        try:
            answer = self.world.call(tool, **given)
        except AnswerLost as lost:
            self.messages.append(Answered(call, str(lost), is_error=True, attempt=lost.attempt))
        else:
            self.messages.append(Answered(call, answer.text, not answer.ok, answer.attempt))
        return self

    def say(self, text: str) -> Self:
        self.messages.append(Decided(Reply(self._raw(text))))
        return self

    def told(self, text: str) -> Trajectory:
        """The trajectory with this as its last reply."""
        return self.say(text).trajectory()

    def trajectory(self) -> Trajectory:
        ledger = self.world.ledger
        return Trajectory("talk", "hand", 7, 0, tuple(self.messages), ledger, now=NOW)


Line = tuple[str, Mapping[str, Any]] | tuple[str, Mapping[str, Any], str]


def reported(*lines: Line, grade: Grade = Grade.REPORTED) -> Ledger:
    """Somebody else's lines: an effect with its facts, and what became of it (committed, lost or rejected)."""
    book = Book("reported", {})
    for number, (name, facts, *rest) in enumerate(lines, start=1):
        status = rest[0] if rest else "committed"
        outcome = Outcome.REJECTED if status == "rejected" else Outcome.OK
        delivery = Delivery.LOST if status == "lost" else Delivery.DELIVERED
        attempt = Attempt(number, name, Access.WRITE, json.dumps(dict(facts)), "x", outcome, delivery)
        effects = (Effect(name, facts, attempt=number),) if outcome is Outcome.OK else ()
        book.append(Page(Origin(OriginKind.ATTEMPT), attempt, effects), judged=False)
    return Ledger(book, grade=grade)


def transcript(ledger: Ledger, *messages: Message) -> Trajectory:
    """A trajectory of these messages before that ledger."""
    return Trajectory("transcript", "x", 0, 0, messages, ledger, now=NOW)


def asked(
    number: int, tool: str, result: str, *, text: str = "", error: bool = False, **arguments: Any
) -> list[Message]:
    """A step with one call and its answer; `number` is the attempt in the books."""
    call = ToolCall(f"c{number}", tool, arguments)
    return [Decided(Calls((call,), text)), Answered(call, result, error, number)]
