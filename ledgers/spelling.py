"""What somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown word: the nearest known one, or all of them.

    >>> "no tool" + near("refund_paymnt", ["refund_payment", "get_order"])
    'no tool; did you mean refund_payment?'
    """
    names = list(known)
    close = get_close_matches(word, names, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    return f"; known are {', '.join(names)}" if names else ""
