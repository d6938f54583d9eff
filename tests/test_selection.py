"""The choice of tools: what the first decision was worth, and what is wrong with every call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from trails import ASKED, batch, call, offer, one, reads, said, say, told, trail, writes

from sandtrail.ledgers.conversation import Decided, Declared, Malformed, Message, Refused, Reply, Truncated
from sandtrail.ledgers.trajectory import Offer, ToolFact, Trajectory
from sandtrail.scenarios import Contract, WantedEffect
from sandtrail.scenarios.contract import Clarification, Label, Norm
from sandtrail.scenarios.selection import First, FirstDecision, choices, first_decision

READ, WRITE, HAND = reads("get_order"), writes("cancel_order"), writes("hand_over")
OTHER, OLD = reads("search_orders"), reads("find_order", deprecated="search_orders")
OFFER = offer(READ, WRITE, HAND, OTHER, OLD)


def shown(*messages: Message | list[Message], offers: tuple[Offer, ...] = (OFFER,)) -> Trajectory:
    return trail(ASKED, *messages, offers=offers)


def first(contract: Contract, *messages: Message | list[Message], bad: tuple[str, ...] = ()) -> First:
    found = first_decision(contract, shown(*messages), frozenset(bad))
    assert found is not None
    return found


def test_a_run_without_a_decision_has_no_first_one() -> None:
    assert first_decision(Contract(), trail(ASKED), frozenset()) is None


@pytest.mark.parametrize(
    ("decision", "category"),
    [
        (Truncated(), FirstDecision.TRUNCATED),
        (Malformed("no decision"), FirstDecision.MALFORMED),
        (Refused("no"), FirstDecision.WRONG_REFUSAL),
    ],
)
def test_a_decision_that_the_provider_spoilt_has_its_own_word(decision: Any, category: FirstDecision) -> None:
    assert first(Contract(), Decided(decision)).category is category


REPLIES: Mapping[str, tuple[Contract, str, FirstDecision, str]] = {
    "declined, and was to": (
        Contract(refusal=Norm.EXPECTED), "I am not allowed to do that.", FirstDecision.RIGHT_REFUSAL, "",
    ),
    "declined, and was not to": (
        Contract(), "I am not allowed to do that.", FirstDecision.WRONG_REFUSAL, "refusal.wrong",
    ),
    "handed over, and may": (
        Contract(handoff=Norm.ALLOWED), "I am transferring you to a colleague.", FirstDecision.RIGHT_HANDOFF, "",
    ),
    "handed over, and was not to": (
        Contract(), "I am transferring you to a colleague.", FirstDecision.WRONG_HANDOFF, "handoff.wrong",
    ),
    "asked, and may": (Contract(), "Which order do you mean?", FirstDecision.CORRECT, ""),
    "asked what was there": (
        Contract(clarification=Clarification.NOT_NEEDED), "Which order do you mean?",
        FirstDecision.UNNECESSARY_CLARIFICATION, "clarification.unnecessary",
    ),
    "answered instead of asking": (
        Contract(clarification=Clarification.REQUIRED), "It is on its way.", FirstDecision.MISSING_CLARIFICATION, "",
    ),
    "answered without a look": (
        Contract(first=("get_order",)), "It is on its way.",
        FirstDecision.ANSWERED_WITHOUT_TOOL, "selection.answered_without_tool",
    ),
    "answered without a wanted write": (
        Contract(effects=(WantedEffect("order.cancelled"),)), "It is cancelled.",
        FirstDecision.ANSWERED_WITHOUT_TOOL, "selection.answered_without_tool",
    ),
    "answered, and nothing is demanded": (Contract(), "It is on its way.", FirstDecision.CORRECT, ""),
    "no tool was to be called": (
        Contract(first=()), "We open at ten.", FirstDecision.CORRECT, "abstention.correct",
    ),
    "one of the people holds that no tool is needed": (
        Contract(labels=(Label("a", ()), Label("b", ("get_order",)))), "It is on its way.", FirstDecision.CORRECT, "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_a_first_reply_is_worth(name: str) -> None:
    contract, text, category, code = REPLIES[name]
    found = first(contract, say(text))
    assert found.category is category
    assert [one.code for one in found.findings] == ([code] if code else [])


def test_a_question_declared_by_a_meta_tool_need_not_be_guessed() -> None:
    decision = Decided(Reply("The lamp or the mat.", Declared.QUESTION))
    category = first(Contract(clarification=Clarification.NOT_NEEDED), decision).category
    assert category is FirstDecision.UNNECESSARY_CLARIFICATION


CALLS: Mapping[str, tuple[Contract, tuple[str, ...], FirstDecision]] = {
    "a right one": (Contract(first=("get_order",)), ("get_order",), FirstDecision.CORRECT),
    "another one": (Contract(first=("get_order",)), ("search_orders",), FirstDecision.WRONG_TOOL),
    "nothing is demanded": (Contract(), ("search_orders",), FirstDecision.CORRECT),
    "a made-up one": (Contract(), ("get_ordr",), FirstDecision.UNKNOWN_TOOL),
    "one that is named as forbidden": (
        Contract(forbid={"cancel_order": "not now"}), ("cancel_order",), FirstDecision.FORBIDDEN_TOOL,
    ),
    "a write while changes are frozen": (Contract(frozen=True), ("cancel_order",), FirstDecision.FORBIDDEN_TOOL),
    "a write that is only not wanted": (Contract(read_only=True), ("cancel_order",), FirstDecision.WRONG_TOOL),
    "one where none was needed": (Contract(first=()), ("get_order",), FirstDecision.NEEDLESS_CALL),
    "a deprecated one": (Contract(), ("find_order",), FirstDecision.WRONG_TOOL),
    "a deprecated one that is forbidden": (
        Contract(forbid={"find_order": "old"}), ("find_order",), FirstDecision.FORBIDDEN_TOOL,
    ),
    "one that only looks right": (
        Contract(distractors={"search_orders": "it knows no prices"}), ("search_orders",), FirstDecision.WRONG_TOOL,
    ),
    "the hand-over that was wanted": (Contract(handoff=Norm.EXPECTED), ("hand_over",), FirstDecision.CORRECT),
    "a hand-over before the right tool": (
        Contract(handoff=Norm.ALLOWED, first=("get_order",)), ("hand_over",), FirstDecision.WRONG_TOOL,
    ),
    "a write instead of a question": (
        Contract(clarification=Clarification.REQUIRED), ("cancel_order",), FirstDecision.MISSING_CLARIFICATION,
    ),
    "a look before the question": (
        Contract(clarification=Clarification.REQUIRED), ("get_order",), FirstDecision.CORRECT,
    ),
    "a batch whose second is right": (
        Contract(first=("get_order",)), ("search_orders", "get_order"), FirstDecision.CORRECT,
    ),
    "a batch with a write that is not wanted": (
        Contract(first=("get_order",), read_only=True), ("get_order", "cancel_order"), FirstDecision.WRONG_TOOL,
    ),
    "a batch with one that only looks right": (
        Contract(first=("get_order",), distractors={"search_orders": "no"}),
        ("get_order", "search_orders"), FirstDecision.WRONG_TOOL,
    ),
    "a batch with a made-up one": (Contract(), ("get_order", "nothing"), FirstDecision.UNKNOWN_TOOL),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_a_first_call_is_worth(name: str) -> None:
    contract, tools, category = CALLS[name]
    decision = batch(*(call(tool, number) for number, tool in enumerate(tools, start=1)))
    assert first(contract, decision).category is category


@pytest.mark.parametrize("bad", ["call 1", "call 2"])
def test_arguments_found_wrong_at_any_call_of_the_batch_make_it_bad(bad: str) -> None:
    decision = batch(call("get_order", 1), call("get_order", 2))
    assert first(Contract(), decision, bad=(bad,)).category is FirstDecision.BAD_ARGUMENTS


def test_the_written_reason_of_a_wrong_tool_is_told() -> None:
    contract = Contract(first=("get_order",), distractors={"search_orders": "it knows no prices"})
    (finding,) = first(contract, batch(call("search_orders"))).findings
    assert finding.reason == "search_orders was chosen; wanted get_order; it knows no prices"


def test_only_three_words_are_a_success() -> None:
    assert {one for one in FirstDecision if one.right} == {
        FirstDecision.CORRECT,
        FirstDecision.RIGHT_REFUSAL,
        FirstDecision.RIGHT_HANDOFF,
    }


# -- every call --------------------------------------------------------------------------------------------


def chosen(contract: Contract, tool: str, **more: Any) -> list[tuple[str, str]]:
    return said(choices(contract, shown(batch(call(tool)), **more)))


def test_a_tool_that_was_offered_is_no_finding() -> None:
    assert chosen(Contract(), "get_order") == []


def test_a_made_up_tool_is_unknown_and_its_neighbour_is_named_but_not_credited() -> None:
    (finding,) = choices(Contract(), shown(batch(call("cancel_ordr"))))
    assert (finding.code, finding.at) == ("selection.unknown_tool", "call 1")
    assert "the nearest is cancel_order" in finding.reason


def test_a_withheld_tool_is_unavailable() -> None:
    offers = (offer(READ, withheld=("cancel_order",)),)
    assert chosen(Contract(), "cancel_order", offers=offers) == [("selection.unavailable_tool", "call 1")]


def test_a_tool_that_was_offered_at_an_earlier_step_is_unavailable_now() -> None:
    offers = (offer(READ, WRITE), offer(READ, step=1))
    talk = shown(
        batch(call("get_order", 1)), told(call("get_order", 1)), batch(call("cancel_order", 2)), offers=offers
    )
    (finding,) = choices(Contract(), talk)
    assert (finding.code, finding.at) == ("selection.unavailable_tool", "call 2")
    assert "offered earlier" in finding.reason


def test_a_tool_that_comes_only_later_is_unknown_before() -> None:
    offers = (offer(READ), offer(READ, WRITE, step=1))
    assert chosen(Contract(), "cancel_order", offers=offers) == [("selection.unknown_tool", "call 1")]


@pytest.mark.parametrize("told", ["search_orders", "use search_orders", "Use search_orders."])
def test_what_to_use_instead_is_said_once(told: str) -> None:
    old = reads("find_order", deprecated=told)
    (finding,) = choices(Contract(), shown(*one(call("find_order")), offers=(offer(old),)))
    assert finding.reason == "find_order is deprecated: use search_orders"


def test_a_deprecated_and_forbidden_tool_is_both() -> None:
    codes = [code for code, _ in chosen(Contract(forbid={"find_order": "old"}), "find_order")]
    assert codes == ["selection.deprecated_alias", "selection.forbidden_tool"]


def test_a_forbidden_write_during_a_freeze_is_said_once() -> None:
    contract = Contract(frozen=True, forbid={"cancel_order": "never"})
    assert chosen(contract, "cancel_order") == [("selection.forbidden_tool", "call 1")]


def test_a_forbidden_name_is_known_without_a_catalog() -> None:
    contract = Contract(forbid={"cancel_order": "never"})
    assert chosen(contract, "cancel_order", offers=()) == [("selection.forbidden_tool", "call 1")]
    assert chosen(contract, "get_order", offers=()) == []


def test_a_renamed_tool_keeps_the_name_that_the_contract_knows() -> None:
    renamed = offer(READ)
    renamed.tools["shown"] = ToolFact("cancel_order")  # type: ignore[index]
    contract = Contract(forbid={"cancel_order": "never"})
    assert chosen(contract, "shown", offers=(renamed,)) == [("selection.forbidden_tool", "call 1")]


def test_a_call_that_was_cut_off_is_no_choice() -> None:
    cut = Decided(Truncated("", (call("nothing"),)))
    assert said(choices(Contract(), shown(cut))) == []
