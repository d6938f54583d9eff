"""The rules that hold the three books together, judged page by page.

    R1 ledger.undeclared_write    a changed row that no declared effect accounts for, cell by cell
    R2 ledger.phantom_effect      a declared effect whose rows did not change
    R3 ledger.capture_hole        the database counted more changes than it captured (per page), or replaying
                                  the changes does not lead to the present rows (fakes.replay, over a whole world)
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

from sandtrail.ledgers.entries import Change, Effect, Page, Scalar
from sandtrail.ledgers.findings import Finding
from sandtrail.ledgers.specs import TableFact
from sandtrail.ledgers.words import Access, OriginKind, Outcome

_UNCLAIMED = object()


def reconcile(page: Page, tables: Mapping[str, TableFact], /) -> tuple[Finding, ...]:
    """The breaches on one page: none, or those of the first rule that is broken."""
    if not (page.changes or page.effects or page.tampering or page.hole):
        return ()
    for rule in (_tampered, _captured, _owned, _reads_only, _journaled, _accounted, _backed, _money):
        found = tuple(rule(page, tables))
        if found:
            return found
    return ()


def _tampered(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.tampering:
        yield Finding("ledger.tampered", page.place, "; ".join(page.tampering), page.tampering)


def _captured(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.hole:
        yield Finding("ledger.capture_hole", page.place, page.hole)


def _owned(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.origin.kind is OriginKind.NONE and page.changes:
        yield _finding("ledger.no_origin", page, page.changes, "changed outside every call")


def _reads_only(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.attempt is None or page.attempt.access is Access.WRITE:
        return
    gross = tuple(change for change in page.changes if not change.touch)
    if gross and page.attempt.outcome is not Outcome.UNKNOWN:
        yield _finding(
            "ledger.write_behind_read", page, gross, f"changed by {page.attempt.operation}, which only reads"
        )


def _journaled(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.committed and not page.effects:
        yield _finding("ledger.unjournaled", page, page.business, "committed without a declared effect")
    if page.effects and (page.attempt is None or page.attempt.outcome is not Outcome.OK):
        if page.attempt is None and page.origin.kind in {OriginKind.CLOCK, OriginKind.EVENT}:
            return
        names = ", ".join(effect.name for effect in page.effects)
        yield Finding("ledger.unjournaled", page.place, f"{names} declared, but no attempt committed it")


def _accounted(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    if page.origin.kind is not OriginKind.ATTEMPT:
        return
    claims = _claims(page.effects)
    rows: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in page.business:
        rows[change.table, change.key].append(change)
    for (table, key), changes in rows.items():
        stray = _stray(changes, claims.get((table, key), {}))
        if stray:
            why = f"{table} {key}: {stray}, which no effect of this attempt declares"
            yield Finding(
                "ledger.undeclared_write", page.place, why, tuple(str(change) for change in changes)
            )


def _backed(page: Page, _: Mapping[str, TableFact]) -> Iterator[Finding]:
    moved = {(change.table, change.key) for change in page.business}
    for effect in page.effects:
        if not effect.rows:
            yield Finding(
                "ledger.phantom_effect",
                page.place,
                f"{effect.name} is declared without any row",
                (str(effect),),
            )
        for row in effect.rows:
            if (row.table, row.key) not in moved:
                why = f"{effect.name} names {row.table} {row.key}, which did not change"
                yield Finding("ledger.phantom_effect", page.place, why, (str(effect),))


def _money(page: Page, tables: Mapping[str, TableFact]) -> Iterator[Finding]:
    posted: dict[tuple[str, str], int] = defaultdict(int)
    moved: dict[tuple[str, str], int] = defaultdict(int)
    for change in page.business:
        for fact in tables[change.table].money if change.table in tables else ():
            amount_at, currency_at = change.columns.index(fact.column), change.columns.index(fact.currency)
            account_at = None if fact.account is not None else change.columns.index("account")
            for row, sign in ((change.old, -1), (change.new, 1)):
                if row is not None and isinstance(amount := row[amount_at], int):
                    account = fact.account if account_at is None else row[account_at]
                    book = moved if account_at is None else posted
                    book[str(account), str(row[currency_at])] += sign * fact.sign * amount
    if not posted and not moved:
        return
    totals: dict[str, int] = defaultdict(int)
    for (_, currency), amount in posted.items():
        totals[currency] += amount
    for currency in sorted(currency for currency, total in totals.items() if total):
        yield Finding(
            "ledger.money_leak",
            page.place,
            f"the postings sum to {totals[currency]} minor {currency}, not to 0",
        )
    watched = {fact.account for table in tables.values() for fact in table.money}
    for account, currency in sorted(set(posted) | set(moved)):
        rows, postings = moved[account, currency], posted[account, currency]
        if account in watched and rows != postings:
            why = f"{account}: rows moved by {rows} minor {currency}, postings by {postings}"
            yield Finding("ledger.money_leak", page.place, why)


def _claims(effects: tuple[Effect, ...]) -> dict[tuple[str, str], dict[str, Scalar] | None]:
    """What the effects of a page account for: row to cells (None: deleted)."""
    claims: dict[tuple[str, str], dict[str, Scalar] | None] = {}
    for effect in effects:
        for row in effect.rows:
            known = claims.get((row.table, row.key))
            claims[row.table, row.key] = None if row.cells is None else {**(known or {}), **row.cells}
    return claims


def _stray(changes: list[Change], claim: Mapping[str, Scalar] | None) -> str:
    """What happened to one row beyond its claim, in words; empty where the claim covers it."""
    last = changes[-1]
    if last.new is None:
        return "" if claim is None else "the row was deleted"
    held = claim or {}
    wrong = [
        name
        for place, (name, value) in enumerate(zip(last.columns, last.new, strict=True))
        if held.get(name, _UNCLAIMED) != value and any(change.moved(place) for change in changes)
    ]
    if wrong and not claim:
        return "the row was added" if changes[0].old is None else "the row changed"
    final = last.after or {}
    return ", ".join(f"{name} became {final[name]}" for name in wrong)


def _finding(code: str, page: Page, changes: tuple[Change, ...], what: str) -> Finding:
    rows = ", ".join(dict.fromkeys(f"{change.table} {change.key}" for change in changes))
    return Finding(code, page.place, f"{rows}: {what}", tuple(str(change) for change in changes))
