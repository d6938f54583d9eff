"""The seam to agents, and those that follow something written down.

    Agent       a name and decide(conversation, catalog) -> decision, sync or async
    BlackBox    a callable that owns its loop: agent(message) -> reply, sync or async
    Scripted    follows a program, one per scenario, kept beside the scenarios
    Replay      decides again what a recorded run decided
    Telling     what an agent may also say of itself, for the record: configuration_of, sent_digest

A program:

    scripted:
      - {call: search_orders, with: {number: "4412"}}
      - {call: list_payments, with: {order_id: {from: search_orders, at: /orders/0/id}}}
      - {calls: [{call: get_order, with: {...}}, {call: get_balance, with: {...}}], saying: One moment.}
      - {call: get_payment, with: {payment_id: {from: user, matching: "pay_[0-9A-Z]+"}}}
      - {say: There are two payments.}
    good: [scripted-another-way]      # further scripts of the file that must pass; all others must fail

It reads ids out of results by JSON pointer, or out of what the user said, never from bindings: what it can do, a model can do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import yaml

from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Conversation,
    Decided,
    Decision,
    Refused,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.specs import Catalog
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import as_list, as_object, leaves, parsed
from sandtrail.sandbox.redaction import redacted

REFERENCE = "scripted"
"""The script that is a scenario's reference run."""

_GOOD = "good"
"""The key that names further scripts that must pass."""


class OffScript(LookupError):
    """A scripted agent has no line for where it is, or its pointer leads nowhere."""


class Agent(Protocol):
    """Whatever decides."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def decide(
        self, conversation: Conversation, catalog: Catalog, /
    ) -> Decision | Decided | Awaitable[Decision | Decided]:
        """The next decision, given everything said and answered so far; `Decided` where there is more to record."""
        ...


@runtime_checkable
class Telling(Protocol):
    """An agent that also says how it was made, and which bytes it gives a model as tools: agents of providers do."""

    @property
    def configuration(self) -> Mapping[str, Any]:
        """Provider, model, options: JSON values, and no secrets among them."""
        ...

    def catalog_digest(self, catalog: Catalog, /) -> str:
        """SHA-256 over the tools of a request, as they are sent; empty where none are."""
        ...


@dataclass(frozen=True)
class BlackBox:
    """An agent that owns its loop and reaches the services by itself; only its requests are seen."""

    name: str
    reply: Callable[[str], str | Awaitable[str]]


@runtime_checkable
class DecidesLater(Protocol):
    """An agent that can also decide without holding up the event loop: agents of providers do."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def adecide(self, conversation: Conversation, catalog: Catalog, /) -> Awaitable[Decision | Decided]:
        """As `decide`."""
        ...


@dataclass(frozen=True)
class Later:
    """An agent whose decisions are awaited, for runs in an event loop that others run in too."""

    agent: DecidesLater

    @property
    def name(self) -> str:
        """That of the agent."""
        return self.agent.name

    @property
    def configuration(self) -> dict[str, Any]:
        """What the agent says of itself."""
        return configuration_of(self.agent)

    def catalog_digest(self, catalog: Catalog, /) -> str:
        """What the agent says of the tools it sends."""
        return sent_digest(self.agent, catalog)

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Awaitable[Decision | Decided]:
        """The next decision, awaited."""
        return self.agent.adecide(conversation, catalog)


def configuration_of(agent: object) -> dict[str, Any]:
    """How an agent says it was made, without what looks like a key; nothing of one that does not say, or says no JSON."""
    try:
        said = dict(getattr(agent, "configuration", {}))
        return as_object(json.loads(redacted(json.dumps(said, allow_nan=False)))) or {}
    except Exception:  # noqa: BLE001  somebody's agent may have anything under that name; its run is not lost for it
        return {}


def sent_digest(agent: object, catalog: Catalog) -> str:
    """SHA-256 over the bytes that a model is given as its tools; empty where the agent does not say."""
    try:
        return str(agent.catalog_digest(catalog)) if isinstance(agent, Telling) else ""
    except Exception:  # noqa: BLE001  as above; what a provider's agent cannot send, it cannot decide on either
        return ""


@dataclass(frozen=True)
class Deciding:
    """A decide-function as an agent."""

    name: str
    function: Callable[[Conversation, Catalog], Any]

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Any:
        """What the function decides."""
        return self.function(conversation, catalog)


@dataclass(frozen=True)
class Replay:
    """The decisions of a recorded run, again: the same ids are right only under the same seed and repetition."""

    recorded: Trajectory = field(repr=False)

    @property
    def name(self) -> str:
        """The agent that was recorded."""
        return f"replay of {self.recorded.agent}"

    def decide(self, conversation: Conversation, _: Catalog, /) -> Decided:
        """The recorded decision of this step. Raises OffScript after the last."""
        step = sum(isinstance(message, Decided) for message in conversation)
        steps = self.recorded.steps
        if step >= len(steps):
            raise OffScript(f"the recorded run ends after {len(steps)} steps")
        return steps[step].decided


@dataclass(frozen=True)
class Scripted:
    """An agent that follows a program. The step is the number of decisions made: it keeps no state of its own."""

    name: str
    program: Sequence[Mapping[str, Any]] = field(repr=False)

    def decide(self, conversation: Conversation, _: Catalog, /) -> Decision:
        """The program's line for this step. Raises OffScript where it has none."""
        step = sum(isinstance(message, Decided) for message in conversation)
        if step >= len(self.program):
            raise OffScript(f"the script {self.name} ends after {len(self.program)} steps")
        line = self.program[step]
        if "say" in line:
            return Reply(str(line["say"]))
        if "refuse" in line:
            return Refused(str(line["refuse"]))
        lines = [as_object(one) or {} for one in as_list(line.get("calls")) or [line]]
        calls = tuple(_call(one, step, batch, conversation) for batch, one in enumerate(lines))
        return Calls(calls, str(line.get("saying", "")))


def _call(line: Mapping[str, Any], step: int, batch: int, conversation: Conversation) -> ToolCall:
    """A line's call; `raw` is argument text as it is, for what a model may send and a dictionary cannot."""
    name = f"call_{step + 1}" if batch == 0 else f"call_{step + 1}_{batch + 1}"
    if "raw" in line:
        return ToolCall.read(name, str(line["call"]), str(line["raw"]), batch=batch)
    wanted = as_object(line.get("with")) or {}
    arguments = {key: _resolved(value, conversation) for key, value in wanted.items()}
    return ToolCall(name, str(line["call"]), arguments, batch)


def scripted(scenario: str, name: str, *, folder: Path | None = None) -> Scripted:
    """A script of a scenario: `NAME.scripts.yaml` in the folder of its file, or in the shipped library.

    Raises OffScript where there is none of that name, or the file holds something else.
    """
    programs = _scripts(scenario, folder)
    program = None if name == _GOOD else as_list(programs.get(name))
    if program is None:
        known = ", ".join(str(one) for one in programs if one != _GOOD)
        raise OffScript(f"there is no script {name!r} for {scenario}; there are {known}")
    steps = [as_object(step) for step in program]
    if not all(
        step and (step.keys() <= {"say", "refuse"} or "call" in step or "calls" in step) for step in steps
    ):
        raise OffScript(
            f"{scenario}.scripts.yaml: each step of {name} is {{say: text}}, {{call: tool, with: {{...}}}} or {{calls: [...]}}"
        )
    return Scripted(name, [step for step in steps if step])


def good_scripts(scenario: str, *, folder: Path | None = None) -> tuple[str, ...]:
    """The scripts of a scenario that must pass: its reference run, and those that its file calls `good`.

    Raises OffScript where there are no scripts, or `good` is no list of other scripts of the file.
    """
    programs = _scripts(scenario, folder)
    named = as_list(programs.get(_GOOD, []))
    others = [name for name in programs if name not in {_GOOD, REFERENCE}]
    if named is None or not all(isinstance(name, str) for name in named) or len(set(named)) < len(named):
        raise OffScript(f"{scenario}.scripts.yaml: good is a list of names of scripts, each once")
    for name in named:
        if name not in others:
            reason = (
                "it is good anyway"
                if name == REFERENCE
                else f"there are {', '.join(map(str, others)) or 'none'}"
            )
            raise OffScript(f"{scenario}.scripts.yaml: good names {name!r}; {reason}")
    return (REFERENCE, *named)


def _scripts(scenario: str, folder: Path | None) -> dict[str, Any]:
    """What the file of a scenario's scripts holds. Raises OffScript."""
    home = files("sandtrail.scenarios") / "library" if folder is None else folder
    file = home / f"{scenario}.scripts.yaml"
    if not file.is_file():
        where = "the library" if folder is None else str(folder)
        raise OffScript(f"there are no scripts for {scenario}; write {scenario}.scripts.yaml into {where}")
    try:
        return as_object(_programs(file.read_text(encoding="utf-8"))) or {}
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise OffScript(f"{scenario}.scripts.yaml is no YAML: {str(error).splitlines()[0]}") from None


@lru_cache(maxsize=256)
def _programs(text: str) -> Any:
    """The programs in a YAML text, read once; nobody changes them."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def _resolved(value: Any, conversation: Conversation) -> Any:
    """A literal, or what stands at a pointer of an answer of a tool (the latest, or the `answer`-th)."""
    if (items := as_list(value)) is not None:
        return [_resolved(item, conversation) for item in items]
    fields = as_object(value)
    if fields is None:
        return value
    if "from" not in fields:
        return {name: _resolved(item, conversation) for name, item in fields.items()}
    if fields["from"] == "user":
        return _said(str(fields.get("matching")), conversation)
    tool, pointer = str(fields["from"]), str(fields.get("at"))
    answers = [
        message for message in conversation if isinstance(message, Answered) and message.call.tool == tool
    ]
    if not answers:
        raise OffScript(f"{tool} has not been called yet")
    number = fields.get("answer", len(answers))
    if not isinstance(number, int) or not 1 <= number <= len(answers):
        raise OffScript(f"{tool} has no answer {number}; it has answered {len(answers)} times")
    found = dict(leaves(parsed(answers[number - 1].text)))
    if pointer not in found:
        raise OffScript(f"{tool} answered nothing at {pointer}")
    return found[pointer]


def _said(pattern: str, conversation: Conversation) -> str:
    """The first text of the user's that a pattern matches, the latest message first."""
    for message in reversed(conversation):
        if isinstance(message, UserSaid) and (found := re.search(pattern, message.text)):
            return found[0]
    raise OffScript(f"the user has said nothing that matches {pattern!r}")
