"""Entities: one SQLModel class per table, written once, read four ways.

From a class come its STRICT table (TEXT and INTEGER only), the triggers that capture every change of it,
the fast conversion between rows and records, and the facts the books judge it by.

    class Ticket(Entity, table=True):
        id: Id["ticket"]                       the symbol, and the primary key
        customer_id: Ref["customer"]           a foreign key, where that service is in the world
        status: str = "open"

`tenant` and `customer_id` are read as whose row it is. Under a type checker write
`Annotated[str, Id("ticket")]`: the short form cannot be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args, get_origin

from pydantic import BeforeValidator
from sqlalchemy import BigInteger, Boolean, Column, DateTime, Enum, Integer, Interval, String, Text
from sqlalchemy import Table as SQLTable
from sqlalchemy.orm import class_mapper, registry
from sqlalchemy.types import TypeDecorator
from sqlmodel import SQLModel
from sqlmodel.main import SQLModelMetaclass

from sandtrail.fakes.clock import instant_text
from sandtrail.ledgers.entries import Scalar
from sandtrail.ledgers.specs import MoneyFact, TableFact

INT64 = 2**63 - 1

WHOLE = "_row"
"""A column that SQLite derives from all others when a trigger asks for it (never stored, never written): the triggers
name one column instead of all, since parsing their text is most of what opening a world costs."""


class BadEntity(TypeError):
    """An entity class that cannot be kept as evidence. The message says which column, why, and what to use."""


class _Slotted:
    """`Id["ticket"]` and `Id("ticket")` in one: the first is `Annotated[str, Id("ticket")]`."""

    def __init__(self, kind: str) -> None:
        if not re.fullmatch(r"[a-z][a-z_]*", kind):
            raise BadEntity(f"kind={kind!r} must be lower-case letters and underscores")
        self.kind = kind

    def __class_getitem__(cls, kind: str) -> Any:
        return Annotated[str, cls(kind)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kind!r})"


class Id(_Slotted):
    """The entity's own id: the primary key of its table."""


class Ref(_Slotted):
    """The id of another entity. With `cascade` the row goes when the other one is deleted; `index` makes lists by it fast."""

    def __init__(self, kind: str, *, cascade: bool = False, index: bool = False) -> None:
        super().__init__(kind)
        self.cascade, self.index = cascade, index


@dataclass(frozen=True, slots=True)
class Money:
    """Marks an integer column or parameter as minor units of the currency in `currency`.

    `account` names the posting account that must move with it (rule R7); None on a posting's own amount.
    """

    currency: str = "currency"
    account: str | None = ""


class Unit:
    """Marks a parameter with what its number counts, for its slot."""

    def __init__(self, name: str) -> None:
        self.name = name


def _aware(value: Any) -> Any:
    """Text to an instant, for arguments; a naive one is refused, since its zone could only be guessed."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("an instant such as 2026-03-02T09:00:00Z is wanted") from None
    if moment.tzinfo is None:
        raise ValueError("this time has no zone; end it with Z or an offset such as +01:00")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("this instant is beyond the calendar") from None


def _day(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("a day such as 2026-03-02 is wanted") from None


Instant: TypeAlias = Annotated[datetime, BeforeValidator(_aware)]
"""An aware datetime, in columns and arguments; text on the wire."""

Day: TypeAlias = Annotated[date, BeforeValidator(_day)]
"""A calendar day as an argument."""


class InstantText(TypeDecorator[datetime]):
    """An aware datetime kept as sortable text in UTC."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> str | None:
        return None if value is None else instant_text(value)

    def process_result_value(self, value: str | None, dialect: Any) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


class _Flag(TypeDecorator[bool]):
    """A truth value kept as 0 or 1."""

    impl = Integer
    cache_ok = True

    def process_result_value(self, value: int | None, dialect: Any) -> bool | None:
        return None if value is None else bool(value)


class _EntityMeta(SQLModelMetaclass):
    """Gives each table class a registry of its own, and columns that triggers can capture exactly."""

    def __new__(
        cls, name: str, bases: tuple[type[Any], ...], namespace: dict[str, Any], **keywords: Any
    ) -> Any:
        try:
            made = super().__new__(cls, name, bases, namespace, **keywords)
        except (TypeError, ValueError) as error:
            remedy = "use str, int, bool or Instant; with postponed annotations define the class at the top of a module"
            raise BadEntity(f"{name} has a column whose type makes no table: {error}; {remedy}") from error
        if keywords.get("table"):
            own = registry()
            made._sa_registry, made.metadata = own, own.metadata
            made.__tablename__ = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            for field, info in made.model_fields.items():
                _fit(name, field, made.__dict__[field], info.metadata)
        return made


def _fit(entity: str, field: str, column: Column[Any], metadata: list[Any]) -> None:
    """Give a column a type that STRICT tables and triggers keep exactly."""
    kind: Any = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    by_name = isinstance(kind, Enum) or isinstance(
        column.type, Interval
    )  # kept by name, or as a distance in a date
    if not by_name and isinstance(kind, DateTime):
        column.type = InstantText()
    elif isinstance(kind, Boolean):
        column.type = _Flag()
    elif isinstance(kind, Integer | BigInteger):
        column.type = Integer()
    elif not by_name and isinstance(kind, String):
        column.type = Text()
    else:
        raise BadEntity(
            f"{entity}.{field} is a {kind!r}: triggers cannot capture that exactly; "
            "use str, int (money in minor units), bool or an aware datetime"
        )
    if any(isinstance(mark, Id) for mark in metadata):
        column.primary_key, column.nullable = True, False


class Entity(SQLModel, metaclass=_EntityMeta):
    """A row of a service's table. What the gateway hands out is frozen: `tx.update(row, ...)` makes the next one."""

    business: ClassVar[bool] = True
    """False marks bookkeeping: its changes are captured, but they are no mutation of the business."""

    def __setattr__(self, name: str, value: Any) -> None:
        # what a SQLModel session has made may be changed: it is its own copy
        mapped = "_sa_instance_state" in self.__dict__ or name == "_sa_instance_state"
        if "__table__" in vars(type(self)) and not mapped:
            raise AttributeError(f"{self!r} is frozen; write tx.update(row, {name}=...) instead")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        cells = ", ".join(
            f"{name}={value!r}" for name, value in self.__dict__.items() if not name.startswith("_")
        )
        return f"{type(self).__name__}({cells})"


@dataclass(frozen=True, slots=True)
class Field:
    """One column: its name, the entity kind it refers to, and how its values cross into the store and back."""

    name: str
    kind: str | None
    is_key: bool
    cascade: bool
    nullable: bool
    index: bool
    unique: bool
    money: Money | None
    sql_type: str
    type: type[Any]
    default: Callable[[], Any] | None
    is_instant: bool  # asked here once: a frozen clock replaces `datetime` by a subclass of its own

    def store(self, value: Any) -> Scalar:
        """The value as the store keeps it. Raises TypeError or ValueError where it does not fit."""
        if value is None:
            if not self.nullable:
                raise TypeError(f"{self.name} must not be None")
            return None
        if self.type is bool and isinstance(value, bool):
            return int(value)
        if self.is_instant and isinstance(value, datetime):  # a frozen clock gives out a subclass
            return instant_text(value)
        if type(value) is not self.type:
            raise TypeError(f"{self.name}={value!r} is a {type(value).__name__}; wanted {self.type.__name__}")
        if isinstance(value, int) and not -INT64 <= value <= INT64:
            raise ValueError(f"{self.name}={value} does not fit 64 bits")
        scalar: Scalar = value
        return scalar


class Table:
    """A table as the store, the gateway and the books see it."""

    def __init__(self, entity: type[Entity], service: str) -> None:
        class_mapper(entity)  # else the attributes of records that no session has made cannot be read
        self.entity = entity
        self.name = _table_of(entity).name
        self.fields = tuple(_field(entity, name) for name in entity.model_fields)
        keys = [field for field in self.fields if field.is_key]
        if len(keys) != 1 or keys[0].name != "id":
            raise BadEntity(f"{entity.__name__} needs exactly one key, id: Id[{self.name!r}]")
        self.kind = keys[0].kind
        self.by_name = {field.name: field for field in self.fields}
        self.columns = tuple(field.name for field in self.fields)
        self.owner = (
            "id" if self.kind == "customer" else "customer_id" if "customer_id" in self.by_name else None
        )
        self.has_tenant = "tenant" in self.by_name
        self.has_version = "version" in self.by_name
        money = tuple(
            MoneyFact(field.name, field.money.currency, field.money.account)
            for field in self.fields
            if field.money and field.money.account != ""
        )
        self.fact = TableFact(self.name, service, self.columns, "id", entity.business, money)
        columns = ", ".join(f'"{name}"' for name in self.columns)
        places = ", ".join("?" for _ in self.columns)
        self.select_sql = f'SELECT {columns} FROM "{self.name}"'
        self.get_sql = f'{self.select_sql} WHERE "id" = ?'
        self.insert_sql = f'INSERT INTO "{self.name}" ({columns}) VALUES ({places})'
        self._names = set(self.columns)
        self._times = tuple((n, field.name) for n, field in enumerate(self.fields) if field.is_instant)
        self._flags = tuple((n, field.name) for n, field in enumerate(self.fields) if field.type is bool)

    def cells(self, values: Mapping[str, Any]) -> dict[str, Scalar]:
        """These values as the store keeps them. Raises TypeError or ValueError where one does not fit."""
        by_name = self.by_name
        return {
            name: value if type(value) is str and by_name[name].type is str else by_name[name].store(value)
            for name, value in values.items()
        }

    def changed(self, record: Any, values: Mapping[str, Any]) -> Any:
        """A frozen record like this one with other values, which the store has taken."""
        given = {
            name: value.astimezone(UTC) if isinstance(value, datetime) else value
            for name, value in values.items()
        }
        return self._frozen({**record.__dict__, **given})

    def record(self, row: tuple[Any, ...]) -> Any:
        """A frozen record of a row of the store."""
        values = dict(zip(self.columns, row, strict=True))
        for _, name in self._times:
            text = values[name]
            if text is not None:
                values[name] = datetime.fromisoformat(text)
        for _, name in self._flags:
            if values[name] is not None:
                values[name] = bool(values[name])
        return self._frozen(values)

    def _frozen(self, values: dict[str, Any]) -> Any:
        record: Any = object.__new__(self.entity)
        object.__setattr__(record, "__dict__", values)
        object.__setattr__(record, "__pydantic_fields_set__", self._names)
        object.__setattr__(record, "__pydantic_extra__", None)
        object.__setattr__(record, "__pydantic_private__", None)
        return record

    def ddl(self, present: Mapping[str, str]) -> list[str]:
        """The statements that make the table and its indexes; `present` maps entity kinds to tables of this world."""
        lines = [self._column(field, present) for field in self.fields]
        cells = ", ".join(f'"{name}"' for name in self.columns)
        lines.append(f"{WHOLE} TEXT AS (json_array({cells}))")
        made = [f'CREATE TABLE "{self.name}" ({", ".join(lines)}) STRICT']
        made += [
            f'CREATE INDEX "{self.name}_{field.name}" ON "{self.name}" ("{field.name}")'
            for field in sorted(self.fields, key=lambda field: field.name)
            if field.index
        ]
        return made

    def _column(self, field: Field, present: Mapping[str, str]) -> str:
        words = [f'"{field.name}"', field.sql_type]
        if field.is_key:
            words.append("PRIMARY KEY")
        if not field.nullable:
            words.append("NOT NULL")
        if field.unique:
            words.append("UNIQUE")
        if field.kind is not None and field.kind in present and not field.is_key:
            words.append(
                f'REFERENCES "{present[field.kind]}" ("id"){" ON DELETE CASCADE" if field.cascade else ""}'
            )
        return " ".join(words)

    def triggers(self, number: int) -> list[str]:
        """The statements that capture every insert, update and delete as rows of the change table."""
        sides = {
            "INSERT": ("NULL", f"new.{WHOLE}"),
            "UPDATE": (f"old.{WHOLE}", f"new.{WHOLE}"),
            "DELETE": (f"old.{WHOLE}", "NULL"),
        }
        return [
            f'CREATE TRIGGER "{self.name}_{verb.lower()}" AFTER {verb} ON "{self.name}" BEGIN '
            f"INSERT INTO _change VALUES (NULL, {number}, {before}, {after}); END"
            for verb, (before, after) in sides.items()
        ]


def _table_of(entity: type[Entity]) -> SQLTable:
    """The SQLAlchemy table behind an entity class, which SQLModel does not declare."""
    table: SQLTable = vars(entity)["__table__"]
    return table


def _field(entity: type[Entity], name: str) -> Field:
    info = entity.model_fields[name]
    column = _table_of(entity).columns[name]
    mark = next((m for m in info.metadata if isinstance(m, _Slotted)), None)
    money = next((m for m in info.metadata if isinstance(m, Money)), None)
    return Field(
        name=name,
        kind=mark.kind if mark else None,
        is_key=isinstance(mark, Id),
        cascade=isinstance(mark, Ref) and mark.cascade,
        nullable=bool(column.nullable),
        index=bool(column.index) or (isinstance(mark, Ref) and mark.index),
        unique=bool(column.unique),
        money=money,
        sql_type="INTEGER" if isinstance(column.type, Integer | _Flag) else "TEXT",
        type=_plain(info.annotation),
        default=None
        if info.is_required()
        else partial(info.get_default, call_default_factory=True, validated_data={}),
        is_instant=issubclass(_plain(info.annotation), datetime),
    )


def _plain(annotation: Any) -> type[Any]:
    """The one non-None type of an annotation."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return str if all(isinstance(value, str) for value in get_args(annotation)) else int
    members = [member for member in get_args(annotation) if member is not type(None)]
    if members:
        return _plain(members[0])
    found: type[Any] = annotation
    return found
