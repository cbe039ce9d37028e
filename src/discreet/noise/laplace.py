"""Exact geometric and Laplace noise on the integers, without rejection.

The binary digits of a geometric variable are independent coins: with r = exp(-1/scale), digit j is 1 with
probability 1 / (1 + r**-(2**j)). Each digit is an exact coin (`exact`), so the law is exact at any scale.
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
    exact_scale = _fraction(scale)
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
    exact_scale = _fraction(scale)
    size = geometric(exact_scale, count) + 1
    size[coins(partial(floor_of_tanh_half, 1 / exact_scale), count)] = 0
    return np.where(fair(count), size, -size)


def fair(count: int) -> NDArray[np.bool_]:
    """Return `count` fair coins."""
    bits = np.unpackbits(entropy.words(-(-count // 8), np.uint8), count=count)
    return bits.view(np.bool_)


def _fraction(scale: float | Fraction) -> Fraction:
    exact = scale if isinstance(scale, Fraction) else Fraction(check.between(scale, "scale", *SCALES))
    check.between(exact, "scale", *SCALES)
    return exact
