"""Scenario files: what is read, and every error with its line."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from sandtrail.ledgers.conversation import Briefed, UserSaid
from sandtrail.ledgers.specs import SYMBOL, Fault, FaultKind
from sandtrail.sandbox import library, load, run
from sandtrail.sandbox.agents import scripted
from sandtrail.scenarios import (
    BadScenario,
    Contract,
    Scenario,
    User,
    WantedArgument,
    WantedEffect,
    nodes,
    parse,
)
from sandtrail.scenarios.contract import Stated
from sandtrail.scenarios.scenario import Visible

GOOD = """\
scenario: refund-the-second-charge
why: only the look-up tells which one is the second
now: 2026-05-01T08:00:00+02:00
zone: Europe/Berlin
tenants: [north, south]
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
  $order.lamp: {customer: $customer.lee, number: "4412"}
  $payment.first: {order: $order.lamp, captured: 42.50 USD}
  $payment.second: {like: $payment.first, refunded: 0}
user:
  says: Refund the second charge of {$order.lamp.number}.
  then: ["And how much is it?"]
faults:
  - {answer_lost: refund_payment, nth: 1}
  - {slow: list_payments, seconds: 9}
expect:
  effects:
    - {refund.created: {payment: $payment.second, amount: 42.50 USD}, times: 1}
  arguments:
    refund_payment:
      payment_id: {is: $payment.second, from: list_payments}
  calls: [list_payments]
  answer: {states: [42.50 USD]}
"""


def test_a_whole_file_becomes_a_frozen_scenario() -> None:
    scenario = parse(GOOD, "a.scenario.yaml")
    assert scenario.id == "refund-the-second-charge"
    assert scenario.user == User(
        "Refund the second charge of {$order.lamp.number}.", then=("And how much is it?",)
    )
    assert scenario.world.now == datetime(2026, 5, 1, 6, 0, tzinfo=UTC)
    assert (scenario.world.zone, scenario.world.principal.tenants) == ("Europe/Berlin", ("north", "south"))
    assert scenario.world.entities["$payment.second"] == {"like": "$payment.first", "refunded": 0}
    assert tuple(scenario.world.faults) == (
        Fault(FaultKind.ANSWER_LOST, "refund_payment"),
        Fault(FaultKind.SLOW, "list_payments", seconds=9),
    )
    assert scenario.expect == Contract(
        effects=(
            WantedEffect("refund.created", {"payment": "$payment.second", "amount": 4250, "currency": "USD"}),
        ),
        arguments=(
            WantedArgument("refund_payment", "payment_id", "$payment.second", sources=("list_payments",)),
        ),
        states=(Stated("42.50 USD"),),
        calls=("list_payments",),
    )
    assert str(scenario.place("$payment.first.captured")) == "a.scenario.yaml:9"
    assert str(scenario.place("expect.arguments.refund_payment.nothing")) == "a.scenario.yaml:21"


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


BAD: tuple[tuple[str, int, str], ...] = (
    ("", 1, "the file is empty; start with scenario: an-id"),
    ("- a\n", 1, "the file: keys and values are wanted"),
    ("a: [", 1, "no YAML"),
    ("a: b\n c: d\n", 2, "no YAML"),
    ("x" * 200_001, 1, "at most 200000 are read"),
    ("[" * 5000, 1, ""),
    (changed("scenario: refund-the-second-charge", "scenario: Refund It"), 1, "'Refund It' is no id"),
    (changed("scenario: refund-the-second-charge\n", ""), 1, "the file: scenario missing"),
    (changed("why:", "whi:"), 2, "unknown key 'whi'; did you mean why?"),
    (
        changed("why: only the look-up tells which one is the second", "why: 12"),
        2,
        "text is wanted, not 12; put it in quotes",
    ),
    (changed("why: only the look-up tells which one is the second", "why: [a]"), 2, "text is wanted"),
    (changed("zone: Europe/Berlin", "zone: Europe/Berlin\nzone: UTC"), 5, "'zone' stands twice"),
    (changed("now: 2026-05-01T08:00:00+02:00", "now: 2026-05-01T08:00:00"), 3, "has no zone; end it with Z"),
    (
        changed("now: 2026-05-01T08:00:00+02:00", "now: soon"),
        3,
        "an instant such as 2026-03-02T09:00:00Z is wanted",
    ),
    (changed("tenants: [north, south]", "tenants: north"), 5, "a list is wanted"),
    (changed("$customer.lee: {name", "customer.lee: {name"), 7, "'customer.lee' is no symbol"),
    (changed("$customer.lee: {name", "$customer.1: {name"), 7, "'$customer.1' is no symbol"),
    (changed("captured: 42.50 USD", "captured: 42.50"), 9, "42.50 is a float; write money as 42.50 USD"),
    (changed("captured: 42.50 USD", "captured: [1]"), 9, "one value is wanted"),
    (
        changed("{like: $payment.first, refunded: 0}", "some text"),
        10,
        "$payment.second: keys and values are wanted",
    ),
    (
        changed("{like: $payment.first, refunded: 0}", "&a {like: $payment.first}"),
        10,
        "anchors, aliases and tags are not read",
    ),
    (changed("{like: $payment.first, refunded: 0}", "*a"), 10, "anchors, aliases and tags are not read"),
    (
        changed("{like: $payment.first, refunded: 0}", "!!python/object:os.system {}"),
        10,
        "anchors, aliases and tags are not read",
    ),
    (
        changed("{$order.lamp.number}", "{$order.lamb.number}"),
        12,
        "$order.lamb is not in world; did you mean $order.lamp?",
    ),
    (changed("And how much is it?", "About {$order.x}?"), 13, "$order.x is not in world"),
    (changed("  says: Refund the second charge of {$order.lamp.number}.\n", ""), 12, "user: says missing"),
    (changed('  then: ["And how much is it?"]', "  then: And how much is it?"), 13, "a list is wanted"),
    (changed("answer_lost: refund_payment", "answer_last: refund_payment"), 15, "did you mean answer_lost?"),
    (changed("{answer_lost: refund_payment, nth: 1}", "{nth: 1}"), 15, "a fault has one kind"),
    (
        changed("{answer_lost: refund_payment, nth: 1}", "{slow: a, answer_lost: b}"),
        15,
        "a fault has one kind",
    ),
    (changed("nth: 1", "nth: 0"), 15, "both count from 1"),
    (changed("nth: 1", "nth: one"), 15, "a whole number is wanted"),
    (
        changed("  calls: [list_payments]", "  calls: [list_payments]\n  reed_only: true"),
        24,
        "did you mean read_only?",
    ),
    (changed("  calls: [list_payments]", "  read_only: maybe"), 23, "true or false is wanted"),
    (changed("  calls: [list_payments]", "  read_only: true"), 23, "a read-only scenario wants no effects"),
    (changed("refund.created: {payment", "refund: {payment"), 19, "an effect is one name with its facts"),
    (
        changed(
            "{refund.created: {payment: $payment.second, amount: 42.50 USD}, times: 1}", "refund.created"
        ),
        19,
        "keys and values are wanted",
    ),
    (
        changed("$payment.second, amount: 42.50 USD}", "$payment.second, amount: 42.505 USD}"),
        19,
        "42.505 has 3 decimals, USD has 2",
    ),
    (
        changed("$payment.second, amount: 42.50 USD}", "$payment.second, amount: 42.50 XYZ}"),
        19,
        "currency='XYZ' is not known",
    ),
    (changed("from: list_payments}", "form: list_payments}"), 22, "unknown key 'form'; did you mean from?"),
    (changed("answer: {states: [42.50 USD]}", "answer: {state: [42.50 USD]}"), 24, "did you mean states?"),
    (
        changed("answer: {states: [42.50 USD]}", "answer: {states: [42.50]}"),
        24,
        "text is wanted, not 42.50; put it in quotes",
    ),
)


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize(
    ("text", "line", "reason"), BAD, ids=[f"{line}-{reason[:40]}" for _, line, reason in BAD]
)
def test_a_bad_file_is_told_with_its_line_and_what_was_wanted(
    text: str, line: int, reason: str, loader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes, "_LOADER", getattr(yaml, loader, yaml.SafeLoader))
    with pytest.raises(BadScenario) as told:
        parse(text, "bad.scenario.yaml")
    assert reason in told.value.reason
    assert str(told.value.place) == f"bad.scenario.yaml:{line}"


CHECKED: tuple[tuple[str, int, str], ...] = (
    (
        changed("captured: 42.50 USD", "captures: 42.50 USD"),
        9,
        "payment has no field 'captures'; did you mean captured?",
    ),
    (
        changed("customer: $customer.lee,", "customer: $customer.le,"),
        8,
        "$customer.le is not defined; did you mean $customer.lee?",
    ),
    (
        changed("$order.lamp: {", "$oder.lamp: {").replace("$order.lamp", "$oder.lamp"),
        8,
        "no entity kind 'oder' in the services of this world; did you mean order?",
    ),
    (changed("name: Lee Ahn, ", ""), 7, "needs name"),
    (
        changed("answer_lost: refund_payment", "answer_lost: refund"),
        15,
        "no operation 'refund'; did you mean refund_order?",
    ),
    (
        changed("slow: list_payments", "stale_read: refund_paymen"),
        16,
        "no operation 'refund_paymen'; did you mean refund_payment?",
    ),
    (changed("calls: [list_payments]", "calls: [list_payment]"), 23, "there is no tool 'list_payment'"),
    (changed("    refund_payment:\n", "    refund_paymet:\n"), 21, "there is no tool 'refund_paymet'"),
    (
        changed("      payment_id: {is", "      pament_id: {is"),
        22,
        "refund_payment has no argument 'pament_id'",
    ),
    (changed("zone: Europe/Berlin", "zone: Europe/Berlib"), 4, "zone='Europe/Berlib' is not known"),
)


@pytest.mark.parametrize(
    ("text", "line", "reason"), CHECKED, ids=[f"{line}-{reason[:40]}" for _, line, reason in CHECKED]
)
def test_what_only_services_know_is_told_at_its_line_too(
    text: str, line: int, reason: str, tmp_path: Path
) -> None:
    file = tmp_path / "bad.scenario.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(BadScenario) as told:
        load(file)
    assert reason in told.value.reason
    assert told.value.place.line == line


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadScenario, match=r"none\.scenario\.yaml:1: cannot be read: No such file"):
        load(tmp_path / "none.scenario.yaml")
    (tmp_path / "bytes.scenario.yaml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadScenario, match="no UTF-8 text"):
        load(tmp_path / "bytes.scenario.yaml")


def test_the_shipped_library_is_sound_and_every_scenario_says_why() -> None:
    scenarios = list(library())
    assert len(scenarios) >= 3
    for scenario in scenarios:
        assert len(scenario.why) > 30
        assert scenario.tags
    assert sum(len(scenario.user.then) > 0 for scenario in scenarios) >= len(scenarios) / 4


# -- what reaches the agent ---------------------------------------------------------------------------------


def test_what_is_visible_is_the_first_message_and_the_clock() -> None:
    assert parse(GOOD, "a").visible() == Visible(
        "Refund the second charge of {$order.lamp.number}.", "2026-05-01T08:00:00+02:00", "Europe/Berlin"
    )
    assert {field.name for field in fields(Visible)} == {"says", "now", "zone"}


def secrets(scenario: Scenario) -> set[str]:
    """Words of the expectations that must reach no agent, the names of tools apart."""
    expect = scenario.expect
    reasons = [*expect.distractors.values(), *expect.forbid.values(), *expect.first_reasons.values()]
    effects = [wanted.name for wanted in expect.effects]
    families = [str(one.family) for one in scenario.offer.distractors]
    keys = ["read_only", "idle_passes", "at_most", "distractor", "sandtrail"]
    return {scenario.id, scenario.why, *reasons, *effects, *families, *keys}


def tools_of(scenario: Scenario) -> set[str]:
    expect, offer = scenario.expect, scenario.offer
    named = {*(expect.first or ()), *expect.calls, *expect.distractors, *expect.forbid}
    named |= {one.tool for one in expect.arguments} | {rule.tool for rule in expect.order}
    named |= {tool for label in expect.labels for tool in label.first}
    return named | {*offer.rename, *offer.rename.values(), *offer.withheld, *offer.only, *offer.without}


def holds(text: str, words: set[str]) -> list[str]:
    return sorted(word for word in words if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text))


@pytest.mark.parametrize("scenario", list(library()), ids=lambda one: one.id)
def test_no_expectation_reaches_the_agent(scenario: Scenario) -> None:
    trajectory = run(scenario, scripted(scenario.id, "scripted"), seed=5).trajectory
    told = [message.text for message in trajectory.conversation if isinstance(message, Briefed | UserSaid)]
    tools = [tool for offer in trajectory.offers for tool in offer.catalog.tools]
    assert len(told) > 1
    assert tools
    for text in [*told, *(f"{tool.name} {tool.description} {tool.input_schema}" for tool in tools)]:
        assert holds(text, secrets(scenario)) == []
        assert SYMBOL.search(text) is None
    for text in [*told, *scenario.user.texts()]:
        assert holds(SYMBOL.sub("", text), tools_of(scenario)) == []
    assert "$" not in told[1]
