"""Transactions: one writer at a time on SQLite, row locks on PostgreSQL; on disk when they end."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, NoSuchModuleError

from discreet.errors import InputError
from discreet.server.store.memory import END, Memory, StoreError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Engine, Table

_BUSY_SECONDS = 30


class Store:
    """One database, open.

    The promise: what a `writing` block did is on disk when it ends, or nothing of it is; two blocks, of
    whatever processes, that lock the same row run one after the other. Once an old copy lies in its place
    (`memory`), no block begins.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)
        self.memory = self._blank()

    @property
    def is_postgres(self) -> bool:
        """Whether several machines may share this database."""
        return self.engine.dialect.name == "postgresql"

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """Run one transaction that writes; an exception undoes all of it."""
        self.memory.refuse()
        said = {"writes": True, "memory": self.memory}
        with _refusing_odd_words(), self.engine.connect().execution_options(**said) as db:
            db.info.pop(END, None)
            with db.begin():
                yield db
            end = db.info.pop(END, None)
            if end is not None:
                self.memory.advance(*end)

    @contextmanager
    def reading(self, *, anyway: bool = False) -> Generator[Connection]:
        """Run one transaction that only reads, and sees one state of the database; `anyway`, of any."""
        if not anyway:
            self.memory.refuse()
        with _refusing_odd_words(), self.engine.connect() as plain:
            # PostgreSQL would look anew for each statement, and see a charge in one table and not in another.
            db = plain.execution_options(isolation_level="REPEATABLE READ") if self.is_postgres else plain
            with db.begin():
                yield db

    def upsert(self, table: Table) -> Any:
        """Return an insert that can say what to do where the row is there already."""
        return (postgresql if self.is_postgres else sqlite).insert(table)

    def close(self) -> None:
        """Close all connections, and forget what was seen: whoever opens it again begins anew."""
        self.engine.dispose()
        self.memory = self._blank()

    def _blank(self) -> Memory:
        name = self.engine.url.database
        return Memory(None if self.is_postgres or not name else Path(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextmanager
def _refusing_odd_words() -> Generator[None]:
    try:
        yield
    except DataError:
        raise InputError("a word is too long, or holds characters that the database cannot keep") from None
    except DBAPIError as error:
        # Statements and parameters stay out of messages; the cause is kept for the custodian's log.
        raise StoreError("the database cannot be used just now; try again") from error


def _engine(url: str) -> Engine:
    try:
        address = make_url(url)
        if address.get_backend_name() == "postgresql":
            return _postgres(str(address.set(drivername="postgresql+psycopg").render_as_string(False)))
        if address.get_backend_name() != "sqlite":
            raise InputError("the database must be sqlite:///FILE or postgresql://HOST/NAME")
        patient = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
        engine = create_engine(address, connect_args=patient, hide_parameters=True)
    except (ArgumentError, NoSuchModuleError):
        raise InputError("the database must be sqlite:///FILE or postgresql://HOST/NAME") from None
    event.listen(engine, "connect", _settle_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _postgres(address: str) -> Engine:
    # Whatever the server's default is: a commit has reached the disk when it returns.
    durable = {"options": "-c synchronous_commit=on", "connect_timeout": 10}
    return create_engine(
        address,
        connect_args=durable,
        isolation_level="READ COMMITTED",
        pool_pre_ping=True,
        pool_size=10,
        hide_parameters=True,  # of statements, in a log
    )


def _settle_sqlite(connection: object, _: object) -> None:
    """Leave transactions to us, and make every commit reach the disk."""
    if not isinstance(connection, sqlite3.Connection):
        return
    connection.isolation_level = None
    try:
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {pragma}").close()
    except sqlite3.Error:
        connection.close()  # nobody else would: it is no connection yet
        raise


def _begin_sqlite(db: Connection) -> None:
    writes = bool(db.get_execution_options().get("writes"))
    db.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
