"""`sandtrail selftest` and `sandtrail bench`."""

from __future__ import annotations

import argparse

from sandtrail.sandbox.cli import print_json, print_lines


def selftest_command(options: argparse.Namespace) -> int:
    """Seed everything, and say what was named."""
    from sandtrail.sandbox.selftest import report, selftest  # noqa: PLC0415  each command loads what it needs

    outcome = selftest()
    if options.json:
        print_json(outcome.as_json())
    else:
        print_lines(report(outcome))
    return 0 if outcome.passed else 3


def bench_command(options: argparse.Namespace) -> int:
    """Measure what each stage costs."""
    from sandtrail.sandbox.bench import bench, detectors, table  # noqa: PLC0415  as above

    measured = bench(customers=options.customers, rounds=options.rounds)
    found = detectors(rounds=options.rounds)
    if options.json:
        told = {name: one.in_full() for name, one in found.items()}
        counts = {"customers": options.customers, "rounds": options.rounds}
        print_json({"stages": measured, "provenance": told, **counts})
    else:
        print_lines(table(measured, options.customers, options.rounds, found))
    return 0
