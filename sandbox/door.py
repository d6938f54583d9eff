"""The door: a respx router that asks the hub, and lets the user's own routers answer for hosts that are nobody's.

It stands first among a mocker's routers, so that a user's `assert_all_mocked=False` cannot answer for our hosts.
"""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import Any

import httpx
import respx
from respx.models import AllMockedAssertionError, PassThrough

from sandtrail.sandbox.hub import HUB
from sandtrail.sandbox.interception import answer, lowered


class Door(respx.Router):
    """Answers for one HTTP core: `core` is httpcore or httpcore2, `path` what the books call the way in."""

    def __init__(self, mocker: Any, core: ModuleType, path: str) -> None:
        super().__init__()
        self._mocker, self._core, self._path = mocker, core, path

    def handler(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of a sync client."""
        body = request.read()
        for router in self._asked_first(request):
            with suppress(AllMockedAssertionError):
                return router.handler(request)
        return self._answered(request, body)

    async def async_handler(self, request: httpx.Request) -> httpx.Response:
        """Answer a request of an async client."""
        body = await request.aread()
        for router in self._asked_first(request):
            with suppress(AllMockedAssertionError):
                return await router.async_handler(request)
        return self._answered(request, body)

    def _asked_first(self, request: httpx.Request) -> list[respx.Router]:
        """The user's own routers, for hosts that are not a sandbox's."""
        others = [router for router in self._mocker.routers if router is not self]
        if not HUB.active:
            raise AllMockedAssertionError("no sandbox is active") if others else _through(request)
        sandbox = HUB.find(str(request.url), lowered(request)) if others else None
        return others if sandbox is not None and not sandbox.claims(str(request.url)) else []

    def _answered(self, request: httpx.Request, body: bytes) -> httpx.Response:
        reply = answer(request.method, str(request.url), lowered(request), body, path=self._path)
        if reply is None:
            raise _through(request)
        if reply.lost:
            raise self._core.ReadTimeout("no answer within the time limit")
        return httpx.Response(reply.status, headers=dict(reply.headers), content=reply.body)


def _through(request: httpx.Request) -> Exception:
    return PassThrough(f"{request.url} may leave", request=request, origin=respx.Route())
