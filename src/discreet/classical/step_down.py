"""Step-down BHq (Algorithm 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet import check
from discreet.classical.pvalues import TEXTS, read_p
from discreet.classical.step_up import critical_value, reject, step_up_positions
from discreet.docstrings import documented

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from discreet.classical.rejections import Rejections
    from discreet.typing import ArrayLike


@documented(TEXTS)
def step_down(p: ArrayLike, q: float, *, names: Iterable[object] | None = None) -> Rejections:
    """Reject from the smallest p-value on, halting at the first p_(j) > q*j/m: Algorithm 2. Not private.

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
    Never rejects more than `step_up`; its FDR is at most q under the same assumptions.

    References
    ----------
    Dwork, Su & Zhang (2015), Private False Discovery Rate Control, arXiv:1511.03803: Algorithm 2.

    Examples
    --------
    >>> import discreet
    >>> discreet.step_down([0.04, 0.06, 0.9], q=0.1).count, discreet.step_up([0.04, 0.06, 0.9], q=0.1).count
    (0, 2)
    """
    q = check.level(q, "q")
    values, labels = read_p(p, names)
    return reject("Step-down BHq", values, labels, step_down_positions(values, q), q)


def step_down_positions(p: NDArray[np.float64], q: float) -> NDArray[np.int64]:
    """Return the positions step-down rejects: the run of passes at the start of step-up's own rejections.

    A tie cannot straddle the halt: its later members meet a higher critical value and pass too.
    """
    m = p.size
    positions = step_up_positions(p, q)
    kept = p[positions]
    ordered = np.sort(kept)
    failing = np.flatnonzero(ordered > critical_value(np.arange(1, ordered.size + 1), q, m))
    if failing.size == 0:
        return positions
    return positions[kept < ordered[failing[0]]]
