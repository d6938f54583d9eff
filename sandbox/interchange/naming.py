"""What the runs of a source are called: unique, and in the file's own words."""

from __future__ import annotations

from sandtrail.sandbox.interchange.loose import label
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.telling import flaw


class Names:
    """The names given so far, each behind the name of the source.

    >>> names = Names("runs.json")
    >>> names.of("s1"), names.of("s1"), names.of("")
    ('runs.json/s1', 'runs.json/s1 (2)', 'runs.json')
    """

    def __init__(self, source: str) -> None:
        self._source = source
        self._given: dict[str, int] = {}

    def of(self, own: object) -> str:
        """The name of a run that calls itself so."""
        word = label(own)
        base = "/".join(part for part in (self._source, word) if part) or "run"
        count = self._given[base] = self._given.get(base, 0) + 1
        return base if count == 1 else self.of(f"{word} ({count})".strip())


def unreadable(names: Names, format: str, place: str, reason: str) -> Recording:  # noqa: A002  the field's word
    """A run of which nothing can be read."""
    return Recording(names.of(""), format, place, flaws=(flaw("wire.unreadable", place or "/", reason),))
