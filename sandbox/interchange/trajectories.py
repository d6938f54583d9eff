"""A recording as a trajectory, so that the judges of our own runs judge it too.

    trajectory_of(recording)   what was said, offered and reported; a trajectory of ours as it is
    fact_of(tool)              what judges know of a foreign tool: its access is its hint's, or else inferred

Nothing is proved of a foreign run: its ledger is `reported` where there is one, and else nothing was seen.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sandtrail.ledgers.bindings import Projection
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import Answered
from sandtrail.ledgers.specs import Catalog, OperationFact
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.ledgers.words import Access, Grade
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.reported import reported_ledger

HINTED, INFERRED = "theirs", "inferred"
"""The service of an operation says whether its access was declared or is a guess from name and description."""

_SAYS_WRITES = re.compile(r"(?<!\w)(?:writes|write operation|changes (?:data|state))(?!\w)", re.I)
_SAYS_READS = re.compile(r"(?<!\w)read[- ]only(?!\w)", re.I)
_WRITING = re.compile(
    "add|apply|approve|archive|assign|authorize|book|buy|cancel|change|close|create|delete|deny|disable|edit|enable|"
    "exchange|grant|insert|invite|issue|merge|modify|move|pay|publish|purchase|put|redeem|refund|register|reject|remove|"
    "rename|replace|reschedule|reserve|reset|resume|return|revoke|save|send|ship|submit|suspend|transfer|unblock|update|"
    "upgrade|upload|void|withdraw|write"
)
_WRITING_IN_FRONT = re.compile("block|charge|credit|debit|open|place|post|release|schedule|set")
"""Words that are verbs where a name begins with them, and nouns where it ends with them."""
_READING = frozenset(
    ("check", "describe", "fetch", "find", "get", "list", "lookup", "query", "read", "search", "show", "view")
)
_PEOPLE = frozenset(("human", "humans", "person", "representative"))


def trajectory_of(recording: Recording) -> Trajectory:
    """What was recorded, as our judges read it."""
    if recording.saved is not None:
        return recording.saved
    ledger, attempts = _books(recording)
    linked = tuple(
        replace(message, attempt=attempts.get(message.call.id)) if isinstance(message, Answered) else message
        for message in recording.conversation
    )
    return Trajectory(
        recording.id,
        "recorded",
        0,
        1,
        linked,
        ledger,
        ended=recording.ended,
        offers=offers_of(recording),
        principal=recording.principal,
        now=recording.now,
        zone=recording.zone,
        recorded=recording.recorded,
    )


def _books(recording: Recording) -> tuple[Ledger, dict[str, int]]:
    if recording.ledger is None:
        return Ledger(Book("none", {}, recording.bindings), grade=Grade.UNSEEN), {}
    seen = Projection(recording.bindings)
    lines = [{**line, "target": seen.value(line.get("target"))} for line in recording.ledger]
    answered = (message for message in recording.conversation if isinstance(message, Answered))
    calls = {message.call.id: message.call for message in answered}
    return reported_ledger(lines, calls, bindings=recording.bindings)


def offers_of(recording: Recording) -> tuple[Offer, ...]:
    """What was offered from which decision on; none where the transcript does not say."""
    if recording.tools is None:
        return ()
    tools = {tool.spec.name: tool for tool in recording.tools}
    registry = recording.registry or ((0, tuple(tools)),)
    return tuple(
        Offer(
            step,
            Catalog(tuple(tools[name].spec for name in dict.fromkeys(names) if name in tools)),
            {name: fact_of(tools[name]) for name in names if name in tools},
            recording.withheld,
        )
        for step, names in registry
    )


def fact_of(tool: Tool) -> ToolFact:
    """What judges know of a foreign tool.

    >>> from sandtrail.ledgers.specs import ToolSpec
    >>> fact_of(Tool(ToolSpec("cancel_order", "", {}))).operation
    OperationFact(name='cancel_order', service='inferred', access=<Access.WRITE: 'write'>, undone_by=None, external=())
    """
    said = tool.spec.description
    deprecated = said.partition("Use ")[2].rstrip(".") if said.startswith("DEPRECATED") else ""
    writes = _infers_write(tool) if tool.read_only is None else not tool.read_only
    service = INFERRED if tool.read_only is None else HINTED
    fact = OperationFact(tool.spec.name, service, Access.WRITE if writes else Access.READ)
    return ToolFact(tool.spec.name, fact, deprecated=deprecated)


def _infers_write(tool: Tool) -> bool:
    """Whether name and description say that it changes something. Handing over to a person changes nothing."""
    if _SAYS_READS.search(tool.spec.description):
        return False
    if _SAYS_WRITES.search(tool.spec.description):
        return True
    words = [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", tool.spec.name)]
    if not words or (_READING | _PEOPLE) & set(words):
        return False
    front, back = words[0], words[-1]
    verbs = (_WRITING.fullmatch(front), _WRITING.fullmatch(back), _WRITING_IN_FRONT.fullmatch(front))
    return any(verbs)
