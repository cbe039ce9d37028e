"""Two groups and a yes/no answer: does one say yes more often? A contrast around noisy shares.

First, with a part of the budget, three noisy counts: yes less no, first group less second, and who has no
answer or no group. They give the share c of yes and the share f of the first group, on a grid. Then the sum
of (x - c)(y - f) over everyone with both, which one person moves by at most max(c, 1 - c, f, 1 - f).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtri

from discreet.noise.laplace import discrete_laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative

EFFECT = "share of yes in the first group less that in the second"
GRID = 1024
"""Shares are whole numbers of so many parts."""
MARGIN_MOVES, ABSENT_MOVES = 4, 2
"""How far one person moves the three counts, weighed: that of people without answer or group counts twice."""
_SHARES = tuple(i / 20 for i in range(1, 13))


@dataclass(frozen=True, slots=True)
class Counts:
    """Yes less no, first group less second, and those missing either; of people, or with noise."""

    yes: int
    first: int
    absent: int

    def shares(self, n: int) -> tuple[int, int, int]:
        """Return how many have both, and the shares of yes and of the first group in parts of GRID."""
        both = min(max(n - self.absent, 1), n)
        return both, _part(self.yes, both), _part(self.first, both)


def _part(gap: int, both: int) -> int:
    return min(max(round(GRID * (0.5 + gap / (2.0 * both))), 0), GRID)


@lru_cache(maxsize=256)
def first_share(n: int, epsilon: float) -> float:
    """Return the part of the budget for the shares, by public numbers: least variance where both are 1/2."""
    return min(_SHARES, key=lambda s: drift(n, s * epsilon) + 0.5 / ((1.0 - s) * epsilon) ** 2)


def drift(n: int, epsilon: float) -> float:
    """Return the variance that wrong shares give the sum: the product of two errors, and the grid's own.

    A count of scale 4/epsilon is off by 2/epsilon in people, and by a quarter more where the number of people
    with both is not known; variance 10/epsilon^2.
    """
    return (10.0 / epsilon**2 / n) ** 2 + (n / (4.0 * GRID**2)) ** 2


def counts(x: NDArray[np.float64], group: NDArray[np.int64]) -> Counts:
    """Return the counts; x is 1 for yes and 0 for no, group 0 or 1, and anything else is absent."""
    known = ((x == 0) | (x == 1)) & (group >= 0)
    yes, first = np.where(x[known] == 1, 1, -1), np.where(group[known] == 0, 1, -1)
    return Counts(int(yes.sum()), int(first.sum()), int(x.size - known.sum()))


def contrast(x: NDArray[np.float64], group: NDArray[np.int64], c: int, f: int) -> int:
    """Return the sum of (x - c)(y - f), y = 1 in the first group, in parts of GRID^2; the absent add 0."""
    known = ((x == 0) | (x == 1)) & (group >= 0)
    yes, first = (x[known] == 1).astype(np.int64), (group[known] == 0).astype(np.int64)
    return int(np.sum((GRID * yes - c) * (GRID * first - f)))


def moves(c: int, f: int) -> int:
    """Return how far one person moves the contrast, in parts of GRID^2."""
    return GRID * max(c, GRID - c, f, GRID - f)


@dataclass(frozen=True, slots=True)
class Noisy:
    """All that is read from the data: how many have both, two shares, the contrast and its noise's scale."""

    both: int
    c: float
    f: float
    contrast: float
    scale: float


def draw(x: NDArray[np.float64], group: NDArray[np.int64], epsilon: float) -> Noisy:
    """Return noisy shares and the noisy contrast around them.

    epsilon-DP for neighbours that replace one person's value and group (docs/proofs/single.md).
    """
    begin = first_share(x.size, epsilon) * epsilon
    rest, exact = epsilon - begin, counts(x, group)
    off, lost = (discrete_laplace(_scale(move, begin), 2) for move in (MARGIN_MOVES, ABSENT_MOVES))
    seen = Counts(exact.yes + int(off[0]), exact.first + int(off[1]), exact.absent + int(lost[0]))
    both, c, f = seen.shares(x.size)
    scale = _scale(moves(c, f), rest)
    noisy = contrast(x, group, c, f) + int(discrete_laplace(scale, 1)[0])
    return Noisy(both, c / GRID, f / GRID, noisy / GRID**2, scale / GRID**2)


def _scale(move: float, epsilon: float) -> float:
    return math.nextafter(move / math.nextafter(epsilon, 0.0), math.inf)


def p_value(noisy: Noisy, n: int, epsilon: float, alternative: Alternative) -> float:
    """Return the p-value of independence: normal people and Laplace noise, variances rather too large.

    Both shares are moved towards 1/2, and the number of people with both up, by a deviation of their noise.
    """
    begin = first_share(n, epsilon) * epsilon
    step = math.sqrt(10.0) / begin / noisy.both
    both = min(float(n), noisy.both + math.sqrt(2.0) * ABSENT_MOVES / begin)
    people = math.prod(_spread(share, step) for share in (noisy.c, noisy.f))
    variance = both**2 / max(both - 1.0, 1.0) * people + drift(noisy.both, begin)
    greater, less = (_tail(sign * noisy.contrast, variance, noisy.scale) for sign in (1, -1))
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}[alternative]


def _inward(share: float, step: float) -> float:
    return min(share + step, 0.5) if share < 0.5 else max(share - step, 0.5)


def _tail(t: float, variance: float, scale: float) -> float:
    """Return P(normal + Laplace >= t)."""
    if t < 0:
        return 1.0 - _tail(-t, variance, scale)
    s, tilt = math.sqrt(variance), variance / (2.0 * scale**2)
    alone, up, down = log_ndtr([-t / s, t / s - s / scale, -t / s - s / scale]).tolist()
    tilted = math.exp(tilt - t / scale + up) - math.exp(tilt + t / scale + down)
    return min(1.0, math.exp(alone) + 0.5 * tilted)


def estimate(noisy: Noisy, n: int, epsilon: float, confidence: float) -> tuple[float, float, float]:
    """Return the difference of shares and the ends of an approximate interval for it.

    Where a group may be empty nothing is known: from -1 to 1.
    """
    begin = first_share(n, epsilon) * epsilon
    spread = noisy.f * (1.0 - noisy.f)
    off = math.sqrt(10.0) / begin / noisy.both  # deviation of a share
    if min(noisy.f, 1.0 - noisy.f) <= 2.0 * off:
        return 0.0, -1.0, 1.0
    unit = noisy.both * spread
    gap = min(1.0, max(-1.0, noisy.contrast / unit))
    first, second = (min(1.0, max(0.0, noisy.c + part * gap)) for part in (1.0 - noisy.f, -noisy.f))
    within = (1.0 - noisy.f) * _spread(first, off) + noisy.f * _spread(second, off)
    variance = unit * within + drift(noisy.both, begin) + 2.0 * noisy.scale**2
    # The share of the first group is not exact either: the estimate moves with f (1 - f).
    error = math.hypot(math.sqrt(variance) / unit, gap * abs(1.0 - 2.0 * noisy.f) * off / spread)
    reach = float(ndtri(0.5 + confidence / 2.0)) * error
    return gap, max(-1.0, gap - reach), min(1.0, gap + reach)


def _spread(share: float, step: float) -> float:
    inward = _inward(share, step)
    return inward * (1.0 - inward)
