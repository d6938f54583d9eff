"""JSON values, looked at: `Any` becomes an object or a list, or it is neither; its leaves with their pointers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeGuard


def as_object(value: object) -> dict[str, Any] | None:
    """The value if it is a JSON object.

    >>> as_object({"a": 1}), as_object([1])
    ({'a': 1}, None)
    """
    return value if _is_object(value) else None


def as_list(value: object) -> list[Any] | None:
    """The value if it is a JSON list."""
    return value if _is_list(value) else None


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def same(one: object, other: object) -> bool:
    """Whether two JSON values are the same through and through; True is not 1, 1 is not 1.0.

    >>> same({"a": [1]}, {"a": [1]}), same([True], [1])
    (True, False)
    """
    if type(one) is not type(other):
        return False
    fields, others = as_object(one), as_object(other)
    if fields is not None and others is not None:
        return fields.keys() == others.keys() and all(same(fields[key], others[key]) for key in fields)
    items, them = as_list(one), as_list(other)
    if items is not None and them is not None:
        return len(items) == len(them) and all(same(a, b) for a, b in zip(items, them, strict=True))
    return one == other


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """The leaves of a JSON value with their JSON pointers (RFC 6901).

    >>> list(leaves({"a": [1, {"b/c": None}]}))
    [('/a/0', 1), ('/a/1/b~1c', None)]
    """
    if (fields := as_object(value)) is not None:
        for key, item in fields.items():
            step = str(key).replace("~", "~0").replace("/", "~1")
            yield from leaves(item, f"{pointer}/{step}")
    elif (items := as_list(value)) is not None:
        for place, item in enumerate(items):
            yield from leaves(item, f"{pointer}/{place}")
    else:
        yield pointer, value


def parsed(text: str) -> Any:
    """A result's JSON value; the text itself where it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
