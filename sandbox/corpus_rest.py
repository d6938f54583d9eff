"""Flags, counts, codes, defaults, free text and what was left out."""

from __future__ import annotations

from sandtrail.sandbox import corpus_words as words
from sandtrail.sandbox.corpus_parts import Amount, Label
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import listed, met, opened
from sandtrail.sandbox.corpus_tools import CABINS

LITTLE = ("low_information", "exact", "normalised", "derived", "default", "enum", "partial")


def _visit(scene: Scene, field: str, value: object) -> Label:
    at = scene.call("book_visit", error=False, customer_id=scene.customer.id, **{field: value})
    return scene.label(at, field, *LITTLE)


def number_word(scene: Scene) -> Label:
    """Two of us is 2; drei Personen is 3."""
    count = scene.rng.randint(2, 12)
    if scene.rng.random() < 0.5:
        met(scene, f"I book the cooking class for {words.NUMBERS[count]} people.")
    else:
        met(scene, f"Ich buche den Kochkurs für {words.ZAHLEN[count]} Personen.")
    return _visit(scene, "guests", count)


def flag(scene: Scene) -> Label:
    """Without insurance is false."""
    said, value = scene.rng.choice(
        (
            ("without insurance", False),
            ("no insurance, please", False),
            ("with insurance", True),
            ("and I want the insurance", True),
            ("ohne Versicherung", False),
        )
    )
    met(scene, f"I want the visit on Monday, {said}.")
    return _visit(scene, "insurance", value)


def enum_value(scene: Scene) -> Label:
    """One of the words that the schema allows, for what the user said in others."""
    said, code = scene.rng.choice(
        (
            ("I do not need it any more", "no longer needed"),
            ("I clicked the wrong button", "ordered by mistake"),
            ("the glass is in pieces", "arrived damaged"),
        )
    )
    meant, _ = opened(scene, f"Please cancel order {{number}}, {said}.")
    at = scene.call("cancel_order", order_id=meant.id, reason_code=code)
    return scene.label(at, "reason_code", *LITTLE)


def enum_said(scene: Scene) -> Label:
    """One of the words that the schema allows, and the user said just that."""
    cover = scene.rng.choice(CABINS)
    met(scene, f"I want a visit with the {cover} cover.")
    return _visit(scene, "cover", cover)


def schema_default(scene: Scene) -> Label:
    """The default, written out."""
    met(scene, "What did I order?")
    at = scene.call("list_orders", {"orders": []}, customer_id=scene.customer.id, limit=20)
    return scene.label(at, "limit", *LITTLE)


def one_of_it(scene: Scene) -> Label:
    """One piece, or a currency: values that prove nothing either way."""
    products = [scene.product() for _ in range(5)]
    meant = scene.rng.choice(products)
    met(scene, f"I want a {meant.name}.")
    rows = [scene.product_row(one) for one in products]
    scene.call("search_products", {"products": rows}, name=meant.name)
    lines = [{"product_id": meant.id, "quantity": 1}]
    at = scene.call("place_order", customer_id=scene.customer.id, lines=lines)
    return scene.label(at, "lines/0/quantity", *LITTLE)


def currency(scene: Scene) -> Label:
    """The currency of the payment."""
    meant, _ = opened(scene, "Please refund order {number}.")
    at = scene.call(
        "refund_payment", payment_id=meant.payment, amount=Amount(meant.total), currency=scene.currency
    )
    return scene.label(at, "currency", *LITTLE)


def german(scene: Scene) -> Label:
    """A whole German message: number, amount and wish."""
    scene.currency = "EUR"
    orders = scene.orders()
    meant = scene.rng.choice(orders)
    minor = scene.cents(500, 690)
    said = f"{minor / 100:.2f}".replace(".", ",")
    met(
        scene,
        f"Guten Tag, bitte erstatten Sie mir {said} € von Bestellung {meant.number}, der Deckel ist kaputt.",
    )
    listed(scene, orders)
    scene.call("list_payments", {"payments": [scene.payment_row(meant)]}, order_id=meant.id)
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(minor))
    return scene.label(at, "amount", "exact", "normalised", "derived")


def left_out(scene: Scene) -> Label:
    """An optional argument that is not given, or given as nothing."""
    new = scene.person()
    met(scene, f"I have moved to {new.line}, {new.city}, {new.state} {new.postcode}.")
    given: dict[str, object] = {"line": new.line, "city": new.city, "postcode": new.postcode}
    how = scene.rng.choice(("absent", "null", "empty"))
    if how != "absent":
        given["line2"] = None if how == "null" else ""
    at = scene.call("set_address", error=False, customer_id=scene.customer.id, **given)
    return scene.label(at, "line2", "omitted", "low_information", "default")


def tenant(scene: Scene) -> Label:
    """The tenant that the agent serves."""
    brief = "" if scene.own else "You work for the tenant north."
    scene.brief(brief)
    who = scene.customer
    scene.user(f"Where is my order? {who.email}")
    at = scene.call(
        "search_customers", {"customers": [scene.customer_row()]}, email=who.email, tenant="north"
    )
    return scene.label(at, "tenant", *LITTLE)


def reason(scene: Scene) -> Label:
    """Free text in the agent's own words; it names nothing."""
    meant, _ = opened(scene, "Please refund order {number}, it came too late for the party.")
    text = scene.rng.choice(
        ("Arrived after the event", "Late delivery; customer is unhappy", "Delivered late")
    )
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total), reason=text)
    return scene.label(at, "reason", *LITTLE)


def voucher(scene: Scene) -> Label:
    """The code of a voucher that the user gave."""
    code = f"{scene.rng.choice(('SPRING', 'HELLO', 'FRIENDS'))}{scene.rng.randint(11, 99)}"
    products = [scene.product() for _ in range(5)]
    met(scene, f"I want a {products[0].name}; my code is {code.lower()}.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name="all")
    lines = [{"product_id": products[0].id, "quantity": 1}]
    at = scene.call("place_order", customer_id=scene.customer.id, lines=lines, voucher=code)
    return scene.label(at, "voucher", "exact", "normalised", "partial")


def product_name(scene: Scene) -> Label:
    """What is searched for: the user's words, in the singular or plural."""
    name = scene.rng.choice(words.GOODS)
    met(scene, f"Do you have any {name} in blue?")
    at = scene.call(
        "search_products", {"products": []}, name=scene.rng.choice((name, name.title(), f"blue {name}"))
    )
    return scene.label(at, "name", *LITTLE)


# -- the wrong ones ------------------------------------------------------------------------------------------


def invented_voucher(scene: Scene) -> Label:
    """An optional argument, filled with what nobody gave."""
    products = [scene.product() for _ in range(5)]
    met(scene, f"I want a {products[0].name}.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name="all")
    code = f"{scene.rng.choice(('SAVE', 'WELCOME', 'SUMMER'))}{scene.rng.randint(11, 99)}"
    scene.nowhere(code)
    lines = [{"product_id": products[0].id, "quantity": 1}]
    at = scene.call("place_order", customer_id=scene.customer.id, lines=lines, voucher=code)
    return scene.label(at, "voucher", "invented")


def invented_tenant(scene: Scene) -> Label:
    """A tenant that nobody named, and that this agent does not serve."""
    made = scene.rng.choice(("acme-eu", "globex", "south", "tenant_42"))
    scene.brief()
    who = scene.customer
    scene.user(f"Where is my order? {who.email}")
    scene.nowhere(made)
    at = scene.call("search_customers", {"customers": []}, email=who.email, tenant=made)
    return scene.label(at, "tenant", "invented", "source_policy", "wrong_binding", "unseen_real")


def invented_reason_id(scene: Scene) -> Label:
    """A mail whose text names an order that nobody has."""
    met(scene, "Please confirm by mail that my order was cancelled.")
    listed(scene, scene.orders())
    strange = scene.stray("order")
    scene.nowhere(strange)
    body = f"Dear {scene.customer.first}, your order {strange} was cancelled."
    at = scene.call("send_mail", to=scene.customer.email, subject="Your order", body=body)
    return scene.label(at, "body", "invented")
