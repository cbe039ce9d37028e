"""Is everything what it was? Log, charges, totals and results, checked against one another."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from discreet.errors import DiscreetError
from discreet.privacy import events as event_kinds
from discreet.privacy.ledger import chain
from discreet.privacy.ledger.chain import DataSet as State
from discreet.server import audit, records
from discreet.server.store.tables import job, purse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from discreet.server.store import Connection, Store


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found: rows of the log, its head, how many charges and results, and every fault in words."""

    rows: int
    head: str
    charges: int
    results: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        if not self.faults:
            counted = f"{self.rows} rows, {self.charges} charges, {self.results} results"
            return f"The server's records are whole: {counted}, head {self.head}"
        return "\n".join(
            ["The server's records were changed or damaged:", *(f"  - {f}" for f in self.faults)]
        )


def verify(store: Store, heads: Sequence[str] = ()) -> Verdict:
    """Check everything; `heads` are hashes kept elsewhere that the log must still hold.

    Detected: any row of the log edited, removed, inserted, moved or cut off; a total or a share that is not
    what the charges add up to; whatever else the log vouches for (`records`) that is not what it says: roles,
    teams and states of accounts, passwords, sessions and tokens, data sets with their sources, states and
    metadata, questions with their states, times, messages and results; an old copy, if a later hash was kept.
    Not detected: a log rewritten from some row on with all hashes after it, by somebody who can write the
    database, before any later hash was kept elsewhere; and what decides nothing, such as counts of failed
    logins, or which worker had a job.
    """
    with store.reading() as db:
        return verified(db, heads)


def verified(db: Connection, heads: Sequence[str] = ()) -> Verdict:
    """Check everything as one transaction sees it."""
    rows, end = audit.rows(db), audit.end(db)
    faults = list(chain.faults(rows, end))
    known = {row.hash for row in rows}
    faults += [
        f"the hash {head} is not in the log: it was rewritten or cut since, or is an old copy"
        for head in heads
        if head not in known
    ]
    contents: list[tuple[chain.Row, dict[str, Any]]] = []
    for row in rows:
        try:
            contents.append((row, dict(json.loads(row.body))))
        except (ValueError, TypeError):
            faults.append(f"row {row.position} of the log cannot be read")
    kinds = Counter(row.kind for row in rows)
    try:
        logged = records.added_up(body for _, body in contents)
        faults += [*_purses(db, contents), *records.differences(logged, records.stored(db))]
    except (AttributeError, KeyError, TypeError, ValueError, DiscreetError):
        faults.append("the log holds rows that this server does not write")
    faults += _seals(db, rows)
    return Verdict(len(rows), end.hash, kinds["charge"], kinds["settle"], tuple(faults))


def _seals(db: Connection, rows: Sequence[chain.Row]) -> Iterator[str]:
    """Yield results that do not name the row of the log that seals them: releases carry its hash."""
    sealed = {row.dataset: row.hash for row in rows if row.kind == "settle"}
    for row in db.execute(select(job.c.id, job.c.settled)):
        if row.settled != sealed.get(row.id, ""):
            yield f"job {row.id} does not name the row of the log that seals its result"


def _purses(db: Connection, contents: list[tuple[chain.Row, dict[str, Any]]]) -> Iterator[str]:
    """Yield totals and shares that are not what the log adds up to."""
    states: dict[tuple[str, str], State] = {}
    owner: dict[str, tuple[str, str]] = {}
    for row, body in contents:
        _replay(row, body, states, owner)
    held = {(row.dataset, row.holder): row.state for row in db.execute(select(purse))}
    if held != {key: state.text for key, state in states.items()}:
        yield "totals and shares are not what the log adds up to"
    for (dataset, holder), state in states.items():
        if state.sums.count and not state.filter.admits(state.sums):
            yield f"the charges of {holder or dataset!r} exceed its total"


def _replay(
    row: chain.Row,
    body: dict[str, Any],
    states: dict[tuple[str, str], State],
    owner: dict[str, tuple[str, str]],
) -> None:
    """Add one row of the log to the totals and shares it is about."""
    if row.kind in {"register", "share"}:
        adjacency = _neighbours(body, states, row.dataset)
        total = {"epsilon": body["epsilon"], "delta": body["delta"], "aside": 0.0}
        states[row.dataset, body.get("holder", "")] = State.create({**total, "neighbours": adjacency})
    elif row.kind == "charge":
        owner[row.dataset] = (body["dataset"], body["holder"])
        cost = event_kinds.from_dict(body["cost"])
        for key in {(body["dataset"], ""), owner[row.dataset]}:
            states[key] = states[key].charged((cost,))
    elif row.kind == "settle":
        for key in {(owner[row.dataset][0], ""), owner[row.dataset]}:
            states[key] = states[key].released()


def _neighbours(body: dict[str, Any], states: dict[tuple[str, str], State], dataset: str) -> str:
    return body["metadata"]["neighbours"] if "metadata" in body else states[dataset, ""].adjacency
