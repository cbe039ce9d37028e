"""Three groups or more: do they differ? The scores of the groups above average, groups protected too.

With S_g the sum of the scores of group g, as in `rank_sum`, the statistic is the sum of the positive S_g:
the largest sum of any set of groups. One person moves each of those by at most MOVES, and so the largest.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.laplace import discrete_laplace
from discreet.single import rank_sum
from discreet.single.noise_law import tail
from discreet.single.rank_sum import MOVES, STEPS, drawn_by_rank, scores

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EFFECT = "clipped rank scores of the groups above average among these people, as a share of the most possible"
MOST_GROUPS = 8


def statistic(at: NDArray[np.int64], groups: int, epsilon: float) -> int:
    """Return the sum of the positive sums of scores; `at` is the group at every rank."""
    sums = np.bincount(at, weights=scores(at.size, epsilon), minlength=groups)
    return round(float(sums[sums > 0].sum()))


def draw(x: NDArray[np.float64], group: NDArray[np.int64], groups: int, epsilon: float) -> int:
    """Return the statistic plus discrete Laplace noise of scale MOVES/epsilon.

    `group` is 0 to groups - 1, else -1. epsilon-DP for neighbours that replace one person's value and group
    (docs/proofs/single.md).
    """
    noise = int(discrete_laplace(math.nextafter(MOVES / epsilon, math.inf), 1)[0])
    return statistic(drawn_by_rank(x, group, groups), groups, epsilon) + noise


def p_value(noisy: int, n: int, groups: int, epsilon: float) -> float:
    """Return the p-value under the null that all groups are exchangeable."""
    return tail(survival(n, groups, epsilon), float(noisy), MOVES / epsilon)


def survival(n: int, groups: int, epsilon: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return a bound of P(statistic >= t) under the null: over all sets of groups."""
    law, sets = rank_sum.survival(n, epsilon), 2.0**groups - 2.0
    return lambda t: np.where(t <= 0, 1.0, np.minimum(1.0, sets * law(t)))


def interval(noisy: int, n: int, epsilon: float, confidence: float) -> tuple[float, float]:
    """Return an interval for the effect among these people: noise alone stands between."""
    scale = MOVES / epsilon
    # P(|noise| > r) = 2 e^(-(r + 1)/scale) / (1 + e^(-1/scale)) for whole r.
    rare = (1.0 - confidence) * (1.0 + math.exp(-1.0 / scale)) / 2.0
    reach = math.ceil(max(0.0, -scale * math.log(rare) - 1.0))
    unit = 2.0 / (STEPS * n)
    return min(1.0, max(0.0, unit * (noisy - reach))), max(0.0, min(1.0, unit * (noisy + reach)))
