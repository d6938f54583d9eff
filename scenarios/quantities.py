"""How many of something was told, and what so many of it cost."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from sandtrail.ledgers.trees import leaves
from sandtrail.scenarios.mentions import NUMBER_WORDS, number_of

_QUANTITY = re.compile(
    r"(?:\w+_)?(?:quantity|quantities|qty|count|units|pieces|items|seats|nights)", re.IGNORECASE
)
_PRICE = re.compile(
    r"(?:unit_?|item_?|net_?|list_?)?price(?:_minor|_cents)?|unit_(?:amount|cost)", re.IGNORECASE
)
_SPANS = r"(?:days?|weeks?|months?|years?|hours?|minutes?|am|pm)\b"
_MANY = re.compile(
    rf"(?<![\w.,:/#$€£¥-])(\d{{1,3}}|{NUMBER_WORDS})(?= ?[x\u00d7]\b| of\b| (?!{_SPANS})[a-z]+\b)"
)
_MOST = 1000
"""Nobody multiplies by more."""


def quantities(values: Iterable[Any], users: Iterable[str]) -> frozenset[int]:
    """The quantities of JSON values (under a name of one) and those that users speak of.

    >>> sorted(quantities([{"lines": [{"quantity": 3}], "total": 9}], ["What would four of them be, in 10 days?"]))
    [3, 4]
    """
    told = {
        leaf
        for value in values
        for pointer, leaf in leaves(value)
        if type(leaf) is int and _QUANTITY.fullmatch(pointer.rpartition("/")[2])
    }
    said = {number_of(found[1]) for text in users for found in _MANY.finditer(text.lower())}
    return frozenset(number for number in told | said if 1 < number < _MOST)


def products(fields: dict[str, Any]) -> Iterator[int]:
    """Price times quantity, where one object tells both.

    >>> list(products({"unit_price": 250, "quantity": 4, "stock": 7}))
    [1000]
    """
    whole = {name: item for name, item in fields.items() if type(item) is int}
    for name, price in whole.items():
        if _PRICE.fullmatch(name):
            yield from (price * many for other, many in whole.items() if _QUANTITY.fullmatch(other))
