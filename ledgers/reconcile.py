"""The rules that hold the three books together, judged page by page.

    R1 ledger.undeclared_write    a changed row that no declared effect accounts for, cell by cell
    R2 ledger.phantom_effect      a declared effect whose rows did not change
    R3 ledger.capture_hole        the database counted more changes than it captured (per page), or replaying
                                  the changes does not lead to the present rows (fakes.store.replay, over a whole world)
    R4 ledger.unjournaled         a commit without effects, or effects without a commit
    R5 ledger.write_behind_read   a read operation changed rows, gross, not net
    R6 ledger.no_origin           changes that no attempt, clock or event owns up to
    R7 ledger.money_leak          money columns and postings do not add up
    ledger.tampered               somebody reached for the evidence: triggers, schema, change rows

One cause, one finding: the first rule that is broken on a page is named, with every row it is broken by;
what merely follows from it is not said again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from sandtrail.ledgers.entries import Change, Effect, Page, Scalar
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import TableFact
from sandtrail.ledgers.words import Access, OriginKind, Outcome

Changes: TypeAlias = tuple[Change, ...]
Tables: TypeAlias = Mapping[str, TableFact]
Amounts: TypeAlias = dict[tuple[str, str], int]


def reconcile(page: Page, tables: Mapping[str, TableFact], /) -> tuple[Finding, ...]:
    """The breaches on one page: none, or those of the first rule that is broken."""
    if not (page.changes or page.effects or page.tampering or page.hole):
        return ()
    business = page.business
    for rule in _RULES:
        found = tuple(rule(page, business, tables))
        if found:
            return found
    return ()


def _tampered(page: Page, _: Changes, __: Tables) -> Iterator[Finding]:
    if page.tampering:
        yield Finding("ledger.tampered", page.place, "; ".join(page.tampering), page.tampering)


def _captured(page: Page, _: Changes, __: Tables) -> Iterator[Finding]:
    if page.hole:
        yield Finding("ledger.capture_hole", page.place, page.hole)


def _owned(page: Page, _: Changes, __: Tables) -> Iterator[Finding]:
    if page.origin.kind is OriginKind.NONE and page.changes:
        yield _finding("ledger.no_origin", page, page.changes, "changed outside every call")


def _reads_only(page: Page, _: Changes, __: Tables) -> Iterator[Finding]:
    if page.attempt is None or page.attempt.access is Access.WRITE:
        return
    gross = tuple(change for change in page.changes if not change.touch)
    if gross and page.attempt.outcome is not Outcome.UNKNOWN:
        what = f"changed by {page.attempt.operation}, which only reads"
        yield _finding("ledger.write_behind_read", page, gross, what)


def _journaled(page: Page, business: Changes, _: Tables) -> Iterator[Finding]:
    attempt = page.attempt
    committed = page.origin.kind is OriginKind.CLOCK or (
        attempt is not None and attempt.outcome is Outcome.OK
    )
    if committed and business and not page.effects:
        yield _finding(
            "ledger.unjournaled",
            page,
            business,
            "committed without a declared effect; name it: effect=... or with tx.effect(...)",
        )
    if page.effects and not committed and page.origin.kind is not OriginKind.EVENT:
        names = ", ".join(effect.name for effect in page.effects)
        yield Finding("ledger.unjournaled", page.place, f"{names} declared, but no attempt committed it")


def _accounted(page: Page, business: Changes, _: Tables) -> Iterator[Finding]:
    if page.origin.kind not in {OriginKind.ATTEMPT, OriginKind.CLOCK}:
        return
    claims = _claims(page.effects)
    rows: dict[tuple[str, str], list[Change]] = {}
    for change in business:
        rows.setdefault((change.table, change.key), []).append(change)
    for row, changes in rows.items():
        stray = _stray(changes, claims.get(row, _NOTHING))
        if stray:
            why = f"{row[0]} {row[1]}: {stray}, which no effect of this attempt declares"
            yield Finding(
                "ledger.undeclared_write", page.place, why, tuple(str(change) for change in changes)
            )


def _backed(page: Page, business: Changes, _: Tables) -> Iterator[Finding]:
    moved = {(change.table, change.key) for change in business}
    for effect in page.effects:
        if not effect.rows:
            why = f"{effect.name} is declared without any row"
            yield Finding("ledger.phantom_effect", page.place, why, (str(effect),))
        for row in effect.rows:
            if (row.table, row.key) not in moved:
                why = f"{effect.name} names {row.table} {row.key}, which did not change"
                yield Finding("ledger.phantom_effect", page.place, why, (str(effect),))


def _money(page: Page, business: Changes, tables: Tables) -> Iterator[Finding]:
    posted, moved = _amounts(business, tables)
    totals: dict[str, int] = defaultdict(int)
    for (_, currency), amount in posted.items():
        totals[currency] += amount
    for currency in sorted(currency for currency, total in totals.items() if total):
        why = f"the postings sum to {totals[currency]} minor {currency}, not to 0"
        yield Finding("ledger.money_leak", page.place, why)
    for account, currency in sorted({*posted, *moved}):
        rows, postings = moved[account, currency], posted[account, currency]
        if rows != postings and _watched(account, tables):
            why = f"{account}: rows moved by {rows} minor {currency}, postings by {postings}"
            yield Finding("ledger.money_leak", page.place, why)


def _amounts(business: Changes, tables: Tables) -> tuple[Amounts, Amounts]:
    """By account and currency: what the postings say, and by how much money columns moved."""
    posted: Amounts = defaultdict(int)
    moved: Amounts = defaultdict(int)
    for change in business:
        for fact in tables[change.table].money if change.table in tables else ():
            amount_at, currency_at = change.columns.index(fact.column), change.columns.index(fact.currency)
            account_at = None if fact.account is not None else change.columns.index("account")
            for row, sign in ((change.old, -1), (change.new, 1)):
                if row is not None and isinstance(amount := row[amount_at], int):
                    account = fact.account if account_at is None else row[account_at]
                    book = moved if account_at is None else posted
                    book[str(account), str(row[currency_at])] += sign * amount
    return posted, moved


def _watched(account: str, tables: Tables) -> bool:
    """Whether some column has to move with the account."""
    return any(fact.account == account for table in tables.values() for fact in table.money)


def _claims(effects: tuple[Effect, ...]) -> dict[tuple[str, str], Mapping[str, Scalar] | None]:
    """What the effects of a page account for: row to cells (None: deleted)."""
    claims: dict[tuple[str, str], Mapping[str, Scalar] | None] = {}
    for effect in effects:
        for row in effect.rows:
            known = claims.get((row.table, row.key))
            both = row.cells is not None and known is not None
            claims[row.table, row.key] = {**(known or {}), **(row.cells or {})} if both else row.cells
    return claims


def _stray(changes: list[Change], claim: Mapping[str, Scalar] | None) -> str:
    """What happened to one row beyond its claim, in words; empty where the claim covers it."""
    last = changes[-1]
    if last.new is None:
        return "" if claim is None else "the row was deleted"
    held = claim or {}
    final = last.after or {}
    moved = last.cells if len(changes) == 1 else {name: None for change in changes for name in change.cells}
    wrong = [name for name in moved if held.get(name, _UNCLAIMED) != final[name]]
    if wrong and not claim:
        return "the row was added" if changes[0].old is None else "the row changed"
    return ", ".join(f"{name} became {final[name]}" for name in wrong)


def _finding(code: str, page: Page, changes: tuple[Change, ...], what: str) -> Finding:
    rows = ", ".join(dict.fromkeys(f"{change.table} {change.key}" for change in changes))
    return Finding(code, page.place, f"{rows}: {what}", tuple(str(change) for change in changes))


_UNCLAIMED = object()
_NOTHING: Mapping[str, Scalar] = {}
_RULES = (_tampered, _captured, _owned, _reads_only, _journaled, _accounted, _backed, _money)
