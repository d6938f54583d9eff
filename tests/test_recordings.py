"""Recordings out of files: found, streamed, named; and nothing in a file raises."""

from __future__ import annotations

import json
import os
import sys
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talks import reported, transcript

from sandtrail.ledgers import saved
from sandtrail.ledgers.conversation import Decided, Reply, UserSaid
from sandtrail.ledgers.specs import Catalog, OperationFact, ToolSpec
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.ledgers.words import Access
from sandtrail.sandbox.interchange import documents, sources
from sandtrail.sandbox.interchange.detect import FORMATS, READERS, UnknownFormat, read_document, reader_of
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.sources import recordings
from sandtrail.sandbox.interchange.tools import BadTools

HELLO = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
TOOLS = [{"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}}]


def written(path: Path, *documents: Any) -> Path:
    """A file with one document on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in documents), encoding="utf-8")
    return path


def trajectory() -> Trajectory:
    """One of ours, with two tools of which one writes."""
    specs = tuple(ToolSpec(name, "", {"type": "object"}) for name in ("get", "set", "own"))
    facts = {
        name: ToolFact(name, OperationFact(name, "s", access))
        for name, access in (("get", Access.READ), ("set", Access.WRITE))
    }
    talk = transcript(reported(), UserSaid("Hi."), Decided(Reply("Hello.")))
    return replace(talk, offers=(Offer(0, Catalog(specs), {**facts, "own": ToolFact("own")}, ("gone",)),))


def fault(path: str | Path, **options: Any) -> str:
    """Why the only run of a file cannot be read."""
    (found,) = recordings(path, **options)
    assert [flaw.code for flaw in found.flaws] == ["wire.unreadable"]
    return found.flaws[0].reason


def said(recording: Recording) -> list[str]:
    return [one.text for one in recording.conversation if isinstance(one, UserSaid)]


# -- where runs are found ----------------------------------------------------------------------------------


def test_a_file_with_one_run_gives_it_its_name(tmp_path: Path) -> None:
    (found,) = recordings(written(tmp_path / "hello.json", HELLO))
    assert (found.id, found.format, found.place) == ("hello", "openai", str(tmp_path / "hello.json"))


def test_runs_of_one_file_are_numbered_and_placed(tmp_path: Path) -> None:
    file = written(tmp_path / "runs.jsonl", HELLO, {"messages": HELLO}, {"id": "late", "messages": HELLO})
    found = list(recordings(file))
    assert [one.id for one in found] == ["runs#1", "runs#2", "runs/late"]
    assert [one.place for one in found] == [f"{file}:{line}" for line in (1, 2, 3)]


def test_a_list_of_runs_is_read_run_by_run(tmp_path: Path) -> None:
    file = written(tmp_path / "runs.json", [{"messages": HELLO}, {"rows": 1}, HELLO])
    found = list(recordings(file))
    assert [one.id for one in found] == ["runs#1", "runs#2", "runs#3"]
    assert [[flaw.code for flaw in one.flaws] for one in found] == [[], ["wire.unreadable"], []]
    assert [one.place for one in found] == [f"{file}#/{index}" for index in range(3)]
    assert found[1].flaws[0].at == f"{file}#/1"


def test_a_list_of_one_run_needs_no_number(tmp_path: Path) -> None:
    (found,) = recordings(written(tmp_path / "runs.json", [{"messages": HELLO}]))
    assert found.id == "runs"


def test_a_folder_is_read_in_order_without_its_other_files(tmp_path: Path) -> None:
    for name in ("b.json", "a.jsonl", "deep/c.json"):
        written(tmp_path / name, HELLO)
    (tmp_path / "README.md").write_text("no run")
    assert [one.id for one in recordings(tmp_path)] == ["a", "b", "c"]


def test_a_pattern_finds_files_in_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.json"):
        written(tmp_path / name, HELLO)
    assert [one.id for one in recordings(str(tmp_path / "*.jsonl"))] == ["a", "b"]


def test_files_of_the_same_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    paths = [written(tmp_path / folder / "run.json", HELLO) for folder in ("one", "two")]
    assert [one.id for one in recordings(paths)] == ["one/run", "two/run"]


def test_ids_are_unique_even_where_a_file_is_given_twice(tmp_path: Path) -> None:
    file = written(tmp_path / "run.jsonl", {"id": "x", "messages": HELLO}, {"id": "x", "messages": HELLO})
    assert [one.id for one in recordings([file, file])] == ["run/x", "run/x#2", "run/x#3", "run/x#4"]


@pytest.mark.parametrize(
    ("name", "says"), [("nowhere.json", "no such file"), ("*.none", "no file has such a name")]
)
def test_a_path_that_leads_nowhere_is_told(tmp_path: Path, name: str, says: str) -> None:
    assert says in fault(str(tmp_path / name))


def test_a_path_that_the_system_refuses_is_told() -> None:
    assert "no such file" in fault("a\0b")


def test_a_path_that_is_too_long_is_told() -> None:
    assert "no such file" in fault("a" * 5000)


def test_an_empty_folder_is_told(tmp_path: Path) -> None:
    assert "no .json" in fault(tmp_path)


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path / "run.json", HELLO)

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    assert fault(file) == "the file cannot be read: Permission denied"


# -- lines -------------------------------------------------------------------------------------------------


def test_a_broken_line_does_not_hide_the_next(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    hello = json.dumps(HELLO).encode()
    file.write_bytes(b"\n".join([hello, b"{", b"", b"\xff\xfe", b"null", hello]))
    found = list(recordings(file))
    assert [[flaw.at for flaw in one.flaws] for one in found] == [
        [],
        [f"{file}:2"],
        [f"{file}:4"],
        [f"{file}:5"],
        [],
    ]


def test_a_line_that_is_too_long_is_left_out_without_being_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "LONGEST", 4000)
    monkeypatch.setattr(sources, "_CHUNK", 1000)
    file = tmp_path / "runs.jsonl"
    long = json.dumps([{"role": "user", "content": "x" * 9000}])
    file.write_text(f"{json.dumps(HELLO)}\n{long}\n{json.dumps(HELLO)}\n{long}")
    found = list(recordings(file))
    assert [len(one.flaws) for one in found] == [0, 1, 0, 1]
    assert found[1].flaws[0].at == f"{file}:2"
    assert "more than 4000 bytes" in found[1].flaws[0].reason


def test_many_lines_are_read_in_the_memory_of_one(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    line = json.dumps([{"role": "user", "content": "x" * 100_000}]) + "\n"
    file.write_text(line * 200)
    tracemalloc.start()
    count = sum(1 for _ in recordings(file))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 200
    assert peak < 3_000_000


def test_a_pretty_document_in_a_file_of_lines_is_one(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(json.dumps({"messages": HELLO}, indent=2))
    (found,) = recordings(file)
    assert (found.id, found.flaws) == ("runs", ())


def test_lines_in_a_file_of_one_document_are_many(tmp_path: Path) -> None:
    file = written(tmp_path / "runs.json", HELLO, HELLO)
    assert [one.id for one in recordings(file)] == ["runs#1", "runs#2"]


@pytest.mark.parametrize("name", ["run.json", "run.jsonl"])
def test_an_empty_file_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\n \n")
    assert fault(tmp_path / name) == "the file is empty"


# -- what is no document -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": NaN}', "NaN is no JSON"),
        (b'{"a": -Infinity}', "-Infinity is no JSON"),
        (b'{"a": 1e999}', "too large"),
        (b"9" * 5000, "4,300 digits"),
        (b"[" * 400 + b"]" * 400, "nested more than"),
        (b"[" * 100_000, "nested more than"),
        (b"{'a': 1}", "invalid JSON at line 1 column 2"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'"\xe9t\xe9"', "byte 2 is 0xe9"),
        (b"\x00\x01\x02", "invalid JSON"),
        (b"%PDF-1.7", "invalid JSON"),
    ],
)
def test_bytes_that_are_no_document_say_why(tmp_path: Path, data: bytes, says: str) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(data)
    assert says in fault(file)


NO_TRANSCRIPTS: list[tuple[Any, str]] = [
    ([], "an empty list; there is no run in it"),
    ({}, "an empty object; there is no run in it"),
    (5, "a number"),
    (False, "true or false"),
    ("hi", "a text"),
    ([[1]], "a list that begins with a list"),
    (TOOLS, "definitions of tools; give them beside"),
    ({"tools": [{"name": "a", "inputSchema": {}}]}, "definitions of tools"),
    ({"type": "message", "text": "x"}, "an object with type, text"),
    ({"role": "user", "content": "x"}, "one message; a document holds a whole run"),
]


@pytest.mark.parametrize(("document", "says"), NO_TRANSCRIPTS)
def test_a_document_that_is_no_transcript_says_what_it_looks_like(
    tmp_path: Path, document: Any, says: str
) -> None:
    assert says in fault(written(tmp_path / "run.json", document))


def test_the_last_of_two_equal_keys_wins(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"messages": 5, "messages": [{"role": "user", "content": "Hi."}]}')
    (found,) = recordings(tmp_path / "run.json")
    assert said(found) == ["Hi."]


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(HELLO).encode())
    assert [one.flaws for one in recordings(tmp_path / "run.json")] == [()]


def test_half_a_character_is_told_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text(
        '[{"role": "user", "content": "a\\ud83d b"}]\n[{"role": "user", "content": "\\ud83d\\ude00"}]\n'
    )
    broken, whole = recordings(file)
    assert [(flaw.code, flaw.at) for flaw in broken.flaws] == [("wire.unreadable", f"{file}:1")]
    assert (said(broken), said(whole), whole.flaws) == (["a? b"], ["\U0001f600"], ())


# -- formats and tools -------------------------------------------------------------------------------------


def test_a_format_that_is_named_wrong_says_what_the_document_is(tmp_path: Path) -> None:
    assert "no tau2: this looks like openai" in fault(written(tmp_path / "run.json", HELLO), format="tau2")
    assert "looks like an object with rows" in fault(
        written(tmp_path / "rows.json", {"rows": 1}), format="tau"
    )


def test_a_format_may_be_named_for_an_envelope_too(tmp_path: Path) -> None:
    file = written(tmp_path / "run.json", {"format": "anthropic", "messages": HELLO})
    assert [one.flaws for one in recordings(file, format="anthropic")] == [()]
    assert "this looks like envelope" in fault(file, format="tau")


def test_a_format_may_be_named_for_a_list_of_runs(tmp_path: Path) -> None:
    file = written(tmp_path / "run.json", [{"messages": HELLO}, {"rows": 1}])
    assert [len(one.flaws) for one in recordings(file, format="openai")] == [0, 1]


def test_a_format_that_nobody_reads_is_refused_at_once() -> None:
    with pytest.raises(UnknownFormat, match="format 'smoke' is not known; there are anthropic,"):
        recordings("x.json", format="smoke")
    assert reader_of("openai_responses") is reader_of("responses")


def test_tools_beside_the_runs_are_given_to_those_without(tmp_path: Path) -> None:
    tools = written(tmp_path / "tools.json", TOOLS)
    own = {"messages": HELLO, "tools": [{"name": "mine", "input_schema": {"type": "object"}}]}
    written(tmp_path / "runs.jsonl", HELLO, own)
    found = list(recordings(tmp_path, tools=tools))
    names = [[tool.spec.name for tool in one.tools or ()] for one in found]
    assert names == [["ping"], ["mine"]]
    known = found[0].tools
    assert known is not None
    assert [one.tools == known for one in recordings(tmp_path / "runs.jsonl", tools=list(known))] == [
        True,
        False,
    ]
    assert [one.tools is None for one in recordings(tmp_path / "runs.jsonl")] == [True, False]


def test_a_bad_file_of_tools_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadTools):
        recordings("x.json", tools=tmp_path / "none.json")


def test_a_trajectory_of_ours_is_read_as_it_is(tmp_path: Path) -> None:
    ours = trajectory()
    (tmp_path / "run.jsonl").write_text(saved.dump(ours) + "\n")
    (found,) = recordings(tmp_path / "run.jsonl")
    assert (found.format, found.flaws) == ("sandtrail", ())
    assert [(tool.spec.name, tool.read_only) for tool in found.tools or ()] == [
        ("get", True),
        ("set", False),
        ("own", None),
    ]
    assert found.withheld == ("gone",)
    assert found.saved is not None
    assert saved.dump(found.saved) == saved.dump(ours)


def test_a_trajectory_of_ours_that_was_altered_says_where(tmp_path: Path) -> None:
    body = json.loads(saved.dump(trajectory()))
    body["seed"] = "five"
    (found,) = recordings(written(tmp_path / "run.json", body))
    assert [(flaw.code, flaw.at) for flaw in found.flaws] == [("wire.unreadable", "run#/seed")]


def test_a_reader_that_fails_costs_its_own_document_only(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = reader_of("openai")

    def fail(value: object, name: str) -> Any:
        yield Recording(name, "openai")
        raise KeyError("surprise")

    monkeypatch.setattr(reader, "read", fail)
    found = list(read_document([{"messages": HELLO}, {"system": "x", "messages": HELLO}], "runs"))
    assert [[flaw.code for flaw in one.flaws] for one in found] == [[], ["wire.unreadable"], []]
    assert "KeyError" in found[1].flaws[0].reason


def test_a_reader_that_reads_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(value: object, name: str) -> Any:
        return iter(())

    monkeypatch.setattr(reader_of("openai"), "read", nothing)
    (found,) = read_document(HELLO, "run")
    assert found.flaws[0].reason == "it has the shape of openai, and no run in it"


# -- nothing raises ----------------------------------------------------------------------------------------

NAMES = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "messages",
        "tool_calls",
        "id",
        "name",
        "arguments",
        "args",
        "function",
        "input",
        "output",
        "call_id",
        "tool_call_id",
        "lc",
        "kwargs",
        "data",
        "format",
        "events",
        "chunks",
        "choices",
        "message",
        "delta",
        "index",
        "contract",
        "ledger",
        "bindings",
        "clock",
        "principal",
        "op",
        "status",
        "simulations",
        "task_id",
        "traj",
        "trial",
        "info",
        "environment_info",
        "policy",
        "tasks",
        "requestor",
        "tool_use_id",
        "additional_kwargs",
        "request",
        "response",
        "object",
        "items",
        "values",
        "system",
        "tools",
        "parameters",
        "input_schema",
        "stop_reason",
        "finish_reason",
        "partial_json",
        "error",
        "reward_info",
        "reward",
        "termination_reason",
        "turn_registry",
        "hidden_tools",
        "scenario",
        "conversation",
        "repetition",
        "spans",
        "trace",
        "steps",
        "schema_version",
        "observations",
        "resourceSpans",
        "attributes",
        "samples",
        "eval",
        "version",
        "summary",
        "instructions",
        "status",
        "raw_data",
        "response_metadata",
        "invalid_tool_calls",
        "trajectory_set",
        "observation",
    ]
)
WORDS = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "system",
        "human",
        "ai",
        "function",
        "developer",
        "anthropic",
        "openai",
        "langchain",
        "responses",
        "tau",
        "tau2",
        "atif",
        "langfuse",
        "otel_genai",
        "anthropic_stream",
        "openai_stream",
        "tool_use",
        "tool_result",
        "text",
        "function_call",
        "function_call_output",
        "reasoning",
        "message",
        "constructor",
        "AIMessage",
        "mcp_call",
        "refusal",
        "length",
        "response",
        "content_block_start",
        "content_block_delta",
        "{}",
        "[]",
    ]
)
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**60),
    st.floats(allow_nan=False),
    st.text(max_size=5),
    WORDS,
    WORDS,
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(NAMES, inner, max_size=5),
        st.fixed_dictionaries({"role": WORDS, "content": inner, "tool_calls": st.lists(inner, max_size=2)}),
        st.fixed_dictionaries({"type": WORDS, "call_id": inner, "content": inner, "id": inner}),
        st.fixed_dictionaries({"format": WORDS, "messages": inner, "contract": inner, "ledger": inner}),
    ),
    max_leaves=25,
)
QUIET = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@QUIET
@given(VALUES)
def test_no_value_makes_a_reader_raise(value: Any) -> None:
    for reader in READERS:
        if reader.recognises(value):
            for one in reader.read(value, "x"):
                assert one.id
        assert list(reader.read(value, "x")) is not None
    assert list(read_document(value, "x"))
    for name in FORMATS:
        assert list(read_document(value, "x", format=name))


@QUIET
@given(
    st.lists(
        st.one_of(st.binary(max_size=60), VALUES.map(lambda value: json.dumps(value).encode())), max_size=4
    )
)
def test_no_bytes_make_recordings_raise(tmp_path: Path, lines: list[bytes]) -> None:
    for name in ("run.jsonl", "run.json"):
        (tmp_path / name).write_bytes(b"\n".join(lines))
        found = list(recordings(tmp_path / name))
        assert found
        assert len({one.id for one in found}) == len(found)


def test_a_document_as_deep_as_allowed_is_read_by_every_reader() -> None:
    deep: Any = "x"
    for _ in range(documents.DEEPEST - 8):
        deep = [deep]
    for call in ({"args": deep, "name": "a"}, {"function": {"name": "a", "arguments": {"deep": deep}}}):
        messages = [{"role": "assistant", "content": "", "tool_calls": [call]}]
        assert next(read_document(messages, "x")).conversation


# -- real ones ---------------------------------------------------------------------------------------------

REAL = os.environ.get("SANDTRAIL_TRANSCRIPTS")
ONLY_WITH_THEM = pytest.mark.skipif(not REAL, reason="SANDTRAIL_TRANSCRIPTS names no folder of transcripts")
RUNS = [
    ("tau2_retail_gpt-4.1.json", "tools_retail.json", 40, "task-27"),
    ("tau2_airline_qwen2.5-7b.json", "tools_airline.json", 50, "task-25"),
    ("taubench_airline_gpt-4o_first60.json", "tools_airline.json", 60, "task-27.0"),
]


@ONLY_WITH_THEM
@pytest.mark.parametrize(("name", "tools", "count", "run"), RUNS)
def test_real_results_are_read_without_a_flaw(name: str, tools: str, count: int, run: str) -> None:
    folder = Path(REAL or "")
    found = list(recordings(folder / name, tools=folder / tools))
    assert len(found) == count
    assert [str(flaw) for one in found for flaw in one.flaws] == []
    assert any(one.id.endswith(f"/{run}") for one in found)
    assert all(one.tools and one.reward is not None for one in found)


@ONLY_WITH_THEM
def test_real_results_are_read_at_three_hundred_runs_a_second() -> None:
    if sys.gettrace() is not None:
        pytest.skip("a tracer measures itself")
    files = [Path(REAL or "") / name for name, *_ in RUNS]
    started = time.process_time()
    count = len(list(recordings(files)))
    assert count / (time.process_time() - started) > 300
