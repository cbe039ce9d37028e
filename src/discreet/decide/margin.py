"""The margin that pays for the noise of a search (docs/proofs/aware-fdr.md, step 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def largest_of(sigma_steps: float, depth: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points, in units of sigma, and P(the largest of `depth` rounded Gaussians is at most them)."""
    reach = int(np.ceil(10 * sigma_steps))
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    return k / sigma_steps, scipy.special.ndtr((k + 0.5) / sigma_steps) ** depth


def margin_for(
    growth: NDArray[np.float64],
    nodes: NDArray[np.float64],
    largest: tuple[NDArray[np.float64], NDArray[np.float64]],
    level: float,
) -> float:
    """Return the smallest margin M >= 0 with E min(1, growth(max Z - M)) <= level; all in units of sigma.

    `growth` increases and is known at the nodes: between two it is taken at the upper one, beyond them as 1.
    Infinite when no margin up to 8 is enough.
    """
    points, below = largest
    capped = np.append(np.minimum(1.0, growth), 1.0)

    def expected(margin: float) -> float:
        index = np.searchsorted(points, nodes + margin + 1e-9, side="right") - 1
        cdf = np.where(index >= 0, below[np.maximum(index, 0)], 0.0)
        return float(np.diff(np.concatenate(([0.0], cdf, [1.0]))) @ capped)

    low, high = 0.0, 8.0
    if expected(high) > level:
        return np.inf
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if expected(middle) <= level else (middle, high)
    return high
