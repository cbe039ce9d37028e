"""Private transmission disequilibrium tests (Yamamoto & Shibuya, PSB 2022): which 10 of a million variants.

Their setting, as their repository has it: 10,000 families with at most one heterozygous parent each ("N =
5,000"), a uniform number of these at every variant; the allele is passed on with chance 1/2, at ten variants
with .55. Accuracy is the share of the ten largest statistics among the ten chosen. Their mechanism: the score
is how many families must change for (b - c)^2 / (b + c) to pass 29.7, and the exponential mechanism chooses
one after another, pure epsilon.

Ours is the same distance to 4: far from the threshold that few nulls reach, the signals stand further above
all of them. A distance to any set moves by at most 1 with one family.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.random import Generator
    from numpy.typing import NDArray

    Chooser = Callable[["Counts", float, Generator], NDArray[np.int64]]

FAMILIES, VARIANTS, LINKED, K = 10_000, 1_000_000, 10, 10
THEIRS, OURS = 29.7, 4.0
KINDS = ((1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (0, 0))
"""What one family can add to b and c."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The budget, what their repository prints (250 studies; None where it stops), and a figure named to us.

    Where the latter was published we could not find.
    """

    epsilon: float
    printed: float | None
    named: float


SETTINGS = (Setting(1.0, 0.066, 0.176), Setting(3.0, 0.481, 0.552), Setting(5.0, None, 0.638))


@dataclass(frozen=True, slots=True)
class Counts:
    """Alleles passed on and held back by the heterozygous parents; shape (variants,) each."""

    b: NDArray[np.float64]
    c: NDArray[np.float64]

    @property
    def statistic(self) -> NDArray[np.float64]:
        """The chi-squares."""
        return (self.b - self.c) ** 2 / np.maximum(self.b + self.c, 1.0)


def study(rng: Generator) -> Counts:
    """Return one simulated study, the linked variants last."""
    variants = VARIANTS
    both = rng.integers(0, FAMILIES + 1, variants)
    passed = rng.binomial(both, np.where(np.arange(variants) < variants - LINKED, 0.5, 0.55))
    return Counts(passed.astype(np.float64), (both - passed).astype(np.float64))


def distance(counts: Counts, cut: float) -> NDArray[np.float64]:
    """Return how many families must change for the statistic to pass `cut`: how many it is above, or -below.

    Families have one heterozygous parent or none, and there are enough of the latter. Going down, one that
    passed the allele on comes to hold back two; going up, those that held it back pass on two, and when none
    of them is left those without a heterozygous parent.
    """
    gap, both = np.abs(counts.b - counts.c), counts.b + counts.c
    few = np.minimum(counts.b, counts.c)
    above = gap**2 >= cut * both
    slope = 6.0 * gap + cut  # (gap - 3k)^2 >= cut (both + k)
    down = np.floor((slope - np.sqrt(np.maximum(slope**2 - 36.0 * (gap**2 - cut * both), 0.0))) / 18.0 + 1e-9)
    up = _rise(gap, both, 3.0, 1.0, cut)
    more = few + _rise(gap + 3.0 * few, both + few, 2.0, 2.0, cut)
    return np.where(above & (both > 0), down, -np.where(up <= few, up, more))


def _rise(
    gap: NDArray[np.float64], both: NDArray[np.float64], wider: float, longer: float, cut: float
) -> NDArray[np.float64]:
    """Return the smallest whole k >= 0 with (gap + wider k)^2 >= cut (both + longer k)."""
    middle = 2.0 * wider * gap - cut * longer
    root = np.sqrt(np.maximum(middle**2 - 4.0 * wider**2 * (gap**2 - cut * both), 0.0))
    return np.ceil(np.maximum((root - middle) / (2.0 * wider**2), 0.0) - 1e-9)


def rival(counts: Counts, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return the rival's choice: Gumbel noise of scale 2K/epsilon is the exponential mechanism K times."""
    noisy = distance(counts, THEIRS) + 2.0 * K / epsilon * rng.gumbel(size=counts.b.size)
    return np.argpartition(-noisy, K)[:K]


def one_by_one(counts: Counts, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return our choice, one after another."""
    del rng
    scores = distance(counts, OURS)
    return top_k(scores, K, sensitivity=1.0, epsilon=epsilon, largest=True, method="gumbel").indices


def jointly(counts: Counts, epsilon: float, rng: Generator) -> NDArray[np.int64]:
    """Return our choice of a set."""
    del rng
    return top_k(distance(counts, OURS), K, sensitivity=1.0, epsilon=epsilon, largest=True).indices


CONTENDERS: Mapping[str, Chooser] = {
    "ours, one by one": one_by_one,
    "ours, joint": jointly,
    "exponential, distance to 29.7": rival,
}


RIVALS = ("exponential, distance to 29.7",)


def accuracies(epsilon: float, studies: int, seed: int) -> dict[str, NDArray[np.float64]]:
    """Return each contender's accuracy in every study; shape (studies,)."""
    rng, chance = np.random.default_rng(seed), np.random.default_rng([seed, 1])
    shares = {name: np.empty(studies) for name in CONTENDERS}
    for i in range(studies):
        counts = study(rng)
        best = np.argpartition(-counts.statistic, K)[:K]
        for name, choose in CONTENDERS.items():
            shares[name][i] = np.isin(choose(counts, epsilon, chance), best).mean()
    return shares
