"""The public part of noise-aware BH: candidate counts, noise scales and cutoffs.

For r discoveries, s_r is the Gumbel scale that r rounds need; t_r is the BH cutoff of a *noisy* null score,
P(X0 + s_r G >= t_r) = level * r/m; and the margin M makes up for the noise of the search for r. Proofs:
docs/proofs/aware-fdr.md (the margin: step 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.methods.aware.discretised_null import DiscretisedNull, NullLaw, centred, discretised, inflation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Scales = Callable[[NDArray[np.int64]], NDArray[np.float64]]
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


_COARSE, _MIDDLE, _FINE = 0.05, 0.03, 0.01
_NEGLIGIBLE = 1e-4
_SOLVED = 12
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
    """Return increasing counts from 1 to `most`, each about 1 + ratio times the one before."""
    counts = [1]
    while counts[-1] < most:
        counts.append(min(most, counts[-1] + max(1, int(counts[-1] * ratio))))
    return np.array(counts)


def noisy_tail(
    null: DiscretisedNull, scale: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return P(X0 + scale * G >= t) for each pair of scale and t; G standard Gumbel."""
    gap = (t[:, None] - null.at) / scale[:, None]
    tail: NDArray[np.float64] = -np.expm1(-np.exp(np.minimum(-gap, 700.0)))
    return np.sum(tail * null.mass, axis=1)


def cutoffs(
    null: DiscretisedNull, scale: NDArray[np.float64], chance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return t with P(X0 + scale * G >= t) = chance, for each scale; approximate, which costs no validity."""
    # They are nearly linear in log r, so that sixty of them suffice.
    few = np.unique(
        np.append(np.arange(min(_SOLVED, scale.size)), np.linspace(0, scale.size - 1, 4 * _SOLVED))
    )
    few = few.astype(np.int64)
    low: NDArray[np.float64] = -50 * scale[few]
    high: NDArray[np.float64] = float(null.at[-1]) + 60 * scale[few]
    for _ in range(36):
        middle = (low + high) / 2
        over = noisy_tail(null, scale[few], middle) > chance[few]
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    return np.interp(np.log(chance), np.log(chance[few]), high)


def proved(
    null: NullLaw, m: int, q: float, search: Shape, sigma: float, step: float, dependence: str
) -> Aware:
    """Return the plan whose FDR is at most q; `sigma` and `step` are those of the search noise.

    FDR <= E min(1, m * sup E[P(s_R G >= t_R + M - max Z - X0)/R]) + beta <= q, the sup from `inflation`.
    A lower level inside t_r or a larger margin M can make up for the noise. A few levels are tried, each with
    the margin that makes the inequality hold, and the one with the lowest cutoffs is taken.
    """
    level, counts, scale = q - search.beta, search.counts, search.scale
    steepness = sigma * _hazard(null, level / m)
    nodes = _nodes(steepness)
    rough, fine = (discretised(null, width, _NEGLIGIBLE * level / m) for width in _widths(steepness))
    # Where noise is small the cutoffs depend on how finely the null is divided.
    middle = centred(discretised(null, _MIDDLE, _NEGLIGIBLE * level / m) if steepness < 1.0 else rough)
    far = float(np.log(m)) + 14.0

    def plan(inside: float, null_law: DiscretisedNull) -> Aware:
        t = cutoffs(middle, scale, inside * counts / m)
        growth = m * inflation(
            null_law, counts, scale, t, nodes * sigma, monotone=dependence == "positive", far=far
        )
        margin = margin_for(growth + 1e-9, nodes, sigma / step, search.depth, level)
        return Aware(counts, scale, t + sigma * margin, float(inside))

    base = level
    if dependence == "any":
        t = cutoffs(middle, scale, level * counts / m)
        base *= level / (m * float(inflation(rough, counts, scale, t, np.zeros(1), monotone=False)[0]))
    # The level is chosen with coarse cells, the plan is made with fine ones. Where the margin is infinite,
    # nothing is released.
    tried = [plan(inside, rough) for inside in base * _levels(steepness)]
    best = min(tried, key=lambda candidate: _cost(counts, candidate.level))
    fitted = plan(best.inside, fine)
    # With hardly any noise no margin makes up for the width of the cells, but a lower level does.
    for share in (0.985, 0.97, 0.94):
        if np.isfinite(fitted.level).all():
            break
        fitted = plan(share * best.inside, fine)
    return fitted


def _nodes(steepness: float) -> NDArray[np.float64]:
    """Return the points at which the growth is computed, in units of sigma: dense where max Z - M lies."""
    near = int(np.clip(steepness / 0.005, 9, 49))
    return np.concatenate((np.linspace(-8.0, -2.6, 7), np.linspace(-2.0, 3.0, near), (4.0, 6.0, 8.0)))


def _widths(steepness: float) -> tuple[float, float]:
    """Return the widths of coarse and fine cells; finer where noise costs little."""
    return (2 * _COARSE, _FINE) if steepness < 0.1 else (3 * _COARSE, 2 * _FINE)


def _levels(steepness: float) -> NDArray[np.float64]:
    """Return the shares of the level that are tried for the cutoffs."""
    full = min(1.4 * steepness + 0.5 * steepness**2, 3.0)
    return np.exp(-np.array([0.0, 0.3 * full, full]) - 0.02)


def _cost(counts: NDArray[np.int64], level: NDArray[np.float64]) -> float:
    """Return an average of the cutoffs over log r that gives small r more weight; lower is better."""
    weight = (np.gradient(np.log(counts)) if counts.size > 1 else np.ones(1)) / np.sqrt(counts)
    return float(weight @ level / weight.sum()) if np.isfinite(level).all() else np.inf


def calibrated(null: NullLaw, m: int, q: float, search: Shape, sigma: float) -> Aware:
    """Return the plan of the calibrated mode: cutoffs at q, and a margin that suffices in simulations.

    M_r = max((.4 + .6 e) kappa sigma^2/2, -sigma Phi^-1(.02/depth) - d_r) + .7 e sigma, e = 1/sqrt(r), d_r =
    t_r - (t_r at q = 1) and kappa = log(1/q)/d_r. Without the last term, a few equal signals at the edge of
    detection, where every comparison is a coin flip, raise the FDR to 1.3 q; for large r it is not needed.
    """
    counts, scale = search.counts, search.scale
    null_law = centred(discretised(null, _COARSE / 2, _NEGLIGIBLE * q / m))
    t = cutoffs(null_law, scale, q * counts / m)
    room = np.maximum(t - cutoffs(null_law, scale, counts / m), 1e-12)
    few = 1 / np.sqrt(counts)
    margin = np.maximum(
        (0.4 + 0.6 * few) * np.log(1 / q) / room * sigma**2 / 2,
        -sigma * float(scipy.special.ndtri(0.02 / search.depth)) - room,
    )
    return Aware(counts, scale, t + margin + 0.7 * few * sigma, q)


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The candidate counts with their noise scales, the number of comparisons, and the shortfall allowed."""

    counts: NDArray[np.int64]
    scale: NDArray[np.float64]
    depth: int
    beta: float


def shape(null: NullLaw, m: int, q: float, scale_of: Scales, sigma_one: float) -> Shape:
    """Return the search that suits the noise: s_r for each count, `sigma_one` for a single comparison.

    With little noise the grid of counts is finer and less shortfall is allowed. Counts so large that even
    twice as many perfect scores could not reach their cutoff are left out.
    """
    steepness = float(sigma_one * np.sqrt(8.0) * _hazard(null, q / m))
    ratio, share = next((ratio, share) for limit, ratio, share in _SHAPES if steepness < limit)
    trial = np.unique(np.round(np.geomspace(1, m, 60)).astype(np.int64))
    scale = scale_of(trial)
    t = cutoffs(discretised(null, _COARSE, _NEGLIGIBLE * q / m), scale, q * trial / m)
    within = t <= null.ceiling + scale * np.log(2.0)
    most = int(np.max(trial, where=within, initial=1))
    depth = candidate_counts(most, ratio).size.bit_length()
    # So many comparisons can tell 2^depth - 1 counts apart: take the finest grid that has no more.
    finest = next(
        r for r in np.geomspace(ratio / 2, ratio, 40) if candidate_counts(most, r).size < 1 << depth
    )
    counts = candidate_counts(most, float(finest))
    return Shape(counts, scale_of(counts), depth, q * share)


def _hazard(null: NullLaw, chance: float) -> float:
    """Return d(-log survival)/dt where the survival is `chance`."""
    t: NDArray[np.float64] = np.linspace(0.0, null.ceiling, 4001)[1:-1]
    depth: NDArray[np.float64] = -null.log_survival(t)
    i = min(int(np.count_nonzero(depth < -np.log(chance))), t.size - 2)
    before = max(i - 1, 0)
    return (float(depth[i + 1]) - float(depth[before])) / (float(t[i + 1]) - float(t[before]))
