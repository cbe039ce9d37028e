"""Intervals and q-values of what a release tells: functions of the released numbers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy

from discreet.classical.q_values import q_values
from discreet.classical.question_bh import question_bh, question_q_values
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


def miss_rates(release: Release) -> NDArray[np.float64]:
    """Return how often the interval of each told hypothesis may miss: q for those not discovered.

    Of R discoveries each may miss at q*R/m; by question, R leaves out others of the same question. For
    independent estimates the expected share of discoveries whose interval misses is then at most q:
    docs/proofs/intervals.md.

    References
    ----------
    Benjamini & Yekutieli (2005), False Discovery Rate-Adjusted Multiple Confidence Intervals for Selected
    Parameters, JASA 100(469): Theorem 1.
    """
    told, q, m = told_of(release), release.q, release.m
    counted = np.full(len(told), float(m))
    where = places(told, release.indices)
    counted[where] = len(release)
    if told.question is not None:
        found, sure = question_bh(told.p_value, told.question, q)
        both, _, second = np.intersect1d(where, found, return_indices=True)
        counted[where] = 1.0  # what another level or procedure found counts on itself
        counted[both] = sure[second]
    return q * counted / m


def limits(told: Told, miss: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two ends of t intervals that miss with probability `miss`, one for each hypothesis."""
    with np.errstate(over="ignore", invalid="ignore"):  # an interval may be all the numbers there are
        reach = -scipy.special.stdtrit(told.degrees, miss / 2) * told.standard_error
        return told.estimate - reach, told.estimate + reach


def columns(release: Release) -> dict[str, NDArray[Any]]:
    """Return what is known of each told hypothesis, in the order of `Told`, one array a column."""
    told = told_of(release)
    discovered = np.isin(told.indices, release.indices)
    low, high = limits(told, miss_rates(release))
    with np.errstate(all="ignore"):  # a column may hardly vary, as far as is known
        standard = {} if told.deviation is None else {"standardised": told.estimate / told.deviation}
    return {
        "effect": np.array(told.effect, dtype=object),
        "estimate": told.estimate,
        "standard_error": told.standard_error,
        "low": low,
        "high": high,
        **standard,
        "p_value": told.p_value,
        "q_value": q_values(told.p_value, release.q, release.m, told.procedure)
        if told.question is None
        else question_q_values(told.p_value, told.question),
        "discovered": discovered,
    }


def of_discoveries(release: Release) -> dict[str, NDArray[Any]]:
    """Return the same of each discovery, in the order of the release."""
    where = places(told_of(release), release.indices)
    return {name: column[where] for name, column in columns(release).items() if name != "discovered"}
