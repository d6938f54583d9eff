"""Reads only read: every one of them runs on a store that the database itself holds read-only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from sandtrail.fakes import SERVICES, World
from sandtrail.fakes.image import compiled
from sandtrail.fakes.store import Guards
from sandtrail.ledgers import Access, Outcome
from worlds import world

READS = [
    operation.name for operation in compiled(SERVICES).operations.values() if operation.access is Access.READ
]

EXAMPLES: Mapping[str, Mapping[str, Any]] = {
    "search_customers": {"name": "Lee", "tenant": "north"},
    "find_customer": {"email": "lee@example.test", "tenant": "north"},
    "get_customer": {"customer_id": "$customer.lee"},
    "get_customer_profile": {"customer_id": "$customer.lee"},
    "lookup_customer_cache": {"email": "lee@example.test"},
    "get_user": {"email": "lee@example.test"},
    "list_invoices": {"customer_id": "$customer.max", "status": "open"},
    "search_invoices": {"number": "INV"},
    "get_invoice": {"invoice_id": "$invoice.open"},
    "list_payments": {"order_id": "$order.lamp", "limit": 1},
    "get_payment": {"payment_id": "$payment.first"},
    "list_charges": {"customer_id": "$customer.lee"},
    "get_balance": {"customer_id": "$customer.max"},
    "list_subscriptions": {"customer_id": "$customer.lee"},
    "search_orders": {"number": "4412"},
    "list_orders": {"customer_id": "$customer.lee"},
    "get_order": {"order_id": "$order.lamp"},
    "track_shipment": {"order_id": "$order.done"},
    "search_products": {"name": "lamp"},
}
"""Valid arguments of every read, with symbols for ids, that find something."""


@pytest.fixture
def sealed() -> Iterator[World]:
    """A world whose database refuses every write; the authorizer is lifted, so it cannot be what refuses."""
    with world(guards=Guards(authorizer=False)) as opened:
        database = opened._state.store._db
        database.execute("PRAGMA query_only = 1")
        yield opened


def example(opened: World, operation: str) -> dict[str, Any]:
    """The example arguments of a read, with raw ids."""
    assert operation in EXAMPLES, f"{operation} is a new read: give it example arguments in EXAMPLES"
    given = EXAMPLES[operation]
    return {name: opened.id(value) if str(value).startswith("$") else value for name, value in given.items()}


@pytest.mark.parametrize("operation", READS)
def test_a_read_needs_no_writable_store(sealed: World, operation: str) -> None:
    answer = sealed.call(operation, example(sealed, operation))
    attempt = sealed.ledger.attempts()[-1]
    assert (answer.status, attempt.outcome) == (200, Outcome.OK), attempt
    assert any(answer.json().values()), "the example finds nothing, so the handler had nothing to do"
    assert sealed.ledger.read_only
    assert sealed.ledger.verify() == []


@pytest.mark.parametrize("operation", READS)
def test_a_read_leaves_every_row_and_the_claim_of_reading_only(operation: str) -> None:
    with world() as opened:
        sent = example(opened, operation)
        entities = [table.entity for table in opened.services.schema.tables]
        before = [repr(opened.rows(entity)) for entity in entities]
        assert opened.call(operation, sent).ok
        assert [repr(opened.rows(entity)) for entity in entities] == before
        assert opened.ledger.changes(bookkeeping=True) == []
        assert opened.ledger.read_only
        assert opened.ledger.verify() == []


def test_the_sealed_store_refuses_a_write(sealed: World) -> None:
    answer = sealed.call("add_note", customer_id=sealed.id("$customer.lee"), text="hello")
    attempt = sealed.ledger.attempts()[-1]
    assert (answer.status, attempt.outcome) == (500, Outcome.CRASHED)
    assert "readonly" in str(attempt.detail)


def test_no_example_is_of_an_operation_that_is_gone() -> None:
    assert set(EXAMPLES) <= set(READS)
