"""What rank tests share: ranks with missing values, a tail whatever the ties, and Kendall's pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.evidence.core import tails
from discreet.evidence.core.effect import effect
from discreet.evidence.core.rank_law import untied_tail
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.evidence import Evidence

_COLUMNS = 4_096  # whose pairs are compared at once


def middle_ranks(column: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return ranks among the values present, ties sharing their mean rank, NaN where missing; shape (n,)."""
    ranks = np.full(column.shape, np.nan)
    present = ~np.isnan(column)
    _, place, count = np.unique(column[present], return_inverse=True, return_counts=True)
    ranks[present] = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks


def rank_excess(column: NDArray[np.floating], second: NDArray[np.bool_]) -> float:
    """Return U - n1 n2 / 2 of the people present: the sum of the second group's centred ranks."""
    present = ~np.isnan(column)
    column, second = column[present], second[present]
    if not column.size:
        return 0.0
    order = np.argsort(column)
    ordered, inside = column[order], second[order]
    # Those tied up to here share the mean of their first and last rank.
    last = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), ordered.size - 1)
    upto = np.cumsum(inside)[last]
    twice = np.append(1, last[:-1] + 2) + last + 1
    total = float(np.dot(np.diff(upto, prepend=0), twice)) / 2
    return total - float(upto[-1]) * (ordered.size + 1) / 2


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
        steps=[steps],
        sensitivity=steps.move(influence),
        proof=proof,
        basis=basis_of(tail),
        public=public,
        effect=effect(effect_name, statistic / largest, pull / largest),
    )


def rank_sum_tail(first: float, second: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bound P(z >= t) of capped rank sums, whatever the ties and whichever people are present.

    The least of three proved bounds, one of them twice that without ties; z = (U - n1 n2 / 2) / S with the S
    of `Cap.of_ranks`, the cap being that of groups of these sizes.
    """
    wide = float(np.sqrt(rank_sum_widening(first, second)))
    convex = np.minimum(tails.normal_cubed(t / wide), np.exp(-0.5 * t * t))
    return np.minimum(convex, 2 * untied_tail(first, second, t))


def rank_sum_widening(first: float, second: float) -> float:
    """Return the variance of a sum of signs and uniforms that dominates z, at least 1.

    With n the larger group present and k the smaller, U's generating function is the product of (1 - x^m)
    over m = n+1..n+k divided by that of (1 - x^j) over j = 1..k. Where m = 2 j they cancel to a sign; where
    not, U is completed by a uniform variable, which costs j^2/12; docs/proofs/ranks.md.
    """
    few, many = sorted((first, second))
    share = few / many
    room = (8 / 9 * share * (first + second + 1) - 1) / 2  # no fewer are in the larger group if z is uncapped
    if room <= 1:
        return 1.125
    excess = 1 / 18 if share <= 1 / 2 else 1 / (24 * share * (1 + share))
    return min(1.125, 1 + excess * (1 + 1 / room) * (1 + 2 / room))


def kendall(x: NDArray[np.floating], y: NDArray[np.floating]) -> float:
    """Return sum over pairs i < j of sign(x_i - x_j) sign(y_i - y_j); pairs with a missing value count 0."""
    present = ~(np.isnan(x) | np.isnan(y))
    first = np.unique(x[present], return_inverse=True)[1].astype(np.int64)
    second = np.unique(y[present], return_inverse=True)[1].astype(np.int64)
    n = first.size
    if n < 2:
        return 0.0
    order = np.lexsort((first, second))
    first, second = first[order], second[order]
    # Sorted by y, then x: discordant pairs are the strict inversions of x; tied pairs are neither.
    tied = _pairs(first) + _pairs(second) - _pairs(first * n + second)
    return float(n * (n - 1) // 2 - tied - 2 * _inversions(first))


def kendall_of_few(columns: NDArray[np.floating], partner: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return `kendall` of each column (n, m) and the partner (n,), pair by pair: for few people."""
    signs = _order(partner[:, None], partner)
    total = np.empty(columns.shape[1])
    for start in range(0, total.size, _COLUMNS):
        some = columns[:, start : start + _COLUMNS]
        total[start : start + _COLUMNS] = np.einsum("ij,ijm->m", signs, _order(some[:, None], some)) / 2
    return total


def _order(first: NDArray[np.floating], second: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the sign of first - second, 0 where one is missing; two infinities of one sign are tied."""
    return np.greater(first, second).astype(np.float64) - np.less(first, second)


def _pairs(codes: NDArray[np.int64]) -> int:
    count = np.unique(codes, return_counts=True)[1]
    return int(np.sum(count * (count - 1) // 2))


def _inversions(codes: NDArray[np.int64]) -> int:
    """Count pairs i < j with codes[i] > codes[j], merging sorted runs of doubling length."""
    size = 1 << int(codes.size - 1).bit_length()
    top = int(codes.max()) + 1
    runs = np.full(size, top, dtype=np.int64)  # padding at the end, larger than all: no inversions
    runs[: codes.size] = codes
    total, length = 0, 1
    while length < size:
        pairs = runs.reshape(-1, 2, length)
        # Runs apart by more than any code: one search answers for all pairs of runs.
        shift = (np.arange(pairs.shape[0]) * (top + 1))[:, None]
        left, right = (pairs[:, 0] + shift).ravel(), (pairs[:, 1] + shift).ravel()
        not_above = np.searchsorted(left, right, side="right")
        ends = np.repeat((np.arange(pairs.shape[0]) + 1) * length, length)
        total += int(np.sum(ends - not_above))
        length *= 2
        runs = np.sort(runs.reshape(-1, length), axis=1).ravel()
    return total
