"""What the pytest plugin does once a test uses it: sandboxes, scenario files, sections, the report file."""

from __future__ import annotations

import json
import secrets
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from sandtrail.ledgers import Finding, Records, WorldSpec
from sandtrail.sandbox.current import Current, running
from sandtrail.sandbox.loading import Loaded, load
from sandtrail.sandbox.registry import Agents, UnknownAgent
from sandtrail.sandbox.runner import Result, run
from sandtrail.sandbox.sandbox import Sandbox
from sandtrail.sandbox.trail import trail
from sandtrail.scenarios import BadScenario

if TYPE_CHECKING:
    from sandtrail.ledgers import Overall

_KNOWN = frozenset(
    {"world", "urls", "models", "services", "seed", "freeze", "loopback", "style", "repetitions"}
)


def opened(node: pytest.Item, world: WorldSpec | None, seed: int | None) -> Sandbox:
    """The sandbox of a test, made from its marker and the `sandtrail_world` fixture."""
    marker = node.get_closest_marker("sandtrail")
    options = dict(marker.kwargs) if marker else {}
    unknown = sorted(options.keys() - _KNOWN)
    if unknown:
        raise pytest.UsageError(
            f"{node.nodeid}: @pytest.mark.sandtrail has no {unknown[0]!r}; it has {', '.join(sorted(_KNOWN))}"
        )
    options.pop("repetitions", None)
    spec = options.pop("world", world)
    options.setdefault("seed", seed)
    made = Sandbox(spec, **options)
    current = running()
    if current is not None:
        current.sandboxes.append(made)
    return made


# -- scenario files --------------------------------------------------------------------------------------


class ScenarioFile(pytest.File):
    """A `*.scenario.yaml` file; each repetition is a run of its one item."""

    def collect(self) -> Iterator[pytest.Item]:
        """The one item of the file."""
        try:
            scenario = load(self.path)
        except BadScenario as error:
            raise self.CollectError(str(error)) from None
        make = cast("Any", ScenarioItem).from_parent  # untyped in pytest
        yield make(self, name=scenario.id, scenario=scenario)


class ScenarioFailed(AssertionError):
    """A scenario whose runs do not all pass."""


class ScenarioItem(pytest.Item):
    """A scenario as a test: the agent of the options, so many repetitions, all of which must pass."""

    def __init__(self, *, scenario: Any, **options: Any) -> None:
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]  as above
        self.scenario = scenario

    def runtest(self) -> None:
        """Run it; what it ran is in the report's own section."""
        given = self.config.getoption("--sandtrail-agent") or self.config.getini("sandtrail_agent")
        times = int(
            self.config.getoption("--sandtrail-repetitions") or self.config.getini("sandtrail_repetitions")
        )
        current = running()
        seed = current.seed if current and current.seed is not None else secrets.randbelow(10**6)
        try:
            agents = Agents(str(given))
            loaded = Loaded(self.scenario, self.path.parent)
            results = [
                run(
                    self.scenario,
                    agents.for_trial(loaded, seed=seed, repetition=repetition),
                    seed=seed,
                    repetition=repetition,
                )
                for repetition in range(1, times + 1)
            ]
        except UnknownAgent as error:
            raise pytest.UsageError(str(error)) from None
        failed = [result for result in results if result.overall not in {"pass", "warn"}]
        if failed:
            raise ScenarioFailed(f"{len(results) - len(failed)}/{len(results)} repetitions pass")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """One line: the section below has the trail."""
        if isinstance(excinfo.value, ScenarioFailed):
            return f"{self.scenario.id}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, max(self.scenario.place("scenario").line - 1, 0), self.name


# -- sections and comparisons ----------------------------------------------------------------------------


def section_of(current: Current, test: str) -> str:
    """The trail of every run that does not pass (of all, where all do), and the books of every sandbox."""
    shown = [result for result in current.results if result.findings] or current.results
    lines = [line.text for result in shown for line in trail(result, repeat=_command(test, result))]
    lines += current.earlier
    for box in current.sandboxes if not current.earlier else ():
        lines += [f"sandbox seed={box.seed}", *str(box.ledger).splitlines()]
        lines += [f"{finding}" for finding in box.ledger.breaches]
    return "\n".join(lines)


def _command(test: str, result: Result) -> str:
    return f"pytest {shlex.quote(test)} --sandtrail-seed {result.trajectory.seed}"


def cases_of(item: pytest.Item, current: Current) -> list[dict[str, Any]]:
    """What a test ran, as JSON; `index` is its place among the collected tests, the same in every worker."""
    index = item.session.items.index(item)
    cases: list[dict[str, Any]] = [
        _case(item, index, number, result) for number, result in enumerate(current.results)
    ]
    for box in current.sandboxes:
        ledger = box.ledger
        cases.append(
            {
                "index": index,
                "number": len(cases),
                "test": item.nodeid,
                "scenario": "(sandbox)",
                "repetition": current.repetition,
                "seed": box.seed,
                "overall": "harness_fault" if ledger.breaches else "pass",
                "attempts": len(ledger.attempts()),
                "writes": len(ledger.writes()),
                "findings": [str(finding) for finding in ledger.breaches],
            }
        )
    return cases


def _case(item: pytest.Item, index: int, number: int, result: Result) -> dict[str, Any]:
    overall: Overall = result.overall
    return {
        "index": index,
        "number": number,
        "test": item.nodeid,
        "scenario": result.scenario.id,
        "agent": result.trajectory.agent,
        "repetition": result.trajectory.repetition,
        "seed": result.trajectory.seed,
        "overall": str(overall),
        "attempts": len(result.ledger.attempts()),
        "writes": len(result.ledger.writes()),
        "findings": [str(finding) for finding in result.findings],
    }


def write_report(path: Path, cases: Iterable[Mapping[str, Any]]) -> None:
    """All cases, sorted as they were collected; the file is replaced as a whole, never half-written."""
    ordered = sorted(cases, key=lambda case: (case["index"], case["number"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        json.dump({"cases": [dict(case) for case in ordered]}, file, indent=1)
    Path(file.name).replace(path)


def compared(left: object, right: object) -> list[str]:
    """What stands on one side only, or differs at a place."""
    ours, others = _listed(left), _listed(right)
    lines = [f"{len(ours)} found, {len(others)} wanted"]
    for place in range(max(len(ours), len(others))):
        found = ours[place] if place < len(ours) else None
        wanted = others[place] if place < len(others) else None
        if place >= len(ours):
            lines.append(f"{place}: wanted {_entry(wanted)}, and nothing is there")
        elif place >= len(others):
            lines.append(f"{place}: found {_entry(found)}")
        elif found != wanted:
            lines += [f"{place}: found  {_entry(found)}", f"{place}: wanted {_entry(wanted)}"]
    return lines


def _entry(value: object) -> str:
    return str(value) if isinstance(value, Finding) else repr(value)


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, Records | list | tuple):
        return list(cast("Sequence[object]", value))
    return [value]
