"""Which format a document is in, and the runs in it.

    recognised(value)                 the reader of a document, or None
    read_document(value, name, ...)   its runs: at least one recording, whatever the value is
    FORMATS                           the names that can be given

A reader is a module with three names:

    FORMAT: str                                         what the format is called
    recognises(value) -> bool                           is this parsed document of my shape? Cheap, never raises
    read(value, name) -> Iterator[Recording]            its runs; what is wrong in it is a flaw of a recording

The shapes of one file that holds many runs are tried first; plain messages are the last guess.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange import (
    anthropic,
    atif,
    envelope,
    inspect_logs,
    langchain,
    langfuse,
    openai_chat,
    otlp,
    own,
    responses,
    tau,
    tau2,
)
from sandtrail.sandbox.interchange.reading import kind_of, unreadable
from sandtrail.sandbox.interchange.recording import Recording

ALIASES = {"otel_genai": "otlp", "otel": "otlp", "openai_chat": "openai", "openai_responses": "responses"}
"""Other names of formats, as people and envelopes write them."""


class Reader(Protocol):
    """One format's module."""

    @property
    def FORMAT(self) -> str: ...  # noqa: N802  a module's constant

    def recognises(self, value: object) -> bool:
        """Whether a parsed document is of this format."""
        ...

    def read(self, value: object, name: str) -> Iterator[Recording]:
        """The runs in a document."""
        ...


READERS: tuple[Reader, ...] = (
    own,
    envelope,
    tau2,
    tau,
    atif,
    otlp,
    langfuse,
    inspect_logs,
    langchain,
    responses,
    anthropic,
    openai_chat,
)
FORMATS = tuple(reader.FORMAT for reader in READERS)


class UnknownFormat(ValueError):
    """A format that no reader has; `name` is what was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"format {name!r} is not known; there are {', '.join(sorted(FORMATS))}")


def reader_of(format: str) -> Reader:  # noqa: A002  the word of the whole package
    """The reader of a named format. Raises UnknownFormat.

    >>> reader_of("otel_genai") is reader_of("otlp") if "otlp" in FORMATS else True
    True
    """
    name = ALIASES.get(format, format)
    found = next((reader for reader in READERS if name == reader.FORMAT), None)
    if found is None:
        raise UnknownFormat(format)
    return found


def recognised(value: object) -> Reader | None:
    """The reader whose shape a document has.

    >>> found = recognised([{"role": "user", "content": "Hi."}])
    >>> found and found.FORMAT
    'openai'
    """
    return next((reader for reader in READERS if reader.recognises(value)), None)


def read_document(
    value: object,
    name: str,
    *,
    format: str | None = None,  # noqa: A002  the word of the whole package
) -> Iterator[Recording]:
    """The runs in a parsed document: one that is a run, or a list of such. `format` is named, or found out.

    >>> [one.flaws[0].reason for one in read_document({"rows": 3}, "x")]
    ['no transcript that is known: this looks like an object with rows']
    """
    found = _fitting(value, format)
    items = as_list(value)
    if found is not None:
        yield from _read(found, value, name)
    elif items and any(_fitting(item, format) for item in items):
        for index, item in enumerate(items):
            reader = _fitting(item, format)
            whole = f"{name}#{index + 1}" if len(items) > 1 else name
            runs = iter([_misfit(item, whole, format)]) if reader is None else _read(reader, item, whole)
            for one in runs:
                yield replace(one, place=f"/{index}{one.place}")
    else:
        yield _misfit(value, name, format)


def _fitting(value: object, format: str | None) -> Reader | None:  # noqa: A002
    """The reader that is named, or found; an envelope says itself what is in it."""
    if format is None:
        return recognised(value)
    reader = reader_of(format)
    if reader.recognises(value):
        return reader
    found = recognised(value)
    fields = as_object(value) or {}
    inner = ALIASES.get(str(fields.get("format")), str(fields.get("format")))
    return found if found is not None and found.FORMAT == "envelope" and inner == reader.FORMAT else None


def _read(reader: Reader, value: object, name: str) -> Iterator[Recording]:
    """What a reader reads, and at least one recording."""
    read = 0
    try:
        for one in reader.read(value, name):
            read += 1
            yield one
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Readers do not raise; should one do so all the same, the other runs are not lost with it.
        reason = f"the reader of {reader.FORMAT} failed on it ({type(error).__name__}: {error!s:.100})"
        yield unreadable(reader.FORMAT, f"{name}#{read + 1}" if read else name, reason)
        return
    if not read:
        yield unreadable(reader.FORMAT, name, f"it has the shape of {reader.FORMAT}, and no run in it")


def _misfit(value: object, name: str, format: str | None) -> Recording:  # noqa: A002
    """What is no transcript, or another one than was named."""
    looks = recognised(value)
    if format is not None:
        like = f"{looks.FORMAT}; leave the format out, or name that" if looks else kind_of(value)
        return unreadable(reader_of(format).FORMAT, name, f"no {format}: this looks like {like}")
    fields = as_object(value) or {}
    tool = as_object((as_list(fields.get("tools")) or as_list(value) or [None])[0]) or {}
    if tool.get("type") == "function" or "inputSchema" in tool or "input_schema" in tool:
        like = "definitions of tools; give them beside the transcripts (--tools FILE)"
    elif as_list(value) == [] or as_object(value) == {}:
        like = f"{kind_of(value)}; there is no run in it"
    elif isinstance(fields.get("role"), str):
        like = 'one message; a document holds a whole run: {"messages": [...]}'
    else:
        like = kind_of(value)
    return unreadable("unknown", name, f"no transcript that is known: this looks like {like}")
