"""Symbols inside, raw ids outside: ids differ in every run, keep their distance, and no symbol gets out."""

from __future__ import annotations

# pyright: reportPrivateUsage=false
import re
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Annotated

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sandtrail.fakes import SERVICES, Ref, Service, Tx, World, operation
from sandtrail.fakes.edge import ALPHABET, PREFIXES, Edge, SymbolLeak, run_key
from sandtrail.ledgers import Binding, Outcome, WorldSpec
from worlds import world

LAMP, MAT, LEE = "$payment.lamp", "$payment.mat", "$customer.lee"
NAMES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True)
SYMBOLS = st.builds("${}.{}".format, st.sampled_from(["payment", "customer", "order_line", "ticket"]), NAMES)


def edge(seed: int = 7, run: str = "run", style: str = "typed", apart: Sequence[str] = ()) -> Edge:
    made = Edge(run_key(seed, run), style=style)
    made.keep_apart(apart)
    return made


def known(*symbols: str, style: str = "typed") -> Edge:
    """An edge that has issued ids for these."""
    made = edge(style=style)
    for symbol in symbols:
        made.raw(symbol)
    return made


def distance(one: str, other: str) -> int:
    """Levenshtein's: insertions, deletions and substitutions."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row[0] = row[0], i
        for j, b in enumerate(other, start=1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("AB", "AB", 0), ("AB", "B", 1), ("ABC", "BCA", 2), ("ABCD", "AXYD", 2), ("A", "XYZ", 3)],
)
def test_the_distance_that_these_tests_measure_is_levenshteins(one: str, other: str, edits: int) -> None:
    assert distance(one, other) == distance(other, one) == edits


# -- ids ---------------------------------------------------------------------------------------------------


def test_ids_are_equal_by_equal_seed_and_run_and_differ_by_either() -> None:
    ids = {(seed, run): edge(seed, run).raw(LAMP) for seed in (1, 2) for run in ("a", "b")}
    assert len(set(ids.values())) == len(ids)
    assert ids == {(seed, run): edge(seed, run).raw(LAMP) for seed, run in ids}


def test_worlds_of_one_seed_and_run_share_their_ids_and_others_share_none() -> None:
    spec = WorldSpec({f"$customer.c{n}": {"name": "N", "email": f"n{n}@example.test"} for n in range(20)})

    def ids(seed: int, run: str) -> set[str]:
        with World.open(spec, seed, services=SERVICES, run=run) as here:
            return {here.id(symbol) for symbol in spec.entities}

    assert ids(1, "a") == ids(1, "a")
    assert ids(1, "a").isdisjoint(ids(2, "a"))
    assert ids(1, "a").isdisjoint(ids(1, "b"))


@pytest.mark.parametrize(
    ("style", "pattern"), [("typed", rf"pay_[{ALPHABET}]{{8}}"), ("opaque", rf"[{ALPHABET}]{{8}}")]
)
def test_a_style_shows_the_kind_or_hides_it(style: str, pattern: str) -> None:
    raw = edge(style=style).raw(LAMP)
    assert re.fullmatch(pattern, raw)
    assert edge(style=style).raw(LAMP) == raw


def test_the_two_styles_differ_by_the_prefix_only() -> None:
    assert edge().raw(LAMP) == "pay_" + edge(style="opaque").raw(LAMP)


def test_a_kind_without_a_prefix_of_its_own_is_shown_by_its_first_letters() -> None:
    assert edge().raw("$ticket.broken").startswith("tick_")
    assert all(prefix.endswith("_") for prefix in PREFIXES.values())
    assert len(set(PREFIXES.values())) == len(PREFIXES)


def test_a_style_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^style='fancy'; wanted 'typed' or 'opaque'$"):
        Edge(b"", style="fancy")


def test_an_id_is_issued_once_and_bound_once() -> None:
    made = edge()
    assert LAMP not in made
    raw = made.raw(LAMP)
    assert LAMP in made
    assert made.raw(LAMP) == raw
    assert made.issued(lambda _: (LEE, "north")) == (Binding(LAMP, raw, "payment", LEE, "north"),)
    assert made.issued(lambda _: (None, None)) == ()


def test_an_id_of_another_kind_is_no_id_of_this_kind() -> None:
    made = known(LAMP, LEE)
    assert made.symbol(made.raw(LAMP), "payment") == LAMP
    assert made.symbol(made.raw(LAMP), "order") is None
    assert made.symbol(made.raw(LEE), "payment") is None
    assert made.anything(made.raw(LEE)) == LEE


@pytest.mark.parametrize("style", ["typed", "opaque"])
def test_an_order_id_is_no_payment_id(style: str) -> None:
    with world(style=style) as here:
        answer = here.call("get_payment", payment_id=here.id("$order.lamp"))
        assert (answer.status, answer.json()["rule"]) == (404, "not_found")
        assert here.id("$order.lamp") in answer.json()["detail"]
        assert here.call("get_order", order_id=here.id("$order.lamp")).ok


def test_an_id_of_another_run_is_unknown() -> None:
    with world(seed=1) as here, world(seed=2) as there:
        assert there.symbol(here.id("$payment.first")) is None
        assert there.call("get_payment", payment_id=here.id("$payment.first")).json()["rule"] == "not_found"


def test_an_id_that_was_never_issued_is_unknown() -> None:
    made = edge()
    later = edge().raw(LAMP)
    assert made.symbol(later, "payment") is None
    assert made.anything(later) is None
    assert made.symbolic(f"see {later}") == f"see {later}"


SPOILT: list[Callable[[str], str]] = [
    str.lower,
    lambda raw: raw[:-1],
    lambda raw: raw + "0",
    lambda raw: f" {raw}",
]


@pytest.mark.parametrize("spoil", SPOILT)
def test_a_spoilt_id_is_unknown(spoil: Callable[[str], str]) -> None:
    made = known(LAMP)
    assert made.symbol(spoil(made.raw(LAMP)), "payment") is None


def test_a_copy_knows_the_same_ids_and_goes_its_own_way() -> None:
    made = known(LAMP)
    twin = made.copy()
    assert twin.raw(LAMP) == made.raw(LAMP)
    twin.raw(MAT)
    assert MAT not in made
    assert made.raw(MAT) == twin.raw(MAT)


# -- keeping apart -----------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(symbols=st.lists(SYMBOLS, min_size=2, max_size=30, unique=True), seed=st.integers(0, 10**6))
def test_entities_that_are_kept_apart_stand_three_edits_from_each_other(
    symbols: list[str], seed: int
) -> None:
    made = edge(seed, style="opaque", apart=symbols)
    ids = [made.raw(symbol) for symbol in symbols]
    assert min(distance(one, other) for one, other in combinations(ids, 2)) > 2


def number_of(raw: str) -> int:
    number = 0
    for letter in raw:
        number = number * 32 + ALPHABET.index(letter)
    return number


class Colliding(Edge):
    """An edge whose first draw for each symbol is given, and whose later draws are honest."""

    def __init__(self, drawn: dict[str, str], *, salts: int = 1) -> None:
        super().__init__(run_key(7, "run"), style="opaque")
        self._drawn, self._salts = drawn, salts

    def _mint(self, symbol: str, salt: int) -> int:
        return number_of(self._drawn[symbol]) if salt < self._salts else super()._mint(symbol, salt)


@st.composite
def near_misses(draw: st.DrawFn) -> tuple[str, str]:
    """Two ids of eight characters, at most two edits from each other."""
    letters, places = st.sampled_from(ALPHABET), st.integers(0, 7)
    one = draw(st.text(ALPHABET, min_size=8, max_size=8))
    if draw(st.booleans()):
        other = one
        for _ in range(2):
            place = draw(places)
            other = other[:place] + draw(letters) + other[place + 1 :]
    else:
        cut, put = draw(places), draw(places)
        short = one[:cut] + one[cut + 1 :]
        other = short[:put] + draw(letters) + short[put:]
    return one, other


@settings(max_examples=200, deadline=None)
@given(pair=near_misses())
def test_a_draw_that_comes_too_near_is_drawn_again(pair: tuple[str, str]) -> None:
    assert distance(*pair) <= 2
    made = Colliding(dict(zip((LAMP, MAT), pair, strict=True)))
    made.keep_apart([LAMP, MAT])
    first, second = made.raw(LAMP), made.raw(MAT)
    assert first == pair[0]
    assert second != pair[1]
    assert distance(first, second) > 2


def test_a_near_draw_of_an_entity_that_nobody_named_is_taken() -> None:
    made = Colliding({LAMP: "00000000", MAT: "00000001"})
    assert (made.raw(LAMP), made.raw(MAT)) == ("00000000", "00000001")


def test_no_two_entities_share_an_id_named_or_not() -> None:
    made = Colliding({LAMP: "00000000", MAT: "00000000"}, salts=3)
    assert made.raw(LAMP) == "00000000"
    assert made.raw(MAT) != made.raw(LAMP)
    assert made.anything("00000000") == LAMP


def test_where_no_draw_keeps_its_distance_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def same(_: Edge, symbol: str, salt: int) -> int:
        return 42 + 0 * len(symbol) * salt

    monkeypatch.setattr(Edge, "_mint", same)
    made = edge(apart=[LAMP, MAT])
    made.raw(LAMP)
    with pytest.raises(
        RuntimeError, match=r"^no raw id for \$payment\.mat keeps its distance from 1 others$"
    ):
        made.raw(MAT)


def test_a_copy_keeps_its_distance_to_what_was_issued_before() -> None:
    made = Colliding({LAMP: "00000000", MAT: "00000001"})
    made.keep_apart([LAMP, MAT])
    made.raw(LAMP)
    twin = made.copy()
    twin._mint = made._mint  # type: ignore[method-assign]
    assert distance(twin.raw(MAT), "00000000") > 2


def test_created_entities_are_kept_apart_from_named_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Edge._mint

    def near(self: Edge, symbol: str, salt: int) -> int:
        return honest(self, LEE, 0) ^ 1 if symbol == "$note.1" and salt == 0 else honest(self, symbol, salt)

    monkeypatch.setattr(Edge, "_mint", near)
    with world(style="opaque") as here:
        note = here.call("add_note", customer_id=here.id(LEE), text="hello").json()["id"]
        assert distance(note, here.id(LEE)) > 2


# -- free text ---------------------------------------------------------------------------------------------

FILLER = st.text(st.characters(codec="utf-8", exclude_characters="$"), max_size=12)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Running text with some of the ids that `known(LAMP, MAT, LEE)` has issued."""
    made = known(LAMP, MAT, LEE)
    ids = st.sampled_from([made.raw(symbol) for symbol in (LAMP, MAT, LEE)])
    return "".join(
        draw(st.lists(st.one_of(FILLER, ids, st.sampled_from([" ", "-", "{", "}", "."])), max_size=8))
    )


@given(text=texts())
def test_text_comes_out_as_it_went_in(text: str) -> None:
    made = known(LAMP, MAT, LEE)
    assert made.outward(made.inward(text)) == text
    assert made.inward(made.outward(made.inward(text))) == made.inward(text)


@given(text=texts())
def test_what_is_said_of_kept_text_is_the_text(text: str) -> None:
    made = known(LAMP, MAT, LEE)
    assert made.said(made.inward(text)) == text


@pytest.mark.parametrize("style", ["typed", "opaque"])
def test_an_id_in_running_text_is_kept_as_a_mention(style: str) -> None:
    made = known(LAMP, style=style)
    raw = made.raw(LAMP)
    assert made.inward(f"see {raw}, not {raw}X") == f"see {{{LAMP}}}, not {raw}X"
    assert made.outward(f"see {{{LAMP}}}") == f"see {raw}"


def test_kept_text_speaks_another_runs_ids_in_another_run() -> None:
    here, there = known(LAMP), edge(seed=8)
    there.raw(LAMP)
    kept = here.inward(f"see {here.raw(LAMP)}")
    assert there.outward(kept) == f"see {there.raw(LAMP)}"


def test_a_bare_symbol_does_not_leave() -> None:
    with pytest.raises(SymbolLeak) as caught:
        known(LAMP).outward(f"see {LAMP} now")
    assert caught.value.symbol == LAMP
    assert str(caught.value) == (
        "the symbol $payment.lamp would leave in untyped text 'see $payment.lamp now'; "
        "give the field Ref('payment'), or write {$payment.lamp} in running text"
    )


@pytest.mark.parametrize(
    "text", ["", "12 $", "US$ 5.00", "$x", "$payment.unknown", "{$payment.unknown}", "{$}"]
)
def test_text_that_names_nothing_of_this_world_leaves_as_it_is(text: str) -> None:
    assert known(LAMP).outward(text) == text
    assert known(LAMP).outward(known(LAMP).inward(text)) == text


def test_a_sentence_about_symbols_and_mentions_is_said_with_raw_ids() -> None:
    made = known(LAMP, LEE)
    said = made.said(f"{LAMP} of {{{LEE}}} is closed; {MAT} is not ours.")
    assert said == f"{made.raw(LAMP)} of {made.raw(LEE)} is closed; {MAT} is not ours."
    assert made.symbolic(said) == f"{LAMP} of {LEE} is closed; {MAT} is not ours."


@pytest.mark.parametrize("style", ["typed", "opaque"])
def test_symbolic_replaces_whole_ids_only(style: str) -> None:
    made = known(LAMP, style=style)
    raw = made.raw(LAMP)
    assert made.symbolic(f'{{"id": "{raw}"}}') == f'{{"id": "{LAMP}"}}'
    assert made.symbolic(f"{raw}0 0{raw} {raw[:-1]}") == f"{raw}0 0{raw} {raw[:-1]}"


# -- through a world ---------------------------------------------------------------------------------------

PaymentId = Annotated[str, Ref("payment")]


class Line(BaseModel):
    """A line with an untyped and a typed field."""

    text: str
    payment: PaymentId | None = None


class Loose(Service):
    """A service that is careless about symbols."""

    name = "loose"

    @operation("GET /v1/loose/bare/{payment_id}", access="read")
    def say_bare(self, tx: Tx, payment_id: PaymentId) -> str:
        """Say which payment. Returns text."""
        return f"see {payment_id}"

    @operation("GET /v1/loose/nested/{payment_id}", access="read")
    def say_nested(self, tx: Tx, payment_id: PaymentId) -> list[Line]:
        """Say which payment. Returns lines."""
        return [Line(text="fine"), Line(text=f"about {payment_id}")]

    @operation("GET /v1/loose/mention/{payment_id}", access="read")
    def say_mention(self, tx: Tx, payment_id: PaymentId) -> list[Line]:
        """Say which payment. Returns lines."""
        return [Line(text=f"about {{{payment_id}}}", payment=payment_id), Line(text="$5.00 off")]


def loose() -> World:
    return World.open(
        WorldSpec({"$customer.lee": {"name": "Lee", "email": "l@e.test"}, LAMP: {"customer": LEE}}),
        7,
        services=(*SERVICES, Loose),
    )


@pytest.mark.parametrize("tool", ["say_bare", "say_nested"])
def test_a_service_whose_answer_leaks_a_symbol_crashes_and_the_books_tell_the_remedy(tool: str) -> None:
    with loose() as here:
        answer = here.call(tool, payment_id=here.id(LAMP))
        assert (answer.status, answer.json()["rule"]) == (500, "internal")
        assert "$" not in answer.text
        (attempt,) = here.ledger.attempts(outcome="crashed")
        assert attempt.outcome is Outcome.CRASHED
        assert attempt.detail is not None
        assert attempt.detail.startswith("SymbolLeak: the symbol $payment.lamp would leave in untyped text")
        assert "give the field Ref('payment'), or write {$payment.lamp} in running text" in attempt.detail


def test_mentions_and_typed_fields_leave_as_raw_ids() -> None:
    with loose() as here:
        raw = here.id(LAMP)
        assert here.call("say_mention", payment_id=raw).json() == [
            {"text": f"about {raw}", "payment": raw},
            {"text": "$5.00 off", "payment": None},
        ]


@pytest.mark.parametrize("text", ["about {}", "{}-dash", "({})", "{}, {}."])
def test_ids_in_a_note_come_back_as_written_also_when_it_is_replayed(text: str) -> None:
    with world() as here:
        said = text.format(here.id("$payment.first"), here.id("$payment.second"))
        note = {"customer_id": here.id(LEE), "text": said, "idempotency_key": "k"}
        first, again = here.call("add_note", note), here.call("add_note", note)
        assert first.json()["text"] == said
        assert again.headers["idempotent-replayed"] == "true"
        assert again.text == first.text
        (kept,) = here.ledger.changes("note")
        assert here.id("$payment.first") not in str(kept)


@pytest.mark.parametrize("symbol", ["$payment.first", "{$payment.first}", "see $payment.first"])
def test_a_symbol_that_a_client_sends_as_an_id_is_an_unknown_id_and_tells_nothing(symbol: str) -> None:
    with world() as here:
        answer = here.call("get_payment", payment_id=symbol)
        assert answer.json()["rule"] == "not_found"
        assert here.id("$payment.first") not in answer.text


def test_a_mention_that_a_client_writes_into_a_text_tells_nothing() -> None:
    with world() as here:
        answer = here.call("add_note", customer_id=here.id(LEE), text="see {$payment.first}")
        assert here.id("$payment.first") not in answer.text


def test_a_symbol_that_a_client_writes_into_a_text_crashes_no_service() -> None:
    with world() as here:
        here.call("add_note", customer_id=here.id(LEE), text="see $payment.first")
        assert here.ledger.attempts(outcome="crashed") == []


def test_no_answer_of_a_world_shows_a_symbol() -> None:
    with world() as here:
        for tool, names in (
            ("get_customer_profile", {"customer_id": LEE}),
            ("list_payments", {"order_id": "$order.lamp"}),
            ("get_order", {"order_id": "$order.lamp"}),
            ("refund_payment", {"payment_id": "$payment.disputed"}),
            ("refund_payment", {"payment_id": "$payment.first"}),
            ("cancel_order", {"order_id": "$order.done"}),
        ):
            arguments: dict[str, object] = {name: here.id(symbol) for name, symbol in names.items()}
            answer = here.call(tool, arguments | ({"amount_minor": 1} if tool == "refund_payment" else {}))
            assert "$" not in answer.text, tool
