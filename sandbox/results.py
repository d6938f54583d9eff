"""The results store: every run as it ends, in SQLite or whatever SQLAlchemy reaches.

    ResultsStore.open(path or URL)
      .begin(header) -> run id          a run of many trials            .finish(run)    every one has ended
      .started(run, key, ...)           committed before the first call of a trial
      .ended(run, key, ...)             committed as it ends
      .done(run)                        what has ended, by key
      .runs(), .run(name or "latest"), .trials(run)

A process that is killed at any write leaves a store that opens: a trial is there with its end, or it is to be run again.
SQLModel because its classes are both the tables and the rows, and it reaches every database that SQLAlchemy does. Nothing
here is on the path of a call. What looks like a key is taken out by the column types, so no write can forget it; keys of
runs and trials stay as they are, since they are looked up.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Connection, Engine, String, Text, event, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import declared_attr, registry
from sqlalchemy.pool import StaticPool
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, Session, SQLModel, col, create_engine, select

from sandtrail.sandbox.places import BadStore, private_file
from sandtrail.sandbox.redaction import redacted, redacted_line

VERSION = 1
"""The layout of the tables."""

PATIENCE = 30_000
"""How long one process waits for another's write, in milliseconds."""


class _Clean(TypeDecorator[str]):
    """Text without what looks like a key; a saved trajectory stays one. A lone surrogate is spelled out: no database
    has a place for it."""

    impl, cache_ok = Text, True

    def process_bind_param(self, value: str | None, dialect: object) -> str | None:
        return None if value is None else redacted_line(value).encode("utf-8", "backslashreplace").decode()


class _Seed(TypeDecorator[int]):
    """A whole number of any size, as text: a database's own end at 64 bits."""

    impl, cache_ok = String, True

    def process_bind_param(self, value: int | None, dialect: object) -> str | None:
        return None if value is None else str(value)

    def process_result_value(self, value: str | None, dialect: object) -> int | None:
        return None if value is None else int(value)


class _Table(SQLModel, registry=registry()):
    """With a registry and metadata of their own: a user's tables do not mix with these."""

    @declared_attr.directive
    @classmethod
    def __tablename__(cls) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]  # SQLModel makes it so, too
        return cls.__name__.removesuffix("Row").lower()


class StoreRow(_Table, table=True):
    """The layout that a store has."""

    version: int = Field(primary_key=True)


class RunRow(_Table, table=True):
    """One run of many trials. `number` counts them: two may begin at the same instant."""

    id: str = Field(primary_key=True)
    number: int
    agent: str = Field(sa_type=_Clean)
    agent_digest: str = Field(default="", sa_type=_Clean)
    command: str = Field(default="", sa_type=_Clean)
    seed: int = Field(default=0, sa_type=_Seed)
    sandtrail: str = Field(default="", sa_type=_Clean)
    started: str
    ended: str | None = None


class TrialRow(_Table, table=True):
    """One scenario x arm x repetition of a run; `state` is started or ended, `cost` in millionths of a US dollar."""

    run: str = Field(primary_key=True, foreign_key="run.id")
    scenario: str = Field(primary_key=True)
    arm: str = Field(default="", primary_key=True)
    repetition: int = Field(primary_key=True)
    revision: int = 1
    digest: str = Field(default="", sa_type=_Clean)
    agent: str = Field(default="", sa_type=_Clean)
    agent_digest: str = Field(default="", sa_type=_Clean)
    seed: int = Field(default=0, sa_type=_Seed)
    state: str = "started"
    started: str
    ended: str | None = None
    overall: str = Field(default="", sa_type=_Clean)
    first_decision: str | None = Field(default=None, sa_type=_Clean)
    recovery: str = Field(default="", sa_type=_Clean)
    unexpected_writes: int = 0
    tokens: int = Field(default=0, sa_type=BigInteger)
    cost: int | None = Field(default=None, sa_type=BigInteger)
    findings: str = Field(default="[]", sa_type=_Clean)
    trajectory: str = Field(default="", sa_type=_Clean)


@dataclass(frozen=True, slots=True, order=True)
class TrialKey:
    """Which trial of a run."""

    scenario: str
    repetition: int
    arm: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What a run is: known before its first trial."""

    agent: str
    seed: int
    command: str = ""
    agent_digest: str = ""
    sandtrail: str = ""


class ResultsStore:
    """A store that is open. Threads and processes may write at once: each write is a transaction of its own.

    `place` is where it is, fit to be printed. Every method raises BadStore where the database fails.
    """

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine, self.place = engine, place
        self._writing = engine.execution_options(writes=True)
        self._one_at_a_time = threading.RLock()  # threads queue here, where nobody's patience runs out

    @classmethod
    def open(cls, place: str | Path) -> ResultsStore:
        """The store at a path or URL, made where there is none. Raises BadStore."""
        shown = redacted(str(place))
        try:
            url = make_url(str(place)) if "://" in str(place) else URL.create("sqlite", database=str(place))
            store = cls(_engine(url), shown)
            with store._session(writes=True) as session:
                _lay_out(session.connection(), shown)
            _log_ahead(store._engine)  # only now: a database of something else stays as it is
        except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
            raise BadStore(f"{shown}: no database URL that can be used: {redacted(str(error))}") from None
        except OSError as error:
            raise BadStore(f"{shown}: {error.strerror}; name a file in a place that you may write") from None
        return store

    @contextmanager
    def _session(self, *, writes: bool = False) -> Generator[Session]:
        """A transaction: committed at the end, rolled back where something raises."""
        with self._one_at_a_time, _told(self.place):
            engine = self._writing if writes else self._engine
            with Session(engine, expire_on_commit=False) as session, session.begin():
                yield session

    def begin(self, header: Header) -> str:
        """A new run; its id."""
        now = datetime.now(UTC)
        name = f"run_{now:%Y%m%d}_{secrets.token_hex(4)}"
        with self._session(writes=True) as session:
            last = session.exec(select(RunRow.number).order_by(col(RunRow.number).desc()).limit(1)).first()
            told = {part: getattr(header, part) for part in Header.__dataclass_fields__}
            session.add(RunRow(id=name, number=(last or 0) + 1, started=_now(), **told))
        return name

    def started(
        self,
        run: str,
        key: TrialKey,
        *,
        revision: int,
        seed: int,
        agent: str = "",
        digest: str = "",
        agent_digest: str = "",
    ) -> None:
        """A trial begins. Whatever stands of it from before is replaced: it was cut off, or is of no use any more.

        Raises LookupError where there is no such run.
        """
        with self._session(writes=True) as session:
            if session.get(RunRow, run) is None:
                raise LookupError(f"{self.place} holds no run {run!r}; begin() gives its id")
            before = session.get(TrialRow, _named(run, key))
            if before is not None:
                session.delete(before)
                session.flush()
            told: dict[str, Any] = {"digest": digest, "agent": agent, "agent_digest": agent_digest}
            session.add(TrialRow(**_named(run, key), revision=revision, seed=seed, started=_now(), **told))

    def ended(
        self,
        run: str,
        key: TrialKey,
        *,
        trajectory: str,
        findings: str,
        overall: str = "",
        first_decision: str | None = None,
        recovery: str = "",
        unexpected_writes: int = 0,
        tokens: int = 0,
        cost: int | None = None,
    ) -> None:
        """A trial has ended. `trajectory` is its saved line, `findings` a JSON list.

        Raises LookupError where it never started, or has ended before: then what is there stays.
        """
        with self._session(writes=True) as session:
            row = session.get(TrialRow, _named(run, key))
            if row is None or row.state != "started":
                what = "ended and never started" if row is None else "ended before, and that stays"
                raise LookupError(f"{run}: {key} has {what}")
            row.state, row.ended, row.overall = "ended", _now(), overall
            row.first_decision, row.recovery = first_decision, recovery
            row.unexpected_writes, row.tokens, row.cost = unexpected_writes, tokens, cost
            row.trajectory, row.findings = trajectory, findings
            session.add(row)

    def finish(self, run: str) -> None:
        """Every trial of a run has ended."""
        with self._session(writes=True) as session:
            row = session.get(RunRow, run)
            if row is not None:
                row.ended = _now()
                session.add(row)

    def runs(self) -> list[RunRow]:
        """All runs, oldest first."""
        with self._session() as session:
            return list(session.exec(select(RunRow).order_by(col(RunRow.number), col(RunRow.id))).all())

    def run(self, name: str) -> RunRow:
        """A run by id, or `latest`. Raises LookupError."""
        runs = self.runs()
        found = runs[-1:] if name == "latest" else [one for one in runs if one.id == name]
        if not found:
            known = ", ".join(one.id for one in runs[-3:]) or "none yet"
            raise LookupError(f"{self.place} holds no run {name!r}; the last are {known}")
        return found[0]

    def trials(self, run: str) -> list[TrialRow]:
        """The trials of a run, by scenario, arm and repetition, whoever wrote them when."""
        with self._session() as session:
            rows = list(session.exec(select(TrialRow).where(col(TrialRow.run) == run)).all())
        return sorted(rows, key=lambda row: (row.scenario, row.arm, row.repetition))

    def done(self, run: str) -> Mapping[TrialKey, TrialRow]:
        """The trials that have ended."""
        rows = (row for row in self.trials(run) if row.state == "ended")
        return {TrialKey(row.scenario, row.repetition, row.arm): row for row in rows}

    def close(self) -> None:
        """Give the connections back."""
        self._engine.dispose()


def _named(run: str, key: TrialKey) -> dict[str, Any]:
    """The primary key of a trial, by column."""
    return {"run": run, "scenario": key.scenario, "arm": key.arm, "repetition": key.repetition}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _engine(url: URL) -> Engine:
    if url.get_backend_name() != "sqlite":
        return create_engine(url)
    in_memory = url.database in {None, "", ":memory:"}
    if not in_memory:
        private_file(Path(str(url.database)))
    options: Mapping[str, Any] = {"poolclass": StaticPool} if in_memory else {}
    engine = create_engine(url, connect_args={"check_same_thread": False}, **options)
    event.listen(engine, "connect", _careful)
    event.listen(engine, "begin", _begin)
    return engine


def _careful(connection: sqlite3.Connection, _: object) -> None:
    connection.isolation_level = None  # transactions begin where _begin says, not where the driver guesses
    connection.execute(f"PRAGMA busy_timeout={PATIENCE}")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA foreign_keys=ON")


def _log_ahead(engine: Engine) -> None:
    """How SQLite writes here: a write-ahead log, which is flushed to the disk when it is folded into the file.

    What a killed process had committed stands in the log, in the hands of the system, and the next one to open the store
    folds it in. A power failure can cost the last trials, never the store: they have not ended then, and a resumed run
    does them again. A rollback journal that is flushed at every commit would spare them that, at up to 20 ms a commit on
    a busy disk; a whole trial of an agent that calls no model takes less. Nobody else's reading delays a write.
    """
    if engine.dialect.name == "sqlite":
        connection = engine.raw_connection()
        with suppress(sqlite3.OperationalError):  # another process is just doing so
            connection.cursor().execute("PRAGMA journal_mode=WAL")
        connection.close()


def _begin(connection: Connection) -> None:
    """A transaction that writes asks for the lock before it reads: two that both read first could not both go on."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lay_out(connection: Connection, place: str) -> None:
    """Make the tables of a new store; refuse what is none, and what a newer sandtrail has written."""
    tables = inspect(connection).get_table_names()
    if tables and "store" not in tables:
        raise BadStore(
            f"{place}: it is a database of something else; name another file, or move this one away"
        )
    _Table.metadata.create_all(connection)
    versions = connection.exec_driver_sql("SELECT version FROM store").scalars().all()
    if not versions:
        connection.exec_driver_sql(f"INSERT INTO store (version) VALUES ({VERSION})")
    elif versions != [VERSION]:
        newer = isinstance(versions[0], int) and versions[0] > VERSION
        who, remedy = ("a newer sandtrail", "upgrade") if newer else ("no sandtrail", "move it away")
        layout = f"layout {versions[0]!r:.40}, this reads {VERSION}"
        raise BadStore(f"{place}: it was written by {who} ({layout}); {remedy}, or name another file")


_REMEDIES = (
    ("locked", "another process has been writing for long; try again when it has ended"),
    ("readonly", "make it writable, or copy it to a place that you may write"),
    ("unable to open", "name a file in a place that you may write"),
    ("full", "make room on the disk, then go on with --resume"),
)


@contextmanager
def _told(place: str) -> Generator[None]:
    """What a database raises, as a BadStore that says what to do; bad values in its rows, too."""
    try:
        yield
    except BadStore:
        raise
    except (SQLAlchemyError, sqlite3.Error, ValueError, OverflowError) as error:
        said = redacted(str(getattr(error, "orig", None) or error)).splitlines()[0]
        other = "name another file, or move this one away"
        remedy = next((remedy for word, remedy in _REMEDIES if word in said), other)
        raise BadStore(f"{place}: {said:.200}; {remedy}") from None
