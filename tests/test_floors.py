"""Floor agents: they understand nothing, do so the same each time, and their calls are well formed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.ledgers.conversation import Answered, Calls, Decided, Message, Reply, ToolCall, UserSaid
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.sandbox.floors import NEUTRAL, DoNothing, FirstTool, RandomTool, minimal
from sandtrail.sandbox.mentions import fits
from worlds import world

ASKED = (UserSaid("Refund order 4412."),)
SHAPES: list[tuple[dict[str, Any], Any]] = [
    ({"type": "string"}, "x"),
    ({"type": "string", "minLength": 3}, "xxx"),
    ({"type": "string", "pattern": "^[A-Z]{3}$"}, "XXX"),
    ({"type": "string", "pattern": r"^[^@\s]+@[^@\s]+\.[^@\s]+$"}, "x@x.xx"),
    ({"type": "string", "pattern": "^never matched$"}, "x"),
    ({"type": "integer"}, 0),
    ({"type": "integer", "minimum": 7}, 7),
    ({"type": "number"}, 0),
    ({"type": "boolean"}, False),
    ({"type": "null"}, None),
    ({"const": 3}, 3),
    ({"enum": ["open", "paid"]}, "open"),
    ({"type": "array"}, []),
    ({"type": "array", "minItems": 1, "items": {"type": "integer"}}, [0]),
    ({"type": ["null", "integer"]}, 0),
    ({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}, {"a": "x"}),
    ({}, "x"),
]


@pytest.mark.parametrize(("schema", "value"), SHAPES)
def test_a_minimal_instance_has_only_what_the_schema_requires(schema: dict[str, Any], value: Any) -> None:
    assert minimal(schema) == value


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": ["next"]}
    assert json.dumps(minimal({**node, "$defs": {"Node": node}})).count("next") == 4


def test_doing_nothing_claims_nothing() -> None:
    assert DoNothing().decide(ASKED, Catalog(())) == Reply(NEUTRAL)
    assert DoNothing().name == "do-nothing"


def test_the_first_tool_is_called_once_in_each_turn() -> None:
    opened = world()
    agent, catalog = FirstTool(), opened.catalog
    decided = agent.decide(ASKED, catalog)
    assert isinstance(decided, Calls)
    (call,) = decided.calls
    assert (call.tool, call.arguments) == (catalog.tools[0].name, {})
    answered = (*ASKED, Decided(decided), Answered(call, "{}", is_error=False))
    assert agent.decide(answered, catalog) == Reply(NEUTRAL)
    again = (*answered, Decided(Reply(NEUTRAL)), UserSaid("And now?"))
    assert isinstance(agent.decide(again, catalog), Calls)


def test_without_tools_a_floor_agent_replies() -> None:
    for agent in (DoNothing(), FirstTool(), RandomTool(3)):
        assert agent.decide(ASKED, Catalog(())) == Reply(NEUTRAL)


def test_every_shipped_tool_has_a_minimal_instance_of_its_required_arguments() -> None:
    for tool in world().catalog.tools:
        instance = minimal(tool.input_schema)
        assert set(instance) == set(tool.input_schema.get("required", ()))
        for name, value in instance.items():
            assert fits(value, tool.input_schema["properties"][name])


def test_the_dice_fall_the_same_for_one_seed_and_differently_for_others() -> None:
    catalog = world().catalog
    throws = [RandomTool(seed).decide(ASKED, catalog) for seed in range(60)]
    assert throws == [RandomTool(seed).decide(ASKED, catalog) for seed in range(60)]
    replies = sum(isinstance(decision, Reply) for decision in throws)
    assert 10 <= replies <= 30
    assert len({decision.calls[0].tool for decision in throws if isinstance(decision, Calls)}) > 10


def test_random_arguments_come_from_results_too() -> None:
    tool = ToolSpec("get", "", {"properties": {"id": {"type": "string"}}, "required": ["id"]})
    said = Answered(ToolCall("c", "get", {}), '{"id": "pay_1", "n": 1}', is_error=False)
    throws = [RandomTool(seed).decide((*ASKED, said), Catalog((tool,))) for seed in range(60)]
    given = {decision.calls[0].arguments["id"] for decision in throws if isinstance(decision, Calls)}
    assert given == {"x", "pay_1"}


@settings(max_examples=60, deadline=None)
@given(st.integers(), st.lists(st.sampled_from(["{}", '["a", 1]', "no JSON", "[" * 3000, "NaN"]), max_size=3))
def test_no_answer_makes_a_floor_agent_raise(seed: int, texts: list[str]) -> None:
    call = ToolCall("c", "get", {})
    messages: tuple[Message, ...] = tuple(Answered(call, text, is_error=False) for text in texts)
    schema = {"properties": {"a": {}, "b": {"type": "integer"}}, "required": ["a", "b"]}
    catalog = Catalog((ToolSpec("get", "", schema),))
    for agent in (DoNothing(), FirstTool(), RandomTool(seed)):
        decision = agent.decide(messages, catalog)
        if isinstance(decision, Calls):
            json.dumps(dict(decision.calls[0].arguments), allow_nan=False)
