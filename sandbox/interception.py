"""Interception of unmodified clients, in process: httpx, httpx2 (with the Anthropic and OpenAI SDKs) and requests.

respx patches httpcore; httpx2 lives on httpcore2, which respx does not know. So one door, registered first with
both mockers, asks the hub (https://github.com/lundberg/respx/pull/317). requests is met at its adapter. A stack that
is imported only later is patched when it is (respx brings httpcore along). Below them all, an audit hook refuses sockets (urllib, aiohttp, raw ones).

A fault in here fails closed: the request is refused.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import ipaddress
import socket
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from sandtrail.fakes.wire import Reply, Request
from sandtrail.sandbox.hub import HUB, place_of

_LEAVING: ContextVar[tuple[str, str] | None] = ContextVar("sandtrail_leaving", default=None)


def answer(method: str, url: str, headers: dict[str, str], body: bytes, *, path: str) -> Reply | None:
    """The reply of the sandbox that a request belongs to; None where it may leave.

    Raises BlockedRequest for what no fake answers.
    """
    sandbox = HUB.find(url, headers)
    if sandbox is None:
        return None
    parts = urlsplit(url)
    request = Request(method.upper(), parts.path or "/", parts.query, headers, body)
    if sandbox.claims(url):
        return sandbox.serve(url, request, path=path)
    host = parts.hostname or ""
    if sandbox.lets_through(host):
        leaving = (request.method, url)
        if _LEAVING.get() != leaving:  # respx asks twice: at the pool, then at the connection
            sandbox.let_through(host, request)
            _LEAVING.set(leaving if path.startswith("httpx") else None)
        else:
            _LEAVING.set(None)
        return None
    raise sandbox.block(f"{method.upper()} {place_of(url)}", detail=f"host {host}", path=path)


def install() -> None:
    """Patch what is loaded, and the rest when it is; once per process, at the first sandbox."""
    if _Installed.done:
        return
    _Installed.done = True
    import httpcore  # noqa: PLC0415  heavy, with respx, and only needed once something is sandboxed
    from respx.mocks import HTTPCoreMocker  # noqa: PLC0415

    sys.addaudithook(_audit)
    _open_door(HTTPCoreMocker, httpcore, "httpx")
    _when_imported("httpx._transports.default", _share_contexts)
    _when_imported("httpx2._transports.default", _share_contexts)
    _when_imported("httpcore2", _patch_httpcore2)
    _when_imported("requests.adapters", _patch_requests)


class _Installed:
    """Whether the process is patched; audit hooks cannot be removed, so this happens once."""

    done: ClassVar[bool] = False


def _when_imported(name: str, patch: Callable[[ModuleType], None]) -> None:
    if name in sys.modules:
        patch(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Late(name, patch))


class _Late(importlib.abc.MetaPathFinder):
    """Patches a module right after its first import."""

    def __init__(self, name: str, patch: Callable[[ModuleType], None]) -> None:
        self._name, self._patch = name, patch

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        load, patch = spec.loader.exec_module, self._patch

        def exec_module(module: ModuleType) -> None:
            load(module)
            patch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


# -- httpcore and httpcore2, through respx --------------------------------------------------------------


def _patch_httpcore2(core: ModuleType) -> None:
    from respx.mocks import HTTPCoreMocker, Mocker  # noqa: PLC0415  as above

    known = Mocker.registry.get("httpcore2")
    if known is None:
        targets = [target.replace("httpcore.", "httpcore2.", 1) for target in HTTPCoreMocker.targets]

        class HTTPCore2Mocker(HTTPCoreMocker):
            name = "httpcore2"

            @classmethod
            def from_sync_httpx_response(cls, httpx_response: Any, target: Any, **_: Any) -> Any:
                return core.Response(
                    status=httpx_response.status_code,
                    headers=httpx_response.headers.raw,
                    content=httpx_response.stream,
                    extensions=httpx_response.extensions,
                )

        HTTPCore2Mocker.targets = targets
        known = HTTPCore2Mocker
    _open_door(known, core, "httpx2")


def _open_door(mocker: Any, core: ModuleType, path: str) -> None:
    """Put the hub's door first among a mocker's routers, for good."""
    from sandtrail.sandbox.door import Door  # noqa: PLC0415  it needs httpx and respx, see above

    mocker.routers.insert(0, Door(mocker, core, path))
    mocker.start()


def lowered(request: Any) -> dict[str, str]:
    """A request's headers with their names in lower case."""
    return {name.lower(): str(value) for name, value in request.headers.items()}


def _share_contexts(transports: ModuleType) -> None:
    """One TLS context per configuration while a sandbox is active: making one takes longer than a hundred calls."""
    original: Callable[..., Any] = transports.create_ssl_context
    made: dict[tuple[Any, ...], Any] = {}

    def create(*arguments: Any, **options: Any) -> Any:
        parts = (*arguments, *(part for pair in sorted(options.items()) for part in pair))
        if not HUB.active or not all(isinstance(part, str | bool | None) for part in parts):
            return original(*arguments, **options)
        if parts not in made:
            made[parts] = original(*arguments, **options)
        return made[parts]

    transports.create_ssl_context = create  # type: ignore[attr-defined]


# -- requests -------------------------------------------------------------------------------------------


def _patch_requests(adapters: ModuleType) -> None:
    original = adapters.HTTPAdapter.send

    def send(self: Any, request: Any, *arguments: Any, **options: Any) -> Any:
        if not HUB.active:
            return original(self, request, *arguments, **options)
        reply = answer(request.method, request.url, lowered(request), _read(request.body), path="requests")
        if reply is None:
            return original(self, request, *arguments, **options)
        if reply.lost:
            timeout = importlib.import_module("requests.exceptions").ReadTimeout
            raise timeout("no answer within the time limit", request=request)
        return self.build_response(request, _urllib3_response(reply, request))

    adapters.HTTPAdapter.send = send


def _read(body: Any) -> bytes:
    if body is None:
        return b""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytes):
        return body
    content = body.read() if hasattr(body, "read") else b"".join(body)
    return content.encode() if isinstance(content, str) else bytes(content)


def _urllib3_response(reply: Reply, request: Any) -> Any:
    from io import BytesIO  # noqa: PLC0415

    response = importlib.import_module("urllib3.response").HTTPResponse
    return response(
        body=BytesIO(reply.body),
        headers=dict(reply.headers),
        status=reply.status,
        request_method=request.method,
        preload_content=False,
        enforce_content_length=False,
    )


# -- sockets --------------------------------------------------------------------------------------------

_LOOK_UPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"})
_SOCKET_EVENTS = _LOOK_UPS | {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getnameinfo"}


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    """The net below: no socket to anywhere while a sandbox is active, unless it allows that host."""
    if event not in _SOCKET_EVENTS or not HUB.active:
        return
    host = _host(event, arguments)
    if host is None:
        return
    sandbox = HUB.find()
    if sandbox is None or sandbox.allows_socket(host, loopback=_is_loopback(host)):
        return
    raise sandbox.block(f"{event} {host}", detail=f"host {host}", path="socket")


_audit.__cantrace__ = True  # type: ignore[attr-defined]  # so that debuggers and coverage see the hook


def _host(event: str, arguments: tuple[Any, ...]) -> str | None:
    """The host an event is about; None for sockets of this machine's own (Unix, unaddressed)."""
    if event in _LOOK_UPS:
        named = arguments[0]
        return named.decode("ascii", "replace") if isinstance(named, bytes) else named
    if event == "socket.getnameinfo":
        return str(arguments[0][0])
    owner, address = arguments[0], arguments[1]
    if getattr(owner, "family", None) not in {socket.AF_INET, socket.AF_INET6} or not isinstance(
        address, tuple
    ):
        return None
    return str(cast("tuple[object, ...]", address)[0])


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.split("%", 1)[0]).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def resolved(host: str) -> frozenset[str]:
    """The addresses of a host that the model lane lets through."""
    return frozenset(str(entry[4][0]) for entry in socket.getaddrinfo(host, None))
