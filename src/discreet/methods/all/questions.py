"""How much BH may exceed its level when the answers of one question depend on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def dependence_factor(sizes: Sequence[int]) -> float:
    """Return kappa with FDR <= q kappa for BH at level q, whatever the dependence inside questions.

    Parameters
    ----------
    sizes : sequence of int
        How many hypotheses each question makes. Questions are independent of each other.

    Returns
    -------
    float
        At least 1; 1 if every question makes one hypothesis; at most 1 + 1/2 + .. + 1/m, which
        Benjamini-Yekutieli takes. Proof: docs/proofs/all-fdr.md.
    """
    size = np.asarray(sizes, dtype=np.float64)
    m = float(size.sum())
    others = np.maximum(size - 1, 1)
    inside = np.where(size > 1, size - others * m ** (-1 / others), 1.0)
    anything = float(np.sum(1 / np.arange(1, m + 1)))
    return max(1.0, float(size @ np.minimum(inside, anything)) / m * (1 + 1e-12))
