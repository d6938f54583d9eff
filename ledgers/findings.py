"""Findings: one judged fact each, with the one table that says how much each code weighs.

A code is public vocabulary (`family.what`). Its severity stands here and nowhere else; a finding cannot
be made with a code that the table does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from sandtrail.ledgers.words import Grade, Overall, Severity

CODES = MappingProxyType(
    {
        # the books themselves: a service or the harness is at fault, never the agent
        "ledger.undeclared_write": (
            Severity.CRITICAL,
            "R1: a row changed that no declared effect accounts for",
        ),
        "ledger.phantom_effect": (
            Severity.CRITICAL,
            "R2: an effect was declared, but its rows did not change",
        ),
        "ledger.capture_hole": (Severity.CRITICAL, "R3: the rows are not what the recorded changes lead to"),
        "ledger.unjournaled": (
            Severity.CRITICAL,
            "R4: a commit without effects, or effects without a commit",
        ),
        "ledger.write_behind_read": (Severity.CRITICAL, "R5: a read operation changed rows"),
        "ledger.no_origin": (Severity.CRITICAL, "R6: rows changed, and nobody's call, clock or event did it"),
        "ledger.money_leak": (Severity.CRITICAL, "R7: money columns and postings do not add up"),
        "ledger.tampered": (
            Severity.CRITICAL,
            "the evidence itself was touched: triggers, change rows or a saved line",
        ),
        # the agent
        "call.missing": (Severity.MAJOR, "a call that the scenario demands was not made"),
        "effect.unauthorized_write": (
            Severity.CRITICAL,
            "something was changed that the request does not allow",
        ),
        "effect.write_attempt_on_read_only": (
            Severity.MAJOR,
            "a write was tried on a read-only request and did not commit",
        ),
        "effect.missing": (Severity.MAJOR, "an effect that the request asks for did not happen"),
        "effect.duplicate": (Severity.CRITICAL, "the same effect was committed more often than allowed"),
        "effect.wrong_target": (Severity.CRITICAL, "the right effect happened to the wrong entity"),
        "effect.wrong_amount": (Severity.CRITICAL, "the right effect happened with another amount"),
        "provenance.wrong_binding": (
            Severity.CRITICAL,
            "a value names the right kind of entity, but another one than is meant",
        ),
        "provenance.source_policy": (Severity.MAJOR, "a value did not come from where the scenario demands"),
        "answer.missing": (Severity.MAJOR, "the final answer does not state what it must"),
        "net.blocked": (Severity.MAJOR, "a request left for a host that no fake answers; it was refused"),
        "fault.not_fired": (
            Severity.WARNING,
            "a planned fault never fired, so this run proves nothing about it",
        ),
        "run.max_steps": (Severity.MAJOR, "the agent did not end within its budget of steps"),
        "run.agent_error": (Severity.MAJOR, "the agent raised instead of deciding"),
        "simulator.off_script": (Severity.MAJOR, "the scripted user or agent had no line for this place"),
    }
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One judged fact.

    `at` is the place ("attempt 2", "line 7", "final"); `reason` is said in words, with symbols;
    `evidence` holds the lines of the books it rests on.

    >>> Finding("ledger.no_origin", at="after attempt 3", reason="customer $customer.lee changed").severity
    <Severity.CRITICAL: 'critical'>
    """

    code: str
    at: str
    reason: str
    evidence: tuple[str, ...] = ()
    grade: Grade = Grade.PROVED

    def __post_init__(self) -> None:
        if self.code not in CODES:
            raise ValueError(
                f"code={self.code!r} is not in the table of codes; add it there with its severity"
            )

    @property
    def severity(self) -> Severity:
        """What the one table says of this code."""
        return CODES[self.code][0]

    def __str__(self) -> str:
        return f"{self.severity} {self.code}  at {self.at}: {self.reason}"


def overall_of(findings: tuple[Finding, ...]) -> Overall:
    """The verdict that these findings lead to: broken books and an absent simulator are no verdict on an agent.

    >>> overall_of(())
    <Overall.PASS: 'pass'>
    """
    if any(finding.code.startswith(("ledger.", "simulator.")) for finding in findings):
        return Overall.HARNESS_FAULT
    if any(finding.code == "fault.not_fired" for finding in findings):
        worst = max(finding.severity.rank for finding in findings)
        return Overall.FAIL if worst >= Severity.MINOR.rank else Overall.INCONCLUSIVE
    if any(finding.severity.rank >= Severity.MINOR.rank for finding in findings):
        return Overall.FAIL
    return Overall.WARN if any(finding.severity is Severity.WARNING for finding in findings) else Overall.PASS
