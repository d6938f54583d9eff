"""Declare once: an operation is a method of a service, and everything else follows from it.

    class Tickets(Service):
        name = "tickets"

        @operation("POST /v1/tickets/{ticket_id}/close", access="write", undone_by="reopen_ticket")
        def close_ticket(self, tx: Tx, ticket_id: Ref["ticket"]) -> Ticket:
            \"""Close a ticket. Not for merging tickets (use merge_tickets). Returns the ticket.\"""

From the declaration come the route, the validation of arguments (strict, nothing unknown), the permission,
the tool (name, description, JSON schema) and the slots. The docstring is what the model reads.
A write says what undoes it, `undone_by="reopen_ticket"`, or that nothing does, `undone_by=None`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Optional, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.fields import FieldInfo

from sandtrail.fakes.edge import Edge
from sandtrail.fakes.encoding import Arrivals, Encode, Translate, encoder, kinds_in, translator
from sandtrail.fakes.entities import INT64, BadEntity, Entity, Id, Ref, Table
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.problems import Flaw, Invalid
from sandtrail.fakes.slots import bare, slot_of
from sandtrail.ledgers.specs import OperationFact, Slot, ToolSpec
from sandtrail.ledgers.spelling import near
from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.ledgers.words import Access

F = TypeVar("F", bound=Callable[..., Any])


class BadOperation(TypeError):
    """A declaration that cannot be served. The message says which operation, what, and the remedy."""


class _Unsaid:
    """The absence of a word about what undoes a write."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What `@operation` was given."""

    route: str
    access: Access
    scope: str | None
    undone_by: str | None
    external: tuple[str, ...]
    idempotent: bool
    versioned: str | None
    deprecated: str | None


def operation(
    route: str,
    *,
    access: Literal["read", "write"],
    scope: str | None = None,
    undone_by: str | type[_Unsaid] | None = _Unsaid,
    external: tuple[str, ...] = (),
    idempotent: bool = False,
    versioned: str | None = None,
    deprecated: str | None = None,
) -> Callable[[F], F]:
    """Make a method of a Service an operation.

    `scope` is what the principal needs ("billing:refund"). `external` names the effects that leave the world.
    `idempotent` accepts an Idempotency-Key. `versioned` names the id argument whose row If-Match is held against.
    `deprecated` says what to use instead; it stays callable.
    Raises BadOperation where a write does not say what undoes it, or a read claims to need undoing.
    """
    if access == "write" and undone_by is _Unsaid:
        raise BadOperation(
            f"{route}: a write says what undoes it: undone_by='...' or, where nothing does, undone_by=None"
        )
    if access == "read" and (undone_by is not _Unsaid or external or idempotent or versioned):
        raise BadOperation(f"{route}: a read has nothing to undo, to key or to send; make it access='write'")
    if not re.fullmatch(r"(GET|POST|PUT|PATCH|DELETE) (/[a-z0-9_{}./-]*)", route):
        raise BadOperation(f"{route!r} is no route; write 'METHOD /v1/things/{{thing_id}}'")
    undone = undone_by if isinstance(undone_by, str) else None
    declared = Declaration(route, Access(access), scope, undone, external, idempotent, versioned, deprecated)

    def mark(method: F) -> F:
        method.__operation__ = declared  # type: ignore[attr-defined]
        return method

    return mark


class Service:
    """A family of operations and the tables they work on.

    `name` is its name in URLs and reports. `entities` are its tables; where it is not given, the table classes
    of the module that defines the service. The hooks may be left out.
    """

    name: ClassVar[str] = ""
    entities: ClassVar[tuple[type[Entity], ...] | None] = None

    def on_seed(self, tx: Tx) -> None:
        """Complete what a specification left out (postings, replicas); runs once per template image."""

    def on_clock(self, tx: Tx, before: Any, after: Any) -> None:
        """What time does by itself: `before` and `after` are instants in UTC."""

    def populate(self, tx: Tx, count: int) -> None:
        """Add unnamed rows for a world with a population of `count` customers."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument: where it travels (path, query or body), and its hidden type."""

    name: str
    place: Literal["path", "query", "body"]
    slot: Slot
    required: bool


class Operation:
    """An operation as the world runs it."""

    def __init__(self, service: Service, method: Callable[..., Any], declared: Declaration) -> None:
        self.service, self.declared = service.name, declared
        self.name = method.__name__
        self.access, self.scope = declared.access, declared.scope
        self.verb, self.path = declared.route.split(" ", 1)
        self.handler = method
        self.description = _described(method, declared)
        hints = _hints(method)
        signature = list(inspect.signature(method).parameters.values())[1:]
        in_path = set(re.findall(r"\{(\w+)\}", self.path))
        absent = in_path - {parameter.name for parameter in signature}
        if absent:
            raise BadOperation(
                f"{self.name}: the path names {', '.join(sorted(absent))}, the method has no such parameter"
            )
        untyped = [parameter.name for parameter in signature if parameter.name not in hints]
        if untyped:
            raise BadOperation(f"{self.name}: {', '.join(untyped)} has no type; annotate every parameter")
        if "return" not in hints:
            raise BadOperation(f"{self.name}: say what it returns; the edge translates ids by that type")
        place: Literal["query", "body"] = "query" if self.verb in {"GET", "DELETE"} else "body"
        self.parameters = tuple(
            Parameter(
                p.name, "path" if p.name in in_path else place, slot_of(hints[p.name]), p.default is p.empty
            )
            for p in signature
        )
        self.model = _request_model(self.name, signature, hints)
        self._inward: dict[str, Translate] = {
            p.name: t for p in signature if (t := translator(hints[p.name])) is not None
        }
        self.encode: Encode = encoder(hints["return"], f"{self.name} returns")
        self.id_kinds = {p.name: kinds for p in signature if (kinds := kinds_in(hints[p.name]))}
        if declared.versioned is not None and declared.versioned not in self.id_kinds:
            raise BadOperation(f"{self.name}: versioned={declared.versioned!r} is no id parameter of it")
        if self.access is Access.WRITE:
            unslotted = [said for p in signature for said in bare(p.name, hints[p.name])]
            if unslotted:
                raise BadOperation(
                    f"{self.name} writes, and judges must know what it writes to: {'; '.join(unslotted)}"
                )

    @cached_property
    def fact(self) -> OperationFact:
        """What judges must know of it."""
        return OperationFact(
            self.name, self.service, self.access, self.declared.undone_by, self.declared.external
        )

    @cached_property
    def tool(self) -> ToolSpec:
        """What a model sees of it. `idempotency_key` and `if_version` stand for the HTTP headers."""
        schema = plain_schema(self.model.model_json_schema())
        extra: dict[str, Any] = {}
        if self.declared.idempotent:
            text = (
                "A key of your own choice. Send the same key when you repeat this very call after a failure."
            )
            extra["idempotency_key"] = {
                "type": "string",
                "minLength": 1,
                "maxLength": 128,
                "description": text,
            }
        if self.declared.versioned:
            text = "The version you have read; the call is refused if the row has moved on since."
            extra["if_version"] = {"type": "integer", "description": text}
        schema["properties"] = {**schema.get("properties", {}), **extra}
        return ToolSpec(self.name, self.description, schema)

    def decode(self, arguments: Mapping[str, Any], edge: Edge, arrivals: Arrivals) -> dict[str, Any]:
        """The handler's arguments with symbols for ids; what came in is noted in `arrivals`.

        Raises Invalid with a JSON pointer for each flaw.
        """
        try:
            model = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise _invalid(error, self) from None
        values = dict(model.__dict__)
        for name, translate in self._inward.items():
            values[name] = translate(values[name], edge, arrivals)
        return values

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A sibling's arguments (symbols already), defaults filled in. Raises BadOperation where they do not fit."""
        try:
            model = self.model.model_validate(dict(arguments))
        except ValidationError as error:
            raise BadOperation(
                f"{self.name} was called by a sibling with arguments that do not fit: {error}"
            ) from None
        return {name: getattr(model, name) for name in type(model).model_fields}


def operations_of(service: Service) -> tuple[Operation, ...]:
    """The operations a service declares, in the order in which it does (a base class's first)."""
    if not service.name:
        raise BadOperation(f"{type(service).__name__} has no name; set name = '...'")
    names = dict.fromkeys(name for base in reversed(type(service).__mro__) for name in vars(base))
    methods = [
        getattr(service, name)
        for name in names
        if hasattr(getattr(type(service), name, None), "__operation__")
    ]
    return tuple(Operation(service, method, method.__operation__) for method in methods)


def effects_named(service: Service) -> frozenset[str]:
    """The effects that a service's module speaks of: `tx.effect("refund.created", ...)`, `effect="ticket.closed"`.

    Read from its source, for spell-checking only: what happened is what the books say. Empty where there is no source.
    """
    try:
        source = inspect.getsource(inspect.getmodule(type(service)) or type(service))
    except (OSError, TypeError):
        return frozenset()
    return frozenset(re.findall(r'\beffect(?:\(|=)\s*"([a-z][a-z0-9_]*\.[a-z0-9_.]+)"', source))


def tables_of(service: Service) -> tuple[Table, ...]:
    """The tables of a service, in the order of their definition."""
    entities = service.entities
    if entities is None:
        module = type(service).__module__
        found = [
            entity
            for entity in _subclasses(Entity)
            if entity.__module__ == module and "__table__" in vars(entity)
        ]
        entities = tuple({entity.__name__: entity for entity in found}.values())
    for entity in entities:
        if "__table__" not in vars(entity):
            raise BadEntity(
                f"{entity.__name__} is no table; write class {entity.__name__}(Entity, table=True)"
            )
    return tuple(Table(entity, service.name) for entity in entities)


def _subclasses(base: type[Entity]) -> list[type[Entity]]:
    return [found for direct in base.__subclasses__() for found in (direct, *_subclasses(direct))]


def _described(method: Callable[..., Any], declared: Declaration) -> str:
    text = inspect.getdoc(method)
    if not text:
        raise BadOperation(f"{method.__name__} has no docstring; it is the description that the model reads")
    said = re.sub(r"\s+", " ", text).strip()
    return f"Deprecated: {declared.deprecated} {said}" if declared.deprecated else said


def _hints(method: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a handler, also where its module postpones them or the service stands in a function."""
    function = inspect.unwrap(getattr(method, "__func__", method))
    scope = {**{table.__name__: table for table in _subclasses(Entity)}, **function.__globals__}
    try:
        return get_type_hints(function, scope, {"Tx": Tx, "Id": Id, "Ref": Ref}, include_extras=True)
    except NameError as error:
        raise BadOperation(f"{method.__name__}: {error}; define it at the top level of the module") from error


_Int64 = Annotated[int, FieldInfo(ge=-INT64, le=INT64)]


def _request_model(
    name: str, signature: list[inspect.Parameter], hints: Mapping[str, Any]
) -> type[BaseModel]:
    fields: dict[str, Any] = {
        p.name: (_bounded(hints[p.name]), ... if p.default is p.empty else p.default) for p in signature
    }
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)
    return made


def _bounded(annotation: Any) -> Any:
    """The annotation with 64-bit bounds on a plain integer, so that no number is too large for the store."""
    if annotation is int:
        return _Int64
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return Annotated[(_bounded(inner), *marks)]
    if annotation == int | None:
        return Optional[_Int64]  # noqa: UP045  an Annotated alias has no `|` for the checkers
    return annotation


def plain_schema(schema: Any) -> dict[str, Any]:
    """A JSON schema as models read it best: no titles, no "or null" on what may be left out, references resolved."""
    definitions: dict[str, Any] = schema.get("$defs", {})

    def simplify(node: Any) -> Any:
        if (items := as_list(node)) is not None:
            return [simplify(item) for item in items]
        fields = as_object(node)
        if fields is None:
            return node
        target = fields.get("$ref")
        return simplify(definitions[target.rsplit("/", 1)[1]]) if target else _simple_object(fields, simplify)

    try:
        plain: dict[str, Any] = simplify(schema)
    except RecursionError:
        raise BadOperation(
            f"{schema.get('title')}: an argument model refers to itself; models cannot read that"
        ) from None
    return plain


def _simple_object(node: dict[str, Any], simplify: Callable[[Any], Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in node.items():
        noise = key in {"title", "$defs"} or (key == "default" and value is None)
        if noise or (key == "maximum" and value == INT64) or (key == "minimum" and value == -INT64):
            continue
        properties = as_object(value) if key == "properties" else None
        kept[key] = (
            simplify(value) if properties is None else {n: simplify(item) for n, item in properties.items()}
        )
    choices = [choice for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **kept}
    return {**kept, "anyOf": choices} if choices else kept


def _invalid(error: ValidationError, operation: Operation) -> Invalid:
    """The problem document for arguments that do not fit, a flaw for each place."""
    flaws = tuple(_flaw(dict(one), operation) for one in error.errors(include_input=False, include_url=False))
    known = (
        ", ".join(f"{p.name}{'' if p.required else ' (optional)'}" for p in operation.parameters)
        or "no arguments"
    )
    return Invalid(
        "schema", "; ".join(f"{flaw.pointer}: {flaw.detail}" for flaw in flaws), allowed=known, flaws=flaws
    )


def _flaw(error: Mapping[str, Any], operation: Operation) -> Flaw:
    place: tuple[str | int, ...] = error["loc"]
    pointer = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in place)
    slot = next((p.slot for p in operation.parameters if place and p.name == place[0]), Slot())
    said = {
        "missing": "required, but absent",
        "extra_forbidden": "unknown argument",
        "string_type": "text is wanted",
        "int_type": "a whole number is wanted",
        "int_from_float": "a whole number is wanted",
        "bool_type": "true or false is wanted",
        "list_type": "a list is wanted",
        "model_type": "an object is wanted",
        "date_type": "a day such as 2026-03-02 is wanted",
        "datetime_type": "an instant such as 2026-03-02T09:00:00Z is wanted",
    }.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
    if error["type"] == "extra_forbidden":
        said += near(str(place[-1]), [p.name for p in operation.parameters])
    if slot.unit == "minor" and error["type"] != "missing":
        said += " of minor units (4250 is 42.50 USD)"
    return Flaw(pointer, said)
