"""What adaptivity buys: bounds on FDR, FDR_k and FDR^k when only the true nulls are independent.

Theorems 1 and 5 of the paper, and the exact value of the quantity their proofs bound
(docs/proofs/adaptive.md), which replaces the unspecified constant C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet import check
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NODES = 4000
_MOST = 2**53  # from here on floats do not tell two counts apart
_TERMS = 10_000  # terms of the law of the last crossing that are summed; a larger k leans on Chernoff too
_SLACK = 1e-9  # more than the rounding of the at most _TERMS terms in crossing_tail
_ASSUMPTION = (
    "the p-values of the true nulls are independent of one another and super-uniform; "
    "they may depend on the false nulls in any way"
)


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on a false discovery rate, with the assumption it stands on.

    Attributes
    ----------
    quantity : str
        What is bounded: "FDR", "FDR_k" or "FDR^k".
    value : float
        The bound, at most 1; also `float(bound)`.
    q : float
        The level of the critical values.
    k : int or None
        The k of FDR_k or FDR^k; None for FDR.
    m : int or None
        The number of hypotheses; None where the bound holds for every number.
    version : str
        Which bound: "exact", "simple" or "paper".
    source : str
        The theorem or formula, in words.
    assumption : str
        What it stands on, in words.

    Notes
    -----
    Made by `fdr_bound`. Proof: docs/proofs/adaptive.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Theorems 1 and 5.

    Examples
    --------
    >>> import discreet
    >>> bound = discreet.fdr_bound(0.1)
    >>> bound.quantity, round(bound.value, 3)
    ('FDR', 0.33)
    """

    quantity: str
    value: float
    q: float
    k: int | None
    m: int | None
    version: str
    source: str
    assumption: str = _ASSUMPTION

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return (
            f"{self.quantity} <= {self.value:.4f} for every procedure adaptive to the BHq critical values at "
            f"q = {self.q:g} ({self.source}), provided that {self.assumption}."
        )


def fdr_bound(
    q: float,
    k: int | None = None,
    *,
    version: Literal["exact", "simple", "paper"] = "exact",
    given: Literal["false", "rejections"] = "false",
    m: int | None = None,
) -> Bound:
    """Bound the FDR of every procedure adaptive to the BHq critical values q*j/m (see `is_adaptive`).

    Parameters
    ----------
    q : float
        The level of the critical values.
    k : int, optional
        If None, bounds FDR = E[V/R]. With `given="false"`, bounds FDR_k = E[V/R; V >= k]: fewer than k false
        discoveries are forgiven. With `given="rejections"`, bounds FDR^k = E[V/R; R >= k].
    version : {"exact", "simple", "paper"}
        "paper": q log(1/q) + 3q, FDR_2 <= 3q, and (1 + 2/sqrt(qk)) q for other k, as printed.
        "simple": q (1 + log(1/q)) for FDR, whatever k. "exact": the worst case over all adaptive procedures
        up to the rounding of R to whole numbers, by the law of the last crossing; never above the others.
    given : {"false", "rejections"}
        Which of FDR_k and FDR^k a given k means.
    m : int, optional
        The number of hypotheses; only "exact" uses it. If None, the bound holds for every m.

    Returns
    -------
    Bound
        The bound, what it bounds, and its assumption; `float(bound)` is its value.

    Raises
    ------
    InputError
        An argument is out of range, or k is larger than m.

    Notes
    -----
    Holds when the p-values of the true nulls are independent of one another and super-uniform; they may
    depend on the false nulls in any way. Proof: docs/proofs/adaptive.md.

    The printed proof gives C = 7.9 for FDR_2 and 10.1 for FDR, not C < 3 (docs/errata.md); the "exact"
    constants show that C < 3 is nevertheless true: FDR_2 <= 2.43 q.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Theorems 1 and 5.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.fdr_bound(0.1, k=2).value, 3)
    0.224
    >>> round(discreet.fdr_bound(0.1, version="paper").value, 3)
    0.53
    """
    q = check.level(q, "q")
    check.choice(version, "version", ("exact", "simple", "paper"))
    check.choice(given, "given", ("false", "rejections"))
    if k is not None:
        k = check.whole(k, "k", 1, _MOST)
    if m is not None:
        m = check.whole(m, "m", 1, _MOST)
        if k is not None and k > m:
            raise InputError(f"k must be at most m = {m}; got {k}")
    name = "FDR" if k is None else f"FDR_{k}" if given == "false" else f"FDR^{k}"
    simple = q * (1 + math.log(1 / q))
    if version == "simple":
        value, source = simple, "q (1 + log(1/q)), by Simes' test on the nulls"
    elif version == "paper":
        value, source = _as_printed(q, k, given)
    else:
        # min: the sum of cells in _worst_case lies a hair above the integral, which is `simple` at k = 1
        value, source = min(simple, _worst_case(q, k or 1, given, m)), "exact law of the last crossing"
    return Bound(name, min(1.0, value), q, k, m, version, source)


def _as_printed(q: float, k: int | None, given: str) -> tuple[float, str]:
    if k is None or k == 1:  # FDR_1 and FDR^1 are FDR
        return q * math.log(1 / q) + 3 * q, "Theorem 1, q log(1/q) + Cq with C = 3"
    if k == 2 and given == "false":
        return 3 * q, "Theorem 1, Cq with C = 3"
    return (1 + 2 / math.sqrt(q * k)) * q, "Theorems 1 and 5, (1 + 2/sqrt(qk)) q"


def _worst_case(q: float, k: int, given: str, m: int | None) -> float:
    """Integrate P(worst FDP >= t) over t in (0, 1); 1 for t <= q, a crossing probability above.

    P decreases in t except for the steps of ceil(t*k), where it only drops further, so the left end of each
    cell bounds the cell: the sum is an upper bound, not an approximation. Cells are finest near t = q, where
    P is large.
    """
    edges = q ** (1 - np.linspace(0.0, 1.0, _NODES) ** 2)
    tails = np.empty(_NODES - 1)
    for i, t in enumerate(edges[:-1]):
        least = k if given == "false" else max(1, math.ceil(t * k))
        tails[i] = crossing_tail(q / t, least, m)
    return float(q + np.sum(tails * np.diff(edges)))


def crossing_tail(a: float, k: int, m: int | None = None) -> float:
    """Return P(U_(j) <= a*j/m for some j >= k), U_(j) the order statistics of m uniforms, rounded up.

    The last such j is J with P(J = j) = C(m,j) (aj/m)^j (1-aj/m)^(m-j) * m(1-a)/(m-aj), by Daniels' theorem;
    as m grows, (1-a) e^(-aj) (aj)^j / j!, never a smaller tail. k = 1 gives a: Simes' identity.
    Where exp(-k (a-1-log a)), which bounds the tail, is smaller than what was summed, it is returned instead.
    """
    if a >= 1 or k < 1:
        return 1.0
    if a <= 0 or (m is not None and k > m):
        return 0.0
    rate = a - 1.0 - math.log(a)
    chernoff = math.exp(-k * rate)
    if chernoff < _SLACK:
        return chernoff
    j = np.arange(min(k, _TERMS), dtype=np.float64)
    log_mass = _log_stirling()[: j.size] - j * rate
    if m is not None:
        # log of m!/((m-j)! m^j) as a sum of small terms: differences of log-gammas lose digits at large m
        log_mass[1:] += np.cumsum(np.log1p(-j[:-1] / m))
        log_mass += a * j + (m - j - 1) * np.log1p(-a * j / m)
    tail = max(0.0, 1.0 - (1.0 - a) * float(np.exp(log_mass).sum())) + _SLACK
    return min(chernoff, tail)


@cache
def _log_stirling() -> NDArray[np.float64]:
    """Return log(j^j e^-j / j!) for j = 0, 1, ..., summed from its small increments."""
    j = np.arange(1, _TERMS, dtype=np.float64)
    steps = -1.0 - (j - 1) * np.log1p(-1.0 / np.maximum(j, 2.0))
    return np.concatenate(([0.0], np.cumsum(steps)))
