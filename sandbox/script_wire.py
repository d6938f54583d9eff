"""What the two fake endpoints share: a question that was read, what is wrong with one, and how answers are written.

Ids are made from the number of the request, so that a run repeated is the same run. Tokens are an estimate, one for
four bytes of JSON: it grows with what is sent, and is not what a provider would bill.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from sandtrail.fakes.wire import Reply
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.script_steps import CutOff, Fails, Refuses, Says, ScriptedCall

_FRAGMENT = 9


@dataclass(frozen=True)
class Asked:
    """A legal question. `number` counts the requests of a run from 1, `now` is the world's time in Unix seconds.

    `history` is what a message thread holds and then what was sent; `tools` are those that the model can see.
    """

    number: int
    now: int
    body: Mapping[str, Any]
    history: tuple[Any, ...]
    tools: tuple[Any, ...]

    @property
    def model(self) -> str:
        """The model that was asked for, which answers too."""
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as a stream of events."""
        return self.body.get("stream") is True

    @property
    def input_tokens(self) -> int:
        """The estimate for all that the model reads."""
        return tokens([self.body.get("system"), self.history, self.tools])


@dataclass(frozen=True, slots=True)
class Wrong:
    """A question that the provider refuses: `message` in its words, `why` in those of the law where they differ.

    `param` and `code` are OpenAI's, `details` Anthropic's.
    """

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400
    details: Mapping[str, Any] | None = None
    why: str = ""


class Endpoint(Protocol):
    """One provider's endpoint, with what it holds of a run."""

    @property
    def provider(self) -> str:
        """What records call it."""
        ...

    @property
    def path(self) -> str:
        """How the paths end that it answers at, whatever base URL stands in front."""
        ...

    def read(self, number: int, body: Mapping[str, Any], *, now: int) -> Asked | Wrong:
        """The question in a body, or what is wrong with it."""
        ...

    def speak(self, asked: Asked, step: Says | Refuses | CutOff) -> Reply:
        """The answer, whole or as a stream."""
        ...

    def refuse(self, number: int, wrong: Wrong) -> Reply:
        """The provider's words for what is wrong."""
        ...

    def fail(self, number: int, failure: Fails) -> Reply:
        """The provider's words for an error of its own."""
        ...


def minted(prefix: str, *parts: object) -> str:
    """An id: the same for the same parts.

    >>> minted("msg_", 1)
    'msg_016b86b273ff34fce19d6b80'
    """
    told = " ".join(str(part) for part in parts)
    return f"{prefix}01{hashlib.sha256(told.encode()).hexdigest()[:22]}"


def called(step: Says | CutOff, prefix: str, number: int) -> list[tuple[str, ScriptedCall]]:
    """The calls of a step with their ids."""
    return [
        (made.id if made.id is not None else minted(prefix, number, place), made)
        for place, made in enumerate(step.calls)
    ]


def tokens(value: Any) -> int:
    """One token for four bytes of the value as JSON, at least one.

    >>> tokens("Hello, world."), tokens("")
    (4, 1)
    """
    return max(1, -(-len(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) // 4))


def fragments(text: str) -> list[str]:
    """A text in the pieces that a stream sends it in.

    >>> fragments('{"order_id": 1}')
    ['{"order_i', 'd": 1}']
    """
    return [text[start : start + _FRAGMENT] for start in range(0, len(text), _FRAGMENT)]


def plain(status: int, body: Mapping[str, Any], headers: Mapping[str, str]) -> Reply:
    """A JSON reply."""
    written = json.dumps(body).encode()
    return Reply(
        status,
        {"content-type": "application/json", "content-length": str(len(written)), **headers},
        written,
    )


def streamed(events: Iterable[tuple[str, Mapping[str, Any] | str]], headers: Mapping[str, str]) -> Reply:
    """A stream of server-sent events, all at once: (name or "", data)."""
    lines = (
        (f"event: {name}\n" if name else "")
        + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
        for name, data in events
    )
    return Reply(
        200, {"content-type": "text/event-stream; charset=utf-8", **headers}, "".join(lines).encode()
    )


def objects_of(value: Any) -> list[dict[str, Any]] | None:
    """The objects of a list; None where it is no list, or something else is in it."""
    items = as_list(value)
    found = [item for item in map(as_object, items or ()) if item is not None]
    return found if items is not None and len(found) == len(items) else None


def twice(names: Iterable[str]) -> str | None:
    """The first name that stands twice."""
    listed = list(names)
    return next((name for place, name in enumerate(listed) if name in listed[:place]), None)
