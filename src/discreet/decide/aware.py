"""Noise-aware BH: everything about it that is public. Proofs: docs/proofs/aware-fdr.md.

For a number r of discoveries, s_r is the Gumbel scale that r rounds need, t_r the BH cutoff of a *noisy* null
score, P(X0 + s_r G >= t_r) = level * r/m, and the margin M pays for the noise of the search for r.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.decide.cells import Cells, NullLaw, cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COARSE, _FINE = 0.05, 0.01
_NEGLIGIBLE = 1e-7
# How steep the null is over the search noise; then the ratio of the grid of counts, and beta/q.
_SHAPES = ((0.01, 0.01, 0.02), (0.05, 0.015, 0.04), (0.2, 0.02, 0.05), (1.0, 0.03, 0.1), (np.inf, 0.05, 0.15))


@dataclass(frozen=True, slots=True, eq=False)
class Aware:
    """The public side of one release: candidate counts, their noise scales, and the levels to reach."""

    counts: NDArray[np.int64]
    scale: NDArray[np.float64]
    level: NDArray[np.float64]
    inside: float


def candidate_counts(most: int, ratio: float) -> NDArray[np.int64]:
    """Return counts from 1 to `most`, each within a factor of about 1 + ratio of the last."""
    counts = [1]
    while counts[-1] < most:
        counts.append(min(most, counts[-1] + max(1, int(counts[-1] * ratio))))
    return np.array(counts)


def noisy_tail(null: Cells, scale: NDArray[np.float64], t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(X0 + scale * G >= t) for each pair of scale and t; G standard Gumbel."""
    gap = (t[:, None] - null.at) / scale[:, None]
    tail: NDArray[np.float64] = -np.expm1(-np.exp(np.minimum(-gap, 700.0)))
    return np.sum(tail * null.mass, axis=1)


def cutoffs(null: Cells, scale: NDArray[np.float64], chance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return t with P(X0 + scale * G >= t) = chance, for each scale; approximate, which costs no validity."""
    low: NDArray[np.float64] = -50 * scale
    high: NDArray[np.float64] = float(null.at[-1]) + 60 * scale
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
    """Return points, in units of sigma, and P(the largest of `depth` discrete Gaussians is below them)."""
    reach = int(np.ceil(10 * sigma_steps))
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    mass = np.exp(-0.5 * (k / sigma_steps) ** 2)
    return k / sigma_steps, np.minimum(1.0, np.cumsum(mass) / mass.sum()) ** depth


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


def proved(
    null: NullLaw, m: int, q: float, search: Shape, unit: float, sigma: float, step: float, dependence: str
) -> Aware:
    """Return the plan whose FDR is at most q: `unit` is s_1, sigma and step those of the search noise.

    FDR <= E min(1, m * sup E[P(s_R G >= t_R + M - max Z - X0)/R]) + beta <= q, the sup from `inflation`.
    Noise can be paid for by the level inside t_r or by the margin M; a few levels are tried, each with the
    margin that makes the inequality true, and the one with the lowest cutoffs is taken.
    """
    level, counts = q - search.beta, search.counts
    scale = unit * np.sqrt(counts)
    rough, fine = (cells(null, width, _NEGLIGIBLE * level / m) for width in (_COARSE, _FINE))
    steepness = sigma * _hazard(null, level / m)
    nodes = np.linspace(-8.0, 8.0, int(np.clip(16 * steepness / 0.04, 17, 97)))
    largest = largest_of(sigma / step, search.depth)
    best = Aware(counts, scale, np.full(counts.size, 1e3 * null.ceiling), 0.0)  # out of reach
    for inside in level * _levels(steepness, dependence):
        t = cutoffs(rough, scale, inside * counts / m)
        growth = m * inflation(fine, counts, scale, t, nodes * sigma, monotone=dependence == "positive")
        margin = sigma * margin_for(growth + 1e-9, nodes, largest, level)
        if np.isfinite(margin) and _cost(counts, t + margin) < _cost(counts, best.level):
            best = Aware(counts, scale, t + margin, float(inside))
    return best


def _levels(steepness: float, dependence: str) -> NDArray[np.float64]:
    """Return the shares of q to try inside the cutoffs."""
    full = min(1.4 * steepness + 0.5 * steepness**2, 3.0)
    shares = np.exp(-np.array([0.0, 0.3 * full, full]) - 0.005)
    return shares if dependence == "positive" else shares / 6.0


def _cost(counts: NDArray[np.int64], level: NDArray[np.float64]) -> float:
    """Return the average cutoff over the scale of log r, small r first: lower means more discoveries."""
    weight = (np.gradient(np.log(counts)) if counts.size > 1 else np.ones(1)) / np.sqrt(counts)
    return float(weight @ level / weight.sum())


def calibrated(null: NullLaw, m: int, q: float, search: Shape, unit: float, sigma: float) -> Aware:
    """Return the plan of the calibrated mode: cutoffs at q and a margin that simulations show to suffice.

    M_r = max(kappa sigma^2/2, -sigma Phi^-1(.02/depth) - d_r), d_r = t_r - (t_r at q = 1) and
    kappa = log(1/q)/d_r.
    """
    counts = search.counts
    scale = unit * np.sqrt(counts)
    null_cells = cells(null, _COARSE / 5, _NEGLIGIBLE * q / m)
    t = cutoffs(null_cells, scale, q * counts / m)
    room = np.maximum(t - cutoffs(null_cells, scale, counts / m), 1e-12)
    margin = np.maximum(
        np.log(1 / q) / room * sigma**2 / 2, -sigma * float(ndtri(0.02 / search.depth)) - room
    )
    return Aware(counts, scale, t + margin, q)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Which counts to consider, how many comparisons that takes, and the shortfall to allow. Public."""

    counts: NDArray[np.int64]
    depth: int
    beta: float


def shape(null: NullLaw, m: int, q: float, unit: float, sigma_one: float) -> Shape:
    """Return the search for this much noise: `unit` is s_1, `sigma_one` the noise of a single comparison.

    Little noise affords a finer grid of counts and needs less room for a shortfall. Counts so large that even
    twice as many perfect scores could not reach their cutoff are left out.
    """
    steepness = float(sigma_one * np.sqrt(8.0) * _hazard(null, q / m))
    ratio, share = next((ratio, share) for limit, ratio, share in _SHAPES if steepness < limit)
    trial = np.unique(np.round(np.geomspace(1, m, 60)).astype(np.int64))
    scale = unit * np.sqrt(trial)
    t = cutoffs(cells(null, _COARSE, _NEGLIGIBLE * q / m), scale, q * trial / m)
    within = t <= null.ceiling + scale * np.log(2.0)
    counts = candidate_counts(int(np.max(trial, where=within, initial=1)), ratio)
    return Shape(counts, len(counts).bit_length(), q * share)


def _hazard(null: NullLaw, chance: float) -> float:
    """Return d(-log survival)/dt where the survival is `chance`."""
    t: NDArray[np.float64] = np.linspace(0.0, null.ceiling, 4001)[1:-1]
    depth: NDArray[np.float64] = -null.log_survival(t)
    i = min(int(np.count_nonzero(depth < -np.log(chance))), t.size - 2)
    before = max(i - 1, 0)
    return (float(depth[i + 1]) - float(depth[before])) / (float(t[i + 1]) - float(t[before]))
