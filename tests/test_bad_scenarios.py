"""Files that cannot be used: each kind of error with file and line, the nearest spelling, exit 2, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sandtrail.sandbox import load
from sandtrail.sandbox.cli import main
from sandtrail.scenarios import BadScenario, nodes, parse

GOOD = """\
scenario: mine
revision: 2
why: a file of one's own
language: en
tags: [read_only]
zone: Europe/Berlin
principal: {subject: amy, role: support, tenants: [north], scopes: ["*"]}
world:
  $customer.lee: {name: Lee Ahn, email: lee@example.test}
  $order.lamp: {customer: $customer.lee, number: "4412"}
  $payment.first: {order: $order.lamp, captured: 42.50 USD}
catalog:
  from: support@1
  without: [find_customer]
  withheld: [close_customer]
  distractors:
    - {tool: refund_order, family: parameter_twin, why: "store credit"}
  changes:
    - {turn: 2, remove: [list_charges]}
  rename: {get_user: user_of}
user:
  says: Refund 5.00 USD on order {$order.lamp.number}.
  knows: {e-mail: "{$customer.lee.email}"}
  confirms: "yes"
  patience: 3
faults:
  - {answer_lost: refund_payment, nth: 1}
labels: {ann: [search_orders], bo: [search_customers]}
expect:
  first: [search_orders]
  forbid: {refund_order: store credit}
  effects:
    - {refund.created: {payment: $payment.first, amount: 5.00 USD}, times: 1, at_most: 2}
  arguments:
    refund_payment:
      payment_id: {is: $payment.first, from: [list_payments]}
      reason: absent
  order:
    - {tool: refund_payment, after: list_payments}
    - {confirm: refund_payment}
  clarification: allowed
  answer: {states: [5.00 USD, {text: "1", about: [refund]}], never: [nothing]}
  calls: [list_payments]
  budgets: {calls: 5}
"""

KINDS: tuple[tuple[str, str, str, str], ...] = (
    # what it is, what is replaced, by what, and what is said (the line is that of the replacement)
    ("unknown key at the top", "revision: 2", "revison: 2", "did you mean revision?"),
    ("a revision that is no number", "revision: 2", "revision: two", "a whole number is wanted"),
    ("a revision of nothing", "revision: 2", "revision: 0", "at least 1 is wanted"),
    ("no words for why", "why: a file of one's own", 'why: "  "', "why: some words are wanted"),
    ("a number for text", "language: en", "language: 7", "text is wanted, not 7"),
    ("one tag instead of a list", "tags: [read_only]", "tags: read_only", "a list is wanted"),
    ("a zone that is none", "zone: Europe/Berlin", "zone: Europe/Berlim", "Europe/Berlin"),
    ("an unknown key of the principal", "subject: amy", "subjekt: amy", "did you mean subject?"),
    ("a principal that sees nothing", "tenants: [north]", "tenants: []", "name at least one tenant"),
    ("a customer that is not there", "subject: amy", "customer: $customer.leo", "$customer.leo is not in world"),
    ("an entity kind that is not there", "$payment.first: {order", "$paiment.first: {order", "no entity kind 'paiment'"),
    ("a field that an entity lacks", "captured: 42.50 USD", "capture: 42.50 USD", "did you mean captured"),
    ("a reference to nothing", "customer: $customer.lee, n", "customer: $customer.li, n", "$customer.li is not defined"),
    ("an amount in a currency that is not known", "42.50 USD}", "42.50 USX}", "USX"),
    ("an amount with too many decimals", "42.50 USD}", "42.505 USD}", "3 decimals, USD has 2"),
    ("a catalog that is not there", "from: support@1", "from: suport@1", "there is no catalog 'suport@1'"),
    ("a version that is not there", "from: support@1", "from: support@7", "the file has version 1"),
    ("a catalog out of the folder", "from: support@1", "from: ../x.catalog.yaml", "no path out of its folder"),
    ("a tool that is not there", "without: [find_customer]", "without: [find_custumer]", "did you mean find_customer?"),
    ("a withheld tool that is not there", "withheld: [close_customer]", "withheld: [shut_customer]", "there is no tool"),
    ("a distractor without a reason", 'why: "store credit"}', 'why: " "}', "why is it wrong for this request?"),
    ("a family that is none", "family: parameter_twin", "family: parameter_twins", "did you mean parameter_twin?"),
    ("a distractor that is no tool", "tool: refund_order, family", "tool: refund_odrer, family", "did you mean refund_order?"),
    ("a distractor that is not offered", "tool: refund_order, family", "tool: find_customer, family", "and not offered"),
    ("a distractor that is right too", "tool: refund_order, family", "tool: search_orders, family", "and a right first tool too"),
    (
        "an alias that is not deprecated", "family: parameter_twin", "family: deprecated_alias", "is not deprecated",
    ),
    ("a change in the first turn", "turn: 2, remove", "turn: 1, remove", "a catalog changes from turn 2 on"),
    ("a change that changes nothing", "{turn: 2, remove: [list_charges]}", "{turn: 2}", "nothing changes"),
    ("a change of a tool that is not there", "remove: [list_charges]", "remove: [list_charge]", "did you mean list_charges?"),
    ("a rename of a tool that is not there", "get_user: user_of", "got_user: user_of", "did you mean get_user?"),
    ("a rename onto another tool", "get_user: user_of", "get_user: get_order", "names must be unique"),
    ("an unknown key of the user", "knows: {e-mail", "nows: {e-mail", "did you mean knows?"),
    ("a user without words", "says: Refund 5.00 USD on order {$order.lamp.number}.", 'says: ""', "some words are wanted"),
    ("a symbol that is not there", "{$order.lamp.number}", "{$order.lump.number}", "did you mean $order.lamp?"),
    ("a field that is not there", "{$customer.lee.email}", "{$customer.lee.mail}", "has no field 'mail'"),
    ("no patience at all", "patience: 3", "patience: 0", "at least 1 is wanted"),
    ("a fault of no kind", "answer_lost: refund_payment", "answer_lots: refund_payment", "did you mean answer_lost?"),
    ("a fault on no operation", "answer_lost: refund_payment", "answer_lost: refund_paiment", "did you mean refund_payment?"),
    ("a stale write", "answer_lost: refund_payment", "stale_read: refund_payment", "only reads can be stale"),
    ("a label that is no tool", "ann: [search_orders]", "ann: [search_order]", "did you mean search_orders?"),
    ("a first tool that is none", "first: [search_orders]", "first: [serch_orders]", "did you mean search_orders?"),
    ("right and forbidden at once", "first: [search_orders]", "first: [refund_order]", "cannot be both"),
    ("forbidden without a reason", "forbid: {refund_order: store credit}", 'forbid: {refund_order: " "}', "a reason is wanted"),
    ("an effect that is none", "refund.created: {payment", "refund.craeted: {payment", "did you mean refund.created?"),
    ("an effect without a dot", "refund.created: {payment", "refund: {payment", "an effect is one name with its facts"),
    ("an effect on nothing", "payment: $payment.first, amount", "payment: $payment.frist, amount", "did you mean $payment.first?"),
    ("more than at most", "times: 1, at_most: 2", "times: 3, at_most: 2", "lies no count"),
    ("never", "times: 1, at_most: 2}", "times: 0}", "is simply left out"),
    ("read-only with effects", "  clarification: allowed", "  read_only: true", "a read-only scenario wants no effects"),
    ("an argument that is none", "      reason: absent", "      raeson: absent", "did you mean reason?"),
    ("an unknown key of an argument", "{is: $payment.first, from", "{iz: $payment.first, from", "unknown key 'iz'"),
    ("a source that is no tool", "from: [list_payments]}", "from: [list_payment]}", "did you mean list_payments?"),
    ("an order of nothing", "{confirm: refund_payment}", "{tool: refund_payment}", "an order is {tool: later, after: earlier}"),
    ("a word that is none", "clarification: allowed", "clarification: alowed", "did you mean allowed?"),
    ("an unknown key of the answer", "never: [nothing]", "nver: [nothing]", "did you mean never?"),
    ("a call that is no tool", "calls: [list_payments]", "calls: [list_paymnts]", "did you mean list_payments?"),
    ("an unknown budget", "budgets: {calls: 5}", "budgets: {cals: 5}", "did you mean calls?"),
    ("a tag of YAML", "revision: 2", "revision: !!int 2", "anchors, aliases and tags are not read"),
    ("an anchor", "tags: [read_only]", "tags: &t [read_only]", "anchors, aliases and tags are not read"),
    ("a comma that splits a text", 'why: "store credit"}', "why: no, store credit}", "put it in quotes"),
    ("an id that is none", "scenario: mine", "scenario: Mine!", "use lower-case letters, digits and dashes"),
    ("a number for an id", "scenario: mine", "scenario: 12", "text is wanted, not 12; put it in quotes"),
    ("Norwegian, as YAML reads it", "language: en", "language: no", "text is wanted, not no; put it in quotes"),
    ("yes for text", 'confirms: "yes"', "confirms: yes", "text is wanted, not yes; put it in quotes"),
    ("a text for a flag", "  clarification: allowed", '  closed: "true"', "true or false is wanted"),
    ("an instant without a zone", "zone: Europe/Berlin", "now: 2026-05-01T08:00:00", "has no zone; end it with Z"),
    ("no instant", "zone: Europe/Berlin", "now: soon", "an instant such as 2026-03-02T09:00:00Z is wanted"),
    ("a year before all books", "zone: Europe/Berlin", "now: 1850-01-01T00:00:00Z", "not between the years 1900 and 2200"),
    ("a year after all books", "zone: Europe/Berlin", "now: 9999-01-01T00:00:00Z", "not between the years 1900 and 2200"),
    ("a zone out of the folder", "zone: Europe/Berlin", "zone: ../../etc/passwd", "is not known; write an IANA name"),
    ("principal and tenants", "tags: [read_only]", "tenants: [north]", "it stands in principal; drop one of the two"),
    ("scopes that are no list", 'scopes: ["*"]', 'scopes: "*"', "a list is wanted: [*]"),
    ("one thing twice", "tags: [read_only]", "tags: [a, a]", "'a' stands twice"),
    ("a list in a list", "tags: [read_only]", "tags: [[a]]", "text is wanted"),
    ("float money", "captured: 42.50 USD", "captured: 42.50", "42.50 is a float; write money as 42.50 USD"),
    ("a number that is text", 'number: "4412"', "number: 4412", "4412 is a int; wanted str"),
    ("a list for a value", 'number: "4412"', "number: [4412]", "one value is wanted"),
    ("no symbol", "$customer.lee: {name", "customer.lee: {name", "'customer.lee' is no symbol; write $kind.name"),
    ("a symbol with a number", "$customer.lee: {name", "$customer.1: {name", "a name that is not a number"),
    ("an entity that is text", "{order: $order.lamp, captured: 42.50 USD}", "lamp", "keys and values are wanted"),
    ("an entity like itself", "$payment.first: {order: $order.lamp,", "$payment.first: {like: $payment.first,", "is like itself"),
    ("like another kind", "{order: $order.lamp,", "{like: $order.lamp,", "is no other payment; write $payment.name"),
    ("a reference of another kind", "{order: $order.lamp,", "{order: $customer.lee,", "is no symbol of a order"),
    ("an entity that lacks something", "name: Lee Ahn, ", "", "needs name"),
    ("a merge key", "  $customer.lee: {name", "  <<: {name", "merge keys (<<) are not read; write it out"),
    ("a NUL", "name: Lee Ahn", 'name: "Lee\\0Ahn"', "a NUL or half a surrogate pair"),
    ("an alias", "tags: [read_only]", "tags: *t", "anchors, aliases and tags are not read"),
    ("an only that is no tool", "without: [find_customer]", "only: [get_ordr]", "did you mean get_order?"),
    ("a catalog that no file can be", "from: support@1", f"from: {'x' * 300}", "there is no catalog"),
    ("a catalog with a NUL", "from: support@1", 'from: "a\\0b"', "a NUL or half a surrogate pair"),
    ("a catalog out of the folder, by name", "from: support@1", "from: ../x", "no path out of its folder"),
    ("a distractor without words", ', why: "store credit"}', "}", "why missing"),
    ("a change of nothing that is there", "remove: [list_charges]", "remove: [close_customer]", "turn 2: nothing changes"),
    ("a change that adds no tool", "remove: [list_charges]", "add: [list_charge]", "did you mean list_charges?"),
    ("a change that renames no tool", "remove: [list_charges]", "rename: {list_charge: a}", "did you mean list_charges?"),
    ("a change onto another tool", "remove: [list_charges]", "rename: {list_charges: get_order}", "names must be unique"),
    ("a name that no tool may have", "get_user: user_of", "get_user: user of", "use letters, digits, _ and -, at most 64"),
    ("a text where facts are wanted", '{e-mail: "{$customer.lee.email}"}', "nothing", "keys and values are wanted"),
    ("a fault of two kinds", "{answer_lost: refund_payment, nth: 1}", "{slow: a, timeout: a}", "a fault has one kind"),
    ("a fault without a kind", "{answer_lost: refund_payment, nth: 1}", "{nth: 1}", "a fault has one kind"),
    ("a fault on call 0", "refund_payment, nth: 1", "refund_payment, nth: 0", "both count from 1"),
    ("a fault of negative length", "refund_payment, nth: 1", "refund_payment, seconds: -1", "must not be negative"),
    ("a first tool that is not offered", "first: [search_orders]", "first: [close_customer]", "and not offered"),
    ("a forbidden tool that is none", "forbid: {refund_order: store", "forbid: {refnd_order: store", "did you mean refund_order?"),
    ("a tool of arguments that is none", "    refund_payment:\n", "    refund_paymet:\n", "did you mean refund_payment?"),
    ("an order of a tool that is none", "{tool: refund_payment, after: list_payments}",
     "{tool: refund_payment, after: list_paymnts}", "did you mean list_payments?"),
    ("a confirmation of a tool that is none", "{confirm: refund_payment}", "{confirm: refund_pay}", "did you mean refund_payment?"),
    ("a negative count", "times: 1, at_most: 2", "times: -1", "between times=-1 and most=None lies no count"),
    ("at most never", "times: 1, at_most: 2", "at_most: 0", "lies no count"),
    ("an effect on what cannot come to be", "payment: $payment.first, amount", "payment: $paymnt.1, amount", "did you mean payment?"),
    ("an argument of nothing", "{is: $payment.first, from", "{is: $payment.frist, from", "did you mean $payment.first?"),
    ("a list with nothing in it", "{is: $payment.first, from", "{is: [$payment.frist], from", "did you mean $payment.first?"),
    ("absent, and out of a result", "reason: absent", "reason: {is: absent, from: user}", "what must be absent has no value and no source"),
    ("an argument without a demand", "reason: absent", "reason: {}", "name is, from, compare or required"),
    ("an argument without a value", "reason: absent", "reason:", "a value is wanted; write absent, or {compare: ignored}"),
    ("a comparison that is none", "reason: absent", "reason: {is: a, compare: exakt}", "did you mean exact?"),
    ("an amount for an argument", "reason: absent", "reason: 5.001 EUR", "5.001 has 3 decimals, EUR has 2"),
    ("somebody else who is nobody", "  clarification: allowed", "  foreign: [$customer.loe]", "did you mean $customer.lee?"),
    ("a statement without words", "states: [5.00 USD,", 'states: [" ",', "some words are wanted"),
    ("a budget of no turn", "budgets: {calls: 5}", "budgets: {turns: 0}", "at least 1 is wanted, not 0"),
)  # fmt: skip

ELSEWHERE: tuple[tuple[str, str, str, int, str], ...] = (
    # as above, with the line where it is told
    ("no why", "why: a file of one's own\n", "", 1, "the file: why missing"),
    ("a key twice", "revision: 2", "revision: 2\nrevision: 3", 3, "'revision' stands twice"),
    ("an entity twice", "  $order.lamp: {", "  $customer.lee: {", 10, "'$customer.lee' stands twice"),
    ("only and without", "withheld: [close_customer]", "only: [get_order]", 14, "name one of the two"),
    ("a question without a need", "  clarification: allowed", "  clarification: not_needed\n  asks: [which]", 42, "drop one"),
    ("no tool at all", "without: [find_customer]", "only: [close_customer]", 12, "no tool is left to offer"),
    ("a bracket that stays open", "tags: [read_only]", "tags: [read_only", 6, "no YAML: while parsing a flow sequence"),
    ("a tab", "  clarification: allowed", "\tclarification: allowed", 41, "no YAML"),
    ("a second document", "labels:", "---\nlabels:", 28, "expected a single document"),
    ("a character of control", "language: en", "language: \x07", 4, "the character U+0007 is not permitted"),
    ("a field of a later text", "  patience: 3", '  then: ["a", "{$customer.lee.nam}"]', 25, "has no field 'nam'; did you mean name?"),
    ("a list over lines", "  calls: [list_payments]", "  calls:\n    - get_order\n    - get_ordr", 45, "did you mean get_order?"),
    ("an entity over lines", "  $payment.first: {order: $order.lamp, captured: 42.50 USD}",
     "  $payment.first:\n    order: $order.lamp\n    captured: 1 USX", 13, "currency='USX' is not known"),
    ("a change of no tool, in front of an earlier turn", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 3, add: [list_charge]}\n    - {turn: 2, remove: [list_charges]}", 19, "did you mean list_charges?"),
    ("a change of no tool, behind a later turn", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 3, remove: [list_charges]}\n    - {turn: 2, add: [list_charge]}", 20, "did you mean list_charges?"),
    ("a change of nothing, behind a later turn", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 3, remove: [list_charges]}\n    - {turn: 2, remove: [close_customer]}", 20, "turn 2: nothing changes"),
    ("a change of nothing, in a turn that changes something", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 2, remove: [list_charges]}\n    - {turn: 2, remove: [list_charges]}", 20, "turn 2: nothing changes"),
    ("a name that another tool has by then", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 2, rename: {list_charges: taken}}\n    - {turn: 3, rename: {get_order: taken}}", 20, "'taken' is twice"),
    ("a name that another tool has by then, in front of it", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 3, rename: {get_order: taken}}\n    - {turn: 2, rename: {list_charges: taken}}", 19, "'taken' is twice"),
    ("a tool that comes back under a name that is taken", "    - {turn: 2, remove: [list_charges]}",
     "    - {turn: 2, remove: [get_order]}\n    - {turn: 4, add: [get_order]}\n    - {turn: 3, rename: {list_charges: get_order}}",
     20, "'get_order' is twice"),
)  # fmt: skip


def changed(old: str, new: str) -> tuple[str, int]:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new), GOOD[: GOOD.index(old)].count("\n") + 1


def test_the_file_that_is_spoilt_below_is_good(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(GOOD)
    assert load(file).revision == 2


def refused(file: Path, line: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Both in Python and on the command line: the line, the words, exit 2, and nothing else."""
    with pytest.raises(BadScenario) as error:
        load(file)
    assert said in error.value.reason
    assert str(error.value.place) == f"{file}:{line}"
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr()
    first, last = told.err.splitlines()
    assert (told.out, last) == ("", "exit 2: the input cannot be used")
    assert first.startswith(f"sandtrail: {file}:{line}: ")
    assert first.isprintable()
    assert main(["lint", str(file)]) == 2
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{file}:{line}:\n")
    assert (shown.out.splitlines()[-1], shown.err) == ("exit 2: 1 problem", "")


@pytest.mark.parametrize(
    ("old", "new", "said"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS]
)
def test_each_kind_of_error_has_its_line_and_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    text, line = changed(old, new)
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(text)
    refused(file, line, said, capsys)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"), [kind[1:] for kind in ELSEWHERE], ids=[kind[0] for kind in ELSEWHERE]
)
def test_what_is_told_at_another_line_than_it_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, line: int, said: str
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(changed(old, new)[0])
    refused(file, line, said, capsys)


def test_there_are_more_than_a_hundred_kinds() -> None:
    names = [kind[0] for kind in (*KINDS, *ELSEWHERE)]
    assert len(set(names)) == len(names) >= 110


BODIES: tuple[tuple[bytes, int, str], ...] = (
    (b"", 1, "the file is empty; start with scenario: an-id"),
    (b"# nothing but a remark\n", 1, "the file is empty; start with scenario: an-id"),
    (b"scenario: a\nwhy: \xff\xfe\n", 2, "cannot be read: no UTF-8 text"),
    ("scenario: a\n".encode("utf-16"), 1, "cannot be read: no UTF-8 text"),
    (b"scenario: a\nwhy: b\x00c\n", 2, "no YAML: the character U+0000 is not permitted"),
    (b"a: [\n", 1, "no YAML: while parsing a flow node"),
    (b"scenario: a\n why: b\n", 2, "no YAML: mapping values are not allowed"),
    (b"a: 'never ends\n", 1, "no YAML: while scanning a quoted scalar"),
    (b"a: @b\n", 1, "no YAML: while scanning for the next token"),
    (b"- a\n- b\n", 1, "the file: keys and values are wanted"),
    (b"only words\n", 1, "the file: keys and values are wanted"),
    (b"? [a]\n: b\n", 1, "text is wanted"),
    (b"{" * 40 + b"}" * 40, 1, "the file nests deeper than 30 levels"),
    (b"[" * 5000, 1, "the file nests deeper than 30 levels"),
    (b"a: " + b"- " * 40 + b"b\n", 1, "no YAML"),
    (b"- " * 40_000 + b"b\n", 1, "the file nests deeper than 30 levels"),
    (b"\n".join(b" " * depth + b"a:" for depth in range(400)), 31, "the file nests deeper than 30 levels"),
    (b"x" * 300_000, 1, "at most 200000 are read"),
    (b"x" * 2_100_000, 1, "the file is larger than 2000000 bytes"),
    (b"a: &a [x]\nb: [*a, *a, *a]\n", 1, "anchors, aliases and tags are not read; write it out"),
    (b"a: 1\nb: !!python/object/apply:os.system [x]\n", 2, "anchors, aliases and tags are not read"),
    (b"<<: {a: b}\n", 1, "the file: merge keys (<<) are not read; write it out"),
    (b"scenario: a\n--- \nscenario: b\n", 2, "expected a single document in the stream"),
    (b"scenario: a\nscenario: b\n", 2, "the file: 'scenario' stands twice"),
    (b"scenario: a\n", 1, "the file: why, user, expect missing"),
    (b'a: "\\U00110000"\n', 1, "no YAML"),
)


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
@pytest.mark.parametrize(("body", "line", "said"), BODIES, ids=[f"{body[:20]!r}" for body, _, _ in BODIES])
def test_what_is_no_scenario_at_all_is_told_in_one_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    body: bytes,
    line: int,
    said: str,
    loader: str,
) -> None:
    monkeypatch.setattr(nodes, "_LOADER", getattr(yaml, loader, yaml.SafeLoader))
    file = tmp_path / "mine.scenario.yaml"
    file.write_bytes(body)
    refused(file, line, said, capsys)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert load(file).expect == parse(GOOD, "a").expect
    file.write_bytes(GOOD.replace("revision: 2", "revison: 2").replace("\n", "\r\n").encode())
    with pytest.raises(BadScenario) as error:
        load(file)
    assert error.value.place.line == 2


ESCAPE = '"\\e[31mred\\e[0m\\u202e"'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scenario: mine", f"scenario: {ESCAPE}"),
        ("revision: 2", f"{ESCAPE}: 2"),
        ("first: [search_orders]", f"first: [{ESCAPE}]"),
        ("$customer.lee: {name", f"{ESCAPE}: {{name"),
        ("captured: 42.50 USD", f"captured: {ESCAPE}"),
        ("family: parameter_twin", f"family: {ESCAPE}"),
        ("{get_user: user_of}", f"{{get_user: {ESCAPE}}}"),
        ("from: support@1", f"from: {ESCAPE}"),
        ("answer_lost: refund_payment", f"answer_lost: {ESCAPE}"),
    ],
)
def test_terminal_escapes_of_a_file_are_spelled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(changed(old, new)[0])
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr().err
    assert all(line.isprintable() for line in told.splitlines())
    assert "x1b[31mred" in told


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "dir.scenario.yaml"
    folder.mkdir()
    assert main(["run", str(folder)]) == 2
    assert "no file below it ends in .scenario.yaml" in capsys.readouterr().err
    with pytest.raises(BadScenario, match="cannot be read: Is a directory") as error:
        load(folder)
    assert str(error.value.place) == f"{folder}:1"


def test_what_an_error_echoes_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(GOOD.replace("scenario: mine", f"scenario: {'x' * 100_000}"))
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr().err
    assert f"{file}:1: scenario: 'xxx" in told
    assert len(told) < 2200
