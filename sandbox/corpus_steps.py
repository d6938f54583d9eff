"""Steps that most scenes of the corpus begin with: who writes, and what the agent looks up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sandtrail.sandbox.corpus_parts import Order, Person
from sandtrail.sandbox.corpus_scene import Scene


def met(scene: Scene, wish: str, *, by: str = "email", brief: str = "", found: Person | None = None) -> None:
    """The system text, the user's first message, and the look-up of the customer by e-mail, phone or name."""
    who = found or scene.customer
    scene.brief(brief)
    said = {
        "email": f"Hi, my e-mail is {who.email}.",
        "phone": f"Hi, you have my number {who.phone}.",
        "name": f"Hi, this is {who.name}.",
    }
    scene.user(f"{said[by]} {wish}")
    rows = [scene.customer_row(who)]
    if scene.hard and by == "name":
        rows.append(scene.customer_row(scene.person(last=who.last)))
    scene.call("search_customers", {"customers": rows, "next_cursor": None}, **{by: getattr(who, by)})


def listed(scene: Scene, orders: Sequence[Order]) -> int:
    """The call that lists the customer's orders."""
    rows = [scene.order_row(one) for one in orders]
    return scene.call(
        "list_orders", {"orders": rows, "next_cursor": None}, customer_id=scene.customer.id, limit=50
    )


def paid(scene: Scene, orders: Sequence[Order]) -> int:
    """The call that lists the payments of these orders."""
    rows = [scene.payment_row(one) for one in orders]
    return scene.call("list_payments", {"payments": rows, "next_cursor": None}, customer_id=scene.customer.id)


def opened(
    scene: Scene, wish: str = "{number}", *, least: int = 5, most: int = 60
) -> tuple[Order, list[Order]]:
    """A customer whose orders and payments are listed; `{number}` in the wish is the number of the order it is about."""
    orders = scene.orders(least, most)
    meant = scene.rng.choice(orders)
    met(scene, wish.replace("{number}", meant.number))
    listed(scene, orders)
    paid(scene, orders)
    return meant, orders


def answer_of(scene: Scene, one: Order) -> dict[str, Any]:
    """What a service says of one order, with its payment."""
    return scene.order_row(one) | {scene.shown("payments"): [scene.payment_row(one)]}
