"""One hypothesis: Test of Tests (Kazan et al., 2023) and private rank tests (Couch et al., 2019).

Test of Tests splits the sample, runs the public test on each part at a level of its own, counts rejections
and tests that count privately as a binomial one. Couch and others add Laplace noise to sums of ranks. Here:
ours in their settings, Test of Tests itself, whose power has a formula, and Couch and others' absolute
Kruskal-Wallis statistic, of sensitivity 8, against its simulated null law.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom, nct
from scipy.stats import t as student

from discreet.single import rank_sum, several
from discreet.single.noise_law import noise_chances
from discreet.single.test import test

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from discreet.typing import SingleTest

LEVEL, EPSILON = 0.05, 1.0
STUDIES = 20_000  # behind a power that has no formula


@dataclass(frozen=True, slots=True)
class Setting:
    """Whose, how many people and groups, and the published power at level 0.05 and epsilon 1."""

    rival: str
    n: int
    published: float
    groups: int = 1


SETTINGS = (
    Setting("Test of Tests", 100, 0.426),
    Setting("Test of Tests", 200, 0.817),
    Setting("Test of Tests", 400, 0.989),
    Setting("Couch et al.", 62, 0.692, 2),
    Setting("Couch et al.", 100, 0.922, 2),
    Setting("Couch et al.", 160, 0.997, 2),
    Setting("Couch et al.", 60, 0.799, 3),
    Setting("Couch et al.", 87, 0.963, 3),
)
_TESTS: dict[int, SingleTest] = {2: "rank-sum", 3: "kruskal-wallis"}


@dataclass(frozen=True, slots=True)
class Marks:
    """Of every study: whether the null is rejected, whether the interval holds the truth, seconds."""

    rejected: NDArray[np.float64]
    held: NDArray[np.float64]
    seconds: NDArray[np.float64]


def run(setting: Setting, studies: int, seed: int, effect: float = 1.0) -> Marks:
    """Return ours in every study: normal values with mean 0.4, or groups with means 1 apart, times `effect`.

    The truth of an interval: the share above 0; the mean effect over many studies; with several groups the
    effect in these people, without noise.
    """
    rng = np.random.default_rng(seed)
    group, levels = np.arange(setting.n) % setting.groups, tuple(range(setting.groups))
    marks = Marks(*np.empty((3, studies)))
    truth = float(ndtr(0.4 * effect)) if setting.groups == 1 else _mean_effect(setting.n, effect, rng)
    for i in range(studies):
        x = rng.standard_normal(setting.n) + effect * (0.4 if setting.groups == 1 else group)
        start = time.process_time()
        if setting.groups == 1:
            answer = test(x, "sign", epsilon=EPSILON)
        else:
            answer = test(x, _TESTS[setting.groups], epsilon=EPSILON, group=group, levels=levels)
        marks.seconds[i] = time.process_time() - start
        if setting.groups > 2:
            ranks = rank_sum.drawn_by_rank(x, group, setting.groups)
            truth = _effect(several.statistic(ranks, setting.groups, EPSILON), setting.n)
        marks.rejected[i] = answer.p_value <= LEVEL
        marks.held[i] = answer.low <= truth <= answer.high
    return marks


def _mean_effect(n: int, effect: float, rng: Generator, draws: int = 2_000) -> float:
    """Return the mean effect of two groups, without noise."""
    group = np.arange(n) % 2
    drawn = [
        rank_sum.statistic(rank_sum.drawn_by_rank(rng.standard_normal(n) + effect * group, group, 2), EPSILON)
        for _ in range(draws)
    ]
    return _effect(float(np.mean(drawn)), n)


def _effect(statistic: float, n: int) -> float:
    return 2.0 * statistic / (rank_sum.STEPS * n)


def again(setting: Setting) -> float:
    """Return the rival's power by its definition."""
    return of_parts(setting.n) if setting.groups == 1 else couch(setting.n, setting.groups)


def couch(n: int, groups: int) -> float:
    """Return the power of the absolute Kruskal-Wallis statistic with Laplace noise of scale 8/epsilon."""
    rng, group = np.random.default_rng(1), np.arange(n) % groups
    scale = 4.0 * (n - 1) / n**2 if n % 2 == 0 else 4.0 / (n + 1)

    def noisy(shift: float) -> NDArray[np.float64]:
        x = rng.standard_normal((STUDIES, n)) + shift * group
        away = np.argsort(np.argsort(x, axis=1), axis=1) - (n - 1) / 2.0
        separation = sum(np.abs(away[:, group == g].sum(axis=1)) for g in range(groups))
        return scale * separation + rng.laplace(scale=8.0 / EPSILON, size=STUDIES)

    cut = np.quantile(noisy(0.0), 1.0 - LEVEL)
    return float(np.mean(noisy(1.0) >= cut))


def of_parts(n: int, mean: float = 0.4) -> float:
    """Return the power of Test of Tests with two-sided t-tests at the best number of parts and level."""
    best = 0.0
    noise, chance = noise_chances(1.0 / EPSILON)
    for parts, inner in product(range(3, min(40, n // 3) + 1), (0.05, 0.1, 0.15, 0.2, 0.3)):
        size = n // parts
        cut, shift = student.isf(inner / 2.0, size - 1), mean * size**0.5
        with np.errstate(divide="ignore"):  # of SciPy 1.13, on the way to the right values
            hit = nct.sf(cut, size - 1, shift) + nct.cdf(-cut, size - 1, shift)
        reached = np.arange(-10, parts + 20)[None, :] - noise[:, None] - 1.0
        null, real = chance @ binom.sf(reached, parts, inner), chance @ binom.sf(reached, parts, float(hit))
        # The noisy count is continuous there: at the last whole number it rejects with some probability.
        first = int(np.argmax(null <= LEVEL))
        share = (LEVEL - null[first]) / (null[first - 1] - null[first])
        best = max(best, float(real[first] + share * (real[first - 1] - real[first])))
    return best
