"""The SQLite file: opened for one operation, closed after it; whatever goes wrong is said in words.

Journal: SQLite's rollback journal, not WAL. A ledger sees a few writes a minute, so WAL's speed buys nothing,
while WAL needs shared memory (it fails on network file systems) and leaves charges in a second file that a
copy of the first would miss. `synchronous = EXTRA` also syncs the folder, so that a charge that was reported
survives a power cut. One connection an operation: none is ever shared by threads or carried over a fork. The
file is never opened by other means: closing it again would drop this process's locks on it (a POSIX rule).
"""

from __future__ import annotations

import os
import sqlite3
import uuid
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Literal

from discreet.errors import LedgerError

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

APPLICATION = 0x64736372
"""Marks a file as a ledger of this library: "dscr"."""

VERSION = 1
"""The layout below. A file with another number is refused, never guessed at."""

BUSY_SECONDS = 60.0

_LAYOUT = (
    """CREATE TABLE chain (
        position INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        dataset TEXT NOT NULL,
        time TEXT NOT NULL,
        body TEXT NOT NULL,
        hash TEXT NOT NULL
    )""",
    "CREATE TABLE result (position INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    """CREATE TABLE head (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        seed TEXT NOT NULL,
        position INTEGER NOT NULL,
        hash TEXT NOT NULL
    )""",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process has kept it locked for too long; try again",
    sqlite3.SQLITE_LOCKED: "another process has kept it locked for too long; try again",
    sqlite3.SQLITE_FULL: "the disk is full; make room and try again",
    sqlite3.SQLITE_READONLY: "the file or its folder is read-only; make both writable",
    sqlite3.SQLITE_PERM: "access is denied; make the file and its folder readable and writable",
    sqlite3.SQLITE_CANTOPEN: "the file, its journal or its folder cannot be opened; make them writable",
    sqlite3.SQLITE_IOERR: "the disk reports an error; check the disk and its free space",
    sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a copy, and count as spent what came after",
    sqlite3.SQLITE_NOTADB: "it is not a ledger; give the path of a file made by `discreet budget create`",
}


@contextmanager
def transaction(
    path: Path, begin: Literal["DEFERRED", "IMMEDIATE"], *, create: bool = False
) -> Generator[sqlite3.Connection]:
    """Open the ledger, run one transaction on it, commit unless an exception passes, close it."""
    _look(path, create=create)
    try:
        with closing(_connect(path, create=create)) as db:
            db.execute("PRAGMA journal_mode = DELETE")  # another program may have left the file in WAL
            db.execute("PRAGMA synchronous = EXTRA")
            db.execute("PRAGMA fullfsync = ON")  # on macOS a sync stops short of the disk otherwise
            db.execute(f"BEGIN {begin}")
            if create and _is_empty(db):
                for statement in _LAYOUT:
                    db.execute(statement)
                seed = uuid.uuid4().hex
                db.execute("INSERT INTO head VALUES (1, ?, 0, ?)", (seed, seed))
            _check_marks(path, db)
            yield db
            # Whatever leaves this block otherwise closes the connection, which rolls back.
            db.execute("COMMIT")
    except sqlite3.Error as error:
        raise LedgerError(f"cannot use the ledger {path}: {reason(error)}") from error
    except UnicodeDecodeError:  # Python cannot read what SQLite has to say of a damaged file
        raise LedgerError(f"cannot use the ledger {path}: {_REASONS[sqlite3.SQLITE_CORRUPT]}") from None


def foreign(db: sqlite3.Connection) -> list[str]:
    """Return a fault, in words, if the file holds anything but the tables above.

    A trigger, for instance, could undo every charge behind the chain's back.
    """
    found = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master")}
    if found == {statement for statement in _LAYOUT if statement.startswith("CREATE")}:
        return []
    return ["it holds tables or triggers that this library does not write"]


def reason(error: sqlite3.Error) -> str:
    """Return what an SQLite error means here, and what to do about it."""
    return _REASONS.get(_code(error), f"SQLite answers {error}; nothing was written")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the error tells of a damaged ledger, rather than of a file that cannot be used."""
    return _code(error) == sqlite3.SQLITE_CORRUPT


def _code(error: sqlite3.Error) -> int:
    # Text that is not text is found by Python's own module, which gives no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _look(path: Path, *, create: bool) -> None:
    """Refuse paths that SQLite would explain badly; only `stat` is used."""
    # os.path: a name too long for a file is the name of none.
    if os.path.isdir(path):  # noqa: PTH112
        raise LedgerError(f"the ledger {path} is a folder; give the path of a file in it")
    if not create and not os.path.exists(path):  # noqa: PTH110
        raise LedgerError(f"there is no ledger {path}; make one with `discreet budget create`")
    if create and not os.path.isdir(path.parent):  # noqa: PTH112
        raise LedgerError(f"the folder of the ledger {path} does not exist; make it first")


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    # As an address, so that no operation but `create` can bring a file into being.
    mode = "rwc" if create else "rw"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS)


def _is_empty(db: sqlite3.Connection) -> bool:
    """Whether the file was made just now: by this connection, or by one that was killed at that point."""
    return (
        db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        and _mark(db, "application_id") == 0
    )


def _check_marks(path: Path, db: sqlite3.Connection) -> None:
    if _mark(db, "application_id") != APPLICATION:
        raise LedgerError(f"{path} is not a ledger; give the path of a file made by `discreet budget create`")
    version = _mark(db, "user_version")
    if version > VERSION:
        raise LedgerError(f"the ledger {path} was written by a newer version of discreet; upgrade discreet")
    if version < VERSION:
        raise LedgerError(
            f"the ledger {path} has layout {version}, older than this version of discreet reads ({VERSION}); "
            "use the version that wrote it"
        )


def _mark(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])
