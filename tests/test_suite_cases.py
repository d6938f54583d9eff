"""Public bug reports about test suites of tool-using agents: each file is run by a pytest of its own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from casework import FOLDER, case

MANY = "sui-07"
SUITES = sorted(file.stem for file in FOLDER.glob("sui-*.json") if not file.stem.startswith(MANY))


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini("[pytest]\nfilterwarnings = error\n")
    return pytester


def ran(suite: pytest.Pytester, given: dict[str, Any], *options: str) -> pytest.RunResult:
    for name, lines in given["files"].items():
        suite.path.joinpath(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return suite.runpytest_subprocess("-p", "no:cacheprovider", *options, timeout=given["timeout_s"])


@pytest.mark.parametrize("name", SUITES)
def test_a_suite_ends_in_time_and_passes(name: str, suite: pytest.Pytester) -> None:
    given = case(name)
    result = ran(suite, given["input"], *given["input"].get("args", ()))
    outcomes = result.parseoutcomes()
    assert given["expected_verdict"]["overall"] == "pass"
    assert outcomes.keys() == {"passed"}
    assert result.ret == 0


def test_four_workers_write_one_report_with_each_case_once_and_in_order(suite: pytest.Pytester) -> None:
    given = case(MANY)
    ran(suite, given["input"], "--sandtrail-report", "report.json", *given["input"]["args"]).assert_outcomes(
        passed=60
    )
    cases = json.loads(suite.path.joinpath("report.json").read_text())["cases"]
    assert [found["test"] for found in cases] == [f"test_g.py::test_case[{number}]" for number in range(60)]
