"""Two catalogs beside each other: what a server changed about tools that were approved by name.

catalog.changed   a text, or a part of a schema       at "refund_payment.description", "refund_payment.inputSchema.properties.bcc"
                  (as the Model Context Protocol spells it)
catalog.added · catalog.removed · catalog.order_changed
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.scenarios.canonical import equal


def catalog_changes(before: Catalog, after: Catalog) -> tuple[Finding, ...]:
    """Every difference, tool by tool, gravest first; both digests stand in the evidence."""
    evidence = (f"before {before.digest}", f"after {after.digest}")
    ours = {tool.name: tool for tool in before.tools}
    theirs = {tool.name: tool for tool in after.tools}
    found: list[Finding] = []
    for name, tool in ours.items():
        if name not in theirs:
            found.append(Finding("catalog.removed", name, f"{name} is no longer offered", evidence))
            continue
        for place, reason in _differences(tool, theirs[name]):
            found.append(Finding("catalog.changed", f"{name}.{place}", reason, evidence))
    found += [
        Finding("catalog.added", name, f"{name} is new", evidence) for name in theirs if name not in ours
    ]
    kept = [name for name in ours if name in theirs]
    if kept != [name for name in theirs if name in ours]:
        reason = f"the order was {', '.join(kept)}"
        found.append(Finding("catalog.order_changed", "tools", reason, evidence))
    return tuple(sorted(found, key=lambda finding: -finding.severity.rank))


def _differences(before: ToolSpec, after: ToolSpec) -> Iterator[tuple[str, str]]:
    if before.description != after.description:
        yield "description", f"was {before.description!r}, is {after.description!r}"
    yield from _inside(dict(before.input_schema), dict(after.input_schema), "inputSchema")


def _inside(before: Any, after: Any, place: str) -> Iterator[tuple[str, str]]:
    """The deepest places at which two schemas differ."""
    ours, theirs = as_object(before), as_object(after)
    if ours is not None and theirs is not None:
        for key in dict.fromkeys((*ours, *theirs)):
            if key not in theirs:
                yield f"{place}.{key}", f"{key} is gone: was {_short(ours[key])}"
            elif key not in ours:
                yield f"{place}.{key}", f"{key} is new: {_short(theirs[key])}"
            else:
                yield from _inside(ours[key], theirs[key], f"{place}.{key}")
        return
    if as_list(before) is not None and as_list(after) is not None and place.endswith(".required"):
        before, after = sorted(before, key=str), sorted(after, key=str)  # an order that means nothing
    if not equal(before, after):
        yield place, f"was {_short(before)}, is {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:79]}…"
