"""Arguments as they arrive: raw JSON text, read strictly and never repaired in silence."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

from sandtrail.fakes.problems import Flaw, Invalid
from sandtrail.ledgers.trees import as_list, as_object

LARGEST = 1_000_000
"""The largest arguments that are read, in bytes."""

DEEPEST = 64
"""How deep arguments may nest."""

_SUSPECT = re.compile(r"\\u(?:0000|[dD][89a-fA-F])|[\x00\ud800-\udfff]")


def parse(text: str) -> dict[str, Any]:
    """The arguments in a JSON text.

    Raises Invalid (400, or 413 where it is too large) for what is not one JSON object without duplicate keys,
    NaN, NUL characters, lone surrogates or deep nesting.

    >>> parse('{"amount": 1, "amount": 2}')
    Traceback (most recent call last):
    sandtrail.fakes.problems.Invalid: json: the key 'amount' stands twice in one object
    """
    if len(text) * 4 > LARGEST and (size := len(text.encode("utf-8", "surrogatepass"))) > LARGEST:
        raise Invalid("too_large", f"the body has {size} bytes", allowed=f"at most {LARGEST}", status=413)
    try:
        value = _strict().decode(text)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise Invalid(
            "json", f"not JSON: {error.msg} at character {error.pos}", allowed="one JSON object", status=400
        ) from None
    except ValueError as error:  # an integer of thousands of digits
        raise Invalid("json", f"not readable: {str(error).split(':', maxsplit=1)[0]}", status=400) from None
    arguments = as_object(value)
    if arguments is None:
        raise Invalid(
            "json", f"a {type(value).__name__} is no set of arguments", allowed="one JSON object", status=400
        )
    if text.count("{") + text.count("[") > DEEPEST and _depth(arguments) > DEEPEST:
        raise _too_deep()
    if _SUSPECT.search(text):
        _refuse_characters(arguments, "")
    return arguments


@cache
def _strict() -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise Invalid(
            "json", f"the key {twice!r} stands twice in one object", allowed="each key once", status=400
        )
    return made


def _no_constant(name: str) -> Any:
    raise Invalid("json", f"{name} is no JSON number", status=400)


def _too_deep() -> Invalid:
    return Invalid("json", f"the arguments nest deeper than {DEEPEST} levels", status=400)


def _depth(value: Any) -> int:
    depth = 0
    level: list[Any] = [value]
    while level:
        depth += 1
        level = [item for node in level for item in _inside(node) if isinstance(item, dict | list)]
    return depth


def _inside(node: Any) -> list[Any]:
    fields = as_object(node)
    return list(fields.values()) if fields is not None else as_list(node) or []


def _refuse_characters(value: Any, pointer: str) -> None:
    """Raise Invalid at the first text with a NUL or a lone surrogate: no store keeps it as it was sent."""
    if (fields := as_object(value)) is not None:
        for key, item in fields.items():
            _refuse_characters(key, pointer)
            _refuse_characters(item, f"{pointer}/{key}")
    elif (items := as_list(value)) is not None:
        for place, item in enumerate(items):
            _refuse_characters(item, f"{pointer}/{place}")
    elif isinstance(value, str) and re.search(r"[\x00\ud800-\udfff]", value):
        what = "a NUL character" if "\x00" in value else "half a surrogate pair"
        flaw = Flaw(pointer.encode("ascii", "backslashreplace").decode(), f"the text holds {what}")
        raise Invalid("characters", f"{flaw.pointer}: {flaw.detail}", status=422, flaws=(flaw,))
