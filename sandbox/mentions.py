"""What a text mentions, by type, and which parameter each mention may fill.

    mentions(text)          e-mails, phone numbers, dates, amounts, currencies, ids and numbers, in order
    parameters(schema)      the parameters of a tool, each with what its name and schema say that it holds
    said(parameter, ...)    the values that a text offers for a parameter, best first
    fits(value, schema)     whether a schema takes a value

A schema may be anything: what cannot be read is read as "any text".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from sandtrail.ledgers.money import DECIMALS, minor_units
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.sandbox.ranking import LONGEST, STOP_WORDS, VERBS, stem, words


class Kind(StrEnum):
    """What a mention is, and what a parameter holds."""

    EMAIL = "email"
    PHONE = "phone"
    DATE = "date"
    MONEY = "money"
    CURRENCY = "currency"
    COUNTRY = "country"
    ID = "id"
    NUMBER = "number"
    COUNT = "count"
    CHOICE = "choice"
    NAME = "name"
    TEXT = "text"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Mention:
    """One typed value in a text. `noun` is the word before it: order, in "order 4412"."""

    kind: Kind
    text: str
    noun: str = ""
    currency: str = ""


# -- mentions ----------------------------------------------------------------------------------------------

_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_CURRENCY_WORDS = {"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY"}
_CODES = "|".join(DECIMALS)
_AMOUNT = r"[0-9]{1,12}(?:[.,][0-9]{1,6}){0,6}"
_MENTION = re.compile(
    rf"""
      (?P<email>[\w.+-]{{1,64}}@[\w-]{{1,64}}(?:\.[\w-]{{1,64}})+)
    | (?P<date>\b[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:T[0-9:.]+(?:Z|[+-][0-9]{{2}}:[0-9]{{2}})?)?)
    | (?P<id>\b[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}\b
           | \b[A-Za-z]{{1,16}}_(?=\w*[A-Z0-9])\w{{3,64}})
    | (?P<money>[$€£¥]\s?{_AMOUNT} | \b(?:{_CODES})\s?{_AMOUNT}
           | \b{_AMOUNT}\s?(?:(?:{_CODES})\b | [$€£¥] | (?:dollar|euro|pound)s?\b | yen\b))
    | (?P<phone>\+[0-9][0-9 ()/.-]{{5,22}}[0-9] | \(?\b[0-9]{{3,4}}\)?[ /.-][0-9]{{3}}[ .-]?[0-9]{{2,6}}\b)
    | (?P<number>(?<!\w)\#?(?:[A-Z]{{1,6}}-?)?[0-9][\w-]{{0,40}}(?:\.[0-9]{{1,3}}(?![0-9]))?)
    | (?P<currency>\b(?:{_CODES})\b)
    """,
    re.VERBOSE,
)
_NOUN = re.compile(r"([^\W\d_]+)(?:\s+(?:number|no\.?|nr\.?|id|code))?\s*(?:is\s+|[:=]\s*)?$", re.IGNORECASE)


def mentions(text: str) -> tuple[Mention, ...]:
    """The typed values in a text, in order.

    >>> [(found.kind.value, found.text, found.noun) for found in mentions("refund $15 of order #4412")]
    [('money', '15', 'refund'), ('number', '4412', 'order')]
    """
    return tuple(_mentions(text[:LONGEST]))


def _mentions(text: str) -> Iterator[Mention]:
    for match in _MENTION.finditer(text):
        kind, value = Kind(str(match.lastgroup)), match[0]
        before = _NOUN.search(text[max(0, match.start() - 40) : match.start()])
        noun = stem(before[1].lower()) if before else ""
        if kind is Kind.MONEY:
            digits = re.search(_AMOUNT, value)
            yield Mention(kind, digits[0] if digits else value, noun, _currency(value))
        elif kind is Kind.CURRENCY:
            yield Mention(kind, value, noun, value)
        else:
            yield Mention(kind, value.removeprefix("#").rstrip("-"), noun)


def _currency(written: str) -> str:
    """The code in an amount as written."""
    sign = next((code for sign, code in _SIGNS.items() if sign in written), "")
    word = "".join(re.findall(r"[A-Za-z]", written))
    return sign or _CURRENCY_WORDS.get(word.lower().removesuffix("s"), word)


# -- parameters ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool. `schema` is what it resolves to: references followed, the first choice taken."""

    name: str
    schema: Mapping[str, Any]
    required: bool

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name."""
        return tuple(words(self.name))

    @cached_property
    def type(self) -> str:
        """The first type that is not null; "" where the schema names none."""
        named = self.schema.get("type")
        choices = [one for one in as_list(named) or [named] if isinstance(one, str) and one != "null"]
        return choices[0] if choices else ""

    @cached_property
    def entity(self) -> str:
        """The stem of the thing that an id is of: "" for the plain name `id`, and for what is no id.

        >>> Parameter("paymentId", {}, True).entity
        'payment'
        """
        *before, last = self.words or ("",)
        return stem(before[-1]) if before and last == "id" else ""

    @cached_property
    def kind(self) -> Kind:
        """What it holds, by its schema's shape, then its name, then the first words of its description."""
        if as_list(self.schema.get("enum")) is not None:
            return Kind.CHOICE
        if self.type in {"boolean", "array", "object", "null"}:
            return Kind.OTHER
        described = words(str(self.schema.get("description", ""))[:40])[:3]
        return _kind(
            {*self.words, *words(str(self.schema.get("format", "")))}, self.type, described, self.name
        )

    @cached_property
    def counts_minor(self) -> bool:
        """Whether its name or description says that it counts minor units of a currency."""
        told = {*self.words, *words(str(self.schema.get("description", "")))}
        return bool(told & {"minor", "cents"})


_BY_NAME = (
    (Kind.EMAIL, {"email", "mail"}),
    (Kind.PHONE, {"phone", "telephone", "mobile"}),
    (Kind.CURRENCY, {"currency"}),
    (Kind.COUNTRY, {"country"}),
    (Kind.DATE, {"date", "day", "since", "until"}),
)
_MONEY = {"amount", "price", "total", "sum", "cents", "minor", "fee"}
_NUMBERED = {"number", "code", "zip", "postcode", "sku", "tracking", "reference", "key", "cursor", "token"}


def _kind(named: set[str], kind_of_value: str, described: list[str], name: str) -> Kind:
    for kind, known in _BY_NAME:
        if named & known or (kind in {Kind.EMAIL, Kind.PHONE} and known & set(described)):
            return kind
    if name.lower() == "id" or "uuid" in named or words(name)[-1:] == ["id"]:
        return Kind.ID
    if named & _MONEY:
        return Kind.MONEY
    if kind_of_value in {"integer", "number"}:
        return Kind.COUNT
    if named & _NUMBERED:
        return Kind.NUMBER
    return Kind.NAME if "name" in named else Kind.TEXT


def parameters(schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters that an object's schema names, in its order; required ones that it only names come last."""
    properties = as_object(schema.get("properties")) or {}
    required = [name for name in as_list(schema.get("required")) or [] if isinstance(name, str)]
    names = dict.fromkeys([*(str(name) for name in properties), *required])
    return tuple(Parameter(name, resolved(properties.get(name), schema), name in required) for name in names)


def resolved(schema: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with its references followed and the first choice of several taken; `$defs` go along."""
    found = as_object(schema) or {}
    for _ in range(8):
        if isinstance(pointer := found.get("$ref"), str):
            target: Any = root
            for step in pointer.removeprefix("#").strip("/").split("/"):
                target = (as_object(target) or {}).get(step)
            found = {**(as_object(target) or {}), **{key: found[key] for key in found if key != "$ref"}}
            continue
        several = next((key for key in ("anyOf", "oneOf", "allOf") if as_list(found.get(key))), None)
        if several is None:
            break
        choices = [choice for item in found[several] if (choice := as_object(item)) is not None]
        chosen = next((choice for choice in choices if choice.get("type") != "null"), dict[str, Any]())
        found = {**chosen, **{key: found[key] for key in found if key != several}}
    return {**found, "$defs": root["$defs"]} if "$defs" in root else found


# -- what a schema takes -------------------------------------------------------------------------------------

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """Whether a schema takes a value, by type, choice, length, size and pattern (where it is a plain one)."""
    wanted = Parameter("", schema, required=False).type
    if wanted in _TYPES and (
        not isinstance(value, _TYPES[wanted]) or (isinstance(value, bool) and wanted != "boolean")
    ):
        return False
    choices = as_list(schema.get("enum"))
    if choices is not None and value not in choices:
        return False
    if isinstance(value, str):
        return _within(len(value), schema, "minLength", "maxLength") and _matches(
            value, schema.get("pattern")
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return math.isfinite(value) and _within(value, schema, "minimum", "maximum")
    return True


def _within(size: float, schema: Mapping[str, Any], least: str, most: str) -> bool:
    low, high = schema.get(least), schema.get(most)
    return not (isinstance(low, int | float) and size < low) and not (
        isinstance(high, int | float) and size > high
    )


def _matches(value: str, pattern: object) -> bool:
    """Whether a value has a pattern. One that is malformed, or could take long to try, is not held against it."""
    if not isinstance(pattern, str) or len(pattern) > 200 or len(value) > 254:
        return True
    if re.search(r"\)[*+{?]", pattern) or len(re.findall(r"[*+]|\{[0-9]*,", pattern)) > 3:
        return True
    try:
        return re.search(pattern, value) is not None
    except (re.error, OverflowError, RecursionError):
        return True


# -- what a text offers --------------------------------------------------------------------------------------


def said(
    parameter: Parameter,
    text: str,
    found: tuple[Mention, ...],
    *,
    tool: str,
    prefixes: frozenset[str] = frozenset(),
) -> Iterator[Any]:
    """The values that a text offers for a parameter of a tool, best first; all of them fit its schema.

    `prefixes` are those of the ids of the parameter's entity that earlier results showed.

    >>> number = Parameter("number", {"type": "string"}, True)
    >>> text = "Where is order 4412?"
    >>> list(said(number, text, mentions(text), tool="search_orders"))
    ['4412']
    >>> list(said(number, text, mentions(text), tool="search_invoices"))
    []
    """
    text = text[:LONGEST]
    for value in _offered(parameter, text, found, tool, prefixes):
        if value not in {None, ""} and fits(value, parameter.schema):
            yield value


def _offered(
    parameter: Parameter, text: str, found: tuple[Mention, ...], tool: str, prefixes: frozenset[str]
) -> Iterator[Any]:
    kind = parameter.kind
    typed = [mention for mention in found if mention.kind is kind]
    if kind in {Kind.EMAIL, Kind.PHONE, Kind.DATE}:
        yield from (mention.text for mention in typed)
    elif kind is Kind.ID:
        noun = parameter.entity or _thing(tool)
        yield from (one.text for one in typed if noun == one.noun or _is_of(one.text, noun, prefixes))
    elif kind is Kind.MONEY:
        yield from (amount(parameter, mention) for mention in found if _is_amount(mention))
    elif kind is Kind.CURRENCY:
        yield from (mention.currency for mention in found if mention.currency)
    else:
        yield from _worded(parameter, text, found, tool)


def _worded(parameter: Parameter, text: str, found: tuple[Mention, ...], tool: str) -> Iterator[Any]:
    """Values that are known by the words around them."""
    kind = parameter.kind
    if kind is Kind.COUNTRY:
        yield from _COUNTRY.findall(text)
    elif kind is Kind.CHOICE:
        yield from _choices(parameter, text)
    elif kind is Kind.COUNT:
        yield from _counts(parameter, text, found)
    elif kind is not Kind.OTHER:
        yield from _numbers(parameter, found, tool) if kind is Kind.NUMBER else ()
        yield from _named(parameter, text)
        yield from _proper_names(text) if kind is Kind.NAME else ()


def _thing(tool: str) -> str:
    """The stem of what a tool's name speaks of last: order, of get_order."""
    return stem(words(tool)[-1]) if words(tool) else ""


def _is_of(value: str, noun: str, prefixes: frozenset[str]) -> bool:
    """Whether an id has a prefix that was seen, or one that begins the entity's name: pay_ of a payment."""
    prefix = value.rpartition("_")[0].lower()
    return bool(prefix) and (prefix in prefixes or noun.startswith(prefix))


def _is_amount(mention: Mention) -> bool:
    """Whether a mention is money, or a bare number written as money is: 15.00."""
    bare = mention.kind is Kind.NUMBER and re.fullmatch(r"[0-9]+[.][0-9]{2}", mention.text)
    return mention.kind is Kind.MONEY or bool(bare)


def amount(parameter: Parameter, mention: Mention) -> Any:
    """A mentioned amount as a parameter takes it: in minor units, or as written. None where it is no amount.

    >>> parameter = Parameter("amount_minor", {"type": "integer"}, True)
    >>> amount(parameter, Mention(Kind.MONEY, "15.5", currency="USD"))
    1550
    """
    code = mention.currency if mention.currency in DECIMALS else "USD"
    try:
        minor = minor_units(mention.text, code)
    except ValueError:
        return None
    places = DECIMALS[code]
    if parameter.counts_minor:
        return minor
    if parameter.type == "integer":
        return minor // 10**places if minor % 10**places == 0 else None
    return minor / 10**places if parameter.type == "number" else mention.text


def _choices(parameter: Parameter, text: str) -> Iterator[Any]:
    """The words of a choice that stand in the text."""
    spoken = f" {' '.join(words(text))} "
    for choice in as_list(parameter.schema.get("enum")) or []:
        if isinstance(choice, str) and words(choice) and f" {' '.join(words(choice))} " in spoken:
            yield choice


def _numbers(parameter: Parameter, found: tuple[Mention, ...], tool: str) -> Iterator[str]:
    """Numbers that are called what the tool or the parameter is called: the 4412 of order 4412, for orders."""
    nouns = {stem(word) for word in (*words(tool), *parameter.words)}
    for mention in found:
        if mention.kind in {Kind.NUMBER, Kind.PHONE} and mention.noun in nouns:
            yield mention.text


def _counts(parameter: Parameter, text: str, found: tuple[Mention, ...]) -> Iterator[float]:
    """Bare numbers, if the text has the parameter's word."""
    if {stem(word) for word in parameter.words} & {stem(word) for word in words(text)}:
        for mention in found:
            if mention.kind is Kind.NUMBER and re.fullmatch(r"[0-9]{1,12}", mention.text):
                yield int(mention.text)


_QUOTED = re.compile(r"[\"\u201c]([^\"\u201d]+)[\"\u201d]|(?<!\w)['\u2018]([^'\u2019]+)['\u2019](?!\w)")
_REASON = re.compile(r"\b(?:because|since)\s+(?:of\s+)?([^.!?\n]+)", re.IGNORECASE)
_AFTER = re.compile(
    r"\s*(?:(?:is|to|called|named)\s+)?(?:\"([^\"]+)\"|((?:[A-Z][\w'-]*)(?: [A-Z][\w'-]*)*|[\w-]*[0-9][\w-]*))"
)
_CLAUSE = re.compile(r"\s*[:=]\s*([^\n;]+)")
_TO = re.compile(r"\bto\s+((?:[0-9]|[A-Z])[^!?\n;]*)")
_COLON = re.compile(r":\s+(.+)", re.DOTALL)


def _named(parameter: Parameter, text: str) -> Iterator[str]:
    """What a text says a parameter is: `reason: it broke`, `plan is Plus`, and for free text what is quoted."""
    called = " ".join(parameter.words)
    lowered = text.lower()
    spot = lowered.find(called) if called else -1
    while spot >= 0:
        end = spot + len(called)
        whole = not (text[spot - 1 : spot].isalnum() or text[end : end + 1].isalnum())
        if whole and ((match := _CLAUSE.match(text, end)) or (match := _AFTER.match(text, end))):
            yield next(group for group in match.groups() if group).strip(" .")
        spot = lowered.find(called, end)
    if parameter.kind is not Kind.NUMBER:
        yield from (match[1] or match[2] for match in _QUOTED.finditer(text))
    if "reason" in parameter.words:
        yield from (match[1].strip() for match in _REASON.finditer(text))
    elif parameter.kind is Kind.TEXT and parameter.required:
        patterns = (_COLON, _TO)
        yield from (match[1].strip(" .") for pattern in patterns if (match := pattern.search(text)))


_COUNTRY = re.compile(r"(?<![\w'])(?!OK|ID|AM|PM)[A-Z]{2}(?!\w)")
_PROPER = re.compile(r"[A-Z][\w'\u2019-]*(?: [A-Z][\w-]*)+")


def _proper_names(text: str) -> Iterator[str]:
    """Two or more capitalised words in a row; the first word of a sentence is none of them if it is a plain one."""
    for match in _PROPER.finditer(text):
        first, _, rest = match[0].partition(" ")
        plain = first.lower() in STOP_WORDS or stem(first.lower()) in VERBS
        name = rest if plain else match[0]
        if " " in name:
            yield re.sub(r"['\u2019]s$", "", name)
