"""Step-up BHq (Algorithm 1), Benjamini-Yekutieli and adaptive BH, as sets, without sorting all p-values."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np
import scipy

from discreet import check
from discreet.classical.pvalues import TEXTS, read_p
from discreet.classical.rejections import Rejections
from discreet.docstrings import documented

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.typing import ArrayLike

# Passes that count over everything, then over what is left under the line; after those, a sort.
_COUNTING = 2
_NARROWED = 8
_EULER = 0.5772156649015329


@documented(TEXTS)
def step_up(p: ArrayLike, q: float, *, names: Iterable[object] | None = None) -> Rejections:
    """Reject the largest j hypotheses with p_(j) <= q*j/m: step-up BHq, Algorithm 1. Not private.

    Parameters
    ----------
    {...}

    Returns
    -------
    Rejections
        The rejected hypotheses; in words when printed.

    Raises
    ------
    InputError
        p holds NaN or values outside [0, 1]: set missing p-values to 1 yourself.

    Notes
    -----
    FDR <= q when the null p-values are independent of each other and of the rest, or positively regression
    dependent (PRDS). For what holds when true and false nulls depend arbitrarily, see `fdr_bound`.

    References
    ----------
    - Benjamini & Hochberg (1995), Controlling the False Discovery Rate, JRSS B 57(1).
    - Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Algorithm 1.

    Examples
    --------
    >>> import discreet
    >>> print(discreet.step_up({"height": 0.001, "luck": 0.6, "diet": 0.03}, q=0.1))
    Step-up BHq: 2 of 3 hypotheses rejected at q = 0.1 (p <= 0.06667).
    Smallest p first: height, diet
    """
    q = check.level(q, "q")
    values, labels = read_p(p, names)
    positions = step_up_positions(values, q)
    return reject("Step-up BHq", values, labels, positions, q)


@documented(TEXTS)
def benjamini_yekutieli(p: ArrayLike, q: float, *, names: Iterable[object] | None = None) -> Rejections:
    """Step-up with critical values q*j/(m*(1 + 1/2 + ... + 1/m)). Not private.

    Parameters
    ----------
    {...}

    Returns
    -------
    Rejections
        The rejected hypotheses; in words when printed.

    Raises
    ------
    InputError
        p holds NaN or values outside [0, 1]: set missing p-values to 1 yourself.

    Notes
    -----
    FDR <= q whatever the dependence between the p-values, at the price of a factor of about log m: the
    baseline without assumptions that the paper compares with.

    References
    ----------
    Benjamini & Yekutieli (2001), The Control of the False Discovery Rate in Multiple Testing under
    Dependency, Annals of Statistics 29(4).

    Examples
    --------
    >>> import discreet
    >>> discreet.benjamini_yekutieli([0.001, 0.02, 0.9], q=0.1).count
    2
    """
    q = check.level(q, "q")
    values, labels = read_p(p, names)
    line_q = q / harmonic(values.size)
    positions = step_up_positions(values, line_q)
    return reject("Benjamini-Yekutieli", values, labels, positions, q, line_q)


@overload
def critical_value(j: int, q: float, m: int) -> float: ...
@overload
def critical_value(j: NDArray[np.int64], q: float, m: int) -> NDArray[np.float64]: ...
def critical_value(j: int | NDArray[np.int64], q: float, m: int) -> float | NDArray[np.float64]:
    """Return alpha_j = q*j/m, evaluated as (q*j)/m; non-decreasing in j also after rounding.

    The one spelling that the whole library uses: `p <= q*j/m`, `p*m <= q*j` and `p*m/j <= q` round
    differently when p sits on the line, so libraries that spell it differently disagree there. Equality
    rejects, as in Algorithms 1 and 2.
    """
    return q * j / m


def harmonic(m: int) -> float:
    """Return 1 + 1/2 + ... + 1/m, the price of arbitrary dependence."""
    return float(scipy.special.digamma(m + 1.0)) + _EULER


def step_up_positions(p: NDArray[np.float64], q: float, m: int | None = None) -> NDArray[np.int64]:
    """Return the positions step-up rejects, ascending; `m` counts hypotheses not in `p` too, as p = 1.

    With N(j) = #{p <= q*j/m}, step-up rejects R = max{j : N(j) >= j}. N is non-decreasing, so j <- N(j) from
    j = m falls to its largest fixed point, which is R. A staircase would fall by one each pass, so after a
    few passes the survivors, already few, are sorted.
    """
    m = p.size if m is None else m
    count = m
    for _ in range(_COUNTING):
        count = int(np.count_nonzero(p <= critical_value(count, q, m)))
    positions = np.flatnonzero(p <= critical_value(count, q, m))
    kept = p[positions]
    count = kept.size
    for _ in range(_NARROWED):
        under = kept <= critical_value(count, q, m)
        fewer = int(np.count_nonzero(under))
        if fewer == count:
            return positions if count == kept.size else positions[under]
        count = fewer
    ordered = np.sort(kept)
    passing = np.flatnonzero(ordered <= critical_value(np.arange(1, ordered.size + 1), q, m))
    count = int(passing[-1]) + 1 if passing.size else 0
    return positions[kept <= critical_value(count, q, m)] if count else positions[:0]


def reject(
    procedure: str,
    p: NDArray[np.float64],
    names: tuple[object, ...] | None,
    positions: NDArray[np.int64],
    q: float,
    line_q: float | None = None,
) -> Rejections:
    """Wrap rejected positions into the record users hold."""
    count = positions.size
    threshold = critical_value(count, q if line_q is None else line_q, p.size)
    return Rejections(procedure, q, p.size, count, threshold, positions, p[positions], names)


def null_share(p: NDArray[np.float64], q: float, m: int) -> float:
    """Return (1 + #{p > q}) / (m*(1 - q)), an estimate of the share of true nulls among m hypotheses.

    The m - p.size hypotheses without a p-value count as p = 1. It may exceed 1, and must be left there: with
    the share capped at 1, FDR rises to 1.062 q where all of 5 nulls are true (q = 0.1).
    """
    return (1 + m - int(np.count_nonzero(p <= q))) / (m * (1 - q))


def adaptive_bh(p: NDArray[np.float64], q: float, m: int | None = None) -> NDArray[np.int64]:
    """Return the positions, ascending, that step-up with critical values min(q, q*j/(m*pi0)) rejects.

    pi0 is `null_share`. FDR <= q for p-values of true nulls that are independent of each other and of the
    rest. `m` counts hypotheses that are not in `p` too, as p = 1.

    Notes
    -----
    No p above q is rejected, so pi0 does not depend on which p-value below q a hypothesis has: this is what
    the theorem (docs/proofs/adaptive-bh.md), and intervals for what is selected, stand on.

    References
    ----------
    Storey, Taylor & Siegmund (2004), Strong Control, Conservative Point Estimation and Simultaneous
    Conservative Consistency of False Discovery Rates, JRSS B 66(1): Theorem 3, with lambda = q.
    """
    m = p.size if m is None else m
    positions = np.flatnonzero(p <= q)
    kept = p[positions]
    critical = q * np.arange(1, kept.size + 1) / (m * null_share(p, q, m))
    passing = np.flatnonzero(np.sort(kept) <= critical)
    return positions[kept <= critical[passing[-1]]] if passing.size else positions[:0]
