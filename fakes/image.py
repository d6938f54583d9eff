"""The services of a world, compiled once, and the seeded template image its stores are cloned from."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

from sandtrail.fakes.bookkeeping import Idempotency
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.entities import Table
from sandtrail.fakes.gateway import Tx
from sandtrail.fakes.operations import (
    BadOperation,
    Operation,
    Service,
    effects_named,
    operations_of,
    tables_of,
)
from sandtrail.fakes.seeding import BadSeed, Seeder
from sandtrail.fakes.store import Guards, Image, Schema, Store
from sandtrail.ledgers.specs import Principal, WorldSpec

ServiceClasses: TypeAlias = tuple[type[Service], ...]

SYSTEM = Principal("world", role="system", tenants=("*",))
"""Who seeds, and who acts when time passes: sees every tenant."""


class Services:
    """A set of services as worlds run them: operations by name, tables in order."""

    def __init__(self, classes: ServiceClasses) -> None:
        self.instances = tuple(made() for made in classes)
        self.operations: dict[str, Operation] = {}
        tables: list[Table] = [Table(Idempotency, "world")]
        for service in self.instances:
            for operation in operations_of(service):
                if operation.name in self.operations:
                    other = self.operations[operation.name].service
                    raise BadOperation(
                        f"{operation.name} is declared by {other} and by {service.name}; names are unique in a world"
                    )
                self.operations[operation.name] = operation
            tables.extend(tables_of(service))
        names = [table.name for table in tables]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BadOperation(
                f"table {twice[0]} belongs to two services; set `entities` on each service to share a module"
            )
        for operation in self.operations.values():
            named = operation.declared.versioned
            kinds = operation.id_kinds.get(named, ()) if named else ()
            if any(not table.has_version for table in tables if table.kind in kinds):
                raise BadOperation(
                    f"{operation.name}: versioned={named!r}, but its table has no column `version`"
                )
            undo = operation.declared.undone_by
            if undo is not None and undo not in self.operations:
                raise BadOperation(f"{operation.name}: undone_by={undo!r} is no operation of this world")
        self.schema = Schema(tables)
        by_service = [effects_named(service) for service in self.instances]
        self.effects = frozenset[str]().union(*by_service) if all(by_service) else frozenset[str]()

    @property
    def names(self) -> tuple[str, ...]:
        """The services' names, in order."""
        return tuple(service.name for service in self.instances)


@lru_cache(maxsize=32)
def compiled(classes: ServiceClasses) -> Services:
    """The services of these classes; compiled once for each set of classes."""
    return Services(classes)


@dataclass(frozen=True, slots=True)
class Template:
    """A seeded image, whose its named entities are (symbol to customer and tenant), and how far ids are counted."""

    image: Image
    owners: Mapping[str, tuple[str | None, str | None]]
    counters: Mapping[str, int]


def classes_of(services: Iterable[type[Service] | Service]) -> ServiceClasses:
    """Service classes from classes or instances."""
    return tuple(one if isinstance(one, type) else type(one) for one in services)


def template(spec: WorldSpec, classes: ServiceClasses) -> Template:
    """The template of a specification; made once for each text of it.

    Raises BadSeed where an entity cannot be made.
    """
    key = (spec.seed_text, classes)
    found = _TEMPLATES.find(key)
    if found is None:
        found = _made(spec, classes)
        _TEMPLATES.keep(key, found)
    return found


class Shelf:
    """Templates by what they were made of, those used last; no more than `room` bytes of images, and always the newest.

    The room is in bytes, not in templates: one of a shipped scenario has a quarter of a megabyte, one with thousands of
    customers many. A number of templates that is below the number of scenarios in a suite would make all of them
    anew in each round, at 20 ms each: what is used last goes last, so each is gone when its turn comes again.
    """

    def __init__(self, room: int) -> None:
        self._room, self._used = room, 0
        self._kept: OrderedDict[tuple[str, ServiceClasses], Template] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: tuple[str, ServiceClasses]) -> Template | None:
        """The template that was kept under this key, which is now the one used last."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def keep(self, key: tuple[str, ServiceClasses], made: Template) -> None:
        """Keep a template, and let go of those that were not used for longest."""
        with self._lock:
            before = self._kept.pop(key, None)  # two threads may have made it at once
            self._used += len(made.image.data) - (0 if before is None else len(before.image.data))
            self._kept[key] = made
            while self._used > self._room and len(self._kept) > 1:
                _, gone = self._kept.popitem(last=False)
                self._used -= len(gone.image.data)


ROOM = 64 * 2**20
"""For some 290 worlds of the size of the shipped scenarios', four times as many as there are."""

_TEMPLATES = Shelf(ROOM)


def _made(spec: WorldSpec, classes: ServiceClasses) -> Template:
    services = compiled(classes)
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute("PRAGMA page_size = 4096")
    services.schema.create(db)
    store = Store(Image(services.schema, db.serialize()), Guards())
    db.close()
    counters: dict[str, int] = {}
    tx = system_tx(store, Clock(spec.now, spec.zone), counters, services)
    store.begin()
    store.defer_references()
    owners = Seeder(spec, services.schema, tx).run()
    for service in services.instances:
        service.on_seed(tx)
    for service in services.instances:
        if spec.population:
            service.populate(tx, spec.population)
    try:
        store.end(commit=True)
    except sqlite3.IntegrityError as error:
        raise BadSeed("the world", f"a reference leads nowhere: {error}") from error
    return Template(store.blank_image(), owners, counters)


def system_tx(store: Store, clock: Clock, counters: dict[str, int], services: Services) -> Tx:
    """A transaction of the world itself: every tenant, siblings included."""

    def call(tx: Tx, name: str, arguments: Mapping[str, Any]) -> Any:
        return sibling(services, tx, name, arguments)

    return Tx(
        store,
        clock=clock,
        principal=SYSTEM,
        counters=counters,
        call=call,
        offered=services.operations.__contains__,
        external=tuple(
            {name for operation in services.operations.values() for name in operation.declared.external}
        ),
    )


def sibling(services: Services, tx: Tx, name: str, arguments: Mapping[str, Any]) -> Any:
    """What another operation's handler returns in this transaction."""
    operation = services.operations.get(name)
    if operation is None:
        raise BadOperation(
            f"tx.call({name!r}): no such operation in this world; ask tx.offers({name!r}) first"
        )
    return operation.handler(tx, **operation.check(arguments))


def canonical(value: Any) -> str:
    """Compact JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
