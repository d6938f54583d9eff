"""A trajectory is one line, and the line is that trajectory; whatever is none is refused with its place."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from datetime import date
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandtrail.ledgers import Finding, Grade, Ledger
from sandtrail.ledgers.bindings import Binding
from sandtrail.ledgers.book import Book
from sandtrail.ledgers.conversation import (
    Answered,
    Calls,
    Decided,
    Decision,
    Malformed,
    Message,
    ModelCall,
    Refused,
    Reply,
    ToolCall,
    Truncated,
    Usage,
    UserSaid,
)
from sandtrail.ledgers.entries import Attempt, Change, Effect, Origin, Page
from sandtrail.ledgers.findings import CODES
from sandtrail.ledgers.saved import DEEPEST, FORMAT, LARGEST, BadTrajectory, dump, load
from sandtrail.ledgers.specs import Catalog, Principal, ToolSpec
from sandtrail.ledgers.trajectory import Ended, Offer, ToolFact, Trajectory
from sandtrail.ledgers.trees import as_list, as_object, same
from sandtrail.ledgers.words import Access, OriginKind, Outcome
from worlds import world

# -- strategies ------------------------------------------------------------------------------------------------

TEXTS = st.text(st.characters(), max_size=12) | st.sampled_from(
    ["\ud800", "\udfff.", "\x00", "caf\u00e9 \U0001f600\u2028", "a\nb\r\n", '"\\/', "\ufeff", "9" * 40]
)
NUMBERS = st.integers() | st.sampled_from([2**63 - 1, -(2**63), 2**64, 10**300, 10**3999])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
SYMBOLS = st.sampled_from(["$payment.lamp", "$customer.lee"])
RAW = (
    OBJECTS.map(json.dumps)
    | OBJECTS.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1))
    | TEXTS
    | st.sampled_from(["", '{"a": 1, "a": 2}', '"{}"', "{", "[1]", "[" * 5000, '{"a": NaN}', '{"a":' * 300 + "1" + "}" * 300])
)  # fmt: skip
CALLS = (
    st.builds(ToolCall.read, TEXTS, TEXTS, RAW, batch=st.integers(0, 3))
    | st.builds(ToolCall, TEXTS, TEXTS, OBJECTS, st.integers(0, 3), st.none() | RAW, TEXTS)
)  # fmt: skip
ROWS = st.tuples(TEXTS, TEXTS | st.none(), NUMBERS)
CHANGES = st.builds(
    Change, NUMBERS, st.just("note"), TEXTS, st.just(("id", "text", "size")), st.none() | ROWS, ROWS, st.booleans()
)  # fmt: skip


@cache
def anything(hint: Any) -> st.SearchStrategy[Any]:
    """Every value of a declared type, so that a field that is added is also tried."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in SPECIAL:
        return SPECIAL[hint]
    if origin in {Union, UnionType}:
        return st.one_of([anything(option) for option in inner])
    if origin is tuple:
        return st.lists(anything(inner[0]), max_size=3).map(tuple)
    if origin is frozenset:
        return st.frozensets(anything(inner[0]))
    if origin is Mapping:
        return st.dictionaries(TEXTS, anything(inner[1]), max_size=3)
    if issubclass(hint, StrEnum):
        return st.sampled_from(list(hint))
    hints = get_type_hints(hint)
    return st.builds(hint, **{part.name: anything(hints[part.name]) for part in fields(hint)})


def pages() -> st.SearchStrategy[Page]:
    hints = get_type_hints(Page)
    rest = {name: anything(hints[name]) for name in ("effects", "bindings", "at", "tampering", "hole")}
    attempted = {"origin": st.just(Origin(OriginKind.ATTEMPT)), "attempt": anything(Attempt)}
    others = {"origin": anything(Origin).filter(lambda origin: origin.kind is not OriginKind.ATTEMPT)}
    changes = st.lists(CHANGES, max_size=3).map(tuple)
    return st.one_of(*(st.builds(Page, **rest, **which, changes=changes) for which in (attempted, others)))


@st.composite
def ledgers(draw: st.DrawFn) -> Ledger:
    opening = draw(st.lists(anything(Binding), max_size=2))
    book = Book(draw(TEXTS), {}, tuple(opening))
    for page in draw(st.lists(pages(), max_size=3)):
        book.append(page)
    found = draw(anything(tuple[Finding, ...]))
    return Ledger(book, grade=draw(st.sampled_from(Grade)), replay=lambda: found)


SPECIAL: dict[Any, st.SearchStrategy[Any]] = {
    Any: JSON,
    str: TEXTS,
    int: NUMBERS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    NoneType: st.none(),
    ToolCall: CALLS,
    Calls: st.builds(Calls, st.lists(CALLS, min_size=1, max_size=3).map(tuple), TEXTS),
    Catalog: st.lists(
        st.builds(ToolSpec, TEXTS, TEXTS, OBJECTS), max_size=3, unique_by=lambda tool: tool.name
    ).map(lambda tools: Catalog(tuple(tools))),
    Principal: st.builds(
        Principal,
        TEXTS,
        TEXTS,
        st.lists(TEXTS, min_size=1, max_size=2).map(tuple),
        st.lists(TEXTS, max_size=2).map(tuple),
        st.none() | SYMBOLS,
    ),
    Finding: st.builds(
        Finding,
        st.sampled_from(sorted(CODES)),
        TEXTS,
        TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
        st.sampled_from(Grade),
    ),
    Ledger: ledgers(),
}


def trajectories() -> st.SearchStrategy[Trajectory]:
    found: st.SearchStrategy[Trajectory] = anything(Trajectory)
    return found


def lived() -> Trajectory:
    """A trajectory in which something happened, with a ledger of a world."""
    with world() as here:
        catalog = here.catalog
        raw = json.dumps({"payment_id": here.id("$payment.second"), "amount_minor": 4000})
        call = ToolCall.read("c1", "refund_payment", raw)
        answer = here.call("refund_payment", raw)
        here.call("add_note", customer_id=here.id("$customer.lee"), text="caf\u00e9 \U0001f600")
        offers = (Offer(0, catalog, {tool.name: ToolFact(tool.name) for tool in catalog.tools}),)
        talk = (
            UserSaid("refund the second one"),
            Decided(Calls((call,)), (ModelCall("m", usage=Usage(3, 4, cost=5)),)),
            Answered(call, str(answer), is_error=False, attempt=1),
            Decided(Reply("done")),
        )
        return Trajectory("refund", "scripted", 7, 1, talk, here.ledger.settled(), offers=offers)


LIVED = dump(lived())


def assert_same(back: Trajectory, gone: Trajectory) -> None:
    for part in fields(Trajectory):
        if part.name != "ledger":
            one, other = getattr(back, part.name), getattr(gone, part.name)
            assert one == other, part.name
            assert repr(one) == repr(other) or isinstance(one, frozenset), part.name  # True is not 1
    for name in ("run", "grade", "tables", "bindings", "pages", "breaches"):
        assert getattr(back.ledger, name) == getattr(gone.ledger, name), name
    assert repr(back.ledger.pages) == repr(gone.ledger.pages)
    assert back.ledger.verify() == gone.ledger.verify()
    assert same(dict(back.recorded), dict(gone.recorded))


# -- there and back ----------------------------------------------------------------------------------------------


@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)
@given(trajectory=trajectories())
def test_a_trajectory_is_read_back_as_it_was(trajectory: Trajectory) -> None:
    line = dump(trajectory)
    assert line.isascii()
    assert "\n" not in line
    back = load(line)
    assert_same(back, trajectory)
    assert dump(back) == line


@settings(max_examples=80, deadline=None)
@given(call=CALLS)
def test_a_call_is_read_back_with_its_arguments_its_text_and_its_flaw(call: ToolCall) -> None:
    (decided,) = load(dump(talking(Decided(Calls((call,)))))).conversation
    assert decided == Decided(Calls((call,)))


def talking(*messages: Message) -> Trajectory:
    return Trajectory("s", "a", 0, 1, messages, Ledger(Book("r", {})))


@pytest.mark.parametrize(
    "decision",
    [
        Calls((ToolCall("c", "t", {"a": [1, 1.0, True, None]}),), "beside"),
        Reply("hi"),
        Refused("no"),
        Truncated("cut", (ToolCall.read("c", "t", '{"a": '),)),
        Malformed("what is this", "\x00\ud83d"),
    ],
    ids=lambda decision: type(decision).__name__,
)
def test_every_kind_of_decision_comes_back(decision: Decision) -> None:
    said = Decided(decision, (ModelCall("m", "n", 529, seconds=0.25),), ({"signature": "x"},), forced=True)
    assert load(dump(talking(said))).conversation == (said,)


def test_arguments_that_the_text_gives_are_written_once() -> None:
    call = ToolCall.read("c", "t", '{"order": "unmistakable"}')
    assert dump(talking(Decided(Calls((call,))))).count("unmistakable") == 1


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("c", "t", {"a": True}, raw='{"a": 1}'),
        ToolCall("c", "t", {"a": 1}, raw='{"a": 1}', flaw="args.malformed: so it was said"),
        ToolCall("c", "t", {}, raw="0"),
        ToolCall("c", "t", {}, raw='{"a": 1}', flaw="args.malformed: so it was said"),
    ],
)
def test_a_call_that_differs_from_its_text_is_kept_as_it_is(call: ToolCall) -> None:
    (decided,) = load(dump(talking(Decided(Calls((call,)))))).conversation
    assert repr(decided) == repr(Decided(Calls((call,))))


def test_a_call_nested_as_deep_as_a_model_sent_it_comes_back() -> None:
    raw = '{"a":' * 400 + "1" + "}" * 400
    call = ToolCall.read("c", "t", raw)
    assert not call.flaw
    (decided,) = load(dump(talking(Decided(Calls((call,)))))).conversation
    assert decided == Decided(Calls((call,)))


def test_two_halves_of_one_character_become_that_character() -> None:
    (said,) = load(dump(talking(UserSaid("\ud83d" + "\ude00")))).conversation
    assert said == UserSaid("\U0001f600")


def test_a_line_may_end_in_a_line_end() -> None:
    assert_same(load(LIVED + "\r\n"), load(LIVED))


def test_a_line_of_an_older_sandtrail_may_lack_a_field_that_has_a_default() -> None:
    body = json.loads(LIVED)
    del body["zone"], body["conversation"][1]["forced"]
    assert_same(load(json.dumps(body)), load(LIVED))


# -- what is judged stays judged -----------------------------------------------------------------------------------

Judge: TypeAlias = Callable[[Trajectory], Iterator[Finding]]


def judged(trajectory: Trajectory) -> Iterator[Finding]:
    yield from trajectory.ledger.verify()
    for attempt in trajectory.ledger.writes():
        yield Finding("effect.unauthorized_write", f"attempt {attempt.seq}", str(attempt))
    for made in trajectory.made:
        behind = trajectory.offer(made.step.number).name_of(made.call.tool)
        text = trajectory.ledger.projection.text(f"{made.call.text} {made.answered}")
        yield Finding("selection.wrong_tool", made.at, f"{behind} {text} {trajectory.usage}")


def test_a_judge_finds_the_same_in_a_loaded_trajectory() -> None:
    trajectory = lived()
    found = list(judged(trajectory))
    assert len(found) == 3
    assert list(judged(load(dump(trajectory)))) == found


def test_what_the_rules_found_is_found_again() -> None:
    change = Change(1, "note", "$note.x", ("id", "text"), None, ("$note.x", "hello"))
    attempt = Attempt(1, "add_note", Access.WRITE, "{}", "amy", Outcome.OK)
    book = Book("r", {})
    book.append(Page(Origin(OriginKind.ATTEMPT), attempt, changes=(change,)))
    hole = Finding("ledger.capture_hole", "the end", "note $note.y is there, and no change made it")
    ledger = Ledger(book, replay=lambda: (hole,))
    back = load(dump(replace(talking(), ledger=ledger))).ledger
    assert [finding.code for finding in back.verify()] == ["ledger.unjournaled", "ledger.capture_hole"]
    assert back.verify() == ledger.verify()
    assert not back.read_only


# -- what is refused -----------------------------------------------------------------------------------------------


def refused(text: str) -> BadTrajectory:
    with pytest.raises(BadTrajectory) as caught:
        load(text)
    assert len(str(caught.value)) < 400
    return caught.value


def changed(pointer: str, value: Any, line: str = LIVED) -> str:
    """The line with one value set (or, where it is `...`, removed)."""
    body = json.loads(line)
    *path, last = [int(step) if step.isdigit() else step for step in pointer[1:].split("/")]
    at: Any = body
    for step in path:
        at = at[step]
    if value is ...:
        del at[last]
    else:
        at[last] = value
    return json.dumps(body)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "invalid JSON at column 1"),
        ("{", "invalid JSON at column 2"),
        (LIVED[:-9], "invalid JSON"),
        (LIVED + LIVED, "Extra data"),
        ("[]", "an object is wanted"),
        ("null", "an object is wanted"),
        ('"x"', "an object is wanted"),
        ("[" * 100_000, "recursion"),
        ('{"a":' * 100_000, "recursion"),
        ('{"format": 1, "format": 1}', "'format' stands twice"),
        ('{"format": NaN}', "NaN is no JSON"),
        ('{"format": ' + "9" * 5000 + "}", "4300"),
        ("\ufeff{}", "BOM"),
    ],
    ids=lambda text: str(text)[:16],
)
def test_what_is_no_json_object_is_no_trajectory(text: str, words: str) -> None:
    error = refused(text)
    assert error.at == ""
    assert words in error.reason


def test_a_line_longer_than_any_trajectory_is_not_even_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtrail.ledgers.saved.LARGEST", 100)
    assert "no more than 100 are read" in refused(LIVED).reason
    assert LARGEST > 10**6


@pytest.mark.parametrize("written", [FORMAT + 1, 10**20])
def test_a_newer_format_is_refused_with_the_remedy(written: int) -> None:
    error = refused(changed("/format", written))
    assert error.at == "/format"
    assert "upgrade sandtrail" in error.reason


@pytest.mark.parametrize("written", [..., None, 0, -1, True, 1.0, "1", [], {}])
def test_what_names_no_format_is_no_trajectory(written: Any) -> None:
    error = refused(changed("/format", written))
    assert error.at == "/format"
    assert "is no format" in error.reason


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [
        ("/scenario", ..., "the field is missing"),
        ("/scenario", 7, "a text is wanted, not 7"),
        ("/seed", True, "a whole number is wanted, not true"),
        ("/seed", 1.0, "a whole number is wanted, not 1.0"),
        ("/seed", "7", "a whole number is wanted, not '7'"),
        ("/repetition", None, "a whole number is wanted, not null"),
        ("/ended", "don", "'don' is no ended; did you mean done?"),
        ("/ended", [], "a list is no ended"),
        ("/mood", "good", "unknown field"),
        ("/conversation", {}, "a list is wanted, not an object"),
        ("/conversation/0", None, "an object is wanted, not null"),
        ("/conversation/0/kind", ..., "null is none of"),
        ("/conversation/0/kind", "user_sad", "'user_sad' is none of"),
        ("/conversation/0/kind", ["user_said"], "is none of"),
        ("/conversation/0/text", None, "a text is wanted, not null"),
        ("/conversation/1/decision/kind", "user_said", "is none of"),
        ("/conversation/1/decision/calls", [], "a decision to call calls something"),
        ("/conversation/1/decision/calls/0/tool", ..., "the field is missing"),
        ("/conversation/1/decision/calls/0/batch", "0", "a whole number is wanted"),
        ("/conversation/1/requests/0/usage/cost", 0.5, "a whole number is wanted"),
        ("/conversation/1/requests/0/seconds", "soon", "a number is wanted"),
        ("/conversation/2/is_error", 0, "true or false is wanted, not 0"),
        ("/offers/0/tools", [], "an object is wanted"),
        ("/principal", {"subject": "x", "tenants": []}, "name at least one tenant"),
        ("/sees/0", "everything", "is no sees"),
        ("/ledger", None, "an object is wanted"),
        ("/ledger/grade", ..., "are wanted, and nothing else"),
        ("/ledger/grade", "perfect", "is no grade"),
        ("/ledger/lines", "x", "a list is wanted"),
        ("/ledger/lines/0", {}, "a text is wanted"),
        ("/ledger/replayed", [{"code": "no.such", "at": "", "reason": ""}], "not in the table of codes"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_stands(pointer: str, value: Any, words: str) -> None:
    error = refused(changed(pointer, value))
    assert words in error.reason
    assert pointer.startswith(error.at) or error.at.startswith(pointer)


def test_the_place_is_a_json_pointer() -> None:
    error = refused(LIVED.replace('"recorded":{}', '"recorded":{"a/b~c":[1,1e999]}'))
    assert error.at == "/recorded/a~1b~0c/1"
    assert "no word for Infinity" in error.reason


def test_what_is_nested_deeper_than_any_value_is_refused_both_ways() -> None:
    deep: Any = 1
    for _ in range(DEEPEST):
        deep = [deep]
    assert_same(load(dump(recording(deep))), recording(deep))
    with pytest.raises(BadTrajectory, match=f"nested deeper than {DEEPEST}"):
        dump(recording([deep]))
    assert f"nested deeper than {DEEPEST}" in refused(changed("/recorded", {"x": [deep]})).reason


def recording(value: Any) -> Trajectory:
    return replace(talking(), recorded={"x": value})


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (math.nan, "no word for NaN"),
        (math.inf, "no word for Infinity"),
        (-math.inf, "no word for -Infinity"),
        (10**5000, "a number of so many digits"),
        (b"x", "no word for a bytes"),
        ({1}, "no word for a set"),
        (Decided, "no word for a type"),
        ({1: 2}, "the key 1 is no text"),
        ({None: 2}, "the key null is no text"),
    ],
    ids=["nan", "inf", "-inf", "huge", "bytes", "set", "class", "number as key", "null as key"],
)
def test_what_json_cannot_say_is_refused_before_it_is_written(value: Any, words: str) -> None:
    with pytest.raises(BadTrajectory) as caught:
        dump(recording([value]))
    assert words in caught.value.reason
    assert caught.value.at == "/recorded/x/0"


def test_a_value_of_another_type_than_declared_is_refused_before_it_is_written() -> None:
    wrong: Any = None
    with pytest.raises(BadTrajectory, match="/conversation/0/decision/text: a text is wanted, not null"):
        dump(talking(Decided(Reply(wrong))))
    with pytest.raises(BadTrajectory, match="/conversation/0/decision: one of calls, reply"):
        dump(talking(Decided(wrong)))
    with pytest.raises(BadTrajectory, match="/ledger: a Ledger is wanted"):
        dump(replace(talking(), ledger=wrong))


def test_a_fact_that_is_no_json_is_refused_before_it_is_written() -> None:
    book = Book("r", {})
    book.append(Page(Origin(OriginKind.EVENT), effects=(Effect("e", {"x": date.min}),)))
    with pytest.raises(
        BadTrajectory, match="/ledger/lines/1/page/effects/0/facts/x: JSON has no word for a date"
    ):
        dump(replace(talking(), ledger=Ledger(book)))


def test_tuples_come_back_as_lists() -> None:
    assert load(dump(recording((1, (2,))))).recorded == {"x": [1, [2]]}


def test_a_word_given_as_text_comes_back_as_the_word() -> None:
    plain: Any = "done"
    assert load(dump(replace(talking(), ended=plain))).ended is Ended.DONE


# -- the embedded ledger ---------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_tampered_ledger_is_no_evidence(data: st.DataObject) -> None:
    lines = json.loads(LIVED)["ledger"]["lines"]
    number = data.draw(st.integers(0, len(lines) - 1))
    place = data.draw(st.integers(0, len(lines[number]) - 1))
    other = data.draw(st.characters().filter(lambda other: other != lines[number][place]))
    altered = lines[number][:place] + other + lines[number][place + 1 :]
    error = refused(changed(f"/ledger/lines/{number}", altered))
    assert error.at == f"/ledger/lines/{number}"
    assert [finding.code for finding in error.findings] == ["ledger.tampered"]


def test_a_missing_line_of_the_ledger_is_missed() -> None:
    error = refused(changed("/ledger/lines/1", ...))
    assert (error.at, error.reason) == (
        "/ledger/lines/1",
        "1 line is missing before this one (n=2, expected 1)",
    )


def rehashed(place: str, value: Any) -> str:
    """The line with a ledger of which one value was changed, and all hashes made anew."""
    lines = [json.loads(line) for line in json.loads(LIVED)["ledger"]["lines"]]
    lines = json.loads(changed(f"/{place}", value, json.dumps(lines)))
    made, prev = list[str](), ""
    for line in lines:
        body = {key: value for key, value in line.items() if key != "hash"} | {"prev": prev}
        text = json.dumps(body, separators=(",", ":"))
        prev = hashlib.sha256(text.encode()).hexdigest()
        made.append(f'{text[:-1]},"hash":"{prev}"}}')
    return changed("/ledger/lines", made)


FORGERIES: dict[str, tuple[str, Any]] = {
    "an instant that is a number": ("1/page/at", 5),
    "an attempt numbered by text": ("1/page/attempt/seq", "1"),
    "an attempt without arguments": ("1/page/attempt/arguments", None),
    "a change without a number": ("1/page/changes/0/n", None),
    "a cell that is a list": ("1/page/changes/0/new/0", []),
    "a row without cells": ("1/page/changes/0/new", []),
    "fewer columns than cells": ("1/page/changes/0/columns", ["id"]),
    "facts that are a list": ("1/page/effects/0/facts", []),
    "a fact that is no number": ("1/page/effects/0/facts", {"x": math.inf}),
    "a number of rows": ("1/page/effects/0/rows", 7),
    "a page that is a number": ("1/page", 7),
    "a raw id that is a number": ("0/head/bindings/0/raw", 7),
    "a table that is a number": ("0/head/tables", {"x": 7}),
    "another format": ("0/head/format", 99),
}


@pytest.mark.parametrize(("place", "value"), FORGERIES.values(), ids=FORGERIES)
def test_a_chain_that_holds_over_something_else_is_no_ledger(place: str, value: Any) -> None:
    error = refused(rehashed(place, value))
    assert error.at.startswith("/ledger/lines")


# -- whatever else a file may say --------------------------------------------------------------------------------------


def pointers(value: Any, at: str = "") -> Iterator[str]:
    """Every place in a JSON value."""
    fields_of = as_object(value) or {}
    for step, below in [*fields_of.items(), *enumerate(as_list(value) or ())]:
        yield f"{at}/{step}"
        yield from pointers(below, f"{at}/{step}")


@settings(max_examples=200, deadline=None)
@given(pointer=st.sampled_from([one for one in pointers(json.loads(LIVED)) if "$" not in one]), value=JSON)
def test_whatever_stands_anywhere_is_read_or_refused(pointer: str, value: Any) -> None:
    try:
        trajectory = load(changed(pointer, value))
    except BadTrajectory:
        return
    assert_same(load(dump(trajectory)), trajectory)


@settings(max_examples=100, deadline=None)
@given(text=st.text() | JSON.map(json.dumps) | st.integers(0, len(LIVED) - 1).map(lambda cut: LIVED[:cut]))
def test_no_text_at_all_raises_anything_else(text: str) -> None:
    refused(text)
