"""Names, e-mails, phones and addresses: spelled in another way, put together or taken apart; and made up."""

from __future__ import annotations

from sandtrail.sandbox import corpus_words as words
from sandtrail.sandbox.corpus_parts import Ambiguous, Label, Person
from sandtrail.sandbox.corpus_scene import Scene
from sandtrail.sandbox.corpus_steps import listed, met

SPELLED = ("exact", "normalised", "partial", "derived")


def phone(scene: Scene) -> Label:
    """The same digits with other punctuation."""
    who = scene.customer
    area, rest = who.phone[2:5], who.phone[5:]
    said = scene.rng.choice(
        (
            f"({area}) {rest[:3]}-{rest[3:]}",
            f"{area}-{rest[:3]}-{rest[3:]}",
            f"+1 {area} {rest[:3]} {rest[3:]}",
            f"{area}.{rest[:3]}.{rest[3:]}",
        )
    )
    scene.brief()
    scene.user(f"Hi, you have my number: {said}. Where is my order?")
    at = scene.call("search_customers", {"customers": [scene.customer_row()]}, phone=who.phone)
    return scene.label(at, "phone", *SPELLED)


def email(scene: Scene) -> Label:
    """An e-mail address in another case, with the full stop of the sentence."""
    said = scene.customer.email
    said = scene.rng.choice((said.upper(), said.title(), said.capitalize(), said))
    scene.brief()
    scene.user(f"Where is my order? My e-mail is {said}.")
    at = scene.call("search_customers", {"customers": [scene.customer_row()]}, email=scene.customer.email)
    return scene.label(at, "email", *SPELLED)


def email_from_result(scene: Scene) -> Label:
    """Mail to the address that the account has."""
    met(scene, "Please send me the terms by mail.", by="name")
    at = scene.call(
        "send_mail", to=scene.customer.email, subject="Our terms", body="Please find our terms below."
    )
    return scene.label(at, "to", *SPELLED)


def new_email(scene: Scene) -> Label:
    """A new address that the user gave."""
    new = scene.person().email
    met(scene, f"Please change my e-mail to {new}.")
    at = scene.call("update_customer", customer_id=scene.customer.id, email=new)
    return scene.label(at, "email", *SPELLED)


def name_composed(scene: Scene) -> Label:
    """First and last name were given apart."""
    who = scene.customer
    scene.brief()
    scene.user(f"First name {who.first}, last name {who.last}. Where is my order?")
    asked = scene.rng.choice((who.name, f"{who.last}, {who.first}"))
    at = scene.call("search_customers", {"customers": [scene.customer_row()]}, name=asked)
    return scene.label(at, "name", *SPELLED)


def name_part(scene: Scene) -> Label:
    """The last name out of a whole one."""
    new = scene.person()
    met(scene, f"I have married and am {new.name} now. Please change it.")
    field = scene.rng.choice(("first_name", "last_name"))
    asked = {"first_name": new.first, "last_name": new.last}
    at = scene.call("update_customer", error=False, customer_id=scene.customer.id, **asked)
    return scene.label(at, field, *SPELLED)


def name_in_other_case(scene: Scene) -> Label:
    """A name typed in small or big letters."""
    who = scene.customer
    said = scene.rng.choice((who.name.lower(), who.name.upper()))
    scene.brief()
    scene.user(f"{said} here, where is my order?")
    at = scene.call("search_customers", {"customers": [scene.customer_row()]}, name=who.name)
    return scene.label(at, "name", *SPELLED)


def without_accents(scene: Scene) -> Label:
    """José became Jose: the tool searches without accents."""
    said, asked = scene.rng.choice(words.ACCENTED)
    scene.brief()
    scene.user(f"Hi, {said} here, where is my order?")
    at = scene.call("search_customers", {"customers": []}, name=asked)
    return scene.label(at, "name", *SPELLED)


def _moved(scene: Scene) -> Person:
    return scene.person()


def address_abbreviated(scene: Scene) -> Label:
    """12 Elm Street, entered as 12 Elm St, or the other way round."""
    new = _moved(scene)
    way, short = next(pair for pair in words.WAYS if new.line.endswith(pair[0]))
    brief = new.line.removesuffix(way) + short + scene.rng.choice(("", "."))
    said, asked = scene.rng.choice(((new.line, brief), (brief, new.line)))
    met(scene, f"I have moved to {said}, {new.city}, {new.state} {new.postcode}.")
    at = _address(scene, new, line=asked)
    return scene.label(at, "line", *SPELLED)


def _address(scene: Scene, new: Person, **other: str) -> int:
    given = {"line": new.line, "city": new.city, "state": new.state, "postcode": new.postcode} | other
    return scene.call("set_address", error=False, customer_id=scene.customer.id, **given)


def address_part(scene: Scene) -> Label:
    """Street, city, state or postcode out of one sentence."""
    new = _moved(scene)
    met(scene, f"I have moved to {new.line}, {new.city}, {new.state} {new.postcode}.")
    at = _address(scene, new)
    return scene.label(at, scene.rng.choice(("line", "city", "postcode")), *SPELLED)


def address_joined(scene: Scene) -> Label:
    """One line out of the fields of a result."""
    who = scene.customer
    met(scene, "Please send it to the address on my account.")
    joined = f"{who.line}, {who.city}, {who.state} {who.postcode}"
    at = scene.call("set_address", customer_id=who.id, address=joined)
    return scene.label(at, "address", *SPELLED)


def state_code(scene: Scene) -> Label:
    """Oregon, entered as OR."""
    new = _moved(scene)
    full = next(long for city, _, long in words.CITIES if city == new.city)
    met(scene, f"I have moved to {new.line} in {new.city}, {full}, {new.postcode}.")
    at = _address(scene, new)
    return scene.label(at, "state", *SPELLED, "low_information")


def country_code(scene: Scene) -> Label:
    """Germany, entered as DE."""
    name, code = scene.rng.choice(words.COUNTRIES)
    new = _moved(scene)
    met(scene, f"I am moving to {name}: {new.line}, {new.postcode} {new.city}.")
    at = _address(scene, new, country=code)
    return scene.label(at, "country", *SPELLED, "low_information", "enum")


# -- the wrong ones ------------------------------------------------------------------------------------------


def invented_email(scene: Scene) -> Label:
    """An address that looks like the user's, and that nobody gave."""
    who = scene.customer
    scene.brief()
    scene.user(f"Hi, this is {who.name}. Where is my order?")
    made = f"{who.first}.{who.last}@{scene.rng.choice(('gmail.com', 'email.com', 'acme.test'))}".lower()
    if scene.rng.random() < 0.3:
        made = "john.doe@example.com"
    scene.nowhere(made)
    at = scene.call("search_customers", {"customers": []}, email=made)
    return scene.label(at, "email", "invented", "schema_example")


def misspelt_email(scene: Scene) -> Label:
    """The user's address with a letter lost or doubled."""
    right = scene.customer.email
    place = scene.rng.randint(1, right.index("@") - 3)
    if right[place] == right[place + 1]:
        raise Ambiguous("doubled already")
    wrong = scene.rng.choice(
        (right[:place] + right[place + 1 :], right[:place] + right[place] + right[place:])
    )
    scene.brief()
    scene.user(f"Hi, my e-mail is {right}. Where is my order?")
    scene.nowhere(wrong)
    at = scene.call("search_customers", {"customers": []}, email=wrong)
    return scene.label(at, "email", "near_miss")


def invented_phone(scene: Scene) -> Label:
    """A number that nobody gave."""
    met(scene, "Please change my phone number.")
    made = f"+1{scene.rng.randint(201, 989)}555{scene.rng.randint(0, 9999):04}"
    if made[2:] in scene.customer.phone:
        raise Ambiguous("it is the old one")
    scene.nowhere(made)
    at = scene.call("update_customer", customer_id=scene.customer.id, phone=made)
    return scene.label(at, "phone", "invented", "near_miss")


def invented_name(scene: Scene) -> Label:
    """A name that nobody said."""
    scene.brief()
    scene.user("Where is my order? It should have come on Monday.")
    made = scene.rng.choice(("John Smith", "John Doe", scene.person().name))
    scene.nowhere(made)
    at = scene.call("search_customers", {"customers": []}, name=made)
    return scene.label(at, "name", "invented")


def invented_address(scene: Scene) -> Label:
    """A street that nobody named."""
    met(scene, "I have moved. Please change my address.")
    new = _moved(scene)
    if new.line.split()[0] in scene.customer.line or new.line.split()[1] in scene.customer.line:
        raise Ambiguous("it resembles the old one")
    scene.nowhere(new.line)
    return scene.label(_address(scene, new), "line", "invented")


def invented_postcode(scene: Scene) -> Label:
    """Street and city were said; the postcode was filled in."""
    new = _moved(scene)
    met(scene, f"I have moved to {new.line}, {new.city}.")
    scene.nowhere(new.postcode)
    return scene.label(_address(scene, new), "postcode", "invented")


def email_of_another(scene: Scene) -> Label:
    """Mail to another customer of the same search result."""
    who = scene.customer
    other = scene.person(last=who.last)
    scene.brief()
    scene.user(f"Hi, this is {who.name}. Please send me the terms by mail.")
    rows = [scene.customer_row(who), scene.customer_row(other)]
    scene.rng.shuffle(rows)
    scene.call("search_customers", {"customers": rows}, name=who.last)
    at = scene.call("send_mail", to=other.email, subject="Our terms", body="Please find our terms below.")
    return scene.label(at, "to", "wrong_binding", "mixed_entity")


def _changed(scene: Scene, field: str, old: str, new: str) -> None:
    """The customer changes a field; the answer shows the new value."""
    row = scene.customer_row() | {scene.shown(field): new}
    change = scene.change("customer", scene.customer.symbol, field, old, new)
    scene.call("update_customer", row, change, error=False, customer_id=scene.customer.id, **{field: new})


def stale_email(scene: Scene) -> Label:
    """Mail to the address that was changed a minute ago."""
    new = scene.person().email
    met(scene, f"Please change my e-mail to {new} and send me the terms.", by="name")
    _changed(scene, "email", scene.customer.email, new)
    at = scene.call(
        "send_mail", to=scene.customer.email, subject="Our terms", body="Please find our terms below."
    )
    return scene.label(at, "to", "stale")


def stale_phone(scene: Scene) -> Label:
    """A search by the number that was changed a minute ago."""
    new = scene.person().phone
    met(scene, f"Please change my phone number to {new}.", by="name")
    _changed(scene, "phone", scene.customer.phone, new)
    at = scene.call("search_customers", {"customers": []}, phone=scene.customer.phone)
    return scene.label(at, "phone", "stale")


def changed_email(scene: Scene) -> Label:
    """Mail to the new address, after the change: the right thing to do."""
    new = scene.person().email
    met(scene, f"Please change my e-mail to {new} and send me the terms.", by="name")
    _changed(scene, "email", scene.customer.email, new)
    at = scene.call("send_mail", to=new, subject="Our terms", body="Please find our terms below.")
    return scene.label(at, "to", *SPELLED)


def back_again(scene: Scene) -> Label:
    """The address was changed, changed back and read again: the old one is right after all."""
    old, new = scene.customer.email, scene.person().email
    met(scene, f"Please change my e-mail to {new}.", by="name")
    _changed(scene, "email", old, new)
    scene.user("No, sorry, leave it as it was, and send me the terms.")
    _changed(scene, "email", new, old)
    scene.call("get_customer", scene.customer_row(), customer_id=scene.customer.id)
    at = scene.call("send_mail", to=old, subject="Our terms", body="Please find our terms below.")
    return scene.label(at, "to", *SPELLED)


def stale_status(scene: Scene) -> Label:
    """The status that the order had before it was read a second time."""
    order = scene.order()
    met(scene, f"Please cancel order {order.number} if it has not left yet.")
    listed(scene, [order])
    now = scene.rng.choice([one for one in words.STATUSES if one != order.status])
    scene.event(scene.change("order", order.symbol, "status", order.status, now))
    row = scene.order_row(order) | {scene.shown("status"): now}
    scene.call("get_order", row, order_id=order.id)
    at = scene.call("cancel_order", order_id=order.id, expected_status=order.status)
    return scene.label(at, "expected_status", "stale")
