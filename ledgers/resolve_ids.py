"""The ladder for ids: seen at all, of the kind that belongs there, of the row that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sandtrail.ledgers.folding import fold
from sandtrail.ledgers.naming import id_kind
from sandtrail.ledgers.near import nearest
from sandtrail.ledgers.origins import (
    HOPS,
    Asked,
    Known,
    Sources,
    fact_kinds,
    fits,
    propagated,
    schema_example,
    schema_says,
    sorted_out,
    verbatim,
    where,
    whole,
)
from sandtrail.ledgers.provenance import Resolved, Verdict
from sandtrail.ledgers.records import Fact, FactKind, Record
from sandtrail.ledgers.rows import own_id
from sandtrail.ledgers.specs import Risk
from sandtrail.ledgers.surface import rendered

_DIGIT = re.compile(r"\d")
_EXCEPT = re.compile(r"\b(?:not|other than|except|instead of|besides|nicht|außer|statt)\b[^.;]{0,30}$")


def resolve_id(known: Known, asked: Asked) -> Resolved:
    """The origin of an id."""
    found = sorted_out(known, whole(known, asked), asked.key)
    how = Verdict.EXACT if verbatim(asked, found.facts) else Verdict.NORMALISED
    if not found:
        for form in rendered(str(asked.value), asked.slot, known.clock):
            facts = (
                *known.facts.leaves(form.text, asked.step),
                *(hit.fact for hit in known.facts.prose(form.text, asked.step)),
            )
            other = sorted_out(known, facts, asked.key)
            if other:
                found, how = other, Verdict.NORMALISED
                break
    if not found and asked.key.isdigit() and len(asked.key) > 6:
        dialled = known.facts.phones(asked.key, asked.step)
        grouped = [
            hit.fact
            for hit in dialled
            if re.sub(r"\D", "", hit.text.folded[hit.start : hit.end]) == asked.key
        ]
        found, how = sorted_out(known, grouped, asked.key), Verdict.NORMALISED
    if not found and (spoken := _without_prefix(known, asked)):
        found, how = spoken, Verdict.NORMALISED
    if not found:
        return _unseen(known, asked, found)
    return (
        _wrong_kind(known, asked, found)
        or _unknown(known, asked, found)
        or _untrusted(known, asked, found)
        or _other_row(known, asked)
        or _not_the_named(known, asked, found)
        or _mixed(known, asked)
        or Resolved(how, where(found.facts), found.facts)
    )


def _without_prefix(known: Known, asked: Asked) -> Sources:
    """The user's own number with the letters in front that all ids of the kind have: #W9502127 for 9502127."""
    found = re.fullmatch(r"#?[a-z]{1,4}[_-]?(\d{5,})", asked.key)
    if found is None:
        return Sources()
    hits = [hit.fact for hit in known.facts.prose(found[1], asked.step) if hit.text.kind is FactKind.USER]
    return sorted_out(
        known, (fact for fact in hits if fits(asked.slot.kind or "", fact_kinds(known, fact))), asked.key
    )


# -- not seen ------------------------------------------------------------------------------------------------


def _unseen(known: Known, asked: Asked, found: Sources) -> Resolved:
    earlier = propagated(known, asked)
    if earlier is not None:
        return earlier
    if (said := schema_says(asked)) is not None or (said := schema_example(known, asked)) is not None:
        return said
    if (mailed := _of_address(known, asked)) is not None:
        return mailed
    arguments = tuple(fact for fact in found.hops if fact.kind is FactKind.ARGUMENT)
    if arguments:
        return Resolved(Verdict.EXACT, where(arguments), arguments)
    if str(asked.value) in known.bindings:
        return Resolved(Verdict.UNSEEN_REAL, "it exists, and the agent was never shown it")
    close = _corrupted(known, asked)
    if close is not None:
        return Resolved(Verdict.NEAR_MISS, f"a corrupted copy of {known.shown(close)}")
    made = f"made up: it stood nowhere before call {asked.call}"
    if found.hops:
        made = "made up: the agent itself said it first"
    elif minted := _minted_from(known, asked):
        made = f"made up: minted from {minted}"
    return Resolved(Verdict.INVENTED, made)


def _of_address(known: Known, asked: Asked) -> Resolved | None:
    """The part of an e-mail address before the @, taken for a user's name."""
    for hit in known.facts.prose(f"{asked.key}@", asked.step):
        if hit.text.kind not in HOPS:
            return Resolved(Verdict.PARTIAL, f"the part of an address before the @: {hit.fact}", (hit.fact,))
    return None


def _corrupted(known: Known, asked: Asked) -> str | None:
    """The id that this one is a corrupted copy of, as it was written."""
    own = {
        fold(raw): raw
        for raw, binding in known.bindings.items()
        if binding.kind == asked.slot.kind or not asked.slot.kind
    }
    seen = dict(ids_seen(known, asked.step))
    close = nearest(asked.key, {**seen, **own})
    return None if close is None else own.get(close) or seen[close]


def ids_seen(known: Known, step: int) -> Iterator[tuple[str, str]]:
    """Every seen value that looks like an id, folded and as written: a field of ids, or with a digit and no blanks."""
    for key, fact in known.facts.known(step):
        if fact.kind is FactKind.ARGUMENT or " " in key:
            continue
        if _DIGIT.search(key) or id_kind(fact.key) is not None:
            yield key, str(fact.value)
    spoken = frozenset({FactKind.USER, FactKind.SYSTEM})
    for text in known.facts.words(step, spoken):
        for word in re.findall(r"[#\w][\w@.-]*\w", text.folded):
            if _DIGIT.search(word) or "@" in word:
                yield word, word


def _minted_from(known: Known, asked: Asked) -> str:
    """The seen number that an id was built from: pay_6001 of order 6001."""
    for digits in re.findall(r"\d{3,}", asked.key):
        if digits != asked.key and (facts := known.facts.leaves(digits, asked.step)):
            return f"{digits} ({where(facts, 1)})"
        hit = next(known.facts.prose(digits, asked.step), None) if digits != asked.key else None
        if hit is not None:
            return f"{digits} ({hit.fact})"
    return ""


# -- seen, and wrong -----------------------------------------------------------------------------------------


def _wrong_kind(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    kind = asked.slot.kind
    if not kind or kind == "cursor":
        return None
    binding = known.bindings.get(str(asked.value))
    if binding is not None:
        if binding.kind == kind:
            return None
        return Resolved(Verdict.WRONG_KIND, f"{_a(binding.kind)} id{_right(known, asked, kind)}", found.facts)
    told = [fact_kinds(known, fact) for fact in found.facts]
    if any(not kinds or fits(kind, kinds) for kinds in told):
        return None
    other = min(kind for kinds in told for kind in kinds)
    if other not in known.kinds:
        return None
    return Resolved(Verdict.WRONG_KIND, f"{_a(other)} id{_right(known, asked, kind)}", found.facts)


def _right(known: Known, asked: Asked, kind: str) -> str:
    """The id of the right kind that had been shown last, in words."""
    candidates: list[tuple[Fact, str]] = []
    for key, fact in known.facts.known(asked.step):
        if fact.kind is not FactKind.RESULT or not isinstance(fact.value, str):
            continue
        binding = known.bindings.get(fact.value)
        if (binding.kind == kind) if binding else kind in fact_kinds(known, fact):
            candidates.append((fact, key))
    if not candidates:
        return f"; one of {_a(kind)} belongs there"
    fact = candidates[-1][0]
    if len(candidates) == 1:
        return f"; the {kind} is {known.shown(fact.value)}, returned by {fact.tool} (call {fact.call}) at {fact.pointer}"
    return f"; {kind} ids were returned by {fact.tool} (call {fact.call}), for example {known.shown(fact.value)} at {fact.pointer}"


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun.replace('_', ' ')}"


def _unknown(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """An id that the user gave and that exists nowhere: the agent may try it."""
    if not known.bindings or str(asked.value) in known.bindings:
        return None
    if all(fact.kind is FactKind.USER for fact in found.facts) and asked.slot.kind not in {None, "cursor"}:
        return Resolved(Verdict.USER_UNKNOWN, "the user gave it, and it exists nowhere", found.facts)
    return None


def _untrusted(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    """An id that only a stranger's text holds, where it can do harm."""
    if not asked.writes or asked.slot.risk is not Risk.HIGH:
        return None
    if all(fact.kind is FactKind.PLANTED for fact in found.facts):
        return Resolved(
            Verdict.UNTRUSTED_SOURCE, f"only a stranger's text holds it: {where(found.facts)}", found.facts
        )
    return None


def _other_row(known: Known, asked: Asked) -> Resolved | None:
    """Another row than the one that the user named by its number: grounded, and not the one that is meant."""
    kind = asked.slot.kind
    if not asked.writes or not kind:
        return None
    labels = {
        text
        for row in known.rows.of(asked.key, asked.step)
        for name, value in row.record.fields.items()
        if isinstance(value, str)
        and (text := fold(value)) != asked.key
        and _DIGIT.search(text)
        and _is_label(name, text)
    }
    named = set(_named(known, asked, kind))
    shapes = {_shape(label) for label in labels}
    meant = {word for word in named if _shape(word) in shapes}
    if len(meant) != 1 or meant & labels or any(_spoken(known, label, asked.step) for label in labels):
        return None
    word = meant.pop()
    label = next(label for label in sorted(labels) if _shape(label) == _shape(word))
    return Resolved(
        Verdict.WRONG_BINDING, f"the user named {kind} {word.upper()}, and this is {kind} {label.upper()}"
    )


def _not_the_named(known: Known, asked: Asked, found: Sources) -> Resolved | None:
    if not asked.writes or not asked.slot.kind:
        return None
    own = [fact for fact in found.facts if fact.record is not None and own_id(fact.record) == asked.key]
    return named_row(known, asked.step, own) if own and len(own) == len(found.facts) else None


def named_row(known: Known, step: int, facts: Sequence[Fact]) -> Resolved | None:
    """Another row of the same list is the one that the user named by its name or number, and this one nobody did."""
    pairs = {_named_beside(known, step, fact) for fact in facts}
    if len(pairs) != 1 or None in pairs:
        return None
    meant, mine = next(iter(pairs)) or ("", "")
    return Resolved(Verdict.WRONG_BINDING, f"the user named {meant}, and this is of {mine}", tuple(facts))


def _named_beside(known: Known, step: int, fact: Fact) -> tuple[str, str] | None:
    """The label of the row that the user named, and that of the row of a fact, which nobody spoke of."""
    record = fact.record
    if record is None or record.list is None:
        return None
    mine = _label_of(record)
    others = {_label_of(row) for row in known.rows.beside(record, step)} - {mine, ""}
    named = [label for label in sorted(others) if _said_whole(known, label, step)]
    if not mine or len(named) != 1 or _said_partly(known, mine, named[0], step):
        return None
    return named[0], mine


def _label_of(record: Record) -> str:
    return next(
        (
            fold(value)
            for name, value in record.fields.items()
            if isinstance(value, str) and _is_label(name, value)
        ),
        "",
    )


def _said_whole(known: Known, label: str, step: int) -> bool:
    return any(hit.text.kind is FactKind.USER for hit in known.facts.prose(label, step))


def _said_partly(known: Known, label: str, other: str, step: int) -> bool:
    """Whether somebody had said a word of this label that the other one does not share."""
    own = [word for word in re.findall(r"\w+", label) if len(word) > 2 and word not in other]
    said = {FactKind.USER, FactKind.ASSISTANT}
    return any(hit.text.kind in said for word in own for hit in known.facts.prose(word, step))


def _is_label(name: str, text: str) -> bool:
    return (
        name.lower() in {"number", "name", "code", "reference", "ref", "label", "sku"}
        and 3 <= len(text) <= 24
    )


def _shape(text: str) -> str:
    return re.sub(r"[a-z]+", "a", re.sub(r"\d", "9", text))


def _named(known: Known, asked: Asked, kind: str) -> Iterator[str]:
    """The numbers by which the user named entities of a kind: order KE-9999999."""
    word = kind.rsplit("_", maxsplit=1)[-1]
    pattern = re.compile(
        rf"\b{re.escape(word)}\s+(?:number\s+|no\.?\s+|nr\.?\s+|id\s+)?#?([a-z]*[\w-]*\d[\w-]*)"
    )
    for text in known.facts.words(asked.step, frozenset({FactKind.USER})):
        for found in pattern.finditer(text.folded):
            if len(found[1]) > 2 and not _EXCEPT.search(text.folded[: found.start()]):
                yield found[1].strip("-")


def _spoken(known: Known, label: str, step: int) -> bool:
    """Whether the user or the agent had said it."""
    said = {FactKind.USER, FactKind.ASSISTANT, FactKind.SYSTEM}
    return any(hit.text.kind in said for hit in known.facts.prose(label, step))


def _mixed(known: Known, asked: Asked) -> Resolved | None:
    """An id whose row belongs to another entity than the one beside it in the call."""
    belongs = known.rows.belongs(asked.key, asked.step)
    if not belongs:
        return None
    for pointer, other in asked.siblings.items():
        kind = sibling_kind(known, asked, pointer, other)
        if kind is None or kind == asked.slot.kind or other == asked.key:
            continue
        owners = belongs.get(kind)
        if owners and other not in owners:
            owner = known.shown(_raw(known, sorted(owners)[0]))
            beside = known.shown(_raw(known, other))
            why = f"it belongs to {owner}, and {pointer.rpartition('/')[2]} beside it is {beside}"
            return Resolved(Verdict.MIXED_ENTITY, why)
    return None


def sibling_kind(known: Known, asked: Asked, pointer: str, key: str) -> str | None:
    """The kind of the entity that another argument of the call names."""
    raw = _raw(known, key)
    if raw in known.bindings:
        return known.bindings[raw].kind
    rows = known.rows.of(key, asked.step)
    return rows[0].kind if rows else id_kind(pointer.rpartition("/")[2])


def _raw(known: Known, key: str) -> str:
    facts = known.facts.leaves(key, known.facts.steps)
    return str(facts[0].value) if facts else key
