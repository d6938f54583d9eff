"""The trail of a run in a terminal: 80 columns, symbols for ids, colour that says the same as the words."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sandtrail.ledgers import Attempt, Outcome, Overall, Page, Severity
from sandtrail.ledgers.conversation import Answered, Decided, Reply, UserSaid
from sandtrail.ledgers.money import DECIMALS, amount_text
from sandtrail.ledgers.sources import Source, sources
from sandtrail.sandbox.runner import Result

WIDTH = 80
_TOOL, _ARGUMENT = 17, 26
_STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.MAJOR: "red",
    Severity.MINOR: "yellow",
    Severity.WARNING: "yellow",
    Severity.INFO: "dim",
}
_WORDS = {
    Overall.PASS: ("PASS", "bold green"),
    Overall.WARN: ("WARN", "bold yellow"),
    Overall.FAIL: ("FAIL", "bold red"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of output and its style (empty: plain)."""

    text: str
    style: str = ""


def clean(text: str) -> str:
    """Untrusted text made safe to print: control characters, terminal escapes and direction marks are spelled out.

    >>> clean("red \\x1b[31m!")
    'red \\\\x1b[31m!'
    """
    return "".join(
        _spelled(char) if unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"} else char
        for char in text
    )


def _spelled(char: str) -> str:
    return " " if char in "\n\t" else char.encode("unicode_escape").decode()


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "call"), counted(2, "call")
    ('1 call', '2 calls')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


LEGEND = "columns: tool, arguments, outcome, where the value stood · + added ~ changed"


def trail(result: Result) -> Iterator[Line]:
    """All lines of one run: head, conversation with calls and row changes, findings, foot."""
    run = result.trajectory
    word, style = _WORDS.get(result.overall, (result.overall.upper(), "bold magenta"))
    worst = f"  {_meaning(result)}" if result.findings else ""
    yield Line(_cut(f"{run.scenario:<40}{word}{worst}"), style)
    calls = len(run.answers)
    yield Line(f"  {run.agent} · seed {run.seed} · {counted(run.turns, 'turn')} · {counted(calls, 'call')}")
    yield Line("")
    yield from _steps(result)
    yield Line("")
    for finding in result.findings:
        text = clean(f"{finding.severity} {finding.code}  at {finding.at}: {finding.reason}")
        yield from _wrapped(text, "  ", " " * 11, _STYLES[finding.severity])
    yield from _wrapped(_foot(result), "  ", "  ", "")
    if result.findings:
        yield from _again(result)


def _again(result: Result) -> Iterator[Line]:
    """The command that repeats the run, ids included; on a line of its own where it is long."""
    run = result.trajectory
    command = f"sandtrail run {run.scenario} --agent {run.agent}"
    command += f" --seed {run.seed}"
    command += f" --repetition {run.repetition}" if run.repetition > 1 else ""
    lines = ["again:", command] if len(command) > WIDTH - 9 else [f"again: {command}"]
    for line in lines:
        yield Line(f"  {line}" if len(line) < WIDTH - 2 else line, "dim")


def _meaning(result: Result) -> str:
    return result.findings[0].code


def _steps(result: Result) -> Iterator[Line]:
    run = result.trajectory
    pages = {page.attempt.seq: page for page in run.ledger.pages if page.attempt}
    number = 0
    for message in run.conversation:
        if isinstance(message, UserSaid):
            yield from _wrapped(clean(run.ledger.projection.text(message.text)), "  user   ", " " * 9, "cyan")
        elif isinstance(message, Decided):
            if isinstance(message.decision, Reply):
                yield from _wrapped(
                    clean(run.ledger.projection.text(message.decision.text)), "  agent  ", " " * 9, "cyan"
                )
        else:
            number += 1
            yield from _call(result, message, number, pages[message.attempt])


def _call(result: Result, message: Answered, number: int, page: Page) -> Iterator[Line]:
    """A call: an argument a line, each with where its value stood before; then what the rows did."""
    run, attempt = result.trajectory, page.attempt
    assert attempt is not None, "a call has an attempt"
    style = (
        ""
        if attempt.outcome in {Outcome.OK, Outcome.REPLAYED} and attempt.delivery == "delivered"
        else "yellow"
    )
    head, state = f"{number:>2} {clean(message.call.tool)}", _state(attempt)
    shown = [
        (f"{clean(name)}={_value(run.ledger.projection.value(value))}", value)
        for name, value in message.call.arguments.items()
    ]
    if len(head) > _TOOL:
        yield Line(_cut(head), style)
        head = ""
    parent = ""
    for place, (text, value) in enumerate(shown or [("", None)]):
        came = sources(value, run.conversation, number) if shown else ()
        source = next((one for one in came if _parent(one) == parent), came[0] if came else None)
        parent = parent or (_parent(source) if source else "")
        where = str(source) if source else "not seen before" if shown else ""
        first = f"{head if place == 0 else '':<{_TOOL}} {_cut(text, _ARGUMENT):<{_ARGUMENT}}"
        yield Line(_cut(f"{first} {state if place == 0 else '':<8} {where}"), style)
    for line in _rows(page):
        yield Line(_cut(f"     {line}"), "magenta")


def _parent(source: Source) -> str:
    """The call and the object a value stood in: values of one object are shown from there."""
    return f"{source.call}{(source.pointer or '').rpartition('/')[0]}"


def _state(attempt: Attempt) -> str:
    if attempt.delivery == "lost":
        return f"{attempt.outcome}, lost" if attempt.outcome is Outcome.OK else "lost"
    return "fault" if attempt.outcome is Outcome.NOT_APPLIED else str(attempt.outcome)


def _value(value: Any) -> str:
    return clean(str(value))


def _rows(page: Page) -> Iterator[str]:
    """The effects with amounts as people write them, then the rows that were there before; what was added is counted."""
    for effect in page.effects:
        facts = dict(effect.facts)
        amount, currency = facts.get("amount"), facts.get("currency")
        if isinstance(amount, int) and isinstance(currency, str) and currency in DECIMALS:
            facts["amount"] = amount_text(amount, facts.pop("currency"))
        said = "  ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
        yield clean(f"+ {effect.name}{' (leaves the world)' if effect.external else ''}  {said}")
    for change in page.business:
        if change.old is not None:
            yield clean(str(change))
    added = [change for change in page.business if change.old is None]
    if added:
        counts = {table: len(list(group)) for table, group in groupby(added, key=lambda change: change.table)}
        yield "+ new rows: " + ", ".join(f"{table} {count}" for table, count in counts.items())


def _foot(result: Result) -> str:
    ledger = result.trajectory.ledger
    services = sorted({fact.service for fact in ledger.tables.values() if fact.business})
    same = [service for service in services if ledger.unchanged(service)]
    unchanged = "everything" if same == services else ", ".join(same) or "nothing"
    blocked = len(ledger.attempts(outcome=Outcome.BLOCKED))
    return (
        f"unexpected writes {result.unexpected_writes} · unchanged: {unchanged} · blocked requests {blocked}"
    )


def _wrapped(text: str, first: str, rest: str, style: str) -> Iterator[Line]:
    for line in textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    ) or [first]:
        yield Line(line, style)


def _cut(text: str, width: int = WIDTH) -> str:
    text = text.rstrip()
    return text if len(text) <= width else f"{text[: width - 1]}…"
