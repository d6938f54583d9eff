"""What tools are for, and which of them a text speaks of: BM25 over what a model sees.

    words(text)            the words of a text or a name, as written: order_id, orderId -> order, id
    terms(text)            those that carry meaning, stemmed; common synonyms are one term
    ranked(text, catalog)  the tools with their scores, best first
    purpose(tool)          whether a tool reads, and what it returns

A description is read up to its borders: what follows "not for" or "never" in a sentence, and a sentence that names
another tool, speaks of something else. Method: Robertson and Zaragoza, The Probabilistic Relevance Framework (2009).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sandtrail.ledgers.specs import Catalog, ToolSpec
from sandtrail.ledgers.trees import as_object

LONGEST = 6000
"""How many characters of a text are read."""

_NAME_WEIGHT, _PARAMETER_WEIGHT = 3.0, 0.5
_SATURATION, _LENGTH = 1.2, 0.5
_DEPRECATED = 0.5

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_CLITIC = re.compile(r"['\u2019](?:s|t|d|m|re|ve|ll)\b")
_SENTENCE = re.compile(r"(?<=[.;:!?])\s+|[()]")
_BORDER = re.compile(r"\b(?:not (?:for|an?)|never|instead of|rather than)\b", re.IGNORECASE)

STOP_WORDS = frozenset(
    _WORD.findall("""
        a about again all also am an and any are aren as at be been but by can could did didn do does doesn don each
        either else for from had has have he her here him his how i if in into is isn it its just let may me might
        mine must my no nor not of off on once one only or our out over own please shall she should so some than that
        the their them then there these they this those to too under up us very was we were what when where which
        who whom whose why will with won would you your yours
        bye cheers fine good great hello hey hi like many morning much need nice okay ok perfect thank thanks want welcome yes
    """)
)
"""English words that say nothing about which tool is meant; greetings and thanks among them."""

_SYNONYMS = {
    other: first
    for first, *others in (
        ("find", "search", "lookup", "look", "locat"),
        ("show", "read", "get", "view", "see", "display", "tel", "check"),
        ("chang", "updat", "edit", "modify", "set"),
        ("creat", "mak", "register", "add"),
        ("delet", "remov"),
        ("cancel", "stop"),
    )
    for other in others
}
VERBS = frozenset(_SYNONYMS) | frozenset(_SYNONYMS.values())
"""Stems of verbs that many requests begin with."""


class Ranked(NamedTuple):
    """A tool and how well a text speaks of it; 0 where they share no word."""

    score: float
    tool: ToolSpec


def words(text: str) -> list[str]:
    """The words of a text or a name, in lower case.

    >>> words("listOrders_byDay"), words("the customer's e-mail")
    (['list', 'orders', 'by', 'day'], ['the', 'customer', 'email'])
    """
    plain = _CLITIC.sub("", _HUMP.sub(" ", text[:LONGEST])).lower().replace("e-mail", "email")
    return _WORD.findall(plain)


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """A word without its English endings; what is left need not be a word.

    >>> [stem(word) for word in ("charges", "charged", "cancelled", "queries", "address")]
    ['charg', 'charg', 'cancel', 'query', 'addres']
    """
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def terms(text: str) -> list[str]:
    """The stems of the words that carry meaning.

    >>> terms("Please look up the charges")
    ['find', 'charg']
    """
    stems = (stem(word) for word in words(text) if word not in STOP_WORDS)
    return [_SYNONYMS.get(found, found) for found in stems]


def ranked(text: str, catalog: Catalog) -> list[Ranked]:
    """All tools, best first; equals keep the order of the catalog."""
    names = frozenset(tool.name for tool in catalog.tools)
    bags = [_bag(tool.name, tool.description, _parameters_text(tool), names) for tool in catalog.tools]
    sizes = [sum(bag.values()) for bag in bags]
    usual = sum(sizes) / len(sizes) if sizes and any(sizes) else 1.0
    wanted = dict.fromkeys(terms(text))
    spread = {term: sum(term in bag for bag in bags) for term in wanted}
    weights = {term: math.log(1 + (len(bags) - many + 0.5) / (many + 0.5)) for term, many in spread.items()}
    found: list[Ranked] = []
    for tool, bag, size in zip(catalog.tools, bags, sizes, strict=True):
        room = _SATURATION * (1 - _LENGTH + _LENGTH * size / usual)
        score = sum(weights[term] * bag[term] / (bag[term] + room) for term in wanted if term in bag)
        found.append(Ranked(score * (_DEPRECATED if purpose(tool).deprecated else 1.0), tool))
    return sorted(found, key=lambda one: -one.score)


@lru_cache(maxsize=512)  # a run asks about the same few tools at each step
def _bag(name: str, description: str, parameters: str, names: frozenset[str]) -> Mapping[str, float]:
    """The weighted terms of a tool. `names` are those of the whole catalog."""
    bag: dict[str, float] = {}
    own = _own_part(description, names - {name})
    for text, weight in ((name, _NAME_WEIGHT), (own, 1.0), (parameters, _PARAMETER_WEIGHT)):
        for term in terms(text):
            bag[term] = bag.get(term, 0.0) + weight
    return bag


def _own_part(description: str, others: frozenset[str]) -> str:
    """What a description says of the tool itself."""
    sentences = _SENTENCE.split(description[:LONGEST])
    own = [sentence for sentence in sentences if not others & set(re.findall(r"[\w-]+", sentence))]
    return " ".join(_BORDER.split(sentence, maxsplit=1)[0] for sentence in own)


def _parameters_text(tool: ToolSpec) -> str:
    properties = as_object(tool.input_schema.get("properties")) or {}
    return " ".join(
        f"{name} {(as_object(schema) or {}).get('description', '')}" for name, schema in properties.items()
    )[:LONGEST]


# -- what a tool is for --------------------------------------------------------------------------------------

_READS = frozenset(words("find search lookup list get read show fetch query retrieve view track"))
_SEEKS = frozenset(words("find search lookup"))
_RETURNS = re.compile(r"\breturns?\b([^.;]*)", re.IGNORECASE)
_RETURNS_ONE = re.compile(r"\breturns (?:the|an?) ([^\W\d_]+)", re.IGNORECASE)
_ONE_OF = re.compile(r"\b(?:exactly|at least) one\b|\bone of\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a tool's name and description say that it is for.

    `returns` are the stems of what it says it returns and of its name, `thing` is the stem of the one thing that its
    result is. `any_of`: its optional arguments are alternatives; `exclusive`: only one of them may be given.
    """

    reads: bool
    returns: frozenset[str]
    thing: str
    any_of: bool
    exclusive: bool
    deprecated: bool


def purpose(tool: ToolSpec) -> Purpose:
    """What a tool is for.

    >>> found = purpose(ToolSpec("get_order", "Read one order with its lines. Returns the order.", {}))
    >>> found.reads, found.thing
    (True, 'order')
    """
    return _purpose(tool.name[:LONGEST], tool.description[:LONGEST])


@lru_cache(maxsize=512)
def _purpose(name: str, description: str) -> Purpose:
    named = words(name)
    one = _RETURNS_ONE.search(description)
    returned = [word for part in _RETURNS.findall(description) for word in words(part)]
    last = words(one[1])[:1] if one else named[-1:]
    return Purpose(
        reads=bool(_READS & {*named[:1], *named[-1:], *words(description)[:1]}),
        returns=frozenset(stem(word) for word in (*returned, *named[1:])),
        thing=stem(last[0]) if last else "",
        any_of=bool(_SEEKS & set(named[:1]) or _ONE_OF.search(description)),
        exclusive="exactly one" in description.lower(),
        deprecated="deprecated" in description.lower(),
    )
