"""JSON values, looked at: `Any` becomes an object or a list, or it is neither."""

from __future__ import annotations

from typing import Any, cast


def as_object(value: object) -> dict[str, Any] | None:
    """The value if it is a JSON object.

    >>> as_object({"a": 1}), as_object([1])
    ({'a': 1}, None)
    """
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


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
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        items, them = cast("list[object]", one), cast("list[object]", other)
        return len(items) == len(them) and all(same(a, b) for a, b in zip(items, them, strict=True))
    return one == other


def as_list(value: object) -> list[Any] | None:
    """The value if it is a JSON list."""
    if not isinstance(value, list):
        return None
    items: list[Any] = value
    return items
