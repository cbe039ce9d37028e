"""AIM (McKenna, Mullins, Sheldon & Miklau 2022) for a group and yes/no columns, asked for what is tested.

Its workload is every pair of the group with a column. A share of the zCDP budget goes to all single columns;
then, round by round, the exponential mechanism chooses the pair that is modelled worst beyond the noise, and
Gaussian noise measures it. Where a round changed little, later ones have half the noise. All cliques meet in
the group, so the model that fits the measurements is known without iterations: the group's share, and in each
group a share for every column.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.contest.synthetic import DELTA, EPSILON, budget

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

_ROUNDS, _MEASURE = 16, 0.9  # rounds for each column, and the share of a round that measures


def synthesize(people: NDArray[np.int64], rng: Generator) -> tuple[NDArray[np.int64], float]:
    """Return as many synthetic people, and the zCDP budget spent; one person is added or removed."""
    n, d = len(people), int(people.shape[1])
    total = budget(EPSILON, DELTA)
    rounds = _ROUNDS * d
    sigma = math.sqrt(rounds / (2.0 * _MEASURE * total))
    step = math.sqrt(8.0 * (1.0 - _MEASURE) * total / rounds)
    truth = _pairs(people)
    ones = people.sum(axis=0) + sigma * rng.standard_normal(d)
    spent = d / (2.0 * sigma**2)
    share = np.clip(ones / n, 1e-3, 1.0 - 1e-3)
    model = n * _product(share)
    weight = np.zeros(d - 1)
    while spent < total * (1 - 1e-12):
        cost = step**2 / 8.0 + 1.0 / (2.0 * sigma**2)
        if total - spent < 2.0 * cost:  # the last round takes what is left
            step = math.sqrt(8.0 * (1.0 - _MEASURE) * (total - spent))
            sigma = math.sqrt(1.0 / (2.0 * _MEASURE * (total - spent)))
            cost = total - spent
        spent += cost
        score = np.abs(truth - model).sum(axis=1) - math.sqrt(2.0 / math.pi) * sigma * 4.0
        chosen = int(np.argmax(score * step / 2.0 + rng.gumbel(size=d - 1)))
        before = model[chosen].copy()
        measured = truth[chosen] + sigma * rng.standard_normal(4)
        old, new = weight[chosen], 1.0 / sigma**2
        weight[chosen] = old + new
        kept = before * old + measured * new
        model[chosen] = _fitted(kept / weight[chosen], share[0], n)
        if np.abs(model[chosen] - before).sum() <= math.sqrt(2.0 / math.pi) * sigma * 4.0:
            sigma, step = sigma / 2.0, step * 2.0
    return _drawn(model, share[0], n, rng), spent


def _pairs(people: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the tables of the group with each column: counts of (0, 0), (0, 1), (1, 0), (1, 1)."""
    code = 2 * people[:, :1] + people[:, 1:]
    return np.stack([(code == cell).sum(axis=0) for cell in range(4)], axis=1).astype(np.float64)


def _product(share: NDArray[np.float64]) -> NDArray[np.float64]:
    group, rest = share[0], share[1:]
    parts = ((1 - group) * (1 - rest), (1 - group) * rest, group * (1 - rest), group * rest)
    return np.stack(parts, axis=1)


def _fitted(counts: NDArray[np.float64], group: float, n: int) -> NDArray[np.float64]:
    """Return the table with no negative counts and the group's own share."""
    table = np.maximum(counts, 1e-3).reshape(2, 2)
    sizes = n * np.array([[1.0 - group], [group]])
    return (table / table.sum(axis=1, keepdims=True) * sizes).reshape(4)


def _drawn(model: NDArray[np.float64], group: float, n: int, rng: Generator) -> NDArray[np.int64]:
    first = (rng.random(n) < group).astype(np.int64)
    tables = model.reshape(-1, 2, 2)
    yes = (tables[:, :, 1] / tables.sum(axis=2)).T  # in each group, of each column
    return np.column_stack((first, rng.random((n, len(tables))) < yes[first])).astype(np.int64)
