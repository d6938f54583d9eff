"""What looks like a key is taken out of whatever is stored.

    redacted(text)          any text, also a JSON text: what is left is JSON as before
    redacted_line(line)     a saved trajectory: the chain of its ledger holds again over what is left

Each pattern names words that must stand in a text for it to be tried at all: searching for a word costs a hundredth
of trying a pattern, and nearly every text has none. A pattern matches inside JSON, and inside JSON that is a text in
JSON: quotes may be escaped, a line end is the two characters `\\n`, and no match runs across a quote.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from sandtrail.ledgers import jsonl
from sandtrail.ledgers.trees import as_list, as_object

MARK = "[redacted]"
_QUOTE = r"""\\*["']"""
_TOKEN = r"[A-Za-z0-9_\-./+~=%]"
_WORDS = (
    "api key", "access token", "refresh token", "auth token", "session token", "bearer token",
    "access key", "auth key", "client secret", "secret token", "secret key", "secret access key", "private key",
    "password",
)  # fmt: skip
_NAMES = tuple(words.replace(" ", between) for words in _WORDS for between in ("_", "-", " ", ""))
_NAME = rf"(?:{'|'.join(words.replace(' ', '[_ -]?') for words in _WORDS)})(?:[_-]id)?"


class _Secret(NamedTuple):
    """The words one of which must stand in the lower-case text, what to look for, and what stays of it."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]
    kept: str = MARK


def _begins(word: str) -> str:
    """The word where a word can begin: also after an escaped line end, whose letter is none of the text.

    The word stands first and is looked back over, since a pattern that begins with letters is searched for fast.
    """
    before = (r"(?<![A-Za-z0-9]", r"(?<=\\[nrtbf]", r"(?<=\\u[0-9A-Fa-f]{4}")
    return f"{word}(?:{'|'.join(f'{look}{word})' for look in before)})"


_SECRETS: Sequence[_Secret] = (
    _Secret(("sk-ant-",), re.compile(r"sk-ant-[A-Za-z0-9_-]{4,}")),
    _Secret(("sk-",), re.compile(_begins("sk-") + r"[A-Za-z0-9_-]{16,}")),
    _Secret(("akia", "asia"), re.compile(r"(?:AKIA|ASIA)[0-9A-Z]{16}")),
    _Secret(
        ("eyj",), re.compile(_begins("eyJ") + r"[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?")
    ),
    _Secret(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(r"gh[pousr]_[A-Za-z0-9]{20,}")),
    _Secret(("glpat-",), re.compile(r"glpat-[A-Za-z0-9_-]{16,}")),
    _Secret(("github_pat_",), re.compile(r"github_pat_[A-Za-z0-9_]{20,}")),
    _Secret(("xox",), re.compile(r"xox[abeoprs]-[A-Za-z0-9-]{10,}")),
    _Secret(("aiza",), re.compile(r"AIza[A-Za-z0-9_-]{30,}")),
    *(_Secret((word,), re.compile(_begins(word) + r"[A-Za-z0-9]{20,}")) for word in ("hf_", "gsk_", "xai-")),
    _Secret(
        ("private key-----",),
        re.compile(
            r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[^\"'\\-]|\\+[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
        ),
    ),
    _Secret(  # a token of a scheme is long, or has a digit: "bearer of news" stays
        ("bearer",),
        re.compile(rf"(bearer\s+)(?:{_TOKEN}{{20,}}|(?={_TOKEN}*\d){_TOKEN}{{6,}})", re.IGNORECASE),
        rf"\1{MARK}",
    ),
    _Secret(  # of another scheme, or of none
        ("authorization",),
        re.compile(
            rf"(authorization(?:{_QUOTE})?\s*[:=,]\s*(?:{_QUOTE})?)"
            rf"(?:(basic\s+|token\s+){_TOKEN}{{4,}}|(?={_TOKEN}*\d){_TOKEN}{{8,}})",
            re.IGNORECASE,
        ),
        rf"\1\2{MARK}",
    ),
    _Secret(("://",), re.compile(r"(://[^/\s:@\"'\\]*:)[^/\s@\"'\\]+(?=@)"), rf"\1{MARK}"),
)


def _named(between: str, value: str) -> re.Pattern[str]:
    return re.compile(rf"({between.replace('NAME', _NAME)}){value}", re.IGNORECASE)


_WHOLE = r"""(?!\[redacted\])[^"'\\\s]+"""
_NAMED: Sequence[re.Pattern[str]] = (
    _named(r"NAME\s*=\s*", rf"{_TOKEN}+"),
    # a value in quotes, after `:` or `=`; what follows in the list ["api_key", "order_id"] is none
    _named(rf"NAME(?:{_QUOTE})?\s*[:=]\s*{_QUOTE}", _WHOLE),
    # without quotes, after `:`, where prose can stand too: a key is long and has a digit
    _named(r"NAME\s*:\s*", rf"(?={_TOKEN}*\d){_TOKEN}{{8,}}"),
    # ["x-api-key", "..."], a header as a pair, and ["--api-key", "..."] or --api-key ..., an argument
    _named(rf"(?:x-|--)NAME(?:{_QUOTE}\s*,\s*{_QUOTE}|\s+(?:{_QUOTE})?)", _WHOLE),
)


def redacted(text: str) -> str:
    """The text without what looks like a key.

    >>> redacted("curl -H 'Authorization: Bearer abc123def456' --api-key sk-ant-api03-x1y2")
    "curl -H 'Authorization: Bearer [redacted]' --api-key [redacted]"
    >>> redacted("risk-free desk-lamps for the bearer of this note, idempotency_key=k1")
    'risk-free desk-lamps for the bearer of this note, idempotency_key=k1'
    """
    for _ in _SECRETS:  # where one is taken out, another that was glued to it can begin
        clean = _once(text)
        if clean == text:
            break
        text = clean
    return text


def _once(text: str) -> str:
    lowered = text.lower()
    for secret in _SECRETS:
        if any(word in lowered for word in secret.words):
            text = secret.pattern.sub(secret.kept, text)
    if any(name in lowered for name in _NAMES):
        for pattern in _NAMED:
            text = pattern.sub(rf"\1{MARK}", text)
    return text


def redacted_line(line: str) -> str:
    """A saved trajectory without what looks like a key, as a line that loads.

    The embedded ledger is hashed anew where something was taken out of it, unless its chain did not hold before: what
    was tampered with stays that.
    """
    clean = redacted(line)
    if clean == line:
        return line
    try:
        before, after = as_object(json.loads(line)), as_object(json.loads(clean))
    except (ValueError, RecursionError):
        return clean
    old, new = _lines(before), _lines(after)
    if before is None or after is None or old == new or jsonl.verify(old):
        return clean
    after["ledger"]["lines"] = _chained(new)
    return json.dumps(after, separators=(",", ":"))


def _lines(body: dict[str, object] | None) -> list[str]:
    ledger = as_object((body or {}).get("ledger")) or {}
    return [line for line in as_list(ledger.get("lines")) or () if isinstance(line, str)]


def _chained(lines: Sequence[str]) -> list[str]:
    """The lines of a ledger with every hash made anew."""
    made, prev = list[str](), ""
    for line in lines:
        body = json.loads(line)
        del body["hash"]
        text = json.dumps({**body, "prev": prev}, separators=(",", ":"))
        prev = hashlib.sha256(text.encode()).hexdigest()
        made.append(f'{text[:-1]},"hash":"{prev}"}}')
    return made
