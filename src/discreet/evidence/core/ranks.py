"""What rank tests share: ranks with missing values, a known deviation, a tail whatever the ties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.evidence.core import tails
from discreet.evidence.core.common import basis_of, ceiling_for, conclude
from discreet.evidence.core.effect import effect
from discreet.evidence.core.score_map import score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence


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
    alternative: Alternative,
    ceiling: float | None,
    survival: tails.Survival,
    proof: str,
    effect_name: str,
    largest: float,
    tail: str,
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
    steps = score_map(survival, influence, clip)
    return conclude(
        names,
        steps(toward(statistic / deviation, alternative)),
        alternative=alternative,
        top=steps.top,
        sup=steps.move(influence),
        proof=proof,
        basis=basis_of(tail),
        public=public,
        effect=effect(effect_name, statistic / largest, pull / largest),
    )


def rank_sum_tail(first: int, second: int, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound P(U's z >= t) for groups of these sizes, whatever the ties: the smaller of two proved bounds."""
    wide = float(np.sqrt(rank_sum_widening(first, second)))
    return np.minimum(tails.normal_cubed(t / wide), np.exp(-0.5 * t * t))


def rank_sum_widening(first: int, second: int) -> float:
    """Return the variance of a sum of signs and uniforms that dominates U, over U's own.

    With n the larger group and k the smaller, U's generating function is the product of (1 - x^m) over
    m = n+1..n+k divided by that of (1 - x^j) over j = 1..k. Where m = 2^a j they cancel to signs; where not,
    U is completed by a uniform variable, which costs j^2/12; docs/proofs/ranks.md.
    """
    few, many = sorted((first, second))
    everyone = few + many
    below, above = np.ones(few + 1, dtype=np.bool_), np.ones(few, dtype=np.bool_)  # which j, which m are left
    cancelled = 0.0
    times = 2
    while times <= everyone:
        low, high = many // times + 1, min(few, everyone // times)
        ours = below[low : high + 1]
        theirs = above[times * low - many - 1 : times * high - many : times] if low <= high else ours
        pairs = ours & theirs
        cancelled += float(np.sum((low + np.flatnonzero(pairs)).astype(np.float64) ** 2))
        ours[pairs] = theirs[pairs] = False
        times *= 2
    squares = (everyone * (everyone + 1) * (2 * everyone + 1) - many * (many + 1) * (2 * many + 1)) / 6
    return (squares - cancelled) / (first * second * (everyone + 1))
