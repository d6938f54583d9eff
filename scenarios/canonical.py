"""Canonical comparison of JSON values, and of rows by key.

equal, differences   True is not 1, "5" is not 5, 12 equals 12.0, integers are never compared as floats
row_differences      rows by key, cell by cell: two states that differ say where, which no hash can
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from sandtrail.scenarios.contract import Compare


class Absent:
    """Where one side has nothing at all, which is another thing than null."""

    def __repr__(self) -> str:
        return "nothing"


ABSENT = Absent()
"""Stands for a value that is not there."""


def equal(wanted: object, got: object, *, compare: Compare = Compare.EXACT) -> bool:
    """Whether two JSON values are the same value; `compare` loosens texts, and nothing else.

    Objects are compared by their keys, lists in their order, texts in NFC, numbers exactly (never as floats).

    >>> equal("c277", "C277"), equal("Ivo@x.test", "ivo@x.test", compare=Compare.CASEFOLD)
    (False, True)
    """
    return compare is Compare.IGNORED or _canonical(wanted, compare) == _canonical(got, compare)


def _canonical(value: object, compare: Compare) -> tuple[str, object]:
    """A value that is equal (and hashes alike) for equal JSON values only: its type stands beside it."""
    if isinstance(value, bool) or value is None or isinstance(value, Absent):
        return "word", repr(value)
    if isinstance(value, int | float | Decimal):
        number = _number(value)
        return ("number", number) if number.is_finite() else ("no number", str(number))
    if isinstance(value, str):
        return "text", _text(value, compare)
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return "object", frozenset(
            (_text(str(key), Compare.EXACT), _canonical(item, compare)) for key, item in fields.items()
        )
    if isinstance(value, list | tuple):
        return "list", tuple(_canonical(item, compare) for item in cast("Sequence[object]", value))
    raise TypeError(f"value={value!r} is no JSON value")


def _number(value: float | Decimal) -> Decimal:
    """The number as its JSON text says it: 0.1 is a tenth, and no integer is rounded."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def _text(text: str, compare: Compare) -> str:
    plain = unicodedata.normalize("NFC", text)
    if compare is Compare.EXACT:
        return plain
    folded = unicodedata.normalize("NFC", plain.casefold())
    return " ".join(folded.split()) if compare is Compare.NORMALISED else folded


@dataclass(frozen=True, slots=True)
class Difference:
    """One place (a JSON pointer) where two values are not the same; ABSENT where a side has nothing there."""

    pointer: str
    wanted: Any
    got: Any
    words: str

    def __str__(self) -> str:
        return self.words


def differences(wanted: object, got: object, *, compare: Compare = Compare.EXACT) -> tuple[Difference, ...]:
    """Every place where two JSON values differ, outermost first; empty just where they are equal.

    >>> [str(one) for one in differences({"on": True, "n": [1, 2]}, {"on": 1, "n": [1]})]
    ['/on: wanted true, got 1 (true or false against a number)', '/n/1: wanted 2, got nothing']
    """
    return () if equal(wanted, got, compare=compare) else tuple(walk(wanted, got, compare, ""))


def walk(wanted: object, got: object, compare: Compare, pointer: str) -> Iterator[Difference]:
    """The differences from a place on, each with its pointer."""
    sides = _parts(wanted), _parts(got)
    if sides[0] is None or sides[1] is None or _kind(wanted) != _kind(got):
        if not equal(wanted, got, compare=compare):
            yield Difference(pointer, wanted, got, _words(pointer, wanted, got))
        return
    ours, theirs = sides[0], sides[1]
    for name in [*ours, *(name for name in theirs if name not in ours)]:
        step = f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}"
        yield from walk(ours.get(name, ABSENT), theirs.get(name, ABSENT), compare, step)


def _parts(value: object) -> dict[str, object] | None:
    """The children of an object or a list by name or place; None for what has none."""
    if isinstance(value, Mapping):
        fields = cast("Mapping[object, object]", value)
        return {_text(str(key), Compare.EXACT): item for key, item in fields.items()}
    if isinstance(value, list | tuple):
        return {str(place): item for place, item in enumerate(cast("Sequence[object]", value))}
    return None


def _words(pointer: str, wanted: object, got: object) -> str:
    kinds = _kind(wanted), _kind(got)
    unlike = kinds[0] != kinds[1] and "nothing" not in kinds
    why = f" ({kinds[0]} against {kinds[1]})" if unlike else ""
    return f"{pointer or 'the whole'}: wanted {shown(wanted)}, got {shown(got)}{why}"


def _kind(value: object) -> str:
    if value is None or isinstance(value, Absent):
        return "null" if value is None else "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, Mapping):
        return "an object"
    return "a list" if isinstance(value, list | tuple) else "a number"


def shown(value: object) -> str:
    """A JSON value as its text, or the word nothing."""
    return "nothing" if isinstance(value, Absent) else json.dumps(value, ensure_ascii=False, default=str)


# -- rows --------------------------------------------------------------------------------------------------


def row_differences(
    wanted: Mapping[str, Mapping[str, Any]], got: Mapping[str, Mapping[str, Any]]
) -> tuple[Difference, ...]:
    """The cells in which two sets of keyed rows differ; a row that is on one side only is one difference.

    >>> [str(one) for one in row_differences({"$order.a": {"status": "open"}}, {"$order.a": {"status": "closed"}})]
    ['row $order.a: /status: wanted "open", got "closed"']
    """
    found: list[Difference] = []
    for key in [*wanted, *(key for key in got if key not in wanted)]:
        if key not in got:
            found.append(Difference(f"/{key}", wanted[key], ABSENT, f"row {key}: wanted, and not there"))
        elif key not in wanted:
            found.append(Difference(f"/{key}", ABSENT, got[key], f"row {key}: there, and not wanted"))
        else:
            found += [
                Difference(f"/{key}{one.pointer}", one.wanted, one.got, f"row {key}: {one.words}")
                for one in differences(wanted[key], got[key])
            ]
    return tuple(found)
