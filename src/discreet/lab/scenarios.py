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
_BLOCK = 50


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """One simulated study: p-values of shape (m,) and a mask of the true nulls, (m,)."""

    p: NDArray[np.float64]
    null: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Scenario:
    """How to draw a study, and what is assumed of it, in words."""

    words: str
    draw: Callable[[np.random.Generator, int], Study]


def _truth(m: int, share: float = _SHARE) -> NDArray[np.bool_]:
    null = np.ones(m, dtype=np.bool_)
    null[: round(m * share)] = False
    return null


def _one_sided(noise: NDArray[np.float64]) -> Study:
    null = _truth(noise.size)
    return Study(ndtr(-(noise + _EFFECT * ~null)), null)


def independent(rng: np.random.Generator, m: int) -> Study:
    """Draw independent one-sided normal tests."""
    return _one_sided(rng.standard_normal(m))


def median(rng: np.random.Generator, m: int) -> Study:
    """Draw the paper's example: every false-null p is 1 minus the median of the independent null ones."""
    null = _truth(m)
    p = rng.random(m)
    p[~null] = 1.0 - np.median(p[null])
    return Study(p, null)


def positive(rng: np.random.Generator, m: int, rho: float = 0.5) -> Study:
    """Draw one-sided normal tests that share one common part: correlation `rho` between any two."""
    return _one_sided(math.sqrt(rho) * rng.standard_normal() + math.sqrt(1 - rho) * rng.standard_normal(m))


def blocks(rng: np.random.Generator, m: int, rho: float = 0.8) -> Study:
    """Draw one-sided normal tests correlated by `rho` inside blocks that mix nulls and false nulls."""
    count = -(-m // _BLOCK)
    shared = rng.standard_normal(count)[np.arange(m) % count]
    return _one_sided(math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.standard_normal(m))


def all_null(rng: np.random.Generator, m: int) -> Study:
    """Draw independent uniform p-values: every discovery is false."""
    return Study(rng.random(m), _truth(m, 0.0))


def adversarial(rng: np.random.Generator, m: int) -> Study:
    """Draw independent nulls, with every false-null p-value at 0."""
    null = _truth(m)
    return Study(np.where(null, rng.random(m), 0.0), null)


SCENARIOS: dict[str, Scenario] = {
    "independent": Scenario("independent one-sided normal tests, 10% with mean 3", independent),
    "median": Scenario("nulls independent, every false-null p = 1 - median of the null p", median),
    "positive": Scenario("one-sided normal tests, all equicorrelated at .5 (PRDS)", positive),
    "blocks": Scenario(f"one-sided normal tests, correlated at .8 in blocks of {_BLOCK} (PRDS)", blocks),
    "all-null": Scenario("no signal at all: every discovery is false", all_null),
    "adversarial": Scenario("nulls independent, every false-null p = 0", adversarial),
}
