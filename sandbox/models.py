"""The model lane: what becomes of requests to model providers.

    Block()              refused and on record, like every other host that no fake answers (the default)
    Record(*hosts)       let through to these hosts, and each request is on record

A lane is a value; the sandbox asks it by host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Block:
    """No model is called."""

    def lets(self, host: str) -> bool:
        """False: nothing leaves."""
        return False


@dataclass(frozen=True)
class Record:
    """Requests to these hosts leave the sandbox; nothing else does. Headers are never kept."""

    hosts: tuple[str, ...]

    def __init__(self, *hosts: str) -> None:
        if not hosts:
            raise ValueError(
                "Record() lets nothing through; name the hosts, for example Record('api.anthropic.com')"
            )
        object.__setattr__(self, "hosts", hosts)

    def lets(self, host: str) -> bool:
        """Whether requests to this host leave."""
        return host in self.hosts


Models: TypeAlias = Block | Record


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request that left for a model provider. `size` is that of its body in bytes."""

    method: str
    host: str
    path: str
    size: int
