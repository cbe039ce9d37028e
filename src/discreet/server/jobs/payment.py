"""The ledger that a worker hands to `discover`: reserve, draw, store, in the server's database.

The order is that of docs/proofs/ledger.md. In place of one lock from the first step to the last, a job
carries the number of its attempt: whoever was given up for dead and comes back cannot store what they drew.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import select, update

from discreet.errors import BudgetError, LedgerError
from discreet.privacy import events as event_kinds
from discreet.privacy.account import squared_mu
from discreet.privacy.events import Approximate
from discreet.privacy.filter import has_zcdp
from discreet.privacy.ledger import Charge, Ledger, Paid, chain
from discreet.privacy.ledger.book import checked
from discreet.privacy.ledger.chain import DataSet as State
from discreet.privacy.ledger.records import MOST_DRAWS, Reserved
from discreet.server import audit, budget, records
from discreet.server.jobs.grid import grid_of
from discreet.server.jobs.queue import mine
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from discreet.privacy.events import Event
    from discreet.server.config import Config
    from discreet.server.jobs.queue import Claim
    from discreet.server.store import Connection, Store

_STORE_SECONDS = 120.0  # how long a result waits for a database that was restarted


class TakenOverError(LedgerError):
    """Another worker has this job now; what was drawn here is shown to nobody."""


class Payment(Ledger):
    """One job's way to pay.

    The promise: the result of `pay` was stored after its charge was, both on disk; of a job one result is
    ever stored; charges of a data set, and of a share, never exceed their totals.
    """

    __slots__ = ("claim", "config", "review", "store")

    def __init__(self, store: Store, config: Config, claim: Claim, *, review: bool) -> None:
        super().__init__(Path("database"))
        self.store, self.config, self.claim, self.review = store, config, claim, review

    def entry(self, name: str, release_id: str | None, request: Mapping[str, object]) -> Any:
        """Say that the cost is taken care of: it was held when the question was accepted."""
        del name, release_id, request
        return self.claim

    def may_record(self, facts: Mapping[str, object]) -> Mapping[str, Any]:
        """Return nothing: an analyst does not learn where the data lie, how many rows they have, or when."""
        del facts
        return {}

    def stored(self, name: str, release_id: str, request: Mapping[str, object]) -> str | None:
        """Return None: a job that has its result is not run."""
        del name, release_id, request

    @contextmanager
    def paying(
        self,
        name: str,
        events: Sequence[Event],
        adjacency: str,
        request: Mapping[str, object],
        release_id: str | None = None,
    ) -> Generator[Reserved]:
        """Charge what was held; let the caller draw, and store it; nothing may be shown before the end."""
        del release_id
        listed = checked(events)
        standing = State.read(json.loads(self.claim.standing))
        cost = budget.from_text(self.claim.cost)
        _refuse_more(listed, cost.mu, adjacency, standing.adjacency)
        charge, draws = self._reserve(name, listed, request)
        # What is left is shown as of when the question was accepted: the time of the draw must not show.
        yield Reserved(charge, standing, lambda result: self._store(charge, draws, result))

    def _reserve(
        self, name: str, events: tuple[Event, ...], request: Mapping[str, object]
    ) -> tuple[Charge, int]:
        claim = self.claim
        with self.store.writing() as db:
            row = self._row(db)
            draws = int(row.draws)
            if draws >= MOST_DRAWS:
                raise LedgerError(f"job {claim.id} was interrupted {MOST_DRAWS} times while it was drawn")
            if draws == 0:
                budget.charge(db, claim.dataset, claim.holder, budget.from_text(claim.cost))
            made = records.change(db, "job", claim.id, state="charged", draws=draws + 1)
            content = {
                "dataset": claim.dataset,
                "holder": claim.holder,
                "cost": json.loads(claim.cost),
                "events": [event_kinds.to_dict(event) for event in events],
                "request": json.loads(chain.canonical(dict(request))),
                "version": claim.version,
                "draw": draws + 1,
            }
            kind = "again" if draws else "charge"
            sealed = audit.append(db, kind, claim.id, claim.account, made, **content)
        return Charge(name, claim.id, 0, sealed), draws + 1

    def _store(self, charge: Charge, draws: int, result: str) -> Paid:
        until = time.monotonic() + _STORE_SECONDS
        while True:
            try:
                return Paid(result, self._settle(charge, draws, result), fresh=True)
            except StoreError:
                # Perhaps it was stored and only the answer was lost: `_settle` looks first.
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)

    def _settle(self, charge: Charge, draws: int, result: str) -> str:
        claim = self.claim
        with self.store.writing() as db:
            row = self._row(db, also=("done", "held"))
            if row.draws != draws:
                raise TakenOverError(f"job {claim.id} was taken over")
            if row.state in {"done", "held"}:
                return str(row.settled)
            now = time.time()
            visible = claim.submitted + grid_of(self.config).slot(now - claim.submitted)
            state = "held" if self.review else "done"
            budget.settle(db, claim.dataset, claim.holder)
            made = records.change(db, "job", claim.id, state=state, result=result, visible=visible)
            sealed = audit.append(db, "settle", claim.id, claim.account, made, charge=charge.hash)
            db.execute(update(job).where(job.c.id == claim.id).values(settled=sealed))
        return sealed

    def _row(self, db: Connection, also: tuple[str, ...] = ()) -> Any:
        """Return the job, locked, if it is still this worker's."""
        row = db.execute(select(job).where(*mine(self.claim)).with_for_update()).first()
        if row is None or row.state not in {"running", "charged", *also}:
            raise TakenOverError(f"job {self.claim.id} was taken over")
        return row


def _refuse_more(events: tuple[Event, ...], mu: float, adjacency: str, ours: str) -> None:
    """Refuse a release that costs more than was held, or that is about other neighbours; all of it public."""
    slips = any(isinstance(event, Approximate) and event.delta for event in events)
    if slips or has_zcdp(events) or squared_mu(events) > mu * mu:
        raise BudgetError("this release costs more than was set aside for it; no more was spent")
    if adjacency != ours:
        raise BudgetError(f"the budget is about adjacency {ours!r}, this release about {adjacency!r}")
