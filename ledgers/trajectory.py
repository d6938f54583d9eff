"""The frozen record of one run: what was said, offered, called and answered, and the books of its world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from sandtrail.ledgers.book import Ledger
from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Conversation,
    Decided,
    Decision,
    Reply,
    ToolCall,
    Truncated,
    Usage,
    UserSaid,
)
from sandtrail.ledgers.specs import Catalog, OperationFact, Principal, Slot


class Ended(StrEnum):
    """Why a run ended.

    * done            the user's goal is settled, or the user has nothing more to say
    * max_steps, max_turns, max_calls, max_tokens, max_time, max_cost   a budget was used up
    * loop            the same call with the same answer, again and again
    * agent_error     the agent raised, or decided something that is no decision
    * provider_error  the model provider could not be reached or answered with an error
    * tools_dropped   the provider's server silently left out tools: the harness is at fault, not the agent
    * off_script      the scripted user or agent had no line for this place
    * cancelled       somebody stopped it
    """

    DONE = "done"
    MAX_STEPS = "max_steps"
    MAX_TURNS = "max_turns"
    MAX_CALLS = "max_calls"
    MAX_TOKENS = "max_tokens"
    MAX_TIME = "max_time"
    MAX_COST = "max_cost"
    LOOP = "loop"
    AGENT_ERROR = "agent_error"
    PROVIDER_ERROR = "provider_error"
    TOOLS_DROPPED = "tools_dropped"
    OFF_SCRIPT = "off_script"
    CANCELLED = "cancelled"


class Sees(StrEnum):
    """What a trajectory shows. A black-box agent may show http only; judges that need more say so."""

    MODEL = "model"
    TOOLS = "tools"
    HTTP = "http"


@dataclass(frozen=True, slots=True)
class ToolFact:
    """What judges know of one tool that was offered (the model does not).

    `name` is what the scenario calls it (a renamed tool keeps it), `operation` what it does in the world (None: a
    canned reply or the user's own function), `slots` the hidden types of its arguments, `deprecated` what to use
    instead, `absent` whether it was withheld from this principal.
    """

    name: str
    operation: OperationFact | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict[str, Slot])
    deprecated: str = ""

    @property
    def writes(self) -> bool:
        """Whether its operation is a write."""
        return self.operation is not None and self.operation.access == "write"


@dataclass(frozen=True)
class Offer:
    """The catalog offered from a decision on (`step`, from 0), and what is behind its tools' shown names.

    `withheld` are tools that exist and are not offered: calling one is another fault than making one up.
    """

    step: int
    catalog: Catalog
    tools: Mapping[str, ToolFact] = field(default_factory=dict[str, ToolFact])
    withheld: tuple[str, ...] = ()

    def name_of(self, shown: str) -> str:
        """What the scenario calls a tool that the agent knows under this name."""
        return self.tools[shown].name if shown in self.tools else shown


@dataclass(frozen=True, slots=True)
class Step:
    """One decision in its place: its number (from 0), turn (from 1), and index in the conversation."""

    number: int
    turn: int
    index: int
    decided: Decided

    @property
    def decision(self) -> Decision:
        """What was decided."""
        return self.decided.decision


@dataclass(frozen=True, slots=True)
class Made:
    """One call in its place: its number (from 1) over the whole run, its step, and what was answered (None: nothing)."""

    number: int
    step: Step
    call: ToolCall
    answered: Answered | None

    @property
    def at(self) -> str:
        """Where findings about it are."""
        return f"call {self.number}"


@dataclass(frozen=True)
class Trajectory:
    """One scenario, agent, seed and repetition. `detail` says more about an end that is not `done`.

    `recorded` is what the harness knows of the run (versions, digests, seeds, timestamps); judges do not read it.
    """

    scenario: str
    agent: str
    seed: int
    repetition: int
    conversation: Conversation
    ledger: Ledger
    ended: Ended = Ended.DONE
    detail: str = ""
    unfired: tuple[str, ...] = ()
    offers: tuple[Offer, ...] = ()
    principal: Principal | None = None
    sees: frozenset[Sees] = frozenset(Sees)
    now: str = ""
    zone: str = "UTC"
    recorded: Mapping[str, Any] = field(default_factory=dict[str, Any], compare=False)

    @property
    def turns(self) -> int:
        """How often the user spoke."""
        return sum(isinstance(message, UserSaid) for message in self.conversation)

    @property
    def answers(self) -> tuple[Answered, ...]:
        """The calls with what the agent was told of each, in order."""
        return tuple(message for message in self.conversation if isinstance(message, Answered))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The decisions, in order."""
        found: list[Step] = []
        turn = 0
        for index, message in enumerate(self.conversation):
            if isinstance(message, UserSaid):
                turn += 1
            elif isinstance(message, Decided):
                found.append(Step(len(found), turn, index, message))
        return tuple(found)

    @cached_property
    def made(self) -> tuple[Made, ...]:
        """Every call that was decided on, in order, with its answer where there is one. Paired by id, not by order."""
        found: list[Made] = []
        for step in self.steps:
            calls = step.decision.calls if isinstance(step.decision, Calls | Truncated) else ()
            following = self._answers_to(step)
            for call in calls:
                answered = next((one for one in following if one.call.id == call.id), None)
                if answered is not None:
                    following.remove(answered)
                found.append(Made(len(found) + 1, step, call, answered))
        return tuple(found)

    def _answers_to(self, step: Step) -> list[Answered]:
        found: list[Answered] = []
        for message in self.conversation[step.index + 1 :]:
            if isinstance(message, Decided):
                break
            if isinstance(message, Answered):
                found.append(message)
        return found

    def offer(self, step: int) -> Offer:
        """What was offered at a step. Raises LookupError where nothing is known of it."""
        found = [offer for offer in self.offers if offer.step <= step]
        if not found:
            raise LookupError(f"step {step}: this trajectory does not say which tools were offered")
        return found[-1]

    @property
    def final(self) -> str:
        """The agent's last reply; empty where it gave none."""
        return next(reversed(list(self.replies())), "")

    def replies(self) -> Iterator[str]:
        """What the agent said to the user, in order."""
        for message in self.conversation:
            if isinstance(message, Decided) and isinstance(message.decision, Reply):
                yield message.decision.text

    @property
    def usage(self) -> Usage:
        """The tokens of all requests together."""
        total = Usage()
        for message in self.conversation:
            if isinstance(message, Decided):
                for request in message.requests:
                    total = total + request.usage
        return total
