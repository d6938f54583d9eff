"""Attacks that once succeeded, and what they must come to."""

from __future__ import annotations

import contextlib
import contextvars
import socket
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Annotated, Any

import httpx
import pytest

from sandtrail.fakes import AnswerLost, Entity, Id, Ref, Rejected, Service, Tx, World, operation
from sandtrail.ledgers import Fault, Outcome, WorldSpec
from sandtrail.ledgers.conversation import Calls, Conversation, Reply, ToolCall
from sandtrail.ledgers.specs import Catalog, FaultKind
from sandtrail.sandbox import BlockedRequest, Sandbox, library, run
from sandtrail.sandbox.hub import HUB
from sandtrail.scenarios import Contract
from sandtrail.scenarios.judge import judge
from worlds import ENTITIES, NORTH, SUPPORT, world

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)


class Thing(Entity, table=True):
    """A thing."""

    id: Annotated[str, Id("thing")]
    status: str = "open"


kept: list[Tx] = []


class Words(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Things(Service):
    """Handlers that do what handlers should not."""

    name = "things"
    entities = (Thing,)

    @operation("POST /v1/close/{thing_id}", access="write", undone_by=None)
    def close(self, tx: Tx, thing_id: Annotated[str, Ref("thing")]) -> Thing:
        """Close a thing found another way, then read it by its id. Writes. Returns it."""
        found = tx.find(Thing, id=thing_id)
        assert found is not None
        tx.update(found, status="closed", effect="thing.closed")
        return tx.get(Thing, thing_id)

    @operation("POST /v1/odd", access="write", undone_by=None)
    def odd(self, tx: Tx, how: str) -> int:
        """Change a thing, then go wrong in many ways. Writes. Returns a number."""
        kept.append(tx)
        tx.update(tx.get(Thing, "$thing.a"), status=how, effect="thing.marked")
        made = tx.insert(Thing, effect="thing.made")
        match how:
            case "decimal":
                wrong: Any = Decimal(3)
                return wrong  # type: ignore[no-any-return]
            case "wordless":
                raise Words
            case "unsayable":
                unsayable: Any = {"a"}
                raise Rejected("thing.no", "no", allowed=unsayable)
            case "created":
                raise Rejected("thing.many", f"{made.id} is one too many")
            case "cursor":
                raw: Any = tx
                raw.cursor = tx._store._db.execute("UPDATE thing SET status = 'open' RETURNING id")
            case _:
                pass
        return 1

    @operation("POST /v1/leak", access="write", undone_by=None)
    def leak(self, tx: Tx, how: str) -> str:
        """Return a symbol in untyped text. Writes. Returns text."""
        made = tx.insert(Thing, effect="thing.made")
        return {"bare": made.id, "mention": "see {$thing.99}", "dash": "$thing.a-x"}[how]

    @operation("POST /v1/many", access="write", undone_by=None, idempotent=True)
    def many(self, tx: Tx) -> list[Thing]:
        """Return things one by one. Writes. Returns things."""
        tx.update(tx.get(Thing, "$thing.a"), status="many", effect="thing.marked")
        found: Any = (thing for thing in tx.select(Thing))
        return found  # type: ignore[no-any-return]


@pytest.fixture(name="things")
def open_things() -> Iterator[World]:
    kept.clear()
    with World.open(WorldSpec({"$thing.a": {}}), services=(Things,)) as made:
        yield made


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("decimal", Outcome.CRASHED),
        ("wordless", Outcome.CRASHED),
        ("unsayable", Outcome.CRASHED),
        ("cursor", Outcome.CRASHED),
        ("created", Outcome.REJECTED),
    ],
)
def test_a_handler_that_goes_wrong_leaves_an_attempt_and_no_row(
    things: World, how: str, outcome: Outcome
) -> None:
    answer = things.call("odd", how=how)
    assert [attempt.outcome for attempt in things.ledger.attempts()] == [outcome]
    assert "$thing" not in answer.text
    assert things.row("$thing.a").status == "open"
    assert things.ledger.verify() == []
    kept.clear()  # an open cursor goes with the transaction that holds it
    assert things.call("odd", how="well").ok


@pytest.mark.parametrize("how", ["bare", "mention", "dash"])
def test_no_symbol_of_a_kind_of_this_world_leaves_in_text(things: World, how: str) -> None:
    answer = things.call("leak", how=how)
    assert answer.status == 500
    assert "$thing" not in answer.text
    assert "would leave in untyped text" in str(things.ledger.attempts(outcome="crashed")[0])


def test_a_row_changed_by_another_way_is_read_as_it_is_now(things: World) -> None:
    assert things.call("close", thing_id=things.id("$thing.a")).json()["status"] == "closed"


def test_a_transaction_kept_after_its_call_is_of_no_use(things: World) -> None:
    things.call("odd", how="well")
    for act in (lambda: kept[0].select(Thing), lambda: kept[0].insert(Thing)):
        with pytest.raises(TypeError, match="this transaction has ended"):
            act()


def test_what_is_returned_one_by_one_is_kept_whole_under_a_key(things: World) -> None:
    first, second = (things.call("many", idempotency_key="k") for _ in range(2))
    assert first.text == second.text
    assert len(first.json()) == 1


def test_a_request_that_arrives_twice_arrives_twice_and_no_more() -> None:
    with world() as opened:
        opened.faults.arm(Fault(FaultKind.DUPLICATE_DELIVERY, "refund_payment", probability=1.0))
        opened.call("refund_payment", payment_id=opened.id("$payment.first"), amount_minor=5)
        assert len(opened.ledger.effects("refund.created")) == 2


def test_a_fault_takes_ten_years_at_most() -> None:
    with pytest.raises(ValueError, match="nor above"):
        Fault(FaultKind.SLOW, "x", seconds=10**17)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            "place_order",
            {
                "customer_id": None,
                "lines": [{"product_id": "prod_00000000", "quantity": 1}],
                "address": "1 Elm St",
            },
        ),
        ("list_orders", {"customer_id": None, "cursor": "cur_00000000"}),
        ("list_payments", {"customer_id": None, "order_id": "ord_00000000"}),
    ],
)
def test_the_order_of_checks_does_not_tell_a_foreign_id_from_an_unknown_one(
    tool: str, arguments: dict[str, Any]
) -> None:
    with world(principal=NORTH) as opened:
        foreign = opened.id("$customer.sue")
        told = [
            opened.call(tool, {**arguments, "customer_id": given}).text.replace(given, "X")
            for given in (foreign, "cus_00000000")
        ]
        assert told[0] == told[1]


def test_free_text_does_not_tell_whether_an_id_exists_elsewhere() -> None:
    with world(principal=NORTH) as opened:
        for given in (opened.id("$customer.sue"), "cus_00000000"):
            opened.call("update_customer", customer_id=opened.id("$customer.lee"), name=given)
            assert opened.call("search_customers", name="customer.").json()["customers"] == []
            assert opened.call("search_customers", name=given.lower()).json()["customers"][0]["name"] == given


# -- isolation ------------------------------------------------------------------------------------------


def test_leaving_a_sandbox_gives_back_the_one_of_this_context_and_no_other() -> None:
    with Sandbox(SPEC) as mine:
        other = Sandbox(SPEC)
        contextvars.Context().run(other.__enter__)
        with Sandbox(SPEC):
            pass
        assert HUB.find() is mine
        other.__exit__(None, None, None)

    def alone() -> None:
        with Sandbox(SPEC):
            pass
        with pytest.raises(BlockedRequest):
            HUB.find()

    with Sandbox(SPEC), Sandbox(SPEC):
        thread = threading.Thread(target=lambda: contextvars.Context().run(alone))
        thread.start()
        thread.join()


@pytest.mark.parametrize(
    "look", [lambda: socket.gethostbyaddr("203.0.113.9"), lambda: socket.getnameinfo(("203.0.113.9", 80), 0)]
)
def test_reverse_look_ups_are_refused(look: Callable[[], object]) -> None:
    with Sandbox(SPEC) as sandbox:
        with pytest.raises(BlockedRequest):
            look()
        assert sandbox.blocked_hosts() == ["203.0.113.9"]


class Caller(Service):
    """A service that calls out, and hides it."""

    name = "caller"
    entities = ()

    @operation("GET /v1/out", access="read")
    def out(self, tx: Tx) -> None:
        """Call another host and swallow the refusal. Returns nothing."""
        with contextlib.suppress(Exception):
            httpx.get("https://evil.test/")


def test_a_handler_that_calls_out_and_hides_it_is_on_record() -> None:
    with Sandbox(WorldSpec(), services=(Caller,)) as sandbox:
        sandbox.call("out")
        assert sandbox.blocked_hosts() == ["evil.test"]


# -- judges and runs ------------------------------------------------------------------------------------

LOOK, REFUND = (
    next(one for one in library() if one.id == name)
    for name in ("charged-twice-look-only", "refund-the-second-charge")
)


class Fixed:
    """An agent that always decides the same."""

    name = "fixed"

    def __init__(self, decision: Any) -> None:
        self._decision = decision

    def decide(self, conversation: Conversation, catalog: Catalog, /) -> Any:
        return self._decision


NOTHING: Any = None


@pytest.mark.parametrize(
    "decision",
    [
        None,
        "hello",
        object(),
        Reply(NOTHING),
        Calls((ToolCall("1", NOTHING, {}),)),
        Calls((ToolCall("1", "get_order", NOTHING),)),
        Calls((ToolCall("1", "get_order", {"a": object()}),)),
    ],
)
def test_what_is_no_decision_is_the_agents_error_and_no_traceback(decision: Any) -> None:
    result = run(LOOK, Fixed(decision))
    assert result.findings[0].code == "run.agent_error"


@pytest.mark.parametrize(
    ("said", "passes"),
    [("It was 42.50 USD.", True), ("It was 142.50 USD.", False), ("It was 42.505.", False)],
)
def test_an_amount_is_stated_only_as_a_whole(said: str, passes: bool) -> None:  # noqa: FBT001  a column of the table
    missing = [one for one in run(LOOK, Fixed(Reply(said))).findings if one.code == "answer.missing"]
    assert (missing == []) is passes


def test_a_run_can_be_judged_again_when_its_world_is_gone() -> None:
    result = run(LOOK, Fixed(Reply("It was 42.50 USD.")))
    assert judge(LOOK.expect, result.trajectory) == result.verdict
    assert judge(Contract(calls=("list_payments",)), result.trajectory).findings[0].code == "call.missing"


def test_a_slow_answer_within_a_held_call_reaches_nobody_and_stands_in_the_books() -> None:
    with world() as opened:
        opened.faults.hold_open("refund_payment")
        opened.faults.slow("refund_payment", seconds=7200)
        with pytest.raises(AnswerLost):
            opened.call("refund_payment", payment_id=opened.id("$payment.first"), amount_minor=5)
        opened.advance("1 hour")
        assert len(opened.ledger.effects("refund.created")) == 1
        assert opened.ledger.verify() == []


def test_a_total_beyond_the_store_is_refused_and_is_no_crash() -> None:
    dear = {**ENTITIES, "$product.dear": {"name": "Dear", "sku": "D", "price": 9 * 10**16, "stock": 1000}}
    with world(entities=dear) as opened:
        lines = [{"product_id": opened.id("$product.dear"), "quantity": 100}] * 2
        answer = opened.call(
            "place_order", customer_id=opened.id("$customer.lee"), lines=lines, address="1 Elm St"
        )
        assert (answer.status, answer.json()["rule"]) == (409, "order.total")
        assert opened.ledger.read_only


def test_a_version_in_other_digits_is_no_version() -> None:
    with Sandbox(SPEC) as sandbox, httpx.Client(transport=sandbox.transport()) as client:
        url = f"{sandbox.url('orders')}/v1/orders/{sandbox.id('$order.lamp')}/cancel"
        headers = [(b"if-match", '"\u0661"'.encode()), (b"content-type", b"application/json")]
        assert client.post(url, content=b"{}", headers=headers).json()["rule"] == "if_match"
