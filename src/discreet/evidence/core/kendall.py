"""Concordant minus discordant pairs in O(n log^2 n)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def kendall(x: NDArray[np.floating[Any]], y: NDArray[np.floating[Any]]) -> float:
    """Return sum over pairs i < j of sign(x_i - x_j) sign(y_i - y_j); pairs with a missing value count 0."""
    present = ~(np.isnan(x) | np.isnan(y))
    first = np.unique(x[present], return_inverse=True)[1].astype(np.int64)
    second = np.unique(y[present], return_inverse=True)[1].astype(np.int64)
    n = first.size
    if n < 2:
        return 0.0
    order = np.lexsort((first, second))
    first, second = first[order], second[order]
    # Sorted by y, then x: discordant pairs are the strict inversions of x; tied pairs are neither.
    tied = _pairs(first) + _pairs(second) - _pairs(first * n + second)
    return float(n * (n - 1) // 2 - tied - 2 * _inversions(first))


def _pairs(codes: NDArray[np.int64]) -> int:
    count = np.unique(codes, return_counts=True)[1]
    return int(np.sum(count * (count - 1) // 2))


def _inversions(codes: NDArray[np.int64]) -> int:
    """Count pairs i < j with codes[i] > codes[j], merging sorted runs of doubling length."""
    size = 1 << int(codes.size - 1).bit_length()
    top = int(codes.max()) + 1
    runs = np.full(size, top, dtype=np.int64)  # padding at the end, larger than all: no inversions
    runs[: codes.size] = codes
    total, length = 0, 1
    while length < size:
        pairs = runs.reshape(-1, 2, length)
        # Runs apart by more than any code: one search answers for all pairs of runs.
        shift = (np.arange(pairs.shape[0]) * (top + 1))[:, None]
        left, right = (pairs[:, 0] + shift).ravel(), (pairs[:, 1] + shift).ravel()
        not_above = np.searchsorted(left, right, side="right")
        ends = np.repeat((np.arange(pairs.shape[0]) + 1) * length, length)
        total += int(np.sum(ends - not_above))
        length *= 2
        runs = np.sort(runs.reshape(-1, length), axis=1).ravel()
    return total
