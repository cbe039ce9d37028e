"""What may be shown of a job, and when: before its slot nothing but that it is being worked on."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, or_, select

from discreet.errors import InputError
from discreet.report.release import Release
from discreet.server import audit, budget, records
from discreet.server.datasets import registry
from discreet.server.jobs import ending
from discreet.server.jobs.grid import grid_of
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from discreet.privacy.events import Gaussian
    from discreet.server.accounts.people import Account
    from discreet.server.config import Config
    from discreet.server.store import Connection

ANSWERED = ("done", "approved")
_PAGE = 500  # releases in one list
_PUBLIC = {"done": "answered", "approved": "answered", "held": "awaiting approval", "overran": "failed"}
_COLUMNS: Any = [column for column in job.c if column.name not in {"result", "detail"}]


def visible_job(db: Connection, config: Config, account: Account, job_id: str) -> dict[str, Any]:
    """Return what the account may know of a job."""
    row = db.execute(select(*_COLUMNS).where(job.c.id == job_id)).first()
    if row is None or not _may_see(db, account, row, time.time()):
        raise no_job(job_id)
    more = more_like(db, account, row.dataset, budget.from_text(row.cost)) if row.kind == "ask" else None
    return {**shown_job(config, row), "more_like_this": more}


def more_like(db: Connection, account: Account, dataset: str, cost: Gaussian) -> int:
    """Return how many more questions of this cost an account can ask now: its share and the total allow them.

    It is a function of what anybody sees of the budget.
    """
    share = [budget.holder_of(db, dataset, account.holders)] if account.role == "analyst" else []
    states = [budget.standing(db, dataset, holder, time.time()) for holder in ("", *share)]
    return min(budget.more_like(state, cost) for state in states)


def shown_job(config: Config, row: Any) -> dict[str, Any]:
    """Return a job in public words: a function of the question until its slot has come."""
    now = time.time()
    seen = row.visible is not None and row.visible <= now
    state = _PUBLIC.get(row.state, row.state) if seen else "working"
    grid = grid_of(config)
    again = 1.0 if row.kind != "ask" else max(0.05, grid.next_look(row.submitted, now) - now)
    return {
        "id": row.id,
        "kind": row.kind,
        "dataset": row.dataset,
        "version": row.version,
        "account": row.account,
        "request_id": row.request_id,
        "question": json.loads(row.question),
        "state": state,
        "submitted": row.submitted,
        "answered": row.visible if seen else None,
        "message": row.message if seen else "",
        "reason": row.reason if seen else "",
        "look_again_in": None if seen and state != "awaiting approval" else again,
    }


def answer(db: Connection, account: Account, job_id: str) -> str:
    """Return the answer to a job that the account may see, as JSON."""
    row = db.execute(select(*_COLUMNS).where(job.c.id == job_id)).first()
    now = time.time()
    if row is None or not _may_see(db, account, row, now):
        raise no_job(job_id)
    reviewed = ANSWERED if account.role != "custodian" else (*ANSWERED, "held", "rejected")
    if row.visible is None or row.visible > now or row.state not in reviewed:
        raise registry.UnknownError("there is no answer to see yet")
    return str(db.execute(select(job.c.result).where(job.c.id == job_id)).scalar_one())


def release(db: Connection, account: Account, job_id: str) -> Release:
    """Return the release that answers a job, with the hash that seals it in the audit log."""
    made = Release.from_json(answer(db, account, job_id))
    sealed = db.execute(select(job.c.settled).where(job.c.id == job_id)).scalar_one()
    return made if made.budget is None else replace(made, budget=replace(made.budget, head=str(sealed)))


def mine(db: Connection, config: Config, account: Account, count: int = 100) -> list[dict[str, Any]]:
    """Return an account's newest jobs."""
    asked = select(*_COLUMNS).where(job.c.account == account.name).order_by(job.c.submitted.desc())
    return [shown_job(config, row) for row in db.execute(asked.limit(count))]


def releases(
    db: Connection, config: Config, account: Account, dataset: str, before: float | None = None
) -> tuple[list[dict[str, Any]], float | None]:
    """Return the releases of a data set that the account may see, newest question first.

    Beside them, where there are more: the time that still older ones were asked before.
    """
    entry = registry.seen_by(db, account, dataset)
    seen = (
        job.c.dataset == dataset,
        job.c.kind == "ask",
        job.c.state.in_(ANSWERED),
        job.c.visible <= time.time(),
    )
    asked = select(*_COLUMNS).where(*seen).order_by(job.c.submitted.desc())
    if account.role == "analyst" and entry.about.releases == "own":
        asked = asked.where(job.c.account == account.name)
    if before is not None:
        asked = asked.where(job.c.submitted < before)
    rows = db.execute(asked.limit(_PAGE + 1)).all()
    older = rows[_PAGE - 1].submitted if len(rows) > _PAGE else None
    return [shown_job(config, row) for row in rows[:_PAGE]], older


def everything(db: Connection, dataset: str) -> list[Any]:
    """Return all questions to a data set with their true states: for custodians alone."""
    columns: Any = [column for column in job.c if column.name != "result"]
    asked = select(*columns).where(job.c.dataset == dataset, job.c.kind == "ask")
    return list(db.execute(asked.order_by(job.c.submitted.desc()).limit(1000)))


def waiting(db: Connection) -> list[Any]:
    """Return what custodians have to look at: results to approve, failures, and questions that overran."""
    wanted = or_(job.c.state.in_(("held", "overran")), and_(job.c.state == "failed", job.c.draws > 0))
    columns: Any = [column for column in job.c if column.name != "result"]
    return list(db.execute(select(*columns).where(wanted).order_by(job.c.submitted)))


def review(db: Connection, actor: str, job_id: str, action: str, reason: str = "") -> None:
    """Do what a custodian decides about a question that waits for one.

    "approve" lets a held result go and "reject" keeps it back: its charge stands either way. "complete" has
    one drawn that is paid for, "allow" lets whoever overran ask again.
    """
    match action:
        case "approve" | "reject":
            _decide(db, actor, job_id, approve=action == "approve", reason=reason.strip()[:1000])
        case "complete":
            ending.retry(db, actor, job_id)
        case "allow":
            ending.allow(db, actor, job_id)
        case _:
            raise InputError("say what to do: approve, reject, complete or allow")


def _decide(db: Connection, actor: str, job_id: str, *, approve: bool, reason: str) -> None:
    row = db.execute(select(job).where(job.c.id == job_id).with_for_update()).first()
    if row is None or row.state != "held":
        raise InputError("there is no result to approve under this name")
    if not approve and not reason:
        raise InputError("say why: whoever asked will read it")
    state = "approved" if approve else "rejected"
    values = {"state": state, "reviewer": actor, "reason": reason}
    audit.append(db, state, job_id, actor, records.change(db, "job", job_id, **values))


def no_job(job_id: str) -> registry.UnknownError:
    """Return the error that there is no such question, or none for whoever asks."""
    return registry.UnknownError(f"there is no question {str(job_id)[:100]!r} open to you")


def _may_see(db: Connection, account: Account, row: Any, now: float) -> bool:
    if row.account == account.name or account.role == "custodian":
        return True
    if row.kind != "ask":
        return False
    if account.role == "auditor":
        return row.state in ANSWERED and row.visible is not None and row.visible <= now
    # Whoever asks what somebody else has asked gets that job, and watches it to its end; its id is shown to
    # nobody else before there is an answer, and cannot be guessed.
    shared = registry.find(db, row.dataset).about.releases == "shared"
    return shared and row.dataset in registry.open_to(db, account)


def about_budget(db: Connection, account: Account, dataset: str) -> dict[str, Any]:
    """Return what is left for an account, and of the whole, in plain units."""
    now = time.time()
    total = budget.in_words(budget.standing(db, dataset, "", now), dataset)
    whole = {"epsilon": total.epsilon, "delta": total.delta, "spent": total.spent, "left": total.left}
    if account.role != "analyst":
        return {"total": whole, "share": None}
    holder = budget.holder_of(db, dataset, account.holders)
    share = budget.in_words(budget.standing(db, dataset, holder, now), holder)
    mine_ = {"epsilon": share.epsilon, "delta": share.delta, "spent": share.spent, "left": share.left}
    return {"total": whole, "share": {"holder": holder, **mine_}}
