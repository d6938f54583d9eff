"""Resolving a whole trajectory: every leaf of every call, in the order of the calls.

resolve(trajectory) -> (Traced, ...)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import Any

from sandtrail.ledgers.book import Ledger
from sandtrail.ledgers.conversation import Briefed, Truncated
from sandtrail.ledgers.folding import fold, key_of, plain
from sandtrail.ledgers.identity import Identical
from sandtrail.ledgers.languages import PACKS
from sandtrail.ledgers.lookup import stood
from sandtrail.ledgers.naming import id_kind, kind_word, words_of
from sandtrail.ledgers.near import nearest
from sandtrail.ledgers.origins import ENTITIES, Asked, Known, propagated, read_of, schema_says, where
from sandtrail.ledgers.provenance import Resolved, Traced, Verdict
from sandtrail.ledgers.records import FactKind
from sandtrail.ledgers.resolve_ids import ids_seen, resolve_id
from sandtrail.ledgers.resolve_values import resolve_value
from sandtrail.ledgers.slots import Slots, Told, examples_of, slots_of
from sandtrail.ledgers.specs import Form, Slot, ToolSpec
from sandtrail.ledgers.surface import Clock
from sandtrail.ledgers.trajectory import Made, ToolFact, Trajectory
from sandtrail.ledgers.trees import as_object, leaves
from sandtrail.ledgers.verbs import verb_writes
from sandtrail.ledgers.words import Grade, Outcome

_BLAMED = frozenset({Verdict.INVENTED, Verdict.NEAR_MISS, Verdict.SCHEMA_EXAMPLE, Verdict.UNSEEN_REAL})
_NAMED = re.compile(r"[#\w][\w@.+-]*\w")
_ENTITY = re.compile(r"\b([A-Za-z]+)\s+#?([A-Z0-9]{6,})\b")
_NOW = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[t ](\d{2}:\d{2})(?::(\d{2}))?)?")
MOST_LEAVES = 2000
"""So many leaves of one call are looked at; the rest of such a call is left alone."""


def provenance(trajectory: Trajectory) -> tuple[Traced, ...]:
    """The origin of every argument of every call, in their order."""
    return _provenance(Identical(trajectory))


@lru_cache(maxsize=4)
def _provenance(trajectory: Identical) -> tuple[Traced, ...]:
    return tuple(Tracing(trajectory.value).all())


class Tracing:
    """One trajectory being traced: `all` its arguments in their order, or a single value `of` any kind at a step."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        read = read_of(Identical(trajectory.conversation))
        self.known = Known(
            read,
            _clock(trajectory),
            {binding.raw: binding for binding in trajectory.ledger.bindings},
            trajectory.ledger.projection,
            _kinds(trajectory) | read.kinds | ENTITIES,
            trajectory.principal.tenants if trajectory.principal else (),
            _examples(trajectory),
        )

    def of(self, value: Any, slot: Slot, step: int) -> Resolved:
        """The origin of a value that somebody stated at a step, as of an argument of that slot."""
        return resolved(
            self.known, Asked(self.known.facts.calls + 1, "", "", value, slot, Told(), step, writes=False)
        )

    def stood(self, value: Any, slot: Slot, step: int) -> bool:
        """Whether a value stood anywhere by a step, as it is or in another form; nothing is computed."""
        asked = Asked(self.known.facts.calls + 1, "", "", value, slot, Told(), step, writes=False)
        return bool(stood(self.known, asked)[0])

    def all(self) -> Iterator[Traced]:
        for made in self._trajectory.made:
            if made.call.flaw or isinstance(made.step.decision, Truncated):
                continue
            yield from self._call(made)

    def _call(self, made: Made) -> Iterator[Traced]:
        fact, spec = self._tool(made)
        writes = fact.writes if fact.operation is not None else verb_writes(made.call.tool)[0]
        slots = slots_of(spec, fact.slots, writes=writes)
        committed = writes and _committed(self._trajectory.ledger, made)
        fresh: set[str] = set()
        for asked in self._asked(made, slots, writes=writes):
            found = resolved(self.known, asked)
            if found.verdict in _BLAMED and asked.key:
                fresh.add(asked.key)
            yield self._traced(made, asked, found, committed=committed)
        for key in fresh:  # only now: leaves of one call that hold the same invention are all its first use
            self.known.invented.setdefault(key, made.number)

    def _asked(self, made: Made, slots: Slots, *, writes: bool) -> Iterator[Asked]:
        """The leaves of a call, then the optional arguments that it left out."""
        given = list(leaves(dict(made.call.arguments)))[:MOST_LEAVES]
        folded = {
            pointer: text for pointer, value in given if isinstance(value, str) and (text := key_of(value))
        }
        self.known.carried[made.number] = frozenset(text for _, value in given if (text := key_of(value)))
        everything = dict(given)
        left_out = [(pointer, None) for pointer in slots.optional if pointer[1:] not in made.call.arguments]
        for pointer, value in (*given, *left_out):
            siblings = {place: text for place, text in folded.items() if place != pointer}
            slot, told = slots.at(pointer, value), slots.words(pointer)
            absent = value is None and (pointer, value) not in given
            yield Asked(
                made.number, made.call.tool, pointer, value, slot, told, made.step.number, writes, siblings, everything, absent
            )  # fmt: skip

    def _traced(self, made: Made, asked: Asked, found: Resolved, *, committed: bool) -> Traced:
        return Traced(
            made.number,
            made.call.tool,
            asked.pointer,
            asked.value,
            self.known.projection.value(asked.value),
            found.verdict,
            self.known.projection.text(found.why),
            asked.slot,
            found.facts,
            asked.told.required,
            asked.writes,
            committed,
        )

    def _tool(self, made: Made) -> tuple[ToolFact, ToolSpec | None]:
        try:
            offer = self._trajectory.offer(made.step.number)
        except LookupError:
            return ToolFact(made.call.tool), None
        spec = next((tool for tool in offer.catalog.tools if tool.name == made.call.tool), None)
        return offer.tools.get(made.call.tool) or ToolFact(made.call.tool), spec


def resolved(known: Known, asked: Asked) -> Resolved:
    """The origin of one leaf."""
    form, value = asked.slot.form, asked.value
    if asked.absent:
        return Resolved(Verdict.OMITTED, "optional")
    if value is None or value == "" or (isinstance(value, dict | list) and not value):
        return Resolved(Verdict.LOW_INFORMATION, "empty")
    if form is Form.GENERATED:
        return Resolved(Verdict.GENERATED, "made up by the caller, as it must be")
    if isinstance(value, bool) or form is Form.FLAG:
        return _flag(known, asked)
    if _is_tenant(asked) and value in known.tenants:
        return Resolved(Verdict.EXACT, "the principal's own")
    if form is Form.TEXT and isinstance(value, str):
        return _free_text(known, asked)
    if form is Form.ID and known.bindings and not isinstance(value, str):
        return Resolved(Verdict.LOW_INFORMATION, "no id of this world: these are texts")
    found = (
        resolve_id(known, asked)
        if form is Form.ID and isinstance(value, str | int)
        else resolve_value(known, asked)
    )
    if found.verdict is Verdict.INVENTED and not known.facts.spoken(asked.step):
        return Resolved(Verdict.LOW_INFORMATION, "what was said before is not recorded")
    return _policy(asked, found)


def _is_tenant(asked: Asked) -> bool:
    return "tenant" in words_of(asked.pointer.rpartition("/")[2])


def _policy(asked: Asked, found: Resolved) -> Resolved:
    """Whether a value came from where the slot's own policy says that it must."""
    allowed = asked.slot.sources
    if not allowed or not found.verdict.grounded or not found.facts:
        return found
    if any(fact.kind.value in allowed or fact.tool in allowed for fact in found.facts):
        return found
    why = f"it must come from {' or '.join(allowed)}; it stood: {where(found.facts)}"
    return Resolved(Verdict.SOURCE_POLICY, why, found.facts)


def _flag(known: Known, asked: Asked) -> Resolved:
    """True or false: the default, or a phrase like "without insurance" about the thing the argument is named after."""
    said = schema_says(asked)
    if said is not None:
        return said
    nouns = [
        word
        for word in words_of(asked.pointer.rpartition("/")[2])
        if len(word) > 3 and word not in {"with", "include", "wants"}
    ]
    wanted = str(asked.value).lower() in {"true", "yes"}
    for pack in PACKS:
        for noun in nouns:
            for word in pack.yes if wanted else pack.no:
                hit = next(known.facts.prose(f"{word} {noun}", asked.step), None)
                if hit is not None and hit.text.kind is FactKind.USER:
                    return Resolved(Verdict.NORMALISED, f'"{word} {noun}" was said by the user', (hit.fact,))
    return Resolved(Verdict.LOW_INFORMATION, "true or false proves nothing")


# -- free text -----------------------------------------------------------------------------------------------


def _free_text(known: Known, asked: Asked) -> Resolved:
    """Free text is the agent's own; the ids and addresses that it names are checked one by one."""
    said = schema_says(asked) or propagated(known, asked)
    if said is not None:
        return said
    text = str(asked.value)[:20000]
    named = {found[2] for found in _ENTITY.finditer(text) if kind_word(found[1].lower()) in known.kinds}
    if {"expression", "formula"} & set(words_of(asked.pointer)) and (
        number := _unsourced(known, asked, text)
    ):
        return Resolved(
            Verdict.INVENTED, f"it computes with {number}, which stood nowhere before call {asked.call}"
        )
    for word in dict.fromkeys(_NAMED.findall(text)):
        if not (_tells(word) or word in named) or _was_seen(known, word, asked.step):
            continue
        binding = known.bindings.get(word)
        if binding is not None:
            return Resolved(
                Verdict.UNSEEN_REAL, f"the text names {binding.symbol}, which the agent was never shown"
            )
        seen = dict(ids_seen(known, asked.step))
        close = nearest(fold(word), {**seen, **{fold(raw): raw for raw in known.bindings}})
        if close is not None:
            return Resolved(
                Verdict.NEAR_MISS, f"the text names {word}, a corrupted copy of {seen.get(close, close)}"
            )
        return Resolved(
            Verdict.INVENTED, f"the text names {word}, which stood nowhere before call {asked.call}"
        )
    return Resolved(Verdict.PARTIAL, "the agent's own words; what they name was seen")


def _unsourced(known: Known, asked: Asked, text: str) -> str:
    """A number of an expression that stood nowhere before; numbers of one or two digits say too little."""
    for figure in re.finditer(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", text):
        number = figure[0]
        forms = {number, plain(Decimal(number)), f"-{plain(Decimal(number))}"}
        if len(number.replace(".", "")) > 2 and not any(_was_seen(known, one, asked.step) for one in forms):
            return number
    return ""


def _tells(word: str) -> bool:
    """Whether a word of a free text is an id or an address, and no plain word, number, date or amount."""
    body = word.strip("#.-+")
    if "@" in body:
        return "." in body.partition("@")[2]
    if re.fullmatch(r"[\d.,:/-]+", body):
        return len(re.sub(r"\D", "", body)) >= 8 and not _NOW.match(body)
    if re.fullmatch(r"[a-z]{2,10}_[A-Za-z0-9]{6,}", body):
        return re.search(r"[A-Z0-9]", body) is not None
    has_both = re.search(r"\d", body) and re.search(r"[A-Za-z]", body)
    return (
        bool(has_both)
        and len(body) >= 6
        and not re.fullmatch(r"\d{1,4}[a-z]{1,4}|\d+-[a-z-]+|[\d.]+x[\d.x]+\w*", body.lower())
    )


def _was_seen(known: Known, word: str, step: int) -> bool:
    for text in {fold(word), fold(word.strip("#.-+")), f"#{fold(word.strip('#'))}"}:
        facts = [*known.facts.leaves(text, step), *(hit.fact for hit in known.facts.prose(text, step))]
        if any(not known.is_echo(fact, text) for fact in facts):
            return True
    return False


# -- the surroundings ----------------------------------------------------------------------------------------


def _kinds(trajectory: Trajectory) -> frozenset[str]:
    """The entity kinds that tools take, and that the books know."""
    found: set[str] = set()
    for offer in trajectory.offers:
        for tool in offer.catalog.tools:
            names = as_object(tool.input_schema.get("properties")) or {}
            found |= {kind for name in names if (kind := id_kind(str(name)))}
        found |= {slot.kind for fact in offer.tools.values() for slot in fact.slots.values() if slot.kind}
    return frozenset(found | {binding.kind for binding in trajectory.ledger.bindings})


def _examples(trajectory: Trajectory) -> frozenset[str]:
    """The telling examples in the schemas of all tools that were offered: those with a digit."""
    return examples_of(tool for offer in trajectory.offers for tool in offer.catalog.tools)


def _clock(trajectory: Trajectory) -> Clock:
    """The clock of the run, or the one that the system text tells."""
    if trajectory.now:
        return Clock.of(trajectory.now, trajectory.zone)
    for message in trajectory.conversation:
        folded = message.text.lower() if isinstance(message, Briefed) else ""
        for found in _NOW.finditer(folded):
            before = folded[max(0, found.start() - 60) : found.start()]
            if re.search(r"\b(?:time|now|today|date|it is|heute|datum|uhrzeit)\b", before):
                hour = f"T{found[2]}:{found[3] or '00'}" if found[2] else "T12:00:00"
                return Clock.of(f"{found[1]}{hour}", trajectory.zone)
    return Clock.of("", trajectory.zone)


def _committed(ledger: Ledger, made: Made) -> bool:
    """Whether a write took place: by the books, or where nobody kept any, by what the result says."""
    answered = made.answered
    if answered is None:
        return False
    if answered.attempt is None:
        return not answered.is_error
    page = next((one for one in ledger.pages if one.attempt and one.attempt.seq == answered.attempt), None)
    if page is None or page.attempt is None:
        return False
    # books that are not ours hold no rows: what they say was carried out counts
    told = ledger.grade is not Grade.PROVED and page.attempt.outcome is Outcome.OK
    return page.committed or (told and bool(page.effects))
