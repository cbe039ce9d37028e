"""The evidence a test would give if its z scores were these: the test's own code on invented totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy

from discreet.errors import InputError
from discreet.evidence.allelic import Allelic
from discreet.evidence.core.contribution import COARSE, FINE, bounds_of
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.groups import MEMBERSHIP
from discreet.evidence.core.ranks import rank_evidence
from discreet.evidence.correlation import Correlation
from discreet.evidence.mean import Mean
from discreet.evidence.p_values import PValues
from discreet.evidence.proportion import Proportion
from discreet.evidence.rank_sum import RankSum
from discreet.evidence.sign import Sign
from discreet.evidence.signed_rank import SignedRank
from discreet.evidence.trend import Trend
from discreet.evidence.two_by_two import TwoByTwo
from discreet.evidence.two_groups import Stratified, TwoGroups

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.tails import Survival

    Vector = NDArray[np.float64]

_GROUPS = (TwoGroups, Stratified, TwoByTwo, RankSum, Allelic, Trend)
_TESTS = (*_GROUPS, Mean, Proportion, Sign, SignedRank, Correlation, PValues)


@dataclass(frozen=True, slots=True)
class Setting:
    """A test, or a declared sensitivity, and what is assumed of the people it would see. All public.

    Attributes
    ----------
    test : a test, or float
        A number is how far one person moves a z score of `people` people; it falls with 1/sqrt(people).
    people : int
        The number of people at which a declared sensitivity holds.
    share : float
        The second group's share of the people.
    sd : float or None
        The columns' standard deviation as a share of the width of their bounds; what the test assumes, or the
        largest possible, when absent.
    declared : Alternative
        In which direction z scores of a declared sensitivity are looked at; a test says so itself.
    """

    test: Any
    people: int
    share: float = 0.5
    sd: float | None = None
    declared: Alternative = "two-sided"

    def __post_init__(self) -> None:
        if not isinstance(self.test, (float, *_TESTS)):
            raise InputError(
                f"no study can be invented for test {type(self.test).__name__}: state how far one person "
                "moves a z score instead, sensitivity=..."
            )

    @property
    def alternative(self) -> Alternative:
        """In which direction evidence lies."""
        if isinstance(self.test, float):
            return self.declared
        return getattr(self.test, "alternative", "greater")  # p-values say nothing of a direction

    @property
    def uses_share(self) -> bool:
        """Whether there are two groups."""
        return isinstance(self.test, (*_GROUPS, float, PValues))

    @property
    def uses_sd(self) -> bool:
        """Whether the deviation of the columns matters: not to ranks, signs and declared sensitivities."""
        product = isinstance(self.test, Correlation) and self.test.method == "product"
        return product or isinstance(self.test, (TwoGroups, Stratified, TwoByTwo, Mean, Allelic, Trend))

    @property
    def unit(self) -> str:
        """What an effect of 1 is."""
        if isinstance(self.test, Correlation):
            return "a correlation"
        if self.uses_share:
            return "a difference between groups in standard deviations"
        return "a distance from the null value in standard deviations"

    @property
    def assumed(self) -> str:
        """What the invented people are like, in words."""
        words: list[str] = []
        if self.uses_sd:
            sd = self.sd or getattr(self.test, "sd", None)
            share = "as large as the bounds allow" if sd is None else f"{sd:g} of the width of the bounds"
            words.append(f"the columns' standard deviation is {share}")
        if isinstance(self.test, _GROUPS):
            words.append(f"{1 - self.share:.3g} and {self.share:.3g} of the people are in the two groups")
        return "Assumed: " + "; ".join([*words, "columns are independent, z scores normal"]) + "."

    def mean(self, effect: Vector, n: int) -> Vector:
        """Return the mean of the z scores of columns with these effects; rank tests as if data were normal.

        Two groups: z = effect * sqrt(n share (1 - share)). One group: z = effect * sqrt(n).
        """
        first, second = self.sizes(n)
        match self.test:
            case RankSum():
                above = _normal(effect / np.sqrt(2)) - 0.5
                return above * first * second / _rank_sum(first, second)
            case Sign():
                return (2 * _normal(effect) - 1) * np.sqrt(n)
            case SignedRank():
                pairs = n * (n - 1) / 2 * (2 * _normal(effect * np.sqrt(2)) - 1)
                return (pairs + n * (2 * _normal(effect) - 1)) / _signed_rank(n)
            case Correlation(method="kendall"):
                return np.arcsin(np.clip(effect, -1, 1)) * 2 / np.pi * n * (n - 1) / 2 / _kendall(n)
            case Correlation():
                return effect * np.sqrt(n - 1)
            case Mean() | Proportion():
                return effect * np.sqrt(n)
            case _:
                return effect * np.sqrt(first * second / n)

    def sizes(self, n: int) -> tuple[int, int]:
        """Return how many of n people are in each group; both have some."""
        second = min(max(1, round(n * self.share)), n - 1)
        return n - second, second

    def evidence(self, z: Vector, n: int) -> Evidence:
        """Return the evidence of n people whose textbook z scores, of variance 1, are `z`; shape (columns,).

        Totals that give these scores are handed to the test's own accumulator, so tail, ceiling and
        certificate are the test's.
        """
        if isinstance(self.test, float):
            sup = self.test * float(np.sqrt(self.people / n))
            return Evidence.from_z(z, sup=sup, adjacency="replace", alternative=self.declared)
        if isinstance(self.test, PValues):
            moved = self.test.eta * float(np.sqrt(self.people / n))
            return Evidence.from_p(
                scipy.special.ndtr(-z), eta=moved, nu=self.test.nu, adjacency=self.test.adjacency
            )
        return self._ranks(z, n) or self._totals(z, n)

    def _ranks(self, z: Vector, n: int) -> Evidence | None:
        first, second = self.sizes(n)
        match self.test:
            case RankSum():
                tail = self.test.survival(first, second)
                deviation = _rank_sum(first, second)
                return _ranked(self.test, z, deviation, max(first, second), n, tail, public=MEMBERSHIP)
            case SignedRank():
                return _ranked(self.test, z, _signed_rank(n), 2 * n, n, self.test.survival(n))
            case Correlation(method="kendall"):
                return _ranked(self.test, z, _kendall(n), 2 * (n - 1), n, self.test.survival(n))
            case _:
                return None

    def _totals(self, z: Vector, n: int) -> Evidence:
        first, second = self.sizes(n)
        match self.test:
            case Correlation():
                return _product(self.test, z, n, self.sd or 0.5)
            case Mean():
                return _mean(self.test, z, n, self.sd)
            case Proportion(null=rate):
                yes = np.clip(np.rint(n * rate + z * np.sqrt(n * rate * (1 - rate))), 0, n)
                return _finish(self.test, [n], [2 * yes - n], [np.full(z.size, n)])
            case Sign():
                return _finish(self.test, [n], [np.clip(np.rint(z * np.sqrt(n)), -n, n)])
            case Allelic() | Trend():
                return _genotypes(self.test, z, first, second, self.sd)
            case TwoByTwo():
                return _rates(self.test, z, first, second, self.sd or 0.5)
            case _:
                return _groups(self.test, z, first, second, self.sd)


def _groups(test: Any, z: Vector, first: int, second: int, sd: float | None) -> Evidence:
    """Put everyone in the middle of the bounds but for a contrast of z standard errors, strata alike."""
    n = first + second
    actual = sd or getattr(test, "sd", None) or 0.5
    squared = getattr(test, "floor", None) is not None
    # The textbook z of the pooled test divides by N - 1.
    contrast = z * actual * np.sqrt(first * second / n * (n / (n - 1) if squared else 1.0))
    strata = len(test.strata) if isinstance(test, Stratified) else 1
    parts = COARSE if squared else FINE
    pair = [parts * (first / 2 - contrast) / strata, parts * (second / 2 + contrast) / strata]
    squares = [np.full(z.size, n * (actual**2 + 0.25)) * COARSE**2, np.zeros(z.size)] if squared else None
    return _finish(test, [first / strata, second / strata] * strata, pair * strata, squares)


def _rates(test: TwoByTwo, z: Vector, first: int, second: int, sd: float) -> Evidence:
    """Take the overall rate of yes that has this standard deviation."""
    n = first + second
    yes = max(1, round(n * (1 - np.sqrt(1 - 4 * sd * sd)) / 2))
    spread = np.sqrt(first * second / n**2 * yes * (n - yes) / (n - 1))
    own = np.clip(np.rint(second / n * yes + z * spread), max(0, yes - first), min(second, yes))
    return _finish(test, [first, second], [yes - own, own])


def _genotypes(test: Any, z: Vector, controls: int, cases: int, sd: float | None) -> Evidence:
    """Take the allele frequency with this standard deviation, or one half, and split alleles as by chance."""
    frequency = (1 - np.sqrt(max(0.0, 1 - 8 * (sd or 0.5) ** 2))) / 2
    n = controls + cases
    more = z * np.sqrt(2 * frequency * (1 - frequency) * cases * controls / n)
    counts = test.start(_names(test, z.size))
    strata = counts.slots.size
    for group, size, change in ((0, controls, -more), (1, cases, more)):
        inside = size // strata
        p = np.clip(frequency + change / (2 * size), 0, 1)
        two, one = np.rint(inside * p * p), np.rint(inside * 2 * p * (1 - p))
        counts.counts[:, group, 2], counts.counts[:, group, 1] = two, np.minimum(one, inside - two)
        counts.counts[:, group, 0] = inside - counts.counts[0, group, 1:3].sum(axis=0)
        counts.members[:, group] = inside
        counts.slots += inside
    return counts.finish()


def _mean(test: Mean, z: Vector, n: int, sd: float | None) -> Evidence:
    names = _names(test, z.size)
    low, width = bounds_of(test.bounds, names)
    null = test.null
    at = np.array([null[name] for name in names] if isinstance(null, Mapping) else null, dtype=np.float64)
    share = (at - low) / width
    actual = sd or test.sd or np.sqrt(share * (1 - share))
    return _finish(test, [n], [FINE * (n * share + z * actual * np.sqrt(n))])


def _product(test: Correlation, z: Vector, n: int, sd: float) -> Evidence:
    """Give both columns mean 1/2 and this standard deviation, in shares of their widths."""
    square = n * (sd * sd + 0.25)
    together = z * n * sd * sd / np.sqrt(n - 1) + n * 0.25
    x, xx = np.full(z.size, n / 2 * COARSE), np.full(z.size, square * COARSE**2)
    rest = np.zeros(z.size)
    counts = [n, n / 2 * COARSE, square * COARSE**2]
    return _finish(test, counts, [x, together * COARSE**2, rest], [xx, rest, rest])


def _ranked(
    test: RankSum | SignedRank | Correlation,
    z: Vector,
    deviation: float,
    pull: float,
    n: int,
    survival: Survival,
    public: str = "",
) -> Evidence:
    return rank_evidence(
        _names(test, z.size),
        z * deviation,
        deviation,
        pull,
        n,
        alternative=test.alternative,
        ceiling=test.ceiling,
        survival=survival,
        proof=f"docs/proofs/{'correlation' if isinstance(test, Correlation) else 'ranks'}.md",
        effect_name="",  # no effect is released from an invented study
        largest=n * n,
        tail=test.tail,
        public=public,
    )


def _finish(test: Any, count: Any, total: Any, square: Any = None) -> Evidence:
    sums = test.start(_names(test, len(total[0])))
    sums.count[:], sums.total[:] = count, total
    if square is not None:
        sums.square[:] = square
    if sums.counted:
        sums.present[:] = sums.count[:, None]  # nobody's value is missing
    return sums.finish()


def _names(test: Any, size: int) -> tuple[str, ...]:
    """Return as many column names as needed, those that the test declares bounds or nulls for, over again."""
    for declared in (getattr(test, "bounds", None), getattr(test, "null", None)):
        if isinstance(declared, Mapping):
            return tuple(islice(cycle(cast("Mapping[str, Any]", declared)), size))
    return ("",) * size


def _normal(x: Vector) -> Vector:
    return np.asarray(scipy.special.ndtr(x), dtype=np.float64)


def _rank_sum(first: int, second: int) -> float:
    return float(np.sqrt(first * second * (first + second + 1) / 12))


def _signed_rank(n: int) -> float:
    return float(np.sqrt(n * (n + 1) * (2 * n + 1) / 6))


def _kendall(n: int) -> float:
    return float(np.sqrt(n * (n - 1) * (2 * n + 5) / 18))
