"""What becomes of a call, as its client has it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers.entries import Attempt
from sandtrail.ledgers.words import Delivery


class NestedCall(RuntimeError):
    """A handler called the world instead of its own transaction."""

    def __init__(self) -> None:
        super().__init__(
            "a world is asked from inside one of its own calls; in a handler use tx.call(...), which shares the transaction"
        )


class AnswerLost(TimeoutError):
    """The client waited in vain. Whether the call took effect, only the books know: `attempt` is its number."""

    def __init__(self, attempt: int, operation: str) -> None:
        self.attempt = attempt
        super().__init__(f"{operation}: no answer within the time limit (attempt {attempt})")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client receives. `json()` reads the text anew each time."""

    status: int
    text: str
    headers: Mapping[str, str]
    attempt: int

    @property
    def ok(self) -> bool:
        """Whether the status says success."""
        return self.status < 400

    def json(self) -> Any:
        """The body. Raises ValueError where a planned fault has cut it."""
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call with everything that became of it; `answer` is what the service gave, delivered or not."""

    attempt: Attempt
    answer: Answer

    def delivered(self) -> Answer:
        """The answer as the client has it. Raises AnswerLost where it never arrives."""
        if self.attempt.delivery is Delivery.LOST:
            raise AnswerLost(self.attempt.seq, self.attempt.operation)
        return self.answer
