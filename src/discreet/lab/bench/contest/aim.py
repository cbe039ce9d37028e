"""AIM (McKenna, Mullins, Sheldon & Miklau 2022) for a group and yes/no columns, asked for what is tested.

Its workload is every pair of the group with a column, and what lies below these: single columns, at the
weights its paper gives them. A part of the zCDP budget goes to all single columns; then, round by round, the
exponential mechanism chooses what is modelled worst beyond the noise, and Gaussian noise measures it. Where a
round changed little, later ones have half the noise. All pairs meet in the group, so the model that fits the
measurements best is known without iterations: least squares on differences and interactions, which do not
disturb one another. People are rounded from the model, as its authors' program does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contest.synthetic import DELTA, EPSILON, budget, rounded

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

_ROUNDS, _MEASURE = 16, 0.9  # rounds for each column, and the share of a round that measures
_SIGNS = np.array([[-1, -1, 1], [-1, 1, -1], [1, -1, -1], [1, 1, 1]])
"""What the cells (0, 0), (0, 1), (1, 0), (1, 1) add to group, column and interaction."""


@dataclass(slots=True)
class Model:
    """Differences yes less no of the group, then of every column, and interactions; with their precision."""

    n: int
    columns: int
    single: NDArray[np.float64] = field(init=False)
    pair: NDArray[np.float64] = field(init=False)
    weights: tuple[NDArray[np.float64], NDArray[np.float64]] = field(init=False)

    def __post_init__(self) -> None:
        self.single, self.pair = np.zeros(self.columns + 1), np.zeros(self.columns)
        self.weights = np.zeros(self.columns + 1), np.zeros(self.columns)

    def cells(self) -> NDArray[np.float64]:
        """Return the tables of the group with each column, no cell negative; shape (columns, 4)."""
        group, column = self.single[0], self.single[1:]
        pair = np.where(self.weights[1] > 0, self.pair, group * column / self.n)
        parts = np.stack((np.full(self.columns, group), column, pair))
        return np.maximum((self.n + _SIGNS @ parts) / 4.0, 1e-3).T

    def learn_single(self, place: int, difference: float, sigma: float) -> None:
        """Take in the noisy counts of one column; their difference has twice the variance of a count."""
        _average(self.single, self.weights[0], place, difference, 2.0 * sigma**2)

    def learn_pair(self, place: int, cells: NDArray[np.float64], sigma: float) -> None:
        """Take in the noisy table of the group with one column."""
        group, column, pair = (cells @ _SIGNS).tolist()
        for at, difference in ((0, group), (place + 1, column)):
            _average(self.single, self.weights[0], at, difference, 4.0 * sigma**2)
        _average(self.pair, self.weights[1], place, pair, 4.0 * sigma**2)


def _average(
    means: NDArray[np.float64], weights: NDArray[np.float64], at: int, value: float, variance: float
) -> None:
    total = weights[at] + 1.0 / variance
    means[at] += (value - means[at]) / (variance * total)
    weights[at] = total


def synthesize(people: NDArray[np.int64], rng: Generator) -> tuple[NDArray[np.int64], float]:
    """Return as many synthetic people, and the zCDP budget spent; one person is added or removed."""
    n, d = len(people), int(people.shape[1])
    total, rounds, bias = budget(EPSILON, DELTA), _ROUNDS * d, math.sqrt(2.0 / math.pi)
    sigma = math.sqrt(rounds / (2.0 * _MEASURE * total))
    step = math.sqrt(8.0 * (1.0 - _MEASURE) * total / rounds)
    pairs, singles = _pairs(people), 2.0 * people.sum(axis=0) - n
    model, spent = Model(n, d - 1), d / (2.0 * sigma**2)
    for place, difference in enumerate(singles):
        model.learn_single(place, difference + math.sqrt(2.0) * sigma * rng.standard_normal(), sigma)
    # How many columns of the workload each candidate shares: the group, single columns, pairs.
    weight = np.concatenate(([d - 1.0], np.ones(d - 1), np.full(d - 1, float(d)))) / d
    while spent < total * (1 - 1e-12):
        cost = step**2 / 8.0 + 1.0 / (2.0 * sigma**2)
        if total - spent < 2.0 * cost:  # the last round takes what is left
            step = math.sqrt(8.0 * (1.0 - _MEASURE) * (total - spent))
            sigma = math.sqrt(1.0 / (2.0 * _MEASURE * (total - spent)))
            cost = total - spent
        spent += cost
        before = model.cells()
        off = np.concatenate((np.abs(singles - model.single), np.abs(pairs - before).sum(axis=1)))
        size = np.where(np.arange(off.size) < d, 2, 4)
        score = weight * (off - bias * sigma * size)
        chosen = int(np.argmax(score * step / 2.0 + rng.gumbel(size=score.size)))
        if chosen < d:
            old = model.single[chosen]
            noise = math.sqrt(2.0) * sigma * rng.standard_normal()
            model.learn_single(chosen, singles[chosen] + noise, sigma)
            changed = abs(model.single[chosen] - old)
        else:
            model.learn_pair(chosen - d, pairs[chosen - d] + sigma * rng.standard_normal(4), sigma)
            changed = np.abs(model.cells() - before)[chosen - d].sum()
        if changed <= bias * sigma * size[chosen]:
            sigma, step = sigma / 2.0, step * 2.0
    return _made(model, rng), spent


def _pairs(people: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the tables of the group with each column: counts of (0, 0), (0, 1), (1, 0), (1, 1)."""
    code = 2 * people[:, :1] + people[:, 1:]
    return np.stack([(code == cell).sum(axis=0) for cell in range(4)], axis=1).astype(np.float64)


def _made(model: Model, rng: Generator) -> NDArray[np.int64]:
    made = np.zeros((model.n, model.columns + 1), dtype=np.int64)
    made[:, 0] = rounded(np.array([0.5 + model.single[0] / (2.0 * model.n)]), made[:, 0], rng)
    tables = model.cells().reshape(-1, 2, 2)
    for j, share in enumerate(tables[:, :, 1] / tables.sum(axis=2)):
        made[:, j + 1] = rounded(share, made[:, 0], rng)
    return made
