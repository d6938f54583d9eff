"""The command line: `sandtrail run`, `list`, `selftest`, `bench`.

Exit codes: 0 pass · 1 findings that fail · 2 usage or input error · 3 harness fault · 4 nothing to decide on.
The last line printed for people says which, and why.
"""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtrail.ledgers import Overall
    from sandtrail.sandbox.runner import Result
    from sandtrail.sandbox.trail import Line
    from sandtrail.scenarios import Scenario

EXIT_CODES = {
    "pass": 0,
    "warn": 0,
    "fail": 1,
    "mixed": 1,
    "invalid_input": 2,
    "harness_fault": 3,
    "inconclusive": 4,
    "not_evaluable": 4,
}
_CODES = """exit codes:
  0 pass   1 findings that fail   2 usage or input error
  3 harness fault   4 inconclusive, or nothing evaluated
"""


class UsageError(Exception):
    """What the person asked for cannot be done; the message says what can."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    from sandtrail.scenarios import BadScenario  # noqa: PLC0415  so that --help is instant

    try:
        code: int = options.command(options)
    except (UsageError, BadScenario) as error:
        from sandtrail.sandbox.trail import clean  # noqa: PLC0415

        sys.stderr.write(f"sandtrail: {clean(str(error))}\n")
        sys.stderr.write("exit 2: the input cannot be used\n")
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sandtrail",
        description="A fake-service sandbox for trajectory and side-effect tests of tool-using agents.",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sandtrail {version('sandtrail')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    running = _command(
        commands,
        "run",
        _run,
        "run scenarios with an agent, show the trail, judge",
        "sandtrail run --agent careless",
    )
    running.add_argument(
        "scenarios",
        nargs="*",
        metavar="SCENARIO",
        help="ids of shipped scenarios, or scenario files (default: all shipped)",
    )
    running.add_argument(
        "--agent",
        default="scripted",
        metavar="NAME",
        help="scripted (the careful reference, default) or careless",
    )
    running.add_argument(
        "--seed", type=_seed, metavar="N", help="seed of the ids (default: a fresh one, shown with each run)"
    )
    how_often = running.add_mutually_exclusive_group()
    how_often.add_argument(
        "--repetitions",
        "--epochs",
        type=_positive,
        default=1,
        metavar="N",
        help="runs of each scenario, each with its own ids (default 1)",
    )
    how_often.add_argument(
        "--repetition", type=_positive, metavar="K", help="only the Kth repetition: to repeat a failure"
    )
    _command(commands, "list", _list, "list the shipped scenarios", "sandtrail list --json")
    _command(
        commands,
        "selftest",
        _selftest,
        "seed faults into the evidence; each must be named",
        "sandtrail selftest",
    )
    bench = _command(
        commands, "bench", _bench, "measure what each stage costs", "sandtrail bench --customers 1000"
    )
    bench.add_argument(
        "--customers", type=_positive, default=1000, metavar="N", help="customers in the world (default 1000)"
    )
    bench.add_argument(
        "--rounds",
        type=_positive,
        default=200,
        metavar="N",
        help="rounds per stage; the median is shown (default 200)",
    )
    return parser


def _command(
    commands: Any, name: str, act: Callable[[argparse.Namespace], int], text: str, example: str
) -> argparse.ArgumentParser:
    made: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=f"{text[0].upper()}{text[1:]}.",
        epilog=f"example: {example}\n\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    made.set_defaults(command=act)
    return made


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number of at most 18 digits is wanted")
    return int(text)


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number from 1 to 1000000 is wanted")
    return number


# -- run ------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    from sandtrail.sandbox.agents import OffScript, scripted  # noqa: PLC0415
    from sandtrail.sandbox.runner import run  # noqa: PLC0415

    seed = secrets.randbelow(10**6) if options.seed is None else options.seed
    chosen = [options.repetition] if options.repetition else range(1, options.repetitions + 1)
    results: list[Result] = []
    for scenario, folder in _chosen(options.scenarios):
        try:
            agent = scripted(scenario.id, options.agent, folder=folder)
        except OffScript as error:
            raise UsageError(str(error)) from None
        results.extend(run(scenario, agent, seed=seed, repetition=repetition) for repetition in chosen)
    overall = _overall([result.overall for result in results])
    unexpected = sum(result.unexpected_writes for result in results)
    if options.json:
        _print_json(_run_json(options.agent, seed, overall, unexpected, results))
        return EXIT_CODES[overall]
    from sandtrail.sandbox.trail import LEGEND, Line, counted, trail  # noqa: PLC0415

    for result in results:
        _print([*trail(result), Line("")])
    passed = sum(result.overall in {"pass", "warn"} for result in results)
    _print([Line(LEGEND, "dim")])
    _print(
        [Line(f"{passed} of {counted(len(results), 'run')} pass · unexpected writes {unexpected}", "bold")]
    )
    _print([Line(f"exit {EXIT_CODES[overall]}: {_because(results)}")])
    return EXIT_CODES[overall]


def _run_json(
    agent: str, seed: int, overall: Overall, unexpected: int, results: Iterable[Result]
) -> dict[str, Any]:
    scenarios = [
        {
            "id": result.scenario.id,
            "repetition": result.trajectory.repetition,
            "overall": result.overall,
            "unexpected_writes": result.unexpected_writes,
            "findings": [
                {
                    "code": finding.code,
                    "at": finding.at,
                    "severity": finding.severity,
                    "reason": finding.reason,
                }
                for finding in result.findings
            ],
        }
        for result in results
    ]
    return {
        "overall": overall,
        "agent": agent,
        "seed": seed,
        "scenarios": scenarios,
        "unexpected_writes": unexpected,
    }


def _chosen(named: Sequence[str]) -> list[tuple[Scenario, Path | None]]:
    """The scenarios to run, each with the folder of its file; None for a shipped one."""
    from sandtrail.sandbox.loading import SUFFIX, library, load  # noqa: PLC0415

    shipped = {scenario.id: scenario for scenario in library()}
    chosen: list[tuple[Scenario, Path | None]] = []
    for name in named or shipped:
        if name in shipped:
            chosen.append((shipped[name], None))
        elif name.endswith(SUFFIX):
            chosen.append((load(name), Path(name).parent))
        else:
            raise UsageError(
                f"there is no scenario {name!r}; shipped are {', '.join(shipped)}, files end in {SUFFIX}"
            )
    return chosen


def _overall(verdicts: Sequence[Overall]) -> Overall:
    """The worst verdict of a set; a set without one is not evaluable."""
    from sandtrail.ledgers import Overall  # noqa: PLC0415

    order = [
        Overall.HARNESS_FAULT,
        Overall.INVALID_INPUT,
        Overall.FAIL,
        Overall.INCONCLUSIVE,
        Overall.NOT_EVALUABLE,
        Overall.WARN,
    ]
    return next(
        (verdict for verdict in order if verdict in verdicts),
        Overall.PASS if verdicts else Overall.NOT_EVALUABLE,
    )


def _because(results: Sequence[Result]) -> str:
    from sandtrail.sandbox.trail import counted  # noqa: PLC0415

    found = [finding for result in results for finding in result.findings]
    if not found:
        return "every run passes"
    weights = sorted({finding.severity for finding in found}, key=lambda severity: -severity.rank)
    by_weight = ", ".join(f"{sum(one.severity is weight for one in found)} {weight}" for weight in weights)
    return f"{counted(len(found), 'finding')}: {by_weight}"


# -- the others -----------------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    from sandtrail.sandbox.trail import Line  # noqa: PLC0415

    scenarios = [scenario for scenario, _ in _chosen([])]
    if options.json:
        _print_json({"scenarios": [{"id": scenario.id, "why": scenario.why} for scenario in scenarios]})
        return 0
    import textwrap  # noqa: PLC0415

    for scenario in scenarios:
        _print(
            [
                Line(scenario.id, "bold"),
                *(
                    Line(line)
                    for line in textwrap.wrap(scenario.why, 78, initial_indent="  ", subsequent_indent="  ")
                ),
            ]
        )
    _print([Line(f"exit 0: {len(scenarios)} scenarios")])
    return 0


def _selftest(options: argparse.Namespace) -> int:
    from sandtrail.sandbox.selftest import report, selftest  # noqa: PLC0415

    outcome = selftest()
    if options.json:
        _print_json(outcome.as_json())
    else:
        _print(report(outcome))
    return 0 if outcome.passed else 3


def _bench(options: argparse.Namespace) -> int:
    from sandtrail.sandbox.bench import bench, table  # noqa: PLC0415

    measured = bench(customers=options.customers, rounds=options.rounds)
    if options.json:
        _print_json({"stages": measured, "customers": options.customers, "rounds": options.rounds})
    else:
        _print(table(measured, options.customers, options.rounds))
    return 0


def _print_json(value: Any) -> None:
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def _print(lines: Iterable[Line]) -> None:
    from rich.console import Console  # noqa: PLC0415  heavy, and only for people
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text(line.text, style=line.style))


if __name__ == "__main__":
    raise SystemExit(main())
