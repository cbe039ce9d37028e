"""BH with the share of true nulls estimated from the p-values themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def null_share(p: NDArray[np.float64], q: float, m: int) -> float:
    """Return (1 + #{p > q}) / (m*(1 - q)), an estimate of the share of true nulls among m hypotheses.

    The m - p.size hypotheses without a p-value count as p = 1. It may exceed 1, and must be left there: with
    the share capped at 1, FDR rises to 1.062 q where all of 5 nulls are true (q = 0.1).
    """
    return (1 + m - int(np.count_nonzero(p <= q))) / (m * (1 - q))


def adaptive_bh(p: NDArray[np.float64], q: float, m: int | None = None) -> NDArray[np.int64]:
    """Return the positions, ascending, that step-up with critical values min(q, q*j/(m*pi0)) rejects.

    pi0 is `null_share`. FDR <= q for p-values of true nulls that are independent of each other and of the
    rest. `m` counts hypotheses that are not in `p` too, as p = 1.

    Notes
    -----
    No p above q is rejected, so pi0 does not depend on which p-value below q a hypothesis has: this is what
    the theorem (docs/proofs/adaptive-bh.md), and intervals for what is selected, stand on.

    References
    ----------
    Storey, Taylor & Siegmund (2004), Strong Control, Conservative Point Estimation and Simultaneous
    Conservative Consistency of False Discovery Rates, JRSS B 66(1): Theorem 3, with lambda = q.
    """
    m = p.size if m is None else m
    positions = np.flatnonzero(p <= q)
    kept = p[positions]
    critical = q * np.arange(1, kept.size + 1) / (m * null_share(p, q, m))
    passing = np.flatnonzero(np.sort(kept) <= critical)
    return positions[kept <= critical[passing[-1]]] if passing.size else positions[:0]
