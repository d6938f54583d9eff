"""Slots: the hidden types of parameters, and writes that leave one without.

slot_of(annotation)          kind of an id, unit of a number, risk
bare(name, annotation)       ids and amounts, by their names, that have no slot
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from sandtrail.fakes.encoding import kinds_in, whole
from sandtrail.fakes.entities import Id, Money, Ref, Unit
from sandtrail.ledgers.specs import Risk, Slot

_ID = re.compile(r"(?:.+_)?ids?")
_AMOUNT = re.compile(r"(?:.+_)?(?:amount|price|fee)(?:_(?:minor|cents))?|.+_(?:minor|cents)")


def slot_of(annotation: Any) -> Slot:
    """The slot that an annotation tells of."""
    marks = marks_of(annotation)
    kinds = kinds_in(annotation)
    unit = next((mark.name for mark in marks if isinstance(mark, Unit)), None)
    if any(isinstance(mark, Money) for mark in marks):
        unit = "minor"
    kind = kinds[0] if len(kinds) == 1 else None
    return Slot(kind=kind, unit=unit, risk=Risk.HIGH if kind or unit == "minor" else Risk.LOW)


def marks_of(annotation: Any) -> tuple[Any, ...]:
    """The marks of an annotation, those of its members included."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return (*marks_of(inner), *marks)
    return tuple(
        mark for member in get_args(annotation) if member is not type(None) for mark in marks_of(member)
    )


def bare(name: str, annotation: Any) -> Iterator[str]:
    """The ids and amounts in a parameter that have no slot, each with the words that say what to write.

    A judge can tell neither where such a value came from nor whether it is of the right row.

    >>> list(bare("ticket_id", str))
    ['ticket_id is an id by its name: write Annotated[str, Ref("ticket")], or call it something else']
    >>> list(bare("ticket_id", Ref["ticket"])), list(bare("note", str)), list(bare("amount_minor", Ref["x"]))
    ([], [], [])
    """
    plain, marked = _types(annotation), marks_of(annotation)
    last = name.rpartition(".")[2]
    if plain & {str, int} and _ID.fullmatch(last) and not any(isinstance(mark, Id | Ref) for mark in marked):
        kind = re.sub(r"_?ids?$", "", last) or "kind"
        yield f'{name} is an id by its name: write Annotated[str, Ref("{kind}")], or call it something else'
    if (
        int in plain
        and _AMOUNT.fullmatch(last)
        and not any(isinstance(mark, Money | Unit) for mark in marked)
    ):
        yield (
            f'{name} is an amount by its name: write Annotated[int, Money("currency")], or Unit("...") for what '
            "else it counts"
        )
    for model in plain:
        if issubclass(model, BaseModel):
            for field, info in model.model_fields.items():
                yield from bare(f"{name}.{field}", whole(info))


def _types(annotation: Any) -> set[type]:
    """The plain types in an annotation, however wrapped."""
    if isinstance(annotation, type) and not get_args(annotation):
        return {annotation}
    members = get_args(annotation)
    inner = members[:1] if get_origin(annotation) is Annotated else members
    return {found for member in inner for found in _types(member)}
