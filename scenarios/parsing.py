"""Scenario files: YAML to a Scenario, every error with file, line, what was expected and the nearest right spelling.

What only services can check (entity fields, operations, effects) is kept with its place and checked by the sandbox.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import yaml

from sandtrail.ledgers.specs import SYMBOL, Fault, FaultKind, FaultPlan, Principal, WorldSpec
from sandtrail.ledgers.spelling import near
from sandtrail.scenarios.contract import Label
from sandtrail.scenarios.expectations import ContractReader
from sandtrail.scenarios.nodes import BadScenario, Reader
from sandtrail.scenarios.scenario import CatalogChange, Distractor, Family, Offered, Place, Scenario, User
from sandtrail.scenarios.shapes import (
    CHANGE,
    DISTRACTOR,
    FAULT,
    FORMAT,
    ID_PATTERN,
    OFFER,
    PRINCIPAL,
    USER,
    WORLD,
)

__all__ = ["BadScenario", "parse", "parse_world"]


def parse(text: str, origin: str) -> Scenario:
    """The scenario in a YAML text; `origin` is the file's name for messages. Raises BadScenario."""
    return _ScenarioReader(Reader(origin)).scenario(text)


def parse_world(text: str, origin: str) -> tuple[WorldSpec, Mapping[str, Place]]:
    """The world in a YAML text, with the places of its parts. Raises BadScenario."""
    read = Reader(origin)
    top = read.shaped(read.composed(text), "", WORLD)
    return _ScenarioReader(read).world(top), read.places


class _ScenarioReader:
    """Reads the parts of one scenario."""

    def __init__(self, reader: Reader) -> None:
        self._read = reader

    def scenario(self, text: str) -> Scenario:
        read = self._read
        top = read.shaped(read.composed(text), "", FORMAT)
        name = read.text(top["scenario"])
        if not re.fullmatch(ID_PATTERN, name):
            reason = f"scenario: {name!r} is no id; use lower-case letters, digits and dashes"
            raise read.bad(top["scenario"], reason)
        world, user, offer = self.world(top), self._user(top["user"]), self._offer(top)
        distractors = {one.tool: one.why for one in offer.distractors}
        expect = ContractReader(read).contract(top["expect"], distractors, self._labels(top))
        self._mentions(top["user"], user, world)
        return Scenario(
            name,
            read.words(top["why"], "why"),
            world,
            user,
            expect,
            read.places,
            revision=read.number(top["revision"], least=1) if "revision" in top else 1,
            language=read.text(top["language"]) if "language" in top else "en",
            reviewed=read.words(top["reviewed"], "reviewed") if "reviewed" in top else "",
            tags=read.names(top["tags"], "tags") if "tags" in top else (),
            offer=offer,
            idle_passes="idle_passes" in top and read.flag(top["idle_passes"]),
        )

    # -- the world -------------------------------------------------------------------------------------

    def world(self, top: Mapping[str, yaml.Node]) -> WorldSpec:
        """The world of a file."""
        read = self._read
        entities: dict[str, dict[str, Any]] = {}
        for symbol, node in (read.mapping(top["world"], "world") if "world" in top else {}).items():
            read.places[symbol] = read.places[f"world.{symbol}"]
            read.made(node, partial(WorldSpec, {symbol: {}}), symbol)
            entities[symbol] = {name: read.value(value) for name, value in read.mapping(node, symbol).items()}
        faults = read.listed(top["faults"]) if "faults" in top else []
        options: dict[str, Any] = {
            "faults": FaultPlan(tuple(self._fault(number, node) for number, node in enumerate(faults)))
        }
        if "now" in top:
            options["now"] = read.instant(top["now"])
        if "zone" in top:
            options["zone"] = read.text(top["zone"])
        if "principal" in top and "tenants" in top:
            raise read.bad(top["tenants"], "tenants: it stands in principal; drop one of the two")
        if "tenants" in top:
            tenants = read.names(top["tenants"], "tenants")
            options["principal"] = read.made(top["tenants"], lambda: Principal("agent", tenants=tenants))
        if "principal" in top:
            options["principal"] = self._principal(top["principal"], entities)
        return WorldSpec(entities, **options)

    def _principal(self, node: yaml.Node, entities: Mapping[str, Any]) -> Principal:
        read = self._read
        fields = read.shaped(node, "principal", PRINCIPAL)
        options: dict[str, Any] = {}
        for name in ("role", "customer"):
            if name in fields:
                options[name] = read.text(fields[name])
        for name in ("tenants", "scopes"):
            if name in fields:
                options[name] = read.names(fields[name], f"principal.{name}")
        if "customer" in options and options["customer"] not in entities:
            raise read.bad(
                fields["customer"],
                f"{options['customer']} is not in world{near(options['customer'], entities)}",
            )
        subject = read.text(fields["subject"]) if "subject" in fields else "agent"
        return read.made(node, lambda: Principal(subject, **options))

    def _fault(self, number: int, node: yaml.Node) -> Fault:
        read, known = self._read, tuple(str(kind) for kind in FaultKind)
        fields = read.shaped(node, f"faults.{number}", FAULT)
        kinds = [kind for kind in known if kind in fields]
        if len(kinds) != 1:
            raise read.bad(node, f"a fault has one kind: {', '.join(known)}")
        numbers: dict[str, Any] = {
            name: read.number(fields[name]) for name in ("nth", "times", "seconds") if name in fields
        }
        operation = read.text(fields[kinds[0]])
        return read.made(node, lambda: Fault(FaultKind(kinds[0]), operation, **numbers))

    # -- the user --------------------------------------------------------------------------------------

    def _user(self, node: yaml.Node) -> User:
        read = self._read
        fields = read.shaped(node, "user", USER)
        options: dict[str, Any] = {
            name: read.text(fields[name])
            for name in ("confirms", "changes_mind", "chooses")
            if name in fields
        }
        for name in options:
            read.words(fields[name], f"user.{name}")
        if "then" in fields:
            following = read.listed(fields["then"])
            options["then"] = tuple(read.words(text, "user.then") for text in following)
            read.places |= {f"user.then.{n}": read.place(text) for n, text in enumerate(following)}
        if "knows" in fields:
            known = read.mapping(fields["knows"], "user.knows")
            options["knows"] = {
                name: read.words(value, f"user.knows.{name}") for name, value in known.items()
            }
        if "silent" in fields:
            options["silent"] = read.flag(fields["silent"])
        if "patience" in fields:
            options["patience"] = read.number(fields["patience"], least=1)
        return User(read.words(fields["says"], "user.says"), **options)

    def _mentions(self, node: yaml.Node, user: User, world: WorldSpec) -> None:
        """Every symbol in a text of the user is one of the world."""
        texts = set(user.texts())
        for found in (one for one in _scalars(node) if one.value in texts):
            for symbol in SYMBOL.findall(found.value):
                if symbol not in world.entities:
                    raise self._read.bad(found, f"{symbol} is not in world{near(symbol, world.entities)}")

    def _labels(self, top: Mapping[str, yaml.Node]) -> tuple[Label, ...]:
        read = self._read
        named = read.mapping(top["labels"], "labels") if "labels" in top else {}
        return tuple(Label(by, read.names(tools, f"labels.{by}")) for by, tools in named.items())

    # -- the catalog -----------------------------------------------------------------------------------

    def _offer(self, top: Mapping[str, yaml.Node]) -> Offered:
        if "catalog" not in top:
            return Offered()
        read, node = self._read, top["catalog"]
        fields = read.shaped(node, "catalog", OFFER)
        options: dict[str, Any] = {
            name: read.names(fields[name], f"catalog.{name}")
            for name in ("only", "without", "withheld")
            if name in fields
        }
        if "from" in fields:
            options["catalog"] = read.text(fields["from"])
        if "rename" in fields:
            options["rename"] = self._renamed(fields["rename"], "catalog.rename")
        options["distractors"] = tuple(map(self._distractor, *self._numbered(fields, "distractors")))
        options["changes"] = tuple(map(self._change, *self._numbered(fields, "changes")))
        return read.made(node, lambda: Offered(**options), "catalog")

    def _numbered(self, fields: Mapping[str, yaml.Node], key: str) -> tuple[list[str], list[yaml.Node]]:
        nodes = self._read.listed(fields[key]) if key in fields else []
        return [f"catalog.{key}.{number}" for number in range(len(nodes))], nodes

    def _renamed(self, node: yaml.Node, part: str) -> dict[str, str]:
        return {old: self._read.tool_name(new) for old, new in self._read.mapping(node, part).items()}

    def _distractor(self, part: str, node: yaml.Node) -> Distractor:
        read = self._read
        fields = read.shaped(node, part, DISTRACTOR)
        family = read.choice(fields["family"], tuple(str(one) for one in Family))
        tool, why = read.text(fields["tool"]), read.text(fields["why"])
        return read.made(node, lambda: Distractor(tool, Family(family), why))

    def _change(self, part: str, node: yaml.Node) -> CatalogChange:
        read = self._read
        fields = read.shaped(node, part, CHANGE)
        remove, add = (
            read.names(fields[name], f"{part}.{name}") if name in fields else () for name in ("remove", "add")
        )
        renamed = self._renamed(fields["rename"], f"{part}.rename") if "rename" in fields else {}
        turn = read.number(fields["turn"])
        return read.made(node, lambda: CatalogChange(turn, remove, add, renamed), part)


def _scalars(node: yaml.Node) -> list[yaml.ScalarNode]:
    """Every text below a node."""
    if isinstance(node, yaml.ScalarNode):
        return [node]
    if isinstance(node, yaml.MappingNode):
        return [found for _, value in node.value for found in _scalars(value)]
    return [found for item in node.value for found in _scalars(item)]
