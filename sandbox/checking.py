"""A scenario against the services: everything it names must be there. Errors say file, line and the nearest spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any
from zoneinfo import available_timezones

from sandtrail.fakes import Service
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.gateway import BadWrite
from sandtrail.fakes.image import ServiceClasses, Services, classes_of, compiled, template
from sandtrail.fakes.seeding import BadSeed
from sandtrail.fakes.world import check_fault
from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.specs import SYMBOL, Fault, kind_of
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.trees import as_list
from sandtrail.sandbox.toolbox import BadOffer, Tool, Toolbox, all_tools, in_turn, offered
from sandtrail.scenarios import BadScenario, Scenario
from sandtrail.scenarios.contract import Contract
from sandtrail.scenarios.scenario import Family, Place, User

_FIELD = re.compile(rf"\{{({SYMBOL.pattern})\.(\w+)\}}")


def checked(scenario: Scenario, services: Iterable[type[Service]]) -> Scenario:
    """The scenario itself, where the services know everything it names. Raises BadScenario at the place that is wrong."""
    classes = classes_of(services)
    ready = compiled(classes)
    _check_world(scenario, classes)
    _check_texts(scenario, ready)
    for number, fault in enumerate(scenario.world.faults):
        _check_fault(scenario, number, fault, ready)
    tools, first = _check_offer(scenario, ready)
    _check_tools(scenario, tools)
    _check_first(scenario, first)
    _check_symbols(scenario, ready)
    _check_effects(scenario, ready)
    return scenario


def _check_world(scenario: Scenario, classes: ServiceClasses) -> None:
    try:
        Clock(scenario.world.now, scenario.world.zone)
    except ValueError as error:
        hint = near(scenario.world.zone, available_timezones())
        said = str(error) if "did you mean" not in hint or "did you mean" in str(error) else f"{error}{hint}"
        raise BadScenario(scenario.place("zone"), said) from None
    try:
        template(scenario.world, classes)
    except BadSeed as error:
        part = f"{error.symbol}.{error.field}" if error.field else error.symbol
        raise BadScenario(
            scenario.place(part if error.symbol.startswith("$") else "world"), str(error)
        ) from None
    except (BadWrite, OverflowError, RecursionError) as error:
        raise BadScenario(
            scenario.place("world"), f"cannot be made: {type(error).__name__}: {error}"
        ) from None


def check_world(world: WorldSpec, places: Mapping[str, Place], services: Iterable[type[Service]]) -> None:
    """A world by itself. Raises BadScenario at the place that is wrong."""
    classes = classes_of(services)
    bare = Scenario("world", "a world", world, User("-"), Contract(), places)
    _check_world(bare, classes)
    ready = compiled(classes)
    for number, fault in enumerate(world.faults):
        _check_fault(bare, number, fault, ready)


def _check_fault(scenario: Scenario, number: int, fault: Fault, ready: Services) -> None:
    try:
        check_fault(fault, ready)
    except (LookupError, ValueError) as error:
        raise BadScenario(scenario.place(f"faults.{number}"), str(error.args[0])) from None


def _check_texts(scenario: Scenario, ready: Services) -> None:
    for part, text in _texts(scenario.user):
        for symbol, field in _FIELD.findall(text):
            columns = ready.schema.by_kind[kind_of(symbol)].columns
            if field not in columns:
                raise BadScenario(
                    scenario.place(part), f"{symbol} has no field {field!r}{near(field, columns)}"
                )


def _texts(user: User) -> Iterator[tuple[str, str]]:
    """Everything the user may say, with its part."""
    yield "user.says", user.says
    yield from ((f"user.then.{number}", text) for number, text in enumerate(user.then))
    yield from ((f"user.knows.{name}", text) for name, text in user.knows.items())
    for part in ("confirms", "changes_mind", "chooses"):
        yield f"user.{part}", getattr(user, part)


def _check_offer(scenario: Scenario, ready: Services) -> tuple[dict[str, Tool], set[str]]:
    """The tools of the catalog by name, and those offered first; what the offer names must be among them."""
    try:
        tools = all_tools(ready, scenario.catalog)
    except BadOffer as error:
        assert scenario.catalog is not None, "only a file can name an operation that is not there"
        place = scenario.catalog.places.get(error.part, scenario.place("catalog"))
        raise BadScenario(
            place, f"there is no operation {error.name!r}{near(error.name, error.known)}"
        ) from None
    try:
        boxes = offered(scenario.offer, tools)
    except BadOffer as error:
        reason = f"there is no tool {error.name!r}{near(error.name, error.known)}"
        raise BadScenario(scenario.place(f"{error.part}.{error.name}"), reason) from None
    parts = ["catalog", *(f"catalog.changes.{number}" for number, _ in in_turn(scenario.offer))]
    for part, box in zip(parts, boxes, strict=True):
        _check_names(scenario, part, box)
    if not boxes[0].tools:
        raise BadScenario(scenario.place("catalog"), "no tool is left to offer")
    for (before, after), part in zip(pairwise(boxes), parts[1:], strict=True):
        if before.catalog == after.catalog:
            reason = f"turn {after.turn}: nothing changes: the tools are offered, or gone, already"
            raise BadScenario(scenario.place(part), reason)
    return {tool.name: tool for tool in tools}, {tool.name for tool in boxes[0].tools}


def _check_names(scenario: Scenario, part: str, box: Toolbox) -> None:
    """No two tools of one name: the part that gave a tool the name of another, or brought it back under that, is wrong."""
    try:
        _ = box.catalog
    except ValueError as error:
        offer = scenario.offer
        renamed = offer.rename if part == "catalog" else offer.changes[int(part.rpartition(".")[2])].rename
        guilty = [f"{part}.rename.{old}" for old, new in renamed.items() if repr(new) in str(error)]
        raise BadScenario(scenario.place(guilty[0] if guilty else part), str(error)) from None


def _check_first(scenario: Scenario, first: set[str]) -> None:
    """What may be chosen first is offered; so are distractors, and they are not right."""
    for number, distractor in enumerate(scenario.offer.distractors):
        place = scenario.place(f"catalog.distractors.{number}")
        if distractor.tool not in first:
            raise BadScenario(place, f"{distractor.tool} is a distractor, and not offered")
        if distractor.tool in (scenario.expect.first or ()):
            raise BadScenario(
                place, f"{distractor.tool} is a distractor, and a right first tool too; drop one"
            )
    for tool in scenario.expect.first or ():
        if tool not in first:
            raise BadScenario(
                scenario.place(f"expect.first.{tool}"), f"{tool} is a right first tool, and not offered"
            )


def _named_tools(scenario: Scenario) -> Iterator[tuple[str, str]]:
    """Every tool that the expectations name, with its part."""
    expect = scenario.expect
    for key in ("first", "calls", "forbid"):
        yield from ((f"expect.{key}.{tool}", tool) for tool in getattr(expect, key) or ())
    yield from ((f"labels.{label.by}.{tool}", tool) for label in expect.labels for tool in label.first)
    for number, rule in enumerate(expect.order):
        yield f"expect.order.{number}", rule.tool
        if rule.before:
            yield f"expect.order.{number}", rule.before
    for wanted in expect.arguments:
        yield f"expect.arguments.{wanted.tool}", wanted.tool
        part = f"expect.arguments.{wanted.tool}.{wanted.name}.from"
        yield from ((part, source) for source in wanted.sources if source != "user")


def _check_tools(scenario: Scenario, tools: dict[str, Tool]) -> None:
    for part, tool in _named_tools(scenario):
        if tool not in tools:
            raise BadScenario(scenario.place(part), f"there is no tool {tool!r}{near(tool, tools)}")
    for wanted in scenario.expect.arguments:
        parameters = list(tools[wanted.tool].spec.input_schema.get("properties", {}))
        if wanted.name not in parameters:
            place = scenario.place(f"expect.arguments.{wanted.tool}.{wanted.name}")
            raise BadScenario(
                place, f"{wanted.tool} has no argument {wanted.name!r}{near(wanted.name, parameters)}"
            )
    for number, distractor in enumerate(scenario.offer.distractors):
        deprecated = tools[distractor.tool].fact.deprecated
        if distractor.family is Family.DEPRECATED_ALIAS and not deprecated:
            place = scenario.place(f"catalog.distractors.{number}")
            raise BadScenario(
                place, f"{distractor.tool} is not deprecated; say so in its catalog, or name another family"
            )


def _check_symbols(scenario: Scenario, ready: Services) -> None:
    """Every symbol of an expectation is one of the world, or one that comes into being: $refund.1."""
    for part, value in _named_symbols(scenario.expect):
        if not isinstance(value, str) or not SYMBOL.fullmatch(value) or value in scenario.world.entities:
            continue
        kinds = [kind for kind in ready.schema.by_kind if kind]
        if not value.rsplit(".", 1)[1].isdigit():
            raise BadScenario(
                scenario.place(part), f"{value} is not in world{near(value, scenario.world.entities)}"
            )
        if kind_of(value) not in kinds:
            hint = near(kind_of(value), kinds)
            raise BadScenario(
                scenario.place(part), f"{value}: there is no entity kind {kind_of(value)!r}{hint}"
            )


def _named_symbols(expect: Contract) -> Iterator[tuple[str, Any]]:
    """Every value of the expectations that may be a symbol, with its part."""
    for number, effect in enumerate(expect.effects):
        yield from ((f"expect.effects.{number}.facts.{name}", fact) for name, fact in effect.facts.items())
    for one in expect.arguments:
        values = as_list(one.value) or [one.value]
        yield from ((f"expect.arguments.{one.tool}.{one.name}", value) for value in values)
    yield from ((f"expect.foreign.{symbol}", symbol) for symbol in expect.foreign)


def _check_effects(scenario: Scenario, ready: Services) -> None:
    """Every effect is one that some operation declares; a misspelt one would only ever be missing."""
    known = sorted(ready.effects)
    for number, wanted in enumerate(scenario.expect.effects):
        if known and wanted.name not in known:
            place = scenario.place(f"expect.effects.{number}")
            raise BadScenario(place, f"no operation has the effect {wanted.name!r}{near(wanted.name, known)}")
