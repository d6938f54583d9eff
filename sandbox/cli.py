"""The command line: what can be asked; each command's own module is imported when it is run.

Exit codes: 0 pass · 1 findings that fail · 2 usage or input error · 3 harness fault · 4 nothing to decide on.
The last line printed for people says which, and why.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandtrail.sandbox.trail import Line

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
STORE = ".sandtrail/results.sqlite"
"""Where runs are stored, where nothing else is said."""

_LONGEST = 2000
"""So much of an error is printed: it may echo a whole line of a file."""

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
        module, _, function = options.command.partition(":")
        act = getattr(importlib.import_module(f"sandtrail.sandbox.{module}"), function)
        code: int = act(options)
    except (UsageError, BadScenario) as error:
        from sandtrail.sandbox.trail import clean  # noqa: PLC0415

        said = clean(str(error))
        sys.stderr.write(f"sandtrail: {said if len(said) <= _LONGEST else said[:_LONGEST] + '…'}\n")
        sys.stderr.write("exit 2: the input cannot be used\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nexit 130: stopped\n")
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sandtrail",
        description="Fake services for trajectory and side-effect tests of tool-using agents.",
        epilog=_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sandtrail {version('sandtrail')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _run_options(
        _command(
            commands,
            "run",
            "cli_run:run_command",
            "run scenarios with an agent, judge, report",
            "sandtrail run refund-the-second-charge --agent scripted",
        )
    )
    starting = _command(
        commands,
        "init",
        "cli_init:init_command",
        "write a first scenario, a test, a safe and an unsafe agent",
        "sandtrail init my-tests",
    )
    starting.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="where to (default: here)")
    listing = _command(
        commands,
        "list",
        "cli_scenarios:list_command",
        "list scenarios, and why each exists",
        "sandtrail list --json",
    )
    _paths(listing)
    listing.add_argument("--tag", action="append", default=[], metavar="TAG", help="only those with this tag")
    showing = _command(
        commands,
        "show",
        "cli_scenarios:show_command",
        "show a scenario, a catalog (support@1), or a stored run (run_...)",
        "sandtrail show refund-the-second-charge",
    )
    showing.add_argument(
        "name", metavar="ID", help="id or file of a scenario, name of a catalog, or id of a run"
    )
    showing.add_argument(
        "--store", default=STORE, metavar="FILE", help=f"where runs are stored (default {STORE})"
    )
    linting = _command(
        commands,
        "lint",
        "cli_scenarios:lint_command",
        "check scenario files, their scripts and what they leak",
        "sandtrail lint",
    )
    _paths(linting)
    _command(
        commands,
        "schema",
        "cli_scenarios:schema_command",
        "print the JSON Schema of scenario files, for editors",
        "sandtrail schema --json",
    )
    auditing = _command(
        commands,
        "audit",
        "cli_audit:audit_command",
        "judge transcripts that someone else recorded",
        "sandtrail audit runs/*.jsonl --tools tools.json",
    )
    _audit_options(auditing)
    _command(
        commands,
        "selftest",
        "cli_other:selftest_command",
        "seed faults into the evidence and into agents; each must be named",
        "sandtrail selftest",
    )
    bench = _command(
        commands,
        "bench",
        "cli_other:bench_command",
        "measure what each stage costs",
        "sandtrail bench --customers 1000",
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


def _command(commands: Any, name: str, act: str, text: str, example: str) -> argparse.ArgumentParser:
    """A command; `act` is "module:function", imported when the command is run so that --help is instant."""
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


def _paths(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenarios",
        nargs="*",
        metavar="PATH",
        help="ids of shipped scenarios, scenario files, folders, or selection datasets (.jsonl); default: all shipped",
    )


def _audit_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="transcripts: files, folders or globs (.json, .jsonl)")
    add(
        "--tools",
        metavar="FILE",
        help="tool definitions (Anthropic, OpenAI or MCP shape), for transcripts without",
    )
    add("--format", metavar="NAME", help="the format of the files (default: detected)")
    add(
        "--run",
        metavar="ID",
        help="one page about this run: its conversation, with where each argument came from",
    )


def _run_options(parser: argparse.ArgumentParser) -> None:
    _paths(parser)
    add = parser.add_argument
    add(
        "--agent",
        default="lexical",
        metavar="NAME",
        help="lexical (default: embedded, no key), scripted (the reference), do-nothing, first-tool, random, "
        "anthropic:MODEL, openai:MODEL, python:module:callable, replay:FILE, or a script of the scenario",
    )
    add("--seed", type=_seed, metavar="N", help="seed of the ids (default: a fresh one, shown with each run)")
    how_often = parser.add_mutually_exclusive_group()
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
    add("--limit", type=_positive, metavar="N", help="only the first N scenarios")
    add("--sample-id", action="append", default=[], metavar="ID", help="only the scenario of this id")
    add("--tag", action="append", default=[], metavar="TAG", help="only scenarios with this tag")
    add(
        "--catalog",
        default="",
        metavar="NAME",
        help="the tools of a selection dataset (default: every operation)",
    )
    add("--max-connections", type=_positive, default=4, metavar="N", help="runs at once (default 4)")
    add("--message-limit", type=_positive, metavar="N", help="decisions a run may take (default 30)")
    add("--token-limit", type=_positive, metavar="N", help="tokens a run may take")
    add("--time-limit", type=_positive, metavar="S", help="seconds a run may take")
    add("--cost-limit", type=_money, metavar="USD", help="US dollars a run may cost; needs --price")
    add("--price", type=_price, metavar="IN,OUT", help="US dollars for a million tokens in and out")
    add("--temperature", type=float, metavar="T", help="where the provider permits it")
    add(
        "--thinking",
        type=_positive,
        metavar="TOKENS",
        help="think with this budget, where the provider permits it",
    )
    add(
        "--max-tokens",
        type=_positive,
        default=4096,
        metavar="N",
        help="the longest answer of a model (default 4096)",
    )
    add(
        "--url",
        action="append",
        default=[],
        metavar="URL=SERVICE",
        help="base URL that a black-box agent uses",
    )
    add(
        "--trail",
        action="store_true",
        help="show every step of every run (always with up to three scenarios)",
    )
    add("--store", metavar="FILE", help="keep every run as it ends: a SQLite file, or a URL for SQLAlchemy")
    add("--resume", metavar="RUN", help="go on with a stored run (or: latest) after it was interrupted")
    add(
        "--payloads",
        metavar="FILE",
        help="append what the model's provider was sent and answered, a gzipped JSON line each, without keys",
    )
    add("--save", metavar="FILE", help="write the trajectories, a JSON line each")


def _seed(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number of at most 18 digits is wanted")
    return int(text)


def _positive(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r}: a whole number from 1 to 1000000 is wanted")
    return number


def _money(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = 0.0
    if not 0 < amount < 1_000_000:
        raise argparse.ArgumentTypeError(f"{text!r}: an amount above 0 is wanted, such as 0.50")
    return amount


def _price(text: str) -> tuple[float, float]:
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"{text!r}: two prices are wanted, such as 3,15")
    return _money(parts[0]), _money(parts[1])


def print_json(value: Any) -> None:
    """One JSON value, in ASCII."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=True) + "\n")


def print_lines(lines: Iterable[Line]) -> None:
    """Lines with their styles, for people."""
    from rich.console import Console  # noqa: PLC0415  heavy, and only for people
    from rich.text import Text  # noqa: PLC0415

    console = Console(highlight=False, soft_wrap=True)
    for line in lines:
        console.print(Text(line.text, style=line.style))


if __name__ == "__main__":
    # as the module that the commands import: else their UsageError is another class than the one caught here
    raise SystemExit(importlib.import_module("sandtrail.sandbox.cli").main())
