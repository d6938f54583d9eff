"""Recordings out of files: found, streamed, read, and named. Nothing that stands in a file raises.

    recordings(paths, format=..., tools=...)   every run in these files, folders and globs

A `.jsonl` file is read line by line, in memory that one line bounds; any other file is one document. What cannot be
read is a recording too, with a flaw `wire.unreadable` at file:line, and the rest of the file is read all the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob, has_magic
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.interchange.detect import read_document, reader_of
from sandtrail.sandbox.interchange.documents import LONGEST, NoDocument, parsed, text_of
from sandtrail.sandbox.interchange.reading import unreadable
from sandtrail.sandbox.interchange.recording import Recording, Tool
from sandtrail.sandbox.interchange.tools import read_tools

_BY_LINE = (".jsonl", ".ndjson")
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class _Document:
    """What one document holds, or why it holds nothing; `line` is 0 where it is the whole file."""

    line: int
    value: Any = None
    fault: str = ""
    flaws: tuple[Finding, ...] = ()


def recordings(
    paths: str | Path | Iterable[str | Path],
    *,
    format: str | None = None,  # noqa: A002  the word of the whole package
    tools: str | Path | Sequence[Tool] | None = None,
) -> Iterator[Recording]:
    """Every run in these files, folders (their .json and .jsonl files, sorted) and globs, one after the other.

    `format` names what they are in (else it is found out for each document), `tools` the tools of runs that do not say
    what was offered: a file or what `read_tools` made of one. Ids are unique within one call. Raises UnknownFormat and
    BadTools at once; what is wrong with a transcript, a path that is not there included, is a flaw of a recording.
    """
    if format is not None:
        reader_of(format)
    beside = Path(tools) if isinstance(tools, str | Path) else None
    known = read_tools(beside) if beside is not None else tools
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    return _named(_all(given, format, beside), None if isinstance(known, str | Path | None) else tuple(known))


def _named(found: Iterator[Recording], tools: tuple[Tool, ...] | None) -> Iterator[Recording]:
    """Each recording under an id of its own, with the tools it lacks."""
    taken = set[str]()
    for one in found:
        id, number = one.id, 1  # noqa: A001  a recording has one
        while id in taken:
            number += 1
            id = f"{one.id}#{number}"  # noqa: A001
        taken.add(id)
        lacks = one.tools is None and tools is not None and one.saved is None
        yield replace(one, id=id, tools=tools if lacks else one.tools)


def _all(
    given: Sequence[str | Path],
    format: str | None,  # noqa: A002
    beside: Path | None,
) -> Iterator[Recording]:
    found = [(path, files(path, beside)) for path in given]
    stems = stems_of(file for _, several in found for file in several)
    for path, several in found:
        if not several:
            yield unreadable("unknown", str(path), _absent(path))
        for file in several:
            yield from _in_file(file, stems[file], format)


def _absent(path: str | Path) -> str:
    if _is_folder(path):
        return "the folder has no .json or .jsonl file; name the files, or another folder"
    if has_magic(str(path)):
        return "no file has such a name; put the pattern in quotes, and look where it begins"
    return "there is no such file; name a file, a folder, or a pattern in quotes"


def _is_folder(path: str | Path) -> bool:
    try:
        return Path(path).is_dir()
    except OSError:  # a name that is too long
        return False


def files(path: str | Path, beside: Path | None = None) -> tuple[Path, ...]:
    """The files of one given path, sorted; the file of tools beside them is none of them."""
    place = Path(path)
    try:
        if place.is_dir():
            inside = (file for file in place.rglob("*") if file.suffix in (".json", *_BY_LINE))
            found = sorted(file for file in inside if file.is_file())
        elif place.exists():
            return (place,)
        elif has_magic(str(path)):
            names = glob(str(path), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
            found = sorted(file for name in names if (file := Path(name)).is_file())
        else:
            return ()
    except (OSError, ValueError):  # a name that the system refuses: too long, or with a null byte
        return ()
    return tuple(file for file in found if beside is None or file.resolve() != beside.resolve())


def stems_of(paths: Iterable[Path]) -> dict[Path, str]:
    """What runs in a file are called: its name without the ending, and its folder where two have the same.

    >>> list(stems_of([Path("a/runs.json"), Path("b/runs.json"), Path("b/late.json")]).values())
    ['a/runs', 'b/runs', 'late']
    """
    distinct = list(dict.fromkeys(paths))
    count = Counter(path.stem for path in distinct)
    return {
        path: path.stem if count[path.stem] == 1 else f"{path.parent.name}/{path.stem}" for path in distinct
    }


# -- one file ----------------------------------------------------------------------------------------------


def _in_file(file: Path, stem: str, format: str | None) -> Iterator[Recording]:  # noqa: A002
    try:
        with file.open("rb") as opened:
            documents = _documents(file, opened)
            first = list(islice(documents, 2))
            for number, document in enumerate(chain(first, documents), start=1):
                name = stem if len(first) == 1 else f"{stem}{_own_name(document.value) or f'#{number}'}"
                yield from _in_document(document, name, str(file), format)
            if not first:
                yield unreadable("unknown", stem, "the file is empty", at=str(file), place=str(file))
    except OSError as error:
        reason = f"the file cannot be read: {error.strerror or error}"
        yield unreadable("unknown", stem, reason, at=str(file), place=str(file))


def _own_name(value: Any) -> str:
    """What a document calls itself, behind the name of its file."""
    fields = as_object(value) or {}
    for key in ("id", "run_id", "session_id", "thread_id", "trace_id"):
        name = fields.get(key)
        if isinstance(name, str) and 0 < len(name) <= 60 and name.isprintable():
            return f"/{name}"
    return ""


def _in_document(document: _Document, name: str, file: str, format: str | None) -> Iterator[Recording]:  # noqa: A002
    place = f"{file}:{document.line}" if document.line else file
    if document.fault:
        yield unreadable(format or "unknown", name, document.fault, at=place, place=place)
        return
    for one in read_document(document.value, name, format=format):
        inner = f"{place}#{one.place}" if one.place else place
        broken = tuple(replace(flaw, at=inner) for flaw in document.flaws) if one.saved is None else ()
        flaws = (*broken, *(_placed(flaw, one, inner) for flaw in one.flaws))
        yield replace(one, place=inner, flaws=flaws)


def _placed(flaw: Finding, one: Recording, place: str) -> Finding:
    """A flaw of a whole recording stands where the recording does."""
    return replace(flaw, at=place) if flaw.at in (one.id, one.place) else flaw


def _documents(file: Path, opened: BinaryIO) -> Iterator[_Document]:
    """The documents of a file. Endings are not believed: a pretty-printed document in a .jsonl file is one, too."""
    if file.suffix in _BY_LINE:
        if _begins_a_document(opened):
            yield from _whole(opened)
        else:
            yield from _by_line(opened)
        return
    whole = list(_whole(opened))
    if whole and whole[0].fault.endswith("Extra data"):
        opened.seek(0)
        yield from _by_line(opened)
    else:
        yield from whole


def _begins_a_document(opened: BinaryIO) -> bool:
    """Whether the first line opens what only a later one closes. Leaves the file at its start."""
    first = opened.readline(_CHUNK).strip()
    opened.seek(0)
    return first in (b"{", b"[", b"\xef\xbb\xbf{", b"\xef\xbb\xbf[")


def _whole(opened: BinaryIO) -> Iterator[_Document]:
    """The one document of a file; none where there is nothing in it."""
    found = _parsed(opened.read, 0)
    if found is not None:
        yield found


def _by_line(opened: BinaryIO) -> Iterator[_Document]:
    for number, line in enumerate(_lines(opened), start=1):
        if line is None:
            fault = f"a line of more than {LONGEST} bytes; it is left out: one line holds one run"
            yield _Document(number, fault=fault)
        elif (found := _parsed(partial(bytes, line), number)) is not None:
            yield found


def _lines(opened: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a file; None in place of one that is too long to be held."""
    while line := opened.readline(LONGEST + 1):
        if len(line) <= LONGEST or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = opened.readline(_CHUNK)  # let go of, piece by piece
        yield None


def _parsed(read: Callable[[], bytes], line: int) -> _Document | None:
    """The document in the bytes that are read, which are let go of before it is parsed; None where there is none."""
    try:
        text = text_of(read())
        if not text.strip():
            return None
        value, flaws = parsed(text)
    except NoDocument as error:
        return _Document(line, fault=str(error))
    return _Document(line, value, flaws=flaws)
