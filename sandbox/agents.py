"""The seam to agents, and the scripted one.

An agent is anything with a name and `decide(conversation, catalog) -> Decision`. A scripted agent follows a program
per scenario, kept beside the scenarios' library:

    scripted:
      - {call: search_orders, with: {number: "4412"}}
      - {call: list_payments, with: {order_id: {from: search_orders, at: /orders/0/id}}}
      - {say: There are two payments.}

It reads ids out of results by JSON pointer, never from bindings: what it can do, a model can do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, Protocol

import yaml

from sandtrail.ledgers.conversation import Answered, Calls, Conversation, Decided, Decision, Reply, ToolCall
from sandtrail.ledgers.sources import leaves
from sandtrail.ledgers.specs import Catalog
from sandtrail.ledgers.trees import as_list, as_object


class OffScript(LookupError):
    """A scripted agent has no line for where it is, or its pointer leads nowhere."""


class Agent(Protocol):
    """Whatever decides."""

    @property
    def name(self) -> str:
        """What reports call it."""
        ...

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
        """The next decision, given everything said and answered so far."""
        ...


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
        arguments = {name: _resolved(value, conversation) for name, value in line.get("with", {}).items()}
        return Calls((ToolCall(f"call_{step + 1}", str(line["call"]), arguments),))


def scripted(scenario: str, name: str) -> Scripted:
    """The shipped script of a scenario. Raises OffScript where there is none of that name."""
    file = files("sandtrail.scenarios") / "library" / f"{scenario}.scripts.yaml"
    if not file.is_file():
        raise OffScript(f"there are no scripts for {scenario}")
    programs: dict[str, list[dict[str, Any]]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    if name not in programs:
        raise OffScript(f"there is no script {name!r} for {scenario}; there are {', '.join(programs)}")
    return Scripted(name, programs[name])


def _resolved(value: Any, conversation: Conversation) -> Any:
    """A literal, or what stands at a pointer of the latest answer of a tool."""
    if (items := as_list(value)) is not None:
        return [_resolved(item, conversation) for item in items]
    fields = as_object(value)
    if fields is None:
        return value
    if "from" not in fields:
        return {name: _resolved(item, conversation) for name, item in fields.items()}
    tool, pointer = str(fields["from"]), str(fields["at"])
    answers = [
        message for message in conversation if isinstance(message, Answered) and message.call.tool == tool
    ]
    if not answers:
        raise OffScript(f"{tool} has not been called yet")
    found = dict(leaves(_json(answers[-1].text)))
    if pointer not in found:
        raise OffScript(f"{tool} answered nothing at {pointer}")
    return found[pointer]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return {}
