"""Which transcripts are legal: a table of claims for each dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.ledgers.findings import CODES
from sandtrail.sandbox.wire_law import WireFlaw, anthropic_law, calls_in, openai_law, results_in

Law = Callable[..., tuple[WireFlaw, ...]]

HELLO = {"role": "user", "content": "Hello."}


def used(*ids: str) -> dict[str, Any]:
    """An Anthropic turn that calls."""
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": each, "name": "get_order", "input": {}} for each in ids
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "Let me look."}, *blocks]}


def result(each: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": each, "content": "ok"}


def told(*ids: str, behind: str = "", before: str = "") -> dict[str, Any]:
    """An Anthropic turn that answers calls, with a text around the results."""
    texts = [[{"type": "text", "text": text}] if text else [] for text in (before, behind)]
    return {"role": "user", "content": [*texts[0], *map(result, ids), *texts[1]]}


def called(*ids: str) -> dict[str, Any]:
    """An OpenAI message that calls."""
    made = [
        {"id": each, "type": "function", "function": {"name": "get_order", "arguments": "{}"}} for each in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": made}


def tool(each: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": each, "content": "ok"}


LEGAL: dict[str, tuple[Law, list[Any]]] = {
    "nothing": (anthropic_law, []),
    "a talk": (anthropic_law, [HELLO, {"role": "assistant", "content": "Hi."}, HELLO]),
    "one call": (anthropic_law, [HELLO, used("t1"), told("t1")]),
    "results pair by id, not by order": (anthropic_law, [HELLO, used("t1", "t2"), told("t2", "t1")]),
    "text behind results": (anthropic_law, [HELLO, used("t1"), told("t1", behind="And hurry.")]),
    "a call in each turn": (anthropic_law, [HELLO, used("t1"), told("t1"), used("t2"), told("t2")]),
    "a call that ends it is open": (anthropic_law, [HELLO, used("t1")]),
    "what is no object is nobody's call": (anthropic_law, [HELLO, "x", 3, None]),
    "one call, OpenAI": (openai_law, [HELLO, called("c1"), tool("c1")]),
    "in any order, OpenAI": (openai_law, [HELLO, called("c1", "c2"), tool("c2"), tool("c1"), HELLO]),
    "ids that begin anew each turn": (openai_law, [called("c1"), tool("c1"), called("c1"), tool("c1")]),
    "half answered at the end is open": (openai_law, [HELLO, called("c1", "c2"), tool("c1")]),
    "developer words": (openai_law, [{"role": "developer", "content": "Be brief."}, HELLO]),
}


@pytest.mark.parametrize("case", LEGAL)
def test_a_legal_transcript_has_no_flaw(case: str) -> None:
    law, messages = LEGAL[case]
    assert law(messages) == ()


ILLEGAL: dict[str, tuple[Law, list[Any], list[tuple[str, str]]]] = {
    "a call without its result": (
        anthropic_law,
        [HELLO, used("t1"), HELLO],
        [("unpaired_tool_use", "messages.1.content.1")],
    ),
    "one of two results": (
        anthropic_law,
        [HELLO, used("t1", "t2"), told("t1"), HELLO],
        [("unpaired_tool_use", "messages.1.content.2")],
    ),
    "the result a message too late": (
        anthropic_law,
        [HELLO, used("t1"), HELLO, told("t1")],
        [("unpaired_tool_use", "messages.1.content.1"), ("orphan_tool_result", "messages.3.content.0")],
    ),
    "results in two messages": (
        anthropic_law,
        [used("t1", "t2"), told("t1"), told("t2")],
        [("unpaired_tool_use", "messages.0.content.2"), ("orphan_tool_result", "messages.2.content.0")],
    ),
    "text in front of the result": (
        anthropic_law,
        [HELLO, used("t1"), told("t1", before="Here:")],
        [("unpaired_tool_use", "messages.1.content.1")],
    ),
    "a result of no call": (anthropic_law, [told("t1")], [("orphan_tool_result", "messages.0.content.0")]),
    "a result in the model's own turn": (
        anthropic_law,
        [HELLO, used("t1"), {"role": "assistant", "content": [result("t1")]}],
        [("unpaired_tool_use", "messages.1.content.1"), ("orphan_tool_result", "messages.2.content.0")],
    ),
    "two calls with one id": (
        anthropic_law,
        [HELLO, used("t1", "t1"), told("t1")],
        [("duplicate_id", "messages.1.content.2")],
    ),
    "an id of an earlier turn": (
        anthropic_law,
        [used("t1"), told("t1"), used("t1"), told("t1")],
        [("duplicate_id", "messages.2.content.1")],
    ),
    "two results for one call": (
        anthropic_law,
        [used("t1"), told("t1", "t1")],
        [("duplicate_id", "messages.1.content.1")],
    ),
    "OpenAI's result among Anthropic's turns": (
        anthropic_law,
        [used("t1", "t2"), tool("t1"), tool("t2"), HELLO],
        [("mixed_dialect", "messages.1"), ("mixed_dialect", "messages.2")],
    ),
    "OpenAI's call among Anthropic's turns": (
        anthropic_law,
        [called("t1"), told("t1")],
        [("mixed_dialect", "messages.0.tool_calls")],
    ),
    "OpenAI's picture": (
        anthropic_law,
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}],
        [("mixed_dialect", "messages.0.content.0")],
    ),
    "a call without its result, OpenAI": (
        openai_law,
        [HELLO, called("c1"), HELLO],
        [("unpaired_tool_use", "messages.1.tool_calls.0")],
    ),
    "one of two results, OpenAI": (
        openai_law,
        [called("c1", "c2"), tool("c2"), HELLO],
        [("unpaired_tool_use", "messages.0.tool_calls.0")],
    ),
    "a result of no call, OpenAI": (openai_law, [HELLO, tool("c1")], [("orphan_tool_result", "messages.1")]),
    "a result of another call, OpenAI": (
        openai_law,
        [called("c1"), tool("c2"), tool("c1")],
        [("orphan_tool_result", "messages.1")],
    ),
    "two calls with one id, OpenAI": (
        openai_law,
        [called("c1", "c1"), tool("c1")],
        [("duplicate_id", "messages.0.tool_calls.1")],
    ),
    "two results for one call, OpenAI": (
        openai_law,
        [called("c1"), tool("c1"), tool("c1")],
        [("duplicate_id", "messages.2")],
    ),
    "Anthropic's call and result among OpenAI's": (
        openai_law,
        [used("c1"), told("c1")],
        [("mixed_dialect", "messages.0.content.1"), ("mixed_dialect", "messages.1.content.0")],
    ),
}


@pytest.mark.parametrize("case", ILLEGAL)
def test_a_flaw_is_named_once_and_where_it_is(case: str) -> None:
    law, messages, expected = ILLEGAL[case]
    flaws = law(messages)
    assert [(flaw.code.removeprefix("wire."), flaw.at) for flaw in flaws] == expected
    assert all(flaw.code in CODES and flaw.reason for flaw in flaws)


@pytest.mark.parametrize(("law", "messages"), [(anthropic_law, [used("t1")]), (openai_law, [called("t1")])])
def test_a_call_at_the_end_of_a_request_wants_its_result(law: Law, messages: list[Any]) -> None:
    (flaw,) = law(messages, request=True)
    assert (flaw.code, flaw.id) == ("wire.unpaired_tool_use", "t1")
    assert str(flaw).startswith(
        f"wire.unpaired_tool_use at {flaw.at}: the call 't1' of get_order: it has no result"
    )


def test_the_parts_of_a_message_are_read_in_either_dialect() -> None:
    assert [(part.id, part.tool) for part in calls_in(used("t1"))] == [("t1", "get_order")]
    assert [(part.id, part.tool) for part in calls_in(called("c1"))] == [("c1", "get_order")]
    custom = {"role": "assistant", "tool_calls": [{"id": "c1", "custom": {"name": "shell"}}]}
    assert calls_in(custom)[0].tool == "shell"
    assert calls_in({**used("t1"), "role": "user"}) == ()
    assert [part.content for part in (*results_in(told("t1")), *results_in(tool("c1")))] == ["ok", "ok"]


IDS = st.sampled_from(["a", "b", ""])
MESSAGES = st.one_of(
    st.builds(used, IDS, IDS),
    st.builds(told, IDS, IDS, before=IDS),
    st.builds(called, IDS),
    st.builds(tool, IDS),
    st.just(HELLO),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.sampled_from(["tool", "assistant", "tool_use"]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["role", "content", "type", "tool_calls", "id"]), inner)
        ),
        max_leaves=8,
    ),
)


@given(st.lists(MESSAGES, max_size=6))
def test_the_law_reads_whatever_there_is_and_only_speaks_of_what_comes_before(messages: list[Any]) -> None:
    """Nothing makes it raise; what follows adds flaws and takes none away."""
    for law in (anthropic_law, openai_law):
        for count in range(len(messages) + 1):
            assert set(law(messages[:count])) <= set(law(messages))
            assert set(law(messages[:count])) <= set(law(messages[:count], request=True))
