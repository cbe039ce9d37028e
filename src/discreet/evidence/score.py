"""Does a quantitative trait rise with the number of alleles? The score test, trait clipped, with floors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.docstrings import documented
from discreet.errors import InputError
from discreet.evidence.core.arguments import pair
from discreet.evidence.core.covariates import settled
from discreet.evidence.core.genetic import TEXTS, Genetic
from discreet.evidence.core.traits import Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from discreet.alternative import Alternative
    from discreet.evidence.core.invented import NullCase, NullColumns
    from discreet.typing import Levels


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
    adjust : sequence of columns, or mapping from column to bounds or levels, optional
        Covariates, such as age, sex and principal components; public, with protect="genotypes" only: ["PC1",
        "PC2"], or {"age": (18, 90), "sex": ["1", "2"], "PC1": None}. A name alone, or None, is a number as
        it is. The trait's residuals, winsorised at one to three deviations, are tested in its place; whoever
        lacks a covariate is left out. Of PLINK files: columns of `Plink.covar`.
    {...}
    tail : {"safe", "normal"}
        "safe" (default) is checked by simulation, not proved; "normal" is the usual approximation.

    Notes
    -----
    Traits are rounded to the nearest of 1,024 parts of the width, so that sums are exact in any order. A
    missing call or trait contributes nothing. Null hypothesis: genotype and trait independent (within
    strata); with `adjust`, given covariates they are, and the mean number of alleles is linear in them. Then
    the variance of genotypes includes what covariates explain of it, so z is at most that of a regression.
    Cases and controls: Score(bounds=(1, 2), protect="genotypes", adjust=...); with everything protected
    `Carriers(adjust=...)`. Proof of the certificate: docs/proofs/association.md.

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
    label_arguments = ("trait", "stratum", "adjust")
    question = "A trait against genotypes"

    bounds: tuple[float, float]
    trait: str = "phenotype"
    sd_floor: float | None = None
    adjust: Mapping[str, Levels | None] | Sequence[str] | None = None
    alternative: Alternative = "two-sided"

    def __post_init__(self) -> None:
        Genetic.__post_init__(self)
        pair(self.bounds)  # one for all variants: a mapping is none
        if self.adjust is not None:
            if self.protect != "genotypes":
                raise InputError(
                    'adjust tests public residuals: say protect="genotypes" if trait and covariates are '
                    "public; for protected cases and controls use Carriers with adjust, for a protected "
                    'number Correlation(partner=trait, adjust={"PC1": (low, high)})'
                )
            check.settle(self, adjust=settled(self.adjust, (self.trait, self.stratum), bare=True))
        if self.sd_floor is not None and self.protect != "both":
            raise InputError('sd_floor is for protect="both": of a public trait the deviation is known')

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the trait being 0, 1/2 or 1."""
        from discreet.evidence.core.invented import PEOPLE, NullCase, genetic_cases, split

        rest, some = split(PEOPLE, columns.share)  # the trait is above 0 for one share of the people
        kinds = (rest, *split(some, 0.5)), {"phenotype": np.array([0.0, 0.5, 1.0])}
        test = partial(cls, protect="genotypes", alternative=columns.alternative, bounds=(0, 1))
        confounded = test(maf_floor=0.005, adjust=("covariate",))
        sizes, labels = kinds
        return [
            *genetic_cases("Score", test, 0.005, columns, kinds),
            NullCase(
                "Score, adjusted",
                confounded,
                columns.genotypes,
                sizes,
                {**labels, "covariate": np.array([0.0, 1.0, 0.5])},
            ),
        ]

    def start(self, names: Sequence[str]) -> Traits:
        """Return an empty accumulator for the variants called `names`."""
        return Traits(names, self)
