"""What an agent had seen by a place in the conversation: the values that its words may rest on."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sandtrail.ledgers.conversation import Answered, Briefed, UserSaid
from sandtrail.ledgers.money import DECIMALS, decimals
from sandtrail.ledgers.trajectory import Trajectory
from sandtrail.ledgers.trees import as_list, as_object, leaves, parsed
from sandtrail.ledgers.words import Grade, Outcome
from sandtrail.scenarios.days import Day, dates
from sandtrail.scenarios.digits import Phone, runs
from sandtrail.scenarios.mentions import NUMBER_WORDS, Amount, amounts, counts, names, number_of, plain
from sandtrail.scenarios.quantities import products, quantities

_TOTALS = {"total", "count", "size", "total_count"}
_BARE = re.compile(r"(?<![\w.,:/#-])\d{1,9}(?:\.\d{1,2})?(?![\w:/-]|[.,]\d)")
_MONEY = re.compile(
    r"amount|price|total|cost|fee|balance|due|paid|captured|refund|credit|limit|value|charge|sum|tax|payment",
    re.IGNORECASE,
)
_SPAN = rf"\b(\d{{1,3}}|{NUMBER_WORDS})[- ](?:\w+ )?(day|week)s?\b"
_MORE = ("cursor", "next_cursor", "next", "next_page", "has_more")

Money = tuple[str | None, Decimal]
"""An amount in major units; without a currency it is taken for any."""


class Seen:
    """The results, user and system texts and arguments before a place in the conversation (`index`), and the clock."""

    def __init__(self, trajectory: Trajectory, index: int) -> None:
        self._before = trajectory.conversation[:index]
        self._attempts = trajectory.ledger.attempts
        self.answers = [message for message in self._before if isinstance(message, Answered)]
        self.exact = trajectory.ledger.grade is Grade.PROVED
        self.now, self.zone = trajectory.now, trajectory.zone
        self._pools: dict[str | None, tuple[set[Decimal], set[Decimal]]] = {}

    @cached_property
    def results(self) -> list[Any]:
        """What was answered, as JSON."""
        return [parsed(message.text) for message in self.answers]

    @cached_property
    def users(self) -> list[str]:
        """What the user said."""
        return [plain(message.text) for message in self._before if isinstance(message, UserSaid)]

    @cached_property
    def briefs(self) -> list[str]:
        """What the agent was told before."""
        return [plain(message.text) for message in self._before if isinstance(message, Briefed)]

    @cached_property
    def arguments(self) -> list[Any]:
        """What the agent sent."""
        return [dict(message.call.arguments) for message in self.answers]

    @cached_property
    def _undone(self) -> list[Any]:
        outcomes = {one.seq: one.outcome for one in self._attempts()}
        return [dict(one.call.arguments) for one in self.answers if _failed(one, outcomes)]

    @property
    def searched(self) -> str:
        """What was looked through, in words."""
        return (
            f"{len(self.results)} results, {len(self.users)} user messages, {len(self.arguments)} calls' arguments,"
            " sums and differences, the clock"
        )

    # -- texts ------------------------------------------------------------------------------------------------

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        whole = [*self.results, *self.arguments]
        found = (str(leaf) for value in whole for _, leaf in leaves(value) if leaf is not None)
        return (*self.users, *self.briefs, *map(plain, found))

    @cached_property
    def _text(self) -> str:
        keys = json.dumps(self.results, ensure_ascii=False, default=str)  # an object's keys may be ids, too
        return "\n".join((*self._texts, keys)).casefold()

    def has_text(self, text: str) -> bool:
        """Whether it stands somewhere as a whole word."""
        return re.search(rf"(?<![\w]){re.escape(text.casefold())}(?!\w)", self._text) is not None

    # -- amounts ------------------------------------------------------------------------------------------------

    @cached_property
    def _money(self) -> set[Money]:
        """The seen amounts: written ones, whole numbers beside a currency or under a name of money, and columns' totals."""
        found: set[Money] = {(None, Decimal(0))}
        for text in self._texts:
            for amount in amounts(text):
                found |= {(code, amount.value) for code in amount.currencies or (None,)}
        for text in (*self.users, *self.briefs):
            taken = [(one.start, one.end) for one in dates(text)] + [
                (one.start, one.end) for one in names(text)
            ]
            found |= {
                (None, Decimal(number[0]))
                for number in _BARE.finditer(text)
                if not any(start <= number.start() < end for start, end in taken)
            }
        for value in [*self.results, *self.arguments]:
            found |= set(self._numbers(value, None))
        return found

    @cached_property
    def _loose(self) -> set[Money]:
        """Numbers of tools that nobody vouches for: as they stand, in minor units, and out of sentences."""
        if self.exact:
            return set()
        found: set[Money] = set()
        for value in [*self.results, *self.arguments]:
            for _, leaf in leaves(value):
                if type(leaf) is int:
                    found |= {(None, Decimal(leaf).scaleb(-places)) for places in (0, 2, 3)}
                elif isinstance(leaf, float):
                    found.add((None, Decimal(repr(leaf))))
                elif isinstance(leaf, str):  # "total price is 122, but paid 256"
                    found |= {(None, Decimal(number)) for number in _BARE.findall(leaf)}
        return found

    def _numbers(self, value: Any, currency: str | None) -> Iterator[Money]:
        """The whole numbers of a value as amounts, with the totals of each list's columns."""
        items, fields = as_list(value), as_object(value)
        for item in items or ():
            yield from self._numbers(item, currency)
        if items:
            yield from self._totals(items, currency)
        if fields is not None:
            yield from self._cells(fields, _currency(fields, currency))

    def _totals(self, items: Sequence[Any], currency: str | None) -> Iterator[Money]:
        totals = Counter[tuple[str, str | None]]()
        for item in items:
            fields = as_object(item) or {}
            for name, number in fields.items():
                if type(number) is int:
                    totals[name, _currency(fields, currency)] += number
            for product in products(fields):
                totals["price", _currency(fields, currency)] += product
        for (name, code), total in totals.items():
            yield from self._minor(name, total, code)

    def _cells(self, fields: dict[str, Any], currency: str | None) -> Iterator[Money]:
        for name, item in fields.items():
            if type(item) is int:
                yield from self._minor(name, item, currency)
            elif isinstance(item, float) and _MONEY.search(name):
                yield currency, Decimal(repr(item))
            yield from self._numbers(item, currency)
        for product in products(fields):
            yield from self._minor("price", product, currency)

    def _minor(self, name: str, number: int, currency: str | None) -> Iterator[Money]:
        """A number as an amount. Of a foreign tool nobody knows whether it is in minor units, so it may be both."""
        if currency is None and not _MONEY.search(name):
            return
        if currency is not None:
            yield currency, Decimal(abs(number)).scaleb(-decimals(currency))
        if currency is None or not self.exact:
            yield from ((currency, Decimal(abs(number)).scaleb(-places)) for places in (0, 2, 3))

    def supported(self, said: Sequence[Amount]) -> set[str]:
        """Those of the amounts of one text that rest on what was seen, or on others of them that do."""
        good: list[Amount] = []
        left = list(said[:200])
        while True:
            sums = {Decimal(0)}
            for one in good[:12]:
                sums |= {one.value + other for other in sums}
            fits = [self._has_amount(one, sums, {other.value for other in good}) for one in left]
            if not any(fits):
                return {one.text for one in (*good, *said[200:])}
            good += [one for one, fit in zip(left, fits, strict=True) if fit]
            left = [one for one, fit in zip(left, fits, strict=True) if not fit]

    def _has_amount(self, amount: Amount, sums: set[Decimal], beside: set[Decimal]) -> bool:
        """Whether an amount was seen, is a price times some number, a sum or a difference of two (seen, or standing
        `beside` it), or one of these `sums`."""
        for code in amount.currencies or (None,):
            wanted = amount.value if code is None else _major(amount, code)
            direct, strong = self._pool(code)
            if wanted in direct or wanted in sums:
                return True
            known = strong | beside
            if any(wanted - one in known or wanted + one in known for one in known):
                return True
        return False

    def leaves_rest(self, amount: Amount) -> bool:
        """Whether an amount was seen, or is the difference of two that were and that no failed call alone named."""
        told = [*self.results, *(one for one in self.arguments if one not in self._undone)]
        done = {value for one in told for _, value in self._numbers(one, None)}
        undone = {value for one in self._undone for _, value in self._numbers(one, None)} - done
        for code in amount.currencies or (None,):
            direct, strong = self._pool(code)
            wanted, held = amount.value if code is None else _major(amount, code), strong - undone
            if wanted in direct or any(wanted + one in held for one in held):
                return True
        return False

    def _pool(self, code: str | None) -> tuple[set[Decimal], set[Decimal]]:
        """The values that an amount of this currency may be, and those that may be added and subtracted."""
        if code not in self._pools:
            strong = {value for held, value in self._money if code is None or held in {None, code}}
            loose = {value for held, value in self._loose if code is None or held in {None, code}}
            prices = {value for held, value in self._money if value and held is not None and held == code}
            often = {*range(2, self._longest + 1), *quantities([*self.results, *self.arguments], self.users)}
            many = {value * times for value in prices for times in often}
            self._pools[code] = strong | loose | many, strong
        return self._pools[code]

    # -- days -------------------------------------------------------------------------------------------------

    @cached_property
    def _days(self) -> set[tuple[int | None, int, int]]:
        found = {
            (one.year, month, day)
            for text in self._texts
            for one in dates(text)
            for month, day in one.readings
        }
        instants = [
            *re.findall(
                r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?",
                "\n".join(self._texts),
            )
        ]
        for text in instants:
            found |= {(day.year, day.month, day.day) for day in self._local(text)}
        for today in self._local(self.now):
            for days in (-1, 0, 1):
                day = today + timedelta(days=days)
                found.add((day.year, day.month, day.day))
        return found

    def _local(self, text: str) -> Iterator[date]:
        """The days of an instant, in UTC and in the user's zone."""
        try:
            instant = datetime.fromisoformat(text)
        except ValueError:
            return
        instant = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
        yield instant.date()
        yield instant.astimezone(UTC).date()
        try:
            yield instant.astimezone(ZoneInfo(self.zone)).date()
        except (ZoneInfoNotFoundError, ValueError, OverflowError):
            return

    def has_day(self, day: Day, text: str) -> bool:
        """Whether a day was seen, or is as far from a seen one as some number of days or weeks that was named."""
        if any(
            (m, d) in day.readings and (day.year is None or y in {None, day.year}) for y, m, d in self._days
        ):
            return True
        spans = set[int]()
        for source in (text, *self._texts):
            for found in re.finditer(_SPAN, source.lower()):
                spans.add(number_of(found[1]) * (7 if found[2] == "week" else 1))
        return any(
            day.fits(date(year, month, start) + timedelta(days=sign * span))
            for year, month, start in self._days
            if year is not None and 1900 < year < 2200
            for span in spans
            for sign in (-1, 1)
        )

    # -- telephones and cards -----------------------------------------------------------------------------------

    @cached_property
    def _phones(self) -> frozenset[Phone]:
        return runs(self._texts)

    def has_phone(self, phone: Phone) -> bool:
        """Whether a number was seen, however it was written."""
        return any(phone.same(one) for one in self._phones)

    def has_ending(self, digits: str) -> bool:
        """Whether something seen ends in these digits."""
        return re.search(rf"{digits}(?!\w)", self._text) is not None

    # -- lists --------------------------------------------------------------------------------------------------

    @cached_property
    def _lists(self) -> dict[str, list[list[Any]]]:
        """The lists in results by name: their key, or the last word of the tool that answered with one."""
        found: dict[str, list[list[Any]]] = {}
        for answered, result in zip(self.answers, self.results, strict=True):
            if (items := as_list(result)) is not None:
                found.setdefault(re.split(r"[_\W]", answered.call.tool.lower())[-1], []).append(items)
            for name, named in _named_lists(result):
                found.setdefault(name.lower(), []).append(named)
        return {name: lists for name, lists in found.items() if name.endswith("s") and name.isalpha()}

    @property
    def _longest(self) -> int:
        """How often a price may have been paid: once for each row of a list, and less than ten times (a slip)."""
        return min(9, max((len(items) for lists in self._lists.values() for items in lists), default=1))

    @property
    def nouns(self) -> tuple[str, ...]:
        """The names of the lists seen, each also in the singular."""
        return tuple(form for name in self._lists for form in (name, name.removesuffix("s")))

    def _of(self, noun: str) -> list[list[Any]]:
        return self._lists.get(noun) or self._lists.get(f"{noun}s") or []

    def lengths(self, noun: str) -> set[int]:
        """How long the lists of this name are, and all together."""
        lists = self._of(noun)
        rows = {json.dumps(item, sort_keys=True, default=str) for items in lists for item in items}
        return {len(items) for items in lists} | {sum(map(len, lists)), len(rows)} if lists else set()

    def group_sizes(self, noun: str) -> set[int]:
        """How many rows of a list of this name share a value of one field."""
        sizes: set[int] = set()
        for items in self._of(noun):
            columns: dict[str, Counter[str]] = {}
            for item in items:
                for name, cell in (as_object(item) or {}).items():
                    columns.setdefault(name, Counter())[json.dumps(cell, sort_keys=True, default=str)] += 1
            for column in columns.values():
                sizes |= set(column.values()) if max(column.values()) > 1 else set()  # an id tells no groups
        return sizes

    def said_counts(self, noun: str) -> set[int]:
        """The counts of this noun in the user's words, and the totals that results tell."""
        said = {
            one.number for text in self.users for one in counts(text, (noun, f"{noun.removesuffix('s')}s"))
        }
        totals = {
            leaf
            for value in self.results
            for pointer, leaf in leaves(value)
            if type(leaf) is int and pointer.rpartition("/")[2].lower() in _TOTALS
        }
        return said | totals

    def more(self, noun: str) -> bool:
        """Whether a result says that there is more of such a list than it shows."""
        return any(
            bool((as_object(value) or {}).get(name)) for value in self.results for name in _MORE
        ) and bool(self._of(noun))


def _failed(answered: Answered, outcomes: Mapping[int, Outcome]) -> bool:
    """Whether a call came to nothing: the books say so, or, where they do not know it, its answer."""
    outcome = outcomes.get(answered.attempt or 0)
    return answered.is_error if outcome is None else outcome is not Outcome.OK


def _currency(fields: dict[str, Any], outer: str | None) -> str | None:
    """The currency that an object names, or the one around it."""
    own = fields.get("currency")
    return own if isinstance(own, str) and own in DECIMALS else outer


def _major(amount: Amount, currency: str) -> Decimal:
    minor = amount.minor(currency)
    return amount.value if minor is None else Decimal(minor).scaleb(-decimals(currency))


def _named_lists(value: Any) -> Iterator[tuple[str, list[Any]]]:
    for item in as_list(value) or ():
        yield from _named_lists(item)
    for name, item in (as_object(value) or {}).items():
        if (items := as_list(item)) is not None:
            yield name, items
        yield from _named_lists(item)
