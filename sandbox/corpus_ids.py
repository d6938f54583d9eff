"""Ids that were really found somewhere, and one that its user made up."""

from __future__ import annotations

from sandtrail.sandbox.corpus_parts import Amount, Label
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import answer_of, listed, met, opened, paid

SEEN = ("exact", "normalised")


def from_result(scene: Scene) -> Label:
    """The payment of the order that the user named, out of the list."""
    meant, _ = opened(scene, "Please refund order {number}, it never came.")
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    return scene.label(at, "payment_id", *SEEN)


def order_from_result(scene: Scene) -> Label:
    """The order that the user named by its number."""
    meant, _ = opened(scene, "What about my order {number}?")
    at = scene.call("get_order", answer_of(scene, meant), order_id=meant.id)
    return scene.label(at, "order_id", *SEEN)


def only_one(scene: Scene) -> Label:
    """The one order there is; the user named none."""
    order = scene.order()
    met(scene, "Please cancel my order.", by=scene.rng.choice(("email", "phone", "name")))
    listed(scene, [order])
    at = scene.call("cancel_order", order_id=order.id)
    return scene.label(at, "order_id", *SEEN)


def from_user(scene: Scene) -> Label:
    """The user wrote the id into the message."""
    order = scene.order()
    ending = scene.rng.choice((".", "?", ", please.", "! Thanks", ""))
    scene.brief()
    scene.user(f"Where is my order {order.id}{ending}")
    at = scene.call("get_order", answer_of(scene, order), order_id=order.id)
    return scene.label(at, "order_id", *SEEN)


def from_system(scene: Scene) -> Label:
    """The customer who is signed in stands in the system text."""
    orders = scene.orders()
    scene.brief(f"The signed-in customer is {scene.customer.id}.")
    scene.user("What did I order lately?")
    at = listed(scene, orders)
    return scene.label(at, "customer_id", *SEEN)


def object_key(scene: Scene) -> Label:
    """The ids are the keys of an object, and nothing else tells them."""
    orders = scene.orders()
    meant = scene.rng.choice(orders)
    met(scene, f"Please cancel order {meant.number}.")
    found = {
        one.id: {"number": one.number, "status": one.status, "total": scene.asked(one.total)}
        for one in orders
    }
    scene.call("list_orders", {"orders": found}, customer_id=scene.customer.id)
    at = scene.call("cancel_order", order_id=meant.id)
    return scene.label(at, "order_id", *SEEN)


def with_hash(scene: Scene) -> Label:
    """A number said with a '#' and asked for without, or the other way round."""
    order = scene.order()
    scene.brief()
    if scene.dialect.name == "retail":
        scene.user(f"Where is {order.number}? It should have come.")
        at = scene.call("get_order", answer_of(scene, order), order_id=order.id)
        return scene.label(at, "order_id", *SEEN)
    said, asked = scene.rng.choice(((f"#{order.number}", order.number), (order.number, f"#{order.number}")))
    scene.user(f"Where is order {said}? It should have come.")
    at = scene.call("search_orders", {"orders": [scene.order_row(order)]}, number=asked)
    return scene.label(at, "number", *SEEN, "partial")


def other_case(scene: Scene) -> Label:
    """The user typed the id in the other case; the agent wrote it as it is."""
    order = scene.order()
    said = order.id.lower() if scene.dialect.name != "uuid" else order.id.upper()
    if scene.dialect.name == "digits":
        said = f"{order.id[:4]} {order.id[4:7]} {order.id[7:]}"
    asked = order.id.lower() if scene.dialect.name == "prefix" else order.id
    scene.brief()
    scene.user(f"I am waiting for {said}. Any news?")
    at = scene.call("get_order", answer_of(scene, order), order_id=asked)
    return scene.label(at, "order_id", *SEEN)


def from_error(scene: Scene) -> Label:
    """The error of the call before says which id is wanted."""
    order, orders = scene.order(), scene.orders()
    met(scene, "Please send my last order back.")
    listed(scene, orders)
    wrong = orders[-1]
    said = f"This order was replaced by order {order.id}; use that one."
    scene.call("create_return", said, error=True, order_id=wrong.id)
    at = scene.call("create_return", order_id=order.id)
    return scene.label(at, "order_id", *SEEN)


def of_nobody(scene: Scene) -> Label:
    """The user gave an id that exists nowhere: that is the user's matter, not the agent's."""
    strange = scene.stray("payment")
    scene.brief()
    scene.user(f"Please look at payment {strange}.")
    at = scene.call("get_payment", "There is no such payment.", error=True, payment_id=strange)
    return scene.label(at, "payment_id", *SEEN, "user_unknown")


def twice(scene: Scene) -> Label:
    """The id stands in the user's message and in two results."""
    meant, _ = opened(scene, "Please refund order {number}.")
    scene.user(f"It is order {meant.id}, by the way.")
    scene.call("get_order", answer_of(scene, meant), order_id=meant.id)
    at = scene.call("refund_payment", payment_id=meant.payment, order_id=meant.id, amount=Amount(meant.total))
    return scene.label(at, "order_id", *SEEN)


def in_a_list(scene: Scene) -> Label:
    """The second of the items that are sent back."""
    order = scene.order()
    items = [(scene.mint("item", scene.customer.symbol)[1], scene.product()) for _ in range(5)]
    named = scene.rng.sample(items, 2)
    met(scene, f"I want to return the {named[0][1].name} and the {named[1][1].name} of order {order.number}.")
    listed(scene, [order, *scene.orders()])
    rows = [scene.row("item", raw, name=one.name, price=Amount(one.price)) for raw, one in items]
    scene.call("get_order", scene.order_row(order) | {"items": rows}, order_id=order.id)
    at = scene.call("create_return", order_id=order.id, item_ids=[raw for raw, _ in named])
    return scene.label(at, "item_ids/1", *SEEN)


def after_a_write(scene: Scene) -> Label:
    """The id was given back by the write that made it."""
    product = scene.product()
    others = [scene.product() for _ in range(5)]
    met(scene, f"Please order one {product.name} for me and tell me how it stands.")
    scene.call(
        "search_products", {"products": [scene.product_row(one) for one in [*others, product]]}, name="all"
    )
    order = scene.order(total=product.price)
    scene.call(
        "place_order",
        scene.order_row(order),
        scene.change("order", order.symbol, "status", "none", "placed"),
        customer_id=scene.customer.id,
        lines=[{"product_id": product.id, "quantity": 1}],
    )
    at = scene.call("get_order", answer_of(scene, order), order_id=order.id)
    return scene.label(at, "order_id", *SEEN)


def in_lines(scene: Scene) -> Label:
    """The product's id, one level down in the arguments."""
    products = [scene.product() for _ in range(scene.rng.randint(5, 12))]
    meant = scene.rng.choice(products)
    met(scene, f"Please order one {meant.name} for me.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name=meant.name)
    at = scene.call(
        "place_order", customer_id=scene.customer.id, lines=[{"product_id": meant.id, "quantity": 1}]
    )
    return scene.label(at, "lines/0/product_id", *SEEN)


def note_with_right_id(scene: Scene) -> Label:
    """A note in the agent's own words; the id and the amount in it are right."""
    meant, _ = opened(scene, "Please refund order {number}.")
    scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    text = scene.rng.choice(
        (
            f"Refunded payment {meant.payment} of order {meant.number} in full ({scene.spoken(meant.total)}).",
            f"Customer asked for money back on {meant.id}. Done on {meant.payment}.",
        )
    )
    at = scene.call("add_note", customer_id=scene.customer.id, text=text)
    return scene.label(at, "text", *SEEN, "partial", "derived", "low_information")


def own_key(scene: Scene) -> Label:
    """An idempotency key is made up by the caller; that is what the tool asks for."""
    meant, _ = opened(scene, "Please refund order {number}.")
    key = scene.rng.choice((f"refund-{meant.number}-1", f"{scene.rng.getrandbits(64):016x}"))
    at = scene.call(
        "refund_payment", payment_id=meant.payment, amount=Amount(meant.total), idempotency_key=key
    )
    return scene.label(
        at, "idempotency_key", *SEEN, "generated", "partial", "derived", "default", "low_information"
    )


def earlier_turn(scene: Scene) -> Label:
    """The id was found three turns ago, and much was said since."""
    meant, orders = opened(scene, "How many orders do I have?")
    scene.say(f"You have {len(orders)} orders.")
    scene.user("And how long does a refund take?")
    scene.say("Five to seven working days.")
    scene.user(f"Then please refund order {meant.number}.")
    paid(scene, orders[:3])
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    return scene.label(at, "payment_id", *SEEN)
