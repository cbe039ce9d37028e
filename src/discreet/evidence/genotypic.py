"""Do the three genotypes occur in different shares among cases? The 2x3 chi-square with a floor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.docstrings import documented
from discreet.evidence.core import tails
from discreet.evidence.core.association import allele_effect, allele_share, padded, some_at_a_time
from discreet.evidence.core.case_control import allele_tails_of, moments_of
from discreet.evidence.core.genetic import TEXTS, CaseControl
from discreet.evidence.core.scores import basis_of, ceiling_for, conclude, score_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.case_control import Genotypes
    from discreet.evidence.core.evidence import Evidence
    from discreet.evidence.core.invented import NullCase, NullColumns

_DIRECTIONS = (6, 8, 11, 16, 23, 32)  # of a plane; any number gives a valid bound


@documented(TEXTS)
@dataclass(frozen=True, slots=True, kw_only=True)
class Genotypic(CaseControl):
    """Test whether carriers of 0, 1 and 2 alleles make up different shares of cases and of controls.

    t^2 = sum over genotypes g of C_g^2 / (f (1 - f) n_g), C_g = cases with g - f n_g: the chi-square with two
    degrees of freedom of plink1.9 --model GENO. n_g is at least N 2 r (1 - r), r = maf_floor: a rarer
    genotype counts less, never more. With strata both C_g and f (1 - f) n_g are summed over them. The score
    is the two-sided z of t's tail: it has no direction, hence no `alternative`.

    Parameters
    ----------
    {...}
    tail : {"safe", "normal"}
        "safe" (default) tries many directions and asks more than "normal"; it is checked by simulation, not
        proved. Prefer `Trend` unless you look for dominant or recessive variants.

    Notes
    -----
    A missing call contributes nothing. Null hypothesis: among those with a call, genotype and phenotype are
    independent (within strata). The effect released with values is `Trend`'s: it says whether the allele goes
    with cases, not how a dominant or recessive one does. Proof: docs/proofs/association.md.

    References
    ----------
    S. Purcell et al. (2007), PLINK: a tool set for whole-genome association and population-based linkage
    analyses, American Journal of Human Genetics 81, 559-575.

    Examples
    --------
    >>> import numpy as np, pandas as pd, discreet
    >>> rng = np.random.default_rng(1)
    >>> table = pd.DataFrame(rng.binomial(2, 0.4, (20_000, 2)), columns=["rs1", "rs2"])
    >>> table["phenotype"] = 1 + (rng.random(20_000) < 0.2 + 0.3 * table["rs2"])
    >>> test = discreet.Genotypic(maf_floor=0.3, case_floor=0.3)
    >>> discreet.discover(table, test, q=0.1, epsilon=2, delta=1e-6).discoveries[0]
    'rs2'
    """

    name = "genotypic"
    question = "Genotypes of cases against controls"
    looks = "two-sided"

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:
        """Return null cases of common and of rare alleles, the latter for both tails."""
        from discreet.evidence.core.invented import genetic_cases

        return genetic_cases("Genotypic", partial(cls, protect="genotypes"), 0.0005, columns, unordered=True)

    def concluded(self, counts: Genotypes) -> Evidence:
        """Return the evidence of everyone counted."""
        design = self.design(counts)
        slots, people = design.slots, design.people
        typed, more = padded(slots)
        wide = design.high - design.low
        share = counts.members[:, 1] / slots
        known = share * (1 - share) if design.pull else np.full(slots.size, design.variation / people)
        trait_least = known * more
        floor = self.frequency_floor(design)
        class_least = 2 * floor * (1 - floor) * slots
        least = float(trait_least @ class_least)

        raw, covariance = np.empty(len(counts.names)), np.empty(len(counts.names))
        for some in some_at_a_time(raw.size):
            moments = moments_of(counts, some)
            variance, away = design.trait(moments)
            trait = np.maximum(variance, trait_least[:, None])
            if design.pull:
                trait = np.maximum(trait, trait_least[:, None] * (away / design.pull) ** 2)
            seen = counts.counts[:, :, :3, some].astype(np.float64)  # strata, groups, genotypes, variants
            both = seen.sum(axis=1)
            cases = (moments.trait / np.maximum(moments.n, 1))[:, None]
            excess = np.sum(seen[:, 1] - cases * both, axis=0)
            scale = np.sum(np.maximum(both, class_least[:, None, None]) * trait[:, None], axis=0)
            raw[some] = np.sqrt(np.sum(excess**2 / scale, axis=0))
            covariance[some] = allele_share(moments, design)

        clip = ceiling_for(self.ceiling, people)
        step = float(np.sqrt(2 / least)) * (design.pull or 1.0)
        used = wide > 0
        grown = 1 + 1 / (typed[used] - 1) / trait_least[used]
        if design.pull:
            grown = np.maximum(grown, (1 + wide[used] / (typed[used] * design.pull)) ** 2)
        shrink = float(np.sqrt(np.max(1 + 1 / class_least[used]) * np.max(grown))) - 1
        # In any direction a sum over cases of weights that lie within sqrt(2 / least) of one another.
        survival = (
            tails.normal
            if self.tail == "normal"
            else allele_tails_of(self, counts, alleles=False).exact(2 * least, clip)
        )
        steps = score_map(lambda t: _both_tails(t, self.tail, survival), step, clip, grow=shrink)
        return conclude(
            counts.names,
            steps(raw),
            alternative="two-sided",
            steps=[steps],
            sensitivity=steps.move(step, shrink),
            proof="docs/proofs/association.md",
            basis=basis_of(self.tail, "checked"),
            public=design.public,
            effect=allele_effect(covariance, design),
        )


def _both_tails(t: NDArray[np.float64], tail: str, survival: tails.Survival) -> NDArray[np.float64]:
    """Return half of a bound on P(length of a vector in the plane >= t): score maps read it as one side."""
    if tail == "normal":
        return 0.5 * np.exp(-0.5 * t * t)
    # A vector at least t long reaches t cos(pi/k) in one of k evenly spread directions.
    each = [k * survival(t * np.cos(np.pi / k)) for k in _DIRECTIONS]
    return 0.5 * np.minimum(np.min(each, axis=0), 1.0)
