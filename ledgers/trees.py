"""JSON values, looked at: `Any` becomes an object or a list, or it is neither."""

from __future__ import annotations

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
