"""The audit log: everything that was done, each row sealed with all rows before it."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from discreet.errors import LedgerError
from discreet.privacy.ledger import chain
from discreet.server import records
from discreet.server.store import tables
from discreet.server.store.memory import END

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from discreet.server.records import Change
    from discreet.server.store import Connection
    from discreet.server.store.memory import Memory

_SUBJECT, _AT_ONCE, _PAGE = 200, 500, 5_000


def begin(db: Connection) -> None:
    """Start the log of a new database."""
    seed = uuid.uuid4().hex
    db.execute(insert(tables.head).values(id=1, seed=seed, position=0, hash=seed))


def append(
    db: Connection, kind: str, subject: str, actor: str, /, *changes: Change, **content: object
) -> str:
    """Write one row at the end of the log, in the caller's transaction; return its hash.

    `changes` are those of `records` that this row is about. The end of the log is locked until the
    transaction ends: rows are locked in the order job, purse, dataset, account, credential, and the log last.
    A log that lacks what this process saw of it is an old copy: it is refused, and so is all that follows.
    """
    if changes:
        content["changes"] = records.written(changes)
    last = db.execute(select(tables.head).with_for_update()).one()
    head = chain.Head(str(last.seed), int(last.position), str(last.hash))
    memory: Memory | None = db.get_execution_options().get("memory")
    if memory is not None and END not in db.info:  # what this transaction added follows what it found
        follow(db, memory, memory.last, head)
    position = head.position + 1
    # The nonce distinguishes rows that two copies of a database write at the same time.
    body = chain.canonical({**content, "actor": actor, "nonce": uuid.uuid4().hex})
    time = datetime.now(UTC).isoformat(timespec="seconds")
    subject = subject[:_SUBJECT]
    sealed = chain.seal(head.hash, position, kind, subject, time, body)
    row = {"position": position, "kind": kind, "subject": subject, "time": time, "body": body, "hash": sealed}
    db.execute(insert(tables.audit).values(**row))
    db.execute(update(tables.head).values(position=position, hash=sealed))
    db.info[END] = (position, sealed)
    return sealed


def follow(
    db: Connection, memory: Memory, last: tuple[int, str] | None, head: chain.Head | None = None
) -> chain.Head:
    """Refuse a log without the row `last`, which was its end when this process looked; remember its end now.

    `last` must have been taken before the transaction began, unless the end of the log, `head`, is locked.
    """
    head = end(db) if head is None else head
    if last is not None and last != (head.position, head.hash):
        asked = select(tables.audit.c.hash).where(tables.audit.c.position == last[0])
        if head.position < last[0] or db.execute(asked).scalar_one_or_none() != last[1]:
            memory.fork(
                "the database is an old copy, or was rewritten, while the server ran: its audit log lacks "
                f"row {last[0]}, {last[1]}. Charges may be missing: stop the server, restore the newest copy"
            )
    if head.position:
        memory.advance(head.position, head.hash)
    return head


def absent(db: Connection, kept: Iterable[str]) -> tuple[list[str], int]:
    """Return which of some hashes are not in the log, and the highest position of those that it has."""
    wanted, known = list(dict.fromkeys(kept)), dict[str, int]()
    for begin in range(0, len(wanted), _AT_ONCE):
        some = tables.audit.c.hash.in_(wanted[begin : begin + _AT_ONCE])
        rows = db.execute(select(tables.audit.c.hash, tables.audit.c.position).where(some))
        known |= {str(hash_): int(position) for hash_, position in rows}
    return [hash_ for hash_ in wanted if hash_ not in known], max(known.values(), default=0)


def breaks(db: Connection, after: int) -> str:
    """Return, in words, the first place after a position where the log does not hold; nothing if it does."""
    last = end(db)
    before = rows(db, after, 1) if after else []
    previous = before[0].hash if before else last.seed
    while page := rows(db, after + 1, _PAGE):
        for words in chain.breaks(page, previous, after + 1):
            return words
        after, previous = page[-1].position, page[-1].hash
    return "" if (after, previous) == (last.position, last.hash) else chain.CUT.format(after)


def _each(db: Connection) -> Iterator[chain.Row]:
    """Yield all rows, some at a time."""
    after = 0
    while page := rows(db, after + 1, _PAGE):
        yield from page
        after = page[-1].position


def has_begun(db: Connection) -> bool:
    """Tell whether there is a log."""
    return db.execute(select(tables.head.c.id)).first() is not None


def end(db: Connection) -> chain.Head:
    """Return where the log starts and ends."""
    head = db.execute(select(tables.head)).one_or_none()
    if head is None:
        raise LedgerError("the database has no audit log: make a home with `discreet serve init`")
    return chain.Head(str(head.seed), int(head.position), str(head.hash))


def rows(db: Connection, start: int = 1, count: int | None = None) -> list[chain.Row]:
    """Return rows of the log in order, from `start` on."""
    asked = select(tables.audit).where(tables.audit.c.position >= start).order_by(tables.audit.c.position)
    listed = db.execute(asked if count is None else asked.limit(count))
    return [
        chain.Row(each.position, each.kind, each.subject, each.time, each.body, each.hash) for each in listed
    ]


def latest(db: Connection, count: int) -> list[chain.Row]:
    """Return the last rows, the newest first."""
    return rows(db, max(1, end(db).position - count + 1))[::-1]


def holds(db: Connection, sealed: str) -> bool:
    """Tell whether the log has a row with this hash, which somebody kept elsewhere."""
    return (
        db.execute(select(tables.audit.c.position).where(tables.audit.c.hash == sealed)).first() is not None
    )


def faults(db: Connection) -> list[str]:
    """Return, in words, where the log does not hold; nothing if it does."""
    return list(chain.faults(rows(db), end(db)))


def export(db: Connection) -> Iterator[str]:
    """Yield the log as lines of JSON, first to last."""
    for row in _each(db):
        content = {"position": row.position, "time": row.time, "kind": row.kind, "subject": row.dataset}
        yield json.dumps({**content, "body": json.loads(row.body), "hash": row.hash})
