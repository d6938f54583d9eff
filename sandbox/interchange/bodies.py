"""Failures that stand in the body of a result: many tools answer an error as if it were an answer."""

from __future__ import annotations

import json
import re

from sandtrail.ledgers.trees import as_object

_HINTS = ("error", "success", '"ok"')
_OPENING = re.compile(
    r"""\s* (?: (?:tool\ )?error (?:\ (?:executing|calling|invoking|running|while|in|code)\b [^:\n]{0,80} | \ \d{1,6})? \s* :
          | [a-z_.]{0,60} (?:error|exception) \s* [:(]
          | traceback\ \(most\ recent\ call\ last\) )""",
    re.VERBOSE | re.IGNORECASE,
)


def is_failure(text: str) -> bool:
    """Whether a result's text says that the call failed. What it says of entities is no failure: look at the top only.

    >>> is_failure('{"success": false}'), is_failure("Error: no such order"), is_failure('{"error": null}')
    (True, True, False)
    >>> is_failure('{"payment": {"status": "failed"}}'), is_failure("Error rate: 5 %")
    (False, False)
    """
    if not text.lstrip().startswith(("{", '"')):
        return _OPENING.match(text) is not None
    if not any(hint in text.lower() for hint in _HINTS):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if isinstance(value, str):
        return _OPENING.match(value) is not None
    fields = as_object(value) or {}
    return (
        any(fields.get(name) is False for name in ("success", "ok"))
        or any(fields.get(name) is True for name in ("is_error", "isError"))
        or any(fields.get(name) not in (None, False, "", 0, [], {}) for name in ("error", "errors"))
        or fields.get("status") == "error"
    )
