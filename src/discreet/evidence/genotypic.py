"""Do the three genotypes occur in different shares among cases? The 2x3 chi-square with a floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InputError
from discreet.evidence import tails
from discreet.evidence.allelic import design_of, moments_of
from discreet.evidence.association import padded
from discreet.evidence.common import ceiling_for, conclude
from discreet.evidence.genotypes import Genotypes, check_genetic, check_share_of
from discreet.evidence.groups import check_levels
from discreet.evidence.ladder import ladder
from discreet.evidence.pooled import floor_influence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.evidence import Evidence

_DIRECTIONS = (6, 8, 11, 16, 23, 32)  # of a plane; any number gives a valid bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Genotypic:
    """Test whether carriers of 0, 1 and 2 alleles make up different shares of cases and of controls.

    t^2 = sum over genotypes g of C_g^2 / (f (1 - f) n_g), C_g = cases with g - f n_g: the chi-square with two
    degrees of freedom of plink1.9 --model GENO. n_g is at least N 2 r (1 - r), r = maf_floor: a rarer
    genotype counts less, never more. The score is the two-sided z of t's tail.

    Parameters
    ----------
    protect, maf_floor, case_floor, group, levels, ceiling, tail
        As for `Allelic`. The tail "safe" tries many directions and asks more than "normal"; prefer `Trend`
        unless you look for dominant or recessive variants.

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, genotype and phenotype are
    independent. There are no strata here. Proof of the certificate: docs/proofs/association.md.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.4, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = 1 + (rng.random(20_000) < 0.2 + 0.3 * table["rs2"])
    >>> test = discreet.Genotypic(maf_floor=0.3, case_floor=0.3)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    group: str = "phenotype"
    levels: tuple[Any, Any] = (1, 2)
    protect: str = "both"
    maf_floor: float = 0.05
    case_floor: float = 0.1
    ceiling: float | None = None
    tail: str = "safe"
    adjacency: str = "replace"

    def __post_init__(self) -> None:
        check_genetic(self)
        check_share_of(self.case_floor, "case_floor")
        check_levels(self.levels, "levels", 2, 2)

    @property
    def sides(self) -> int:
        """Two: shares may differ either way."""
        return 2

    @property
    def stratum(self) -> None:
        """No strata."""
        return

    @property
    def strata(self) -> tuple[Any, ...]:
        """No strata."""
        return ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The phenotype column."""
        return (self.group,)

    def start(self, names: Sequence[str]) -> Genotypes:
        """Return an empty accumulator for the variants called `names`."""
        return Genotypes(names, self, self._conclude)

    def _conclude(self, counts: Genotypes) -> Evidence:
        design = design_of(self, counts)
        people = design.people
        typed, more = (float(one[0]) for one in padded(design.slots))
        if self.protect == "genotypes" and design.pull == 1:
            raise InputError("both groups need people: check `group` and `levels`")
        trait_least = design.variation / people * more
        class_least = 2 * self.maf_floor * (1 - self.maf_floor) * people

        moments = moments_of(counts)
        variance, away = design.trait(moments)
        floor = np.maximum(variance[0], trait_least)
        if design.pull:
            floor = np.maximum(floor, trait_least * (away / design.pull) ** 2)
        seen = counts.counts[0, :, :3].astype(np.float64)
        share = moments.trait[0] / np.maximum(moments.n[0], 1)
        excess = seen[1] - share * seen.sum(axis=0)
        raw = np.sqrt(np.sum(excess**2 / np.maximum(seen.sum(axis=0), class_least), axis=0) / floor)

        clip = ceiling_for(self.ceiling, people)
        step = np.sqrt(2 / (trait_least * class_least)) * (design.pull or 1.0)
        grown = (1 + 1 / (typed - 1) / trait_least) if not design.pull else _public_growth(typed, trait_least)
        shrink = np.sqrt((1 + 1 / class_least) * grown) - 1
        influence = floor_influence(float(step), float(shrink), clip)
        reach = float(np.sqrt(2 / (trait_least * class_least)) * design.reach)
        steps = ladder(lambda t: _both_tails(t, self.tail, people, reach, clip), influence, clip)
        return conclude(
            counts.names,
            steps(raw),
            sides=2,
            top=steps.top,
            sup=steps.move(influence),
            proof="docs/proofs/association.md",
            public=design.public,
        )


def _public_growth(typed: float, least: float) -> float:
    return max(1 + 1 / (typed - 1) / least, (1 + 2 / typed) ** 2)


def _both_tails(
    t: NDArray[np.float64], tail: str, people: int, reach: float, clip: float
) -> NDArray[np.float64]:
    """Return half of a bound on P(length of a vector in the plane >= t): the ladder reads it as one side."""
    if tail == "normal":
        return 0.5 * np.exp(-0.5 * t * t)
    one = tails.bounded_sum(people, reach, clip)
    # A vector at least t long reaches t cos(pi/k) in one of k evenly spread directions.
    each = [k * one(t * np.cos(np.pi / k)) for k in _DIRECTIONS]
    return 0.5 * np.minimum(np.min(each, axis=0), 1.0)
