"""The very same value, as a memo's key: equal only to itself, and kept alive for as long as the memo holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False)
class Identical:
    """A value that is compared by what it is, not by what it holds. `also` may be more of them.

    >>> one, other = [1], [1]
    >>> Identical(one) == Identical(one), Identical(one) == Identical(other)
    (True, False)
    """

    value: Any
    also: Any = None

    def __hash__(self) -> int:
        return hash((id(self.value), id(self.also)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identical) and self.value is other.value and self.also is other.also
