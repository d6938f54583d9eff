"""The toolbox: what is behind a name, what is withheld, and that nothing is dispatched to a neighbour."""

from __future__ import annotations

import json

import pytest

from sandtrail.fakes import World
from sandtrail.ledgers import Outcome
from sandtrail.ledgers.conversation import ToolCall
from sandtrail.sandbox.toolbox import BadOffer, Toolbox, all_tools, offered, own_tool
from sandtrail.scenarios.scenario import CatalogChange, CatalogFile, Offered, ToolEntry
from worlds import NORTH, world

CATALOG = CatalogFile(
    "mine",
    1,
    (
        ToolEntry("search_orders", "search_orders"),
        ToolEntry("get_order", "get_order"),
        ToolEntry("cancel_order", "cancel_order"),
        ToolEntry("order_search", "search_orders", deprecated="search_orders"),
        ToolEntry("find_order", "search_orders", "Finds an order by its number."),
        ToolEntry(
            "weather", None, "Tells the weather.", answers={"sky": "clear"}, input_schema={"type": "object"}
        ),
    ),
)


def boxes(opened: World, offer: Offered = Offered()) -> tuple[Toolbox, ...]:  # noqa: B008  a frozen value
    return offered(offer, all_tools(opened.services, CATALOG))


def call(tool: str, **arguments: object) -> ToolCall:
    return ToolCall("c1", tool, arguments)


def test_a_renamed_operation_does_what_it_did() -> None:
    with world() as opened:
        (box,) = boxes(opened)
        for name in ("search_orders", "order_search", "find_order"):
            answer = box.act(opened, call(name, number="4412"), NORTH)
            assert json.loads(answer.text)["orders"][0]["number"] == "4412"
        assert {attempt.operation for attempt in opened.ledger.attempts()} == {"search_orders"}


def test_words_of_the_catalog_stand_for_those_of_the_operation() -> None:
    with world() as opened:
        said = {tool.name: tool.description for tool in boxes(opened)[0].catalog.tools}
    assert said["find_order"] == "Finds an order by its number."
    assert said["order_search"].startswith("Deprecated: use search_orders. Find an order")


def test_a_canned_reply_reaches_no_service() -> None:
    with world() as opened:
        answer = boxes(opened)[0].act(opened, call("weather"), NORTH)
        assert (json.loads(answer.text), answer.attempt, answer.is_error) == ({"sky": "clear"}, None, False)
        assert opened.ledger.attempts() == []


def test_a_made_up_name_is_unknown_and_runs_nothing_near_it() -> None:
    with world() as opened:
        answer = boxes(opened)[0].act(opened, call("cancelorder", order_id=opened.id("$order.lamp")), NORTH)
        assert answer.is_error
        assert "There is no tool cancelorder" in answer.text
        assert [attempt.outcome for attempt in opened.ledger.attempts()] == [Outcome.UNKNOWN]
        assert opened.ledger.read_only


def test_a_withheld_tool_is_unavailable_and_answered_like_one_that_is_not_there() -> None:
    with world() as opened:
        (box,) = boxes(opened, Offered(withheld=("cancel_order",)))
        withheld = box.act(opened, call("cancel_order", order_id=opened.id("$order.lamp")), NORTH)
        unknown = box.act(opened, call("cancel_orders", order_id=opened.id("$order.lamp")), NORTH)
        outcomes = [attempt.outcome for attempt in opened.ledger.attempts()]
        assert outcomes == [Outcome.UNAVAILABLE, Outcome.UNKNOWN]
        assert withheld.text.replace("cancel_order.", "X.") == unknown.text.replace("cancel_orders.", "X.")
        assert opened.ledger.read_only


def test_an_operation_that_the_catalog_lacks_cannot_be_reached_by_its_name() -> None:
    with world() as opened:
        payment = opened.id("$payment.first")
        answer = boxes(opened)[0].act(
            opened, call("refund_payment", payment_id=payment, amount_minor=1), NORTH
        )
        assert answer.is_error
        assert opened.ledger.read_only


def test_arguments_that_are_no_object_are_on_record_as_sent_and_not_carried_out() -> None:
    with world() as opened:
        raw = '{"order_id": \\n"x"}'
        answer = boxes(opened)[0].act(opened, ToolCall.read("c1", "cancel_order", raw), NORTH)
        (attempt,) = opened.ledger.attempts()
        assert answer.is_error
        assert (attempt.outcome, attempt.arguments) == (Outcome.INVALID, raw)


def test_an_empty_argument_text_is_no_arguments() -> None:
    with world() as opened:
        box = Toolbox(all_tools(opened.services))
        answer = box.act(opened, ToolCall.read("c1", "search_customers", ""), NORTH)
        assert json.loads(answer.text)["rule"] == "search.empty"


def test_a_lost_answer_is_an_error_whose_commit_is_in_the_books() -> None:
    with world() as opened:
        opened.faults.lose_answer("refund_payment")
        arguments = {"payment_id": opened.id("$payment.first"), "amount_minor": 5}
        box = Toolbox(all_tools(opened.services))
        answer = box.act(opened, ToolCall("c1", "refund_payment", arguments), NORTH)
        assert answer.is_error
        assert "no answer within the time limit" in answer.text
        assert len(opened.ledger.effects("refund.created")) == 1


# -- functions of the user's own -------------------------------------------------------------------------


def test_a_function_is_a_tool_and_its_attempts_are_those_it_makes() -> None:
    with world() as opened:

        def twice(number: str, loud: bool = False) -> dict[str, int]:  # noqa: FBT001, FBT002  a tool's argument
            """Search an order
            two times."""
            found = [opened.call("search_orders", number=number) for _ in range(2)]
            return {"found": len(found), "loud": int(loud)}

        tool = own_tool(twice)
        box = Toolbox((tool,))
        answer = box.act(opened, call("twice", number="4412"), NORTH)
    assert tool.spec.description == "Search an order two times."
    assert tool.spec.input_schema["required"] == ["number"]
    assert (json.loads(answer.text)["found"], answer.attempt, answer.attempts) == (2, 1, (1, 2))


def test_what_a_function_raises_is_its_answer() -> None:
    def broken() -> str:
        """Break."""
        raise ZeroDivisionError("oops")

    with world() as opened:
        answer = Toolbox((own_tool(broken),)).act(opened, call("broken"), NORTH)
    assert (answer.is_error, answer.text, answer.attempt) == (True, "ZeroDivisionError: oops", None)


def test_a_function_without_words_or_types_is_no_tool() -> None:
    def silent(number: str) -> None: ...

    def untyped(number) -> None:  # type: ignore[no-untyped-def]
        """Look."""

    with pytest.raises(ValueError, match="has no docstring"):
        own_tool(silent)
    with pytest.raises(ValueError, match="number has no annotation"):
        own_tool(untyped)  # pyright: ignore[reportUnknownArgumentType]


# -- what a scenario offers ------------------------------------------------------------------------------


def names(box: Toolbox) -> list[str]:
    return [tool.name for tool in box.catalog.tools]


def test_only_and_without_narrow_the_catalog_in_its_own_order() -> None:
    with world() as opened:
        assert names(boxes(opened, Offered(only=("get_order", "search_orders")))[0]) == [
            "search_orders",
            "get_order",
        ]
        without = Offered(without=("weather", "find_order", "order_search"))
        assert names(boxes(opened, without)[0]) == ["search_orders", "get_order", "cancel_order"]


def test_the_catalog_changes_when_a_turn_begins() -> None:
    changes = (
        CatalogChange(3, rename={"get_order": "order_details"}),
        CatalogChange(2, remove=("cancel_order",), add=("weather",)),
    )
    with world() as opened:
        first, second, third = boxes(opened, Offered(only=("get_order", "cancel_order"), changes=changes))
    assert [(box.turn, names(box)) for box in (first, second, third)] == [
        (1, ["get_order", "cancel_order"]),
        (2, ["get_order", "weather"]),
        (3, ["order_details", "weather"]),
    ]
    assert third.offer(7).name_of("order_details") == "get_order"
    assert "cancel_order" in second.offer(0).withheld


def test_descriptions_speak_of_a_renamed_tool_by_its_present_name() -> None:
    with world() as opened:
        (box,) = offered(Offered(rename={"list_payments": "payments_of"}), all_tools(opened.services))
    said = {tool.name: tool.description for tool in box.catalog.tools}
    assert "payments_of" in said
    assert not [text for text in said.values() if "list_payments" in text]


@pytest.mark.parametrize(
    ("offer", "part"),
    [
        (Offered(only=("nope",)), "catalog.only"),
        (Offered(withheld=("nope",)), "catalog.withheld"),
        (Offered(rename={"nope": "x"}), "catalog.rename"),
        (Offered(changes=(CatalogChange(2, remove=("nope",)),)), "catalog.changes.0.remove"),
        (
            Offered(changes=(CatalogChange(3, add=("nope",)), CatalogChange(2, remove=("get_order",)))),
            "catalog.changes.0.add",
        ),
    ],
)
def test_a_name_that_the_catalog_lacks_is_told_with_its_part(offer: Offered, part: str) -> None:
    with world() as opened, pytest.raises(BadOffer) as error:
        boxes(opened, offer)
    assert (error.value.part, error.value.name) == (part, "nope")


def test_a_catalog_file_with_an_operation_that_is_not_there_is_refused() -> None:
    with world() as opened, pytest.raises(BadOffer, match="no tool 'fly'"):
        all_tools(opened.services, CatalogFile("x", 1, (ToolEntry("a", "fly"),)))
