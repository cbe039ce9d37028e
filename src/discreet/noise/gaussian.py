"""Exact discrete Gaussian noise on the integers, and coins of probability exp(-x) for rational x."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy
from discreet.noise.exact import floor_of_exp, resolve
from discreet.noise.laplace import SCALES, discrete_laplace

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_WORD = 2.0**64
# Twice 2**-41 around a float exp: generous against its error of a few units in 2**-53 and that of x itself.
_DOUBT = 2.0**-40


def bernoulli_exp(x: NDArray[np.float64], exact: Callable[[int], Fraction]) -> NDArray[np.bool_]:
    """Return independent coins, coin i True with probability exactly exp(-exact(i)); shape of `x`.

    `x` approximates the exact rationals to within 2**-42 * (1 + x); 64 random bits against exp(-x) decide all
    coins but about one in 10**12, and `exact` decides those.
    """
    drawn = entropy.words(x.size, np.uint64)
    word = drawn.astype(np.float64)
    target = np.exp(-x) * _WORD
    doubt = target * (_DOUBT * (1.0 + x)) + 2.0**12  # the conversion of a word to float may move it by 2**11
    heads = word < target
    for i in np.flatnonzero(np.abs(word - target) <= doubt):
        heads[i] = _settle(int(drawn[i]), exact(int(i)))
    return heads


def _settle(word: int, x: Fraction) -> bool:
    """Finish the comparison of a 64-bit prefix with exp(-x)."""
    if x == 0:
        return True
    target = floor_of_exp(x, 64)
    return word < target if word != target else resolve(partial(floor_of_exp, x), 64)


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
