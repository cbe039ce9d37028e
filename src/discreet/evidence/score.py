"""Does a quantitative trait rise with the number of alleles? The score test, trait clipped, with floors."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.block import numbers
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails
from discreet.evidence.core.arguments import pair
from discreet.evidence.core.association import Moments, association, private_design, public_design
from discreet.evidence.core.contribution import COARSE
from discreet.evidence.core.genetic import TEXTS, Genetic, not_protected, strata_of, variance_floor
from discreet.evidence.core.scores import basis_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.block import Block, Genotyped
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns

_USUAL, _LITTLE = 0.25, 0.1  # floors of the trait's deviation taken unasked: with few people, and with many


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Score(Genetic):
    """Test whether a bounded trait changes with each variant's 0/1/2 genotype.

    z = C / sqrt(V s^2): C the sum of products of genotype and trait about their means, V the sum of squares
    of genotypes, s^2 the trait's variance, all among people with a call: n times the squared correlation is
    z^2, and plink2 --glm's t is z sqrt((n - 2) / (n - z^2)). The denominator is at least
    sqrt(2 N r (1 - r)) sd_floor, r = maf_floor.

    Parameters
    ----------
    bounds : (low, high)
        Public. Traits outside are clipped silently.
    trait : str
        The column that holds it; "phenotype" by default.
    sd_floor : float, optional
        Public, protect="both" only: the smallest standard deviation of the trait, as a share of the width
        high - low, at which the test is sharp. If None, 0.25, and down to 0.1 where so many people leave
        little noise.
    protect : {"both", "genotypes"}
        What of a person is replaced between neighbours. "both" (default): genotypes and phenotype.
        "genotypes": the trait is public and not protected, which needs less noise.
    {maf_floor}
    {stratum}
    {strata}
    {alternative}
    {ceiling}
    tail : {"safe", "normal"}
        "safe" (default) is checked by simulation, not proved; "normal" is the usual approximation.
    {adjacency}

    Notes
    -----
    Traits are rounded to the nearest of 1,024 parts of the width, so that sums are exact in any order. A
    missing call or trait contributes nothing. Null hypothesis: genotype and trait independent (within
    strata). Covariates: take the trait's residuals, if they can be had from public data; or strata. Proof of
    the certificate: docs/proofs/association.md.

    References
    ----------
    C. R. Rao (1948), Large sample tests of statistical hypotheses concerning several parameters with
    applications to problems of estimation, Proceedings of the Cambridge Philosophical Society 44, 50-57.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.4, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = rng.random(20_000) + table["rs2"]
    >>> test = discreet.Score(bounds=(0, 3), maf_floor=0.3, sd_floor=0.2)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    name = "score"
    question = "A trait against genotypes"

    bounds: tuple[float, float]
    trait: str = "phenotype"
    sd_floor: float | None = None
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        Genetic.__post_init__(self)
        pair(self.bounds)  # one for all variants: a mapping is none
        if self.sd_floor is not None and self.protect != "both":
            raise InputError('sd_floor is for protect="both": of a public trait the deviation is known')

    @property
    def labels(self) -> tuple[str, ...]:
        """The trait and stratum columns."""
        return self.beside(self.trait)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the trait being 0, 1/2 or 1."""
        from discreet.evidence.core.invented import PEOPLE, genetic_cases, split

        rest, some = split(PEOPLE, columns.share)  # the trait is above 0 for one share of the people
        kinds = (rest, *split(some, 0.5)), {"phenotype": np.array([0.0, 0.5, 1.0])}
        test = partial(cls, protect="genotypes", alternative=columns.alternative, bounds=(0, 1))
        return genetic_cases("Score", test, 0.005, columns, kinds)

    def start(self, names: Sequence[str]) -> Traits:
        """Return an empty accumulator for the variants called `names`."""
        return Traits(names, self)


@dataclass(slots=True, eq=False, repr=False)
class Traits:
    """Exact sums of genotypes, trait and their products, the trait in whole parts: memory O(strata * m)."""

    names: Sequence[str]
    test: Score
    sums: NDArray[np.float64] = field(init=False)
    people: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        strata = 1 if self.test.stratum is None else len(self.test.strata)
        self.sums = np.zeros((6, strata, len(self.names)))  # in the order of the fields of Moments
        # Slots, then count, sum, sum of squares, smallest and largest of the trait.
        self.people = np.zeros((6, strata))
        self.people[4], self.people[5] = np.inf, -np.inf

    def update(self, block: Block) -> None:
        """Add some people of a table; a value that rounds to none of 0, 1, 2 is no call."""
        inside, trait = self._take(block.labels, block.rows)
        weight = inside.astype(np.float64)
        for part, columns, values in block.tiles():
            with np.errstate(all="ignore"):
                dose = np.rint(values.astype(np.float64))
            called = (dose == 0) | (dose == 1) | (dose == 2)
            dose = np.where(called, dose, 0.0)
            y = np.where(np.isnan(trait[part]), 0.0, trait[part])[:, None]
            terms = (called, dose, dose * dose, called * y, called * y * y, dose * y)
            for place, term in enumerate(terms):
                self.sums[place][:, columns] += weight[:, part] @ term

    def scan(self, cohort: Genotyped) -> None:
        """Add everyone in packed genotypes."""
        inside, trait = self._take(cohort.labels, cohort.rows)
        y = np.where(np.isnan(trait), 0.0, trait)
        strata = len(inside)
        counts = cohort.count(inside)
        zero, one, two, lost = counts.transpose(1, 0, 2).astype(np.float64)
        # Squares in two whole numbers of ten bits, which single precision sums exactly.
        upper, lower = np.divmod(y * y, COARSE)
        whole = inside.astype(np.float32)
        weight = whole * y.astype(np.float32)
        also = np.concatenate([whole * upper.astype(np.float32), whole * lower.astype(np.float32)])
        product, gone = cohort.multiply(weight, also, lost.any(axis=0))
        missing, high, low = gone.reshape(3, strata, -1)
        total, square = inside @ y, inside @ (y * y)
        self.sums += np.stack(
            [
                zero + one + two,
                one + 2 * two,
                one + 4 * two,
                total[:, None] - missing,
                square[:, None] - (high * COARSE + low),
                product,
            ]
        )

    def _take(
        self, labels: Mapping[str, NDArray[Any]], rows: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return who with a trait is in which stratum, (strata, rows), and the traits in whole parts."""
        test = self.test
        low, high = test.bounds
        trait = np.rint(np.clip((numbers(labels[test.trait]) - low) / (high - low), 0, 1) * COARSE)
        everyone = strata_of(labels, test.stratum, test.strata, rows)
        inside = everyone & ~np.isnan(trait)
        slots = everyone if test.protect == "both" else inside
        y = np.where(np.isnan(trait), 0.0, trait)
        self.people[:4] += np.stack([slots.sum(axis=1), inside.sum(axis=1), inside @ y, inside @ (y * y)])
        self.people[4] = np.minimum(self.people[4], np.where(inside, y, np.inf).min(axis=1, initial=np.inf))
        self.people[5] = np.maximum(self.people[5], np.where(inside, y, -np.inf).max(axis=1, initial=-np.inf))
        return inside, trait

    def merge(self, other: Self) -> None:
        """Add another accumulator's sums: whole numbers below 2^53, so the order cannot matter."""
        self.sums += other.sums
        self.people[:4] += other.people[:4]
        self.people[4] = np.minimum(self.people[4], other.people[4])
        self.people[5] = np.maximum(self.people[5], other.people[5])

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        test = self.test
        public = not_protected(test.protect, test.stratum)
        slots, _, total, square, low, high = self.people
        if test.protect == "both":
            sd = test.sd_floor
            least = variance_floor(slots.sum(), _LITTLE**2, _USUAL**2) if sd is None else sd * sd
            design = private_design(slots, least, public)
        else:
            design = public_design(
                slots, total / COARSE, square / COARSE**2, low / COARSE, high / COARSE, public
            )
        alleles_in_cases = AlleleTails(design.slots, None, alleles=False)
        wide = float(np.max(design.high - design.low))

        def survival(square: float, clip: float) -> tails.Survival:
            if test.tail == "normal":
                return tails.normal
            # Of all traits within these bounds, those at either end take the largest steps.
            ends, more = (
                alleles_in_cases.exact(square / (wide * wide), clip),
                alleles_in_cases.widest(square / (wide * wide)),
            )
            most = 2 * (design.pull or 1.0) / (float(np.sqrt(square)) * more)
            terms = tails.bounded_sum(design.people, most, clip / more)
            return lambda t: np.minimum(ends(t), terms(t / more))

        return association(
            self.names,
            self.moments(),
            design,
            maf_floor=test.frequency_floor(design),
            alleles=False,
            alternative=test.alternative,
            ceiling=test.ceiling,
            survival=survival,
            basis=basis_of(test.tail, "checked"),
            unit=test.bounds[1] - test.bounds[0],
        )

    def moments(self) -> Moments:
        """Return the sums, the trait as a share of its width."""
        unit = np.array([1, 1, 1, COARSE, COARSE**2, COARSE])[:, None, None]
        return Moments(*(self.sums / unit))

    def __repr__(self) -> str:
        return "Traits(private)"
