"""Whether a ledger file is what it was: at a glance before every use, and all of it on demand."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.records import Verdict
from discreet.privacy.ledger.replay import digest_of, replay

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence

WHOLE = 32
"""A ledger of so many rows is checked whole before every use; of a longer one, as many rows at random."""


def glance(db: sqlite3.Connection, head: chain.Head | None) -> Iterator[str]:
    """Yield faults at the end of the chain and in a few rows; the time does not grow with the chain."""
    yield from file.foreign(db)
    count = db.execute("SELECT max(position) FROM chain").fetchone()[0] or 0
    if head is None or count <= WHOLE:
        rows = rows_of(db)
        yield from chain.faults(rows, head)
        yield from _states(db, rows)
        return
    last = rows_of(db, count, 1)
    if (head.position, head.hash) != (count, last[0].hash):
        yield chain.CUT.format(count)
    yield from chain.breaks(last, hash_before(db, count, head), count)
    start = 1 + uuid.uuid4().int % (count - WHOLE)
    yield from chain.breaks(rows_of(db, start, WHOLE), hash_before(db, start, head), start)


def verdict(db: sqlite3.Connection, head: str | None) -> Verdict:
    """Return every fault found, none of them private."""
    damage = [str(line) for (line,) in db.execute("PRAGMA integrity_check")]
    found = [f"SQLite reports damage: {line}" for line in damage if line != "ok"]
    rows, end = rows_of(db), head_of(db)
    found.extend((*file.foreign(db), *chain.faults(rows, end)))
    if not found:
        found.extend(_contents(db, rows))
    if head is not None and head not in {row.hash for row in rows}:
        found.append(
            f"the hash {head} is not in it: the ledger was rewritten or cut since, or is another one"
        )
    return Verdict(len(rows), end.hash if end else "", tuple(found))


def result(db: sqlite3.Connection, position: int, digest: str) -> str:
    """Return a stored result, checked against the hash that the chain holds of it."""
    found = db.execute("SELECT text FROM result WHERE position = ?", (position,)).fetchone()
    if found is None or not isinstance(found[0], str) or chain.sha256(found[0]) != digest:
        raise LedgerError(f"the result stored at row {position} of the ledger was changed or removed")
    return found[0]


def follows(db: sqlite3.Connection, row: chain.Row, head: chain.Head) -> bool:
    """Tell whether a row seals itself and the row before it."""
    return not any(chain.breaks([row], hash_before(db, row.position, head), row.position))


def hash_before(db: sqlite3.Connection, position: int, head: chain.Head) -> str:
    """Return the hash that the row at `position` must have sealed."""
    found = db.execute("SELECT hash FROM chain WHERE position = ?", (position - 1,)).fetchone()
    return head.seed if position == 1 else str(found and found[0])


def rows_of(db: sqlite3.Connection, start: int = -(2**63), count: int = -1) -> list[chain.Row]:
    """Return the rows of the chain in order, or `count` of them from `start` on."""
    found = db.execute(
        "SELECT position, kind, dataset, time, body, hash FROM chain WHERE position >= ? "
        "ORDER BY position LIMIT ?",
        (start, count),
    )
    return [chain.Row(*row) for row in found]


def head_of(db: sqlite3.Connection) -> chain.Head | None:
    """Return the head record, if there is one."""
    found = db.execute("SELECT seed, position, hash FROM head").fetchone()
    return None if found is None else chain.Head(*found)


def _contents(db: sqlite3.Connection, rows: Sequence[chain.Row]) -> Iterator[str]:
    """Yield what is wrong with rows whose chain holds."""
    wrong = list(_states(db, rows))
    yield from wrong
    if wrong:
        return
    histories = replay(rows)
    settled = {row.position: digest_of(row) for each in histories.values() for row in each.settled.values()}
    kept = {place: digest for place, digest in settled.items() if digest is not None}
    for place, digest in kept.items():
        try:
            result(db, place, digest)
        except LedgerError as error:
            yield str(error)
    strays = {place for (place,) in db.execute("SELECT position FROM result")} - kept.keys()
    yield from (f"there is a result for row {place}, which has none" for place in sorted(strays))
    for name, history in histories.items():
        if history.entries and not history.state.filter.admits(history.state.sums):
            yield f"the charges of {name!r} exceed its total"


def _states(db: sqlite3.Connection, rows: Sequence[chain.Row]) -> Iterator[str]:
    """Yield where the running state is not what the rows add up to."""
    try:
        histories = replay(rows)
    except LedgerError as error:
        yield str(error)
        return
    if file.version(db) == 1:
        return
    states = {name: history.state.text for name, history in histories.items()}
    if dict(db.execute("SELECT dataset, text FROM state")) != states:
        yield "the running state is not what the rows add up to"
    places = {
        (name, entry.release_id, entry.position, settled and settled.position, entry.interrupted)
        for name, history in histories.items()
        for entry in history.entries.values()
        for settled in (history.settled.get(entry.release_id),)
    }
    if set(db.execute("SELECT dataset, release_id, charge, settle, interrupted FROM entry")) != places:
        yield "the index of release ids is not that of the rows"
