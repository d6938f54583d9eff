"""The format of scenario files, written down once: the reader takes its keys from here, and so does the JSON Schema.

FORMAT          a scenario file           CATALOG   a catalog file
json_schema()   what an editor completes and checks by
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sandtrail.ledgers.specs import FaultKind

SYMBOL_PATTERN = r"^\$[a-z][a-z_]*\.[A-Za-z0-9][A-Za-z0-9_-]*$"
ID_PATTERN = r"^[a-z0-9][a-z0-9-]{0,79}$"
TOOL_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"
_WORDS = r"\S"


@dataclass(frozen=True)
class Shape:
    """What may stand at one place: named `keys` (an object), or whatever `schema` says; with keys, it says more."""

    text: str
    keys: Mapping[str, Shape] = field(default_factory=dict[str, "Shape"])
    required: tuple[str, ...] = ()
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def as_json_schema(self) -> dict[str, Any]:
        """This shape as JSON Schema (2020-12)."""
        if not self.keys:
            return {"description": self.text, **self.schema}
        return {
            "description": self.text,
            "type": "object",
            "properties": {name: shape.as_json_schema() for name, shape in self.keys.items()},
            "required": list(self.required),
            "additionalProperties": False,
            **self.schema,
        }


def _of(text: str, **schema: Any) -> Shape:
    return Shape(text, schema=schema)


def _text(text: str, **schema: Any) -> Shape:
    return _of(text, type="string", **schema)


def _words(text: str) -> Shape:
    return _text(text, pattern=_WORDS)


def _texts(text: str, **schema: Any) -> Shape:
    return _of(text, type="array", items={"type": "string"}, uniqueItems=True, **schema)


def _one_or_more(text: str) -> Shape:
    return _of(text, anyOf=[{"type": "string"}, {"type": "array", "items": {"type": "string"}}])


def _number(text: str, least: int = 0) -> Shape:
    return _of(text, type="integer", minimum=least)


def _flag(text: str) -> Shape:
    return _of(text, type="boolean")


def _word(text: str, *words: str) -> Shape:
    return _of(text, enum=list(words))


def _list(text: str, *items: Shape) -> Shape:
    shown = [item.as_json_schema() for item in items]
    return _of(text, type="array", items=shown[0] if len(shown) == 1 else {"anyOf": shown})


def _named(text: str, item: Shape, pattern: str | None = None) -> Shape:
    """An object whose keys are names."""
    schema: dict[str, Any] = {"type": "object", "additionalProperties": item.as_json_schema()}
    if pattern is not None:
        schema["propertyNames"] = {"pattern": pattern}
    return Shape(text, schema=schema)


def _one_of(*sets: tuple[str, ...]) -> list[dict[str, Any]]:
    """Exactly one of these sets of keys."""
    return [{"required": list(names)} for names in sets]


SCALAR = _of("one value; money as 42.50 USD", type=["string", "integer", "boolean", "null"])

PRINCIPAL = Shape(
    "who the agent acts as",
    {
        "subject": _text("its name in the books"),
        "role": _text("support, customer, ..."),
        "tenants": _texts("the tenants it serves", minItems=1),
        "scopes": _texts("what it may do: customers:read, billing:*, *"),
        "customer": _text("narrows everything to one customer's own rows", pattern=SYMBOL_PATTERN),
    },
)

DISTRACTOR = Shape(
    "a tool that looks right and is not",
    {
        "tool": _text("its name"),
        "family": _word(
            "how it resembles the right one",
            "lexical_neighbour",
            "parameter_twin",
            "domain_neighbour",
            "permission_mismatch",
            "deprecated_alias",
            "premature_tool",
        ),
        "why": _words("why it is wrong for this request"),
    },
    ("tool", "family", "why"),
)

CHANGE = Shape(
    "what changes in the catalog when a turn begins",
    {
        "turn": _number("the turn, from 2", 2),
        "remove": _texts("tools that go"),
        "add": _texts("tools that come"),
        "rename": _named("old name: new name", _text("the new name", pattern=TOOL_PATTERN)),
    },
    ("turn",),
    {"anyOf": _one_of(("remove",), ("add",), ("rename",))},
)

OFFER = Shape(
    "which tools the agent is offered",
    {
        "from": _text("a versioned catalog: support@1, or a file NAME.catalog.yaml beside this one"),
        "only": _texts("these tools and no others"),
        "without": _texts("all tools but these"),
        "withheld": _texts("tools that exist and are not offered to this principal"),
        "distractors": _list("tools that look right and are not", DISTRACTOR),
        "changes": _list("what changes between turns", CHANGE),
        "rename": _named("old name: new name, from the start", _text("the new name", pattern=TOOL_PATTERN)),
    },
    schema={"not": {"required": ["only", "without"]}},
)

USER = Shape(
    "the scripted user",
    {
        "says": _words("the first message; {$order.lamp.number} is filled in, {$order.lamp} is the raw id"),
        "then": _list("what it says next, one message whenever the agent has answered", _words("a message")),
        "knows": _named("facts given when asked for", _words("the fact")),
        "confirms": _words("what it says when asked whether to go on (default: yes)"),
        "changes_mind": _words("said instead of the first confirmation, or after the first answer"),
        "chooses": _words("what it says when asked which of several is meant"),
        "silent": _flag("it says nothing more, whatever is asked"),
        "patience": _number("how many questions it answers", 1),
    },
    ("says",),
)

FAULT = Shape(
    "one planned fault: one kind with its operation, and when",
    {
        **{str(kind): _text("the operation it strikes") for kind in FaultKind},
        "nth": _number("on which call", 1),
        "times": _number("on how many calls in a row", 1),
        "seconds": _number("Retry-After, the delay, or how far behind a stale read is"),
    },
    schema={"oneOf": _one_of(*((str(kind),) for kind in FaultKind))},
)

_GIVEN: dict[str, Any] = {"type": ["string", "integer", "boolean"]}
_VALUES: list[dict[str, Any]] = [_GIVEN, {"type": "array", "items": SCALAR.as_json_schema()}]

ARGUMENT = Shape(
    "one argument: a value, a symbol, `absent`, or these keys",
    {
        "is": _of("the value, symbol or list of values it must be", anyOf=_VALUES),
        "from": _one_or_more("the tools whose results it may come from; user for what the user said"),
        "compare": _word("how it is compared", "exact", "normalised", "casefold", "ignored"),
        "required": _flag("whether it must be given"),
    },
    schema={"minProperties": 1},
)

ORDER = Shape(
    "either {tool, after} or {confirm}",
    {
        "tool": _words("the later tool"),
        "after": _words("the tool that must have answered before"),
        "confirm": _words("a tool that needs the user's confirmation first"),
    },
    schema={"oneOf": _one_of(("tool", "after"), ("confirm",)), "maxProperties": 2},
)

STATED = Shape(
    "what must be said, in a sentence with one of these words",
    {
        "text": _words("an amount, a count, a date, an id, or words"),
        "about": _one_or_more("words of that sentence"),
    },
    ("text",),
)

ANSWER = Shape(
    "what the replies state",
    {
        "states": _list("what they must state: texts, or {text, about}", _words("a text"), STATED),
        "never": _texts("what they must not state"),
    },
)

BUDGETS = Shape(
    "the most a run may take",
    {
        "calls": _number("calls", 0),
        "steps": _number("decisions", 1),
        "turns": _number("user messages", 1),
    },
)

EFFECT_TIMES: dict[str, Shape] = {
    "times": _number("how often it must happen (default 1; 0 with at_most alone)"),
    "at_most": _number("how often it may happen", 1),
}

EFFECT = Shape(
    "one effect by its name, with its facts, and how often",
    schema={
        "type": "object",
        "properties": {name: shape.as_json_schema() for name, shape in EFFECT_TIMES.items()},
        "patternProperties": {r"\.": _named("its facts", SCALAR).as_json_schema()},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 3,
    },
)

EXPECT = Shape(
    "what should happen; an effect that is not named is unauthorized",
    {
        "read_only": _flag("nothing may be changed"),
        "frozen": _flag("every write tool is forbidden"),
        "first": _of(
            "the tools that may be chosen first; [] for none at all; or tool: reason",
            anyOf=[
                _texts("tools").as_json_schema(),
                _named("tool: reason", _words("the reason")).as_json_schema(),
            ],
        ),
        "forbid": _named("tools that must not be called: the reason why", _words("the reason")),
        "effects": _list(
            "effects with their facts: - refund.created: {payment: $payment.second, amount: 42.50 USD}",
            EFFECT,
        ),
        "arguments": _named(
            "tool: {argument: value}",
            _named("argument: value", _of("its value", anyOf=[*_VALUES, ARGUMENT.as_json_schema()])),
        ),
        "order": _list("what comes before what", ORDER),
        "clarification": _word("whether to ask the user", "not_needed", "allowed", "required"),
        "asks": _texts("what must be asked: words that the question holds one of"),
        "refusal": _word("whether to decline", "not_expected", "allowed", "expected"),
        "handoff": _word("whether to hand over to a person", "not_expected", "allowed", "expected"),
        "answer": ANSWER,
        "calls": _texts("tools that must have answered"),
        "budgets": BUDGETS,
        "arguments_policy": _word("a value of another type", "strict", "coerce"),
        "closed": _flag("arguments beyond a tool's schema are errors, also where it leaves that open"),
        "foreign": _texts("symbols of others whose data must not be asked for or told"),
    },
)

FORMAT = Shape(
    "A sandtrail scenario",
    {
        "scenario": _text("its id: lower-case letters, digits and dashes", pattern=ID_PATTERN),
        "revision": _number("counts up when its meaning changes", 1),
        "why": _words("what it tests that no other does"),
        "language": _text("the user's language, for example en, de, en-es"),
        "reviewed": _words("who reads the language said what; required where it is not en"),
        "tags": _texts("for choosing"),
        "now": _text("the world's clock: 2026-03-02T09:00:00Z"),
        "zone": _text("the user's time zone: Europe/Berlin"),
        "tenants": _texts("the tenants the agent serves (short for principal.tenants)"),
        "principal": PRINCIPAL,
        "world": _named("entities by symbol", _named("its fields", SCALAR), SYMBOL_PATTERN),
        "catalog": OFFER,
        "user": USER,
        "faults": _list("what goes wrong, where", FAULT),
        "labels": _named("who: the first tools they hold to be right", _texts("tools")),
        "idle_passes": _flag("an agent that does nothing passes; it never counts as a success"),
        "expect": EXPECT,
    },
    ("scenario", "why", "user", "expect"),
    {"not": {"required": ["principal", "tenants"]}},
)

WORLD = Shape(
    "A sandtrail world",
    {name: FORMAT.keys[name] for name in ("world", "now", "zone", "tenants", "principal", "faults")},
    ("world",),
    FORMAT.schema,
)

TOOL = Shape(
    "one tool of a catalog",
    {
        "tool": _text("the name the agent sees", pattern=TOOL_PATTERN),
        "operation": _text("what it does in the world (default: the operation of its name)"),
        "description": _text("its text, where it is another than the operation's"),
        "deprecated": _text("the tool to use instead"),
        "answers": _of("a canned reply, for a tool that reaches no service"),
        "input": _of("the JSON Schema of a canned tool's arguments", type="object"),
    },
    ("tool",),
    {
        "allOf": [
            {"not": {"required": ["operation", "answers"]}},
            {"if": {"required": ["answers"]}, "then": {"required": ["description"]}},
            {"if": {"required": ["input"]}, "then": {"required": ["answers"]}},
        ]
    },
)

CATALOG = Shape(
    "A sandtrail catalog: an ordered list of tools",
    {
        "catalog": _text("its name", pattern=ID_PATTERN),
        "version": _number("counts up when it changes", 1),
        "why": _text("where it comes from"),
        "tools": _of(
            "names of operations, or tools",
            type="array",
            items={"anyOf": [{"type": "string", "pattern": TOOL_PATTERN}, TOOL.as_json_schema()]},
            minItems=1,
        ),
    },
    ("catalog", "version", "tools"),
)


def json_schema(shape: Shape = FORMAT) -> dict[str, Any]:
    """The JSON Schema of a file format, for editors.

    >>> json_schema()["required"]
    ['scenario', 'why', 'user', 'expect']
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **shape.as_json_schema()}
