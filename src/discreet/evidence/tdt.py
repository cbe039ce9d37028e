"""Do heterozygous parents pass one allele on to affected children more often? Families are the unit."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet import check
from discreet.alternative import Alternative, toward
from discreet.evidence.core import tails
from discreet.evidence.core.arguments import only_replace, settle
from discreet.evidence.core.association import lesser_share
from discreet.evidence.core.effect import effect
from discreet.evidence.core.genetic import RARE
from discreet.evidence.core.protocol import Test
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, enough, score_map
from discreet.evidence.sign import sign_tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from discreet.block import Block
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.evidence.core.scores import ScoreMap
    from discreet.typing import Adjacency, RawArray, Tail

MOVES = 4.0
"""How far one family moves b - c: from two alleles passed on to two held back."""
_EFFECT = "alleles passed on less those held back, by heterozygous parent"
_PUBLIC = "who is in which family and whose parent (the rest is, for a whole family at once)"
_BLOCK = 1.01  # heterozygous parents within such a factor share one bound
_POINTS = 1024  # where the tail bound is computed; in between the one below is used
_FEWEST = 5  # families
_STEP = 1 / 16  # the floor is as low as it can be while one person moves z by no more than this


@dataclass(frozen=True, slots=True, kw_only=True)
class TDT(Test):
    """Test whether parents with two different alleles pass one of them on to an affected child more often.

    With b such parents passing the effect allele on and c holding it back, z = (b - c) / sqrt(b + c), and z^2
    is the chi-square of plink1.9 --tdt. The denominator is at least sqrt(4 F r (1 - r)), F the number of
    families and r = maf_floor. One family replaced moves z by at most 4 over that, whatever b + c does.

    Parameters
    ----------
    maf_floor : float, optional
        Public: the smallest minor allele frequency at which the test is sharp; rarer variants score lower,
        never higher. When absent, as low as the number of families allows, from 0.05 up: one family then
        moves z by 1/16 at most.
    affected : float
        The phenotype of an affected child; 2 by default, as PLINK files have it.
    alternative : {"two-sided", "greater", "less"}
        What to look for: either (default), the effect allele passed on more often, or less often.
    ceiling : float, optional
        Scores above it count as it; between 1 and 37. When absent, a third of the largest z that so many
        families can reach, but at least 8 and at most 20.
    tail : {"safe", "normal"}
        "safe" (default) is the exact law of b - c, the worst over all numbers of heterozygous parents;
        proved. "normal" is the usual approximation.
    adjacency : {"replace"}
        Neighbouring files differ in all genotypes and phenotypes of one family, and so in those of any one
        person. Who is in which family, and whose parent, is public: the .fam file without its phenotypes.

    Notes
    -----
    A family is everyone with one FID; of each the first affected child with both parents in the file counts.
    A trio with a missing call or a Mendelian error says nothing about that variant. Null hypothesis: given
    the parents, either allele is passed on with chance 1/2; mixing of populations does not disturb it. Reads
    PLINK files only. Proof of the certificate: docs/proofs/tdt.md.

    References
    ----------
    Spielman, McGinnis & Ewens (1993), Transmission test for linkage disequilibrium, American Journal of Human
    Genetics 52, 506-516.

    Examples
    --------
    >>> import pathlib, tempfile, discreet
    >>> from discreet.lab.families import Families
    >>> bed = Families(families=3000, variants=40, linked=2).write(pathlib.Path(tempfile.mkdtemp()) / "t.bed")
    >>> found = discreet.discover(bed, discreet.TDT(), q=0.1, epsilon=5, delta=1e-6)
    >>> "rs1" in found.discoveries
    True
    """

    name = "tdt"
    question = "Alleles that parents pass on to affected children, each family protected as a whole"
    proof = "tdt"
    effect = _EFFECT
    sources = ("genotypes",)
    unit = "the excess of alleles passed on, as a share of all that heterozygous parents pass on"
    largest_effect = 1.0

    maf_floor: float | None = None
    affected: float = 2.0
    alternative: Alternative = "two-sided"
    ceiling: float | None = None
    tail: Tail = "safe"
    adjacency: Adjacency = "replace"

    def __post_init__(self) -> None:
        settle(self)
        check.settle(self, affected=check.real(self.affected, "affected"))
        only_replace(self.adjacency, "the number of families is public")

    @property
    def labels(self) -> tuple[str, ...]:
        """The phenotype, and the pedigree."""
        return ("phenotype", *self.public_labels)

    @property
    def public_labels(self) -> tuple[str, ...]:
        """The pedigree: neighbours share it."""
        return ("family", "father", "mother")

    @property
    def uses_sd(self) -> bool:
        """Yes: it says how frequent an allele is."""
        return True

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores of variants with these effects; a third of the people are children."""
        return effect * np.sqrt(_heterozygous(people))

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of invented trios with these z scores."""
        passed = self.start(("",) * z.size)
        most = _heterozygous(people)
        passed.families, passed.both[:] = _families(people), most
        passed.excess[:] = np.clip(np.rint(z * np.sqrt(most)), -most, most)
        return passed.finish()

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return the null case of families whose parents are heterozygous by chance."""
        from discreet.evidence.core.invented import NullCase

        test = cls(alternative=columns.alternative, maf_floor=0.05)

        parents = 2 * columns.drawn
        both = 2 * columns.rate * (1 - columns.rate)
        law = {-1.0: both / 2, 0.0: 1 - both, 1.0: both / 2}  # what a parent adds to the excess

        def score(counts: NDArray[np.int64]) -> Evidence:
            passed = test.start(("",) * len(counts))
            passed.families = parents // 2
            passed.both[:] = counts[:, 0, 0] + counts[:, 0, 2]
            passed.excess[:] = counts[:, 0, 2] - counts[:, 0, 0]
            return passed.finish()

        return [NullCase("TDT", test, law, (parents,), score=score)]

    def start(self, names: Sequence[str]) -> Transmissions:
        """Return an empty accumulator for the variants called `names`."""
        return Transmissions(names, self)


@dataclass(slots=True, eq=False, repr=False)
class Transmissions:
    """What heterozygous parents passed on: b - c and b + c of every variant, whole numbers. Private."""

    names: Sequence[str]
    test: TDT
    families: int = 0
    excess: NDArray[np.float64] = field(init=False)
    both: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.excess, self.both = np.zeros(len(self.names)), np.zeros(len(self.names))

    def update(self, block: Block) -> None:
        """Add the trios of a block, which must hold whole families: parents are rows of it by number."""
        trios, families = trios_of(block.labels, self.test.affected)
        self.families += families
        values = block.values
        wide = max(1, 2**20 // max(1, len(trios)))
        for first in range(0, values.shape[1], wide):
            some = slice(first, first + wide)
            child, father, mother = (_dose(values[trios[:, place], some]) for place in range(3))
            code = 16 * child + 4 * father + mother
            self.excess[some] += _EXCESS[code].sum(axis=0, dtype=np.int64)
            self.both[some] += _BOTH[code].sum(axis=0, dtype=np.int64)

    def merge(self, other: Self) -> None:
        """Add another accumulator's counts."""
        self.families += other.families
        self.excess += other.excess
        self.both += other.both

    def finish(self) -> Evidence:
        """Return the evidence of everyone seen."""
        test, families = self.test, enough(self.families, _FEWEST, "families with both parents")
        least = least_parents(families, test.maf_floor)
        steps = _steps(families, least, ceiling_for(test.ceiling, families), test.tail)
        below = np.maximum(self.both, least)
        return conclude(
            self.names,
            steps(toward(self.excess, test.alternative) / np.sqrt(below)),
            alternative=test.alternative,
            steps=[steps],
            sensitivity=steps.move(MOVES / float(np.sqrt(least))),
            proof="docs/proofs/tdt.md",
            public=_PUBLIC,
            effect=effect(_EFFECT, self.excess / below, MOVES / least),
            basis=basis_of(test.tail),
        )

    def __repr__(self) -> str:
        return "Transmissions(private)"


def trios_of(labels: Mapping[str, RawArray], affected: float) -> tuple[NDArray[np.int64], int]:
    """Return rows of (child, father, mother), the first affected child of each family, and of how many.

    Families that could have a trio, by the pedigree alone, are counted: that number is public. Nobody is
    their own parent, and two parents are two people.
    """
    family, father, mother = (labels[name] for name in ("family", "father", "mother"))
    person = np.arange(family.size)
    two = (father >= 0) & (mother >= 0) & (father != mother) & (father != person) & (mother != person)
    able = np.flatnonzero((family >= 0) & two)
    families = int(np.unique(family[able]).size)
    children = able[labels["phenotype"][able] == affected]
    first = children[np.unique(family[children], return_index=True)[1]]
    return np.column_stack((first, father[first], mother[first])), families


def least_parents(families: int, maf_floor: float | None) -> float:
    """Return the floor of the number of heterozygous parents."""
    share = maf_floor
    if share is None:
        share = max(RARE, lesser_share((MOVES / _STEP) ** 2 / (4.0 * families)))
    return 4.0 * families * share * (1.0 - share)


def passed_on(child: int, father: int, mother: int) -> tuple[int, int]:
    """Return b and c of one trio: alleles passed on and held back by heterozygous parents, if that can be."""
    sure, parents = ((father, mother).count(alleles) for alleles in (2, 1))
    passed = child - sure
    known = max(child, father, mother) <= 2
    return (passed, parents - passed) if known and 0 <= passed <= parents else (0, 0)


_TABLE = np.array([passed_on(code // 16, code // 4 % 4, code % 4) for code in range(64)])
_EXCESS, _BOTH = (_TABLE @ np.array([1, sign]) for sign in (-1, 1))


def _dose(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return 0, 1, 2, or 3 for no call."""
    dose = np.rint(values)
    return np.where((dose >= 0) & (dose <= 2), dose, 3).astype(np.int64)


@lru_cache(maxsize=64)
def _steps(families: int, least: float, ceiling: float, tail: str) -> ScoreMap:
    survival = tails.normal if tail == "normal" else partial(_grid_tail, least, 2 * families, ceiling)
    return score_map(survival, MOVES / float(np.sqrt(least)), ceiling)


def _grid_tail(least: float, most: int, top: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `worst_tail` at the grid point below each t."""
    grid = top * np.arange(_POINTS + 1) / _POINTS
    bound = np.append(1.0, np.minimum.accumulate(worst_tail(least, most, grid[1:])))
    return bound[np.clip(np.searchsorted(grid, t, side="right") - 1, 0, _POINTS)]


def worst_tail(least: float, most: int, t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a bound of P(S_h >= t sqrt(max(h, least))) for all h <= most, S_h a sum of h fair signs, t > 0.

    For h up to some n the chance of any one height is largest at n or n - 1 (docs/proofs/sign.md), so
    numbers within one per cent share a bound, with the height of the smallest.
    """
    bound = np.zeros_like(t)
    low, high = least, max(1, int(least))
    while True:
        height = t * float(np.sqrt(max(low, least)))
        bound = np.maximum(bound, np.maximum(sign_tail(high, height), sign_tail(high - 1, height)))
        if high >= most:
            return np.minimum(bound * (1 + 1e-9), 1.0)
        low = float(high + 1)
        high = min(most, max(high + 1, int(high * _BLOCK)))


def _families(people: Invented) -> int:
    return max(_FEWEST, people.n // 3)


def _heterozygous(people: Invented) -> int:
    """Return how many parents are heterozygous, for alleles of the deviation asked for, or of one half."""
    return max(1, round(4 * _families(people) * min(0.25, 2.0 * (people.sd or 0.5) ** 2)))
