"""Bindings: which raw id stands for which symbol in this run.

Inside the world the primary keys are the symbols. Raw ids exist only at the edge, differ in every run, and
a binding ties the two together. What is printed and compared is the symbolic projection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sandtrail.ledgers.trees import as_list, as_object


@dataclass(frozen=True, slots=True)
class Binding:
    """One entity's stable name and its raw id in this run. `owner` is the customer it belongs to."""

    symbol: str
    raw: str
    kind: str
    owner: str | None = None
    tenant: str | None = None


class Projection:
    """Turns raw ids back into symbols, in values and in running text.

    >>> seen = Projection([Binding("$payment.lamp", "pay_7Q2M9XKD", "payment")])
    >>> seen.text("refund pay_7Q2M9XKD now"), seen.value({"id": "pay_7Q2M9XKD"})
    ('refund $payment.lamp now', {'id': '$payment.lamp'})
    """

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self._symbols: Mapping[str, str] = {binding.raw: binding.symbol for binding in bindings}

    def text(self, text: str) -> str:
        """The text with every known raw id replaced by its symbol (whole words only)."""
        return re.sub(r"[A-Za-z0-9_]+", lambda word: self._symbols.get(word[0], word[0]), text)

    def value(self, value: Any) -> Any:
        """A JSON value with every known raw id replaced; keys stay."""
        if isinstance(value, str):
            return self._symbols.get(value) or self.text(value)
        if (fields := as_object(value)) is not None:
            return {key: self.value(item) for key, item in fields.items()}
        if (items := as_list(value)) is not None:
            return [self.value(item) for item in items]
        return value
