"""What model providers were sent and answered, word for word: only when asked for, in a file of its own.

    PayloadLog.open(path)   to append to           payloads(path)   what a log holds

A line for each HTTP request: run, scenario, repetition, and the payload (`request`, `status`, `response`). No headers.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sandtrail.sandbox.places import BadStore, private_file
from sandtrail.sandbox.redaction import redacted


class PayloadLog:
    """Payloads as JSON lines in a gzip file, for its owner alone, without what looks like a key.

    Each payload is a member of its own, written at once: several threads and processes may append, and a process that
    is killed costs at most the payload that it was writing. `written` counts them. Where one cannot be written, the run
    goes on, and `failure` says why the log lacks something.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path, self.written, self.failure = path, 0, ""
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: str | Path) -> PayloadLog:
        """The log at a path, to append to. Raises BadStore."""
        try:
            private_file(Path(path))
            return cls(Path(path), os.open(path, os.O_WRONLY | os.O_APPEND))
        except (OSError, ValueError) as error:
            if isinstance(error, BadStore):
                raise
            said = getattr(error, "strerror", None) or str(error)
            raise BadStore(f"{path}: {said}; name a file in a place that you may write") from None

    def write(self, run: str, scenario: str, repetition: int, payload: Mapping[str, Any]) -> None:
        """Append one payload of a trial: whatever JSON can hold; what it cannot is kept as its text."""
        line = {"run": run, "scenario": scenario, "repetition": repetition, "payload": payload}
        member = gzip.compress(redacted(json.dumps(line, default=repr)).encode() + b"\n")
        try:
            whole = os.write(self._descriptor, member) == len(member)
        except OSError as error:
            self.failure = self.failure or str(error.strerror)
            return
        self.written += whole
        if not whole:
            self.failure = self.failure or "there is no room for all of it"

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)


def payloads(path: str | Path) -> Iterator[dict[str, Any]]:
    """What a log holds, in the order of writing, without what was cut off. Raises BadStore where there is no file."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadStore(f"{path}: {error.strerror}; name a log of payloads") from None
    at = 0
    while (at := data.find(b"\x1f\x8b\x08", at)) >= 0:  # how a member begins
        text, size = _member(data, at)
        if text:
            yield json.loads(text)
        at += size


def _member(data: bytes, at: int) -> tuple[bytes, int]:
    """The member that begins here, and its size; of one that was cut off nothing, and a step to look on from."""
    member, text, end = zlib.decompressobj(wbits=31), bytearray(), at
    try:
        while not member.eof and end < len(data):
            text += member.decompress(data[end : end + 2**16])
            end = min(end + 2**16, len(data))
    except zlib.error:
        return b"", 1
    return (bytes(text), end - len(member.unused_data) - at) if member.eof else (b"", 1)
