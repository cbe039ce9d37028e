"""What the rows of a ledger add up to: the running state of a data set, and its history, replayed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from discreet import check
from discreet.errors import DiscreetError, InputError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.events import NEIGHBOURS
from discreet.privacy.filter import Filter, Sums
from discreet.privacy.ledger import chain
from discreet.privacy.ledger.records import Budget, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from discreet.privacy.events import Event


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set without its history: total, exact sums over its charges, and how many have a result."""

    filter: Filter
    adjacency: str
    sums: Sums = field(default_factory=Sums)
    settled: int = 0

    @classmethod
    def create(cls, body: dict[str, Any]) -> DataSet:
        """Return a data set as the row that creates it says."""
        adjacency = check.choice(body["neighbours"], "adjacency", tuple(NEIGHBOURS))
        return cls(Filter(body["epsilon"], body["delta"], body["aside"]), adjacency)

    def charged(self, events: tuple[Event, ...]) -> DataSet:
        """Return the data set after one more charge."""
        return replace(self, sums=self.sums.plus(events))

    def released(self) -> DataSet:
        """Return the data set after one more result."""
        return replace(self, settled=self.settled + 1)

    @property
    def total(self) -> dict[str, Any]:
        """The total as plain JSON values."""
        rule = self.filter
        return {
            "epsilon": rule.epsilon,
            "delta": rule.delta,
            "aside": rule.aside,
            "neighbours": self.adjacency,
        }

    @property
    def text(self) -> str:
        """All of it as one JSON text; its hash stands in the last row of the data set."""
        return chain.canonical({**self.total, "sums": self.sums.to_dict(), "settled": self.settled})

    @classmethod
    def read(cls, fields: dict[str, Any]) -> DataSet:
        """Return the data set that `text` holds."""
        sums = Sums.from_dict(fields["sums"])
        return replace(cls.create(fields), sums=sums, settled=int(fields["settled"]))

    def budget(self, name: str) -> Budget:
        """Return the total and what is spent of it."""
        rule, sums = self.filter, self.sums
        return Budget(
            name,
            rule.epsilon,
            rule.delta,
            self.adjacency,
            rule.aside,
            rule.spent(sums),
            rule.left(sums),
            sums.count,
            sums.count - self.settled,
        )


@dataclass(slots=True)
class History:
    """One data set: its charges by release id in the order they were made, and the rows of their results."""

    state: DataSet
    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    settled: dict[str, chain.Row] = field(default_factory=dict[str, chain.Row])


def replay(rows: Iterable[chain.Row]) -> dict[str, History]:
    """Return the data sets that the rows tell of; refuse rows that no ledger writes."""
    histories: dict[str, History] = {}
    for row in rows:
        try:
            body: dict[str, Any] = json.loads(row.body)
            _apply(row, body, histories)
            if "state" in body and body["state"] != chain.sha256(histories[row.dataset].state.text):
                raise InputError("another state than its rows add up to")
        except (DiscreetError, KeyError, TypeError, ValueError, AttributeError):
            raise LedgerError(f"row {row.position} of the ledger is not one this library writes") from None
    return histories


def entry_of(row: chain.Row, body: dict[str, Any]) -> Entry:
    """Return the charge that a row makes."""
    events = tuple(map(event_kinds.from_dict, body["events"]))
    release_id, automatic = str(body["release_id"]), bool(body.get("automatic"))
    request = dict(body["request"])
    by = str(body.get("by", ""))
    return Entry(row.position, row.time, release_id, request, events, "charged", row.hash, automatic, by=by)


def digest_of(row: chain.Row) -> str | None:
    """Return the hash of the result that a row stored; None where the ledger had no room for the result."""
    body = json.loads(row.body)
    return str(body["sha256"]) if body.get("kept", True) else None


def _apply(row: chain.Row, body: dict[str, Any], histories: dict[str, History]) -> None:
    if row.kind == "create":
        if histories.setdefault(row.dataset, made := History(DataSet.create(body))) is not made:
            raise InputError("created twice")
        return
    history = histories[row.dataset]
    if row.kind == "upgrade":
        return
    release_id = str(body["release_id"])
    entry = history.entries.get(release_id)
    if row.kind == "charge" and entry is None:
        history.entries[release_id] = entry = entry_of(row, body)
        history.state = history.state.charged(entry.events)
    elif row.kind == "again" and entry is not None and entry.state == "charged":
        history.entries[release_id] = replace(entry, interrupted=entry.interrupted + 1)
    elif row.kind == "settle" and entry is not None and entry.state == "charged":
        str(body["sha256"])
        kept = digest_of(row) is not None
        history.entries[release_id] = replace(entry, state="released", settled=row.hash, kept=kept)
        history.settled[release_id] = row
        history.state = history.state.released()
    else:
        raise InputError("charged or settled twice")
