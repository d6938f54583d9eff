"""Agents that understand nothing: the floor that a score must be above.

    DoNothing    replies at once, and claims nothing
    FirstTool    calls the first tool of the catalog, whatever was said, then replies
    RandomTool   calls any tool with anything it has seen, or replies

A scenario that one of them passes measures little. All of them decide the same each time.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers.conversation import Answered, Calls, Conversation, Decided, Decision, Reply, ToolCall
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trees import as_list, leaves
from sandtrail.sandbox.mentions import Parameter, fits, parameters, resolved

NEUTRAL = "All right."
"""What a floor agent says: nothing that could be true or false."""

_DEEPEST = 4
_TEXTS = ("x@x.xx", "00000", "XX", "XXX", "2026-01-01", "2026-01-01T00:00:00Z")


def minimal(schema: Mapping[str, Any], *, depth: int = 0) -> Any:
    """The smallest instance of a schema: only what it requires, each value the least that it takes.

    Text is "x", or of a few common shapes the first that fits; a pattern that none of them has is left unmet.

    >>> minimal({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]})
    {'n': 1}
    """
    if "const" in schema:
        return schema["const"]
    if choices := as_list(schema.get("enum")):
        return choices[0]
    if schema.get("type") == "null":
        return None
    kind = Parameter("", schema, required=True).type or ("object" if "properties" in schema else "string")
    if kind == "array":
        item = resolved(schema.get("items"), schema)
        return [minimal(item, depth=depth + 1)] * _least(schema, "minItems", 10) if depth < _DEEPEST else []
    if kind == "object":
        needed = [one for one in parameters(schema) if one.required] if depth < _DEEPEST else []
        return {one.name: minimal(one.schema, depth=depth + 1) for one in needed}
    if kind == "string":
        plain = "x" * max(1, _least(schema, "minLength", 1000))
        return next((text for text in (plain, *_TEXTS) if fits(text, schema)), plain)
    return False if kind == "boolean" else _least(schema, "minimum", None)


def _least(schema: Mapping[str, Any], key: str, most: int | None) -> int:
    """A limit in a schema as a whole number, 0 where there is none."""
    found = schema.get(key)
    least = int(found) if isinstance(found, int) else 0
    return least if most is None else max(0, min(least, most))


@dataclass(frozen=True, slots=True)
class DoNothing:
    """Replies at once.

    >>> DoNothing().decide((), Catalog(()))
    Reply(text='All right.', declared=None)
    """

    name: str = "do-nothing"

    def decide(self, _: Conversation, __: Catalog, /) -> Decision:
        """The same reply, whatever was said."""
        return Reply(NEUTRAL)


@dataclass(frozen=True, slots=True)
class FirstTool:
    """Calls the first tool of the catalog with the smallest arguments it takes, then replies; in each turn anew."""

    name: str = "first-tool"

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
        """A call of the first tool, or a reply after it has answered."""
        if not catalog.tools or (conversation and isinstance(conversation[-1], Answered)):
            return Reply(NEUTRAL)
        tool = catalog.tools[0]
        return _call(tool, minimal({**tool.input_schema, "type": "object"}), conversation)


@dataclass(frozen=True, slots=True)
class RandomTool:
    """One time in three replies; else calls any tool, each required argument a value out of a result or minimal.

    The dice are cast from the seed, the number of decisions made and the length of the conversation.
    """

    seed: int = 0
    name: str = "random"

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
        """A throw of the dice."""
        step = sum(isinstance(message, Decided) for message in conversation)
        dice = random.Random(f"{self.seed} {step} {len(conversation)}")
        if not catalog.tools or dice.randrange(3) == 0:
            return Reply(NEUTRAL)
        tool = dice.choice(catalog.tools)
        found = _seen(conversation)
        arguments: dict[str, Any] = {}
        for parameter in parameters(tool.input_schema):
            if parameter.required:
                fitting = [value for value in found if fits(value, parameter.schema)]
                from_results = fitting and dice.randrange(2) == 0
                arguments[parameter.name] = (
                    dice.choice(fitting) if from_results else minimal(parameter.schema)
                )
        return _call(tool, arguments, conversation)


def _seen(conversation: Conversation) -> list[Any]:
    """Every leaf of every result, in order."""
    found: list[Any] = []
    for message in conversation:
        if isinstance(message, Answered):
            try:
                found += [value for _, value in leaves(json.loads(message.text))]
            except (ValueError, RecursionError):
                continue
    return found


def _call(tool: ToolSpec, arguments: dict[str, Any], conversation: Conversation) -> Decision:
    number = sum(isinstance(message, Answered) for message in conversation) + 1
    return Calls((ToolCall(f"call_{number}", tool.name, arguments),))
