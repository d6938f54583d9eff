"""The runner: a scenario, an agent and a fresh world, turn by turn, to a frozen trajectory and its findings.

Budgets, lost answers and an agent's own exceptions end a run with a reason, never with a traceback.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sandtrail.fakes import SERVICES, Service, World
from sandtrail.fakes.state import Call
from sandtrail.ledgers import Delivery, Finding, Overall
from sandtrail.ledgers.conversation import Answered, Calls, Decided, Message, Reply, ToolCall, UserSaid
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.money import amount_text
from sandtrail.ledgers.specs import SYMBOL
from sandtrail.ledgers.trajectory import Ended, Trajectory
from sandtrail.ledgers.trees import as_object
from sandtrail.sandbox.agents import Agent, OffScript
from sandtrail.scenarios import Scenario, judge
from sandtrail.scenarios.judges import unexpected_writes

MAX_STEPS = 30
"""How many decisions a run may take."""

_MENTION = re.compile(r"\{(" + SYMBOL.pattern + r")(?:\.(\w+))?\}")


@dataclass(frozen=True)
class Result:
    """One run, judged."""

    scenario: Scenario = field(repr=False)
    trajectory: Trajectory = field(repr=False)
    findings: tuple[Finding, ...]
    unexpected_writes: int

    @property
    def overall(self) -> Overall:
        """The verdict."""
        return overall_of(self.findings)


def run(
    scenario: Scenario,
    agent: Agent,
    *,
    seed: int = 0,
    repetition: int = 1,
    services: Iterable[type[Service]] = SERVICES,
    max_steps: int = MAX_STEPS,
) -> Result:
    """Drive an agent through a scenario in a world of its own, and judge what happened."""
    run_name = f"{scenario.id}-{repetition}"
    with World.open(scenario.world, seed, services=services, run=run_name) as world:
        drive = _Drive(world, agent, max_steps)
        ended, detail = drive.through(scenario)
        unfired = tuple(str(fault) for fault in world.faults.unfired)
        trajectory = Trajectory(
            scenario.id,
            agent.name,
            seed,
            repetition,
            tuple(drive.messages),
            world.ledger.settled(),
            ended,
            detail,
            unfired,
        )
        findings = judge(scenario.expect, trajectory)
        return Result(scenario, trajectory, findings, unexpected_writes(scenario.expect, trajectory))


class _Drive:
    """One run on its way."""

    def __init__(self, world: World, agent: Agent, max_steps: int) -> None:
        self._world, self._agent, self._left = world, agent, max_steps
        self._catalog = world.catalog
        self.messages: list[Message] = []

    def through(self, scenario: Scenario) -> tuple[Ended, str]:
        """All turns of the user; why it ended."""
        for template in scenario.says:
            self.messages.append(UserSaid(rendered(template, self._world)))
            while True:
                if self._left <= 0:
                    return Ended.MAX_STEPS, "the agent did not end within its budget of steps"
                self._left -= 1
                try:
                    decision = self._agent.decide(tuple(self.messages), self._catalog)
                except OffScript as error:
                    return Ended.OFF_SCRIPT, str(error)
                except Exception as error:  # noqa: BLE001  an agent may raise anything; that is a result
                    return Ended.AGENT_ERROR, f"{type(error).__name__}: {error}"
                flaw = _flaw(decision)
                if flaw:
                    return Ended.AGENT_ERROR, flaw
                self.messages.append(Decided(decision))
                if isinstance(decision, Reply):
                    break
                self._act(decision)
        return Ended.DONE, ""

    def _act(self, decision: Calls) -> None:
        for call in decision.calls:
            self.messages.append(self._answered(call))

    def _answered(self, call: ToolCall) -> Answered:
        exchange = self._world.exchange(
            Call(call.tool, call.arguments, self._world.spec.principal, path="runner")
        )
        attempt = exchange.attempt
        if attempt.delivery is Delivery.LOST:
            return Answered(
                call, f"{call.tool}: no answer within the time limit", is_error=True, attempt=attempt.seq
            )
        return Answered(call, exchange.answer.text, is_error=not exchange.answer.ok, attempt=attempt.seq)


def _flaw(decision: Any) -> str:
    """What is wrong with what an agent returned; empty where it is a decision."""
    if isinstance(decision, Reply):
        text: Any = decision.text
        return "" if isinstance(text, str) else f"the reply's text is {text!r}"
    if not isinstance(decision, Calls):
        return f"it decided {decision!r}; wanted Calls or Reply"
    calls: Any = decision.calls
    for call in calls:
        arguments = as_object(call.arguments)
        if not isinstance(call.tool, str) or arguments is None:
            return f"it called {call.tool!r} with {call.arguments!r}; wanted a name and a dictionary"
        try:
            json.dumps(arguments)
        except (TypeError, ValueError, RecursionError) as error:
            return f"its arguments for {call.tool} are no JSON: {error}"
    return ""


def rendered(template: str, world: World) -> str:
    """A user message: `{$order.lamp.number}` becomes the row's value, `{$order.lamp}` its raw id."""

    def value(mention: re.Match[str]) -> str:
        if mention[2] is None:
            return world.id(mention[1])
        row = world.row(mention[1])
        found: Any = getattr(row, mention[2])
        fields = world.services.schema.by_entity[type(row)].by_name
        money = fields[mention[2]].money if mention[2] in fields else None
        return amount_text(found, getattr(row, money.currency)) if money else str(found)

    return _MENTION.sub(value, template)
