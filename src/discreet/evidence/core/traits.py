"""The sums behind tests of a quantitative trait: genotypes, trait or residuals, their products."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, cast

import numpy as np

from discreet.block import Block, numbers
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails
from discreet.evidence.core.association import Moments, association, private_design, public_design, strata_of
from discreet.evidence.core.contribution import COARSE
from discreet.evidence.core.covariates import Covariates, residuals
from discreet.evidence.core.genetic import not_protected, variance_floor
from discreet.evidence.core.scores import basis_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.block import Genotyped
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.score import Score
    from discreet.typing import Levels

_USUAL, _LITTLE = 0.25, 0.1  # floors of the trait's deviation taken unasked: with few people, and with many


@dataclass(slots=True, eq=False, repr=False)
class Traits:
    """Exact sums of genotypes, trait and their products, the trait in whole parts: memory O(strata * m)."""

    names: Sequence[str]
    test: Score
    sums: NDArray[np.float64] = field(init=False)
    people: NDArray[np.float64] = field(init=False)
    unit: float = field(init=False)
    held: list[Block] = field(default_factory=list[Block], init=False)

    def __post_init__(self) -> None:
        self.unit = self.test.bounds[1] - self.test.bounds[0]
        strata = 1 if self.test.stratum is None else len(self.test.strata)
        self.sums = np.zeros((6, strata, len(self.names)))  # in the order of the fields of Moments
        # Slots, then count, sum, sum of squares, smallest and largest of the trait.
        self.people = np.zeros((6, strata))
        self.people[4], self.people[5] = np.inf, -np.inf

    def update(self, block: Block) -> None:
        """Add some people of a table; where a trait is adjusted, when everyone has been seen."""
        if self.test.adjust is None:
            self._add(block)
            return
        with np.errstate(all="ignore"):
            dose = np.rint(block.values)
        few = np.where((dose == 0) | (dose == 1) | (dose == 2), dose, np.nan).astype(np.float16)
        self.held.append(Block(few, block.labels, first=block.first))

    def _add(self, block: Block) -> None:
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
        self, labels: Mapping[str, NDArray[np.generic]], rows: int
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Return who with a trait is in which stratum, (strata, rows), and the traits in whole parts."""
        test = self.test
        low, high = test.bounds
        everyone = strata_of(labels, test.stratum, test.strata, rows)
        share = np.clip((numbers(labels[test.trait]) - low) / (high - low), 0, 1)
        if test.adjust is not None:
            covariates = Covariates.of(cast("Mapping[str, Levels]", test.adjust), labels)
            left = residuals(share, covariates.values, everyone)
            least, wide = np.nanmin(left), np.ptp(left[~np.isnan(left)])
            share, self.unit = (left - least) / wide, float(wide) * (high - low)
        trait = np.rint(share * COARSE)
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
        self.held += other.held

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        test = self.test
        if self.held:
            blocks = sorted(self.held, key=lambda block: block.first)
            labels = {name: np.concatenate([block.labels[name] for block in blocks]) for name in test.labels}
            self._add(Block(np.concatenate([block.values for block in blocks]), labels))
            self.held.clear()
        public = not_protected(test.protect, test.stratum, adjusted=test.adjust is not None)
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
            self.moments,
            design,
            maf_floor=test.frequency_floor(design),
            alleles=False,
            alternative=test.alternative,
            ceiling=test.ceiling,
            survival=survival,
            basis=basis_of(test.tail, "checked"),
            unit=self.unit,
        )

    def moments(self, some: slice = slice(None)) -> Moments:
        """Return the sums of some variants, the trait as a share of its width."""
        unit = np.array([1, 1, 1, COARSE, COARSE**2, COARSE])[:, None, None]
        return Moments(*(self.sums[:, :, some] / unit))

    def __repr__(self) -> str:
        return "Traits(private)"
