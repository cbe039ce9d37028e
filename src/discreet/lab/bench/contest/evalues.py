"""Gaussian differentially private e-values (Kuang, Gang & Xia 2026), as far as their abstract goes.

An e-value has mean at most 1 under the null. Its log, which one person moves by at most eta, gets Gaussian
noise of deviation sigma and mean -sigma^2/2: the factor has mean 1, so the product is an e-value again. With
noise on all m of them the cost is mu = eta sqrt(m)/sigma, and e-BH rejects the k largest where the k-th is at
least m/(k q). Their sharper threshold and their peeling, which gives the noise to a few only, are not in the
abstract: here, 500 are peeled by Gumbel noise at half of the budget, as in DP-AdaPT, and the others are 0.

e-values: the likelihood ratio of z for a mean of 4, which is what the signals have, the best there is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from discreet.lab.bench.power import K, Point, Q
from discreet.privacy.curves import gaussian_delta

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

MEAN = 4.0
"""The alternative of the likelihood ratio: log e = 4 z - 8 moves four times as far as z."""


def log_e(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of the e-values."""
    return MEAN * z - MEAN**2 / 2.0


def noise_on_all(z: NDArray[np.float64], point: Point, rng: Generator) -> NDArray[np.int64]:
    """Return what e-BH finds with noise on every e-value; one person moves z by at most eta."""
    sigma = MEAN * point.eta * math.sqrt(z.size) / _mu(point)
    noisy = log_e(z) + sigma * rng.standard_normal(z.size) - sigma**2 / 2.0
    return e_bh(noisy)


def peeled(z: NDArray[np.float64], point: Point, rng: Generator) -> NDArray[np.int64]:
    """Return what e-BH finds where K are chosen first and only these get e-values."""
    sigma = MEAN * point.eta * math.sqrt(2.0 * K) / _mu(point)
    logs = log_e(z)
    chosen = np.argpartition(-(logs + sigma * rng.gumbel(size=z.size)), K)[:K]
    noisy = np.full(z.size, -np.inf)
    noisy[chosen] = logs[chosen] + sigma * rng.standard_normal(K) - sigma**2 / 2.0
    return e_bh(noisy)


def e_bh(log_values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions that e-BH rejects (Wang & Ramdas 2022)."""
    order = np.argsort(-log_values)
    needed = math.log(log_values.size / Q) - np.log(np.arange(1, log_values.size + 1))
    enough = np.flatnonzero(log_values[order] >= needed)
    return order[: enough[-1] + 1] if enough.size else order[:0]


def _mu(point: Point) -> float:
    return float(brentq(lambda mu: gaussian_delta(point.epsilon, mu) - point.delta, 1e-3, 20.0))
