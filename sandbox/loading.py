"""Scenario files: read here, parsed by the scenarios layer, and checked against the services of the world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from pathlib import Path

from sandtrail.fakes import SERVICES, Service
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.gateway import BadWrite
from sandtrail.fakes.image import ServiceClasses, Services, classes_of, compiled, template
from sandtrail.fakes.seeding import BadSeed
from sandtrail.fakes.world import check_fault
from sandtrail.ledgers.specs import SYMBOL, kind_of
from sandtrail.ledgers.spelling import near
from sandtrail.scenarios import BadScenario, Scenario, parse
from sandtrail.scenarios.scenario import Place

SUFFIX = ".scenario.yaml"


def load(path: str | Path, *, services: Iterable[type[Service]] = SERVICES) -> Scenario:
    """The scenario in a file, checked against the services. Raises BadScenario with file and line."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8 text"
        raise BadScenario(Place(str(path), 1), f"cannot be read: {reason}") from None
    return checked(parse(text, str(path)), services)


def library(*, services: Iterable[type[Service]] = SERVICES) -> Iterator[Scenario]:
    """The shipped scenarios, by id."""
    folder = files("sandtrail.scenarios") / "library"
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.name.endswith(SUFFIX):
            yield checked(parse(entry.read_text(encoding="utf-8"), entry.name), services)


def checked(scenario: Scenario, services: Iterable[type[Service]]) -> Scenario:
    """The scenario itself, where the services know everything it names. Raises BadScenario at the place that is wrong."""
    classes = classes_of(services)
    ready = compiled(classes)
    _check_world(scenario, classes)
    for text in scenario.says:
        for symbol, field in re.findall(rf"\{{({SYMBOL.pattern})\.(\w+)\}}", text):
            columns = ready.schema.by_kind[kind_of(symbol)].columns
            if field not in columns:
                raise BadScenario(
                    scenario.place("user.says"), f"{symbol} has no field {field!r}{near(field, columns)}"
                )
    for number, fault in enumerate(scenario.world.faults):
        try:
            check_fault(fault, ready)
        except (LookupError, ValueError) as error:
            raise BadScenario(scenario.place(f"faults.{number}"), str(error.args[0])) from None
    _check_tools(scenario, ready)
    return scenario


def _check_world(scenario: Scenario, classes: ServiceClasses) -> None:
    try:
        Clock(scenario.world.now, scenario.world.zone)
    except ValueError as error:
        raise BadScenario(scenario.place("zone"), str(error)) from None
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


def _check_tools(scenario: Scenario, ready: Services) -> None:
    named = [(f"expect.arguments.{wanted.tool}", wanted.tool) for wanted in scenario.expect.arguments]
    named += [
        (f"expect.arguments.{wanted.tool}.{wanted.name}.from", source)
        for wanted in scenario.expect.arguments
        for source in wanted.sources
    ]
    named += [("expect.calls", tool) for tool in scenario.expect.calls]
    for part, tool in named:
        if tool not in ready.operations:
            raise BadScenario(
                scenario.place(part), f"there is no tool {tool!r}{near(tool, ready.operations)}"
            )
    for wanted in scenario.expect.arguments:
        parameters = [parameter.name for parameter in ready.operations[wanted.tool].parameters]
        if wanted.name not in parameters:
            place = scenario.place(f"expect.arguments.{wanted.tool}.{wanted.name}")
            raise BadScenario(
                place, f"{wanted.tool} has no argument {wanted.name!r}{near(wanted.name, parameters)}"
            )
