"""The paper's scale: neighbouring p-values, and the sensitivity of -log max(p, nu)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.arguments import alternative_of

if TYPE_CHECKING:
    from discreet.alternative import Alternative
    from discreet.typing import ArrayLike


def are_neighbours(p: ArrayLike, p2: ArrayLike, eta: float, nu: float) -> bool:
    """Say whether two tuples of p-values are (eta, nu)-neighbours, the paper's Definition.

    For every i: both p_i and p2_i are below nu, or exp(-eta) p_i <= p2_i <= exp(eta) p_i.

    Parameters
    ----------
    p, p2 : array-like, same shape
        p-values of the same hypotheses on two tables.
    eta : float
        The most that log p moves, above 0.
    nu : float
        Where p-values are truncated, strictly between 0 and 1.

    Returns
    -------
    bool
        Whether the definition holds for every hypothesis.

    Notes
    -----
    This is not the same as |log max(p, nu) - log max(p2, nu)| <= eta, which is what privacy needs and what
    `truncated_sensitivity` bounds: neighbours imply it, it does not imply neighbours (p = nu and p2 far
    below nu are not neighbours, and are the same after truncation). Proof: docs/proofs/log-p.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1.

    Examples
    --------
    >>> import discreet
    >>> discreet.are_neighbours([0.10, 1e-9], [0.11, 1e-8], eta=0.1, nu=1e-6)
    True
    """
    eta = check.positive(eta, "eta")
    nu = check.level(nu, "nu")
    first, second = check.floats(p, "p"), check.floats(p2, "p2")
    if first.shape != second.shape:
        raise InputError(f"p and p2 must have the same shape; got {first.shape} and {second.shape}")
    below = (first < nu) & (second < nu)
    close = (np.exp(-eta) * first <= second) & (second <= np.exp(eta) * first)
    return bool(np.all(below | close))


def truncated_sensitivity(sensitivity: float, nu: float, *, alternative: Alternative = "two-sided") -> float:
    """Return how far -log max(p, nu) moves when a normal score moves by at most `sensitivity`; exact.

    One-sided, p = Phi_bar(z):   eta = log(Phi_bar(z_nu - sensitivity) / nu), z_nu the upper nu point.
    Two-sided, p = 2 Phi_bar(|z|): eta = log(2 Phi_bar(max(0, z_{nu/2} - sensitivity)) / nu).

    log Phi_bar is concave, so the ratio is largest where truncation stops it. The paper's approximation is
    eta ~ B sqrt(2 log(1/nu) / n) / sigma. Proof: docs/proofs/log-p.md.

    Parameters
    ----------
    sensitivity : float
        One person moves every z score by at most this.
    nu : float
        p-values under nu count as nu.
    alternative : {"two-sided", "greater", "less"}
        How p follows from z; "greater" and "less" are the same by symmetry.

    Returns
    -------
    float
        eta: what `PValues` and `Evidence.from_p` ask for.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.truncated_sensitivity(0.01, 1e-6), 4)
    0.0508
    """
    sensitivity = check.positive(sensitivity, "sensitivity")
    nu = check.level(nu, "nu")
    sides = 2 if alternative_of(alternative) == "two-sided" else 1
    start = float(-scipy.special.ndtri(nu / sides)) - sensitivity
    if sides == 1:
        return float(scipy.special.log_ndtr(-start)) - float(np.log(nu))
    return float(scipy.special.log_ndtr(-max(0.0, start))) + float(np.log(2.0)) - float(np.log(nu))


def neighbour_sensitivity(sensitivity: float, nu: float) -> float:
    """Return the smallest eta that makes one-sided p-values (eta, nu)-neighbours if z moves by `sensitivity`.

    The pair that binds straddles nu: eta = log(nu / Phi_bar(z_nu + sensitivity)), larger than
    `truncated_sensitivity`.
    """
    sensitivity = check.positive(sensitivity, "sensitivity")
    nu = check.level(nu, "nu")
    return float(np.log(nu)) - float(scipy.special.log_ndtr(float(scipy.special.ndtri(nu)) - sensitivity))
