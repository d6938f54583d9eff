"""Builders that the tests share: one small world that has everything, and short ways into it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sandtrail.fakes import SERVICES, World
from sandtrail.ledgers import FaultPlan, Principal, WorldSpec

SUPPORT = Principal("amy", tenants=("north", "south"))
NORTH = Principal("ned", tenants=("north",))
LEE = Principal("lee", role="customer", customer="$customer.lee")

ENTITIES: Mapping[str, Mapping[str, Any]] = {
    "$customer.lee": {"name": "Lee Ahn", "email": "lee@example.test", "phone": "+15550001"},
    "$customer.max": {"name": "Max Roth", "email": "max@example.test"},
    "$customer.sue": {"name": "Sue South", "email": "sue@example.test", "tenant": "south"},
    "$login.lee": {"customer": "$customer.lee", "email": "lee@example.test"},
    "$address.lee": {"customer": "$customer.lee", "line": "1 Elm St", "city": "Salem", "postcode": "97301"},
    "$product.lamp": {"name": "Desk lamp", "sku": "LAMP-1", "price": "42.50 USD", "stock": 10},
    "$product.mat": {"name": "Yoga mat", "sku": "MAT-1", "price": "19.99 USD", "stock": 5},
    "$order.lamp": {
        "customer": "$customer.lee",
        "number": "4412",
        "total": "42.50 USD",
        "address": "1 Elm St, Salem",
    },
    "$order_line.lamp": {"order": "$order.lamp", "product": "$product.lamp", "unit_price": "42.50 USD"},
    "$order.done": {
        "customer": "$customer.lee",
        "number": "4400",
        "total": "19.99 USD",
        "status": "delivered",
    },
    "$shipment.done": {"order": "$order.done", "tracking": "1Z999", "delivered_at": "3 days ago"},
    "$shipment_event.done": {"shipment": "$shipment.done", "what": "delivered", "created_at": "3 days ago"},
    "$order.south": {"customer": "$customer.sue", "number": "7001", "total": "5.00 USD"},
    "$payment.first": {"order": "$order.lamp", "captured": "42.50 USD"},
    "$payment.second": {"like": "$payment.first"},
    "$payment.south": {"order": "$order.south", "captured": "5.00 USD"},
    "$payment.disputed": {"customer": "$customer.max", "captured": "10.00 USD", "status": "disputed"},
    "$payment.old": {"customer": "$customer.max", "captured": "10.00 USD", "created_at": "200 days ago"},
    "$payment.yen": {"customer": "$customer.max", "captured": "9800 JPY"},
    "$payment.dinar": {"customer": "$customer.max", "captured": "4.250 KWD"},
    "$invoice.open": {
        "customer": "$customer.max",
        "number": "INV-7",
        "total": "80.60 USD",
        "due": "80.60 USD",
        "due_at": "in 2 days",
    },
    "$invoice_line.open": {"invoice": "$invoice.open", "description": "Setup", "amount": "80.60 USD"},
    "$subscription.lee": {"customer": "$customer.lee", "plan": "plus", "price": "9.99 USD"},
}


def world(
    *,
    seed: int = 7,
    entities: Mapping[str, Mapping[str, Any]] = ENTITIES,
    principal: Principal = SUPPORT,
    faults: FaultPlan = FaultPlan(),  # noqa: B008  a frozen value
    **options: Any,
) -> World:
    """An open world of the shipped services."""
    return World.open(
        WorldSpec(entities, principal=principal, faults=faults), seed, services=SERVICES, **options
    )
