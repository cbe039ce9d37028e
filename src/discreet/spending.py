"""Charge first, draw then, keep the result: a release against a ledger."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import InputError
from discreet.methods.common import gaussian_budget, gaussian_events
from discreet.report.budget import BudgetLine
from discreet.report.release import Release

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from discreet.methods.common import Ready
    from discreet.parameters import Parameters
    from discreet.privacy.ledger import Ledger

Purse: TypeAlias = "Ledger | str | PathLike[str] | None"


@dataclass(frozen=True, slots=True)
class Spending:
    """One request against the budget of one data set; `request` holds its public parameters as plain JSON."""

    ledger: Ledger
    dataset: str
    release_id: str | None
    request: Mapping[str, Any]

    def stored(self) -> Release | None:
        """Return the result of the same request under the same release id, if it was made before."""
        if self.release_id is None:
            return None
        text = self.ledger.stored(self.dataset, self.release_id, self.request)
        return None if text is None else Release.from_json(text)

    def early(self, asked: Parameters, neighbours: str) -> None:
        """Refuse, before any data is read, what the budget clearly cannot pay."""
        if asked.method in {"aware", "mirror"}:
            rho = gaussian_budget(asked.epsilon, asked.delta) * (1 - 2.0**-40)
            self.ledger.affords(self.dataset, gaussian_events([rho]), neighbours)

    def spend(self, ready: Ready, neighbours: str) -> Release:
        """Write the charge to disk, draw the release, store it.

        If anything fails after the charge, the charge stands: noise may have been drawn.
        """
        charge = self.ledger.charge(self.dataset, ready.events, neighbours, self.request, self.release_id)
        budget = self.ledger.budget(self.dataset)
        # Where all of delta is set aside, epsilons add up.
        room = budget.left if budget.delta > budget.aside else max(0.0, budget.epsilon - budget.spent)
        total = (budget.epsilon, budget.delta, budget.spent)
        line = BudgetLine(self.dataset, *total, charge.release_id, charge.hash, room)
        release = replace(ready.draw(), budget=line)
        self.ledger.settle(charge, release.to_json())
        return release


def spending(
    ledger: Purse, dataset: str | None, release_id: str | None, request: Mapping[str, Any]
) -> Spending | None:
    """Return what to charge, or None without a ledger."""
    if ledger is None:
        if dataset is not None or release_id is not None:
            raise InputError("dataset and release_id belong to a ledger: give `ledger` too")
        return None
    from discreet.privacy.ledger import Ledger
    from discreet.privacy.ledger.ledger import check_name

    if dataset is None:
        raise InputError(
            "a ledger keeps the budgets of several data sets: say which, --dataset or dataset=..."
        )
    for name, value in (("dataset", dataset), ("release_id", release_id)):
        if value is not None:
            check_name(value, name)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    return Spending(book, dataset, release_id, request)
