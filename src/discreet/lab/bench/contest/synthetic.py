"""The MST mechanism (McKenna, Miklau & Sheldon 2021) for yes/no columns, and what makes tables to test.

A third of the zCDP budget goes to all shares, a third to choosing a spanning tree of pairs by the exponential
mechanism, a third to the tables of the pairs chosen, Gaussian noise each; people are then rounded from
the tree, as many as there were, as its authors' program does: a share of yes becomes a whole number.
"""

from __future__ import annotations

import math
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import brentq

from discreet.privacy.curves import zcdp_delta

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    Maker = Callable[[Generator], tuple[NDArray[np.int64], NDArray[np.bool_]]]
    Synthesizer = Callable[[NDArray[np.int64], Generator], NDArray[np.int64]]

PEOPLE, COLUMNS, EPSILON, DELTA, Q = 2_000, 30, 1.0, 1e-6, 0.1
GAP = 0.24
"""The difference of shares in columns that differ."""
SURVEY, GROUP = "brfss2015_diabetes.parquet", "Diabetes_binary"
ANSWERS = (
    *(
        "HighBP",
        "HighChol",
        "CholCheck",
        "Smoker",
        "Stroke",
        "HeartDiseaseorAttack",
        "PhysActivity",
        "Fruits",
    ),
    *("Veggies", "HvyAlcoholConsump", "AnyHealthcare", "NoDocbcCost", "DiffWalk", "Sex"),
)


def table(rng: Generator, differ: int, columns: int = COLUMNS) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return people, the group first, then yes/no columns, and which of these differ between groups."""
    real = rng.permutation(np.arange(columns) < differ)
    group = rng.integers(0, 2, PEOPLE)
    share = 0.5 + GAP / 2.0 * real * (2 * group[:, None] - 1)
    return np.column_stack((group, rng.random((PEOPLE, columns)) < share)).astype(np.int64), real


def budget(epsilon: float, delta: float) -> float:
    """Return the largest rho such that rho-zCDP is (epsilon, delta)-DP, as MST's own code converts it."""
    return float(brentq(lambda rho: zcdp_delta(epsilon, rho) - delta, 1e-9, epsilon))


def synthesize(people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
    """Return as many synthetic people; (EPSILON, DELTA)-DP for one person added or removed."""
    n, d = len(people), int(people.shape[1])
    rho = budget(EPSILON, DELTA) / 3.0
    total: NDArray[np.int64] = people.sum(axis=0)
    # Both counts of a column are measured, and n is taken as known: half of the variance.
    ones = total + math.sqrt(d / (4.0 * rho)) * rng.standard_normal(d)
    share = np.clip(ones / n, 1e-3, 1.0 - 1e-3)
    both = people.T @ people
    edges = list(combinations(range(d), 2))
    # How far the table of a pair is from independence with the noisy shares: a person moves it by at most 1.
    score = {e: _distance(both, total, share, n, e) for e in edges}
    part, tree = list(range(d)), list[tuple[int, int]]()
    step = math.sqrt(8.0 * rho / (d - 1))
    while len(tree) < d - 1:
        left = [e for e in edges if part[e[0]] != part[e[1]]]
        noisy = np.array([score[e] for e in left]) * step / 2.0 + rng.gumbel(size=len(left))
        chosen = left[int(np.argmax(noisy))]
        tree.append(chosen)
        old, new = part[chosen[1]], part[chosen[0]]
        part = [new if name == old else name for name in part]
    sigma = math.sqrt((d - 1) / (2.0 * rho))
    return from_trees(share, {e: _cells(people, e) + sigma * rng.standard_normal(4) for e in tree}, n, rng)


def _cells(people: NDArray[np.int64], edge: tuple[int, int]) -> NDArray[np.float64]:
    return np.bincount(2 * people[:, edge[0]] + people[:, edge[1]], minlength=4).astype(np.float64)


def _distance(
    both: NDArray[np.int64],
    ones: NDArray[np.int64],
    share: NDArray[np.float64],
    n: int,
    edge: tuple[int, int],
) -> float:
    a, b = edge
    yes = float(both[a, b])
    seen = np.array([n - ones[a] - ones[b] + yes, ones[b] - yes, ones[a] - yes, yes])
    p, q = share[a], share[b]
    return float(np.abs(seen - n * np.array([(1 - p) * (1 - q), (1 - p) * q, p * (1 - q), p * q])).sum())


def from_trees(
    share: NDArray[np.float64],
    cells: dict[tuple[int, int], NDArray[np.float64]],
    n: int,
    rng: Generator,
) -> NDArray[np.int64]:
    """Return people with the tables of these pairs, which form trees, and elsewhere the shares of columns.

    The first column of each tree has its share, and every other one that given its neighbour.
    """
    made = np.zeros((n, share.size), dtype=np.int64)
    known, left = set[int](), list(cells)
    while len(known) < share.size:
        edge = next((e for e in left if (e[0] in known) != (e[1] in known)), None)
        if edge is None:
            root = next(j for j in range(share.size) if j not in known)
            made[:, root] = rounded(share[root : root + 1], made[:, root], rng)
            known.add(root)
            continue
        left.remove(edge)
        counts = np.maximum(cells[edge], 1e-3).reshape(2, 2)
        given, wanted = edge if edge[0] in known else edge[::-1]
        counts = counts if edge[0] in known else counts.T
        made[:, wanted] = rounded(counts[:, 1] / counts.sum(axis=1), made[:, given], rng)
        known.add(wanted)
    return made


def rounded(share: NDArray[np.float64], given: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
    """Return yes for a share of those with each given value: the whole number above or below, not drawn."""
    made = np.zeros(given.size, dtype=np.int64)
    for value, part in enumerate(np.clip(share, 0.0, 1.0).tolist()):
        who = rng.permutation(np.flatnonzero(given == value))
        made[who[: int(who.size * part + rng.random())]] = 1
    return made


def survey(folder: Path, people: int) -> Maker:
    """Return draws of so many people from a health survey: diabetes, 14 yes/no columns, and these permuted.

    A permuted column says nothing about the group; the others count as real.
    """
    pandas: Any = import_module("pandas")
    everyone: NDArray[np.int64] = (
        pandas.read_parquet(folder / SURVEY, columns=[GROUP, *ANSWERS]).to_numpy().astype(np.int64)
    )

    def make(rng: Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        sample = everyone[rng.choice(len(everyone), people, replace=False)]
        permuted = rng.permuted(sample[:, 1:], axis=0)
        return np.column_stack((sample, permuted)), np.arange(2 * len(ANSWERS)) < len(ANSWERS)

    return make
