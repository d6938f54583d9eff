"""A conversation as an agent and the runner speak it.

    Message   = UserSaid | Decided | Answered
    Decision  = Calls | Reply

What a reply *is* (an answer, a question, a refusal) is read by judges, never stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class ToolCall:
    """One call an agent decided on. `batch` is its place among parallel ones."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Calls:
    """The agent calls tools: at least one, and all in one batch."""

    calls: tuple[ToolCall, ...]

    def __post_init__(self) -> None:
        if not self.calls:
            raise ValueError("a decision to call calls something; an empty one is a Reply")


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent says something and hands back to the user."""

    text: str


Decision: TypeAlias = Calls | Reply


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A user message: a turn begins."""

    text: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What the agent decided at one step."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Answered:
    """What the agent was told of one call: the result's text, or the error's; `attempt` is its place in the books."""

    call: ToolCall
    text: str
    is_error: bool
    attempt: int


Message: TypeAlias = UserSaid | Decided | Answered
Conversation: TypeAlias = tuple[Message, ...]
