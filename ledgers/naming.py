"""What the name of a field says: the kind of entity whose ids it holds, that it holds money, that it counts."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


_MONEY = frozenset(
    [
        "amount",
        "price",
        "total",
        "cost",
        "fee",
        "balance",
        "refund",
        "deposit",
        "payout",
        "budget",
        "sum",
        "tip",
    ]
)


_MONEY_FIELDS = _MONEY | frozenset(
    [
        "paid",
        "captured",
        "refunded",
        "due",
        "credit",
        "value",
        "charge",
        "tax",
        "subtotal",
        "discount",
        "shipping",
        "payment",
        "unit",
        "fare",
        "premium",
    ]
)


_COUNT_FIELDS = frozenset(
    [
        "quantity",
        "qty",
        "count",
        "nights",
        "days",
        "units",
        "seats",
        "pieces",
        "items",
        "stock",
        "baggages",
        "passengers",
        "version",
        "year",
        "page",
    ]
)


@lru_cache(maxsize=4096)
def kind_word(name: str) -> str:
    """The singular of a container's or argument's name.

    >>> [kind_word(one) for one in ("payments", "addresses", "categories", "status", "new_item")]
    ['payment', 'address', 'category', 'status', 'new_item']
    """
    if name.endswith("ies") and len(name) > 4:
        return f"{name[:-3]}y"
    if name.endswith(("sses", "xes", "ches", "shes")):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us", "is")) else name


@lru_cache(maxsize=4096)
def id_kind(key: str) -> str | None:
    """The entity kind that a field's name says its ids are of; None where it is no id's name, "" for a bare `id`.

    >>> id_kind("payment_id"), id_kind("orderIds"), id_kind("id"), id_kind("new_item_ids"), id_kind("paid")
    ('payment', 'order', '', 'item', None)
    """
    words = words_of(key)
    if not words or words[-1] not in {"id", "ids", "uuid", "guid"}:
        return None
    kind = [
        word for word in words[:-1] if word not in {"new", "old", "from", "to", "source", "target", "parent"}
    ]
    return "_".join(kind)


def is_money_word(word: str) -> bool:
    """Whether a word in a field's name says that it holds an amount of money."""
    return word in _MONEY_FIELDS


def is_count_word(word: str) -> bool:
    """Whether a word in a field's name says that it counts things: a quantity, seats, pieces."""
    return word in _COUNT_FIELDS


@lru_cache(maxsize=4096)
def words_of(key: str) -> tuple[str, ...]:
    """The words in a field's name, in lower case, whichever way they are joined.

    >>> words_of("orderIds"), words_of("amount_minor"), words_of("user-ID")
    (('order', 'ids'), ('amount', 'minor'), ('user', 'id'))
    """
    return tuple(word.lower() for word in _WORD.findall(key[:200]))
