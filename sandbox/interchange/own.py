"""Our own trajectories, one saved line each (`sandtrail.ledgers.saved`). They are judged as they are."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sandtrail.ledgers.saved import BadTrajectory, load
from sandtrail.ledgers.trajectory import Offer, Trajectory
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.interchange.reading import unreadable
from sandtrail.sandbox.interchange.recording import Recording, Tool

FORMAT = "sandtrail"


def recognises(value: object) -> bool:
    """Whether a document is a saved trajectory."""
    fields = as_object(value)
    return fields is not None and {"scenario", "conversation", "ledger", "repetition"} <= fields.keys()


def read(value: object, name: str) -> Iterator[Recording]:
    """The one trajectory in a document."""
    try:
        trajectory = load(json.dumps(value))
    except BadTrajectory as error:
        at = f"{name}#{error.at}" if error.at else name
        yield unreadable(FORMAT, name, f"a saved trajectory of ours, and not whole: {error.reason}", at=at)
        return
    yield _recording(trajectory, name)


def _recording(trajectory: Trajectory, name: str) -> Recording:
    first = next(iter(trajectory.offers), None)
    return Recording(
        name,
        FORMAT,
        conversation=trajectory.conversation,
        tools=None if first is None else _tools(first),
        withheld=() if first is None else first.withheld,
        ended=trajectory.ended,
        bindings=trajectory.ledger.bindings,
        principal=trajectory.principal,
        now=trajectory.now,
        zone=trajectory.zone,
        recorded=trajectory.recorded,
        saved=trajectory,
    )


def _tools(offer: Offer) -> tuple[Tool, ...]:
    facts = offer.tools
    return tuple(
        Tool(
            spec,
            not facts[spec.name].writes if spec.name in facts and facts[spec.name].operation else None,
        )
        for spec in offer.catalog.tools
    )
