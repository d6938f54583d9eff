"""The digest of a scenario: another world, tool, user or expectation is another scenario; another line or reason is not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from sandtrail.sandbox import library
from sandtrail.scenarios import Contract, Scenario, User, WantedEffect, parse
from sandtrail.scenarios.contract import WantedArgument
from sandtrail.scenarios.digests import digest_of
from sandtrail.scenarios.scenario import CatalogFile, Offered, Place, ToolEntry

TEXT = """\
scenario: mine
why: a test
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
  $customer.kim: {name: Kim Ito, email: kim@example.test}
user:
  says: Hello.
expect:
  arguments: {get_order: {order_id: "$order.1"}}
"""
ONE = parse(TEXT, "a.scenario.yaml")


def test_every_shipped_scenario_has_a_digest_of_its_own() -> None:
    found = [digest_of(scenario) for scenario in library()]
    assert len(set(found)) == len(found)


def test_a_digest_is_the_same_in_every_process() -> None:
    code = (
        "from sandtrail.sandbox import library; from sandtrail.scenarios.digests import digest_of;"
        "print(*(digest_of(one) for one in library()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"}
    )
    assert done.stdout.split() == [digest_of(one) for one in library()]


@pytest.mark.parametrize(
    "changed",
    [
        {"why": "another reason"},
        {"tags": ("a",)},
        {"reviewed": "by somebody"},
        {"places": {"": Place("elsewhere", 7)}},
    ],
)
def test_what_only_people_read_is_none_of_it(changed: dict[str, Any]) -> None:
    assert digest_of(replace(ONE, **changed)) == digest_of(ONE)


def test_a_file_that_is_laid_out_otherwise_is_the_same_scenario() -> None:
    assert digest_of(parse("# a word\n\n" + TEXT, "b.scenario.yaml")) == digest_of(ONE)


CANNED = ToolEntry("sky", None, "The sky.", answers={"sky": "clear"})


def _catalog(*tools: ToolEntry, line: int = 1) -> CatalogFile:
    return CatalogFile("mine", 1, tools, {"": Place("c", line)})


@pytest.mark.parametrize(
    "changed",
    [
        {"id": "other"},
        {"revision": 2},
        {"user": User("Hi.")},
        {"user": User("Hello.", knows={"age": "9"})},
        {"world": replace(ONE.world, zone="Europe/Berlin")},
        {"world": replace(ONE.world, entities=dict(reversed(list(ONE.world.entities.items()))))},
        {"offer": Offered(only=("get_order",))},
        {"expect": Contract(read_only=True)},
        {"expect": Contract(effects=(WantedEffect("refund.created", times=2),))},
        {"expect": Contract(arguments=(WantedArgument("get_order", "order_id"),))},
        {"catalog": _catalog(CANNED)},
        {"first_only": True},
    ],
)
def test_what_a_run_depends_on_is_part_of_it(changed: dict[str, Any]) -> None:
    assert digest_of(replace(ONE, **changed)) != digest_of(ONE)


def test_the_words_and_the_order_of_a_catalog_are_part_of_it_and_its_lines_are_not() -> None:
    def over(catalog: CatalogFile) -> Scenario:
        return replace(ONE, catalog=catalog)

    other = ToolEntry("ping", "get_order")
    base = digest_of(over(_catalog(CANNED, other)))
    assert digest_of(over(_catalog(CANNED, other, line=9))) == base
    assert digest_of(over(_catalog(other, CANNED))) != base
    assert digest_of(over(_catalog(replace(CANNED, answers={"sky": "grey"}), other))) != base
