"""Auditing transcripts that someone else recorded.

    runs = audit("runs/*.jsonl", tools="tools.json")
    runs["task-25"].argument("book_reservation", "/flights/0/flight_number").verdict

Each recording is held to the law of conversations first; one that breaks it, or holds too little, is judged no further.
Then its arguments, writes and words are judged: against its contract where an envelope brings one, else by what can be
said without (`scenarios.observing`). What a transcript claims is never more than claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import Answered, Conversation, Decided
from sandtrail.ledgers.findings import Finding, overall_of
from sandtrail.ledgers.provenance import Traced, argument_of
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.specs import Catalog, OperationFact
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.ledgers.verbs import verb_writes
from sandtrail.ledgers.words import Access, Grade, Overall
from sandtrail.sandbox.claimed import claimed_ledger, writes_of
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.redaction import redacted
from sandtrail.sandbox.reported import BadLines, reported_ledger
from sandtrail.scenarios.judge import Verdict, judge
from sandtrail.scenarios.observing import observe

_SHOWN = 10
_STOPS = frozenset({Overall.INVALID_INPUT, Overall.NOT_EVALUABLE, Overall.HARNESS_FAULT})


@dataclass(frozen=True)
class AuditedRun:
    """One recorded run, judged. `trajectory` is None where the recording is no legal or no complete conversation."""

    recording: Recording = field(repr=False)
    findings: tuple[Finding, ...] = field(repr=False)
    verdict: Verdict | None = field(default=None, repr=False)
    trajectory: Trajectory | None = field(default=None, repr=False)

    @property
    def id(self) -> str:
        """Its name: unique in an audit."""
        return self.recording.id

    @property
    def overall(self) -> Overall:
        """The headline. Where nothing was decided there is nothing to judge."""
        if self.verdict is None:
            found = overall_of(self.findings)
            return found if found in _STOPS else Overall.NOT_EVALUABLE
        worst = overall_of(self.findings)
        return self.verdict.overall if worst in {Overall.PASS, Overall.WARN} else worst

    @property
    def first_decision(self) -> str | None:
        """How the first decision was, where a contract says what was right."""
        return self.verdict.first if self.verdict is not None else None

    @property
    def grade(self) -> Grade:
        """How good the evidence of its effects is."""
        return self.trajectory.ledger.grade if self.trajectory is not None else Grade.UNSEEN

    @property
    def effects(self) -> Mapping[str, int]:
        """How many writes and attempts there were of each sort. Books beside a broken transcript still say what was done."""
        if self.verdict is not None:
            return self.verdict.counts
        return _told_effects(self.recording)

    @cached_property
    def origins(self) -> tuple[Traced, ...]:
        """Where each argument of each call came from."""
        return provenance(self.trajectory) if self.trajectory is not None else ()

    @property
    def provenance(self) -> Mapping[str, int]:
        """How many arguments had each verdict."""
        return dict(sorted(Counter(str(traced.verdict) for traced in self.origins).items()))

    def ungrounded(self) -> tuple[Traced, ...]:
        """The arguments whose values came from nowhere, or from the wrong place."""
        return tuple(traced for traced in self.origins if not traced.grounded)

    def argument(self, tool: str, name: str, *, nth: int = 1) -> Traced:
        """Where an argument of the nth call of a tool came from. Raises LookupError with what was called instead."""
        if self.trajectory is None:
            raise LookupError(f"{self.id} could not be judged: {'; '.join(map(str, self.findings[:3]))}")
        return argument_of(self.trajectory, self.origins, tool, name, nth=nth)

    def as_json(self) -> dict[str, Any]:
        """The run as `sandtrail audit --json` prints it."""
        return {
            "id": self.id,
            "format": self.recording.format,
            "overall": str(self.overall),
            "first_decision": self.first_decision,
            "findings": [
                {
                    "code": one.code,
                    "at": one.at,
                    "severity": str(one.severity),
                    "reason": redacted(one.reason),
                }
                for one in self.findings
            ],
            "effects": {**self.effects, "grade": str(self.grade)},
            "provenance": dict(self.provenance),
        }


class Audit(Mapping[str, AuditedRun]):
    """The runs of an audit by their ids, in the order in which they were read; the end of an id will do for one."""

    def __init__(self, runs: Iterable[AuditedRun]) -> None:
        self._runs = {run.id: run for run in runs}

    def __getitem__(self, name: str) -> AuditedRun:
        if name in self._runs:
            return self._runs[name]
        named = [run for key, run in self._runs.items() if is_named(key, name)]
        if len(named) == 1:
            return named[0]
        said = f"{name!r} is the name of {len(named)} runs" if named else f"no run {name!r}"
        others = [run.id for run in named] or list(self._runs)
        more = " ..." if len(others) > _SHOWN else ""
        raise KeyError(f"{said}; there are {', '.join(others[:_SHOWN]) or 'none'}{more}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)


def is_named(key: str, name: str) -> bool:
    """Whether a run goes by this name: its id, or the end of it behind the file's name.

    >>> is_named("airline/task-25", "task-25"), is_named("airline/task-25", "25")
    (True, False)
    """
    return key == name or key.endswith((f"/{name}", f"#{name}"))


def audit(
    paths: str | Path | Sequence[str | Path],
    *,
    tools: str | Path | None = None,
    format: str | None = None,  # noqa: A002
) -> Audit:
    """Judge the transcripts in files, directories or globs.

    `tools` is a file of tool definitions for transcripts that carry none; `format` names the format, else it is detected.
    Raises BadTools where that file is none, UnknownFormat where no reader has that name; a path that names nothing is a run
    that cannot be judged.
    """
    from sandtrail.sandbox.interchange.sources import recordings  # noqa: PLC0415  with all its readers

    given = [paths] if isinstance(paths, str | Path) else list(paths)
    return Audit(map(audited, recordings(given, format=format, tools=tools)))


def audited(recording: Recording) -> AuditedRun:
    """One recording, judged. Never raises: what cannot be judged has a finding that says why."""
    try:
        return _audited(recording)
    except RecursionError:
        return AuditedRun(
            recording, (*recording.flaws, _unreadable(recording, "it is nested too deep to be judged"))
        )


def _unreadable(recording: Recording, reason: str) -> Finding:
    return Finding("wire.unreadable", recording.place or recording.id, reason)


def _told_effects(recording: Recording) -> Mapping[str, int]:
    try:
        ledger, _ = reported_ledger(recording.ledger or (), {})
    except BadLines:
        return {}
    return (
        {"committed": len(ledger.effects()), "attempted": len(ledger.attempts())} if recording.ledger else {}
    )


def _audited(recording: Recording) -> AuditedRun:
    if recording.flaws and overall_of(recording.flaws) in _STOPS:
        return AuditedRun(recording, recording.flaws)
    try:
        trajectory = recording.saved or trajectory_of(recording)
    except BadLines as error:
        return AuditedRun(recording, (*recording.flaws, _unreadable(recording, str(error))))
    if not any(isinstance(message, Decided) for message in trajectory.conversation):
        return AuditedRun(
            recording, (*recording.flaws, Finding("run.empty", "final", "the agent decided nothing"))
        )
    verdict = observe(trajectory) if recording.contract is None else judge(recording.contract, trajectory)
    findings = tuple(sorted((*recording.flaws, *verdict.findings), key=lambda one: -one.severity.rank))
    return AuditedRun(recording, findings, verdict, trajectory)


# -- a recording as a trajectory ---------------------------------------------------------------------------


def trajectory_of(recording: Recording) -> Trajectory:
    """A recording as the judges take it. Raises BadLines where its ledger is none."""
    offers = tuple(_offers(recording))
    conversation, ledger = _booked(recording, offers)
    return Trajectory(
        recording.id,
        "recorded",
        0,
        1,
        conversation,
        ledger,
        recording.ended,
        offers=offers,
        principal=recording.principal,
        now=recording.now,
        zone=recording.zone,
    )


def _offers(recording: Recording) -> Iterator[Offer]:
    """What was offered; of a transcript that does not say, what its calls tell of the tools they name."""
    if recording.tools is None:
        called = {message.call.tool for message in recording.conversation if isinstance(message, Answered)}
        yield Offer(0, Catalog(()), {name: _fact(name, *verb_writes(name)) for name in called})
        return
    tools = {tool.spec.name: tool for tool in recording.tools}
    for step, names in recording.registry or ((0, tuple(tools)),):
        offered = [tools[name] for name in dict.fromkeys(names) if name in tools]
        facts = {tool.spec.name: _tool_fact(tool) for tool in offered}
        yield Offer(step, Catalog(tuple(tool.spec for tool in offered)), facts, recording.withheld)


def _tool_fact(tool: Tool) -> ToolFact:
    said = tool.spec.description
    deprecated = said.partition("Use ")[2].rstrip(".") if said.upper().startswith("DEPRECATED") else ""
    return replace(_fact(tool.spec.name, *writes_of(tool)), deprecated=deprecated)


def _fact(name: str, writes: bool, _: str) -> ToolFact:  # noqa: FBT001  what `writes_of` says
    return ToolFact(name, OperationFact(name, "theirs", Access.WRITE if writes else Access.READ))


def _booked(recording: Recording, offers: tuple[Offer, ...]) -> tuple[Conversation, Ledger]:
    """The conversation with each answer's place in the books: those that were told, or what the transcript claims."""
    conversation = recording.conversation
    if recording.ledger is not None:
        calls = {message.call.id: message.call for message in conversation if isinstance(message, Answered)}
        ledger, attempts = reported_ledger(recording.ledger, calls)
        ledger = _with_bindings(ledger, recording)
        linked = tuple(
            replace(message, attempt=attempts.get(message.call.id))
            if isinstance(message, Answered)
            else message
            for message in conversation
        )
        return linked, ledger
    if recording.contract is not None:
        return conversation, Ledger(Book("none", {}, recording.bindings), grade=Grade.UNSEEN)
    writing = {name: fact.writes for offer in offers for name, fact in offer.tools.items()}
    for message in conversation:
        if isinstance(message, Answered) and message.call.tool not in writing:
            writing[message.call.tool] = verb_writes(message.call.tool)[0]
    ledger, placed = claimed_ledger(conversation, writing, recording.bindings)
    booked = tuple(
        replace(message, attempt=placed[index])
        if isinstance(message, Answered) and index in placed
        else message
        for index, message in enumerate(conversation)
    )
    return booked, ledger


def _with_bindings(ledger: Ledger, recording: Recording) -> Ledger:
    """Reported books with the bindings that an envelope names."""
    if not recording.bindings:
        return ledger
    book = Book("reported", {}, recording.bindings)
    for page in ledger.pages:
        book.append(page, judged=False)
    return Ledger(book, grade=ledger.grade)
