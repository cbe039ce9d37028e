"""Cases and controls: the arguments, sums and public design that tests on two-valued phenotypes share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from discreet import check
from discreet.block import codes
from discreet.errors import InputError
from discreet.evidence.core import tails
from discreet.evidence.core.allele_tails import AlleleTails
from discreet.evidence.core.arguments import PROVABLE
from discreet.evidence.core.association import Design, Moments, association, private_design, public_design
from discreet.evidence.core.covariates import settled
from discreet.evidence.core.genetic import (
    COMMON,
    Genetic,
    lesser_share,
    not_protected,
    strata_of,
    variance_floor,
)
from discreet.evidence.core.pending import Pending
from discreet.evidence.core.protocol import Comparison
from discreet.evidence.core.scores import basis_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.block import Block, Genotyped
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented
    from discreet.typing import Levels

_NO_OPTIONS = (None, None, None, None, "safe")
_FEWEST = 0.01  # share of cases that is believed
_BEARABLE = 1 / 32  # an influence whose noise is less than what is lost by a share of cases set too high
_FEW_CASES = 0.1  # the lowest floor of the share of cases that is taken unasked


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

    def _cells(self, labels: Mapping[str, NDArray[Any]], rows: int) -> NDArray[np.bool_]:
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
            test = self.test if told is None else self.test.told(*told.tolist(), people)
            return test.concluded(self)

        return Pending(assumed, ("controls", "cases"), self.members.sum(axis=0), sqrt(2), finish)

    def __repr__(self) -> str:
        return "Genotypes(private)"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseControl(Genetic):
    """The public arguments of every test of cases against controls; `Allelic` says what they mean."""

    label_arguments = ("group", "stratum")
    groups = 2
    unit = "a difference between groups in standard deviations"

    group: str = "phenotype"
    levels: Levels = (1, 2)
    case_floor: float | None = None

    def __post_init__(self) -> None:
        Genetic.__post_init__(self)
        if self.case_floor is not None and self.protect != "both":
            raise InputError('case_floor is for protect="both": with public phenotypes the share is known')

    def start(self, names: Sequence[str]) -> Genotypes:
        """Return an empty accumulator for the variants called `names`."""
        return Genotypes(names, self, self.concluded)

    @property
    def looks_first(self) -> bool:
        """Yes where the number of cases is protected and nothing is declared of it."""
        return self.protect == "both" and self.case_floor is None

    def told(self, controls: float, cases: float, people: float) -> Self:
        """Return the test for a study with about so many controls and cases: a floor that suits them.

        Where noise is large, one half stays the better floor: scores are then smaller, and so is the noise.
        """
        variance = max(self._least_variance(people), between(controls, cases) / people)
        return replace(self, case_floor=max(lesser_share(variance), _FEWEST))

    def _least_variance(self, people: float) -> float:
        """Return the variance of phenotypes below which the noise of so many people is large."""
        return min((2 / _BEARABLE) ** 2 / (2 * COMMON * (1 - COMMON) * people), 0.25)

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        raise NotImplementedError

    def design(self, counts: Genotypes) -> Design:
        """Return what is public of a study of cases and controls."""
        public = not_protected(self.protect, self.stratum)
        if self.protect == "both":
            share, few = self.case_floor, _FEW_CASES * (1 - _FEW_CASES)
            least = variance_floor(counts.slots.sum(), few, 0.25) if share is None else share * (1 - share)
            return private_design(counts.slots, least, public)
        controls, cases = counts.members.T
        low, high = np.where(controls > 0, 0.0, 1.0), np.where(cases > 0, 1.0, 0.0)
        return public_design(counts.slots, cases, cases, low, high, public)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlleleCounts(CaseControl):
    """What tests of whether alleles are more, or fewer, in cases than in controls share."""

    label_arguments = ("group", "stratum", "adjust")
    tails: ClassVar[tuple[str, ...]] = PROVABLE

    adjust: Mapping[str, Levels] | None = None
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        CaseControl.__post_init__(self)
        if self.adjust is None:
            return
        check.settle(self, adjust=settled(self.adjust, (self.group,)))
        if self._own != _NO_OPTIONS:
            raise InputError(
                "adjust compares whole rows, groups made alike: leave out stratum, maf_floor, case_floor, "
                "ceiling and tail"
            )

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The stratum column, and phenotype and covariates where they are not protected."""
        beside = () if self.stratum is None else (self.stratum,)
        return beside if self.protect == "both" else self.labels

    @property
    def needs_rows(self) -> bool:
        """Only rows can be made alike in covariates."""
        return self.adjust is not None

    @property
    def _own(self) -> tuple[object, ...]:
        """The options of scores, which rows have no use for."""
        return (self.stratum, self.maf_floor, self.case_floor, self.ceiling, self.tail)

    @property
    def uses_sd(self) -> bool:
        """Yes: it says how frequent an allele is."""
        return True

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented people with these z scores."""
        return invented_counts(self, z, people)

    def comparison(self) -> Comparison | None:
        """Return the comparison of whole rows that this is, unless it has strata, floors, tail or ceiling.

        Alleles are located like numbers without bounds: with bounds, columns were cut too narrowly, and null
        variants passed too often.
        """
        if self._own != _NO_OPTIONS:
            return None
        return Comparison(
            group=self.group,
            levels=self.levels,
            alternative=self.alternative,
            protect="everything" if self.protect == "both" else "columns",
            genotypes=True,
            adjust=self.adjust,
        )


def between(controls: float, cases: float) -> float:
    """Return the sum of squares of cases, 1, and controls, 0, about their mean."""
    return controls * cases / max(controls + cases, 1.0)


def invented_counts(test: CaseControl, z: NDArray[np.float64], people: Invented) -> Evidence:
    """Take the allele frequency with the deviation, or one half, and split alleles as by chance."""
    n, controls, cases = people.n, people.first, people.second
    frequency = (1 - np.sqrt(max(0.0, 1 - 8 * (people.sd or 0.5) ** 2))) / 2
    more = z * np.sqrt(2 * frequency * (1 - frequency) * cases * controls / n)
    if test.looks_first:
        test = test.told(controls, cases, n)
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
    """Return what is public of how cases fall to alleles, or to people, by lot."""
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
