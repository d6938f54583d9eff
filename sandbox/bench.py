"""What each stage costs: medians in milliseconds, on the machine it runs on; and how well provenance is told.

Worlds hold as many unnamed customers as asked for, each with an address, an order with a line, and a payment.
The write is the heaviest one shipped: a refund inserts a refund and two postings and updates the payment.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from statistics import median
from time import perf_counter
from typing import Any

from sandtrail.fakes import SERVICES, World
from sandtrail.ledgers import WorldSpec
from sandtrail.sandbox import bench_audit, corpus_report
from sandtrail.sandbox.corpus_report import BASELINES, ENGINE, Measured
from sandtrail.sandbox.sandbox import Sandbox
from sandtrail.sandbox.trail import Line

AIMS = {
    "open_ms": 1.2,
    "fork_ms": 1.2,
    "reset_ms": 1.2,
    "read_call_ms": 0.1,
    "write_call_ms": 0.2,
    "http_read_ms": 0.5,
    "http_write_ms": 0.6,
    "read_only_check_ms": 0.01,
    "replay_ms": 15.0,
    "trajectory_5_calls_ms": 2.5,
    "trajectory_5_calls_http_ms": 5.0,
    "facts_ms": 60.0,
    "audit_ms": 10.0,
    "import_ms": 600.0,
}
"""What was aimed at with 1,000 customers, on a machine where the reference below takes about 0.27 ms."""

REFERENCE = "reference_ms"
"""A GET over httpx.MockTransport: machines differ, and so does one machine from hour to hour."""

_WORDS = {
    "open_ms": "open a world, first statement included",
    "fork_ms": "fork it, first statement included",
    "reset_ms": "reset it, first statement included",
    "read_call_ms": "read call, direct",
    "write_call_ms": "write call, direct (4 rows)",
    "http_read_ms": "read call over httpx, intercepted",
    "http_write_ms": "write call over httpx, intercepted",
    "read_only_check_ms": 'the "nothing changed" check after five calls',
    "replay_ms": "full replay of the changes (R3)",
    "trajectory_5_calls_ms": "five calls, opened and verified, direct",
    "trajectory_5_calls_http_ms": "five calls, opened and checked, httpx",
    "facts_ms": "index 12,000 facts, look up 1,000 values",
    "audit_ms": "audit a run of 15 calls",
    "import_ms": "from sandtrail.sandbox import Sandbox",
}


def bench(*, customers: int = 1000, rounds: int = 200) -> dict[str, float]:
    """Median milliseconds of each stage."""
    spec = WorldSpec(
        {
            "$customer.lee": {"name": "Lee Ahn", "email": "lee@example.test"},
            "$order.lamp": {"customer": "$customer.lee", "number": "4412"},
            "$payment.lamp": {"order": "$order.lamp", "captured": 10**9},
        },
        population=customers,
    )
    measured: dict[str, float] = {}
    with World.open(spec, services=SERVICES) as world:
        measured |= _worlds(spec, world, rounds)
        measured |= _calls(world, rounds)
    measured |= _http(spec, rounds)
    measured |= _trajectories(spec, rounds)
    few = min(rounds, 20)
    measured["facts_ms"] = _timed(bench_audit.indexed(), few)
    measured["audit_ms"] = _timed(bench_audit.audited_run(), few)
    measured["import_ms"] = _import(min(rounds, 5))
    measured[REFERENCE] = _reference(rounds)
    return {name: round(measured[name], 4) for name in (*AIMS, REFERENCE)}


CORPUS = 200
"""At how many seeds the labelled corpus is played at most."""


def detectors(*, rounds: int = CORPUS) -> dict[str, Measured]:
    """Both baselines and the engine on the same specimens of the labelled corpus, at as many seeds as rounds."""
    asked = {**BASELINES, "sandtrail": ENGINE}
    return corpus_report.compared(range(min(rounds, CORPUS)), asked)


def _timed(
    act: Callable[[], object], rounds: int, done: Callable[[Any], object] = lambda made: made
) -> float:
    """The median milliseconds of an act; `done` clears up outside the measure."""
    spent: list[float] = []
    for _ in range(rounds):
        start = perf_counter()
        made = act()
        spent.append(perf_counter() - start)
        done(made)
    return median(spent) * 1000


def _worlds(spec: WorldSpec, world: World, rounds: int) -> dict[str, float]:
    def first_look(made: World) -> World:
        made.row("$payment.lamp")  # the schema is parsed at a store's first statement
        return made

    def reset() -> None:
        world.reset()
        first_look(world)

    close = World.close
    return {
        "open_ms": _timed(lambda: first_look(World.open(spec, services=SERVICES)), rounds, close),
        "fork_ms": _timed(lambda: first_look(world.fork()), rounds, close),
        "reset_ms": _timed(reset, rounds),
    }


def _calls(world: World, rounds: int) -> dict[str, float]:
    payment = world.id("$payment.lamp")
    read = _timed(lambda: world.call("get_payment", payment_id=payment), rounds)
    write = _timed(lambda: world.call("refund_payment", payment_id=payment, amount_minor=1), rounds)
    world.reset()
    for _ in range(5):
        world.call("get_payment", payment_id=payment)
    check = _timed(lambda: bool(world.ledger.read_only), rounds)
    replay = _timed(world.ledger.verify, min(rounds, 20))
    return {"read_call_ms": read, "write_call_ms": write, "read_only_check_ms": check, "replay_ms": replay}


def _http(spec: WorldSpec, rounds: int) -> dict[str, float]:
    import httpx  # noqa: PLC0415  heavy

    with Sandbox(spec) as sandbox, httpx.Client() as client:
        url = f"{sandbox.url('billing')}/v1/payments/{sandbox.id('$payment.lamp')}"
        read = _timed(lambda: client.get(url), rounds)
        write = _timed(lambda: client.post(f"{url}/refunds", json={"amount_minor": 1}), rounds)
    return {"http_read_ms": read, "http_write_ms": write}


def _trajectories(spec: WorldSpec, rounds: int) -> dict[str, float]:
    import httpx  # noqa: PLC0415  heavy

    def direct() -> World:
        world = World.open(spec, services=SERVICES)
        order = world.call("search_orders", number="4412").json()["orders"][0]["id"]
        payment = world.call("list_payments", order_id=order).json()["payments"][0]["id"]
        world.call("get_payment", payment_id=payment)
        world.call("refund_payment", payment_id=payment, amount_minor=1)
        world.call("get_order", order_id=order)
        assert not world.ledger.read_only
        assert world.ledger.breaches == []
        return world

    client = httpx.Client()

    def over_http() -> Sandbox:
        sandbox = Sandbox(spec)
        sandbox.__enter__()
        billing, orders = sandbox.url("billing"), sandbox.url("orders")
        order = client.get(f"{orders}/v1/order-search", params={"number": "4412"}).json()["orders"][0]["id"]
        payment = client.get(f"{billing}/v1/payments", params={"order_id": order}).json()["payments"][0]["id"]
        client.get(f"{billing}/v1/payments/{payment}")
        client.post(f"{billing}/v1/payments/{payment}/refunds", json={"amount_minor": 1})
        client.get(f"{orders}/v1/orders/{order}")
        assert not sandbox.ledger.read_only
        assert sandbox.ledger.breaches == []
        return sandbox

    try:
        return {
            "trajectory_5_calls_ms": _timed(direct, rounds, World.close),
            "trajectory_5_calls_http_ms": _timed(
                over_http, rounds, lambda sandbox: sandbox.__exit__(None, None, None)
            ),
        }
    finally:
        client.close()


def _reference(rounds: int) -> float:
    import httpx  # noqa: PLC0415  heavy

    with httpx.Client(transport=httpx.MockTransport(lambda _: httpx.Response(200, json={}))) as client:
        return _timed(lambda: client.get("http://reference.test/"), rounds)


def _import(rounds: int) -> float:
    """A fresh interpreter with the import, less one without."""

    def start(code: str) -> object:
        return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    return _timed(lambda: start("from sandtrail.sandbox import Sandbox"), rounds) - _timed(
        lambda: start("pass"), rounds
    )


def table(
    measured: dict[str, float], customers: int, rounds: int, found: Mapping[str, Measured]
) -> Iterator[Line]:
    """The measures beside what was aimed at, and what the detectors found."""
    yield Line(f"{'stage':<44}{'median ms':>12}{'aim ms':>10}", "bold")
    for name, aim in AIMS.items():
        value = measured[name]
        over = customers == 1000 and value > aim
        yield Line(
            f"{_WORDS[name]:<44}{value:>12.3f}{aim:>10.2f}{'  over' if over else ''}",
            "yellow" if over else "",
        )
    yield Line(
        f"{'for scale: a GET over httpx.MockTransport':<44}{measured[REFERENCE]:>12.3f}{0.27:>10.2f}", "dim"
    )
    yield Line(f"{customers} customers, {rounds} rounds; aims are for 1000 customers", "dim")
    yield from corpus_report.table(found)
    yield Line("exit 0: measured")
