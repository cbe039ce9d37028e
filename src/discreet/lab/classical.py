"""The statistics of PLINK, without floors and without privacy: to compare with, never to release."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.association import Moments
    from discreet.evidence.core.case_control import Genotypes


def chi_square(moments: Moments, *, alleles: bool) -> NDArray[np.float64]:
    """Return the chi-square of plink1.9 --assoc (alleles) or of --model TREND, shape (m,); NaN where 0/0."""
    variation = moments.allele_variation if alleles else moments.variation
    with np.errstate(all="ignore"):
        return (moments.n * moments.covariation**2 / (variation * moments.trait_variation))[0]


def genotypic_chi_square(counts: Genotypes) -> NDArray[np.float64]:
    """Return the chi-square of plink1.9 --model GENO, shape (m,)."""
    seen = counts.counts[0, :, :3].astype(np.float64)
    classes, groups, n = seen.sum(axis=0), seen.sum(axis=1), seen.sum(axis=(0, 1))
    expected = classes[None] * groups[:, None] / n
    return np.sum((seen - expected) ** 2 / np.where(expected > 0, expected, 1), axis=(0, 1))


def linear_t(moments: Moments) -> NDArray[np.float64]:
    """Return the t of plink2 --glm without covariates, shape (m,)."""
    n = moments.n[0]
    with np.errstate(all="ignore"):
        r = (moments.covariation / np.sqrt(moments.variation * moments.trait_variation))[0]
        return r * np.sqrt((n - 2) / (1 - r * r))
