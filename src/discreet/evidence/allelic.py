"""Is an allele more frequent among cases? The allelic test of PLINK's --assoc, with a variance floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence.association import Design, Moments, association, private_design, public_design
from discreet.evidence.genotypes import Genotypes, check_genetic, check_share_of, not_protected
from discreet.evidence.groups import check_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.evidence.evidence import Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Allelic:
    """Test whether the effect allele's frequency differs between cases and controls (sides=1: is higher).

    z = C / sqrt(2 n p (1 - p) f (1 - f)): C = A - f G with A alleles in cases and G in all, p the allele's
    frequency, f the share of cases, all among people with a call; z^2 is the chi-square of plink1.9 --assoc.
    The denominator is at least sqrt(2 N r (1 - r) c (1 - c)), r = maf_floor, c = case_floor.

    Parameters
    ----------
    protect : {"both", "genotypes"}
        What of a person is replaced between neighbours. "both": genotypes and phenotype. "genotypes": who is
        a case is public and not protected; up to half the noise when cases and controls are equally many.
    maf_floor : float
        Public: the smallest minor allele frequency at which the test is sharp; rarer variants score lower,
        never higher. 0.5 gives the least noise, and counts mere differences of allele counts.
    case_floor : float
        Public, protect="both" only: the same for the share of cases, or of controls where they are fewer.
        Declare it from the study's design; nothing breaks if it is wrong, the test is only less sharp.
    group, levels : str, (control, case)
        The column that says who is a case, and its two values. Anything else is a missing phenotype: with
        protect="both" no contribution, with protect="genotypes" left out.
    stratum, strata : str, tuple, optional
        A column of public strata and its values: cases are compared with controls of the same stratum.
    sides, ceiling, tail
        As for `TwoGroups`; two sides by default. "safe" is checked by simulation, not proved.

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, the allele is independent of
    the phenotype, and a person's two alleles of one another (Hardy-Weinberg); `Trend` does not need the
    latter. Proof of the certificate: docs/proofs/association.md.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.4, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = 1 + (rng.random(20_000) < 0.2 + 0.3 * table["rs2"])
    >>> test = discreet.Allelic(maf_floor=0.3, case_floor=0.3)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    group: str = "phenotype"
    levels: tuple[Any, Any] = (1, 2)
    protect: str = "both"
    maf_floor: float = 0.05
    case_floor: float = 0.1
    stratum: str | None = None
    strata: tuple[Any, ...] = ()
    sides: int = 2
    ceiling: float | None = None
    tail: str = "safe"
    adjacency: str = "replace"

    def __post_init__(self) -> None:
        check_genetic(self)
        check_share_of(self.case_floor, "case_floor")
        check_levels(self.levels, "levels", 2, 2)

    @property
    def labels(self) -> tuple[str, ...]:
        """The phenotype and stratum columns."""
        return (self.group,) if self.stratum is None else (self.group, self.stratum)

    def start(self, names: Sequence[str]) -> Genotypes:
        """Return an empty accumulator for the variants called `names`."""
        return Genotypes(names, self, self._conclude)

    def _conclude(self, counts: Genotypes) -> Evidence:
        return conclude_counts(self, counts, alleles=True)


def conclude_counts(test: Any, counts: Genotypes, *, alleles: bool) -> Evidence:
    """Return the evidence of genotype counts by group; allelic and trend tests differ in one variance."""
    return association(
        counts.names,
        moments_of(counts),
        design_of(test, counts),
        maf_floor=test.maf_floor,
        alleles=alleles,
        sides=test.sides,
        ceiling=test.ceiling,
        tail=test.tail,
    )


def moments_of(counts: Genotypes) -> Moments:
    """Return the sums that genotype counts stand for, cases having y = 1 and controls y = 0."""
    zero, one, two = (counts.counts[:, :, dose].astype(np.float64) for dose in (0, 1, 2))
    both = zero + one + two
    dose = one + 2 * two
    n, cases = both.sum(axis=1), both[:, 1]
    return Moments(n, dose.sum(axis=1), (one + 4 * two).sum(axis=1), cases, cases, dose[:, 1])


def design_of(test: Any, counts: Genotypes) -> Design:
    """Return what is public of a study of cases and controls."""
    public = not_protected(test.protect, test.stratum)
    if test.protect == "both":
        share = test.case_floor
        return private_design(counts.slots, share * (1 - share), 1 - share, public)
    controls, cases = counts.members.T
    low, high = np.where(controls > 0, 0.0, 1.0), np.where(cases > 0, 1.0, 0.0)
    return public_design(counts.slots, cases, cases, low, high, public)
