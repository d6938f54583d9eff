"""The Anthropic Messages dialect: what is sent, what is read, and that nothing is lost on the way."""

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
from sandtrail.sandbox.messages_anthropic import (
    catalog_digest,
    decode,
    messages_of,
    read_events,
    read_messages,
    system_of,
    tools_of,
)

SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
CATALOG = Catalog((ToolSpec("get_order", "Läs.", SCHEMA), ToolSpec("ping", "Ping.", {"type": "object"})))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(id: str, name: str = "get_order", **arguments: object) -> dict[str, Any]:  # noqa: A002
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def result(id: str, words: str, *, is_error: bool = False) -> dict[str, Any]:  # noqa: A002
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": id, "content": words}
    return {**block, "is_error": True} if is_error else block


def body(*content: dict[str, Any], stop: str | None = "end_turn") -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": list(content), "stop_reason": stop}


def called(*ids: str) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(one, "get_order", {"order_id": one}, batch) for batch, one in enumerate(ids))


# -- sent


def test_the_tools_end_in_a_cache_breakpoint_and_the_digest_is_over_their_bytes() -> None:
    tools = tools_of(CATALOG)
    assert [tool["name"] for tool in tools] == ["get_order", "ping"]
    assert tools[0] == {"name": "get_order", "description": "Läs.", "input_schema": SCHEMA}
    assert [tool.get("cache_control") for tool in tools] == [None, {"type": "ephemeral"}]
    sent = json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()
    assert catalog_digest(CATALOG) == hashlib.sha256(sent).hexdigest()
    assert catalog_digest(CATALOG) != catalog_digest(Catalog(CATALOG.tools[::-1]))
    assert catalog_digest(CATALOG) != catalog_digest(CATALOG, cache=False)
    assert tools_of(Catalog(())) == []


def test_meta_tools_are_offered_beside_the_catalog_and_never_twice() -> None:
    assert [tool["name"] for tool in tools_of(CATALOG, meta=True)][2:] == ["ask_user", "finish"]
    with pytest.raises(ValueError, match="'finish' is twice"):
        tools_of(Catalog((ToolSpec("finish", "Mine.", {"type": "object"}),)), meta=True)


def test_all_results_of_one_batch_stand_in_one_user_message_before_what_the_user_says() -> None:
    one, two = called("a", "b")
    conversation = (
        Briefed("It is Monday."),
        UserSaid("Both?"),
        Decided(Calls((one, two), "Looking.")),
        Answered(two, "no such order", is_error=True),
        Answered(one, '{"id":"a"}', is_error=False),
        UserSaid("And?"),
    )
    assert messages_of(conversation) == [
        {"role": "user", "content": "Both?"},
        {
            "role": "assistant",
            "content": [text("Looking."), use("a", order_id="a"), use("b", order_id="b")],
        },
        {
            "role": "user",
            "content": [result("b", "no such order", is_error=True), result("a", '{"id":"a"}'), text("And?")],
        },
    ]


def test_what_a_provider_sent_goes_back_as_it_came() -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln=="}
    hidden = {"type": "redacted_thinking", "data": "x"}
    content = [thinking, hidden, {**text("So."), "citations": None}, use("a", order_id="ä")]
    decided = decode(body(*content, stop="tool_use"))
    assert isinstance(decided.decision, Calls)
    assert decided.decision.text == "So."
    answered = Answered(decided.decision.calls[0], "{}", is_error=False)
    sent = messages_of((UserSaid("x"), decided, answered))
    assert sent[1] == {"role": "assistant", "content": content}
    assert sent[2] == {"role": "user", "content": [result("a", "{}")]}


def test_empty_texts_and_unsigned_thinking_are_left_out() -> None:
    decided = decode(body({"type": "thinking", "thinking": "Hm"}, text(""), text("Cut"), stop="max_tokens"))
    assert messages_of((UserSaid(" "), decided)) == [
        {"role": "user", "content": NO_TEXT},
        {"role": "assistant", "content": "Cut"},
        {"role": "user", "content": GO_ON},
    ]


def test_calls_that_nobody_carried_out_are_answered_so_that_the_next_request_is_legal() -> None:
    (call,) = called("a")
    cut = Decided(Truncated("", (call,)))
    assert messages_of((UserSaid("x"), cut))[-1]["content"] == [result("a", CUT_OFF, is_error=True)]
    lost = Decided(Calls((call,)))
    assert messages_of((lost, UserSaid("Hello?")))[-1]["content"] == [
        result("a", NOT_CARRIED_OUT, is_error=True),
        text("Hello?"),
    ]


def test_a_call_that_is_no_object_is_sent_back_wrapped() -> None:
    call = ToolCall.read("a", "get_order", '{"order_id": ')
    assert messages_of((Decided(Calls((call,))),))[0]["content"] == [use("a", INVALID_JSON='{"order_id": ')]


def test_decisions_without_content_leave_no_message() -> None:
    conversation = (UserSaid("x"), Decided(Malformed("nothing")), Decided(Refused()), UserSaid("y"))
    assert messages_of(conversation) == [{"role": "user", "content": [text("x"), text("y")]}]


def test_blocks_of_the_other_dialect_are_not_sent() -> None:
    decided = Decided(Reply("Hi."), opaque=({"role": "assistant", "content": "Hi."},))
    assert messages_of((UserSaid("x"), decided, UserSaid("y")))[1] == {"role": "assistant", "content": "Hi."}


def test_an_answer_to_nothing_is_sent_all_the_same() -> None:
    (call,) = called("a")
    assert messages_of((Answered(call, "{}", is_error=False),)) == [
        {"role": "user", "content": [result("a", "{}")]}
    ]


# -- decoded


def test_parallel_calls_keep_their_order_their_text_and_every_letter() -> None:
    decided = decode(body(use("a", order_id="Ω 中 🎈"), use("b", "ping"), stop="tool_use"))
    assert isinstance(decided.decision, Calls)
    one, two = decided.decision.calls
    assert (one.id, one.tool, one.arguments, one.batch) == ("a", "get_order", {"order_id": "Ω 中 🎈"}, 0)
    assert one.raw == '{"order_id": "Ω 中 🎈"}'
    assert (two.id, two.tool, two.arguments, two.batch, two.flaw) == ("b", "ping", {}, 1, "")


@pytest.mark.parametrize(
    ("given", "flaw"),
    [
        ('{"order_id": "a"}', "args.double_encoded"),
        ("a", "args.malformed"),
        ([1], "args.malformed: an object is wanted, not a list"),
        (None, "args.malformed"),
        ({"amount": float("nan")}, "args.malformed: NaN is no JSON"),
    ],
)
def test_an_input_that_is_no_object_is_never_repaired(given: object, flaw: str) -> None:
    decided = decode(body({"type": "tool_use", "id": "a", "name": "get_order", "input": given}))
    assert isinstance(decided.decision, Calls)
    assert decided.decision.calls[0].arguments == {}
    assert decided.decision.calls[0].flaw.startswith(flaw)
    assert list(decided.opaque[0]["input"]) == ["INVALID_JSON"]


def test_a_call_without_name_or_input_is_a_call() -> None:
    decided = decode(body({"type": "tool_use"}))
    assert decided.decision == Calls((ToolCall("call", "", {}, 0, "", ""),))


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (body(text("a"), text("b")), Reply("ab")),
        (body(text("a"), stop="stop_sequence"), Reply("a")),
        (body(text("a"), stop=None), Reply("a")),
        (body(stop="refusal"), Refused()),
        (body(text("No."), use("a"), stop="refusal"), Refused("No.")),
        (body(text("Cut"), stop="max_tokens"), Truncated("Cut")),
        (body(stop="model_context_window_exceeded"), Truncated()),
        (
            body(use("mt1"), stop="max_tokens"),
            Truncated("", (ToolCall("mt1", "get_order", {}, 0, "{}"),)),
        ),
    ],
)
def test_a_stop_reason_says_what_became_of_the_answer(answer: dict[str, Any], decision: object) -> None:
    assert decode(answer).decision == decision


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "there is none"),
        ("<html>", "there is none"),
        ({}, "there is none"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Busy"}}, "Busy"),
        (body(), "neither a text nor a call"),
        (body(text("  ")), "neither a text nor a call"),
        (body({"type": "thinking", "thinking": "Hm.", "signature": "s"}), "only thinking"),
        (body({"type": "web_search_tool_result"}), "unknown kinds: web_search_tool_result"),
        (body(text("So:"), stop="tool_use"), "tool_use, and no call"),
        (body(text("Wait."), stop="pause_turn"), "pause_turn"),
        ({"content": ["x", {"no": "type"}, 7]}, "neither a text nor a call"),
    ],
)
def test_what_is_no_decision_says_why_and_is_kept(answer: object, reason: str) -> None:
    decided = decode(answer)
    assert isinstance(decided.decision, Malformed)
    assert reason in decided.decision.reason
    assert json.loads(decided.decision.raw) == answer
    assert decided.opaque == ()


def test_a_repeated_id_gets_one_of_ours_and_the_results_go_to_it() -> None:
    decided = decode(body(use("dup"), use("dup"), use("old")), taken=["old"])
    assert isinstance(decided.decision, Calls)
    calls = decided.decision.calls
    assert [call.id for call in calls] == ["dup", "dup_2", "old_2"]
    assert [block["id"] for block in decided.opaque] == ["dup", "dup", "old"]
    sent = messages_of((decided, *(Answered(call, call.id, is_error=False) for call in calls)))
    assert [block["id"] for block in sent[0]["content"]] == ["dup", "dup_2", "old_2"]
    assert sent[1]["content"] == [result(call.id, call.id) for call in calls]


# -- meta tools


def test_a_meta_tool_says_what_the_reply_is() -> None:
    decided = decode(body(use("q", "ask_user", question="Which one?"), stop="tool_use"), meta=True)
    assert decided.decision == Reply("Which one?", Declared.QUESTION)
    ended = decode(body(use("f", "finish", answer="Done.")), meta=True)
    assert ended.decision == Reply("Done.", Declared.FINISH)
    sent = messages_of((UserSaid("x"), decided, UserSaid("The lamp.")))
    assert sent[2]["content"] == [result("q", TOLD), text("The lamp.")]


def test_without_meta_tools_their_names_are_names_like_others() -> None:
    assert isinstance(decode(body(use("q", "ask_user", question="?"))).decision, Calls)


def test_a_meta_tool_beside_real_calls_is_not_carried_out() -> None:
    decided = decode(body(use("q", "finish", answer="x"), use("a", order_id="a")), meta=True)
    assert isinstance(decided.decision, Calls)
    assert [call.id for call in decided.decision.calls] == ["a"]
    sent = messages_of((decided, Answered(decided.decision.calls[0], "{}", is_error=False), UserSaid("y")))
    assert sent[1]["content"] == [result("a", "{}"), result("q", NOT_CARRIED_OUT, is_error=True), text("y")]


@pytest.mark.parametrize(
    "content", [[use("q", "finish")], [use("q", "finish", answer=1)], [use("q", "finish", answer="x")] * 2]
)
def test_a_meta_tool_without_one_text_is_a_call(content: list[dict[str, Any]]) -> None:
    decided = decode(body(*content), meta=True)
    assert isinstance(decided.decision, Calls)
    assert len(decided.decision.calls) == len(content)


# -- recorded transcripts


def test_a_transcript_is_read_in_order_with_results_paired_by_id() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Both?"},
        {"role": "user", "content": [text("Please."), {"type": "image", "source": {}}]},
        {"role": "assistant", "content": [text("Looking."), use("a"), use("b")]},
        {
            "role": "user",
            "content": [
                result("b", "no", is_error=True),
                text("By the way:"),
                {"type": "tool_result", "tool_use_id": "a", "content": [text("{}"), text("end")]},
                text("thanks"),
            ],
        },
        {"role": "assistant", "content": "Done."},
    ]
    found = read_messages(messages)
    (calls,) = (m.decision.calls for m in found if isinstance(m, Decided) and isinstance(m.decision, Calls))
    assert system_of(messages) == "Be brief."
    assert [type(message).__name__ for message in found] == [
        "UserSaid", "UserSaid", "Decided", "Answered", "UserSaid", "Answered", "UserSaid", "Decided",
    ]  # fmt: skip
    assert found[1] == UserSaid("Please.\n[image]")
    assert found[3] == Answered(calls[1], "no", is_error=True)
    assert found[5] == Answered(calls[0], "{}\nend", is_error=False)
    last = found[7]
    assert isinstance(last, Decided)
    assert last.decision == Reply("Done.")


def test_a_repeated_id_is_paired_by_order_and_stays() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [use("dup", order_id="1"), use("dup", order_id="2")]},
        {"role": "user", "content": [result("dup", "one"), result("dup", "two"), result("dup", "three")]},
    ]
    _, *answers = read_messages(messages)
    assert [
        (a.text, a.call.id, a.call.arguments["order_id"]) for a in answers if isinstance(a, Answered)
    ] == [("one", "dup", "1"), ("two", "dup", "2"), ("three", "dup", "2")]


def test_a_result_of_no_call_has_a_call_without_a_tool() -> None:
    assert read_messages([{"role": "user", "content": [result("x", "{}")]}]) == (
        Answered(ToolCall("x", "", {}), "{}", is_error=False),
    )


def test_an_empty_user_message_is_one() -> None:
    assert read_messages([{"role": "user", "content": []}, {"role": "user"}]) == (UserSaid(""), UserSaid(""))


def test_the_stop_reason_is_that_of_the_last_message() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [use("a")]},
        {"role": "user", "content": [result("a", "{}")]},
        {"role": "assistant", "content": [use("mt1")]},
    ]
    kinds = [type(m.decision) for m in read_messages(messages, "max_tokens") if isinstance(m, Decided)]
    assert kinds == [Calls, Truncated]
    (refused,) = read_messages([{"role": "assistant", "content": []}], "refusal")
    assert isinstance(refused, Decided)
    assert refused.decision == Refused()
    (own,) = read_messages([{"role": "assistant", "content": "x", "stop_reason": "max_tokens"}])
    assert isinstance(own, Decided)
    assert own.decision == Truncated("x")


def test_what_was_read_can_be_written_again() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Show it."},
        {"role": "assistant", "content": [text("Looking."), use("a", order_id="1")]},
        {"role": "user", "content": [result("a", "{}")]},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    assert messages_of(read_messages(messages)) == messages


# -- streams


def delta(index: int, kind: str, **fields: object) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_a_stream_is_put_together_block_by_block() -> None:
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": {"input_tokens": 9}}},
        {"type": "ping"},
        start(0, {"type": "thinking", "thinking": "", "signature": ""}),
        delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "thinking_delta", thinking="m."),
        delta(0, "signature_delta", signature="c2ln"),
        stop(0),
        start(1, text("")),
        delta(1, "text_delta", text="Look"),
        delta(1, "text_delta", text="ing."),
        delta(1, "citations_delta", citation={}),
        stop(1),
        start(2, use("a")),
        delta(2, "input_json_delta", partial_json='{"order_id": '),
        delta(2, "input_json_delta", partial_json='"o\\u00e9"}'),
        stop(2),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    whole = read_events(events)
    assert whole["usage"] == {"input_tokens": 9, "output_tokens": 5}
    decided = decode(whole)
    assert decided.decision == Calls(
        (ToolCall("a", "get_order", {"order_id": "oé"}, 0, '{"order_id": "o\\u00e9"}'),), "Looking."
    )
    assert decided.opaque == (
        {"type": "thinking", "thinking": "Hmm.", "signature": "c2ln"},
        text("Looking."),
        use("a", order_id="oé"),
    )


def test_an_empty_fragment_means_no_arguments() -> None:
    events: list[dict[str, Any]] = [
        start(0, use("e1", "service_status")),
        delta(0, "input_json_delta", partial_json=""),
        stop(0),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]
    decision = decode(read_events(events)).decision
    assert isinstance(decision, Calls)
    assert (decision.calls[0].arguments, decision.calls[0].flaw) == ({}, "")


def test_fragments_that_are_no_json_are_kept_byte_for_byte() -> None:
    events = [start(0, use("a")), delta(0, "input_json_delta", partial_json='{"x": '), stop(0)]
    decided = decode(read_events(events))
    assert isinstance(decided.decision, Calls)
    assert decided.decision.calls[0].raw == '{"x": '
    assert decided.decision.calls[0].flaw.startswith("args.malformed")
    assert decided.opaque == (use("a", INVALID_JSON='{"x": '),)


def test_a_cut_stream_is_truncated_and_a_broken_one_is_no_decision() -> None:
    events = [start(0, use("a")), delta(0, "input_json_delta", partial_json='{"x": ')]
    cut = [*events, {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}]
    assert isinstance(decode(read_events(cut)).decision, Truncated)
    broken = decode(read_events(events)).decision
    assert isinstance(broken, Malformed)
    assert "broke off" in broken.reason
    failed = decode(read_events([*events, {"type": "error", "error": {"type": "overloaded_error"}}])).decision
    assert isinstance(failed, Malformed)
    assert "overloaded_error" in failed.reason


def test_a_delta_without_its_start_is_text() -> None:
    assert decode(read_events([delta(0, "text_delta", text="Hi.")])).decision == Reply("Hi.")
    odd = [{"type": "message_start"}, {"type": "content_block_delta"}, {"type": "message_delta"}]
    assert isinstance(decode(read_events(odd)).decision, Malformed)
