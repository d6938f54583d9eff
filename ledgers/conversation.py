"""A conversation as an agent and the runner speak it.

    Message   = Briefed | UserSaid | Decided | Answered
    Decision  = Calls | Reply | Refused | Truncated | Malformed

What a reply *is* (an answer, a question, a refusal in words) is read by judges with a versioned rule pack, never
stored. `Refused` is what the provider says of itself (a stop reason), not what a text sounds like.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from sandtrail.ledgers.trees import as_object


@dataclass(frozen=True)
class ToolCall:
    """One call an agent decided on. `batch` is its place among parallel ones.

    `raw` is the arguments' text as the model sent it, byte for byte, and `flaw` why it is no JSON object (the
    code and the words: "args.malformed: ..."); `arguments` is empty then. A call is never repaired.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]
    batch: int = 0
    raw: str | None = None
    flaw: str = ""

    @classmethod
    def read(cls, id: str, tool: str, raw: str, *, batch: int = 0) -> ToolCall:  # noqa: A002  the provider's word
        """A call from the text a model sent, read strictly.

        >>> ToolCall.read("c1", "get_order", '{"order_id": "o1"}').arguments
        {'order_id': 'o1'}
        >>> ToolCall.read("c2", "get_order", '"{}"').flaw
        'args.double_encoded: one parse gives a text; a second one gives the object'
        """
        arguments, flaw = _read(raw)
        return cls(id, tool, arguments, batch, raw, flaw)

    @property
    def text(self) -> str:
        """The arguments as JSON text: as sent, or written out."""
        return json.dumps(self.arguments, ensure_ascii=False) if self.raw is None else self.raw


def _read(raw: str) -> tuple[Mapping[str, Any], str]:
    """The object in a text, or none and what is wrong with it. An empty text is no arguments (streams send it)."""
    if not raw.strip():
        return {}, ""
    try:
        value = json.loads(raw, object_pairs_hook=_once, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        return {}, f"args.malformed: invalid JSON at column {error.colno}: {error.msg}"
    except (ValueError, RecursionError) as error:
        return {}, f"args.malformed: {str(error) or 'nested too deep'}"
    fields = as_object(value)
    if fields is not None:
        return fields, ""
    if isinstance(value, str):
        try:
            inner = as_object(json.loads(value))
        except (ValueError, RecursionError):
            inner = None
        if inner is not None:
            return {}, "args.double_encoded: one parse gives a text; a second one gives the object"
    return {}, f"args.malformed: an object is wanted, not {_noun(value)}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name!r} stands twice")
        found[name] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _noun(value: Any) -> str:
    nouns = (("a text", str), ("true or false", bool), ("a number", int | float), ("a list", list))
    return next((noun for noun, kind in nouns if isinstance(value, kind)), "null")


# -- decisions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Calls:
    """The agent calls tools: at least one, and all in one batch. `text` is what it said beside them."""

    calls: tuple[ToolCall, ...]
    text: str = ""

    def __post_init__(self) -> None:
        if not self.calls:
            raise ValueError("a decision to call calls something; an empty one is a Reply")


class Declared(StrEnum):
    """What an agent says by a meta tool that its reply is; it need not be guessed from the words then."""

    QUESTION = "question"
    FINISH = "finish"


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent says something and hands back to the user. `declared` is set where a meta tool made it exact."""

    text: str
    declared: Declared | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The model declined, and its provider says so by a stop reason."""

    text: str = ""


@dataclass(frozen=True, slots=True)
class Truncated:
    """The answer was cut at the limit of tokens; calls in it are on record and never carried out."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Malformed:
    """The provider answered with what is no decision; `reason` says why, `raw` keeps it."""

    reason: str
    raw: str = ""


Decision: TypeAlias = Calls | Reply | Refused | Truncated | Malformed


# -- what a decision took ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request; `cost` is in millionths of a US dollar, None where the price is not known."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: int | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            sum(costs) if costs else None,
        )

    @property
    def tokens(self) -> int:
        """All tokens, read and written."""
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One HTTP request to a model provider: a retry by the SDK is a second one of the same step.

    `asked` is the model id that was requested, `got` the one that answered. `seconds` is real time.
    """

    asked: str
    got: str = ""
    status: int = 200
    usage: Usage = Usage()
    seconds: float = 0.0
    id: str = ""


# -- messages ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Briefed:
    """What the agent is told before the user speaks: its role, the clock, the user's time zone (the system text)."""

    text: str


@dataclass(frozen=True, slots=True)
class UserSaid:
    """A user message: a turn begins. `cause` is the transition of the scripted user that made it."""

    text: str
    cause: str = ""


@dataclass(frozen=True)
class Decided:
    """What the agent decided at one step, and what it took.

    `opaque` are provider blocks that must be sent back as they came (thinking signatures); judges never read them.
    `forced` marks a step that the harness made the agent take.
    """

    decision: Decision
    requests: tuple[ModelCall, ...] = ()
    opaque: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Answered:
    """What the agent was told of one call: the result's text, or the error's.

    `attempt` is its place in the books; None where it reached none (a canned reply, somebody else's transcript).
    `attempts` are all of them where a tool of the user's own made several.
    """

    call: ToolCall
    text: str
    is_error: bool
    attempt: int | None = None
    attempts: tuple[int, ...] = ()


Message: TypeAlias = Briefed | UserSaid | Decided | Answered
Conversation: TypeAlias = tuple[Message, ...]
