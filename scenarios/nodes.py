"""YAML read safely, with the place of each part: no tags, no anchors, no duplicate or unknown keys, no floats.

Reader(origin)           reads one file
  .composed(text)        the root node, bounded in size and depth
  .mapping(node, part)   keys and values; remembers where each stands under its part's name
  .text .number .flag .instant .listed .value   one value of a kind, or BadScenario at its line
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

import yaml

from sandtrail.ledgers.spelling import near
from sandtrail.scenarios.scenario import Place
from sandtrail.scenarios.shapes import Shape

T = TypeVar("T")

DEEPEST = 30
"""How deep brackets may nest: the YAML reader takes a time that grows with the square of it."""

LONGEST = 200_000
"""The longest scenario file that is read, in characters."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's reader where it was built in: the same nodes and marks, several times faster."""

_CLEVER = (yaml.AnchorToken, yaml.AliasToken, yaml.TagToken)


class BadScenario(ValueError):
    """A scenario, catalog or data file that cannot be used. `place` says where."""

    def __init__(self, place: Place, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place}: {reason}")


class Reader:
    """Reads one file; remembers where each part stands."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.places: dict[str, Place] = {}

    def composed(self, text: str) -> yaml.Node:
        """The root node of a YAML text. Raises BadScenario for what is not read."""
        start = Place(self.origin, 1)
        if len(text) > LONGEST:
            raise BadScenario(start, f"the file has {len(text)} characters; at most {LONGEST} are read")
        if _depth(text) > DEEPEST:
            raise BadScenario(start, f"the file nests deeper than {DEEPEST} levels")
        try:
            clever = next(
                (token for token in yaml.scan(text, Loader=_LOADER) if isinstance(token, _CLEVER)),
                None,
            )
            node = None if clever else yaml.compose(text, Loader=_LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            last = text.count("\n") + 1  # libyaml counts an end that is not there
            line = min(mark.line + 1, last) if mark else 1
            raise BadScenario(
                Place(self.origin, line), f"no YAML: {getattr(error, 'problem', None) or error}"
            ) from None
        # what the YAML reader itself lets through
        except (ValueError, OverflowError, RecursionError) as error:
            raise BadScenario(start, f"no YAML: {type(error).__name__} while reading") from None
        if clever is not None:
            place = Place(self.origin, clever.start_mark.line + 1)
            raise BadScenario(place, "anchors, aliases and tags are not read; write it out")
        if node is None:
            raise BadScenario(start, "the file is empty; start with scenario: an-id")
        return node

    def place(self, node: yaml.Node) -> Place:
        """Where a node stands."""
        return Place(self.origin, node.start_mark.line + 1)

    def bad(self, node: yaml.Node, reason: str) -> BadScenario:
        """The error about a node."""
        return BadScenario(self.place(node), reason)

    def made(self, node: yaml.Node, make: Callable[[], T]) -> T:
        """What `make` makes; a value that refuses to exist is an error at this node."""
        try:
            return make()
        except BadScenario:
            raise
        except ValueError as error:
            raise self.bad(node, str(error)) from None

    # -- nodes of a kind -------------------------------------------------------------------------------

    def shaped(self, node: yaml.Node, part: str, shape: Shape) -> dict[str, yaml.Node]:
        """Keys and values of a shape: unknown keys are errors, required ones must be there."""
        return self.mapping(node, part, known=tuple(shape.keys), required=shape.required)

    def mapping(
        self, node: yaml.Node, part: str, *, known: tuple[str, ...] = (), required: tuple[str, ...] = ()
    ) -> dict[str, yaml.Node]:
        """Keys and values of any name, or of the known ones."""
        said = part or "the file"
        if not isinstance(node, yaml.MappingNode):
            raise self.bad(node, f"{said}: keys and values are wanted")
        self.places.setdefault(part, self.place(node))
        found: dict[str, yaml.Node] = {}
        for key_node, value in node.value:
            key = self.text(key_node)
            if key in found:
                raise self.bad(key_node, f"{said}: {key!r} stands twice")
            if known and key not in known:
                hint = (
                    "; a text with a comma: put it in quotes" if _left_over(node, value) else near(key, known)
                )
                raise self.bad(key_node, f"{said}: unknown key {key!r}{hint}")
            found[key] = value
            self.places.setdefault(f"{part}.{key}" if part else key, self.place(key_node))
        missing = [key for key in required if key not in found]
        if missing:
            raise self.bad(node, f"{said}: {', '.join(missing)} missing")
        return found

    def listed(self, node: yaml.Node) -> list[yaml.Node]:
        """The items of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise self.bad(node, "a list is wanted")
        return list(node.value)

    def texts(self, node: yaml.Node) -> tuple[str, ...]:
        """One text, or a list of them."""
        if isinstance(node, yaml.SequenceNode):
            return tuple(map(self.text, node.value))
        return (self.text(node),)

    def value(self, node: yaml.Node) -> Any:
        """One value: text, whole number, true or false, instant, nothing; never a float."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.bad(node, "one value is wanted")
        kind = node.tag.rpartition(":")[2]
        if kind == "float":
            raise self.bad(
                node, f"{node.value} is a float; write money as 42.50 USD and numbers of an order in quotes"
            )
        if kind == "int":
            return self.number(node)
        if kind == "timestamp":
            return self.instant(node)
        return {"null": None, "bool": node.value.lower() in {"true", "yes", "on"}}.get(kind, node.value)

    def text(self, node: yaml.Node) -> str:
        """Text; a day reads as text too."""
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith((":str", ":timestamp")):
            shown = f", not {node.value}; put it in quotes" if isinstance(node, yaml.ScalarNode) else ""
            raise self.bad(node, f"text is wanted{shown}")
        return str(node.value)

    def number(self, node: yaml.Node, *, least: int | None = None) -> int:
        """A whole number of at most 18 digits."""
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"-?[0-9]{1,18}", node.value):
            raise self.bad(node, "a whole number is wanted")
        found = int(node.value)
        if least is not None and found < least:
            raise self.bad(node, f"{found}: at least {least} is wanted")
        return found

    def flag(self, node: yaml.Node) -> bool:
        """True or false."""
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith(":bool"):
            raise self.bad(node, "true or false is wanted")
        return str(node.value).lower() in {"true", "yes", "on"}

    def choice(self, node: yaml.Node, known: tuple[str, ...]) -> str:
        """One of the known words."""
        word = self.text(node)
        if word not in known:
            raise self.bad(node, f"{word!r} is none of {', '.join(known)}{near(word, known)}")
        return word

    def instant(self, node: yaml.Node) -> datetime:
        """An instant with its zone, between 1900 and 2200."""
        try:
            moment = datetime.fromisoformat(str(node.value))
        except ValueError:
            raise self.bad(node, "an instant such as 2026-03-02T09:00:00Z is wanted") from None
        if moment.tzinfo is None:
            raise self.bad(node, f"{node.value} has no zone; end it with Z or an offset such as +01:00")
        if not 1900 <= moment.year <= 2200:
            raise self.bad(node, f"{node.value} is not between the years 1900 and 2200")
        return moment


def _left_over(node: yaml.MappingNode, value: yaml.Node) -> bool:
    """Whether a key without a value stands in braces: the end of a text that a comma has split."""
    return bool(node.flow_style) and isinstance(value, yaml.ScalarNode) and value.value == ""


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
