"""A conversation while a reader writes it, and what is wrong with it: the law of tool calls, whatever the format.

wire.duplicate_id        two calls of one decision with one id, or two results for one call
wire.orphan_tool_result  a result for a call that nobody made
wire.unpaired_tool_use   a call whose result is missing although the transcript goes on
trace.no_content         messages whose content was not recorded, all their places in one finding
trace.copied_context     what was copied from an earlier recording, in one finding
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Conversation,
    Decided,
    Decision,
    Malformed,
    Message,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.findings import Finding
from sandtrail.sandbox.interchange.bodies import is_failure
from sandtrail.sandbox.interchange.loose import label
from sandtrail.sandbox.interchange.spoken import Asked, Said
from sandtrail.sandbox.messages import fresh

_CUT = {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
_REFUSED = {"refusal", "content_filter", "content-filter", "safety", "prohibited_content"}
_NAMED = 20


def flaw(code: str, at: str, reason: str) -> Finding:
    """A flaw of a recording. The file itself is the evidence."""
    return Finding(code, label(at, 400), reason)


@dataclass
class Telling:
    """Messages are told in their order; `conversation` and `flaws()` are what came of it."""

    messages: list[Message] = field(default_factory=list[Message])
    decisions: int = 0
    _flaws: list[Finding] = field(default_factory=list[Finding])
    _waiting: list[tuple[str, ToolCall]] = field(default_factory=list[tuple[str, ToolCall]])
    _earlier: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    _settled: dict[str, ToolCall] = field(default_factory=dict[str, ToolCall])
    _answered: set[str] = field(default_factory=set[str])
    _hollow: dict[str, None] = field(default_factory=dict[str, None])
    _copied: dict[str, None] = field(default_factory=dict[str, None])
    _ids: set[str] = field(default_factory=set[str])

    @property
    def conversation(self) -> Conversation:
        """What was told so far."""
        return tuple(self.messages)

    def tell(self, said: Said, at: str, *, copied: bool = False, forced: bool = False) -> None:
        """The next message. `copied` ones are context: nothing in them is a decision of this run."""
        if copied:
            self._copied[label(at)] = None
        if said.bare and not copied:
            self.hollow(at)
        if said.role == "tool":
            self._result(said, at, copied=copied)
            return
        if said.bare:
            return
        self.close()
        if said.role == "system":
            self.messages.extend([Briefed(said.text)] if said.text else [])
        elif said.role == "user":
            self.messages.append(UserSaid(said.text))
        elif copied:
            self._context(said)
        else:
            self._decide(said, at, forced=forced)

    def aside(self, text: str, *, failed: bool = False) -> None:
        """What the agent was told without having called anything."""
        self.messages.append(Answered(ToolCall("", "", {}), text, failed or is_failure(text)))

    def hollow(self, at: str) -> None:
        """Something was recorded without its content."""
        self._hollow[label(at)] = None

    def add(self, code: str, at: str, reason: str) -> None:
        """A flaw that the reader found itself."""
        self._flaws.append(flaw(code, at, reason))

    def close(self) -> None:
        """The conversation goes on: no result can come any more for the calls that wait."""
        for at, call in self._waiting:
            reason = f"the call {label(call.id)!r} of {label(call.tool) or 'no tool'} has no result, and the run goes on"
            self.add("wire.unpaired_tool_use", f"{at}: {call.id}", reason)
            self._settled[call.id] = call
        for call in self._earlier.values():
            self.messages.append(Briefed(f"(earlier, the agent called {call.tool}) {call.text}"))
        self._waiting, self._earlier = [], {}

    def flaws(self) -> tuple[Finding, ...]:
        """What is wrong. Calls that end the transcript are open, not unpaired."""
        return tuple(self._all())

    def _all(self) -> Iterator[Finding]:
        yield from self._flaws
        if self._hollow:
            yield flaw(
                "trace.no_content", _places(self._hollow), "inputs and outputs are null or were left out"
            )
        if self._copied:
            where = _places(self._copied)
            yield flaw(
                "trace.copied_context", where, "copied from an earlier recording: read as context only"
            )
            if not self.decisions:
                yield flaw(
                    "trace.incomplete",
                    where,
                    "all decisions were copied from an earlier recording; none is left",
                )

    # -- decisions -----------------------------------------------------------------------------------------

    def _decide(self, said: Said, at: str, *, forced: bool) -> None:
        calls = self._named(said.calls, at)
        decision = decision_of(said, calls)
        self.messages.append(Decided(decision, forced=forced))
        self.decisions += 1
        self._waiting = [] if isinstance(decision, Truncated) else [(at, call) for call in calls]
        self._settled |= {call.id: call for call in calls if isinstance(decision, Truncated)}

    def _named(self, asked: tuple[Asked, ...], at: str) -> tuple[ToolCall, ...]:
        """The calls of a decision; one without an id gets one of ours, one that repeats another's is a flaw."""
        calls: list[ToolCall] = []
        batch: set[str] = set()
        for index, one in enumerate(asked):
            id_ = one.id or fresh("", self._ids)
            if id_ in batch:
                reason = f"two calls of one step have the id {label(id_)!r}: which of them is answered?"
                self.add("wire.duplicate_id", f"{at}: {id_}", reason)
            if one.raw is None:
                self.hollow(at)
            batch.add(id_)
            self._ids.add(id_)
            self._answered.discard(id_)
            calls.append(called(one, id_, index))
        return tuple(calls)

    def _context(self, said: Said) -> None:
        """A decision of an earlier recording: its words are told, its calls stand with their results."""
        if said.text.strip():
            self.messages.append(Briefed(f"(earlier, the agent said) {said.text}"))
        self._earlier = {one.id: called(one, one.id, index) for index, one in enumerate(said.calls)}
        self._settled |= self._earlier

    # -- results -------------------------------------------------------------------------------------------

    def _result(self, said: Said, at: str, *, copied: bool) -> None:
        found = None if copied else self._taken(said)
        if found is None:
            known = self._settled.get(said.call_id)
            where, shown = f"{at}: {said.call_id}", repr(label(said.call_id))
            if known is None and not copied:
                self.add("wire.orphan_tool_result", where, f"a result for {shown}, and no such call")
            elif said.call_id in self._answered and not copied:
                self.add("wire.duplicate_id", where, f"the call {shown} has its result already")
            found = known or ToolCall(said.call_id, said.tool, {})
        self._answered.add(found.id)
        self._settled[found.id] = found
        self._earlier.pop(found.id, None)
        self.messages.append(Answered(found, said.text, said.failed or is_failure(said.text)))

    def _taken(self, said: Said) -> ToolCall | None:
        """The waiting call this result belongs to: by id; without one by the tool's name, else the first."""
        for index, (_, call) in enumerate(self._waiting):
            named = call.tool == said.tool or not said.tool
            if call.id == said.call_id if said.call_id else named:
                del self._waiting[index]
                return call
        return None


def called(asked: Asked, id_: str, batch: int) -> ToolCall:
    """A call as our values know it; its arguments are read strictly."""
    if asked.flaw:
        return ToolCall(id_, asked.tool, {}, batch, asked.raw or "", asked.flaw)
    return ToolCall.read(id_, asked.tool, asked.raw or "", batch=batch)


def decision_of(said: Said, calls: tuple[ToolCall, ...]) -> Decision:
    """What an assistant message decides."""
    finish = said.finish.lower()
    if finish in _CUT:
        return Truncated(said.text, calls)
    if finish in _REFUSED:
        return Refused(said.text)
    if calls:
        return Calls(calls, said.text)
    return Reply(said.text) if said.text.strip() else Malformed("neither a text nor a call")


def _places(places: dict[str, None]) -> str:
    shown = list(places)
    more = len(shown) - _NAMED
    return ", ".join(shown[:_NAMED]) + (f" and {more} more" if more > 0 else "")
