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
from discreet.methods.all.rows import Columns
from discreet.methods.all.scores import measured_scores, stages_for

if TYPE_CHECKING:
    from discreet.evidence.core.people import People
    from discreet.methods.all.record import Groups

RANKS = "z score of ranks"
"""What estimates are called: above 0 where the second group's numbers are larger."""
RATES = "z score of rates"


def wider_by(groups: Groups) -> float:
    """Return how much wider scores of ranks are taken to be where the groups may spread unlike one another.

    If everyone of the smaller group is beyond all of the other one, on either side alike, a rank sum has up
    to 3 a times its variance, a being the share of the larger group. Half of that excess is allowed for.
    """
    return math.sqrt((1 + 3 * max(groups.share, 1 - groups.share)) / 2)


def by_ranks(people: People, groups: Groups, rho: float, signals: int) -> Tested:
    """Tell the scores of all columns, those that show something again; numbers by ranks, answers by rates.

    Guarantee: Gaussian(sqrt(2 rho)); one person moves each score by the certificate's sensitivity at most.
    """
    sizes, m = (groups.first, groups.second), len(people)
    evidence = compared(people.held(), sizes=sizes, directed=people.alternative == "two-sided")
    later, wider = stages_for(evidence, rho, signals), wider_by(groups)
    scores = measured_scores(evidence, np.arange(m), rho, later, wider=wider)
    error, nothing = np.hypot(wider, scores.deviation), np.full(m, np.nan)
    z = scores.sums / error
    kinds = [RANKS] * m
    for place in Columns.of(people).answers.tolist():
        kinds[place] = RATES
    results = Results(
        z=np.abs(z) if people.alternative == "two-sided" else z,
        degrees=np.full(m, np.inf),
        p=scores.p,
        estimate=scores.sums,
        error=error,
        noise=scores.deviation,
        deviation=nothing,
        contrast=nothing,
        variance=nothing,
    )
    return Tested(tuple(map(str, people.names)), tuple(kinds), results, scores.p)
