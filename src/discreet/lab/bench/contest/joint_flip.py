"""Joint permute-and-flip (Yamamoto and Shibuya, 2023): which k of 5,000 variants, pure epsilon.

Their setting: 75 cases and 75 controls, 10 of 5,000 variants associated; the score is half the difference of
allele counts, which one person moves by at most 1; accuracy is the share of the k largest allelic chi-squares
among the k chosen. Their mechanism: every set of k scores its smallest score, gets exponential noise of scale
2/epsilon, and the largest wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    Chooser = Callable[[NDArray[np.float64], int, float, Generator], NDArray[np.int64]]

VARIANTS, ASSOCIATED, GROUP = 5_000, 10, 75


@dataclass(frozen=True, slots=True)
class Setting:
    """How many are chosen, the budget, and the published accuracy, the mean of 250 studies."""

    k: int
    epsilon: float
    published: float


SETTINGS = (Setting(7, 4.7, 0.914), Setting(5, 3.5, 0.843), Setting(3, 2.5, 0.776), Setting(1, 2.0, 0.824))


def study(rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores and the allelic chi-squares of one simulated study; shape (5000,) each."""

    def alleles(two: float, one: float, size: int) -> NDArray[np.int64]:
        homozygous = rng.binomial(GROUP, two, size)
        return 2 * homozygous + rng.binomial(GROUP - homozygous, one)

    rest = VARIANTS - ASSOCIATED
    cases = np.concatenate([alleles(1 / 3, 1 / 2, rest), alleles(1 / 7, 1 / 4, ASSOCIATED)])
    controls = np.concatenate([alleles(1 / 3, 1 / 2, rest), alleles(1 / 2, 2 / 3, ASSOCIATED)])
    gap, both, total = np.abs(cases - controls), cases + controls, 4.0 * GROUP
    return gap / 2.0, total * gap**2 / (both * (total - both))


def rival(scores: NDArray[np.float64], k: int, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return the rival's choice.

    Sets with their worst at rank t are C(t, k - 1), and the largest of so many exponentials is drawn at once.
    """
    order = np.argsort(-scores, kind="stable")
    worst = np.arange(k - 1, scores.size)
    log_count = gammaln(worst + 1) - gammaln(k) - gammaln(worst - k + 2)
    arrival = np.log(rng.standard_exponential(worst.size)) - log_count
    with np.errstate(under="ignore"):
        noise = np.where(arrival < -36, -arrival, -np.log(-np.expm1(-np.exp(np.maximum(arrival, -36.0)))))
    last = int(worst[np.argmax(scores[order[worst]] + 2.0 / epsilon * noise)])
    return order[np.append(rng.choice(last, k - 1, replace=False), last).astype(np.int64)]


def ours(scores: NDArray[np.float64], k: int, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return our choice, by default options."""
    del rng
    return top_k(scores, k, sensitivity=1.0, epsilon=epsilon, largest=True).indices


def gumbel(scores: NDArray[np.float64], k: int, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return the choice of the exponential mechanism, one after the other."""
    del rng
    return top_k(scores, k, sensitivity=1.0, epsilon=epsilon, largest=True, method="gumbel").indices


CONTENDERS: Mapping[str, Chooser] = {"ours": ours, "joint permute-and-flip": rival, "exponential": gumbel}


def more_studies(setting: Setting, name: str) -> int:
    """Return how many times the studies: most at k = 1, where contenders are near; packages take long."""
    return (10 if name in CONTENDERS else 1) * (4 if setting.k == 1 else 1)


def accuracies(
    setting: Setting, contenders: Mapping[str, Chooser], studies: int, seed: int
) -> dict[str, NDArray[np.float64]]:
    """Return each contender's accuracy in every study; shape (studies,)."""
    rng, chance = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    shares = {name: np.empty(studies) for name in contenders}
    for i in range(studies):
        scores, chi_square = study(rng)
        best = np.argsort(-chi_square, kind="stable")[: setting.k]
        for name, choose in contenders.items():
            chosen = choose(scores, setting.k, setting.epsilon, chance)
            shares[name][i] = np.isin(chosen, best).mean()
    return shares
