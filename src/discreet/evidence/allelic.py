"""Is an allele more frequent among cases? The allelic test of PLINK's --assoc, with a variance floor."""

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
class Allelic(AlleleCounts):
    """Test whether the effect allele's frequency differs between cases and controls.

    z = C / sqrt(2 n p (1 - p) f (1 - f)): C = A - f G with A alleles in cases and G in all, p the allele's
    frequency, f the share of cases, all among people with a call; z^2 is the chi-square of plink1.9 --assoc.
    The denominator is at least sqrt(2 N r (1 - r) c (1 - c)), r = maf_floor, c = case_floor.

    Parameters
    ----------
    {...}

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, the allele is independent of
    the phenotype, and a person's two alleles of one another (Hardy-Weinberg); `Trend` does not need the
    latter. Proof of the certificate: docs/proofs/association.md.

    References
    ----------
    P. D. Sasieni (1997), From genotypes to genes: doubling the sample size, Biometrics 53, 1253-1261.

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

    name = "allelic"
    question = "Allele frequencies of cases against controls"

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the latter for both tails."""
        from discreet.evidence.core.invented import genetic_cases

        test = partial(cls, case_floor=0.1, alternative=columns.alternative)
        return genetic_cases("Allelic", test, 0.005, columns)

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        return conclude_counts(self, counts, alternative=self.alternative, alleles=True)
