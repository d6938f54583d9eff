"""What the sandbox raises.

AssertionError
├── BlockedRequest     a request or a connection that no fake answers: refused before a socket is opened
├── UnreadBlocks       leaving a sandbox whose blocked requests the test has not looked at
├── Uncalled           leaving a sandbox that expected calls which were never answered
└── BooksDisagree      leaving a sandbox whose books do not hold: a service or the harness is at fault
RuntimeError
└── FrozenElsewhere    two sandboxes want the process clock at different times
Warning
└── UnfiredFault       a planned fault never fired, so the test proves nothing about it
"""

from __future__ import annotations

from collections.abc import Sequence

from sandtrail.ledgers import Attempt, Finding


class BlockedRequest(AssertionError):
    """A request that no fake answers. `what` names it, `known` what would have been answered."""

    def __init__(self, what: str, known: Sequence[str] = ()) -> None:
        self.what, self.known = what, tuple(known)
        answered = f"answered here are {', '.join(known)}" if known else "no sandbox claims it"
        super().__init__(f"blocked by the sandtrail sandbox: {what}; {answered}. Nothing left the process.")


class UnreadBlocks(AssertionError):
    """Requests were blocked, and the test did not ask for them."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self.attempts = tuple(attempts)
        lines = "".join(f"\n  {attempt.seq}. {attempt.operation} ({attempt.detail})" for attempt in attempts)
        remedy = "map the host with Sandbox(urls=...), or look at sandbox.blocked_hosts()"
        super().__init__(
            f"{len(attempts)} request(s) were blocked and nobody has looked at them:{lines}\n{remedy}"
        )


class Uncalled(AssertionError):
    """Operations that the test expected to be called, and that never answered."""

    def __init__(self, operations: Sequence[str], called: Sequence[str]) -> None:
        self.operations, self.called = tuple(operations), tuple(called)
        super().__init__(
            f"never answered: {', '.join(operations)}; answered were {', '.join(called) or 'none'}"
        )


class ServiceCrashed(AssertionError):
    """A handler raised what is no refusal: a bug in a service. The client had a 500 without its innards."""

    def __init__(self, attempts: Sequence[Attempt]) -> None:
        self.attempts = tuple(attempts)
        lines = "".join(f"\n  {attempt}" for attempt in attempts)
        remedy = 'mend the service, or read sandbox.ledger.attempts(outcome="crashed")'
        super().__init__(f"a service crashed, and nobody has looked at it:{lines}\n{remedy}")


class BooksDisagree(AssertionError):
    """The three books do not agree with each other or with the rows."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        lines = "".join(f"\n  {finding}" for finding in findings)
        super().__init__(f"the books do not hold; a service did something it did not declare:{lines}")


class FrozenElsewhere(RuntimeError):
    """The process clock is one; two sandboxes cannot freeze it at different times."""


class UnfiredFault(UserWarning):
    """A planned fault never fired."""
