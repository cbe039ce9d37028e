"""Simulated tables of people: columns of every kind, the first of them with a signal of known size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.people import People, Question
from discreet.lab.bench.moments import Q

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import Protect

POWER, N0 = 0.88, 10_000
_GRID = np.linspace(0, 1, 4097)


@dataclass(frozen=True, slots=True)
class Kind:
    """How a column is drawn from uniform variables.

    Attributes
    ----------
    deviation : float
        Its standard deviation; effects are multiples of it.
    steps : tuple of float
        Of a column of whole numbers: an entry is the number of these that the variable exceeds.
    quantiles : tuple of float
        Of another: its quantile function at 4,097 equal steps; a uniform one needs none.
    answers : bool
        Whether it is a yes/no column.
    present : (float, float)
        The share of each group that has an entry.
    """

    deviation: float
    steps: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = ()
    answers: bool = False
    present: tuple[float, float] = (1.0, 1.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """Where entries lie."""
        return 0.0, float(max(len(self.steps), 1))

    def information(self, n: int) -> float:
        """Return the squared z that n people, half in each group, give a difference of one deviation."""
        first, second = (n / 2 * share for share in self.present)
        return first * second / (first + second)

    def draw(
        self, rng: np.random.Generator, group: NDArray[np.int8], shift: NDArray[np.float64], m: int
    ) -> NDArray[np.float32]:
        """Return entries of m columns, the first of them shifted between the groups by so many deviations."""
        values = rng.random((m, group.size), dtype=np.float32)  # a row for each column, until the end
        side, quantiles = (group - 0.5).astype(np.float32), np.array(self.quantiles)
        present = np.where(group == 1, self.present[1], self.present[0])
        for place, column in enumerate(values):
            moved = np.float32(shift[place] * self.deviation) * side if place < shift.size else np.float32(0)
            if self.steps:
                drawn = column + moved / len(self.steps)
                column[:] = sum((drawn > step).astype(np.float32) for step in self.steps)
            else:
                drawn = _between(quantiles, column) if self.quantiles else column
                np.clip(drawn + moved, *self.bounds, out=column)
            if min(self.present) < 1:
                column[rng.random(group.size, dtype=np.float32) >= present] = np.nan
        return values.T


def _between(quantiles: NDArray[np.float64], share: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return quantiles at these shares. np.interp does not know that steps are equal: ten times as slow."""
    place = share * (quantiles.size - 1)
    below = place.astype(np.intp)
    return quantiles[below] + (place - below) * (quantiles[below + 1] - quantiles[below])


def _steps(*shares: float) -> Kind:
    """Return the kind whose entries 0, 1, ... have these shares."""
    levels, law = np.arange(len(shares)), np.array(shares)
    deviation = float(np.sqrt(law @ levels**2 - (law @ levels) ** 2))
    return Kind(deviation, steps=tuple(np.cumsum(law)[:-1].tolist()))


def _yes(rate: float) -> Kind:
    return Kind(float(np.sqrt(rate * (1 - rate))), steps=(1 - rate,), answers=True)


def _spread(quantiles: NDArray[np.float64]) -> Kind:
    inside = np.clip(quantiles, 0, 1)
    middle = (inside[1:] + inside[:-1]) / 2
    return Kind(float(middle.std()), quantiles=tuple(inside.tolist()))


_UNIFORM = float(np.sqrt(1 / 12))
KINDS = {
    "uniform": Kind(_UNIFORM),
    "skewed": _spread(betaincinv(2, 8, _GRID)),
    "narrow": _spread(0.5 + 0.05 * ndtri(_GRID)),
    "yes/no .5": _yes(0.5),
    "yes/no .1": _yes(0.1),
    "yes/no .01": _yes(0.01),
    "ordinal": _steps(0.3, 0.3, 0.2, 0.15, 0.05),
    "20% missing": Kind(_UNIFORM, present=(0.9, 0.7)),
    "alleles": _steps(0.49, 0.42, 0.09),
}
"""Uniform; Beta(2, 8); a deviation of 5% of the width; rates; five levels; missing by group; frequency .3."""


def simulate(
    kind: Kind, n: int, m: int, shift: NDArray[np.float64], protect: Protect, rng: np.random.Generator
) -> People:
    """Return n people, half in each group, with m columns of a kind; the first columns differ by `shift`."""
    group = rng.permutation(np.arange(n) % 2).astype(np.int8)
    bounds = None if kind.answers else kind.bounds
    names = tuple(map(str, range(m)))
    questions = tuple(
        Question(name, slice(i, i + 1), answers=kind.answers, bounds=bounds) for i, name in enumerate(names)
    )
    return People(names, questions, "two-sided", protect, kind.draw(rng, group, shift, m), group)


def sizes(signals: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the relative sizes of the signals, with their signs."""
    return rng.uniform(0.7, 1.3, signals) * rng.choice([-1.0, 1.0], signals)


@lru_cache
def noncentrality(m: int, signals: int) -> float:
    """Return the mean |z| of signals of which BH without privacy finds a share POWER."""
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((max(40, 100_000 // m), m))
    size = np.stack([sizes(signals, rng) for _ in noise])

    def power(mean: float) -> float:
        z = noise.copy()
        z[:, :signals] += mean * size
        rejected = (step_up_positions(row, Q) for row in 2 * ndtr(-np.abs(z)))
        return float(np.mean([np.count_nonzero(places < signals) / signals for places in rejected]))

    low, high = 1.0, 10.0
    for _ in range(20):
        mean = (low + high) / 2
        low, high = (mean, high) if power(mean) < POWER else (low, mean)
    return high
