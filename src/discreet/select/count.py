"""How many to select, at a price that does not grow with the answer: a noisy binary search.

At a candidate count r the question is whether Q_r(x) >= level_r - Z, Q_r(x) the place where the r-th largest
noisy score is expected. Q_r is monotone and shifts with x, so one person moves it by at most `sup`, and each
answer is a function of one Gaussian release (docs/proofs/aware-privacy.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.noise.gaussian import rounded_gaussian

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

STEPS = 16
"""Scores are rounded down to this many steps to one sensitivity."""
_LAMBDAS = np.geomspace(0.03, 5.0, 14)  # fixed and public: choosing them on the data would break monotonicity
_WINDOW = 25.0  # items this many scales below count as never reaching; dropping them is monotone too
_WEAK = 0.02
_EXACT_UP_TO = 500
_SLACK = 2.0**-15  # of a step: more than the rounding of scores up to 2**36 steps


@dataclass(frozen=True, slots=True)
class Rounded:
    """Scores on a lattice, as distinct whole multiples of `step` (ascending) and how many items hold each."""

    step: float
    value: NDArray[np.float64]
    holders: NDArray[np.int32]


def to_steps(scores: NDArray[np.float64], sup: float) -> NDArray[np.float64]:
    """Return scores rounded down to whole steps of sup/STEPS; one person moves each by STEPS at most.

    Floats round x * factor by less than half the slack, and the factor is smaller by the slack.
    """
    steps = scores * ((STEPS - _SLACK) / sup)
    return np.floor(steps, out=steps)


def step_of(sup: float) -> float:
    """Return the step of the lattice of scores: sup/STEPS, or a hair more."""
    return sup / (STEPS - _SLACK)


def rounded(scores: NDArray[np.float64], sup: float) -> Rounded:
    """Return the histogram of scores rounded down to steps."""
    ordered = to_steps(scores, sup)
    ordered.sort()
    new = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    value = ordered[new]
    del ordered  # there may be 10^7 of them, nearly all different
    first = np.flatnonzero(new)
    holders = np.empty_like(first, dtype=np.int32)
    np.subtract(first[1:], first[:-1], out=holders[:-1], casting="same_kind")
    holders[-1] = scores.size - first[-1]
    return Rounded(step_of(sup), value, holders)


def merged(parts: Sequence[Rounded]) -> Rounded:
    """Return the histogram of several blocks of scores: whole numbers, so blocks and order do not matter."""
    if len(parts) == 1:
        return parts[0]
    value, place = np.unique(np.concatenate([part.value for part in parts]), return_inverse=True)
    holders = np.zeros(value.size, dtype=np.int32)
    np.add.at(holders, place, np.concatenate([part.holders for part in parts]))
    return Rounded(parts[0].step, value, holders)


def search(
    scores: Rounded,
    counts: NDArray[np.int64],
    scale: NDArray[np.float64],
    level: NDArray[np.float64],
    *,
    depth: int,
    sigma_steps: float,
    step: float,
    beta: float | None,
) -> int:
    """Return the position in `counts` of the last candidate that passed, or -1.

    `depth` comparisons, each with its own rounded Gaussian of sigma_steps lattice steps. With `beta`, a
    candidate passes when a bound on its expected shortfall is at most beta; without, when r - 1/2 are
    expected above the level. Positions beyond the last candidate fail without a question.
    """
    noise = rounded_gaussian(sigma_steps, depth)
    at, found = 0, -1
    for depth_left, z in zip(range(depth - 1, -1, -1), noise, strict=True):
        middle = at + (1 << depth_left) - 1
        if middle < counts.size and math.isfinite(level[middle]):
            # The level sits on the noise's lattice, so the answer is a function of floor(Q_r) + Z.
            reach = (math.ceil(float(level[middle]) / step) - int(z)) * step
            if passes(scores, int(counts[middle]), float(scale[middle]), reach, beta):
                found, at = middle, middle + 1
    return found


def passes(scores: Rounded, r: int, scale: float, reach: float, beta: float | None) -> bool:
    """Tell whether Q_r(x) >= reach."""
    start = int(np.searchsorted(scores.value, (reach - _WINDOW * scale) / scores.step))
    chance = scores.value[start:] * scores.step
    chance = np.exp(np.minimum((chance - reach) / scale, 700.0, out=chance), out=chance)
    np.negative(np.expm1(np.negative(chance, out=chance), out=chance), out=chance)
    holders = scores.holders[start:]
    if beta is None:
        return float(holders @ chance) >= r - 0.5
    if int(holders.sum()) < r * (1.0 - beta):
        return False
    if r <= _EXACT_UP_TO:
        return expected_shortfall(chance, holders, r) <= threshold(r, beta)
    logs = np.array(
        [holders @ np.log1p(chance * np.expm1(-rate)) for rate in _LAMBDAS]
    )  # one at a time: room
    return bool(np.min(logs + _LAMBDAS * r + _log_weight(r)) <= threshold(r, beta))


@lru_cache(maxsize=4096)
def threshold(r: int, beta: float) -> float:
    """Return what the shortfall, or for r > 500 the log of its bound, must not exceed: beta*r, or log beta.

    When every chance is 0 or 1 the value does not change with the level, and equals that of a whole number j
    of items missing. A threshold on such a plateau would leave the answer to rounding, so it keeps clear of
    all of them.
    """
    missing = np.arange(1, max(2, math.ceil(beta * r) + 2), dtype=np.float64)
    if r <= _EXACT_UP_TO:
        plateau, most, clear = missing, beta * r, 0.01
    else:
        plateau = np.min(missing[:, None] * _LAMBDAS + _log_weight(r), axis=1)
        most, clear = math.log(beta), 1e-3
    room = float(np.min(np.diff(plateau), initial=clear)) / 4
    for at in plateau[::-1]:  # from the highest down: going under one may come near the next
        if abs(most - at) < room:
            most = float(at) - room
    return most


def expected_shortfall(chance: NDArray[np.float64], holders: NDArray[np.int32], r: int) -> float:
    """Return an upper bound on E(r - N)^+, N the number of successes of independent coins.

    The strongest 8r + 400 coins of chance above _WEAK enter exactly. All others enter as one Poisson variable
    of the same mean, which is larger in the convex order (Hoeffding 1956), so E(r - N)^+ can only grow.
    `chance` ascends. Decreasing in every chance: as one rises, coins change places, or a Poisson part becomes
    a coin, and the bound falls.
    """
    strong = chance > _WEAK
    coins = np.repeat(chance[strong], holders[strong])  # ascending, as chance is
    exact = min(coins.size, 8 * r + 400)
    rate = float(holders[~strong] @ chance[~strong]) + float(coins[: coins.size - exact].sum())
    coins = coins[coins.size - exact :]
    k = np.arange(r + 1)
    law = (
        np.exp(k * math.log(rate) - rate - scipy.special.gammaln(k + 1))
        if rate > 0
        else (k == 0).astype(np.float64)
    )
    for p in coins[::-1]:
        law[1:] = law[1:] * (1.0 - p) + law[:-1] * p
        law[0] *= 1.0 - p
    return float((r - k) @ law)


def _log_weight(r: int) -> NDArray[np.float64]:
    """Return log max over k in 1..r of (k/r) exp(-lambda k), for each lambda."""
    peak = np.clip(1.0 / _LAMBDAS, 1.0, r)
    whole = np.stack((np.floor(peak), np.ceil(peak)))
    return np.max(np.log(whole / r) - _LAMBDAS * whole, axis=0)
