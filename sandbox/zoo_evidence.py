"""What is seeded into the evidence, and what honest services do: scenes in a world of one small service.

ledger_faults   each with the code that must be found, where, and which guards are lifted for it
honest_scenes   doings that must raise nothing
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sandtrail.fakes import World
from sandtrail.fakes.store import Guards
from sandtrail.ledgers import Finding
from sandtrail.ledgers.jsonl import export, verify
from sandtrail.sandbox.saboteur import SPEC, Item, Restless, Saboteur

ALL = Guards()
NO_AUTHORIZER = Guards(authorizer=False)
NO_SCHEMA = Guards(authorizer=False, schema=False)
ONLY_REPLAY = Guards(authorizer=False, schema=False, fence=False)
NO_REPLAY = Guards(authorizer=False, schema=False, replay=False)
NO_FENCE = Guards(authorizer=False, fence=False)

Scene = Callable[[World], tuple[Finding, ...]]


@dataclass(frozen=True, slots=True)
class Seeded:
    """One fault: what is done, with which guards, and which code must be found where."""

    name: str
    code: str
    at: str
    scene: Scene
    guards: Guards = ALL


def act(*deeds: str) -> Scene:
    """Deeds in write operations, one call each; what the books say at the end."""

    def scene(world: World) -> tuple[Finding, ...]:
        for deed in deeds:
            world.call("act", deed=deed)
        return tuple(world.ledger.verify())

    return scene


def look(deed: str) -> Scene:
    """A deed in a read operation."""

    def scene(world: World) -> tuple[Finding, ...]:
        world.call("look", deed=deed)
        return tuple(world.ledger.verify())

    return scene


def behind(*, then: str | None) -> Scene:
    """A write to the store between the calls, before one more call or none."""

    def scene(world: World) -> tuple[Finding, ...]:
        world.call("act", deed="honest")
        world._state.store.run("UPDATE item SET color = 'pink' WHERE id = '$item.two'")  # noqa: SLF001  # pyright: ignore
        if then is not None:
            world.call("look", deed=then)
        return tuple(world.ledger.verify())

    return scene


def saved(damage: Callable[[list[str], list[str]], list[str]]) -> Scene:
    """A saved ledger, damaged: given its lines and those of another ledger."""

    def scene(world: World) -> tuple[Finding, ...]:
        for deed in ("honest", "twice", "balanced"):
            world.call("act", deed=deed)
        with World.open(SPEC, 8, services=(Saboteur,), run="other") as other:
            other.call("act", deed="honest")
            foreign = list(export(other.ledger))
        return verify(damage(list(export(world.ledger)), foreign))

    return scene


CLOCK = "clock 2026-03-02T10:00:00Z"


def passing(_: World) -> tuple[Finding, ...]:
    """An hour passes in a world whose service does not declare what time does to it."""
    with World.open(SPEC, 7, services=(Saboteur, Restless)) as restless:
        restless.advance("1 hour")
        return tuple(restless.ledger.verify())


def _flip(line: str) -> str:
    place = line.index("item.closed")
    return f"{line[:place]}J{line[place + 1 :]}"


def ledger_faults() -> Iterator[Seeded]:
    """Every fault that is seeded into the evidence."""
    first = "attempt 1"
    stray, hole = "ledger.undeclared_write", "ledger.capture_hole"
    tampered, phantom = "ledger.tampered", "ledger.phantom_effect"
    for name, deed in (
        ("a gateway write outside every effect", "outside"),
        ("a raw INSERT beside the gateway", "insert"),
        ("a raw UPDATE beside the gateway", "update"),
        ("a bare DELETE of a whole table", "delete"),
        ("an INSERT OR REPLACE", "replace"),
        ("a cascade that deletes undeclared rows", "cascade"),
        ("a column beyond the declared one", "other_cell"),
        ("a value other than the declared one", "other_value"),
        ("two rows swapped", "swap"),
        ("a write that is undone in the same call", "undo"),
    ):
        yield Seeded(name, stray, first, act(deed))
    yield Seeded(
        "a COMMIT of the service's own, then a crash", stray, first, act("commit_and_fail"), NO_AUTHORIZER
    )
    yield Seeded(
        "a ROLLBACK of the service's own, then a write",
        stray,
        first,
        act("rollback_and_write"),
        NO_AUTHORIZER,
    )
    yield Seeded("a COMMIT that the authorizer refuses", tampered, first, act("commit_and_fail"))
    yield Seeded("a SAVEPOINT that the authorizer refuses", tampered, first, act("savepoint"))
    yield Seeded("a savepoint rolled back, met by the fence", hole, first, act("savepoint"), NO_AUTHORIZER)
    yield Seeded("a savepoint rolled back, met by the rules", phantom, first, act("savepoint"), NO_FENCE)
    yield Seeded("an effect without rows", phantom, first, act("phantom"))
    yield Seeded("an effect whose row only looks touched", phantom, first, act("phantom_row"))
    yield Seeded("a commit without an effect", "ledger.unjournaled", first, act("silent"))
    yield from _evidence(first, stray, hole, tampered)
    reads = "ledger.write_behind_read"
    yield Seeded("a read operation that uses the gateway to write", reads, first, look("honest"))
    yield Seeded("a read operation that writes raw SQL", reads, first, look("only_update"))
    yield Seeded("a read operation that writes and undoes", reads, first, look("undo"))
    yield Seeded("a change between two calls", "ledger.no_origin", "after attempt 1", behind(then="nothing"))
    yield Seeded("a change after the last call", "ledger.no_origin", "after attempt 1", behind(then=None))
    for name, deed in (
        ("postings that do not sum to zero", "unbalanced"),
        ("money on a row without postings", "not_posted"),
        ("postings without money on a row", "no_row"),
        ("postings in another currency", "other_currency"),
    ):
        yield Seeded(name, "ledger.money_leak", first, act(deed))
    yield from _files(tampered)


def _evidence(first: str, stray: str, hole: str, tampered: str) -> Iterator[Seeded]:
    """Hands laid on the evidence itself, with one guard after the other lifted."""
    yield Seeded("a dropped trigger, refused", tampered, first, act("drop_trigger"))
    yield Seeded(
        "a dropped trigger, noticed in the schema", tampered, first, act("drop_and_update"), NO_AUTHORIZER
    )
    yield Seeded("a dropped trigger, met by the fence", hole, first, act("drop_and_update"), NO_REPLAY)
    yield Seeded("a dropped trigger, met by the replay", hole, "the end", act("drop_and_update"), ONLY_REPLAY)
    yield Seeded("an authorizer taken off, a trigger dropped", tampered, first, act("disarm"))
    yield Seeded("a created trigger, refused", tampered, first, act("create_trigger"))
    yield Seeded(
        "a created trigger, noticed in the schema", tampered, first, act("create_trigger"), NO_AUTHORIZER
    )
    yield Seeded("what a created trigger writes", stray, first, act("trigger_and_update"), NO_SCHEMA)
    yield Seeded("a temporary trigger, refused", tampered, first, act("temp_trigger"))
    yield Seeded(
        "a temporary trigger, noticed in the schema", tampered, first, act("temp_trigger"), NO_AUTHORIZER
    )
    yield Seeded(
        "a temporary trigger that hides, met by the fence",
        hole,
        first,
        act("temp_trigger"),
        NO_SCHEMA,
    )
    yield Seeded("a clock that changes rows without an effect", stray, CLOCK, passing)
    yield Seeded("an altered table, refused", tampered, first, act("alter"))
    yield Seeded("a pragma, refused", tampered, first, act("pragma"))
    yield Seeded("a pragma, noticed", tampered, first, act("replace_unseen"), NO_AUTHORIZER)
    yield Seeded(
        "a REPLACE its trigger misses, met by the replay",
        hole,
        "the end",
        act("replace_unseen"),
        NO_SCHEMA,
    )
    yield Seeded("a forged change row, refused", tampered, first, act("forge"))
    yield Seeded("a forged change row, met by the rules", stray, first, act("forge"), NO_AUTHORIZER)
    yield Seeded(
        "a forged row with its effect, met by the replay",
        hole,
        "the end",
        act("forge_claimed"),
        NO_AUTHORIZER,
    )
    yield Seeded("an erased change row, refused", tampered, first, act("erase"))
    yield Seeded("an erased change row, met by the fence", hole, first, act("erase"), NO_AUTHORIZER)
    yield Seeded("an erased change row, met by the replay", hole, "the end", act("erase"), NO_FENCE)


def _files(tampered: str) -> Iterator[Seeded]:
    """Damage to a saved ledger of five lines: head, three pages, seal."""
    yield Seeded(
        "a flipped byte in a saved line",
        tampered,
        "line 2",
        saved(lambda own, _: [own[0], _flip(own[1]), *own[2:]]),
    )
    yield Seeded("a removed line", tampered, "line 3", saved(lambda own, _: [*own[:2], *own[3:]]))
    yield Seeded(
        "two lines swapped", tampered, "line 2", saved(lambda own, _: [own[0], own[2], own[1], *own[3:]])
    )
    yield Seeded("a line written twice", tampered, "line 3", saved(lambda own, _: [*own[:2], *own[1:]]))
    yield Seeded(
        "a line of another ledger merged in",
        tampered,
        "line 3",
        saved(lambda own, other: [*own[:2], other[1], *own[2:]]),
    )
    yield Seeded("another ledger appended", tampered, "line 6", saved(lambda own, other: [*own, *other]))
    yield Seeded("a file cut between lines", tampered, "line 4", saved(lambda own, _: own[:-1]))
    yield Seeded(
        "a file cut within a line", tampered, "line 5", saved(lambda own, _: [*own[:-1], own[-1][:40]])
    )


def honest_scenes() -> Iterator[tuple[str, Scene]]:
    """What must raise nothing."""
    for name, deed in (
        ("a declared change", "honest"),
        ("an update that changes nothing", "touch"),
        ("a bug that is rolled back", "crash"),
        ("a refusal that is rolled back", "refuse"),
        ("one row changed twice by one effect", "twice"),
        ("money with its postings", "balanced"),
        ("a write operation that writes nothing", "nothing"),
        ("a row replaced as declared", "replace_claimed"),
    ):
        yield name, act(deed)
    yield "a read", look("nothing")
    yield "an idempotent replay", _replayed
    yield "time passing", _advanced
    yield "an event of the world", _happened
    yield "a fork and its own end", _forked
    yield "a late commit", _late
    yield "a reset", _reset
    yield "a saved ledger", saved(lambda own, _: own)
    yield "another ledger alone", saved(lambda _, other: other)


def _replayed(world: World) -> tuple[Finding, ...]:
    for _ in range(3):
        world.call("act", deed="honest", idempotency_key="k")
    return tuple(world.ledger.verify())


def _advanced(world: World) -> tuple[Finding, ...]:
    world.call("act", deed="honest")
    world.advance("3 days")
    return tuple(world.ledger.verify())


def _happened(world: World) -> tuple[Finding, ...]:
    with world.event("somebody paints it") as tx:
        tx.update(tx.get(Item, "$item.two"), color="gold")
    world.call("act", deed="honest")
    return tuple(world.ledger.verify())


def _forked(world: World) -> tuple[Finding, ...]:
    world.call("act", deed="honest")
    with world.fork() as twin:
        twin.call("act", deed="twice")
        return (*twin.ledger.verify(), *world.ledger.verify())


def _late(world: World) -> tuple[Finding, ...]:
    world.faults.hold_open("act")
    try:
        world.call("act", deed="honest")
    except TimeoutError:
        world.advance("1 hour")
    return tuple(world.ledger.verify())


def _reset(world: World) -> tuple[Finding, ...]:
    world.call("act", deed="honest")
    world.reset()
    world.call("act", deed="honest")
    return tuple(world.ledger.verify())
