"""Whether a ledger file is what it was: all of it, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.book import state_faults, stored_result
from discreet.privacy.ledger.chain import digest_of, replay
from discreet.privacy.ledger.records import Verdict

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence


def verdict(db: sqlite3.Connection, head: str | None) -> Verdict:
    """Return every fault found, none of them private."""
    damage = [str(line) for (line,) in db.execute("PRAGMA integrity_check")]
    faults = [f"SQLite reports damage: {line}" for line in damage if line != "ok"]
    rows, end = chain.rows_of(db), chain.head_of(db)
    faults.extend((*file.foreign(db), *chain.faults(rows, end)))
    if not faults:
        faults.extend(_contents(db, rows))
    if head is not None and head not in {row.hash for row in rows}:
        faults.append(
            f"the hash {head} is not in it: the ledger was rewritten or cut since, or is another one"
        )
    return Verdict(len(rows), end.hash if end else "", tuple(faults))


def _contents(db: sqlite3.Connection, rows: Sequence[chain.Row]) -> Iterator[str]:
    """Yield what is wrong with rows whose chain holds."""
    try:
        histories = replay(rows)
    except LedgerError as error:
        yield str(error)
        return
    wrong = state_faults(db, histories)
    yield from wrong
    if wrong:
        return
    settled = {
        row.position: digest_of(row) for history in histories.values() for row in history.settled.values()
    }
    kept = {place: digest for place, digest in settled.items() if digest is not None}
    for place, digest in kept.items():
        try:
            stored_result(db, place, digest)
        except LedgerError as error:
            yield str(error)
    strays = {place for (place,) in db.execute("SELECT position FROM result")} - kept.keys()
    yield from (f"there is a result for row {place}, which has none" for place in sorted(strays))
    for name, history in histories.items():
        if history.entries and not history.state.filter.admits(history.state.sums):
            yield f"the charges of {name!r} exceed its total"
