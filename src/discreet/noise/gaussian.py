"""Exact Gaussian noise, rounded to the integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy
from discreet.noise.exact import bernoulli_exp
from discreet.noise.laplace import LARGEST, SCALES, fair, geometric

if TYPE_CHECKING:
    from numpy.typing import NDArray


SIGMAS = (SCALES[0], SCALES[1] / 2)
"""The deviations in use; others are refused."""
_WORD = 64  # bits of the uniform part that are read at first


def rounded_gaussian(sigma: float, count: int) -> NDArray[np.int64]:
    """Return `count` draws of a normal variable of deviation sigma, each rounded to the nearest integer.

    P(X = x) = Phi((x + 1/2)/sigma) - Phi((x - 1/2)/sigma), exactly; shape (count,). An integer plus this
    noise is the rounding of the integer plus normal noise: with sensitivity D it is Gaussian(D/sigma), not
    only zero-concentrated.

    Notes
    -----
    The size is g + f, g geometric of scale t = floor(sigma) + 1 and f a uniform real whose bits are read as
    needed, kept with probability exp(-((g - sigma^2/t)^2 + 2 g f + f^2) / (2 sigma^2)): how many are drawn
    depends on chance and sigma alone (docs/proofs/samplers.md).
    """
    variance = Fraction(check.between(sigma, "sigma", *SIGMAS)) ** 2
    t = math.floor(sigma) + 1
    shift = variance / t
    kept: list[NDArray[np.int64]] = []
    missing = count
    while missing:
        size = missing + missing // 2 + 16
        whole, bits = geometric(Fraction(t), size), entropy.words(size, np.uint64)
        part = bits * 2.0**-64
        approximate = ((whole - float(shift)) ** 2 + (2.0 * whole + part) * part) / float(2 * variance)
        exact = _Exact(whole, bits, shift, variance)
        nearest = np.minimum(whole + (bits >> np.uint64(63)).astype(np.int64), LARGEST)
        good = nearest[bernoulli_exp(approximate, exact)][:missing]
        kept.append(good)
        missing -= good.size
    sizes = np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
    return np.where(fair(count), sizes, -sizes)


class _Exact:
    """The exponents of the coins above, enclosed by as many bits of f as are asked for."""

    def __init__(
        self, whole: NDArray[np.int64], bits: NDArray[np.uint64], shift: Fraction, variance: Fraction
    ) -> None:
        self.whole, self.bits, self.shift, self.variance = whole, bits, shift, variance
        self.read: dict[int, tuple[int, int]] = {}

    def __call__(self, i: int, bits: int) -> tuple[Fraction, Fraction]:
        word, known = self.read.get(i, (int(self.bits[i]) >> 64 - _WORD, _WORD))
        if known < bits:
            word, known = word << bits - known | entropy.integer(bits - known), bits
        self.read[i] = word, known
        return self._at(i, Fraction(word, 1 << known)), self._at(i, Fraction(word + 1, 1 << known))

    def _at(self, i: int, f: Fraction) -> Fraction:
        g = int(self.whole[i])
        return ((g - self.shift) ** 2 + (2 * g + f) * f) / (2 * self.variance)
