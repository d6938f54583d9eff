"""An envelope: a transcript with what is known of it beside it.

    {"format": "anthropic", "tools": [...], "messages": [...], "contract": {...}, "bindings": {...}, "ledger": [...],
     "principal": {...}, "clock": {"now_utc", "user_zone"}, "hidden_tools": [...], "turn_registry": [...]}

The transcript stands under `messages`, `items`, `spans`, `trace`, `trajectory_set`, or as the `events` or `chunks` of a
stream, and is read by the reader of its format. Every other part is optional, and one that cannot be read is a flaw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox import messages_anthropic, messages_openai
from sandtrail.sandbox.interchange import (
    anthropic,
    atif,
    inspect_logs,
    langchain,
    langfuse,
    openai_chat,
    otlp,
    responses,
    tau,
    tau2,
)
from sandtrail.sandbox.interchange.contracts import BadPart, Names, contract_of, principal_of
from sandtrail.sandbox.interchange.reading import bounded, kind_of, unreadable
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.tools import offered
from sandtrail.sandbox.reported import BadLines, reported_ledger

FORMAT = "envelope"

_READERS: Mapping[str, Callable[[object, str], Iterator[Recording]]] = {
    "anthropic": anthropic.read,
    "anthropic_stream": anthropic.read,
    "openai": openai_chat.read,
    "openai_stream": openai_chat.read,
    "responses": responses.read,
    "langchain": langchain.read,
    "otel_genai": otlp.read,
    "otlp": otlp.read,
    "langfuse": langfuse.read,
    "atif": atif.read,
    "inspect": inspect_logs.read,
    "tau": tau.read,
    "tau2": tau2.read,
}
_PAYLOADS = (
    "messages",
    "items",
    "input",
    "spans",
    "resourceSpans",
    "trace",
    "observations",
    "trajectory_set",
    "trajectory",
    "log",
    "results",
    "events",
    "chunks",
)
_BESIDE = ("system", "stop_reason", "finish_reason", "instructions")
_STREAM_FAULTS = (AttributeError, IndexError, KeyError, TypeError, ValueError)


def recognises(value: object) -> bool:
    """Whether a document is an envelope, or a public case with one in it."""
    return _inside(value) is not None


def _inside(value: object) -> Mapping[str, Any] | None:
    fields = as_object(value) or {}
    if isinstance(fields.get("format"), str) and any(name in fields for name in _PAYLOADS):
        return fields
    inner = as_object(fields.get("input")) or {}
    whole = isinstance(inner.get("format"), str) and any(name in inner for name in _PAYLOADS)
    return inner if whole else None


def read(value: object, name: str) -> Iterator[Recording]:
    """The runs in an envelope, each with all that stands beside them."""
    given = _inside(value)
    if given is None:
        yield unreadable(FORMAT, name, f"format and one of {', '.join(_PAYLOADS)} are wanted")
        return
    read_transcript = _READERS.get(given["format"])
    if read_transcript is None:
        known = ", ".join(sorted(_READERS))
        yield unreadable(
            FORMAT, name, f"the format {given['format'][:40]!r} is no transcript's; there are {known}"
        )
        return
    try:
        transcript = _transcript(given)
    except _STREAM_FAULTS:
        # The readers of streams take a provider's events as they come, and these are not.
        yield unreadable(given["format"], name, "events of a stream are wanted, as the provider sends them")
        return
    beside = _Beside(given)
    for one in read_transcript(transcript, name):
        yield beside.added_to(one)


def _transcript(given: Mapping[str, Any]) -> Any:
    """What the reader of the format is given."""
    kind = given["format"]
    before = as_list(given.get("messages")) or []
    around = {name: given[name] for name in _BESIDE if name in given}
    if kind == "anthropic_stream":
        body = messages_anthropic.read_events(as_list(given.get("events")) or [])
        return {**around, "messages": before, "response": {**body, "type": "message", "role": "assistant"}}
    if kind == "openai_stream":
        finish = given.get("finish_reason")
        body = messages_openai.read_events(as_list(given.get("chunks")) or [], finish)
        return {**around, "messages": before, "response": body}
    for name in ("messages", "items", "input"):
        if name in given:
            return {**around, name: given[name]}
    for name in ("trace", "trajectory", "log", "results"):  # a whole document of its own
        if name in given:
            return given[name]
    return {name: given[name] for name in _PAYLOADS if name in given}


class _Beside:
    """What stands beside a transcript, read once for all of its runs."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given
        self.flaws: list[Finding] = []
        self._tools, unfit = offered(given.get("tools"))
        self.flaws += unfit
        demands = self._part(lambda: _demands(given), {})
        self._names = self._part(lambda: Names.read(given.get("bindings")), Names())
        self._principal, self._names = self._part(
            lambda: principal_of(given.get("principal"), demands, self._names), (None, self._names)
        )
        named = [tool.spec.name for tool in self._tools or ()]
        self._contract = self._part(
            lambda: contract_of(demands, self._names, named) if "contract" in given else None, None
        )
        self._ledger = self._part(lambda: _ledger(given.get("ledger"), self._names), None)
        self._now, self._zone = self._part(lambda: _clock(given.get("clock")), ("", "UTC"))
        self._registry = self._part(lambda: _registry(given), ())
        self._withheld = self._part(lambda: _names(given.get("hidden_tools"), "hidden_tools"), ())

    def _part(self, read: Callable[[], Any], instead: Any) -> Any:
        """A part, or what stands in for it where it cannot be read."""
        try:
            return read()
        except BadPart as error:
            self.flaws.append(Finding("wire.unreadable", error.at, error.reason))
            return instead

    def added_to(self, one: Recording) -> Recording:
        """The run with all that is known of it."""
        return replace(
            one,
            tools=one.tools if self._tools is None else self._tools,
            registry=self._registry,
            withheld=self._withheld,
            flaws=bounded([*one.flaws, *self.flaws]),
            contract=self._contract,
            bindings=self._names.bindings,
            ledger=self._ledger,
            principal=self._principal,
            now=self._now,
            zone=self._zone,
        )


def _demands(given: Mapping[str, Any]) -> Mapping[str, Any]:
    contract = given.get("contract")
    fields = as_object(contract)
    if contract is not None and fields is None:
        raise BadPart("contract", f"an object is wanted; got {kind_of(contract)}")
    return fields or {}


def _ledger(lines: object, names: Names) -> tuple[Mapping[str, Any], ...] | None:
    if lines is None:
        return None
    read = [as_object(line) for line in as_list(lines) or [None]] if lines != [] else []
    known = tuple(line for line in read if line is not None and isinstance(line.get("status"), str))
    if len(known) != len(read):
        raise BadPart("ledger", "a list of lines is wanted, each with op, target, by_call and status")
    try:
        reported_ledger(known, {})
    except BadLines as error:
        raise BadPart("ledger", f"{error!s:.200}") from None
    return tuple(
        {**line, "target": names.value(line["target"])} if "target" in line else line for line in known
    )


def _clock(clock: object) -> tuple[str, str]:
    fields = {} if clock is None else as_object(clock)
    if fields is None:
        raise BadPart("clock", f"now_utc and user_zone are wanted; got {kind_of(clock)}")
    now, zone = (
        fields.get("now_utc", fields.get("now", "")),
        fields.get("user_zone", fields.get("zone", "UTC")),
    )
    try:
        if now:
            datetime.fromisoformat(now)
        ZoneInfo(zone)
    except (LookupError, OSError, TypeError, ValueError):
        raise BadPart(
            "clock", "an instant like 2026-05-01T08:00:00Z and a zone like Europe/Rome are wanted"
        ) from None
    return now, zone


def _names(value: object, at: str) -> tuple[str, ...]:
    items = [] if value is None else as_list(value)
    if items is None or not all(isinstance(item, str) for item in items):
        raise BadPart(at, f"a list of names of tools is wanted; got {kind_of(value)}")
    return tuple(items)


def _registry(given: Mapping[str, Any]) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """From which decision on which tools were offered; an envelope counts messages."""
    entries = given.get("turn_registry")
    listed = [] if entries is None else as_list(entries)
    if listed is None:
        raise BadPart("turn_registry", f"a list is wanted; got {kind_of(entries)}")
    decided = [
        index
        for index, message in enumerate(as_list(given.get("messages")) or ())
        if (as_object(message) or {}).get("role") == "assistant"
    ]
    found: list[tuple[int, tuple[str, ...]]] = []
    for at, entry in enumerate(listed):
        fields = as_object(entry) or {}
        begins = fields.get("from_message")
        if type(begins) is not int:
            raise BadPart(f"turn_registry/{at}", f"from_message and tools are wanted; got {kind_of(entry)}")
        step = sum(index < begins for index in decided)
        found.append((step, _names(fields.get("tools"), f"turn_registry/{at}/tools")))
    return tuple(found)
