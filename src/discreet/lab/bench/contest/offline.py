"""Many p-values at once: DP-BH (Dwork, Su & Zhang 2021), DP-AdaPT (Xia & Cai 2023), private e-values.

Their setting: 100,000 p-values, 100 of them of z around 4, one-sided; one person changes the log of a
p-value, or for DP-AdaPT its z, by at most eta; 500 are peeled.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from discreet.api import private_bh, release
from discreet.evidence.core.evidence import Evidence
from discreet.lab.bench.contest import evalues
from discreet.lab.bench.power import SIGNALS, K, M, Point, Q, proportions
from discreet.privacy.curves import gaussian_delta

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    Contender = Callable[[NDArray[np.float64], Point, Generator], NDArray[np.int64]]

POINTS = (Point(1e-4, 0.1), Point(1e-4, 0.5), Point(1e-3, 0.5))
NU = 0.5 * Q / M


def dp_bh(
    z: NDArray[np.float64], point: Point, rng: Generator, *, as_published: bool = False
) -> NDArray[np.int64]:
    """Return what Algorithm 4 reports: K peeled with Laplace noise, then step-up with lowered cutoffs.

    p-values below nu count as nu. Where the cutoffs are lowered to about that, all or nothing is found.
    `as_published`: half of that noise, and cutoffs held against p-values in the order in which they were
    peeled, not sorted; so the published figures come out wherever tried.
    """
    whole = point.eta * math.sqrt(10.0 * K * math.log(1.0 / point.delta)) / point.epsilon
    scale = whole / 2.0 if as_published else whole
    left = np.log(np.maximum(ndtr(-z), NU))
    order, noisy = np.empty(K, dtype=np.int64), np.empty(K)
    for j in range(K):
        # Fresh noise for everyone in every round; only who is within its reach of the best can win.
        near = np.flatnonzero(left <= np.min(left) + 30.0 * scale)
        order[j] = near[np.argmin(left[near] + rng.laplace(scale=scale, size=near.size))]
        noisy[j] = left[order[j]] + rng.laplace(scale=scale)
        left[order[j]] = np.inf
    cut = np.log(Q * np.arange(1, K + 1) / M) - whole * math.log(6.0 * K / Q)
    rank = np.arange(K) if as_published else np.argsort(noisy)
    below = np.flatnonzero(noisy[rank] <= cut)
    return order[rank[: below[-1] + 1]] if below.size else order[:0]


def dp_adapt(z: NDArray[np.float64], point: Point, rng: Generator) -> NDArray[np.int64]:
    """Return what DP-AdaPT reports: K peeled by |z|, their z with fresh noise, then symmetric thresholds.

    Half of the budget is for peeling, half for the values; noisy z are divided by their deviation.
    """
    mu = float(brentq(lambda mu: gaussian_delta(point.epsilon, mu) - point.delta, 1e-3, 20.0))
    sigma = point.eta * math.sqrt(2.0 * K) / mu
    # Gumbel noise of scale s chooses with a bounded range 2 eta/s: K of these at 2 eta/s = mu/sqrt(K/2).
    chosen = np.argpartition(-(np.abs(z) + sigma * rng.gumbel(size=z.size)), K)[:K]
    noisy = (z[chosen] + sigma * rng.standard_normal(K)) / math.sqrt(1.0 + sigma**2)
    size = np.sort(np.abs(noisy))[::-1]
    up, down = np.sort(noisy[noisy > 0])[::-1], np.sort(-noisy[noisy < 0])[::-1]
    above, against = (np.searchsorted(-side, -size, side="right") for side in (up, down))
    good = np.flatnonzero((1.0 + against) / np.maximum(above, 1) <= Q)
    return chosen[noisy >= size[good[-1]]] if good.size else chosen[:0]


def ours(guarantee: str) -> Contender:
    """Return noise-aware BH, whose eta is that of log p."""

    def run(z: NDArray[np.float64], point: Point, rng: Generator) -> NDArray[np.int64]:
        del rng
        budget = {"eta": point.eta, "nu": NU, "epsilon": point.epsilon, "delta": point.delta}
        return private_bh(ndtr(-z), q=Q, method="aware", guarantee=guarantee, **budget).indices  # type: ignore[arg-type]

    return run


def mirror(z: NDArray[np.float64], point: Point, rng: Generator) -> NDArray[np.int64]:
    """Return our mirror, whose eta is that of z."""
    del rng
    evidence = Evidence.from_z(z, sensitivity=point.eta, adjacency="replace", alternative="greater")
    return release(evidence, q=Q, epsilon=point.epsilon, delta=point.delta, method="mirror", k=K).indices


PUBLISHED = "DP-BH, as published"
CONTENDERS: Mapping[str, Contender] = {
    "ours, aware, proved": ours("proved"),
    "ours, aware, calibrated": ours("calibrated"),
    "DP-BH": dp_bh,
    PUBLISHED: partial(dp_bh, as_published=True),
    "ours, mirror": mirror,
    "DP-AdaPT": dp_adapt,
    "e-values, noise on all": evalues.noise_on_all,
    "e-values, 500 peeled": evalues.peeled,
}


def scores(rng: Generator) -> NDArray[np.float64]:
    """Return the z of one study, the real ones first."""
    z = rng.standard_normal(M)
    z[:SIGNALS] += 4.0
    return z


def run(point: Point, studies: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return false discovery proportion, power and seconds of each contender in every study; (studies, 3)."""
    rng, chance = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    marks = {name: np.empty((studies, 3)) for name in CONTENDERS}
    for i in range(studies):
        z = scores(rng)
        for name, contender in CONTENDERS.items():
            start = time.process_time()
            indices = contender(z, point, chance)
            marks[name][i] = *proportions(indices), time.process_time() - start
    return marks
