"""All that a ledger file says, read and checked inside one transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from discreet import check
from discreet.errors import DiscreetError, InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.filter import Filter
from discreet.privacy.ledger import chain, file
from discreet.privacy.ledger.records import Entry
from discreet.privacy.promise import NEIGHBOURS

if TYPE_CHECKING:
    import sqlite3

    from discreet.privacy.events import Event


@dataclass(slots=True)
class DataSet:
    """One data set: its total, and its charges by release id, in the order they were made."""

    filter: Filter
    neighbours: str
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    settled: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    @property
    def charges(self) -> list[tuple[Event, ...]]:
        """The events of every charge, whatever became of it."""
        return [entry.events for entry in self.entries.values()]


@dataclass(slots=True)
class Book:
    """The rows of a ledger whose chain holds, and what they mean."""

    db: sqlite3.Connection
    rows: list[chain.Row]
    head: chain.Head
    datasets: dict[str, DataSet]

    @classmethod
    def read(cls, db: sqlite3.Connection) -> Book:
        """Read everything but the results; refuse a chain that does not hold."""
        strange = file.foreign(db)
        rows, head = rows_of(db), head_of(db)
        for fault in (*strange, *chain.faults(rows, head)):
            raise LedgerError(
                f"the ledger was changed or damaged ({fault}); nothing is released on its word: run "
                "`discreet budget verify`, and restore it from a copy"
            )
        return cls(db, rows, cast("chain.Head", head), meaning(rows))

    def dataset(self, name: str) -> DataSet:
        """Return a data set by name."""
        if check.text(name, "the name of a data set") not in self.datasets:
            known = ", ".join(map(repr, self.datasets))
            raise InputError(f"the ledger has no data set {name!r}; it has {known or 'none'}")
        return self.datasets[name]

    def append(self, kind: str, dataset: str, content: dict[str, Any]) -> chain.Row:
        """Write one row at the end of the chain and move the head to it; the caller's transaction commits."""
        position, body = self.head.position + 1, chain.canonical(content)
        time = datetime.now(UTC).isoformat(timespec="seconds")
        sealed = chain.seal(self.head.hash, position, kind, dataset, time, body)
        row = chain.Row(position, kind, dataset, time, body, sealed)
        self.db.execute(
            "INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?)", (position, kind, dataset, time, body, sealed)
        )
        self.db.execute("UPDATE head SET position = ?, hash = ?", (position, sealed))
        self.head = replace(self.head, position=position, hash=sealed)
        self.rows.append(row)
        return row


def rows_of(db: sqlite3.Connection) -> list[chain.Row]:
    """Return the rows of the chain in order."""
    found = db.execute("SELECT position, kind, dataset, time, body, hash FROM chain ORDER BY position")
    return [chain.Row(*row) for row in found]


def head_of(db: sqlite3.Connection) -> chain.Head | None:
    """Return the head record, if there is one."""
    found = db.execute("SELECT seed, position, hash FROM head").fetchone()
    return None if found is None else chain.Head(*found)


def meaning(rows: list[chain.Row]) -> dict[str, DataSet]:
    """Return the data sets that the rows tell of; refuse rows that no ledger writes."""
    datasets: dict[str, DataSet] = {}
    for row in rows:
        try:
            _apply(row, json.loads(row.body), datasets)
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
            raise LedgerError(f"row {row.position} of the ledger is not one this library writes") from None
    return datasets


def _apply(row: chain.Row, body: dict[str, Any], datasets: dict[str, DataSet]) -> None:
    if row.kind == "create":
        total = Filter(body["epsilon"], body["delta"], body["aside"])
        neighbours = check.choice(body["neighbours"], "neighbours", tuple(NEIGHBOURS))
        if datasets.setdefault(row.dataset, made := DataSet(total, neighbours)) is not made:
            raise InputError("created twice")
        return
    dataset, release_id = datasets[row.dataset], str(body["release_id"])
    if row.kind == "charge" and release_id not in dataset.entries:
        events = tuple(map(event_kinds.from_dict, body["events"]))
        dataset.entries[release_id] = Entry(
            row.position, row.time, release_id, dict(body["request"]), events, "charged", row.hash
        )
    elif row.kind == "settle" and release_id not in dataset.settled:
        dataset.settled[release_id] = (row.position, str(body["sha256"]))
        dataset.entries[release_id] = replace(dataset.entries[release_id], state="released")
    else:
        raise InputError("charged or settled twice")
