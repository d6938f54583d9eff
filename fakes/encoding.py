"""How values cross the edge, compiled once per type.

Inward: id slots become symbols, mentions of raw ids in free text become `{$kind.name}`.
Outward: id slots become raw ids, instants become text, and a bare symbol in an untyped field is an error.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sandtrail.fakes.clock import instant_text
from sandtrail.fakes.edge import Edge
from sandtrail.fakes.entities import BadEntity, Id, Ref

Encode: TypeAlias = Callable[[Any, Edge], Any]
Translate: TypeAlias = Callable[[Any, Edge, "Arrivals"], Any]


@dataclass(slots=True)
class Arrivals:
    """What came in with a call's arguments: each id as (kind, raw, symbol or None), in order, nested ones included.

    `sees` says whether the caller may see an entity; only then does free text come to name it.
    """

    sees: Callable[[str], bool]
    ids: list[tuple[str, str, str | None]] = field(default_factory=list[tuple[str, str, str | None]])


def kinds_in(annotation: Any) -> tuple[str, ...]:
    """The entity kinds of the id slots in an annotation, nested ones included."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return (*kinds_in(inner), *(mark.kind for mark in marks if isinstance(mark, Id | Ref)))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return tuple(kind for info in annotation.model_fields.values() for kind in kinds_in(whole(info)))
    return tuple(kind for member in get_args(annotation) for kind in kinds_in(member))


def translator(annotation: Any) -> Translate | None:
    """The inward translation of a validated argument of this type, or None where there is nothing to translate.

    It comes after validation: a text that mentions an id is longer inside than what its limits speak of.
    """
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        mark = next((mark for mark in marks if isinstance(mark, Id | Ref)), None)
        return _id_inward(mark.kind) if mark else translator(inner)
    if annotation is str:
        return _text_inward
    if get_origin(annotation) is list:
        item = translator(get_args(annotation)[0])
        return None if item is None else _list_inward(item)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = {
            name: made for name, info in annotation.model_fields.items() if (made := translator(whole(info)))
        }
        return _object_inward(fields)
    members = [member for member in get_args(annotation) if member is not type(None)]
    is_choice = get_origin(annotation) in {Union, types.UnionType}
    return translator(members[0]) if is_choice and len(members) == 1 else None


def whole(info: FieldInfo) -> Any:
    """A field's annotation with its metadata."""
    return Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation


def _id_inward(kind: str) -> Translate:
    def translate(value: Any, edge: Edge, arrivals: Arrivals) -> Any:
        if value is None:
            return None
        symbol = edge.symbol(value, kind)
        arrivals.ids.append((kind, value, symbol))
        return value if symbol is None else symbol

    return translate


def _text_inward(value: Any, edge: Edge, arrivals: Arrivals) -> Any:
    return None if value is None else edge.inward(value, arrivals.sees)


def _list_inward(item: Translate) -> Translate:
    def translate(value: Any, edge: Edge, arrivals: Arrivals) -> Any:
        return None if value is None else [item(entry, edge, arrivals) for entry in value]

    return translate


def _object_inward(fields: Mapping[str, Translate]) -> Translate:
    def translate(value: Any, edge: Edge, arrivals: Arrivals) -> Any:
        if value is None:
            return None
        moved = {name: inner(getattr(value, name), edge, arrivals) for name, inner in fields.items()}
        return value.model_copy(update=moved)

    return translate


def encoder(annotation: Any, where: str) -> Encode:  # noqa: C901  one case per kind of type
    """The outward encoding of a value of this type. Raises BadEntity for a type that has none."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        if any(isinstance(mark, Id | Ref) for mark in marks):
            return _or_none(_id_outward) if inner != str else _id_outward  # noqa: E721  an annotation, not a value
        return encoder(inner, where)
    members = get_args(annotation)
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType}:
        real = [member for member in members if member is not type(None)]
        if len(real) == 1:
            return _or_none(encoder(real[0], where))
    elif origin is list:
        return _list_outward(encoder(members[0], where))
    elif origin is Literal or annotation in {int, bool, type(None)}:
        return _as_it_is
    elif annotation is str:
        return _text_outward
    elif isinstance(annotation, type):
        if issubclass(annotation, datetime):
            return _instant_outward
        if issubclass(annotation, date):
            return _day_outward
        if issubclass(annotation, BaseModel):
            shown = {name: info for name, info in annotation.model_fields.items() if not info.exclude}
            return _object_outward(
                {name: encoder(whole(info), f"{where}.{name}") for name, info in shown.items()}
            )
    raise BadEntity(
        f"{where}: {annotation} cannot leave a service; use str, int, bool, an aware datetime, an entity, a model, or lists of these"
    )


def _as_it_is(value: Any, edge: Edge) -> Any:
    return value


def _id_outward(value: Any, edge: Edge) -> Any:
    return edge.raw(value)


def _text_outward(value: Any, edge: Edge) -> Any:
    return edge.outward(value)


def _instant_outward(value: Any, edge: Edge) -> Any:
    return instant_text(value)


def _day_outward(value: Any, edge: Edge) -> Any:
    return value.isoformat()


def _or_none(inner: Encode) -> Encode:
    def encode(value: Any, edge: Edge) -> Any:
        return None if value is None else inner(value, edge)

    return encode


def _list_outward(item: Encode) -> Encode:
    def encode(value: Any, edge: Edge) -> Any:
        return [item(entry, edge) for entry in value]

    return encode


def _object_outward(fields: Mapping[str, Encode]) -> Encode:
    pairs = tuple(fields.items())

    def encode(value: Any, edge: Edge) -> Any:
        return {name: inner(getattr(value, name), edge) for name, inner in pairs}

    return encode
