"""What rank tests share: ranks with missing values, a known deviation, a tail whatever the ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence import tails
from discreet.evidence.common import ceiling_for, conclude
from discreet.evidence.effect import effect
from discreet.evidence.ladder import ladder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.evidence import Evidence


def middle_ranks(column: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return ranks among the values present, ties sharing their mean rank, NaN where missing; shape (n,)."""
    ranks = np.full(column.shape, np.nan)
    present = ~np.isnan(column)
    _, place, count = np.unique(column[present], return_inverse=True, return_counts=True)
    ranks[present] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def rank_evidence(
    names: tuple[str, ...],
    statistic: NDArray[np.float64],
    deviation: float,
    pull: float,
    people: int,
    *,
    sides: int,
    ceiling: float | None,
    survival: tails.Survival,
    proof: str,
    effect_name: str,
    largest: float,
    public: str = "",
) -> Evidence:
    """Return the evidence of centred rank statistics with a known deviation, each moved by at most `pull`.

    Ties and missing values replace the statistic by its mean over fair tie-breaks, so it is smaller in convex
    order than the one without ties, whose law is known: `survival` is a bound from convex functions of that
    one; docs/proofs/ranks.md. The effect is the statistic as
    a share of the largest it can be.
    """
    influence = pull / deviation
    clip = ceiling_for(ceiling, people)
    steps = ladder(survival, influence, clip)
    raw = statistic / deviation
    score = steps(raw) if sides == 1 else np.maximum(steps(raw), steps(-raw))
    return conclude(
        names,
        score,
        sides=sides,
        top=steps.top,
        sup=steps.move(influence),
        proof=proof,
        public=public,
        effect=effect(effect_name, statistic / largest, pull / largest),
    )


def rank_sum_tail(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1.06 times the power-1 bound of the normal: for the rank sum, whatever the ties.

    What its exact law without ties needs exceeds the normal bound by at most 5%, near t = 1, from 3 people a
    group on, and nothing in the limit of many: computed, not proved, in between.
    """
    return np.minimum(1.06 * tails.normal_hinge(t), 1.0)
