"""Many threads, and many worlds: nothing is lost, done twice, or shared."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, ClassVar, TypeVar

import pytest

from sandtrail.fakes import SERVICES, Entity, Id, Service, Tx, World, operation
from sandtrail.fakes.billing import Payment, Refund
from sandtrail.fakes.customers import Customer, Note
from sandtrail.ledgers import Outcome, WorldSpec
from worlds import ENTITIES, SUPPORT, world

T = TypeVar("T")


def together(count: int, act: Callable[[int], T]) -> list[T]:
    """What `act` gives in so many threads that start at one moment."""
    gate = threading.Barrier(count)

    def start(number: int) -> T:
        gate.wait(timeout=10)
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(start, range(count)))


def note(opened: World, text: str, key: str | None = None) -> Any:
    """Add a note to Lee's account."""
    sent = {"customer_id": opened.id("$customer.lee"), "text": text}
    return opened.call("add_note", sent if key is None else {**sent, "idempotency_key": key})


# -- one world, many threads --------------------------------------------------------------------------


def test_ten_threads_with_one_key_commit_once() -> None:
    with world() as opened:
        answers = together(10, lambda _: note(opened, "hello", "k"))
        assert {answer.status for answer in answers} == {200}
        assert len({answer.text for answer in answers}) == 1
        outcomes = Counter(attempt.outcome for attempt in opened.ledger.attempts())
        assert outcomes == {Outcome.OK: 1, Outcome.REPLAYED: 9}
        assert len(opened.rows(Note)) == len(opened.ledger.writes()) == 1
        assert opened.ledger.verify() == []


def test_writes_of_eight_threads_are_all_there() -> None:
    with world() as opened:

        def forty(thread: int) -> list[str]:
            return [note(opened, f"{thread}/{n}", f"{thread}/{n}").json()["id"] for n in range(40)]

        ids = [raw for made in together(8, forty) for raw in made]
        assert len(ids) == len(set(ids)) == 320
        rows = opened.rows(Note)
        assert {row.text for row in rows} == {f"{thread}/{n}" for thread in range(8) for n in range(40)}
        assert {opened.id(row.id) for row in rows} == set(ids)
        assert [attempt.seq for attempt in opened.ledger.attempts(outcome=Outcome.OK)] == list(range(1, 321))
        assert len(opened.ledger.writes()) == 320
        assert opened.ledger.verify() == []


def test_threads_never_refund_more_than_was_captured() -> None:
    with world() as opened:
        raw = opened.id("$payment.first")
        answers = together(10, lambda _: opened.call("refund_payment", payment_id=raw, amount_minor=1000))
        assert Counter(answer.status for answer in answers) == {200: 4, 409: 6}
        assert opened.rows(Payment, id="$payment.first")[0].refunded == 4000
        assert len(opened.rows(Refund)) == 4
        assert opened.ledger.verify() == []


def test_one_planned_fault_strikes_one_thread_only() -> None:
    with world() as opened:
        opened.faults.rate_limit("add_note", nth=3)
        answers = together(8, lambda n: note(opened, f"{n}"))
        assert Counter(answer.status for answer in answers) == {200: 7, 429: 1}
        assert len(opened.rows(Note)) == 7


def test_forks_and_the_clock_between_writes_see_whole_calls_only() -> None:
    with world() as opened:

        def act(thread: int) -> list[World]:
            forks: list[World] = []
            for n in range(10):
                if thread % 2:
                    note(opened, f"{thread}/{n}")
                else:
                    forks.append(opened.fork())
                    opened.advance("1 second")
            return forks

        forks = [fork for made in together(6, act) for fork in made]
        for fork in forks:
            assert len(fork.rows(Note)) == len(fork.ledger.writes())
            assert fork.ledger.verify() == []
            fork.close()
        assert len(opened.rows(Note)) == 30
        assert opened.ledger.verify() == []


# -- a world asked from inside one of its own calls ---------------------------------------------------


class Visit(Entity, table=True):
    """A row that a careless handler writes before it asks its own world."""

    id: Annotated[str, Id("visit")]
    what: str = ""


class Careless(Service):
    """A service whose handlers reach for the world instead of their transaction."""

    name = "careless"
    entities = (Visit,)
    asked: ClassVar[dict[str, Callable[[], object]]] = {}
    """What the handler asks, by name; each test puts its own world here."""

    @operation("POST /v1/visits", access="write", undone_by=None)
    def visit(self, tx: Tx, what: str) -> Visit:
        """Visit. Writes. Returns the visit."""
        made = tx.insert(Visit, what=what, effect="visit.made")
        self.asked[what]()
        return made


@pytest.mark.parametrize("what", ["call", "id", "rows", "advance", "fork", "reset", "verify", "close"])
def test_a_world_asked_inside_its_own_call_refuses_and_says_what_to_do(what: str) -> None:
    with World.open(WorldSpec(ENTITIES, principal=SUPPORT), 7, services=(*SERVICES, Careless)) as opened:
        lee = opened.id("$customer.lee")
        asked: dict[str, Callable[[], object]] = {
            "call": lambda: opened.call("get_customer", customer_id=lee),
            "id": lambda: opened.id("$customer.lee"),
            "rows": lambda: opened.rows(Customer),
            "advance": lambda: opened.advance("1 day"),
            "fork": opened.fork,
            "reset": opened.reset,
            "verify": opened.ledger.verify,
            "close": opened.close,
        }
        Careless.asked[what] = asked[what]
        answer = opened.call("visit", what=what)
        attempt = opened.ledger.attempts()[-1]
        assert (answer.status, attempt.outcome, attempt.seq) == (500, Outcome.CRASHED, 1)
        assert "NestedCall" in str(attempt.detail)
        assert "tx.call(...)" in str(attempt.detail)
        assert "tx.call" not in answer.text
        assert opened.rows(Visit) == []
        assert opened.call("get_customer", customer_id=lee).ok
        assert opened.ledger.verify() == []


def test_a_handler_may_ask_another_world() -> None:
    with World.open(services=(Careless,)) as opened, world() as other:
        Careless.asked["elsewhere"] = lambda: note(other, "hello")
        assert opened.call("visit", what="elsewhere").ok
        assert len(other.rows(Note)) == 1
        assert opened.ledger.verify() == other.ledger.verify() == []


# -- many worlds --------------------------------------------------------------------------------------


def test_two_worlds_interleaved_share_nothing() -> None:
    with world(seed=1) as one, world(seed=2) as two:
        one.faults.rate_limit("get_user", nth=1, times=9)
        for n in range(5):
            assert note(one, f"one {n}", f"key {n}").ok
            assert note(two, f"two {n}", f"key {n}").ok
            one.advance("1 day")
        assert [row.text for row in one.rows(Note)] == [f"one {n}" for n in range(5)]
        assert [row.text for row in two.rows(Note)] == [f"two {n}" for n in range(5)]
        assert (one.clock.now() - two.clock.now()).days == 5
        assert one.call("get_user", email="lee@example.test").status == 429
        assert two.call("get_user", email="lee@example.test").ok
        assert len(one.ledger.attempts()) == len(two.ledger.attempts()) == 6
        assert one.ledger.run != two.ledger.run
        assert one.ledger.verify() == two.ledger.verify() == []


def test_an_id_of_one_world_names_nothing_in_another() -> None:
    with world(seed=1) as one, world(seed=2) as two:
        ids = [{opened.id(symbol) for symbol in ENTITIES} for opened in (one, two)]
        assert not ids[0] & ids[1]
        for symbol in ENTITIES:
            assert two.symbol(one.id(symbol)) is None
        answer = two.call("get_customer", customer_id=one.id("$customer.lee"))
        assert (answer.status, answer.json()["rule"]) == (404, "not_found")


def test_the_same_seed_gives_the_same_ids_and_still_another_world() -> None:
    with world(seed=1) as one, world(seed=1) as two:
        assert note(one, "hello").text == note(two, "hello").text
        note(one, "only here")
        assert [len(opened.rows(Note)) for opened in (one, two)] == [2, 1]


def test_worlds_in_eight_threads_share_nothing() -> None:
    def live(seed: int) -> tuple[str, list[str], int]:
        with world(seed=seed) as opened:
            for n in range(20):
                note(opened, f"{seed}/{n}", f"{n}")
                note(opened, f"{seed}/{n}", f"{n}")
            assert opened.ledger.verify() == []
            outcomes = Counter(attempt.outcome for attempt in opened.ledger.attempts())
            assert outcomes == {Outcome.OK: 20, Outcome.REPLAYED: 20}
            return (
                opened.id("$customer.lee"),
                [row.text for row in opened.rows(Note)],
                len(opened.ledger.pages),
            )

    lives = together(8, live)
    assert len({raw for raw, _, _ in lives}) == 8
    assert [texts for _, texts, _ in lives] == [[f"{seed}/{n}" for n in range(20)] for seed in range(8)]
    assert {pages for _, _, pages in lives} == {40}


def test_a_fork_counts_its_ids_and_its_faults_apart() -> None:
    with world() as opened:
        opened.faults.rate_limit("get_user")
        with opened.fork() as twin:
            first = note(twin, "there").json()
            assert twin.call("get_user", email="lee@example.test").status == 429
            assert opened.faults.unfired
            assert note(opened, "here").json()["id"] == first["id"]
            assert [row.text for row in twin.rows(Note)] == ["there"]
        assert [row.text for row in opened.rows(Note)] == ["here"]
        assert opened.call("get_user", email="lee@example.test").status == 429
        assert opened.ledger.verify() == []
