"""The format of scenario files: every key is read, to the right value; what cannot be is refused with the remedy."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from formats import CATALOG_TEXT, FULL, PATHS, Path, data, dumped, keys_in, keys_of, without

from sandtrail.ledgers.specs import Fault, FaultKind, FaultPlan, Principal, WorldSpec
from sandtrail.scenarios import BadScenario, Contract, Scenario, User, WantedArgument, WantedEffect, parse
from sandtrail.scenarios.catalogs import parse_catalog
from sandtrail.scenarios.contract import (
    ArgumentsPolicy,
    Budgets,
    Clarification,
    Compare,
    Label,
    Norm,
    OrderRule,
    Stated,
)
from sandtrail.scenarios.parsing import parse_world
from sandtrail.scenarios.scenario import CatalogChange, Distractor, Family, Offered
from sandtrail.scenarios.shapes import CATALOG, TOOL, json_schema

EXCLUDED = {("catalog", "only"), ("tenants",), ("expect", "read_only")}
"""Keys that exclude one that the full example has; they have a test of their own."""


# -- every key has its value -----------------------------------------------------------------------------


def test_the_top_of_a_file() -> None:
    scenario = parse(FULL, "a")
    assert (scenario.id, scenario.revision, scenario.why) == ("mine", 3, "every key at once")
    assert (scenario.language, scenario.reviewed) == ("de", "read by a native speaker")
    assert (scenario.tags, scenario.idle_passes, scenario.first_only) == (("one", "two"), True, False)


def test_the_world() -> None:
    assert parse(FULL, "a").world == WorldSpec(
        {
            "$customer.lee": {
                "name": "Lee Ahn",
                "email": "lee@example.test",
                "closed": False,
                "note": None,
                "visits": 3,
            },
            "$order.lamp": {"customer": "$customer.lee", "number": "4412"},
        },
        now=datetime(2026, 5, 1, 6, 0, tzinfo=UTC),
        zone="Europe/Berlin",
        principal=Principal("amy", "clerk", ("north", "south"), ("billing:*",), "$customer.lee"),
        faults=FaultPlan((Fault(FaultKind.ANSWER_LOST, "refund_payment", nth=2, times=3, seconds=9),)),
    )


def test_the_catalog() -> None:
    assert parse(FULL, "a").offer == Offered(
        catalog="support@1",
        without=("find_customer",),
        withheld=("close_customer",),
        distractors=(Distractor("refund_order", Family.PARAMETER_TWIN, "store credit"),),
        changes=(CatalogChange(2, ("list_charges",), ("find_customer",), {"get_user": "person"}),),
        rename={"get_order": "order_of"},
    )


def test_the_user() -> None:
    assert parse(FULL, "a").user == User(
        "Refund order {$order.lamp.number}.",
        then=("And now?",),
        knows={"e-mail": "lee@example.test"},
        confirms="go on",
        changes_mind="rather not",
        chooses="the lamp",
        silent=True,
        patience=2,
    )


def test_the_expectations() -> None:
    assert parse(FULL, "a").expect == Contract(
        frozen=True,
        first=("search_orders",),
        first_reasons={"search_orders": "it has the number"},
        forbid={"refund_order": "store credit"},
        effects=(
            WantedEffect(
                "refund.created",
                {"payment": "$payment.first", "amount": 500, "currency": "USD", "part": True},
                times=1,
                most=2,
            ),
        ),
        arguments=(
            WantedArgument(
                "refund_payment",
                "payment_id",
                "$payment.first",
                compare=Compare.CASEFOLD,
                sources=("list_payments",),
                optional=False,
            ),
            WantedArgument("refund_payment", "amount_minor", 500, currency="USD"),
            WantedArgument("refund_payment", "lines", [1, "two"]),
            WantedArgument("refund_payment", "reason", absent=True),
        ),
        order=(
            OrderRule("refund_payment", before="list_payments"),
            OrderRule("refund_payment", confirm=True),
        ),
        clarification=Clarification.REQUIRED,
        asks=("which one",),
        refusal=Norm.ALLOWED,
        handoff=Norm.EXPECTED,
        states=(Stated("5.00 USD"), Stated("1", near=("refund",))),
        never_states=("nothing",),
        calls=("list_payments",),
        budgets=Budgets(calls=5, steps=6, turns=7),
        arguments_policy=ArgumentsPolicy.COERCE,
        closed=True,
        foreign=("$order.other",),
        distractors={"refund_order": "store credit"},
        labels=(Label("ann", ("search_orders",)), Label("bo", ())),
    )


def test_what_excludes_something_of_the_full_example() -> None:
    small = "scenario: a\nwhy: b\ntenants: [south]\ncatalog: {only: [get_order]}\nuser: {says: Hi.}\n"
    scenario = parse(f"{small}expect: {{read_only: true, first: []}}\n", "a")
    assert scenario.world.principal == Principal("agent", tenants=("south",))
    assert scenario.offer == Offered(only=("get_order",))
    assert scenario.expect == Contract(read_only=True, first=())
    assert (scenario.language, scenario.revision) == ("en", 1)


@pytest.mark.parametrize("kind", FaultKind)
def test_each_kind_of_fault(kind: FaultKind) -> None:
    world, _ = parse_world(f"world: {{}}\nfaults: [{{{kind}: get_order}}]\n", "a")
    assert tuple(world.faults) == (Fault(kind, "get_order"),)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("5 EUR", WantedArgument("tool", "name", 500, currency="EUR")),
        ("absent", WantedArgument("tool", "name", absent=True)),
        ("'absent'", WantedArgument("tool", "name", "absent")),
        ("{is: absent}", WantedArgument("tool", "name", absent=True)),
        ("{compare: ignored}", WantedArgument("tool", "name", compare=Compare.IGNORED)),
        ("{from: user}", WantedArgument("tool", "name", sources=("user",))),
        ("{required: true}", WantedArgument("tool", "name", optional=False)),
        ("true", WantedArgument("tool", "name", value=True)),
        ("-12", WantedArgument("tool", "name", -12)),
        ("[$order.a, ~]", WantedArgument("tool", "name", ["$order.a", None])),
    ],
)
def test_the_ways_to_write_an_argument(written: str, wanted: WantedArgument) -> None:
    text = f"scenario: a\nwhy: b\nuser: {{says: Hi.}}\nexpect: {{arguments: {{tool: {{name: {written}}}}}}}\n"
    assert parse(text, "a").expect.arguments == (wanted,)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("{note.added: {}}", WantedEffect("note.added")),
        ("{note.added: {}, times: 2}", WantedEffect("note.added", times=2)),
        ("{note.added: {}, at_most: 2}", WantedEffect("note.added", times=0, most=2)),
    ],
)
def test_the_ways_to_write_how_often(written: str, wanted: WantedEffect) -> None:
    text = f"scenario: a\nwhy: b\nuser: {{says: Hi.}}\nexpect: {{effects: [{written}]}}\n"
    assert parse(text, "a").expect.effects == (wanted,)


def test_a_catalog_file() -> None:
    catalog = parse_catalog(CATALOG_TEXT, "mine.catalog.yaml")
    plain, renamed, canned = catalog.tools
    assert (catalog.name, catalog.version, catalog.key) == ("mine", 2, "mine@2")
    assert (plain.name, plain.operation, plain.canned) == ("get_order", "get_order", False)
    assert (renamed.name, renamed.operation, renamed.deprecated) == (
        "find_user",
        "search_customers",
        "search_customers",
    )
    assert (canned.answers, canned.canned) == ({"sky": "clear", "at": "2026-01-01", "wind": 1.5}, True)
    assert (canned.description, canned.input_schema) == ("The sky.", {"type": "object"})
    assert str(catalog.places["tools.get_sky"]) == "mine.catalog.yaml:7"


# -- the one list of keys --------------------------------------------------------------------------------


def test_the_full_example_has_every_key_of_the_schema() -> None:
    wanted = set(keys_of(json_schema()))
    faults = {("faults", str(kind)) for kind in FaultKind}
    assert faults <= wanted
    assert wanted - set(keys_in(data(FULL), wanted)) - faults == EXCLUDED


def test_the_full_catalog_has_every_key_of_its_schema() -> None:
    wanted = set(keys_of(json_schema(CATALOG)))
    assert set(keys_in(data(CATALOG_TEXT), wanted)) == wanted
    assert {("tools", name) for name in TOOL.keys} <= wanted


@pytest.mark.parametrize(
    "path", [path for path in PATHS if isinstance(path[-1], str)], ids=lambda path: ".".join(map(str, path))
)
def test_no_key_is_ignored(path: Path) -> None:
    try:
        left = parse(dumped(without(path)), "a")
    except BadScenario:
        return
    whole = parse(dumped(data(FULL)), "a")
    assert dataclasses.replace(left, places={}) != dataclasses.replace(whole, places={})


# -- values that cannot be ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: WantedEffect("a.b", times=-1), "between times=-1 and most=None lies no count"),
        (lambda: WantedEffect("a.b", times=2, most=1), "between times=2 and most=1 lies no count"),
        (lambda: WantedEffect("a.b", times=0, most=0), "lies no count"),
        (lambda: WantedEffect("a.b", times=0), "is simply left out"),
        (lambda: WantedArgument("t", "a", 1, absent=True), "t.a: what must be absent has no value"),
        (lambda: WantedArgument("t", "a", absent=True, sources=("x",)), "no source"),
        (lambda: WantedArgument("t", "a", absent=True, optional=False), "must be absent"),
        (lambda: OrderRule("t"), "either a tool that comes before, or a confirmation"),
        (lambda: OrderRule("t", before="a", confirm=True), "either a tool that comes before"),
        (lambda: Contract(read_only=True, effects=(WantedEffect("a.b"),)), "drop one of the two"),
        (lambda: Contract(asks=("x",), clarification=Clarification.NOT_NEEDED), "drop one"),
        (lambda: Contract(first=("a", "b"), forbid={"b": "no"}), "b cannot be both"),
        (lambda: Distractor("t", Family.PREMATURE_TOOL, " "), "why is it wrong for this request?"),
        (lambda: CatalogChange(1, remove=("a",)), "write it so"),
        (lambda: CatalogChange(2), "name remove, add or rename"),
        (lambda: Offered(only=("a",), without=("b",)), "name one of the two"),
    ],
)
def test_an_impossible_value_is_refused_with_the_remedy(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        make()


def test_what_is_derived_from_a_contract() -> None:
    effect = WantedEffect("refund.created", {"payment": "$payment.a"})
    assert (str(effect), effect.limit) == ("refund.created payment=$payment.a", 1)
    assert (WantedArgument("t", "a", "$order.b").symbol, WantedArgument("t", "a", 3).symbol) == (
        "$order.b",
        None,
    )
    assert str(Stated("10", near=("refunded", "back"))) == "10 (about refunded, back)"
    people = (Label("ann", ("a",)), Label("bo", ("b",)))
    assert Contract(labels=people).ambiguous
    assert not Contract(labels=(people[0], Label("cy", ("a",)))).ambiguous
    assert Contract(first=("b",), labels=people).right_first == ("b", "a")
    assert (Contract().right_first, Contract(first=()).no_tool, Contract().no_tool) == (None, True, False)
    assert not Contract(first=(), labels=people).no_tool
    assert Contract(effects=(effect,)).writes_wanted
    assert not Contract(effects=(WantedEffect("a.b", times=0, most=1),)).writes_wanted


def test_a_place_is_that_of_the_nearest_part() -> None:
    scenario = parse(FULL, "a")
    assert str(scenario.place("catalog.changes.0.rename.get_user")) == "a:18"
    assert str(scenario.place("expect.arguments.refund_payment.nothing.at.all")) == "a:40"
    assert str(scenario.place("nowhere")) == "a:1"
    assert str(Scenario("b", "c", WorldSpec(), User("Hi."), Contract()).place("user.says")) == "b:1"
