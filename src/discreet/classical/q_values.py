"""q-values: p-values adjusted for the procedure that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.classical.step_up import harmonic, null_share

if TYPE_CHECKING:
    from numpy.typing import NDArray


def q_values(p: NDArray[np.float64], q: float, m: int, procedure: str) -> NDArray[np.float64]:
    """Return the smallest level at which BH, BY or adaptive BH would reject each; shape of `p`.

    Hypotheses without a p-value count as p = 1. Adaptive BH keeps the share of true nulls that it found at
    `q`, and above `q` rejects nothing, so there a q-value is at least p.

    References
    ----------
    - Yekutieli & Benjamini (1999), Resampling-based False Discovery Rate Controlling Multiple Test
      Procedures for Correlated Test Statistics, JSPI 82: adjusted p-values of BH.
    - Storey (2003), The Positive False Discovery Rate: A Bayesian Interpretation and the q-value, Annals of
      Statistics 31(6): the q-value, times the share of true nulls.
    """
    order = np.argsort(p, kind="stable")
    ordered = p[order]
    factor = {"BH": 1.0, "BY": harmonic(m)}.get(procedure, null_share(p, q, m))
    each = factor * (m * ordered / np.arange(1, p.size + 1))
    if procedure == "adaptive BH":
        each = np.where(ordered > q, np.maximum(each, ordered), each)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum.accumulate(np.minimum(each, 1.0)[::-1])[::-1]
    return adjusted
