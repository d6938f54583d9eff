"""A sandbox: one world with its surroundings, for a plain test body, a fixture, or a Hypothesis example.

    with Sandbox(spec, urls={"https://billing.internal/v1": "billing"}) as sandbox:
        run_the_agent()                                   unmodified httpx, httpx2 and requests clients reach the fakes
        assert sandbox.ledger.effects("refund.created") == [{"payment": "$payment.second", "amount": 4250}]

Whatever else wants to leave is refused and on record. Leaving the block raises where books do not hold, or where
blocked requests were not looked at.
"""

from __future__ import annotations

import itertools
import secrets
import warnings
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sandtrail.fakes import SERVICES, Answer, Service, World
from sandtrail.fakes.answers import NestedCall
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.faults import Faults
from sandtrail.fakes.wire import Reply, Request, Routes, routes_of, serve
from sandtrail.ledgers import Ledger, Outcome, Principal, Records, WorldSpec
from sandtrail.ledgers.findings import Finding
from sandtrail.sandbox.errors import (
    BlockedRequest,
    BooksDisagree,
    ServiceCrashed,
    Uncalled,
    UnfiredFault,
    UnreadBlocks,
)
from sandtrail.sandbox.freezing import FREEZER
from sandtrail.sandbox.hub import HUB, place_of
from sandtrail.sandbox.interception import install, resolved
from sandtrail.sandbox.models import Block, ModelRequest, Models
from sandtrail.sandbox.script import Planned, Script, ScriptRun, is_failure

if TYPE_CHECKING:
    from sandtrail.ledgers.conversation import Conversation, Message
    from sandtrail.sandbox.own_loop import Dialect
    from sandtrail.sandbox.talk import Talk
    from sandtrail.sandbox.toolbox import Toolbox
    from sandtrail.sandbox.transport import SandboxTransport

_numbers = itertools.count(1)


class Sandbox:
    """One world and its surroundings. Use it in a `with` (or `async with`) block; not active before, nor after.

    `spec` is a WorldSpec, or a scenario or world file (a world file has the keys world, now, zone, principal, faults).
    `urls` maps base URLs of production to services. `models` is the model lane: what becomes of requests to model
    providers, from blocked (the default) to answered by a `Script`. `freeze` freezes the process clock
    at the world's, for the code under test. `loopback` lets sockets to this machine through. `seed` decides the raw ids;
    left out, each sandbox draws its own, and an error that leaves the block says which it was.
    """

    def __init__(
        self,
        spec: WorldSpec | str | Path | None = None,
        *,
        seed: int | None = None,
        services: Iterable[type[Service] | Service] = SERVICES,
        urls: Mapping[str, str] | None = None,
        models: Models = Block(),  # noqa: B008  a frozen value
        freeze: bool = False,
        loopback: bool = False,
        style: str = "typed",
        run: str = "run",
    ) -> None:
        self.name = f"s{next(_numbers)}"
        self.seed = secrets.randbelow(2**31) if seed is None else seed
        if isinstance(spec, str | Path):
            from sandtrail.sandbox.loading import load_world  # noqa: PLC0415  only where a file is named

            spec = load_world(spec)
        self.world: World = World.open(spec, self.seed, services=services, style=style, run=run)
        self._routes = {service: routes_of(self.world, service) for service in self.world.services.names}
        self._bases = self._claimed(urls or {})
        self._models, self._freeze, self._loopback = models, freeze, loopback
        self._script = ScriptRun(models) if isinstance(models, Script) else None
        self._requests: list[ModelRequest] = []
        self._addresses: set[str] = set()
        self._late: list[tuple[str, str, str]] = []
        self._said: list[Message] = []
        self._expected: list[str] = []
        self._box: Toolbox | None = None
        self.principal: Principal = self.world.spec.principal
        self._active = False

    def _claimed(self, urls: Mapping[str, str]) -> dict[tuple[tuple[str, str], str], tuple[str, str, Routes]]:
        """What is answered: (scheme, host with port) and base path to the routes of a service."""
        bases: dict[tuple[tuple[str, str], str], tuple[str, str, Routes]] = {}
        for url, service in {**{self._own_url(service): service for service in self._routes}, **urls}.items():
            parts = urlsplit(url)
            if (
                service not in self._routes
                or parts.scheme not in {"http", "https"}
                or not parts.hostname
                or parts.query
            ):
                known = ", ".join(self._routes)
                raise ValueError(
                    f"urls: {url!r}: {service!r} does not fit; map 'https://host/base' to one of {known}"
                )
            bases[_host(url), parts.path.rstrip("/")] = (
                service,
                parts.path.rstrip("/"),
                self._routes[service],
            )
        return bases

    def _own_url(self, service: str) -> str:
        return f"http://{service}.{self.name}.sandtrail.test"

    def __repr__(self) -> str:
        state = "active" if self._active else "not active"
        return (
            f"<sandbox {self.name} seed={self.seed}: {len(self.world.ledger.attempts())} attempts, {state}>"
        )

    # -- entering and leaving --------------------------------------------------------------------------

    def __enter__(self) -> Sandbox:
        install()
        if self._freeze:
            FREEZER.freeze(self, self.world.clock.now())
        HUB.enter(self)
        self._active = True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._active = False
        HUB.leave(self)
        FREEZER.thaw(self)
        try:
            if error is None:
                self._settle()
        except AssertionError as unsettled:
            unsettled.add_note(f"repeat with Sandbox(seed={self.seed})")
            raise
        finally:
            if error is not None:
                error.add_note(f"repeat with Sandbox(seed={self.seed})")
            self.world.close()

    def leave(self) -> None:
        """Leave without settling: for a runner whose judges say what a test would have to look at."""
        self._active = False
        HUB.leave(self)
        FREEZER.thaw(self)

    async def __aenter__(self) -> Sandbox:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _settle(self) -> None:
        """What must not go unnoticed at the end."""
        breaches = self.ledger.verify()
        if breaches:
            raise BooksDisagree(breaches)
        crashed, blocked = self.ledger.unread(Outcome.CRASHED), self.ledger.unread(Outcome.BLOCKED)
        if crashed:
            raise ServiceCrashed(crashed)
        if blocked:
            raise UnreadBlocks(blocked)
        uncalled = self._uncalled()
        if uncalled:
            raise Uncalled(uncalled, self._answered())
        for fault in (*self.faults.unfired, *filter(is_failure, self._steps_left)):
            warnings.warn(
                f"the planned fault {fault} never fired: nothing is known about it",
                UnfiredFault,
                stacklevel=3,
            )

    # -- looking ---------------------------------------------------------------------------------------

    @property
    def ledger(self) -> Ledger:
        """The three books."""
        while self._late:
            what, detail, path = self._late.pop(0)
            self.world.note(what, Outcome.BLOCKED, detail=detail, path=path)
        return self.world.ledger

    @property
    def faults(self) -> Faults:
        """The planned faults; arm more at any time."""
        return self.world.faults

    @property
    def clock(self) -> Clock:
        """The virtual clock."""
        return self.world.clock

    @property
    def model_requests(self) -> tuple[ModelRequest, ...]:
        """The requests to model providers that a `Script` answered, refused or had no step for, or `Record` let leave."""
        return tuple(self._requests)

    @property
    def model_steps_left(self) -> int:
        """How many steps of the `Script` nothing has asked for; 0 in the other lanes."""
        return len(self._steps_left)

    @property
    def _steps_left(self) -> tuple[Planned, ...]:
        return self._script.left if self._script else ()

    def url(self, service: str) -> str:
        """A base URL that only this sandbox answers. Raises LookupError for a service it does not have."""
        if service not in self._routes:
            raise LookupError(f"no service {service!r} here; there are {', '.join(self._routes)}")
        return self._own_url(service)

    def id(self, symbol: str) -> str:
        """The raw id of an entity in this run."""
        return self.world.id(symbol)

    def blocked_hosts(self) -> list[str]:
        """The hosts of the requests that were blocked, each once, in order; counts as having looked at them."""
        blocked = self.ledger.attempts(outcome=Outcome.BLOCKED)
        return list(dict.fromkeys((attempt.detail or "").removeprefix("host ") for attempt in blocked))

    def verify(self) -> Records[Finding]:
        """What is wrong with the books, the full replay included, and which expected calls are missing; empty where
        all holds."""
        missing = [
            Finding("call.missing", name, f"{name} never answered a call") for name in self._uncalled()
        ]
        return Records([*self.ledger.verify(), *missing])

    def expect_calls(self, *operations: str) -> None:
        """These operations have to answer before the sandbox is left. Raises LookupError for one that is not there."""
        for name in operations:
            self.world.operation(name)
        self._expected += [name for name in operations if name not in self._expected]

    def _answered(self) -> list[str]:
        done = {Outcome.OK, Outcome.REPLAYED}
        found = [attempt.operation for attempt in self.ledger.attempts() if attempt.outcome in done]
        return list(dict.fromkeys(found))

    def _uncalled(self) -> list[str]:
        answered = set(self._answered())
        return [name for name in self._expected if name not in answered]

    # -- acting ----------------------------------------------------------------------------------------

    def call(
        self,
        operation: str,
        arguments: str | Mapping[str, Any] | None = None,
        /,
        *,
        principal: Principal | None = None,
        **named: Any,
    ) -> Answer:
        """Call an operation directly; see `World.call`."""
        return self.world.call(operation, arguments, principal=principal or self.principal, **named)

    async def acall(
        self,
        operation: str,
        arguments: str | Mapping[str, Any] | None = None,
        /,
        *,
        principal: Principal | None = None,
        **named: Any,
    ) -> Answer:
        """The same from async code; it does not wait for anything but the world's lock."""
        return self.world.call(operation, arguments, principal=principal or self.principal, **named)

    def advance(self, length: str | timedelta) -> None:
        """Let virtual time pass, and with `freeze` the process clock too."""
        self.world.advance(length)
        FREEZER.move(self, self.world.clock.now())

    def reset(self) -> None:
        """Back to the opening, a script's too: for the next Hypothesis example."""
        self.world.reset()
        self._script = ScriptRun(self._models) if isinstance(self._models, Script) else None
        self._requests.clear()
        self._said.clear()
        FREEZER.move(self, self.world.clock.now())

    def transport(self) -> SandboxTransport:
        """A transport for httpx and httpx2 clients, sync and async."""
        from sandtrail.sandbox.transport import SandboxTransport  # noqa: PLC0415  httpx is heavy

        return SandboxTransport(self)

    # -- a loop of the user's own ----------------------------------------------------------------------

    def tools(self, dialect: Dialect) -> list[dict[str, Any]]:
        """The tools of every operation as a provider takes them: `tools=sandbox.tools("anthropic")`."""
        from sandtrail.sandbox.own_loop import tools_in  # noqa: PLC0415  only for loops of one's own

        return tools_in(dialect, self._toolbox())

    def answer(self, reply: object) -> list[dict[str, Any]]:
        """Carry out what a model called, and return what follows in the history: its own turn, and every result.

        `reply` is what `messages.create` or `chat.completions.create` returned.
        """
        from sandtrail.sandbox.own_loop import answered  # noqa: PLC0415  as above

        messages, said = answered(reply, self._toolbox(), self.world, self.principal)
        self._said += said
        return messages

    @property
    def conversation(self) -> Conversation:
        """What `answer` has carried out and `converse` has heard."""
        return tuple(self._said)

    def converse(self, agent: Any, *, principal: str | Principal | None = None) -> Talk:
        """Talk to an agent: `sandbox.converse(agent).says("Why two charges?")` returns its reply.

        `agent` is a function of the message (it reaches the services by itself) or anything that decides. `principal`
        is who its requests act as: a Principal, or the symbol of a customer who is signed in.
        """
        from sandtrail.sandbox.talk import Talk  # noqa: PLC0415  as above

        if principal is not None:
            self.principal = (
                Principal(principal.partition(".")[2], role="customer", customer=principal)
                if isinstance(principal, str)
                else principal
            )
        return Talk(self, agent, self._toolbox(), self._said)

    def _toolbox(self) -> Toolbox:
        from sandtrail.sandbox.toolbox import Toolbox, all_tools  # noqa: PLC0415  as above

        if self._box is None:
            self._box = Toolbox(all_tools(self.world.services))
        return self._box

    # -- for the hub -----------------------------------------------------------------------------------

    def claims(self, url: str) -> bool:
        """Whether a request to this URL is answered here."""
        return self._base(url) is not None or self._models.answers(*_place(url))

    def serve(self, url: str, request: Request, *, path: str) -> Reply:
        """Answer a request to a claimed URL."""
        base = self._base(url)
        if base is None:
            return self._spoken(url, request, path=path)
        _, prefix, routes = base
        inner = Request(
            request.method,
            request.path.removeprefix(prefix) or "/",
            request.query,
            request.headers,
            request.body,
        )
        return serve(self.world, routes, inner, self.principal, path=path)

    def _spoken(self, url: str, request: Request, *, path: str) -> Reply:
        """The fake model's answer; what it does not answer is blocked."""
        (host, to), why = _place(url), ""
        if self._script is not None and self._models.answers(host, to):
            played = self._script.play(host, request, now=int(self.world.clock.now().timestamp()))
            if played.record is not None:
                self._requests.append(played.record)
            if played.reply is not None:
                return played.reply
            why = played.why
        raise self.block(f"{request.method} {place_of(url)}", detail=f"host {host}", path=path, why=why)

    def _base(self, url: str) -> tuple[str, str, Routes] | None:
        host, path = _host(url), urlsplit(url).path
        fits = [
            base
            for (at, prefix), base in self._bases.items()
            if at == host and (path == prefix or path.startswith(f"{prefix}/") or not prefix)
        ]
        return max(fits, key=lambda base: len(base[1]), default=None)

    def lets_through(self, host: str) -> bool:
        """Whether the model lane lets requests to this host leave."""
        return self._models.lets(host)

    def let_through(self, host: str, request: Request) -> None:
        """Put a model request on record and allow its addresses."""
        self._requests.append(ModelRequest(request.method, host, request.path, len(request.body)))
        self._addresses.update(resolved(host))

    def allows_socket(self, host: str, *, loopback: bool) -> bool:
        """Whether a socket to this host may be opened."""
        return (loopback and self._loopback) or self._models.lets(host) or host in self._addresses

    def block(self, what: str, *, detail: str, path: str, why: str = "") -> BlockedRequest:
        """Put a refused request on record; the error to raise, which says why where there is more to say."""
        try:
            self.world.note(what, Outcome.BLOCKED, detail=detail, path=path)
        except NestedCall:  # from inside a handler: on record when its call is over
            self._late.append((what, detail, path))
        known = [f"{host[0]}://{host[1]}{prefix}" for host, prefix in reversed(self._bases)]
        known += self._models.places if isinstance(self._models, Script) else []
        return BlockedRequest(f"{what} ({why})" if why else what, known)


def _place(url: str) -> tuple[str, str]:
    """Host without its port, and path."""
    parts = urlsplit(url)
    return parts.hostname or "", parts.path


def _host(url: str) -> tuple[str, str]:
    """Scheme and host with its port, where that is not the scheme's own."""
    parts = urlsplit(url)
    default = {"http": 80, "https": 443}.get(parts.scheme)
    port = f":{parts.port}" if parts.port and parts.port != default else ""
    return parts.scheme, f"{(parts.hostname or '').lower()}{port}"
