"""Files that cannot be used: each kind of error with file and line, the nearest spelling, exit 2, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtrail.sandbox import load
from sandtrail.sandbox.cli import main
from sandtrail.sandbox.linting import lint
from sandtrail.sandbox.loading import Loaded, load_dataset
from sandtrail.scenarios import BadScenario
from sandtrail.scenarios.catalogs import parse_catalog

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
)  # fmt: skip


def changed(old: str, new: str) -> tuple[str, int]:
    assert GOOD.count(old) == 1, old
    return GOOD.replace(old, new), GOOD[: GOOD.index(old)].count("\n") + 1


def test_the_file_that_is_spoilt_below_is_good(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(GOOD)
    assert load(file).revision == 2


@pytest.mark.parametrize(
    ("old", "new", "said"), [kind[1:] for kind in KINDS], ids=[kind[0] for kind in KINDS]
)
def test_each_kind_of_error_has_its_line_and_its_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, said: str
) -> None:
    text, line = changed(old, new)
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(text)
    with pytest.raises(BadScenario) as error:
        load(file)
    assert said in error.value.reason
    assert (
        abs(error.value.place.line - line) <= (2 if "effects" in said else 0) or error.value.place.line < line
    )
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{file}:{error.value.place.line}: " in told.err
    assert told.err.rstrip().endswith("exit 2: the input cannot be used")


def test_there_are_more_than_forty_kinds() -> None:
    assert len({kind[0] for kind in KINDS}) >= 55


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the file is empty"),
        (b"\xff\xfe\x00", "no UTF-8 text"),
        (b"scenario: a\x00b\n", "no YAML"),
        (b"a: [\n", "no YAML"),
        (b"- a\n- b\n", "keys and values are wanted"),
        (b"{" * 40 + b"}" * 40, "nests deeper"),
        (b"x" * 300_000, "at most 200000 are read"),
        (b"x" * 2_100_000, "larger than 2000000 bytes"),
        (b"a: &a [x]\nb: [*a, *a, *a]\n", "anchors, aliases and tags are not read"),
        (b"<<: {a: b}\n", "<<"),
    ],
)
def test_what_is_no_scenario_at_all_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: bytes, said: str
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_bytes(body)
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 2


def test_terminal_escapes_of_a_file_are_spelled_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(GOOD.replace("first: [search_orders]", 'first: ["\\e[31mred\\e[0m"]'))
    assert main(["run", str(file)]) == 2
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "\\x1b[31mred" in told


def test_a_folder_in_place_of_a_file_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dir.scenario.yaml").mkdir()
    assert main(["run", str(tmp_path / "dir.scenario.yaml")]) == 2
    assert "no file below it ends in .scenario.yaml" in capsys.readouterr().err


# -- catalogs and datasets -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("catalog: a\nversion: 1\ntools: []\n", 3, "at least one is wanted"),
        ("catalog: a\nversion: 1\ntools: [x, x]\n", 3, "stands twice"),
        ("catalog: a\nversion: 1\ntols: [x]\n", 3, "did you mean tools?"),
        ("catalog: a\ntools: [x]\n", 1, "version missing"),
        ("catalog: a\nversion: 1\ntools:\n  - {operation: x}\n", 4, "tool missing"),
        ("catalog: a\nversion: 1\ntools:\n  - {tool: a, operation: b, answers: 1}\n", 4, "not both"),
        ("catalog: a\nversion: 1\ntools:\n  - {tool: a, answers: 1}\n", 4, "needs a description"),
        ("catalog: a\nversion: 1\ntools:\n  - {tool: a, input: {}}\n", 4, "only a canned tool"),
        (
            "catalog: a\nversion: 1\ntools:\n  - {tool: a, description: d, answers: 1, input: []}\n",
            4,
            "a JSON Schema",
        ),
    ],
)
def test_a_bad_catalog_says_where(text: str, line: int, said: str) -> None:
    with pytest.raises(BadScenario, match=said) as error:
        parse_catalog(text, "a.catalog.yaml")
    assert error.value.place.line == line


def test_a_catalog_that_names_no_operation_says_where(tmp_path: Path) -> None:
    (tmp_path / "own.catalog.yaml").write_text("catalog: own\nversion: 1\ntools:\n  - get_order\n  - fly\n")
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(
        "scenario: a\nwhy: b\ncatalog: {from: own}\nuser: {says: Hi.}\nexpect: {read_only: true}\n"
    )
    with pytest.raises(BadScenario, match="there is no operation 'fly'") as error:
        load(file)
    assert str(error.value.place) == "own.catalog.yaml:5"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON"),
        ("[]", "a case is"),
        ('{"id": "a", "input": "b"}', "a case is"),
        ('{"id": 1, "input": "b", "expected_tool": null}', "are texts"),
        ('{"id": "a", "input": " ", "expected_tool": null}', "not empty"),
        ('{"id": "a", "input": "b", "expected_tool": 7}', "wanted a tool's name or null"),
        ('{"id": "good", "input": "b", "expected_tool": null}', "stands twice"),
        ('{"id": "a", "input": "b", "expected_tool": "fly"}', "there is no tool 'fly'"),
    ],
)
def test_a_bad_line_of_a_dataset_says_where(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text('{"id": "good", "input": "Hello", "expected_tool": null}\n\n' + line + "\n")
    with pytest.raises(BadScenario, match=said) as error:
        list(load_dataset(file))
    assert error.value.place.line == 3


# -- lint --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("language: en", "language: de", "nobody says to have read it"),
        ("clarification: allowed", "clarification: required", ""),
        ('states: [5.00 USD, {text: "1", about: [refund]}]', "states: [5.00 USD]", ""),
        (
            "says: Refund 5.00",
            "says: Use refund_order and refund 5.00",
            "the agent is told the tool refund_order",
        ),
    ],
)
def test_lint_names_what_parses_and_is_wrong_all_the_same(
    tmp_path: Path, old: str, new: str, said: str
) -> None:
    text, _ = changed(old, new)
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(text)
    found = [finding.reason for finding in lint(Loaded(load(file), tmp_path))]
    assert any(said in reason for reason in found)
    assert any("there are no scripts for mine" in reason for reason in found)


def test_lint_says_where_a_reference_run_fails_its_own_contract(tmp_path: Path) -> None:
    file = tmp_path / "mine.scenario.yaml"
    file.write_text(GOOD)
    (tmp_path / "mine.scripts.yaml").write_text("scripted:\n  - {say: No.}\n")
    found = [finding.reason for finding in lint(Loaded(load(file), tmp_path))]
    assert any("the reference lacks refund.created" in reason for reason in found)
