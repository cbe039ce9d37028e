"""Clipping to a ball, person by person: the arithmetic that the kernel in C follows to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LITTLE = 2.0**-20  # more than rounding adds to a product of single-precision floats


def clipped(
    rows: NDArray[np.float64], room: float, radius: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows of whole numbers clipped, (n, m), and the share of each one's length that is left, (n,).

    Each entry v of a row is multiplied by sqrt(room / (|row|^2 - v^2)) where that is below 1, then rows
    longer than `radius` are shrunk to it. Weights are of single precision; results are rounded toward zero.

    Guarantee: no row is longer than `radius` afterwards. Lengths are sums of whole numbers, hence exact; the
    last factor is smaller than it need be by a share of 2**-20, and rounding adds less than 2**-22 to it.
    """
    squared = np.einsum("ij,ij->i", rows, rows)  # whole numbers below 2**53: exact in any order
    entry, narrow = rows.astype(np.float32), np.float32(room)
    others = squared.astype(np.float32)[:, None] - entry * entry
    weighed = np.trunc(entry * np.sqrt(narrow / np.maximum(others, narrow))).astype(np.float64)
    left = np.einsum("ij,ij->i", weighed, weighed)
    length = np.sqrt(left)
    shrunk = radius / np.maximum(length, 1.0) * (1 - _LITTLE)
    scale = np.where(length > radius, shrunk, 1.0).astype(np.float32)
    share = np.sqrt(left / np.maximum(squared, 1.0)) * scale
    kept = np.where((squared > 0) & (share < 1), share, 1.0)
    return np.trunc(weighed.astype(np.float32) * scale[:, None]).astype(np.float64), kept
