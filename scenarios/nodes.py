"""YAML read safely, with the place of each part: no tags, no anchors, no duplicate or unknown keys, no floats.

Reader(origin)           reads one file
  .composed(text)        the root node, bounded in size and depth
  .mapping(node, part)   keys and values; remembers where each stands under its part's name
  .names(node, part)     a list of texts; remembers where each stands
  .text .number .flag .instant .listed .value .json   one value of a kind, or BadScenario at its line
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

import yaml

from sandtrail.ledgers.spelling import near
from sandtrail.scenarios.scenario import Place
from sandtrail.scenarios.shapes import TOOL_PATTERN, Shape

T = TypeVar("T")

DEEPEST = 30
"""How deep lists and mappings may nest: the YAML reader calls itself once for each level."""

LONGEST = 200_000
"""The longest scenario file that is read, in characters."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's reader where it was built in: the same nodes and marks, several times faster."""

NOT_TEXT = re.compile("[\x00\ud800-\udfff]")
"""NUL and halves of surrogate pairs: no database and no wire holds them."""


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
        if strange := yaml.reader.Reader.NON_PRINTABLE.search(text):
            line = text.count("\n", 0, strange.start()) + 1
            reason = f"no YAML: the character U+{ord(strange[0]):04X} is not permitted"
            raise BadScenario(Place(self.origin, line), reason)
        try:
            self._plain(yaml.parse(text, Loader=_LOADER))
            node = yaml.compose(text, Loader=_LOADER)
        except yaml.MarkedYAMLError as error:
            line = min(error.problem_mark.line + 1 if error.problem_mark else 1, len(text.splitlines()))
            said = ", ".join(part for part in (error.context, error.problem) if part)
            deep = f"the file nests deeper than {DEEPEST} levels" if "nesting depth" in said else ""
            raise BadScenario(Place(self.origin, line), deep or f"no YAML: {said}") from None
        except BadScenario:
            raise
        except (ValueError, OverflowError) as error:  # a character number beyond Unicode
            raise BadScenario(start, f"no YAML: {error}") from None
        if node is None:
            raise BadScenario(start, "the file is empty; start with scenario: an-id")
        return node

    def _plain(self, events: Iterable[Any]) -> None:
        """Refuses anchors, aliases and tags, and what nests too deep, before any node is made."""
        depth = 0
        for event in events:
            place = Place(self.origin, event.start_mark.line + 1)
            if getattr(event, "anchor", None) or getattr(event, "tag", None):
                raise BadScenario(place, "anchors, aliases and tags are not read; write it out")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise BadScenario(place, f"the file nests deeper than {DEEPEST} levels")

    def place(self, node: yaml.Node) -> Place:
        """Where a node stands."""
        return Place(self.origin, node.start_mark.line + 1)

    def bad(self, node: yaml.Node, reason: str) -> BadScenario:
        """The error about a node."""
        return BadScenario(self.place(node), reason)

    def made(self, node: yaml.Node, make: Callable[[], T], part: str = "?") -> T:
        """What `make` makes; a value that refuses to exist is an error at this node, or at the part it is.

        Where the error names one of the keys of `part` (its attribute `key`), it is an error at that key.
        """
        try:
            return make()
        except ValueError as error:
            named = f"{part}.{getattr(error, 'key', '')}"
            place = self.places.get(named) or self.places.get(part) or self.place(node)
            raise BadScenario(place, str(error)) from None

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
            if key_node.tag.endswith(":merge"):
                raise self.bad(key_node, f"{said}: merge keys (<<) are not read; write it out")
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
            hint = f": [{node.value}]" if isinstance(node, yaml.ScalarNode) and node.value else ""
            raise self.bad(node, f"a list is wanted{hint}")
        return list(node.value)

    def names(self, node: yaml.Node, part: str) -> tuple[str, ...]:
        """A list of texts; each is remembered as `part.text`. One that stands twice is an error."""
        found: list[str] = []
        for item in self.listed(node):
            name = self.text(item)
            if name in found:
                raise self.bad(item, f"{part}: {name!r} stands twice")
            found.append(name)
            self.places.setdefault(f"{part}.{name}", self.place(item))
        return tuple(found)

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
        if kind in {"null", "bool"}:
            return None if kind == "null" else self.flag(node)
        return self._written(node)

    def text(self, node: yaml.Node) -> str:
        """Text; a day reads as text too."""
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith((":str", ":timestamp")):
            shown = (
                f", not {node.value}; put it in quotes"
                if isinstance(node, yaml.ScalarNode) and node.value
                else ""
            )
            raise self.bad(node, f"text is wanted{shown}")
        return self._written(node)

    def words(self, node: yaml.Node, said: str) -> str:
        """Text that is not blank; `said` begins the error."""
        text = self.text(node)
        if not text.strip():
            raise self.bad(node, f"{said}: some words are wanted")
        return text

    def tool_name(self, node: yaml.Node) -> str:
        """A name that a tool may have: model providers take no other."""
        name = self.text(node)
        if not re.fullmatch(TOOL_PATTERN, name):
            raise self.bad(node, f"{name!r} is no tool's name; use letters, digits, _ and -, at most 64")
        return name

    def _written(self, node: yaml.ScalarNode) -> str:
        """The text of a node as it stands, unless no database and no wire could hold it."""
        if NOT_TEXT.search(node.value):
            raise self.bad(node, "the text holds a NUL or half a surrogate pair")
        return str(node.value)

    def json(self, node: yaml.Node) -> Any:
        """A node as JSON: floats are permitted, days and instants are text."""
        if isinstance(node, yaml.MappingNode):
            return {key: self.json(value) for key, value in self.mapping(node, "json").items()}
        if not isinstance(node, yaml.ScalarNode):
            return [self.json(item) for item in self.listed(node)]
        if node.tag.endswith(":float"):
            if not re.fullmatch(r"[-+]?[0-9]*\.?[0-9]*([eE][-+]?[0-9]+)?", node.value):  # .inf, 1_0.5, 1:30.5
                raise self.bad(node, f"{node.value} is no JSON number")
            return float(node.value)
        return self._written(node) if node.tag.endswith(":timestamp") else self.value(node)

    def number(self, node: yaml.Node, *, least: int | None = None) -> int:
        """A whole number of at most 18 digits."""
        if not isinstance(node, yaml.ScalarNode) or not re.fullmatch(r"-?[0-9]{1,18}", node.value):
            raise self.bad(node, "a whole number is wanted")
        found = int(node.value)
        if least is not None and found < least:
            raise self.bad(node, f"at least {least} is wanted, not {found}")
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
