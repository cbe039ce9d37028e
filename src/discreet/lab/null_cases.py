"""Null columns for every test of the library: what people hold, and who is in which group."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence.allelic import Allelic
from discreet.evidence.correlation import Correlation
from discreet.evidence.genotypic import Genotypic
from discreet.evidence.mean import Mean
from discreet.evidence.proportion import Proportion
from discreet.evidence.rank_sum import RankSum
from discreet.evidence.score import Score
from discreet.evidence.sign import Sign
from discreet.evidence.signed_rank import SignedRank
from discreet.evidence.trend import Trend
from discreet.evidence.two_by_two import TwoByTwo
from discreet.evidence.two_groups import Stratified, TwoGroups
from discreet.evidence.vote import Vote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.accumulate import Test

RATES = (0.5, 0.02, 0.005)
SHARES = (0.5, 0.1)
_PEOPLE = 5000
_FEW = 400  # people of the cases without ties, which are drawn one by one
_ALL = 2**62
STATUS = {"phenotype": np.array([1, 2])}  # controls and cases


@dataclass(frozen=True, slots=True)
class Case:
    """A test and a null law: people of each kind (their labels) hold values drawn from one law.

    `law` maps values to chances; None stands for the uniform law on [-1/2, 1/2], without ties. `most` bounds
    the columns, where each is dear.
    """

    name: str
    test: Test
    law: Mapping[float, float] | None
    sizes: tuple[int, ...]
    labels: Mapping[str, NDArray[Any]] = field(default_factory=dict[str, "NDArray[Any]"])
    most: int = _ALL

    @property
    def sides(self) -> int:
        """How many directions the test looks in."""
        either = isinstance(self.test, Genotypic) or getattr(self.test, "alternative", "") == "two-sided"
        return 2 if either else 1

    @property
    def people(self) -> int:
        """Everyone."""
        return sum(self.sizes)


def cases(rate: float, share: float, looks: Alternative = "greater") -> list[Case]:
    """Return all tests on columns of one rate, the second group being one share of the people.

    One side, so that the other cannot hide an excess of it.
    """
    coin = {0.0: 1 - rate, 1.0: rate}
    signs = {-1.0: rate / 2, 0.0: 1 - rate, 1.0: rate / 2}
    bounds = (0, 1)
    groups, group = _split(_PEOPLE, share), {"g": np.array([0, 1])}
    few = _split(_FEW, share)
    one = (_PEOPLE,)
    strata = 2 * _split(_PEOPLE // 2, share)
    both = {"g": np.array([0, 1, 0, 1]), "s": np.array([0, 0, 1, 1])}
    layered = partial(Stratified, alternative=looks, group="g", stratum="s", strata=(0, 1), bounds=bounds)
    product = Correlation(
        partner="g", method="product", bounds=bounds, partner_bounds=bounds, floor=0.3, alternative=looks
    )
    return [
        Case("Proportion", Proportion(null=rate, alternative=looks), coin, one),
        Case("Mean", Mean(bounds=bounds, null=rate, alternative=looks), coin, one),
        Case(
            "Mean, least 2,500",
            Mean(bounds=bounds, null=rate, alternative=looks, adjacency="add-remove", least=2500),
            coin,
            one,
        ),
        Case("Sign", Sign(alternative=looks), signs, one),
        Case("SignedRank", SignedRank(alternative=looks), signs, one),
        Case("SignedRank, no ties", SignedRank(alternative=looks), None, (_FEW,), most=200_000),
        Case("TwoGroups", TwoGroups(group="g", alternative=looks, bounds=bounds), coin, groups, group),
        Case(
            "TwoGroups, floor .05",
            TwoGroups(group="g", alternative=looks, bounds=bounds, floor=0.05),
            coin,
            groups,
            group,
        ),
        *_genetic(rate, share, looks),
        Case(
            "TwoByTwo, floor .005", TwoByTwo(group="g", alternative=looks, floor=0.005), coin, groups, group
        ),
        Case(
            "TwoByTwo, normal tail",
            TwoByTwo(group="g", alternative=looks, floor=0.005, tail="normal"),
            coin,
            groups,
            group,
        ),
        Case("Stratified", layered(), coin, strata, both),
        Case("Stratified, floor .05", layered(floor=0.05), coin, strata, both),
        Case("RankSum", RankSum(group="g", alternative=looks), coin, groups, group, most=500_000),
        Case("RankSum, no ties", RankSum(group="g", alternative=looks), None, few, group, most=200_000),
        Case(
            "Correlation, Kendall",
            Correlation(partner="g", alternative=looks),
            coin,
            groups,
            group,
            most=25_000,
        ),
        Case(
            "Correlation, Kendall, no ties",
            Correlation(partner="y", alternative=looks),
            None,
            (1,) * _FEW,
            _ranks(),
            most=50_000,
        ),
        Case("Correlation, product, floor .3", product, coin, groups, group),
        Case("Vote, 50 blocks", Vote(test=_largest, blocks=50, level=0.2), None, (_FEW,), most=500_000),
    ]


def _genetic(rate: float, share: float, looks: Alternative) -> list[Case]:
    """Return the tests on genotypes with a floor for common alleles and one for rare ones.

    The latter also with a normal tail: a higher floor would hide what it does where carriers are few.
    """
    groups = _split(_PEOPLE, share)
    tests: list[tuple[str, Any, float, tuple[int, ...], dict[str, NDArray[Any]]]] = [
        ("Trend", partial(Trend, protect="genotypes", alternative=looks), 0.005, groups, STATUS),
        ("Allelic", partial(Allelic, case_floor=0.1, alternative=looks), 0.005, groups, STATUS),
        ("Genotypic", partial(Genotypic, protect="genotypes"), 0.0005, groups, STATUS),
        (
            "Score",
            partial(Score, protect="genotypes", alternative=looks, bounds=(0, 1)),
            0.005,
            *_trait(share),
        ),
    ]
    found: list[Case] = []
    for name, test, rare, sizes, labels in tests:
        for floor, tail in ((0.05, "safe"), (rare, "safe"), (rare, "normal")):
            words = "normal tail" if tail == "normal" else f"MAF floor {floor:g}".replace("0.", ".")
            found.append(
                Case(f"{name}, {words}", test(maf_floor=floor, tail=tail), genotypes(rate), sizes, labels)
            )
    return found


def _trait(share: float) -> tuple[tuple[int, ...], dict[str, NDArray[Any]]]:
    """Return how many people have a trait of 0, 1/2 and 1; it is above 0 for one share of them."""
    rest, some = _split(_PEOPLE, share)
    return (rest, *_split(some, 0.5)), {"phenotype": np.array([0.0, 0.5, 1.0])}


def genotypes(rate: float) -> dict[float, float]:
    """Return the law of 0, 1 and 2 alleles of one rate, a person's two being independent."""
    return {0.0: (1 - rate) ** 2, 1.0: 2 * rate * (1 - rate), 2.0: rate**2}


def _split(people: int, share: float) -> tuple[int, int]:
    second = round(people * share)
    return people - second, second


def _ranks() -> dict[str, NDArray[Any]]:
    return {"y": np.arange(_FEW)}


def _largest(block: NDArray[Any]) -> NDArray[np.float64]:
    """Return a p-value that is exactly uniform for values uniform on [-1/2, 1/2]: a user's own test."""
    return 1 - (block.max(axis=0) + 0.5) ** block.shape[0]
