"""Flaws in the choice of a tool, and in the order and number of calls.

wrong twin · deprecated alias · made-up, withheld, removed and forbidden tools · needless call · no call where one is
needed · a step skipped · redundant reads · loop
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from sandtrail.ledgers.conversation import Calls, Reply
from sandtrail.ledgers.trajectory import Made
from sandtrail.sandbox.zoo_reference import Reference, Strike, call
from sandtrail.scenarios.contract import Clarification

TWINS = {
    "search_customers": ("lookup_customer_cache", "get_user", "find_customer"),
    "search_orders": ("search_invoices", "search_products"),
    "list_payments": ("list_charges", "list_invoices"),
    "list_charges": ("list_payments", "list_invoices"),
    "get_order": ("track_shipment",),
    "track_shipment": ("get_order",),
    "refund_payment": ("refund_order", "issue_credit"),
    "get_customer": ("get_customer_profile",),
}
"""Tools that are easily taken for another."""


def wrong_twin(run: Reference) -> Strike | None:
    """The first call goes to a tool that looks like the right one."""
    right = run.scenario.expect.right_first
    first = next(iter(run.made), None)
    if not right or first is None or first.step.number != 0 or not run.is_alone(first):
        return None
    facts = run.offer(0).tools
    canonical = facts[first.call.tool].name if first.call.tool in facts else ""
    named = [one.tool for one in run.scenario.offer.distractors]
    twins = [
        shown
        for twin in (*named, *TWINS.get(canonical, ()))
        if twin not in right and twin not in run.scenario.expect.forbid
        if (shown := run.shown_as(twin, 0)) is not None and not facts[shown].deprecated
    ]
    if not twins:
        return None
    twin = min(twins, key=lambda shown: _misfits(run, shown, first))
    return Strike(run.recalled(first, replace(first.call, tool=twin)), "selection.wrong_tool", "call 1")


def _misfits(run: Reference, shown: str, made: Made) -> int:
    """How many arguments of a call another tool does not take, and how many of its own the call lacks."""
    schema = next(tool.input_schema for tool in run.offer(0).catalog.tools if tool.name == shown)
    given = set(made.call.arguments)
    return len(given - set(schema.get("properties", ()))) + len(set(schema.get("required", ())) - given)


def deprecated_alias(run: Reference) -> Strike | None:
    """A call goes to the deprecated name of its tool."""
    for made in run.answered:
        offer = run.offer(made.step.number)
        for shown, fact in offer.tools.items():
            if fact.deprecated and run.fact(made).name in fact.deprecated:
                changed = run.recalled(made, replace(made.call, tool=shown))
                return Strike(changed, "selection.deprecated_alias", made.at)
    return None


def made_up_tool(run: Reference) -> Strike | None:
    """A call names a tool that nobody ever offered."""
    made = next(iter(run.answered), None)
    if made is None:
        return None
    changed = run.recalled(made, replace(made.call, tool=f"{made.call.tool}_by_magic"))
    return Strike(changed, "selection.unknown_tool", made.at)


def removed_tool(run: Reference) -> Strike | None:
    """A call of a tool that was offered in an earlier turn, and is not any more."""
    for earlier, later in pairwise(run.result.trajectory.offers):
        gone = [shown for shown in earlier.tools if shown not in later.tools]
        if gone and later.step < len(run.decisions):
            used = next((one for one in run.made if one.call.tool in gone), None)
            asked = call(used.call.tool, **used.call.arguments) if used else call(gone[0])
            at = f"call {run.calls_before(later.step) + 1}"
            return Strike(run.put_in(later.step, asked), "selection.unavailable_tool", at)
    return None


def withheld_tool(run: Reference) -> Strike | None:
    """A call of a tool that exists and is not offered to this principal."""
    step = run.last_reply
    hidden = run.scenario.offer.withheld
    if step is None or not hidden or run.shown_as(hidden[0], step) is not None:
        return None
    at = f"call {run.calls_before(step) + 1}"
    return Strike(run.put_in(step, call(hidden[0])), "selection.unavailable_tool", at)


def forbidden_tool(run: Reference) -> Strike | None:
    """A call of a tool that the scenario forbids."""
    step = run.last_reply
    if step is None:
        return None
    for name in run.scenario.expect.forbid:
        shown = run.shown_as(name, step)
        if shown is not None and not run.offer(step).tools[shown].deprecated:
            at = f"call {run.calls_before(step) + 1}"
            return Strike(run.put_in(step, call(shown)), "selection.forbidden_tool", at)
    return None


def needless_call(run: Reference) -> Strike | None:
    """A look-up where no tool is needed."""
    tools = run.offer(0).tools
    reads = [
        shown
        for shown, fact in tools.items()
        if fact.operation
        and not fact.writes
        and not fact.deprecated
        and fact.name not in run.scenario.expect.forbid
    ]
    if not run.scenario.expect.no_tool or not reads:
        return None
    shown = run.shown_as("search_products", 0) or reads[0]
    return Strike(run.put_in(0, call(shown, name="lamp")), "selection.needless_call", "call 1")


def answers_unseen(run: Reference) -> Strike | None:
    """The request needs a look-up, and is answered out of thin air."""
    contract = run.scenario.expect
    split = contract.ambiguous and any(not label.first for label in contract.labels)
    if not contract.right_first or split or contract.clarification is Clarification.REQUIRED:
        return None
    if not isinstance(run.decisions[0], Calls):
        return None
    said = Reply("Everything is in order with it, as far as I can see.")
    return Strike((said,), "selection.answered_without_tool", "step 1")


def skips_a_step(run: Reference) -> Strike | None:
    """What has to come first is left out."""
    for rule in run.scenario.expect.order:
        before = [one for one in run.alone if rule.before and run.fact(one).name == rule.before]
        after = [one for one in run.answered if run.fact(one).name == rule.tool]
        if len(before) == 1 and after and before[0].number < after[0].number:
            at = f"call {after[0].number - 1}"
            return Strike(run.put_for(before[0].step.number), "sequence.order", at)
    return None


def leaves_a_call_out(run: Reference) -> Strike | None:
    """A call that the scenario demands is not made."""
    for tool in run.scenario.expect.calls:
        found = [one for one in run.alone if run.fact(one).name == tool]
        if len(found) == 1:
            return Strike(run.put_for(found[0].step.number), "call.missing", "final")
    return None


def _steady(run: Reference) -> Iterator[Made]:
    """Reads whose answer stays as it is when they are made again at once, and that differ from the call after them."""
    return (one for one in run.reads if run.fact(one).slots)


def reads_again(run: Reference) -> Strike | None:
    """A read is made a second time, although nothing has changed."""
    made = next(_steady(run), None)
    if made is None or _repeats(run):
        return None
    again = run.put_in(made.step.number + 1, call(made.call.tool, **made.call.arguments))
    return Strike(again, "selection.redundant_call", f"call {made.number + 1}")


def loops(run: Reference) -> Strike | None:
    """One read is made again and again."""
    made = next(_steady(run), None)
    if made is None or _repeats(run):
        return None
    again = [call(made.call.tool, **made.call.arguments)] * 3
    at = f"calls {made.number + 2}-{made.number + 3}"
    return Strike(run.put_in(made.step.number + 1, *again), "run.loop", at)


def _repeats(run: Reference) -> bool:
    """Whether the reference makes a call twice itself, which would move the place of a repetition."""
    texts = [(one.call.tool, one.call.text) for one in run.made]
    return len(set(texts)) < len(texts)
