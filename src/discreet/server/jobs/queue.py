"""The queue: workers take jobs, whoever was served longest ago first, and keep them while they are alive."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, exists, func, or_, select, update

from discreet.server import audit
from discreet.server.store import tables
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from discreet.server.config import Config
    from discreet.server.store import Store

LEASE_SECONDS = 20.0
MOST_ATTEMPTS = 4
"""How often a job that was not charged yet is begun before it is given up."""
LANES = {"ask": ("ask",), "trial": ("plan", "try")}
"""What needs data, and what does not: each has workers of its own. A trial that waited for a question would
tell when the work on that question ended."""
_FAIR_SECONDS = 86400.0  # who was served in the last day comes after who was not
_TURNS = 7_236_211  # a number for PostgreSQL's lock of those who take a job: ours by being odd


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that a worker works on, until somebody else may take it over; `attempt` distinguishes who."""

    id: str
    kind: str
    dataset: str
    version: int
    account: str
    holder: str
    question: str
    cost: str
    standing: str
    submitted: float
    worker: str
    attempt: int


def claim(store: Store, config: Config, worker: str, lane: str | None = None) -> Claim | None:
    """Return the next job for a worker, or None; nobody else gets it while its lease is renewed.

    Whoever was served longest ago comes first, so that nobody waits for all questions of somebody else; of an
    account, one plan or trial runs at a time.
    """
    now = time.time()
    kinds = [kind for each in LANES if lane in (None, each) for kind in LANES[each]]
    # Nothing is read from a data set that is paused or retired, nor for whoever has a question there that
    # overran; what is charged is completed.
    overrun = job.alias()
    overran = exists().where(
        overrun.c.account == job.c.account, overrun.c.dataset == job.c.dataset, overrun.c.state == "overran"
    )
    open_ = select(tables.dataset.c.name).where(tables.dataset.c.state == "open")
    running = and_(job.c.state.in_(("running", "charged")), job.c.lease >= now)
    busy = select(job.c.account).where(job.c.kind.in_(LANES["trial"]), running)
    may_begin = or_(
        job.c.draws > 0,
        and_(
            job.c.kind == "ask",
            job.c.dataset.in_(open_),
            ~overran,
            job.c.submitted > now - config.job_seconds,
        ),
        and_(job.c.kind != "ask", job.c.account.not_in(busy)),
    )
    free = and_(
        job.c.kind.in_(kinds),
        or_(job.c.state == "queued", and_(job.c.state.in_(("running", "charged")), job.c.lease < now)),
        may_begin,
    )
    seen = store.memory.last
    with store.reading() as db:
        audit.follow(db, store.memory, seen)
        if db.execute(select(job.c.id).where(free).limit(1)).first() is None:
            return None
    other = job.alias()
    served = (
        select(other.c.account, func.max(other.c.started).label("last"))
        .where(other.c.kind.in_(kinds), other.c.started > now - _FAIR_SECONDS)
        .group_by(other.c.account)
        .subquery()
    )
    with store.writing() as db:
        if store.is_postgres:  # two at once would both see an account without a running trial
            db.execute(select(func.pg_advisory_xact_lock(_TURNS)))
        asked = (
            select(job)
            .outerjoin(served, served.c.account == job.c.account)
            .where(free)
            .order_by(func.coalesce(served.c.last, 0.0), job.c.submitted)
            .limit(1)
        )
        row = db.execute(asked.with_for_update(of=job, skip_locked=True)).first()
        if row is None:
            return None
        attempt = int(row.attempts) + 1
        values = {
            "state": "charged" if row.draws else "running",
            "worker": worker,
            "attempts": attempt,
            "lease": now + LEASE_SECONDS,
            "started": now,
            "reading": None,
        }
        db.execute(update(job).where(job.c.id == row.id).values(**values))
        fields = ("id", "kind", "dataset", "version", "account", "holder", "question", "cost", "standing")
        return Claim(
            *(getattr(row, name) for name in fields), submitted=row.submitted, worker=worker, attempt=attempt
        )


def begin_reading(store: Store, claim: Claim) -> bool:
    """Say that data are read from now on, with all the time a job has; False when it was taken over."""
    now = time.time()
    with store.writing() as db:
        values = {"reading": now, "started": now, "lease": now + LEASE_SECONDS}
        return db.execute(update(job).where(*mine(claim)).values(**values)).rowcount == 1


def renew(store: Store, claim: Claim) -> bool:
    """Keep a job for another while; False when it was taken over."""
    with store.writing() as db:
        lease = time.time() + LEASE_SECONDS
        return db.execute(update(job).where(*mine(claim)).values(lease=lease)).rowcount == 1


def mine(claim: Claim) -> tuple[Any, ...]:
    """Return the condition that a job is still this worker's."""
    return (job.c.id == claim.id, job.c.worker == claim.worker, job.c.attempts == claim.attempt)
