"""A public case as the product takes it: its transcript, tools, contract and reported ledger. Nothing is judged here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sandtrail.ledgers import Access, Catalog, Finding, Ledger, Overall, Principal, ToolSpec
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import Answered, Conversation, Decided, ToolCall
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.specs import OperationFact
from sandtrail.ledgers.trajectory import Offer, Sees, ToolFact, Trajectory
from sandtrail.ledgers.words import Grade
from sandtrail.sandbox import messages_anthropic, messages_openai
from sandtrail.sandbox.reported import effect_name, facts_of, reported_ledger
from sandtrail.sandbox.wire_law import anthropic_law, openai_law
from sandtrail.scenarios import Contract, WantedArgument, WantedEffect
from sandtrail.scenarios.contract import ArgumentsPolicy, Clarification, Stated
from sandtrail.scenarios.judge import Verdict, judge

FOLDER = Path(__file__).parent / "cases"


def case(name: str) -> dict[str, Any]:
    (file,) = FOLDER.glob(f"{name}*.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@dataclass(frozen=True)
class Judged:
    """What the product says of a case."""

    overall: Overall
    findings: tuple[Finding, ...]
    verdict: Verdict | None = None
    trajectory: Trajectory | None = None

    @property
    def codes(self) -> list[str]:
        return [finding.code for finding in self.findings]

    def places(self, code: str) -> list[str]:
        return [finding.at for finding in self.findings if finding.code == code]


def judged(given: Mapping[str, Any]) -> Judged:
    """A transcript: legal or not at all; then read and judged."""
    flaws = (anthropic_law if given["format"] == "anthropic" else openai_law)(given["messages"])
    if flaws:
        findings = tuple(Finding(flaw.code, flaw.id or flaw.at, flaw.reason) for flaw in flaws)
        return Judged(overall_of(findings), findings)
    reader = messages_anthropic if given["format"] == "anthropic" else messages_openai
    conversation = reader.read_messages(given["messages"], given.get("stop_reason"))
    trajectory = trajectory_of(given, conversation)
    verdict = judge(contract_of(given["contract"]), trajectory)
    return Judged(verdict.overall, verdict.findings, verdict, trajectory)


def trajectory_of(given: Mapping[str, Any], conversation: Conversation) -> Trajectory:
    calls = {message.call.id: message.call for message in conversation if isinstance(message, Answered)}
    ledger, attempts = reported_ledger(given.get("ledger", []), calls)
    if "ledger" not in given:
        ledger = Ledger(Book("none", {}), grade=Grade.UNSEEN)
    linked = tuple(
        replace(message, attempt=attempts.get(message.call.id)) if isinstance(message, Answered) else message
        for message in conversation
    )
    principal = given.get("principal", {})
    clock = given.get("clock", {})
    return Trajectory(
        "case",
        "recorded",
        0,
        1,
        linked,
        ledger,
        offers=offers_of(given, conversation),
        principal=Principal("agent", tenants=(principal["tenant"],)) if "tenant" in principal else None,
        now=clock.get("now_utc", ""),
        zone=clock.get("user_zone", "UTC"),
    )


def offers_of(given: Mapping[str, Any], conversation: Conversation) -> tuple[Offer, ...]:
    tools = {tool["name"]: tool for tool in given["tools"]}
    withheld = tuple(given.get("hidden_tools", ()))
    registry: list[dict[str, Any]] = given.get("turn_registry") or [{"from_message": 0, "tools": list(tools)}]
    decided = [
        index for index, message in enumerate(given.get("messages", ())) if message["role"] == "assistant"
    ]
    return tuple(
        Offer(
            sum(index < entry["from_message"] for index in decided),
            Catalog(tuple(spec_of(tools[name]) for name in entry["tools"])),
            {name: fact_of(tools[name]) for name in entry["tools"]},
            withheld,
        )
        for entry in registry
    )


def spec_of(tool: Mapping[str, Any]) -> ToolSpec:
    schema = tool.get("input_schema") or tool.get("inputSchema") or {"type": "object"}
    return ToolSpec(tool["name"], tool.get("description", ""), schema)


def fact_of(tool: Mapping[str, Any]) -> ToolFact:
    hint = tool.get("annotations", {}).get("readOnlyHint")
    writes = hint is False or (hint is None and "Writes" in tool.get("description", ""))
    said = tool.get("description", "")
    deprecated = said.partition("Use ")[2].rstrip(".") if said.startswith("DEPRECATED") else ""
    fact = OperationFact(tool["name"], "theirs", Access.WRITE if writes else Access.READ)
    return ToolFact(tool["name"], fact, deprecated=deprecated)


def contract_of(given: Mapping[str, Any]) -> Contract:
    read_only = given.get("intent") == "read_only"
    effects = tuple(wanted(effect) for effect in given.get("allowed_effects", ()))
    return Contract(
        read_only=read_only and not effects,
        frozen=bool(given.get("freeze")),
        first=tuple(given["allowed_first_tools"]) if "allowed_first_tools" in given else None,
        forbid=dict.fromkeys(given.get("forbidden_tools", ()), "the case forbids it"),
        effects=effects,
        arguments=tuple(
            WantedArgument(name.partition(".")[0], name.partition(".")[2], value)
            for name, value in given.get("arguments", {}).items()
        ),
        clarification=Clarification.NOT_NEEDED
        if given.get("clarification") == "forbidden"
        else Clarification.ALLOWED,
        states=tuple(
            Stated(str(n), near=(what[:6],)) for what, n in given.get("answer_must_state", {}).items()
        ),
        arguments_policy=ArgumentsPolicy(given.get("args_policy", "strict")),
        closed=given.get("extra_args") == "forbid",
    )


def wanted(effect: Mapping[str, Any]) -> WantedEffect:
    return WantedEffect(effect_name(effect["op"]), facts_of(effect), times=effect.get("max", 1))


def books_only(lines: list[Mapping[str, Any]]) -> Trajectory:
    """A ledger without a conversation: only its effects can be judged."""
    ledger, _ = reported_ledger(lines, {})
    return Trajectory("case", "recorded", 0, 1, (), ledger, sees=frozenset({Sees.HTTP}))


def decided(decision: Decided) -> Trajectory:
    """One decision, and nothing else."""
    return Trajectory("case", "recorded", 0, 1, (decision,), Ledger(Book("none", {}), grade=Grade.UNSEEN))


def call_named(trajectory: Trajectory, call_id: str) -> str:
    """Where findings about a call are, by the id it has in the transcript."""
    return next(made.at for made in trajectory.made if made.call.id == call_id)


__all__ = ["ToolCall", "books_only", "call_named", "case", "contract_of", "decided", "judged", "spec_of"]
