"""Private synthetic data, then ordinary tests: what that does to the false discovery rate.

The rival is the MST mechanism (McKenna, Miklau & Sheldon 2021) for yes/no columns: a third of the zCDP
budget on all shares, a third on choosing a spanning tree of pairs by the exponential mechanism, a third on
the tables of the pairs chosen, Gaussian noise each; people are then drawn from the tree, as many as there
were. An analyst tests every column against the group by chi-square and applies BH, as if they were real.
"""

from __future__ import annotations

import math
from importlib import import_module
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc

from discreet.classical.step_up import step_up

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    Maker = Callable[[Generator], tuple[NDArray[np.int64], NDArray[np.bool_]]]

PEOPLE, COLUMNS, EPSILON, DELTA, Q = 2_000, 30, 1.0, 1e-6, 0.1
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


def table(rng: Generator, differ: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return people, the group first, then 30 yes/no columns, and which of these differ between groups."""
    real = rng.permutation(np.arange(COLUMNS) < differ)
    group = rng.integers(0, 2, PEOPLE)
    share = 0.5 + 0.12 * real * (2 * group[:, None] - 1)
    return np.column_stack((group, rng.random((PEOPLE, COLUMNS)) < share)).astype(np.int64), real


def discoveries(people: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which columns an analyst reports: chi-square for each against the first, then BH."""
    group, rest = people[:, 0] == 1, people[:, 1:]
    n, size = people.shape[0], int(group.sum())
    total, inside = rest.sum(axis=0), rest[group].sum(axis=0)
    spread = size * (n - size) / n * (total / n) * (1.0 - total / n)
    statistic = np.where(spread > 0, (inside - size * total / n) ** 2 / np.maximum(spread, 1e-12), 0.0)
    reported = np.zeros(rest.shape[1], dtype=np.bool_)
    reported[list(step_up(np.asarray(chdtrc(1, statistic)), q=Q).indices)] = True
    return reported


def budget(epsilon: float, delta: float) -> float:
    """Return rho such that rho-zCDP is (epsilon, delta)-DP by rho + 2 sqrt(rho log(1/delta)) = epsilon."""
    root = math.sqrt(math.log(1.0 / delta))
    return (math.sqrt(root**2 + epsilon) - root) ** 2


def synthesize(people: NDArray[np.int64], rng: Generator) -> NDArray[np.int64]:
    """Return as many synthetic people; (EPSILON, DELTA)-DP for one person added or removed."""
    n, d = len(people), int(people.shape[1])
    rho = budget(EPSILON, DELTA) / 3.0
    total: NDArray[np.int64] = people.sum(axis=0)
    ones = total + math.sqrt(d / (2.0 * rho)) * rng.standard_normal(d)
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
    return _sample(tree, share, {e: _cells(people, e) + sigma * rng.standard_normal(4) for e in tree}, n, rng)


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


def _sample(
    tree: list[tuple[int, int]],
    share: NDArray[np.float64],
    cells: dict[tuple[int, int], NDArray[np.float64]],
    n: int,
    rng: Generator,
) -> NDArray[np.int64]:
    """Draw the first column from its share and every other one given its neighbour in the tree."""
    made = np.zeros((n, share.size), dtype=np.int64)
    made[:, 0] = rng.random(n) < share[0]
    known, left = {0}, list(tree)
    while left:
        edge = next(e for e in left if (e[0] in known) != (e[1] in known))
        left.remove(edge)
        counts = np.maximum(cells[edge], 1e-3).reshape(2, 2)
        given, wanted = edge if edge[0] in known else edge[::-1]
        counts = counts if edge[0] in known else counts.T
        made[:, wanted] = rng.random(n) < (counts[:, 1] / counts.sum(axis=1))[made[:, given]]
        known.add(wanted)
    return made


def run(studies: int, seed: int, make: Maker) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return false discovery proportions and shares of real effects found, on the same tables."""
    import pandas as pd

    from discreet.api import discover
    from discreet.evidence.compare import Compare
    from discreet.lab.bench.contest import aim

    rng = np.random.default_rng(seed)
    names = ("no privacy, BH", "MST, BH", "AIM, BH", "ours")
    found = {name: (np.empty(studies), np.empty(studies)) for name in names}
    for i in range(studies):
        people, real = make(rng)
        columns = [f"c{j}" for j in range(real.size)]
        frame = {"group": people[:, 0], **{c: people[:, 1 + j] == 1 for j, c in enumerate(columns)}}
        release = discover(pd.DataFrame(frame), Compare(group="group"), q=Q, epsilon=EPSILON, delta=DELTA)
        reported = {
            "no privacy, BH": discoveries(people),
            "MST, BH": discoveries(synthesize(people, rng)),
            "AIM, BH": discoveries(aim.synthesize(people, rng)[0]),
            "ours": np.isin(columns, release.discoveries),
        }
        for name, chosen in reported.items():
            found[name][0][i] = (chosen & ~real).sum() / max(1, chosen.sum())
            found[name][1][i] = chosen[real].mean() if real.any() else 0.0
    return found


def survey(folder: Path, people: int) -> Maker:
    """Return draws of so many people from a health survey: diabetes, 14 yes/no columns, and these permuted.

    A permuted column says nothing about the group; the others count as real.
    """
    pandas: Any = import_module("pandas")
    everyone: NDArray[np.int64] = (
        pandas.read_parquet(folder / SURVEY, columns=[GROUP, *ANSWERS]).to_numpy().astype(np.int64)
    )

    def make(rng: Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        some = everyone[rng.choice(len(everyone), people, replace=False)]
        nothing = rng.permuted(some[:, 1:], axis=0)
        return np.column_stack((some, nothing)), np.arange(2 * len(ANSWERS)) < len(ANSWERS)

    return make
