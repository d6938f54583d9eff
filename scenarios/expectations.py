"""The `expect` part of a scenario file: what should happen, read into a Contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from sandtrail.ledgers.money import minor_units
from sandtrail.scenarios.contract import (
    ArgumentsPolicy,
    Budgets,
    Clarification,
    Compare,
    Contract,
    Label,
    Norm,
    OrderRule,
    Stated,
    WantedArgument,
    WantedEffect,
)
from sandtrail.scenarios.nodes import Reader
from sandtrail.scenarios.shapes import ANSWER, ARGUMENT, BUDGETS, EXPECT, ORDER, STATED

MONEY = re.compile(r"-?[\d.,' ]+ [A-Z]{3}")


class ContractReader:
    """Reads one contract."""

    def __init__(self, reader: Reader) -> None:
        self._read = reader

    def contract(
        self, node: yaml.Node, distractors: Mapping[str, str], labels: tuple[Label, ...]
    ) -> Contract:
        """The contract in a node, with what stands elsewhere in the file."""
        read = self._read
        fields = read.shaped(node, "expect", EXPECT)
        options: dict[str, Any] = {"distractors": distractors, "labels": labels, **self._plain(fields)}
        if "first" in fields:
            options["first"], options["first_reasons"] = self._first(fields["first"])
        if "forbid" in fields:
            forbidden = read.mapping(fields["forbid"], "expect.forbid")
            options["forbid"] = {tool: self._reason(tool, why) for tool, why in forbidden.items()}
        if "arguments" in fields:
            options["arguments"] = self._arguments(fields["arguments"])
        if "answer" in fields:
            options["states"], options["never_states"] = self._answer(fields["answer"])
        if "budgets" in fields:
            numbers = read.shaped(fields["budgets"], "expect.budgets", BUDGETS)
            options["budgets"] = Budgets(
                **{name: read.number(one, least=int(name != "calls")) for name, one in numbers.items()}
            )
        for name, make in (("effects", self._effect), ("order", self._order)):
            items = read.listed(fields[name]) if name in fields else []
            options[name] = tuple(make(item, f"expect.{name}.{n}") for n, item in enumerate(items))
        return read.made(node, lambda: Contract(**options), "expect")

    def _plain(self, fields: Mapping[str, yaml.Node]) -> dict[str, Any]:
        """Flags, lists of names, and words out of a closed list."""
        read = self._read
        options: dict[str, Any] = {}
        for name in ("read_only", "frozen", "closed"):
            options[name] = name in fields and read.flag(fields[name])
        for name in ("calls", "asks", "foreign"):
            options[name] = read.names(fields[name], f"expect.{name}") if name in fields else ()
        for name, words in (
            ("clarification", Clarification), ("refusal", Norm), ("handoff", Norm), ("arguments_policy", ArgumentsPolicy),
        ):  # fmt: skip
            if name in fields:
                options[name] = words(read.choice(fields[name], tuple(str(word) for word in words)))
        return options

    # -- tools -----------------------------------------------------------------------------------------

    def _first(self, node: yaml.Node) -> tuple[tuple[str, ...], dict[str, str]]:
        if isinstance(node, yaml.MappingNode):
            named = self._read.mapping(node, "expect.first").items()
            reasons = {tool: self._reason(tool, why, "why may it be the first?") for tool, why in named}
            return tuple(reasons), reasons
        return self._read.names(node, "expect.first"), {}

    def _reason(self, tool: str, node: yaml.Node, question: str = "why must it not be called?") -> str:
        if isinstance(node, yaml.ScalarNode) and not node.value.strip():
            raise self._read.bad(node, f"{tool}: a reason is wanted: {question}")
        return self._read.text(node)

    def _order(self, node: yaml.Node, part: str) -> OrderRule:
        read = self._read
        fields = read.shaped(node, part, ORDER)
        if fields.keys() == {"confirm"}:
            return OrderRule(read.words(fields["confirm"], "confirm"), confirm=True)
        if fields.keys() == {"tool", "after"}:
            later, earlier = (read.words(fields[name], name) for name in ("tool", "after"))
            return OrderRule(later, before=earlier)
        raise read.bad(node, "an order is {tool: later, after: earlier} or {confirm: tool}")

    # -- effects ---------------------------------------------------------------------------------------

    def _effect(self, node: yaml.Node, part: str) -> WantedEffect:
        read = self._read
        fields = read.mapping(node, part)
        times_node, most_node = fields.pop("times", None), fields.pop("at_most", None)
        times = 1 if times_node is None else read.number(times_node)
        most = None if most_node is None else read.number(most_node)
        if times_node is None and most is not None:
            times = 0
        if len(fields) != 1 or "." not in (name := next(iter(fields))):
            raise read.bad(
                node,
                "an effect is one name with its facts, for example refund.created: {payment: $payment.second}",
            )
        facts: dict[str, Any] = {}
        for fact, value_node in read.mapping(fields[name], f"{part}.facts").items():
            facts |= self._fact(fact, value_node)
        return read.made(node, lambda: WantedEffect(name, facts, times, most))

    def _fact(self, fact: str, node: yaml.Node) -> dict[str, Any]:
        value = self._read.value(node)
        if isinstance(value, str) and MONEY.fullmatch(value):
            amount, _, currency = value.rpartition(" ")
            return {fact: self._money(node, amount, currency), "currency": currency}
        return {fact: value}

    def _money(self, node: yaml.Node, amount: str, currency: str) -> int:
        return self._read.made(node, lambda: minor_units(amount, currency))

    # -- arguments -------------------------------------------------------------------------------------

    def _arguments(self, node: yaml.Node) -> tuple[WantedArgument, ...]:
        read = self._read
        return tuple(
            self._argument(tool, name, value)
            for tool, arguments in read.mapping(node, "expect.arguments").items()
            for name, value in read.mapping(arguments, f"expect.arguments.{tool}").items()
        )

    def _argument(self, tool: str, name: str, node: yaml.Node) -> WantedArgument:
        read = self._read
        if not isinstance(node, yaml.MappingNode):
            return WantedArgument(tool, name, **self._wanted(node))
        fields = read.shaped(node, f"expect.arguments.{tool}.{name}", ARGUMENT)
        if not fields:
            raise read.bad(node, f"{tool}.{name}: nothing is demanded; name is, from, compare or required")
        options: dict[str, Any] = self._wanted(fields["is"]) if "is" in fields else {}
        if "from" in fields:
            options["sources"] = read.texts(fields["from"])
        if "compare" in fields:
            options["compare"] = Compare(read.choice(fields["compare"], tuple(str(one) for one in Compare)))
        if "required" in fields:
            options["optional"] = not read.flag(fields["required"])
        return read.made(node, lambda: WantedArgument(tool, name, **options))

    def _wanted(self, node: yaml.Node) -> dict[str, Any]:
        """The value an argument must have, or that it must be absent; money in minor units with its currency."""
        if isinstance(node, yaml.SequenceNode):
            return {"value": [self._read.value(item) for item in node.value]}
        if isinstance(node, yaml.ScalarNode) and node.value == "absent" and not node.style:
            return {"absent": True}
        value = self._read.value(node)
        if isinstance(value, str) and MONEY.fullmatch(value):
            amount, _, currency = value.rpartition(" ")
            return {"value": self._money(node, amount, currency), "currency": currency}
        if value is None:
            raise self._read.bad(node, "a value is wanted; write absent, or {compare: ignored} for any")
        return {"value": value}

    # -- the answer ------------------------------------------------------------------------------------

    def _answer(self, node: yaml.Node) -> tuple[tuple[Stated, ...], tuple[str, ...]]:
        read = self._read
        fields = read.shaped(node, "expect.answer", ANSWER)
        states = tuple(map(self._stated, read.listed(fields["states"]))) if "states" in fields else ()
        never = read.names(fields["never"], "expect.answer.never") if "never" in fields else ()
        return states, never

    def _stated(self, node: yaml.Node) -> Stated:
        read = self._read
        if not isinstance(node, yaml.MappingNode):
            return Stated(read.words(node, "states"))
        fields = read.shaped(node, "expect.answer.states", STATED)
        said = read.words(fields["text"], "states")
        return Stated(said, read.texts(fields["about"]) if "about" in fields else ())
