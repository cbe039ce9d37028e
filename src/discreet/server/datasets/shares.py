"""Shares: what an analyst, a team or everyone together may spend inside the total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.server import audit, budget
from discreet.server.accounts import people
from discreet.server.datasets import registry

if TYPE_CHECKING:
    from discreet.server.store import Connection


def grant(db: Connection, actor: str, dataset: str, holder: str, epsilon: float, delta: float) -> None:
    """Give somebody a share, for good, and with it sight of the data set.

    Shares may add up to more than the total, which no question passes: who asks first is served first.
    """
    entry = registry.find(db, dataset)
    kind, _, name = holder.partition(":")
    if kind == "analyst":
        if people.find(db, name).role != "analyst":
            raise InputError(f"{name!r} is no analyst")
    elif kind == "team":
        people.check_name(name, "team")
    elif holder != "everyone":
        raise InputError("a share is for analyst:NAME, team:NAME or everyone")
    total = budget.purses(db, dataset)[""].filter
    if epsilon > total.epsilon or delta > total.delta:
        raise InputError(f"a share lies inside the total: epsilon {total.epsilon:g}, delta {total.delta:g}")
    budget.open_purse(db, dataset, holder, epsilon=epsilon, delta=delta, neighbours=entry.about.neighbours)
    audit.append(db, "share", dataset, actor, holder=holder, epsilon=epsilon, delta=delta)
