"""What may still be asked: the ledger's filter over one data set, and over each share of it, in the database.

A question is *held* when it is accepted, *charged* before it is drawn, and its hold ends when its answer may
be seen. Hold and charge of a question are the same Gaussian event, known before anything is read; so what is
left, as anybody sees it, changes only when questions are accepted and when answers become visible: it tells
nothing of when data were read. Proofs: docs/proofs/ledger.md, docs/proofs/time-grid.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, insert, or_, select, update

from discreet.errors import BudgetError, InputError
from discreet.privacy import events as event_kinds
from discreet.privacy.events import Gaussian
from discreet.privacy.ledger.chain import DataSet as State
from discreet.server import records
from discreet.server.store.tables import job, purse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.privacy.events import Event
    from discreet.privacy.ledger import Budget
    from discreet.server.store import Connection

_MOST_MORE = 10_000


def open_purse(
    db: Connection, dataset: str, holder: str, *, epsilon: float, delta: float, neighbours: str
) -> None:
    """Give a data set its total, or somebody a share of it; both are final."""
    total = {"epsilon": epsilon, "delta": delta, "aside": 0.0, "neighbours": neighbours}
    made = State.create(total)
    if made.filter.delta <= 0:
        raise InputError("delta must be above 0: all methods here add Gaussian noise; far below 1/people")
    if _find(db, dataset, holder) is not None:
        raise InputError(f"{holder or dataset!r} has a budget already, and budgets are final")
    db.execute(insert(purse).values(dataset=dataset, holder=holder, state=made.text))


def purses(db: Connection, dataset: str) -> dict[str, State]:
    """Return the total and all shares of a data set as they are charged, by holder."""
    rows = db.execute(select(purse).where(purse.c.dataset == dataset).order_by(purse.c.holder))
    return {row.holder: State.read(json.loads(row.state)) for row in rows}


def holder_of(db: Connection, dataset: str, holders: Sequence[str]) -> str:
    """Return the share that an account draws on: the most personal one there is."""
    for holder in holders:
        if _find(db, dataset, holder) is not None:
            return holder
    raise InputError("you have no share of this data set's budget: ask its custodian")


def standing(db: Connection, dataset: str, holder: str, now: float) -> State:
    """Return a purse with everything that is held counted as charged: what anybody may see."""
    text = _find(db, dataset, holder)
    if text is None:
        raise InputError("there is no such budget")
    return _with_holds(db, dataset, holder, State.read(json.loads(text)), now)


def lock(db: Connection, dataset: str, holder: str) -> None:
    """Let nobody else hold or charge until this transaction ends; the total before the share, always."""
    for each in ("", holder):
        _locked(db, dataset, each)


def hold(db: Connection, dataset: str, holder: str, cost: Gaussian, now: float) -> State:
    """Refuse what the total or the share cannot pay beside all that is held; return the share after it.

    The caller writes the question down in the same transaction; both rows are locked until it ends.
    """
    states = {each: _locked(db, dataset, each) for each in ("", holder)}
    for each, state in states.items():
        states[each] = _with_holds(db, dataset, each, state, now)
        _refuse_excess(states[each], each or dataset, cost)
    return states[holder].charged((cost,))


def charge(db: Connection, dataset: str, holder: str, cost: Gaussian) -> None:
    """Write the cost of a question to the total and to the share; refuse what either does not admit.

    What is held elsewhere does not count here: the rule is about charges, whatever was accepted.
    """
    for each in ("", holder):
        state = _locked(db, dataset, each)
        _refuse_excess(state, each or dataset, cost)
        _write(db, dataset, each, state.charged((cost,)))


def settle(db: Connection, dataset: str, holder: str) -> None:
    """Count one more result."""
    for each in ("", holder):
        _write(db, dataset, each, _locked(db, dataset, each).released())


@lru_cache(maxsize=1024)
def in_words(state: State, name: str) -> Budget:
    """Return a total and what is spent of it; asked for often, and the same for the same state."""
    return state.budget(name)


def more_like(state: State, cost: Gaussian) -> int:
    """Return how many more questions of this cost fit."""
    low, high = 0, 1
    while high <= _MOST_MORE and _fits(state, cost, high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _fits(state, cost, middle) else (low, middle)
    return low


def to_text(cost: Event) -> str:
    """Return a cost as it is stored."""
    return json.dumps(event_kinds.to_dict(cost))


def from_text(text: str) -> Gaussian:
    """Return a stored cost."""
    event = event_kinds.from_dict(json.loads(text))
    if not isinstance(event, Gaussian):
        raise BudgetError("a stored cost is not what this server writes")
    return event


def _refuse_excess(state: State, name: str, cost: Gaussian) -> None:
    words = _excess(state, name, cost)
    if words:
        raise BudgetError(words)


@lru_cache(maxsize=1024)
def _excess(state: State, name: str, cost: Gaussian) -> str:
    """Return the ledger's refusal of a cost, or nothing if it is admitted: a function of the state alone."""
    try:
        state.refuse_excess(name, (cost,), state.adjacency)
    except BudgetError as refusal:
        return str(refusal)
    return ""


def _fits(state: State, cost: Gaussian, count: int) -> bool:
    more = state.sums.plus((replace(cost, count=count),))
    return state.filter.admits(more)


def _with_holds(db: Connection, dataset: str, holder: str, state: State, now: float) -> State:
    """Return the state with every hold counted: of questions not charged whose answer is not visible yet."""
    waiting = or_(
        job.c.state.in_(("queued", "running")),
        and_(job.c.state.in_(records.UNANSWERED), job.c.draws == 0, job.c.visible > now),
    )
    asked = select(job.c.cost).where(job.c.dataset == dataset, job.c.kind == "ask", waiting)
    if holder:
        asked = asked.where(job.c.holder == holder)
    for cost in db.execute(asked).scalars():
        state = state.charged((from_text(cost),))
    # How many have their result would tell when it was drawn.
    return replace(state, settled=state.sums.count)


def _locked(db: Connection, dataset: str, holder: str) -> State:
    asked = select(purse.c.state).where(purse.c.dataset == dataset, purse.c.holder == holder)
    text: Any = db.execute(asked.with_for_update()).scalar_one()
    return State.read(json.loads(text))


def _find(db: Connection, dataset: str, holder: str) -> str | None:
    asked = select(purse.c.state).where(purse.c.dataset == dataset, purse.c.holder == holder)
    return db.execute(asked).scalar_one_or_none()


def _write(db: Connection, dataset: str, holder: str, state: State) -> None:
    mine = (purse.c.dataset == dataset, purse.c.holder == holder)
    db.execute(update(purse).where(*mine).values(state=state.text))
