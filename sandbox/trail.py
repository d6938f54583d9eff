"""The trail of a run in a terminal: 80 columns, symbols for ids, colour that says the same as the words."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, assert_never

from sandtrail.ledgers import Attempt, Finding, Grade, Outcome, Overall, Page, Severity
from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Decision,
    Malformed,
    Refused,
    Reply,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.money import DECIMALS, amount_text
from sandtrail.ledgers.provenance import Traced, Verdict
from sandtrail.ledgers.records import Fact, FactKind
from sandtrail.ledgers.specs import Form
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox.runner import Result

WIDTH = 80
_TOOL, _ARGUMENT = 17, 26
STYLES = {
    Severity.CRITICAL: "bold red",
    Severity.MAJOR: "red",
    Severity.MINOR: "yellow",
    Severity.WARNING: "yellow",
    Severity.INFO: "dim",
}
WORDS = {
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


def trail(result: Result, agent: str = "", *, repeat: str = "", more: str = "") -> Iterator[Line]:
    """All lines of one run: head, conversation with calls and row changes, findings, foot.

    `agent` is its name on the command line, `more` the other options; `repeat` is the line that repeats the run, where
    that is another command.
    """
    run = result.trajectory
    word, style = WORDS.get(result.overall, (result.overall.upper(), "bold magenta"))
    worst = f"  {result.findings[0].code}" if result.findings else ""
    yield Line(cut(f"{padded(run.scenario, 40)}{word}{worst}"), style)
    counts = f"seed {run.seed} · {counted(run.turns, 'turn')} · {counted(len(run.answers), 'call')}"
    yield Line(f"  {cut(run.agent, WIDTH - 5 - len(counts))} · {counts}")
    yield Line("")
    yield from steps(run, result.origins)
    yield Line("")
    yield from told(result.findings)
    yield from wrapped(_foot(result), "  ", "  ", "")
    if result.findings:
        yield from _repeated(repeat) if repeat else again(result, agent or run.agent, more)


def again(result: Result, agent: str, more: str = "") -> Iterator[Line]:
    """The command that repeats a run, ids included; on a line of its own where it is long. `more` are other options."""
    run, scenario = result.trajectory, result.scenario
    place = scenario.place("scenario").file
    named = place if "/" in place or _is_file(place) else run.scenario
    command = f"sandtrail run {shlex.quote(named)}"
    if scenario.first_only:
        command += f" --sample-id {shlex.quote(run.scenario)}"
        command += f" --catalog {shlex.quote(scenario.offer.catalog)}" if scenario.offer.catalog else ""
    command += "" if agent == "lexical" else f" --agent {shlex.quote(agent)}"
    command += f"{more} --seed {run.seed}"
    command += f" --repetition {run.repetition}" if run.repetition > 1 else ""
    yield from _repeated(command)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # no file can have this name
        return False


def _repeated(command: str) -> Iterator[Line]:
    command = clean(command)
    if len(command) > WIDTH - 9:
        yield Line("  again:", "dim")
        yield Line(f"  {command}" if len(command) < WIDTH - 2 else command, "dim")
    else:
        yield Line(f"  again: {command}", "dim")


def told(findings: Iterable[Finding]) -> Iterator[Line]:
    """Findings in words, each in the colour of its severity."""
    for finding in findings:
        text = f"{finding.severity} {finding.code}  at {finding.at}: {finding.reason}"
        yield from wrapped(text, "  ", " " * 11, STYLES[finding.severity])


def steps(run: Trajectory, origins: Iterable[Traced]) -> Iterator[Line]:
    """The conversation with its calls, each argument with its origin, and what the rows did."""
    pages = {page.attempt.seq: page for page in run.ledger.pages if page.attempt}
    numbers = {id(made.answered): made.number for made in run.made if made.answered is not None}
    traced: dict[int, list[Traced]] = {}
    for one in origins:
        traced.setdefault(one.call, []).append(one)
    seen: set[int] = set()
    for message in run.conversation:
        match message:
            case Briefed():
                continue
            case UserSaid(text=text):
                yield from _said(run, "user   ", text)
            case Decided(decision=decision, forced=forced):
                yield from _decided(run, decision, "forced " if forced else "agent  ")
            case Answered():
                attempts = message.attempts or ((message.attempt,) if message.attempt else ())
                seen |= set(attempts)
                number = numbers.get(id(message), 0)
                booked = [pages[seq] for seq in attempts if seq in pages]
                yield from _call(run, message, number, booked, traced.get(number, ()))
    for seq, page in pages.items():
        if seq not in seen:
            yield from _alone(page)


def _said(run: Trajectory, who: str, text: str) -> Iterator[Line]:
    yield from wrapped(run.ledger.projection.text(text), f"  {who}", " " * 9, "cyan")


def _decided(run: Trajectory, decision: Decision, who: str) -> Iterator[Line]:
    match decision:
        case Reply(text=text) | Calls(text=text):
            if text or isinstance(decision, Reply):
                yield from _said(run, who, text)
        case Refused(text=text):
            yield from _said(run, who, f"(the model declined) {text}")
        case Truncated(text=text, calls=calls):
            cut_off = "".join(f" [{call.tool} {call.text}]" for call in calls)
            yield from _said(run, who, f"(cut at the limit of tokens) {text}{cut_off}")
        case Malformed(reason=reason):
            yield from _said(run, who, f"(no decision) {reason}")
        case _:
            assert_never(decision)


def _alone(page: Page) -> Iterator[Line]:
    """An attempt that no call of the conversation made: a black box's own request."""
    attempt = page.attempt
    assert attempt is not None, "a page of an attempt has one"
    shown = attempt.arguments if attempt.symbolic is None else attempt.symbolic
    name = padded(attempt.operation, max(_TOOL - 2, width(clean(attempt.operation)) + 1))
    text = f"   {name}{shown}"
    yield Line(cut(f"{padded(text, 65)}{_state(attempt)}"))
    for line in _rows(page):
        yield Line(cut(f"     {line}"), "magenta")


def _call(
    run: Trajectory, message: Answered, number: int, pages: list[Page], traced: Sequence[Traced]
) -> Iterator[Line]:
    """A call: an argument a line, each with where its value came from; then what the rows did."""
    attempt = pages[0].attempt if pages else None
    recorded = attempt is not None and attempt.path != "transcript"
    state = (
        _state(attempt)
        if attempt and recorded
        else ("error" if message.is_error else _UNKEPT[run.ledger.grade])
    )
    style = "" if state in {"ok", "replayed", "canned", "told"} else "yellow"
    head = f"{number:>2} {clean(message.call.tool)}"
    shown = list(_arguments(run, message, traced)) or [("", "", "")]
    if width(head) > _TOOL:
        yield Line(cut(head), style)
        head = ""
    for place, (text, where, colour) in enumerate(shown):
        first = f"{padded(head if place == 0 else '', _TOOL + 1)}{padded(text, _ARGUMENT + 1)}"
        yield Line(cut(f"{first}{state if place == 0 else '':<8} {where}"), colour or style)
    for page in pages if recorded else ():
        for line in _rows(page):
            yield Line(cut(f"     {line}"), "magenta")


_UNKEPT = {Grade.PROVED: "canned", Grade.REPORTED: "canned", Grade.CLAIMED: "told", Grade.UNSEEN: "told"}
"""The outcome of a call that no books hold: a canned reply, or only what a transcript tells."""


def _arguments(
    run: Trajectory, message: Answered, traced: Sequence[Traced]
) -> Iterator[tuple[str, str, str]]:
    """Each argument, in words where its value came from, and the colour of that."""
    if message.call.flaw:
        yield clean(message.call.text), "", ""
        return
    given = [one for one in traced if one.verdict is not Verdict.OMITTED]
    parent = ""
    for one in given:
        source = next(
            (fact for fact in one.sources if _parent(fact) == parent), next(iter(one.sources), None)
        )
        parent = parent or (_parent(source) if source is not None else "")
        yield f"{clean(one.name)}={_value(one.shown)}", _whence(one, source), "" if one.grounded else "red"
    if not given:
        for name, value in message.call.arguments.items():
            yield f"{clean(name)}={_value(run.ledger.projection.value(value))}", "", ""


def _whence(traced: Traced, source: Fact | None) -> str:
    """Where a value came from, as short as a column needs it."""
    if not traced.grounded:
        return str(traced.verdict).replace("_", " ")
    if traced.verdict is Verdict.NORMALISED and traced.slot.form is Form.MONEY and traced.said_by_user():
        said = next(fact for fact in traced.sources if fact.kind is FactKind.USER)
        return f"said as {amount_in(said)}"
    if traced.verdict in {Verdict.EXACT, Verdict.NORMALISED, Verdict.USER_UNKNOWN} and source is not None:
        return str(source)
    if traced.verdict is Verdict.DERIVED:
        return traced.why
    return _SHORT.get(traced.verdict, str(traced.verdict).replace("_", " "))


def amount_in(said: Fact) -> str:
    """An amount as the user wrote it, with its currency."""
    text = said.text.raw if said.text else str(said.value)
    found = re.search(
        rf"(?:[A-Z]{{3}} ?|[$€£¥₹₩] ?)?{re.escape(str(said.value))}(?: ?(?:[A-Z]{{3}}\b|[$€£¥₹₩]))?", text
    )
    return found[0] if found else str(said.value)


_SHORT = {
    Verdict.ENUM: "of the schema's list",
    Verdict.DEFAULT: "the schema's default",
    Verdict.PARTIAL: "its own words",
}


def _parent(source: Fact) -> str:
    """The call and the object a value stood in: values of one object are shown from there."""
    return f"{source.call}{source.pointer.rpartition('/')[0]}"


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


def wrapped(text: str, first: str, rest: str, style: str) -> Iterator[Line]:
    """An untrusted text over as many lines as it takes, indented; a word that is too long for a line is broken."""
    line, empty = first, True
    for blanks, word in re.findall(r"( *)([^ ]+)", clean(text)):
        if not empty and width(line) + len(blanks) + width(word) > WIDTH:
            yield Line(line, style)
            line, empty = rest, True
        line, empty = line + ("" if empty else blanks) + word, False
        while width(line) > WIDTH:
            part = _upto(line, WIDTH)
            yield Line(part, style)
            line = rest + line[len(part) :]
    yield Line(line, style)


def cut(text: str, columns: int = WIDTH) -> str:
    """An untrusted text of at most so many columns; what is cut off is marked.

    >>> cut("refund-the-second-charge", 10)
    'refund-th…'
    """
    text = clean(text).rstrip()
    return text if width(text) <= columns else f"{_upto(text, columns - 1)}…"


def padded(text: str, columns: int) -> str:
    """An untrusted text of exactly so many columns, at least one of them blank.

    >>> padded("get_order", 12), padded("注文", 8)
    ('get_order   ', '注文    ')
    """
    shown = cut(text, columns - 1)
    return shown + " " * (columns - width(shown))


def width(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters two, combining marks none.

    >>> width("order"), width("注文"), width("é"), width("e\u0301")
    (5, 4, 1, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(char: str) -> int:
    if char == "\ufe0f":  # it makes the character before it a wide one
        return 1
    if unicodedata.category(char) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def _upto(text: str, columns: int) -> str:
    """As much of a text's beginning as so many columns hold."""
    taken = 0
    for place, char in enumerate(text):
        taken += _columns(char)
        if taken > columns:
            return text[:place]
    return text
