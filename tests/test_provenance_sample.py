"""What a careful person says of arguments of real runs, and what the engine says: where each value came from."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from labelled import Labelled, offer_of, sample, told, trajectory_of

from sandtrail.ledgers.conversation import Calls, Decided
from sandtrail.ledgers.provenance import Traced, Verdict
from sandtrail.ledgers.resolve import provenance
from sandtrail.ledgers.trees import leaves

SAMPLE = sample()
INVENTED = {"invented", "near_miss", "schema_example"}


def traced(labelled: Labelled) -> Traced:
    (found,) = (
        one
        for one in provenance(trajectory_of(labelled))
        if (one.call, one.pointer) == (labelled.number, labelled.pointer)
    )
    return found


def read_before(labelled: Labelled, value: Any) -> bool:
    """Whether the value, as it is, stood in what the agent had read when it decided the labelled call."""
    text = "\n".join(told(fact) for fact in labelled.facts if not fact.get("together"))
    return re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", text) is not None


def asked(labelled: Labelled) -> Any:
    """The entry as a case of its own; a known limit is expected to be missed, and says so once it is not."""
    marks = [pytest.mark.xfail(reason=labelled.limit, strict=True)] if labelled.limit else []
    return pytest.param(labelled, id=labelled.id, marks=marks)


@pytest.mark.parametrize("labelled", [asked(one) for one in SAMPLE])
def test_the_engine_says_of_an_argument_what_a_careful_person_says(labelled: Labelled) -> None:
    found = traced(labelled)
    assert found.verdict in labelled.verdicts, f"{found.line}\nby hand: {labelled.reason}"
    assert found.grounded is labelled.grounded


def test_the_sample_draws_on_all_files_by_chance_and_by_search() -> None:
    files = Counter(one.file for one in SAMPLE)
    by_chance = Counter(one.file for one in SAMPLE if one.drawn == "random")
    assert set(files) == {"retail", "airline-qwen", "airline-4o"}
    assert files.total() >= 150
    assert by_chance == {"retail": 24, "airline-qwen": 24, "airline-4o": 24}


def test_known_limits_are_few() -> None:
    assert sum(bool(one.limit) for one in SAMPLE) <= 0.01 * len(SAMPLE)


def test_no_argument_is_in_the_sample_twice() -> None:
    assert len({one.id for one in SAMPLE}) == len(SAMPLE)


def test_a_label_is_either_grounded_or_not_whichever_of_its_verdicts_is_taken() -> None:
    torn = [
        one.id for one in SAMPLE if {Verdict(verdict).grounded for verdict in one.verdicts} != {one.grounded}
    ]
    assert torn == []


def test_the_labelled_value_stands_at_its_pointer() -> None:
    assert [
        one.id for one in SAMPLE if dict(leaves(one.arguments)).get(one.pointer, leaves) != one.value
    ] == []


def test_what_was_made_up_had_not_been_read_and_what_is_exact_had() -> None:
    free_text = {"summary", "thought"}
    for one in SAMPLE:
        if one.verdicts[0] == "exact":
            assert read_before(one, one.value), one.id
        if set(one.verdicts) <= INVENTED and one.pointer.strip("/") not in free_text:
            assert not read_before(one, one.value), one.id


def test_what_is_carried_on_was_sent_before_and_stood_nowhere_before_that() -> None:
    for one in SAMPLE:
        if one.verdicts[0] != "invented_propagated":
            continue
        calls = [index for index, fact in enumerate(one.facts) if "call" in fact and "together" not in fact]
        sent = [
            index
            for index in calls
            if one.value in [value for _, value in leaves(one.facts[index]["arguments"])]
        ]
        assert sent, one.id
        assert not any(str(one.value) in told(fact) for fact in one.facts[: sent[0]]), one.id


def test_an_example_is_an_example_of_the_offered_tools() -> None:
    for one in SAMPLE:
        if one.verdicts[0] == "schema_example":
            schemas = [tool.input_schema for tool in offer_of(one).catalog.tools]
            assert f"'{one.value}'" in json.dumps(schemas), one.id


def test_every_call_is_to_a_tool_that_is_offered() -> None:
    for one in SAMPLE:
        for fact in one.facts:
            assert "call" not in fact or fact["call"] in offer_of(one).catalog, one.id
        assert one.tool in offer_of(one).catalog, one.id


@pytest.mark.parametrize("labelled", SAMPLE, ids=lambda one: one.id)
def test_the_labelled_call_is_the_last_and_nothing_answers_it(labelled: Labelled) -> None:
    made = trajectory_of(labelled).made[-1]
    assert (made.number, made.call.tool, made.answered) == (labelled.number, labelled.tool, None)


def test_calls_of_the_labelled_batch_are_answered_after_it_was_decided() -> None:
    one = next(one for one in SAMPLE if any(fact.get("together") for fact in one.facts))
    conversation = trajectory_of(one).conversation
    decided = max(index for index, message in enumerate(conversation) if isinstance(message, Decided))
    last = conversation[decided]
    assert isinstance(last, Decided)
    assert isinstance(last.decision, Calls)
    assert len(last.decision.calls) == 1 + sum(bool(fact.get("together")) for fact in one.facts)
    assert len(conversation) - decided - 1 == len(last.decision.calls) - 1
