"""The tools of the corpus in their dialects: our own services, and four that other people's transcripts are full of.

| dialect | ids                               | amounts in results / asked for | names                   |
|---------|-----------------------------------|--------------------------------|-------------------------|
| typed   | pay_7Q2M9XKD, minted by our edge  | minor / minor                  | as our services         |
| opaque  | 7Q2M9XKD, minted by our edge      | minor / minor                  | as our services         |
| prefix  | pay_1f9KQz27                      | minor / minor                  | `amount_cents`          |
| retail  | #W2378156, mia_li_3668, 7815826   | major / major                  | `user_id`, `item_ids`   |
| uuid    | 8-4-4-4-12                        | text "42.50" / major           | camelCase               |
| digits  | 6086499569                        | minor / minor                  | snake_case, `order_id`  |

Only the first two say what their slots are; of the others there are names, descriptions and schemas to read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any
from uuid import UUID

from sandtrail.ledgers.specs import Catalog, OperationFact, Risk, Slot, ToolSpec
from sandtrail.ledgers.trajectory import Offer, ToolFact
from sandtrail.ledgers.words import Access
from sandtrail.sandbox.corpus_words import STATUSES

REASONS = ("no longer needed", "ordered by mistake", "arrived damaged", "wrong item")
CABINS = ("basic", "standard", "premium")
EXAMPLE_NUMBER, EXAMPLE_DATE, EXAMPLE_MAIL = "4412", "2024-05-01", "jane.roe@example.com"
ID_KINDS = {
    "customer_id": "customer",
    "order_id": "order",
    "payment_id": "payment",
    "product_id": "product",
    "lines": "product",
    "item_ids": "item",
}


@dataclass(frozen=True)
class Dialect:
    """How one set of tools names things, spells ids and counts money."""

    name: str
    results: str
    asked: str
    own: bool = False
    key: str = "id"
    camel: bool = False
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    examples: Mapping[str, str] = field(default_factory=dict[str, str])

    def shown(self, word: str, suffix: str = "") -> str:
        """A field or parameter under this dialect's name."""
        if word in {"amount", "amount_major"} and self.name in {"typed", "opaque", "prefix"}:
            word = {"amount": f"amount{suffix or '_minor'}", "amount_major": "amount"}[word]
        word = self.words.get(word, "amount" if word == "amount_major" else word)
        if not self.camel:
            return word
        first, *rest = word.split("_")
        return first + "".join(part.capitalize() for part in rest)


_RETAIL = {
    "customer_id": "user_id",
    "payment_id": "payment_method_id",
    "line": "address1",
    "line2": "address2",
}
DIALECTS = {
    one.name: one
    for one in (
        Dialect("typed", "minor", "minor", own=True),
        Dialect("opaque", "minor", "minor", own=True),
        Dialect(
            "prefix",
            "minor",
            "minor",
            examples={"payment_id": "pay_Ab12Cd34", "order_id": "ord_Ab12Cd34"},
            words={
                "refund_payment": "refunds_create", "list_payments": "billing_list_charges",
                "search_customers": "customers_find", "get_customer": "customers_get",
                "update_customer": "customers_update", "list_orders": "orders_list", "get_order": "orders_get",
            },
        ),
        Dialect(
            "retail",
            "major",
            "major",
            key="kind",
            examples={"payment_id": "credit_card_0000000", "order_id": "#W0000000", "customer_id": "sara_doe_496"},
            words=_RETAIL | {
                "get_order": "get_order_details", "get_customer": "get_user_details",
                "search_customers": "find_user", "set_address": "modify_user_address",
                "update_customer": "modify_user", "create_return": "return_delivered_order_items",
            },
        ),
        Dialect(
            "uuid",
            "text",
            "major",
            camel=True,
            examples={"order_id": "123e4567-e89b-12d3-a456-426614174000"},
        ),
        Dialect("digits", "minor", "minor", key="kind", examples={"order_id": "1008292230"}),
    )
}  # fmt: skip
OURS, FOREIGN = ("typed", "opaque"), ("prefix", "retail", "uuid", "digits")
_PREFIXES = {"customer": "cus_", "order": "ord_", "payment": "pay_", "product": "prod_", "item": "it_"}
_ALPHABET = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def foreign_id(dialect: Dialect, kind: str, rng: Random, name: str = "") -> str:
    """A fresh id of a kind, as this dialect spells them; `name` is whose it is, for slugs."""
    if dialect.name == "prefix":
        return _PREFIXES[kind] + "".join(rng.choices(_ALPHABET, k=8))
    if dialect.name == "uuid":
        return str(UUID(int=rng.getrandbits(128), version=4))
    if dialect.name == "digits" or kind in {"product", "item"}:
        return str(rng.randint(10**9, 10**10 - 1))
    if kind == "customer":
        return f"{name.lower().replace(' ', '_')}_{rng.randint(1000, 9999)}"
    if kind == "payment":
        return f"{rng.choice(('credit_card', 'paypal', 'gift_card'))}_{rng.randint(10**6, 10**7 - 1)}"
    return f"#W{rng.randint(10**6, 10**7 - 1)}"


@cache
def shown(dialect: str, word: str, suffix: str) -> str:
    """A field, parameter or tool under the dialect's name."""
    return DIALECTS[dialect].shown(word, suffix)


@cache
def own_key(dialect: str, kind: str) -> str:
    """Under which name a row of this kind gives its own id."""
    return "id" if DIALECTS[dialect].key == "id" else DIALECTS[dialect].shown(f"{kind}_id")


# -- what every tool takes -----------------------------------------------------------------------------------


_TEXT: Mapping[str, Any] = {"type": "string"}
_KEY = "A key of your own choice. Send the same key when you repeat this very call after a failure."
_FIELDS: Mapping[str, Mapping[str, Any]] = {
    "customer_id": {"type": "string", "description": "the customer"},
    "order_id": {"type": "string", "description": "the order"},
    "payment_id": {"type": "string", "description": "the payment"},
    "product_id": {"type": "string", "description": "the product"},
    "item_ids": {"type": "array", "items": _TEXT, "description": "the items of the order"},
    "number": {
        "type": "string",
        "description": f"the number printed on the order, for example {EXAMPLE_NUMBER}",
    },
    "email": {
        "type": "string", "format": "email", "description": "an e-mail address", "examples": [EXAMPLE_MAIL],
    },
    "to": {"type": "string", "format": "email", "description": "the e-mail address of the receiver"},
    "phone": {"type": "string", "description": "a phone number"},
    "status": {"type": "string", "enum": list(STATUSES)},
    "expected_status": {"type": "string", "description": "the status you have read; refused if it has moved on"},
    "reason_code": {"type": "string", "enum": list(REASONS)},
    "cover": {"type": "string", "enum": list(CABINS)},
    "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20},
    "currency": {"type": "string", "description": "ISO 4217 code"},
    "percent": {"type": "number", "minimum": 0, "maximum": 100, "description": "how much off, in percent"},
    "quantity": {"type": "integer", "minimum": 1},
    "guests": {"type": "integer", "minimum": 1},
    "insurance": {"type": "boolean"},
    "country": {"type": "string", "pattern": "^[A-Z]{2}$", "description": "ISO 3166 code"},
    "date": {
        "type": "string", "format": "date", "description": "the day, YYYY-MM-DD", "examples": [EXAMPLE_DATE],
    },
    "birth_date": {"type": "string", "format": "date", "description": "date of birth, YYYY-MM-DD"},
    "time": {"type": "string", "description": "the time of day, HH:MM in 24 hours"},
    "starts_at": {"type": "string", "description": "local date and time, YYYY-MM-DDTHH:MM"},
    "tenant": {"type": "string", "description": "the tenant to look in; required if you serve several"},
    "voucher": {"type": "string", "description": "the code of a voucher, if there is one"},
    "idempotency_key": {"type": "string", "description": _KEY},
    "reason": {"type": "string", "maxLength": 300},
}  # fmt: skip
_AMOUNTS = {
    "minor": {"type": "integer", "minimum": 1, "description": "in minor units of the currency"},
    "major": {"type": "number", "exclusiveMinimum": 0, "description": "in the main unit of the currency"},
}
_R, _W = Access.READ, Access.WRITE
_TOOLS: Mapping[str, tuple[Access, str, str, str]] = {
    "search_customers": (_R, "Find customers by e-mail, phone or name.", "", "email phone name tenant"),
    "get_customer": (_R, "Read one customer.", "customer_id", ""),
    "list_orders": (_R, "List the orders of one customer.", "customer_id", "status limit"),
    "search_orders": (_R, "Find an order by its number.", "number", ""),
    "get_order": (_R, "Read one order.", "order_id", ""),
    "list_payments": (_R, "List payments of an order or a customer.", "", "order_id customer_id"),
    "get_payment": (_R, "Read one payment.", "payment_id", ""),
    "search_products": (_R, "Find products by name.", "name", ""),
    "get_product": (_R, "Read one product.", "product_id", ""),
    "list_notes": (_R, "Read the notes on a customer's account, by anybody.", "customer_id", ""),
    "refund_payment": (
        _W, "Give money back on one payment.", "payment_id amount",
        "order_id reason currency idempotency_key",
    ),
    "issue_credit": (_W, "Give store credit.", "customer_id amount", "currency reason percent"),
    "print_voucher": (_W, "Print a gift voucher over an amount.", "amount_major currency", "customer_id"),
    "update_customer": (
        _W, "Change a customer's data.", "customer_id", "email phone name first_name last_name birth_date",
    ),
    "set_address": (
        _W, "Set a customer's address.", "customer_id", "line line2 city state postcode country address",
    ),
    "add_note": (_W, "Add a note to a customer's account.", "customer_id text", ""),
    "cancel_order": (_W, "Cancel an order.", "order_id", "reason_code expected_status"),
    "create_return": (_W, "Return items of an order.", "order_id", "item_ids reason"),
    "place_order": (_W, "Place an order.", "customer_id lines", "voucher address"),
    "book_visit": (
        _W, "Book a visit at the customer's home.", "customer_id",
        "date time starts_at insurance guests cover",
    ),
    "send_mail": (_W, "Send an e-mail.", "to subject body", ""),
}  # fmt: skip


@cache
def offer_of(name_of_dialect: str, suffix: str) -> Offer:
    """Every tool of the corpus as this dialect offers it; `suffix` is that of amounts (`_cents`)."""
    dialect = DIALECTS[name_of_dialect]
    specs: list[ToolSpec] = []
    facts: dict[str, ToolFact] = {}
    for name, (access, words, required, optional) in _TOOLS.items():
        shown = dialect.shown(name)
        properties = {
            dialect.shown(field, suffix): _schema(dialect, field)
            for field in f"{required} {optional}".split()
        }
        schema = {
            "type": "object",
            "properties": properties,
            "required": [dialect.shown(field, suffix) for field in required.split()],
        }
        specs.append(ToolSpec(shown, words, schema))
        facts[shown] = _fact(dialect, name, access, f"{required} {optional}".split(), suffix)
    return Offer(0, Catalog(tuple(specs)), facts)


@cache
def schemas(dialect: str, suffix: str) -> str:
    """All schemas of a dialect as one text."""
    return "\n".join(json.dumps(tool.input_schema) for tool in offer_of(dialect, suffix).catalog.tools)


def _schema(dialect: Dialect, name: str) -> Mapping[str, Any]:
    if name == "lines":
        fields = {dialect.shown(one): _schema(dialect, one) for one in ("product_id", "quantity")}
        return {"type": "array", "items": {"type": "object", "properties": fields}}
    if name in {"amount", "amount_major"}:
        return _AMOUNTS["major" if name == "amount_major" else dialect.asked]
    schema = _FIELDS.get(name, _TEXT)
    example = dialect.examples.get(name)
    if example is None:
        return schema
    return {**schema, "description": f"{schema['description']}, such as '{example}'"}


def _fact(dialect: Dialect, name: str, access: Access, fields: list[str], suffix: str) -> ToolFact:
    if not dialect.own:
        return ToolFact(dialect.shown(name))
    slots = {dialect.shown(one, suffix): _slot(one) for one in fields}
    return ToolFact(name, OperationFact(name, "shop", access), slots)


def _slot(name: str) -> Slot:
    if name in ID_KINDS:
        return Slot(kind=ID_KINDS[name], risk=Risk.HIGH)
    if name in {"amount", "amount_major"}:
        return Slot(unit="minor" if name == "amount" else "major", risk=Risk.HIGH)
    return Slot()


def writes(name: str) -> bool:
    """Whether a tool of the corpus (under its first name) changes anything."""
    return _TOOLS[name][0] is Access.WRITE
