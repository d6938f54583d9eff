"""`sandtrail audit`: transcripts that someone else recorded, judged; a table, one page for a run, or JSON."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sandtrail.ledgers import Overall
from sandtrail.ledgers.provenance import Verdict
from sandtrail.sandbox.auditing import AuditedRun, audited, is_named
from sandtrail.sandbox.cli import EXIT_CODES, UsageError, print_lines
from sandtrail.sandbox.interchange.sources import recordings
from sandtrail.sandbox.interchange.tools import BadTools
from sandtrail.sandbox.redaction import redacted
from sandtrail.sandbox.summary import OTHERS
from sandtrail.sandbox.trail import STYLES, WORDS, Line, counted, cut, padded, steps, told, wrapped

MOST_ROWS = 60
"""So many runs stand in the table; passing ones beyond it are only counted."""

UNJUDGED = frozenset({Overall.INVALID_INPUT, Overall.HARNESS_FAULT, Overall.NOT_EVALUABLE})
"""Verdicts that say nothing of the agent: the table says why."""

_SHOWN, _LONGEST = 5, 400
_WORST = (
    Overall.FAIL,
    Overall.INVALID_INPUT,
    Overall.HARNESS_FAULT,
    Overall.INCONCLUSIVE,
    Overall.NOT_EVALUABLE,
    Overall.WARN,
    Overall.PASS,
)


@dataclass(frozen=True, slots=True)
class Row:
    """What the table and the totals need of one run: nothing that grows with its length."""

    id: str
    overall: Overall
    rank: int
    worst: str
    calls: int
    arguments: int
    ungrounded: int
    reason: str = ""


@dataclass
class Totals:
    """What is counted over all runs, as they are read."""

    rows: list[Row] = field(default_factory=list[Row])
    origins: Counter[str] = field(default_factory=Counter[str])
    codes: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])
    formats: Counter[str] = field(default_factory=Counter[str])
    grades: Counter[str] = field(default_factory=Counter[str])

    def add(self, run: AuditedRun) -> None:
        """Count one more run."""
        given = [one for one in run.origins if one.verdict is not Verdict.OMITTED]
        self.origins.update(str(one.verdict) for one in given)
        self.codes.update((one.severity.rank, one.code) for one in run.findings)
        self.formats[run.recording.format] += 1
        if run.trajectory is not None:
            self.grades[str(run.grade)] += 1
        worst = run.findings[0] if run.findings else None
        said = worst.code if worst else ""
        calls = len(run.trajectory.made) if run.trajectory else 0
        ungrounded = sum(not one.grounded for one in given)
        rank = worst.severity.rank if worst else -1
        reason = redacted(str(worst))[:_LONGEST] if worst is not None and run.overall in UNJUDGED else ""
        self.rows.append(Row(run.id, run.overall, rank, said, calls, len(given), ungrounded, reason))

    @property
    def code(self) -> int:
        """The exit code: that of the worst verdict that decides anything."""
        verdicts = Counter(row.overall for row in self.rows)
        for overall in (Overall.FAIL, Overall.INVALID_INPUT, Overall.HARNESS_FAULT):
            if verdicts[overall]:
                return EXIT_CODES[overall]
        return 0 if verdicts[Overall.PASS] + verdicts[Overall.WARN] else 4


def audit_command(options: argparse.Namespace) -> int:
    """Judge transcripts that someone else recorded."""
    try:
        runs = map(audited, recordings(options.files, format=options.format, tools=options.tools))
        if options.run is not None:
            return _page(runs, options)
        return _json(runs) if options.json else _table(runs, options)
    except (BadTools, FileNotFoundError, ValueError) as error:
        raise UsageError(str(error)) from None


# -- JSON ----------------------------------------------------------------------------------------------------


def _json(runs: Iterable[AuditedRun]) -> int:
    """One object, written run by run: a large file needs no more room than its largest run."""
    totals = Totals()
    sys.stdout.write('{"runs": [')
    for number, run in enumerate(runs):
        totals.add(run)
        sys.stdout.write(("," if number else "") + "\n  " + json.dumps(run.as_json(), ensure_ascii=True))
    sys.stdout.write("\n]}\n")
    return totals.code


# -- one run -------------------------------------------------------------------------------------------------


def _page(runs: Iterable[AuditedRun], options: argparse.Namespace) -> int:
    seen: list[str] = []
    for run in runs:
        if is_named(run.id, options.run):
            if options.json:
                sys.stdout.write(json.dumps({"runs": [run.as_json()]}, ensure_ascii=True, indent=2) + "\n")
            else:
                print_lines(page(run))
            totals = Totals()
            totals.add(run)
            return totals.code
        seen.append(run.id)
    shown = ", ".join(seen[:10])
    raise UsageError(f"no run {options.run!r}; there are {shown or 'none'}{' ...' if len(seen) > 10 else ''}")


def page(run: AuditedRun) -> Iterator[Line]:
    """All that is to be said of one run, without what looks like a key."""
    for line in _page_lines(run):
        yield Line(redacted(line.text), line.style)


def _page_lines(run: AuditedRun) -> Iterator[Line]:
    """Head, conversation with origins, findings, and what the evidence is worth."""
    word, style = _word(run.overall)
    worst = f"  {run.findings[0].code}" if run.findings else ""
    yield Line(cut(f"{padded(run.id, 40)}{word}{worst}"), style)
    yield Line(cut(f"  {run.recording.format} · {run.recording.place or 'one run'} · evidence: {run.grade}"))
    yield Line("")
    if run.trajectory is not None:
        yield from steps(run.trajectory, run.origins)
        yield Line("")
    yield from told(run.findings)
    inferred = sorted(
        {f"{one.tool}.{one.name}: {_slot(one.slot)}" for one in run.ungrounded() if one.slot.inferred}
    )
    if inferred:
        yield from wrapped(f"slots inferred: {'; '.join(inferred)}", "  ", "    ", "dim")
    yield from _worth(Counter({str(run.grade): 1}))


def _slot(slot: object) -> str:
    kind, form = getattr(slot, "kind", None), getattr(slot, "form", None)
    return f"{f'{kind} ' if kind else ''}{form}, by {getattr(slot, 'inferred', '')}"


# -- the table -----------------------------------------------------------------------------------------------


def _table(runs: Iterable[AuditedRun], options: argparse.Namespace) -> int:
    totals = Totals()
    with _progress() as step:
        for run in runs:
            totals.add(run)
            step(run.id)
    print_lines(table(totals, " ".join(shlex.quote(str(one)) for one in options.files)))
    return totals.code


class _progress:  # noqa: N801  a context, used like a function
    """How far a long audit is, on a terminal; nothing where the output is piped."""

    def __enter__(self) -> _progress:
        self._shown, self._count = sys.stderr.isatty(), 0
        return self

    def __call__(self, _: str) -> None:
        self._count += 1
        if self._shown and self._count % 20 == 0:
            sys.stderr.write(f"\r{counted(self._count, 'run')} judged")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._shown and self._count >= 20:
            sys.stderr.write("\r" + " " * 40 + "\r")


def table(totals: Totals, files: str) -> Iterator[Line]:
    """The runs, worst first; then the findings by code, the origins of all arguments, and the verdicts."""
    rows = sorted(totals.rows, key=lambda row: (_WORST.index(row.overall), -row.rank, -row.ungrounded))
    yield Line(f"{'run':<26}{'verdict':<9}{'calls':>5}{'unsourced':>11}  gravest finding", "bold")
    common = len(common_prefix([row.id for row in rows]))
    for row in rows[:MOST_ROWS]:
        word, style = _word(row.overall)
        unsourced = f"{row.ungrounded} of {row.arguments}" if row.arguments else "-"
        text = f"{padded(row.id[common:], 26)}{padded(word, 9)}{row.calls:>5}{unsourced:>11}  {row.worst}"
        yield Line(cut(text), style.replace("bold ", ""))
    if len(rows) > MOST_ROWS:
        yield Line(f"... and {len(rows) - MOST_ROWS} more", "dim")
    yield Line("")
    for (rank, code), count in sorted(totals.codes.items(), key=lambda one: (-one[0][0], -one[1])):
        severity = list(STYLES)[::-1][rank]
        yield Line(cut(f"{count:>5}  {severity:<9}{code}"), STYLES[severity])
    if totals.codes:
        yield Line("")
    unjudged = [row for row in rows if row.reason]
    for row in unjudged[:_SHOWN]:
        yield from wrapped(f"{row.id[common:]}: {row.reason}", "  ", "    ", "bold magenta")
    if len(unjudged) > _SHOWN:
        yield Line(f"  ... and {len(unjudged) - _SHOWN} more", "dim")
    if unjudged:
        yield Line("")
    total = sum(totals.origins.values())
    said = " · ".join(f"{name.replace('_', ' ')} {count}" for name, count in totals.origins.most_common())
    yield from wrapped(f"{counted(total, 'argument')}: {said or 'none'}", "", "  ", "")
    yield from _worth(totals.grades)
    worst = rows[0] if rows and rows[0].rank >= 0 else None
    if worst is not None:
        yield from wrapped(
            f"look: sandtrail audit {files} --run {shlex.quote(worst.id[common:])}", "", "  ", "dim"
        )
    yield Line(_closing(totals))


def common_prefix(names: list[str]) -> str:
    """What all names begin with, up to a slash: the name of the one file they are from.

    >>> common_prefix(["air/task-1", "air/task-12"]), common_prefix(["air/task-1", "rail/task-1"]), common_prefix(["a/b"])
    ('air/', '', 'a/')
    """
    if not names:
        return ""
    first, last = min(names), max(names)
    same = next((place for place, char in enumerate(first) if last[place : place + 1] != char), len(first))
    return first[: first.rfind("/", 0, same) + 1]


def _word(overall: Overall) -> tuple[str, str]:
    return WORDS.get(overall, (OTHERS.get(overall, str(overall)), "bold magenta"))


def _worth(grades: Counter[str]) -> Iterator[Line]:
    """What the evidence is worth."""
    if grades["claimed"] or grades["unseen"]:
        text = "evidence: claimed by the transcripts; that nothing else was changed is not proved by them"
        yield from wrapped(text, "  ", "  ", "dim")


def _closing(totals: Totals) -> str:
    counts = Counter(row.overall for row in totals.rows)
    said = ", ".join(f"{counts[one]} {str(one).replace('_', ' ')}" for one in _WORST if counts[one])
    formats = ", ".join(sorted(totals.formats))
    return f"exit {totals.code}: {counted(len(totals.rows), 'run')} ({formats or 'none'}): {said or 'nothing to judge'}"
