"""The books as JSONL: one line per page, each line hashed over the one before it.

    {"run", "n": 0, "prev": "", "head": {...tables, opening bindings...}, "hash"}
    {"run", "n": 1, "prev": <hash of line 0>, "page": {...}, "hash"}
    ...
    {"run", "n": k, "prev": <hash of line k-1>, "seal": {"pages": k - 1}, "hash"}

`hash` is SHA-256 over the line's sorted compact JSON without `hash`. The chain shows accidents and careless
edits for what they are; somebody who recomputes every hash is caught only by comparing the seal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.entries import Attempt, Change, Effect, Origin, Page, RowClaim
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import MoneyFact, TableFact
from sandtrail.ledgers.words import Access, Delivery, Grade, OriginKind, Outcome

FORMAT = 1


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
    bodies += [{"page": _page_out(page)} for page in ledger.pages]
    bodies.append({"seal": {"pages": len(ledger.pages)}})
    prev = ""
    for n, body in enumerate(bodies):
        line = {"run": ledger.run, "n": n, "prev": prev, **body}
        prev = _digest(line)
        yield _canonical({**line, "hash": prev})


def _opening(ledger: Ledger) -> int:
    return len(ledger.bindings) - sum(len(page.bindings) for page in ledger.pages)


def verify(lines: Iterable[str]) -> tuple[Finding, ...]:
    """What is wrong with the lines of a saved ledger; empty where the chain holds.

    Tells apart a line that was altered, lines that are missing, lines of another ledger, and a file that
    ends early. A broken chain is described once, at the first line that is wrong for its own reason.
    """
    return tuple(_walk(lines))


def _walk(lines: Iterable[str]) -> Iterator[Finding]:
    run, prev, count, sealed, number = None, "", 0, False, 0
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        line = _parsed(text)
        if line is None:
            yield _tampered(number, "this is no line of a ledger: it was altered, or the file was cut here")
            return
        if line["hash"] != _digest({key: value for key, value in line.items() if key != "hash"}):
            yield _tampered(number, "the line was altered: its hash does not fit its text")
            return
        run = line["run"] if run is None else run
        if line["run"] != run:
            yield _tampered(number, f"the line belongs to another ledger, {line['run']}; this one is {run}")
            return
        if sealed:
            yield _tampered(number, "the ledger was sealed before this line")
            return
        if line["n"] != count or line["prev"] != prev:
            yield _tampered(number, _gap(line["n"], count))
            return
        prev, count, sealed = line["hash"], count + 1, "seal" in line
    if number == 0:
        yield _tampered(1, "the file is empty")
    elif not sealed:
        yield _tampered(number, f"the file ends early: {count} lines stand, no seal closes them")


def _gap(found: int, expected: int) -> str:
    if found > expected:
        missing = found - expected
        return f"{missing} line{'s are' if missing > 1 else ' is'} missing before this one (n={found}, expected {expected})"
    if found < expected:
        return f"the line stands here a second time or out of order (n={found}, expected {expected})"
    return "the line does not follow from the one before it"


def load(lines: Iterable[str], *, grade: Grade = Grade.PROVED) -> Ledger:
    """The ledger in these lines. Raises BadLedger where the chain does not hold."""
    held = [text for text in lines if text.strip()]
    findings = verify(held)
    if findings:
        raise BadLedger(findings)
    head, *rest = (json.loads(text) for text in held)
    try:
        tables = {name: _table_in(fact) for name, fact in head["head"]["tables"].items()}
        opening = tuple(Binding(**binding) for binding in head["head"]["bindings"])
        book = Book(head["run"], tables, opening)
        for line in rest[:-1]:
            book.append(_page_in(line["page"]))
    except (KeyError, TypeError, ValueError) as error:
        raise BadLedger((_tampered(1, f"the chain holds, but the lines are no ledger of format {FORMAT}: {error}"),)) from error
    return Ledger(book, grade=grade)


def _tampered(line: int, reason: str) -> Finding:
    return Finding("ledger.tampered", f"line {line}", reason)


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        line = json.loads(text)
    except (ValueError, RecursionError):
        return None
    needed = {"run": str, "n": int, "prev": str, "hash": str}
    fits = isinstance(line, dict) and all(isinstance(line.get(key), kind) for key, kind in needed.items())  # pyright: ignore[reportUnknownMemberType]
    return line if fits else None  # pyright: ignore[reportUnknownVariableType]


def _canonical(value: Mapping[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _digest(value: Mapping[str, Any]) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()


def _page_out(page: Page) -> dict[str, Any]:
    return asdict(page)


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
    words = {"access": Access(values["access"]), "outcome": Outcome(values["outcome"]), "delivery": Delivery(values["delivery"])}
    return Attempt(**{**values, **words})


def _effect_in(values: Mapping[str, Any]) -> Effect:
    return Effect(**{**values, "rows": tuple(RowClaim(**row) for row in values["rows"])})


def _change_in(values: Mapping[str, Any]) -> Change:
    sides = {side: None if values[side] is None else tuple(values[side]) for side in ("old", "new")}
    return Change(**{**values, **sides, "columns": tuple(values["columns"])})


def _table_in(values: Mapping[str, Any]) -> TableFact:
    money = tuple(MoneyFact(**fact) for fact in values["money"])
    return TableFact(**{**values, "columns": tuple(values["columns"]), "money": money})
