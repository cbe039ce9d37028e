"""The margin that makes up for the noise of the search (docs/proofs/aware-fdr.md, step 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from numpy.typing import NDArray


def margin_for(
    growth: NDArray[np.float64], nodes: NDArray[np.float64], sigma_steps: float, depth: int, level: float
) -> float:
    """Return the smallest margin M >= 0 with E min(1, growth(max Z - M)) <= level; all in units of sigma.

    max Z is the largest of `depth` Gaussians, each rounded to whole steps; sigma is `sigma_steps` steps.
    `growth` is increasing and known at the nodes: between two nodes the value at the upper one is used,
    beyond the last one 1. Infinite if no margin up to 8 is enough.
    """
    capped = np.append(np.minimum(1.0, growth), 1.0)

    def expected(margin: float) -> float:
        step = np.floor((nodes + margin + 1e-9) * sigma_steps)
        cdf: NDArray[np.float64] = scipy.special.ndtr((step + 0.5) / sigma_steps) ** depth
        return float(np.diff(np.concatenate(([0.0], cdf, [1.0]))) @ capped)

    low, high = 0.0, 8.0
    if expected(high) > level:
        return np.inf
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if expected(middle) <= level else (middle, high)
    return high
