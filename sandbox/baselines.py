"""What has been tried in the field to tell a found argument from an invented one: two detectors to compare with.

    substring    the value occurs, as text, in the dump of everything said before
    token_set    enough of the value's words occur there

Both are used in the benchmark only. They know neither kinds, nor rows, nor units, nor what a value means: `4250` is in
`142507`, an order id is as good as a payment id, and `2026-05-26` is nowhere in "May 26".
"""

from __future__ import annotations

import json
import re
from typing import Any

from sandtrail.ledgers.conversation import Answered, Calls, Decided, Reply
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import as_list, as_object

SHARE = 0.5
"""The share of seen words from which `token_set` calls a value found: the usual threshold of ROUGE-1 precision
(Lin 2004: the share of a text's words that occur in the reference) where it is used as a groundedness score."""

_WORD = re.compile(r"\w+")


def substring(trajectory: Trajectory, call: int, pointer: str) -> bool:
    """Whether the value stands in the dump of the earlier conversation, in whatever case; what is not there was not given.

    The most common check: it is what a few lines of one's own come to.
    """
    value = argument(trajectory, call, pointer)
    return value is None or _text(value).lower() in _dump(trajectory, call)


def token_set(trajectory: Trajectory, call: int, pointer: str, *, share: float = SHARE) -> bool:
    """Whether at least this share of the value's words were seen. A value without words counts as found."""
    value = argument(trajectory, call, pointer)
    words = frozenset[str]() if value is None else _words(_text(value).lower())
    return not words or len(words & _words(_dump(trajectory, call))) >= share * len(words)


def argument(trajectory: Trajectory, call: int, pointer: str) -> Any:
    """The argument at a pointer (RFC 6901) of a call (from 1); None where it is left out."""
    value: Any = trajectory.made[call - 1].call.arguments
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if (fields := as_object(value)) is not None:
            value = fields.get(name)
        elif (items := as_list(value)) is not None and name.isdigit() and int(name) < len(items):
            value = items[int(name)]
        else:
            return None
    return value


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _dump(trajectory: Trajectory, call: int) -> str:
    """Everything before the step of the call as one text, the agent's own calls and words too."""
    step = trajectory.made[call - 1].step
    return "\n".join(map(_line, trajectory.conversation[: step.index])).lower()


def _line(message: Any) -> str:
    if isinstance(message, Decided):
        decision = message.decision
        if isinstance(decision, Calls):
            return "\n".join(call.text for call in decision.calls)
        return decision.text if isinstance(decision, Reply) else ""
    return f"{message.call.tool} {message.text}" if isinstance(message, Answered) else message.text
