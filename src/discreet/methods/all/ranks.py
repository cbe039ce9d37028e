"""Ranks in place of means, where people are too few to learn where each column of numbers lies.

Means need a range to cut numbers to. Too few people do not tell one for each column above the noise, or at
too high a price; one range for all suits columns that are alike, as ratings or markers on one scale, and no
others. Rank sums need nothing to be known. Proofs: docs/proofs/all-privacy.md, docs/proofs/compare.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.core.compared import compared
from discreet.methods.all.after import Results, Tested
from discreet.methods.all.budget import each_located
from discreet.methods.all.in_numpy import SIZES
from discreet.methods.all.rows import Columns
from discreet.methods.all.scores import measured_scores, stages_for
from discreet.methods.all.sums import Look, look, with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.budget import Budget
    from discreet.methods.all.record import Groups, Noisy

LOOK = 0.05
"""Of the budget, for a look at whether columns are alike."""
RANKS = "z score of ranks"
"""What estimates are called: above 0 where the second group's numbers are larger."""
RATES = "z score of rates"
_MOSTLY = 2 / 3  # of the columns are numbers without bounds, at least: of answers rows show more than scores
_ALIKE = 0.5  # of all numbers, in one narrow interval, surely
_OCTAVES = 2  # to the end of an interval on one side of zero: numbers of columns that are alike
_ZEROS, _BESIDE = 0.1, 3  # many zeros, and octaves beside them
_BOTH, _AROUND = 0.2, 4  # on either side of zero, and octaves there


def may_need_ranks(people: People, budget: Budget) -> bool:
    """Say whether most columns are numbers without bounds, and people too few to locate them; public."""
    columns = Columns.of(people)
    free, bounded = columns.free.size, columns.bounded.size
    few = people.subgroup is None and 1 < free >= _MOSTLY * people.columns
    return few and not each_located(free, bounded, budget.where, people.size)


def columns_alike(people: People, rho: float) -> bool:
    """Say whether the numbers of all columns without bounds crowd in one narrow interval.

    One person moves the histogram of all of k columns together by sqrt(2) k.

    Guarantee: Gaussian(sqrt(2 rho)).
    """
    free = Columns.of(people).free
    nowhere = np.zeros(free.size)
    total = look(Look.SIZES, people.held().values, free, nowhere, nowhere + 1).sum(axis=-1)
    told = with_noise(total, math.sqrt(2) * free.size, rho)
    entries = np.full(told.sums.size, free.size * max(people.size, 1.0))
    return crowding(told.over(entries)) >= _ALIKE


def crowding(told: Noisy) -> float:
    """Return the largest share of numbers that surely is in one narrow interval, by the share of each size.

    An interval of two octaves; zeros and three, where zeros are many; or four on both sides of zero.
    """
    shares, deviation = told.sums, float(np.max(told.deviation))
    negative, zero, positive = shares[:SIZES][::-1], float(shares[SIZES]), shares[SIZES + 1 :]

    def run(side: NDArray[np.float64], octaves: int) -> NDArray[np.float64]:
        return np.convolve(side, np.ones(octaves))[: side.size]

    def surely(share: NDArray[np.float64], bins: int) -> float:
        return float(share.max()) - deviation * math.sqrt(bins)

    best = [surely(run(side, _OCTAVES), _OCTAVES) for side in (negative, positive)]
    if zero > _ZEROS:
        best += [surely(zero + run(side, _BESIDE), _BESIDE + 1) for side in (negative, positive)]
    both = run(negative, _AROUND), run(positive, _AROUND)
    around = np.where(np.minimum(*both) > _BOTH, both[0] + both[1] + zero, 0.0)
    return max(*best, surely(around, 2 * _AROUND + 1))


def by_ranks(people: People, groups: Groups, rho: float, signals: int) -> Tested:
    """Tell the scores of all columns, those that show something again; numbers by ranks, answers by rates.

    Guarantee: Gaussian(sqrt(2 rho)); one person moves each score by the certificate's sensitivity at most.
    """
    sizes, m = (groups.first, groups.second), len(people)
    evidence = compared(people.held(), sizes=sizes, directed=people.alternative == "two-sided")
    told = measured_scores(evidence, np.arange(m), rho, stages_for(evidence, rho, signals))
    error, nothing = np.hypot(1.0, told.deviation), np.full(m, np.nan)
    z = told.sums / error
    kinds = [RANKS] * m
    for place in Columns.of(people).answers.tolist():
        kinds[place] = RATES
    results = Results(
        z=np.abs(z) if people.alternative == "two-sided" else z,
        degrees=np.full(m, np.inf),
        p=told.p,
        estimate=told.sums,
        error=error,
        noise=told.deviation,
        deviation=nothing,
        contrast=nothing,
        variance=nothing,
    )
    return Tested(tuple(map(str, people.names)), tuple(kinds), results, told.p)
