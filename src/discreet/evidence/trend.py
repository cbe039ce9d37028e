"""Does the number of alleles rise from controls to cases? The Cochran-Armitage trend test, with a floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from discreet.evidence.core.case_control import PROVABLE, CaseControl, conclude_counts

if TYPE_CHECKING:
    from discreet.alternative import Alternative
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.genotypes import Genotypes


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(CaseControl):
    """Test whether cases and controls differ in their 0/1/2 genotypes (sides=1: cases have larger ones).

    z = C / sqrt(V f (1 - f)), C as for `Allelic` and V the sum of squares of genotypes about their mean: z^2
    is the trend chi-square of plink1.9 --model. It does not assume that a person's alleles are independent.

    Parameters
    ----------
    protect, maf_floor, case_floor, group, levels, stratum, strata, sides, ceiling, tail
        As for `Allelic`.

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, genotype and phenotype are
    independent (within strata). For other bounded values than genotypes use `TwoGroups` with `floor`. Proof
    of the certificate: docs/proofs/association.md.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.4, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = 1 + (rng.random(20_000) < 0.2 + 0.3 * table["rs2"])
    >>> test = discreet.Trend(maf_floor=0.3, case_floor=0.3)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    alternative: Alternative = "two-sided"
    tails: ClassVar[tuple[str, ...]] = PROVABLE

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        return conclude_counts(self, counts, alternative=self.alternative, alleles=False)
