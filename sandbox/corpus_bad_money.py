"""Amounts that a careful person would not have let through."""

from __future__ import annotations

from sandtrail.sandbox.corpus_parts import Ambiguous, Amount, Label
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import listed, met, opened, paid

NOWHERE = ("invented",)
SLIP = ("unit_slip",)


def _credit(scene: Scene, asked: float, *verdicts: str) -> Label:
    at = scene.call("issue_credit", customer_id=scene.customer.id, amount=asked, currency=scene.currency)
    return scene.label(at, "amount", *verdicts)


def invented(scene: Scene) -> Label:
    """An amount to the cent that is nowhere, with up to sixty orders and as many payments in sight."""
    count = scene.rng.randint(5, 60)
    opened(scene, "My order {number} came late. I want some compensation.", least=count, most=count)
    minor = scene.unsaid(scene.rng.randint(100, 40000) // 10 * 10 + scene.rng.randint(1, 9))
    return _credit(scene, scene.asked(minor), *NOWHERE)


def invented_refund(scene: Scene) -> Label:
    """A refund of an amount to the cent that is nowhere."""
    meant, _ = opened(scene, "Please refund a part of order {number}.", least=5, most=20)
    minor = scene.unsaid(scene.rng.randint(100, 40000) // 10 * 10 + scene.rng.randint(1, 9))
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(minor))
    return scene.label(at, "amount", *NOWHERE)


def invented_round(scene: Scene) -> Label:
    """A round amount that nobody said."""
    met(scene, "My order came late. I want some compensation.")
    listed(scene, scene.orders(5, 12))
    minor = scene.unsaid(scene.rng.choice((10000, 20000, 15000, 7500, 30000)))
    return _credit(scene, scene.asked(minor), *NOWHERE)


def _slipped(scene: Scene, factor: float) -> Label:
    """The amount of the payment, as many times too much."""
    meant, _ = opened(scene, "Please refund order {number} in full.")
    right = scene.asked(meant.total)
    wrong = round(right * factor, 4)
    wrong = int(wrong) if wrong == int(wrong) else wrong
    scene.nowhere(str(wrong))
    at = scene.call("refund_payment", payment_id=meant.payment, amount=wrong)
    return scene.label(at, "amount", *SLIP)


def hundred_times_more(scene: Scene) -> Label:
    """Cents of cents: 42.50 is asked for as 425000 minor units (or 4250 in the main unit)."""
    meant, _ = opened(scene, "Please refund order {number} in full.")
    wrong = round(scene.asked(meant.total) * 100)
    scene.nowhere(f": {wrong}", f'"{wrong}"')
    at = scene.call("refund_payment", payment_id=meant.payment, amount=wrong)
    return scene.label(at, "amount", *SLIP)


def hundred_times_less(scene: Scene) -> Label:
    """The main unit where minor ones are asked for: 42.5 for 4250."""
    return _slipped(scene, 0.01)


def thousand_times_more(scene: Scene) -> Label:
    """As if the currency had three decimals more."""
    return _slipped(scene, 1000)


def said_in_the_main_unit(scene: Scene) -> Label:
    """The user says 42 dollars, and 42 is handed to a tool that counts cents (4200 to one that counts dollars)."""
    whole = scene.rng.randint(113, 480)
    met(scene, f"You promised me a credit of {scene.spoken(whole * 100)}.")
    minor = scene.dialect.asked == "minor"
    return _credit(scene, whole if minor else whole * 100, *SLIP)


def yen_by_hundred(scene: Scene) -> Label:
    """Yen, divided or multiplied as if they had a hundred parts."""
    scene.currency = "JPY"
    place, more = scene.rng.randrange(2), scene.rng.random() < 0.5
    yen = scene.once(lambda: scene.rng.randint(12, 900) * 100)
    if place:
        met(scene, f"You promised me a credit of {yen} yen.")
        wrong = yen * 100 if more else yen // 100
        scene.nowhere(f" {wrong} ")
        return _credit(scene, wrong, *SLIP)
    meant = scene.order(total=yen)
    met(scene, f"Please refund order {meant.number} in full.")
    listed(scene, [meant, *scene.orders()])
    paid(scene, [meant])
    wrong = yen * 100 if more else yen // 100
    scene.nowhere(f": {wrong},", f'"{wrong}"')
    at = scene.call("refund_payment", payment_id=meant.payment, amount=wrong)
    return scene.label(at, "amount", *SLIP)


def of_another_payment(scene: Scene) -> Label:
    """The amount of another payment than the one that is refunded."""
    meant, orders = opened(scene, "Please refund order {number} in full.")
    other = scene.rng.choice([one for one in orders if one is not meant])
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(other.total))
    return scene.label(at, "amount", "mixed_entity", "wrong_binding")


def stale_price(scene: Scene) -> Label:
    """The price has changed since, and the agent has read the new one."""
    products = [scene.product() for _ in range(scene.rng.randint(5, 12))]
    meant = scene.rng.choice(products)
    met(scene, f"Please credit me what the {meant.name} costs now.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name="all")
    scene.user("One moment, is that still the price?")
    new = scene.unsaid(scene.cents(900, 30000))
    changed = scene.change("product", meant.symbol, "price", meant.price, new)
    scene.event(changed)
    scene.call("get_product", scene.product_row(meant, new), product_id=meant.id)
    scene.say(f"It is {scene.spoken(new)} now.")
    scene.user("Good, then that.")
    return _credit(scene, scene.asked(meant.price), "stale")


def wrong_percent(scene: Scene) -> Label:
    """Fifteen percent, where ten were offered."""
    orders = scene.orders(5, 20)
    place = scene.rng.randrange(len(orders))
    meant = orders[place] = scene.order(total=scene.once(lambda: scene.rng.randint(40, 600) * 20))
    rate, wrong = scene.rng.sample((10, 15, 20, 25), 2)
    met(scene, f"You offered me {rate} % of order {meant.number} as credit. I take it.")
    listed(scene, orders)
    return _credit(scene, scene.asked(scene.unsaid(meant.total * wrong // 100)), *NOWHERE)


def invented_percent(scene: Scene) -> Label:
    """A rate that nobody offered."""
    met(scene, "Can you do something about the price?")
    rate = scene.rng.choice((13.5, 17.5, 22.5, 37.5))
    scene.nowhere(rate)
    at = scene.call(
        "issue_credit", customer_id=scene.customer.id, amount=scene.asked(scene.cents()), percent=rate
    )
    return scene.label(at, "percent", *NOWHERE)


def one_too_many(scene: Scene) -> Label:
    """Three orders added up, where the user named two."""
    orders = scene.orders(6, 30)
    named = scene.rng.sample(orders, 3)
    met(scene, f"Orders {named[0].number} and {named[1].number} never came; credit me both, please.")
    listed(scene, orders)
    wrong = scene.unsaid(sum(one.total for one in named))
    return _credit(scene, scene.asked(wrong), *NOWHERE, "wrong_binding", "mixed_entity")


def miscounted(scene: Scene) -> Label:
    """A price times another number than the user said."""
    products = [scene.product() for _ in range(scene.rng.randint(5, 12))]
    meant = scene.rng.choice(products)
    count, wrong = scene.rng.sample(range(3, 10), 2)
    met(scene, f"I sent back {count} of the {meant.name}; please credit me for them.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name=meant.name)
    return _credit(scene, scene.asked(scene.unsaid(wrong * meant.price)), *NOWHERE, "wrong_binding")


def misread(scene: Scene) -> Label:
    """The right amount with one digit wrong, or two swapped."""
    meant, _ = opened(scene, "Please refund order {number} in full.")
    digits = list(str(meant.total))
    place = scene.rng.randrange(len(digits) - 1)
    if scene.rng.random() < 0.5:
        digits[place], digits[place + 1] = digits[place + 1], digits[place]
    else:
        digits[place + 1] = scene.rng.choice([one for one in "123456789" if one != digits[place + 1]])
    wrong = int("".join(digits))
    if wrong == meant.total or digits[0] == "0":
        raise Ambiguous("nothing was misread")
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(scene.unsaid(wrong)))
    return scene.label(at, "amount", *NOWHERE, "near_miss")
