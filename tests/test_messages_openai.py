"""The OpenAI Chat Completions dialect: the text of arguments survives byte for byte, and results find their calls."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Declared,
    Malformed,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.sandbox.messages import CUT_OFF, GO_ON, NO_TEXT, NOT_CARRIED_OUT, TOLD
from sandtrail.sandbox.messages_openai import (
    catalog_digest,
    decode,
    messages_of,
    read_events,
    read_messages,
    system_of,
    tools_of,
)

SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CATALOG = Catalog((ToolSpec("get_order", "Läs.", SCHEMA),))


def call(id: str, raw: object = "{}", name: str = "get_order") -> dict[str, Any]:  # noqa: A002
    return {"id": id, "type": "function", "function": {"name": name, "arguments": raw}}


def said(content: object = None, *calls: dict[str, Any], **more: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {**message, "tool_calls": list(calls)} if calls else message


def body(message: dict[str, Any], finish: str | None = "stop") -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def told(id: str, words: str) -> dict[str, Any]:  # noqa: A002
    return {"role": "tool", "tool_call_id": id, "content": words}


def calls_in(decided: Decided) -> tuple[ToolCall, ...]:
    assert isinstance(decided.decision, Calls | Truncated)
    return decided.decision.calls


# -- sent


def test_the_digest_is_over_the_bytes_of_the_tools() -> None:
    tools = tools_of(CATALOG)
    assert tools == [
        {"type": "function", "function": {"name": "get_order", "description": "Läs.", "parameters": SCHEMA}}
    ]
    sent = json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()
    assert catalog_digest(CATALOG) == hashlib.sha256(sent).hexdigest()
    assert catalog_digest(CATALOG) != catalog_digest(CATALOG, meta=True)


def test_the_text_of_arguments_goes_back_byte_for_byte() -> None:
    raw = '{ "order_id" :"o\\u00e9", }'
    conversation = (
        Briefed("It is Monday."),
        UserSaid("Show it."),
        Decided(Calls((ToolCall.read("a", "get_order", raw),), "Looking.")),
    )
    assert messages_of(conversation, system="Help.")[:3] == [
        {"role": "system", "content": "Help.\n\nIt is Monday."},
        {"role": "user", "content": "Show it."},
        said("Looking.", call("a", raw)),
    ]


def test_what_a_provider_sent_goes_back_as_it_came_without_nulls() -> None:
    message = said(None, call("a"), reasoning_content="Hm.", refusal=None, audio=None)
    decided = decode(body(message, "tool_calls"))
    answered = Answered(calls_in(decided)[0], "{}", is_error=False)
    assert messages_of((UserSaid(""), decided, answered)) == [
        {"role": "user", "content": NO_TEXT},
        said(None, call("a"), reasoning_content="Hm."),
        told("a", "{}"),
    ]


def test_calls_that_nobody_carried_out_are_answered() -> None:
    cut = Decided(Truncated("", (ToolCall.read("a", "get_order", '{"order'),)))
    assert messages_of((UserSaid("x"), cut))[1:] == [said(None, call("a", '{"order')), told("a", CUT_OFF)]
    lost = Decided(Calls((ToolCall("b", "get_order", {}),)))
    assert messages_of((lost, UserSaid("Hello?")))[1:] == [
        told("b", NOT_CARRIED_OUT),
        {"role": "user", "content": "Hello?"},
    ]


def test_a_request_never_ends_with_the_assistant() -> None:
    assert messages_of((UserSaid("x"), Decided(Truncated("Cut"))))[1:] == [
        said("Cut"),
        {"role": "user", "content": GO_ON},
    ]


def test_decisions_without_content_leave_no_message() -> None:
    assert messages_of((Decided(Malformed("nothing")), Decided(Refused()))) == []
    refused = decode(body(said(None, refusal="I won't.")))
    assert messages_of((refused, UserSaid("y")))[0] == said(None, refusal="I won't.")


def test_blocks_of_the_other_dialect_are_not_sent() -> None:
    decided = Decided(Reply("Hi."), opaque=({"type": "text", "text": "Hi."},))
    assert messages_of((decided, UserSaid("y")))[0] == said("Hi.")


def test_an_answer_to_nothing_is_sent_all_the_same() -> None:
    assert messages_of((Answered(ToolCall("x", "", {}), "{}", is_error=False),)) == [told("x", "{}")]


# -- decoded


@pytest.mark.parametrize(
    ("raw", "arguments", "flaw"),
    [
        ('{"order_id": "Ω 中 🎈"}', {"order_id": "Ω 中 🎈"}, ""),
        ("", {}, ""),
        ('"{\\"order_id\\": \\"ord_A5\\"}"', {}, "args.double_encoded"),
        ('{"customer_id": \\n"cus_B1"\\n}', {}, "args.malformed: invalid JSON at column 17"),
        ("[]", {}, "args.malformed"),
    ],
)
def test_argument_text_is_kept_and_read_strictly(raw: str, arguments: object, flaw: str) -> None:
    (found,) = calls_in(decode(body(said(None, call("x1", raw)))))
    assert (found.id, found.raw, found.arguments) == ("x1", raw, arguments)
    assert found.flaw.startswith(flaw)
    assert bool(found.flaw) == bool(flaw)


@pytest.mark.parametrize(
    ("given", "raw"), [({"order_id": "é"}, '{"order_id": "é"}'), (None, ""), ({}, "{}"), (0, "0")]
)
def test_arguments_that_are_no_text_get_one(given: object, raw: str) -> None:
    (found,) = calls_in(decode(body(said(None, call("a", given)))))
    assert found.raw == raw


def test_a_custom_tool_and_an_old_function_call_are_calls() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    (found,) = calls_in(decode(body(said(None, custom))))
    assert (found.tool, found.raw, found.flaw[:14]) == ("sql", "select 1", "args.malformed")
    old = decode(body(said(None, function_call={"name": "get_order", "arguments": "{}"}), "function_call"))
    assert calls_in(old) == (ToolCall("call", "get_order", {}, 0, "{}"),)
    sent = messages_of((old, Answered(calls_in(old)[0], "ok", is_error=False)))
    assert sent == [said(None, call("call")), told("call", "ok")]


def test_what_is_no_call_among_the_calls_is_left_out() -> None:
    message = said(None, call("a"))
    message["tool_calls"].insert(0, "what?")
    decided = decode(body(message))
    assert [one.id for one in calls_in(decided)] == ["a"]
    assert messages_of((decided,))[0] == said(None, call("a"))
    assert calls_in(decode(body(said(None, {"id": "b"})))) == (ToolCall("b", "", {}, 0, ""),)


@pytest.mark.parametrize(
    ("message", "finish", "decision"),
    [
        (said("Hi."), "stop", Reply("Hi.")),
        (said("Hi."), None, Reply("Hi.")),
        (said([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "stop", Reply("ab")),
        (said(None, refusal="I won't."), "stop", Refused("I won't.")),
        (said([{"type": "refusal", "refusal": "No."}]), "stop", Refused("No.")),
        (said("Half"), "content_filter", Refused("Half")),
        (said(None, call("a")), "content_filter", Refused()),
        (said("Cut"), "length", Truncated("Cut")),
        (said(None, call("a", "{")), "length", Truncated("", (ToolCall.read("a", "get_order", "{"),))),
    ],
)
def test_a_finish_reason_says_what_became_of_the_answer(
    message: dict[str, Any], finish: str | None, decision: object
) -> None:
    assert decode(body(message, finish)).decision == decision


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "there is none"),
        ({"choices": []}, "there is none"),
        ({"choices": ["x"]}, "there is none"),
        ({"choices": None, "error": {"message": "Busy"}}, "Busy"),
        ({"error": "Busy"}, "Busy"),
        (body(said(None)), "neither a text nor a call"),
        (body(said("So:"), "tool_calls"), "tool_calls, and no call"),
    ],
)
def test_what_is_no_decision_says_why_and_is_kept(answer: object, reason: str) -> None:
    decided = decode(answer)
    assert isinstance(decided.decision, Malformed)
    assert reason in decided.decision.reason
    assert json.loads(decided.decision.raw) == answer


def test_a_repeated_id_gets_one_of_ours_and_the_results_go_to_it() -> None:
    decided = decode(body(said(None, call("dup"), call("dup"))), taken=["dup"])
    assert [one.id for one in calls_in(decided)] == ["dup_2", "dup_3"]
    assert [one["id"] for one in decided.opaque[0]["tool_calls"]] == ["dup", "dup"]
    sent = messages_of((decided, *(Answered(one, one.id, is_error=False) for one in calls_in(decided))))
    assert [one["id"] for one in sent[0]["tool_calls"]] == ["dup_2", "dup_3"]
    assert sent[1:] == [told("dup_2", "dup_2"), told("dup_3", "dup_3")]


def test_a_meta_tool_says_what_the_reply_is() -> None:
    question = decode(body(said(None, call("q", '{"question": "Which?"}', "ask_user"))), meta=True)
    assert question.decision == Reply("Which?", Declared.QUESTION)
    assert messages_of((question, UserSaid("The lamp.")))[1:] == [
        told("q", TOLD),
        {"role": "user", "content": "The lamp."},
    ]
    broken = decode(body(said(None, call("q", '{"question', "ask_user"))), meta=True)
    assert isinstance(broken.decision, Calls)


# -- recorded transcripts


def test_results_out_of_order_go_to_their_calls() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
        {"role": "user", "content": "Which of pay_1 and pay_2 is larger?"},
        said(None, call("A", '{"payment_id":"pay_1"}'), call("B", '{"payment_id":"pay_2"}')),
        told("B", '{"amount_cents":900}'),
        told("A", '{"amount_cents":100}'),
        said("pay_2 is larger (9.00)."),
    ]
    user, decided, *answers, last = read_messages(messages)
    assert system_of(messages) == "Be brief."
    assert user == UserSaid("Which of pay_1 and pay_2 is larger?")
    assert isinstance(decided, Decided)
    one, two = calls_in(decided)
    assert answers == [
        Answered(two, '{"amount_cents":900}', is_error=False),
        Answered(one, '{"amount_cents":100}', is_error=False),
    ]
    assert isinstance(last, Decided)
    assert last.decision == Reply("pay_2 is larger (9.00).")


def test_what_was_read_can_be_written_again() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Show it."},
        said(None, call("w1", '{"customer_id": \\n"cus_B1"\\n}')),
        told("w1", "bad arguments"),
        said("Sorry."),
        {"role": "user", "content": "Well?"},
    ]
    assert messages_of(read_messages(messages)) == messages


def test_a_repeated_id_is_paired_by_order_and_stays() -> None:
    messages = [said(None, call("d", '{"n":1}'), call("d", '{"n":2}')), told("d", "one"), told("d", "two")]
    _, *answers = read_messages(messages)
    pairs = [(one.text, one.call.id, one.call.arguments["n"]) for one in answers if isinstance(one, Answered)]
    assert pairs == [("one", "d", 1), ("two", "d", 2)]


def test_odd_messages_are_read_all_the_same() -> None:
    found = read_messages(
        [
            {"role": "user", "content": [{"type": "text", "text": "See:"}, {"type": "image_url"}]},
            {"role": "function", "name": "f", "content": "{}"},
            {"role": "tool"},
        ]
    )
    assert found == (
        UserSaid("See:\n[image_url]"),
        Answered(ToolCall("", "", {}), "{}", is_error=False),
        Answered(ToolCall("", "", {}), "", is_error=False),
    )


def test_the_finish_reason_is_that_of_the_last_message() -> None:
    first, last = read_messages([said("a"), said("b")], "length")
    assert isinstance(first, Decided)
    assert isinstance(last, Decided)
    assert (first.decision, last.decision) == (Reply("a"), Truncated("b"))


# -- streams

INTERLEAVED = [
    {"index": 0, "id": "A", "name": "payments_get", "arguments": ""},
    {"index": 1, "id": "B", "name": "payments_get", "arguments": ""},
    {"index": 0, "arguments": '{"payment_id":'},
    {"index": 1, "arguments": '{"payment_id":"pay'},
    {"index": 0, "arguments": '"pay_1"}'},
    {"index": 1, "arguments": '_2"}'},
]


def wrapped(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "model": "m", "choices": [{"delta": delta, "finish_reason": finish}]}


def as_chunk(fragment: dict[str, Any]) -> dict[str, Any]:
    outer = {name: fragment[name] for name in ("index", "id") if name in fragment}
    inner = {name: fragment[name] for name in ("name", "arguments") if name in fragment}
    return wrapped({"tool_calls": [{**outer, "function": inner}]})


@pytest.mark.parametrize("raw", [False, True])
def test_interleaved_fragments_belong_to_the_call_of_their_index(raw: bool) -> None:  # noqa: FBT001
    chunks = [as_chunk(fragment) for fragment in INTERLEAVED] if raw else INTERLEAVED
    found = calls_in(decode(read_events(chunks, "tool_calls")))
    assert [(one.id, one.tool, dict(one.arguments)) for one in found] == [
        ("A", "payments_get", {"payment_id": "pay_1"}),
        ("B", "payments_get", {"payment_id": "pay_2"}),
    ]


def test_a_stream_keeps_text_reasoning_usage_and_finish() -> None:
    whole = read_events(
        [
            wrapped({"role": "assistant", "content": "Hel", "reasoning_content": "Hm"}),
            wrapped({"content": "lo"}),
            wrapped({}, "stop"),
            {"model": "m", "choices": [], "usage": {"prompt_tokens": 9}},
        ]
    )
    assert (whole["usage"], whole["model"], whole["id"]) == ({"prompt_tokens": 9}, "m", "chatcmpl-1")
    decided = decode(whole)
    assert decided.decision == Reply("Hello")
    assert decided.opaque == (said("Hello", reasoning_content="Hm"),)
    assert decode(read_events([wrapped({"refusal": "No."}, "stop")])).decision == Refused("No.")
    assert decode(read_events([wrapped({"content": "x"}, "length")])).decision == Truncated("x")


def test_a_name_that_is_sent_again_is_the_same_name() -> None:
    fragments = [
        {"index": 0, "id": "A", "name": "get_order", "arguments": "{"},
        {"index": 0, "id": "A", "name": "get_order", "arguments": "}"},
    ]
    (found,) = calls_in(decode(read_events(fragments)))
    assert (found.tool, found.raw) == ("get_order", "{}")
    (pieces,) = calls_in(decode(read_events([{"index": 0, "name": "get_"}, {"index": 0, "name": "order"}])))
    assert pieces.tool == "get_order"


def test_a_new_id_at_a_used_index_is_a_new_call() -> None:
    fragments = [{"index": 0, "id": one, "name": "get_order", "arguments": "{}"} for one in ("A", "B")]
    assert [one.id for one in calls_in(decode(read_events(fragments)))] == ["A", "B"]
    late = [{"index": 0, "name": "get_order", "arguments": "{"}, {"index": 0, "id": "A", "arguments": "}"}]
    assert [(one.id, one.raw) for one in calls_in(decode(read_events(late)))] == [("A", "{}")]


def test_an_error_in_a_stream_is_no_decision() -> None:
    decision = decode(read_events([wrapped({"content": "x"}), {"error": {"message": "Busy"}}])).decision
    assert isinstance(decision, Malformed)
    assert "Busy" in decision.reason
