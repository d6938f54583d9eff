"""Messages of Anthropic, OpenAI (chat and Responses) and LangChain as recordings."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Decision,
    Malformed,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.interchange import anthropic, langchain, openai_chat, responses
from sandtrail.sandbox.interchange.detect import READERS, read_document, recognised
from sandtrail.sandbox.interchange.recording import Recording

USER = {"role": "user", "content": "Hi."}


def one(value: object) -> Recording:
    (found,) = read_document(value, "run")
    return found


def decisions(recording: Recording) -> list[Decision]:
    return [message.decision for message in recording.conversation if isinstance(message, Decided)]


def answers(recording: Recording) -> list[tuple[str, str, bool]]:
    return [
        (message.call.tool, message.text, message.is_error)
        for message in recording.conversation
        if isinstance(message, Answered)
    ]


def called(recording: Recording) -> list[ToolCall]:
    return [
        call for decision in decisions(recording) if isinstance(decision, Calls) for call in decision.calls
    ]


def flaws(recording: Recording) -> list[tuple[str, str]]:
    return [(flaw.code, flaw.at) for flaw in recording.flaws]


# -- Anthropic -------------------------------------------------------------------------------------------

USE = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "t1", "name": "get", "input": {"id": "o1"}}],
}
RESULT = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "{}"}]}


def test_blocks_of_tools_are_anthropics() -> None:
    found = one([USER, USE, RESULT])
    assert (found.format, found.flaws, answers(found)) == ("anthropic", (), [("get", "{}", False)])


def test_a_request_with_its_response_is_one_run() -> None:
    request = {
        "system": "Help.",
        "messages": [USER],
        "tools": [{"name": "get", "input_schema": {"type": "object"}}],
    }
    response = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yo."}]}
    for value in ({"request": request, "response": response}, {**request, "response": response}):
        found = one(value)
        assert found.format == "anthropic"
        assert (found.conversation[0], decisions(found)) == (Briefed("Help."), [Reply("Yo.")])
        assert [tool.spec.name for tool in found.tools or ()] == ["get"]


def test_a_lone_response_is_a_run_of_one_decision() -> None:
    body: dict[str, Any] = {"type": "message", "role": "assistant", "content": [], "stop_reason": "refusal"}
    found = one(body)
    assert (found.format, decisions(found)) == ("anthropic", [Refused("")])


def test_the_system_text_may_be_blocks() -> None:
    found = one({"system": [{"type": "text", "text": "Help."}], "messages": [USER]})
    assert found.conversation == (Briefed("Help."), UserSaid("Hi."))


def test_a_transcript_may_begin_with_a_greeting() -> None:
    found = one({"system": "x", "messages": [{"role": "assistant", "content": "Hello!"}, USER]})
    assert found.flaws == ()


def test_errors_in_bodies_are_errors() -> None:
    told = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": '{"success": false}'}],
    }
    assert answers(one([USER, USE, told])) == [("get", '{"success": false}', True)]


def test_a_body_that_is_no_json_is_no_error() -> None:
    told = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": '{"error": '}],
    }
    assert answers(one([USER, USE, told])) == [("get", '{"error": ', False)]


def test_fragments_that_are_no_text_are_not_read() -> None:
    block = {"type": "tool_use", "id": "t1", "name": "get", "input": {"id": "o1"}, "partial_json": 5}
    (call,) = called(one([USER, {"role": "assistant", "content": [block]}]))
    assert dict(call.arguments) == {"id": "o1"}


def test_what_anthropic_messages_lack_is_told_once() -> None:
    bare = {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "get"}]}
    found = one({"system": "x", "messages": [{"role": "user", "content": None}, bare, RESULT]})
    assert flaws(found) == [("trace.no_content", "messages.0, t1")]


def test_a_refusal_may_be_silent() -> None:
    found = one(
        {"system": "x", "messages": [USER, {"role": "assistant", "content": None, "stop_reason": "refusal"}]}
    )
    assert found.flaws == ()


def test_a_text_that_is_null_says_nothing() -> None:
    found = one(
        {"system": "x", "messages": [{"role": "user", "content": [{"type": "text", "text": None}, "So?"]}]}
    )
    assert found.conversation[-1] == UserSaid("\nSo?")


@pytest.mark.parametrize(
    ("message", "at"),
    [
        (5, "messages.0"),
        ({"role": 5}, "messages.0"),
        ({"role": "user", "content": 5}, "messages.0.content"),
        ({"role": "user", "content": [5]}, "messages.0.content.0"),
        ({"role": "user", "content": [{"type": 5}]}, "messages.0.content.0"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [7]}]},
            "messages.0.content.0.content.0",
        ),
        ({"role": "assistant", "content": "x", "tool_calls": 5}, "messages.0.tool_calls"),
        ({"role": "assistant", "content": "x", "tool_calls": [5]}, "messages.0.tool_calls"),
    ],
)
def test_a_part_of_a_message_that_cannot_be_read_is_a_flaw(message: Any, at: str) -> None:
    for read in (anthropic.read, openai_chat.read):
        (found,) = read([message, USER], "run")
        assert ("wire.unreadable", at) in flaws(found)
        assert found.conversation[-1] == UserSaid("Hi.")


def test_of_a_thousand_flaws_the_first_are_told_and_the_rest_is_counted() -> None:
    (found,) = openai_chat.read([USER, *range(1000)], "run")
    assert len(found.flaws) == 51
    assert found.flaws[-1].reason == "and 950 more flaws from here on"


def test_a_stop_reason_that_is_no_text_is_none() -> None:
    found = one({"system": "x", "messages": [{"role": "assistant", "content": "Hi.", "stop_reason": [5]}]})
    assert decisions(found) == [Reply("Hi.")]


# -- Chat Completions --------------------------------------------------------------------------------------

CALL = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"id": "o1"}'}}
ASKS = {"role": "assistant", "content": None, "tool_calls": [CALL]}


def test_a_system_text_is_read_where_it_stands() -> None:
    found = one([{"role": "system", "content": "A"}, USER, {"role": "developer", "content": "B"}])
    assert found.conversation == (Briefed("A"), UserSaid("Hi."), Briefed("B"))


def test_a_response_of_chat_completions_is_a_run() -> None:
    body = {"choices": [{"message": {"content": "So"}, "finish_reason": "length"}]}
    assert decisions(one(body)) == [Truncated("So")]
    assert decisions(one({"request": {"messages": [USER]}, "response": body})) == [Truncated("So")]


def test_a_system_text_beside_openai_messages_comes_first() -> None:
    found = one(
        {"system": "Help.", "messages": [USER, ASKS, {"role": "tool", "tool_call_id": "c1", "content": "{}"}]}
    )
    assert (found.format, found.conversation[0]) == ("openai", Briefed("Help."))


def test_what_openai_messages_lack_is_told_once() -> None:
    bare = {"role": "assistant", "tool_calls": [{"id": "c2", "function": {"name": "get", "arguments": None}}]}
    found = one([USER, {"role": "assistant", "content": None}, bare, {"role": "tool", "tool_call_id": "c2"}])
    assert flaws(found) == [("trace.no_content", "messages.1, c2, c2")]


def test_an_empty_result_is_content() -> None:
    found = one([USER, ASKS, {"role": "tool", "tool_call_id": "c1", "content": ""}])
    assert (found.flaws, answers(found)) == ((), [("get", "", False)])


def test_many_missing_parts_are_counted() -> None:
    (found,) = openai_chat.read([USER, *[{"role": "user", "content": None}] * 12], "run")
    assert found.flaws[0].at.endswith("messages.8 and 4 more")


def test_functions_of_old_requests_are_tools() -> None:
    found = one({"messages": [USER], "functions": [{"name": "get", "parameters": {"type": "object"}}]})
    assert [tool.spec.name for tool in found.tools or ()] == ["get"]


# -- Responses ---------------------------------------------------------------------------------------------


def item(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, **fields}


FETCH = item("function_call", call_id="c1", name="get", arguments='{"id": "o1"}')
FETCHED = item("function_call_output", call_id="c1", output="{}")


def test_what_the_model_puts_out_between_two_inputs_is_one_decision() -> None:
    said = item("message", role="assistant", content=[item("output_text", text="Let me see.")])
    found = one([USER, item("reasoning", summary=[]), said, FETCH, {**FETCH, "call_id": "c2"}, FETCHED])
    assert found.format == "responses"
    (decision,) = decisions(found)
    assert isinstance(decision, Calls)
    assert (decision.text, [call.id for call in decision.calls]) == ("Let me see.", ["c1", "c2"])
    assert answers(found) == [("get", "{}", False)]


def test_a_response_knows_its_input_its_instructions_and_its_end() -> None:
    body = {
        "object": "response",
        "instructions": "Help.",
        "input": "Hi.",
        "output": [item("message", role="assistant", content=[item("output_text", text="So")])],
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "tools": [
            {"type": "function", "name": "get", "parameters": {"type": "object"}},
            {"type": "web_search"},
        ],
    }
    found = one(body)
    assert found.conversation[:2] == (Briefed("Help."), UserSaid("Hi."))
    assert decisions(found) == [Truncated("So")]
    assert [tool.spec.name for tool in found.tools or ()] == ["get"]
    filtered = {**body, "incomplete_details": {"reason": "content_filter"}}
    assert decisions(one(filtered)) == [Refused("So")]


def test_items_under_any_name_are_found() -> None:
    for value in ({"input": [USER, FETCH]}, {"items": [USER, FETCH]}, {"data": [USER, FETCH]}):
        assert [call.id for call in called(one(value))] == ["c1"]
    both = {"request": {"input": [USER]}, "response": {"object": "response", "output": [FETCH]}}
    assert [call.id for call in called(one(both))] == ["c1"]


def test_refusals_and_custom_calls_are_read() -> None:
    refusal = item("message", role="assistant", content=[item("refusal", refusal="No.")])
    custom = item("custom_tool_call", call_id="c3", name="run", input='{"a": 1}')
    found = one(
        [
            USER,
            refusal,
            USER,
            custom,
            item("custom_tool_call_output", call_id="c3", output=[item("input_text", text="ok")]),
        ]
    )
    assert decisions(found)[0] == Refused("No.")
    assert answers(found) == [("run", "ok", False)]


def test_a_call_that_the_provider_carried_out_has_its_result() -> None:
    good = item("mcp_call", id="m1", name="get", arguments="{}", output="fine", error=None)
    bad = item("mcp_call", id="m2", name="get", arguments="{}", output=None, error={"message": "gone"})
    found = one([USER, good, USER, bad])
    assert [(text, failed) for _, text, failed in answers(found)] == [
        ("fine", False),
        ("{'message': 'gone'}", True),
    ]
    assert found.flaws == ()


def test_an_item_that_was_cut_is_no_call() -> None:
    (decision,) = decisions(one([USER, {**FETCH, "status": "incomplete"}]))
    assert isinstance(decision, Truncated)


def test_what_is_not_in_the_recording_is_told() -> None:
    found = one(
        [
            USER,
            item("item_reference", id="msg_1"),
            FETCH,
            FETCHED,
            item("hologram"),
            5,
            item("web_search_call"),
        ]
    )
    assert flaws(found) == [
        ("trace.incomplete", "items.1"),
        ("trace.incomplete", "items.4"),
        ("wire.unreadable", "items.5"),
    ]
    later = one({"object": "response", "previous_response_id": "r1", "output": [FETCH]})
    assert flaws(later) == [("trace.incomplete", "response")]
    failed = one({"object": "response", "error": {"message": "overloaded"}, "output": [FETCH]})
    assert flaws(failed) == [("trace.errored", "response")]


def test_the_law_holds_for_items_too() -> None:
    assert flaws(one([USER, FETCHED, FETCH])) == [("wire.orphan_tool_result", "c1")]


# -- LangChain ---------------------------------------------------------------------------------------------

RAW = {"id": "c1", "type": "function", "function": {"name": "get", "arguments": '{"id":  "o1"}'}}
TOOL_CALL = {"name": "get", "args": {"id": "o1"}, "id": "c1", "type": "tool_call"}


def ai(*calls: Any, **more: Any) -> dict[str, Any]:
    return {"type": "ai", "content": "", "tool_calls": list(calls), **more}


def human(text: str = "Hi.") -> dict[str, Any]:
    return {"type": "human", "content": text}


def constructor(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


FORMS: list[Callable[[], list[Any]]] = [
    lambda: [human(), ai(TOOL_CALL), {"type": "tool", "tool_call_id": "c1", "content": "{}"}],
    lambda: (
        [{"type": m["type"], "data": m} for m in (human(), ai(TOOL_CALL))]
        + [{"type": "tool", "data": {"tool_call_id": "c1", "content": "{}"}}]
    ),
    lambda: [
        constructor("HumanMessage", content="Hi."),
        constructor("AIMessageChunk", content="", tool_calls=[TOOL_CALL]),
        constructor("ToolMessage", content="{}", tool_call_id="c1"),
    ],
    lambda: [
        USER,
        {"role": "assistant", "content": "", "tool_calls": [TOOL_CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ],
]


@pytest.mark.parametrize("form", FORMS)
def test_every_dumped_form_is_the_same_talk(form: Callable[[], list[Any]]) -> None:
    for value in (form(), {"messages": form()}, {"values": {"messages": form()}}):
        found = one(value)
        assert (found.format, found.flaws) == ("langchain", ())
        assert [type(message) for message in found.conversation] == [UserSaid, Decided, Answered]
        assert [(call.id, dict(call.arguments)) for call in called(found)] == [("c1", {"id": "o1"})]


def test_a_call_that_is_stored_twice_counts_once_with_the_text_as_it_was_sent() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "get", "input": {"id": "o1"}}
    found = one([human(), ai(TOOL_CALL, content=[block], additional_kwargs={"tool_calls": [RAW]})])
    assert [(call.id, call.text) for call in called(found)] == [("c1", '{"id":  "o1"}')]
    assert found.flaws == ()


def test_calls_of_old_dumps_and_blocks_are_read() -> None:
    old = {"function_call": {"name": "get", "arguments": "{}"}}
    block = {"type": "tool_use", "id": "c2", "name": "get", "input": {"id": "o2"}}
    thought = {"type": "thinking", "thinking": "Hm."}
    found = one([human(), ai(additional_kwargs=old), human(), ai(content=[thought, "So:", block])])
    assert [(call.id, dict(call.arguments)) for call in called(found)] == [("", {}), ("c2", {"id": "o2"})]
    again = one([human(), ai(additional_kwargs={"tool_calls": [RAW]})])
    assert [call.id for call in called(again)] == ["c1"]


def test_an_invalid_call_is_on_record_as_it_was_sent() -> None:
    found = one(
        [human(), ai(invalid_tool_calls=[{"name": "get", "args": "{oops", "id": "c1", "error": "bad"}])]
    )
    (call,) = called(found)
    assert (call.raw, call.flaw[:14]) == ("{oops", "args.malformed")


def test_a_status_says_what_the_text_does_not() -> None:
    found = one(
        [human(), ai(TOOL_CALL), {"type": "tool", "tool_call_id": "c1", "content": "gone", "status": "error"}]
    )
    assert answers(found) == [("get", "gone", True)]


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({"response_metadata": {"finish_reason": "length"}}, Truncated),
        ({"response_metadata": {"stop_reason": "max_tokens"}}, Truncated),
        ({"response_metadata": {"finish_reason": "SAFETY"}}, Refused),
        ({"additional_kwargs": {"refusal": "No."}}, Refused),
        ({"response_metadata": {"finish_reason": "stop"}}, Malformed),
    ],
)
def test_how_an_answer_ended_is_read(more: dict[str, Any], kind: type[Decision]) -> None:
    assert [type(decision) for decision in decisions(one([human(), ai(**more)]))] == [kind]


def test_a_message_of_the_state_itself_is_left_out() -> None:
    found = one([human(), {"type": "remove", "content": "", "id": "m1"}, {"type": "system", "content": "B"}])
    assert found.conversation == (UserSaid("Hi."), Briefed("B"))


def test_a_role_that_nobody_has_is_a_flaw() -> None:
    found = one(
        [
            human(),
            {"type": "chat", "role": "ghost", "content": "Boo."},
            {"type": "chat", "role": "user", "content": "x"},
        ]
    )
    assert flaws(found) == [("wire.unreadable", "messages.1")]
    assert found.conversation[-1] == UserSaid("x")


def test_what_is_no_run_of_a_dialect_is_unreadable() -> None:
    for reader in (anthropic, openai_chat, responses, langchain):
        assert [flaws(found)[0][0] for found in reader.read({"rows": 1}, "run")] == ["wire.unreadable"]
        assert not reader.recognises({"rows": 1})


# -- nothing raises ----------------------------------------------------------------------------------------

WHOLE: list[Any] = [
    {"system": "x", "messages": [USER, USE, RESULT], "stop_reason": "end_turn"},
    [USER, ASKS, {"role": "tool", "tool_call_id": "c1", "content": "{}"}],
    {
        "object": "response",
        "input": [USER],
        "output": [FETCH, FETCHED, item("mcp_call", id="m", name="n", error=1)],
    },
    [
        human(),
        ai(TOOL_CALL, additional_kwargs={"tool_calls": [RAW]}, response_metadata={"finish_reason": "x"}),
    ],
    [
        constructor(
            "AIMessage",
            content=[{"type": "tool_use", "id": "c", "name": "n", "input": {}}],
            tool_calls=[TOOL_CALL],
        )
    ],
    {
        "info": {"environment_info": {"policy": "P", "tool_defs": [RAW]}},
        "tasks": [{"id": "1", "ticket": "T"}],
        "simulations": [
            {
                "task_id": "1",
                "trial": 0,
                "termination_reason": "user_stop",
                "reward_info": {"reward": 1},
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "a", "name": "n", "arguments": {}}],
                        "raw_data": {"finish_reason": "x"},
                    },
                    {"role": "tool", "id": "a", "content": "{}", "error": False, "tool_messages": None},
                    {"role": "assistant", "content": "", "errors": ["e"]},
                ],
            }
        ],
    },
    [
        {
            "task_id": 1,
            "trial": 0,
            "reward": 1.0,
            "traj": [USER, ASKS, {"role": "tool", "tool_call_id": "c1", "content": ""}],
        }
    ],
    {
        "format": "anthropic_stream",
        "events": [
            {"type": "message_start", "message": {"usage": {}}},
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "t", "name": "n"},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": "{}"},
            },
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        ],
    },
    {
        "format": "openai_stream",
        "chunks": [
            {
                "choices": [
                    {
                        "delta": {
                            "content": "x",
                            "tool_calls": [{"index": 0, "id": "c", "function": {"name": "n"}}],
                        }
                    }
                ]
            }
        ],
        "finish_reason": "stop",
    },
    {
        "format": "openai",
        "messages": [USER, ASKS],
        "tools": [{"name": "get", "input_schema": {"type": "object"}, "annotations": {"readOnlyHint": True}}],
        "contract": {
            "allowed_effects": [{"op": "a.b", "target": "$x", "max": 1}],
            "arguments": {"get.id": "$x"},
        },
        "bindings": {"$x": {"kind": "order", "value": "o1"}},
        "ledger": [{"op": "a.b", "target": "o1", "status": "committed", "by_call": "c1"}],
        "clock": {"now_utc": "2026-01-01T00:00:00Z", "user_zone": "UTC"},
        "turn_registry": [{"from_message": 0, "tools": ["get"]}],
    },
]
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        10**60,
        1e308,
        "",
        "x",
        "\u0000",
        [],
        {},
        [[]],
        [None],
        {"a": None},
        [5],
        ["x"],
        {"type": "text"},
    ]
)


def places(value: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to every part of a value."""
    yield before
    items = as_list(value)
    keys: Any = as_object(value) or (range(len(items)) if items else ())
    for key in keys:
        yield from places(value[key], (*before, key))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_no_part_of_the_wrong_type_makes_a_reader_raise(data: st.DataObject) -> None:
    value = copy.deepcopy(data.draw(st.sampled_from(WHOLE)))
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(list(places(value))))
        if not path:
            continue
        inside = value
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = copy.deepcopy(data.draw(ODD))
    found = recognised(value)
    if found is not None:
        assert all(isinstance(run, Recording) for run in found.read(copy.deepcopy(value), "x"))
    for reader in READERS:
        assert all(json.dumps(dict(run.recorded)) for run in reader.read(value, "x"))


@pytest.mark.parametrize("value", WHOLE)
def test_every_whole_document_has_a_reader(value: Any) -> None:
    assert recognised(value) is not None
    assert not [
        flaw for run in read_document(value, "x") for flaw in run.flaws if flaw.code == "wire.unreadable"
    ]
