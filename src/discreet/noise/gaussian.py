"""Exact discrete Gaussian noise on the integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise.exact import bernoulli_exp
from discreet.noise.laplace import SCALES, discrete_laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray


def discrete_gaussian(sigma: float, count: int) -> NDArray[np.int64]:
    """Return `count` draws with P(X = x) proportional to exp(-x**2 / (2 sigma**2)); shape (count,).

    Adding it to an integer of sensitivity D is D**2/(2 sigma**2)-zCDP (Canonne, Kamath, Steinke 2020,
    Theorem 4). Discrete Laplace proposals of scale t = floor(sigma) + 1, kept with probability
    exp(-(|y| - sigma**2/t)**2 / (2 sigma**2)): how many are drawn depends on chance and sigma alone.
    """
    variance = Fraction(check.between(sigma, "sigma", SCALES[0], SCALES[1] / 2)) ** 2
    t = math.floor(sigma) + 1
    shift = variance / t
    kept: list[NDArray[np.int64]] = []
    missing = count
    while missing:
        proposed = discrete_laplace(Fraction(t), missing + missing // 2 + 16)
        distance = np.abs(proposed)

        def exact(i: int, distance: NDArray[np.int64] = distance) -> Fraction:
            return (int(distance[i]) - shift) ** 2 / (2 * variance)

        approximate = (distance - float(shift)) ** 2 / float(2 * variance)
        good = proposed[bernoulli_exp(approximate, exact)][:missing]
        kept.append(good)
        missing -= good.size
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
