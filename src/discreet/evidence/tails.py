"""Upper bounds on the tail of a standardised statistic that hold for every n, not only in the limit.

All rest on Markov's inequality for (X - h)_+^power: for every h < t,

    P(X >= t) <= E (X - h)_+^power / (t - h)^power <= E (Y - h)_+^power / (t - h)^power

when Y dominates X for these functions. Any h gives a valid bound; the best of a few is taken. The price is at
most a factor e (power 1), e^2/2 (power 2) or 2e^3/9 (power 3) against Y's own tail. See docs/proofs/tails.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Survival = Callable[[NDArray[np.float64]], NDArray[np.float64]]

# Distances t - h to try, in units of 1/t: the best is the local decay length of the tail.
_DISTANCES = np.array([0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0])
_OUTWARD = 1.0 + 1e-5  # covers the rounding of log-gamma in the mass functions


def normal(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal tail: an approximation, not a bound, except for statistics proved lighter."""
    return scipy.special.ndtr(-t)


def normal_cubed(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the power-3 bound with Y standard normal: for sums of weighted fair signs and of uniforms."""
    best = np.ones_like(t)
    for distance in _DISTANCES:
        h = t - distance / np.maximum(t, 0.5)
        density = np.exp(-0.5 * h * h) / np.sqrt(2 * np.pi)
        beyond = np.asarray(scipy.special.ndtr(-h), dtype=np.float64)
        moment = (h * h + 2) * density - h * (h * h + 3) * beyond  # E (Y - h)_+^3
        best = np.minimum(best, np.maximum(moment, 0.0) / (t - h) ** 3)
    return np.minimum(best * _OUTWARD, 1.0)


def bernoulli_sum(n: int, rate: float, top: float) -> Survival:
    """Bound the tail of a standardised sum of n independent [0, 1] variables with mean at most `rate`.

    Power 1 with Y binomial(n, rate), the largest such sum in convex order (Hoeffding 1956, 1963; Bentkus
    2004).
    """
    step = 1.0 / np.sqrt(n * rate * (1 - rate))
    return _lattice_bound(_binomial(n, rate), n, n * rate, step, top, 1)


def bounded_sum(n: int, bound: float, top: float) -> Survival:
    """Bound the tail of a sum of n independent mean-zero terms, each at most `bound`, total variance 1.

    Power 2 with Y the sum of n equal two-point variables: `bound` or -1/(n*bound) (Bentkus 2004, Theorem
    1.1).
    """
    variance = 1.0 / n
    rate = variance / (variance + bound * bound)
    step = bound + variance / bound
    return _lattice_bound(_binomial(n, rate), n, n * rate, step, top, 2)


def any_bounded_sum(bound: float, top: float) -> Survival:
    """As `bounded_sum`, for any number of terms: Y is bound*(K - mean), K Poisson with mean 1/bound^2."""
    mean = 1.0 / (bound * bound)

    def log_mass(k: NDArray[np.float64]) -> NDArray[np.float64]:
        return scipy.special.xlogy(k, mean) - mean - scipy.special.gammaln(k + 1)

    return _lattice_bound(log_mass, None, mean, bound, top, 2)


def _binomial(n: int, rate: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def log_mass(k: NDArray[np.float64]) -> NDArray[np.float64]:
        choose = (
            scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)
        )
        return choose + scipy.special.xlogy(k, rate) + scipy.special.xlog1py(n - k, -rate)

    return log_mass


def _lattice_bound(
    log_mass: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    most: int | None,
    mean: float,
    step: float,
    top: float,
    power: int,
) -> Survival:
    """Return the bound from Y = step * (K - mean), for 0 < t <= top."""
    low = max(0, int(np.floor(mean - 12.0 / step)))
    # Far enough that what lies beyond weighs less than 1e-20 of what is kept.
    high = int(np.ceil(mean + top / step + 60.0 / np.log1p(step * top))) + 60
    if most is not None:
        high = min(high, most)
    k = np.arange(low, high + 1, dtype=np.float64)
    mass = np.exp(log_mass(k))
    atoms = step * (k - mean)
    above = _from_the_right(mass) - mass  # P(Y > atom)
    moment = step * _from_the_right(above)  # E (Y - atom)_+
    if power == 2:
        right = np.append(moment[1:], 0.0)
        moment = _from_the_right(2 * step * right + step * step * above)

    def survival(t: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.ones_like(t)
        for distance in _DISTANCES:
            at = np.floor((t - distance / np.maximum(t, 0.5)) / step + mean).astype(np.int64) - low
            for shift in (-1, 0):
                place = np.clip(at + shift, 0, atoms.size - 1)
                gap = t - atoms[place]
                usable = gap > 0
                bound = moment[place] / np.where(usable, gap, 1.0) ** power
                best = np.minimum(best, np.where(usable, bound, 1.0))
        return np.minimum(best * _OUTWARD, 1.0)

    return survival


def _from_the_right(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cumsum(x[::-1])[::-1]
