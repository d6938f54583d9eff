"""A scene of the corpus: a small shop with a talk that grows line by line, in the dialect of its seed.

Even seeds play in our own world (books, bindings, explicit slots), odd ones in somebody else's transcript. Every
third seed is hard: ids with a common beginning, amounts a few cents apart. Values are written once, as `Amount(4250)`
or by the name of a field, and come out as the dialect spells them. What must not occur is held by `nowhere`, which
raises `Ambiguous`: the specimen is made again from the next salt.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from sandtrail.fakes.edge import Edge, run_key
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book, Ledger
from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Message,
    Reply,
    ToolCall,
    UserSaid,
)
from sandtrail.ledgers.entries import Attempt, Change, Origin, Page
from sandtrail.ledgers.money import DECIMALS
from sandtrail.ledgers.specs import Principal
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.ledgers.words import Access, Grade, OriginKind, Outcome
from sandtrail.sandbox import corpus_words as words
from sandtrail.sandbox.corpus_parts import Ambiguous, Amount, Label, Order, Person, Product, far
from sandtrail.sandbox.corpus_tools import (
    DIALECTS,
    FOREIGN,
    OURS,
    foreign_id,
    offer_of,
    own_key,
    schemas,
    shown,
    writes,
)

T = TypeVar("T")


class Scene:
    """One talk in one small shop. Everything in it follows from the seed and the random source."""

    def __init__(self, seed: int, rng: Random) -> None:
        self.seed, self.rng = seed, rng
        self.own, self.hard = seed % 2 == 0, seed % 3 == 0
        self.dialect = DIALECTS[(OURS if self.own else FOREIGN)[seed // 2 % (2 if self.own else 4)]]
        self.currency = rng.choice(("USD", "USD", "USD", "EUR", "GBP"))
        self.zone = rng.choice(("UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo"))
        day = date(2026, 1, 5) + timedelta(days=rng.randrange(700))
        self.now = datetime(day.year, day.month, day.day, rng.randint(9, 13), rng.randrange(60), tzinfo=UTC)
        self.clocked = self.own or rng.random() < 0.5
        self.messages: list[Message] = []
        self._edge = (
            Edge(run_key(rng.getrandbits(40), "corpus"), style=self.dialect.name) if self.own else None
        )
        self._bindings: list[Binding] = []
        self._pages: list[Page] = []
        self._ids: dict[str, list[str]] = {}
        self._taken: set[object] = set()
        self._amounts: list[int] = []
        self._text: list[str] = []
        self._calls = 0
        self.customer = self.person()

    # -- what there is ---------------------------------------------------------------------------------------

    def once(self, draw: Callable[[], T]) -> T:
        """A draw that this scene has not made before."""
        for _ in range(200):
            value = draw()
            if value not in self._taken:
                self._taken.add(value)
                return value
        raise Ambiguous("nothing is left to draw")

    def mint(self, kind: str, owner: str = "", name: str = "") -> tuple[str, str]:
        """A fresh symbol and its raw id; ours is bound. Hard foreign ids often share all but their last two characters."""
        known = self._ids.setdefault(kind, [])
        symbol = f"${kind}.x{len(known)}"
        if self._edge is not None:
            raw = self._edge.raw(symbol)
            self._bindings.append(Binding(symbol, raw, kind, owner or symbol, "north"))
        else:
            raw = self.once(lambda: self._foreign(kind, known, name))
        known.append(raw)
        return symbol, raw

    def _foreign(self, kind: str, known: list[str], name: str) -> str:
        if self.hard and known and kind != "customer" and self.rng.random() < 0.3:
            return known[-1][:-2] + "".join(self.rng.sample("0123456789", 2))
        return foreign_id(self.dialect, kind, self.rng, name)

    def stray(self, kind: str) -> str:
        """An id of the right shape that nothing in this scene has; three edits from every one that does."""
        for _ in range(50):
            if self.own:
                edge = Edge(run_key(self.rng.getrandbits(40), "stray"), style=self.dialect.name)
                raw = edge.raw(f"${kind}.stray")
            else:
                raw = foreign_id(self.dialect, kind, self.rng, self.customer.name)
            if all(far(raw, other) for ids in self._ids.values() for other in ids):
                return raw
        raise Ambiguous("no id keeps its distance")

    def cents(self, low: int = 700, high: int = 60000) -> int:
        """A fresh amount that is no round number; hard scenes have many that are a few cents apart."""
        if self.hard and self._amounts and self.rng.random() < 0.25:
            base = self.rng.choice(self._amounts)
            return self._amount(lambda: max(1, base + self.rng.randint(-9, 9)))
        return self._amount(lambda: self.rng.randint(low, high) // 10 * 10 + self.rng.randint(1, 9))

    def _amount(self, draw: Callable[[], int]) -> int:
        self._amounts.append(self.once(draw))
        return self._amounts[-1]

    def person(self, last: str = "") -> Person:
        """A fresh customer."""
        rng = self.rng
        first, last = self.once(lambda: (rng.choice(words.FIRST), last or rng.choice(words.LAST)))
        symbol, raw = self.mint("customer", name=f"{first} {last}")
        city, state, _ = rng.choice(words.CITIES)
        mail = f"{first}.{last}{rng.randint(10, 99)}@{rng.choice(words.MAIL)}".lower()
        phone = f"+1{rng.randint(201, 989)}555{rng.randint(0, 9999):04}"
        line = f"{rng.randint(11, 989)} {rng.choice(words.STREETS)} {rng.choice(words.WAYS)[0]}"
        return Person(
            symbol, raw, first, last, mail, phone, line, city, state, f"{rng.randint(10000, 99999)}"
        )

    def product(self) -> Product:
        """A fresh product."""
        symbol, raw = self.mint("product")
        return Product(symbol, raw, self.once(lambda: self.rng.choice(words.GOODS)), self.cents(900, 30000))

    def order(self, customer: Person | None = None, total: int | None = None) -> Order:
        """A fresh order, paid in one payment."""
        owner = customer or self.customer
        symbol, raw = self.mint("order", owner.symbol)
        paid, payment = self.mint("payment", owner.symbol)
        if self.dialect.name == "retail":
            number = raw.removeprefix("#")
        else:
            number = self.once(lambda: str(self.rng.randint(5100, 9899)))
        placed = self.now - timedelta(days=self.rng.randint(2, 60), minutes=self.rng.randrange(1400))
        return Order(
            symbol, raw, number, owner, self.rng.choice(words.STATUSES), total or self.cents(),
            paid, payment, self.rng.choice(words.CARDS), placed.isoformat()[:19] + "Z",
        )  # fmt: skip

    def orders(self, least: int = 5, most: int = 60) -> list[Order]:
        """The customer's orders: the distractors of most scenes. Few have very many."""
        count = least + int((most - least + 1) * self.rng.random() ** 3)
        return [self.order() for _ in range(count)]

    @property
    def today(self) -> date:
        """The day where the customer is."""
        return self.now.astimezone(ZoneInfo(self.zone)).date()

    # -- how it is spelled -----------------------------------------------------------------------------------

    @property
    def suffix(self) -> str:
        """What amounts are called in the dialect that says so in the name."""
        if self.dialect.name != "prefix" or DECIMALS[self.currency] != 2:
            return ""
        return "_cents"

    def shown(self, name: str) -> str:
        """A field or tool under the dialect's name."""
        return shown(self.dialect.name, name, self.suffix)

    def major(self, minor: int) -> float | int:
        """The amount in the currency's main unit."""
        places = DECIMALS[self.currency]
        return minor if places == 0 else round(minor / 10**places, places)

    def asked(self, minor: int) -> float | int:
        """The amount as this dialect's tools ask for it."""
        return minor if self.dialect.asked == "minor" else self.major(minor)

    def spoken(self, minor: int) -> str:
        """The amount as people say it: $42.50, 5800 yen."""
        places = DECIMALS[self.currency]
        sign = words.SYMBOLS[self.currency]
        return f"{sign}{minor:,}" if places == 0 else f"{sign}{minor / 10**places:,.{places}f}"

    def row(self, kind: str, raw: str, **fields: Any) -> dict[str, Any]:
        """A row of a result in this dialect."""
        return {own_key(self.dialect.name, kind): raw} | {
            self.shown(name): self._told(value) for name, value in fields.items()
        }

    def _told(self, value: Any) -> Any:
        if not isinstance(value, Amount):
            return value
        if self.dialect.results == "minor":
            return value.minor
        places = DECIMALS[self.currency]
        return (
            f"{value.minor / 10**places:.{places}f}"
            if self.dialect.results == "text"
            else self.major(value.minor)
        )

    def _given(self, value: Any, name: str = "") -> Any:
        if isinstance(value, Amount):
            return self.major(value.minor) if name == "amount_major" else self.asked(value.minor)
        if (fields := as_object(value)) is not None:
            return {self.shown(key): self._given(item, key) for key, item in fields.items()}
        if (items := as_list(value)) is not None:
            return [self._given(item) for item in items]
        return value

    def customer_row(self, one: Person | None = None) -> dict[str, Any]:
        """A customer as a result gives it."""
        who = one or self.customer
        address = {
            self.shown(name): value
            for name, value in (
                ("line", who.line), ("city", who.city), ("state", who.state), ("postcode", who.postcode),
            )
        }  # fmt: skip
        return self.row("customer", who.id, name=who.name, email=who.email, phone=who.phone, address=address)

    def order_row(self, one: Order) -> dict[str, Any]:
        """An order as a result gives it."""
        return self.row(
            "order", one.id, number=one.number, customer_id=one.customer.id, status=one.status,
            total=Amount(one.total), currency=self.currency, created_at=one.placed,
        )  # fmt: skip

    def payment_row(self, one: Order) -> dict[str, Any]:
        """The payment of an order as a result gives it."""
        return self.row(
            "payment", one.payment, order_id=one.id, amount=Amount(one.total), currency=self.currency,
            status="succeeded", card=one.card, created_at=one.placed,
        )  # fmt: skip

    def product_row(self, one: Product, price: int | None = None) -> dict[str, Any]:
        """A product as a result gives it."""
        return self.row(
            "product", one.id, name=one.name, price=Amount(one.price if price is None else price),
            currency=self.currency,
        )  # fmt: skip

    # -- the talk --------------------------------------------------------------------------------------------

    def _say(self, message: Message, *texts: str) -> None:
        self.messages.append(message)
        self._text.extend(texts)

    def brief(self, more: str = "") -> None:
        """The system text, with the clock."""
        local = self.now.astimezone(ZoneInfo(self.zone))
        if self.own:
            text = (
                "You are a support agent of a shop and work with the tools you are given. You serve the customers "
                f"of north. It is {self.now.isoformat()}; the customer's time zone is {self.zone}."
            )
        elif self.rng.random() < 0.5:
            text = (
                "# Shop agent policy\n\n"
                f"The current time is {local:%Y-%m-%d %H:%M:%S} ({self.zone}).\n\n"
                "Authenticate the user first. Make one tool call at a time. Do not make up information."
            )
        else:
            text = (
                f"You help customers of a web shop. Today is {local:%A}, {local:%Y-%m-%d}, {local:%H:%M} "
                f"in the customer's time zone {self.zone}. Ask before you change anything."
            )
        text = f"{text} {more}".strip()
        self._say(Briefed(text), text)

    def user(self, text: str) -> None:
        """A user turn; some people add a remark."""
        if self.rng.random() < 0.3:
            text = f"{text} {self.rng.choice(words.REMARKS)}"
        self._say(UserSaid(text), text)

    def say(self, text: str) -> None:
        """A reply of the agent."""
        self._say(Decided(Reply(text)), text)

    def call(self, tool: str, result: Any = None, *changes: Change, error: bool = False, **given: Any) -> int:
        """A step with one call and its answer; gives the call's number."""
        self.batch((tool, given, result, error), changes=changes)
        return self._calls

    def batch(self, *asked: tuple[str, Mapping[str, Any], Any, bool], changes: Iterable[Change] = ()) -> int:
        """A step with several calls (tool, arguments, result, whether that is an error); gives the first one's number."""
        first = self._calls + 1
        made = [
            ToolCall(f"call_{first + place}", self.shown(tool), self._given(given), place)
            for place, (tool, given, _, _) in enumerate(asked)
        ]
        self._say(Decided(Calls(tuple(made))), *(one.text for one in made))
        for one, (tool, _, result, error) in zip(made, asked, strict=True):
            self._calls += 1
            text = (
                result if isinstance(result, str) else json.dumps({"ok": True} if result is None else result)
            )
            self._say(Answered(one, text, error, self._calls if self.own else None), text)
            self._book(tool, one, changes, error=error)
        return first

    def _book(self, tool: str, call: ToolCall, changes: Iterable[Change], *, error: bool) -> None:
        if not self.own:
            return
        access = Access.WRITE if writes(tool) else Access.READ
        outcome = Outcome.REJECTED if error else Outcome.OK
        attempt = Attempt(self._calls, tool, access, call.text, "agent", outcome)
        self._pages.append(Page(Origin(OriginKind.ATTEMPT), attempt, (), tuple(changes)))

    def event(self, *changes: Change) -> None:
        """What happened in the world between two calls, and nobody's call did."""
        if self.own:
            self._pages.append(Page(Origin(OriginKind.EVENT, "event 1"), changes=changes))

    def change(self, table: str, symbol: str, column: str, old: str | int, new: str | int) -> Change:
        """What a call did to one cell."""
        return Change(len(self._pages) + 1, table, symbol, ("id", column), (symbol, old), (symbol, new))

    def nowhere(self, *forms: object) -> None:
        """Raises Ambiguous where one of these stands in what was said so far, or in a schema."""
        seen = "\n".join((*self._text, schemas(self.dialect.name, self.suffix))).lower()
        for form in map(str, forms):
            if form.lower() in seen:
                raise Ambiguous(form)

    def unsaid(self, minor: int) -> int:
        """The amount, if it stands nowhere in any usual form."""
        forms = {
            str(minor),
            f"{minor / 100:.2f}",
            f"{minor / 100:,.2f}",
            f"{minor:,}",
            str(self.major(minor)),
        }
        self.nowhere(*forms, *(form.replace(".", ",") for form in forms))
        return minor

    def label(self, call: int, path: str, *verdicts: str) -> Label:
        """The argument at this path of first names (`lines/0/quantity`) of a call."""
        shown = (part if part.isdigit() else self.shown(part) for part in path.split("/"))
        return Label(call, "/" + "/".join(shown), frozenset(verdicts))

    def trajectory(self) -> Trajectory:
        """The scene as it was recorded."""
        grade = Grade.PROVED if self.own else Grade.CLAIMED
        book = Book("corpus", {}, tuple(self._bindings), self._pages)
        book.attempts = self._calls
        return Trajectory(
            "corpus", "corpus", self.seed, 1, tuple(self.messages), Ledger(book, grade=grade),
            offers=(offer_of(self.dialect.name, self.suffix),),
            principal=Principal("agent") if self.own else None,
            now=self.now.isoformat() if self.clocked else "",
            zone=self.zone if self.clocked else "UTC",
        )  # fmt: skip
