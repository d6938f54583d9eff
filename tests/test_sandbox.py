"""A sandbox in a test body, a fixture and a Hypothesis example; the process clock; what leaving says."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.fakes import AnswerLost
from sandtrail.fakes.world import ClosedWorld
from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import BooksDisagree, FrozenElsewhere, Sandbox, ServiceCrashed, UnfiredFault
from sandtrail.sandbox.saboteur import SPEC as SABOTAGE
from sandtrail.sandbox.saboteur import Saboteur
from worlds import ENTITIES, LEE, SUPPORT

SPEC = WorldSpec(ENTITIES, principal=SUPPORT)
NOON = datetime(2031, 5, 6, 12, 0, tzinfo=UTC)


@pytest.fixture(name="sandbox")
def make_sandbox() -> Iterator[Sandbox]:
    with Sandbox(SPEC) as made:
        yield made


def test_a_fixture_hands_out_a_world(sandbox: Sandbox) -> None:
    assert sandbox.call("get_payment", payment_id=sandbox.id("$payment.first")).json()["amount"] == 4250
    assert sandbox.ledger.read_only
    assert sandbox.clock.now() == SPEC.now


def test_an_async_block_and_an_async_call(sandbox: Sandbox) -> None:
    async def ask() -> int:
        async with Sandbox(SPEC) as inner:
            answer = await inner.acall("get_payment", payment_id=inner.id("$payment.first"))
            return int(answer.json()["amount"])

    assert [asyncio.run(ask()) for _ in range(3)] == [4250] * 3
    assert sandbox.ledger.attempts() == []


@settings(max_examples=25, deadline=None)
@given(amounts=st.lists(st.integers(1, 2000), max_size=4))
def test_a_sandbox_fits_into_a_hypothesis_example(amounts: list[int]) -> None:
    with Sandbox(SPEC) as sandbox:
        payment = sandbox.id("$payment.first")
        for amount in amounts:
            sandbox.call("refund_payment", payment_id=payment, amount_minor=amount)
        given_back = sum(effect.facts["amount"] for effect in sandbox.ledger.effects("refund.created"))
        assert given_back == sandbox.world.row("$payment.first").refunded <= 4250
        sandbox.reset()
        assert sandbox.world.row("$payment.first").refunded == 0
        assert sandbox.ledger.attempts() == []
        assert sandbox.id("$payment.first") == payment


def test_an_answer_that_was_lost_is_a_time_out_to_the_client_and_a_commit_in_the_books(
    sandbox: Sandbox,
) -> None:
    sandbox.faults.lose_answer("refund_payment")
    with pytest.raises(AnswerLost):
        sandbox.call("refund_payment", payment_id=sandbox.id("$payment.first"), amount_minor=1)
    assert len(sandbox.ledger.effects("refund.created")) == 1
    assert sandbox.faults.fired
    assert not sandbox.faults.unfired


def test_a_fault_that_never_fired_is_said_at_the_end() -> None:
    with (
        pytest.warns(UnfiredFault, match=r"answer_lost\(refund_payment, nth=1\) never fired"),
        Sandbox(SPEC) as sandbox,
    ):
        sandbox.faults.lose_answer("refund_payment")


def test_books_that_do_not_hold_fail_the_test() -> None:
    found = pytest.raises(BooksDisagree, match=r"ledger\.undeclared_write  at attempt 1: item \$item\.two")
    with found, Sandbox(SABOTAGE, services=(Saboteur,)) as sandbox:
        sandbox.call("act", deed="outside")


def test_the_customers_own_principal_sees_only_what_is_theirs() -> None:
    with Sandbox(WorldSpec(ENTITIES, principal=LEE)) as sandbox:
        assert sandbox.call("get_payment", payment_id=sandbox.id("$payment.first")).status == 200
        assert sandbox.call("get_payment", payment_id=sandbox.id("$payment.yen")).status == 404
        assert [attempt.outcome for attempt in sandbox.ledger.attempts()] == ["ok", "denied"]


def test_a_url_of_a_service_that_is_not_there_names_the_others(sandbox: Sandbox) -> None:
    with pytest.raises(LookupError, match="customers, billing, orders"):
        sandbox.url("shipping")


# -- the process clock ----------------------------------------------------------------------------------


def test_a_frozen_sandbox_gives_the_code_under_test_the_worlds_time() -> None:
    with Sandbox(WorldSpec(ENTITIES, now=NOON, principal=SUPPORT), freeze=True) as sandbox:
        assert datetime.now(UTC) == NOON
        assert time.time() == NOON.timestamp()
        sandbox.advance("3 days")
        assert datetime.now(UTC) == NOON + timedelta(days=3) == sandbox.clock.now()
        sandbox.call("add_note", customer_id=sandbox.id("$customer.lee"), text="x")
        assert sandbox.ledger.attempts()[0].at == "2031-05-09T12:00:00Z"
        sandbox.reset()
        assert datetime.now(UTC) == NOON
    assert datetime.now(UTC) != NOON


def test_asyncio_goes_on_under_a_frozen_clock() -> None:
    async def turn(sandbox: Sandbox) -> str:
        await asyncio.sleep(0.001)
        async with httpx.AsyncClient(transport=sandbox.transport()) as client:
            await client.get(sandbox.url("orders") + "/v1/order-search", params={"number": "4412"})
        return datetime.now(UTC).isoformat()

    with Sandbox(WorldSpec(ENTITIES, now=NOON, principal=SUPPORT), freeze=True) as sandbox:
        assert asyncio.run(turn(sandbox)) == NOON.isoformat()


def test_two_sandboxes_frozen_at_different_times_are_refused_and_at_the_same_time_share() -> None:
    noon, later = (WorldSpec(ENTITIES, now=moment) for moment in (NOON, NOON + timedelta(hours=1)))
    with Sandbox(noon, freeze=True):
        with pytest.raises(FrozenElsewhere, match="freeze=False"), Sandbox(later, freeze=True):
            pass
        with Sandbox(later):
            assert datetime.now(UTC) == NOON
        with Sandbox(noon, freeze=True) as twin, pytest.raises(FrozenElsewhere, match="neither can move it"):
            twin.advance("1 hour")
        assert datetime.now(UTC) == NOON
    assert datetime.now(UTC) != NOON


def test_the_openai_sdk_does_not_slow_the_first_freeze() -> None:
    import openai

    assert openai.__name__ in __import__("sys").modules
    lazily = {name for name in __import__("sys").modules if name.startswith("openai.")}
    with Sandbox(WorldSpec(ENTITIES, now=NOON), freeze=True):
        pass
    assert {name for name in __import__("sys").modules if name.startswith("openai.")} == lazily


def test_each_sandbox_has_ids_of_its_own_unless_told_the_seed() -> None:
    drawn: dict[str, int] = {}
    for _ in range(3):
        with Sandbox(SPEC) as sandbox:
            drawn[sandbox.id("$payment.first")] = sandbox.seed
    assert len(drawn) == 3
    for raw, seed in drawn.items():
        with Sandbox(SPEC, seed=seed) as again:
            assert again.id("$payment.first") == raw


def test_an_error_that_leaves_a_sandbox_says_its_seed() -> None:
    with pytest.raises(ZeroDivisionError) as failed, Sandbox(SPEC, seed=41):
        raise ZeroDivisionError
    assert failed.value.__notes__ == ["repeat with Sandbox(seed=41)"]


def test_a_service_that_crashed_fails_the_test_that_never_looked() -> None:
    with (
        pytest.raises(ServiceCrashed, match="RuntimeError: a bug"),
        Sandbox(SABOTAGE, services=(Saboteur,)) as sandbox,
    ):
        sandbox.call("act", deed="crash")
    with Sandbox(SABOTAGE, services=(Saboteur,)) as sandbox:
        sandbox.call("act", deed="crash")
        assert len(sandbox.ledger.attempts(outcome="crashed")) == 1


def test_a_closed_sandbox_says_so_and_its_ledger_is_still_there() -> None:
    with Sandbox(SPEC) as sandbox:
        sandbox.call("search_orders", number="4412")
    with pytest.raises(ClosedWorld, match="inside its `with` block"):
        sandbox.call("search_orders", number="4412")
    assert len(sandbox.ledger.attempts(outcome="ok")) == 1
    with pytest.raises(ValueError, match="there is no outcome 'balked'"):
        sandbox.ledger.attempts(outcome="balked")


def test_nothing_warns_in_a_sandbox_that_was_used_well() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with Sandbox(SPEC) as sandbox:
            sandbox.call("search_orders", number="4412")
            assert sandbox.verify() == []
