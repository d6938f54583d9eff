"""The rules that hold the books together: each names its own breach once, and honest pages raise nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandtrail.ledgers import Access, Attempt, Change, Effect, Finding, Outcome, Page
from sandtrail.ledgers.entries import Origin, RowClaim, Scalar
from sandtrail.ledgers.reconcile import reconcile
from sandtrail.ledgers.specs import MoneyFact, TableFact
from sandtrail.ledgers.words import OriginKind

CUSTOMER = TableFact("customer", "customers", ("id", "name", "phone"))
CACHE = TableFact("cache", "customers", ("id", "name"), business=False)
PAYMENT = TableFact(
    "payment", "billing", ("id", "captured", "refunded", "currency"),
    money=(MoneyFact("captured", "currency", "captured"), MoneyFact("refunded", "currency", "refunded")),
)  # fmt: skip
POSTING = TableFact(
    "posting",
    "billing",
    ("id", "account", "amount", "currency"),
    money=(MoneyFact("amount", "currency", None),),
)
TABLES = {fact.name: fact for fact in (CUSTOMER, CACHE, PAYMENT, POSTING)}

LEE, MAX, LAMP = "$customer.lee", "$customer.max", "$payment.lamp"


def change(fact: TableFact, key: str, old: Sequence[Scalar] | None, new: Sequence[Scalar] | None) -> Change:
    before, after = (None if side is None else (key, *side) for side in (old, new))
    return Change(1, fact.name, key, fact.columns, before, after, fact.business)


def renamed(key: str = LEE, old: str = "Lee", new: str = "Leo") -> Change:
    return change(CUSTOMER, key, (old, None), (new, None))


def posted(number: int, account: str, amount: int, currency: str = "USD") -> Change:
    return change(POSTING, f"$posting.{number}", None, (account, amount, currency))


def refunded(amount: int, currency: str = "USD") -> Change:
    return change(PAYMENT, LAMP, (4250, 0, currency), (4250, amount, currency))


def effect(name: str, *rows: tuple[str, str, Mapping[str, Scalar] | None]) -> Effect:
    return Effect(name, {}, tuple(RowClaim(*row) for row in rows))


def accounting_for(*changes: Change) -> Effect:
    """An effect that claims these changes, cell by cell."""
    return effect("all.declared", *((one.table, one.key, one.after) for one in changes))


def page(
    *changes: Change,
    effects: Sequence[Effect] = (),
    access: Access = Access.WRITE,
    outcome: Outcome = Outcome.OK,
    **rest: Any,
) -> Page:
    attempt = Attempt(2, "rename", access, "{}", "amy", outcome)
    return Page(Origin(OriginKind.ATTEMPT), attempt, tuple(effects), changes, **rest)


def by(kind: OriginKind, *changes: Change, effects: Sequence[Effect] = (), **rest: Any) -> Page:
    return Page(Origin(kind, "midnight"), None, tuple(effects), changes, **rest)


def judged(page: Page) -> tuple[Finding, ...]:
    return reconcile(page, TABLES)


def the_one(page: Page) -> Finding:
    (finding,) = judged(page)
    return finding


RENAMED_IN_FULL = effect("customer.renamed", ("customer", LEE, {"name": "Leo"}))
DELETED = change(CUSTOMER, LEE, ("Lee", None), None)
ADDED = change(CUSTOMER, LEE, None, ("Lee", None))
TOUCH = renamed(new="Lee")


# -- R1: every changed cell is accounted for --------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "effects", "said"),
    [
        ([renamed()], [effect("other", ("customer", MAX, {"name": "Leo"}))], f"customer {LEE}: the row changed"),
        ([renamed()], [effect("other", ("customer", LEE, {"phone": "1"}))], f"customer {LEE}: name became Leo"),
        ([renamed()], [effect("other", ("customer", LEE, {"name": "Len"}))], f"customer {LEE}: name became Leo"),
        ([renamed()], [effect("other", ("customer", LEE, None))], f"customer {LEE}: the row changed"),
        ([ADDED], [effect("other", ("customer", MAX, {}))], f"customer {LEE}: the row was added"),
        ([DELETED], [effect("other", ("customer", LEE, {"name": None}))], f"customer {LEE}: the row was deleted"),
        (
            [change(CUSTOMER, LEE, ("Lee", "1"), ("Leo", "2"))],
            [RENAMED_IN_FULL],
            f"customer {LEE}: phone became 2",
        ),
        (
            [renamed(), renamed(old="Leo", new="Lew")],
            [RENAMED_IN_FULL],
            f"customer {LEE}: name became Lew",
        ),
    ],
)  # fmt: skip
def test_a_cell_that_no_effect_declares_is_an_undeclared_write(
    changes: list[Change], effects: list[Effect], said: str
) -> None:
    finding = the_one(page(*changes, effects=effects))
    assert finding.code == "ledger.undeclared_write"
    assert finding.at == "attempt 2"
    assert finding.reason == f"{said}, which no effect of this attempt declares"
    assert finding.evidence == tuple(map(str, changes))


def test_each_undeclared_row_is_named() -> None:
    findings = judged(
        page(renamed(), renamed(MAX), effects=[effect("other", ("customer", "$customer.sue", {}))])
    )
    assert [finding.code for finding in findings] == ["ledger.undeclared_write"] * 2
    assert [finding.reason.split(":")[0] for finding in findings] == [f"customer {LEE}", f"customer {MAX}"]


def test_a_write_and_its_undoing_are_both_to_be_declared() -> None:
    there_and_back = (renamed(), renamed(old="Leo", new="Lee"))
    other = effect("other", ("customer", MAX, {"name": "M"}))
    assert the_one(page(*there_and_back, effects=[other])).code == "ledger.undeclared_write"
    assert not judged(page(*there_and_back, effects=[effect("tried", ("customer", LEE, {"name": "Lee"}))]))


def test_what_a_refused_attempt_left_behind_is_an_undeclared_write() -> None:
    assert the_one(page(renamed(), outcome=Outcome.REJECTED)).code == "ledger.undeclared_write"


def test_what_changed_under_an_unknown_tool_is_an_undeclared_write() -> None:
    finding = the_one(page(renamed(), access=Access.READ, outcome=Outcome.UNKNOWN))
    assert finding.code == "ledger.undeclared_write"


# -- R2: every effect has its rows -------------------------------------------------------------------------


def test_an_effect_whose_row_did_not_change_is_a_phantom() -> None:
    finding = the_one(
        page(renamed(), effects=[RENAMED_IN_FULL, effect("note.added", ("note", "$note.1", {"text": "x"}))])
    )
    assert finding.code == "ledger.phantom_effect"
    assert finding.at == "attempt 2"
    assert finding.reason == "note.added names note $note.1, which did not change"


def test_an_effect_without_rows_is_a_phantom() -> None:
    finding = the_one(page(effects=[effect("mail.sent")]))
    assert (finding.code, finding.reason) == (
        "ledger.phantom_effect",
        "mail.sent is declared without any row",
    )


def test_an_update_that_left_everything_as_it_was_backs_no_effect() -> None:
    finding = the_one(page(TOUCH, effects=[effect("customer.renamed", ("customer", LEE, {"name": "Lee"}))]))
    assert finding.code == "ledger.phantom_effect"


def test_a_bookkeeping_row_backs_no_effect() -> None:
    cached = change(CACHE, "$cache.lee", ("Lee",), ("Leo",))
    finding = the_one(page(cached, effects=[effect("cached", ("cache", "$cache.lee", {"name": "Leo"}))]))
    assert finding.code == "ledger.phantom_effect"


def test_an_effect_of_the_clock_has_its_rows_too() -> None:
    finding = the_one(by(OriginKind.CLOCK, effects=[RENAMED_IN_FULL]))
    assert (finding.code, finding.at) == ("ledger.phantom_effect", "clock midnight")


# -- R3 on one page, and the evidence itself ---------------------------------------------------------------


def test_a_hole_in_the_capture_is_said_as_the_store_said_it() -> None:
    finding = the_one(page(hole="the database counted 3 row writes, 0 changes were captured"))
    assert (finding.code, finding.at) == ("ledger.capture_hole", "attempt 2")
    assert finding.reason == "the database counted 3 row writes, 0 changes were captured"


def test_touched_evidence_is_one_finding_with_everything_that_was_tried() -> None:
    finding = the_one(
        page(tampering=("a statement was refused: DROP TRIGGER x", "PRAGMA foreign_keys was switched off"))
    )
    assert (finding.code, finding.at) == ("ledger.tampered", "attempt 2")
    assert finding.reason == "a statement was refused: DROP TRIGGER x; PRAGMA foreign_keys was switched off"


# -- R4: commits and effects belong together ---------------------------------------------------------------


def test_a_commit_without_effects_is_unjournaled() -> None:
    finding = the_one(page(renamed(), renamed(MAX)))
    assert finding.code == "ledger.unjournaled"
    assert (
        finding.reason
        == f"customer {LEE}, customer {MAX}: committed without a declared effect; name it: effect=... or with tx.effect(...)"
    )
    assert finding.evidence == (str(renamed()), str(renamed(MAX)))


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.OK])
def test_an_effect_of_an_attempt_that_committed_nothing_is_unjournaled(outcome: Outcome) -> None:
    finding = the_one(page(effects=[RENAMED_IN_FULL], outcome=outcome))
    assert finding.code == "ledger.unjournaled"
    assert finding.reason == "customer.renamed declared, but no attempt committed it"


@pytest.mark.parametrize("kind", [OriginKind.NONE, OriginKind.SEED])
def test_an_effect_that_nobody_committed_is_unjournaled(kind: OriginKind) -> None:
    assert the_one(by(kind, effects=[RENAMED_IN_FULL])).code == "ledger.unjournaled"


# -- R5: reads change nothing, gross -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        [renamed()],
        [renamed(), renamed(old="Leo", new="Lee")],
        [ADDED, DELETED],
        [change(CACHE, "$cache.lee", ("Lee",), ("Leo",))],
    ],
    ids=["one write", "write then undo", "insert then delete", "bookkeeping"],
)
def test_a_read_that_changed_rows_is_a_write_behind_a_read(changes: list[Change]) -> None:
    finding = the_one(page(*changes, access=Access.READ))
    assert finding.code == "ledger.write_behind_read"
    assert finding.reason == f"{changes[0].table} {changes[0].key}: changed by rename, which only reads"


def test_a_declared_write_behind_a_read_is_still_one() -> None:
    finding = the_one(page(renamed(), effects=[RENAMED_IN_FULL], access=Access.READ))
    assert finding.code == "ledger.write_behind_read"


# -- R6: every change is somebody's ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed", [renamed(), change(CACHE, "$cache.lee", ("Lee",), ("Leo",))], ids=["business", "bookkeeping"]
)
def test_a_change_that_nobody_owns_up_to_has_no_origin(changed: Change) -> None:
    finding = the_one(by(OriginKind.NONE, changed))
    assert (finding.code, finding.at) == ("ledger.no_origin", "midnight")
    assert finding.reason == f"{changed.table} {changed.key}: changed outside every call"


# -- R7: money adds up -------------------------------------------------------------------------------------


def money(*changes: Change) -> Page:
    return page(*changes, effects=[accounting_for(*changes)])


def test_money_that_moves_in_rows_without_postings_leaks() -> None:
    finding = the_one(money(refunded(300)))
    assert finding.code == "ledger.money_leak"
    assert finding.reason == "refunded: rows moved by 300 minor USD, postings by 0"


def test_money_that_is_posted_without_rows_leaks() -> None:
    finding = the_one(money(posted(1, "refunded", 300), posted(2, "cash", -300)))
    assert finding.code == "ledger.money_leak"
    assert finding.reason == "refunded: rows moved by 0 minor USD, postings by 300"


def test_postings_that_do_not_sum_to_zero_leak() -> None:
    finding = the_one(money(refunded(300), posted(1, "refunded", 300), posted(2, "cash", -299)))
    assert finding.code == "ledger.money_leak"
    assert finding.reason == "the postings sum to 1 minor USD, not to 0"


def test_postings_of_another_amount_than_the_rows_leak() -> None:
    finding = the_one(money(refunded(300), posted(1, "refunded", 30), posted(2, "cash", -30)))
    assert finding.reason == "refunded: rows moved by 300 minor USD, postings by 30"


def test_currencies_are_not_added_together() -> None:
    findings = judged(money(posted(1, "cash", 300), posted(2, "goodwill", -300, "EUR")))
    assert [finding.reason for finding in findings] == [
        "the postings sum to -300 minor EUR, not to 0",
        "the postings sum to 300 minor USD, not to 0",
    ]


def test_money_in_another_currency_than_its_posting_leaks() -> None:
    findings = judged(money(refunded(300, "JPY"), posted(1, "refunded", 300), posted(2, "cash", -300)))
    assert [finding.reason for finding in findings] == [
        "refunded: rows moved by 300 minor JPY, postings by 0",
        "refunded: rows moved by 0 minor USD, postings by 300",
    ]


def test_money_that_a_deleted_row_took_away_leaks() -> None:
    gone = change(PAYMENT, LAMP, (4250, 0, "USD"), None)
    finding = the_one(page(gone, effects=[effect("payment.removed", ("payment", LAMP, None))]))
    assert finding.reason == "captured: rows moved by -4250 minor USD, postings by 0"


def test_what_time_does_is_declared_like_what_a_call_does() -> None:
    silent = the_one(by(OriginKind.CLOCK, renamed()))
    assert (silent.code, silent.at) == ("ledger.unjournaled", "clock midnight")
    stray = the_one(by(OriginKind.CLOCK, renamed(), DELETED, effects=[RENAMED_IN_FULL]))
    assert stray.code == "ledger.undeclared_write"


@pytest.mark.parametrize("kind", [OriginKind.EVENT, OriginKind.SEED])
def test_money_adds_up_whoever_moves_it(kind: OriginKind) -> None:
    finding = the_one(by(kind, refunded(300)))
    assert (finding.code, finding.at) == ("ledger.money_leak", f"{kind} midnight")


@pytest.mark.parametrize(
    "changes",
    [
        [refunded(300), posted(1, "refunded", 300), posted(2, "cash", -300)],
        [posted(1, "refunded", 300), posted(2, "cash", -300), refunded(300)],
        [posted(1, "cash", 300), posted(2, "goodwill", -300)],
        [
            change(PAYMENT, LAMP, None, (4250, 0, "USD")),
            change(PAYMENT, "$payment.yen", None, (9800, 0, "JPY")),
            *(posted(1, "captured", 4250), posted(2, "cash", -4250)),
            *(posted(3, "captured", 9800, "JPY"), posted(4, "cash", -9800, "JPY")),
        ],
        [
            change(PAYMENT, LAMP, (4250, 0, "USD"), (4250, 100, "USD")),
            change(PAYMENT, LAMP, (4250, 100, "USD"), (4250, 300, "USD")),
            *(posted(1, "refunded", 300), posted(2, "cash", -300)),
        ],
    ],
    ids=["a refund", "in any order", "between accounts without rows", "two currencies", "in two steps"],
)
def test_money_that_adds_up_raises_nothing(changes: list[Change]) -> None:
    assert not judged(money(*changes))


# -- honest neighbours -------------------------------------------------------------------------------------

CLAIMED_TWICE = effect(
    "customer.renamed", ("customer", LEE, {"name": "Leo"}), ("customer", LEE, {"name": "Lew"})
)


@pytest.mark.parametrize(
    "honest",
    [
        page(),
        page(renamed(), effects=[RENAMED_IN_FULL]),
        page(TOUCH),
        page(TOUCH, access=Access.READ),
        page(TOUCH, renamed(), effects=[RENAMED_IN_FULL]),
        page(renamed(), renamed(old="Leo", new="Lew"), effects=[CLAIMED_TWICE]),
        page(ADDED, effects=[effect("customer.added", ("customer", LEE, {"name": "Lee", "phone": None, "id": LEE}))]),
        page(DELETED, effects=[effect("customer.removed", ("customer", LEE, None))]),
        page(ADDED, DELETED, effects=[effect("customer.tried", ("customer", LEE, None))]),
        page(DELETED, ADDED, effects=[effect("customer.made_anew", ("customer", LEE, {"id": LEE, "name": "Lee", "phone": None}))]),
        page(
            change(CUSTOMER, LEE, ("Lee", "1"), ("Leo", "2")),
            effects=[RENAMED_IN_FULL, effect("phone.set", ("customer", LEE, {"phone": "2"}))],
        ),
        page(change(CACHE, "$cache.lee", ("Lee",), ("Leo",))),
        page(renamed(), change(CACHE, "$cache.lee", ("Lee",), ("Leo",)), effects=[RENAMED_IN_FULL]),
        by(OriginKind.SEED, ADDED),
        by(OriginKind.CLOCK, change(CACHE, "$cache.lee", ("Lee",), ("Leo",))),
        by(OriginKind.CLOCK, renamed(), effects=[RENAMED_IN_FULL]),
        by(OriginKind.EVENT, DELETED, change(CACHE, "$cache.lee", ("Lee",), ("Leo",))),
        by(OriginKind.NONE),
    ],
    ids=[
        *("nothing at all", "one declared write", "a no-op touch", "a no-op touch in a read", "a no-op touch beside a write"),
        *("two writes to one cell by one effect", "an insert", "a delete", "insert then delete", "delete then insert"),
        *("two effects on one row", "bookkeeping alone", "bookkeeping beside a write"),
        *("the seed", "the clock on bookkeeping", "the clock with an effect", "an event", "an empty page of nobody"),
    ],
)  # fmt: skip
def test_an_honest_page_raises_nothing(honest: Page) -> None:
    assert not judged(honest)


@given(
    names=st.lists(st.sampled_from(["Leo", "Lew", "Len"]), min_size=1, max_size=5),
    keys=st.lists(st.sampled_from([LEE, MAX]), min_size=5, max_size=5),
)
def test_writes_that_are_declared_as_they_are_made_raise_nothing_and_one_left_out_does(
    names: list[str], keys: list[str]
) -> None:
    rows, changes, claims = {LEE: "Lee", MAX: "Max"}, list[Change](), dict[str, Mapping[str, Scalar]]()
    for key, name in zip(keys, names, strict=False):
        changes.append(renamed(key, rows[key], name))
        rows[key] = name
        claims[key] = {"name": name}
    moved = {one.key for one in changes if not one.touch}
    effects = [effect("customer.renamed", ("customer", key, claims[key])) for key in moved]
    assert not judged(page(*changes, effects=effects))
    for left_out in range(len(effects)):
        rest = [one for place, one in enumerate(effects) if place != left_out]
        expected = "ledger.undeclared_write" if rest else "ledger.unjournaled"
        assert the_one(page(*changes, effects=rest)).code == expected


# -- one cause, one finding --------------------------------------------------------------------------------

TAMPERING = ("a statement was refused: DROP TRIGGER x",)
HOLE = "the database counted 3"


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (
            page(
                renamed(),
                refunded(1),
                effects=[effect("x")],
                access=Access.READ,
                tampering=TAMPERING,
                hole=HOLE,
            ),
            "ledger.tampered",
        ),
        (
            page(renamed(), effects=[effect("x")], access=Access.READ, hole=HOLE),
            "ledger.capture_hole",
        ),
        (by(OriginKind.NONE, renamed(), refunded(1), effects=[effect("x")]), "ledger.no_origin"),
        (page(renamed(), refunded(1), effects=[effect("x")], access=Access.READ), "ledger.write_behind_read"),
        (page(renamed(), refunded(1)), "ledger.unjournaled"),
        (page(refunded(1), effects=[effect("x")]), "ledger.undeclared_write"),
        (page(refunded(1), effects=[accounting_for(refunded(1)), effect("x")]), "ledger.phantom_effect"),
    ],
)
def test_only_the_first_broken_rule_of_a_page_is_named(broken: Page, code: str) -> None:
    assert the_one(broken).code == code


def test_a_change_of_a_table_without_facts_is_judged_like_any_other() -> None:
    stray = Change(1, "elsewhere", "$x.y", ("id", "n"), None, ("$x.y", 1))
    assert the_one(page(stray)).code == "ledger.unjournaled"
    assert not judged(page(stray, effects=[accounting_for(stray)]))


def test_a_page_that_contradicts_itself_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="contradicts itself"):
        Page(Origin(OriginKind.ATTEMPT))
    with pytest.raises(ValueError, match="contradicts itself"):
        Page(Origin(OriginKind.CLOCK), Attempt(1, "x", Access.READ, "{}", "amy", Outcome.OK))
    with pytest.raises(ValueError, match="neither a before nor an after"):
        change(CUSTOMER, LEE, None, None)
