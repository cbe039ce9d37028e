"""The association of a genotype with a phenotype: one statistic for allelic, trend and score tests.

z = C / S: C the sum over strata of products of genotype and phenotype about their means, S^2 the sum of
variation of genotypes times variance of phenotypes, floored. Proof: docs/proofs/association.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.alternative import Alternative, toward
from discreet.block import codes
from discreet.errors import InputError
from discreet.evidence.core.effect import effect
from discreet.evidence.core.scores import ceiling_for, conclude, nuisance_score_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core import tails
    from discreet.evidence.core.effect import Effect
    from discreet.evidence.core.evidence import Evidence
    from discreet.typing import RawArray

CALLED = 0.9  # with fewer calls than this share of people, a variant's phenotype variance is padded
_LEAST = 5  # people in a stratum
EFFECT = "covariance of allele count and phenotype"
_PART = 2**15  # variants worked on together: their numbers stay in the cache


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Moments:
    """Sums over the people who have both a call and a phenotype, shape (strata, m) each. Private.

    `n` people; `dose` and `dose_square` sums of g and g^2; `trait` and `trait_square` of y and y^2, y in
    [0, 1]; `product` of g y.
    """

    n: NDArray[np.float64]
    dose: NDArray[np.float64]
    dose_square: NDArray[np.float64]
    trait: NDArray[np.float64]
    trait_square: NDArray[np.float64]
    product: NDArray[np.float64]

    @property
    def covariation(self) -> NDArray[np.float64]:
        """Sum of (g - mean)(y - mean)."""
        return self.product - self.dose * self.trait / np.maximum(self.n, 1)

    @property
    def variation(self) -> NDArray[np.float64]:
        """Sum of (g - mean)^2."""
        return self.dose_square - self.dose * self.dose / np.maximum(self.n, 1)

    @property
    def allele_variation(self) -> NDArray[np.float64]:
        """The same if the two alleles of a person were independent: 2 n p (1 - p)."""
        return self.dose - self.dose * self.dose / np.maximum(2 * self.n, 1)

    @property
    def trait_variation(self) -> NDArray[np.float64]:
        """Sum of (y - mean)^2."""
        return self.trait_square - self.trait * self.trait / np.maximum(self.n, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What is public of a study.

    Attributes
    ----------
    slots : array, shape (strata,)
        People in each stratum.
    variation : float
        The floor of the phenotype's within-stratum sum of squares.
    low, high : array, shape (strata,)
        Between which the phenotype lies: 0 and 1, or its range where phenotypes are public.
    pull : float
        protect="genotypes": the farthest a phenotype lies from its stratum's mean. protect="both": 0.
    public : str
        What is not protected, in words.
    """

    slots: NDArray[np.float64]
    variation: float
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    pull: float
    public: str

    @property
    def people(self) -> int:
        """Everyone."""
        return int(self.slots.sum())

    def trait(self, moments: Moments) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the phenotype's variance among those with a call, (strata, m), and how far one is off, (m,).

        Below a 90% call rate, people who are missing get the largest variance there is, never less than that
        of the others, and count as if at either end.
        """
        typed, more = padded(self.slots[:, None])
        low, high = self.low[:, None], self.high[:, None]
        lacking = np.maximum(typed - moments.n, 0)
        used = np.maximum(moments.n, typed)
        variance = (moments.trait_variation + lacking * (high - low) ** 2 / 4) / used * more
        away = np.maximum(
            high - (moments.trait + lacking * low) / used, (moments.trait + lacking * high) / used - low
        )
        return variance, np.max(away, axis=0)


def padded(slots: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the number of calls below which a variant is padded, n0, and the factor n0 / (n0 - 1)."""
    typed = np.ceil(CALLED * slots)
    return typed, typed / (typed - 1)


def private_design(slots: NDArray[np.generic], variance: float, public: str) -> Design:
    """Return the design of a study whose phenotypes in [0, 1] are protected: their variance is declared."""
    people = _enough(slots)
    ones = np.ones(people.size)
    return Design(people, float(people.sum()) * variance, 0 * ones, ones, 0.0, public)


def public_design(
    slots: RawArray,
    total: RawArray,
    square: RawArray,
    low: RawArray,
    high: RawArray,
    public: str,
) -> Design:
    """Return the design of a study whose phenotypes are not protected, from their sums in each stratum."""
    people = _enough(slots)
    middle = total / people
    variation = float(np.sum(square - total * middle))
    pull = float(np.max(np.maximum(high - middle, middle - low)))
    if not (variation > 0 and pull > 0):
        raise InputError("the phenotype is the same for everyone: check the phenotype column and `levels`")
    return Design(people, variation, low.astype(np.float64), high.astype(np.float64), pull, public)


def _enough(slots: RawArray) -> NDArray[np.float64]:
    if np.any(slots < _LEAST):
        raise InputError(f"every stratum needs at least {_LEAST} people")
    return slots.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """How far one person moves the parts of z; docs/proofs/association.md."""

    least: float  # the floor of S^2
    step: float  # |C' - C| / S'
    shrink: float  # S / S' - 1
    margin: float  # |S'^2 - S^2|


def bounds_of(design: Design, maf_floor: float, *, alleles: bool) -> Bounds:
    """Return the closed-form bounds; `alleles` says how the variation of genotypes is measured."""
    wide = design.high - design.low
    typed, more = padded(design.slots)
    least = 2 * maf_floor * (1 - maf_floor) * design.variation * float(np.max(more))
    dx, most_x = (2.0, design.slots / 2) if alleles else (4.0, design.slots)
    dy, most_y = wide * wide / (typed - 1), wide * wide / 4 * more
    with np.errstate(divide="ignore"):
        corner = dx * most_y + np.minimum(most_x, least / most_y) * dy
    other = dx * np.minimum(most_y, least / most_x) + most_x * dy
    growth = float(np.max(np.maximum(corner, other) + dx * dy)) / least
    growth = min(growth, max(float(np.sum(most_x * most_y)) / least - 1, 0.0))
    away = float(np.max(1 + wide / (typed * design.pull))) ** 2 if design.pull else 1.0
    shrink = float(np.sqrt(max(1 + growth, away))) - 1
    step = 2 * (design.pull or 1.0) / float(np.sqrt(least))
    margin = max(float(np.max(dx * most_y + most_x * dy + dx * dy)), 4 * least * (away - 1))
    return Bounds(least, step, shrink, margin)


def standardise(
    moments: Moments, design: Design, bounds: Bounds, *, alleles: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return z and S^2, shape (m,) each."""
    variance, away = design.trait(moments)
    variation = moments.allele_variation if alleles else moments.variation
    square = np.maximum(np.sum(variation * variance, axis=0), bounds.least)
    if design.pull:
        square = np.maximum(square, bounds.least * (away / design.pull) ** 2)
    return np.sum(moments.covariation, axis=0) / np.sqrt(square), square


def some_at_a_time(count: int) -> Iterator[slice]:
    """Give the places of so many variants, some at a time: what is worked out on the way takes no memory."""
    for first in range(0, count, _PART):
        yield slice(first, min(first + _PART, count))


def association(
    names: Sequence[str],
    moments: Callable[[slice], Moments],
    design: Design,
    *,
    maf_floor: float,
    alleles: bool,
    alternative: Alternative,
    ceiling: float | None,
    survival: Callable[[float, float], tails.Survival],
    basis: str,
    unit: float = 1.0,
) -> Evidence:
    """Return the evidence of z = C / S for every variant; `unit` is the width of the phenotype's bounds.

    `moments(some)` are the sums of some variants. `survival(square, clip)` bounds the tail of z, up to
    `clip`, wherever S^2 is at least `square`.
    """
    bounds = bounds_of(design, maf_floor, alleles=alleles)
    clip = ceiling_for(ceiling, design.people)
    knots = [bounds.least, 2 * bounds.least]
    most = float(np.sum(design.slots * (design.high - design.low) ** 2)) / 2
    while knots[-1] < most:
        knots.append(2 * knots[-1])
    # A bound for one S holds for all larger ones: one person then weighs less.
    survivals = [survival(knot, clip) for knot in (knots[0], *knots[:-1])]
    ends = [knot / bounds.margin for knot in knots]
    steps = nuisance_score_map(ends, survivals, bounds.step, clip, grow=bounds.shrink)
    score, share = np.empty(len(names)), np.empty(len(names))
    for some in some_at_a_time(len(names)):
        part = moments(some)
        share[some] = allele_share(part, design)
        z, square = standardise(part, design, bounds, alleles=alleles)
        score[some] = steps(toward(z, alternative), square / bounds.margin)
    effects = allele_effect(share, design, unit)
    del share  # of millions of variants, before there are more copies of scores
    return conclude(
        names,
        score,
        alternative=alternative,
        steps=[steps],
        sensitivity=steps.move,
        proof="docs/proofs/association.md",
        basis=basis,
        public=design.public,
        effect=effects,
    )


def allele_share(moments: Moments, design: Design) -> NDArray[np.float64]:
    """Return the covariance of allele count and phenotype in halves of the latter's width; shape (m,)."""
    return 2 * np.sum(moments.covariation, axis=0) / design.people


def allele_effect(share: NDArray[np.float64], design: Design, unit: float = 1.0) -> Effect:
    """Return these covariances as effects, `unit` being the width of the phenotype's bounds."""
    # |C| <= N/2, and one person moves it by at most twice the width of the phenotype.
    most = 4 * float(np.max(design.high - design.low)) / design.people
    return effect(
        EFFECT, share, most, np.broadcast_to(np.float64(unit / 2), share.shape), strata=design.slots.size
    )


def strata_of(
    labels: Mapping[str, NDArray[np.generic]], stratum: str | None, strata: Sequence[object], rows: int
) -> NDArray[np.bool_]:
    """Return who is in which public stratum, (strata, rows); everyone in the only one where there is none."""
    if stratum is None:
        return np.ones((1, rows), dtype=np.bool_)
    place = codes(labels[stratum], strata)
    return np.stack([np.equal(place, number) for number in range(len(strata))])


def lesser_share(variance: float) -> float:
    """Return the share r <= 1/2 with r (1 - r) = variance; 1/2 where there is none."""
    return float((1 - np.sqrt(max(1 - 4 * variance, 0.0))) / 2)
