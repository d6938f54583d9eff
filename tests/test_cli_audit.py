"""`sandtrail audit` in a terminal: the table, the page of a run, JSON, exit codes, and what must never reach the screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import printed
from test_audit import BAD, GOOD, LOOK, TOOLS, called, said, write

from sandtrail.sandbox.auditing import AuditedRun
from sandtrail.sandbox.cli_audit import MOST_ROWS, Totals, common_prefix, page, table
from sandtrail.sandbox.interchange.recording import Recording


def test_the_table_has_the_worst_first_and_one_next_step(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path, "good.json", GOOD)
    write(tmp_path, "worse.json", BAD)
    code, out, _ = printed(capsys, "audit", str(tmp_path))
    lines = out.splitlines()
    assert code == 1
    assert [line.split()[:2] for line in lines[1:3]] == [["worse", "FAIL"], ["good", "PASS"]]
    assert "1 of 3" in lines[1]
    assert "    1  major    provenance.near_miss" in out
    assert "6 arguments: exact 5 · near miss 1" in out
    assert "evidence: claimed by the transcripts" in out
    assert f"look: sandtrail audit {tmp_path} --run worse" in " ".join(out.split())
    assert lines[-1] == "exit 1: 2 runs (anthropic): 1 fail, 1 pass"
    assert max(map(len, lines)) <= 80


def test_the_page_of_a_run_shows_where_each_argument_came_from(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write(tmp_path, "worse.json", BAD)
    code, out, _ = printed(capsys, "audit", str(tmp_path), "--run", "worse")
    assert code == 1
    assert " 1 list_payments  order=4412                 told     said by the user" in out
    assert "near miss" in out
    assert "slots inferred: refund_payment.payment_id: payment id, by the name" in " ".join(out.split())
    told = printed(capsys, "audit", str(tmp_path), "--run", "worse", "--json")
    assert (told[0], json.loads(told[1])["runs"][0]["id"]) == (1, "worse")
    code, _, err = printed(capsys, "audit", str(tmp_path), "--run", "wurst")
    assert (code, "no run 'wurst'; there are worse" in err) == (2, True)


def test_json_is_one_object_with_all_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write(tmp_path, "good.json", GOOD)
    write(tmp_path, "worse.json", BAD)
    code, out, _ = printed(capsys, "audit", "--json", str(tmp_path))
    runs = json.loads(out)["runs"]
    assert (code, [(run["id"], run["overall"]) for run in runs]) == (1, [("good", "pass"), ("worse", "fail")])


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        (GOOD, 0),
        (BAD, 1),
        ([*LOOK[:2], said("user", "And?"), said("assistant", "Fine.")], 2),
        ([said("user", "Hi?")], 4),
    ],
)
def test_the_exit_code_is_that_of_the_worst_verdict(
    messages: list[Any], code: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = write(tmp_path, "one.json", messages)
    assert printed(capsys, "audit", str(file))[0] == code


def test_definitions_may_stand_in_a_file_of_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    bare = tmp_path / "bare.json"
    bare.write_text(json.dumps(GOOD), encoding="utf-8")
    tools = tmp_path / "tools.json.txt"
    tools.write_text(json.dumps(TOOLS), encoding="utf-8")
    assert printed(capsys, "audit", str(bare), "--tools", str(tools))[0] == 0
    tools.write_text('{"no": "tools"}', encoding="utf-8")
    code, _, err = printed(capsys, "audit", str(bare), "--tools", str(tools))
    assert code == 2
    assert "tools.json.txt" in err
    assert "Traceback" not in err


def test_what_is_no_transcript_is_told_and_no_traceback(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "broken.json").write_bytes(b"\xff\xfe{")
    code, out, err = printed(capsys, "audit", str(tmp_path / "broken.json"))
    assert (code, "Traceback" not in out + err) == (2, True)
    assert "broken: major wire.unreadable" in out
    assert "evidence" not in out
    code, out, err = printed(capsys, "audit", str(tmp_path / "missing.json"))
    assert code == 2
    assert "missing.json" in out + err


def test_why_runs_were_not_judged_is_told_for_the_first_of_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "odd.jsonl").write_text("\n".join(["nonsense"] * 7), encoding="utf-8")
    code, out, _ = printed(capsys, "audit", str(tmp_path / "odd.jsonl"))
    assert (code, out.count("major wire.unreadable  at")) == (2, 5)
    assert "  ... and 2 more" in out


def test_escapes_in_a_transcript_are_spelled_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    red = "\x1b[31mred"
    messages = [said("user", red), called("a", f"get_{red}", order=red), said("user", "x")]
    write(tmp_path, "odd.json", [*messages[:2]])
    for more in ([], ["--run", "odd"]):
        _, out, _ = printed(capsys, "audit", str(tmp_path), *more)
        assert "\x1b" not in out


def test_keys_in_a_transcript_are_not_printed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    key = "sk-ant-api03-abcdefgh12345678"
    write(
        tmp_path, "keyed.json", [said("user", f"My key is {key}."), called("a", "list_payments", order=key)]
    )
    for more in ([], ["--run", "keyed"], ["--json"]):
        _, out, _ = printed(capsys, "audit", str(tmp_path), *more)
        assert key not in out


def test_many_runs_are_counted_beyond_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    line = json.dumps({"format": "anthropic", "tools": TOOLS, "messages": GOOD})
    file.write_text("\n".join([line] * (MOST_ROWS + 20)), encoding="utf-8")
    code, out, _ = printed(capsys, "audit", str(file))
    assert code == 0
    assert "... and 20 more" in out
    assert out.splitlines()[-1] == f"exit 0: {MOST_ROWS + 20} runs (anthropic): {MOST_ROWS + 20} pass"


def test_no_runs_decide_nothing() -> None:
    totals = Totals()
    assert totals.code == 4
    lines = [line.text for line in table(totals, "x")]
    assert lines[-1] == "exit 4: 0 runs (none): nothing to judge"
    assert common_prefix([]) == ""


def test_a_run_that_could_not_be_judged_has_a_page_too() -> None:
    lines = [line.text for line in page(AuditedRun(Recording("x", "tau"), ()))]
    assert lines[0].split() == ["x", "unseen"]
