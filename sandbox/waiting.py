"""Waiting for what may or may not be awaitable, in sync code and in async."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def awaited(value: Any) -> Any:
    """A value, or what an awaitable comes to; where no event loop runs, in one of its own."""
    if not inspect.isawaitable(value):
        return value
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_alone(value))
    return await value


async def _alone(value: Awaitable[Any]) -> Any:
    return await value


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns that never has to wait. Raises RuntimeError where it does."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    coroutine.close()
    raise RuntimeError(
        "the agent waits for something, and is no async function; make it one, or await the async twin"
    )
