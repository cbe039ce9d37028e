"""Noise-aware BH: everything about it that is public. Proofs: docs/proofs/aware-fdr.md.

For a number r of discoveries, s_r is the Gumbel scale that r rounds need, t_r the BH cutoff of a *noisy* null
score, P(X0 + s_r G >= t_r) = level * r/m, and the margin M pays for the noise of the search for r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.decide.cells import Cells, NullLaw, cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COARSE, _FINE = 0.05, 0.01
_NEGLIGIBLE = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class Aware:
    """The public side of one release: candidate counts, their noise scales, and the levels to reach."""

    counts: NDArray[np.int64]
    scale: NDArray[np.float64]
    level: NDArray[np.float64]
    inside: float


def candidate_counts(m: int, depth: int) -> NDArray[np.int64]:
    """Return at most 2**depth - 1 counts from 1 to m: all of them when few, geometric beyond."""
    size = min(m, 2**depth - 1)
    if size == m:
        return np.arange(1, m + 1)
    for ratio_points in range(size, 4 * size):
        grid = np.unique(np.round(np.geomspace(1, m, ratio_points)).astype(np.int64))
        if grid.size >= size:
            break
    keep = np.unique(np.round(np.linspace(0, grid.size - 1, size)).astype(np.int64))
    return grid[keep]


def noisy_tail(null: Cells, scale: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(X0 + scale * G >= t) for each pair of scale and t; G standard Gumbel."""
    gap = (t[:, None] - null.at) / scale[:, None]
    return -np.expm1(-np.exp(np.minimum(-gap, 700.0))) @ null.mass


def cutoffs(null: Cells, scale: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t with P(X0 + scale * G >= t) = chance, for each scale; approximate, which costs no validity."""
    low, high = -50 * scale, null.at[-1] + 60 * scale
    for _ in range(42):
        middle = (low + high) / 2
        over = noisy_tail(null, scale, middle) > chance
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return high


def inflation(
    null: Cells,
    counts: NDArray[np.int64],
    scale: NDArray[np.float64],
    t: NDArray[np.float64],
    shift: NDArray[np.float64],
    *,
    monotone: bool,
) -> NDArray[np.float64]:
    """Return sup E[P(s_R G >= t_R - z - X0) / R] over all ways R can depend on X0, for each z in `shift`.

    `monotone`: R nondecreasing in X0 (PRDS), by a dynamic programme from the top cell down; otherwise R may
    be anything (any dependence), and the best r is taken in each cell. R = 0 contributes 0.
    """
    best = np.zeros((shift.size, counts.size + 1))
    total = np.zeros(shift.size)
    reach = (t - shift[:, None]) / scale
    for at, mass in zip(null.at[::-1], null.mass[::-1], strict=True):
        if mass <= 0.0:
            continue
        gain = -np.expm1(-np.exp(np.minimum(at / scale - reach, 700.0))) * (mass / counts)
        if monotone:
            best[:, 1:] += gain
            np.maximum.accumulate(best[:, ::-1], axis=1, out=best[:, ::-1])
        else:
            total += gain.max(axis=1)
    return best[:, 0] if monotone else total


def largest_of(sigma_steps: float, depth: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points (in units of sigma) and distribution function of the largest of `depth` discrete
    Gaussians."""
    reach = int(np.ceil(10 * sigma_steps))
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-0.5 * (k / sigma_steps) ** 2)
    return k / sigma_steps, np.minimum(1.0, np.cumsum(mass) / mass.sum()) ** depth


def expected_growth(
    growth: NDArray[np.float64],
    nodes: NDArray[np.float64],
    largest: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Return an upper bound on E min(1, growth(max Z)), max Z and the nodes in units of sigma.

    `growth` increases and is known at the nodes: between two it is taken at the upper one, beyond them as 1.
    """
    points, below = largest
    index = np.searchsorted(points, nodes + 1e-9, side="right") - 1
    cdf = np.where(index >= 0, below[np.maximum(index, 0)], 0.0)
    chance = np.diff(np.concatenate(([0.0], cdf, [1.0])))
    return float(chance @ np.append(np.minimum(1.0, growth), 1.0))


@lru_cache(maxsize=64)
def proved(
    null: NullLaw,
    m: int,
    q: float,
    beta: float,
    depth: int,
    unit: float,
    sigma: float,
    step: float,
    dependence: str,
) -> Aware:
    """Return the plan whose FDR is at most q: `unit` is s_1, sigma and step those of the search noise.

    FDR <= E min(1, m * sup E[P(s_R G >= t_R - max Z - X0)/R]) + beta <= q, the sup from `inflation`. The
    cutoffs are set at a level below q that makes it so; it is found by trial, and only a checked one is used.
    """
    level = q - beta
    counts = candidate_counts(m, depth)
    scale = unit * np.sqrt(counts)
    rough, fine = (cells(null, width, _NEGLIGIBLE * level / m) for width in (_COARSE, _FINE))
    steepness = sigma * _hazard(null, level / m)
    nodes = np.linspace(-5.0, 9.0, int(np.clip(14 * steepness / 0.03, 17, 113)))
    largest = largest_of(sigma / step, depth)
    monotone = dependence == "positive"

    def bound(inside: float) -> tuple[float, NDArray[np.float64]]:
        t = cutoffs(rough, scale, inside * counts / m)
        growth = m * inflation(fine, counts, scale, t, nodes * sigma, monotone=monotone) + 1e-9
        return expected_growth(growth, nodes, largest), t

    inside = level / float(np.exp(1.4 * steepness + 0.5 * steepness**2)) / (1.0 if monotone else 5.0)
    for _ in range(12):
        reached, t = bound(inside)
        if 0.99 * level <= reached <= level:
            break
        inside *= min(0.995 * level / reached, 20.0)
    else:
        if reached > level:
            t = np.full(counts.size, np.inf)
    return Aware(counts, scale, t, inside)


def _hazard(null: NullLaw, chance: float) -> float:
    """Return d(-log survival)/dt where the survival is `chance`."""
    t = np.linspace(0.0, null.ceiling, 4001)[1:-1]
    depth = -null.log_survival(t)
    i = min(int(np.searchsorted(depth, -np.log(chance))), t.size - 2)
    return float((depth[i + 1] - depth[max(i - 1, 0)]) / (t[i + 1] - t[max(i - 1, 0)]))
