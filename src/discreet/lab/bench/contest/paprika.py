"""PAPRIKA (Zhang, Kamath & Cummings 2021): hypotheses in turn by a private threshold, from its repository.

Its setting: 800 hypotheses, each the mean of 1,000 coins, 1/2 under the null and 3/4 where it is false; FDR
0.05, epsilon 5 and delta 2.5e-4 for all of them together. One person moves the log of a p-value by at most
sqrt(log(n)/n), which it takes as declared. A p-value below twice lambda is a candidate, decided without
noise; a candidate is rejected if its log plus Laplace noise lies below the log of SAFFRON's level plus noise
less a shift. It stops after the expected number of rejections, which it is given. lambda is .2, or, in its
"AI" version, the level itself.

Ours: the sign test with an epsilon for each question, so that all 800 cost what PAPRIKA spends; and paid by
discovery, for half as many again as are expected, on counts, which one person moves by 1, nothing declared.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from discreet.classical.online import RULES
from discreet.lab.bench.contest.online_rivals import decided
from discreet.noise.laplace import discrete_laplace, geometric
from discreet.privacy.account import account
from discreet.privacy.events import Pure
from discreet.single import sign, threshold

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Contender = Callable[[NDArray[np.int64]], NDArray[np.bool_]]

QUESTIONS, PEOPLE, EPSILON, DELTA, Q = 800, 1_000, 5.0, 2.5e-4, 0.05
ETA = math.sqrt(math.log(PEOPLE) / PEOPLE)
SHARES = (0.01, 0.03, 0.05)
"""The chance that a hypothesis is false; PAPRIKA is given how many rejections to expect."""
PUBLISHED = {
    ("PAPRIKA", 0.01): (0.025, 0.932),
    ("PAPRIKA", 0.03): (0.058, 0.921),
    ("PAPRIKA", 0.05): (0.105, 0.900),
    ("PAPRIKA AI", 0.01): (0.024, 0.932),
    ("PAPRIKA AI", 0.03): (0.012, 0.941),
    ("PAPRIKA AI", 0.05): (0.009, 0.954),
}
"""FDR and power that the code of its repository gave in 100 studies; its paper has pictures."""
_FEW = 8  # questions of a study whose intervals are looked at
_CANDIDATE = 0.2  # lambda, where it is constant
_POWER, _POWER_AI = 1.6, 1.4  # how fast the weights of either version fall


def rival(
    p: NDArray[np.float64], expected: float, epsilon: float, rng: Generator, *, investing: bool = False
) -> NDArray[np.bool_]:
    """Return PAPRIKA's decisions over one-sided p-values; `investing` is its AI version."""
    unit = ETA * expected / epsilon
    rare = min(DELTA, 1.0 - ((1.0 - DELTA) / math.exp(epsilon)) ** (1.0 / p.size))
    shift = unit * math.log(2.0 / (3.0 * rare))
    wealth = Q if investing else (1.0 - 2.0 * _CANDIDATE) * Q
    weights = _weights(_POWER_AI if investing else _POWER)
    candidates, times = [0], list[int]()
    rejected = np.zeros(p.size, dtype=np.bool_)
    threshold = rng.laplace(scale=2.0 * unit)
    for t in range(1, p.size + 1):
        level = wealth / 2.0 * weights[t - candidates[-1] - 1]
        for order, time in enumerate(times):
            since = candidates[-1] - candidates[time]
            level += wealth * (0.5 if order == 0 else 1.0) * weights[t - time - since - 1]
        level = level / (1.0 + 2.0 * level) if investing else min(_CANDIDATE, level)
        candidate = bool(p[t - 1] < 2.0 * (level if investing else _CANDIDATE))
        candidates.append(candidates[-1] + candidate)
        noisy = math.log(max(p[t - 1], 5e-324)) + rng.laplace(scale=4.0 * unit)
        if candidate and noisy < math.log(level) + threshold - shift:
            rejected[t - 1] = True
            times.append(t)
            threshold = rng.laplace(scale=2.0 * unit)
            if len(times) > expected:
                break
    return rejected


@lru_cache(maxsize=2)
def _weights(power: float) -> NDArray[np.float64]:
    weights = np.arange(1.0, 10_000.0) ** -power
    return weights / weights.sum()


@lru_cache(maxsize=1)
def each() -> float:
    """Return the epsilon of one question such that all of them cost EPSILON at DELTA, by our accountant."""

    def excess(epsilon: float) -> float:
        return account([Pure(epsilon, QUESTIONS)], delta=DELTA) - EPSILON

    return float(brentq(excess, EPSILON / QUESTIONS, 1.0, xtol=1e-6)) - 1e-6


MORE = 1.5
"""How many discoveries ours pays for, as a multiple of those expected; chosen in this setting."""
OURS = "ours, by discovery"
BY_QUESTION = tuple(f"ours, {rule}" for rule in RULES)
"""Who pays for every question, and has an interval for each."""


@lru_cache(maxsize=8)
def each_discovery(discoveries: int) -> float:
    """Return the epsilon of one discovery such that so many cost EPSILON at DELTA."""

    def excess(epsilon: float) -> float:
        return account([Pure(epsilon, discoveries)], delta=DELTA) - EPSILON

    return float(brentq(excess, 0.9 * EPSILON / discoveries, 2.0 * EPSILON, xtol=1e-6)) - 1e-6


def by_discovery(counts: NDArray[np.int64], discoveries: int) -> NDArray[np.bool_]:
    """Return the decisions of LORD++ where runs of questions are paid for, up to so many."""
    epsilon, rejected = each_discovery(discoveries), list[bool]()
    hidden, fresh = threshold.scales(1.0, epsilon)
    noisy = counts + geometric(fresh, counts.size)
    for kept in geometric(hidden, discoveries).tolist():
        while len(rejected) < counts.size:
            level = RULES["lord"]([], rejected, Q)
            rejected.append(_rarity(int(noisy[len(rejected)]) - kept, epsilon) <= level)
            if rejected[-1]:
                break
    return np.array(rejected + [False] * (counts.size - len(rejected)))


@lru_cache(maxsize=1 << 14)
def _rarity(noisy: int, epsilon: float) -> float:
    scales = threshold.scales(1.0, epsilon)
    return threshold.tail(lambda t: binom.sf(np.ceil(t) - 1.0, PEOPLE, 0.5), noisy, *scales)


def moved(p: float) -> float:
    """Return how far one person moves the log of a p-value of this size, where ETA is declared."""
    count = int(binom.isf(p, PEOPLE, 0.5))
    return float(binom.logsf(count - 1, PEOPLE, 0.5) - binom.logsf(count, PEOPLE, 0.5))


def _scale() -> float:
    return math.nextafter(1.0 / each(), math.inf)


@lru_cache(maxsize=1 << 14)
def _p_value(noisy: int) -> float:
    return sign.at_least(noisy, PEOPLE, 0.5, each())


def contenders(share: float, rng: Generator) -> dict[str, Contender]:
    """Return everyone's decisions as functions of the counts."""

    def private(counts: NDArray[np.int64]) -> list[float]:
        noise = discrete_laplace(_scale(), QUESTIONS)
        return [_p_value(int(noisy)) for noisy in counts + noise]

    expected = QUESTIONS * share
    return {
        "SAFFRON, no privacy": lambda counts: decided("saffron", _exact(counts).tolist(), Q),
        "PAPRIKA": lambda counts: rival(_exact(counts), expected, EPSILON, rng),
        "PAPRIKA AI": lambda counts: rival(_exact(counts), expected, EPSILON, rng, investing=True),
        **{f"ours, {rule}": lambda counts, rule=rule: decided(rule, private(counts), Q) for rule in RULES},
        OURS: lambda counts: by_discovery(counts, math.ceil(MORE * expected)),
    }


def _exact(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(binom.sf(counts - 1, PEOPLE, 0.5))


def study(share: float, rng: Generator) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the counts of all questions, and which hypotheses are false."""
    real = rng.random(QUESTIONS) < share
    return rng.binomial(PEOPLE, np.where(real, 0.75, 0.5)), real


def coverage(share: float, studies: int, seed: int) -> NDArray[np.float64]:
    """Return how many of the 95% intervals of a few questions hold the chance of the coin, by study.

    Where every question is paid for, all have one; who pays by discovery, and PAPRIKA, tell decisions alone.
    """
    rng, held = np.random.default_rng(seed), np.empty(studies)
    for i in range(studies):
        counts, real = study(share, rng)
        few = np.concatenate((np.flatnonzero(real)[: _FEW // 2], np.flatnonzero(~real)[: _FEW // 2]))
        noisy = counts[few] + discrete_laplace(_scale(), few.size)
        truth = np.where(real[few], 0.75, 0.5)
        ends = np.array([sign.interval(int(count), PEOPLE, each(), 0.95) for count in noisy])
        held[i] = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    return held


def run(share: float, studies: int, seed: int) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return false discovery proportions and shares of real effects found, on the same coins."""
    rng = np.random.default_rng(seed)
    deciders = contenders(share, rng)
    shares = {name: (np.empty(studies), np.empty(studies)) for name in deciders}
    for i in range(studies):
        counts, real = study(share, rng)
        for name, decide in deciders.items():
            rejected, (false, power) = decide(counts), shares[name]
            false[i] = (rejected & ~real).sum() / max(1, rejected.sum())
            power[i] = rejected[real].mean() if real.any() else np.nan
    return shares
