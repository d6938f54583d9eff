"""The embedded agent, against the shipped services and against anything: what it gets right, and what it does not."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.fakes.answers import AnswerLost
from sandtrail.ledgers import Fault, FaultPlan
from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Decided,
    Decision,
    Message,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.specs import Catalog, FaultKind, ToolSpec
from sandtrail.sandbox.lexical import Lexical, lexical_digest
from sandtrail.sandbox.ranking import terms
from worlds import NORTH, world

DIGEST = "47bb88345c48bddf669ec6cc6fb0dad9986e8c457d268d3dea74c677e188c1ff"
"""The agent is frozen: it is never tuned on the scenarios. If you mean to change it, change this digest and say so in
the changelog."""


@dataclass
class Talk:
    """A conversation of the agent with a real world."""

    faults: FaultPlan = FaultPlan()  # noqa: RUF009  a frozen value
    messages: list[Message] = field(default_factory=list[Message])

    def __post_init__(self) -> None:
        self.world = world(principal=NORTH, faults=self.faults)

    def say(self, text: str) -> str:
        """The user says something; the agent's reply at the end of the turn."""
        self.messages.append(UserSaid(text))
        for _ in range(10):
            decision = Lexical().decide(tuple(self.messages), self.world.catalog)
            self.messages.append(Decided(decision))
            if isinstance(decision, Reply):
                return decision.text
            assert isinstance(decision, Calls)
            self.messages += map(self._answered, decision.calls)
        raise AssertionError("the agent does not end")

    def _answered(self, call: ToolCall) -> Answered:
        try:
            answer = self.world.call(call.tool, call.arguments)
        except AnswerLost:
            return Answered(call, f"{call.tool}: no answer within the time limit", is_error=True)
        return Answered(call, answer.text, is_error=not answer.ok)

    @property
    def calls(self) -> list[ToolCall]:
        """Every call so far."""
        return [message.call for message in self.messages if isinstance(message, Answered)]

    @property
    def tools(self) -> list[str]:
        """Their names."""
        return [call.tool for call in self.calls]


def decide(text: str, *tools: ToolSpec, before: Sequence[Message] = ()) -> Decision:
    return Lexical().decide((*before, UserSaid(text)), Catalog(tools))


def tool(name: str, description: str = "", required: Sequence[str] = (), **properties: Any) -> ToolSpec:
    return ToolSpec(name, description, {"type": "object", "properties": properties, "required": [*required]})


def called(decision: Decision) -> tuple[str, Mapping[str, Any]]:
    assert isinstance(decision, Calls)
    (call,) = decision.calls
    return call.tool, call.arguments


TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("charge", "charged"),
        ("cancel", "cancelled"),
        ("query", "queries"),
        ("carry", "carried"),
        ("box", "boxes"),
        ("find", "search"),
        ("e-mail", "emails"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other) != []


# -- near misses -------------------------------------------------------------------------------------------

ORDER, PAYMENT = "ord_TNJCHNQT", "pay_4F0ZJDQD"
PROMPTS: list[tuple[str, list[str], dict[str, Any]]] = [
    ("Find the customer account of lee@example.test.", ["search_customers"], {"email": "lee@example.test"}),
    ("Which invoice has the number INV-7?", ["search_invoices"], {"number": "INV-7"}),
    ("When was lee@example.test last seen? I mean the login, not the account.", ["get_user"], {}),
    (
        "Look up max@example.test in the nightly cache.",
        ["lookup_customer_cache"],
        {"email": "max@example.test"},
    ),
    ("Where are the parcels of order 4400?", ["search_orders", "track_shipment"], {}),
    ("Was I charged twice for order 4412?", ["search_orders", "list_charges"], {}),
    ("List the payments of order 4412.", ["search_orders", "list_payments"], {}),
    (
        "Refund 15.00 USD of the payment for order 4412.",
        ["search_orders", "list_payments", "refund_payment"],
        {"amount_minor": 1500},
    ),
    ("Give store credit of $5 for order 4412.", ["search_orders", "refund_order"], {"amount_minor": 500}),
    ("Cancel order 4412, please.", ["search_orders", "cancel_order"], {}),
    (
        "Cancel the plus subscription of lee@example.test.",
        ["search_customers", "list_subscriptions", "cancel_subscription"],
        {},
    ),
    ("What does max@example.test owe us?", ["search_customers", "get_balance"], {}),
    (
        "Show me the open invoices of max@example.test.",
        ["search_customers", "list_invoices"],
        {"status": "open"},
    ),
    (
        "Change the phone of lee@example.test to +15550009.",
        ["search_customers", "update_customer"],
        {"phone": "+15550009"},
    ),
    (
        "Change the address of order 4412 to 12 Oak Ave, Salem.",
        ["search_orders", "change_order_address"],
        {"address": "12 Oak Ave, Salem"},
    ),
    (
        "Add a note to the account of lee@example.test: prefers letters.",
        ["search_customers", "add_note"],
        {"text": "prefers letters"},
    ),
    ("Void invoice INV-7.", ["search_invoices", "void_invoice"], {}),
    (
        "Which orders of lee@example.test are delivered?",
        ["search_customers", "list_orders"],
        {"status": "delivered"},
    ),
    (
        "What did lee@example.test buy so far, in total? An overview will do.",
        ["search_customers", "get_customer_profile"],
        {},
    ),
    (
        "Order 4400 should come back, because the mat is too thin.",
        ["search_orders", "create_return"],
        {"reason": "the mat is too thin"},
    ),
    ("Cancel my order, please.", [], {}),
    ("What is the weather in Salem today?", [], {}),
    ("Don't cancel order 4412, just show it.", ["search_orders", "get_order"], {}),
    (
        "Refund the duplicate charge of order 4412.",
        ["search_orders", "list_charges", "refund_payment"],
        {},
    ),
]


def is_right(text: str, tools: list[str], arguments: dict[str, Any]) -> bool:
    talk = Talk()
    talk.say(text)
    last = {name: talk.calls[-1].arguments.get(name) for name in arguments} if talk.calls else {}
    return talk.tools == tools and last == arguments


def test_it_is_right_on_20_of_24_near_misses() -> None:
    wrong = [text for text, tools, arguments in PROMPTS if not is_right(text, tools, arguments)]
    assert len(PROMPTS) == 24
    assert wrong == [
        "Show me the open invoices of max@example.test.",
        "Which orders of lee@example.test are delivered?",
        "Don't cancel order 4412, just show it.",
        "Refund the duplicate charge of order 4412.",
    ]


def test_its_code_is_the_frozen_one() -> None:
    assert lexical_digest() == DIGEST


# -- the chain ---------------------------------------------------------------------------------------------


def test_it_looks_up_what_a_refund_needs() -> None:
    talk = Talk()
    reply = talk.say("Refund 15.00 USD of the payment for order 4412.")
    assert [(call.tool, dict(call.arguments)) for call in talk.calls] == [
        ("search_orders", {"number": "4412"}),
        ("list_payments", {"order_id": ORDER}),
        ("refund_payment", {"payment_id": PAYMENT, "amount_minor": 1500}),
    ]
    assert reply == "Done: refund_payment: amount 15.00 USD."


def test_an_amount_that_nobody_said_is_that_of_the_row_in_hand() -> None:
    talk = Talk()
    talk.say("Refund the payment of order 4412.")
    assert talk.calls[-1].arguments == {"payment_id": PAYMENT, "amount_minor": 4250}


def test_a_deprecated_tool_comes_last() -> None:
    old = tool("find_customer", "Deprecated: use search_customers. Find customers.", ["email"], email=TEXT)
    new = tool("search_customers", "Find customers.", ["email"], email=TEXT)
    assert called(decide("Find the customer a@b.cc", old, new))[0] == "search_customers"


def test_what_a_tool_is_not_for_does_not_draw_it() -> None:
    invoices = tool("list_all", "List invoices. Not for payments.")
    others = tool("list_some", "List payments and invoices.")
    assert called(decide("payments", invoices, others))[0] == "list_some"


def test_a_number_is_an_id_only_where_nothing_looks_it_up() -> None:
    get = tool("get_order", "Read one order.", ["order_id"], order_id=TEXT)
    whole = tool("get_order", "Read one order.", ["order_id"], order_id={"type": "integer"})
    search = tool("search_orders", "Find an order. Returns orders.", ["number"], number=TEXT)
    assert called(decide("Read the order 4412", get)) == ("get_order", {"order_id": "4412"})
    assert called(decide("Read the order 4412", whole)) == ("get_order", {"order_id": 4412})
    assert called(decide("Read the order 4412", get, search))[0] == "search_orders"


def test_a_list_of_one_object_is_filled_and_a_harder_one_is_asked_for() -> None:
    item = {"type": "object", "properties": {"sku": TEXT}, "required": ["sku"]}
    add = tool("add_items", "Add items.", ["items"], items={"type": "array", "items": item})
    assert called(decide("Add items with sku LAMP-1", add)) == ("add_items", {"items": [{"sku": "LAMP-1"}]})
    decision = decide("Add items", add)
    assert isinstance(decision, Reply)
    assert decision.text == "What is the items? I need it for add_items."


def test_a_default_or_an_only_choice_fills_a_required_argument() -> None:
    run = tool("run_report", "Run a report.", ["mode", "size", "kind"])
    run.input_schema["properties"].update(
        mode={"enum": ["fast"]}, size={"type": "integer", "default": 3}, kind={"const": "pdf"}
    )
    assert called(decide("Run a report", run))[1] == {"mode": "fast", "size": 3, "kind": "pdf"}


def test_a_chain_is_three_look_ups_long_at_most() -> None:
    def look(name: str, needs: str) -> ToolSpec:
        return tool(f"get_{name}", f"Read it. Returns the {name}.", [needs], **{needs: TEXT})

    cut = tool("cut_leaf", "Cut a leaf.", ["leaf_id"], leaf_id=TEXT)
    links = [look("leaf", "twig_id"), look("twig", "branch_id")]
    short = decide("Cut the leaf, root: oak", cut, *links, look("branch", "root"))
    assert called(short) == ("get_branch", {"root": "oak"})
    long = decide("Cut the leaf, root: oak", cut, *links, look("branch", "trunk_id"), look("trunk", "root"))
    assert long == Reply("What is the leaf id? I need it for cut_leaf.")


def test_a_result_or_a_schema_nested_too_deep_gives_nothing() -> None:
    deep: Any = {"order_id": "o1"}
    items: Any = {"type": "array", "items": {"type": "string"}}
    for _ in range(20):
        deep = {"inner": deep}
        items = {"type": "array", "items": items}
    get = tool("get_order", "Read one order.", ["order_id"], order_id=TEXT)
    before = Answered(ToolCall("call_1", "peek", {}), json.dumps(deep), is_error=False)
    assert isinstance(decide("Read my order", get, before=(UserSaid("peek"), before)), Reply)
    assert isinstance(decide('Run "it"', tool("run", "Run it.", ["items"], items=items)), Reply)


def test_only_an_id_whose_type_the_schema_takes_is_drawn_from_results() -> None:
    get = tool("get_order", "Read one order.", ["order_id"], order_id={"type": "integer"})
    before = Answered(ToolCall("call_1", "peek", {}), '{"order_id": "o1", "id": 4}', is_error=False)
    assert isinstance(decide("Read my order", get, before=(UserSaid("peek"), before)), Reply)
    assert isinstance(decide("Read my order x4412", get), Reply)


# -- turns -------------------------------------------------------------------------------------------------


def test_an_earlier_result_serves_a_later_request() -> None:
    talk = Talk()
    talk.say("Find order 4412.")
    talk.say("Cancel the order, please.")
    assert talk.tools == ["search_orders", "cancel_order"]


def test_an_earlier_result_does_not_serve_a_request_that_names_another_thing() -> None:
    talk = Talk()
    talk.say("Find order 4412.")
    talk.say("Track the parcels of order 4400.")
    assert talk.tools == ["search_orders", "search_orders", "track_shipment"]
    assert talk.calls[1].arguments == {"number": "4400"}


def test_an_answer_to_its_question_continues_the_request() -> None:
    talk = Talk()
    assert talk.say("Cancel my order, please.") == "What is the order id? I need it for cancel_order."
    talk.say("It is 4412.")
    assert talk.tools == ["search_orders", "cancel_order"]


def test_a_question_in_return_is_a_new_request() -> None:
    talk = Talk()
    talk.say("Cancel my order, please.")
    talk.say("Where are the parcels of order 4400?")
    assert talk.tools == ["search_orders", "track_shipment"]


@pytest.mark.parametrize("text", ["Hello!", "Thank you so much.", "", "👋"])
def test_a_greeting_gets_words(text: str) -> None:
    talk = Talk()
    assert talk.say(text) == "You are welcome. Tell me what you need."
    assert not talk.calls


def test_without_a_message_or_a_tool_it_has_words() -> None:
    assert isinstance(Lexical().decide((), Catalog(())), Reply)
    decision = decide("Find order 4412")
    assert decision == Reply("I have no tool for that. Can you say it in other words?")


# -- answers -----------------------------------------------------------------------------------------------


def test_it_never_makes_the_same_call_again_after_an_answer() -> None:
    talk = Talk()
    first = talk.say("What does max@example.test owe us?")
    assert talk.say("What does max@example.test owe us?") == first
    assert len(talk.calls) == 2


def test_a_lost_answer_is_retried_once_and_naively() -> None:
    lost = Fault(FaultKind.ANSWER_LOST, "refund_payment")
    talk = Talk(FaultPlan((lost,)))
    talk.say("Refund 15.00 USD of the payment for order 4412.")
    assert talk.tools == ["search_orders", "list_payments", "refund_payment", "refund_payment"]
    assert len(talk.world.ledger.effects("refund.created")) == 2


def test_after_a_second_failure_it_gives_up() -> None:
    down = Fault(FaultKind.UNAVAILABLE, "search_orders", times=5)
    talk = Talk(FaultPlan((down,)))
    assert talk.say("Find order 4412.").startswith("I could not do that: ")
    assert talk.tools == ["search_orders", "search_orders"]


def test_a_refusal_is_told_and_not_retried() -> None:
    talk = Talk()
    assert talk.say("Cancel order 4400.") == "I could not do that: ord_J88KW2G5 is delivered."
    assert talk.tools == ["search_orders", "cancel_order"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("list_orders", '{"orders": [], "next_cursor": null}', "I found no orders."),
        ("list_orders", '{"orders": [{"number": "1", "paid": true}]}', "I found 1 order: number 1, paid yes."),
        ("get_sum", '{"orders_total": 2, "paid_total": 900, "currency": "JPY"}', "I found this: orders total 2, paid total 900 JPY."),
        ("get_rate", '{"rate": 1.5, "a": {"id": "x"}}', "I found this: rate 1.5."),
        ("get_text", "plain words", "I found this: plain words."),
        ("send_mail", "", "Done: send_mail."),
        ("send_mail", '{"to": "a@b.cc"}', "Done: send_mail: to a@b.cc."),
    ],
)  # fmt: skip
def test_a_result_is_told_in_words(name: str, text: str, told: str) -> None:
    spec = tool(name)
    call = ToolCall("call_1", name, {})
    asked = UserSaid(name.replace("_", " "))
    conversation = (asked, Decided(Calls((call,))), Answered(call, text, is_error=False))
    assert Lexical().decide(conversation, Catalog((spec,))) == Reply(told)


# -- its weaknesses, kept ----------------------------------------------------------------------------------


def test_it_reads_past_a_negation() -> None:
    talk = Talk()
    talk.say("Don't cancel order 4412, just show it.")
    assert talk.tools[-1] == "cancel_order"


def test_it_refunds_the_first_payment_whichever_was_meant() -> None:
    talk = Talk()
    talk.say("Refund the second payment of order 4412.")
    assert talk.calls[-1].arguments["payment_id"] == PAYMENT


def test_it_takes_the_first_email_for_the_one_to_look_up() -> None:
    talk = Talk()
    talk.say("Set the e-mail to new@example.test for the customer lee@example.test.")
    assert talk.calls[0].arguments == {"email": "new@example.test"}


def test_it_does_one_thing_of_two() -> None:
    talk = Talk()
    talk.say("Cancel order 4412 and add a note to its customer: asked by phone.")
    assert ("cancel_order" in talk.tools) != ("add_note" in talk.tools)


# -- anything ----------------------------------------------------------------------------------------------

names = st.sampled_from(["find_it", "getOrder", "list", "x", "_", "delete_order", "日本", "search_orders"])
keys = st.sampled_from(
    ["id", "order_id", "orderId", "email", "amount_minor", "name", "reason", "日", "", "items"]
)
texts = st.text(max_size=60) | st.sampled_from(
    [
        "Find order 4412",
        "delete order ord_AB12 for 5 USD to X, a@b.cc",
        "list 'it'",
        "x\ud800",
        "order " * 3000,
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def schemas(depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of good and of bad shape."""
    plain = st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["string", "integer", "number", "boolean", "array", "object", ["null", "string"], 3]
            ),
            "enum": st.lists(st.text(max_size=4), max_size=2) | st.none(),
            "pattern": st.sampled_from(["^a$", "(", "(a+)+$"]),
            "minLength": st.integers() | st.text(max_size=1),
            "$ref": st.sampled_from(["#/$defs/A", "#", "http://x", "#/properties/id"]),
            "anyOf": st.just([3, {"type": "string"}]),
            "description": st.sampled_from(["an e-mail address", "in minor units"]) | st.none(),
        },
    )
    if not depth:
        return plain
    inner = schemas(depth - 1)
    nested = st.fixed_dictionaries(
        {"properties": st.dictionaries(keys, inner, max_size=4) | st.none()},
        optional={
            "required": st.lists(keys | st.integers(), max_size=3),
            "items": inner,
            "type": st.just("object"),
        },
    )
    return plain | nested


tools = st.builds(
    ToolSpec,
    names,
    st.sampled_from(["", "Find an order. Returns orders.", "Give one of the two."]),
    schemas(),
)
catalogs = st.lists(tools, max_size=5, unique_by=lambda one: one.name).map(
    lambda found: Catalog(tuple(found))
)
results = json_values.map(json.dumps) | texts | st.just("[" * 5000)
calls = st.builds(ToolCall, st.just("c"), names, st.dictionaries(keys, json_values, max_size=2))
messages = (
    st.builds(UserSaid, texts)
    | st.builds(Answered, calls, results, is_error=st.booleans())
    | st.sampled_from([Decided(Reply("What is the order id? I need it for x.")), Decided(Reply("ok"))])
)


@settings(max_examples=300, deadline=None)
@given(st.lists(messages, max_size=5), texts, catalogs)
def test_it_never_raises_and_every_call_is_well_formed(
    said: list[Message], text: str, catalog: Catalog
) -> None:
    conversation = (*said, UserSaid(text))
    for seen in (conversation, tuple(said)):
        decision = Lexical().decide(seen, catalog)
        assert decision == Lexical().decide(seen, catalog)
        if isinstance(decision, Calls):
            (call,) = decision.calls
            assert call.tool in catalog
            json.dumps(dict(call.arguments))
        else:
            assert isinstance(decision, Reply)
            assert decision.text
