"""Arguments of recorded runs with labels by hand: what is in the sample, and each as a small trajectory.

An entry holds the facts that decide its label, in order, and the labelled call, which comes last:

    {"system": text} | {"user": text} | {"agent": text}
    {"call": tool, "arguments": {...}, "result": value, "error": bool}      answered before the labelled call was decided
    {..., "together": true}                                                 decided in one batch with the labelled call

The people and the runs are those of public benchmarks (sierra-research/tau-bench and tau2-bench, MIT).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sandtrail.ledgers import Access, Catalog, Grade, Ledger, ToolSpec
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Message,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.specs import OperationFact
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory

HERE = Path(__file__).parent
READS = ("get_", "find_", "list_", "search_", "calculate", "think")


@dataclass(frozen=True)
class Labelled:
    """One argument with its label. `number` is the place of the labelled call among the calls of the facts.

    `limit` says why no engine that compares values can come to this label; it is empty for nearly all.
    """

    id: str
    file: str
    drawn: str
    tool: str
    pointer: str
    value: Any
    verdicts: tuple[str, ...]
    grounded: bool
    reason: str
    limit: str
    arguments: Mapping[str, Any]
    facts: Sequence[Mapping[str, Any]]

    @property
    def number(self) -> int:
        return 1 + sum("call" in fact for fact in self.facts)


_PLAIN = sorted(set(Labelled.__dataclass_fields__) - {"verdicts", "limit"})


def sample() -> tuple[Labelled, ...]:
    """All entries, in their order."""
    entries: list[dict[str, Any]] = _read("provenance_sample.json")
    return tuple(
        Labelled(
            verdicts=tuple(entry["verdicts"]),
            limit=entry.get("limit", ""),
            **{name: entry[name] for name in _PLAIN},
        )
        for entry in entries
    )


def offer_of(labelled: Labelled) -> Offer:
    """The tools that were offered in the file's world."""
    world = labelled.file.partition("-")[0]
    tools: list[dict[str, Any]] = _read("provenance_tools.json")[world]
    specs = tuple(ToolSpec(tool["name"], tool["description"], tool["input_schema"]) for tool in tools)
    return Offer(0, Catalog(specs), {spec.name: _fact(spec.name) for spec in specs})


def trajectory_of(labelled: Labelled) -> Trajectory:
    """The facts and then the labelled call, which nothing answers."""
    return Trajectory(
        labelled.id,
        "recorded",
        0,
        1,
        tuple(_messages(labelled)),
        Ledger(Book("none", {}), grade=Grade.UNSEEN),
        offers=(offer_of(labelled),),
    )


def told(fact: Mapping[str, Any]) -> str:
    """The text that a fact lets the agent read; what the agent says itself is none."""
    if "call" in fact:
        result = fact["result"]
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    text: str = fact.get("system") or fact.get("user") or ""
    return text


def _read(name: str) -> Any:
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def _fact(name: str) -> ToolFact:
    access = Access.READ if name.startswith(READS) else Access.WRITE
    return ToolFact(name, OperationFact(name, "theirs", access))


def _messages(labelled: Labelled) -> Iterator[Message]:
    batch: list[tuple[ToolCall, Mapping[str, Any]]] = []
    for index, fact in enumerate(labelled.facts):
        if "call" not in fact:
            yield _said(fact)
            continue
        call = ToolCall(f"c{index}", fact["call"], fact["arguments"], len(batch))
        if fact.get("together"):
            batch.append((call, fact))
            continue
        yield Decided(Calls((call,)))
        yield Answered(call, told(fact), fact["error"])
    last = ToolCall("labelled", labelled.tool, labelled.arguments, len(batch))
    yield Decided(Calls((*(call for call, _ in batch), last)))
    for call, fact in batch:
        yield Answered(call, told(fact), fact["error"])


def _said(fact: Mapping[str, Any]) -> Message:
    if "agent" in fact:
        return Decided(Reply(fact["agent"]))
    return UserSaid(fact["user"]) if "user" in fact else Briefed(fact["system"])
