"""BH with weights that say, in advance, which hypotheses are likelier or matter more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import step_up_positions

if TYPE_CHECKING:
    from numpy.typing import NDArray


def weighted_bh(p: NDArray[np.float64], q: float, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions, ascending, that BH rejects at level q when p/w stand in for p-values.

    Weights w >= 0, not all 0, are scaled to a mean of 1. A hypothesis of weight 0, or with p = 1, is never
    rejected. FDR <= q under the assumptions of BH, for weights chosen without a look at the p-values:
    docs/proofs/adaptive-bh.md.

    References
    ----------
    - Genovese, Roeder & Wasserman (2006), False Discovery Control with p-value Weighting, Biometrika 93(3).
    - Blanchard & Roquain (2008), Two Simple Sufficient Conditions for FDR Control, Electronic Journal of
      Statistics 2: under PRDS too.
    """
    weights = weights / weights.mean()
    able = (weights > 0) & (p < 1)
    with np.errstate(over="ignore"):  # by a weight near 0: as good as infinite
        return step_up_positions(np.divide(p, weights, out=np.full(p.size, np.inf), where=able), q)
