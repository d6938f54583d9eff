"""`sandbox.transport()`: the fakes as a transport of httpx or httpx2, sync and async, with nothing patched."""

from __future__ import annotations

import importlib
from typing import Any
from urllib.parse import urlsplit

import httpx

from sandtrail.fakes.wire import Request
from sandtrail.sandbox.hub import Resident, place_of
from sandtrail.sandbox.interception import lowered


class SandboxTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers every request of a client from one sandbox; a host it does not claim is blocked and on record.

    httpx2's clients take it too: the response is made by the library that the request came from.
    """

    def __init__(self, sandbox: Resident) -> None:
        self._sandbox = sandbox

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer one request. Raises ReadTimeout where the answer is lost, BlockedRequest for a foreign host."""
        answered: httpx.Response = self._answered(request, request.read())
        return answered

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The same for async clients."""
        answered: httpx.Response = self._answered(request, await request.aread())
        return answered

    def _answered(self, request: Any, body: bytes) -> Any:
        library: Any = importlib.import_module(type(request).__module__.split(".", 1)[0])
        url = str(request.url)
        if not self._sandbox.claims(url):
            raise self._sandbox.block(
                f"{request.method} {place_of(url)}", detail=f"host {request.url.host}", path=library.__name__
            )
        parts = urlsplit(url)
        headers = lowered(request)
        sent = Request(request.method, parts.path or "/", parts.query, headers, body)
        reply = self._sandbox.serve(url, sent, path=library.__name__)
        if reply.lost:
            raise library.ReadTimeout("no answer within the time limit", request=request)
        return library.Response(reply.status, headers=dict(reply.headers), content=reply.body)
