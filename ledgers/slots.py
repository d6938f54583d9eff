"""The slots of a tool's arguments: declared by a service, or inferred from names, formats and descriptions.

    Slots(tool, declared)     the slots of one tool
        .at("/lines/0/sku")   the slot of one leaf
        .words("/currency")   what the tool's own schema says of values there: default, enum, examples

What is inferred says so (`Slot.inferred`), so that a reader can disagree. JSON Schema 2020-12 is read as far as it says
what a value is: `$ref` into the same schema, `anyOf`/`oneOf`/`allOf`, `enum`, `const`, `default`, `examples`, `format`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from sandtrail.ledgers.identity import Identical
from sandtrail.ledgers.naming import _MONEY, id_kind, words_of
from sandtrail.ledgers.specs import Form, Risk, Slot, ToolSpec
from sandtrail.ledgers.trees import as_list, as_object

_DEEPEST = 12


_FORMATS = {
    "date": Form.DATE,
    "date-time": Form.TIME,
    "time": Form.TIME,
    "email": Form.EMAIL,
    "idn-email": Form.EMAIL,
    "uuid": Form.ID,
    "phone": Form.PHONE,
    "uri": Form.TOKEN,
}


_GENERATED = {"idempotency", "nonce", "correlation", "trace", "dedupe", "dedup"}


_MINOR = {"minor", "cents", "cent", "pence"}


_MAJOR = {"dollars", "usd", "euros", "eur", "major"}


_COUNTS = {
    "quantity", "qty", "count", "limit", "page", "size", "number", "baggages", "offset", "days", "hours", "minutes", "weeks",
    "months", "percent", "percentage", "rate", "seats", "passengers", "max", "min", "top", "line", "version", "index", "nights",
}  # fmt: skip


_DATES = {"date", "day", "dob", "birthday", "birthdate", "birth", "deadline"}


_TIMES = {"time", "datetime", "timestamp", "at"}


_SPANS = {"since", "until", "before", "after", "from", "to", "start", "end", "begin", "due"}


_TEXTS = {
    "reason", "note", "notes", "summary", "description", "message", "body", "text", "comment", "comments", "subject", "title",
    "query", "q", "expression", "question", "content", "prompt", "instructions", "details", "memo", "remark", "feedback", "thought",
}  # fmt: skip


_ADDRESS = {"address", "street", "address1", "address2", "city", "town", "line", "line1", "line2"}


_CODES = {
    "currency", "country", "state", "region", "language", "locale", "timezone", "zone", "unit", "status", "type", "cabin", "kind",
    "category", "order_by", "sort", "priority", "channel", "method", "plan", "tier", "role", "origin", "destination", "direction",
}  # fmt: skip


_EXAMPLE = re.compile(
    r"(?:such as|e\.g\.,?|for example,?|for instance,?|like|example:|example value:?|i\.e\.)\s*$",
    re.IGNORECASE,
)


_BARE_EXAMPLE = re.compile(
    r"(?:such as|e\.g\.,?|for example,?|for instance,?) ([#\w-]*\d[\w-]*)", re.IGNORECASE
)


_PATTERN = re.compile(r"(?:[YMDHhms]{1,4}[-/:.T ]?){2,8}")


_QUOTED = re.compile(r"'([^'\n]{0,80})'|\"([^\"\n]{0,80})\"|`([^`\n]{1,80})`|\u201c([^\u201d\n]{0,80})\u201d")


@dataclass(frozen=True, slots=True)
class Told:
    """What a schema says of the values at one place. `examples` are no source: they are the author's, not the run's.

    `text` is what the descriptions of the tool and of this place say, in lower case.
    """

    default: Any = None
    has_default: bool = False
    enum: tuple[Any, ...] = ()
    examples: tuple[str, ...] = ()
    required: bool = False
    text: str = ""


_NONE_DECLARED: Mapping[str, Slot] = MappingProxyType({})


def slots_of(tool: ToolSpec | None, declared: Mapping[str, Slot], *, writes: bool) -> Slots:
    """The slots of one tool, read once."""
    return _slots(Identical(tool, declared or _NONE_DECLARED), writes)


@lru_cache(maxsize=512)
def _slots(key: Identical, writes: bool) -> Slots:  # noqa: FBT001  half of a key
    return Slots(key.value, key.also, writes=writes)


class Slots:
    """The slots of one tool. `declared` are a service's own, by the name of the argument."""

    def __init__(self, tool: ToolSpec | None, declared: Mapping[str, Slot], *, writes: bool = False) -> None:
        self._schema = dict(tool.input_schema) if tool else {}
        self._declared, self._writes = declared, writes
        self.description = tool.description if tool else ""
        self._known: dict[str, tuple[Slot, Told]] = {}

    @property
    def optional(self) -> Iterator[str]:
        """The pointers of the arguments at the top that may be left out."""
        required = as_list(self._schema.get("required")) or []
        for name in as_object(self._schema.get("properties")) or {}:
            if name not in required:
                yield f"/{name}"

    def at(self, pointer: str, value: object = None) -> Slot:
        """The slot of a leaf."""
        return self._of(pointer, value)[0]

    def words(self, pointer: str) -> Told:
        """What the schema says of values there."""
        return self._of(pointer, None)[1]

    def _of(self, pointer: str, value: object) -> tuple[Slot, Told]:
        path = re.sub(r"/\d+(?=/|$)", "/*", pointer)
        if path not in self._known:
            nodes, required = self._nodes(path)
            told = replace(_told(nodes, required=required), text=self._text(nodes))
            self._known[path] = (self._slot(path, nodes, told, value), told)
        return self._known[path]

    def _text(self, nodes: Sequence[Mapping[str, Any]]) -> str:
        said = (str(node.get("description") or "") for node in nodes)
        return " ".join((self.description, *said)).lower()

    def _slot(self, path: str, nodes: list[Mapping[str, Any]], told: Told, value: object) -> Slot:
        names = [part for part in path.split("/") if part not in {"", "*"}]
        name = names[-1] if names else ""
        guessed = _inferred(name, nodes, told, value)
        declared = self._declared.get(names[0]) if names else None
        if declared is None or (len(names) > 1 and declared.kind is not None and guessed.form is not Form.ID):
            risky = guessed.form in {Form.ID, Form.MONEY, Form.EMAIL, Form.PHONE} or self._writes
            return replace(guessed, risk=Risk.HIGH if risky else Risk.LOW)
        form = declared.form or _declared_form(declared) or guessed.form
        return replace(declared, form=form)

    def _nodes(self, path: str) -> tuple[list[Mapping[str, Any]], bool]:
        nodes: list[Mapping[str, Any]] = [self._schema]
        required = False
        for part in path.split("/")[1:]:
            following: list[Mapping[str, Any]] = []
            required = part != "*" and any(
                _unescaped(part) in (as_list(node.get("required")) or []) for node in nodes
            )
            for node in nodes:
                child = _child(node, part)
                if child is not None:
                    following += self._open(child, 0)
            nodes = following
        return nodes, required

    def _open(self, node: Mapping[str, Any], depth: int) -> list[Mapping[str, Any]]:
        """A node with what it refers to and combines; a chain that is too long ends there."""
        if depth > _DEEPEST:
            return []
        found: list[Mapping[str, Any]] = [node]
        reference = node.get("$ref")
        if isinstance(reference, str) and (target := self._target(reference)) is not None:
            found += self._open(target, depth + 1)
        for word in ("anyOf", "oneOf", "allOf"):
            for one in (as_list(node.get(word)) or [])[:20]:
                if (inner := as_object(one)) is not None:
                    found += self._open(inner, depth + 1)
        return found[:40]

    def _target(self, reference: str) -> Mapping[str, Any] | None:
        node: Any = self._schema
        for part in reference.removeprefix("#").split("/")[1:]:
            node = (as_object(node) or {}).get(_unescaped(part))
        return as_object(node) if reference.startswith("#") else None


def _child(node: Mapping[str, Any], part: str) -> Mapping[str, Any] | None:
    if part == "*":
        return as_object(node.get("items"))
    return as_object((as_object(node.get("properties")) or {}).get(_unescaped(part)))


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _told(nodes: Sequence[Mapping[str, Any]], *, required: bool) -> Told:
    enum: list[Any] = []
    examples: list[str] = []
    default: Any = None
    has_default = False
    for node in nodes:
        enum += as_list(node.get("enum")) or []
        enum += [node["const"]] if "const" in node else []
        if "default" in node:
            default, has_default = node["default"], True
        examples += [str(one) for one in as_list(node.get("examples")) or []]
        examples += [str(node["example"])] if "example" in node else []
        said = str(node.get("description") or "")
        shown, listed = quoted(said)
        examples += (*shown, *_BARE_EXAMPLE.findall(said))
        enum += listed
    return Told(default, has_default, tuple(enum), tuple(examples), required)


def quoted(description: str) -> tuple[list[str], list[str]]:
    """What a description quotes: as an example, or as one of the values to choose from.

    >>> quoted("The id, such as 'A1' or 'A2'. Either 'yes' or 'no'.")
    (['A1', 'A2'], ['yes', 'no'])
    """
    shown: list[str] = []
    listed: list[str] = []
    begin, exemplary = 0, False
    for found in _QUOTED.finditer(description):
        between = description[begin : found.start()]
        if _EXAMPLE.search(between):
            exemplary = True
        elif not re.fullmatch(r"[\s,;/]*(?:or|and|oder|und)?[\s,;/]*", between):
            exemplary = False
        text = next(group for group in found.groups() if group is not None)
        exemplary = exemplary or _PATTERN.fullmatch(text) is not None
        (shown if exemplary else listed).append(text)
        begin = found.end()
    return shown, listed


def examples_of(tools: Iterable[ToolSpec]) -> frozenset[str]:
    """The examples in the schemas of all of these tools, read once for each."""
    return frozenset(one for tool in tools for one in _examples(Identical(tool)))


@lru_cache(maxsize=512)
def _examples(key: Identical) -> frozenset[str]:
    return examples_in(key.value)


def examples_in(tool: ToolSpec) -> frozenset[str]:
    """The telling examples anywhere in a tool's description and schema, in lower case: with a digit, or codes like JFK.

    >>> examples_in(ToolSpec("t", "", {"properties": {"id": {"description": "such as 'HAT001'"}}}))
    frozenset({'hat001'})
    """
    found = {*quoted(tool.description)[0], *_BARE_EXAMPLE.findall(tool.description)}
    waiting: list[tuple[Any, int]] = [(dict(tool.input_schema), 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > 3 * _DEEPEST:
            continue
        if (node := as_object(value)) is not None:
            found.update(_told([node], required=False).examples)
            waiting += [(inner, depth + 1) for inner in node.values()]
        elif (items := as_list(value)) is not None:
            waiting += [(inner, depth + 1) for inner in items[:200]]
    return frozenset(one.lower() for one in found if _TELLING.fullmatch(one))


_TELLING = re.compile(r"(?=.*\d).{4,}|[A-Z]{3}", re.DOTALL)


def _declared_form(slot: Slot) -> Form | None:
    if slot.kind is not None:
        return Form.ID
    return Form.MONEY if slot.unit in {"minor", "major"} else None


def _inferred(name: str, nodes: list[Mapping[str, Any]], told: Told, value: object) -> Slot:
    words = words_of(name)
    types = {str(kind) for node in nodes for kind in _types(node)}
    said = " ".join(str(node.get("description") or "") for node in nodes)
    formats = [_FORMATS[form] for node in nodes if (form := str(node.get("format"))) in _FORMATS]
    form, kind, why = _form(words, name, types, value)
    if formats and form is not Form.ID:
        form, why = formats[0], "its format"
    if told.enum and form is not Form.ID and all(isinstance(one, str) for one in told.enum):
        form, why = (
            (Form.CODE, "its list of values") if any("enum" in node for node in nodes) else (form, why)
        )
    if form is Form.MONEY:
        return Slot(unit=_unit(words, said), form=form, inferred=why)
    return Slot(kind=kind, form=form, inferred=why)


def _types(node: Mapping[str, Any]) -> list[Any]:
    kind = node.get("type")
    return as_list(kind) or ([kind] if isinstance(kind, str) else [])


def _form(words: Sequence[str], name: str, types: set[str], value: object) -> tuple[Form, str | None, str]:
    """The form that a name tells, the entity kind of an id, and why."""
    given, why = set(words), f"the name {name}"
    last = words[-1] if words else ""
    numeric = bool(types & {"integer", "number"}) or (not types and _is_number(value))
    if "boolean" in types or isinstance(value, bool):
        return Form.FLAG, None, "its type"
    if given & _GENERATED or name.lower() in {"request_id", "client_token", "x_request_id"}:
        return Form.GENERATED, None, why
    kind = id_kind(name)
    if kind is not None:
        return Form.ID, kind or None, why
    if "cursor" in given or name.lower() in {"page_token", "next_token"}:
        return Form.ID, "cursor", why
    for form, names in _BY_NAME:
        if last in names:
            return form, None, why
    if numeric:
        money = given & _MINOR or last in _MONEY or (given & _MONEY and not given & _COUNTS)
        return (Form.MONEY, None, why) if money else (Form.NUMBER, None, "its type")
    return _text_form(given, last, why)


_BY_NAME: tuple[tuple[Form, set[str]], ...] = (
    (Form.EMAIL, {"email", "mail"}),
    (Form.PHONE, {"phone", "tel", "telephone", "mobile", "fax"}),
    (Form.DATE, _DATES),
)


_BY_WORD: tuple[tuple[Form, Set[str]], ...] = (
    (Form.EMAIL, {"email"}),
    (Form.PHONE, {"phone", "mobile"}),
    (Form.TEXT, _TEXTS),
    (Form.MONEY, _MONEY | _MINOR),
)


def _text_form(given: set[str], last: str, why: str) -> tuple[Form, str | None, str]:
    for form, names in _BY_WORD:
        if given & names:
            return form, None, why
    if last in _TIMES:
        return Form.TIME, None, why
    if last in _SPANS:
        return Form.DATE, None, why
    if given & {"name", "firstname", "lastname", "surname"}:
        return Form.NAME, None, why
    if given & (_ADDRESS | {"zip", "postcode", "postal"}):
        return Form.ADDRESS if given & _ADDRESS else Form.TOKEN, None, why
    if last in _CODES:
        return Form.CODE, None, why
    if last in _COUNTS - {"number", "line", "version"}:
        return Form.NUMBER, None, why
    return Form.TOKEN, None, "nothing: its name says no more"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unit(words: Sequence[str], description: str) -> str | None:
    told = re.search(r"\b(?:minor units?|(?:in|as) (?:\w+ )?cents)\b", description, re.IGNORECASE)
    if set(words) & _MINOR or told:
        return "minor"
    told = re.search(
        r"\b(?:in (?:us )?(?:dollars|euros|pounds|usd|eur|gbp)|major units?|(?:the )?main units?)\b",
        description,
        re.IGNORECASE,
    )
    return "major" if set(words) & _MAJOR or told else None
