"""The books as JSONL: one line per page, each line hashed over the one before it.

    {"run", "n": 0, "prev": "", "head": {...tables, opening bindings...}, "hash"}
    {"run", "n": 1, "prev": <hash of line 0>, "page": {...}, "hash"}
    ...
    {"run", "n": k, "prev": <hash of line k-1>, "seal": {"pages": k - 1}, "hash"}

`hash` is SHA-256 over the line's own text up to `,"hash"`, closed by a brace. The chain shows accidents and careless
edits for what they are; somebody who recomputes every hash is caught only by comparing the seal.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.entries import Attempt, Change, Effect, Origin, Page, RowClaim
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import MoneyFact, TableFact
from sandtrail.ledgers.trees import as_object
from sandtrail.ledgers.words import Access, Delivery, Grade, OriginKind, Outcome

FORMAT = 1
_HASH = re.compile(r',"hash":"[0-9a-f]{64}"\}$')


class BadLedger(ValueError):
    """A file that is no ledger, or one whose chain does not hold. `findings` says where and how."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        super().__init__("; ".join(f"{finding.at}: {finding.reason}" for finding in findings))


def export(ledger: Ledger) -> Iterator[str]:
    """The ledger's lines, without line ends."""
    head = {
        "format": FORMAT,
        "tables": {name: asdict(fact) for name, fact in ledger.tables.items()},
        "bindings": [asdict(binding) for binding in ledger.bindings[: _opening(ledger)]],
    }
    bodies: list[dict[str, Any]] = [{"head": head}]
    bodies += [{"page": asdict(page)} for page in ledger.pages]
    bodies.append({"seal": {"pages": len(ledger.pages)}})
    prev = ""
    for n, body in enumerate(bodies):
        text = json.dumps({"run": ledger.run, "n": n, "prev": prev, **body}, separators=(",", ":"))
        prev = _digest(text)
        yield f'{text[:-1]},"hash":"{prev}"}}'


def _opening(ledger: Ledger) -> int:
    return len(ledger.bindings) - sum(len(page.bindings) for page in ledger.pages)


def verify(lines: Iterable[str]) -> tuple[Finding, ...]:
    """What is wrong with the lines of a saved ledger; empty where the chain holds.

    Tells apart a line that was altered, lines that are missing or out of order, lines of another ledger, and a
    file that ends early. A broken chain is described once, at the first line that is wrong for its own reason.
    """
    numbered = [(number, text.strip("\r\n")) for number, text in enumerate(lines, start=1) if text.strip()]
    return tuple(_walk(numbered))


def _walk(numbered: list[tuple[int, str]]) -> Iterator[Finding]:
    if not numbered:
        yield _tampered(1, "the file is empty")
        return
    places = {line["n"] for _, text in numbered if (line := _parsed(text)) is not None}
    run, prev, sealed = None, "", False
    for count, (number, text) in enumerate(numbered):
        line = _parsed(text)
        if line is None:
            is_last = number == numbered[-1][0]
            cut = "the file was cut here, or the line altered" if is_last else "it was altered"
            yield _tampered(number, f"this is no line of a ledger: {cut}")
            return
        run = line["run"] if run is None else run
        wrong = _wrong(line, text, run, prev, count, places, sealed=sealed)
        if wrong is not None:
            yield _tampered(number, wrong)
            return
        prev, sealed = line["hash"], "seal" in line
    if not sealed:
        yield _tampered(
            numbered[-1][0], f"the file ends early: {len(numbered)} line(s) stand, no seal closes them"
        )


def _wrong(
    line: Mapping[str, Any], text: str, run: str, prev: str, count: int, places: set[int], *, sealed: bool
) -> str | None:
    """What is wrong with one line that parses, given what stood before it."""
    if line["hash"] != _digest(_HASH.sub("}", text)):
        return "the line was altered: its hash does not fit its text"
    if line["run"] != run:
        return f"the line belongs to another ledger, {line['run']}; this one is {run}"
    if sealed:
        return "the ledger was sealed before this line"
    if line["n"] < count:
        return f"the line stands here a second time or out of order (n={line['n']}, expected {count})"
    if line["n"] > count:
        if count in places:
            return f"the line is out of order: n={count} belongs here, and stands later"
        missing = line["n"] - count
        return f"{missing} line{'s are' if missing > 1 else ' is'} missing before this one (n={line['n']}, expected {count})"
    if line["prev"] != prev:
        return "the line does not follow from the one before it"
    seal = as_object(line.get("seal"))
    if seal is not None and seal.get("pages") != count - 1:
        return f"the seal speaks of {seal.get('pages')} pages, {count - 1} stand before it"
    return None


def load(lines: Iterable[str], *, grade: Grade = Grade.PROVED) -> Ledger:
    """The ledger in these lines. Raises BadLedger where the chain does not hold."""
    held = list(lines)
    findings = verify(held)
    if findings:
        raise BadLedger(findings)
    head, *rest = (json.loads(text) for text in held if text.strip())
    try:
        if head["head"]["format"] != FORMAT:
            raise ValueError(f"format {head['head']['format']!r}")  # noqa: TRY301  one message for all of them
        tables = {name: _table_in(fact) for name, fact in head["head"]["tables"].items()}
        opening = tuple(Binding(**binding) for binding in head["head"]["bindings"])
        book = Book(head["run"], tables, opening)
        for line in rest[:-1]:
            book.append(_page_in(line["page"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"the chain holds, but the lines are no ledger of format {FORMAT}: {error}"
        raise BadLedger((_tampered(1, reason),)) from error
    return Ledger(book, grade=grade)


def _tampered(line: int, reason: str) -> Finding:
    return Finding("ledger.tampered", f"line {line}", reason)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    needed = {"run": str, "n": int, "prev": str, "hash": str}
    fields = as_object(line)
    fits = fields is not None and all(isinstance(fields.get(key), kind) for key, kind in needed.items())
    return fields if fits else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _page_in(page: Mapping[str, Any]) -> Page:
    attempt = page["attempt"]
    return Page(
        origin=Origin(OriginKind(page["origin"]["kind"]), page["origin"]["detail"]),
        attempt=None if attempt is None else _attempt_in(attempt),
        effects=tuple(_effect_in(effect) for effect in page["effects"]),
        changes=tuple(_change_in(change) for change in page["changes"]),
        bindings=tuple(Binding(**binding) for binding in page["bindings"]),
        at=page["at"],
        tampering=tuple(page["tampering"]),
        hole=page["hole"],
    )


def _attempt_in(values: Mapping[str, Any]) -> Attempt:
    words = {
        "access": Access(values["access"]),
        "outcome": Outcome(values["outcome"]),
        "delivery": Delivery(values["delivery"]),
    }
    return Attempt(**_merged(values, words))


def _effect_in(values: Mapping[str, Any]) -> Effect:
    return Effect(**_merged(values, {"rows": tuple(RowClaim(**row) for row in values["rows"])}))


def _change_in(values: Mapping[str, Any]) -> Change:
    sides = {side: None if values[side] is None else tuple(values[side]) for side in ("old", "new")}
    return Change(**_merged(values, {**sides, "columns": tuple(values["columns"])}))


def _table_in(values: Mapping[str, Any]) -> TableFact:
    money = tuple(MoneyFact(**fact) for fact in values["money"])
    return TableFact(**_merged(values, {"columns": tuple(values["columns"]), "money": money}))


def _merged(values: Mapping[str, Any], read: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values with those that had to be read as something."""
    return {**values, **read}
