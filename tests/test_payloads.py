"""Payloads of model providers: kept only when asked for, whole, and without keys."""

from __future__ import annotations

import gzip
import json
import os
import stat
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import printed

from sandtrail.ledgers import WorldSpec
from sandtrail.ledgers.conversation import Usage
from sandtrail.sandbox import run
from sandtrail.sandbox.agents import Scripted
from sandtrail.sandbox.payloads import PayloadLog, payloads
from sandtrail.sandbox.places import BadStore
from sandtrail.sandbox.providers import WATCH, RequestLog
from sandtrail.scenarios import Contract, Scenario, User
from sandtrail.scenarios.scenario import Place

KEY_OF_A_LOCAL_SERVER = "correct horse"


@pytest.fixture
def handed_on() -> Iterator[list[Mapping[str, Any]]]:
    found: list[Mapping[str, Any]] = []
    token = WATCH.set(found.append)
    yield found
    WATCH.reset(token)


# -- the file ----------------------------------------------------------------------------------------------


def test_payloads_are_kept_in_a_file_of_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run_1.jsonl.gz"
    log = PayloadLog.open(path)
    log.write("run_1", "a", 2, {"n": 1, "text": "\ud800 \U0001f600"})
    log.close()
    again = PayloadLog.open(path)
    again.write("run_1", "a", 2, {"n": {1}})
    again.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one["payload"] for one in payloads(path)] == [
        {"n": 1, "text": "\ud800 \U0001f600"},
        {"n": "{1}"},
    ]
    assert {(one["run"], one["scenario"], one["repetition"]) for one in payloads(path)} == {("run_1", "a", 2)}


def test_threads_log_at_once(tmp_path: Path) -> None:
    log = PayloadLog.open(tmp_path / "p.gz")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(log.write, "r", "a", 1), [{"n": [number] * 500} for number in range(100)]))
    log.close()
    assert sorted(one["payload"]["n"][0] for one in payloads(tmp_path / "p.gz")) == list(range(100))


@pytest.mark.parametrize("after", [b"", b"third"], ids=["at the end", "and more were appended"])
def test_a_payload_that_was_cut_off_costs_no_other(tmp_path: Path, after: bytes) -> None:
    path = tmp_path / "p.gz"
    log = PayloadLog.open(path)
    log.write("r", "a", 1, {"n": "first"})
    first = path.stat().st_size
    log.write("r", "a", 1, {"n": "second"})
    log.close()
    whole = path.read_bytes()
    then = gzip.compress(b'{"payload": {"n": "third"}}\n') if after else b""
    for cut in range(first, len(whole)):
        path.write_bytes(whole[:cut] + then)
        found = [one["payload"]["n"] for one in payloads(path)]
        assert found == ["first", *(["third"] if after else [])], cut


def test_bytes_that_look_like_a_beginning_are_none(tmp_path: Path) -> None:
    path = tmp_path / "p.gz"
    path.write_bytes(b"\x1f\x8b\x08\x1f\x8b" + gzip.compress(b'{"payload": 1}\n') + b"\x1f\x8b\x08")
    assert [one["payload"] for one in payloads(path)] == [1]


def test_what_is_no_log_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.gz").write_text("hello")
    assert list(payloads(tmp_path / "p.gz")) == []
    for path in (tmp_path / "none.gz", tmp_path):
        with pytest.raises(BadStore, match="name a log of payloads"):
            list(payloads(path))


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file/p.gz", "name a file in a place that you may write"),
        ("p\0.gz", "name a file in a place that you may write"),
        (".", "it is a folder; name a file in it"),
    ],
)
def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, place: str, said: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadStore, match=said):
        PayloadLog.open(tmp_path / place)


def test_a_log_that_has_no_room_says_so_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def short(descriptor: int, data: bytes) -> int:
        return 3

    log = PayloadLog.open(tmp_path / "p.gz")
    monkeypatch.setattr(os, "write", short)
    log.write("r", "a", 1, {})
    assert (log.written, log.failure) == (0, "there is no room for all of it")
    log.close()
    monkeypatch.undo()
    log.failure = ""
    log.write("r", "a", 1, {})  # the file is closed
    log.write("r", "a", 1, {})
    assert (log.written, log.failure) == (0, os.strerror(9))


# -- what is handed on -------------------------------------------------------------------------------------


def test_every_request_is_handed_on_once_with_what_came_back(handed_on: list[Mapping[str, Any]]) -> None:
    log = RequestLog("m", lambda _: Usage())
    log.sent(b'{"n": 1}')  # nothing comes back
    log.sent(b'{"n": 2}')
    log.came(429, {}, b"slow down")
    log.sent(b'{"n": 3}')
    log.came(200, {}, b'{"ok": true}')
    log.sent(b"\xff" + b"[" * 100_000)
    log.settle()
    log.settle()
    assert [(one["status"], one["response"]) for one in handed_on] == [
        (0, None), (429, "slow down"), (200, {"ok": True}), (0, None),
    ]  # fmt: skip
    assert [one["request"] for one in handed_on[:3]] == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert handed_on[3]["request"].startswith("\ufffd[[")


def test_a_key_without_a_look_of_its_own_is_not_handed_on(handed_on: list[Mapping[str, Any]]) -> None:
    log = RequestLog("m", lambda _: Usage(), lambda: [KEY_OF_A_LOCAL_SERVER])
    log.sent(b"{}")
    log.came(401, {}, json.dumps({"error": f"wrong key {KEY_OF_A_LOCAL_SERVER}"}).encode())
    assert handed_on[0]["response"] == {"error": "wrong key ..."}


def test_nothing_is_handed_on_after_the_run_that_asked_for_it() -> None:
    asked: list[Any] = []

    def told(scenario: str, repetition: int, payload: Mapping[str, Any]) -> None:
        asked.append(payload)

    agent = Scripted("made", [{"say": "Hello."}])
    talk = Scenario("made", "a test", WorldSpec(), User("Hello."), Contract(), {"": Place("here", 1)})
    run(talk, agent, payloads=told)
    log = RequestLog("m", lambda _: Usage())
    log.sent(b"{}")
    log.came(200, {}, b"{}")
    assert asked == []
    assert WATCH.get() is None


# -- the command line --------------------------------------------------------------------------------------


def test_an_agent_that_asks_no_model_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.gz"
    code, _, said = printed(
        capsys, "run", "charged-twice-look-only", "--agent", "scripted", "--payloads", str(path)
    )
    assert (code, path.read_bytes()) == (0, b"")
    assert "the agent has asked no model; nothing was added" in said


def full(path: str) -> PayloadLog:
    made = PayloadLog(Path(path), os.open(path, os.O_WRONLY | os.O_CREAT))
    made.failure = "no space"
    return made


def test_a_log_that_lacks_requests_is_told_and_the_results_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PayloadLog, "open", full)
    words = ("run", "charged-twice-look-only", "--agent", "scripted", "--payloads", str(tmp_path / "p.gz"))
    code, out, said = printed(capsys, *words)
    assert code == 0
    assert "exit 0" in out
    assert "p.gz: no space; the log lacks requests" in said


def test_a_place_for_payloads_that_cannot_be_used_is_an_input_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = printed(
        capsys, "run", "charged-twice-look-only", "--agent", "scripted", "--payloads", str(tmp_path)
    )
    assert code == 2
    assert "--payloads" in said
    assert "it is a folder; name a file in it" in said
