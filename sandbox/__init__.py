"""The meeting of a scenario, an agent and a world: it runs, records, judges and reports.

The names below load what they need when they are first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtrail.sandbox.agents import Agent, BlackBox
    from sandtrail.sandbox.auditing import audit
    from sandtrail.sandbox.errors import (
        BlockedRequest,
        BooksDisagree,
        FrozenElsewhere,
        ServiceCrashed,
        UnfiredFault,
        UnreadBlocks,
    )
    from sandtrail.sandbox.limits import Limits
    from sandtrail.sandbox.loading import library, load
    from sandtrail.sandbox.models import Block, Record
    from sandtrail.sandbox.runner import Result, arun, run
    from sandtrail.sandbox.sandbox import Sandbox
    from sandtrail.sandbox.script import Script

_HOMES = {
    "Agent": "agents",
    "BlackBox": "agents",
    "Block": "models",
    "BlockedRequest": "errors",
    "BooksDisagree": "errors",
    "FrozenElsewhere": "errors",
    "Limits": "limits",
    "Record": "models",
    "Result": "runner",
    "Sandbox": "sandbox",
    "Script": "script",
    "ServiceCrashed": "errors",
    "UnfiredFault": "errors",
    "UnreadBlocks": "errors",
    "arun": "runner",
    "audit": "auditing",
    "library": "loading",
    "load": "loading",
    "run": "runner",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)


__all__ = [
    "Agent",
    "BlackBox",
    "Block",
    "BlockedRequest",
    "BooksDisagree",
    "FrozenElsewhere",
    "Limits",
    "Record",
    "Result",
    "Sandbox",
    "Script",
    "ServiceCrashed",
    "UnfiredFault",
    "UnreadBlocks",
    "arun",
    "audit",
    "library",
    "load",
    "run",
]
