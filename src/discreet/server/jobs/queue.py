"""The queue: questions come in with their cost held, workers take them, and end them on the time grid."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, insert, or_, select, update

from discreet.errors import DiscreetError, InputError
from discreet.privacy.ledger import chain
from discreet.privacy.ledger.payment import MOST_DRAWS
from discreet.server import audit, budget
from discreet.server.accounts.people import check_name
from discreet.server.datasets import question as questions
from discreet.server.datasets import registry
from discreet.server.jobs.grid import Grid
from discreet.server.store import tables
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.server.accounts.people import Account
    from discreet.server.config import Config
    from discreet.server.store import Connection, Store

LEASE_SECONDS = 20.0
MOST_ATTEMPTS = 4
"""How often a job that was not charged yet is begun before it is given up."""
SENTENCE = "The question could not be answered. The custodian has been told; nothing was spent."
KEPT = (
    "The answer could not be completed yet. The custodian has been told and can complete it; it is paid for."
)
LATE = (
    "The server was too busy or was paused, and did not answer in time; nothing was spent. Ask again later."
)


class QueueError(DiscreetError):
    """Too much is asked at once."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that a worker works on, until somebody else may take it over; `attempt` tells apart who."""

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


def grid_of(config: Config) -> Grid:
    """Return the times at which this server answers."""
    return Grid(config.first_answer_seconds, 2 * config.job_seconds, config.answers == "fixed")


def submit(
    store: Store,
    config: Config,
    account: Account,
    dataset: str,
    body: Mapping[str, Any],
    *,
    kind: str = "ask",
    request_id: str | None = None,
    again: bool = False,
) -> str:
    """Accept a question and hold its cost; return the id of its job.

    The same request id with the same question is the same job, however often it is sent. A question that was
    answered before, to somebody who lets it be seen, is that job, unless `again`: nobody pays twice.
    """
    chosen = uuid.uuid4().hex if request_id is None else check_name(request_id, "request_id")
    now = time.time()
    with store.reading() as db:
        found = registry.seen_by(db, account, dataset)
    settled = questions.read(body, found.about)
    text, digest = settled.text, chain.sha256(f"{dataset}\n{settled.text}")
    with store.writing() as db:
        found = registry.find(db, dataset)
        known = _known(db, account.name, chosen)
        if known is not None:
            if (known.digest, known.kind) != (digest, kind):
                raise InputError(f"request_id {chosen!r} stands for another question; choose a new one")
            return str(known.id)
        if account.role != "analyst" and kind == "ask":
            raise InputError("only analysts ask: log in with an analyst's account")
        if found.state != "open":
            raise InputError(f"{dataset!r} is {found.state}: nothing can be asked of it now")
        if kind == "ask" and not again:
            earlier = _answered(db, account, found, digest, now)
            if earlier is not None:
                return earlier
        if _waiting(db, account.name) >= config.queue_per_account:
            raise QueueError("too many of your questions are waiting: ask again when some are answered")
        standing, holder = "", ""
        if kind == "ask":
            holder = budget.holder_of(db, dataset, account.holders)
            standing = budget.hold(db, dataset, holder, settled.cost, now).text
        made = uuid.uuid4().hex
        db.execute(
            insert(job).values(
                id=made,
                kind=kind,
                dataset=dataset,
                version=found.version,
                account=account.name,
                request_id=chosen,
                holder=holder,
                question=text,
                digest=digest,
                cost=budget.to_text(settled.cost),
                standing=standing,
                state="queued",
                submitted=now,
            )
        )
        if kind == "ask":
            audit.append(db, "ask", made, account.name, dataset=dataset, question=dict(settled.plain))
        return made


def claim(store: Store, worker: str) -> Claim | None:
    """Return the next job for a worker, or None; nobody else gets it while its lease is renewed."""
    now = time.time()
    # Nothing is read from a data set that is paused or retired; what is charged is completed.
    open_ = select(tables.dataset.c.name).where(tables.dataset.c.state == "open")
    free = and_(
        or_(job.c.state == "queued", and_(job.c.state.in_(("running", "charged")), job.c.lease < now)),
        or_(job.c.kind != "ask", job.c.draws > 0, job.c.dataset.in_(open_)),
    )
    with store.reading() as db:
        if db.execute(select(job.c.id).where(free).limit(1)).first() is None:
            return None
    with store.writing() as db:
        # What needs no data comes first: it is short, and people wait for it.
        order = (job.c.kind == "ask", job.c.submitted)
        row = db.execute(
            select(job).where(free).order_by(*order).limit(1).with_for_update(skip_locked=True)
        ).first()
        if row is None:
            return None
        attempt = int(row.attempts) + 1
        values = {
            "state": "charged" if row.draws else "running",
            "worker": worker,
            "attempts": attempt,
            "lease": now + LEASE_SECONDS,
            "started": now,
        }
        db.execute(update(job).where(job.c.id == row.id).values(**values))
        fields = ("id", "kind", "dataset", "version", "account", "holder", "question", "cost", "standing")
        return Claim(
            *(getattr(row, name) for name in fields), submitted=row.submitted, worker=worker, attempt=attempt
        )


def renew(store: Store, claim: Claim) -> bool:
    """Keep a job for another while; False when it was taken over."""
    with store.writing() as db:
        lease = time.time() + LEASE_SECONDS
        return db.execute(update(job).where(*mine(claim)).values(lease=lease)).rowcount == 1


def mine(claim: Claim) -> tuple[Any, ...]:
    """Return the condition that a job is still this worker's."""
    return (job.c.id == claim.id, job.c.worker == claim.worker, job.c.attempts == claim.attempt)


def end(
    store: Store,
    config: Config,
    claim: Claim,
    state: str,
    *,
    message: str = "",
    detail: str = "",
    result: str | None = None,
) -> None:
    """End a job that charges nothing: a plan, a trial, a refusal or a failure."""
    with store.writing() as db:
        row = db.execute(select(job).where(*mine(claim)).with_for_update()).first()
        if row is None or row.state not in budget.OPEN:
            return
        close(db, config, row, state, message=message, detail=detail, result=result)


def close(
    db: Connection,
    config: Config,
    row: Any,
    state: str,
    *,
    message: str = "",
    detail: str = "",
    result: str | None = None,
) -> None:
    """End a job in the caller's transaction; what it says is seen from the next slot on."""
    now = time.time()
    visible = row.submitted + grid_of(config).slot(now - row.submitted) if row.kind == "ask" else now
    if state == "failed" and row.draws:
        message = KEPT
    values = {"state": state, "message": message, "detail": detail[:20_000], "result": result}
    db.execute(update(job).where(job.c.id == row.id).values(**values, visible=visible))
    if row.kind != "ask":
        return
    audit.append(db, state, row.id, "server", dataset=row.dataset, draws=row.draws)
    if state == "failed" and message != LATE and config.pause_on_failure:
        registry.pause_after(db, row.dataset, row.id, visible)


def release_worker(store: Store, config: Config, worker: str, *, late: bool = False) -> None:
    """Take jobs back from a worker that is gone; give up those that took too long or were begun too often."""
    with store.writing() as db:
        held = select(job).where(job.c.worker == worker, job.c.state.in_(("running", "charged")))
        for row in db.execute(held.with_for_update()).all():
            often = row.draws >= MOST_DRAWS if row.draws else row.attempts >= MOST_ATTEMPTS
            if often or (late and not row.draws):
                why = "it took longer than job_seconds" if late else "its worker was killed too often"
                close(db, config, row, "failed", message=SENTENCE, detail=why)
            else:
                state = "charged" if row.draws else "queued"
                db.execute(update(job).where(job.c.id == row.id).values(state=state, lease=0.0, worker=""))


def sweep(store: Store, config: Config) -> None:
    """End questions that nobody began to answer within the horizon of the grid, or that end their workers."""
    now = time.time()
    lost = and_(job.c.state == "running", job.c.lease < now)
    late = and_(or_(job.c.state == "queued", lost), job.c.submitted < now - grid_of(config).horizon)
    deadly = and_(lost, job.c.attempts >= MOST_ATTEMPTS)
    waiting = (job.c.draws == 0, or_(late, deadly))
    with store.reading() as db:
        if db.execute(select(job.c.id).where(*waiting).limit(1)).first() is None:
            return
    with store.writing() as db:
        for row in db.execute(select(job).where(*waiting).with_for_update()).all():
            told = SENTENCE if row.attempts >= MOST_ATTEMPTS else LATE
            close(db, config, row, "failed", message=told, detail="its worker was lost too often")


def retry(db: Connection, actor: str, job_id: str) -> None:
    """Let a failed question that is paid for be drawn once more: by its custodian, for nothing."""
    row = db.execute(select(job).where(job.c.id == job_id).with_for_update()).first()
    if row is None or row.state != "failed" or not row.draws:
        raise InputError("only a failed question that was charged can be completed")
    values = {"state": "charged", "visible": None, "lease": 0.0, "worker": ""}
    # One more draw, and no more than one.
    db.execute(update(job).where(job.c.id == job_id).values(**values, draws=min(row.draws, MOST_DRAWS - 1)))
    audit.append(db, "retry", job_id, actor)


def _known(db: Connection, account: str, request_id: str) -> Any:
    return db.execute(select(job).where(job.c.account == account, job.c.request_id == request_id)).first()


def _answered(
    db: Connection, account: Account, found: registry.DataSet, digest: str, now: float
) -> str | None:
    """Return an answer to the same question under the same metadata that the account may see."""
    same = (
        job.c.dataset == found.name,
        job.c.digest == digest,
        job.c.kind == "ask",
        job.c.version == found.version,
        job.c.state.in_(("done", "approved")),
        job.c.visible <= now,
    )
    asked = select(job.c.id).where(*same).order_by(job.c.submitted.desc()).limit(1)
    if found.about.releases == "own":
        asked = asked.where(job.c.account == account.name)
    return db.execute(asked).scalar_one_or_none()


def _waiting(db: Connection, account: str) -> int:
    now = time.time()
    open_ = or_(job.c.state.in_(budget.OPEN), job.c.visible > now)
    return int(db.execute(select(func.count()).where(job.c.account == account, open_)).scalar_one())
