"""Accepting a question: checked, its cost held, the same request the same job; all in one transaction."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select
from sqlalchemy.exc import IntegrityError

from discreet import check
from discreet.errors import DiscreetError, InputError
from discreet.privacy.ledger import chain
from discreet.server import audit, budget, records
from discreet.server.accounts import people
from discreet.server.datasets import question as questions
from discreet.server.datasets import registry
from discreet.server.jobs.ending import CHANGED, OVERRAN
from discreet.server.jobs.queue import LANES
from discreet.server.store.memory import StoreError
from discreet.server.store.tables import job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from discreet.server.accounts.people import Account
    from discreet.server.config import Config
    from discreet.server.store import Connection, Store


class QueueError(DiscreetError):
    """Too much is asked at once."""


def submit(
    store: Store,
    config: Config,
    account: Account,
    dataset: str,
    body: Mapping[str, object],
    *,
    kind: str = "ask",
    request_id: str | None = None,
    again: bool = False,
    version: int | None = None,
) -> str:
    """Accept a question and hold its cost; return the id of its job.

    The same request id with the same question is the same job, however often it is sent, and whatever has
    become public since: it is read under the metadata that it was asked under. A question that was answered
    before, or is being answered, for somebody who lets it be seen, is that job, unless `again`: nobody pays
    twice. With `version`, other metadata are refused.
    """
    chosen = (
        uuid.uuid4().hex
        if request_id is None
        else people.check_name(request_id, "release_id (request_id in HTTP)")
    )
    with store.reading() as db:
        first = _known(db, account.name, chosen)
        then = first.version if first is not None and first.dataset == dataset else None
        entry = registry.seen_by(db, account, dataset, then)
    if version is not None and check.whole(version, "version") != entry.version:
        raise InputError(CHANGED)
    settled = questions.read(body, entry.about)
    digest = chain.sha256(f"{dataset}\n{settled.text}")
    offer = _Offer(account, entry, settled, digest, kind, chosen, again=again)
    try:
        with store.writing() as db:
            return _accept(db, config, offer)
    except StoreError as error:
        if not isinstance(error.__cause__, IntegrityError):
            raise
        with store.writing() as db:  # the same request came in at the same time, and was first
            return _accept(db, config, offer)


@dataclass(frozen=True, slots=True)
class _Offer:
    """A question that makes sense, and how it is put."""

    account: Account
    asked_of: registry.DataSet
    settled: questions.Question
    digest: str
    kind: str
    request_id: str
    again: bool = field(kw_only=True)


def _accept(db: Connection, config: Config, offer: _Offer) -> str:
    """Return the job of an offer: the one it has already, an earlier answer, or a new one, its cost held."""
    account, dataset, kind = people.find(db, offer.account.name), offer.asked_of.name, offer.kind
    holder, standing, paid = "", "", kind == "ask"
    if paid and account.role == "analyst":
        holder = budget.holder_of(db, dataset, account.holders)
        budget.lock(db, dataset, holder)  # first of all: what is looked up below stays true
    now = time.time()
    known = _known(db, account.name, offer.request_id)
    if known is not None:
        if (known.digest, known.kind) != (offer.digest, kind):
            raise InputError(f"request_id {offer.request_id!r} stands for another question; choose a new one")
        return str(known.id)
    if account.role != "analyst" and paid:
        raise InputError("only analysts ask: log in with an analyst's account")
    found = registry.find(db, dataset)
    _refuse_closed(db, account, found, offer, now)
    earlier = _asked(db, account, found, offer.digest, now) if paid and not offer.again else None
    if earlier is not None:
        return earlier
    if _waiting(db, account.name, kind) >= config.queue_per_account:
        raise QueueError("too many of your questions are waiting: ask again when some are answered")
    if not paid and _tried(db, account.name, now) >= config.trials_per_day:
        raise QueueError("that is all the plans and trials there are for a day: try again tomorrow")
    settled = offer.settled
    if paid:
        standing = budget.hold(db, dataset, holder, settled.cost, now).text
    made = records.add(
        db,
        "job",
        id=uuid.uuid4().hex,
        kind=kind,
        dataset=dataset,
        version=found.version,
        account=account.name,
        request_id=offer.request_id,
        holder=holder,
        question=settled.text,
        digest=offer.digest,
        cost=budget.to_text(settled.cost),
        standing=standing,
        state="queued",
        submitted=now,
    )
    question = {"question": dict(settled.plain)} if paid else {}
    audit.append(db, kind, made[1], account.name, made, dataset=dataset, **question)
    return made[1]


def _known(db: Connection, account: str, request_id: str) -> Any:
    return db.execute(select(job).where(job.c.account == account, job.c.request_id == request_id)).first()


def _asked(db: Connection, account: Account, entry: registry.DataSet, digest: str, now: float) -> str | None:
    """Return the same question under the same metadata, if it has an answer, or may have one yet.

    Until its slot every question may: which do must not show here.
    """
    same = (
        job.c.dataset == entry.name,
        job.c.digest == digest,
        job.c.kind == "ask",
        job.c.version == entry.version,
        or_(job.c.visible.is_(None), job.c.visible > now, job.c.state.in_(("done", "held", "approved"))),
    )
    asked = select(job.c.id).where(*same).order_by(job.c.submitted.desc()).limit(1)
    if entry.about.releases == "own":
        asked = asked.where(job.c.account == account.name)
    return db.execute(asked).scalar_one_or_none()


def _refuse_closed(
    db: Connection, account: Account, entry: registry.DataSet, offer: _Offer, now: float
) -> None:
    """Refuse what is asked under old metadata, of a data set that is not open, or before a custodian looked.

    They look at a question of the same account that took too much, from when on that is seen.
    """
    if entry.version != offer.asked_of.version:
        raise InputError(CHANGED)
    if entry.state != "open":
        raise InputError(f"{entry.name!r} is {entry.state}: nothing can be asked of it now")
    mine_ = (job.c.account == account.name, job.c.dataset == entry.name, job.c.state == "overran")
    overran = select(job.c.id).where(*mine_, job.c.visible <= now).limit(1)
    if offer.kind == "ask" and db.execute(overran).first() is not None:
        raise InputError(OVERRAN)


def _tried(db: Connection, account: str, now: float) -> int:
    """Return how many plans and trials an account has had in the last day: they stay in the database."""
    mine_ = (job.c.account == account, job.c.kind != "ask", job.c.submitted > now - 86_400.0)
    return int(db.execute(select(func.count()).where(*mine_)).scalar_one())


def _waiting(db: Connection, account: str, kind: str) -> int:
    """Return how many of an account's jobs wait where this one would: until its slot, each looks the same."""
    lane = next(kinds for kinds in LANES.values() if kind in kinds)
    open_ = or_(job.c.state.in_(records.OPEN), job.c.visible > time.time())
    mine_ = (job.c.account == account, job.c.kind.in_(lane), open_)
    return int(db.execute(select(func.count()).where(*mine_)).scalar_one())
