"""Peeling: Report Noisy Min k times, each time without what was taken (the mechanism of Theorem 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.laws import LAPLACE
from discreet.selection.contest.contest import largest

if TYPE_CHECKING:
    from numpy.typing import NDArray


def peel(scores: NDArray[np.float64], scale: float, k: int) -> NDArray[np.int64]:
    """Return k positions, best first, each the largest score + fresh Laplace noise among those left.

    Each round is (spread/scale)-DP (docs/proofs/peel.md). Takes k passes; `gumbel` needs less noise and one.
    """
    left = np.arange(scores.size)
    rest = scores
    chosen = np.empty(k, dtype=np.int64)
    for i in range(k):
        best = int(largest(rest, scale, 1, LAPLACE)[0])
        chosen[i] = left[best]
        left, rest = np.delete(left, best), np.delete(rest, best)
    return chosen
