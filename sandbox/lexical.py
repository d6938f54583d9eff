"""The embedded agent: words and typed mentions, no model, no key.

    goal     the tool that the request's words speak of most (BM25), of those that it sees a way to call
    step     the goal with its arguments, or a look-up that returns the id that the goal still lacks
    reply    what was found or done, in words; a question for the argument that nothing fills

It sees what a model sees: the conversation and the catalog. It keeps no state and decides the same each time.

It is a plain agent with honest weaknesses: it reads past "don't", takes the first row of several, and does one
thing of two. It is frozen and never tuned on scenarios: `lexical_digest` is its version.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Conversation,
    Decided,
    Decision,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.money import DECIMALS, amount_text
from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.mentions import Kind, Mention, Parameter, fits, mentions, parameters, resolved, said
from sandtrail.sandbox.ranking import LONGEST, purpose, ranked, stem, terms, words

_CONSIDERED, _CHAIN, _NESTED = 5, 3, 3
_NO_WAY = 0.6
"""What a tool's score is worth where nothing fills its arguments: a question about it may still be the best answer."""

_TRANSIENT = re.compile(
    r"retry|try again|time[d ]?.?out|time limit|too many|unavailable|not available", re.IGNORECASE
)
_ASKED = re.compile(r"What is the (.+)\? I need it for ")
_IT_IS = re.compile(r"^\s*(?:it|that|this)(?:['\u2019]s| is| was)\s+", re.IGNORECASE)
_MONEY_KEYS = frozenset(words("amount total price due refunded paid captured credit balance fee"))
_DULL_KEYS = frozenset(words("id ids tenant version cursor"))
_MODULES = ("lexical", "mentions", "ranking")


def lexical_digest() -> str:
    """SHA-256 over the source text of the agent's modules: its version."""
    sources = (Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in _MODULES)
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Lexical:
    """The embedded agent.

    >>> schema = {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]}
    >>> catalog = Catalog((ToolSpec("find_order", "Find an order.", schema),))
    >>> Lexical().decide((UserSaid("Find order 4412, please."),), catalog).calls[0].arguments
    {'number': '4412'}
    """

    name: str = "lexical"

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Decision:
        """The next decision; it never raises."""
        request = _request(conversation)
        if not terms(request.text) and not mentions(request.text):
            return Reply("You are welcome. Tell me what you need.")
        opening = _known(conversation[: request.start + 1], request, catalog)
        goal = _goal(opening)
        if goal is None:
            return Reply("I have no tool for that. Can you say it in other words?")
        known = replace(_known(conversation, request, catalog), read=opening.read)
        last = known.now[-1] if known.now else None
        if last is None:
            return _next(goal, known)
        step = _Step(last.call.tool, last.call.arguments)
        if last.is_error:
            once = len(known.made[step.key]) == 1 and step.tool in catalog and not last.call.flaw
            return (
                _call(step, known) if once and _TRANSIENT.search(last.text[:LONGEST]) else Reply(_told(last))
            )
        return Reply(_told(last)) if step.tool == goal.name else _next(goal, known)


# -- what it goes by -----------------------------------------------------------------------------------------


class _Request(NamedTuple):
    """What the user wants now: the text, and the index of the message that it began with."""

    text: str
    start: int


class _Leaf(NamedTuple):
    """One value in a result. `thing` is the stem of what its object is; `row` tells objects apart."""

    key: tuple[str, ...]
    value: Any
    thing: str
    row: tuple[int, str]


class _Step(NamedTuple):
    """One call that could be made."""

    tool: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """What makes two calls the same."""
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True, default=str)}"


class _Filling(NamedTuple):
    """The arguments found for a call, and the needed ones that nothing fills yet."""

    arguments: dict[str, Any]
    missing: list[Parameter]


@dataclass(frozen=True)
class _Read:
    """The catalog, each tool read when it is first looked at."""

    catalog: Catalog
    known: dict[str, tuple[Parameter, ...]] = field(default_factory=dict[str, tuple[Parameter, ...]])
    found: dict[str, list[ToolSpec]] = field(default_factory=dict[str, list[ToolSpec]])

    def parameters(self, tool: ToolSpec) -> tuple[Parameter, ...]:
        """The parameters of a tool."""
        if tool.name not in self.known:
            self.known[tool.name] = parameters(tool.input_schema)
        return self.known[tool.name]

    @cached_property
    def lookups(self) -> list[ToolSpec]:
        """The tools that read, deprecated ones last."""
        reading = [tool for tool in self.catalog.tools if purpose(tool).reads]
        return sorted(reading, key=lambda tool: purpose(tool).deprecated)

    def makers(self, thing: str) -> list[ToolSpec]:
        """The look-ups that return such a thing and don't ask for its id."""
        if thing not in self.found:
            self.found[thing] = [
                tool
                for tool in self.lookups
                if thing in purpose(tool).returns
                and not any(one.required and one.entity == thing for one in self.parameters(tool))
            ]
        return self.found[thing]


@dataclass(frozen=True)
class _Known:
    """Everything a decision goes by. `now` are the answers to this request, `made` all calls ever answered.

    `leaves` are the results it may use, the latest first; `used` is what the calls for this request took.
    """

    text: str
    mentions: tuple[Mention, ...]
    now: tuple[Answered, ...]
    made: Mapping[str, list[Answered]]
    leaves: tuple[_Leaf, ...]
    used: frozenset[str]
    read: _Read
    lookups: dict[str, list[_Filling]] = field(default_factory=dict[str, "list[_Filling]"])

    def lookup(self, tool: ToolSpec) -> list[_Filling]:
        """The ways to fill a tool as a look-up, with no more than it needs: the rest is the goal's."""
        if tool.name not in self.lookups:
            ways = [_filled(tool, one, self, bare=True) for one in _alternatives(tool, self)]
            self.lookups[tool.name] = ways
        return self.lookups[tool.name]


def _request(conversation: Conversation) -> _Request:
    """The last user message; a short statement after a question of the agent's own continues the one before."""
    text, start, asked = "", -1, ""
    for place, message in enumerate(conversation):
        if isinstance(message, UserSaid):
            answers = asked and "?" not in message.text and len(message.text[:LONGEST].split()) <= 12
            text = f"{text} {asked}: {_IT_IS.sub('', message.text)}" if answers else message.text
            start = start if answers else place
            asked = ""
        elif isinstance(message, Decided) and isinstance(message.decision, Reply):
            match = _ASKED.match(message.decision.text)
            asked = match[1] if match else ""
    return _Request(text[:LONGEST], start)


def _known(conversation: Conversation, request: _Request, catalog: Catalog) -> _Known:
    specs = {tool.name: tool for tool in catalog.tools}
    made: dict[str, list[Answered]] = {}
    now: list[Answered] = []
    earlier: list[_Leaf] = []
    recent: list[_Leaf] = []
    seen: set[str] = set()
    for place, answer in enumerate(conversation):
        if isinstance(answer, Answered):
            made.setdefault(_Step(answer.call.tool, answer.call.arguments).key, []).append(answer)
            is_new = place > request.start
            if is_new:
                now.append(answer)
            else:
                seen |= set(map(str, answer.call.arguments.values()))
            if not answer.is_error:
                spec = specs.get(answer.call.tool)
                found = _leaves(_parsed(answer.text), place, purpose(spec).thing if spec else "")
                (recent if is_new else earlier)[:0] = islice(found, 2000)
    seen |= {str(leaf.value) for leaf in earlier}
    said_now = mentions(request.text)
    nouns = {stem(word) for tool in catalog.tools for word in words(tool.name)}
    usable = recent + earlier if all(_is_seen(one, seen, nouns) for one in said_now) else recent
    used = frozenset(str(value) for answer in now for value in answer.call.arguments.values())
    return _Known(request.text, said_now, tuple(now), made, tuple(usable), used, _Read(catalog))


def _is_seen(mention: Mention, seen: set[str], nouns: set[str]) -> bool:
    """Whether a mention names nothing new: else what was found for an earlier request is not what is meant now."""
    is_name = mention.kind in {Kind.EMAIL, Kind.PHONE, Kind.ID}
    is_number = mention.kind is Kind.NUMBER and mention.noun in nouns
    return not (is_name or is_number) or mention.text in seen


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _leaves(
    value: Any, place: int, thing: str, pointer: str = "", key: str = "", depth: int = 0
) -> Iterator[_Leaf]:
    """The leaves of a result; the name of a list or an object is the thing that stands in it."""
    if depth > 12:
        return
    if (fields := as_object(value)) is not None:
        for name, item in fields.items():
            named = words(name) if isinstance(item, dict | list) else []
            inner = stem(named[-1]) if named else thing
            yield from _leaves(item, place, inner, f"{pointer}/{name}", name, depth + 1)
    elif (items := as_list(value)) is not None:
        for number, item in enumerate(items):
            yield from _leaves(item, place, thing, f"{pointer}/{number}", key, depth + 1)
    elif value is not None:
        yield _Leaf(tuple(words(key)), value, thing, (place, pointer.rpartition("/")[0]))


# -- planning ------------------------------------------------------------------------------------------------


def _goal(known: _Known) -> ToolSpec | None:
    """The tool that the request speaks of most; None where it speaks of none."""
    typed = " ".join(mention.kind for mention in known.mentions)
    best = [one for one in ranked(f"{known.text} {typed}", known.read.catalog)[:_CONSIDERED] if one.score > 0]
    if not best:
        return None
    ways = [one.score * (1.0 if _step(one.tool, known) else _NO_WAY) for one in best]
    return best[ways.index(max(ways))].tool


def _next(goal: ToolSpec, known: _Known) -> Decision:
    """The next call on the way to the goal, or words where there is none."""
    step = _step(goal, known)
    if step is None:
        fillings = [_filled(goal, needed, known) for needed in _alternatives(goal, known)]
        first = [min(one.missing, key=_is_hopeful) for one in fillings[:3] if one.missing]
        lacking = [" ".join(parameter.words) or parameter.name for parameter in first]
        return Reply(f"What is the {' or '.join(lacking)}? I need it for {goal.name}.")
    if step.key in known.made:
        return Reply(_told(known.made[step.key][-1]))
    return _call(step, known)


def _call(step: _Step, known: _Known) -> Decision:
    number = sum(map(len, known.made.values())) + 1
    return Calls((ToolCall(f"call_{number}", step.tool, step.arguments),))


def _is_hopeful(parameter: Parameter) -> bool:
    """Whether results may fill it yet. Free text, names and numbers come from the user alone."""
    return parameter.kind in {
        Kind.ID,
        Kind.MONEY,
        Kind.CURRENCY,
        Kind.COUNTRY,
        Kind.EMAIL,
        Kind.PHONE,
        Kind.DATE,
    }


def _step(tool: ToolSpec, known: _Known, above: tuple[str, ...] = ()) -> _Step | None:
    """The call of a tool, or of the look-up that must come first; None where nothing fills its arguments."""
    ways = (
        known.lookup(tool)
        if above
        else [_filled(tool, needed, known) for needed in _alternatives(tool, known)]
    )
    for way in ways:
        if not way.missing:
            return _Step(tool.name, way.arguments)
    if len(above) >= _CHAIN:
        return None
    for way in ways:
        if all(map(_is_hopeful, way.missing)):
            for parameter in way.missing:
                if parameter.kind is Kind.ID and (step := _lookup(parameter, known, (*above, tool.name))):
                    return step
    return None


def _lookup(parameter: Parameter, known: _Known, above: tuple[str, ...]) -> _Step | None:
    """A look-up not yet made that returns the thing, or failing that, any that starts from what the text names."""
    makers = [tool for tool in known.read.makers(parameter.entity) if tool.name not in above]
    others = [tool for tool in known.read.lookups if tool.name not in above]
    named = {mention.text for mention in known.mentions}
    chained = (_step(tool, known, above) for tool in makers)
    around = (step for step in _direct(others, known) if named & set(map(str, step.arguments.values())))
    steps = chain(_direct(makers, known), chained, around)
    return next((step for step in steps if step and step.key not in known.made), None)


def _direct(tools: list[ToolSpec], known: _Known) -> Iterator[_Step]:
    """The look-ups that can be made at once."""
    for tool in tools:
        yield from (_Step(tool.name, way.arguments) for way in known.lookup(tool)[:3] if not way.missing)


def _alternatives(tool: ToolSpec, known: _Known) -> list[tuple[str, ...]]:
    """The sets of arguments that a tool can be called with: its required ones, or each where it wants one of them."""
    found = known.read.parameters(tool)
    required = tuple(one.name for one in found if one.required)
    if required or not purpose(tool).any_of:
        return [required]
    return [(one.name,) for one in found if one.type in {"string", ""}] or [()]


# -- filling -------------------------------------------------------------------------------------------------


def _filled(tool: ToolSpec, needed: tuple[str, ...], known: _Known, *, bare: bool = False) -> _Filling:
    """The arguments of a call; `bare` leaves out what is not needed. Ids come first: their rows tell the rest."""
    fill = _Fill(tool, known, [])
    exclusive = purpose(tool).exclusive
    filling = _Filling({}, [])
    found: dict[str, Any] = {}
    for parameter in sorted(known.read.parameters(tool), key=lambda one: one.kind is not Kind.ID):
        if parameter.name in needed:
            found[parameter.name] = fill.needed(parameter)
            if found[parameter.name] is None:
                filling.missing.append(parameter)
        elif not bare and not (exclusive and parameter.kind is Kind.ID):
            found[parameter.name] = next(fill.unused(parameter), None)
    for parameter in known.read.parameters(tool):
        if found.get(parameter.name) is not None:
            filling.arguments[parameter.name] = found[parameter.name]
    return filling


@dataclass(frozen=True, slots=True)
class _Fill:
    """The filling of one call; `rows` are the objects that its ids came from."""

    tool: ToolSpec
    known: _Known
    rows: list[tuple[int, str]]

    def needed(self, parameter: Parameter, depth: int = 0) -> Any:
        """A value from the text, from results, or the schema's default. None where nothing gives one."""
        if parameter.kind is Kind.OTHER:
            found = self._nested(parameter, depth)
        else:
            offers = chain(self.unused(parameter), self._results(parameter), self._said(parameter))
            found = next(chain(offers, self._numbered(parameter)), None)
        only = as_list(parameter.schema.get("enum")) or []
        fixed = parameter.schema.get("const", only[0] if len(only) == 1 else None)
        default = parameter.schema.get("default", fixed)
        return default if found is None and fits(default, parameter.schema) else found

    def unused(self, parameter: Parameter) -> Iterator[Any]:
        """What the text offers and no call for this request has taken."""
        return (value for value in self._said(parameter) if str(value) not in self.known.used)

    def _said(self, parameter: Parameter) -> Iterator[Any]:
        ids = (leaf.value for leaf in self._alike(parameter)) if parameter.kind is Kind.ID else ()
        prefixes = frozenset(str(value).rpartition("_")[0].lower() for value in ids)
        return said(parameter, self.known.text, self.known.mentions, tool=self.tool.name, prefixes=prefixes)

    def _alike(self, parameter: Parameter) -> list[_Leaf]:
        """The leaves under the parameter's name; an id also stands as `id` in its thing."""
        bare = tuple(word for word in parameter.words if word not in {"minor", "cents"})
        thing = self._thing(parameter) if parameter.kind is Kind.ID else None
        return [
            leaf
            for leaf in self.known.leaves
            if leaf.key == bare or (leaf.key == ("id",) and leaf.thing == thing)
        ]

    def _thing(self, parameter: Parameter) -> str:
        return parameter.entity or purpose(self.tool).thing

    def _results(self, parameter: Parameter) -> Iterator[Any]:
        """What results hold for it, those of the rows in hand first."""
        if not _is_hopeful(parameter):
            return
        for leaf in sorted(self._alike(parameter), key=lambda leaf: leaf.row not in self.rows):
            if fits(leaf.value, parameter.schema):
                self.rows.append(leaf.row)
                yield leaf.value

    def _numbered(self, parameter: Parameter) -> Iterator[Any]:
        """The number after the thing's name as its id, in a catalog that has no look-up for it."""
        thing = self._thing(parameter)
        if parameter.kind is Kind.ID and not self.known.read.makers(thing):
            for mention in self.known.mentions:
                if mention.kind is Kind.NUMBER and mention.noun == thing:
                    whole = parameter.type == "integer" and mention.text.isdecimal()
                    value = int(mention.text) if whole else mention.text
                    if fits(value, parameter.schema):
                        yield value

    def _nested(self, parameter: Parameter, depth: int) -> Any:
        """A list of one, or an object, all of whose required values are there; nothing that is harder to fill."""
        if depth >= _NESTED:
            return None
        if parameter.type == "array":
            item = resolved(parameter.schema.get("items"), parameter.schema)
            value = self.needed(Parameter(parameter.name, item, required=True), depth + 1)
            return None if value is None else [value]
        inner = [one for one in parameters(parameter.schema) if one.required]
        values = {one.name: self.needed(one, depth + 1) for one in inner}
        return values if values and None not in values.values() else None


# -- saying --------------------------------------------------------------------------------------------------


def _told(answer: Answered) -> str:
    """What came of a call, in words: what a look-up found, what a write did, why it failed.

    >>> call = ToolCall("call_1", "list_payments", {})
    >>> _told(Answered(call, '{"payments": [{"id": "pay_1", "amount": 4250, "currency": "USD"}]}', is_error=False))
    'I found 1 payment: amount 42.50 USD.'
    """
    body = _parsed(answer.text)
    fields = as_object(body) or {}
    if answer.is_error:
        detail = next((fields[key] for key in ("detail", "message", "error") if key in fields), answer.text)
        return f"I could not do that: {str(detail)[:300]}"
    shown = "; ".join(islice(_rows(body, ""), 5))[:600] if fields or as_list(body) else answer.text[:300]
    if not purpose(ToolSpec(answer.call.tool, "", {})).reads:
        return f"Done: {answer.call.tool}{': ' if shown else ''}{shown}."
    lists = [(key, rows) for key, item in fields.items() if (rows := as_list(item)) is not None]
    if len(lists) != 1 or any(item is not None and as_list(item) is None for item in fields.values()):
        return f"I found this: {shown}."
    label, count = " ".join(words(lists[0][0])), len(lists[0][1])
    return (
        f"I found {count} {label.removesuffix('s') if count == 1 else label}: {shown}."
        if count
        else f"I found no {label}."
    )


def _rows(value: Any, currency: str, depth: int = 0) -> Iterator[str]:
    """The objects in a result, each as one phrase; ids, versions and empty values are left out."""
    if depth > 4:
        return
    for item in as_list(value) or []:
        yield from _rows(item, currency, depth + 1)
    if (fields := as_object(value)) is None:
        return
    currency = str(fields.get("currency") or currency)
    flat = [
        _phrase(key, item, currency) for key, item in fields.items() if isinstance(item, str | int | float)
    ]
    if any(flat):
        yield ", ".join(phrase for phrase in flat if phrase)
    for item in fields.values():
        yield from _rows(item, currency, depth + 1)


def _phrase(key: str, value: str | float, currency: str) -> str:
    """One leaf in words: `amount 42.50 USD`. The total of a plural (orders_total) is a count, no money."""
    named = words(key)
    if not named or named[-1] in _DULL_KEYS or key in {"created_at", "currency"}:
        return ""
    label = " ".join(named)
    if isinstance(value, bool):
        return f"{label} {'yes' if value else 'no'}"
    is_money = _MONEY_KEYS & set(named) and not named[0].endswith("s")
    if isinstance(value, int) and currency in DECIMALS and is_money:
        return f"{label} {amount_text(value, currency)}"
    return f"{label} {str(value)[:120]}"
