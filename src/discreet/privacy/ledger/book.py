"""A ledger file inside one transaction: looked up by index, checked at a glance, extended at its end."""

from __future__ import annotations

import getpass
import json
import uuid
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.chain import DataSet, digest_of, entry_of, replay, settled
from discreet.privacy.ledger.records import Charge

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from discreet.privacy.events import Event
    from discreet.privacy.ledger.chain import History
    from discreet.privacy.ledger.records import Entry

WHOLE = 32
"""A ledger of so many rows is checked whole before every use; of a longer one, as many rows at random."""


@dataclass(slots=True)
class Book:
    """The rows of a ledger that looks whole, and the running state that they add up to."""

    db: sqlite3.Connection
    head: chain.Head

    @classmethod
    def read(cls, db: sqlite3.Connection) -> Book:
        """Look at the end of the chain and at some of its rows, or all if they are few; refuse faults.

        A file of an older layout is upgraded first. The time does not grow with the chain.
        """
        if file.version(db) != file.VERSION:
            upgrade(db)
        head = chain.head_of(db)
        if head is None:
            raise broken("the head record is missing")
        faults = file.foreign(db)
        count = db.execute("SELECT max(position) FROM chain").fetchone()[0] or 0
        if count <= WHOLE:
            rows = chain.rows_of(db)
            faults += chain.faults(rows, head)
            if not faults:
                try:
                    faults = state_faults(db, replay(rows))
                except LedgerError as error:
                    faults = [str(error)]
        else:
            last = chain.rows_of(db, count, 1)
            if (head.position, head.hash) != (count, last[0].hash):
                faults.append(chain.CUT.format(count))
            start = 1 + uuid.uuid4().int % (count - WHOLE)
            for first, rows in ((count, last), (start, chain.rows_of(db, start, WHOLE))):
                faults += chain.breaks(rows, chain.hash_before(db, first, head), first)
        if faults:
            raise broken(faults[0])
        return cls(db, head)

    def names(self) -> tuple[str, ...]:
        """Return the names of all data sets, oldest first."""
        first = "(SELECT min(position) FROM chain WHERE chain.dataset = state.dataset)"
        names = self.db.execute(f"SELECT dataset FROM state ORDER BY {first}")  # noqa: S608 (constant)
        return tuple(str(name) for (name,) in names)

    def dataset(self, name: str) -> DataSet:
        """Return a data set's running state, which the last row about it must have sealed."""
        check.text(name, "the name of a data set")
        state = self.db.execute("SELECT text FROM state WHERE dataset = ?", (name,)).fetchone()
        if state is None:
            known = ", ".join(map(repr, self.names()))
            raise InputError(f"the ledger has no data set {name!r}; it has {known or 'none'}")
        last = self.db.execute(
            f"SELECT {chain.COLUMNS} FROM chain WHERE dataset = ? ORDER BY position DESC LIMIT 1",  # noqa: S608
            (name,),
        ).fetchone()
        try:
            row = chain.Row(*last)
            sealed = json.loads(row.body)["state"]
            if not chain.follows(self.db, row, self.head) or chain.sha256(state[0]) != sealed:
                raise broken(f"the running state of {name!r} is not the one its last row seals")
            return DataSet.read(json.loads(state[0]))
        except (TypeError, ValueError, KeyError, AttributeError):
            raise broken(f"the running state of {name!r} cannot be read") from None

    def entry(self, name: str, release_id: str) -> Entry | None:
        """Return a charge by its release id, or None if there is none."""
        indexed = self.db.execute(
            "SELECT charge, settle, interrupted FROM entry WHERE dataset = ? AND release_id = ?",
            (name, release_id),
        ).fetchone()
        if indexed is None:
            return None
        position, settle, interrupted = indexed
        row, body = self._row(position, "charge", name, release_id)
        entry = replace(entry_of(row, body), interrupted=interrupted)
        if settle is None:
            return entry
        last, _ = self._row(settle, "settle", name, release_id)
        return settled(entry, last)

    def find(self, name: str, release_id: str | None, request: Mapping[str, object]) -> Entry | None:
        """Return a charge by its id; without one, an interrupted one for the request, with an invented id."""
        if release_id is not None:
            return self.entry(name, release_id)
        indexed = self.db.execute(
            "SELECT release_id FROM entry INDEXED BY unsettled "  # left to itself, SQLite reads all entries
            "WHERE dataset = ? AND automatic = ? AND settle IS NULL LIMIT 1",
            (name, _fingerprint(request)),
        ).fetchone()
        return None if indexed is None else self.entry(name, str(indexed[0]))

    def result(self, name: str, release_id: str) -> str:
        """Return the stored result of a release, checked against the hash that the chain holds of it."""
        indexed = self.db.execute(
            "SELECT settle FROM entry WHERE dataset = ? AND release_id = ?", (name, release_id)
        ).fetchone()
        row, body = self._row(indexed and indexed[0], "settle", name, release_id)
        digest = digest_of(row)
        if body.get("failed"):
            raise LedgerError(
                f"the draw of {release_id!r} ended in an error, which may depend on what was drawn: it is "
                "not drawn again. Its charge counts as spent; to release again, choose a new release_id"
            )
        if digest is None:
            raise LedgerError(
                f"the disk had no room for the result of {release_id!r}, which was handed out all the same: "
                "look for it where it was printed or saved"
            )
        return stored_result(self.db, row.position, digest)

    def append(self, kind: str, name: str, content: dict[str, Any], state: DataSet) -> chain.Row:
        """Write one row at the end of the chain, and the state after it; the caller's transaction commits."""
        text = state.text
        # The nonce distinguishes rows that two copies of a ledger write at the same time.
        body = chain.canonical({**content, "nonce": uuid.uuid4().hex, "state": chain.sha256(text)})
        place = self.head.position + 1
        time = datetime.now(UTC).isoformat(timespec="seconds")
        sealed = chain.seal(self.head.hash, place, kind, name, time, body)
        row = chain.Row(place, kind, name, time, body, sealed)
        self.db.execute("INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", astuple(row))
        self.db.execute("UPDATE head SET position = ?, hash = ?", (place, row.hash))
        self.db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, text))
        self.head = replace(self.head, position=place, hash=row.hash)
        return row

    def note(self, name: str, entry: Entry, settle: int | None = None) -> None:
        """Write where the rows of a release stand."""
        automatic = _fingerprint(entry.request) if entry.automatic else None
        self.db.execute(
            "INSERT OR REPLACE INTO entry VALUES (?, ?, ?, ?, ?, ?)",
            (name, entry.release_id, entry.position, settle, entry.interrupted, automatic),
        )

    def charge(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, object],
        release_id: str | None,
    ) -> Charge:
        """Write the cost of a new release, or refuse."""
        chosen = uuid.uuid4().hex if release_id is None else release_id
        check.printable(chosen, "release_id")
        events = checked(events)
        content: dict[str, Any] = {
            "release_id": chosen,
            "request": json.loads(chain.canonical(plain(request))),
            "events": [event_kinds.to_dict(event) for event in events],
            "by": _user(),
        }
        if release_id is None:
            content["automatic"] = True
        dataset = self.dataset(name)
        if self.entry(name, chosen) is not None:
            raise InputError(f"release_id {chosen!r} was already charged; choose a new one")
        dataset.refuse_excess(name, events, adjacency)
        row = self.append("charge", name, content, dataset.charged(events))
        self.note(name, entry_of(row, content))
        return Charge(name, chosen, row.position, row.hash)

    def again(self, name: str, entry: Entry, events: tuple[Event, ...]) -> Charge:
        """Write down that an interrupted release is drawn once more, under the charge it has.

        Another version of this library may draw it at another cost. Where that is no more, the charge stands;
        where it is more, the release is charged that instead, if there is room for it.
        """
        content: dict[str, Any] = {"release_id": entry.release_id}
        dataset = self.dataset(name)
        if events != entry.events:
            history = replay(chain.rows_of(self.db))[name]
            if history.recharge(entry.release_id, events):
                dataset.refuse_dearer(name, entry.release_id, history.state)
                content["events"] = [event_kinds.to_dict(event) for event in events]
                dataset = history.state
        self.append("again", name, content, dataset)
        self.note(name, replace(entry, interrupted=entry.interrupted + 1))
        return Charge(name, entry.release_id, entry.position, entry.hash)

    def settle(self, reserved: Charge, result: str, *, kept: bool = True, failed: bool = False) -> str:
        """Write the hash of a result and, if `kept`, the result; return the hash of the chain after it.

        Where the draw `failed`, with an error, there is no result.
        """
        kept = kept and not failed
        try:
            json.loads(result.encode())
        except (AttributeError, ValueError):
            raise InputError("result must be a JSON text") from None
        dataset, release_id = self.dataset(reserved.name), reserved.release_id
        entry = self.entry(reserved.name, release_id)
        if entry is None or entry.hash != reserved.hash:
            raise InputError(f"release_id {release_id!r} was not charged to this ledger")
        if entry.state == "released":
            raise InputError(f"release_id {release_id!r} has its result, and results are final")
        content: dict[str, Any] = {"release_id": release_id, "sha256": chain.sha256(result)}
        if failed:
            content["failed"] = True
        if not kept:
            content["kept"] = False
            self.db.execute("DELETE FROM room WHERE part = 1")
        row = self.append("settle", reserved.name, content, dataset.released())
        self.note(reserved.name, entry, row.position)
        if kept:
            self.db.execute("INSERT INTO result VALUES (?, ?)", (row.position, result))
        return row.hash

    def give_up(self, name: str, release_id: str, result: str) -> str:
        """Store a result in place of one whose draw was interrupted; return what is stored.

        While a draw runs the file is locked: whoever has the lock knows that nobody draws. `result` must be
        made of public things alone.
        """
        entry = self.entry(name, release_id)
        if entry is None:
            raise InputError(f"release_id {release_id!r} was not charged to this ledger")
        if entry.state == "released":
            return self.result(name, release_id)
        self.settle(Charge(name, release_id, entry.position, entry.hash), result)
        return result

    def _row(self, place: int, kind: str, name: str, release_id: str) -> tuple[chain.Row, dict[str, Any]]:
        """Return a row of the chain and its content, if it is what the index says."""
        columns = self.db.execute(
            f"SELECT {chain.COLUMNS} FROM chain WHERE position = ?",  # noqa: S608 (constant)
            (place,),
        ).fetchone()
        try:
            row = chain.Row(*columns)
            body = json.loads(row.body)
            if (row.kind, row.dataset, body["release_id"]) == (kind, name, release_id):
                return row, body
        except (TypeError, ValueError, KeyError):
            pass
        raise broken(f"release_id {release_id!r} is not where the index says")


def checked(events: Sequence[Event]) -> tuple[Event, ...]:
    """Return the events of one release; none at all is a mistake, not a release for free."""
    listed: tuple[Any, ...] = tuple(check.entries(events, "events"))
    if not listed or not all(isinstance(event, event_kinds.Event) for event in listed):
        raise InputError("events must hold privacy events, at least one")
    return listed


def plain(request: Mapping[str, object]) -> dict[str, Any]:
    """Return a request that JSON can hold."""
    message = "request must be a mapping of public parameters that JSON can hold"
    parameters = check.attempt(lambda: dict(request), message)
    check.attempt(lambda: chain.canonical(parameters), message)
    return parameters


def state_faults(db: sqlite3.Connection, histories: Mapping[str, History]) -> list[str]:
    """Return where the running state is not what the rows, replayed, add up to."""
    if file.version(db) == 1:
        return []
    faults: list[str] = []
    states = {name: history.state.text for name, history in histories.items()}
    if dict(db.execute("SELECT dataset, text FROM state")) != states:
        faults.append("the running state is not what the rows add up to")
    places = {
        (name, entry.release_id, entry.position, last and last.position, entry.interrupted)
        for name, history in histories.items()
        for entry in history.entries.values()
        for last in (history.settled.get(entry.release_id),)
    }
    if set(db.execute("SELECT dataset, release_id, charge, settle, interrupted FROM entry")) != places:
        faults.append("the index of release ids is not that of the rows")
    return faults


def stored_result(db: sqlite3.Connection, position: int, digest: str) -> str:
    """Return a stored result, checked against the hash that the chain holds of it."""
    stored = db.execute("SELECT text FROM result WHERE position = ?", (position,)).fetchone()
    if stored is None or not isinstance(stored[0], str) or chain.sha256(stored[0]) != digest:
        raise LedgerError(f"the result stored at row {position} of the ledger was changed or removed")
    return stored[0]


def upgrade(db: sqlite3.Connection) -> None:
    """Give a file of layout 1 its running state, computed from its whole chain and sealed by new rows."""
    rows, head = chain.rows_of(db), chain.head_of(db)
    for fault in (*file.foreign(db), *chain.faults(rows, head)):
        raise broken(fault)
    if head is None:
        raise broken("the head record is missing")
    histories = replay(rows)
    for statement in file.SECOND:
        db.execute(statement)
    book = Book(db, head)
    for name, history in histories.items():
        for release_id, entry in history.entries.items():
            last = history.settled.get(release_id)
            book.note(name, entry, last and last.position)
        book.append("upgrade", name, {}, history.state)


def broken(fault: str) -> LedgerError:
    """Return the error that a ledger is not to be trusted."""
    return LedgerError(
        f"the ledger was changed or damaged ({fault}); nothing is released on its word: run "
        "`discreet budget verify`, and restore it from a copy"
    )


def _user() -> str:
    """Return who asks, as the system calls them; empty where it does not say."""
    try:
        name = getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
    return "".join(letter for letter in name if letter.isprintable())[: check.LONGEST_NAME]


def _fingerprint(request: Mapping[str, object]) -> str:
    return chain.sha256(chain.canonical(dict(request)))
