"""The SQLite file: opened for one operation, closed after it; whatever goes wrong is said in words.

Journal: SQLite's rollback journal, not WAL, which needs shared memory (it fails on network file systems) and
leaves charges in a second file that a copy of the first would miss. `synchronous = EXTRA` also syncs the
folder, so that a commit that was reported survives a power cut. One connection an operation: none is ever
shared by threads or carried over a fork. The file is never opened by other means: closing it again would drop
this process's locks on it (a POSIX rule).

Place: SQLite keeps what a killed process left half written in a journal named after the file. Whoever opens
the same file by another name looks for another journal, misses that one, and takes a half-written or undone
file for whole: committed charges are lost and the chain still holds. So a ledger has one name: symbolic links
are followed to the file, a second hard link is refused, and so is a single file mounted into a container,
whose journal would stay behind in the container.
"""

from __future__ import annotations

import sqlite3
import uuid
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakSet

from discreet.errors import InputError, LedgerError

if TYPE_CHECKING:
    import os
    from collections.abc import Generator

APPLICATION = 0x64736372
"""Marks a file as a ledger of this library: "dscr"."""

VERSION = 2
"""The layout below. Layout 1 has no `state`, `entry` and `room`; it is read, and upgraded when written to."""

BUSY_SECONDS = 60.0
_MOUNTS = Path("/proc/self/mountinfo")

_FIRST = (
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
)
SECOND = (
    # The running state: all of it follows from the chain.
    "CREATE TABLE state (dataset TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE entry (
        dataset TEXT NOT NULL,
        release_id TEXT NOT NULL,
        charge INTEGER NOT NULL,
        settle INTEGER,
        interrupted INTEGER NOT NULL,
        automatic TEXT,
        PRIMARY KEY (dataset, release_id)
    ) WITHOUT ROWID""",
    "CREATE INDEX latest ON chain (dataset)",
    "CREATE INDEX unsettled ON entry (dataset, automatic) WHERE settle IS NULL",
    # Pages kept free while a result is drawn, so that it can be settled on a disk that is full by then.
    "CREATE TABLE room (part INTEGER PRIMARY KEY, space BLOB NOT NULL)",
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


class _Connection(sqlite3.Connection):
    """A connection that ends its cursors when it is closed.

    SQLite lets go of the file only after the last statement. A cursor that an error stopped between two rows,
    and that the traceback keeps alive, would go on locking everybody out.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cursors = WeakSet[sqlite3.Cursor]()

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        made = super().execute(sql, parameters)
        self._cursors.add(made)
        return made

    def close(self) -> None:
        for cursor in self._cursors:
            cursor.close()
        super().close()


@dataclass(frozen=True, slots=True)
class Open:
    """A ledger file, open."""

    path: Path
    db: sqlite3.Connection

    @contextmanager
    def transaction(
        self, begin: Literal["DEFERRED", "IMMEDIATE"], *, create: bool = False, keep: bool = False
    ) -> Generator[sqlite3.Connection]:
        """Run one transaction: commit unless an exception passes, which rolls back.

        With `keep`, its lock is kept when it ends, until the file is closed: nobody comes between.
        """
        db = self.db
        db.execute(f"BEGIN {begin}")
        try:
            if keep:
                # Not before the lock is had: two processes that keep their first, shared one would be stuck.
                db.execute("PRAGMA locking_mode = EXCLUSIVE")
            check_one_name(self.path)
            if create and _is_empty(db):
                for statement in (*_FIRST, f"PRAGMA application_id = {APPLICATION}", *SECOND):
                    db.execute(statement)
                seed = uuid.uuid4().hex
                db.execute("INSERT INTO head VALUES (1, ?, 0, ?)", (seed, seed))
            _check_marks(self.path, db)
            yield db
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


@contextmanager
def opened(path: Path, *, create: bool = False) -> Generator[Open]:
    """Open the ledger, and close it."""
    path = one_name(path, create=create)
    try:
        with closing(_connect(path, create=create)) as db:
            _check_answer(path, db, "journal_mode = DELETE", "delete")
            db.execute("PRAGMA synchronous = EXTRA")
            _check_answer(path, db, "synchronous", 3)
            db.execute("PRAGMA fullfsync = ON")  # on macOS a sync stops short of the disk otherwise
            yield Open(path, db)
    except sqlite3.Error as error:
        raise LedgerError(f"cannot use the ledger {path}: {reason(error)}") from error
    except UnicodeDecodeError:  # Python cannot read what SQLite has to say of a damaged file
        raise LedgerError(f"cannot use the ledger {path}: {_REASONS[sqlite3.SQLITE_CORRUPT]}") from None


def foreign(db: sqlite3.Connection) -> list[str]:
    """Return a fault, in words, if the file holds anything but the tables above.

    A trigger, for instance, could undo every charge behind the chain's back.
    """
    statements = {sql for (sql,) in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    ours = _FIRST if version(db) == 1 else (*_FIRST, *SECOND)
    if statements == {statement for statement in ours if statement.startswith("CREATE")}:
        return []
    return ["it holds tables or triggers that this library does not write"]


def version(db: sqlite3.Connection) -> int:
    """Return the number of the file's layout."""
    return _mark(db, "user_version")


def reason(error: sqlite3.Error) -> str:
    """Return what an SQLite error means here, and what to do about it."""
    return _REASONS.get(_code(error), f"SQLite answers {error}; nothing was written")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the error tells of a damaged ledger, rather than of a file that cannot be used."""
    return _code(error) == sqlite3.SQLITE_CORRUPT


def _code(error: sqlite3.Error) -> int:
    # Text that is not text is found by Python's own module, which gives no code.
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    # As an address, so that no operation but `create` can bring a file into being.
    mode = "rwc" if create else "rw"
    address = f"{path.as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS, factory=_Connection)


def _check_answer(path: Path, db: sqlite3.Connection, pragma: str, wanted: str | int) -> None:
    """Refuse to go on where SQLite does not do as it is told; it would not say so by itself."""
    answer = db.execute(f"PRAGMA {pragma}").fetchone()
    if answer != (wanted,):
        raise LedgerError(
            f"cannot use the ledger {path}: SQLite will not keep a durable journal for it ({pragma} is "
            f"{answer and answer[0]}); close other programs that have it open, and use an ordinary disk"
        )


def _is_empty(db: sqlite3.Connection) -> bool:
    """Whether the file was made just now: by this connection, or by one that was killed at that point."""
    return (
        db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        and _mark(db, "application_id") == 0
    )


def _check_marks(path: Path, db: sqlite3.Connection) -> None:
    if _mark(db, "application_id") != APPLICATION:
        raise LedgerError(f"{path} is not a ledger; give the path of a file made by `discreet budget create`")
    layout = version(db)
    if layout > VERSION:
        raise LedgerError(f"the ledger {path} was written by a newer version of discreet; upgrade discreet")
    if layout < 1:
        raise LedgerError(
            f"the ledger {path} has layout {layout}, older than this version of discreet reads (1); "
            "use the version that wrote it"
        )


def _mark(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def one_name(path: Path, *, create: bool) -> Path:
    """Return the one name of the ledger; refuse paths that SQLite would explain badly. Nothing is opened."""
    try:
        path = path.resolve()
        folder, there = path.is_dir(), path.exists()
    except (OSError, RuntimeError):
        raise LedgerError(
            f"the ledger {path} is a link that leads nowhere, or has too long a name; give the file itself"
        ) from None
    if folder:
        raise LedgerError(f"the ledger {path} is a folder; give the path of a file in it")
    if not create and not there:
        raise LedgerError(f"there is no ledger {path}; make one with `discreet budget create`")
    if create and not path.parent.is_dir():
        raise LedgerError(f"the folder of the ledger {path} does not exist; make it first")
    check_one_name(path)
    return path


def check_one_name(path: Path) -> None:
    """Refuse a file that is reached by a second name; asked again under the lock, for links are made fast."""
    try:
        links = path.stat().st_nlink
    except OSError:
        return  # not there: said in its turn
    if links > 1:
        raise LedgerError(
            f"the ledger {path} has {links} names (hard links), and charges made through two names can be "
            "lost: remove all but one, then run `discreet budget verify`"
        )
    if _is_mounted(path):
        raise LedgerError(
            f"the ledger {path} is a file mounted by itself, so its journal would lie elsewhere and charges "
            "can be lost: mount its folder instead"
        )


def absolute(path: str | os.PathLike[str]) -> Path:
    """Return the path from the root, so that a change of folder does not change the ledger."""
    absolute_path = Path(path).absolute()
    if "\0" in str(absolute_path):  # SQLite would end the name there, and take another file
        raise InputError("the path of a ledger cannot hold a null character")
    return absolute_path


def _is_mounted(path: Path) -> bool:
    """Tell whether the file itself is a mount point; only Linux says so."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False
    # Spaces, tabs, line ends and backslashes in a mount point are written in octal.
    octal = {" ": "\\040", "\t": "\\011", "\n": "\\012", "\\": "\\134"}
    spelled = "".join(octal.get(letter, letter) for letter in str(path))
    return any(line.split(" ")[4:5] == [spelled] for line in lines)
