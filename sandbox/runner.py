"""The runner: a scenario, an agent and a fresh world, to a frozen trajectory and its verdict.

run(scenario, agent)         one run                    arun(scenario, agent)     the same in async code
Result                       what came of it: findings, trajectory, ledger, arguments with their sources
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import threading
from collections.abc import Callable, Coroutine, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib.metadata import version
from typing import Any

from sandtrail.fakes import SERVICES, Service
from sandtrail.ledgers import Finding, Ledger, Overall, Records
from sandtrail.ledgers.conversation import Decision
from sandtrail.ledgers.provenance import Traced, argument_of
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.trajectory import Ended, Made, Sees, Trajectory
from sandtrail.sandbox.agents import Agent, BlackBox, DecidesLater, Later, configuration_of, sent_digest
from sandtrail.sandbox.current import running
from sandtrail.sandbox.drive import Drive, briefing
from sandtrail.sandbox.limits import Limits
from sandtrail.sandbox.models import Block, Models
from sandtrail.sandbox.providers import WATCH
from sandtrail.sandbox.sandbox import Sandbox
from sandtrail.sandbox.toolbox import Toolbox, all_tools, offered, own_tool
from sandtrail.sandbox.waiting import at_once
from sandtrail.scenarios import Scenario
from sandtrail.scenarios.digests import digest_of
from sandtrail.scenarios.judge import VERSION, Verdict, judge, judge_first
from sandtrail.scenarios.replies import RULES_VERSION


@dataclass(frozen=True)
class Result:
    """One run, judged."""

    scenario: Scenario = field(repr=False)
    trajectory: Trajectory = field(repr=False)
    verdict: Verdict = field(repr=False)

    @property
    def findings(self) -> Records[Finding]:
        """What is held against the run, gravest first; notes that only inform stand in `verdict.findings`."""
        return self.verdict.graver()

    @property
    def overall(self) -> Overall:
        """The headline."""
        return self.verdict.overall

    @property
    def outcome(self) -> tuple[Overall, tuple[str, ...]]:
        """The headline and the codes of the findings: what must be equal where nothing that matters has changed."""
        return self.overall, tuple(sorted({finding.code for finding in self.findings}))

    @property
    def unexpected_writes(self) -> int:
        """How many committed effects the contract does not allow."""
        return self.verdict.unexpected_writes

    @property
    def ledger(self) -> Ledger:
        """The three books of the run."""
        return self.trajectory.ledger

    def calls(self, tool: str | None = None) -> tuple[Made, ...]:
        """The calls that were decided on, of one tool or all."""
        return tuple(one for one in self.trajectory.made if tool in (None, one.call.tool))

    @cached_property
    def origins(self) -> tuple[Traced, ...]:
        """Where each argument of each call came from."""
        return provenance(self.trajectory)

    def ungrounded(self) -> tuple[Traced, ...]:
        """The arguments whose values came from nowhere, or from the wrong place."""
        return tuple(traced for traced in self.origins if not traced.grounded)

    def argument(self, tool: str, name: str, *, nth: int = 1) -> Traced:
        """Where an argument of the nth call of a tool came from; `name` may reach inside: `lines[0].product_id`.

        Raises LookupError with what was called, or given, instead.
        """
        return argument_of(self.trajectory, self.origins, tool, name, nth=nth)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a run is set up, beside scenario and agent.

    `urls` maps base URLs of production to services, for agents that reach them by themselves; `models` is their model
    lane; `style` is that of the raw ids: typed (pay_7Q2M9XKD) or opaque. `tools` are functions of the user's own, offered beside the catalog. `forced` makes the agent decide what it
    says at these steps (from 0): it is marked in the trajectory. `payloads` is handed what a model provider was sent and
    answered, by scenario and repetition.
    """

    seed: int = 0
    repetition: int = 1
    services: tuple[type[Service], ...] = SERVICES
    limits: Limits = field(default=Limits())
    urls: Mapping[str, str] = field(default_factory=dict[str, str])
    models: Models = field(default=Block())
    tools: Sequence[Callable[..., Any]] = ()
    forced: Mapping[int, Decision] = field(default_factory=dict[int, "Decision"])
    freeze: bool = False
    loopback: bool = False
    style: str = "typed"
    cancel: threading.Event | None = None
    payloads: Callable[[str, int, Mapping[str, Any]], None] | None = None


def run(
    scenario: Scenario,
    agent: Agent | BlackBox | Callable[..., Any],
    *,
    seed: int | None = None,
    repetition: int | None = None,
    services: Iterable[type[Service]] = SERVICES,
    limits: Limits = Limits(),  # noqa: B008  a frozen value
    **others: Any,
) -> Result:
    """Drive an agent through a scenario in a world of its own, and judge what happened.

    Seed and repetition are those of the running test under pytest, else 0 and 1. `others` are those of `Setting`. An
    async agent runs in an event loop of its own; inside one, await `arun`.
    """
    chosen = _setting(seed, repetition, services=tuple(services), limits=limits, **others)
    return run_with(scenario, as_agent(agent), chosen)


def _setting(seed: int | None, repetition: int | None, **others: Any) -> Setting:
    current = running()
    if current is not None:
        seed = current.seed if seed is None else seed
        repetition = current.repetition if repetition is None else repetition
    return Setting(
        seed=0 if seed is None else seed, repetition=1 if repetition is None else repetition, **others
    )


async def arun(
    scenario: Scenario,
    agent: Agent | BlackBox | Callable[..., Any],
    *,
    seed: int | None = None,
    repetition: int | None = None,
    services: Iterable[type[Service]] = SERVICES,
    limits: Limits = Limits(),  # noqa: B008  as above
    **others: Any,
) -> Result:
    """`run` for async code, with the same options; an agent of a provider does not hold up the event loop."""
    chosen = _setting(seed, repetition, services=tuple(services), limits=limits, **others)
    found = as_agent(agent)
    return await _run(scenario, Later(found) if isinstance(found, DecidesLater) else found, chosen)


def run_with(scenario: Scenario, agent: Agent | BlackBox, setting: Setting) -> Result:
    """`run` with everything in one value."""
    return _finished(agent, _run(scenario, agent, setting))


def as_agent(agent: Agent | BlackBox | Callable[..., Any]) -> Agent | BlackBox:
    """An agent as it is, or a function as one: of (conversation, catalog) a decide-function, of (message) a black box.

    Raises TypeError for anything else.
    """
    if isinstance(agent, BlackBox) or hasattr(agent, "decide"):
        return agent  # type: ignore[return-value]  # pyright: ignore[reportReturnType]
    from sandtrail.sandbox.agents import Deciding  # noqa: PLC0415  as far as a function is concerned

    if not callable(agent):
        raise TypeError(
            f"{agent!r} is no agent: it has no decide(conversation, catalog) and cannot be called"
        )
    name = getattr(agent, "__name__", type(agent).__name__)
    wanted = [
        parameter
        for parameter in inspect.signature(agent).parameters.values()
        if parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD}
        and parameter.default is parameter.empty
    ]
    if len(wanted) == 2:
        return Deciding(name, agent)
    if len(wanted) == 1:
        return BlackBox(name, agent)
    raise TypeError(
        f"{name} takes {len(wanted)} arguments; an agent takes (conversation, catalog) or (message)"
    )


def _finished(agent: Agent | BlackBox, coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What a run comes to: without an event loop where the agent never waits, else in one of its own."""
    acts = agent.reply if isinstance(agent, BlackBox) else agent.decide
    if inspect.iscoroutinefunction(getattr(acts, "__self__", acts)) or inspect.iscoroutinefunction(acts):
        return asyncio.run(coroutine)
    return at_once(coroutine)


async def _run(scenario: Scenario, agent: Agent | BlackBox, setting: Setting) -> Result:
    run_name = f"{scenario.id}-{setting.repetition}"
    started = datetime.now(UTC)
    sandbox = Sandbox(
        scenario.world,
        seed=setting.seed,
        services=setting.services,
        urls=setting.urls,
        models=setting.models,
        freeze=setting.freeze,
        loopback=setting.loopback,
        style=setting.style,
        run=run_name,
    )
    with _Surroundings(sandbox, agent), _watched(scenario, setting):
        boxes = boxes_of(scenario, sandbox, setting.tools)
        drive = Drive(scenario, sandbox.world, agent, boxes, setting.limits, setting.forced, setting.cancel)
        ended, detail = await drive.through()
        trajectory = _recorded(scenario, agent, setting, sandbox, drive, ended, detail, started)
        verdict = (judge_first if scenario.first_only else judge)(scenario.expect, trajectory)
        result = Result(scenario, trajectory, verdict)
    current = running()
    if current is not None:
        current.results.append(result)
    return result


def boxes_of(
    scenario: Scenario, sandbox: Sandbox, own: Sequence[Callable[..., Any]] = ()
) -> tuple[Toolbox, ...]:
    """The toolboxes of a scenario over a sandbox's services."""
    tools = all_tools(sandbox.world.services, scenario.catalog)
    return offered(scenario.offer, tools, tuple(own_tool(function) for function in own))


class _Surroundings:
    """A sandbox for one run: clients are intercepted for a black box only; the judges settle what a test would."""

    def __init__(self, sandbox: Sandbox, agent: Agent | BlackBox) -> None:
        self._sandbox, self._intercepts = sandbox, isinstance(agent, BlackBox)

    def __enter__(self) -> None:
        if self._intercepts:
            self._sandbox.__enter__()

    def __exit__(self, *_: object) -> None:
        if self._intercepts:
            self._sandbox.leave()
        self._sandbox.world.close()


@contextmanager
def _watched(scenario: Scenario, setting: Setting) -> Generator[None]:
    """Payloads of this run go where the setting says; of a run inside of it, where that one's does."""
    wanted = setting.payloads
    watch = None if wanted is None else partial(wanted, scenario.id, setting.repetition)
    token = WATCH.set(watch)
    try:
        yield
    finally:
        WATCH.reset(token)


def _recorded(
    scenario: Scenario,
    agent: Agent | BlackBox,
    setting: Setting,
    sandbox: Sandbox,
    drive: Drive,
    ended: Ended,
    detail: str,
    started: datetime,
) -> Trajectory:
    sees = frozenset({Sees.HTTP}) if isinstance(agent, BlackBox) else frozenset({Sees.MODEL, Sees.TOOLS})
    world = sandbox.world
    recorded = {
        "sandtrail": version("sandtrail"),
        "judges": VERSION,
        "reply_rules": RULES_VERSION,
        "scenario_revision": scenario.revision,
        "scenario_digest": digest_of(scenario),
        "catalogs": [
            {
                "from_step": one.step,
                "digest": one.catalog.digest,
                "sent_digest": sent_digest(agent, one.catalog),
            }
            for one in drive.offers
        ],
        "prompt_digest": hashlib.sha256(briefing(scenario).encode()).hexdigest(),
        "model_ids": sorted({one.got for one in drive.requests if one.got}),
        "failed_requests": [{"status": one.status, "asked": one.asked} for one in drive.failed_requests],
        "provider": configuration_of(agent),
        "started": started.isoformat(timespec="milliseconds"),
        "ended": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "first_decision_seconds": drive.first_decision_seconds,
        "user": [
            {"cause": str(one.cause), "says": one.says, "detail": one.detail} for one in drive.transitions
        ],
    }
    return Trajectory(
        scenario.id,
        agent.name,
        setting.seed,
        setting.repetition,
        tuple(drive.messages),
        sandbox.ledger.settled(),
        ended,
        detail,
        tuple(str(fault) for fault in world.faults.unfired),
        tuple(drive.offers),
        world.spec.principal,
        sees,
        world.spec.now.isoformat(),
        world.spec.zone,
        recorded,
    )
