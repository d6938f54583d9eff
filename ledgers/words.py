"""The closed vocabularies that every layer speaks.

* Access     what an operation may do to rows: read or write
* Outcome    what became of an attempt inside the world
* Delivery   what became of its answer on the way back
* OriginKind whose doing a change is
* Severity   how much a finding weighs
* Overall    the verdict over one run; `mixed` only over a set
* Grade      how good a piece of evidence is
"""

from __future__ import annotations

from enum import StrEnum


class Access(StrEnum):
    """What an operation may do to rows."""

    READ = "read"
    WRITE = "write"


class Outcome(StrEnum):
    """What can become of an attempt.

    * ok           the service looked or acted
    * rejected     a business rule said no: `rule`; nothing changed
    * invalid      the arguments do not fit the schema
    * denied       the principal may not: answered like an unknown id
    * unknown      there is no such tool or path
    * unavailable  the tool exists, but is not offered now
    * conflict     a key reused or in flight, or a version that has moved on
    * replayed     answered from the idempotency record
    * not_applied  a planned fault stopped it before it took effect
    * crashed      a bug in a service: rolled back
    * blocked      a request that no fake answers
    """

    OK = "ok"
    REJECTED = "rejected"
    INVALID = "invalid"
    DENIED = "denied"
    UNKNOWN = "unknown"
    UNAVAILABLE = "unavailable"
    CONFLICT = "conflict"
    REPLAYED = "replayed"
    NOT_APPLIED = "not_applied"
    CRASHED = "crashed"
    BLOCKED = "blocked"


class Delivery(StrEnum):
    """What became of the answer on the way back."""

    DELIVERED = "delivered"
    LOST = "lost"
    CORRUPTED = "corrupted"
    DELAYED = "delayed"


class OriginKind(StrEnum):
    """Whose doing a change is. `none` is a breach: nobody owns up to it."""

    ATTEMPT = "attempt"
    SEED = "seed"
    CLOCK = "clock"
    EVENT = "event"
    NONE = "none"


class Severity(StrEnum):
    """How much a finding weighs, lightest first."""

    INFO = "info"
    WARNING = "warning"
    MINOR = "minor"
    MAJOR = "major"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for info up to 4 for critical.

        >>> Severity.MAJOR.rank > Severity.WARNING.rank
        True
        """
        return list(Severity).index(self)


class Overall(StrEnum):
    """The verdict over one run (`mixed`: over a set only)."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_EVALUABLE = "not_evaluable"
    INVALID_INPUT = "invalid_input"
    HARNESS_FAULT = "harness_fault"
    MIXED = "mixed"


class Grade(StrEnum):
    """How good a piece of evidence is, best first."""

    PROVED = "proved"
    REPORTED = "reported"
    CLAIMED = "claimed"
    UNSEEN = "unseen"
