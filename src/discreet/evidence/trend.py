"""Does the number of alleles rise from controls to cases? The Cochran-Armitage trend test, with a floor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from discreet.docstrings import documented
from discreet.evidence.core.case_control import conclude_counts
from discreet.evidence.core.genetic import TEXTS, AlleleCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.evidence.core.case_control import Genotypes
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(AlleleCounts):
    """Test whether cases and controls differ in their 0/1/2 genotypes.

    z = C / sqrt(V f (1 - f)), C as for `Allelic` and V the sum of squares of genotypes about their mean: z^2
    is the trend chi-square of plink1.9 --model. It does not assume that a person's alleles are independent.

    Parameters
    ----------
    {...}

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, genotype and phenotype are
    independent (within strata). For other bounded values than genotypes use `TwoGroups` with `floor`. Proof
    of the certificate: docs/proofs/association.md.

    References
    ----------
    W. G. Cochran (1954), Some methods for strengthening the common chi-squared tests, Biometrics 10, 417-451.
    P. Armitage (1955), Tests for linear trends in proportions and frequencies, Biometrics 11, 375-386.

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

    name = "trend"
    question = "Genotypes of cases against controls, by trend"

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the latter for both tails."""
        from discreet.evidence.core.invented import genetic_cases

        test = partial(cls, protect="genotypes", alternative=columns.alternative)
        return genetic_cases("Trend", test, 0.005, columns)

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        return conclude_counts(self, counts, alternative=self.alternative, alleles=False)
