"""The frozen record of one run: what was said, called and answered, and the books of its world."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sandtrail.ledgers.book import Ledger
from sandtrail.ledgers.conversation import Answered, Conversation, Decided, Reply, UserSaid


class Ended(StrEnum):
    """Why a run ended."""

    DONE = "done"
    MAX_STEPS = "max_steps"
    AGENT_ERROR = "agent_error"
    OFF_SCRIPT = "off_script"


@dataclass(frozen=True)
class Trajectory:
    """One scenario, agent, seed and repetition. `detail` says more about an end that is not `done`."""

    scenario: str
    agent: str
    seed: int
    repetition: int
    conversation: Conversation
    ledger: Ledger
    ended: Ended = Ended.DONE
    detail: str = ""
    unfired: tuple[str, ...] = ()

    @property
    def turns(self) -> int:
        """How often the user spoke."""
        return sum(isinstance(message, UserSaid) for message in self.conversation)

    @property
    def answers(self) -> tuple[Answered, ...]:
        """The calls with what the agent was told of each, in order."""
        return tuple(message for message in self.conversation if isinstance(message, Answered))

    @property
    def final(self) -> str:
        """The agent's last reply; empty where it gave none."""
        return next(reversed(list(self.replies())), "")

    def replies(self) -> Iterator[str]:
        """What the agent said to the user, in order."""
        for message in self.conversation:
            if isinstance(message, Decided) and isinstance(message.decision, Reply):
                yield message.decision.text
