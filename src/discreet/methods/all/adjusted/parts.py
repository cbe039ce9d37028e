"""How the budget of an adjusted comparison is divided: what each step may spend, by public numbers alone."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.adjusted.balance import LEFT, budget_for_units, reach_for
from discreet.methods.all.budget import where_share

if TYPE_CHECKING:
    from discreet.evidence.core.people import People

OFF = 1.25
"""Times the variance of the noise in slopes is what they are off by."""
LENGTH = 1.2
"""Times the usual length: rows that slopes are learned from are no longer."""
ROUNDS = (0.3, 0.7)
"""Of the budget for slopes, for each round of learning them."""
_BALANCE = np.geomspace(0.03, 0.3, 12).tolist()  # of the budget, for weights
_SLOPES = np.geomspace(0.005, 0.25, 16).tolist()  # and for slopes
_SLOPE = 0.05  # deviations: the error of slopes that is aimed at
_LAST = 0.36  # of the budget for weights, for the last step toward them, about
_BEYOND = 0.04  # of the people: the noise in how many are beyond a range that is aimed at
_CONTRAST = 0.88  # of what is measured, for contrasts


@dataclass(frozen=True, slots=True)
class Parts:
    """What each step may spend, as parts of the whole.

    `balance`: the weights. `slopes`: how columns follow the covariates. Others as in `Budget`.
    """

    groups: float
    balance: float
    where: float
    ranges: float
    centre: float
    slopes: float
    norms: float
    squares: float
    sums: float
    missing: float
    weights: float
    contrast: float

    def of(self, rho: float) -> Parts:
        """Return the budget of each step."""
        return Parts(*(getattr(self, field.name) * rho for field in fields(self)))


def parts_of(people: People, rho: float) -> Parts:
    """Return the shares for these questions and this number of people, from public numbers alone.

    Weights and slopes get what makes the noise of a contrast and what their errors add to it, which is their
    product, the least together. Where weights cost nothing slopes get what makes them right within a
    twentieth of a deviation.
    """
    n, m = max(people.size, 1), len(people)
    protected = people.protect == "everything"
    groups = 0.01 if protected else 0.0
    kinds = [asked.bounds is not None for asked in people.questions if not asked.answers]
    where = where_share(kinds.count(True), kinds.count(False), rho, n) if kinds else 0.0
    centre = min(max(m / (2 * rho * (0.03 * n) ** 2), 0.005), 0.03)
    ranges = min(max(len(kinds) / (2 * rho * (_BEYOND * n) ** 2), 0.001), 0.05) if kinds else 0.0
    free = 1 - (groups + where + ranges + centre)
    assert people.covariates is not None  # noqa: S101  only such people come here
    p = people.covariates.answers.size
    length = reach_for(p) ** 2
    pull = 4 * length * LENGTH**2 * m  # one person's, on slopes, squared
    imbalance = LEFT * length / (2 * rho * _LAST)
    errors = OFF * (p + 2) / 2 * pull / (2 * rho * n**2)
    if protected:
        least = min(budget_for_units(p, n) / rho, _BALANCE[-1])
        options = [(max(balance, least), slopes) for balance in _BALANCE for slopes in _SLOPES]

        def variance(option: tuple[float, float]) -> float:
            balance, slopes = option
            noise = m * (1 + errors / slopes) / (2 * rho * (free - balance - slopes) * _CONTRAST)
            return noise + imbalance / balance * errors / slopes

        balance, slopes = min(options, key=variance)
    else:
        balance = 0.0
        slopes = min(max(errors / OFF / _SLOPE**2, _SLOPES[0]), 0.1)
    rest = free - balance - slopes
    norms, squares, sums, missing, weights = (rest * part for part in (0.01, 0.05, 0.03, 0.02, 0.01))
    contrast = (rest - norms - squares - sums - missing - weights) * (1 - 2.0**-45)
    return Parts(
        groups, balance, where, ranges, centre, slopes, norms, squares, sums, missing, weights, contrast
    )
