"""Scenario files: YAML read safely, every error with file, line, what was expected and the nearest right spelling.

No tags, no anchors, no duplicate keys, no unknown keys. What only services can check (entity fields, operations,
effects) is kept with its place and checked by the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import yaml

from sandtrail.ledgers.money import minor_units
from sandtrail.ledgers.specs import SYMBOL, Fault, FaultKind, FaultPlan, Principal, WorldSpec
from sandtrail.ledgers.spelling import near
from sandtrail.scenarios.contract import Contract, WantedArgument, WantedEffect
from sandtrail.scenarios.scenario import Place, Scenario

DEEPEST = 30
"""How deep brackets may nest: the YAML reader takes a time that grows with the square of it."""

LONGEST = 200_000
"""The longest scenario file that is read, in characters."""

_TOP = ("scenario", "why", "now", "zone", "tenants", "world", "user", "faults", "expect")
_MONEY = re.compile(r"-?[\d.,' ]+ [A-Z]{3}")


class BadScenario(ValueError):
    """A scenario file that cannot be used. `place` says where."""

    def __init__(self, place: Place, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place}: {reason}")


def parse(text: str, origin: str) -> Scenario:
    """The scenario in a YAML text; `origin` is the file's name for messages. Raises BadScenario."""
    return _Reader(origin).scenario(text)


class _Reader:
    """Reads one file; remembers where each part stands."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self._places: dict[str, Place] = {}

    def scenario(self, text: str) -> Scenario:
        top = self._mapping(
            self._composed(text), "", known=_TOP, required=("scenario", "why", "world", "user", "expect")
        )
        if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,79}", name := self._text(top["scenario"])):
            raise self._bad(
                top["scenario"], f"scenario: {name!r} is no id; use lower-case letters, digits and dashes"
            )
        world = self._world(top)
        user = self._mapping(top["user"], "user", known=("says", "then"), required=("says",))
        says = [
            self._text(user["says"]),
            *map(self._text, self._list(user["then"]) if "then" in user else ()),
        ]
        expect = self._contract(top["expect"])
        for template, node in zip(
            says, [user["says"], *(user["then"].value if "then" in user else ())], strict=True
        ):
            for symbol in SYMBOL.findall(template):
                if symbol not in world.entities:
                    raise self._bad(node, f"{symbol} is not in world{near(symbol, world.entities)}")
        return Scenario(name, self._text(top["why"]), world, tuple(says), expect, self._places)

    # -- parts -----------------------------------------------------------------------------------------

    def _world(self, top: Mapping[str, yaml.Node]) -> WorldSpec:
        entities: dict[str, dict[str, Any]] = {}
        for symbol, node in self._mapping(top["world"], "world").items():
            self._places[symbol] = self._place(node)
            fields = self._mapping(node, symbol)
            entities[symbol] = {name: self._value(value) for name, value in fields.items()}
        options: dict[str, Any] = {
            "faults": FaultPlan(
                tuple(
                    self._fault(n, node)
                    for n, node in enumerate(self._list(top["faults"]) if "faults" in top else ())
                )
            )
        }
        if "now" in top:
            options["now"] = self._instant(top["now"])
        if "zone" in top:
            options["zone"] = self._text(top["zone"])
        if "tenants" in top:
            options["principal"] = self._principal(top["tenants"])
        try:
            return WorldSpec(entities, **options)
        except ValueError as error:
            raise self._bad(top["world"], str(error)) from None

    def _principal(self, node: yaml.Node) -> Principal:
        try:
            return Principal("agent", tenants=tuple(map(self._text, self._list(node))))
        except BadScenario:
            raise
        except ValueError as error:
            raise self._bad(node, str(error)) from None

    def _fault(self, number: int, node: yaml.Node) -> Fault:
        known = tuple(str(kind) for kind in FaultKind)
        fields = self._mapping(node, f"faults.{number}", known=(*known, "nth", "times", "seconds"))
        kinds = [kind for kind in known if kind in fields]
        if len(kinds) != 1:
            raise self._bad(node, f"a fault has one kind: {', '.join(known)}")
        numbers: dict[str, Any] = {
            name: self._number(fields[name]) for name in ("nth", "times", "seconds") if name in fields
        }
        try:
            return Fault(FaultKind(kinds[0]), self._text(fields[kinds[0]]), **numbers)
        except ValueError as error:
            raise self._bad(node, str(error)) from None

    def _contract(self, node: yaml.Node) -> Contract:
        known = ("read_only", "effects", "arguments", "answer", "calls")
        fields = self._mapping(node, "expect", known=known)
        try:
            return Contract(
                read_only="read_only" in fields and self._flag(fields["read_only"]),
                effects=tuple(
                    map(self._effect, self._list(fields["effects"]) if "effects" in fields else ())
                ),
                arguments=self._arguments(fields["arguments"]) if "arguments" in fields else (),
                states=self._states(fields["answer"]) if "answer" in fields else (),
                calls=tuple(map(self._text, self._list(fields["calls"]) if "calls" in fields else ())),
            )
        except ValueError as error:
            raise error if isinstance(error, BadScenario) else self._bad(node, str(error)) from None

    def _effect(self, node: yaml.Node) -> WantedEffect:
        fields = self._mapping(node, "expect.effects")
        times_node = fields.pop("times", None)
        times = 1 if times_node is None else self._number(times_node)
        if times < 1:
            raise self._bad(node, f"times: {times}; an effect that must not happen is simply left out")
        if len(fields) != 1 or "." not in (name := next(iter(fields))):
            raise self._bad(
                node,
                "an effect is one name with its facts, for example refund.created: {payment: $payment.second}",
            )
        facts: dict[str, Any] = {}
        for fact, value_node in self._mapping(fields[name], f"expect.effects.{name}").items():
            value = self._value(value_node)
            if isinstance(value, str) and _MONEY.fullmatch(value):
                amount, _, currency = value.rpartition(" ")
                facts |= {fact: self._money(value_node, amount, currency), "currency": currency}
            else:
                facts[fact] = value
        return WantedEffect(name, facts, times)

    def _money(self, node: yaml.Node, amount: str, currency: str) -> int:
        try:
            return minor_units(amount, currency)
        except ValueError as error:
            raise self._bad(node, str(error)) from None

    def _arguments(self, node: yaml.Node) -> tuple[WantedArgument, ...]:
        found: list[WantedArgument] = []
        for tool, arguments in self._mapping(node, "expect.arguments").items():
            for name, value in self._mapping(arguments, f"expect.arguments.{tool}").items():
                fields = self._mapping(value, f"expect.arguments.{tool}.{name}", known=("is", "from"))
                symbol = self._text(fields["is"]) if "is" in fields else None
                sources = self._sources(fields["from"]) if "from" in fields else ()
                found.append(WantedArgument(tool, name, symbol, sources))
        return tuple(found)

    def _sources(self, node: yaml.Node) -> tuple[str, ...]:
        """One tool, or a list of them."""
        return (
            tuple(map(self._text, node.value)) if isinstance(node, yaml.SequenceNode) else (self._text(node),)
        )

    def _states(self, node: yaml.Node) -> tuple[str, ...]:
        fields = self._mapping(node, "expect.answer", known=("states",), required=("states",))
        return tuple(map(self._text, self._list(fields["states"])))

    # -- nodes -----------------------------------------------------------------------------------------

    def _composed(self, text: str) -> yaml.Node:
        start = Place(self._origin, 1)
        if len(text) > LONGEST:
            raise BadScenario(start, f"the file has {len(text)} characters; at most {LONGEST} are read")
        if _depth(text) > DEEPEST:
            raise BadScenario(start, f"the file nests deeper than {DEEPEST} levels")
        try:
            for token in yaml.scan(text, Loader=yaml.SafeLoader):
                if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
                    line = token.start_mark.line + 1
                    raise BadScenario(
                        Place(self._origin, line), "anchors, aliases and tags are not read; write it out"
                    )
            node = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            line = mark.line + 1 if mark else 1
            raise BadScenario(
                Place(self._origin, line), f"no YAML: {getattr(error, 'problem', None) or error}"
            ) from None
        except (
            ValueError,
            OverflowError,
            RecursionError,
        ) as error:  # what the YAML reader itself lets through
            if isinstance(error, BadScenario):
                raise
            raise BadScenario(start, f"no YAML: {type(error).__name__} while reading") from None
        if node is None:
            raise BadScenario(start, "the file is empty; start with scenario: an-id")
        return node

    def _place(self, node: yaml.Node) -> Place:
        return Place(self._origin, node.start_mark.line + 1)

    def _bad(self, node: yaml.Node, reason: str) -> BadScenario:
        return BadScenario(self._place(node), reason)

    def _mapping(
        self, node: yaml.Node, part: str, *, known: tuple[str, ...] = (), required: tuple[str, ...] = ()
    ) -> dict[str, yaml.Node]:
        said = part or "the file"
        if not isinstance(node, yaml.MappingNode):
            raise self._bad(node, f"{said}: keys and values are wanted")
        self._places.setdefault(part, self._place(node))
        found: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = self._text(key_node)
            if key in found:
                raise self._bad(key_node, f"{said}: {key!r} stands twice")
            if known and key not in known:
                raise self._bad(key_node, f"{said}: unknown key {key!r}{near(key, known)}")
            found[key] = value
            self._places.setdefault(f"{part}.{key}" if part else key, self._place(key_node))
        missing = [key for key in required if key not in found]
        if missing:
            raise self._bad(node, f"{said}: {', '.join(missing)} missing")
        return found

    def _list(self, node: yaml.Node) -> list[yaml.Node]:
        if not isinstance(node, yaml.SequenceNode):
            raise self._bad(node, "a list is wanted")
        return list(node.value)

    def _value(self, node: yaml.Node) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            raise self._bad(node, "one value is wanted")
        kind = node.tag.rpartition(":")[2]
        if kind == "float":
            raise self._bad(
                node, f"{node.value} is a float; write money as 42.50 USD and numbers of an order in quotes"
            )
        if kind == "int":
            return self._number(node)
        if kind == "timestamp":
            return self._instant(node)
        return {"null": None, "bool": node.value.lower() in {"true", "yes", "on"}}.get(kind, node.value)

    def _text(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith((":str", ":timestamp")):
            shown = f", not {node.value}; put it in quotes" if isinstance(node, yaml.ScalarNode) else ""
            raise self._bad(node, f"text is wanted{shown}")
        return str(node.value)

    def _number(self, node: yaml.Node) -> int:
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"-?[0-9]{1,18}", node.value):
            raise self._bad(node, "a whole number is wanted")
        return int(node.value)

    def _flag(self, node: yaml.Node) -> bool:
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith(":bool"):
            raise self._bad(node, "true or false is wanted")
        return str(node.value).lower() in {"true", "yes", "on"}

    def _instant(self, node: yaml.Node) -> datetime:
        try:
            moment = datetime.fromisoformat(str(node.value))
        except ValueError:
            raise self._bad(node, "an instant such as 2026-03-02T09:00:00Z is wanted") from None
        if moment.tzinfo is None:
            raise self._bad(node, f"{node.value} has no zone; end it with Z or an offset such as +01:00")
        if not 1900 <= moment.year <= 2200:
            raise self._bad(node, f"{node.value} is not between the years 1900 and 2200")
        return moment


def _depth(text: str) -> int:
    """How deep brackets nest in a text, quoted ones included."""
    depth = deepest = 0
    for char in text:
        if char in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "]}":
            depth = max(0, depth - 1)
    return deepest
