"""Facts: one value in one place, what sort of source it is, and what its place says of its kind and unit.

Fact     a value · Record  the row it stands in · Text  a running text · Hit  a form found in one
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from sandtrail.ledgers.folding import fold, key_of
from sandtrail.ledgers.naming import id_kind, kind_word, words_of


class FactKind(StrEnum):
    """Who said it: the user, the system text, a result, an error, an earlier call, the agent itself, or a stranger whose
    text a service keeps (`planted`: a note, a mail, a review)."""

    USER = "user"
    SYSTEM = "system"
    RESULT = "result"
    ERROR = "error"
    ARGUMENT = "argument"
    ASSISTANT = "assistant"
    PLANTED = "planted"


class Record:
    """One JSON object or list of a result or of a call's arguments: the row to which its leaves belong."""

    def __init__(
        self, call: int, tool: str, pointer: str, parent: Record | None, fields: Mapping[str, Any], since: int
    ) -> None:
        self.call, self.tool, self.pointer, self.parent = call, tool, pointer, parent
        self.fields, self.since = fields, since

    @cached_property
    def name(self) -> str:
        """The name of the container it stands in: `payment` for /payments/0; empty at the root."""
        parts = [part for part in self.pointer.split("/") if part and not part.isdigit()]
        return kind_word(parts[-1].lower()) if parts else ""

    @property
    def list(self) -> tuple[int, str] | None:
        """The list it is an item of: its call, and the list's pointer; None where it is in none."""
        head, _, last = self.pointer.rpartition("/")
        return (self.call, head) if last.isdigit() else None

    @cached_property
    def container(self) -> str:
        """The name of what holds it, where its own is a key of data: `payment_method` for /payment_methods/card_1."""
        parts = [part for part in self.pointer.split("/") if part]
        return kind_word(parts[-2].lower()) if len(parts) > 1 and re.search(r"\d", parts[-1]) else ""

    @cached_property
    def own(self) -> tuple[str, str] | None:
        """Kind and folded id of the entity that it is a row of; None where it shows none."""
        fields = self.fields
        if "id" in fields:
            text = key_of(fields["id"])
            return (self.container or self.name, text) if text else None
        for name in (self.container, self.name, self._kind_of_tool):
            for key in (f"{name}_id", f"{name}Id") if name else ():
                if key in fields and (text := key_of(fields[key])):
                    return name, text
        first = next(iter(fields), "")
        kind, text = id_kind(str(first)), key_of(fields[first]) if fields else None
        # payment_history: [{payment_id, amount}] are no rows of payments, lines: [{product_id, ...}] none of products
        return (kind, text) if kind and text and _alike(self.name, kind) else None

    @property
    def _kind_of_tool(self) -> str:
        """The kind that the tool's name tells of the object at the root: `order` of get_order_details."""
        words = map(kind_word, self.tool.lower().split("_")) if not self.pointer else ()
        return next((word for word in words if f"{word}_id" in self.fields), "")

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Its texts, folded: names, codes, numbers by which it may be called."""
        return tuple(
            fold(value)
            for value in self.fields.values()
            if isinstance(value, str) and len(value) < LONGEST_LABEL
        )


LONGEST_LABEL = 400
"""Longer texts are no labels of a row."""


_PEOPLE = frozenset(["customer", "user", "client", "account", "member", "person"])


def _alike(name: str, kind: str) -> bool:
    """Whether a list of this name holds rows of a kind: payments those of payment methods, customers those of users."""
    return not name or kind.startswith(f"{name}_") or {name, kind} <= _PEOPLE


class Fact(NamedTuple):
    """One value in one place. `key` is the last step of its pointer; `record` is None for running text."""

    kind: FactKind
    value: Any
    since: int
    record: Record | None
    key: str
    text: Text | None = None

    @property
    def pointer(self) -> str:
        """Its JSON pointer in the result or the arguments."""
        return f"{self.record.pointer}/{self.key}" if self.record is not None and self.key else self._root

    @property
    def _root(self) -> str:
        return self.record.pointer if self.record is not None else ""

    @property
    def call(self) -> int | None:
        """The number of the call it stood in."""
        return self.record.call if self.record is not None else self.text.call if self.text else None

    @property
    def tool(self) -> str | None:
        """The tool that answered, or was called."""
        return self.record.tool if self.record is not None else self.text.tool if self.text else None

    def __str__(self) -> str:
        match self.kind:
            case FactKind.USER:
                return "said by the user"
            case FactKind.SYSTEM:
                return "the system text"
            case FactKind.ASSISTANT:
                return "said by the agent"
            case FactKind.ARGUMENT:
                return f"an argument of call {self.call}"
            case FactKind.ERROR:
                return f"the error of call {self.call}"
            case _:
                return f"call {self.call} {self.pointer}".rstrip()


class Text:
    """One running text: a message, or a leaf with more than one word. `key` is the leaf's field in its record."""

    __slots__ = ("folded", "key", "kind", "order", "raw", "record", "since")

    def __init__(
        self,
        kind: FactKind,
        raw: str,
        since: int,
        record: Record | None = None,
        key: str = "",
        order: int = 0,
    ) -> None:
        self.kind, self.raw, self.since, self.record, self.key, self.order = (
            kind,
            raw,
            since,
            record,
            key,
            order,
        )
        self.folded = ""

    @property
    def call(self) -> int | None:
        """The number of the call it stood in."""
        return self.record.call if self.record is not None else None

    @property
    def tool(self) -> str | None:
        """The tool that answered, or was called."""
        return self.record.tool if self.record is not None else None


@dataclass(frozen=True, slots=True)
class Hit:
    """A form in a running text, and what stands around it."""

    text: Text
    start: int
    end: int

    @property
    def before(self) -> str:
        """The words in front of it."""
        return self.text.folded[max(0, self.start - 40) : self.start]

    @property
    def after(self) -> str:
        """The words behind it."""
        return self.text.folded[self.end : self.end + 24]

    @property
    def fact(self) -> Fact:
        """The hit as a fact."""
        key = self.text.key
        found = self.text.folded[self.start : self.end]
        return Fact(self.text.kind, found, self.text.since, self.text.record, key, self.text)


def kinds_of(fact: Fact) -> frozenset[str]:
    """The entity kinds that the place of an id tells; empty where it tells none.

    `payment_id` is a payment's; `id` in /payments/0 as well; a key of the object `payment_methods` is a payment method's.
    """
    record = fact.record
    if record is None:
        return frozenset()
    key = fact.key
    if key.isdigit() and not record.fields:
        last = record.pointer.rpartition("/")[2]
        return frozenset({id_kind(last) or kind_word(last.lower())}) if last else frozenset()
    named = id_kind(key)
    if named:
        return frozenset({named})
    if named == "":
        return frozenset(name for name in (record.container or record.name,) if name)
    if fact.value == key and isinstance(record.fields.get(key), dict):
        return frozenset({record.name}) if record.name else frozenset()
    if not key and record.pointer == "":
        found = re.search(r"(?:find|get|lookup|search|resolve)_([a-z]+)_id", record.tool)
        return frozenset({found[1]}) if found else frozenset()
    return frozenset()


def unit_of(fact: Fact) -> str:
    """The unit of money that the place of a number tells: minor, major, or nothing."""
    words = set(words_of(fact.key))
    if words & {"minor", "cents", "cent", "pence"}:
        return "minor"
    if isinstance(fact.value, float) and not fact.value.is_integer():
        return "major"
    if isinstance(fact.value, str) and re.fullmatch(r"\d+[.,]\d{2}", fact.value.strip()):
        return "major"
    return ""
