"""Which sandbox a request belongs to. Process-wide, as the patches of HTTP clients and the freezer are; it holds no
state of any sandbox.

1. the host that only one sandbox answers (each has hosts of its own)
2. the sandbox of the caller's context: tasks, `asyncio.to_thread` and anyio inherit it; bare threads do not
3. the X-Sandtrail header
4. the only one that is active
else refused: with several active, guessing would put one test's writes into another's books
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from sandtrail.sandbox.errors import BlockedRequest

if TYPE_CHECKING:
    from sandtrail.fakes.wire import Reply, Request


def place_of(url: str) -> str:
    """A URL for the record: scheme, host, port and path; no user, password, query or fragment.

    >>> place_of("https://user:secret@x.test:8443/a?token=1")
    'https://x.test:8443/a'
    """
    parts = urlsplit(url)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


class Resident(Protocol):
    """What the hub needs of a sandbox."""

    @property
    def name(self) -> str: ...
    def claims(self, url: str) -> bool: ...
    def serve(self, url: str, request: Request, *, path: str) -> Reply: ...
    def lets_through(self, host: str) -> bool: ...
    def let_through(self, host: str, request: Request) -> None: ...
    def block(self, what: str, *, detail: str, path: str) -> BlockedRequest: ...
    def allows_socket(self, host: str, *, loopback: bool) -> bool: ...


class Hub:
    """The active sandboxes of this process, innermost last."""

    def __init__(self) -> None:
        self._active: list[Resident] = []
        self._current: ContextVar[Resident | None] = ContextVar("sandtrail", default=None)
        self._before: dict[int, Resident | None] = {}

    @property
    def active(self) -> tuple[Resident, ...]:
        """The active sandboxes."""
        return tuple(self._active)

    def enter(self, sandbox: Resident) -> None:
        """Make a sandbox active, and current in this context."""
        self._active.append(sandbox)
        self._before[id(sandbox)] = self._current.get()
        self._current.set(sandbox)

    def leave(self, sandbox: Resident) -> None:
        """End a sandbox; the one around it in this context, if it is still active, is current again."""
        self._active.remove(sandbox)
        before = self._before.pop(id(sandbox))
        if self._current.get() is sandbox:
            self._current.set(before if before in self._active else None)

    def find(self, url: str | None = None, headers: Mapping[str, str] | None = None) -> Resident | None:
        """The sandbox a request belongs to; None where none is active.

        Raises BlockedRequest where several are and nothing tells which.
        """
        active = self._active
        if not active:
            return None
        if url is not None:
            owners = [sandbox for sandbox in active if sandbox.claims(url)]
            if len(owners) == 1:
                return owners[0]
        current = self._current.get()
        if current is not None and current in active:
            return current
        named = (headers or {}).get("x-sandtrail")
        for sandbox in active:
            if sandbox.name == named:
                return sandbox
        if len(active) == 1:
            return active[0]
        names = ", ".join(sandbox.name for sandbox in active)
        raise BlockedRequest(
            f"{url or 'a connection'}: {len(active)} sandboxes are active ({names}) and nothing says which it is for"
        )


HUB = Hub()
"""The process's hub."""
