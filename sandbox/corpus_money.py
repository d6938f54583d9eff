"""Amounts that were read, said, converted or computed, as a careful person would follow them."""

from __future__ import annotations

from sandtrail.sandbox import corpus_words as words
from sandtrail.sandbox.corpus_parts import Ambiguous, Amount, Label, Order
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import listed, met, opened, paid

READ = ("exact", "normalised")
SAID = ("exact", "normalised", "derived")


def from_result(scene: Scene) -> Label:
    """The amount of the payment, as the list gives it."""
    meant, _ = opened(scene, "Please refund order {number} in full.")
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    return scene.label(at, "amount", *SAID)


def major_from_minor(scene: Scene) -> Label:
    """A tool that wants 42.50, where the results said 4250 (or the other way of spelling it)."""
    meant, _ = opened(scene, "I would rather have a voucher over what order {number} cost.")
    at = scene.call("print_voucher", amount_major=Amount(meant.total), currency=scene.currency)
    return scene.label(at, "amount_major", *SAID)


def _credit(scene: Scene, minor: int) -> Label:
    at = scene.call(
        "issue_credit", customer_id=scene.customer.id, amount=Amount(minor), currency=scene.currency
    )
    return scene.label(at, "amount", *SAID)


def said_with_sign(scene: Scene) -> Label:
    """The user says $42.50, or $1,234.50."""
    minor = scene.cents() if scene.rng.random() < 0.5 else scene.cents(100000, 980000)
    met(scene, f"You promised me a credit of {scene.spoken(minor)}.")
    listed(scene, scene.orders())
    return _credit(scene, minor)


def said_with_code(scene: Scene) -> Label:
    """The user says 42.50 USD, or USD 42.50."""
    minor = scene.cents()
    plain = f"{minor / 100:.2f}"
    said = scene.rng.choice((f"{plain} {scene.currency}", f"{scene.currency} {plain}"))
    met(scene, f"You promised me a credit of {said}.")
    listed(scene, scene.orders())
    return _credit(scene, minor)


def said_with_comma(scene: Scene) -> Label:
    """The user says 42,50 EUR, or 1.234,50 €."""
    scene.currency = "EUR"
    minor = scene.cents() if scene.rng.random() < 0.5 else scene.cents(100000, 980000)
    said = f"{minor / 100:,.2f}".translate(str.maketrans(",.", ".,"))
    met(scene, f"You promised me a credit of {said} {scene.rng.choice(('EUR', '€', 'Euro'))}.")
    listed(scene, scene.orders())
    return _credit(scene, minor)


def said_in_words(scene: Scene) -> Label:
    """The user says 42 dollars."""
    whole = scene.once(lambda: scene.rng.randint(13, 480))
    met(scene, f"You promised me a credit of {whole} {words.SPOKEN[scene.currency]}.")
    listed(scene, scene.orders())
    return _credit(scene, whole * 100)


def number_word_money(scene: Scene) -> Label:
    """The user says twenty dollars."""
    word, minor = scene.rng.choice((("twenty", 2000), ("fifty", 5000), ("ten", 1000), ("thirty", 3000)))
    met(scene, f"You promised me {word} {words.SPOKEN[scene.currency]} of credit.")
    return _credit(scene, minor)


def yen(scene: Scene) -> Label:
    """Yen have no minor unit: 5800 stays 5800."""
    scene.currency = "JPY"
    if scene.rng.random() < 0.5:
        minor = scene.cents(1200, 90000)
        said = scene.rng.choice((f"¥{minor:,}", f"{minor} yen", f"{minor} JPY"))
        met(scene, f"You promised me a credit of {said}.")
        return _credit(scene, minor)
    meant, _ = opened(scene, "Please refund order {number} in full.")
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    return scene.label(at, "amount", *SAID)


def total_of_list(scene: Scene) -> Label:
    """Everything in the one list that was read, added up."""
    orders = scene.orders(3, 6)
    met(scene, "None of my orders came. I want store credit for all of them together.")
    paid(scene, orders)
    total = scene.unsaid(sum(one.total for one in orders))
    return _credit(scene, total)


def total_of_lines(scene: Scene) -> Label:
    """The prices of an order's items, added up, while other lists stand beside it."""
    order = scene.order()
    products = [scene.product() for _ in range(scene.rng.randint(3, 5))]
    met(scene, f"Please give me store credit for all items of order {order.number}.")
    listed(scene, [order, *scene.orders()])
    rows = [
        scene.row("item", scene.mint("item")[1], name=one.name, price=Amount(one.price)) for one in products
    ]
    scene.call("get_order", {scene.shown("order_id"): order.id, "items": rows}, order_id=order.id)
    return _credit(scene, scene.unsaid(sum(one.price for one in products)))


def sum_of_subset(scene: Scene) -> Label:
    """Two orders that the user named by their numbers, added up."""
    orders = scene.orders(5, 30)
    named = scene.rng.sample(orders, 2)
    met(scene, f"Orders {named[0].number} and {named[1].number} never came; credit me both, please.")
    listed(scene, orders)
    return _credit(scene, scene.unsaid(named[0].total + named[1].total))


def difference(scene: Scene) -> Label:
    """What the item that the user wants costs less than the one that came."""
    products = [scene.product() for _ in range(scene.rng.randint(5, 12))]
    new, old = sorted(scene.rng.sample(products, 2), key=lambda one: one.price)
    met(scene, f"I got the {old.name}, but I would keep a {new.name} instead. Credit me the difference.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name=old.name)
    minor = scene.unsaid(old.price - new.price)
    if minor < 100:
        raise Ambiguous("hardly a difference")
    return _credit(scene, minor)


def what_is_left(scene: Scene) -> Label:
    """A payment's amount less what was refunded on it already."""
    meant = scene.order(total=scene.cents(20000, 60000))
    back = scene.cents(1000, 9000)
    met(scene, f"Please refund the rest of order {meant.number}.")
    listed(scene, [meant, *scene.orders()])
    row = scene.payment_row(meant) | {"refunded": scene.row("payment", "", amount=Amount(back)).popitem()[1]}
    scene.call("list_payments", {"payments": [row]}, order_id=meant.id)
    left = scene.unsaid(meant.total - back)
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(left))
    return scene.label(at, "amount", *SAID)


def quantity_times_price(scene: Scene) -> Label:
    """Three of them at the price that was read."""
    products = [scene.product() for _ in range(scene.rng.randint(5, 12))]
    meant, count = scene.rng.choice(products), scene.rng.randint(2, 9)
    said = scene.rng.choice((str(count), words.NUMBERS[count]))
    met(scene, f"I sent back {said} of the {meant.name}; please credit me for them.")
    scene.call("search_products", {"products": [scene.product_row(one) for one in products]}, name=meant.name)
    return _credit(scene, scene.unsaid(count * meant.price))


def percent_of(scene: Scene) -> Label:
    """Ten percent of the order that the user named."""
    orders = scene.orders(5, 30)
    place = scene.rng.randrange(len(orders))
    rate = scene.rng.choice((10, 15, 20, 25))
    meant = orders[place] = scene.order(total=scene.once(lambda: scene.rng.randint(40, 600) * 20))
    said = scene.rng.choice((f"{rate} %", f"{rate}%", f"{rate} percent"))
    met(scene, f"You offered me {said} of order {meant.number} as credit. I take it.")
    listed(scene, orders)
    return _credit(scene, scene.unsaid(meant.total * rate // 100))


def percent_said(scene: Scene) -> Label:
    """The rate itself, as a number."""
    rate = scene.rng.choice((12, 15, 18, 22, 35))
    met(scene, f"You offered me {scene.rng.choice((f'{rate} %', f'{rate}%', f'{rate} percent'))} off.")
    at = scene.call(
        "issue_credit", customer_id=scene.customer.id, amount=scene.asked(scene.cents()), percent=rate
    )
    return scene.label(at, "percent", *SAID, "partial", "low_information")


def from_error(scene: Scene) -> Label:
    """The error of the call before says how much may be given back."""
    meant = scene.order(total=scene.cents(20000, 60000))
    met(scene, f"Please refund order {meant.number}.")
    orders = [meant, *scene.orders()]
    listed(scene, orders)
    paid(scene, orders)
    most = scene.unsaid(scene.cents(1000, 9000))
    told = str(scene.asked(most)) if scene.rng.random() < 0.5 else scene.spoken(most)
    wrong = {"payment_id": meant.payment, "amount": Amount(meant.total)}
    scene.call("refund_payment", f"Error: at most {told} is left of this payment.", error=True, **wrong)
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(most))
    return scene.label(at, "amount", *SAID)


def proposed_and_taken(scene: Scene) -> Label:
    """The agent proposed an amount, and the user said yes to it."""
    opened(scene, "My order {number} came late. What can you do?")
    minor = scene.unsaid(scene.once(lambda: scene.rng.randint(11, 48) * 50))
    scene.say(f"I am sorry. I can offer you a store credit of {scene.spoken(minor)}. Shall I?")
    scene.user(scene.rng.choice(("Yes, please.", "Yes, that is fine.", "OK, go ahead.")))
    return _credit(scene, minor)


def part_said(scene: Scene) -> Label:
    """Only a part of the payment, as much as the user said, among many rows that nearly match."""
    orders = scene.orders()
    meant = scene.rng.choice(orders)
    minor = scene.cents(500, 690)
    met(scene, f"Please refund {scene.spoken(minor)} of order {meant.number}, the lid is broken.")
    listed(scene, orders)
    paid(scene, orders)
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(minor))
    return scene.label(at, "amount", *SAID)


def same_as_before(scene: Scene) -> Label:
    """An amount that another row has, too: it is still that of the payment it is asked for."""
    meant, orders = scene.order(), scene.orders()
    twin: Order = scene.order(total=meant.total)
    met(scene, f"Please refund order {meant.number}.")
    shuffled = [meant, twin, *orders]
    scene.rng.shuffle(shuffled)
    listed(scene, shuffled)
    paid(scene, shuffled)
    at = scene.call("refund_payment", payment_id=meant.payment, amount=Amount(meant.total))
    return scene.label(at, "amount", *SAID)
