"""Lines of programs: what a scripted agent of the zoo does, step by step.

Each is one call; an id comes out of the so many-th answer of the tool that shows it, as an agent would read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Line: TypeAlias = Mapping[str, Any]
"""One step: a call, or a reply."""
Program: TypeAlias = Sequence[Line]
"""All steps of a scripted agent."""

DONE: Line = {"say": "That is what I could do."}
"""Handing back without a claim."""


def find(number: str) -> Line:
    """Look an order up by its number."""
    return {"call": "search_orders", "with": {"number": number}}


def who(email: str) -> Line:
    """Look a customer up by e-mail, given without its host."""
    return {"call": "search_customers", "with": {"email": f"{email}@example.test"}}


def what(name: str) -> Line:
    """Look a product up by name."""
    return {"call": "search_products", "with": {"name": name}}


def read(tool: str, pointer: str, answer: int) -> dict[str, Any]:
    """What stands at a pointer of the so many-th answer of a tool."""
    return {"from": tool, "at": pointer, "answer": answer}


def order(answer: int) -> dict[str, Any]:
    """The id of the order that the so many-th search found."""
    return read("search_orders", "/orders/0/id", answer)


def customer(answer: int) -> dict[str, Any]:
    """The id of the customer that the so many-th look-up found."""
    return read("search_customers", "/customers/0/id", answer)


def payments(answer: int) -> Line:
    """List the payments of the so many-th order."""
    return {"call": "list_payments", "with": {"order_id": order(answer)}}


def refund(answer: int, amount: int = 1500, **others: str) -> Line:
    """Refund some of the first payment in the so many-th list."""
    payment = read("list_payments", "/payments/0/id", answer)
    return {"call": "refund_payment", "with": {"payment_id": payment, "amount_minor": amount, **others}}


def credit(answer: int) -> Line:
    """Give 10.00 of store credit for the so many-th order."""
    return {"call": "refund_order", "with": {"order_id": order(answer), "amount_minor": 1000}}


def move(answer: int, address: str) -> Line:
    """Send the so many-th order elsewhere."""
    return {"call": "change_order_address", "with": {"order_id": order(answer), "address": address}}


def send_back(answer: int) -> Line:
    """Register a return of the so many-th order."""
    return {"call": "create_return", "with": {"order_id": order(answer), "reason": "too small"}}


def keep(answer: int) -> Line:
    """Cancel the so many-th return."""
    return {"call": "cancel_return", "with": {"return_id": read("create_return", "/id", answer)}}


def note(answer: int, text: str = "Called.") -> Line:
    """Write a note about the so many-th customer."""
    return {"call": "add_note", "with": {"customer_id": customer(answer), "text": text}}


def update(answer: int, **fields: str) -> Line:
    """Change contact data of the so many-th customer."""
    return {"call": "update_customer", "with": {"customer_id": customer(answer), **fields}}


def place(product: int) -> Line:
    """Order one of the so many-th product for the first customer."""
    ordered = [{"product_id": read("search_products", "/products/0/id", product), "quantity": 1}]
    given = {"customer_id": customer(1), "lines": ordered, "address": "1 Elm St, Salem"}
    return {"call": "place_order", "with": given}


def cancel_placed(answer: int) -> Line:
    """Cancel the so many-th order that was placed."""
    return {"call": "cancel_order", "with": {"order_id": read("place_order", "/id", answer)}}
