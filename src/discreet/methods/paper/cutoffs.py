"""The cutoffs of Algorithm 4, and the level each really earns (docs/errata.md, 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, get_args

import numpy as np

from discreet.classical.bounds import fdr_bound
from discreet.classical.step_up import critical_value
from discreet.typing import Cutoffs as Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.aware.discretised_null import NullLaw

KINDS: tuple[str, ...] = get_args(Kind)
_GRID = 200_001


@dataclass(frozen=True, slots=True, eq=False)
class Cutoffs:
    """Noisy scores to reach: `score[j-1]` for the j-th; and the FDR bound that follows.

    `adaptive_level` is the level q' at which the procedure is adaptive but for a chance of `miss`;
    `fdr` = fdr_bound(q') + miss, 1 when q' is no level at all.
    """

    score: NDArray[np.float64]
    adaptive_level: float
    miss: float
    fdr: float


def accuracy(m: int, k: int, scale: float, miss: float, selection: float | None = None) -> float:
    """Return Delta with y_j >= x_(j) - Delta for all j <= k but for a chance of `miss`: selection and value.

    Selection, of scale a: the largest of all noise is below a (log m + log(2k/miss)) and the noise of the
    best k, seen from below, too: together 2a(log m + log(2k/miss)). Value, of scale b: b log(k/miss).
    """
    a = scale if selection is None else selection
    return 2 * a * (math.log(m) + math.log(2 * k / miss)) + scale * math.log(k / miss)


@lru_cache(maxsize=128)
def cutoffs(
    null: NullLaw,
    m: int,
    k: int,
    q: float,
    scale: float,
    kind: str,
    miss: float,
    selection: float | None = None,
) -> Cutoffs:
    """Return what the j-th largest noisy score must reach, j = 1..k, and the level this earns.

    "plain": the score of p = q*j/m + nu. "paper": that, lowered by Delta, which makes at least as many
    discoveries as step-down with high probability (Theorem 6 (b)). "conservative": raised by b log(k/(2
    miss)), so that noise lifts no hypothesis over the line but for a chance of `miss`.

    A rejected hypothesis has a noisy score of at least cutoff_R, and a true one of at least cutoff_R - b
    log(k/(2 miss)) but for a chance of `miss`: adaptive at level q' = max_j (m/j) P(X0 >= cutoff_j - that).
    `scale` is the noise of the values, `selection` that of the selection where it is another. Public: kept.
    """
    grid = np.linspace(0.0, null.ceiling, _GRID)
    depth = -null.log_survival(grid)
    nu = 0.0 if kind == "conservative" else float(np.exp(-depth[-1]))
    j = np.arange(1, k + 1)
    # The first grid point whose null chance is at most alpha_j + nu: rounded towards fewer rejections.
    place = np.searchsorted(depth, -np.log(np.minimum(1.0, critical_value(j, q, m) + nu)), side="left")
    score = np.where(place < _GRID, grid[np.minimum(place, _GRID - 1)], np.inf)
    slack = scale * max(0.0, math.log(k / (2 * miss)))
    if kind == "paper":
        score = score - accuracy(m, k, scale, miss, selection)
    elif kind == "conservative":
        score = score + slack
    reached = np.exp(null.log_survival(np.where(np.isfinite(score), score - slack, null.ceiling * 2)))
    earned = float(np.max(reached * m / j))
    bound = 1.0 if earned >= 1.0 else float(fdr_bound(earned)) if earned > 0.0 else 0.0
    fdr = min(1.0, bound + miss)
    score.flags.writeable = False  # kept, and shared by later releases
    return Cutoffs(score, earned, miss, fdr)


def step_down_scores(y: NDArray[np.float64], cutoff: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions in y that step-down rejects: largest first, until one misses its cutoff."""
    order = np.argsort(-y, kind="stable")
    passing = y[order] >= cutoff[: y.size]
    count = y.size if passing.all() else int(np.argmin(passing))
    return order[:count]
