"""Lint: every flaw of a scenario seeded once, each told at its part; and nothing to say of the library."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sandtrail.ledgers import Effect, Finding, WorldSpec
from sandtrail.sandbox import library, load
from sandtrail.sandbox.agents import OffScript, good_scripts, scripted
from sandtrail.sandbox.linting import lint
from sandtrail.sandbox.loading import Loaded, load_dataset
from sandtrail.scenarios import Contract, Scenario, User, WantedArgument, WantedEffect, parse
from sandtrail.scenarios.contract import Clarification, OrderRule, Stated
from sandtrail.scenarios.linting import contradictions, days_in, flaws, leaks, oracle_conflicts
from sandtrail.scenarios.scenario import Offered

ASKS = User("Refund it.", knows={"order": "4412"})


def scenario(**options: Any) -> Scenario:
    """A scenario without a flaw, but for what is given."""
    given: dict[str, Any] = {"world": WorldSpec(), "user": User("Hi."), "expect": Contract(), **options}
    return Scenario("mine-with-a-long-id", "why it was written down", **given)


def told(findings: Iterable[Finding]) -> list[tuple[str, str]]:
    return [(finding.at, finding.reason) for finding in findings]


# -- contradictions ----------------------------------------------------------------------------------------


def test_a_sound_scenario_has_no_flaw() -> None:
    assert told(flaws(scenario())) == []
    assert told(flaws(scenario(language="de", reviewed="by a native speaker"))) == []


def test_another_language_wants_a_reader() -> None:
    ((at, reason),) = told(flaws(scenario(language="de")))
    assert at == "language"
    assert "nobody says to have read it; add reviewed" in reason


def test_who_must_be_asked_knows_something() -> None:
    required = Contract(clarification=Clarification.REQUIRED)
    ((at, reason),) = told(flaws(scenario(expect=required)))
    assert at == "user"
    assert "add knows, chooses or silent" in reason
    for user in (ASKS, User("Hi.", chooses="the lamp"), User("Hi.", silent=True)):
        assert told(flaws(scenario(expect=required, user=user))) == []


@pytest.mark.parametrize(
    "more", [{"calls": ("get_order",)}, {"effects": (WantedEffect("note.added"),)}], ids=["calls", "effects"]
)
def test_no_tool_at_all_and_something_done_cannot_both_be(more: dict[str, Any]) -> None:
    ((at, reason),) = told(flaws(scenario(expect=Contract(first=(), **more))))
    assert at == "expect.first"
    assert "no tool is to be called, and calls or effects are wanted" in reason


def test_what_may_happen_and_need_not_is_no_contradiction() -> None:
    may = WantedEffect("note.added", times=0, most=1)
    assert told(flaws(scenario(expect=Contract(first=(), effects=(may,))))) == []


def test_a_day_in_numbers_and_another_in_words_cannot_both_be() -> None:
    wanted = WantedArgument("book", "day", "2026-05-22")
    ((at, reason),) = told(
        flaws(scenario(expect=Contract(arguments=(wanted,), states=(Stated("12 May 2026"),))))
    )
    assert at == "expect.arguments.book.day"
    assert reason == "book.day is to be 2026-05-22, and the text says 2026-05-12"
    assert told(contradictions(Contract(arguments=(wanted,)), ["on 22. May 2026"])) == []
    assert told(contradictions(Contract(arguments=(wanted,)), ["some day"])) == []
    assert len(told(contradictions(Contract(arguments=(wanted,)), ["on 2026-05-21"]))) == 1


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("on 2026-02-29 or 2026-02-28", [date(2026, 2, 28)]),
        ("1 Jan 2026 and 3. december 2025", [date(2026, 1, 1), date(2025, 12, 3)]),
        ("12 Foo 2026, 4412-99-99, 31 June 2026", []),
        ("2026-5-1", []),
    ],
)
def test_the_days_a_text_names(text: str, days: list[date]) -> None:
    assert list(days_in(text)) == days


# -- leaks -------------------------------------------------------------------------------------------------

SECRETIVE = Contract(
    first=("find_the_order",),
    first_reasons={"find_the_order": "it alone has the number"},
    forbid={"refund_all": "that is store credit, not money"},
    effects=(WantedEffect("refund.created"),),
    arguments=(WantedArgument("refund_some", "amount_minor", 5),),
    order=(OrderRule("send_the_mail", confirm=True),),
    calls=("list_payments",),
    distractors={"refund_none": "it only looks like a refund"},
)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("This is MINE-WITH-A-LONG-ID.", "'mine-with-a-long-id'"),
        ("Why it was written down.", "'why it was written down'"),
        ("Know: it alone has the number.", "'it alone has the number'"),
        ("Know: that is store credit, not money.", "'that is store credit, not money'"),
        ("Know: it only looks like a refund.", "'it only looks like a refund'"),
        ("Make a refund.created.", "'refund.created'"),
        ("Use find_the_order.", "the tool find_the_order"),
        ("Use refund_all, will you?", "the tool refund_all"),
        ("Use refund_none.", "the tool refund_none"),
        ("(list_payments)", "the tool list_payments"),
        ("Use refund_some.", "the tool refund_some"),
        ("Use send_the_mail.", "the tool send_the_mail"),
        ("Use a_new_name.", "the tool a_new_name"),
        ("What of $order.lamp?", "the symbol $order.lamp; write {$order.lamp} for its id"),
    ],
)
def test_each_word_of_the_expectations_in_a_prompt_is_a_leak(prompt: str, said: str) -> None:
    secretive = scenario(
        expect=SECRETIVE,
        offer=Offered(rename={"x": "a_new_name"}),
        world=WorldSpec({"$order.lamp": {}}),
    )
    ((at, reason),) = told(leaks(secretive, ["Something harmless.", prompt]))
    assert at == "user"
    assert said in reason


@pytest.mark.parametrize(
    "prompt",
    [
        "{$order.lamp} and {$order.lamp.number}",
        "It costs $order.",
        "prefind_the_order",
        "a refund",
        "$order.other",
    ],
)
def test_what_is_no_leak(prompt: str) -> None:
    quiet = scenario(expect=SECRETIVE, world=WorldSpec({"$order.lamp": {}}))
    assert told(leaks(quiet, [prompt])) == []


# -- the reference -----------------------------------------------------------------------------------------

REFUND = WantedEffect("refund.created", {"payment": "$payment.a"}, times=2)


def test_a_reference_that_lacks_or_exceeds_the_contract_is_in_conflict_with_it() -> None:
    done = Effect("refund.created", {"payment": "$payment.a"}, attempt=1)
    other = Effect("refund.created", {"payment": "$payment.b"}, attempt=2)
    contract = Contract(effects=(REFUND,))
    assert told(oracle_conflicts(contract, [done, done])) == []
    ((at, reason),) = told(oracle_conflicts(contract, [done]))
    assert at == "reference"
    assert "the reference lacks refund.created payment=$payment.a" in reason
    ((_, reason),) = told(oracle_conflicts(contract, [done, done, other]))
    assert "the reference does" in reason
    assert "which the contract does not allow" in reason


TEXT = """\
scenario: mine
why: a file of one's own
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
user:
  says: My name is {$customer.lee.name}, my e-mail {$customer.lee.email}.
expect:
  effects:
    - {note.added: {customer: $customer.lee}}
"""
NOTED = """\
scripted:
  - {call: search_customers, with: {email: lee@example.test}}
  - call: add_note
    with: {customer_id: {from: search_customers, at: /customers/0/id}, text: hello}
  - {say: I have added the note.}
"""


def linted(folder: Path, text: str = TEXT, scripts: str = NOTED) -> list[tuple[str, str]]:
    file = folder / "mine.scenario.yaml"
    file.write_text(text)
    if scripts:
        (folder / "mine.scripts.yaml").write_text(scripts)
    return told(lint(Loaded(load(file), folder)))


def test_a_sound_file_has_nothing_to_say(tmp_path: Path) -> None:
    assert linted(tmp_path) == []


def test_flaws_of_the_file_itself_are_told(tmp_path: Path) -> None:
    found = linted(tmp_path, TEXT.replace("world:", "language: de\nworld:"))
    assert [at for at, _ in found] == ["language"]


def test_a_scenario_without_a_reference_is_told(tmp_path: Path) -> None:
    ((at, reason),) = linted(tmp_path, scripts="")
    assert at == "scenario"
    assert "there are no scripts for mine; write mine.scripts.yaml" in reason
    ((_, reason),) = linted(tmp_path, scripts="careless:\n  - {say: Hi.}\n")
    assert "there is no script 'scripted' for mine; there are careless" in reason


def test_a_reference_that_lacks_an_effect_is_told(tmp_path: Path) -> None:
    ((at, reason),) = linted(tmp_path, scripts="scripted:\n  - {say: No.}\n")
    assert at == "reference"
    assert "the reference lacks note.added" in reason


def test_a_reference_that_fails_otherwise_is_told(tmp_path: Path) -> None:
    ((at, reason),) = linted(tmp_path, f"{TEXT}  calls: [get_customer]\n")
    assert at == "expect"
    assert reason.startswith("the reference run does not pass: call.missing at ")


OTHER = """\
other:
  - {call: search_customers, with: {email: lee@example.test}}
  - call: get_customer
    with: {customer_id: {from: search_customers, at: /customers/0/id}}
  - call: add_note
    with: {customer_id: {from: search_customers, at: /customers/0/id}, text: hello}
  - {say: The note is added.}
careless:
  - {say: No.}
"""


def test_a_second_good_run_passes_and_the_others_need_not(tmp_path: Path) -> None:
    assert linted(tmp_path, scripts=f"{NOTED}{OTHER}good: [other]\n") == []
    assert linted(tmp_path, scripts=f"{NOTED}{OTHER}") == []


def test_a_run_that_is_called_good_and_fails_is_told_by_its_name(tmp_path: Path) -> None:
    ((at, reason),) = linted(tmp_path, scripts=f"{NOTED}{OTHER}good: [other, careless]\n")
    assert at == "reference"
    assert "the good run careless lacks note.added" in reason
    ((at, reason),) = linted(
        tmp_path,
        f"{TEXT}  calls: [search_customers]\n  budgets: {{calls: 2}}\n",
        f"{NOTED}{OTHER}good: [other]\n",
    )
    assert at == "expect"
    assert reason.startswith("the good run other does not pass: ")


@pytest.mark.parametrize(
    ("good", "said"),
    [
        ("other", "good is a list of names of scripts, each once"),
        ("[7]", "good is a list of names of scripts, each once"),
        ("[other, other]", "good is a list of names of scripts, each once"),
        ("[othr]", "good names 'othr'; there are other, careless"),
        ("[scripted]", "good names 'scripted'; it is good anyway"),
        ("[good]", "good names 'good'; there are other, careless"),
    ],
)
def test_what_is_no_list_of_good_runs_is_told(tmp_path: Path, good: str, said: str) -> None:
    ((at, reason),) = linted(tmp_path, scripts=f"{NOTED}{OTHER}good: {good}\n")
    assert (at, reason) == ("scenario", f"mine.scripts.yaml: {said}")


def test_the_list_of_good_runs_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "mine.scripts.yaml").write_text(f"{NOTED}{OTHER}good: [other]\n")
    assert good_scripts("mine", folder=tmp_path) == ("scripted", "other")
    with pytest.raises(OffScript, match=r"no script 'good' for mine; there are scripted, other, careless$"):
        scripted("mine", "good", folder=tmp_path)


def test_a_leak_is_told_once_although_two_prompts_have_it(tmp_path: Path) -> None:
    found = linted(tmp_path, TEXT.replace("says: My", "says: Use add_note. My") + "  calls: [add_note]\n")
    assert found == [("user", "the agent is told the tool add_note")]


def test_a_leak_that_only_the_filled_in_text_has_is_told(tmp_path: Path) -> None:
    text = TEXT.replace("name: Lee Ahn", "name: add_note") + "  calls: [add_note]\n"
    assert linted(tmp_path, text) == [("user", "the agent is told the tool add_note")]


def test_a_case_of_a_dataset_needs_no_reference(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "one", "input": "Hi.", "expected_tool": null}\n')
    (case,) = load_dataset(file)
    assert told(lint(Loaded(case, tmp_path))) == []
    leaking = replace(case, user=User("Use get_order."), expect=Contract(first=("get_order",)))
    assert told(lint(Loaded(leaking, tmp_path))) == [("user", "the agent is told the tool get_order")]


@pytest.mark.parametrize("shipped", list(library()), ids=lambda one: one.id)
def test_there_is_nothing_to_say_of_the_library(shipped: Scenario) -> None:
    assert told(lint(Loaded(shipped))) == []


def test_what_is_found_has_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    text = TEXT.replace("world:", "language: de\nworld:")
    (finding,) = flaws(parse(text, str(file)))
    assert str(parse(text, str(file)).place(finding.at)) == f"{file}:3"
