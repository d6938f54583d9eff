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
from pathlib import Path
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
        wanted = as_object(line.get("with")) or {}
        arguments = {name: _resolved(value, conversation) for name, value in wanted.items()}
        return Calls((ToolCall(f"call_{step + 1}", str(line["call"]), arguments),))


def scripted(scenario: str, name: str, *, folder: Path | None = None) -> Scripted:
    """A script of a scenario: `NAME.scripts.yaml` in the folder of its file, or in the shipped library.

    Raises OffScript where there is none of that name, or the file holds something else.
    """
    home = files("sandtrail.scenarios") / "library" if folder is None else folder
    file = home / f"{scenario}.scripts.yaml"
    if not file.is_file():
        where = "the library" if folder is None else str(folder)
        raise OffScript(f"there are no scripts for {scenario}; write {scenario}.scripts.yaml into {where}")
    try:
        programs = as_object(yaml.safe_load(file.read_text(encoding="utf-8"))) or {}
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise OffScript(f"{scenario}.scripts.yaml is no YAML: {str(error).splitlines()[0]}") from None
    program = as_list(programs.get(name))
    if program is None:
        raise OffScript(
            f"there is no script {name!r} for {scenario}; there are {', '.join(map(str, programs))}"
        )
    steps = [as_object(step) for step in program]
    if not all(step and ({"say"} == step.keys() or "call" in step) for step in steps):
        raise OffScript(
            f"{scenario}.scripts.yaml: each step of {name} is {{say: text}} or {{call: tool, with: {{...}}}}"
        )
    return Scripted(name, [step for step in steps if step])


def _resolved(value: Any, conversation: Conversation) -> Any:
    """A literal, or what stands at a pointer of the latest answer of a tool."""
    if (items := as_list(value)) is not None:
        return [_resolved(item, conversation) for item in items]
    fields = as_object(value)
    if fields is None:
        return value
    if "from" not in fields:
        return {name: _resolved(item, conversation) for name, item in fields.items()}
    tool, pointer = str(fields["from"]), str(fields.get("at"))
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
