"""One run on its way: user, agent and world, turn by turn.

    user turn -> agent.decide(conversation, catalog) -> each call into the world -> answers -> ... -> reply -> user turn

Every end has a reason; nothing an agent does is an exception here. The scripted user ends a talk when its goal is
settled by the books.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sandtrail.fakes import World
from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Decision,
    Malformed,
    Message,
    ModelCall,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    Usage,
    UserSaid,
)
from sandtrail.ledgers.money import amount_text
from sandtrail.ledgers.specs import SYMBOL
from sandtrail.ledgers.trajectory import Ended, Offer
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.agents import Agent, BlackBox, OffScript
from sandtrail.sandbox.limits import Limits
from sandtrail.sandbox.providers import ProviderError, ToolsDropped
from sandtrail.sandbox.toolbox import Toolbox
from sandtrail.sandbox.waiting import awaited
from sandtrail.scenarios import Scenario
from sandtrail.scenarios.effects import placed
from sandtrail.scenarios.users import Cause, Heard, UserState

_MENTION = re.compile(r"\{(" + SYMBOL.pattern + r")(?:\.(\w+))?\}")
End = tuple[Ended, str]


@dataclass
class Drive:
    """One run on its way; `messages` and `offers` are what becomes of it."""

    scenario: Scenario
    world: World
    agent: Agent | BlackBox
    boxes: Sequence[Toolbox]
    limits: Limits
    forced: Mapping[int, Decision] = field(default_factory=dict[int, "Decision"])
    cancel: threading.Event | None = None
    messages: list[Message] = field(default_factory=list[Message])
    offers: list[Offer] = field(default_factory=list[Offer])
    transitions: list[Heard] = field(default_factory=list[Heard])
    failed_requests: tuple[ModelCall, ...] = ()
    first_decision_seconds: float | None = None

    def __post_init__(self) -> None:
        self._steps = self._turns = self._calls = 0
        self._usage = Usage()
        self._started = time.monotonic()
        self._ids: set[str] = set()

    async def through(self) -> End:
        """All turns of the user; why it ended."""
        heard = UserState.start(self.scenario.user).opening()
        self.messages.append(Briefed(briefing(self.scenario)))
        while heard.says is not None:
            self._turns += 1
            self.transitions.append(heard)
            self.messages.append(UserSaid(rendered(heard.says, self.world), str(heard.cause)))
            reply = await self._turn()
            if not isinstance(reply, Reply):
                return reply
            heard = heard.state.hears(reply, settled=self._settled())
            if heard.says is not None and (over := self._over(turns=self._turns)) is not None:
                return over
        self.transitions.append(heard)
        return (
            (Ended.OFF_SCRIPT, heard.detail)
            if heard.cause is Cause.OFF_SCRIPT
            else (Ended.DONE, str(heard.cause))
        )

    @property
    def requests(self) -> list[ModelCall]:
        """Every request to a model provider, in order."""
        return [one for message in self.messages if isinstance(message, Decided) for one in message.requests]

    def _settled(self) -> bool:
        """Whether every effect that the user wants is in the books."""
        contract = self.scenario.expect
        lines = [one.line for one in placed(contract, tuple(_effects(self.world)))]
        return all(lines.count(n) >= wanted.times for n, wanted in enumerate(contract.effects))

    # -- one turn --------------------------------------------------------------------------------------

    async def _turn(self) -> Reply | End:
        """Decisions until the agent hands back; its reply, or why the run ended."""
        if isinstance(self.agent, BlackBox):
            return await self._asked(self.agent)
        box = self._box()
        while True:
            over = self._over()
            if over is not None:
                return over
            decided = await self._decided(self.agent, box)
            if not isinstance(decided, Decided):
                return decided
            handed = self._handed_back(decided.decision)
            if handed is not None:
                return handed
            for call in decided.decision.calls if isinstance(decided.decision, Calls) else ():
                self.messages.append(box.act(self.world, call, self.world.spec.principal))
                self._calls += 1
            if self._loops():
                return Ended.LOOP, "the same call got the same answer again and again"

    def _handed_back(self, decision: Decision) -> Reply | End | None:
        """What ends the turn, or the run; None where there are calls to carry out."""
        if self.scenario.first_only:
            return Ended.DONE, "only the first decision was asked for"
        match decision:
            case Calls():
                return None
            case Reply():
                return decision
            case Refused(text=text):
                return Reply(text)
            case Truncated() | Malformed():
                return Ended.DONE, "the last answer is no decision that could be carried out"

    def _box(self) -> Toolbox:
        """The toolbox of this turn; where it is another one, it is on record from this step on."""
        box = [box for box in self.boxes if box.turn <= self._turns][-1]
        offer = box.offer(self._steps)
        if not self.offers or self.offers[-1].catalog is not offer.catalog:
            self.offers.append(offer)
        return box

    async def _decided(self, agent: Agent, box: Toolbox) -> Decided | End:
        forced = self.forced.get(self._steps)
        try:
            made: Any = forced if forced is not None else agent.decide(tuple(self.messages), box.catalog)
            made = await awaited(made)
        except OffScript as error:
            return Ended.OFF_SCRIPT, str(error)
        except ProviderError as error:
            self.failed_requests += error.requests
            ended = Ended.TOOLS_DROPPED if isinstance(error, ToolsDropped) else Ended.PROVIDER_ERROR
            return ended, str(error)
        except Exception as error:  # noqa: BLE001  an agent may raise anything; that is a result
            return Ended.AGENT_ERROR, f"{type(error).__name__}: {error}"
        decided = made if isinstance(made, Decided) else Decided(made, forced=forced is not None)
        flaw = flaw_of(decided.decision)
        if flaw:
            return Ended.AGENT_ERROR, flaw
        if self.first_decision_seconds is None:
            self.first_decision_seconds = time.monotonic() - self._started
        decided = replace(decided, decision=self._fresh(decided.decision))
        self._steps += 1
        for request in decided.requests:
            self._usage = self._usage + request.usage
        self.messages.append(decided)
        return decided

    def _fresh(self, decision: Decision) -> Decision:
        """Calls with ids of their own: an id that comes back would pair a result with two calls."""
        if not isinstance(decision, Calls | Truncated):
            return decision
        calls: list[ToolCall] = []
        for batch, call in enumerate(decision.calls):
            name = call.id
            if not name or name in self._ids:
                name = f"{call.id or 'call'}_{len(self._ids) + 1}"
            self._ids.add(name)
            calls.append(replace(call, id=name, batch=batch))
        return replace(decision, calls=tuple(calls))

    async def _asked(self, agent: BlackBox) -> Reply | End:
        """A black box owns its loop: a message goes in, a reply comes out."""
        said = self.messages[-1]
        assert isinstance(said, UserSaid), "a turn begins with the user"
        try:
            reply: Any = await awaited(agent.reply(said.text))
        except Exception as error:  # noqa: BLE001  as above
            return Ended.AGENT_ERROR, f"{type(error).__name__}: {error}"
        if not isinstance(reply, str):
            return Ended.AGENT_ERROR, f"it replied {reply!r}; wanted text"
        self._steps += 1
        self.messages.append(Decided(Reply(reply)))
        return Reply(reply)

    # -- ends ------------------------------------------------------------------------------------------

    def _over(self, *, turns: int = 0) -> End | None:
        if self.cancel is not None and self.cancel.is_set():
            return Ended.CANCELLED, "it was stopped"
        seconds = time.monotonic() - self._started
        return self.limits.exceeded(
            steps=self._steps, turns=turns, calls=self._calls, usage=self._usage, seconds=seconds
        )

    def _loops(self) -> bool:
        last = [message for message in self.messages if isinstance(message, Answered)][-self.limits.repeats :]
        told = {(one.call.tool, one.call.text, one.text, one.is_error) for one in last}
        return len(last) == self.limits.repeats and len(told) == 1


def _effects(world: World) -> list[Any]:
    return [effect for page in world.ledger.pages if page.attempt is not None for effect in page.effects]


def flaw_of(decision: Any) -> str:
    """What is wrong with what an agent returned; empty where it is a decision."""
    if isinstance(decision, Reply):
        text: Any = decision.text
        return "" if isinstance(text, str) else f"the reply's text is {text!r}"
    if isinstance(decision, Refused | Truncated | Malformed):
        return ""
    if not isinstance(decision, Calls):
        return f"it decided {decision!r}; wanted Calls, Reply, Refused, Truncated or Malformed"
    calls: Any = decision.calls
    for call in calls:
        arguments = as_object(call.arguments)
        if not isinstance(call.tool, str) or not isinstance(call.id, str) or arguments is None:
            return f"it called {call.tool!r} with {call.arguments!r}; wanted a name and a dictionary"
        try:
            json.dumps(arguments, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            return f"its arguments for {call.tool} are no JSON: {error}"
    return ""


# -- what the agent is told ------------------------------------------------------------------------------


def briefing(scenario: Scenario) -> str:
    """The system text: who the agent is, the clock, the user's time zone. Nothing of what is expected."""
    seen, principal = scenario.visible(), scenario.world.principal
    serves = (
        "You act for one customer, who is signed in."
        if principal.customer is not None
        else f"You serve the customers of {' and '.join(principal.tenants)}."
    )
    return (
        f"You are a support agent of a shop and work with the tools you are given. {serves} "
        f"It is {seen.now}; the customer's time zone is {seen.zone}."
    )


def rendered(template: str, world: World) -> str:
    """A user message: `{$order.lamp.number}` becomes the row's value, `{$order.lamp}` its raw id."""

    def value(mention: re.Match[str]) -> str:
        if mention[2] is None:
            return world.id(mention[1])
        row = world.row(mention[1])
        found: Any = getattr(row, mention[2])
        fields = world.services.schema.by_entity[type(row)].by_name
        money = fields[mention[2]].money if mention[2] in fields else None
        return amount_text(found, getattr(row, money.currency)) if money else str(found)

    return _MENTION.sub(value, template)
