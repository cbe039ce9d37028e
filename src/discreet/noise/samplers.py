"""Exact noise on the integers: geometric and Laplace without rejection, Gaussian rounded, and uniform.

The binary digits of a geometric variable are independent coins: with r = exp(-1/scale), digit j is 1 with
probability 1 / (1 + r**-(2**j)). Each digit is an exact coin (`exact`), so the law is exact at any scale.
Proof: docs/proofs/samplers.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy
from discreet.noise.exact import (
    FIRST,
    Digits,
    bernoulli_exp,
    coins,
    floor_of_exp,
    floor_of_odds,
    floor_of_tanh_half,
    resolve,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 1 << 61
"""No draw exceeds this in size; clamping at it is exact (docs/proofs/samplers.md)."""
SCALES = (2.0**-10, 2.0**50)
"""Smallest and largest scale in lattice steps: finer or coarser lattices are the caller's to choose."""
SIGMAS = (SCALES[0], SCALES[1] / 2)
"""Smallest and largest deviation of Gaussian noise; others are refused."""
_WORD = 64  # bits of the uniform part of Gaussian noise that are read at first
_RARE = 40  # digits of weight 2**j * scale > 40 become one overflow coin of probability below exp(-40)
_BLOCK = 16  # the lowest digits, up to scale/16, are drawn together
_CHUNK = 1 << 15  # draws worked on at once, so that their words stay in the cache


@dataclass(frozen=True, slots=True)
class _Digits:
    """The coins of one scale: one for each binary digit, the last for overflow."""

    first: tuple[int, ...]
    exact: tuple[Digits, ...]
    places: int


@lru_cache(maxsize=256)
def _digits(scale: Fraction) -> _Digits:
    places = max(0, math.ceil(math.log2(_RARE * scale)))
    exact: list[Digits] = [partial(floor_of_odds, 2**j / scale) for j in range(places)]
    exact.append(partial(floor_of_exp, 2**places / scale))
    return _Digits(tuple(digits(FIRST) for digits in exact), tuple(exact), places)


def geometric(scale: float | Fraction, count: int) -> NDArray[np.int64]:
    """Return `count` draws with P(G = g) proportional to exp(-g/scale), g = 0, 1, ...; shape (count,).

    At large scales the lowest digits are drawn together: G = 2**places * H + B, H geometric of scale
    scale/2**places, B independent of it with P(B = b) proportional to exp(-b/scale), b < 2**places.
    """
    check.between(scale, "scale", *SCALES)
    exact_scale = scale if isinstance(scale, Fraction) else Fraction(float(scale))
    places = max(0, math.floor(math.log2(exact_scale / _BLOCK)))
    digits = _digits(exact_scale / 2**places)
    out = np.empty(count, dtype=np.int64)
    for start in range(0, count, _CHUNK):
        part = out[start : start + _CHUNK]
        _fill(part, digits)
        if places:
            low = _lowest(exact_scale, places, part.size)
            np.minimum(part, LARGEST >> places, out=part)
            part <<= places
            part += low
    return np.minimum(out, LARGEST, out=out)


def _lowest(scale: Fraction, places: int, count: int) -> NDArray[np.int64]:
    """Return `count` draws on [0, 2**places) with P(b) proportional to exp(-b/scale).

    Uniform proposals, each kept with probability exp(-b/scale), which is at least exp(-1/_BLOCK): 64 bits
    below that keep it without a look at b.
    """
    out = np.empty(count, dtype=np.int64)
    left = np.arange(count)
    surely = np.uint64(floor_of_exp(2**places / scale, 64))
    while left.size:
        b = (entropy.words(left.size, np.uint64) >> np.uint64(64 - places)).astype(np.int64)
        drawn = entropy.words(left.size, np.uint64)
        kept = drawn < surely
        look = np.flatnonzero(~kept)
        values = b[look]

        def exact(i: int, _: int, values: NDArray[np.int64] = values) -> tuple[Fraction, Fraction]:
            x = int(values[i]) / scale
            return x, x

        kept[look] = bernoulli_exp(values / float(scale), exact, drawn[look])
        out[left] = b
        left = left[~kept]
    return out


def _fill(out: NDArray[np.int64], digits: _Digits) -> None:
    size = out.size
    words = entropy.words((digits.places + 1) * size, np.uint16).reshape(-1, size)
    coin, tied, byte = (
        np.empty(size, dtype=np.bool_),
        np.empty(size, dtype=np.bool_),
        np.zeros(size, np.uint8),
    )
    bits = coin.view(np.uint8)
    out[:] = 0
    for place, row in enumerate(words):
        np.less(row, digits.first[place], out=coin)
        if np.equal(row, digits.first[place], out=tied).any():
            for i in np.flatnonzero(tied):
                coin[i] = resolve(digits.exact[place])
        if place == digits.places:
            break
        np.bitwise_or(byte, np.left_shift(bits, place % 8, out=bits), out=byte)
        if place % 8 == 7 or place == digits.places - 1:
            out |= byte.astype(np.int64) << (place - place % 8)
            byte[:] = 0
    for i in np.flatnonzero(coin):
        # Overflow. Memoryless: past it the draw starts again.
        rest = np.zeros(1, dtype=np.int64)
        if 1 << digits.places < LARGEST:
            _fill(rest, digits)
        out[i] = min(LARGEST, (1 << digits.places) + int(rest[0]))


def discrete_laplace(scale: float | Fraction, count: int) -> NDArray[np.int64]:
    """Return `count` draws with P(X = x) proportional to exp(-|x|/scale); shape (count,).

    Zero with probability tanh(1/(2 scale)), else a fair sign on 1 + geometric.
    """
    check.between(scale, "scale", *SCALES)
    exact_scale = scale if isinstance(scale, Fraction) else Fraction(float(scale))
    size = geometric(exact_scale, count) + 1
    size[coins(partial(floor_of_tanh_half, 1 / exact_scale), count)] = 0
    return np.where(fair(count), size, -size)


def fair(count: int) -> NDArray[np.bool_]:
    """Return `count` fair coins."""
    bits = np.unpackbits(entropy.words(-(-count // 8), np.uint8), count=count)
    return bits.view(np.bool_)


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
        size = min(missing + missing // 2 + 16, _CHUNK)
        whole, bits = geometric(Fraction(t), size), entropy.words(size, np.uint64)
        part = bits * 2.0**-64
        approximate = ((whole - float(shift)) ** 2 + (2.0 * whole + part) * part) / float(2 * variance)
        exact = _Exact(whole, bits, shift, variance)
        nearest = np.minimum(whole + (bits >> np.uint64(63)).astype(np.int64), LARGEST)
        accepted = nearest[bernoulli_exp(approximate, exact)][:missing]
        kept.append(accepted)
        missing -= accepted.size
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


def uniform_below(bound: int, count: int) -> NDArray[np.uint64]:
    """Return `count` independent integers, exactly uniform on [0, bound), bound <= 2**64; shape (count,).

    Words of just enough bits, drawn again where they reach `bound`: how often depends on `bound` and chance,
    so give it public bounds only.
    """
    bound = check.whole(bound, "bound", 1, 1 << 64)
    shift = np.uint64(64 - max(1, (bound - 1).bit_length()))
    values = entropy.words(count, np.uint64) >> shift
    if bound == 1:
        return np.zeros(count, dtype=np.uint64)
    last = np.uint64(bound - 1)
    again = np.flatnonzero(values > last)
    while again.size:
        values[again] = entropy.words(again.size, np.uint64) >> shift
        again = again[values[again] > last]
    return values
