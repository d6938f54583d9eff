"""Public bug reports of people who test tool-using agents, made small, with the verdict that each must get.

The inputs stand in tests/cases. What a public tool got wrong is asserted as what must not happen.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from casework import books_only, call_named, case, contract_of, decided, judged
from sandtrail.ledgers import Overall, saved, trees
from sandtrail.ledgers.conversation import Calls, Decided
from sandtrail.ledgers.entries import Effect
from sandtrail.ledgers.findings import overall_of
from sandtrail.ledgers.money import minor_units
from sandtrail.sandbox.messages_anthropic import decode as anthropic_decode
from sandtrail.sandbox.messages_anthropic import read_events as anthropic_events
from sandtrail.sandbox.messages_openai import decode as openai_decode
from sandtrail.sandbox.messages_openai import read_events as openai_events
from sandtrail.sandbox.reported import effect_name
from sandtrail.scenarios import Contract, WantedArgument
from sandtrail.scenarios.contract import Compare
from sandtrail.scenarios.dialogues import dialogue_flaws
from sandtrail.scenarios.judge import judge
from sandtrail.scenarios.linting import contradictions, oracle_conflicts
from sandtrail.scenarios.matching import GotCall, MatchVerdict, WantedCall, match_calls
from sandtrail.scenarios.selection import FirstDecision

TRANSCRIPTS = {
    "sel-01": {"selection.unknown_tool": ["tu_1"]},
    "sel-03": {"selection.unavailable_tool": ["t1"]},
    "sel-05": {"selection.deprecated_alias": ["d1"]},
    "arg-01": {"args.double_encoded": ["x1"]},
    "arg-05": {"args.type": ["x5/amount_cents"]},
    "arg-09": {"args.unknown_field": ["z9/force", "z9/tenant_id"]},
    "arg-11": {"args.malformed": ["w1"]},
    "clm-01": {
        "effect.missing": ["final"],
        "claim.unsupported": ["final"],
        "claim.before_result": ["step 1"],
    },
    "clm-03": {"claim.before_result": ["step 1"], "claim.corrected": ["final"], "effect.missing": ["final"]},
    "clm-05": {"claim.unsupported": ["final"]},
    "clm-07": {"effect.unauthorized_write": ["attempt 1"], "claim.contradicts_ledger": ["final"]},
    "eff-01": {"claim.contradicts_ledger": ["final"], "effect.blind_retry": ["attempt 2"]},
    "eff-03": {
        "effect.duplicate": ["attempt 2"],
        "idempotency.key_changed_on_retry": ["attempt 2"],
        "claim.unsupported": ["final"],
    },
    "eff-05": {"effect.duplicate": ["attempt 3", "attempt 4"]},
    "eff-07": {"effect.unauthorized_write": ["attempt 1"], "claim.contradicts_ledger": ["final"]},
    "eff-09": {
        "effect.unauthorized_write": ["attempt 1", "attempt 2"],
        "claim.contradicts_ledger": ["final"],
    },
    "wir-05": {},
    "stp-01": {"stop.truncated": ["mt1"]},
    "stp-05": {"stop.refusal": ["step 1"]},
    "reg-01": {"selection.unavailable_tool": ["g2"]},
    "sta-03": {"effect.missing": ["final"], "answer.missing": ["final"]},
    "ten-01": {"tenant.cross_access": ["n2/tenant"], "tenant.leak": ["final"]},
    "mon-01": {"money.scale": ["attempt 1"], "claim.wrong_value": ["final"]},
    "mon-03": {"time.wrong_day": ["tz/date"]},
}
"""Each transcript with the findings that it must get, and where: a call's id stands for the call."""

NEVER = {
    "sel-01": {"selection.wrong_tool"},
    "clm-03": {"claim.unsupported"},
    "eff-01": {"effect.duplicate"},
    "wir-03": {"effect.duplicate"},
    "stp-01": {"args.missing_required"},
    "stp-05": {"selection.answered_without_tool"},
    "reg-01": {"selection.wrong_tool", "selection.unknown_tool"},
}
"""Wrong answers that public tools give."""


def same_words(one: str | None, other: FirstDecision | None) -> bool:
    if one is None or other is None:
        return one is other
    wanted = one.replace("-", "_")
    return wanted == other or (wanted == "refusal" and other.value.endswith("_refusal"))


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_a_transcript_gets_its_verdict(name: str) -> None:
    given = case(name)
    expected, result = given["expected_verdict"], judged(given["input"])
    assert result.trajectory is not None
    assert result.verdict is not None
    for code, places in TRANSCRIPTS[name].items():
        for place in places:
            head, slash, rest = place.partition("/")
            known = {made.call.id for made in result.trajectory.made}
            at = f"{call_named(result.trajectory, head)}{slash}{rest}" if head in known else place
            assert at in result.places(code), (code, at, [str(one) for one in result.findings])
    listed = {finding["code"] for finding in expected["findings"]}
    assert listed <= set(result.codes)
    assert result.overall == expected["overall"].replace("-", "_")
    assert same_words(expected["first_decision"], result.verdict.first)
    for what, count in expected.get("effects", {}).items():
        assert result.verdict.counts[what] == count, what
    assert not NEVER.get(name, set()) & set(result.codes)


@pytest.mark.parametrize("name", [name for name in TRANSCRIPTS if name.startswith("arg")])
def test_the_text_of_the_arguments_is_kept_byte_for_byte(name: str) -> None:
    given = case(name)["input"]
    result = judged(given)
    assert result.trajectory is not None
    for message in given["messages"]:
        for call in message.get("tool_calls", ()):
            assert result.trajectory.made[0].call.text == call["function"]["arguments"]


def test_broken_arguments_are_broken_in_a_saved_trajectory_too() -> None:
    given = case("arg-11")["input"]
    result = judged(given)
    assert result.trajectory is not None
    again = saved.load(saved.dump(result.trajectory))
    assert again.made[0].call.text == given["messages"][1]["tool_calls"][0]["function"]["arguments"]
    assert judge(contract_of(given["contract"]), again).findings == result.findings


def test_a_coerced_number_is_a_warning_where_the_case_permits_it() -> None:
    given = case("arg-05")["input"]
    given["contract"]["args_policy"] = "coerce"
    del given["contract"]["allowed_effects"]
    result = judged(given)
    assert (result.overall, result.codes) == (Overall.WARN, ["args.coerced"])


@pytest.mark.parametrize(("name", "at"), [("wir-01", "aa1"), ("wir-03", "dup")])
def test_an_illegal_transcript_is_not_scored(name: str, at: str) -> None:
    given = case(name)
    result = judged(given["input"])
    assert result.overall is Overall.INVALID_INPUT
    assert result.verdict is None
    assert [(finding.code, finding.at) for finding in result.findings] == [
        (given["expected_verdict"]["findings"][0]["code"], at)
    ]


def test_results_pair_by_id_and_not_by_position() -> None:
    result = judged(case("wir-05")["input"])
    assert result.trajectory is not None
    told = {
        made.call.arguments["payment_id"]: made.answered and made.answered.text
        for made in result.trajectory.made
    }
    assert told == {"pay_1": '{"amount_cents":100}', "pay_2": '{"amount_cents":900}'}


# -- streams ---------------------------------------------------------------------------------------------


def test_an_empty_delta_is_no_arguments() -> None:
    given = case("arg-03")["input"]
    decision = anthropic_decode(anthropic_events(given["events"])).decision
    assert isinstance(decision, Calls)
    assert [(call.tool, dict(call.arguments), call.flaw) for call in decision.calls] == [
        ("service_status", {}, "")
    ]
    verdict = judge(contract_of(given["contract"]), decided(Decided(decision)))
    assert (verdict.overall, verdict.first) == (Overall.PASS, FirstDecision.CORRECT)


def test_interleaved_fragments_are_two_calls() -> None:
    given = case("stp-03")["input"]
    decision = openai_decode(openai_events(given["chunks"], given["finish_reason"])).decision
    assert isinstance(decision, Calls)
    assert [(call.id, call.tool, dict(call.arguments)) for call in decision.calls] == [
        ("A", "payments_get", {"payment_id": "pay_1"}),
        ("B", "payments_get", {"payment_id": "pay_2"}),
    ]


# -- comparisons -----------------------------------------------------------------------------------------


def wanted(call: dict[str, Any], comparators: dict[str, str] | None = None) -> WantedCall:
    named = {name: Compare(how) for name, how in (comparators or {}).items()}
    return WantedCall(call["name"], call.get("arguments"), comparators=named)


def got(call: dict[str, Any]) -> GotCall:
    arguments = call["arguments"]
    return GotCall(call["name"], json.loads(arguments) if isinstance(arguments, str) else arguments)


def as_list(value: Any) -> list[Any]:
    found = trees.as_list(value)
    return [value] if found is None else found


@pytest.mark.parametrize("name", ["mat-03", "mat-05", "mat-07", "mat-11"])
def test_each_comparison_comes_out_as_it_must(name: str) -> None:
    given = case(name)
    expected = {one["at"]: one["code"] for one in given["expected_verdict"]["findings"]}
    for item in given["input"]["items"]:
        ours = [wanted(call, item.get("comparators")) for call in as_list(item["expected"])]
        match = match_calls(ours, [got(call) for call in as_list(item["actual"])], ordered=False)
        assert match.verdict == expected[item["name"]], item["name"]


def test_two_equal_calls_are_two_and_one_of_them_is_half() -> None:
    given = case("mat-01")["input"]
    ours = [wanted(call) for call in given["expected"]]
    full = match_calls(ours, [got(call) for call in given["actual"]], ordered=False)
    half = match_calls(ours, [got(call) for call in given["also"]["actual"]], ordered=False)
    assert (float(full.score), float(half.score)) == (1.0, 0.5)


def test_a_wrong_order_is_told_in_words() -> None:
    given = case("mat-09")["input"]
    match = match_calls(
        [wanted(c) for c in given["expected"]], [got(c) for c in given["actual"]], ordered=True
    )
    said = match.reason
    assert match.verdict is MatchVerdict.ORDER
    assert "position 1: expected query, got web" in said
    assert "missing" not in said


def test_an_escape_equals_its_literal() -> None:
    given = case("arg-07")["input"]
    ours, theirs = [wanted(c) for c in given["expected"]], [got(c) for c in given["actual_raw"]]
    assert match_calls(ours, theirs, ordered=True).verdict is MatchVerdict.EQUAL


# -- simulators, states, catalogs ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["sim-01", "sim-03"])
def test_a_dialogue_is_judged_by_its_simulator(name: str) -> None:
    given = case(name)
    turns = [
        next((who, turn[who]) for who in ("user", "agent") if who in turn) for turn in given["input"]["turns"]
    ]
    findings = dialogue_flaws(turns, given["input"]["stop_token"])
    expected = [(one["code"], one["at"]) for one in given["expected_verdict"]["findings"]]
    assert [(finding.code, finding.at) for finding in findings] == expected
    assert overall_of(findings) == given["expected_verdict"]["overall"]


def test_a_gold_list_that_lacks_wanted_effects_does_not_fail_who_has_them() -> None:
    given = case("sta-01")["input"]
    contract = contract_of(given["contract"])
    verdict = judge(contract, books_only(given["ledger"]))
    gold = [
        Effect(effect_name("handover.create"), {}) for action in given["gold_actions"] if action == "handover"
    ]
    assert (verdict.overall, verdict.counts["committed"], verdict.unexpected_writes) == (Overall.PASS, 3, 0)
    assert {one.code for one in oracle_conflicts(contract, gold)} == {"case.oracle_conflict"}


def test_two_sources_of_truth_decide_nothing() -> None:
    given = case("sta-06")["input"]["case"]
    (gold,) = given["gold_calls"]
    arguments = tuple(WantedArgument(gold["name"], name, value) for name, value in gold["arguments"].items())
    findings = tuple(contradictions(Contract(arguments=arguments), given["assertions"]))
    assert [finding.code for finding in findings] == ["case.contradiction"]
    assert "2026-05-22" in findings[0].reason
    assert "2026-05-12" in findings[0].reason
    assert overall_of(findings) is Overall.NOT_EVALUABLE


@pytest.mark.parametrize("row", case("mon-05")["input"]["rows"], ids=lambda row: row["text"])
def test_an_amount_is_read_exactly(row: dict[str, Any]) -> None:
    if row["minor"] == "error":
        with pytest.raises(ValueError, match="decimals"):
            minor_units(row["text"], row["currency"])
    else:
        assert minor_units(row["text"], row["currency"]) == row["minor"]
