"""The toolbox: what is behind each tool that the agent sees.

    Tool      a shown name and spec, over an operation, the user's own function, or a canned reply
    Toolbox   the tools offered at a step, those withheld, and the way into the world
    offered   the toolboxes of a scenario, one for each turn at which the catalog changes

A name that is not offered is refused, whatever it resembles: nothing is dispatched to a neighbour.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from sandtrail.fakes import World
from sandtrail.fakes.image import Services
from sandtrail.fakes.operations import Operation
from sandtrail.fakes.state import Call
from sandtrail.ledgers import Delivery, Outcome, Principal
from sandtrail.ledgers.conversation import Answered, ToolCall
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trajectory import Offer, ToolFact
from sandtrail.scenarios.scenario import CatalogChange, CatalogFile, Offered, ToolEntry


@dataclass(frozen=True)
class Tool:
    """One tool. `name` is what scenarios call it; `spec.name` is what the agent sees."""

    name: str
    spec: ToolSpec
    operation: Operation | None = None
    function: Callable[..., Any] | None = None
    canned: Any = None
    deprecated: str = ""

    @property
    def shown(self) -> str:
        """The name that the agent sees."""
        return self.spec.name

    @cached_property
    def fact(self) -> ToolFact:
        """What judges know of it."""
        if self.operation is None:
            return ToolFact(self.name, deprecated=self.deprecated)
        slots = {parameter.name: parameter.slot for parameter in self.operation.parameters}
        deprecated = self.deprecated or self.operation.declared.deprecated or ""
        return ToolFact(self.name, self.operation.fact, slots, deprecated)


def tool_of(operation: Operation, entry: ToolEntry | None = None) -> Tool:
    """An operation as a tool, under the name and with the words of a catalog's entry."""
    spec = operation.tool
    if entry is None:
        return Tool(spec.name, spec, operation)
    said = entry.description if entry.description is not None else spec.description
    if entry.deprecated and entry.description is None:
        said = f"Deprecated: use {entry.deprecated}. {said}"
    return Tool(
        entry.name,
        ToolSpec(entry.name, said, spec.input_schema),
        operation,
        deprecated=entry.deprecated,
    )


def own_tool(function: Callable[..., Any]) -> Tool:
    """A function of the user's own as a tool: its docstring is the description, its annotations the schema.

    Raises ValueError where it has no docstring or a parameter has no annotation.
    """
    from pydantic import ConfigDict, create_model  # noqa: PLC0415  only for functions of one's own

    from sandtrail.fakes.operations import plain_schema  # noqa: PLC0415

    name, said = function.__name__, inspect.getdoc(function)
    if not said:
        raise ValueError(f"tool {name}: it has no docstring; that is the description the agent reads")
    fields: dict[str, Any] = {}
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.annotation is parameter.empty:
            raise ValueError(f"tool {name}: parameter {parameter.name} has no annotation")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (parameter.annotation, default)
    model = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    description = re.sub(r"\s+", " ", said).strip()
    return Tool(name, ToolSpec(name, description, plain_schema(model.model_json_schema())), function=function)


@dataclass(frozen=True)
class Toolbox:
    """The tools offered at a step, in order; `withheld` exist and are not offered."""

    tools: tuple[Tool, ...]
    withheld: tuple[Tool, ...] = ()
    turn: int = 1

    @cached_property
    def catalog(self) -> Catalog:
        """What the agent is offered."""
        return Catalog(tuple(tool.spec for tool in self.tools))

    @cached_property
    def _shown(self) -> Mapping[str, Tool]:
        return {tool.shown: tool for tool in self.tools}

    def offer(self, step: int) -> Offer:
        """This toolbox as the trajectory keeps it: offered from a step on."""
        facts = {tool.shown: tool.fact for tool in self.tools}
        hidden = tuple(dict.fromkeys(name for tool in self.withheld for name in (tool.shown, tool.name)))
        return Offer(step, self.catalog, facts, hidden)

    def act(self, world: World, call: ToolCall, principal: Principal) -> Answered:
        """Carry out one call; whatever becomes of it is an answer, never an exception."""
        tool = self._shown.get(call.tool)
        if tool is None:
            return self._refused(world, call)
        if call.flaw:
            note = world.note(
                tool.name, Outcome.INVALID, detail=call.flaw, path="runner", arguments=call.text, status=400
            )
            return _told(call, _problem("arguments", call.flaw, 400), note.seq)
        if tool.operation is not None:
            return _exchanged(world, tool.operation, call, principal)
        if tool.function is not None:
            return _own(world, tool.function, call)
        return Answered(call, json.dumps(tool.canned, ensure_ascii=False), is_error=False)

    def _refused(self, world: World, call: ToolCall) -> Answered:
        hidden = any(call.tool in (tool.shown, tool.name) for tool in self.withheld)
        outcome = Outcome.UNAVAILABLE if hidden else Outcome.UNKNOWN
        detail = "it exists, and is not offered now" if hidden else "there is no such tool"
        note = world.note(
            call.tool[:200], outcome, detail=detail, path="runner", arguments=call.text, status=404
        )
        names = ", ".join(tool.shown for tool in self.tools)
        said = f"There is no tool {call.tool[:80]}. The tools are {names}."
        return _told(call, _problem("no_such_tool", said, 404), note.seq)


def _problem(rule: str, detail: str, status: int) -> str:
    body = {"type": f"urn:sandtrail:problem:{rule}", "status": status, "rule": rule, "detail": detail}
    return json.dumps(body, ensure_ascii=False)


def _told(call: ToolCall, text: str, attempt: int) -> Answered:
    return Answered(call, text, is_error=True, attempt=attempt, attempts=(attempt,))


def _exchanged(world: World, operation: Operation, call: ToolCall, principal: Principal) -> Answered:
    given = call.arguments if call.raw is None else (call.raw if call.raw.strip() else "{}")
    exchange = world.exchange(Call(operation.name, given, principal, path="runner"))
    seq = exchange.attempt.seq
    if exchange.attempt.delivery is Delivery.LOST:
        return _told(call, f"{call.tool}: no answer within the time limit", seq)
    answer = exchange.answer
    return Answered(call, answer.text, is_error=not answer.ok, attempt=seq, attempts=(seq,))


def _own(world: World, function: Callable[..., Any], call: ToolCall) -> Answered:
    """Call the user's own function; the attempts it made are those that came into the books meanwhile."""
    before = len(world.ledger.attempts())
    try:
        value = function(**call.arguments)
        text, failed = value if isinstance(value, str) else json.dumps(value, default=str), False
    except Exception as error:  # noqa: BLE001  whatever a tool raises is its answer
        text, failed = f"{type(error).__name__}: {error}", True
    made = tuple(range(before + 1, len(world.ledger.attempts()) + 1))
    return Answered(call, text, is_error=failed, attempt=made[0] if made else None, attempts=made)


# -- from a scenario -------------------------------------------------------------------------------------


class BadOffer(LookupError):
    """An offer names a tool that its catalog does not have. `part` says where in the scenario, `name` which."""

    def __init__(self, part: str, name: str, known: Sequence[str]) -> None:
        self.part, self.name, self.known = part, name, tuple(known)
        super().__init__(f"{part}: no tool {name!r}")


def all_tools(services: Services, catalog: CatalogFile | None = None) -> tuple[Tool, ...]:
    """The tools of a catalog file, or every operation. Raises BadOffer for an operation that the services lack."""
    if catalog is None:
        return tuple(tool_of(operation) for operation in services.operations.values())
    return tuple(_entry(services, entry) for entry in catalog.tools)


def _entry(services: Services, entry: ToolEntry) -> Tool:
    if entry.operation is None:
        said = entry.description or ""
        return Tool(
            entry.name,
            ToolSpec(entry.name, said, entry.input_schema),
            canned=entry.answers,
            deprecated=entry.deprecated,
        )
    operation = services.operations.get(entry.operation)
    if operation is None:
        raise BadOffer(f"tools.{entry.name}", entry.operation, list(services.operations))
    return tool_of(operation, None if entry == ToolEntry(operation.name, operation.name) else entry)


@dataclass(frozen=True)
class _Shelf:
    """What is offered and what is not, on the way through a scenario's turns."""

    every: Mapping[str, Tool]
    offered: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    def check(self, part: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in self.every:
                raise BadOffer(part, name, list(self.every))

    def box(self, turn: int) -> Toolbox:
        shown = {name: self._renamed(tool) for name, tool in self.every.items()}
        offered = tuple(shown[name] for name in self.offered)
        hidden = tuple(tool for name, tool in shown.items() if name not in self.offered)
        return Toolbox(offered, hidden, turn)

    def _renamed(self, tool: Tool) -> Tool:
        """The tool under its present name; descriptions speak of the others by their present names too."""
        said = tool.spec.description
        for old, new in self.names.items():
            said = re.sub(rf"\b{re.escape(old)}\b", new, said)
        name = self.names.get(tool.name, tool.name)
        if (name, said) == (tool.spec.name, tool.spec.description):
            return tool
        return replace(tool, spec=ToolSpec(name, said, tool.spec.input_schema))


def in_turn(offer: Offered) -> tuple[tuple[int, CatalogChange], ...]:
    """The changes by the turn at which each begins, with their numbers in the file, where they may stand in any order."""
    return tuple(sorted(enumerate(offer.changes), key=lambda numbered: numbered[1].turn))


def offered(offer: Offered, tools: Sequence[Tool], own: Sequence[Tool] = ()) -> tuple[Toolbox, ...]:
    """The toolboxes of a scenario by the turn from which each holds: the first, then one for each change `in_turn`.

    Raises BadOffer for a name that is not there.
    """
    every = {tool.name: tool for tool in (*tools, *own)}
    shelf = _Shelf(every, tuple(every), dict(offer.rename))
    for part, names in (
        ("only", offer.only), ("without", offer.without), ("withheld", offer.withheld), ("rename", tuple(offer.rename)),
        *((f"distractors.{number}", (one.tool,)) for number, one in enumerate(offer.distractors)),
    ):  # fmt: skip
        shelf.check(f"catalog.{part}", names)
    start = tuple(
        name
        for name in every
        if name not in {*offer.without, *offer.withheld}
        and (not offer.only or name in {*offer.only, *(t.name for t in own)})
    )
    shelf = replace(shelf, offered=start)
    boxes = [shelf.box(1)]
    for number, change in in_turn(offer):
        for part, names in (("remove", change.remove), ("add", change.add), ("rename", tuple(change.rename))):
            shelf.check(f"catalog.changes.{number}.{part}", names)
        kept = [name for name in shelf.offered if name not in change.remove]
        kept += [name for name in change.add if name not in kept]
        shelf = replace(shelf, offered=tuple(kept), names={**shelf.names, **change.rename})
        boxes.append(shelf.box(change.turn))
    return tuple(boxes)
