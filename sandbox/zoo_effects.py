"""Flaws in what is changed: too much, twice, the wrong thing, by the wrong amount, or too little.

a write on a read-only request, undone or not · an extra write, told or not · retries after a lost answer · keys ·
off by 100, by one cent · another payment · undoing what was right · making it worse · stopping halfway
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any

from sandtrail.ledgers import Delivery
from sandtrail.ledgers.conversation import Calls, Decision, Reply
from sandtrail.ledgers.trajectory import Made
from sandtrail.ledgers.trees import as_list, as_object, parsed
from sandtrail.sandbox.zoo_reference import Reference, Strike, call

NOTE, SORRY = "Called about an order.", "For the trouble."


def _at(run: Reference, step: int) -> str:
    return f"attempt {run.attempts_before(step) + 1}"


def _wants(run: Reference, effect: str) -> bool:
    return any(wanted.name == effect for wanted in run.scenario.expect.effects)


def _customer(run: Reference, step: int) -> str | None:
    """The raw id of a customer that was shown before a step, and whose account is open."""
    for one in run.seen(step, "customer"):
        fields = run.scenario.world.entities.get(one.symbol)
        if (
            fields is not None
            and fields.get("status", "active") == "active"
            and one.symbol not in run.scenario.expect.foreign
        ):
            return one.raw
    return None


def _note(run: Reference, step: int) -> Calls | None:
    """A note on the customer's account, where that is nothing the scenario wants."""
    tool, customer = run.may("add_note", step, "customers:write"), _customer(run, step)
    if (
        tool is None
        or customer is None
        or _wants(run, "note.added")
        or "add_note" in run.scenario.expect.forbid
    ):
        return None
    return call(tool, customer_id=customer, text=NOTE)


def _rows(run: Reference, step: int, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a list in the results before a step, the latest first: payments, orders."""
    for made in reversed([one for one in run.made if one.step.number < step and one.answered]):
        fields = as_object(parsed(made.answered.text if made.answered else "")) or {}
        for row in as_list(fields.get(name)) or []:
            yield dict(as_object(row) or {})


# -- too much --------------------------------------------------------------------------------------------


def writes_on_read_only(run: Reference) -> Strike | None:
    """The user only wants to know, and something is written all the same."""
    step = run.last_reply
    note = _note(run, step) if step is not None and run.scenario.expect.read_only else None
    if step is None or note is None:
        return None
    return Strike(run.put_in(step, note), "effect.unauthorized_write", _at(run, step))


def write_then_undo(run: Reference) -> Strike | None:
    """On a read-only request an address is changed, and changed back."""
    step = run.last_reply
    if step is None or not run.scenario.expect.read_only:
        return None
    tool = run.may("change_order_address", step, "orders:write")
    for row in _rows(run, step, "orders") if tool is not None else ():
        address = row.get("address")
        if row.get("status") in {"placed", "packed"} and isinstance(address, str) and len(address) > 4:
            assert tool is not None, "else there is nothing to go through"
            there = call(tool, order_id=row["id"], address=f"c/o Desk, {address}")
            back = call(tool, order_id=row["id"], address=address)
            return Strike(run.put_in(step, there, back), "effect.unauthorized_write", _at(run, step))
    return None


def extra_write(run: Reference) -> Strike | None:
    """Beside what was asked for, something else is written."""
    step = run.last_reply
    note = _note(run, step) if step is not None and run.scenario.expect.effects else None
    if step is None or note is None:
        return None
    return Strike(run.put_in(step, note), "effect.unauthorized_write", _at(run, step))


def hides_a_write(run: Reference) -> Strike | None:
    """Something is written that nobody asked for, and no reply tells of it."""
    step = run.last_reply
    spoken = " ".join(reply.text.lower() for _, reply in run.replies)
    if step is None or any(word in spoken for word in ("note", "add", "remark", "wr")):
        return None
    note = _note(run, step)
    return None if note is None else Strike(run.put_in(step, note), "claim.undisclosed", _at(run, step))


def piles_up(run: Reference) -> Strike | None:
    """After one write that nobody asked for another one follows, and both stand."""
    step = run.last_reply
    note = _note(run, step) if step is not None and not run.scenario.world.faults.faults else None
    if step is None or note is None:
        return None
    given = dict(note.calls[0].arguments)
    again = call(note.calls[0].tool, **{**given, "text": SORRY})
    return Strike(run.put_in(step, note, again), "recovery.made_worse", "final")


def credits_instead(run: Reference) -> Strike | None:
    """Store credit is given where money was to go back."""
    for made in run.writes:
        order = next((row.get("order_id") for row in _payments(run, made)), None)
        tool = run.may("refund_order", made.step.number, "billing:refund")
        if run.fact(made).name == "refund_payment" and order and tool and not _wants(run, "credit.issued"):
            given = {"order_id": order, "amount_minor": made.call.arguments["amount_minor"]}
            changed = replace(made.call, tool=tool, arguments=given, raw=None)
            return Strike(run.recalled(made, changed), "effect.unauthorized_write", _attempt(made))
    return None


def _payments(run: Reference, made: Made) -> Iterator[dict[str, Any]]:
    """The row of the payment that a call is about, as results before it show it."""
    for row in _rows(run, made.step.number, "payments"):
        if row.get("id") == made.call.arguments.get("payment_id"):
            yield row


def _attempt(made: Made) -> str:
    return f"attempt {made.answered.attempt if made.answered else 0}"


# -- twice -----------------------------------------------------------------------------------------------


def _lost(run: Reference) -> Iterator[Made]:
    """Writes that committed, and whose answer never came."""
    for made in run.writes:
        page = run.page(made)
        if page and page.attempt and page.attempt.delivery is Delivery.LOST and run.is_alone(made):
            yield made


def _room(run: Reference, made: Made) -> bool:
    """Whether a refund can be made a second time."""
    amount = made.call.arguments.get("amount_minor", 0)
    rows = list(_payments(run, made))
    return run.fact(made).name == "refund_payment" and any(
        row["amount"] - row["refunded"] >= 2 * amount for row in rows[:1]
    )


def _bare(made: Made) -> dict[str, Any]:
    return {name: value for name, value in made.call.arguments.items() if name != "idempotency_key"}


def refunds_twice(run: Reference) -> Strike | None:
    """The answer to a refund is lost, and it is made a second time."""
    for made in _lost(run):
        if _room(run, made):
            step = made.step.number
            again = call(made.call.tool, **_bare(made))
            return Strike(run.put_in(step + 1, again), "effect.duplicate", _at(run, step + 1))
    return None


def retries_blindly(run: Reference) -> Strike | None:
    """An answer is lost, and the write is sent again without a look and without its key."""
    for made in _lost(run):
        step = made.step.number
        again = call(made.call.tool, **_bare(made))
        return Strike(run.put_in(step + 1, again), "effect.blind_retry", _at(run, step + 1))
    return None


def _keyed(run: Reference, made: Made) -> bool:
    """Whether a tool takes an idempotency key."""
    return "idempotency_key" in run.properties(made)


def new_key_on_retry(run: Reference) -> Strike | None:
    """A write is sent again with a key of its own, so that the service cannot tell that it is the same."""
    for made in _lost(run):
        if _keyed(run, made):
            step = made.step.number
            first, again = (
                call(made.call.tool, **_bare(made), idempotency_key=key) for key in ("k-1", "k-2")
            )
            changed = run.put_for(step, first, again)
            return Strike(changed, "idempotency.key_changed_on_retry", _at(run, step + 1))
    return None


def one_key_for_two(run: Reference) -> Strike | None:
    """Two different writes go out under one key."""
    keyed = [one for one in run.writes if _keyed(run, one) and run.is_alone(one)]
    for one, other in pairwise(keyed):
        if set(_ids(run, one)) == set(_ids(run, other)) and one.call.tool == other.call.tool:
            continue
        changed = list(run.decisions)
        for made in (one, other):
            changed[made.step.number] = call(made.call.tool, **_bare(made), idempotency_key="k-1")
        return Strike(tuple(changed), "idempotency.key_reused_for_other_intent", _attempt(other))
    return None


def _ids(run: Reference, made: Made) -> list[str]:
    return [raw for _, _, raw in run.ids(made)]


# -- the wrong thing -------------------------------------------------------------------------------------


def off_by_a_hundred(run: Reference) -> Strike | None:
    """Minor units are taken for major ones."""
    for made, amount in _amounts(run):
        if amount % 100 == 0:
            return Strike(run.given(made, amount_minor=amount // 100), "money.scale", _attempt(made))
    return None


def a_cent_less(run: Reference) -> Strike | None:
    """The amount is one minor unit off."""
    for made, amount in _amounts(run):
        if amount > 1:
            return Strike(run.given(made, amount_minor=amount - 1), "effect.wrong_amount", _attempt(made))
    return None


def _amounts(run: Reference) -> Iterator[tuple[Made, int]]:
    """The writes whose amount the scenario demands, and that is the only effect of its name."""
    wanted = [one for one in run.scenario.expect.effects if "amount" in one.facts]
    for made in run.writes:
        amount = made.call.arguments.get("amount_minor")
        names = [one.name for one in run.effects(made)]
        lines = [one for one in wanted if one.name in names]
        if type(amount) is int and len(lines) == 1 and lines[0].facts["amount"] == amount:
            yield made, amount


def refunds_the_other(run: Reference) -> Strike | None:
    """Another payment of the same list is refunded."""
    for made in run.writes:
        if run.fact(made).name != "refund_payment" or len(list(run.writes)) != 1:
            continue
        rows = list(_rows(run, made.step.number, "payments"))
        amount, paid = made.call.arguments["amount_minor"], made.call.arguments["payment_id"]
        for row in rows:
            free = row["amount"] - row["refunded"] >= amount and row["status"] == "succeeded"
            if row["id"] != paid and free and _wants(run, "refund.created"):
                return Strike(run.given(made, payment_id=row["id"]), "effect.wrong_target", _attempt(made))
    return None


def undoes_what_was_right(run: Reference) -> Strike | None:
    """What was rightly done is taken back again."""
    for made in run.writes:
        page = run.page(made)
        if not run.is_alone(made) or page is None:
            continue
        undo = _undo(run, made)
        if undo is not None:
            step = made.step.number + 1
            code = "effect.duplicate" if undo[1] else "effect.unauthorized_write"
            return Strike(run.put_in(step, undo[0]), code, _at(run, step))
    return None


def _undo(run: Reference, made: Made) -> tuple[Decision, bool] | None:
    """The call that takes a write back, and whether its effect has the same name."""
    page, step = run.page(made), made.step.number
    assert page is not None, "a write that committed has a page"
    raws = {one.symbol: one.raw for one in run.result.ledger.bindings}
    if run.fact(made).name == "create_return" and not _wants(run, "return.cancelled"):
        tool = run.may("cancel_return", step, "orders:write")
        row = next(change.key for change in page.business if change.table == "return")
        return (call(tool, return_id=raws[row]), False) if tool else None
    if run.fact(made).name == "change_order_address":
        old = next(change.before for change in page.business if change.table == "order")
        if old is not None and old["address"] and "if_version" not in made.call.arguments:
            return call(made.call.tool, order_id=raws[str(old["id"])], address=old["address"]), True
    return None


# -- too little ------------------------------------------------------------------------------------------


def stops_halfway(run: Reference) -> Strike | None:
    """It looks, and never acts."""
    wanted = [one.name for one in run.scenario.expect.effects if one.times > 0]
    for made in run.writes:
        if any(effect.name in wanted for effect in run.effects(made)):
            looked = (*run.decisions[: made.step.number], Reply("I have found it in our system."))
            return Strike(looked, "effect.missing", "final")
    return None
