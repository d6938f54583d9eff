"""Transcripts in the formats of tracing products and harnesses: ATIF, OTLP GenAI spans, Langfuse, Inspect."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import traces
from hypothesis import given, settings
from hypothesis import strategies as st
from traces import (
    AGENT,
    ASK,
    ATIF,
    DIALECTS,
    DOCUMENTS,
    INSPECT,
    LANGFUSE,
    MESSAGES,
    OBSERVATIONS,
    ORDER,
    TELL,
    attributed,
    calling,
    chat,
    executed,
    log,
    observation,
    otlp,
    part,
    response,
    sample,
    span,
    step,
    text,
    trajectory,
)

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Malformed,
    Refused,
    Reply,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.trajectory import Ended
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.ledgers.words import Overall
from sandtrail.sandbox.interchange import atif, inspect_logs, langfuse
from sandtrail.sandbox.interchange import otlp as otlp_reader
from sandtrail.sandbox.interchange.bodies import is_failure
from sandtrail.sandbox.interchange.loose import canonical, literal, moment, text_of
from sandtrail.sandbox.interchange.offered import tools_in
from sandtrail.sandbox.interchange.otlp import attributes_of
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.sandbox.interchange.spoken import spoken

READERS: dict[str, ModuleType] = {
    module.FORMAT: module for module in (atif, otlp_reader, langfuse, inspect_logs)
}
CASES = Path(__file__).parent / "cases"


def runs(value: object, name: str = "f") -> list[Recording]:
    """The runs of a document, by the one reader that recognises it."""
    known = [module for module in READERS.values() if module.recognises(value)]
    assert len(known) == 1, "exactly one reader recognises a document"
    return list(known[0].read(value, name))


def run(value: object) -> Recording:
    """The only run of a document."""
    [found] = runs(value)
    return found


def flaws(recording: Recording) -> list[tuple[str, str]]:
    """The codes and places of what is wrong."""
    return [(finding.code, finding.at) for finding in recording.flaws]


def outline(recording: Recording) -> list[str]:
    """The conversation, one word a message and what matters of it."""
    found: list[str] = []
    for message in recording.conversation:
        match message:
            case Briefed(told):
                found.append(f"briefed {told}")
            case UserSaid(words):
                found.append(f"user {words}")
            case Decided(Calls(calls)):
                found.append("calls " + " ".join(call.id for call in calls))
            case Decided(decision):
                found.append(f"{type(decision).__name__.lower()} {getattr(decision, 'text', '')}".strip())
            case Answered(call, _, is_error):
                found.append(f"{'error' if is_error else 'result'} {call.id}".strip())
    return found


WHOLE = [f"user {ASK}", "calls c1", "result c1", f"reply {TELL}"]


@pytest.mark.parametrize(("format_", "document"), DOCUMENTS)
def test_the_same_run_reads_the_same_in_every_format(format_: str, document: Any) -> None:
    found = run(document)
    assert found.format == format_
    assert outline(found)[-4:] == WHOLE
    assert [code for code, _ in flaws(found) if code != "trace.copied_context"] == []
    [call] = [message.call for message in found.conversation if isinstance(message, Answered)]
    assert (call.tool, dict(call.arguments), call.flaw) == ("get_order", {"number": "4412"}, "")
    [answer] = [message.text for message in found.conversation if isinstance(message, Answered)]
    assert json.loads(answer) == json.loads(ORDER)


@pytest.mark.parametrize("document", [ATIF, traces.SEMCONV, traces.PYDANTIC_1, traces.OPENINFERENCE,
                                      traces.OPENLLMETRY, LANGFUSE, INSPECT])  # fmt: skip
def test_the_tools_that_a_transcript_carries_are_read(document: Any) -> None:
    tools = run(document).tools
    assert tools is not None
    [tool] = tools
    assert tool.spec.name == "get_order"
    assert tool.spec.input_schema["type"] == "object"


def test_a_transcript_without_tools_says_so() -> None:
    assert run(traces.EVENTS).tools is None


@pytest.mark.parametrize(("format_", "document"), DOCUMENTS)
def test_the_name_of_the_source_stands_in_front_of_every_id(format_: str, document: Any) -> None:
    assert all(one.id.startswith("runs.json") for one in READERS[format_].read(document, "runs.json"))


# -- ATIF --------------------------------------------------------------------------------------------------


def test_an_unknown_reference_and_a_repeated_id_are_named_in_their_step() -> None:
    case = json.loads((CASES / "trc-07-atif-bad-reference.json").read_text())
    unknown, repeated = runs(case["input"], "")
    assert (unknown.id, flaws(unknown)) == ("unknown_ref", [("wire.orphan_tool_result", "step 2: t2")])
    assert (repeated.id, flaws(repeated)) == ("duplicate_id", [("wire.duplicate_id", "step 2: t1")])
    assert overall_of(unknown.flaws) is Overall.INVALID_INPUT


def test_a_call_without_a_result_is_unpaired_only_where_the_run_goes_on() -> None:
    open_call = calling(2, "c1", results=[])
    assert flaws(run(trajectory(step(1, "user", ASK), open_call))) == []
    gone_on = run(trajectory(step(1, "user", ASK), open_call, step(3, "agent", TELL)))
    assert flaws(gone_on) == [("wire.unpaired_tool_use", "step 2: c1")]


def test_two_results_for_one_call_are_named() -> None:
    twice = [{"source_call_id": "c1", "content": ORDER}] * 2
    assert flaws(run(trajectory(calling(1, "c1", results=twice)))) == [("wire.duplicate_id", "step 1: c1")]


def test_a_result_that_names_no_call_answers_none_and_a_lone_one_answers_the_lone_call() -> None:
    shell = step(
        1, "agent", "```ls```", observation={"results": [{"content": "a.txt"}, {"content": "Error: no"}]}
    )
    assert outline(run(trajectory(shell))) == ["reply ```ls```", "result", "error"]
    assert outline(run(trajectory(calling(1, "c1", results=[{"content": ORDER}])))) == [
        "calls c1",
        "result c1",
    ]


def test_copied_steps_are_context_and_no_decisions() -> None:
    found = run(
        trajectory(
            step(1, "user", ASK, is_copied_context=True),
            calling(
                2, "c1", "c2", results=[{"source_call_id": "c1", "content": ORDER}], is_copied_context=True
            ),
            step(3, "agent", "Looked it up.", is_copied_context=True),
            step(4, "agent", TELL),
        )
    )
    asked = '(earlier, the agent called get_order) {"number": "4412"}'
    assert outline(found) == [
        f"user {ASK}", "result c1", f"briefed {asked}", "briefed (earlier, the agent said) Looked it up.", f"reply {TELL}",
    ]  # fmt: skip
    assert flaws(found) == [("trace.copied_context", "step 1, step 2, step 3")]
    assert overall_of(found.flaws) is Overall.PASS


def test_a_run_of_copied_steps_alone_is_incomplete() -> None:
    found = run(trajectory(step(1, "user", ASK), step(2, "agent", TELL, is_copied_context=True)))
    assert [code for code, _ in flaws(found)] == ["trace.copied_context", "trace.incomplete"]
    assert overall_of(found.flaws) is Overall.NOT_EVALUABLE


def test_a_subagent_that_is_embedded_is_a_run_and_one_that_is_not_is_missing() -> None:
    def delegated(reference: dict[str, Any]) -> dict[str, Any]:
        return calling(1, "c1", results=[{"source_call_id": "c1", "subagent_trajectory_ref": [reference]}])

    child = trajectory(step(1, "user", "Look."), step(2, "agent", "Seen."), trajectory_id="child")
    outer, inner = runs(trajectory(delegated({"trajectory_id": "child"}), subagent_trajectories=[child]))
    assert flaws(outer) == []
    assert (inner.id, inner.place, outline(inner)) == (
        "f/child",
        "/subagent_trajectories/0",
        ["user Look.", "reply Seen."],
    )
    alone = run(trajectory(delegated({"trajectory_path": "child.json"})))
    assert flaws(alone) == [("trace.incomplete", "step 1")]
    assert "child.json" in alone.flaws[0].reason


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (trajectory(step(1, "user", ASK), step(3, "agent", TELL)), ("trace.incomplete", "step 3")),
        (trajectory(step(1, "user", ASK), continued_trajectory_ref="2.json"), ("trace.incomplete", "continued_trajectory_ref")),
        (trajectory(), ("trace.incomplete", "steps")),
        (trajectory(step(1, "robot", "x")), ("wire.unreadable", "step 1")),
        (trajectory(step(1, "user", "x", tool_calls=[{}])), ("wire.unreadable", "step 1")),
        (trajectory(step(1, "user", ASK), 5), ("wire.unreadable", "steps/1")),  # type: ignore[arg-type]
        (trajectory(step(1, "user", None), schema_version="ATIF-v2.0"), ("trace.incomplete", "schema_version")),
        (trajectory(step(1, "agent", None)), ("trace.no_content", "step 1")),
        ({"trajectory_set": []}, ("wire.unreadable", "/")),
        ([trajectory(step(1, "user", ASK)), 3], ("wire.unreadable", "/1")),
    ],
)  # fmt: skip
def test_what_is_missing_or_broken_in_a_trajectory_is_named(document: Any, expected: tuple[str, str]) -> None:
    assert expected in [found for one in runs(document) for found in flaws(one)]


def test_a_step_that_asked_no_model_is_forced_and_an_empty_one_is_no_decision() -> None:
    found = run(trajectory(calling(1, "c1", llm_call_count=0), step(2, "agent", "")))
    first, last = (message for message in found.conversation if isinstance(message, Decided))
    assert first.forced
    assert isinstance(last.decision, Malformed)


def test_arguments_that_were_not_recorded_are_no_empty_arguments() -> None:
    lost = step(1, "agent", "", tool_calls=[{"tool_call_id": "c1", "function_name": "get_order"}])
    assert flaws(run(trajectory(lost))) == [("trace.no_content", "step 1")]


# -- OTLP --------------------------------------------------------------------------------------------------


def test_a_call_in_a_chat_span_and_in_a_tool_span_counts_once() -> None:
    case = json.loads((CASES / "trc-03-otel-arguments-text-or-object.json").read_text())
    found = run(case["input"])
    assert outline(found) == [
        "user Refund 2.50 on pay_TF.",
        "calls call_1",
        "result call_1",
        "reply Refunded 2.50.",
    ]
    assert found.flaws == ()


@pytest.mark.parametrize("arguments", [{"number": "4412"}, '{"number": "4412"}'])
@pytest.mark.parametrize("other", [{"number": "4412"}, '{"number":"4412"}'])
@pytest.mark.parametrize("id_", ["c1", None])
def test_arguments_as_text_and_as_an_object_are_one_call(arguments: Any, other: Any, id_: str | None) -> None:
    tool = executed(**{"gen_ai.tool.call.arguments": other})
    message = part(arguments=arguments)
    if id_ is None:
        del tool["gen_ai.tool.call.id"], message["parts"][0]["id"]
    found = run(
        otlp(attributed(span("1", 1), chat([text("user", ASK)], [message])), attributed(span("2", 2), tool))
    )
    [decided] = [one.decision for one in found.conversation if isinstance(one, Decided)]
    assert isinstance(decided, Calls)
    assert [dict(call.arguments) for call in decided.calls] == [{"number": "4412"}]
    assert [one.call.arguments for one in found.conversation if isinstance(one, Answered)] == [
        {"number": "4412"}
    ]


def test_several_traces_are_several_runs() -> None:
    spans = [
        attributed(span(f"s{trace}", 1, trace=trace), chat([text("user", ASK)], [text("assistant", TELL)]))
        for trace in "ab"
    ]
    other = attributed(span("web", 1, trace="c"), {"http.method": "GET"})
    assert [one.id for one in runs(otlp(*spans, other))] == ["f/a", "f/b"]
    assert [one.id for one in runs([otlp(spans[0]), otlp(spans[1])])] == ["f/a", "f/b"]


def test_a_question_that_is_asked_twice_is_told_twice() -> None:
    first, again = text("user", ASK), text("assistant", TELL)
    document = otlp(
        attributed(span("1", 1), chat([first], [again])),
        attributed(span("2", 2), chat([first, again, first], [again])),
    )
    assert outline(run(document)) == [f"user {ASK}", f"reply {TELL}"] * 2


def test_a_call_that_only_a_tool_span_holds_stands_where_it_was_made() -> None:
    document = otlp(
        attributed(span("1", 1), chat([text("user", ASK)], [text("assistant", "One moment.")])),
        attributed(span("2", 2), executed()),
        attributed(span("3", 3), chat([], [text("assistant", TELL)])),
    )
    assert outline(run(document)) == [
        f"user {ASK}",
        "reply One moment.",
        "calls c1",
        "result c1",
        f"reply {TELL}",
    ]


def test_the_history_of_an_earlier_run_is_context() -> None:
    heard = [text("user", ASK), part(), response(), text("assistant", TELL), text("user", "Thanks.")]
    found = run(otlp(attributed(span("1", 1), chat(heard, [text("assistant", "Welcome.")]))))
    assert outline(found) == [
        f"user {ASK}", "result c1", f"briefed (earlier, the agent said) {TELL}", "user Thanks.", "reply Welcome.",
    ]  # fmt: skip
    assert flaws(found) == [("trace.copied_context", "1")]


def test_a_call_in_the_history_whose_tool_ran_in_this_trace_is_a_decision_of_it() -> None:
    heard = [text("user", ASK), part(), response(), text("user", "Well?")]
    document = otlp(
        attributed(span("1", 1), executed()), attributed(span("2", 2), chat(heard, [text("assistant", TELL)]))
    )
    assert outline(run(document)) == [f"user {ASK}", "calls c1", "result c1", "user Well?", f"reply {TELL}"]
    assert run(document).flaws == ()


def test_calls_behind_the_last_words_of_the_user_are_of_this_run_although_no_span_made_them() -> None:
    heard = [text("user", ASK), part(), response()]
    found = run(otlp(attributed(span("1", 1), chat(heard, [text("assistant", TELL)]))))
    assert (outline(found), found.flaws) == (WHOLE, ())


def test_content_in_structured_attributes_reads_like_its_text() -> None:
    structured = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": [text("user", ASK)],
        "gen_ai.output.messages": [part(arguments={"number": "4412", "count": 2, "gift": False})],
    }
    found = run(otlp(attributed(span("1", 1), structured)))
    [decided] = [one.decision for one in found.conversation if isinstance(one, Decided)]
    assert isinstance(decided, Calls)
    assert dict(decided.calls[0].arguments) == {"number": "4412", "count": 2, "gift": False}


@pytest.mark.parametrize("attributes", [
    {"openinference.span.kind": "LLM", "input.value": json.dumps({"messages": [{"role": "user", "content": ASK}]}), "output.value": TELL},
    {"gen_ai.prompt": ASK, "gen_ai.completion": TELL},
    {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": ASK, "openinference.span.kind": "LLM",
     "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.content": TELL},
])  # fmt: skip
def test_other_names_of_the_same_content_are_read(attributes: dict[str, Any]) -> None:
    assert outline(run(otlp(attributed(span("1", 1), attributes)))) == [f"user {ASK}", f"reply {TELL}"]


@pytest.mark.parametrize("events", [
    [traces.event("gen_ai.content.prompt", **{"gen_ai.prompt": ASK}), traces.event("gen_ai.content.completion", **{"gen_ai.completion": TELL})],
    [traces.event("gen_ai.client.inference.operation.details", **{
        "gen_ai.input.messages": json.dumps([text("user", ASK)]), "gen_ai.output.messages": json.dumps([text("assistant", TELL)])})],
    [traces.event("gen_ai.user.message", content=json.dumps([{"text": ASK}])), traces.event("gen_ai.choice", message=TELL), traces.event("other")],
])  # fmt: skip
def test_the_events_of_earlier_conventions_are_read(events: list[dict[str, Any]]) -> None:
    found = run(
        {
            "spans": [
                {
                    "span_id": "1",
                    "name": "chat",
                    "attributes": {"gen_ai.operation.name": "chat"},
                    "events": events,
                }
            ]
        }
    )
    assert outline(found) == [f"user {ASK}", f"reply {TELL}"]


def test_a_function_call_of_openinference_s_older_names_is_a_call() -> None:
    said = "llm.output_messages.0.message"
    attributes = {
        "openinference.span.kind": "LLM",
        f"{said}.role": "assistant",
        f"{said}.function_call_name": "get_order",
        f"{said}.function_call_arguments_json": '{"number": "4412"}',
    }
    assert outline(run(otlp(attributed(span("1", 1), attributes)))) == ["calls call"]


def test_a_subagent_has_a_conversation_of_its_own() -> None:
    document = otlp(
        attributed(span("root", 1), AGENT),
        attributed(span("1", 2, "root"), chat([text("user", ASK)], [part()])),
        attributed(span("tool", 3, "root"), executed()),
        attributed(span("sub", 4, "tool"), AGENT),
        attributed(span("2", 5, "sub"), chat([text("user", "Find it.")], [text("assistant", "Found.")])),
        attributed(span("3", 6, "root"), chat([], [text("assistant", TELL)])),
    )
    outer, inner = runs(document)
    assert outline(outer) == WHOLE
    assert outer.flaws == ()
    assert (inner.id, outline(inner)) == ("f/t1/sub", ["user Find it.", "reply Found."])


def test_agents_that_give_the_same_answer_are_still_two() -> None:
    spans = [attributed(span(id_, 1), AGENT) for id_ in "ab"]
    asked = [chat([text("user", question)], [text("assistant", "Yes.")]) for question in ("One?", "Two?")]
    requests = [attributed(span(f"{id_}1", 2, id_), one) for id_, one in zip("ab", asked, strict=True)]
    assert [outline(one) for one in runs(otlp(*spans, *requests))] == [
        ["user One?", "reply Yes."],
        ["user Two?", "reply Yes."],
    ]


def test_a_request_traced_by_two_libraries_is_one_request() -> None:
    attributes = chat([text("user", ASK)], [text("assistant", TELL)])
    document = otlp(attributed(span("1", 1), attributes), attributed(span("2", 2, "1"), attributes))
    assert outline(run(document)) == [f"user {ASK}", f"reply {TELL}"]


def test_a_tool_traced_by_client_and_server_ran_once() -> None:
    server = executed()
    del server["gen_ai.tool.call.id"]
    document = otlp(attributed(span("1", 1), executed()), attributed(span("2", 2, "1"), server))
    assert outline(run(document)) == ["calls c1", "result c1"]


def test_a_failed_tool_is_an_error_and_says_why() -> None:
    failed = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.id": "c1",
    }
    broken = attributed(span("2", 2, status={"code": 2, "message": "timed out"}), failed)
    found = run(otlp(attributed(span("1", 1), chat([text("user", ASK)], [part()])), broken))
    [answer] = [one for one in found.conversation if isinstance(one, Answered)]
    assert (answer.is_error, answer.text) == (True, "timed out")
    heard = [text("user", ASK), part(), response()]
    told = run(
        otlp(
            attributed(span("1", 1), chat(heard[:1], [part()])),
            broken,
            attributed(span("3", 3), chat(heard, [text("assistant", TELL)])),
        )
    )
    assert outline(told)[2] == "error c1"


def test_a_model_that_failed_at_the_end_is_the_harness_s_matter_and_a_retry_is_not() -> None:
    failed = attributed(
        span(
            "1",
            1,
            status={"code": "STATUS_CODE_ERROR"},
            events=[{"name": "exception", "attributes": {"exception.message": "503"}}],
        ),
        chat([text("user", ASK)], []),
    )
    found = run(otlp(failed))
    assert (flaws(found), found.ended) == ([("trace.errored", "1")], Ended.PROVIDER_ERROR)
    assert "503" in found.flaws[0].reason
    assert overall_of(found.flaws) is Overall.HARNESS_FAULT
    answered = attributed(span("2", 2), chat([text("user", ASK)], [text("assistant", TELL)]))
    assert run(otlp(failed, answered)).flaws == ()


def test_an_agent_that_raised_ended_by_its_error() -> None:
    document = otlp(
        attributed(span("root", 1, status={"code": 2}), AGENT),
        attributed(span("1", 2, "root"), chat([text("user", ASK)], [part()])),
    )
    assert run(document).ended is Ended.AGENT_ERROR


def test_spans_without_content_are_named() -> None:
    bare = {"gen_ai.operation.name": "chat"}
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get_order"}
    found = run(
        otlp(
            attributed(span("a", 1), AGENT),
            attributed(span("b", 2, "a"), bare),
            attributed(span("c", 3, "a"), tool),
        )
    )
    assert (flaws(found), found.conversation) == ([("trace.no_content", "b, c")], ())
    assert overall_of(found.flaws) is Overall.NOT_EVALUABLE


def test_a_result_or_an_answer_that_was_not_recorded_is_missing_content() -> None:
    asked = attributed(span("1", 1), chat([text("user", ASK)], [part()]))
    tool = attributed(span("2", 2), executed() | {"gen_ai.tool.call.result": None})
    assert flaws(run(otlp(asked, tool))) == [("trace.no_content", "2")]
    silent = attributed(span("3", 3), chat([text("user", ASK), part(), response()], []))
    assert flaws(run(otlp(asked, silent))) == [("trace.no_content", "3")]


def test_an_agent_that_holds_the_history_makes_up_for_silent_requests() -> None:
    bare = attributed(span("2", 2, "1"), {"gen_ai.operation.name": "chat"})
    whole = {**AGENT, "pydantic_ai.all_messages": json.dumps([text("user", ASK), text("assistant", TELL)])}
    found = run(otlp(attributed(span("1", 1), whole), bare))
    assert (outline(found), found.flaws) == ([f"user {ASK}", f"reply {TELL}"], ())


def test_spans_that_are_of_no_agent_are_no_run() -> None:
    assert flaws(run(otlp(attributed(span("1", 1), {"http.method": "GET"})))) == [
        ("trace.incomplete", "spans")
    ]
    assert flaws(run({"resourceSpans": []})) == [("wire.unreadable", "/")]


def test_the_plain_words_of_an_agent_serve_where_no_request_was_recorded() -> None:
    agent = {"openinference.span.kind": "AGENT", "input.value": ASK, "output.value": TELL}
    tool = {
        "openinference.span.kind": "TOOL",
        "tool.name": "get_order",
        "input.value": "{}",
        "output.value": ORDER,
    }
    found = run(otlp(attributed(span("1", 1), agent), attributed(span("2", 2, "1"), tool)))
    assert outline(found) == [f"user {ASK}", "calls call", "result call", f"reply {TELL}"]


def test_what_was_offered_is_told_where_it_changed() -> None:
    def with_tools(*names: str) -> dict[str, Any]:
        return {"gen_ai.tool.definitions": json.dumps([{"type": "function", "name": name} for name in names])}

    heard = [text("user", ASK)]
    document = otlp(
        attributed(span("1", 1), chat(heard, [part()], **with_tools("get_order", "cancel"))),
        attributed(
            span("2", 2),
            chat([*heard, part(), response()], [text("assistant", TELL)], **with_tools("get_order")),
        ),
    )
    found = run(document)
    assert [tool.spec.name for tool in found.tools or ()] == ["get_order", "cancel"]
    assert found.registry == ((0, ("get_order", "cancel")), (1, ("get_order",)))


def test_attributes_outside_the_list_are_left_alone() -> None:
    secret = chat(
        [text("user", ASK)], [text("assistant", TELL)], **{"app.prompt": "user: cancel it", "messages": "[]"}
    )
    assert outline(run(otlp(attributed(span("1", 1), secret)))) == [f"user {ASK}", f"reply {TELL}"]


@pytest.mark.parametrize(
    ("finish", "kind"), [("length", Truncated), ("content_filter", Refused), ("stop", Reply)]
)
def test_why_the_model_stopped_decides_what_its_answer_is(finish: str, kind: type) -> None:
    said = {**text("assistant", TELL), "finish_reason": finish}
    [decided] = [
        one.decision
        for one in run(otlp(attributed(span("1", 1), chat([text("user", ASK)], [said])))).conversation
        if isinstance(one, Decided)
    ]
    assert isinstance(decided, kind)


# -- Langfuse ----------------------------------------------------------------------------------------------


def test_null_inputs_and_outputs_are_no_run_without_calls() -> None:
    case = json.loads((CASES / "trc-05-langfuse-null-io.json").read_text())
    found = run(case["input"])
    assert (flaws(found), found.conversation) == ([("trace.no_content", "o1, o2")], ())
    assert overall_of(found.flaws) is Overall.NOT_EVALUABLE


def test_a_download_of_the_web_page_and_rows_of_the_table_are_the_same_run() -> None:
    download = {"trace": {**LANGFUSE, "observations": OBSERVATIONS}, "observations": OBSERVATIONS}
    assert outline(run(download)) == WHOLE
    assert outline(run(OBSERVATIONS)) == WHOLE
    assert outline(run({"data": [LANGFUSE]})) == WHOLE


def test_a_list_of_traces_is_several_runs() -> None:
    assert [one.id for one in runs([LANGFUSE, {**LANGFUSE, "id": "tr_2"}])] == ["f/tr_1", "f/tr_2"]


def test_observations_that_are_only_named_are_missing() -> None:
    found = run({"id": "tr", "input": ASK, "output": TELL, "observations": ["o1", "o2"]})
    assert [code for code, _ in flaws(found)] == ["trace.incomplete", "trace.incomplete"]
    assert outline(found) == [f"user {ASK}", f"reply {TELL}"]


def test_one_silent_observation_among_others_is_named() -> None:
    lost = [{**one, "output": None} if one["id"] == "o3" else one for one in OBSERVATIONS]
    found = run({**LANGFUSE, "observations": lost})
    assert flaws(found) == [("trace.no_content", "o3")]


def test_a_generation_that_failed_is_the_harness_s_matter() -> None:
    failed = observation(
        "o1",
        "GENERATION",
        [{"role": "user", "content": ASK}],
        None,
        level="ERROR",
        statusMessage="overloaded",
    )
    found = run({"id": "tr", "observations": [failed]})
    assert flaws(found) == [("trace.errored", "o1")]
    assert "overloaded" in found.flaws[0].reason


def test_tools_that_the_langchain_handler_lists_as_messages_are_tools() -> None:
    listed = [{"role": "user", "content": ASK}, {"role": "tool", "content": traces.GET_ORDER}]
    found = run({"id": "tr", "observations": [observation("o1", "GENERATION", listed, TELL)]})
    assert [tool.spec.name for tool in found.tools or ()] == ["get_order"]
    assert outline(found) == [f"user {ASK}", f"reply {TELL}"]


def test_a_tool_call_as_langchain_passes_it_on_has_its_own_id() -> None:
    given = {"name": "get_order", "args": {"number": "4412"}, "id": "c9", "type": "tool_call"}
    found = run({"id": "tr", "observations": [observation("o1", "TOOL", given, ORDER)]})
    [answer] = [one for one in found.conversation if isinstance(one, Answered)]
    assert (answer.call.id, dict(answer.call.arguments)) == ("c9", {"number": "4412"})


@pytest.mark.parametrize(("request_", "answer", "results"), DIALECTS)
def test_a_generation_keeps_the_messages_of_any_provider(request_: Any, answer: Any, results: Any) -> None:
    request = as_object(request_) or {"messages": request_}
    heard = request.get("messages") or request.get("input") or request["contents"]
    made = answer.get("output") or answer.get("generations") or answer.get("candidates") or [answer]
    observations = [
        observation("o1", "GENERATION", request_, answer),
        observation("o2", "GENERATION", {**request, "messages": [*heard, *made, *results]}, TELL),
    ]
    found = run({"id": "tr", "observations": observations})
    assert [line.replace("c1", "call") for line in outline(found)] == [
        "briefed Help.", f"user {ASK}", "calls call", "result call", f"reply {TELL}",
    ]  # fmt: skip
    assert found.flaws == ()
    [told] = [one for one in found.conversation if isinstance(one, Answered)]
    assert (dict(told.call.arguments), json.loads(told.text)) == ({"number": "4412"}, json.loads(ORDER))


def test_parallel_calls_that_are_items_of_their_own_are_one_decision() -> None:
    calls = [
        {"type": "function_call", "call_id": id_, "name": "get_order", "arguments": "{}"}
        for id_ in ("c1", "c2")
    ]
    results = [{"type": "function_call_output", "call_id": id_, "output": ORDER} for id_ in ("c2", "c1")]
    user = {"role": "user", "content": ASK}
    observations = [
        observation("o1", "GENERATION", [user], {"output": calls}),
        observation("o2", "GENERATION", [user, *calls, *results], TELL),
    ]
    assert outline(run({"id": "tr", "observations": observations})) == [
        f"user {ASK}", "calls c1 c2", "result c2", "result c1", f"reply {TELL}",
    ]  # fmt: skip


def test_input_of_no_known_shape_is_told_as_it_is() -> None:
    found = run(
        {"id": "tr", "observations": [observation("o1", "GENERATION", {"question": 1}, {"state": "shipped"})]}
    )
    assert outline(found) == ['user {"question": 1}', 'reply {"state": "shipped"}']


@pytest.mark.parametrize(("given_", "words"), [
    ("[1, 2]", "[1, 2]"), ('"Cancel it."', "Cancel it."), ('{"order":5}', '{"order":5}'), (["Cancel", "it."], None),
    ({"response": "x", "score": 1}, '{"response": "x", "score": 1}'), ({"input": "Cancel it."}, "Cancel it."),
    ([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "x"}}], "Look:\n[image_url]"),
    ({"role": "user", "content": ["Cancel", "it."]}, "Cancel\nit."),
])  # fmt: skip
def test_plain_input_keeps_its_words(given_: Any, words: str | None) -> None:
    found = outline(run({"id": "tr", "observations": [observation("o1", "GENERATION", given_, TELL)]}))
    assert found[:-1] == ([f"user {words}"] if words else ["user Cancel", "user it."])


def test_several_items_of_a_response_are_one_decision() -> None:
    output = [
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me see."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
        {"type": "function_call", "call_id": "c1", "name": "get_order", "arguments": "{}"},
    ]
    found = run({"id": "tr", "observations": [observation("o1", "GENERATION", ASK, {"output": output})]})
    [decided] = [one.decision for one in found.conversation if isinstance(one, Decided)]
    assert isinstance(decided, Calls)
    assert (decided.text, len(decided.calls)) == ("Let me see.\nOne moment.", 1)


def test_two_equal_calls_without_ids_are_two_and_each_tool_span_is_one_of_them() -> None:
    said = {
        "role": "assistant",
        "parts": [{"type": "tool_call", "name": "get_order", "arguments": {"number": "4412"}}] * 2,
    }
    tool = executed()
    del tool["gen_ai.tool.call.id"]
    found = run(
        otlp(
            attributed(span("1", 1), chat([text("user", ASK)], [said])),
            attributed(span("2", 2), tool),
            attributed(span("3", 3), tool),
            attributed(span("4", 4), tool),
        )
    )
    assert outline(found) == [
        f"user {ASK}",
        "calls call call_2",
        "result call",
        "result call_2",
        "calls call_3",
        "result call_3",
    ]
    assert found.flaws == ()


def test_a_tool_span_without_arguments_is_the_waiting_call_of_its_tool() -> None:
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_order",
        "gen_ai.tool.call.result": ORDER,
    }
    found = run(
        otlp(attributed(span("1", 1), chat([text("user", ASK)], [part()])), attributed(span("2", 2), tool))
    )
    assert (outline(found), found.flaws) == (WHOLE[:3], ())


def test_a_refusal_and_broken_calls_are_kept() -> None:
    refused = observation(
        "o1", "GENERATION", ASK, {"role": "assistant", "content": None, "refusal": "I may not."}
    )
    assert outline(run({"id": "tr", "observations": [refused]}))[-1] == "refused I may not."
    broken = {
        "type": "ai",
        "content": "",
        "invalid_tool_calls": [{"name": "get_order", "args": "{nope", "id": "c1"}],
    }
    found = run({"id": "tr", "observations": [observation("o1", "GENERATION", ASK, broken)]})
    [decided] = [one.decision for one in found.conversation if isinstance(one, Decided)]
    assert isinstance(decided, Calls)
    assert decided.calls[0].flaw.startswith("args.malformed")
    assert decided.calls[0].raw == "{nope"


# -- Inspect -----------------------------------------------------------------------------------------------


def test_samples_and_epochs_are_runs_with_their_scores() -> None:
    second = sample(*MESSAGES, epoch=2, scores={"match": {"value": "I"}})
    several = sample(*MESSAGES, id=8, scores={"a": {"value": 1}, "b": {"value": 0}})
    assert [(one.id, one.reward) for one in runs(log(sample(*MESSAGES), second, several))] == [
        ("f/7", 1.0), ("f/7 epoch 2", 0.0), ("f/8", None),
    ]  # fmt: skip
    assert run(sample(*MESSAGES)).id == "f/7"


def test_a_sample_with_an_error_is_a_harness_fault() -> None:
    found = run(log(sample(*MESSAGES, error={"message": "sandbox died", "traceback": ""}), status="error"))
    assert flaws(found) == [("trace.errored", "sample 7")]
    assert "sandbox died" in found.flaws[0].reason
    assert overall_of(found.flaws) is Overall.HARNESS_FAULT


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (log(status="cancelled"), ["trace.incomplete"]),
        (log(status="error", error={"message": "no key"}), ["trace.incomplete", "trace.errored"]),
        (log(sample(*MESSAGES, scores=None), status="cancelled"), ["trace.incomplete"]),
        (log(sample(*MESSAGES), status="cancelled"), []),
        (log(sample()), ["trace.incomplete"]),
    ],
)
def test_a_log_that_did_not_succeed_is_incomplete_where_something_is_missing(
    document: Any, expected: list[str]
) -> None:
    assert [code for code, _ in flaws(run(document))] == expected


def test_the_model_s_events_serve_where_the_messages_are_missing() -> None:
    events = [
        {"event": "model", "input": list(MESSAGES[:2]), "output": {"choices": [{"message": MESSAGES[2], "stop_reason": "tool_calls"}]}},
        {"event": "info"},
        {"event": "model", "input": list(MESSAGES[:4]), "output": {"choices": [{"message": MESSAGES[4], "stop_reason": "stop"}]}},
    ]  # fmt: skip
    assert outline(run(log(sample(events=events)))) == ["briefed You help with orders.", *WHOLE]


def test_what_is_wrong_with_messages_and_events_is_named() -> None:
    assert ("wire.unreadable", "message 1") in flaws(run(log(sample(5, *MESSAGES))))  # type: ignore[arg-type]
    silent: dict[str, Any] = {"event": "model", "input": [MESSAGES[1]], "output": {"choices": [{}]}}
    assert ("trace.no_content", "event 1") in flaws(run(log(sample(events=[silent]))))
    assert flaws(run(log(3))) == [("wire.unreadable", "/samples/0")]  # type: ignore[arg-type]
    assert [flaws(one) for one in runs([log(sample(*MESSAGES)), 3])][1] == [("wire.unreadable", "/1")]


def test_an_assistant_message_of_the_dataset_is_context() -> None:
    shown = {"role": "assistant", "source": "input", "content": "Hello, how can I help?"}
    found = run(log(sample(shown, *MESSAGES)))
    assert flaws(found) == [("trace.copied_context", "message 1")]


def test_a_limit_says_why_a_sample_ended_and_a_cut_answer_is_cut() -> None:
    output = {"choices": [{"stop_reason": "max_tokens"}]}
    found = run(log(sample(*MESSAGES, limit={"type": "message", "limit": 9}, output=output)))
    assert found.ended is Ended.MAX_STEPS
    assert outline(found)[-1] == f"truncated {TELL}"


@pytest.mark.parametrize(
    ("value", "reward"), [(True, 1.0), (0.25, 0.25), (3, 3.0), ("great", None), ({"a": 1}, None)]
)
def test_only_one_number_is_a_reward(value: Any, reward: float | None) -> None:
    assert run(log(sample(*MESSAGES, scores={"match": {"value": value}}))).reward == reward


def test_a_tool_error_and_unparsable_arguments_are_kept() -> None:
    call = {
        "id": "c1",
        "function": "get_order",
        "arguments": {"get_order": "{nope"},
        "parse_error": "bad JSON",
    }
    answer = {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "",
        "error": {"type": "parsing", "message": "not JSON"},
    }
    found = run(log(sample({"role": "assistant", "content": "", "tool_calls": [call]}, answer)))
    [one] = [message for message in found.conversation if isinstance(message, Answered)]
    assert one.call.flaw == "args.malformed: bad JSON"
    assert (one.is_error, one.text) == (True, "not JSON")


# -- failures in bodies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", [
    '{"success": false}', '{"ok": false, "reason": "x"}', '{"error": "no such order"}', '{"error": {"code": 4}}',
    '{"errors": ["x"]}', '{"status": "error"}', '{"isError": true}', "Error: no such order", "error: x",
    "Error executing tool get_order: x", "ValueError: x", '"Error: x"', "Traceback (most recent call last):\n x",
    "ToolException('x')",
])  # fmt: skip
def test_an_error_in_a_body_is_a_failure(body: str) -> None:
    assert is_failure(body)


@pytest.mark.parametrize("body", [
    '{"error": null}', '{"error": ""}', '{"error": false, "success": true}', '{"errors": []}', '{"status": "failed"}',
    '{"payment": {"error": "declined"}}', "No errors found", "errors: 0 is what the log says later: none", "", "{broken error",
    '[{"error": "x"}]', "12", '"fine"', '{"note": "error"}', "The error of the customer was small",
])  # fmt: skip
def test_what_only_speaks_of_errors_is_no_failure(body: str) -> None:
    assert not is_failure(body)


def test_a_failure_in_a_body_makes_the_answer_an_error() -> None:
    found = run(
        trajectory(calling(1, "c1", results=[{"source_call_id": "c1", "content": '{"success": false}'}]))
    )
    assert outline(found) == ["calls c1", "error c1"]


# -- no file is too broken ---------------------------------------------------------------------------------


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a document."""
    yield path
    fields: dict[Any, Any] = as_object(value) or {}
    for key, inner in fields.items() if fields else enumerate(as_list(value) or ()):
        yield from nodes(inner, (*path, key))


def opened(value: Any) -> Any:
    """The document with the JSON texts in it opened, so that what is in them is changed too."""
    fields, items = as_object(value), as_list(value)
    if fields is not None:
        return {key: opened(inner) for key, inner in fields.items()}
    if items is not None:
        return [opened(inner) for inner in items]
    return json.loads(value) if isinstance(value, str) and value.startswith(("[", '{"')) else value


def changed(document: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The document with another value at a place; `...` takes it out."""
    whole = [copy.deepcopy(document)]
    holder: Any = whole
    at: Any = 0
    for key in path:
        holder, at = holder[at], key
    if new is ... and holder is not whole:
        del holder[at]
    else:
        holder[at] = None if new is ... else new
    return whole[0]


NAMES = sorted(
    {key for _, one in DOCUMENTS for path in nodes(opened(one)) for key in path if isinstance(key, str)}
)
WORDS = ["user", "agent", "assistant", "tool", "system", "chat", "execute_tool", "GENERATION", "TOOL", "AGENT", "text",
         "tool_call", "tool_use", "tool_result", "function_call", "ATIF-v1.6", "c1", "o1", "1", "{", "[]", '{"a": 1}',
         "Error: x", "\ud800", "model", "LLM"]  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**60),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(WORDS),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=3), inner, max_size=6),
    max_leaves=25,
)  # fmt: skip
ENVELOPES = st.sampled_from(
    ["spans", "resourceSpans", "observations", "trace", "data", "steps", "trajectory_set", "samples"]
)


def assert_readable(value: Any) -> None:
    """Each reader answers, with at least one run, and each run says what is wrong in codes that exist."""
    for reader in READERS.values():
        assert reader.recognises(value) in (True, False)
        found = list(reader.read(value, "f"))
        assert found
        assert len({one.id for one in found}) == len(found)
        for one in found:
            overall_of(one.flaws)
            assert all(
                isinstance(message, Briefed | UserSaid | Decided | Answered) for message in one.conversation
            )


@given(VALUES | st.dictionaries(ENVELOPES, st.lists(VALUES, max_size=4), min_size=1, max_size=1))
@settings(max_examples=150, deadline=None)
def test_no_value_makes_a_reader_raise(value: Any) -> None:
    assert_readable(value)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_no_change_of_a_good_document_makes_a_reader_raise(data: st.DataObject) -> None:
    _, document = data.draw(st.sampled_from(DOCUMENTS))
    document = data.draw(st.sampled_from([document, opened(document)]))
    for _ in range(data.draw(st.integers(1, 4))):
        path = data.draw(st.sampled_from(list(nodes(document))))
        document = changed(document, path, data.draw(st.just(...) | VALUES))
    assert_readable(document)


@pytest.mark.parametrize("depth", [100, 950])
def test_no_depth_makes_a_reader_raise(depth: int) -> None:
    deep: Any = "x"
    for _ in range(depth):
        deep = {"messages": [deep]}
    for document in (
        {"spans": [{"span_id": "1", "attributes": {"gen_ai.input.messages": deep, "tool_arguments": deep}}]},
        {
            "spans": [
                {
                    "span_id": "1",
                    "attributes": [{"key": "tool_arguments", "value": {"kvlistValue": {"values": deep}}}],
                }
            ]
        },
        {
            "id": "t",
            "observations": [
                observation("o1", "TOOL", deep, deep),
                observation("o2", "GENERATION", deep, deep),
            ],
        },
        trajectory(step(1, "agent", deep, tool_calls=[{"tool_call_id": deep, "arguments": deep}])),
        log(
            sample(
                {"role": "assistant", "content": deep, "tool_calls": [{"arguments": deep}]},
                attachments={"a": "b"},
            )
        ),
        {"status": deep, "eval": deep},
    ):
        assert_readable(document)


def test_a_loop_among_parents_ends() -> None:
    one, other = span("1", 1, "2"), span("2", 2, "1")
    document = otlp(
        attributed(one, AGENT), attributed(other, chat([text("user", ASK)], [text("assistant", TELL)]))
    )
    assert outline(run(document)) == [f"user {ASK}", f"reply {TELL}"]


# -- the small readers -------------------------------------------------------------------------------------


def test_the_results_of_a_message_stand_in_front_of_its_words() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": ORDER},
        {"type": "text", "text": "And now?"},
    ]
    assert [(said.role, said.text) for said in spoken([{"role": "user", "content": results}])] == [
        ("tool", ORDER),
        ("user", "And now?"),
    ]


def test_a_message_that_langchain_serialised_speaks_as_its_class_says() -> None:
    whole = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "AIMessage"],
        "kwargs": {"content": TELL},
    }
    assert [(said.role, said.text) for said in spoken([whole])] == [("assistant", TELL)]


def test_a_model_s_own_search_stays_with_its_answer() -> None:
    content = [
        {"type": "text", "text": TELL},
        {"type": "tool_result", "tool_use_id": "s1", "content": "x", "is_error": True},
    ]
    answer, result = spoken({"role": "assistant", "content": content})
    assert (answer.text, result.role, result.failed) == (TELL, "tool", True)


def test_a_part_without_its_words_is_content_that_was_not_recorded() -> None:
    [said] = spoken([{"role": "assistant", "parts": [{"type": "text"}]}])
    assert said.bare


def test_tools_of_every_shape_are_read() -> None:
    schema = {"type": "object"}
    shapes = [
        {"name": "a", "description": "A.", "input_schema": schema},
        {"name": "a", "description": "again"},
        {"name": "b", "inputSchema": schema, "annotations": {"readOnlyHint": True}},
        json.dumps({"type": "function", "function": {"name": "c", "parameters": json.dumps(schema)}}),
        {"functionDeclarations": [{"name": "d", "parameters": schema}]},
        {"name": 5},
        7,
    ]
    tools = tools_in(shapes) or ()
    assert [(tool.spec.name, tool.read_only) for tool in tools] == [
        ("a", None),
        ("b", True),
        ("c", None),
        ("d", None),
    ]
    assert all(tool.spec.input_schema == schema for tool in tools)
    assert tools_in("[]") is None


def test_values_that_cannot_be_written_out_are_still_values() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert "deep" in text_of(deep)
    assert canonical("[" * 100_000) == canonical("[" * 100_000)
    assert literal("{'a': {1, 2}}") == "{'a': {1, 2}}"
    assert literal("{'a': 10**9}") == "{'a': 10**9}"
    assert literal("{" + "'a': 'b', " * 5_000 + "}").startswith("{'a'")
    assert moment("1.5") == 1.5
    assert moment("x") == 0
    nested: Any = {"stringValue": "x"}
    for _ in range(100):
        nested = {"arrayValue": {"values": [nested]}}
    assert "deep" in text_of(attributes_of([{"key": "a", "value": nested}]))
    assert attributes_of([{"key": "a", "value": {"unknown": 1}}]) == {"a": None}
    assert attributes_of(
        [
            {"key": "n", "value": {"intValue": "many"}},
            {"key": "m", "value": {"intValue": 3}},
            {"key": "o", "value": 4},
        ]
    ) == {
        "n": "many",
        "m": 3,
        "o": 4,
    }
