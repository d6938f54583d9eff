"""A service that does what services must not: the deeds that the self-test seeds into the evidence.

Each deed is a few lines under a name. `act` runs one in a write operation, `look` in a read operation. A deed that
needs more than the gateway reaches behind it for the connection, as a determined service in Python could.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Annotated, TypeAlias

from sandtrail.fakes import Entity, Id, Money, Ref, Rejected, Service, Tx, operation
from sandtrail.fakes.entities import Table
from sandtrail.fakes.problems import Problem
from sandtrail.ledgers import WorldSpec

ItemId: TypeAlias = Annotated[str, Ref("item")]


class Item(Entity, table=True):
    """Something with a status and some money on it."""

    id: Annotated[str, Id("item")]
    status: str = "open"
    color: str = "red"
    held: Annotated[int, Money(account="held")] = 0
    currency: str = "USD"


class Part(Entity, table=True):
    """Something that goes when its item goes."""

    id: Annotated[str, Id("part")]
    item_id: Annotated[str, Ref("item", cascade=True)]


class Entry(Entity, table=True):
    """A posting."""

    id: Annotated[str, Id("entry")]
    account: str
    amount: Annotated[int, Money(account=None)]
    currency: str = "USD"


SPEC = WorldSpec(
    {
        "$item.one": {},
        "$item.two": {"color": "blue"},
        "$item.three": {},
        "$part.one": {"item": "$item.one"},
        "$part.two": {"item": "$item.two"},
    }
)

Deed: TypeAlias = Callable[[Tx], object]


def raw(tx: Tx) -> sqlite3.Connection:
    """The connection behind a gateway. Nothing but the self-test reaches for it."""
    connection: sqlite3.Connection = tx._store._db  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    return connection


def honest(tx: Tx) -> Item:
    """A declared change, so that a deed beside it has something to hide behind."""
    return tx.update(tx.get(Item, "$item.one"), status="closed", effect="item.closed")


def sql(*statements: str, after: Deed | None = None) -> Deed:
    """A deed of raw statements, after another deed if there is one."""

    def deed(tx: Tx) -> None:
        if after is not None:
            after(tx)
        for statement in statements:
            raw(tx).execute(statement).fetchall()

    return deed


def _outside(tx: Tx) -> None:
    honest(tx)
    tx.update(tx.get(Item, "$item.two"), status="closed")


def _replace_claimed(tx: Tx) -> None:
    with tx.effect("item.replaced"):
        tx._claim(_item(tx), "$item.three", {"status": "gone", "color": "red"}, None, {})  # noqa: SLF001  # pyright: ignore
        tx._claim(_item(tx), "$item.three", {"id": "$item.three", "held": 0, "currency": "USD"}, None, {})  # noqa: SLF001  # pyright: ignore
        raw(tx).execute("INSERT OR REPLACE INTO item VALUES ('$item.three', 'gone', 'red', 0, 'USD')")


def _replace_unseen(tx: Tx) -> None:
    raw(tx).execute("PRAGMA recursive_triggers = 0")
    _replace_claimed(tx)


def _forged_claimed(tx: Tx) -> None:
    with tx.effect("item.closed", item="$item.two"):
        tx._claim(_item(tx), "$item.two", {"status": "closed"}, None, {})  # noqa: SLF001  # pyright: ignore
        _forge(tx)


def _forged(tx: Tx) -> None:
    honest(tx)
    _forge(tx)


def _forge(tx: Tx) -> None:
    before, after = '["$item.two","open","blue",0,"USD"]', '["$item.two","closed","blue",0,"USD"]'
    number = [table.name for table in tx._store.schema.tables].index("item")  # noqa: SLF001  # pyright: ignore
    raw(tx).execute("INSERT INTO _change (tbl, old, new) VALUES (?, ?, ?)", (number, before, after))


def _item(tx: Tx) -> Table:
    return tx._store.schema.by_name["item"]  # noqa: SLF001  # pyright: ignore


def _commit_and_fail(tx: Tx) -> None:
    honest(tx)
    raw(tx).execute("COMMIT")
    raise RuntimeError("after the fact")


def _savepoint(tx: Tx) -> None:
    raw(tx).execute("SAVEPOINT s")
    honest(tx)
    raw(tx).execute("ROLLBACK TO s")
    raw(tx).execute("RELEASE s")


def _phantom(tx: Tx) -> None:
    honest(tx)
    with tx.effect("item.shipped", item="$item.two"):
        pass


def _phantom_row(tx: Tx) -> None:
    honest(tx)
    with tx.effect("item.closed", item="$item.three"):
        tx._claim(_item(tx), "$item.three", {"status": "open"}, None, {})  # noqa: SLF001  # pyright: ignore
        raw(tx).execute("UPDATE item SET status = 'open' WHERE id = '$item.three'")


def _delete_cascading(tx: Tx) -> None:
    tx.delete(tx.get(Item, "$item.one"), effect="item.deleted")


def _hold(tx: Tx, *, held: int, posted: dict[str, int], currency: str = "USD") -> None:
    with tx.effect("money.held", amount=held):
        if held:
            tx.update(tx.get(Item, "$item.one"), held=held)
        for account, amount in posted.items():
            tx.insert(Entry, account=account, amount=amount, currency=currency)


def _disarm(tx: Tx) -> None:
    raw(tx).set_authorizer(None)
    raw(tx).execute("DROP TRIGGER item_update")


def _crash(tx: Tx) -> None:
    honest(tx)
    raise RuntimeError("a bug")


def _refuse(tx: Tx) -> None:
    honest(tx)
    raise Rejected("item.no", "no")


def _twice(tx: Tx) -> None:
    with tx.effect("item.painted", item="$item.one"):
        tx.update(tx.update(tx.get(Item, "$item.one"), color="green"), color="black")


_UPDATE_TWO = "UPDATE item SET status = 'gone' WHERE id = '$item.two'"
_UNDO_TWO = "UPDATE item SET status = 'open' WHERE id = '$item.two'"
_DROP = "DROP TRIGGER item_update"
_HOOK = "TRIGGER hook AFTER UPDATE ON item BEGIN UPDATE part SET item_id = '$item.three' WHERE id = '$part.two'; END"
_HIDE = "CREATE TEMP TRIGGER hide AFTER INSERT ON main._change BEGIN DELETE FROM _change WHERE n = new.n; END"
_SWAP = "UPDATE item SET color = CASE id WHEN '$item.one' THEN 'blue' ELSE 'red' END WHERE id IN ('$item.one', '$item.two')"

DEEDS: dict[str, Deed] = {
    # beside the gateway
    "outside": _outside,
    "insert": sql("INSERT INTO item VALUES ('$item.x', 'open', 'red', 0, 'USD')", after=honest),
    "update": sql(_UPDATE_TWO, after=honest),
    "delete": sql("DELETE FROM part", after=honest),
    "replace": sql(
        "INSERT OR REPLACE INTO item VALUES ('$item.three', 'open', 'pink', 0, 'USD')", after=honest
    ),
    "replace_claimed": _replace_claimed,
    "replace_unseen": _replace_unseen,
    "cascade": _delete_cascading,
    "other_cell": sql("UPDATE item SET color = 'pink' WHERE id = '$item.one'", after=honest),
    "other_value": sql("UPDATE item SET status = 'gone' WHERE id = '$item.one'", after=honest),
    "swap": sql(_SWAP, after=honest),
    "undo": sql(_UPDATE_TWO, _UNDO_TWO, after=honest),
    "only_update": sql(_UPDATE_TWO),
    # the transaction
    "commit_and_fail": _commit_and_fail,
    "rollback_and_write": sql("ROLLBACK", _UPDATE_TWO),
    "savepoint": _savepoint,
    # the declarations
    "phantom": _phantom,
    "phantom_row": _phantom_row,
    "silent": lambda tx: tx.update(tx.get(Item, "$item.one"), status="closed"),
    # the evidence
    "drop_trigger": sql(_DROP),
    "drop_and_update": sql(_DROP, _UPDATE_TWO),
    "disarm": _disarm,
    "create_trigger": sql(f"CREATE {_HOOK}"),
    "trigger_and_update": sql(f"CREATE {_HOOK}", "UPDATE item SET color = color", after=honest),
    "temp_trigger": sql(_HIDE, _UPDATE_TWO),
    "alter": sql("ALTER TABLE item ADD COLUMN hidden TEXT"),
    "pragma": sql("PRAGMA recursive_triggers = 0"),
    "forge": _forged,
    "forge_claimed": _forged_claimed,
    "erase": sql(_UPDATE_TWO, "DELETE FROM _change"),
    # money
    "unbalanced": lambda tx: _hold(tx, held=500, posted={"held": 500, "cash": -400}),
    "not_posted": lambda tx: _hold(tx, held=500, posted={}),
    "no_row": lambda tx: _hold(tx, held=0, posted={"held": 500, "cash": -500}),
    "other_currency": lambda tx: _hold(tx, held=500, posted={"held": 500, "cash": -500}, currency="EUR"),
    # honest
    "honest": honest,
    "touch": sql("UPDATE item SET status = 'open' WHERE id = '$item.two'", after=honest),
    "crash": _crash,
    "refuse": _refuse,
    "twice": _twice,
    "balanced": lambda tx: _hold(tx, held=500, posted={"held": 500, "cash": -500}),
    "nothing": lambda _: None,
}


class Saboteur(Service):
    """Runs deeds."""

    name = "sabotage"
    entities = (Item, Part, Entry)

    @operation("POST /v1/act", access="write", undone_by=None, idempotent=True)
    def act(self, tx: Tx, deed: str) -> None:
        """Run a deed in a write operation. Writes. Returns nothing."""
        _run(tx, deed)

    @operation("GET /v1/look", access="read")
    def look(self, tx: Tx, deed: str) -> None:
        """Run a deed in a read operation. Returns nothing."""
        _run(tx, deed)

    def on_clock(self, tx: Tx, before: object, after: object) -> None:
        """Honest clock work: things fade."""
        tx.update(tx.get(Item, "$item.three"), color="grey", effect="item.faded")


class Restless(Service):
    """A service that changes rows as time passes, and does not say what that means."""

    name = "restless"
    entities = ()

    def on_clock(self, tx: Tx, before: object, after: object) -> None:
        """Paint something, silently."""
        tx.update(tx.get(Item, "$item.two"), color="silent")


def _run(tx: Tx, deed: str) -> None:
    try:
        DEEDS[deed](tx)
    except Problem:
        raise
    except sqlite3.DatabaseError as error:
        raise Rejected("deed.refused", f"the store refused it: {error}") from error
