"""Envelopes of public cases: what stands beside a transcript, and what cannot be read of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from casework import FOLDER, case, judged
from sandtrail.ledgers import Overall
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.conversation import Answered, Briefed, Calls, Decided, Truncated
from sandtrail.ledgers.specs import Principal
from sandtrail.ledgers.words import Grade
from sandtrail.sandbox.auditing import trajectory_of
from sandtrail.sandbox.interchange import envelope
from sandtrail.sandbox.interchange.contracts import BadPart, Names, contract_of
from sandtrail.sandbox.interchange.detect import read_document
from sandtrail.sandbox.interchange.recording import Recording
from sandtrail.scenarios import WantedArgument, WantedEffect
from sandtrail.scenarios.contract import ArgumentsPolicy, Clarification, Stated

TRANSCRIPTS = sorted(path.stem for kind in ("prov", "trc") for path in FOLDER.glob(f"{kind}-*.json"))

HELLO: dict[str, Any] = {
    "format": "anthropic",
    "messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}],
}


def given(name: str) -> dict[str, Any]:
    found: dict[str, Any] = case(name)["input"]
    return found


def read(**more: Any) -> Recording:
    (found,) = read_document({**HELLO, **more}, "case")
    return found


def flawed(**more: Any) -> list[tuple[str, str]]:
    return [(flaw.code, flaw.at) for flaw in read(**more).flaws]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_case_of_traces_or_provenance_is_read(name: str) -> None:
    found = list(read_document(given(name), name))
    assert found
    assert all(one.contract is not None or "contract" not in given(name) for one in found)


@pytest.mark.parametrize("name", [name for name in TRANSCRIPTS if name.startswith("trc")])
def test_a_case_of_traces_gets_its_verdict(name: str) -> None:
    envelope_of = given(name)
    expected = case(name)["expected_verdict"]
    result = judged(envelope_of)
    assert result.overall == expected["overall"]
    assert {one["code"] for one in expected["findings"]} <= set(result.codes)
    for what, count in expected.get("effects", {}).items():
        assert result.verdict is not None
        assert result.verdict.counts[what] == count, what


def test_a_call_that_is_stored_twice_is_one() -> None:
    result = judged(given("trc-01"))
    assert result.trajectory is not None
    assert len(result.trajectory.made) == 1


def test_the_whole_case_is_an_envelope_too() -> None:
    (whole,) = read_document(case("prov-07"), "prov-07")
    (inner,) = read_document(case("prov-07")["input"], "prov-07")
    assert whole == inner
    assert whole.conversation[0] == Briefed("Session facts: signed-in customer is cus_HOME1, locale de.")


def test_names_of_bindings_become_symbols_everywhere() -> None:
    found = read_document(given("prov-01"), "prov-01")
    (recording,) = found
    assert recording.contract is not None
    assert recording.bindings == (
        Binding("$order.order", "ord_5512", "order"),
        Binding("$payment.pay", "pay_Z90", "payment"),
    )
    assert recording.contract.arguments == (WantedArgument("refund_payment", "payment_id", "$payment.pay"),)
    assert recording.contract.effects == (
        WantedEffect("refund.created", {"target": "$payment.pay", "amount": 1500}, times=1),
    )
    ledger = trajectory_of(recording).ledger
    assert ledger.projection.value("pay_Z90") == "$payment.pay"
    assert (ledger.grade, len(ledger.attempts())) == (Grade.REPORTED, 1)


def test_a_raw_id_in_a_contract_is_the_bound_entity() -> None:
    names = Names.read({"$pay": {"kind": "payment", "value": "pay_7"}})
    assert contract_of({"arguments": {"refund.payment": "pay_7"}}, names).arguments[0].value == "$payment.pay"


def test_a_tool_with_a_dot_in_its_name_keeps_it() -> None:
    (wanted,) = contract_of(
        {"arguments": {"billing.refund.amount": 5}}, tools=["billing", "billing.refund"]
    ).arguments
    assert (wanted.tool, wanted.name) == ("billing.refund", "amount")


def test_what_a_contract_can_say_is_mapped() -> None:
    contract = contract_of(
        {
            "intent": "read_only",
            "freeze": True,
            "required_calls": ["get_order"],
            "allowed_first_tools": [],
            "forbidden_tools": ["drop"],
            "clarification": "required",
            "answer_must_state": {"refunded_orders": 10},
            "args_policy": "coerce",
            "extra_args": "forbid",
            "trusted_sources": ["system"],
        }
    )
    assert contract.read_only
    assert contract.frozen
    assert contract.closed
    assert (contract.calls, contract.first, list(contract.forbid)) == (("get_order",), (), ["drop"])
    assert contract.clarification is Clarification.REQUIRED
    assert contract.states == (Stated("10", near=("refund",)),)
    assert contract.arguments_policy is ArgumentsPolicy.COERCE
    assert contract_of({"clarification": "forbidden"}).clarification is Clarification.NOT_NEEDED


def test_allowed_effects_outweigh_a_read_only_intent() -> None:
    contract = contract_of({"intent": "read_only", "allowed_effects": [{"op": "note.append", "max": 2}]})
    assert not contract.read_only
    assert contract.effects == (WantedEffect("note.appended", {}, times=2),)


@pytest.mark.parametrize(
    ("contract", "at"),
    [
        ({"allowed_effects": 3}, "contract/allowed_effects"),
        ({"allowed_effects": [{"op": 1}]}, "contract/allowed_effects/0"),
        ({"allowed_effects": [{"op": "a.b", "max": True}]}, "contract/allowed_effects/0"),
        ({"allowed_effects": [7]}, "contract/allowed_effects/0"),
        ({"arguments": []}, "contract/arguments"),
        ({"required_calls": [1]}, "contract/required_calls/0"),
        ({"answer_must_state": "ten"}, "contract/answer_must_state"),
        ({"args_policy": []}, "contract/args_policy"),
        ({"allowed_first_tools": ["a"], "forbidden_tools": ["a"]}, "contract/first.a"),
    ],
)
def test_a_contract_that_cannot_be_read_says_where(contract: dict[str, Any], at: str) -> None:
    with pytest.raises(BadPart) as caught:
        contract_of(contract)
    assert caught.value.at == at
    assert flawed(contract=contract) == [("wire.unreadable", at)]


BAD_PARTS: list[tuple[str, Any, str]] = [
    ("contract", [], "contract"),
    ("bindings", [], "bindings"),
    ("bindings", {"$a": 1}, "bindings/$a"),
    ("bindings", {"$a": {"kind": "payment", "value": 7}}, "bindings/$a"),
    ("bindings", {"$a b": {"kind": "Pay Ment", "value": "7"}}, "bindings/$a b"),
    ("principal", "amy", "principal"),
    ("principal", {"tenant": 5}, "principal/tenant"),
    ("principal", {"customer": "no symbol"}, "principal"),
    ("ledger", {}, "ledger"),
    ("ledger", [1], "ledger"),
    ("ledger", [{"op": "refund.create", "status": []}], "ledger"),
    ("ledger", [{"op": "refund.create", "status": "perhaps"}], "ledger"),
    ("clock", 5, "clock"),
    ("clock", {"now_utc": "soon"}, "clock"),
    ("clock", {"now_utc": 5}, "clock"),
    ("clock", {"user_zone": "Mars/Olympus"}, "clock"),
    ("hidden_tools", [1], "hidden_tools"),
    ("turn_registry", 5, "turn_registry"),
    ("turn_registry", [5], "turn_registry/0"),
    ("turn_registry", [{"from_message": 0, "tools": 4}], "turn_registry/0/tools"),
]


@pytest.mark.parametrize(("part", "value", "at"), BAD_PARTS)
def test_a_part_that_cannot_be_read_is_a_flaw_and_the_run_is_read(part: str, value: Any, at: str) -> None:
    found = read(**{part: value})
    assert [(flaw.code, flaw.at) for flaw in found.flaws] == [("wire.unreadable", at)]
    assert len(found.conversation) == 2


def test_tools_that_cannot_be_read_leave_the_run_incomplete() -> None:
    assert flawed(tools=[{"name": 5}]) == [("trace.incomplete", "tools/0/name")]
    assert flawed(tools=5) == [("trace.incomplete", "tools")]


def test_who_acts_is_known_by_tenant_or_customer() -> None:
    assert read(principal={"tenant": "acme"}).principal == Principal("agent", tenants=("acme",))
    assert read(contract={"tenant_scope": "acme"}).principal == Principal("agent", tenants=("acme",))
    customer = read(contract={"data_scope": {"customer_id": "cus_B"}})
    assert customer.principal == Principal("agent", tenants=("*",), customer="$customer.cus_B")
    assert customer.bindings == (Binding("$customer.cus_B", "cus_B", "customer"),)
    bound = read(bindings={"$me": {"kind": "customer", "value": "cus_B"}}, principal={"customer": "cus_B"})
    assert bound.principal == Principal("agent", tenants=("*",), customer="$customer.me")
    assert read().principal is None


def test_clock_and_hidden_tools_are_kept() -> None:
    found = read(
        clock={"now_utc": "2026-08-24T22:03:00Z", "user_zone": "Australia/Brisbane"}, hidden_tools=["drop"]
    )
    assert (found.now, found.zone, found.withheld) == (
        "2026-08-24T22:03:00Z",
        "Australia/Brisbane",
        ("drop",),
    )


def test_what_was_offered_when_is_counted_in_decisions() -> None:
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in ("a", "b")]
    messages = [
        *HELLO["messages"],
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "So."},
    ]
    registry = [{"from_message": 0, "tools": ["a"]}, {"from_message": 2, "tools": ["a", "b", "unknown"]}]
    found = read(messages=messages, tools=tools, turn_registry=registry)
    assert found.registry == ((0, ("a",)), (1, ("a", "b", "unknown")))
    offers = trajectory_of(found).offers
    assert [(one.step, [tool.name for tool in one.catalog.tools]) for one in offers] == [
        (0, ["a"]),
        (1, ["a", "b"]),
    ]


def test_no_ledger_is_another_thing_than_an_empty_one() -> None:
    assert (read().ledger, read(ledger=[]).ledger) == (None, ())
    assert trajectory_of(read(ledger=[])).ledger.grade is Grade.REPORTED


def test_a_bound_entity_is_the_same_in_contract_and_ledger() -> None:
    given = case("prov-01")["input"]
    line = {
        "op": "refund.create",
        "target": "pay_Z90",
        "by_call": "b2",
        "status": "committed",
        "amount_cents": 1500,
    }
    (found,) = read_document({**given, "ledger": [line]}, "case")
    assert found.contract is not None
    assert found.ledger is not None
    assert found.ledger[0]["target"] == found.contract.effects[0].facts["target"] == "$payment.pay"


# -- streams and other payloads ----------------------------------------------------------------------------


def test_the_events_of_a_stream_are_one_decision() -> None:
    (found,) = read_document(case("arg-03")["input"], "case")
    (decided,) = found.conversation
    assert isinstance(decided, Decided)
    assert isinstance(decided.decision, Calls)
    assert decided.decision.calls[0].tool == "service_status"


def test_the_chunks_of_a_stream_are_one_decision() -> None:
    (found,) = read_document(case("stp-03")["input"], "case")
    (decided,) = found.conversation
    assert isinstance(decided, Decided)
    assert isinstance(decided.decision, Calls)
    assert [call.id for call in decided.decision.calls] == ["A", "B"]


@pytest.mark.parametrize("kind", ["anthropic_stream", "openai_stream"])
@pytest.mark.parametrize("events", [[5], [{"type": "content_block_start", "index": []}], [{"choices": [7]}]])
def test_events_of_no_stream_are_unreadable_or_no_decision(kind: str, events: list[Any]) -> None:
    found = list(read_document({"format": kind, "events": events, "chunks": events}, "case"))
    assert [type(one) for one in found] == [Recording]


def test_a_stop_reason_beside_the_messages_is_that_of_the_last() -> None:
    (decided,) = [one for one in read(stop_reason="max_tokens").conversation if isinstance(one, Decided)]
    assert isinstance(decided.decision, Truncated)


def test_a_format_that_is_none_is_told_with_those_there_are() -> None:
    (found,) = read_document({"format": "smoke", "messages": []}, "case")
    assert [flaw.code for flaw in found.flaws] == ["wire.unreadable"]
    assert "langchain" in found.flaws[0].reason
    assert [flaw.code for one in envelope.read(5, "x") for flaw in one.flaws] == ["wire.unreadable"]


def test_a_result_that_failed_in_its_body_is_an_error() -> None:
    (found,) = read_document(given("clm-05"), "case")
    assert [one.is_error for one in found.conversation if isinstance(one, Answered)] == [True]


def test_results_of_one_envelope_share_what_stands_beside_them() -> None:
    result = {"task_id": 1, "trial": 0, "traj": [{"role": "assistant", "content": "Hi."}]}
    two = {
        "format": "tau",
        "results": [result, {**result, "task_id": 2}],
        "contract": {"intent": "read_only"},
    }
    found = list(read_document(copy.deepcopy(two), "case"))
    assert [one.contract is not None and one.contract.read_only for one in found] == [True, True]
    broken = list(read_document({**two, "contract": 5}, "case"))
    assert [[flaw.at for flaw in one.flaws] for one in broken] == [["contract"], ["contract"]]


def test_a_lost_tool_message_is_no_verdict_on_the_agent() -> None:
    result = judged(case("trc-09")["input"])
    assert result.overall is Overall.INVALID_INPUT
    assert [(one.code, one.at) for one in result.findings] == [("wire.unpaired_tool_use", "A")]
