"""The constants of `privacy/curves.py`: the worst martingale of bounded range beside a normal one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_UP = 1 + 1e-11  # more than the rounding of all sums, relatively
_LOST = 1e-140  # and more than all that is too small for a float


def constants(most: int, cells: int) -> NDArray[np.float64]:
    """Return c_k for k = 1, ..., most, rounded up by what a grid of `cells` points to a unit costs.

    c_k is the smallest c with d_k(y) <= E(c*sqrt(k)/2 * N - y)_+ for every y, N standard normal
    (docs/proofs/rounds.md, section 4).
    """
    worst = worst_walks(most, cells)
    return np.array(
        [2 * deviation(curve[: k * cells + 1], cells) / math.sqrt(k) for k, curve in enumerate(worst, 1)]
    )


def worst_walks(most: int, cells: int) -> Iterator[NDArray[np.float64]]:
    """Yield, for k = 1, ..., most, upper bounds of d_k at j/cells, j = 0, 1, ..., most*cells.

    d_k(y) is the largest E(S - y)_+ over martingales S of k steps, each in an interval of length 1 that may
    depend on the past: d_k(y) = sup over t in [0, 1] of (1 - t) d_{k-1}(y - t) + t d_{k-1}(y - t + 1), and
    d_0(y) = (-y)_+. It is convex, and d_k(-y) = d_k(y) + y.
    """
    points = most * cells + 1
    y = np.arange(points) / cells
    curve = np.zeros(points)
    for _ in range(most):
        # From y = -1 up to one beyond the last, where d is 0.
        whole = np.concatenate((curve[cells:0:-1] + y[cells:0:-1], curve, np.zeros(cells)))
        low, high = whole[cells : cells + points], whole[2 * cells : 2 * cells + points]
        best = value = low
        for j in range(1, cells + 1):
            next_low, next_high = whole[cells - j :][:points], whole[2 * cells - j :][:points]
            next_value = next_low + (next_high - next_low) * (j / cells)
            # Between two t both parts lie under chords: value + (next - value)*s + bend*s*(1 - s).
            bend = np.maximum(((next_low - low) - (next_high - high)) / cells, 1e-300)
            arch = bend / 4 * np.maximum(1 - np.abs(next_value - value) / bend, 0.0) ** 2
            best = np.maximum(best, np.maximum(value, next_value) + arch)
            low, high, value = next_low, next_high, next_value
        curve = best
        yield curve


def deviation(curve: NDArray[np.float64], cells: int) -> float:
    """Return the smallest sigma, rounded up, with E(sigma N - y)_+ >= d(y) for every real y; d ends at 0."""
    h = 1 / cells
    y = np.arange(curve.size, dtype=np.float64) * h
    target = curve * _UP + _LOST

    def covers(sigma: float) -> bool:
        z = y / sigma
        before = np.maximum(y - h, 0.0) / sigma
        mills = math.sqrt(math.pi / 2) * scipy.special.erfcx(z / math.sqrt(2))
        # Between grid points the left side lies under its chord, by h^2/8 times its curvature at most.
        bend = h * h / (8 * sigma) * _density(before)
        return bool(np.all(_density(z) * sigma * (1 - z * mills) - bend >= target))

    low, high = 0.0, curve.size * h
    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return high


def _density(z: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
