"""What a tracer saw of one run: spans in a tree, whichever product recorded them.

A model's span repeats the whole history; an agent's span may hold it once more; a tool's span repeats a call that the
model's output holds already. `threads` makes one conversation of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sandtrail.sandbox.interchange.recording import Tool
from sandtrail.sandbox.interchange.spoken import Asked, Said

Kind: TypeAlias = Literal["model", "tool", "agent", "other"]
_HEIGHT = 64


@dataclass(frozen=True)
class Span:
    """One span. `heard` is what went into the model and `said` what came out of it; of an agent's span, the history
    of earlier runs and what this one added. A tool's has the `call` and the `result` (a tool's message).

    `weak` marks plain input and output of a whole run, used where nothing better was recorded; `seeded` an agent's span
    whose heard messages are all of earlier runs. `why` says what failed.
    """

    id: str
    parent: str = ""
    kind: Kind = "other"
    start: float = 0.0
    heard: tuple[Said, ...] = ()
    said: tuple[Said, ...] = ()
    call: Asked | None = None
    result: Said | None = None
    failed: bool = False
    why: str = ""
    tools: tuple[Tool, ...] | None = None
    weak: bool = False
    seeded: bool = False

    @property
    def past(self) -> int:
        """How many of the heard messages an earlier run left: all, or those before the last words of the user."""
        if self.seeded:
            return len(self.heard)
        return max((index for index, said in enumerate(self.heard) if said.role == "user"), default=0)

    @property
    def speaks(self) -> bool:
        """Whether it holds messages of a model."""
        return bool(self.heard or self.said) and not self.weak


class Tree:
    """The spans of one run in the order they began, with what stands above each."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = sorted(spans, key=lambda span: span.start)
        self._by_id = {span.id: span for span in spans if span.id}
        self._outer = {
            above.id
            for span in spans
            if span.kind == "model" and span.speaks
            for above in self.above(span)
            if above.kind == "model"
        }

    def above(self, span: Span) -> Iterator[Span]:
        """Its ancestors, nearest first."""
        seen = {span.id}
        for _ in range(_HEIGHT):
            parent = self._by_id.get(span.parent)
            if parent is None or parent.id in seen:
                return
            seen.add(parent.id)
            yield parent
            span = parent

    def scope(self, span: Span) -> str:
        """The agent or the tool in whose work a span stands: a subagent's conversation is not its caller's."""
        return next((above.id for above in self.above(span) if above.kind in ("agent", "tool")), "")

    def is_leaf(self, span: Span) -> bool:
        """Whether this is a request to a model, and no span around another one that says the same."""
        return span.kind == "model" and span.id not in self._outer

    def is_echo(self, span: Span) -> bool:
        """Whether a tool's span stands in one of the same call (a client and its server both traced it)."""
        mine = span.call
        for above in self.above(span):
            other = above.call
            if above.kind == "tool" and mine is not None and other is not None and mine.tool == other.tool:
                return not mine.id or mine.id == other.id
        return False
