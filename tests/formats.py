"""One scenario file and one catalog file that have every key, and ways to change and to walk them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from sandtrail.ledgers.trees import as_list, as_object
from sandtrail.scenarios.shapes import FORMAT, Shape, json_schema

Path = tuple[Any, ...]
Keys = tuple[str, ...]

FULL = """\
scenario: mine
revision: 3
why: every key at once
language: de
reviewed: read by a native speaker
tags: [one, two]
now: 2026-05-01T08:00:00+02:00
zone: Europe/Berlin
principal: {subject: amy, role: clerk, tenants: [north, south], scopes: ["billing:*"], customer: $customer.lee}
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test, closed: false, note: ~, visits: 3}
  $order.lamp: {customer: $customer.lee, number: "4412"}
catalog:
  from: support@1
  without: [find_customer]
  withheld: [close_customer]
  distractors: [{tool: refund_order, family: parameter_twin, why: store credit}]
  changes: [{turn: 2, remove: [list_charges], add: [find_customer], rename: {get_user: person}}]
  rename: {get_order: order_of}
user:
  says: Refund order {$order.lamp.number}.
  then: ["And now?"]
  knows: {e-mail: lee@example.test}
  confirms: go on
  changes_mind: rather not
  chooses: the lamp
  silent: true
  patience: 2
faults:
  - {answer_lost: refund_payment, nth: 2, times: 3, seconds: 9}
labels: {ann: [search_orders], bo: []}
idle_passes: true
expect:
  frozen: true
  first: {search_orders: it has the number}
  forbid: {refund_order: store credit}
  effects:
    - {refund.created: {payment: $payment.first, amount: 5.00 USD, part: true}, times: 1, at_most: 2}
  arguments:
    refund_payment:
      payment_id: {is: $payment.first, from: [list_payments], compare: casefold, required: true}
      amount_minor: 5.00 USD
      lines: [1, two]
      reason: absent
  order: [{tool: refund_payment, after: list_payments}, {confirm: refund_payment}]
  clarification: required
  asks: [which one]
  refusal: allowed
  handoff: expected
  answer: {states: [5.00 USD, {text: "1", about: [refund]}], never: [nothing]}
  calls: [list_payments]
  budgets: {calls: 5, steps: 6, turns: 7}
  arguments_policy: coerce
  closed: true
  foreign: [$order.other]
"""
CATALOG_TEXT = """\
catalog: mine
version: 2
why: a list of one's own
tools:
  - get_order
  - {tool: find_user, operation: search_customers, description: Finds people., deprecated: search_customers}
  - {tool: get_sky, description: The sky., answers: {sky: clear, at: 2026-01-01, wind: 1.5}, input: {type: object}}
"""


class AsEditors(yaml.SafeLoader):
    """YAML as editors read it: instants are text."""


AsEditors.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def data(text: str) -> Any:
    return yaml.load(text, Loader=AsEditors)


def dumped(value: Any) -> str:
    """JSON is YAML too."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def validator(shape: Shape = FORMAT) -> Any:
    return Draft202012Validator(json_schema(shape))


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every value below the top."""
    pairs: list[tuple[Any, Any]] = [*(as_object(value) or {}).items(), *enumerate(as_list(value) or ())]
    for key, below in pairs:
        yield (*path, key)
        yield from paths(below, (*path, key))


def at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def changed(path: Path, new: Any) -> Any:
    """The full example with another value at a place."""
    value = copy.deepcopy(data(FULL))
    at(value, path[:-1])[path[-1]] = new
    return value


def without(path: Path) -> Any:
    """The full example without a key."""
    value = copy.deepcopy(data(FULL))
    del at(value, path[:-1])[path[-1]]
    return value


PATHS = list(paths(data(FULL)))
SAID = [".".join(map(str, path)) for path in PATHS]


def keys_of(schema: Any, path: Keys = ()) -> Iterator[Keys]:
    """Every named key of a JSON Schema, items of lists and values of named objects included."""
    if not (shape := as_object(schema)):
        return
    for name, below in (as_object(shape.get("properties")) or {}).items():
        yield (*path, name)
        yield from keys_of(below, (*path, name))
    under = [shape.get("items"), shape.get("additionalProperties"), *(as_list(shape.get("anyOf")) or ())]
    for below in [*under, *(as_object(shape.get("patternProperties")) or {}).values()]:
        yield from keys_of(below, path)


def keys_in(value: Any, known: set[Keys], path: Keys = ()) -> Iterator[Keys]:
    """The known keys that a file has."""
    for item in as_list(value) or ():
        yield from keys_in(item, known, path)
    for name, below in (as_object(value) or {}).items():
        here = (*path, name) if (*path, name) in known else path
        if here != path:
            yield here
        yield from keys_in(below, known, here)
