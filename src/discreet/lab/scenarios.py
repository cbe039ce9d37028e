"""Studies with known truth. Each scenario draws p-values and says which hypotheses are true nulls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_SHARE = 0.1  # of hypotheses that are false nulls
_EFFECT = 3.0  # mean of a false null's z
_STRONG = 4.0  # the same where few are false
_EDGE = 0.1  # the q whose line the signals of `edge` sit on
_BLOCK = 50


@dataclass(frozen=True, slots=True)
class Declared:
    """What private methods are given: sensitivity eta, truncation nu, the budget, and k where one is needed.

    For the mirror eta is the sensitivity of z, for all others that of log p.
    """

    eta: float
    nu: float
    epsilon: float
    delta: float
    k: int


def declared(m: int, eta: float = 1e-3, epsilon: float = 0.5, delta: float = 1e-3) -> Declared:
    """Return the setting of Xia and Cai (2023) for m hypotheses: nu = 0.05/m; k = m/10."""
    return Declared(eta, 0.05 / m, epsilon, delta, max(1, m // 10))


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedStudy:
    """One simulated study: p-values of shape (m,), a mask of the true nulls, (m,), and what is declared."""

    p: NDArray[np.float64]
    null: NDArray[np.bool_]
    declared: Declared


@dataclass(frozen=True, slots=True)
class Scenario:
    """How to draw a study, and what is assumed of it, in words."""

    words: str
    draw: Callable[[np.random.Generator, int], SimulatedStudy]


def _study(p: NDArray[np.float64], null: NDArray[np.bool_]) -> SimulatedStudy:
    return SimulatedStudy(p, null, declared(p.size))


def _truth(m: int, false: int) -> NDArray[np.bool_]:
    null = np.ones(m, dtype=np.bool_)
    null[:false] = False
    return null


def _tenth(m: int) -> NDArray[np.bool_]:
    return _truth(m, round(m * _SHARE))


def _one_sided(
    noise: NDArray[np.float64], null: NDArray[np.bool_], effect: float = _EFFECT
) -> SimulatedStudy:
    return _study(ndtr(-(noise + effect * ~null)), null)


def independent(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent one-sided normal tests."""
    return _one_sided(rng.standard_normal(m), _tenth(m))


def median(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw the paper's example: every false-null p is 1 minus the median of the independent null ones."""
    null = _tenth(m)
    p = rng.random(m)
    p[~null] = 1.0 - np.median(p[null])
    return _study(p, null)


def positive(rng: np.random.Generator, m: int, rho: float = 0.5) -> SimulatedStudy:
    """Draw one-sided normal tests that share one common part: correlation `rho` between any two."""
    noise = math.sqrt(rho) * rng.standard_normal() + math.sqrt(1 - rho) * rng.standard_normal(m)
    return _one_sided(noise, _tenth(m))


def blocks(rng: np.random.Generator, m: int, rho: float = 0.8) -> SimulatedStudy:
    """Draw one-sided normal tests correlated by `rho` inside blocks that mix nulls and false nulls."""
    count = -(-m // _BLOCK)
    shared = rng.standard_normal(count)[np.arange(m) % count]
    noise = math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.standard_normal(m)
    return _one_sided(noise, _tenth(m))


def ar1(rng: np.random.Generator, m: int, rho: float = 0.8) -> SimulatedStudy:
    """Draw one-sided normal tests in a row, neighbours correlated by `rho`, false nulls in one stretch."""
    noise = rng.standard_normal(m)
    for i in range(1, m):
        noise[i] = rho * noise[i - 1] + math.sqrt(1 - rho * rho) * noise[i]
    return _one_sided(noise, _tenth(m))


def all_null(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent uniform p-values: every discovery is false."""
    return _study(rng.random(m), _truth(m, 0))


def adversarial(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent nulls, with every false-null p-value at 0."""
    null = _tenth(m)
    return _study(np.where(null, rng.random(m), 0.0), null)


def edge(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent nulls, with up to 1,000 false nulls whose p all equal q * their number / m, q = .1."""
    false = min(1000, round(m * _SHARE))
    null = _truth(m, false)
    return _study(np.where(null, rng.random(m), _EDGE * false / m), null)


def conservative(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw null p-values from Beta(2, 2), which are rarely small, beside normal tests with mean 3."""
    null = _tenth(m)
    return _study(np.where(null, rng.beta(2.0, 2.0, m), ndtr(-rng.standard_normal(m) - _EFFECT)), null)


def ten(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent one-sided normal tests, ten of them (all, if m is less) with mean 4."""
    return _one_sided(rng.standard_normal(m), _truth(m, min(10, m)), _STRONG)


def twentieth(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw independent one-sided normal tests, one in twenty with mean 4."""
    return _one_sided(rng.standard_normal(m), _truth(m, round(m / 20)), _STRONG)


def loud(rng: np.random.Generator, m: int) -> SimulatedStudy:
    """Draw `twentieth` where noise is hopeless: eta = 0.03 at epsilon = 0.1."""
    study = twentieth(rng, m)
    return SimulatedStudy(study.p, study.null, declared(m, eta=3e-2, epsilon=0.1))


SCENARIOS: dict[str, Scenario] = {
    "independent": Scenario("independent one-sided normal tests, 10% with mean 3", independent),
    "median": Scenario("nulls independent, every false-null p = 1 - median of the null p", median),
    "positive": Scenario("one-sided normal tests, all equicorrelated at .5 (PRDS)", positive),
    "blocks": Scenario(f"one-sided normal tests, correlated at .8 in blocks of {_BLOCK} (PRDS)", blocks),
    "all-null": Scenario("no signal at all: every discovery is false", all_null),
    "adversarial": Scenario("nulls independent, every false-null p = 0", adversarial),
    "edge": Scenario("10%, at most 1,000, equal signals exactly on the line of BH at q = .1", edge),
    "ar1": Scenario("one-sided normal tests in a row, neighbours correlated at .8 (PRDS)", ar1),
    "conservative": Scenario("null p from Beta(2, 2), 10% normal tests with mean 3", conservative),
    "ten": Scenario("independent one-sided normal tests, ten of them with mean 4", ten),
    "twentieth": Scenario("independent one-sided normal tests, 5% with mean 4", twentieth),
    "loud": Scenario("the same, but eta = 0.03 at epsilon = 0.1: noise that hides nearly all", loud),
}
