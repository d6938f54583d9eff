"""What a service says when it says no: RFC 9457 problem documents that a model can act on.

    Problem              anything below; carries status, rule, detail and what would be accepted
    ├── Rejected         a business rule (409 unless said otherwise)
    ├── NotFound         no such entity, or one this principal may not see: the same answer (404)
    ├── Denied           the principal's scopes do not cover it (403)
    ├── Conflict         a version or an idempotency key (409, 412, 422)
    ├── Invalid          the arguments do not fit the schema (400, 413, 415, 422), with JSON pointers
    ├── Unknown          no such operation or method (404, 405)
    ├── Failed           a bug in a service (500)
    └── Unready          a planned fault at the door (429, 503): nothing was begun

Services name entities by symbol; the edge writes raw ids into the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers.words import Outcome


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing wrong with the arguments: where (JSON pointer), what, and what would be accepted."""

    pointer: str
    detail: str


class Problem(Exception):
    """Why a call did not do what it asked for."""

    outcome = Outcome.REJECTED
    status = 409
    title = "The request was refused"

    def __init__(
        self,
        rule: str,
        detail: str,
        *,
        allowed: str | None = None,
        status: int | None = None,
        flaws: tuple[Flaw, ...] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{rule}: {detail}")
        self.rule, self.detail, self.allowed, self.flaws = rule, detail, allowed, flaws
        self.status = self.status if status is None else status
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        """The problem document (RFC 9457), with symbols."""
        body: dict[str, Any] = {
            "type": f"urn:sandtrail:problem:{self.rule}",
            "title": self.title,
            "status": self.status,
            "rule": self.rule,
            "detail": self.detail,
        }
        if self.allowed is not None:
            body["allowed"] = self.allowed
        if self.flaws:
            body["errors"] = [{"pointer": flaw.pointer, "detail": flaw.detail} for flaw in self.flaws]
        return body


class Rejected(Problem):
    """A business rule said no; `allowed` says what it would accept."""

    title = "A business rule does not allow this"


class NotFound(Problem):
    """No such entity for this principal. `denied` is for the books only: the answer is the same."""

    status = 404
    title = "Not found"

    def __init__(self, kind: str, named: str, *, denied: bool = False) -> None:
        said = kind.replace("_", " ")
        super().__init__(
            "not_found", f"There is no {said} {named}.", allowed=f"{said} ids that a call has returned"
        )
        self.outcome = Outcome.DENIED if denied else Outcome.REJECTED


class Denied(Problem):
    """The principal's scopes do not cover the operation."""

    outcome = Outcome.DENIED
    status = 403
    title = "Not permitted"


class Conflict(Problem):
    """A version that has moved on, or an idempotency key that is taken."""

    outcome = Outcome.CONFLICT
    title = "Conflict"


class Invalid(Problem):
    """The arguments do not fit the schema; nothing was tried."""

    outcome = Outcome.INVALID
    status = 422
    title = "The arguments are not valid"


class Failed(Problem):
    """A bug in a service; the answer says no more than that."""

    outcome = Outcome.CRASHED
    status = 500
    title = "The service failed"


class Unready(Problem):
    """A planned fault stopped the request before it was looked at; nothing was begun, so no key remembers it."""

    outcome = Outcome.NOT_APPLIED
    status = 503
    title = "Not now"


class Unknown(Problem):
    """There is no such operation."""

    outcome = Outcome.UNKNOWN
    status = 404
    title = "No such operation"
