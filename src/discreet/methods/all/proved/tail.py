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
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_PEAK = 0.789952599052  # where sqrt(v) e^-v I0(v) is largest

# C(r) = exp(sup over y of (a y + log P(Z >= y))), a = r sd(N). The supremum is at the y whose hazard is a,
# and is convex in a, so that chords between nodes lie above it.
_Y = np.arange(-38.0, 66.0, 1 / 128)
_LOG_UPPER = log_ndtr(-_Y)
_HAZARD = np.exp(-0.5 * _Y * _Y - _LOG_UPPER - 0.5 * math.log(2 * math.pi))
_LOG_C = _Y * _HAZARD + _LOG_UPPER


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


def _second(x: Floats) -> Floats:
    """Return e^x - 1 - x, to full precision."""
    near = x * x / 2 * (1 + x / 3 * (1 + x / 4 * (1 + x / 5)))
    return np.where(np.abs(x) < 1e-3, near, np.expm1(x) - x)
