"""`sandtrail list`, `show`, `lint` and `schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import FILE, printed

from sandtrail.sandbox import library


def test_the_list_tells_why(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = printed(capsys, "list", "--json")
    listed = json.loads(out)["scenarios"]
    assert len(listed) == len(list(library()))
    assert all({"id", "why", "tags", "language", "revision", "idle_passes"} <= one.keys() for one in listed)


def test_a_scenario_and_a_catalog_can_be_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = printed(capsys, "show", "refund-the-second-charge")
    assert (code, "$payment.second" in out, "refund.created" in out) == (0, True, True)
    assert max(map(len, out.splitlines())) <= 80
    assert (
        json.loads(printed(capsys, "show", "refund-the-second-charge", "--json")[1])["effects"][0]["times"]
        == 1
    )
    assert len(json.loads(printed(capsys, "show", "support@1", "--json")[1])["tools"]) >= 30
    assert "refund_payment" in printed(capsys, "show", "support@1")[1]


def test_a_catalog_of_ones_own_can_be_looked_at(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "own.catalog.yaml"
    canned = "{tool: get_sky, description: The sky., answers: {sky: clear}}"
    old = "{tool: find_user, operation: search_customers, deprecated: search_customers}"
    file.write_text(
        f"catalog: own\nversion: 2\ntools: [get_order, {canned}, {old}, {{tool: who, operation: get_user}}]\n"
    )
    code, out, _ = printed(capsys, "show", str(file))
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert (code, lines[0]) == (0, ["own@2", "4 tools"])
    assert lines[1:] == [
        ["get_order"],
        ["get_sky", "canned"],
        ["find_user", "deprecated: use search_customers"],
        ["who", "does get_user"],
    ]


def test_what_is_shown_of_a_scenario_is_what_its_file_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    more = "  first: []\n  forbid: {refund_order: no money}\n  answer: {states: [hello]}\n"
    file.write_text(
        FILE.replace("user:\n", "labels: {ann: [get_order], bo: []}\ncatalog:\n  distractors:\n"
        "    - {tool: refund_order, family: parameter_twin, why: store credit}\nuser:\n  then: [And?]\n  knows: {age: '9'}\n")
        + more
    )  # fmt: skip
    code, out, _ = printed(capsys, "show", str(file))
    assert code == 0
    for said in ("no tool at all", "refund_order: no money", "refund_order (parameter_twin): store credit",
                 "none: read-only", "states hello", "ann: get_order", "bo: no tool", "then   And?", "knows  age: 9"):  # fmt: skip
        assert said in out
    told = json.loads(printed(capsys, "show", str(file), "--json")[1])
    assert (told["first"], told["forbid"], told["says"]) == ([], {"refund_order": "no money"}, "Hello.")
    assert told["distractors"] == {"refund_order": "store credit"}


def test_lint_finds_nothing_in_the_library_and_names_what_is_wrong_elsewhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, _ = printed(capsys, "lint")
    assert (code, out.splitlines()[-1].startswith("exit 0: ")) == (0, True), out
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(FILE.replace("world:", "language: de\nworld:"))
    code, out, _ = printed(capsys, "lint", str(file))
    assert code == 2
    assert f"{file}:3:\n  the language is de" in out


def test_lint_tells_of_every_file_that_cannot_be_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.scenario.yaml").write_text(FILE.replace("  says:", f"  {name}ays:"))
    (tmp_path / "good.scenario.yaml").write_text(FILE)
    (tmp_path / "mine.scripts.yaml").write_text("scripted:\n  - {say: Hello.}\n")
    code, out, _ = printed(capsys, "lint", str(tmp_path), "--json")
    told = json.loads(out)
    assert (code, told["checked"]) == (2, 1)
    assert [problem["place"] for problem in told["problems"]] == [
        f"{tmp_path / 'a.scenario.yaml'}:6",
        f"{tmp_path / 'b.scenario.yaml'}:6",
    ]
    (tmp_path / "b.scenario.yaml").write_text(FILE)
    code, _, err = printed(capsys, "lint", str(tmp_path))
    assert (code, "ids are unique in a run" in err) == (2, True)


def test_the_schema_is_that_of_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    schema = json.loads(printed(capsys, "schema", "--json")[1])
    assert schema["required"] == ["scenario", "why", "user", "expect"]
    assert schema["additionalProperties"] is False
