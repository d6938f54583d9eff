"""A service of one's own with every kind of argument and answer, over every way; and the values worlds are made from."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

import httpx
import httpx2
import pytest
import requests
from pydantic import BaseModel

from sandtrail.fakes import Entity, Id, Instant, Ref, Service, Tx, World, operation
from sandtrail.fakes.clock import Clock
from sandtrail.fakes.entities import Day
from sandtrail.fakes.operations import BadOperation
from sandtrail.fakes.wire import routes_of
from sandtrail.ledgers import Catalog, Fault, FaultPlan, Outcome, Principal, ToolSpec, WorldSpec
from sandtrail.ledgers.specs import FaultKind
from sandtrail.sandbox import Sandbox


class Slot(Entity, table=True):
    """A free hour."""

    id: Annotated[str, Id("slot")]
    starts: Instant
    free: bool = True
    next_id: Annotated[str | None, Ref("slot")] = None


class Found(BaseModel):
    """What a search found, and what it was asked."""

    days: list[Day]
    kinds: list[str]
    after: Instant | None
    free: bool
    slots: list[Slot]


class Wish(BaseModel):
    """A wish about one slot."""

    slot_id: Annotated[str, Ref("slot")]
    note: str | None = None


class Slots(Service):
    """Slots."""

    name = "slots"
    entities = (Slot,)

    @operation("GET /v1/slots", access="read")
    def find_slots(
        self,
        tx: Tx,
        days: list[Day],
        free: bool = True,  # noqa: FBT001, FBT002  an argument of a tool
        kinds: list[str] | None = None,
        after: Instant | None = None,
    ) -> Found:
        """Find slots. Returns what was asked and the slots."""
        return Found(days=days, kinds=kinds or [], after=after, free=free, slots=tx.select(Slot, free=free))

    @operation("POST /v1/wishes", access="write", undone_by=None)
    def wish(self, tx: Tx, wishes: list[Wish], until: Day | None = None) -> list[Slot]:
        """Take slots. Writes. Returns them."""
        taken = [tx.get(Slot, one.slot_id) for one in wishes]
        with tx.effect("slots.taken", notes=[one.note for one in wishes]):
            return [tx.update(slot, free=False) for slot in taken]

    @operation("GET /v1/peek", access="read")
    def peek(self, tx: Tx) -> None:
        """Call a sibling that writes: a bug. Returns nothing."""
        tx.call("wish", wishes=[])

    @operation("GET /v1/lost", access="read")
    def lost(self, tx: Tx) -> None:
        """Call a sibling that is not there: a bug. Returns nothing."""
        tx.call("nothing")

    @operation("GET /v1/odd", access="read")
    def odd(self, tx: Tx) -> None:
        """Call a sibling with what does not fit: a bug. Returns nothing."""
        tx.call("find_slots", days="monday")


SPEC = WorldSpec(
    {
        "$slot.one": {"starts": "2026-03-03T10:00:00+01:00", "next": "$slot.two"},
        "$slot.two": {"starts": "2026-03-03T11:00:00+01:00", "free": False},
    }
)
ASKED = {
    "days": ["2026-03-03", "2026-03-04"],
    "free": True,
    "kinds": ["a", "b"],
    "after": "2026-03-01T00:00:00Z",
}


def test_query_arrays_flags_days_and_instants_are_equal_on_every_way() -> None:
    with Sandbox(SPEC, services=(Slots,), urls={"https://slots.test": "slots"}) as sandbox:
        direct = sandbox.call("find_slots", ASKED).json()
        assert (direct["days"], direct["after"], direct["kinds"]) == (
            ASKED["days"],
            ASKED["after"],
            ASKED["kinds"],
        )
        assert [slot["starts"] for slot in direct["slots"]] == ["2026-03-03T09:00:00Z"]
        query = [
            (name, text)
            for name, value in ASKED.items()
            for text in (
                value if isinstance(value, list) else [str(value).lower() if value is True else value]
            )
        ]
        for library in (httpx, httpx2, requests):
            assert library.get("https://slots.test/v1/slots", params=query).json() == direct
        assert len({attempt.arguments for attempt in sandbox.ledger.attempts()}) == 1


@pytest.mark.parametrize(
    ("arguments", "pointer", "detail"),
    [
        ({"days": ["tomorrow"]}, "/days/0", "a day such as 2026-03-02 is wanted"),
        ({"days": [5]}, "/days/0", "a day such as 2026-03-02 is wanted"),
        ({"days": "2026-03-03"}, "/days", "a list is wanted"),
        (
            {"days": [], "after": "2026-03-01T00:00:00"},
            "/after",
            "this time has no zone; end it with Z or an offset such as +01:00",
        ),
        ({"days": [], "after": "soon"}, "/after", "an instant such as 2026-03-02T09:00:00Z is wanted"),
        ({"days": [], "after": "0001-01-01T00:00:00+14:00"}, "/after", "this instant is beyond the calendar"),
        ({"days": [], "after": 5}, "/after", "an instant such as 2026-03-02T09:00:00Z is wanted"),
        ({"days": [], "free": "yes"}, "/free", "true or false is wanted"),
    ],
)
def test_what_does_not_read_is_told_at_its_place(
    arguments: dict[str, Any], pointer: str, detail: str
) -> None:
    with World.open(SPEC, services=(Slots,)) as world:
        answer = world.call("find_slots", arguments)
        (flaw,) = answer.json()["errors"]
        assert (answer.status, flaw["pointer"]) == (422, pointer)
        assert detail in flaw["detail"]
        assert "Value error" not in answer.text


def test_ids_inside_lists_of_objects_are_translated_and_unknown_ones_refused() -> None:
    with World.open(SPEC, services=(Slots,)) as world:
        wishes = [
            {"slot_id": world.id("$slot.one"), "note": f"before {world.id('$slot.two')}"},
            {"slot_id": world.id("$slot.two")},
        ]
        answer = world.call("wish", wishes=wishes)
        assert [slot["id"] for slot in answer.json()] == [wish["slot_id"] for wish in wishes]
        assert answer.json()[0]["next_id"] == world.id("$slot.two")
        assert world.ledger.effects("slots.taken") == [{"notes": ["before {$slot.two}", None]}]
        refused = world.call("wish", wishes=[{"slot_id": "slot_00000000"}])
        assert (refused.status, refused.json()["rule"]) == (404, "not_found")
        assert world.ledger.verify() == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("peek", "peek only reads; it cannot call wish, which writes"),
        ("lost", "no such operation in this world"),
        ("odd", "arguments that do not fit"),
    ],
)
def test_a_handler_that_misuses_a_sibling_crashes_with_the_remedy_in_the_books(name: str, said: str) -> None:
    with World.open(SPEC, services=(Slots,)) as world:
        answer = world.call(name)
        assert (answer.status, answer.json()["detail"]) == (500, "The service failed.")
        (attempt,) = world.ledger.attempts(outcome=Outcome.CRASHED)
        assert said in str(attempt)


def test_values_that_cannot_be_say_why() -> None:
    for make, said in (
        (lambda: Principal("x", tenants=()), "name at least one tenant"),
        (lambda: Principal("x", customer="lee"), "no symbol like"),
        (lambda: Fault(FaultKind.SLOW, "x", probability=2.0), "probability=2.0"),
        (lambda: Fault(FaultKind.SLOW, "x", seconds=-1), "must not be negative"),
        (lambda: WorldSpec(now=datetime(2026, 1, 1)), "is naive"),  # noqa: DTZ001  that is the point
        (lambda: Clock(datetime(2026, 1, 1)), "is naive"),  # noqa: DTZ001  that is the point
        (lambda: Clock(WorldSpec().now).move(timedelta.max), "beyond the calendar"),
    ):
        with pytest.raises(ValueError, match=said):
            make()


def test_a_fault_on_what_is_not_there_or_cannot_be_struck_is_refused() -> None:
    with World.open(SPEC, services=(Slots,)) as world:
        with pytest.raises(LookupError, match="did you mean find_slots"):
            world.faults.slow("find_slot")
        with pytest.raises(ValueError, match="only reads can be stale"):
            world.faults.stale_read("wish")
        with pytest.raises(LookupError, match="there are slots"):
            routes_of(world, "slot")
        with pytest.raises(LookupError, match=r"named are \$slot\.one, \$slot\.two"):
            world.id("$slot.three")
        with pytest.raises(LookupError, match="no operation 'x'"):
            world.operation("x")
        assert world.operation("wish").fact.undone_by is None
        assert world.seed == 0
    with pytest.raises(LookupError, match="no operation"):
        World.open(
            WorldSpec(SPEC.entities, faults=FaultPlan((Fault(FaultKind.SLOW, "x"),))), services=(Slots,)
        )


def test_a_catalog_knows_its_tools_and_its_bytes() -> None:
    one, two = ToolSpec("a", "A.", {}), ToolSpec("b", "B.", {})
    assert "a" in Catalog((one, two))
    assert "c" not in Catalog((one, two))
    assert Catalog((one, two)).digest != Catalog((two, one)).digest


def test_an_argument_model_that_refers_to_itself_is_refused_for_models_cannot_read_it() -> None:
    class Tree(BaseModel):
        """A tree."""

        branches: list[Tree] = []

    class Trees(Service):
        """Trees."""

        name = "trees"
        entities = ()

        @operation("POST /v1/trees", access="write", undone_by=None)
        def plant(self, tx: Tx, tree: Any) -> None:
            """Plant a tree. Writes. Returns nothing."""

    Trees.plant.__annotations__["tree"] = Tree
    with pytest.raises((BadOperation, RecursionError)):
        World.open(services=(Trees,)).catalog  # noqa: B018  the property is what fails
