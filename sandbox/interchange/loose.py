"""JSON values of foreign files, looked at without ever raising: however deep, long or odd they are."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object

TOO_DEEP = "(nested too deep to be written out)"
_AS_IT_IS = json.JSONEncoder(ensure_ascii=False)
_ORDERED = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
_LITERAL = 20_000
_DEPTH = 150


def text_of(value: object) -> str:
    """A text as it is, nothing for null, anything else as JSON.

    >>> text_of("a"), text_of(None), text_of({"a": [1]})
    ('a', '', '{"a": [1]}')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return _written(value, _AS_IT_IS)


def _written(value: object, encoder: json.JSONEncoder) -> str:
    try:
        return encoder.encode(value)
    except (ValueError, TypeError, RecursionError):
        return TOO_DEEP


def parsed(value: object) -> Any:
    """What a text holds if it is the JSON of an object, a list or a text; anything else as it is.

    >>> parsed('{"a": 1}'), parsed("12"), parsed("{oh"), parsed(None)
    ({'a': 1}, '12', '{oh', None)
    """
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def literal(text: str) -> str:
    """The JSON of a text that a recorder wrote as a Python dict; any other text as it is.

    >>> literal("{'order_id': 'o1', 'gift': None}"), literal("{order}")
    ('{"order_id": "o1", "gift": null}', '{order}')
    """
    brackets = sum(map(text.count, "([{-~"))
    if not text.lstrip().startswith("{") or len(text) > _LITERAL or brackets > _DEPTH:
        return text
    if isinstance(parsed(text), dict):
        return text
    try:
        fields = as_object(ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    written = TOO_DEEP if fields is None else text_of(fields)
    return text if written == TOO_DEEP else written


def canonical(raw: str | None) -> str:
    """Arguments written one way, for comparing: a text and the object it holds are the same."""
    value = parsed(raw or "")
    return "{}" if value in ("", None) else _written(value, _ORDERED)


def objects(value: object) -> Iterator[dict[str, Any]]:
    """The objects among the items of a list."""
    for item in as_list(value) or ():
        if (fields := as_object(item)) is not None:
            yield fields


def first(fields: Mapping[str, Any], *names: str) -> Any:
    """The first of these fields that is there and not null."""
    for name in names:
        if (found := fields.get(name)) is not None:
            return found
    return None


def label(value: object, limit: int = 120) -> str:
    """A name, an id or the beginning of a message: one line, not longer than the limit."""
    text = " ".join(text_of(value)[: limit * 2].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def whole(value: object) -> int | None:
    """The value if it is an integer; True is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(value: object) -> float:
    """A time as a number that orders it among others of its kind: a count of nanoseconds, or a date in ISO form.

    >>> moment("2026-05-01T08:00:01Z") > moment("2026-05-01T08:00:00.999Z"), moment("17"), moment(None)
    (True, 17, 0)
    """
    text = text_of(value)
    if "T" in text or "-" in text[1:]:
        digits = "".join(sign for sign in text.partition("+")[0] if sign.isascii() and sign.isdigit())
        text = digits[:26].ljust(26, "0")
    try:
        return int(text) if text.isascii() and text.isdigit() else float(text)
    except (ValueError, OverflowError):
        return 0
