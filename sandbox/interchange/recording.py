"""One run as somebody else recorded it, in our words: the seam between the readers of formats and the audit.

A reader says what is in a file and never judges it; what it cannot read is a flaw of the recording, never an exception.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.conversation import Conversation
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import Principal, ToolSpec
from sandtrail.ledgers.trajectory import Ended, Trajectory
from sandtrail.scenarios.contract import Contract


@dataclass(frozen=True)
class Tool:
    """A tool as a transcript or a tools file defines it. `read_only` is its hint, None where it carries none."""

    spec: ToolSpec
    read_only: bool | None = None


@dataclass(frozen=True)
class Recording:
    """One run of a file. `id` is unique within its source; `place` is where it stands ("runs.jsonl:14", "/3").

    `tools` is None where the transcript does not say what was offered. `registry` names the tools offered from a
    decision on (its number, from 0), where that changed. `flaws` are what is wrong with the recording itself.
    The rest is known only where an envelope says it. `saved` is a trajectory of ours, which is judged as it is.
    """

    id: str
    format: str
    place: str = ""
    conversation: Conversation = ()
    tools: tuple[Tool, ...] | None = None
    registry: tuple[tuple[int, tuple[str, ...]], ...] = ()
    withheld: tuple[str, ...] = ()
    flaws: tuple[Finding, ...] = ()
    ended: Ended = Ended.DONE
    contract: Contract | None = None
    bindings: tuple[Binding, ...] = ()
    ledger: tuple[Mapping[str, Any], ...] | None = None
    principal: Principal | None = None
    now: str = ""
    zone: str = "UTC"
    reward: float | None = None
    recorded: Mapping[str, Any] = field(default_factory=dict[str, Any])
    saved: Trajectory | None = None
