"""p-values computed elsewhere, with a declared sensitivity: the paper's own input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet import check
from discreet.errors import InputError
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.arguments import alternative_of, settle
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.core.protocol import Test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.alternative import Alternative
    from discreet.evidence.core.invented import Invented, NullCase, NullColumns
    from discreet.typing import Adjacency, ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class PValues(Test):
    """Take p-values as they are; you promise that one person moves every log max(p, nu) by at most eta.

    The data is a vector of p-values (or a mapping, or a Series); a table with a row for each hypothesis, when
    `column` says where the p-values are; or a table with a single row, one column for each hypothesis. A
    missing p-value counts as 1: no evidence. Nothing is proved: the certificate is
    "declared"; docs/proofs/log-p.md says how eta follows from z scores.

    Parameters
    ----------
    eta : float
        Your promise: one person moves every log max(p, nu) by at most eta.
    nu : float
        The smallest p-value that counts as such.
    adjacency : {"add-remove", "replace"}
        What your promise is about: one person more or less (default, the paper's), or one person's values.
    column : str, optional
        The column of a table with a row for each hypothesis that holds the p-values.
    names : str, optional
        With `column`: the column that says what the hypotheses are called; their numbers when absent.

    Notes
    -----
    Null hypothesis of each: its p-value is uniform, or larger. That, and eta, cannot be checked here; for
    normal scores `truncated_sensitivity` computes eta. Proof: docs/proofs/log-p.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1.

    Examples
    --------
    >>> import discreet
    >>> p = {"height": 1e-9, "diet": 2e-8, "luck": 0.6}
    >>> test = discreet.PValues(eta=1e-4, nu=1e-10)
    >>> sorted(discreet.discover(p, test, q=0.1, epsilon=1, delta=1e-6).discoveries)
    ['diet', 'height']
    """

    name = "p-values"
    label_arguments = ("names",)
    question = "p-values computed elsewhere"
    proof = "log-p"
    sources = ("p-values",)
    unit = "a difference between groups in standard deviations"

    eta: float
    nu: float
    adjacency: Adjacency = "add-remove"
    column: str | None = None
    names: str | None = None

    def __post_init__(self) -> None:
        settle(self)
        if self.names is not None and self.column is None:
            raise InputError("names is a column of a table of p-values: give `column` too")

    def expected_z(self, effect: NDArray[np.float64], people: Invented) -> NDArray[np.float64]:
        """Return the mean z scores behind the p-values, as of a comparison of two groups."""
        return effect * np.sqrt(people.first * people.second / people.n)

    def invented(self, z: NDArray[np.float64], people: Invented) -> Evidence:
        """Return the evidence of one-sided p-values of these z scores; eta falls with 1/sqrt(n)."""
        moved = self.eta * float(np.sqrt(people.declared / people.n))
        return Evidence.from_p(scipy.special.ndtr(-z), eta=moved, nu=self.nu, adjacency=self.adjacency)

    @classmethod
    def null_cases(cls, columns: NullColumns) -> Sequence[NullCase]:  # noqa: ARG003
        """Return p-values that are uniform: what is promised of them is yours to keep."""
        from discreet.evidence.core.invented import NullCase

        test = cls(eta=0.01, nu=1e-9)
        return [NullCase("PValues", test, None, (), draw=lambda count, rng: test.of(rng.random(count)))]

    def start(self, names: Sequence[str]) -> Rows:
        """Return an empty accumulator for the hypotheses called `names`."""
        return Rows(tuple(names), self.labels, self._conclude)

    def _conclude(self, rows: Rows) -> Evidence:
        values = rows.values
        if self.column is not None:
            p = values[:, 0]
            called = None if self.names is None else [str(name) for name in rows.label(self.names).tolist()]
            return self.of(np.where(np.isnan(p), 1.0, p), called)
        if values.shape[0] != 1:
            raise InputError("a table of p-values must have a single row, one column for each hypothesis")
        return self.of(np.where(np.isnan(values[0]), 1.0, values[0]), rows.names)

    def of(self, data: ArrayLike, names: Sequence[str] | None = None) -> Evidence:
        """Return the evidence of a vector of p-values."""
        return Evidence.from_p(data, eta=self.eta, nu=self.nu, adjacency=self.adjacency, names=names)


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

    Raises
    ------
    InputError
        The two have not the same shape, or hold NaN, infinities or values outside [0, 1].

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

    Raises
    ------
    InputError
        The sensitivity is not above 0, or nu not strictly between 0 and 1.

    Notes
    -----
    log Phi_bar is concave, so the ratio is largest where truncation stops it. The paper's approximation is
    eta ~ B sqrt(2 log(1/nu) / n) / sigma. Proof: docs/proofs/log-p.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 4.1.

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
