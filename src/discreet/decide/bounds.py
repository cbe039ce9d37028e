"""What adaptivity buys: bounds on FDR, FDR_k and FDR^k when only the true nulls are independent.

Theorems 1 and 4 of the paper, and the exact value of the quantity their proofs bound
(docs/proofs/adaptive.md), which replaces the unspecified constant C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from discreet import check
from discreet.errors import InputError

_NODES = 4000
_SLACK = 1e-9  # more than the rounding of the sum in crossing_tail
_ASSUMPTION = (
    "the p-values of the true nulls are independent of one another and super-uniform; "
    "they may depend on the false nulls in any way"
)


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound on a false discovery rate, with the assumption it stands on."""

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
    q: float, k: int | None = None, *, version: str = "exact", given: str = "false", m: int | None = None
) -> Bound:
    """Bound the FDR of every procedure adaptive to the BHq critical values q*j/m (see `is_adaptive`).

    Parameters
    ----------
    q : float
        The level of the critical values.
    k : int, optional
        None bounds FDR = E[V/R]. With `given="false"`, bounds FDR_k = E[V/R; V >= k]: fewer than k false
        discoveries are forgiven. With `given="rejections"`, bounds FDR^k = E[V/R; R >= k].
    version : {"exact", "simple", "paper"}
        "paper": q log(1/q) + 3q, FDR_2 <= 3q, and (1 + 2/sqrt(qk)) q for other k, as printed.
        "simple": q (1 + log(1/q)) for FDR, whatever k. "exact": the worst case over all adaptive procedures
        up to the rounding of R to whole numbers, by the law of the last crossing; never above the others.
    given : {"false", "rejections"}
        Which of FDR_k and FDR^k a given k means.
    m : int, optional
        The number of hypotheses; only "exact" uses it, and without it takes the limit of many hypotheses.

    Notes
    -----
    The printed proof gives C = 7.9 for FDR_2 and 10.1 for FDR, not C < 3 (docs/errata.md); the "exact"
    constants show that C < 3 is nevertheless true: FDR_2 <= 2.43 q.
    """
    q = check.level(q, "q")
    version = check.choice(version, "version", ("exact", "simple", "paper"))
    given = check.choice(given, "given", ("false", "rejections"))
    if k is not None:
        k = check.whole(k, "k")
    if m is not None:
        m = check.whole(m, "m")
        if k is not None and k > m:
            raise InputError(f"k must be at most m = {m}; got {k}")
    name = "FDR" if k is None else f"FDR_{k}" if given == "false" else f"FDR^{k}"
    if version == "simple":
        value, source = q * (1 + math.log(1 / q)), "q (1 + log(1/q)), by Simes' test on the nulls"
    elif version == "paper":
        value, source = _as_printed(q, k, given)
    else:
        value, source = _worst_case(q, k or 1, given, m), "exact law of the last crossing"
    return Bound(name, min(1.0, value), q, k, m, version, source)


def _as_printed(q: float, k: int | None, given: str) -> tuple[float, str]:
    if k is None or (k == 1 and given == "false"):
        return q * math.log(1 / q) + 3 * q, "Theorem 1, q log(1/q) + Cq with C = 3"
    if k == 2 and given == "false":
        return 3 * q, "Theorem 1, Cq with C = 3"
    return (1 + 2 / math.sqrt(q * k)) * q, "Theorem 1 and Theorem 4, (1 + 2/sqrt(qk)) q"


def _worst_case(q: float, k: int, given: str, m: int | None) -> float:
    """Integrate P(worst FDP >= t) over t in (0, 1); 1 for t <= q, a crossing probability above.

    P decreases in t except for the steps of ceil(t*k), where it only drops further, so the left end of each
    cell bounds the cell: the sum is an upper bound, not an approximation.
    """
    edges = np.exp(np.linspace(math.log(q), 0.0, _NODES))
    tails = np.empty(_NODES - 1)
    for i, t in enumerate(edges[:-1]):
        least = k if given == "false" else max(1, math.ceil(t * k))
        tails[i] = crossing_tail(q / t, least, m)
    return float(q + np.sum(tails * np.diff(edges)))


def crossing_tail(a: float, k: int, m: int | None = None) -> float:
    """Return P(U_(j) <= a*j/m for some j >= k), U_(j) the order statistics of m uniforms, 0 <= a <= 1.

    The last such j is J with P(J = j) = C(m,j) (aj/m)^j (1-aj/m)^(m-j) * m(1-a)/(m-aj), by Daniels' theorem;
    as m grows, (1-a) e^(-aj) (aj)^j / j!. k = 1 gives a: Simes' identity.
    """
    if a >= 1:
        return 1.0
    if m is not None and k > m:
        return 0.0
    j = np.arange(k, dtype=np.float64)
    log_mass = xlogy(j, a * j) - gammaln(j + 1)
    if m is None:
        log_mass -= a * j
    else:
        log_mass += gammaln(m + 1) - gammaln(m - j + 1) - j * math.log(m)
        log_mass += (m - j - 1) * np.log1p(-a * j / m)
    return float(min(1.0, max(0.0, 1.0 - (1.0 - a) * np.exp(log_mass).sum()) + _SLACK))
