"""Whether a ledger file is what it was: everything `Book.read` checks, and the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.book import head_of, meaning, rows_of
from discreet.privacy.ledger.records import Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


def verdict(db: sqlite3.Connection, head: str | None) -> Verdict:
    """Return every fault found, none of them private."""
    damage = [str(line) for (line,) in db.execute("PRAGMA quick_check")]
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


def _contents(db: sqlite3.Connection, rows: list[chain.Row]) -> Iterator[str]:
    """Yield what is wrong with rows whose chain holds."""
    try:
        datasets = meaning(rows)
    except LedgerError as error:
        yield str(error)
        return
    settled = {place: digest for data in datasets.values() for place, digest in data.settled.values()}
    for place, digest in settled.items():
        try:
            result(db, place, digest)
        except LedgerError as error:
            yield str(error)
    strays = {place for (place,) in db.execute("SELECT position FROM result")} - settled.keys()
    yield from (f"there is a result for row {place}, which has none" for place in sorted(strays))
    for name, data in datasets.items():
        if data.entries and not data.filter.admits(data.charges):
            yield f"the charges of {name!r} exceed its total"
