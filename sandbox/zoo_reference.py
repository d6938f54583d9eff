"""A reference run as the zoo reads it: where its calls, writes and replies stand, and what it becomes when cut open.

    Reference   a scenario and its clean run: decisions, calls, ids seen by a step, places of what is put in
    Strike      the decisions of a flawed agent, and the finding that must be made: code and place

A reference run is known call by call, and ids are equal under one seed, so a flawed agent is a list of decisions: the
reference's own, with one of them changed, left out, or another one put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sandtrail.ledgers import Access, Binding, Effect, Page
from sandtrail.ledgers.conversation import Answered, Calls, Decision, Reply, ToolCall, UserSaid
from sandtrail.ledgers.specs import Slot
from sandtrail.ledgers.trajectory import Made, Offer, ToolFact
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.runner import Result
from sandtrail.scenarios import Scenario
from sandtrail.scenarios.replies import ReplyKind, read_reply


@dataclass(frozen=True, slots=True)
class Strike:
    """What a flaw makes of a reference run: its decisions, and the code and place of the finding that must be made."""

    decisions: tuple[Decision, ...]
    code: str
    at: str


@dataclass(frozen=True)
class Reference:
    """A scenario with its reference run."""

    scenario: Scenario
    result: Result

    @cached_property
    def decisions(self) -> tuple[Decision, ...]:
        """What the reference decided, in order."""
        return tuple(step.decision for step in self.result.trajectory.steps)

    @cached_property
    def made(self) -> tuple[Made, ...]:
        """Its calls."""
        return self.result.trajectory.made

    # -- its calls -----------------------------------------------------------------------------------------

    @property
    def answered(self) -> Iterator[Made]:
        """The calls of tools that were offered, by arguments that are an object."""
        return (
            one
            for one in self.made
            if not one.call.flaw and one.call.tool in self.offer(one.step.number).tools
        )

    @property
    def alone(self) -> Iterator[Made]:
        """Those that are the only call of their step: such a step can be left out."""
        return (one for one in self.answered if self.is_alone(one))

    @property
    def writes(self) -> Iterator[Made]:
        """The calls that committed."""
        return (one for one in self.answered if self.effects(one))

    @property
    def reads(self) -> Iterator[Made]:
        """The reads that were answered well, of operations that no planned fault strikes."""
        struck = {fault.operation for fault in self.scenario.world.faults}
        for one in self.alone:
            fact = self.fact(one)
            reading = fact.operation is not None and fact.operation.access is Access.READ
            if reading and one.answered and not one.answered.is_error and fact.name not in struck:
                yield one

    def is_alone(self, made: Made) -> bool:
        """Whether it is the only call of its step."""
        decision = made.step.decision
        return isinstance(decision, Calls) and len(decision.calls) == 1

    def offer(self, step: int) -> Offer:
        """What was offered at a step."""
        return self.result.trajectory.offer(step)

    def fact(self, made: Made) -> ToolFact:
        """What is behind the tool of a call."""
        return self.offer(made.step.number).tools[made.call.tool]

    def schema(self, made: Made) -> Mapping[str, Any]:
        """The input schema of the tool of a call."""
        tools = self.offer(made.step.number).catalog.tools
        return next(tool.input_schema for tool in tools if tool.name == made.call.tool)

    def properties(self, made: Made) -> Mapping[str, Mapping[str, Any]]:
        """The properties of that schema."""
        found = as_object(self.schema(made).get("properties")) or {}
        return {name: as_object(value) or {} for name, value in found.items()}

    def ids(self, made: Made) -> Iterator[tuple[str, Slot, str]]:
        """The arguments of a call that are ids of this run's entities: name, slot and raw id."""
        known = {binding.raw for binding in self.result.ledger.bindings}
        for name, slot in self.fact(made).slots.items():
            value = made.call.arguments.get(name)
            if slot.kind not in (None, "cursor") and isinstance(value, str) and value in known:
                yield name, slot, value

    def effects(self, made: Made) -> tuple[Effect, ...]:
        """What a call did."""
        page = self.page(made)
        return page.effects if page is not None and page.committed else ()

    def page(self, made: Made) -> Page | None:
        """The page of a call in the books."""
        seq = made.answered.attempt if made.answered else None
        pages = self.result.ledger.pages
        return next((page for page in pages if page.attempt is not None and page.attempt.seq == seq), None)

    def shown_as(self, name: str, step: int) -> str | None:
        """The name under which a tool is offered at a step; None where it is not."""
        return next((shown for shown, fact in self.offer(step).tools.items() if fact.name == name), None)

    def may(self, name: str, step: int, scope: str) -> str | None:
        """As `shown_as`, where the principal has the scope."""
        return self.shown_as(name, step) if self.scenario.world.principal.may(scope) else None

    # -- what was seen -------------------------------------------------------------------------------------

    def seen(self, step: int, kind: str = "") -> tuple[Binding, ...]:
        """The entities (of one kind) whose ids stood in a result or with the user before a step."""
        text = self.text_before(step)
        return tuple(
            one
            for one in self.result.ledger.bindings
            if kind in ("", one.kind) and re.search(rf"(?<!\w){re.escape(one.raw)}(?!\w)", text)
        )

    def text_before(self, step: int) -> str:
        """All results and user messages before a step."""
        messages = self.result.trajectory.conversation
        index = self.result.trajectory.steps[step].index if step < len(self.decisions) else len(messages)
        return "\n".join(one.text for one in messages[:index] if isinstance(one, Answered | UserSaid))

    def symbol(self, raw: Any) -> Any:
        """An id's symbol; any other value as it is."""
        return self.result.ledger.projection.value(raw)

    # -- its replies ---------------------------------------------------------------------------------------

    @property
    def replies(self) -> Iterator[tuple[int, Reply]]:
        """The steps at which it replied."""
        return ((n, one) for n, one in enumerate(self.decisions) if isinstance(one, Reply))

    @property
    def last_reply(self) -> int | None:
        """The step of its last reply."""
        return max((step for step, _ in self.replies), default=None)

    def reply_after(self, step: int) -> int | None:
        """The step of the first reply after a step; None where there is none, or it is no plain answer."""
        found = next(((n, one) for n, one in self.replies if n > step), None)
        told = {ReplyKind.ANSWER, ReplyKind.UNSURE}
        return found[0] if found and read_reply(found[1]).kind in told else None

    # -- places --------------------------------------------------------------------------------------------

    def calls_before(self, step: int) -> int:
        """How many calls were made before a step."""
        return sum(one.step.number < step for one in self.made)

    def attempts_before(self, step: int) -> int:
        """How many attempts stood in the books before a step."""
        following = [
            one.answered.attempt
            for one in self.made
            if one.step.number >= step and one.answered and one.answered.attempt is not None
        ]
        return min(following) - 1 if following else len(self.result.ledger.attempts())

    # -- cutting it open -----------------------------------------------------------------------------------

    def put_in(self, step: int, *added: Decision) -> tuple[Decision, ...]:
        """Its decisions with others before a step."""
        return (*self.decisions[:step], *added, *self.decisions[step:])

    def put_for(self, step: int, *others: Decision) -> tuple[Decision, ...]:
        """Its decisions with others instead of the one at a step (none: it is left out)."""
        return (*self.decisions[:step], *others, *self.decisions[step + 1 :])

    def recalled(self, made: Made, call: ToolCall) -> tuple[Decision, ...]:
        """Its decisions with another call in the place of one."""
        decision = made.step.decision
        assert isinstance(decision, Calls), "what was carried out is a decision to call"
        calls = tuple(call if one is made.call else one for one in decision.calls)
        return self.put_for(made.step.number, replace(decision, calls=calls))

    def given(self, made: Made, **changed: Any) -> tuple[Decision, ...]:
        """Its decisions with other arguments in one call."""
        arguments = {**made.call.arguments, **changed}
        return self.recalled(made, replace(made.call, arguments=arguments, raw=None))


def place_of(decisions: tuple[Decision, ...], step: int) -> str:
    """Where findings about a reply are: "final" for the last one, else its number among the replies."""
    replies = [n for n, one in enumerate(decisions) if isinstance(one, Reply)]
    return "final" if replies[-1] == step else f"reply {replies.index(step) + 1}"


def call(tool: str, /, **arguments: Any) -> Calls:
    """A decision to call one tool; the runner gives it an id of its own."""
    return Calls((ToolCall("", tool, arguments),))
