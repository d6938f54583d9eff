"""The pytest plugin, as somebody's own suite meets it: every test here runs an inner pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from sandtrail.sandbox import library

# loaded once, outside: an inner run forgets what it imports
import_module("sandtrail.sandbox.plugin_support")
list(library())

HEAD = """
import pytest
from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.conversation import Answered, Calls, Reply, ToolCall
from sandtrail.sandbox import Limits, library, run

WORLD = WorldSpec({
    "$customer.lee": {"name": "Lee Ahn", "email": "lee@example.test"},
    "$order.lamp": {"customer": "$customer.lee", "number": "4412"},
    "$payment.first": {"order": "$order.lamp", "captured": "42.50 USD"},
})
LOOK = next(one for one in library() if one.id == "charged-twice-look-only")

def careless(conversation, catalog):
    done = [json.loads(m.text) for m in conversation if isinstance(m, Answered)]
    if not done:
        return Calls((ToolCall("1", "search_orders", {"number": "4412"}),))
    if len(done) == 1:
        return Calls((ToolCall("2", "cancel_order", {"order_id": done[0]["orders"][0]["id"]}),))
    return Reply("I have changed nothing. 42.50 USD, two payments.")

import json
"""


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nfilterwarnings = error\n")
    return pytester


def ran(suite: pytest.Pytester, body: str, *options: str) -> pytest.RunResult:
    suite.makepyfile(test_it=HEAD + body)
    return suite.runpytest_inprocess("-p", "no:cacheprovider", *options)


def test_the_sandbox_of_a_marker_is_active_and_fresh_for_each_test(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
@pytest.mark.sandtrail(world=WORLD)
@pytest.mark.parametrize("i", [1, 2])
def test_note(sandbox, i):
    sandbox.call("add_note", customer_id=sandbox.id("$customer.lee"), text="hi")
    assert len(sandbox.ledger.writes()) == 1
""",
    )
    result.assert_outcomes(passed=2)


def test_the_world_can_come_from_a_fixture_of_ones_own(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
@pytest.fixture
def sandtrail_world():
    return WORLD

def test_order(sandbox):
    assert sandbox.call("get_order", order_id=sandbox.id("$order.lamp")).ok
""",
    )
    result.assert_outcomes(passed=1)


def test_a_misspelt_option_of_the_marker_says_what_there_is(suite: pytest.Pytester) -> None:
    result = ran(suite, "@pytest.mark.sandtrail(word=WORLD)\ndef test_it(sandbox): pass\n")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*has no 'word'; it has*world*"])


def test_a_failing_test_shows_trail_findings_and_rows(suite: pytest.Pytester) -> None:
    result = ran(suite, "def test_look():\n    assert run(LOOK, agent=careless).findings == []\n")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- sandtrail -*",
            "charged-twice-look-only*FAIL*effect.unauthorized_write",
            "*2 cancel_order*order_id=$order.lamp*",
            "*~ order $order.lamp  status placed -> cancelled*",
            "*critical effect.unauthorized_write*",
        ]
    )


def test_a_failing_test_with_a_sandbox_shows_its_books(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
@pytest.mark.sandtrail(world=WORLD, seed=7)
def test_refund(sandbox):
    sandbox.call("refund_payment", payment_id=sandbox.id("$payment.first"), amount_minor=10)
    assert sandbox.ledger.effects("refund.created") == [{"amount": 4250}]
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*AssertionError: assert 1 found, 1 wanted",
            "*0: found  refund.created  payment=$payment.first  amount=10*",
            "*0: wanted {'amount': 4250}",
            "sandbox seed=7",
            "*~ payment $payment.first  refunded 0 -> 10*",
        ]
    )


def test_three_of_five_is_shown_as_three_of_five_with_each_books_and_fails(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
count = 0

@pytest.mark.sandtrail(world=WORLD, repetitions=5)
def test_often(sandbox):
    global count
    count += 1
    sandbox.call("add_note", customer_id=sandbox.id("$customer.lee"), text="hi")
    assert len(sandbox.ledger.writes()) == 1, "each repetition has a fresh world"
    assert count not in (2, 4)
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*3/5 repetitions pass", "*repetition 2: *", "*repetition 4: *"])
    result.stdout.fnmatch_lines(["repetition 2: <ledger*", "repetition 4: <ledger*"])


def test_repetitions_of_a_run_have_ids_of_their_own(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
seen = []

@pytest.mark.sandtrail(repetitions=3)
def test_often():
    seen.append(run(LOOK, agent=careless).trajectory)
    if len(seen) == 3:
        assert [one.repetition for one in seen] == [1, 2, 3]
        assert len({one.made[1].call.arguments["order_id"] for one in seen}) == 3
""",
    )
    result.assert_outcomes(passed=1)


def test_async_tests_are_repeated_by_whatever_plugin_runs_them(suite: pytest.Pytester) -> None:
    result = ran(
        suite,
        """
count = 0

@pytest.mark.anyio
@pytest.mark.sandtrail(world=WORLD, repetitions=2)
async def test_later(sandbox):
    global count
    count += 1
    assert (await sandbox.acall("get_order", order_id=sandbox.id("$order.lamp"))).ok
    assert count < 2

@pytest.fixture
def anyio_backend():
    return "asyncio"
""",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*1/2 repetitions pass"])


def test_runs_from_async_code_have_the_seed_and_the_repetition_of_their_test(
    suite: pytest.Pytester,
) -> None:
    result = ran(
        suite,
        """
import asyncio
from sandtrail.sandbox import arun

seen = []

@pytest.mark.anyio
@pytest.mark.sandtrail(repetitions=2)
async def test_often():
    here = (await arun(LOOK, careless)).trajectory
    seen.append((here.seed, here.repetition))
    other = (await arun(LOOK, careless, seed=3, repetition=4)).trajectory
    assert (other.seed, other.repetition) == (3, 4)

def test_all():
    assert seen == [(7, 1), (7, 2)]

@pytest.fixture
def anyio_backend():
    return "asyncio"
""",
        "--sandtrail-seed",
        "7",
        "--sandtrail-report",
        "out.json",
    )
    result.assert_outcomes(passed=2)
    assert len(cases(suite.path / "out.json")) == 4


OUTLIVING = """
import asyncio, threading
from concurrent.futures import ThreadPoolExecutor
from sandtrail.sandbox import arun

RUNNER = asyncio.Runner()  # of the whole session: its context is that of the test which began it
seen = []

@pytest.mark.sandtrail(repetitions=2)
@pytest.mark.parametrize("name", ["one", "two"])
def test_loop(name):
    seen.append((name, RUNNER.run(arun(LOOK, careless)).trajectory.repetition))

@pytest.mark.sandtrail(repetitions=2)
def test_threads():
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: run(LOOK, careless).trajectory, range(2)))
    seen.extend(("thread", one.repetition) for one in runs)
    assert {one.seed for one in runs} == {7}

def test_all():
    RUNNER.close()
    assert seen == [
        ("one", 1), ("one", 2), ("two", 1), ("two", 2), ("thread", 1), ("thread", 1), ("thread", 2), ("thread", 2)
    ]
"""


def test_a_loop_that_outlives_a_test_and_a_thread_of_ones_own_know_the_test_that_runs(
    suite: pytest.Pytester,
) -> None:
    result = ran(suite, OUTLIVING, "--sandtrail-seed", "7", "--sandtrail-report", "out.json")
    result.assert_outcomes(passed=4)
    counted = [case["test"].partition("::")[2] for case in cases(suite.path / "out.json")]
    assert {name: counted.count(name) for name in counted} == {
        "test_loop[one]": 2,
        "test_loop[two]": 2,
        "test_threads": 4,
    }


SCENARIO = """\
scenario: mine
why: a file of one's own
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
user:
  says: Hello.
expect:
  read_only: true
"""


def test_scenario_files_are_tests_by_themselves(suite: pytest.Pytester) -> None:
    suite.path.joinpath("mine.scenario.yaml").write_text(SCENARIO)
    suite.path.joinpath("mine.scripts.yaml").write_text("scripted:\n  - {say: Hello.}\n")
    result = suite.runpytest_inprocess("-v", "--sandtrail-agent", "scripted", "--sandtrail-repetitions", "2")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["mine.scenario.yaml::mine PASSED*"])


def test_a_scenario_file_that_cannot_be_used_says_where(suite: pytest.Pytester) -> None:
    suite.path.joinpath("bad.scenario.yaml").write_text(SCENARIO.replace("read_only", "red_only"))
    result = suite.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*bad.scenario.yaml:8: expect: unknown key 'red_only'; did you mean read_only?*"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_scenario_that_fails_counts_its_repetitions(suite: pytest.Pytester) -> None:
    suite.path.joinpath("mine.scenario.yaml").write_text(SCENARIO + "  answer: {states: [42.50 USD]}\n")
    suite.path.joinpath("mine.scripts.yaml").write_text("scripted:\n  - {say: Hello.}\n")
    result = suite.runpytest_inprocess("--sandtrail-agent", "scripted", "--sandtrail-repetitions", "2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["mine: 0/2 repetitions pass", "*major answer.missing*"])


def test_options_have_ini_twins(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nsandtrail_agent = do-nothing\nsandtrail_report = out.json\n")
    suite.path.joinpath("mine.scenario.yaml").write_text(SCENARIO)
    suite.runpytest_inprocess().assert_outcomes(passed=1)
    (case,) = cases(suite.path / "out.json")
    assert (case["agent"], case["overall"]) == ("do-nothing", "pass")


def test_a_seed_that_is_no_number_is_a_usage_error(suite: pytest.Pytester) -> None:
    result = ran(suite, "def test_it(): pass\n", "--sandtrail-seed", "x")
    assert result.ret != 0
    result.stderr.fnmatch_lines(["*--sandtrail-seed=x: a whole number is wanted*"])


def cases(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found


MANY = """
@pytest.mark.sandtrail(world=WORLD)
@pytest.mark.parametrize("i", range(60))
def test_case(sandbox, i):
    sandbox.call("get_order", order_id=sandbox.id("$order.lamp"))
"""


def test_workers_results_are_merged_each_once_and_in_order(suite: pytest.Pytester) -> None:
    ran(suite, MANY, "--sandtrail-report", "one.json").assert_outcomes(passed=60)
    ran(suite, MANY, "--sandtrail-report", "four.json", "-n", "4").assert_outcomes(passed=60)
    alone, together = cases(suite.path / "one.json"), cases(suite.path / "four.json")
    assert len(together) == 60
    assert [case["test"] for case in together] == [case["test"] for case in alone]
    assert all(case["attempts"] == 1 for case in together)


def test_junit_carries_the_verdict_of_each_run(suite: pytest.Pytester) -> None:
    ran(suite, "def test_look():\n    run(LOOK, agent=careless)\n", "--junitxml", "junit.xml")
    text = (suite.path / "junit.xml").read_text()
    properties = ET.fromstring(text).iter("property")
    assert ("sandtrail", "charged-twice-look-only: fail") in [
        (p.get("name"), p.get("value")) for p in properties
    ]


def test_the_plugin_imports_nothing_heavy_until_it_is_used() -> None:
    code = (
        "import sys, pytest; before = set(sys.modules); import sandtrail.sandbox.pytest_plugin; "
        "heavy = {'pydantic', 'sqlalchemy', 'httpx', 'respx', 'yaml', 'anthropic', 'hypothesis', 'freezegun', 'rich', "
        "'sqlmodel', 'jsonschema'}; print(sorted(heavy & (set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unrelated_suite_loads_none_of_it(suite: pytest.Pytester) -> None:
    suite.makepyfile(
        test_plain="""
import sys

def test_plain():
    loaded = [name for name in sys.modules if name.startswith("sandtrail")]
    assert sorted(loaded) == [
        "sandtrail", "sandtrail.sandbox", "sandtrail.sandbox.current", "sandtrail.sandbox.pytest_plugin",
    ]
"""
    )
    suite.runpytest_subprocess().assert_outcomes(passed=1)
