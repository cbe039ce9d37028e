"""The BHq critical values q*j/m, in the one spelling the whole library uses.

`p <= q*j/m`, `p*m <= q*j` and `p*m/j <= q` round differently when p sits on the line, so libraries that
spell it differently disagree there. Everything here goes through `critical_value` and `under_line`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import scipy

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EULER = 0.5772156649015329


@overload
def critical_value(j: int, q: float, m: int) -> float: ...
@overload
def critical_value(j: NDArray[np.int64], q: float, m: int) -> NDArray[np.float64]: ...
def critical_value(j: int | NDArray[np.int64], q: float, m: int) -> float | NDArray[np.float64]:
    """Return alpha_j = q*j/m, evaluated as (q*j)/m; non-decreasing in j also after rounding."""
    return q * j / m


def under_line(p: NDArray[np.float64], j: int | NDArray[np.int64], q: float, m: int) -> NDArray[np.bool_]:
    """Return `p <= q*j/m`, elementwise: equality rejects, as in Algorithms 1 and 2."""
    return p <= critical_value(j, q, m)


def harmonic(m: int) -> float:
    """Return 1 + 1/2 + ... + 1/m, the price of arbitrary dependence."""
    return float(scipy.special.digamma(m + 1.0)) + _EULER
