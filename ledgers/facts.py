"""The facts index: everything an agent had received or said by each of its decisions, found by value.

    Facts.of(trajectory)           one pass over a conversation
        .leaves(key, step)         facts whose whole value is that folded text, known at a step
        .prose(form, step)         places in running text where a form stands as a whole
        .phones(digits, step)      phone numbers as dialled
        .numeric                   the numbers of results, for derivations

A fact counts only for decisions made after the model received it: `since` is the number of the first such step, so calls
of one batch cannot source each other. Results are read as JSON; an object is a `Record`, the row to which its leaves
belong. Texts are split into words only when something is first looked for in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

from sandtrail.ledgers.conversation import (
    Answered,
    Briefed,
    Calls,
    Decided,
    Message,
    Reply,
    Truncated,
    UserSaid,
)
from sandtrail.ledgers.folding import digits_of, fold, key_of, unaccented
from sandtrail.ledgers.records import Fact, FactKind, Hit, Record, Text
from sandtrail.ledgers.trees import parsed

DEEPEST = 60
"""Results are read to this depth; what is nested deeper is one text."""


_ARGUMENT, _RESULT = FactKind.ARGUMENT, FactKind.RESULT
_HOLDERS = (dict, list)  # a union would be made anew for every leaf
_MOST_WORDS = 60


_LONG = 400


_TOKEN = re.compile(r"\w+")


_ID_KEY = re.compile(r"\d|_\w*[A-Z]")


_PRICE = re.compile(r"-?\d{1,12}\.\d{1,4}")


_INSTANT = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}")


_PHONE = re.compile(r"\+?\d[\d\s().\-/]{5,22}\d")


_JOINS = frozenset(".,:/-")


_STRANGERS = frozenset(
    {"note", "notes", "comment", "comments", "message", "messages", "body", "text", "review", "subject", "memo", "remark",
     "remarks", "instructions", "content", "snippet", "html", "transcript", "feedback", "reason"}
)  # fmt: skip


class Facts:
    """The index. Built once per trajectory by `read`; asked with the number of a step."""

    def __init__(self) -> None:
        self._leaves: dict[str, list[Fact]] = {}
        self._texts: list[Text] = []
        self._split = 0
        self._postings: dict[str, list[Text]] = {}
        self._phones: dict[str, list[Hit]] = {}
        self._dialled = 0
        self.records: list[Record] = []
        self.steps = 0
        self.calls = 0
        self._waiting: dict[str, list[int]] = {}
        self.numeric: list[Fact] = []

    @classmethod
    def of(cls, conversation: Iterable[Message]) -> Facts:
        """The index of a whole conversation."""
        facts = cls()
        for message in conversation:
            facts.read(message)
        return facts

    # -- reading ------------------------------------------------------------------------------------------

    def read(self, message: Message) -> None:
        """One more message."""
        match message:
            case Briefed():
                self._prose(FactKind.SYSTEM, message.text)
            case UserSaid():
                self._prose(FactKind.USER, message.text)
            case Answered():
                self._answer(message)
            case Decided():
                self._decision(message)

    def _prose(self, kind: FactKind, text: str) -> None:
        if text:
            said = Text(kind, text, self.steps, order=len(self._texts))
            self._texts.append(said)
            said.folded = fold(text)
            if not said.folded.isascii():
                self._twins(said)

    def _twins(self, text: Text) -> None:
        """The same text without accents, as people type it: both ue and u for an umlaut."""
        for other in dict.fromkeys(unaccented(text.folded)):
            if other != text.folded:
                twin = Text(text.kind, text.raw, text.since, text.record, text.key, text.order)
                twin.folded = other
                self._texts.append(twin)

    def _answer(self, answered: Answered) -> None:
        waiting = self._waiting.get(answered.call.id)
        number = waiting.pop(0) if waiting else self.calls
        kind = FactKind.ERROR if answered.is_error else FactKind.RESULT
        root = Record(number, answered.call.tool, "", None, {}, self.steps)
        value = parsed(answered.text)
        if isinstance(value, _HOLDERS):
            self._walk(value, kind, root, "", 0)
        else:
            self._leaf(kind, value if value is not None else "", root, "")

    def _decision(self, decided: Decided) -> None:
        self.steps += 1
        self._waiting = {}
        decision = decided.decision
        if isinstance(decision, Reply | Calls):
            self._prose(FactKind.ASSISTANT, decision.text)
        for call in decision.calls if isinstance(decision, Calls | Truncated) else ():
            self.calls += 1
            self._waiting.setdefault(call.id, []).append(self.calls)
            if isinstance(decision, Calls):
                root = Record(self.calls, call.tool, "", None, {}, self.steps)
                self._walk(dict(call.arguments), FactKind.ARGUMENT, root, "", 0)

    def _walk(self, value: Any, kind: FactKind, parent: Record, pointer: str, depth: int) -> None:
        if depth > DEEPEST:
            return
        if isinstance(value, dict):
            self._object(cast("dict[str, Any]", value), kind, parent, pointer, depth)
            return
        items: list[Any] = value
        holder = Record(parent.call, parent.tool, pointer, parent, {}, parent.since)
        for place, item in enumerate(items):
            if isinstance(item, _HOLDERS):
                self._walk(item, kind, parent, f"{pointer}/{place}", depth + 1)
            else:
                self._leaf(kind, item, holder, str(place))

    def _object(
        self, fields: dict[str, Any], kind: FactKind, parent: Record, pointer: str, depth: int
    ) -> None:
        record = Record(parent.call, parent.tool, pointer, parent, fields, parent.since)
        if kind is not _ARGUMENT:
            self.records.append(record)
        for name, item in fields.items():
            key = str(name)
            step = key.replace("~", "~0").replace("/", "~1") if "/" in key or "~" in key else key
            if not isinstance(item, _HOLDERS):
                if len(key) < 5 and key.isupper():  # {"SFO": "San Francisco"}
                    self._add(key.lower(), Fact(kind, key, parent.since, record, step))
                self._leaf(kind, item, record, step)
                continue
            if isinstance(item, dict) and _ID_KEY.search(key):
                self._add(fold(key), Fact(kind, key, parent.since, record, step))
            self._walk(item, kind, record, f"{pointer}/{step}", depth + 1)

    def _leaf(self, kind: FactKind, value: Any, record: Record, key: str) -> None:
        if isinstance(value, str):
            if value.isascii() and (value.isalnum() or value.replace("_", "").isalnum()):
                text = value.lower()
            else:
                text = fold(value)
                if not text:
                    return
                if not value.isalnum():
                    kind = self._running(kind, value, text, record, key)
        else:
            found = key_of(value)
            if found is None:
                return
            text = found
            if kind is not _ARGUMENT and not isinstance(value, bool):
                self.numeric.append(Fact(kind, value, record.since, record, key))
        fact = Fact(kind, value, record.since, record, key)
        held = self._leaves.get(text)
        if held is None:
            self._leaves[text] = [fact]
        else:
            held.append(fact)

    def _running(self, kind: FactKind, value: str, text: str, record: Record, key: str) -> FactKind:
        """A leaf of more than one word, in which others may stand; a stranger's text is planted."""
        if kind is _RESULT and key.lower() in _STRANGERS:
            kind = FactKind.PLANTED
        long = Text(kind, value, record.since, record, key, len(self._texts))
        long.folded = text
        self._texts.append(long)
        if not text.isascii():
            self._twins(long)
        if kind is not _ARGUMENT and value[0].isdigit():
            if _PRICE.fullmatch(value):
                self.numeric.append(Fact(kind, value, record.since, record, key))
            elif len(value) >= 16 and _INSTANT.match(value):
                self._add(text[:10], Fact(kind, value, record.since, record, key))
        elif value[0] == "-" and _PRICE.fullmatch(value):
            self.numeric.append(Fact(kind, value, record.since, record, key))
        return kind

    def _add(self, text: str, fact: Fact) -> None:
        held = self._leaves.get(text)
        if held is None:
            self._leaves[text] = [fact]
        else:
            held.append(fact)

    # -- asking -------------------------------------------------------------------------------------------

    def leaves(self, key: str, step: int) -> list[Fact]:
        """The facts whose whole value is this folded text, known at a step."""
        return [fact for fact in self._leaves.get(key, ()) if fact.since <= step]

    def spoken(self, step: int) -> bool:
        """Whether anybody but the agent had said anything by a step."""
        told = {FactKind.USER, FactKind.SYSTEM}
        return any(text.kind in told for text in self._texts if text.since <= step)

    def has_word(self, word: str) -> bool:
        """Whether a word stands in any text at all."""
        self._index()
        return word in self._postings

    def known(self, step: int) -> Iterator[tuple[str, Fact]]:
        """Every whole value with its first fact known at a step."""
        for key, facts in self._leaves.items():
            first = next((fact for fact in facts if fact.since <= step), None)
            if first is not None:
                yield key, first

    def prose(self, form: str, step: int) -> Iterator[Hit]:
        """The places in texts where a folded form stands as a whole."""
        self._index()
        words = _TOKEN.findall(form)
        if not words or len(words) > _MOST_WORDS:
            return
        best: list[Text] | None = None
        for word in words:
            texts = self._postings.get(word)
            if texts is None:
                return
            if best is None or len(texts) < len(best):
                best = texts
        for text in best or ():
            start = text.folded.find(form) if text.since <= step else -1
            while start >= 0:
                if _whole(text.folded, form, start):
                    yield Hit(text, start, start + len(form))
                start = text.folded.find(form, start + 1)

    def words(self, step: int, kinds: frozenset[FactKind]) -> Iterator[Text]:
        """The texts of some kinds known at a step."""
        self._index()
        return (text for text in self._texts if text.since <= step and text.kind in kinds)

    def phones(self, digits: str, step: int) -> Iterator[Hit]:
        """The phone numbers that are dialled the same, with or without the country."""
        self._index()
        for text in self._texts[self._dialled :]:
            for found in _PHONE.finditer(text.folded):
                hit = Hit(text, found.start(), found.end())
                self._phones.setdefault(digits_of(found[0])[-7:], []).append(hit)
        self._dialled = len(self._texts)
        for hit in self._phones.get(digits[-7:], ()):
            other = digits_of(hit.text.folded[hit.start : hit.end])
            if hit.text.since <= step and (other.endswith(digits) or digits.endswith(other)):
                yield hit

    def _index(self) -> None:
        if self._split == len(self._texts):
            return
        postings = self._postings
        for text in self._texts[self._split :]:
            text.folded = text.folded or fold(text.raw)
            words = _words_in(text.folded) if len(text.folded) > _LONG else set(_TOKEN.findall(text.folded))
            for word in words:
                held = postings.get(word)
                if held is None:
                    postings[word] = [text]
                else:
                    held.append(text)
        self._split = len(self._texts)


@lru_cache(maxsize=64)
def _words_in(folded: str) -> frozenset[str]:
    """The words of a long text: a policy stands in front of every run of a file."""
    return frozenset(_TOKEN.findall(folded))


def _whole(folded: str, form: str, start: int) -> bool:
    """Whether a form stands there by itself, and is no part of a longer word, number, date or address."""
    end = start + len(form)
    if start and not _parts(folded, start - 1, -1, form[0]):
        return False
    return end >= len(folded) or _parts(folded, end, 1, form[-1])


def _parts(folded: str, place: int, direction: int, edge: str) -> bool:
    """Whether the character at `place` parts the form from what stands beyond it."""
    char = folded[place]
    if char.isalnum() or char == "_":
        # 2026-05-26T10:00 holds the day, 42usd the number
        return not (edge.isalnum() or edge == "_") or (
            edge.isdigit() and direction > 0 and _unit_after(folded, place)
        )
    if char == "@" and direction > 0 and edge != "@":
        return False
    if char in _JOINS and edge.isdigit():
        beyond = place + direction
        return not (0 <= beyond < len(folded) and folded[beyond].isdigit())
    return not (
        char in "@.+-" and direction < 0 and edge.isalnum() and place > 0 and _in_address(folded, place)
    )


def _unit_after(folded: str, place: int) -> bool:
    return (
        re.match(r"(?:t\d\d:|(?:usd|eur|gbp|jpy|chf|k|am|pm|th|st|nd|rd)\b)", folded[place : place + 4])
        is not None
    )


def _in_address(folded: str, place: int) -> bool:
    """Whether the word around a place is an e-mail address."""
    begin = folded.rfind(" ", 0, place) + 1
    end = folded.find(" ", place)
    return "@" in folded[begin : end if end >= 0 else len(folded)]
