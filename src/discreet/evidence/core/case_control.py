"""Cases and controls: exact counts of genotypes by group, and the evidence that follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from discreet.block import codes
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails
from discreet.evidence.core.association import Moments, association, strata_of
from discreet.evidence.core.pending import Pending
from discreet.evidence.core.scores import basis_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.block import Block, Genotyped
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.genetic import CaseControl
    from discreet.evidence.core.invented import Invented


@dataclass(slots=True, eq=False, repr=False)
class Genotypes:
    """Exact counts of genotypes: memory O(strata * m). Mergeable; the order of people cannot matter.

    Attributes
    ----------
    counts : array of int, shape (strata, 2, 4, m)
        In each stratum and group (first level, second level): carriers of 0, 1, 2 alleles, and no call.
    slots : array of int, shape (strata,)
        People in each stratum: everyone, or with protect="genotypes" everyone with a phenotype. Public.
    members : array of int, shape (strata, 2)
        People in each group.
    """

    names: Sequence[str]
    test: Any
    conclude: Callable[[Genotypes], Evidence]
    counts: NDArray[np.int32] = field(init=False)
    slots: NDArray[np.int64] = field(init=False)
    members: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        strata = 1 if self.test.stratum is None else len(self.test.strata)
        self.counts = np.zeros((strata, 2, 4, len(self.names)), dtype=np.int32)
        self.slots = np.zeros(strata, dtype=np.int64)
        self.members = np.zeros((strata, 2), dtype=np.int64)

    def update(self, block: Block) -> None:
        """Add some people of a table; a value that rounds to none of 0, 1, 2 is no call."""
        cells = self._cells(block.labels, block.rows)
        weight = cells.astype(np.float64)
        flat = self.counts.reshape(len(cells), 4, -1)
        for part, columns, values in block.tiles():
            with np.errstate(all="ignore"):
                dose = np.rint(values)
            carried = [dose == alleles for alleles in (0, 1, 2)]
            carried.append(~(carried[0] | carried[1] | carried[2]))
            for place, who in enumerate(carried):
                flat[:, place, columns] += (weight[:, part] @ who.astype(np.float64)).astype(np.int32)

    def scan(self, cohort: Genotyped) -> None:
        """Add everyone in packed genotypes."""
        first = not self.slots.any()
        cells = self._cells(cohort.labels, cohort.rows)
        counts = cohort.count(cells).reshape(self.counts.shape)
        self.counts = counts if first else self.counts + counts

    def _cells(self, labels: Mapping[str, NDArray[np.generic]], rows: int) -> NDArray[np.bool_]:
        """Return who is in which stratum and group, (strata * 2, rows), and count them."""
        test = self.test
        group = codes(labels[test.group], test.levels)
        inside = strata_of(labels, test.stratum, test.strata, rows)
        cells = inside[:, None] & (np.arange(2)[:, None] == group)
        self.members += np.count_nonzero(cells, axis=2)
        present = inside if test.protect == "both" else inside & (group >= 0)
        self.slots += np.count_nonzero(present, axis=1)
        return cells.reshape(2 * self.slots.size, rows)

    def merge(self, other: Self) -> None:
        """Add another accumulator's counts."""
        self.counts += other.counts
        self.slots += other.slots
        self.members += other.members

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        return self.conclude(self)

    def pending(self) -> Pending:
        """Return evidence that waits for the numbers of controls and cases; one person may be in either."""
        blank = self.test.start(self.names[:1])
        blank.slots += self.slots
        assumed = blank.finish()
        assumed = replace(assumed, names=self.names, score=np.zeros(len(self.names)), effect=assumed.effect)
        people = float(self.slots.sum())

        def finish(told: NDArray[np.float64] | None) -> Evidence:
            test = self.test if told is None else self.test.with_cases(*told.tolist(), people)
            return test.concluded(self)

        return Pending(assumed, ("controls", "cases"), self.members.sum(axis=0), sqrt(2), finish)

    def __repr__(self) -> str:
        return "Genotypes(private)"


def between(controls: float, cases: float) -> float:
    """Return the sum of squares of cases, 1, and controls, 0, about their mean."""
    return controls * cases / max(controls + cases, 1.0)


def invented_counts(test: CaseControl, z: NDArray[np.float64], people: Invented) -> Evidence:
    """Take the allele frequency with the deviation, or one half, and split alleles as by chance."""
    n, controls, cases = people.n, people.first, people.second
    frequency = (1 - np.sqrt(max(0.0, 1 - 8 * (people.sd or 0.5) ** 2))) / 2
    more = z * np.sqrt(2 * frequency * (1 - frequency) * cases * controls / n)
    if test.looks_first:
        test = test.with_cases(controls, cases, n)
    counts = test.start(("",) * z.size)
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


def moments_of(counts: Genotypes, some: slice = slice(None)) -> Moments:
    """Return the sums that the genotype counts of some variants stand for: cases have y = 1, controls 0."""
    zero, one, two = (counts.counts[:, :, dose, some].astype(np.float64) for dose in (0, 1, 2))
    both = zero + one + two
    dose = one + 2 * two
    n, cases = both.sum(axis=1), both[:, 1]
    return Moments(n, dose.sum(axis=1), (one + 4 * two).sum(axis=1), cases, cases, dose[:, 1])


def allele_tails_of(test: CaseControl, counts: Genotypes, *, alleles: bool) -> AlleleTails:
    """Return what is public of the law of alleles, or of people, in cases drawn at random."""
    controls, cases = counts.members.T.astype(np.float64)
    uneven = np.abs(cases - controls) if test.protect == "genotypes" else None
    return AlleleTails(counts.slots.astype(np.float64), uneven, alleles)


def conclude_counts(
    test: CaseControl, counts: Genotypes, *, alternative: Alternative, alleles: bool
) -> Evidence:
    """Return the evidence of genotype counts by group; allelic and trend tests differ in one variance."""
    alleles_in_cases = allele_tails_of(test, counts, alleles=alleles)
    design = test.design(counts)
    return association(
        counts.names,
        partial(moments_of, counts),
        design,
        maf_floor=test.frequency_floor(design),
        alleles=alleles,
        alternative=alternative,
        ceiling=test.ceiling,
        survival=partial(_survival, test.tail, alleles_in_cases),
        basis=basis_of(test.tail, "checked"),
    )


def _survival(tail: str, alleles_in_cases: AlleleTails, square: float, clip: float) -> tails.Survival:
    if tail == "normal":
        return tails.normal
    return alleles_in_cases.proved(square, clip) if tail == "proved" else alleles_in_cases.exact(square, clip)
