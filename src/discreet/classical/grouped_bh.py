"""BH that learns in which groups true nulls are rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def grouped_bh(p: NDArray[np.float64], q: float, groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions, ascending, that adaptive BH rejects with a factor for each group of its own.

    `groups` numbers the group of each hypothesis from 0 on. With n_g members, R_g of them at most q, G groups
    and R = sum R_g, the p-values of group g are multiplied by (n_g - R_g + 1)(R + G - 1)/(m(1-q) R_g); BH
    at level q follows, and nothing above q is rejected. One group: `adaptive_bh`.

    FDR <= q for independent p-values: docs/proofs/adaptive-bh.md. This is the weighting by
    pi_g/(1 - pi_g) of Hu, Zhao & Zhou, estimated so that it holds at any size, not only in the limit.

    References
    ----------
    - Hu, Zhao & Zhou (2010), False Discovery Rate Control with Groups, JASA 105(491).
    - Nandi & Sarkar (2018), Adapting BH to One- and Two-Way Classified Structures of Hypotheses,
      arXiv:1812.06551: the data-adaptive one-way form.
    """
    m = p.size
    sizes = np.bincount(groups)
    small = np.bincount(groups[p <= q], minlength=sizes.size)
    positions = np.flatnonzero(p <= q)
    # Of a group without small p-values nothing is looked at: 1 avoids dividing by 0.
    factor = (sizes - small + 1) * (positions.size + sizes.size - 1) / (m * (1 - q) * np.maximum(small, 1))
    kept = p[positions] * factor[groups[positions]]
    critical = q * np.arange(1, kept.size + 1) / m
    passing = np.flatnonzero(np.sort(kept) <= critical)
    return positions[kept <= critical[passing[-1]]] if passing.size else positions[:0]
