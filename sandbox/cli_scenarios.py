"""`sandtrail list`, `show`, `lint` and `schema`: see and check scenarios, catalogs and stored runs."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from sandtrail.ledgers import Finding, Severity
from sandtrail.sandbox.choosing import chosen, once
from sandtrail.sandbox.cli import UsageError, print_json, print_lines
from sandtrail.sandbox.linting import lint
from sandtrail.sandbox.loading import CATALOG, Loaded, files_below, load_catalog, shipped_names
from sandtrail.sandbox.trail import STYLES, Line, clean, counted, cut, padded, wrapped
from sandtrail.scenarios import BadScenario, Scenario
from sandtrail.scenarios.scenario import CatalogFile, Place
from sandtrail.scenarios.shapes import json_schema


def list_command(options: argparse.Namespace) -> int:
    """Every scenario with its why."""
    scenarios = [one.scenario for one in chosen(options.scenarios, tags=options.tag)]
    if options.json:
        print_json({"scenarios": [scenario.summary() for scenario in scenarios]})
        return 0 if scenarios else 4
    for scenario in scenarios:
        tags = f"  [{', '.join(scenario.tags)}]" if scenario.tags else ""
        print_lines([Line(cut(f"{scenario.id}{tags}"), "bold"), *wrapped(scenario.why, "  ", "  ", "")])
    if not scenarios:
        tags, named = " and ".join(options.tag), ", ".join(options.scenarios)
        reason = f"no scenario has the tag {tags}" if tags else f"{named} holds no case"
        print_lines([Line(cut(f"exit 4: {reason}"))])
        return 4
    print_lines([Line(f"exit 0: {counted(len(scenarios), 'scenario')}")])
    return 0


def show_command(options: argparse.Namespace) -> int:
    """One scenario, catalog, or stored run."""
    name: str = options.name
    if name.startswith("run_"):
        from sandtrail.sandbox.stored import show_run  # noqa: PLC0415  only where a store is read

        code: int = show_run(options.store, name, as_json=options.json)
        return code
    if name.endswith(CATALOG):
        file = Path(name)
        return _show_catalog(load_catalog(file.name, file.parent, Place(name, 1)), as_json=options.json)
    if "@" in name:
        return _show_catalog(load_catalog(name, None, Place(name, 1)), as_json=options.json)
    found = chosen([name], limit=1)
    if not found:
        raise UsageError(f"{name} holds no scenario")
    loaded = found[0]
    if options.json:
        print_json(_as_json(loaded.scenario))
        return 0
    print_lines(_shown(loaded.scenario))
    return 0


def _as_json(scenario: Scenario) -> dict[str, object]:
    expect = scenario.expect
    return {
        **scenario.summary(),
        "says": scenario.user.says,
        "world": {
            symbol: dict(fields)
            for symbol, fields in json.loads(json.dumps(scenario.world.entities, default=str)).items()
        },
        "first": None if expect.first is None else list(expect.first),
        "forbid": dict(expect.forbid),
        "effects": [
            {"name": one.name, "facts": dict(one.facts), "times": one.times, "at_most": one.limit}
            for one in expect.effects
        ],
        "distractors": dict(expect.distractors),
        "states": [one.text for one in expect.states],
    }


def _shown(scenario: Scenario) -> Iterator[Line]:
    yield Line(cut(f"{scenario.id}  revision {scenario.revision}"), "bold")
    yield from wrapped(scenario.why, "  ", "  ", "")
    tags = ", ".join(scenario.tags) or "no tags"
    yield from wrapped(f"{scenario.place('scenario')} · {scenario.language} · {tags}", "  ", "  ", "dim")
    yield Line("")
    yield from wrapped(scenario.user.says, "  user   ", " " * 9, "cyan")
    for text in scenario.user.then:
        yield from wrapped(text, "  then   ", " " * 9, "cyan")
    for name, fact in scenario.user.knows.items():
        yield from wrapped(f"{name}: {fact}", "  knows  ", " " * 9, "cyan")
    yield Line("")
    for symbol, fields in scenario.world.entities.items():
        told = ", ".join(f"{name}: {value}" for name, value in fields.items())
        yield Line(cut(f"  {symbol}  {told}"))
    yield Line("")
    yield from _expected(scenario)


def _expected(scenario: Scenario) -> Iterator[Line]:
    expect = scenario.expect
    told: list[tuple[str, str]] = []
    if expect.first is not None:
        told.append(("first", " or ".join(expect.first) or "no tool at all"))
    told += [("forbid", f"{tool}: {why}") for tool, why in expect.forbid.items()]
    told += [("distract", f"{one.tool} ({one.family}): {one.why}") for one in scenario.offer.distractors]
    told += [("effect", f"{one} ({one.times} to {one.limit} times)") for one in expect.effects]
    if expect.read_only:
        told.append(("effect", "none: read-only"))
    told += [("answer", f"states {one}") for one in expect.states]
    told += [("label", f"{one.by}: {' or '.join(one.first) or 'no tool'}") for one in expect.labels]
    told.append(("ask", str(expect.clarification).replace("_", " ")))
    for what, text in told:
        yield from wrapped(text, f"  {what:<9}", " " * 11, "")


def _show_catalog(catalog: CatalogFile, *, as_json: bool) -> int:
    if as_json:
        print_json(
            {
                "catalog": catalog.name,
                "version": catalog.version,
                "tools": [tool.name for tool in catalog.tools],
            }
        )
        return 0
    print_lines([Line(f"{cut(catalog.key, 60)}  {counted(len(catalog.tools), 'tool')}", "bold")])
    for tool in catalog.tools:
        kind = "canned" if tool.canned else "" if tool.operation == tool.name else f"does {tool.operation}"
        note = f"deprecated: use {tool.deprecated}" if tool.deprecated else kind
        print_lines([Line(cut(f"  {padded(tool.name, max(28, len(tool.name) + 2))}{note}"))])
    return 0


# -- lint ------------------------------------------------------------------------------------------------


def lint_command(options: argparse.Namespace) -> int:
    """Check files; every error with file and line."""
    problems: list[dict[str, str]] = []
    loaded: list[Loaded] = []
    for name in _each(options.scenarios):
        try:
            loaded += chosen([name])
        except BadScenario as error:
            problems.append({"place": str(error.place), "problem": error.reason})
    once(loaded)
    checked = len(loaded)
    problems += [
        {"place": place, "problem": finding.reason} for one in loaded for place, finding in _linted(one)
    ]
    if options.json:
        print_json({"checked": checked, "problems": problems})
    else:
        for problem in problems:
            print_lines([Line(f"{clean(problem['place'])}:", STYLES[Severity.MAJOR])])
            print_lines(wrapped(problem["problem"], "  ", "  ", ""))
        reason = (
            f"{counted(len(problems), 'problem')}" if problems else f"{counted(checked, 'scenario')} checked"
        )
        print_lines([Line(f"exit {2 if problems else 0 if checked else 4}: {reason}")])
    return 2 if problems else 0 if checked else 4


def _each(named: Sequence[str]) -> Iterator[str]:
    """Every file by itself, so that one that cannot be read does not hide the others."""
    for name in named or shipped_names():
        below = files_below(Path(name)) if Path(name).is_dir() else []
        yield from map(str, below) if below else [name]


def _linted(loaded: Loaded) -> Iterator[tuple[str, Finding]]:
    for finding in lint(loaded):
        yield str(loaded.scenario.place(finding.at)), finding


def schema_command(options: argparse.Namespace) -> int:
    """The JSON Schema of scenario files."""
    del options  # JSON is all there is to print
    print_json(json_schema())
    return 0
