"""The hash chain: every row seals its own content and all rows before it.

What it shows: any row edited, removed, inserted or moved, and rows cut from the end, unless whoever did it
also rewrote every later hash and the head record. A chain has no key, so someone who can write the file can
do just that, or put back an old copy. Against them a hash kept elsewhere helps, for instance the one that a
charge returns for its release to carry: a chain without it is not the chain that made the release.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence


COLUMNS = "position, kind, dataset, time, body, hash"
CUT = "rows after row {} are missing, or the head record was changed"


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands in the file."""

    position: int
    kind: str
    dataset: str
    time: str
    body: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """Where the chain starts and where it should end."""

    seed: str
    position: int
    hash: str


def canonical(content: Any, name: str = "request") -> str:
    """Return the one JSON text of `content`: sorted keys, no spaces, ASCII, no NaN."""
    try:
        return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"{name} must hold plain JSON values: text, finite numbers, lists") from None


def sha256(text: str) -> str:
    """Return the hash of a text, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seal(previous: str, position: int, kind: str, dataset: str, time: str, body: str) -> str:
    """Return the hash of a row that follows the row with hash `previous`."""
    return sha256(canonical([previous, position, kind, dataset, time, body]))


def faults(rows: Sequence[Row], head: Head | None) -> Iterator[str]:
    """Yield, in words, where the chain does not hold; nothing if it does."""
    if head is None:
        yield "the head record is missing"
        return
    broken = list(breaks(rows, head.seed, 1))
    yield from broken
    last = rows[-1].hash if rows else head.seed
    if not broken and (head.position, head.hash) != (len(rows), last):
        yield CUT.format(len(rows))


def breaks(rows: Sequence[Row], previous: str, start: int) -> Iterator[str]:
    """Yield where rows from `start` on, after a row with the hash `previous`, do not hold together."""
    for place, row in enumerate(rows, start):
        if row.position != place:
            yield f"row {place} is missing or moved"
            return
        if not _holds(row, previous):
            yield f"row {place} was changed, or a row before it was changed, removed or moved"
            return
        previous = row.hash


def _holds(row: Row, previous: str) -> bool:
    try:
        return row.hash == seal(previous, row.position, row.kind, row.dataset, row.time, row.body)
    except InputError:
        # A column that holds no text.
        return False


def head_of(db: sqlite3.Connection) -> Head | None:
    """Return the head record, if there is one."""
    head = db.execute("SELECT seed, position, hash FROM head").fetchone()
    return None if head is None else Head(*head)


def rows_of(db: sqlite3.Connection, start: int = -(2**63), count: int = -1) -> list[Row]:
    """Return the rows of the chain in order, or `count` of them from `start` on."""
    rows = db.execute(
        f"SELECT {COLUMNS} FROM chain WHERE position >= ? ORDER BY position LIMIT ?",  # noqa: S608 (constant)
        (start, count),
    )
    return [Row(*row) for row in rows]


def hash_before(db: sqlite3.Connection, position: int, head: Head) -> str:
    """Return the hash that the row at `position` must have sealed."""
    before = db.execute("SELECT hash FROM chain WHERE position = ?", (position - 1,)).fetchone()
    return head.seed if position == 1 else str(before and before[0])


def follows(db: sqlite3.Connection, row: Row, head: Head) -> bool:
    """Tell whether a row seals itself and the row before it."""
    return not any(breaks([row], hash_before(db, row.position, head), row.position))
