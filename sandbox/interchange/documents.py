"""Bytes into a JSON value that every reader can rely on: strict JSON, no deeper than we walk, text without halves.

* text_of(data)   the text in UTF-8
* parsed(text)    the value, and what had to be mended in it

Both raise NoDocument, which says why there is none. They are two, so that nobody holds the bytes and the text at once.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from sandtrail.ledgers.findings import Finding

LONGEST = 64 * 2**20
"""The longest line that is read, in bytes."""
DEEPEST = 150
"""How deep a document may be nested."""
_NESTING, _OBJECT = (dict, list), (dict,)
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


class NoDocument(ValueError):
    """Bytes that are no JSON document; the message says why, and what to do."""


def parsed(text: str) -> tuple[Any, tuple[Finding, ...]]:
    """The value in this text, and the flaw of text that was mended. Raises NoDocument, and nothing else.

    The last of two equal keys wins, as in most readers. Half a surrogate pair is no character: it is read as `?`.

    >>> parsed('{"a": NaN}')
    Traceback (most recent call last):
    sandtrail.sandbox.interchange.documents.NoDocument: NaN is no JSON
    """
    try:
        value = json.loads(text, parse_constant=_no_constant, parse_float=_number)
    except json.JSONDecodeError as error:
        raise NoDocument(f"invalid JSON at line {error.lineno} column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise NoDocument(_too_deep()) from None
    except NoDocument:
        raise
    except ValueError:  # Python itself reads no number of more than 4,300 digits
        raise NoDocument("a number of more than 4,300 digits; no tool writes one") from None
    if deeper_than(value, DEEPEST):
        raise NoDocument(_too_deep())
    return _mended(value) if _HALF.search(text) else (value, ())


def text_of(data: bytes) -> str:
    """The text in these bytes, without a byte order mark. Raises NoDocument."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        why = "it looks like UTF-16" if wide else f"byte {error.start + 1} is 0x{data[error.start]:02x}"
        raise NoDocument(f"no text in UTF-8 ({why}); save it as JSON in UTF-8") from None


def _too_deep() -> str:
    return f"nested more than {DEEPEST} deep; no transcript is"


def _no_constant(name: str) -> Any:
    raise NoDocument(f"{name} is no JSON")


def _number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NoDocument(f"the number {text[:20]} is too large to be kept")
    return number


def deeper_than(value: object, depth: int) -> bool:
    """Whether a JSON value is nested deeper than this.

    >>> deeper_than([[1]], 1), deeper_than([[1]], 2)
    (True, False)
    """
    level: list[Any] = [value] if type(value) in _NESTING else []
    for _ in range(depth):
        if not level:
            return False
        level = [item for node in level for item in _inside(node) if type(item) in _NESTING]
    return bool(level)


def _inside(node: Any) -> Iterable[Any]:
    items: Iterable[Any] = node.values() if type(node) in _OBJECT else node
    return items


def _mended(value: Any) -> tuple[Any, tuple[Finding, ...]]:
    """The value with its half characters replaced, if there are any: an escape may as well be a whole pair."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        reason = "half of a surrogate pair, which is no character, stands in a text; it is read as ?"
        return json.loads(text.encode("utf-8", "replace")), (Finding("wire.unreadable", "", reason),)
    return value, ()
