"""The pytest plugin: fixtures, markers, options, scenario files as tests, and what a failing test shows.

This module is imported with every test session wherever sandtrail is installed, so it imports the standard library and
pytest alone; all else is loaded when a test uses it.

    @pytest.mark.sandtrail(world=..., urls=..., models=..., seed=..., freeze=..., repetitions=5)
    def test_something(sandbox): ...

    sandtrail_world   override it to give the sandbox of your tests a world
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from sandtrail.sandbox.current import Current, begun

if TYPE_CHECKING:
    from sandtrail.ledgers import WorldSpec
    from sandtrail.sandbox.sandbox import Sandbox

_CURRENT = pytest.StashKey[Current]()
_SUFFIX = ".scenario.yaml"
_OPTIONS = (
    ("agent", "lexical", "the agent of collected scenario files (see sandtrail run --help)"),
    ("seed", "", "seed of the ids (default: a fresh one for each test, shown when it fails)"),
    ("repetitions", "1", "runs of each collected scenario file"),
    ("report", "", "write what every test ran to this JSON file"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--sandtrail-*`, each with an ini option of the same name."""
    group = parser.getgroup("sandtrail", "agents in fake services")
    for name, default, text in _OPTIONS:
        group.addoption(f"--sandtrail-{name}", default=None, metavar=name.upper(), help=text)
        parser.addini(f"sandtrail_{name}", f"{text} (default: {default or 'none'})", default=default)


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and who gathers results."""
    config.addinivalue_line(
        "markers",
        "sandtrail(world, urls, models, services, seed, freeze, loopback, repetitions): the sandbox of a test, "
        "and how often it is run; 3 of 5 is a failure, shown as 3/5",
    )
    config.pluginmanager.register(_Gatherer(), "sandtrail-gatherer")


def _option(config: pytest.Config, name: str) -> str:
    given = config.getoption(f"--sandtrail-{name}")
    return str(config.getini(f"sandtrail_{name}") if given is None else given)


def _number(config: pytest.Config, name: str) -> int | None:
    text = _option(config, name)
    if not text:
        return None
    if not (text.isascii() and text.isdigit()):
        raise pytest.UsageError(f"--sandtrail-{name}={text}: a whole number is wanted")
    return int(text)


# -- the sandbox of a test -------------------------------------------------------------------------------


@pytest.fixture
def sandtrail_world() -> WorldSpec | None:
    """The world of the `sandbox` fixture; override it in a conftest.py or a module."""
    return None


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, sandtrail_world: WorldSpec | None) -> Generator[Sandbox]:
    """A sandbox around the test: its clients reach the fakes, and nothing leaves."""
    from sandtrail.sandbox.plugin_support import opened  # noqa: PLC0415  heavy, and only for tests that use it

    with opened(request.node, sandtrail_world, _number(request.config, "seed")) as made:
        yield made


# -- running a test --------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Make a place for what this test runs."""
    current = Current(seed=_number(item.config, "seed"))
    item.stash[_CURRENT] = current
    with begun(current):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Repeat a test that asks for it, sync or async, whatever plugin runs it then."""
    marker = item.get_closest_marker("sandtrail")
    times = int(marker.kwargs.get("repetitions", 1)) if marker else 1
    if times > 1 and isinstance(item, pytest.Function):
        item.obj = _repeated(item.obj, times, item)


def _repeated(test: Any, times: int, item: pytest.Function) -> Any:
    """A test that runs another so many times and fails where one of them does."""
    tally = _Tally(times, item.stash[_CURRENT])
    if inspect.iscoroutinefunction(test):

        @functools.wraps(test)
        async def repeated_async(*arguments: Any, **named: Any) -> None:
            __tracebackhide__ = True
            for repetition in range(1, times + 1):
                with tally.one(repetition):
                    await test(*arguments, **named)
            tally.settle()

        return repeated_async

    @functools.wraps(test)
    def repeated(*arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True
        for repetition in range(1, times + 1):
            with tally.one(repetition):
                test(*arguments, **named)
        tally.settle()

    return repeated


class _Tally:
    """Counts repetitions, each with fresh worlds; what a failed one left in the books is kept for the report."""

    def __init__(self, times: int, current: Current) -> None:
        self._times, self._current = times, current
        self._failed: list[tuple[int, Exception]] = []

    def one(self, repetition: int) -> _Tally:
        """The next repetition: its ids are its own, and the sandboxes of the test are as they were at the start."""
        if repetition > 1:
            for box in self._current.sandboxes:
                box.reset()
        self._current.repetition = repetition
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        if not isinstance(error, Exception):
            return False
        number = self._current.repetition
        self._failed.append((number, error))
        self._current.earlier += [f"repetition {number}: {box.ledger}" for box in self._current.sandboxes]
        return True

    def settle(self) -> None:
        """Fail where a repetition has failed; the count, then what each said."""
        __tracebackhide__ = True
        if self._failed:
            passed = self._times - len(self._failed)
            said = [f"repetition {number}: {_first_line(error)}" for number, error in self._failed]
            lines = "\n".join([f"{passed}/{self._times} repetitions pass", *said])
            raise AssertionError(lines) from self._failed[0][1]


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


# -- scenario files as tests -----------------------------------------------------------------------------


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A scenario file is a test by itself."""
    if not file_path.name.endswith(_SUFFIX):
        return None
    from sandtrail.sandbox.plugin_support import ScenarioFile  # noqa: PLC0415  as above

    make = cast("Any", ScenarioFile).from_parent  # untyped in pytest
    collected: pytest.Collector = make(parent, path=file_path)
    return collected


# -- what a failing test shows ---------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The trail of what a failing test ran, in a section of its own; what each test ran, for the report file."""
    report = yield
    current = item.stash.get(_CURRENT, None)
    if current is None or not (current.results or current.sandboxes):
        return report
    from sandtrail.sandbox.plugin_support import cases_of, section_of  # noqa: PLC0415  as above

    if call.when == "call":
        cases = cases_of(item, current)
        report.sandtrail = cases  # type: ignore[attr-defined]  # it travels from xdist's workers with the report
        for case in cases:
            item.user_properties.append(("sandtrail", f"{case['scenario']}: {case['overall']}"))
    if report.failed:
        report.sections.append(("sandtrail", section_of(current, item.nodeid)))
    return report


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain `ledger.effects(...) == [...]` and the like, entry by entry."""
    if op != "==" or (type(left).__name__ != "Records" and type(right).__name__ != "Records"):
        return None
    from sandtrail.sandbox.plugin_support import compared  # noqa: PLC0415  as above

    return compared(left, right)


class _Gatherer:
    """Gathers what every test ran, here or in xdist's workers, and writes it at the end."""

    def __init__(self) -> None:
        self._cases: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """What one test ran."""
        self._cases.extend(getattr(report, "sandtrail", []))

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report file: each case once, in the order of collection, whoever ran it."""
        path = _option(session.config, "report")
        if path and not hasattr(session.config, "workerinput"):
            from sandtrail.sandbox.plugin_support import write_report  # noqa: PLC0415  as above

            write_report(Path(path), self._cases)
