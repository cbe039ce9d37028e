"""Ends of jobs that draw nothing: what is said, from when on it is seen, and who waits for a custodian."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select, update

from discreet.errors import InputError
from discreet.privacy.ledger.records import MOST_DRAWS
from discreet.server import audit, records
from discreet.server.datasets import registry
from discreet.server.jobs.grid import grid_of
from discreet.server.jobs.queue import MOST_ATTEMPTS, mine
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.server.config import Config
    from discreet.server.jobs.queue import Claim
    from discreet.server.store import Connection, Store

SENTENCE = "The question could not be answered. The custodian has been told; nothing was spent."
KEPT = (
    "The answer could not be completed yet. The custodian has been told and can complete it; it is paid for."
)
OVERRAN = (
    "The question took more time or memory than a question may take here; nothing was spent. The custodian "
    "has been told: ask this data set again when they have looked at it."
)
LATE = (
    "The server was too busy or was paused, and did not answer in time; nothing was spent. Ask again later."
)
TOO_LARGE = (
    "On invented people this question takes more time or memory than a trial may take here. No data were "
    "read, and nothing was spent. Ask about fewer columns."
)
CHANGED = "What is public about the data set changed while the question waited; nothing was spent. Ask again."


@dataclass(frozen=True, slots=True)
class Ending:
    """How a job ends: its state, what its owner reads, what custodians read beside it, and the result."""

    state: str
    message: str = ""
    detail: str = ""
    result: str | None = None


def done(result: str) -> Ending:
    """Return the end of a plan or a trial."""
    return Ending("done", result=result)


def refused(message: str, detail: str = "") -> Ending:
    """Return the end of a job for a reason that is public."""
    return Ending("refused", message, detail)


def failed(detail: str) -> Ending:
    """Return the end of a question that failed while data were read: its data set is paused."""
    return Ending("failed", SENTENCE, detail)


def overran(detail: str) -> Ending:
    """Return the end of a question that took too much on data: whoever asked it waits for a custodian."""
    return Ending("overran", OVERRAN, detail)


def end(store: Store, config: Config, claim: Claim, how: Ending) -> None:
    """End a worker's job that charges nothing, unless somebody else has taken it over."""
    with store.writing() as db:
        row = db.execute(select(job).where(*mine(claim)).with_for_update()).first()
        if row is not None and row.state in records.OPEN:
            close(db, config, row, how)


def close(db: Connection, config: Config, row: Any, how: Ending) -> None:
    """End a locked job in the caller's transaction; what it says is seen from the next slot on.

    A question that failed while data were read pauses its data set. Nothing else does. One that was charged
    has failed, however it ended: a custodian can complete it.
    """
    now = time.time()
    how = failed(how.detail) if how.state == "overran" and row.draws else how
    visible = row.submitted + grid_of(config).slot(now - row.submitted) if row.kind == "ask" else now
    message = KEPT if how.state == "failed" and row.draws else how.message
    values = {"state": how.state, "message": message, "result": how.result, "visible": visible}
    made = records.change(db, "job", row.id, **values, detail=how.detail[:20_000])
    if how.state == "failed" and config.pause_on_failure:
        registry.pause_after(db, row.dataset, row.id, visible)
    audit.append(db, how.state, row.id, "server", made, dataset=row.dataset, draws=row.draws)


def release_worker(store: Store, config: Config, worker: str, *, late: bool = False) -> None:
    """Take jobs back from a worker that is gone; give up those that took too long or were begun too often."""
    held = (job.c.worker == worker, job.c.state.in_(("running", "charged")))

    def take_back(db: Connection, row: Any) -> None:
        often = row.draws >= MOST_DRAWS if row.draws else row.attempts >= MOST_ATTEMPTS
        if often or (late and not row.draws):
            close(db, config, row, _given_up(row, late=late))
        else:
            state = "charged" if row.draws else "queued"
            db.execute(update(job).where(job.c.id == row.id).values(state=state, lease=0.0, worker=""))

    _each(store, held, take_back)


def sweep(store: Store, config: Config) -> None:
    """End questions that nobody began to answer in time, or that end their workers."""
    now = time.time()
    lost = and_(job.c.state == "running", job.c.lease < now)
    late = and_(or_(job.c.state == "queued", lost), job.c.submitted < now - config.job_seconds)
    deadly = and_(lost, job.c.attempts >= MOST_ATTEMPTS)

    def end_it(db: Connection, row: Any) -> None:
        close(db, config, row, _given_up(row) if row.attempts >= MOST_ATTEMPTS else refused(LATE))

    _each(store, (job.c.draws == 0, or_(late, deadly)), end_it)


def _each(store: Store, wanted: tuple[Any, ...], act: Callable[[Connection, Any], None]) -> None:
    """Do something with every job there is of a kind, each in a transaction of its own."""
    with store.reading() as db:
        ids = db.execute(select(job.c.id).where(*wanted)).scalars().all()
    for job_id in ids:
        with store.writing() as db:
            row = db.execute(select(job).where(job.c.id == job_id, *wanted).with_for_update()).first()
            if row is not None:
                act(db, row)


def _given_up(row: Any, *, late: bool = False) -> Ending:
    """Return the end of a job that was killed: on invented people a refusal, on data for a custodian."""
    why = "it took too long" if late else "its worker was lost too often"
    if row.draws:
        return failed(why)
    if row.reading is None:
        return refused(TOO_LARGE, why)
    return overran(why) if late else failed(why)


def retry(db: Connection, actor: str, job_id: str) -> None:
    """Let a failed question that is paid for be drawn once more: by its custodian, for nothing."""
    row = db.execute(select(job).where(job.c.id == job_id).with_for_update()).first()
    if row is None or row.state != "failed" or not row.draws:
        raise InputError("only a failed question that was charged can be completed")
    # One more draw, and no more than one.
    values = {"state": "charged", "visible": None, "message": "", "draws": min(row.draws, MOST_DRAWS - 1)}
    audit.append(
        db, "retry", job_id, actor, records.change(db, "job", job_id, **values, lease=0.0, worker="")
    )


def allow(db: Connection, actor: str, job_id: str) -> None:
    """Let whoever asked a question that overran ask the data set again."""
    row = db.execute(select(job).where(job.c.id == job_id).with_for_update()).first()
    if row is None or row.state != "overran":
        raise InputError("there is no question under this name that took too much")
    audit.append(db, "allow", job_id, actor, records.change(db, "job", job_id, state="failed"))
