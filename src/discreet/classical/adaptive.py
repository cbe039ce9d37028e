"""Adaptive procedures (Definition 1.1 of the paper) as a predicate one can check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.classical.pvalues import read_p
from discreet.classical.rejections import Rejections
from discreet.classical.step_up import critical_value
from discreet.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.typing import ArrayLike


def is_adaptive(
    p: ArrayLike, rejected: Rejections | ArrayLike, q: float | None = None, *, critical: ArrayLike = None
) -> bool:
    """Tell whether rejecting `rejected` is adaptive: nothing rejected, or every rejected p <= alpha_R.

    R is the number of rejections and alpha_j the critical values: q*j/m when `q` is given (the BHq values),
    or any sequence of shape (m,) as `critical`.

    Parameters
    ----------
    p : array-like, shape (m,)
        p-values.
    rejected : Rejections, boolean mask of shape (m,), or sequence of positions
        The rejected hypotheses.
    q : float, optional
        The level of the BHq critical values; give this or `critical`.
    critical : array-like, shape (m,), optional
        The critical values themselves, one for each number of rejections from 1 on.

    Returns
    -------
    bool
        Whether all rejected p-values are at most the critical value of their number.

    Raises
    ------
    InputError
        Both q and critical are given, or neither.

    Notes
    -----
    Rejected p-values need not be the smallest ones, which is why private procedures can be adaptive too. What
    follows from it is `fdr_bound`. Proof: docs/proofs/adaptive.md.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Definition 1.1.

    Examples
    --------
    >>> import discreet
    >>> p = [0.001, 0.02, 0.03, 0.6]
    >>> discreet.is_adaptive(p, [0, 2], q=0.1)
    True
    >>> discreet.is_adaptive(p, [3], q=0.1)
    False
    """
    values, _ = read_p(p)
    chosen = _positions(rejected, values.size)
    if (q is None) == (critical is None):
        raise InputError("give exactly one of q and critical")
    count = int(chosen.size)
    if q is not None:
        alpha = critical_value(count, check.level(q, "q"), values.size)
    else:
        alpha = _given_value(critical, count, values.size)
    return count == 0 or bool(values[chosen].max() <= alpha)


def _given_value(critical: object, count: int, m: int) -> float:
    """Return alpha_count from a caller's own critical values, all of them checked."""
    line = check.floats(critical, "critical")
    if line.shape != (m,) or np.isnan(line).any():
        raise InputError(f"critical must hold {m} numbers, one critical value for each count")
    return float(line[count - 1])


def _positions(rejected: object, m: int) -> NDArray[np.int64]:
    """Return distinct positions from a record, a mask or a sequence of positions."""
    if isinstance(rejected, Rejections):
        rejected = rejected.mask
    array = check.array(rejected, "rejected")
    if array.size == 0:
        return np.zeros(0, dtype=np.int64)
    if array.dtype.kind == "b" and array.shape == (m,):
        return np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= m:
        raise InputError(f"rejected must be a mask of length {m} or positions from 0 to {m - 1}")
    return np.unique(array).astype(np.int64)
