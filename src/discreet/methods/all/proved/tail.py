"""A proved tail for a sum over people plus normal noise.

A sum U of independent terms has no exact law that we know, but the noise N has one: P(U + N >= t) is the mean
of P(N >= t - U), and P(N >= t - x) <= C e^(-r (t - x)) for every rate r > 0, with the smallest such C. So

    P(U + N >= t) <= C(r) e^(-r t) E e^(r U),

which is exact where U vanishes, near the saddlepoint value where noise and sampling are alike, and never
more than Chernoff's bound. Proof: docs/proofs/all-p-values.md.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import i0e, log_ndtr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_STEEPEST = 64.0  # rates tried, in units of 1/deviation: enough for p-values down to e^-2048
_STEPS = 8  # of Newton's method: where it matters the bound is then within 1% of the smallest
_SLACK = 1e-9  # more than rounding takes off an exponent
_PEAK = 0.789952599052  # where sqrt(v) e^-v I0(v) is largest

# C(r) = exp(sup over y of (a y + log P(Z >= y))), a = r sd(N). The supremum is at the y whose hazard is a,
# and is convex in a, so that chords between nodes lie above it.
_Y = np.arange(-38.0, 66.0, 1 / 128)
_LOG_UPPER = log_ndtr(-_Y)
_HAZARD = np.exp(-0.5 * _Y * _Y - _LOG_UPPER - 0.5 * math.log(2 * math.pi))
_LOG_C = _Y * _HAZARD + _LOG_UPPER


def noisy_sum_tail(
    t: ArrayLike, *, noise: ArrayLike, variance: ArrayLike, bound: ArrayLike, skew: ArrayLike = 1.0
) -> Floats:
    """Return upper bounds on P(U + N >= t), N normal and U a sum of independent mean-zero terms.

    Parameters
    ----------
    t : array-like of float
        Where the tail begins. All arguments are broadcast against each other.
    noise : array-like of float
        The variance of N, exactly; 0 for none.
    variance : array-like of float
        At least the variance of U.
    bound : array-like of float
        Every term of U lies within [-bound, bound].
    skew : array-like of float
        In [-1, 1]: the third moments of the terms sum to at most `skew * bound` times the variance of U.

    Returns
    -------
    array of float
        Bounds, at most 1. They lie above a function of t that falls and bounds the tail, so that of a random
        t they are p-values: P(noisy_sum_tail(U + N) <= alpha) <= alpha.
    """
    given = [np.asarray(x, dtype=np.float64) for x in (t, noise, variance, bound, skew)]
    t, noise, variance, bound, skew = np.broadcast_arrays(*given)
    rate = best_rate(t, noise=noise, variance=variance, bound=bound, skew=skew)
    exponent = log_noise(rate, noise) + variance * log_mean(rate, bound, skew) - rate * t
    return np.exp(np.where(exponent < -_SLACK, exponent + _SLACK, 0.0))


def log_noise(rate: Floats, noise: Floats | float) -> Floats:
    """Return log C(rate) for noise of this variance: P(N >= x) <= C e^(-rate x), for all x."""
    return np.interp(rate * np.sqrt(noise), _HAZARD, _LOG_C)


def log_mean(rate: Floats, bound: Floats, skew: Floats | float) -> Floats:
    """Return an upper bound on log E e^(rate U) for each unit of the variance of U."""
    x, up = rate * bound, (1 + skew) / 2
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        terms = np.where(up > 0, up * _second(x), 0.0) + (1 - up) * _second(-x)
        return np.where(bound > 0, terms / bound**2, rate**2 / 2)


def log_arranged(rate: Floats, square: Floats, size: Floats) -> Floats:
    """Return what is added to a bound on log E e^(rate U) when the numbers of ones and zeros are fixed.

    U = sum (y_i - f) a_i with sum a_i = 0, y a random arrangement of n f ones and n (1 - f) zeros. To the
    bound for independent y_i of mean f are added this and rate^2/8 times the mean of the a_i^2, which
    is at most `square`; n f (1 - f) is at least `size`.
    """
    v = np.maximum(size * np.exp(-(rate**2) * square / 4), _PEAK)
    with np.errstate(divide="ignore"):
        return np.log(np.sqrt(2 * np.pi * v) * i0e(v)) + 1 / (12 * size)


def log_level(rate: Floats, *, noise: Floats, variance: Floats, bound: Floats, skew: Floats) -> Floats:
    """Return the log of the bound at the t where this rate gives the smallest one."""
    x = rate * bound
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        slope = ((1 + skew) / 2 * np.expm1(x) - (1 - skew) / 2 * np.expm1(-x)) / bound
        fall = log_mean(rate, bound, skew) - rate * np.where(bound > 0, slope, rate)
    return np.interp(rate * np.sqrt(noise), _HAZARD, _LOG_UPPER) + variance * fall


def best_rate(t: Floats, *, noise: Floats, variance: Floats, bound: Floats, skew: Floats) -> Floats:
    """Return about the best rates, by Newton's method for their logarithms; every rate gives a bound."""
    spread, up, down = noise + variance, (1 + skew) / 2, (1 - skew) / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        per = np.where(bound > 0, variance / bound, 0.0)
        most = np.where(spread > 0, _STEEPEST / np.sqrt(spread), 0.0)
        aim = t + np.sqrt(noise)
        rate = np.fmin(np.fmin(aim / spread, np.log1p(aim / per) / bound), most)
        for _ in range(_STEPS):
            x = np.minimum(rate * bound, 600.0)
            rise, fall = np.expm1(x), np.expm1(-x)
            slope = noise * rate + per * (up * rise - down * fall)
            curve = spread + variance * (up * rise + down * fall)
            part = 3.0 * noise * rate  # about what the noise's own factor takes off the slope
            step = ((t + part / (1 + part * rate)) / slope) ** (slope / (rate * curve))
            rate = np.fmin(rate * np.clip(step, 0.5, 2.0), most)
        return np.where(t > 0, rate, 0.0)


def _second(x: Floats) -> Floats:
    """Return e^x - 1 - x, to full precision."""
    near = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)))
    return np.where(np.abs(x) < 1e-3, near, np.expm1(x) - x)
