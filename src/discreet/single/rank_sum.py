"""Two groups: does one have larger values? Clipped rank scores, with the groups protected too.

The value of rank r of n scores c(r), a rising whole number from -STEPS to STEPS, straight in the middle and
flat at both ends; the statistic is the sum of the first group's scores. One person, whatever value and group
they change to, moves it by at most 2 STEPS.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from discreet.noise import entropy
from discreet.noise.laplace import discrete_laplace
from discreet.noise.uniform import uniform_below
from discreet.single.noise_law import tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.alternative import Alternative

EFFECT = "clipped rank scores of the first group less those of the second, over all people, from -1 to 1"
STEPS = 32
MOVES = 2 * STEPS
"""How far one person moves the statistic."""
EXACT = 100
"""Up to so many people the null law is exact; beyond, normal."""
_SLOPES = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 64.0)


@lru_cache(maxsize=256)
def slope(n: int, epsilon: float) -> float:
    """Return how steep the scores are in the middle: best, by public numbers, for a shift of a normal law.

    A shift shows as E[c Z]; people vary by E[c^2] n and the noise by 2 (4/epsilon)^2, in units of half STEPS.
    """
    level = (np.arange(4096) + 0.5) / 4096
    z = ndtri(level)

    def power(steep: float) -> float:
        score = np.clip(steep * (2.0 * level - 1.0), -1.0, 1.0)
        return float(np.mean(score * z) / math.sqrt(np.mean(score**2) * n + 32.0 / epsilon**2))

    return max(_SLOPES, key=power)


def scores(n: int, epsilon: float) -> NDArray[np.int64]:
    """Return c(1), ..., c(n): rising, within STEPS of 0, adding up to 0; shape (n,)."""
    place = np.arange(1, n // 2 + 1)
    low = np.rint(STEPS * np.clip(slope(n, epsilon) * (2.0 * place - n - 1.0) / max(n - 1, 1), -1.0, 0.0))
    return np.concatenate((low, np.zeros(n % 2), -low[::-1])).astype(np.int64)


def by_rank(
    x: NDArray[np.float64],
    group: NDArray[np.int64],
    tie_breaks: NDArray[np.uint64],
    places: NDArray[np.int64],
    coins: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the group at every rank, lowest first; ties are broken at random and missing values rank lowest.

    Who is in no group, -1, takes a random rank, the next of `places`, and the group `coins` has there: a
    value that says nothing about the groups must not move their ranks.
    """
    order = np.lexsort((tie_breaks, np.where(np.isnan(x), -np.inf, x)))
    ranked = group[order]
    known = ranked >= 0
    drawn = np.zeros(x.size, dtype=np.bool_)
    drawn[places[: x.size - np.count_nonzero(known)]] = True
    at = coins.astype(np.int64)
    at[~drawn] = ranked[known]
    return at


def statistic(at: NDArray[np.int64], epsilon: float) -> int:
    """Return the sum of the first group's scores."""
    return int(scores(at.size, epsilon)[at == 0].sum())


def drawn_by_rank(x: NDArray[np.float64], group: NDArray[np.int64], groups: int) -> NDArray[np.int64]:
    """Return the group at every rank, with ties broken afresh."""
    tie_breaks, more = entropy.words(2 * x.size, np.uint64).reshape(2, -1)
    return by_rank(x, group, tie_breaks, np.argsort(more), uniform_below(groups, x.size).astype(np.int64))


def draw(x: NDArray[np.float64], group: NDArray[np.int64], epsilon: float) -> int:
    """Return the statistic plus discrete Laplace noise of scale MOVES/epsilon.

    `group` is 0 for the first, 1 for the second, else -1. epsilon-DP for neighbours that replace one
    person's value and group (docs/proofs/single.md).
    """
    return statistic(drawn_by_rank(x, group, 2), epsilon) + int(
        discrete_laplace(math.nextafter(MOVES / epsilon, math.inf), 1)[0]
    )


def p_value(noisy: int, n: int, epsilon: float, alternative: Alternative) -> float:
    """Return the p-value of a noisy statistic under the null that groups are exchangeable."""
    law = survival(n, epsilon)
    greater, less = (tail(law, float(sign * noisy), MOVES / epsilon) for sign in (1, -1))
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}[alternative]


def survival(n: int, epsilon: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return P(sum of the scores of a set >= t) where every set of a size is equally likely: the worst size.

    Up to EXACT people it is exact; beyond, normal.
    """
    if n > EXACT:
        sigma = deviation(n, epsilon)
        return lambda t: ndtr(-t / sigma)
    law, middle = worst_law(n, epsilon), STEPS * n

    def exact(t: NDArray[np.float64]) -> NDArray[np.float64]:
        place = np.ceil(t).astype(np.int64) + middle
        return np.where(place >= law.size, 0.0, law[np.clip(place, 0, law.size - 1)])

    return exact


def interval(noisy: int, n: int, epsilon: float, confidence: float) -> tuple[float, float]:
    """Return an approximate interval for the effect: normal, with the noise in its variance."""
    spread = math.sqrt(deviation(n, epsilon) ** 2 + 2.0 * (MOVES / epsilon) ** 2)
    reach = float(ndtri(0.5 + confidence / 2.0)) * spread
    unit = 2.0 / (STEPS * n)
    return max(-1.0, unit * (noisy - reach)), min(1.0, unit * (noisy + reach))


def deviation(n: int, epsilon: float) -> float:
    """Return the largest standard deviation of the statistic under the null: that of two equal groups."""
    return math.sqrt(float(np.sum(scores(n, epsilon) ** 2)) * n / max(n - 1, 1)) / 2.0


@lru_cache(maxsize=8)
def worst_law(n: int, epsilon: float) -> NDArray[np.float64]:
    """Return P(statistic >= d) under the null, the largest over all group sizes; d + STEPS*n is its place.

    Groups are exchangeable: every set of people of a size is as likely to be the first. With one person more,
    a set of j among i people holds the last with chance j/i.
    """
    middle = STEPS * n
    law = np.zeros((n + 1, 2 * middle + 1))
    law[0, middle] = 1.0
    for taken, score in enumerate(scores(n, epsilon).tolist()):
        share = np.arange(1, taken + 2)[:, None] / (taken + 1)
        law[1 : taken + 2] = (1.0 - share) * law[1 : taken + 2] + share * np.roll(
            law[: taken + 1], score, axis=1
        )
    return np.max(np.cumsum(law[:, ::-1], axis=1)[:, ::-1], axis=0)
