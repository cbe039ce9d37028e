"""Is everything what it was? Log, charges, totals and results, checked against one another."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from discreet.errors import DiscreetError
from discreet.privacy import events as event_kinds
from discreet.privacy.ledger import chain
from discreet.privacy.ledger.dataset import DataSet as State
from discreet.server import audit
from discreet.server.store.tables import job, metadata, purse

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

    Detected: any row of the log edited, removed, inserted, moved or cut off; a total, a share, a charge, a
    result or metadata that do not agree with it; an old copy, if a later hash was kept. Not detected: a log
    rewritten from some row on with all hashes after it, by somebody who can write the database, before any
    later hash was kept elsewhere.
    """
    with store.reading() as db:
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
                contents.append((row, json.loads(row.body)))
            except ValueError:
                faults.append(f"row {row.position} of the log cannot be read")
        charges = [(row, body) for row, body in contents if row.kind == "charge"]
        settles = {row.dataset: body for row, body in contents if row.kind == "settle"}
        faults += [*_purses(db, contents), *_jobs(db, charges, settles), *_metadata(db, contents)]
    return Verdict(len(rows), end.hash, len(charges), len(settles), tuple(faults))


def _purses(db: Connection, contents: list[tuple[chain.Row, dict[str, Any]]]) -> Iterator[str]:
    """Yield totals and shares that are not what the log adds up to."""
    states: dict[tuple[str, str], State] = {}
    owner: dict[str, tuple[str, str]] = {}
    try:
        for row, body in contents:
            _replay(row, body, states, owner)
    except (KeyError, TypeError, ValueError, DiscreetError):
        yield "the log holds rows that this server does not write"
        return
    found = {(row.dataset, row.holder): row.state for row in db.execute(select(purse))}
    if found != {key: state.text for key, state in states.items()}:
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
        neighbours = _neighbours(body, states, row.dataset)
        total = {"epsilon": body["epsilon"], "delta": body["delta"], "aside": 0.0}
        states[row.dataset, body.get("holder", "")] = State.create({**total, "neighbours": neighbours})
    elif row.kind == "charge":
        owner[row.dataset] = (body["dataset"], body["holder"])
        cost = event_kinds.from_dict(body["cost"])
        for key in {(body["dataset"], ""), owner[row.dataset]}:
            states[key] = states[key].charged((cost,))
    elif row.kind == "settle":
        for key in {(owner[row.dataset][0], ""), owner[row.dataset]}:
            states[key] = states[key].released()


def _neighbours(body: dict[str, Any], states: dict[tuple[str, str], State], dataset: str) -> str:
    return body["metadata"]["neighbours"] if "metadata" in body else states[dataset, ""].neighbours


def _jobs(
    db: Connection, charges: list[tuple[chain.Row, dict[str, Any]]], settles: dict[str, dict[str, Any]]
) -> Iterator[str]:
    """Yield charges without a job, and results that are not those that were sealed."""
    rows = {row.id: row for row in db.execute(select(job.c.id, job.c.result, job.c.draws, job.c.kind))}
    charged = {row.dataset for row, _ in charges}
    yield from (f"charge {each} has lost its question" for each in sorted(charged - rows.keys()))
    for each, row in rows.items():
        if row.kind != "ask":
            continue
        if bool(row.draws) != (each in charged):
            yield f"question {each} and the log disagree on whether it was charged"
        sealed = settles.get(each)
        if sealed is not None and (row.result is None or chain.sha256(row.result) != sealed["sha256"]):
            yield f"the result of {each} was changed or removed"
        if sealed is None and row.result is not None:
            yield f"question {each} has a result that the log does not know"


def _metadata(db: Connection, contents: list[tuple[chain.Row, dict[str, Any]]]) -> Iterator[str]:
    """Yield versions of metadata that are not those that were written down."""
    sealed = {
        (row.dataset, body.get("version", 1)): chain.canonical(body["metadata"])
        for row, body in contents
        if row.kind in {"register", "metadata"} and "metadata" in body
    }
    found = {(row.dataset, row.version): row.body for row in db.execute(select(metadata))}
    if found != sealed:
        yield "the metadata are not those that the log holds"
