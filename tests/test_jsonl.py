"""A saved ledger is read back whole, and says what was done to it: where, and how."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandtrail.fakes.billing import Payment
from sandtrail.fakes.orders import Order
from sandtrail.ledgers import Finding, Grade, Ledger
from sandtrail.ledgers.jsonl import BadLedger, export, load, verify
from worlds import world


def lived(seed: int) -> Ledger:
    """The ledger of a world in which much has happened."""
    with world(seed=seed) as here:
        payment, lee = here.id("$payment.second"), here.id("$customer.lee")
        here.call("list_payments", order_id=here.id("$order.lamp"))
        here.call(
            "refund_payment",
            payment_id=payment,
            amount_minor=4000,
            reason="caf\u00e9 \U0001f600\u2028",
            idempotency_key="k",
        )
        here.call(
            "refund_payment",
            payment_id=payment,
            amount_minor=4000,
            reason="caf\u00e9 \U0001f600\u2028",
            idempotency_key="k",
        )
        here.call("refund_payment", payment_id=payment, amount_minor=4000)
        here.faults.lose_answer("add_note")
        with pytest.raises(TimeoutError):
            here.call("add_note", customer_id=lee, text="hello")
        here.faults.malform("get_customer")
        here.call("get_customer", customer_id=lee)
        here.faults.rate_limit("get_customer")
        here.call("get_customer", customer_id=lee)
        here.call("cancel_order", order_id=here.id("$order.lamp"))
        here.call("nothing_like_it", "{not json")
        here.advance("3 days")
        with here.event("a courier came") as tx:
            tx.update(tx.get(Order, "$order.south"), status="shipped", effect="order.shipped")
        ledger = here.ledger
        assert ledger.breaches == []
        return ledger


@cache
def saved(seed: int = 7) -> tuple[str, ...]:
    return tuple(export(lived(seed)))


def the_one(lines: Sequence[str]) -> Finding:
    (finding,) = verify(lines)
    assert finding.code == "ledger.tampered"
    return finding


# -- there and back ----------------------------------------------------------------------------------------


def test_a_ledger_is_read_back_as_it_was() -> None:
    ledger = lived(7)
    back = load(export(ledger))
    assert back.pages == ledger.pages
    assert back.run == ledger.run
    assert back.bindings == ledger.bindings
    assert back.tables == ledger.tables
    assert back.breaches == ledger.breaches == []


def test_what_is_read_back_prints_the_same() -> None:
    ledger = lived(7)
    assert repr(load(export(ledger))) == repr(ledger)


def test_what_is_read_back_answers_the_same_questions() -> None:
    back = load(saved())
    assert back.effects("refund.created") == [{"payment": "$payment.second", "amount": 4000}]
    assert [attempt.operation for attempt in back.writes()] == ["refund_payment", "add_note", "cancel_order"]
    assert [attempt.seq for attempt in back.attempts(delivery="lost")] == [5]
    assert back.unchanged("invoice")
    assert not back.read_only


def test_what_is_read_back_is_written_the_same() -> None:
    assert tuple(export(load(saved()))) == saved()


def test_lines_may_end_in_line_ends_and_blank_lines_say_nothing() -> None:
    ended = [line + "\r\n" for line in saved()]
    assert verify(ended) == ()
    assert verify([*ended, "\n", "  \n"]) == ()
    assert load([*ended, "\n"]).pages == load(saved()).pages


def test_an_empty_world_has_a_ledger_of_two_lines() -> None:
    with world() as here:
        lines = list(export(here.ledger))
    assert [next(key for key in ("head", "page", "seal") if key in json.loads(line)) for line in lines] == [
        "head",
        "seal",
    ]
    assert load(lines).pages == ()


def test_a_ledger_of_somebody_else_is_read_with_its_grade() -> None:
    assert load(saved()).grade is Grade.PROVED
    assert load(saved(), grade=Grade.REPORTED).grade is Grade.REPORTED


def test_breaches_are_found_again_where_the_ledger_is_read() -> None:
    with world() as here:
        with here.event("money appeared") as tx:
            tx.update(tx.get(Payment, "$payment.first"), refunded=1)
        assert [breach.code for breach in here.ledger.breaches] == ["ledger.money_leak"]
        assert load(export(here.ledger)).breaches == here.ledger.breaches


# -- what can happen to a file -----------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_flipped_byte_never_passes(data: st.DataObject) -> None:
    lines = [line.encode() for line in saved()]
    number = data.draw(st.integers(0, len(lines) - 1), label="line")
    place = data.draw(st.integers(0, len(lines[number]) - 1), label="place")
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != lines[number][place]), label="byte")
    lines[number] = lines[number][:place] + bytes([byte]) + lines[number][place + 1 :]
    text = b"\n".join(lines).decode("utf-8", "surrogateescape")
    broken = text.split("\n")
    assert verify(broken) != ()
    with pytest.raises(BadLedger):
        load(broken)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_an_altered_value_is_an_altered_line_and_that_line_is_named(data: st.DataObject) -> None:
    lines = list(saved())
    number = data.draw(st.integers(0, len(lines) - 1), label="line")
    places = [place for place, letter in enumerate(lines[number]) if letter.isalnum()]
    place = data.draw(st.sampled_from(places), label="place")
    other = "x" if lines[number][place] != "x" else "y"
    lines[number] = lines[number][:place] + other + lines[number][place + 1 :]
    finding = the_one(lines)
    assert finding.at == f"line {number + 1}"
    assert "altered" in finding.reason


def test_every_single_character_of_a_line_counts() -> None:
    lines = list(saved())
    page = lines[1]
    for place in range(len(page)):
        other = "0" if page[place] != "0" else "1"
        altered = [lines[0], page[:place] + other + page[place + 1 :], *lines[2:]]
        assert the_one(altered).at == "line 2", (place, page[max(0, place - 20) : place + 20])


def test_even_the_case_of_an_escaped_letter_counts() -> None:
    (number, line), *_ = [(number, line) for number, line in enumerate(saved()) if "\\u00e9" in line]
    altered = list(saved())
    altered[number] = line.replace("\\u00e9", "\\u00E9", 1)
    finding = the_one(altered)
    assert finding.at == f"line {number + 1}"
    assert "altered" in finding.reason


LAST = len(saved()) - 1


@pytest.mark.parametrize("place", [1, LAST // 2, LAST - 1], ids=["first page", "a page between", "last page"])
def test_a_removed_page_is_missing_before_the_line_that_followed_it(place: int) -> None:
    lines = [*saved()[:place], *saved()[place + 1 :]]
    finding = the_one(lines)
    assert finding.at == f"line {place + 1}"
    assert finding.reason == f"1 line is missing before this one (n={place + 1}, expected {place})"


def test_removed_lines_are_counted() -> None:
    finding = the_one([*saved()[:2], *saved()[5:]])
    assert (finding.at, finding.reason) == ("line 3", "3 lines are missing before this one (n=5, expected 2)")


def test_a_removed_head_is_missing_before_the_first_line() -> None:
    finding = the_one(saved()[1:])
    assert (finding.at, finding.reason) == ("line 1", "1 line is missing before this one (n=1, expected 0)")


@pytest.mark.parametrize("kept", [1, 2, LAST])
def test_a_file_cut_between_lines_ends_early(kept: int) -> None:
    finding = the_one(saved()[:kept])
    assert finding.at == f"line {kept}"
    assert finding.reason.startswith(f"the file ends early: {kept} line")


@pytest.mark.parametrize("left", [1, 40, -1])
@pytest.mark.parametrize("line", [0, 3, LAST])
def test_a_file_cut_inside_a_line_is_cut_there(line: int, left: int) -> None:
    finding = the_one([*saved()[:line], saved()[line][:left]])
    assert finding.at == f"line {line + 1}"
    assert "the file was cut here" in finding.reason


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_file_cut_anywhere_never_passes(data: st.DataObject) -> None:
    text = "\n".join(saved())
    cut = data.draw(st.integers(0, len(text) - 1))
    assert verify(text[:cut].split("\n")) != ()


@pytest.mark.parametrize("place", [1, 4, LAST - 2])
def test_swapped_lines_are_out_of_order(place: int) -> None:
    lines = list(saved())
    lines[place], lines[place + 1] = lines[place + 1], lines[place]
    finding = the_one(lines)
    assert finding.at == f"line {place + 1}"
    assert "out of order" in finding.reason


@pytest.mark.parametrize("place", [0, 1, 4, LAST - 1])
def test_a_doubled_line_stands_there_a_second_time(place: int) -> None:
    finding = the_one([*saved()[: place + 1], *saved()[place:]])
    assert finding.at == f"line {place + 2}"
    assert finding.reason.startswith("the line stands here a second time")


def test_a_doubled_seal_comes_after_the_seal() -> None:
    finding = the_one([*saved(), saved()[-1]])
    assert (finding.at, finding.reason) == (f"line {LAST + 2}", "the ledger was sealed before this line")


def appended(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return [*ours, *theirs]


def interleaved(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return [line for both in zip(ours, theirs, strict=True) for line in both]


def spliced(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    return [*ours[:4], *theirs[4:]]


@pytest.mark.parametrize(
    ("merge", "line"),
    [(appended, LAST + 2), (interleaved, 2), (spliced, 5)],
    ids=["appended", "interleaved", "spliced"],
)
def test_two_ledgers_in_one_file_are_told_apart(merge: Callable[..., list[str]], line: int) -> None:
    finding = the_one(merge(saved(7), saved(8)))
    assert finding.at == f"line {line}"
    assert finding.reason == "the line belongs to another ledger, run-8; this one is run-7"


def test_lines_of_another_ledger_with_the_same_run_name_do_not_follow() -> None:
    with world(seed=7) as here:
        here.call("get_payment", payment_id=here.id("$payment.first"))
        other = list(export(here.ledger))
    finding = the_one([*saved()[:2], other[2]])
    assert (finding.at, finding.reason) == ("line 3", "the line does not follow from the one before it")


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "{",
        "null",
        "[]",
        "1",
        '"x"',
        "{}",
        '{"run": "r"}',
        '{"run": 1, "n": 0, "prev": "", "hash": ""}',
        "[" * 100_000,
    ],
    ids=lambda line: str(line)[:20],
)
def test_what_is_no_line_of_a_ledger_is_said_to_be_none(line: str) -> None:
    for lines, at in (([line], "line 1"), ([*saved()[:2], line, *saved()[2:]], "line 3")):
        finding = the_one(lines)
        assert finding.at == at
        assert finding.reason.startswith("this is no line of a ledger")
        with pytest.raises(BadLedger, match=f"^{at}: this is no line of a ledger"):
            load(lines)


@pytest.mark.parametrize("lines", [[], [""], ["\n", "  \n"]], ids=["no line", "an empty line", "blank lines"])
def test_an_empty_file_is_no_ledger(lines: list[str]) -> None:
    finding = the_one(lines)
    assert (finding.at, finding.reason) == ("line 1", "the file is empty")
    with pytest.raises(BadLedger, match="the file is empty"):
        load(lines)


def test_blank_lines_do_not_shift_the_numbers_of_the_lines() -> None:
    lines = [saved()[0], "", *saved()[2:]]
    assert the_one(lines).at == "line 3"
    with pytest.raises(BadLedger) as caught:
        load(lines)
    assert [finding.at for finding in caught.value.findings] == ["line 3"]


# -- a chain that holds over something else ----------------------------------------------------------------


Forgery: TypeAlias = Callable[[list[Any]], object]


def rehashed(change: Forgery) -> list[str]:
    """Our lines, changed, with every number and hash made anew: a careful forgery."""
    lines = [json.loads(line) for line in saved()]
    change(lines)
    made, prev = list[str](), ""
    for n, line in enumerate(lines):
        body = {key: value for key, value in line.items() if key != "hash"} | {"n": n, "prev": prev}
        text = json.dumps(body, separators=(",", ":"))
        prev = hashlib.sha256(text.encode()).hexdigest()
        made.append(f'{text[:-1]},"hash":"{prev}"}}')
    return made


def test_a_page_left_out_by_a_careful_forger_contradicts_the_seal() -> None:
    forged = rehashed(lambda lines: lines.pop(3))
    finding = the_one(forged)
    assert finding.at == f"line {len(forged)}"
    assert "seal" in finding.reason


FORGERIES: dict[str, Forgery] = {
    "no effects": lambda lines: lines[2]["page"].pop("effects"),
    "an unknown outcome": lambda lines: lines[2]["page"]["attempt"].update(outcome="splendid"),
    "an unknown field": lambda lines: lines[2]["page"]["attempt"].update(mood="good"),
    "no page": lambda lines: lines[2].update(page=None),
    "a list for a page": lambda lines: lines[2].update(page=[]),
    "no head": lambda lines: lines[0].pop("head"),
    "a list of tables": lambda lines: lines[0]["head"].update(tables=[]),
    "another format": lambda lines: lines[0]["head"].update(format=99),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_chain_over_something_else_is_no_ledger_of_this_format(forgery: Forgery) -> None:
    with pytest.raises(BadLedger, match="no ledger of format 1"):
        load(rehashed(forgery))
