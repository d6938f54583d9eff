"""The edge: symbols inside, raw ids outside.

    raw id = prefix + 8 characters of Crockford base32 of HMAC-SHA256(run key, symbol)

Ids differ in every run, so a remembered or leaked one is never right and an exact match is proof. Named and
created entities are kept at least three edits apart, so that a near miss is a corrupted copy and never
another entity. In free text a raw id is kept as `{$kind.name}` and becomes the run's raw id again on its way out;
a bare symbol that tries to leave is an error.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable
from itertools import combinations

from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.specs import SYMBOL, kind_of

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 8
PREFIXES = {
    "customer": "cus_", "address": "adr_", "note": "note_", "login": "usr_", "invoice": "inv_",
    "invoice_line": "il_", "payment": "pay_", "refund": "re_", "credit": "cr_", "subscription": "sub_",
    "product": "prod_", "order": "ord_", "order_line": "ol_", "shipment": "shp_", "shipment_event": "se_",
    "return": "ret_", "cursor": "cur_", "message": "msg_", "handoff": "ho_",
}  # fmt: skip
_MENTION = re.compile(r"\{(" + SYMBOL.pattern + r")\}")
_ESCAPE = "\u2063"  # an invisible separator behind a "$" that is only a "$"
_LITERAL = re.compile(rf"\$(?={_ESCAPE}|[a-z][a-z_]*\.[A-Za-z0-9])")
_WORD = re.compile(r"[A-Za-z0-9_]{8,}")


class SymbolLeak(Exception):
    """A symbol tried to leave through a field without an id slot."""

    def __init__(self, symbol: str, text: str) -> None:
        self.symbol = symbol
        super().__init__(
            f"the symbol {symbol} would leave in untyped text {text[:60]!r}; "
            f"give the field Ref({kind_of(symbol)!r}), or write {{{symbol}}} in running text"
        )


class Edge:
    """The ids of one run. `style` is "typed" (pay_7Q2M9XKD) or "opaque" (7Q2M9XKD); `kinds` are the world's entity kinds."""

    def __init__(self, key: bytes, *, style: str = "typed", kinds: Iterable[str] = ()) -> None:
        if style not in {"typed", "opaque"}:
            raise ValueError(f"style={style!r}; wanted 'typed' or 'opaque'")
        self._key, self.style, self._kinds = key, style, frozenset(kinds)
        self._raw: dict[str, str] = {}
        self._symbol: dict[str, str] = {}
        self._near: set[int] = set()
        self._apart: set[str] = set()
        self._fresh: list[str] = []

    def __contains__(self, symbol: str) -> bool:
        return symbol in self._raw

    def copy(self) -> Edge:
        """An edge that knows the same ids and goes its own way from here."""
        twin = Edge(self._key, style=self.style, kinds=self._kinds)
        twin._raw, twin._symbol = dict(self._raw), dict(self._symbol)
        twin._near, twin._apart, twin._fresh = set(self._near), set(self._apart), list(self._fresh)
        return twin

    def keep_apart(self, symbols: Iterable[str]) -> None:
        """Name entities whose raw ids, once issued, stand three edits from each other: the named and the created ones."""
        self._apart.update(symbols)

    def forget(self, symbols: Iterable[str]) -> None:
        """Take back ids that were made in a transaction that did not commit; they have reached nobody."""
        for symbol in symbols:
            self._apart.discard(symbol)
            text = self._raw.pop(symbol, None)
            if text is not None:
                del self._symbol[text]
                self._fresh = [fresh for fresh in self._fresh if fresh != symbol]

    def raw(self, symbol: str) -> str:
        """The raw id of a symbol; issued at first use."""
        known = self._raw.get(symbol)
        if known is not None:
            return known
        for salt in range(1000):
            number = self._mint(symbol, salt)
            near = _neighbourhood(number) if symbol in self._apart else frozenset[int]()
            text = self._prefix(symbol) + "".join(
                ALPHABET[number >> shift & 31] for shift in range(35, -1, -5)
            )
            if text not in self._symbol and self._near.isdisjoint(near):
                self._near |= near
                self._raw[symbol], self._symbol[text] = text, symbol
                self._fresh.append(symbol)
                return text
        raise RuntimeError(f"no raw id for {symbol} keeps its distance from {len(self._raw)} others")

    def symbol(self, raw: str, kind: str) -> str | None:
        """The symbol behind a raw id of this kind, or None: unknown, never issued, or of another kind."""
        found = self._symbol.get(raw)
        return found if found is not None and kind_of(found) == kind else None

    def anything(self, raw: str) -> str | None:
        """The symbol behind a raw id of whatever kind."""
        return self._symbol.get(raw)

    def inward(self, text: str, sees: Callable[[str], bool] = lambda _: True) -> str:
        """Free text of a client as the store keeps it: raw ids of entities it `sees` become `{$kind.name}`.

        What looks like a symbol in the client's own text is escaped, so that it comes back as it was sent and
        names nobody.
        """
        escaped = _LITERAL.sub(f"${_ESCAPE}", text) if "$" in text else text

        def mention(word: re.Match[str]) -> str:
            symbol = self._symbol.get(word[0])
            return f"{{{symbol}}}" if symbol is not None and sees(symbol) else word[0]

        return _WORD.sub(mention, escaped)

    def outward(self, text: str) -> str:
        """Free text as it leaves: mentions become raw ids. Raises SymbolLeak at a bare symbol."""
        if "$" not in text:
            return text
        out = self._mentioned(text)
        for symbol in SYMBOL.findall(out):
            if symbol in self._raw or kind_of(symbol) in self._kinds:
                raise SymbolLeak(symbol, out)
        return out.replace(f"${_ESCAPE}", "$")

    def said(self, text: str) -> str:
        """A sentence of a service about entities: mentions and bare symbols become raw ids."""
        if "$" not in text:
            return text
        return SYMBOL.sub(self._named, self._mentioned(text)).replace(f"${_ESCAPE}", "$")

    def _mentioned(self, text: str) -> str:
        return _MENTION.sub(lambda mention: self._raw.get(mention[1], mention[0]), text)

    def _named(self, match: re.Match[str]) -> str:
        """The raw id of a symbol in a sentence; a dash after it may belong to the sentence."""
        symbol, rest = match[0], ""
        while symbol not in self._raw and "-" in symbol:
            symbol, _, tail = symbol.rpartition("-")
            rest = f"-{tail}{rest}"
        if symbol in self._raw:
            return self._raw[symbol] + rest
        kind = kind_of(match[0])
        return f"(a {kind.replace('_', ' ')})" if kind in self._kinds else match[0]

    def symbolic(self, text: str) -> str:
        """The text with every raw id replaced by its symbol, for people and comparisons."""
        return _WORD.sub(lambda word: self._symbol.get(word[0], word[0]), text)

    def issued(self, owner: Callable[[str], tuple[str | None, str | None]]) -> tuple[Binding, ...]:
        """The bindings issued since the last call; `owner` gives an entity's customer and tenant."""
        if not self._fresh:
            return ()
        fresh, self._fresh = self._fresh, []
        return tuple(Binding(symbol, self._raw[symbol], kind_of(symbol), *owner(symbol)) for symbol in fresh)

    def _mint(self, symbol: str, salt: int) -> int:
        """40 bits: eight characters of five."""
        return int.from_bytes(hmac.digest(self._key, f"{symbol}\0{salt}".encode(), "sha256")[:5], "big")

    def _prefix(self, symbol: str) -> str:
        if self.style == "opaque":
            return ""
        kind = kind_of(symbol)
        return PREFIXES.get(kind) or f"{kind[:4]}_"


_BLANKS = tuple(~(31 << 5 * i | 31 << 5 * j) & (1 << 40) - 1 for i, j in combinations(range(LENGTH), 2))
_CUTS = tuple((5 * place, (1 << 5 * place) - 1) for place in range(LENGTH))


def _neighbourhood(number: int) -> frozenset[int]:
    """Keys that two ids share whenever at most two edits turn one into the other (and, rarely, otherwise).

    Two substitutions leave two characters blank; a deletion and an insertion leave a common string of seven.
    """
    blanks = {number & mask for mask in _BLANKS}
    cuts = {1 << 41 | number >> shift + 5 << shift | number & low for shift, low in _CUTS}
    return frozenset(blanks | cuts)


def run_key(seed: int, run: str) -> bytes:
    """The key of a run: the same seed and run name give the same ids.

    >>> run_key(7, "a") == run_key(7, "a"), run_key(7, "a") == run_key(7, "b")
    (True, False)
    """
    return hashlib.sha256(f"sandtrail\0{seed}\0{run}".encode()).digest()
