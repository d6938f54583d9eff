"""What the scenes of the corpus are made of: amounts, people, products, orders; labels; and how far two ids are apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


class Ambiguous(Exception):
    """A careful person could not label this one: the value that should be nowhere happens to occur."""


@dataclass(frozen=True, slots=True)
class Amount:
    """Money of the scene's currency, in minor units; each place spells it in its own way."""

    minor: int


@dataclass(frozen=True, slots=True)
class Person:
    """A customer."""

    symbol: str
    id: str
    first: str
    last: str
    email: str
    phone: str
    line: str
    city: str
    state: str
    postcode: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"


@dataclass(frozen=True, slots=True)
class Product:
    """Something that is sold."""

    symbol: str
    id: str
    name: str
    price: int


@dataclass(frozen=True, slots=True)
class Order:
    """An order with the payment made for it; `number` is what people call it by."""

    symbol: str
    id: str
    number: str
    customer: Person
    status: str
    total: int
    payment_symbol: str
    payment: str
    card: str
    placed: str


@dataclass(frozen=True, slots=True)
class Label:
    """Which argument of a scene is labelled, and which verdicts a careful person accepts for it."""

    call: int
    pointer: str
    verdicts: frozenset[str]


def far(one: str, other: str) -> bool:
    """Whether two texts are more than two edits apart. What letters they have mostly tells already.

    >>> far("pay_7Q2M9XKD", "pay_7Q2M9XDK"), far("pay_7Q2M9XKD", "pay_1RZT4BBB")
    (False, True)
    """
    letters, others = Counter(one), Counter(other)
    if max((letters - others).total(), (others - letters).total()) > 2:
        return True
    return edits(one, other) > 2


def edits(one: str, other: str) -> int:
    """How many characters must be replaced, put in or left out to make one from the other.

    >>> edits("pay_7Q2M", "pay_7Q3M"), edits("4412", "441")
    (1, 1)
    """
    before = list(range(len(other) + 1))
    for row, a in enumerate(one, start=1):
        line = [row]
        for column, b in enumerate(other, start=1):
            line.append(min(before[column] + 1, line[-1] + 1, before[column - 1] + (a != b)))
        before = line
    return before[-1]
