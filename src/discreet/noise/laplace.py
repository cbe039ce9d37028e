"""Geometric and Laplace noise on the integers, exact at any scale (docs/proofs/samplers.md)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.noise import entropy
from discreet.noise.samplers import CHUNK, SCALES, coins, geometrics, prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.samplers import Prepared


def geometric(scale: float | Fraction, count: int) -> NDArray[np.int64]:
    """Return `count` draws with P(G = g) proportional to exp(-g/scale), g = 0, 1, ...; shape (count,)."""
    check.between(scale, "scale", *SCALES)
    return _many(prepared(scale if isinstance(scale, Fraction) else Fraction(float(scale))), count)


def discrete_laplace(scale: float | Fraction, count: int) -> NDArray[np.int64]:
    """Return `count` draws with P(X = x) proportional to exp(-|x|/scale); shape (count,).

    Zero with probability tanh(1/(2 scale)), else a fair sign on 1 + geometric.
    """
    check.between(scale, "scale", *SCALES)
    ready = prepared(scale if isinstance(scale, Fraction) else Fraction(float(scale)))
    size = _many(ready, count) + 1
    zero, sign = entropy.words(2 * count, np.uint16).reshape(2, count)
    size[coins(ready.zero, zero)] = 0
    return np.where(sign >> 15, size, -size)


def _many(ready: Prepared, count: int) -> NDArray[np.int64]:
    """Return any number of geometric draws."""
    if count <= CHUNK:
        return geometrics(ready, count)
    out = np.empty(count, dtype=np.int64)
    for start in range(0, count, CHUNK):
        part = out[start : start + CHUNK]
        part[:] = geometrics(ready, part.size)
    return out
