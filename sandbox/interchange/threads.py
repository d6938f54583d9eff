"""One conversation out of the spans of a run: repeated history is merged, a call that two spans hold counts once.

    runs_of(spans)   the conversations of a run: the main one first, one for each subagent

A message that is known already is not told again; messages are compared by the ids of their calls, else by their words.
What stood in the history before the user's last words, when a conversation begins, was decided earlier: it is context.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from sandtrail.ledgers.conversation import Conversation
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trajectory import Ended
from sandtrail.sandbox.interchange.offered import united
from sandtrail.sandbox.interchange.recording import Tool
from sandtrail.sandbox.interchange.spans import Span, Tree
from sandtrail.sandbox.interchange.spoken import Asked, Said
from sandtrail.sandbox.interchange.telling import Telling

Key = tuple[object, ...]
Offers = tuple[tuple[int, tuple[str, ...]], ...]


@dataclass(frozen=True)
class Run:
    """One conversation. `scope` is the span of the subagent whose it is, "" of the main one."""

    scope: str
    conversation: Conversation
    flaws: tuple[Finding, ...]
    tools: tuple[Tool, ...] | None
    registry: Offers
    ended: Ended


@dataclass
class _Entry:
    """A message in a conversation: where it was seen first, and the rank of that span in time."""

    said: Said
    at: str
    rank: int
    copied: bool = False
    offered: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        self.key: Key = self.said.key


@dataclass
class _Made:
    """A call that a model made, and whether a tool's span was found for it."""

    thread: _Thread
    entry: _Entry
    call: Asked
    found: bool = False


@dataclass
class _Thread:
    """A conversation while spans are merged into it."""

    scope: str
    entries: list[_Entry] = field(default_factory=list[_Entry])
    leaves: list[Span] = field(default_factory=list[Span])
    tools: list[Tool] = field(default_factory=list[Tool])
    results: dict[str, tuple[str, Said]] = field(
        default_factory=dict[str, tuple[str, Said]]
    )  # by the call's id
    unnamed: dict[int, list[tuple[str, Said]]] = field(default_factory=dict[int, list[tuple[str, Said]]])
    made: set[Key] = field(default_factory=set[Key])  # decisions whose calls have ids
    given: dict[str, str] = field(default_factory=dict[str, str])
    ended: Ended = Ended.DONE

    @property
    def systems(self) -> set[str]:
        return {entry.said.text for entry in self.entries if entry.said.role == "system"}

    def merge(self, span: Span, rank: int, *, history: bool) -> None:
        """The messages of a span, without those that are known. `history`: what it heard was decided before this run."""
        offered = tuple(tool.spec.name for tool in span.tools) if span.tools else None
        past = span.past
        new = [
            _Entry(
                said, span.id, rank, copied=history and index < past and said.role in ("assistant", "tool")
            )
            for index, said in enumerate(span.heard)
        ] + [_Entry(said, span.id, rank, offered=offered) for said in span.said]
        self.tools.extend(span.tools or ())
        if history and self.entries and self.entries[-1].said.is_reply:
            # The last request says what was answered; an agent's span may word that in another way.
            known = {entry.key for entry in self.entries}
            new = [entry for entry in new if not entry.said.is_reply or entry.key in known]
        self.entries = _aligned(self.entries, new) if span.heard or history else self._told(new)
        self.made |= {entry.key for entry in new if entry.said.calls and entry.said.calls[0].id}

    def _told(self, new: list[_Entry]) -> list[_Entry]:
        """Only what came out was recorded: it comes last, but for calls that are known."""
        return self.entries + [entry for entry in new if entry.key not in self.made]

    def insert(self, said: Said, at: str, rank: int) -> _Entry:
        """A decision that only a tool's span shows, behind what was told before that span began."""
        index = len(self.entries)
        while index and self.entries[index - 1].rank > rank:
            index -= 1
        entry = _Entry(said, at, rank)
        self.entries.insert(index, entry)
        return entry

    def carried_out(self, entry: _Entry) -> None:
        """A decision in the history whose tool ran in this run is one of this run, and so are its results."""
        if entry.copied:
            entry.copied = False
            ids = {call.id for call in entry.said.calls}
            for other in self.entries:
                if other.said.role == "tool" and other.said.call_id in ids:
                    other.copied = False


def _aligned(known: list[_Entry], new: list[_Entry]) -> list[_Entry]:
    """Both in one order: what is known keeps its place, what is new stands before the next known message, or last."""
    same = 0
    while same < min(len(known), len(new)) and known[same].key == new[same].key:
        same += 1
    if same == len(known):
        return _ranked(known + new[same:], same)
    places: dict[Key, list[int]] = {}
    for index in range(same, len(known)):
        places.setdefault(known[index].key, []).append(index)
    found = known[:same]
    pending: list[_Entry] = []
    at = same
    for entry in new[same:]:
        here = places.get(entry.key, [])
        index = bisect_left(here, at)
        if index == len(here):
            pending.append(entry)
            continue
        found.extend((*known[at : here[index]], *pending, known[here[index]]))
        pending, at = [], here[index] + 1
    found.extend((*known[at:], *pending))
    return _ranked(found, same)


def _ranked(entries: list[_Entry], start: int) -> list[_Entry]:
    """The entries, none of them earlier in time than the one in front of it."""
    for before, entry in pairwise(entries[max(start - 1, 0) :]):
        entry.rank = max(entry.rank, before.rank)
    return entries


def runs_of(spans: Sequence[Span]) -> tuple[Run, ...]:
    """The conversations in the spans of one run, the main one first; at least one."""
    return tuple(_Weaver(Tree(spans)).runs())


class _Weaver:
    """The threads while they are woven."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._threads: list[_Thread] = []
        self._of_scope: dict[str, _Thread] = {}
        self._of_key: dict[Key, _Thread] = {}
        self._made: dict[object, deque[_Made]] = {}
        self._hollow: list[tuple[int, Span]] = []

    def runs(self) -> Iterator[Run]:
        """All of them."""
        for rank, span in enumerate(self._tree.spans):
            if self._tree.is_leaf(span):
                self._leaf(span, rank)
        for rank, span in reversed(list(enumerate(self._tree.spans))):  # inner ones first
            if not self._tree.is_leaf(span) and span.speaks:
                self._outer(span, rank)
        self._tools()
        self._plain()
        self._ends()
        for index, thread in enumerate(self._threads):
            yield self._run(thread, main=index == 0)

    # -- models and agents ---------------------------------------------------------------------------------

    def _leaf(self, span: Span, rank: int) -> None:
        if not span.speaks and not span.failed:
            self._hollow.append((rank, span))
            return
        thread = self._joined(span)
        thread.merge(span, rank, history=not thread.entries)
        thread.leaves.append(span)
        self._note(thread, span)

    def _outer(self, span: Span, rank: int) -> None:
        thread = self._owner(span) or self._of_scope.get(span.id)
        if thread is None:
            thread = self._new(span.id if span.kind == "agent" else self._tree.scope(span))
        thread.merge(span, rank, history=True)
        self._note(thread, span)

    def _joined(self, span: Span) -> _Thread:
        """The conversation a request goes on with: one that knows its messages, else that of its agent."""
        scope = self._tree.scope(span)
        thread = self._owner(span) or self._of_scope.get(scope)
        if thread is None:
            return self._new(scope)
        systems = {said.text for said in span.heard if said.role == "system"}
        other = bool(systems and thread.systems) and not systems & thread.systems
        return self._new(scope) if other and self._owner(span) is None else thread

    def _owner(self, span: Span) -> _Thread | None:
        # What a model answers may repeat the words of another conversation; what it heard is its own.
        told = span.heard if span.kind == "model" else (*span.heard, *span.said)
        keys = (said.key for said in told if said.role != "system")
        return next((self._of_key[key] for key in keys if key in self._of_key), None)

    def _new(self, scope: str) -> _Thread:
        thread = _Thread(scope)
        self._threads.append(thread)
        self._of_scope[scope] = thread
        return thread

    def _note(self, thread: _Thread, span: Span) -> None:
        self._of_scope.setdefault(self._tree.scope(span), thread)
        for said in (*span.heard, *span.said):
            if said.role != "system":
                self._of_key.setdefault(said.key, thread)

    # -- tools ---------------------------------------------------------------------------------------------

    def _tools(self) -> None:
        for thread in self._threads:
            for entry in thread.entries:
                for call in entry.said.calls:
                    self._add(_Made(thread, entry, call))
        for rank, span in enumerate(self._tree.spans):
            if span.kind == "tool" and span.call is not None and not self._tree.is_echo(span):
                self._tool(span, span.call, rank)

    def _add(self, made: _Made) -> None:
        for name in (made.call.id, made.call.same, ("tool", made.call.tool, "")):
            if name:
                self._made.setdefault(name, deque()).append(made)

    def _found(self, call: Asked) -> _Made | None:
        """The model's call that a tool's span carried out: by id, else by the arguments, else by the name alone."""
        if call.id and call.id in self._made:
            return self._made[call.id][0]
        names = (call.same,) if call.raw is not None else (("tool", call.tool, ""),)
        for name in names:
            waiting = self._made.get(name, deque())
            while waiting and waiting[0].found:
                waiting.popleft()
            if waiting:
                return waiting[0]
        return None

    def _tool(self, span: Span, call: Asked, rank: int) -> None:
        made = self._found(call)
        if made is None and call.raw is None and (span.result is None or span.result.bare):
            self._hollow.append((rank, span))
            return
        if made is None:
            thread = self._place(span)
            made = _Made(thread, thread.insert(Said("assistant", calls=(call,)), span.id, rank), call)
            self._add(made)
        made.found = True
        thread, id_ = made.thread, made.call.id
        thread.carried_out(made.entry)
        if call.raw is not None:
            thread.given.setdefault(id_, call.raw)
        result = replace(span.result or Said("tool", bare=True), call_id=id_, tool=call.tool)
        if not id_:
            thread.unnamed.setdefault(id(made.entry), []).append((span.id, result))
        elif id_ not in thread.results or thread.results[id_][1].bare:
            thread.results[id_] = (span.id, result)

    def _place(self, span: Span) -> _Thread:
        """The conversation of the agent that called the tool, else the main one."""
        for above in self._tree.above(span):
            if above.id in self._of_scope:
                return self._of_scope[above.id]
        return self._threads[0] if self._threads else self._new(self._tree.scope(span))

    # -- ends ----------------------------------------------------------------------------------------------

    def _plain(self) -> None:
        """The plain input and output of the whole run, where no model's messages were recorded."""
        weak = [span for span in self._tree.spans if span.weak and (span.heard or span.said)]
        if not weak or any(span.speaks for span in self._tree.spans):
            return
        thread = self._threads[0] if self._threads else self._new("")
        last = len(self._tree.spans)
        thread.entries = (
            [_Entry(said, weak[0].id, 0) for said in weak[0].heard]
            + thread.entries
            + [_Entry(said, weak[0].id, last) for said in weak[0].said]
        )

    def _ends(self) -> None:
        if not self._threads:
            self._new("")
        for span in self._tree.spans:
            thread = self._of_scope.get(span.id)
            if span.failed and span.kind == "agent" and thread is not None:
                thread.ended = Ended.AGENT_ERROR
        main = self._threads[0]
        if any(span.failed and span.kind == "agent" and not span.parent for span in self._tree.spans):
            main.ended = Ended.AGENT_ERROR

    def _run(self, thread: _Thread, *, main: bool) -> Run:
        telling = Telling()
        registry = _told(thread, telling)
        last = thread.leaves[-1] if thread.leaves else None
        ended = thread.ended
        if last is not None and last.failed and not last.said:
            telling.add(
                "trace.errored",
                last.id,
                f"the request to the model failed: {last.why or 'no reason recorded'}",
            )
            ended = Ended.PROVIDER_ERROR
        elif last is not None and not last.said and not any(span.speaks for span in self._tree.above(last)):
            telling.hollow(last.id)
        for span in self._unheard() if main else ():
            telling.hollow(span.id)
        if main and not telling.messages and not telling.flaws():
            telling.add("trace.incomplete", "spans", "no span of a model or a tool is among them")
        return Run(
            "" if main else thread.scope,
            telling.conversation,
            telling.flaws(),
            united(thread.tools),
            registry,
            ended,
        )

    def _unheard(self) -> Iterator[Span]:
        """Requests without content that no other span makes up for: neither one above nor a later history."""
        later = {self._tree.scope(leaf) for thread in self._threads for leaf in thread.leaves if leaf.heard}
        for _, span in sorted(self._hollow, key=lambda one: one[0]):
            if self._tree.scope(span) not in later and not any(
                above.speaks for above in self._tree.above(span)
            ):
                yield span


def _told(thread: _Thread, telling: Telling) -> Offers:
    """The entries in order, each call with its arguments and its result. Answers what was offered, where it changed."""
    registry: list[tuple[int, tuple[str, ...]]] = []
    for index, entry in enumerate(thread.entries):
        said = entry.said
        if said.role == "tool" and said.call_id in thread.results:
            said = replace(said, failed=said.failed or thread.results[said.call_id][1].failed)
        calls = tuple(
            replace(call, raw=thread.given.get(call.id)) if call.id and call.raw is None else call
            for call in said.calls
        )
        if entry.offered and not entry.copied and (not registry or registry[-1][1] != entry.offered):
            registry.append((telling.decisions, entry.offered))
        telling.tell(replace(said, calls=calls), entry.at, copied=entry.copied)
        for at, result in _results(thread, index):
            telling.tell(result, at, copied=entry.copied)
    return tuple(registry) if len(registry) > 1 else ()


def _results(thread: _Thread, index: int) -> Iterator[tuple[str, Said]]:
    """The results that only tools' spans hold: of calls that no message of a tool answers."""
    entry = thread.entries[index]
    following: list[str] = []
    while entry.said.calls and (index := index + 1) < len(thread.entries):
        if thread.entries[index].said.role != "tool":
            break
        following.append(thread.entries[index].said.call_id)
    spare = list(thread.unnamed.get(id(entry), ()))
    for call in entry.said.calls:
        if call.id in following or "" in following:
            following.remove(call.id if call.id in following else "")
        elif call.id in thread.results:
            yield thread.results[call.id]
        else:
            fits = next((place for place, one in enumerate(spare) if one[1].tool == call.tool), None)
            if fits is not None:
                yield spare.pop(fits)
