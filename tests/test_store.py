"""The store records itself: every change of a row exactly, and nobody can switch that off."""

from __future__ import annotations

# pyright: reportPrivateUsage=false
import datetime as dt
import decimal
import enum
import sqlite3
import types
import uuid
from collections.abc import Iterator
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlmodel import select

from sandtrail.fakes import SERVICES, Entity, Id, Instant, Ref
from sandtrail.fakes.billing import Payment
from sandtrail.fakes.customers import Customer
from sandtrail.fakes.entities import BadEntity, Table
from sandtrail.fakes.image import template
from sandtrail.fakes.store import Guards, Image, Schema, Store, replay
from sandtrail.ledgers import Change, WorldSpec
from sandtrail.ledgers.entries import Values
from worlds import ENTITIES, world

INT64 = 2**63 - 1


class Thing(Entity, table=True):
    """One column of each type that there is."""

    id: Annotated[str, Id("thing")]
    text: str = ""
    maybe: str | None = None
    number: int = 0
    flag: bool = False
    at: Instant | None = None


class Part(Entity, table=True):
    """What goes when its thing goes."""

    id: Annotated[str, Id("part")]
    thing_id: Annotated[str, Ref("thing", cascade=True)]


THINGS = Table(Thing, "things")
SCHEMA = Schema([THINGS, Table(Part, "things")])


def image(schema: Schema = SCHEMA) -> Image:
    db = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(db)
    made = Image(schema, db.serialize())
    db.close()
    return made


EMPTY = image()


@pytest.fixture
def store() -> Iterator[Store]:
    made = Store(EMPTY)
    yield made
    made.close()


@pytest.fixture
def shipped() -> Iterator[Store]:
    """A store with the shipped services' tables and the rows that the tests share."""
    made = Store(template(WorldSpec(ENTITIES), SERVICES).image)
    yield made
    made.close()


def row(key: str, text: str = "", maybe: str | None = None, number: int = 0) -> Values:
    return (key, text, maybe, number, 0, None)


def put(store: Store, values: Values, verb: str = "INSERT") -> None:
    places = ", ".join("?" for _ in values)
    store._db.execute(f"{verb} INTO thing VALUES ({places})", values)


def captured(store: Store) -> list[tuple[Values | None, Values | None]]:
    taken = store.take()
    assert taken.hole is None
    return [(change.old, change.new) for change in taken.changes]


# -- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("DROP TRIGGER payment_update", "DROP TRIGGER payment_update"),
        (
            "CREATE TRIGGER forge AFTER INSERT ON payment BEGIN DELETE FROM _change; END",
            "CREATE TRIGGER forge",
        ),
        (
            "CREATE TEMP TRIGGER forge AFTER INSERT ON payment BEGIN SELECT 1; END",
            "CREATE TEMP TRIGGER forge",
        ),
        ("CREATE TEMP TABLE payment (id TEXT)", "sqlite_temp_master"),
        ("CREATE TABLE mine (id TEXT)", "sqlite_master"),
        ("CREATE VIEW mine AS SELECT 1", "sqlite_master"),
        ("CREATE INDEX mine ON payment (card)", "sqlite_master"),
        ("CREATE VIRTUAL TABLE mine USING fts5(a)", "sqlite_master"),
        ("DROP TABLE payment", "sqlite_master"),
        ("ALTER TABLE payment RENAME TO other", "ALTER TABLE main payment"),
        ("ALTER TABLE payment ADD COLUMN more TEXT", "ALTER TABLE main payment"),
        ("ATTACH ':memory:' AS other", "ATTACH :memory:"),
        ("DETACH main", "DETACH main"),
        ("VACUUM INTO 'copy.db'", "ATTACH"),
        ("PRAGMA recursive_triggers = 0", "PRAGMA recursive_triggers 0"),
        ("PRAGMA foreign_keys = 0", "PRAGMA foreign_keys 0"),
        ("PRAGMA writable_schema = 1", "PRAGMA writable_schema 1"),
        ("PRAGMA ignore_check_constraints = 1", "PRAGMA ignore_check_constraints 1"),
        ("PRAGMA query_only = 1", "PRAGMA query_only 1"),
        ("SELECT * FROM pragma_table_info('payment')", "sqlite_master"),
        ("INSERT INTO _change (tbl, old, new) VALUES (0, NULL, '[]')", "INSERT on _change"),
        ("insert into _CHANGE (tbl) values (0)", "INSERT on _change"),
        ("REPLACE INTO _change (n, tbl) VALUES (1, 0)", "INSERT on _change"),
        ("UPDATE _change SET new = '[]'", "UPDATE on _change"),
        ("DELETE FROM _change", "DELETE on _change"),
        ("SELECT * FROM _change", "_change"),
        ("SELECT sql FROM sqlite_master", "sqlite_master"),
        ("SAVEPOINT mine", "SAVEPOINT BEGIN mine"),
        ("RELEASE mine", "SAVEPOINT RELEASE mine"),
        ("ROLLBACK TO mine", "SAVEPOINT ROLLBACK mine"),
        ("BEGIN", "TRANSACTION BEGIN"),
        ("COMMIT", "TRANSACTION COMMIT"),
        ("END", "TRANSACTION COMMIT"),
        ("ROLLBACK", "TRANSACTION ROLLBACK"),
        ("SELECT load_extension('mine')", "FUNCTION load_extension"),
        ("SELECT random()", "FUNCTION random"),
        ("SELECT datetime('now')", "FUNCTION datetime"),
        ("UPDATE payment SET card = hex(card)", "FUNCTION hex"),
        ("ANALYZE", "sqlite_master"),
        ("REINDEX", "REINDEX"),
    ],
)
def test_a_statement_that_could_touch_the_evidence_is_refused_and_remembered(
    shipped: Store, sql: str, said: str
) -> None:
    with pytest.raises(sqlite3.Error, match=r"not authorized|authorization denied|prohibited"):
        shipped._db.execute(sql)
    assert shipped.refused
    assert all(line.startswith("a statement was refused: ") for line in shipped.refused)
    assert said in shipped.refused[0]
    assert shipped.take().changes == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*), max(captured) FROM payment WHERE lower(card) = 'visa 4242'",
        "WITH found AS (SELECT id FROM payment) SELECT * FROM found",
        "INSERT INTO posting VALUES ('$posting.x', 'entry', 'cash', 1, 'USD')",
        "UPDATE payment SET card = 'visa 1'",
        "DELETE FROM invoice_line",
    ],
)
def test_what_a_gateway_needs_is_allowed(shipped: Store, sql: str) -> None:
    shipped.run(sql)
    assert shipped.refused == []
    assert shipped.tampering(wrote=True) == ()


def test_a_refused_statement_is_reported_once(shipped: Store) -> None:
    for _ in range(2):
        with pytest.raises(sqlite3.Error):
            shipped._db.execute("DROP TRIGGER payment_update")
    assert shipped.tampering(wrote=False) == ("a statement was refused: DROP TRIGGER payment_update payment",)
    assert shipped.tampering(wrote=False) == ()


def test_a_refused_statement_stands_in_the_books() -> None:
    with world() as here:
        with pytest.raises(sqlite3.Error):
            here._state.store._db.execute("DROP TRIGGER payment_update")
        here.call("get_payment", payment_id=here.id("$payment.first"))
        (breach,) = here.ledger.breaches
        assert (breach.code, breach.at) == ("ledger.tampered", "before any attempt")
        assert "DROP TRIGGER payment_update" in breach.reason


def test_rows_written_past_the_gateway_have_no_origin() -> None:
    with world() as here:
        here._state.store._db.execute("UPDATE payment SET card = 'mine' WHERE id = '$payment.first'")
        here.call("get_payment", payment_id=here.id("$payment.first"))
        assert [breach.code for breach in here.ledger.breaches] == ["ledger.no_origin"]
        assert "payment $payment.first" in here.ledger.breaches[0].reason


# -- what is noticed where a guard is lifted ---------------------------------------------------------------


def test_a_dropped_trigger_is_noticed_by_the_schema() -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    store._db.execute("DROP TRIGGER thing_update")
    (said,) = store.tampering(wrote=False)
    assert said.endswith(": trigger thing_update is gone")
    assert store.tampering(wrote=False) == ()


def test_a_forged_trigger_is_noticed_by_the_schema() -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    store._db.execute("CREATE TRIGGER forge AFTER INSERT ON thing BEGIN DELETE FROM _change; END")
    (said,) = store.tampering(wrote=False)
    assert said.endswith(": trigger forge is new")


@pytest.mark.parametrize("name", ["recursive_triggers", "foreign_keys"])
def test_a_pragma_that_was_switched_off_is_noticed_and_switched_on_again(name: str) -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    store._db.execute(f"PRAGMA {name} = 0")
    put(store, row("$thing.a"))
    assert store.tampering(wrote=True) == (f"PRAGMA {name} was switched off",)
    assert store._db.execute(f"PRAGMA {name}").fetchall() == [(1,)]
    assert store.tampering(wrote=True) == ()


def test_rows_that_were_counted_but_not_captured_are_a_hole() -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    store._db.execute("DROP TRIGGER thing_insert")
    put(store, row("$thing.a"))
    taken = store.take()
    assert taken.changes == ()
    assert taken.hole == "the database counted 1 row writes, 0 changes were captured (at most 0 writes)"


def test_every_opening_has_its_pragmas_on() -> None:
    twin = Store(Store(EMPTY).image())
    with twin._privilege():
        for name in ("recursive_triggers", "foreign_keys"):
            assert twin._db.execute(f"PRAGMA {name}").fetchall() == [(1,)]


def test_a_service_that_ended_the_transaction_itself_is_noticed() -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    store.begin()
    store._db.execute("COMMIT")
    assert store.end(commit=True) is False
    store.begin()
    assert store.end(commit=False) is True


# -- what is captured --------------------------------------------------------------------------------------

TEXTS = [
    "",
    " ",
    "a",
    "\U0001f600",
    "e\u0301",
    "a\0b",
    '"',
    "\\",
    "\n\t",
    "null",
    "0",
    "\u2028",
    "[1]",
    "x" * 10_000,
]
NUMBERS = [0, 1, -1, 2**31, 2**53 + 1, INT64, -INT64, -INT64 - 1]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("maybe", [None, ""])
def test_text_is_captured_exactly(store: Store, text: str, maybe: str | None) -> None:
    put(store, row("$thing.a", text, maybe))
    assert captured(store) == [(None, row("$thing.a", text, maybe))]


@pytest.mark.parametrize("number", NUMBERS)
def test_64_bit_integers_are_captured_exactly(store: Store, number: int) -> None:
    put(store, row("$thing.a", number=number))
    assert captured(store) == [(None, row("$thing.a", number=number))]


VALUES = st.tuples(
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=20),
    st.integers(-INT64 - 1, INT64),
)


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(["put", "set", "cut"]), VALUES), max_size=12
    )
)
def test_whatever_rows_do_is_captured_exactly_and_in_order(
    steps: list[tuple[str, str, tuple[str, str | None, int]]],
) -> None:
    store, rows, expected = Store(EMPTY), dict[str, Values](), list[tuple[Values | None, Values | None]]()
    for name, act, values in steps:
        key, new = f"$thing.{name}", row(f"$thing.{name}", *values)
        old = rows.get(key)
        if act == "put":
            put(store, new, "REPLACE")
            expected += [(old, None)] * (old is not None) + [(None, new)]
            rows[key] = new
        elif act == "set":
            store._db.execute("UPDATE thing SET text = ?, maybe = ?, number = ? WHERE id = ?", (*values, key))
            expected += [(old, new)] * (old is not None)
            rows |= {key: new} if old else {}
        else:
            store._db.execute("DELETE FROM thing WHERE id = ?", (key,))
            expected += [(old, None)] * (old is not None)
            rows.pop(key, None)
    changes = store.take().changes
    assert [(change.old, change.new) for change in changes] == expected
    assert replay(EMPTY, changes, store) is None
    store.close()


def test_a_change_knows_its_row_and_its_columns(store: Store) -> None:
    put(store, row("$thing.a", "before"))
    store._db.execute("UPDATE thing SET id = '$thing.b', text = 'after'")
    _, change = store.take().changes
    assert (change.table, change.key, change.business) == ("thing", "$thing.a", True)
    assert change.columns == ("id", "text", "maybe", "number", "flag", "at")
    assert change.cells == {"id": ("$thing.a", "$thing.b"), "text": ("before", "after")}


def test_an_upsert_is_the_update_it_is(store: Store) -> None:
    put(store, row("$thing.a", number=1))
    captured(store)
    upsert = "INSERT INTO thing VALUES ('$thing.a', '', NULL, 5, 0, NULL) ON CONFLICT (id) DO UPDATE SET number = excluded.number"
    store._db.execute(upsert)
    assert captured(store) == [(row("$thing.a", number=1), row("$thing.a", number=5))]
    store._db.execute(upsert.replace("DO UPDATE SET number = excluded.number", "DO NOTHING"))
    assert captured(store) == []


def test_a_replace_is_a_delete_and_an_insert(store: Store) -> None:
    put(store, row("$thing.a", number=1))
    put(store, row("$thing.a", number=2), "INSERT OR REPLACE")
    assert captured(store) == [
        (None, row("$thing.a", number=1)),
        (row("$thing.a", number=1), None),
        (None, row("$thing.a", number=2)),
    ]


def test_an_update_that_replaces_another_row_captures_both(store: Store) -> None:
    put(store, row("$thing.a"))
    put(store, row("$thing.b"))
    captured(store)
    store._db.execute("UPDATE OR REPLACE thing SET id = '$thing.a' WHERE id = '$thing.b'")
    assert sorted(captured(store), key=str) == sorted(
        [(row("$thing.a"), None), (row("$thing.b"), row("$thing.a"))], key=str
    )


def test_rows_that_go_with_another_row_are_captured_too(store: Store) -> None:
    put(store, row("$thing.a"))
    store._db.execute("INSERT INTO part VALUES ('$part.a', '$thing.a'), ('$part.b', '$thing.a')")
    captured(store)
    store._db.execute("DELETE FROM thing")
    assert sorted(captured(store), key=str) == sorted(
        [(row("$thing.a"), None), (("$part.a", "$thing.a"), None), (("$part.b", "$thing.a"), None)], key=str
    )


def test_an_update_that_changes_nothing_is_captured_as_a_touch(store: Store) -> None:
    put(store, row("$thing.a"))
    captured(store)
    store._db.execute("UPDATE thing SET text = text")
    (change,) = store.take().changes
    assert change.touch


def test_a_statement_over_many_rows_captures_each(store: Store) -> None:
    for number in range(50):
        put(store, row(f"$thing.n{number}", number=number))
    captured(store)
    store._db.execute("UPDATE thing SET number = number + 1 WHERE number % 2 = 0")
    assert [(old and old[3], new and new[3]) for old, new in captured(store)] == [
        (n, n + 1) for n in range(0, 50, 2)
    ]


def test_what_was_rolled_back_never_happened(store: Store) -> None:
    store.begin()
    put(store, row("$thing.a"))
    assert store.end(commit=False)
    store.forget_rollback()
    assert captured(store) == []
    put(store, row("$thing.b"))
    assert captured(store) == [(None, row("$thing.b"))]


def test_each_take_gives_what_is_new(store: Store) -> None:
    put(store, row("$thing.a"))
    assert len(captured(store)) == 1
    assert captured(store) == []


# -- what cannot be captured is refused --------------------------------------------------------------------


class Mood(enum.Enum):
    """A choice as Enum keeps it."""

    GOOD = "good"


class Tone(enum.StrEnum):
    """A choice that is text, and still kept by its name."""

    HIGH = "high"


@pytest.mark.parametrize(
    "kind",
    [float, bytes, dt.date, dt.time, dt.timedelta, decimal.Decimal, uuid.UUID, Mood, Tone, float | None, Mood | None],
    ids=str,
)  # fmt: skip
def test_a_column_that_triggers_cannot_capture_exactly_is_refused_when_the_class_is_made(kind: Any) -> None:
    with pytest.raises(
        BadEntity,
        match=r"^Bad\.value is a .*cannot capture that exactly; use str, int .*, bool or an aware datetime$",
    ):
        _entity("Bad", {"id": Annotated[str, Id("bad")], "value": kind})


@pytest.mark.parametrize(
    "kind",
    [str, int, bool, dt.datetime, str | None, int | None, bool | None, Instant | None],
    ids=["str", "int", "bool", "instant", "str or none", "int or none", "bool or none", "instant or none"],
)
def test_a_column_that_triggers_capture_exactly_is_taken(kind: Any) -> None:
    made = Table(_entity("Good", {"id": Annotated[str, Id("good")], "value": kind}), "things")
    assert made.columns == ("id", "value")


def _entity(name: str, annotations: dict[str, Any]) -> type[Entity]:
    def body(namespace: dict[str, Any]) -> None:
        namespace |= {"__annotations__": annotations, "__module__": __name__}

    made: type[Entity] = types.new_class(name, (Entity,), {"table": True}, body)
    return made


@pytest.mark.parametrize(
    "annotations",
    [
        {"id": Annotated[str, Id("bad")], "other": Annotated[str, Id("bad")]},
        {"key": Annotated[str, Id("bad")]},
    ],
    ids=["two keys", "another name"],
)
def test_a_table_has_exactly_one_key_and_it_is_called_id(annotations: dict[str, Any]) -> None:
    with pytest.raises(BadEntity, match=r"^Bad needs exactly one key, id: Id\['bad'\]$"):
        Table(_entity("Bad", annotations), "things")


@pytest.mark.parametrize("kind", ["", "Ticket", "tick-et", "1st", "a b", "$x"])
def test_a_kind_is_lower_case_letters(kind: str) -> None:
    with pytest.raises(BadEntity, match="must be lower-case letters and underscores"):
        Id(kind)


def test_the_short_and_the_long_form_of_an_id_are_one() -> None:
    _, short = get_args(Id.__class_getitem__("thing"))
    assert repr(short) == repr(Id("thing")) == "Id('thing')"


@pytest.mark.parametrize(
    "values",
    [("$thing.a", 5, None, 0, 0, None), ("$thing.a", "", None, "many", 0, None), ("$thing.a", "", None, 1.5, 0, None), (None, "", None, 0, 0, None)],
    ids=["number as text", "text as number", "float as number", "no key"],
)  # fmt: skip
def test_tables_are_strict(store: Store, values: tuple[Any, ...]) -> None:
    if isinstance(values[1], int):
        put(store, values)
        assert captured(store) == [
            (None, row("$thing.a", "5"))
        ]  # STRICT keeps a number in a text column as its text
        return
    with pytest.raises(sqlite3.IntegrityError):
        put(store, values)


# -- redo and replay ---------------------------------------------------------------------------------------


def change(old: Values | None, new: Values | None) -> Change:
    return Change(1, "thing", str((old or new or ("",))[0]), THINGS.columns, old, new)


@pytest.mark.parametrize(
    "forged",
    [
        change(row("$thing.a", "other"), row("$thing.a", "after")),
        change(row("$thing.a", "other"), None),
        change(row("$thing.z"), row("$thing.z", "after")),
    ],
    ids=["update onto another before", "delete of another before", "update of no row"],
)
def test_a_change_is_redone_only_onto_its_before(store: Store, forged: Change) -> None:
    put(store, row("$thing.a", "before"))
    misfit = store.redo([forged])
    assert misfit is not None
    assert (misfit.table, misfit.key) == ("thing", forged.key)
    assert misfit.reason == f"change 1 does not fit the rows: {forged}"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("UPDATE thing SET number = 7", "thing $thing.a: number is 7, the captured changes lead to 1"),
        ("DELETE FROM thing", "thing $thing.a is gone, and no captured change deleted it"),
        (
            "INSERT INTO thing VALUES ('$thing.0', '', NULL, 0, 0, NULL)",
            "thing $thing.0 is there, and no captured change added it",
        ),
    ],
)
def test_replay_says_where_the_rows_are_not_what_the_changes_lead_to(sql: str, said: str) -> None:
    store = Store(EMPTY, Guards(authorizer=False))
    put(store, row("$thing.a", number=1))
    changes = store.take().changes
    assert replay(EMPTY, changes, store) is None
    for verb in ("insert", "update", "delete"):
        store._db.execute(f"DROP TRIGGER thing_{verb}")
    store._db.execute(sql)
    misfit = replay(EMPTY, changes, store)
    assert misfit is not None
    assert misfit.reason == said


# -- looking, resetting, forking ---------------------------------------------------------------------------


def test_inspect_reads_rows_with_sqlmodel() -> None:
    with world() as here, here.inspect() as session:
        found = session.exec(select(Payment).where(Payment.order_id == "$order.lamp")).all()
        assert [payment.id for payment in found] == ["$payment.first", "$payment.second"]
        assert found[0].captured == 4250
        assert found[0].created_at == here.clock.now()
        assert found[0].created_at.tzinfo is not None


def test_inspect_sees_what_calls_have_done() -> None:
    with world() as here:
        here.call("update_customer", customer_id=here.id("$customer.lee"), name="Leo")
        with here.inspect() as session:
            assert session.exec(select(Customer.name).where(Customer.id == "$customer.lee")).one() == "Leo"


def test_nothing_that_is_done_while_inspecting_reaches_the_world() -> None:
    with world() as here:
        before = here.rows(Customer)
        with here.inspect() as session:
            for customer in session.exec(select(Customer)).all():
                customer.name = "Nobody"
                session.add(customer)
            session.commit()
            assert set(session.exec(select(Customer.name)).all()) == {"Nobody"}
        assert here.rows(Customer) == before
        assert here.ledger.verify() == []
        assert here.ledger.pages == ()


def test_rows_are_found_by_their_columns_whoever_they_belong_to() -> None:
    with world() as here:
        assert [payment.id for payment in here.rows(Payment, order_id="$order.south")] == ["$payment.south"]
        assert len(here.rows(Payment)) == sum(symbol.startswith("$payment.") for symbol in ENTITIES)
        assert here.rows(Payment, status="no such status") == []
        assert here.ledger.pages == ()


def test_reset_leads_back_to_the_opening() -> None:
    with world() as here:
        before, now, raw = here.rows(Customer), here.clock.now(), here.id("$customer.lee")
        here.call("update_customer", customer_id=raw, name="Leo")
        here.advance("3 days")
        here.reset()
        assert here.rows(Customer) == before
        assert here.clock.now() == now
        assert here.id("$customer.lee") == raw
        assert here.ledger.pages == ()
        assert here.ledger.verify() == []


def test_a_fork_continues_from_here_and_leaves_the_first_world_alone() -> None:
    with world() as here:
        note = {"customer_id": here.id("$customer.lee"), "text": "hello"}
        here.call("add_note", note)
        with here.fork() as there:
            assert there.id("$customer.lee") == here.id("$customer.lee")
            assert there.ledger.pages == here.ledger.pages
            there.call("update_customer", customer_id=there.id("$customer.lee"), name="Leo")
            there.advance("1 day")
            assert here.rows(Customer, id="$customer.lee")[0].name == "Lee Ahn"
            assert len(here.ledger.pages) == 1
            assert here.clock.now() < there.clock.now()
            here.call("add_note", note)
            assert here.ledger.verify() == there.ledger.verify() == []
