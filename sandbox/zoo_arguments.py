"""Flaws in the arguments of a call: its text, its values, and where they come from.

broken JSON · JSON in JSON · a number as text · a field too many, one too few · made-up, misspelt, foreign and unseen
ids · an id of another kind, of another row, out of the schema · an older value, one from the cache · another day ·
another tenant
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta

from sandtrail.ledgers.conversation import ToolCall
from sandtrail.ledgers.entries import Scalar
from sandtrail.ledgers.specs import kind_of
from sandtrail.ledgers.trajectory import Made
from sandtrail.sandbox.zoo_reference import Reference, Strike
from sandtrail.scenarios.contract import ArgumentsPolicy, Compare, WantedArgument

# -- the text --------------------------------------------------------------------------------------------


def _sent(run: Reference, made: Made, text: str, code: str) -> Strike:
    """The call with this text for its arguments."""
    return Strike(run.recalled(made, ToolCall.read(made.call.id, made.call.tool, text)), code, made.at)


def broken_text(run: Reference) -> Strike | None:
    """The arguments end before their last brace."""
    made = next((one for one in run.answered if one.call.arguments), None)
    return None if made is None else _sent(run, made, made.call.text[:-1], "args.malformed")


def encoded_twice(run: Reference) -> Strike | None:
    """The arguments are a JSON text inside a JSON text."""
    made = next((one for one in run.answered if one.call.arguments), None)
    return None if made is None else _sent(run, made, json.dumps(made.call.text), "args.double_encoded")


def number_as_text(run: Reference) -> Strike | None:
    """A whole number is sent as text."""
    if run.scenario.expect.arguments_policy is ArgumentsPolicy.COERCE:
        return None
    for made in run.answered:
        for name, value in made.call.arguments.items():
            if type(value) is int and run.properties(made).get(name, {}).get("type") == "integer":
                return Strike(run.given(made, **{name: str(value)}), "args.type", f"{made.at}/{name}")
    return None


def field_too_many(run: Reference) -> Strike | None:
    """An argument that the tool does not have."""
    for made in run.answered:
        if run.schema(made).get("additionalProperties") is False or run.scenario.expect.closed:
            return Strike(run.given(made, urgently=True), "args.unknown_field", f"{made.at}/urgently")
    return None


def field_too_few(run: Reference) -> Strike | None:
    """A required argument is left out."""
    for made in run.answered:
        for name in run.schema(made).get("required", ()):
            if name in made.call.arguments:
                rest = {key: value for key, value in made.call.arguments.items() if key != name}
                changed = run.recalled(made, replace(made.call, arguments=rest, raw=None))
                return Strike(changed, "args.missing_required", f"{made.at}/{name}")
    return None


# -- ids -------------------------------------------------------------------------------------------------


def _last_id(run: Reference) -> tuple[Made, str, str] | None:
    """The last call that carries an id (a write before a read): the call, the argument's name, the raw id."""
    found = [(made, name, raw) for made in run.answered for name, _, raw in run.ids(made)]
    written = [one for one in found if run.effects(one[0])]
    return (written or found)[-1] if found else None


def invented_id(run: Reference) -> Strike | None:
    """An id that stood nowhere before."""
    last = _last_id(run)
    if last is None:
        return None
    made, name, raw = last
    prefix = raw[: raw.rfind("_") + 1]
    return Strike(run.given(made, **{name: f"{prefix}QQ77QQ77"}), "provenance.invented", f"{made.at}/{name}")


def misspelt_id(run: Reference) -> Strike | None:
    """An id with one character changed."""
    last = _last_id(run)
    if last is None:
        return None
    made, name, raw = last
    other = raw[:-1] + ("A" if raw[-1] != "A" else "B")
    return Strike(run.given(made, **{name: other}), "provenance.near_miss", f"{made.at}/{name}")


def other_kind(run: Reference) -> Strike | None:
    """The id of an order where that of a payment belongs, or the like."""
    for made in run.answered:
        for name, slot, _ in run.ids(made):
            others = [one for one in run.seen(made.step.number) if one.kind != slot.kind]
            if others:
                changed = run.given(made, **{name: others[0].raw})
                return Strike(changed, "provenance.wrong_kind", f"{made.at}/{name}")
    return None


def _wanted(run: Reference, made: Made) -> Iterator[WantedArgument]:
    """What the scenario wants of the arguments that a call has."""
    name = run.fact(made).name
    for one in run.scenario.expect.arguments:
        if one.tool == name and one.name in made.call.arguments and one.compare is not Compare.IGNORED:
            yield one


def other_row(run: Reference) -> Strike | None:
    """An id of the right kind, and of another row than the one that is meant."""
    for made in run.answered:
        for wanted in _wanted(run, made):
            if wanted.symbol is None:
                continue
            kind = kind_of(wanted.symbol)
            known = [
                *run.seen(made.step.number, kind),
                *(one for one in run.result.ledger.bindings if one.kind == kind),
            ]
            others = [
                one.raw for one in known if one.symbol not in (wanted.symbol, *run.scenario.expect.foreign)
            ]
            if others:
                changed = run.given(made, **{wanted.name: others[0]})
                return Strike(changed, "provenance.wrong_binding", f"{made.at}/{wanted.name}")
    return None


def unseen_id(run: Reference) -> Strike | None:
    """The id of an entity that exists, and that nobody ever showed: remembered, or leaked."""
    for made in run.answered:
        named = {one.name for one in _wanted(run, made) if one.symbol is not None}
        seen = run.seen(made.step.number)
        for name, slot, _ in run.ids(made):
            hidden = [
                one
                for one in run.result.ledger.bindings
                if one.kind == slot.kind and one not in seen and one.symbol not in run.scenario.expect.foreign
            ]
            if name not in named and hidden:
                changed = run.given(made, **{name: hidden[0].raw})
                return Strike(changed, "provenance.unseen_real", f"{made.at}/{name}")
    return None


def example_id(run: Reference) -> Strike | None:
    """An example out of the tool's own description is taken for an id."""
    for made in run.answered:
        tools = run.offer(made.step.number).catalog.tools
        said = next(tool.description for tool in tools if tool.name == made.call.tool)
        shown = re.search(r"for example (\w+)", said)
        for name, _, _ in run.ids(made) if shown else ():
            assert shown is not None, "else there is nothing to go through"
            changed = run.given(made, **{name: shown[1]})
            return Strike(changed, "provenance.schema_example", f"{made.at}/{name}")
    return None


def foreign_row(run: Reference) -> Strike | None:
    """An entity of somebody else is asked for."""
    raws = {one.symbol: one.raw for one in run.result.ledger.bindings}
    for made in run.answered:
        for name, slot, _ in run.ids(made):
            for symbol in run.scenario.expect.foreign:
                if kind_of(symbol) == slot.kind and raws[symbol] not in run.text_before(made.step.number):
                    changed = run.given(made, **{name: raws[symbol]})
                    return Strike(changed, "tenant.cross_access", f"{made.at}/{name}")
    return None


def other_tenant(run: Reference) -> Strike | None:
    """A search names a tenant that the principal does not serve."""
    serves = run.scenario.world.principal.tenants
    if "*" in serves:
        return None
    for made in run.answered:
        if "tenant" in run.properties(made):
            stranger = next(name for name in ("south", "north", "west") if name not in serves)
            return Strike(run.given(made, tenant=stranger), "tenant.cross_access", f"{made.at}/tenant")
    return None


# -- values ----------------------------------------------------------------------------------------------


def older_value(run: Reference) -> Strike | None:
    """A value that was right when it was read, and has changed since."""
    for made in run.answered:
        for wanted in _wanted(run, made):
            old = next(iter(_outdated(run, made, wanted.value)), None)
            if wanted.symbol is None and old is not None:
                changed = run.given(made, **{wanted.name: old})
                return Strike(changed, "provenance.stale", f"{made.at}/{wanted.name}")
    return None


def _outdated(run: Reference, made: Made, value: object) -> Iterator[Scalar]:
    """What stood before in a cell that has held this value since an earlier call."""
    limit = made.answered.attempt if made.answered and made.answered.attempt else 0
    for page in run.result.ledger.pages:
        if page.attempt is not None and page.attempt.seq < limit:
            for change in page.business:
                yield from (
                    a for a, b in change.cells.values() if change.old is not None and a and b == value
                )


def from_the_cache(run: Reference) -> Strike | None:
    """Contact data is looked up in the nightly cache, and what it says is acted upon."""
    for made in run.alone:
        shown = run.shown_as("lookup_customer_cache", made.step.number)
        mail = made.call.arguments.get("email")
        if run.fact(made).name != "search_customers" or shown is None or mail is None:
            continue
        for later in run.answered:
            if later.number <= made.number or len(run.seen(made.step.number, "customer")):
                continue
            for wanted in _wanted(run, later):
                if "search_customers" in wanted.sources and "lookup_customer_cache" not in wanted.sources:
                    asked = replace(made.call, tool=shown, arguments={"email": mail}, raw=None)
                    at = f"{later.at}/{wanted.name}"
                    return Strike(run.recalled(made, asked), "provenance.source_policy", at)
    return None


def other_day(run: Reference) -> Strike | None:
    """The day before, or after, the one that is meant."""
    for made in run.answered:
        for wanted in _wanted(run, made):
            if isinstance(wanted.value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", wanted.value):
                next_day = (date.fromisoformat(wanted.value) + timedelta(days=1)).isoformat()
                return Strike(
                    run.given(made, **{wanted.name: next_day}), "time.wrong_day", f"{made.at}/{wanted.name}"
                )
    return None
