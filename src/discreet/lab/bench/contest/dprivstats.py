"""DPrivStats (Bijalwan 2026, an R package for official statistics): its t-test, chi-square test and ANOVA.

Written from its source, version 0.1.0, pure epsilon. The t-test spends a third on counts, means and variances
each, of values clipped to bounds; the chi-square test adds Laplace noise of scale 1/epsilon to every count,
enough for a person more or less; for a person replaced, whom ours protects, it takes 2/epsilon, and both are
run. The ANOVA splits its budget over groups as well. p-values then come from the t, chi-square and F laws, as
if there were no noise. Interval: the mean difference with the standard error that it returns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, fdtrc, stdtr, stdtrit

from discreet.single import rank_sum, several
from discreet.single.test import test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    from discreet.typing import SingleTest

EPSILON, LEVEL = 1.0, 0.05
BOUNDS = (-5.0, 5.0)
_WIDTH = BOUNDS[1] - BOUNDS[0]


@dataclass(frozen=True, slots=True)
class Answer:
    """A p-value, and an interval where there is one."""

    p_value: float
    low: float = np.nan
    high: float = np.nan


@dataclass(frozen=True, slots=True)
class Summary:
    """Count, mean and variance of a group, each with noise; the count is at least 2, the variance 0."""

    n: float
    mean: float
    variance: float


def summary(x: NDArray[np.float64], epsilon: float, rng: Generator) -> Summary:
    """Return what it tells of one group: `epsilon` each for count, mean and variance."""
    clipped: NDArray[np.float64] = np.clip(x, *BOUNDS)
    unit = _WIDTH / x.size
    count = max(x.size + float(rng.laplace(scale=1.0 / epsilon)), 2.0)
    mean = clipped.mean() + rng.laplace(scale=unit / epsilon)
    again = clipped.mean() + rng.laplace(scale=2.0 * unit / epsilon)
    square = np.mean(clipped**2) + rng.laplace(scale=2.0 * _WIDTH * unit / epsilon)
    return Summary(float(count), float(mean), max(float(square - again**2), 0.0))


def t_test(x: NDArray[np.float64], group: NDArray[np.int64], rng: Generator) -> Answer:
    """Return its two-sided t-test, and the interval for the difference of means."""
    first, second = (summary(x[group == g], EPSILON / 3.0, rng) for g in (0, 1))
    error = math.sqrt(first.variance / first.n + second.variance / second.n)
    gap, freedom = first.mean - second.mean, first.n + second.n - 2.0
    p = 2.0 * float(stdtr(freedom, -abs(gap) / error)) if error > 0 else 1.0
    reach = float(stdtrit(freedom, 0.975)) * error
    return Answer(p, gap - reach, gap + reach)


def anova(x: NDArray[np.float64], group: NDArray[np.int64], rng: Generator) -> Answer:
    """Return its one-way analysis of variance."""
    groups = int(group.max()) + 1
    summaries = [summary(x[group == g], EPSILON / (3.0 * groups), rng) for g in range(groups)]
    n, mean, variance = np.array([(part.n, part.mean, part.variance) for part in summaries]).T
    between = float(n @ (mean - n @ mean / n.sum()) ** 2) / (groups - 1)
    freedom = float(n.sum()) - groups
    within = max(float((n - 1.0) @ variance) / freedom, np.finfo(float).eps)
    return Answer(float(fdtrc(groups - 1, freedom, between / within)))


def chi_square(
    x: NDArray[np.float64], group: NDArray[np.int64], rng: Generator, moves: float = 1.0
) -> Answer:
    """Return its test of independence of yes/no values and two groups, with R's continuity correction.

    `moves`: by how much one person moves all counts together.
    """
    counts = np.array([[np.sum((group == g) & (x == value)) for value in (0, 1)] for g in (0, 1)], float)
    table = np.round(np.maximum(counts + rng.laplace(scale=moves / EPSILON, size=(2, 2)), 0.0))
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    if not (expected > 0).all():
        return Answer(1.0)
    gap = np.abs(table - expected)
    gap -= min(0.5, float(gap.min()))
    statistic = float(np.sum(gap**2 / expected))
    return Answer(float(chdtrc(1, statistic)))


def ours(name: SingleTest, groups: int) -> Callable[..., Answer]:
    """Return our test of the same question."""

    def run(x: NDArray[np.float64], group: NDArray[np.int64], rng: Generator) -> Answer:
        del rng
        answer = test(x, name, epsilon=EPSILON, group=group, levels=tuple(range(groups)))
        return Answer(answer.p_value, answer.low, answer.high)

    return run


@dataclass(frozen=True, slots=True)
class Setting:
    """A question, its people, how the groups differ, its test and ours."""

    question: str
    n: int
    groups: int
    rival: Callable[..., Answer]
    ours: SingleTest
    shift: float
    yes_no: bool = False

    def people(self, shift: float, rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return values and groups; `shift` is between neighbouring groups."""
        group = np.arange(self.n) % self.groups
        if self.yes_no:
            return (rng.random(self.n) < 0.5 + shift * (group - 0.5)).astype(np.float64), group
        return rng.standard_normal(self.n) + shift * group, group

    def contenders(self) -> dict[str, Callable[..., Answer]]:
        """Return the rival and us."""
        return {"DPrivStats": self.rival, "ours": ours(self.ours, self.groups)}


SETTINGS = (
    Setting("t-test", 400, 2, t_test, "rank-sum", 0.5),
    Setting("chi-square", 400, 2, partial(chi_square, moves=2.0), "two-by-two", 0.2, yes_no=True),
    Setting("chi-square, one more or less", 400, 2, chi_square, "two-by-two", 0.2, yes_no=True),
    Setting("ANOVA", 120, 3, anova, "kruskal-wallis", 1.0),
)


def run(setting: Setting, shift: float, studies: int, seed: int) -> Mapping[str, NDArray[np.float64]]:
    """Return whether each rejects and whether its interval holds the truth (NaN: none); (studies, 2).

    With three groups ours is about these people: the truth is their statistic without noise.
    """
    rng = np.random.default_rng(seed)
    contenders = setting.contenders()
    effect = -shift if setting.yes_no else _effect(setting, shift, rng) if setting.groups == 2 else np.nan
    truth = {"DPrivStats": -shift, "ours": effect}
    marks = {name: np.full((studies, 2), np.nan) for name in contenders}
    for i in range(studies):
        x, group = setting.people(shift, rng)
        if setting.groups > 2:
            truth["ours"] = _of_these(x, group, setting)
        for name, contender in contenders.items():
            answer = contender(x, group, rng)
            marks[name][i, 0] = answer.p_value <= LEVEL
            if np.isfinite(answer.low):
                marks[name][i, 1] = answer.low <= truth[name] <= answer.high
    return marks


def _of_these(x: NDArray[np.float64], group: NDArray[np.int64], setting: Setting) -> float:
    ranks = rank_sum.drawn_by_rank(x, group, setting.groups)
    return 2.0 * several.statistic(ranks, setting.groups, EPSILON) / (rank_sum.STEPS * setting.n)


def _effect(setting: Setting, shift: float, rng: Generator, draws: int = 400) -> float:
    """Return the effect that our interval is about, without noise: the mean over many draws of people."""
    total = 0
    for _ in range(draws):
        x, group = setting.people(shift, rng)
        total += rank_sum.statistic(rank_sum.drawn_by_rank(x, group, 2), EPSILON)
    return 2.0 * total / (draws * rank_sum.STEPS * setting.n)
