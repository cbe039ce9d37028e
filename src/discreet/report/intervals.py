"""Intervals and q-values of what a release tells: functions of the released numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtrit

from discreet.classical.q_values import q_values
from discreet.errors import InputError
from discreet.report.estimates import places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.report.estimates import Told
    from discreet.report.release import Release


def told_of(release: Release) -> Told:
    """Return what the release tells, or say which releases tell."""
    if release.told is None:
        raise InputError(
            f"this release, by {release.method}, tells no estimates with their sampling error: ask for them "
            'with method="all", which tells every hypothesis'
        )
    return release.told


def miss_rates(release: Release) -> tuple[float, float]:
    """Return how often an interval may miss: q*R/m for the R discoveries, q for the others.

    For independent estimates the expected share of discoveries whose interval misses is at most q:
    docs/proofs/intervals.md.

    References
    ----------
    Benjamini & Yekutieli (2005), False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected
    Parameters, JASA 100(469): Theorem 1.
    """
    return release.q * len(release) / release.m, release.q


def limits(told: Told, miss: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two ends of t intervals that miss with probability `miss`, one for each hypothesis."""
    with np.errstate(over="ignore", invalid="ignore"):  # an interval may be all the numbers there are
        reach = -stdtrit(told.degrees, miss / 2) * told.standard_error
        return told.estimate - reach, told.estimate + reach


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return what is known of each told hypothesis, in the order of `Told`, one array a column."""
    told = told_of(release)
    discovered = np.isin(told.indices, release.indices)
    low, high = limits(told, np.where(discovered, *miss_rates(release)))
    return {
        "estimate": told.estimate,
        "standard_error": told.standard_error,
        "low": low,
        "high": high,
        "p_value": told.p_value,
        "q_value": q_values(told.p_value, release.q, release.m, told.procedure),
        "discovered": discovered,
    }


def of_discoveries(release: Release) -> dict[str, NDArray[Any]]:
    """Return the same of each discovery, in the order of the release."""
    where = places(told_of(release), release.indices)
    return {name: column[where] for name, column in columns(release).items() if name != "discovered"}
