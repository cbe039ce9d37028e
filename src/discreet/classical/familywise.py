"""Bonferroni and Holm: no false rejection at all, with probability 1 - q."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def bonferroni(p: NDArray[np.float64], q: float, m: int | None = None) -> NDArray[np.int64]:
    """Return the positions, ascending, with p <= q/m: a true null among them with chance at most q.

    Whatever the dependence. `m` counts hypotheses that are not in `p` too, as p = 1.
    """
    return np.flatnonzero(p <= q / (m or p.size))


def holm(p: NDArray[np.float64], q: float, m: int | None = None) -> NDArray[np.int64]:
    """Return the positions, ascending, of p_(1), p_(2), ... as long as p_(j) <= q/(m - j + 1).

    The promise of `bonferroni`, of which it rejects all and perhaps more.

    References
    ----------
    Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics
    6(2).
    """
    m = p.size if m is None else m
    ordered = np.sort(p[p <= q])
    failing = np.flatnonzero(ordered > q / (m - np.arange(ordered.size)))
    return np.flatnonzero(p < ordered[failing[0]] if failing.size else p <= q)
