"""A talk with an agent inside a sandbox, turn by turn, as a test leads it."""

from __future__ import annotations

from typing import Any, Protocol

from sandtrail.fakes import World
from sandtrail.ledgers import Principal
from sandtrail.ledgers.conversation import Calls, Decided, Message, Reply, UserSaid
from sandtrail.sandbox.agents import BlackBox
from sandtrail.sandbox.drive import flaw_of
from sandtrail.sandbox.runner import as_agent
from sandtrail.sandbox.toolbox import Toolbox
from sandtrail.sandbox.waiting import at_once, awaited


class Place(Protocol):
    """What a talk needs of a sandbox: its world, and who acts."""

    @property
    def world(self) -> World: ...
    @property
    def principal(self) -> Principal: ...


MOST = 30
"""Decisions that one turn may take."""


class NoReply(AssertionError):
    """The agent did not hand back: it went on calling, decided nothing that can be carried out, or failed."""


class Talk:
    """One talk. `says` and its async twin `asays` return the agent's reply."""

    def __init__(self, sandbox: Place, agent: Any, box: Toolbox, said: list[Message]) -> None:
        self._sandbox, self._agent, self._box, self._said = sandbox, as_agent(agent), box, said

    def says(self, text: str) -> str:
        """What the agent replies to this. An async agent runs in an event loop of its own."""
        return at_once(self.asays(text))

    async def asays(self, text: str) -> str:
        """`says` for async code."""
        self._said.append(UserSaid(text))
        if isinstance(self._agent, BlackBox):
            reply = await awaited(self._agent.reply(text))
            if not isinstance(reply, str):
                raise NoReply(f"{self._agent.name} replied {reply!r}; wanted text")
            self._said.append(Decided(Reply(reply)))
            return reply
        for _ in range(MOST):
            made: Any = await awaited(self._agent.decide(tuple(self._said), self._box.catalog))
            decided = made if isinstance(made, Decided) else Decided(made)
            flaw = flaw_of(decided.decision)
            if flaw:
                raise NoReply(flaw)
            self._said.append(decided)
            if isinstance(decided.decision, Reply):
                return decided.decision.text
            if not isinstance(decided.decision, Calls):
                raise NoReply(f"{self._agent.name} decided {decided.decision!r}")
            for call in decided.decision.calls:
                self._said.append(self._box.act(self._sandbox.world, call, self._sandbox.principal))
        raise NoReply(f"{self._agent.name} did not reply within {MOST} decisions")
