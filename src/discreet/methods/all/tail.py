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

_STEEPEST = 64.0  # rates tried, in units of 1/deviation: enough for p-values down to e^-2048
_STEPS = 8  # of Newton's method: the bound is then within 1% of the smallest
_SLACK = 1e-9  # more than rounding takes off an exponent
_PEAK = 0.789952599052  # where sqrt(v) e^-v I0(v) is largest

# C(r) = exp(sup over y of (a y + log P(Z >= y))), a = r sd(N). The supremum is at the y whose hazard is a,
# and is convex in a, so that chords between nodes lie above it.
_Y = np.arange(-38.0, 66.0, 1 / 128)
_LOG_UPPER = log_ndtr(-_Y)
_HAZARD = np.exp(-0.5 * _Y * _Y - _LOG_UPPER - 0.5 * math.log(2 * math.pi))
_LOG_C = _Y * _HAZARD + _LOG_UPPER


def noisy_sum_tail(
    t: ArrayLike,
    *,
    noise: ArrayLike,
    variance: ArrayLike,
    bound: ArrayLike,
    skew: ArrayLike = 1.0,
    arranged: ArrayLike = math.inf,
) -> NDArray[np.float64]:
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
    arranged : array-like of float
        Where U = sum (y_i - f) a_i with sum a_i = 0 and y an arrangement, at random, of f n ones and
        (1 - f) n zeros: at most n f (1 - f), and the above hold as if the y_i were independent of mean f.
        Infinite where they are.

    Returns
    -------
    array of float
        Bounds, at most 1. As functions of t they lie above one that falls and bounds the tail, so
        that of a random t they are p-values: P(noisy_sum_tail(U + N) <= alpha) <= alpha.
    """
    given = [np.asarray(x, dtype=np.float64) for x in (t, noise, variance, bound, skew, arranged)]
    t, noise, variance, bound, skew, arranged = np.broadcast_arrays(*given)
    up, down = (1 + skew) / 2, (1 - skew) / 2
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        per = np.where(bound > 0, variance / bound, 0.0)
        rate = _rate(t, noise, variance, bound, per, up, down)
        x = rate * bound
        exponent = np.interp(rate * np.sqrt(noise), _HAZARD, _LOG_C) - rate * t
        exponent += np.where(bound > 0, per / bound, 0.0) * (up * _second(x) + down * _second(-x))
        exponent += _arranged(rate, variance, arranged) + _SLACK
    return np.exp(np.where(exponent < 0, exponent, 0.0))


def _rate(
    t: NDArray[np.float64],
    noise: NDArray[np.float64],
    variance: NDArray[np.float64],
    bound: NDArray[np.float64],
    per: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return about the best rates, by Newton's method for their logarithms; every rate gives a bound."""
    spread = noise + variance
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


def _second(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^x - 1 - x, to full precision."""
    return np.where(np.abs(x) < 1e-3, x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5))), np.expm1(x) - x)


def _arranged(
    rate: NDArray[np.float64], variance: NDArray[np.float64], size: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log of what E e^(r U) gains, at most, when the numbers of ones and zeros are fixed."""
    gain = rate**2 * variance / (8 * size)
    v = np.maximum(size * np.exp(-2 * gain), _PEAK)
    middle = np.where(np.isinf(v), 0.0, np.log(np.sqrt(2 * np.pi * v) * i0e(v)))
    return gain + middle + 1 / (12 * size)
