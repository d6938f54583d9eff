"""The results store: what has ended is kept, whatever kills the process; secrets never reach it."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from commands import FILE
from sqlalchemy import Connection, event

from sandtrail.ledgers.conversation import Decided as DecidedOn
from sandtrail.ledgers.conversation import Reply, UserSaid
from sandtrail.ledgers.saved import dump, load
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.sandbox import results
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.loading import shipped
from sandtrail.sandbox.payloads import PayloadLog
from sandtrail.sandbox.places import BadStore
from sandtrail.sandbox.results import (
    VERSION,
    Header,
    ResultsStore,
    TrialKey,
)
from sandtrail.scenarios.digests import digest_of
from worlds import world

HEADER = Header("scripted", 7, "sandtrail run")
KEY = TrialKey("a", 1)


def ended(store: ResultsStore, run: str, key: TrialKey, **told: Any) -> None:
    store.started(run, key, revision=1, seed=7)
    store.ended(run, key, trajectory="{}", findings="[]", overall="pass", **told)


def todo(store: ResultsStore, run: str, keys: list[TrialKey]) -> list[TrialKey]:
    done = store.done(run)
    return [key for key in keys if key not in done]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ResultsStore]:
    opened = ResultsStore.open(tmp_path / "r.sqlite")
    yield opened
    opened.close()


def everything_in(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


def test_what_has_started_is_to_be_done_until_it_has_ended(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    run = store.begin(HEADER)
    one, two = TrialKey("a", 1), TrialKey("a", 2)
    ended(store, run, one)
    store.started(run, two, revision=1, seed=7)
    assert set(store.done(run)) == {one}
    ended(store, run, two)
    assert set(store.done(run)) == {one, two}
    assert [row.state for row in store.trials(run)] == ["ended", "ended"]


def test_trials_come_in_one_order_whoever_wrote_them_when(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    run = store.begin(HEADER)
    for key in (TrialKey("b", 2), TrialKey("a", 1), TrialKey("b", 1)):
        ended(store, run, key)
    assert [(row.scenario, row.repetition) for row in store.trials(run)] == [("a", 1), ("b", 1), ("b", 2)]


def test_a_trial_that_never_started_cannot_end(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    with pytest.raises(LookupError, match="never started"):
        store.ended(store.begin(HEADER), TrialKey("a", 1), trajectory="", findings="")


def test_the_latest_run_is_the_one_that_began_last_however_fast_they_follow(store: ResultsStore) -> None:
    with pytest.raises(LookupError, match="none yet"):
        store.run("latest")
    begun = [store.begin(HEADER) for _ in range(12)]
    assert [run.id for run in store.runs()] == begun
    assert store.run("latest").id == begun[-1]
    assert store.run(begun[3]).id == begun[3]
    with pytest.raises(LookupError, match=begun[-1]):
        store.run("run_nope")


def test_what_is_done_has_ended_in_this_run_and_under_this_arm(store: ResultsStore) -> None:
    run = store.begin(HEADER)
    ended(store, run, TrialKey("a", 2, "renamed"))
    store.started(run, TrialKey("b", 1), revision=1, seed=7)
    assert list(store.done(run)) == [TrialKey("a", 2, "renamed")]
    assert store.done(store.begin(HEADER)) == {}


def test_a_trial_holds_what_it_was_given(store: ResultsStore) -> None:
    run = store.begin(Header("llm", 2**64 + 5, "sandtrail run x", "d1", "0.1"))
    store.started(run, KEY, revision=3, seed=2**70, agent="llm", digest="d2", agent_digest="d1")
    told: dict[str, Any] = {
        "overall": "fail",
        "first_decision": "wrong_tool",
        "recovery": "contained",
        "cost": 2**40,
    }
    store.ended(run, KEY, trajectory="{}", findings='["\\ud800"]', unexpected_writes=2, tokens=9, **told)
    (row,) = store.trials(run)
    who = {"run": run, "scenario": "a", "arm": "", "repetition": 1, "revision": 3, "seed": 2**70}
    agent = {"agent": "llm", "digest": "d2", "agent_digest": "d1", "state": "ended"}
    rest = {"unexpected_writes": 2, "tokens": 9, "findings": '["\\ud800"]', "trajectory": "{}"}
    assert row.model_dump(exclude={"started", "ended"}) == who | agent | told | rest
    assert row.ended is not None
    assert row.started <= row.ended
    assert (store.run("latest").seed, store.run("latest").sandtrail) == (2**64 + 5, "0.1")
    assert store.run("latest").ended is None
    store.finish(run)
    assert store.run("latest").ended


def test_what_was_cut_off_begins_anew(store: ResultsStore) -> None:
    run = store.begin(HEADER)
    store.started(run, KEY, revision=1, seed=1)
    store.started(run, KEY, revision=2, seed=2)
    (row,) = store.trials(run)
    assert (row.revision, row.seed, row.state) == (2, 2, "started")


def test_nothing_ends_twice_and_the_first_end_stays(store: ResultsStore) -> None:
    run = store.begin(HEADER)
    ended(store, run, KEY, tokens=1)
    with pytest.raises(LookupError, match="ended before, and that stays"):
        store.ended(run, KEY, trajectory="x", findings="[]", tokens=2)
    assert [row.tokens for row in store.trials(run)] == [1]


def test_a_trial_of_no_run_cannot_start(store: ResultsStore) -> None:
    with pytest.raises(LookupError, match=r"holds no run 'run_x'; begin\(\) gives its id"):
        store.started("run_x", KEY, revision=1, seed=1)
    assert store.trials("run_x") == []


@pytest.mark.parametrize(
    "text", ["\ud800", "a\x00b", "caf\u00e9 \U0001f600", "'; DROP TABLE trial; --", "\ud83d\n"]
)
def test_any_text_can_be_kept(store: ResultsStore, text: str) -> None:
    run = store.begin(Header(text, 1, text))
    ended(store, run, KEY, recovery=text)
    (row,) = store.trials(run)
    assert row.recovery == text.encode("utf-8", "backslashreplace").decode()


def test_every_file_of_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "deep" / "r.sqlite")
    store.begin(HEADER)
    files = sorted((tmp_path / "deep").iterdir())
    assert [file.name for file in files] == ["r.sqlite", "r.sqlite-shm", "r.sqlite-wal"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_store_that_is_closed_is_one_file(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    run = store.begin(HEADER)
    store.close()
    assert [file.name for file in tmp_path.iterdir()] == ["r.sqlite"]
    assert ResultsStore.open(tmp_path / "r.sqlite").run("latest").id == run


SECRETS = (
    "sk-ant-api03-AAAABBBBCCCCDDDD1111",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl",
)


def test_secrets_never_reach_the_disk(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    text = " ".join(SECRETS) + " Authorization: Bearer abcdefgh12345678 password=hunter2hunter2"
    run = store.begin(Header(text, 1, f"sandtrail run --agent {text}", text, text))
    store.started(run, KEY, revision=1, seed=1, agent=text, digest=text, agent_digest=text)
    told = {"overall": text, "first_decision": text, "recovery": text}
    store.ended(run, KEY, trajectory=text, findings=json.dumps([text]), **told)  # type: ignore[arg-type]
    store.close()
    with_log = PayloadLog.open(tmp_path / "p.jsonl.gz")
    with_log.write(run, "a", 1, {"headers": {"x-api-key": "abcdefgh12345678"}, "body": text})
    with_log.close()
    kept = everything_in(tmp_path) + gzip.decompress((tmp_path / "p.jsonl.gz").read_bytes())
    assert kept.count(b"[redacted]") > 20
    for secret in (*SECRETS, "abcdefgh12345678", "hunter2hunter2"):
        assert secret.encode() not in kept


def test_a_trajectory_with_a_secret_in_its_books_is_kept_without_it_and_still_loads(
    store: ResultsStore,
) -> None:
    with world() as here:
        here.call("add_note", customer_id=here.id("$customer.lee"), text=f"my key:\n{SECRETS[0]}")
        talk = (UserSaid(f"use {SECRETS[0]}"), DecidedOn(Reply("no")))
        gone = Trajectory("a", "scripted", 1, 1, talk, here.ledger.settled())
    run = store.begin(HEADER)
    store.started(run, KEY, revision=1, seed=1)
    store.ended(run, KEY, trajectory=dump(gone), findings="[]")
    (row,) = store.trials(run)
    assert SECRETS[0] not in row.trajectory
    back = load(row.trajectory)
    assert back.conversation[0] == UserSaid("use [redacted]")
    assert [attempt.operation for attempt in back.ledger.writes()] == ["add_note"]
    assert "my key:\\n[redacted]" in back.ledger.writes()[0].arguments
    assert back.ledger.verify() == []


# -- places that are none ----------------------------------------------------------------------------------


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="name a file in it"):
        ResultsStore.open(tmp_path)


def test_a_file_of_something_else_is_told_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 1000)
    with pytest.raises(BadStore, match="move this one away"):
        ResultsStore.open(path)
    assert path.read_text().startswith("hello")


def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    ResultsStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE store SET version = ?", (VERSION + 1,))
    connection.close()
    with pytest.raises(BadStore, match="newer sandtrail"):
        ResultsStore.open(path)


@pytest.mark.parametrize("url", ["nosuch://host/db", "postgresql+nothere://u:secretsecret@h/db"])
def test_a_url_that_cannot_be_used_hides_its_password(url: str) -> None:
    with pytest.raises(BadStore) as error:
        ResultsStore.open(url)
    assert "secretsecret" not in str(error.value)


@pytest.mark.parametrize("statement", ["CREATE TABLE bills (id)", "CREATE TABLE store (shop TEXT)"])
def test_a_database_of_something_else_is_left_alone(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "r.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(BadStore, match="name another file, or move this one away"):
        ResultsStore.open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", ["0", "-1"])
def test_a_store_of_no_version_is_no_store(tmp_path: Path, version: str) -> None:
    path = tmp_path / "r.sqlite"
    ResultsStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"UPDATE store SET version = {version}")
    connection.close()
    with pytest.raises(BadStore, match=r"written by no sandtrail .* move it away, or name another file"):
        ResultsStore.open(path)


def test_a_folder_named_by_a_url_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(BadStore, match="name a file in it"):
        ResultsStore.open(f"sqlite:///{tmp_path}")


def test_a_place_below_a_file_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadStore, match="name a file in a place that you may write"):
        ResultsStore.open(tmp_path / "file" / "r.sqlite")


def test_a_place_that_may_not_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(BadStore, match="Permission denied; name a file in a place that you may write"):
        ResultsStore.open(tmp_path / "r.sqlite")


def pragma(store: ResultsStore, setting: str) -> None:
    """Set it on every connection that the store takes from now on."""

    def taken(connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA {setting}")

    event.listen(store._engine, "engine_connect", taken)


def test_a_database_that_has_become_read_only_is_told(store: ResultsStore) -> None:
    pragma(store, "query_only=1")
    with pytest.raises(BadStore, match="make it writable, or copy it"):
        store.begin(HEADER)
    assert store.runs() == []


def test_a_full_disk_is_told_and_what_is_there_stays(tmp_path: Path) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    run = store.begin(HEADER)
    ended(store, run, KEY)
    pragma(store, "max_page_count=10")
    other = TrialKey("b", 1)
    store.started(run, other, revision=1, seed=1)
    with pytest.raises(BadStore, match="make room on the disk, then go on with --resume"):
        store.ended(run, other, trajectory="x" * 100_000, findings="[]")
    assert todo(store, run, [KEY, other]) == [other]


def test_a_writer_that_holds_on_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "PATIENCE", 20)
    store = ResultsStore.open(tmp_path / "r.sqlite")
    with sqlite3.connect(tmp_path / "r.sqlite", isolation_level=None) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(BadStore, match="another process has been writing for long"):
            store.begin(HEADER)
        holder.execute("COMMIT")
    holder.close()
    assert store.run(store.begin(HEADER)).agent == "scripted"


@pytest.mark.parametrize("statement", ["UPDATE run SET seed = 'soon'", "DROP TABLE run"])
def test_a_store_that_somebody_has_edited_is_told(
    store: ResultsStore, tmp_path: Path, statement: str
) -> None:
    store.begin(HEADER)
    with sqlite3.connect(tmp_path / "r.sqlite") as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(BadStore, match="name another file, or move this one away"):
        store.runs()


def test_a_name_that_a_url_would_cut_is_a_file_name(tmp_path: Path) -> None:
    ResultsStore.open(tmp_path / "what?mode=ro#1%20.sqlite").close()
    assert [file.name for file in tmp_path.iterdir()] == ["what?mode=ro#1%20.sqlite"]


def test_a_file_named_by_a_url_is_its_owners_alone_too(tmp_path: Path) -> None:
    ResultsStore.open(f"sqlite:///{tmp_path}/r.sqlite").close()
    assert stat.S_IMODE((tmp_path / "r.sqlite").stat().st_mode) == 0o600


def test_a_store_in_memory_is_one_for_all_threads() -> None:
    store = ResultsStore.open("sqlite://")
    run = store.begin(HEADER)
    keys = [TrialKey("a", number) for number in range(1, 41)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(ended, store, run), keys))
    assert list(store.done(run)) == keys


# -- a fault at every write ------------------------------------------------------------------------------


def statements(store: ResultsStore, run: str) -> int:
    """How many statements, BEGIN and COMMIT among them, one trial takes."""
    seen: list[str] = []
    with watched(store, seen.append):
        ended(store, run, TrialKey("count", 1))
    assert any(one.startswith("INSERT") for one in seen)
    return len(seen)


@contextmanager
def watched(store: ResultsStore, see: Callable[[str], None]) -> Generator[None]:
    """Show every statement before it is executed, and every commit."""

    def statement(_: object, __: object, text: str, *___: object) -> None:
        see(text)

    def commit(_: object) -> None:
        see("COMMIT")

    event.listen(store._engine, "before_cursor_execute", statement)
    event.listen(store._engine, "commit", commit)
    try:
        yield
    finally:
        event.remove(store._engine, "before_cursor_execute", statement)
        event.remove(store._engine, "commit", commit)


def test_a_fault_at_any_write_loses_nothing_and_leaves_nothing_halfway(store: ResultsStore) -> None:
    run = store.begin(HEADER)
    ended(store, run, KEY, tokens=5)
    total = statements(store, run)
    assert total >= 8
    for place in range(total):
        key, left = TrialKey("faulty", place + 1), [place]

        def fails(_: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] == -1:
                raise sqlite3.OperationalError("disk I/O error")

        with watched(store, fails), pytest.raises(BadStore, match="disk I/O error; name another file"):
            ended(store, run, key)
        assert key not in store.done(run)
        assert todo(store, run, [key]) == [key]
        ended(store, run, key)
        assert todo(store, run, [key]) == []
    assert store.done(run)[KEY].tokens == 5
    assert len(store.done(run)) == total + 2


# -- processes that die, and processes at once -----------------------------------------------------------

WRITER = textwrap.dedent(
    """
    import sys
    from sandtrail.sandbox.results import Header, ResultsStore, TrialKey
    store = ResultsStore.open(sys.argv[1])
    run = store.begin(Header("scripted", 7))
    print(run, flush=True)
    for number in range(10_000):
        key = TrialKey("scenario", number + 1)
        store.started(run, key, revision=1, seed=7)
        store.ended(run, key, trajectory="x" * 20_000, findings="[]", overall="pass")
        print(number + 1, flush=True)
    """
)


@pytest.mark.parametrize("after", random.Random(4).sample(range(1, 40), 3))
def test_a_kill_at_any_moment_loses_nothing_that_was_told_to_have_ended(tmp_path: Path, after: int) -> None:
    path = tmp_path / "r.sqlite"
    run, told = killed(WRITER, path, str(after))
    assert told >= after
    store = ResultsStore.open(path)
    keys = [TrialKey("scenario", number) for number in range(1, told + 4)]
    done = store.done(run)
    assert set(keys[:told]) <= set(done)
    assert len(done) in {told, told + 1}, "what ended in the moment of the kill may be there"
    assert all(len(row.trajectory) == 20_000 for row in done.values())
    for key in todo(store, run, keys):
        ended(store, run, key)
    assert [TrialKey(row.scenario, row.repetition) for row in store.trials(run)] == keys
    assert {row.state for row in store.trials(run)} == {"ended"}


def killed(code: str, path: Path, until: str) -> tuple[str, int]:
    """Kill a writer as soon as it says `until`: its run, and the number it said last."""
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        run = writer.stdout.readline().strip()
        said = ["0"]
        while said[-1] != until:
            said.append(writer.stdout.readline().strip())
        os.kill(writer.pid, signal.SIGKILL)
        said += [line.strip() for line in writer.stdout if line.endswith("\n")]
    assert writer.returncode == -signal.SIGKILL
    return run, max(int(one) for one in said if one.isdigit())


STOPPER = WRITER.replace("for number", "from sqlalchemy import event\n{hook}\nfor number", 1)
HOOK = """
left = [{place}]
def stop(*_):
    left[0] -= 1
    if left[0] == -1:
        print("here", flush=True)
        sys.stdin.read()
event.listen(store._engine, "before_cursor_execute", stop)
event.listen(store._engine, "commit", stop)
"""


@pytest.mark.parametrize("place", range(11))
def test_a_kill_before_any_statement_leaves_each_trial_ended_or_to_be_done(
    tmp_path: Path, place: int
) -> None:
    path = tmp_path / "r.sqlite"
    run, told = killed(STOPPER.format(hook=HOOK.format(place=place)), path, "here")
    store = ResultsStore.open(path)
    assert [key.repetition for key in store.done(run)] == list(range(1, told + 1))
    states = [row.state for row in store.trials(run)]
    assert states in ([*["ended"] * told], [*["ended"] * told, "started"])
    key = TrialKey("scenario", told + 1)
    assert todo(store, run, [key]) == [key]
    ended(store, run, key)
    assert len(store.done(run)) == told + 1


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    ResultsStore.open(path).close()
    code = WRITER.replace("10_000", "25")
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    runs = [writer.communicate()[0].split()[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    store = ResultsStore.open(path)
    assert [len(store.done(run)) for run in runs] == [25, 25]


def test_processes_open_a_new_store_at_once(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    code = "import sys\nfrom sandtrail.sandbox.results import *\nprint(flush=True)\nsys.stdin.readline()\n"
    code += "print(ResultsStore.open(sys.argv[1]).begin(Header('scripted', 7)))"
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for opener in openers:
        assert opener.stdout is not None
        opener.stdout.readline()  # it has imported everything, and waits
    for opener in openers:
        assert opener.stdin is not None
        opener.stdin.write("go\n")
        opener.stdin.flush()
    told = [opener.communicate() for opener in openers]
    assert [said[1] for said in told] == [""] * 4
    assert {run.id for run in ResultsStore.open(path).runs()} == {said[0].strip() for said in told}


def test_threads_write_at_once(store: ResultsStore) -> None:
    run = store.begin(HEADER)
    keys = [TrialKey("a", number) for number in range(1, 81)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(ended, store, run), keys))
    assert list(store.done(run)) == keys


# -- the command line --------------------------------------------------------------------------------------


def test_a_run_is_stored_shown_and_not_done_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "r.sqlite")
    words = [
        "run",
        "refund-the-second-charge",
        "charged-twice-look-only",
        "--agent",
        "careless",
        "--store",
        path,
    ]
    assert main([*words, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    store = ResultsStore.open(path)
    before = {key: row.ended for key, row in store.done(told["run"]).items()}
    assert len(before) == 2
    assert main([*words, "--json", "--resume", "latest"]) == 1
    again = json.loads(capsys.readouterr().out)
    assert again["scenarios"] == told["scenarios"]
    assert {key: row.ended for key, row in store.done(told["run"]).items()} == before


def test_a_stored_run_tells_the_agent_the_scenario_and_what_each_finding_rests_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, scenario = str(tmp_path / "r.sqlite"), shipped("charged-twice-look-only")
    words = ["run", scenario.id, "--agent", "careless", "--store", path, "--json"]
    main(words)
    told = json.loads(capsys.readouterr().out)
    assert main(["show", told["run"], "--store", path, "--json"]) == 0
    (trial,) = json.loads(capsys.readouterr().out)["trials"]
    assert (trial["agent"], trial["digest"]) == ("careless", digest_of(scenario))
    (finding,) = [one for one in trial["findings"] if one["code"] == "effect.unauthorized_write"]
    assert finding["evidence"] == ["refund.created  payment=$payment.second  amount=4250  currency=USD"]
    assert finding in told["scenarios"][0]["findings"]
    assert main(["show", told["run"], "--store", path]) == 0
    shown = capsys.readouterr().out
    assert f"  careless · revision 1 · digest {digest_of(scenario)[:12]}\n" in shown
    assert "  critical effect.unauthorized_write  at attempt 3: refund.created" in shown
    assert f"\n    {finding['evidence'][0]}\n" in shown
    assert max(map(len, shown.splitlines()[1:])) <= 80


def test_a_store_of_before_is_shown_as_far_as_it_goes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ResultsStore.open(tmp_path / "r.sqlite")
    run = store.begin(HEADER)
    bare = {"code": "effect.missing", "at": "final", "severity": "major", "grade": "proved", "reason": "none"}
    store.started(run, KEY, revision=2, seed=7)
    store.ended(run, KEY, trajectory="{}", findings=json.dumps([bare, {**bare, "severity": "info"}]))
    store.started(run, TrialKey("b", 2), revision=1, seed=7)
    assert main(["show", run, "--store", str(tmp_path / "r.sqlite")]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert [line.split() for line in shown[1:-1]] == [
        ["a", "ended", "-"],
        ["revision", "2"],
        ["major", "effect.missing", "at", "final:", "none"],
        ["b#2", "started", "-"],
        ["revision", "1"],
    ]


def test_a_scenario_that_was_edited_under_its_revision_is_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, path = tmp_path / "mine.scenario.yaml", str(tmp_path / "r.sqlite")
    file.write_text(FILE)
    (tmp_path / "mine.scripts.yaml").write_text("scripted:\n  - {say: Hello.}\n")
    words = ["run", str(file), "--agent", "scripted", "--store", path, "--json"]
    assert main(words) == 0
    run = json.loads(capsys.readouterr().out)["run"]

    def ended_at() -> str | None:
        return ResultsStore.open(path).trials(run)[0].ended

    before = ended_at()
    file.write_text(f"# looked at again\n{FILE}")
    assert main([*words, "--resume", run]) == 0
    assert ended_at() == before
    file.write_text(FILE.replace("says: Hello.", "says: Goodbye."))
    assert main([*words, "--resume", run]) == 0
    assert ended_at() != before


def test_an_interrupted_run_is_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "r.sqlite")
    one = ["run", "charged-twice-look-only", "--agent", "scripted", "--store", path, "--seed", "5"]
    assert main([*one, "--json"]) == 0
    run = json.loads(capsys.readouterr().out)["run"]
    more = ["run", "charged-twice-look-only", "refund-the-second-charge", "--agent", "scripted"]
    assert main([*more, "--store", path, "--resume", run, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["seed"], told["run"], len(told["scenarios"])) == (5, run, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--resume", "run_nope"], "holds no run 'run_nope'"),
        (["--resume", "latest", "--agent", "do-nothing"], "was begun with --agent scripted"),
    ],
)
def test_what_cannot_be_gone_on_with_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    path = str(tmp_path / "r.sqlite")
    assert main(["run", "charged-twice-look-only", "--agent", "scripted", "--store", path]) == 0
    assert main(["run", "charged-twice-look-only", "--agent", "scripted", "--store", path, *words]) == 2
    assert said in capsys.readouterr().err


def test_a_store_that_fails_in_the_middle_of_a_run_is_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise BadStore("r.sqlite: the disk is full")

    monkeypatch.setattr(ResultsStore, "ended", full)
    path = str(tmp_path / "r.sqlite")
    assert main(["run", "charged-twice-look-only", "--agent", "scripted", "--store", path]) == 2
    assert "the disk is full (what had ended before is kept)" in capsys.readouterr().err
