"""The continuous noise laws of selection, as functions of one uniform: small V is strong noise.

noise(V) is the upper quantile: P(noise(V) >= t) = P(V <= sf(t)). Each law gives its survival function, the
quantile in floats, and the quantile in decimals of any precision, for comparisons that floats cannot settle.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from decimal import Decimal

    from numpy.typing import NDArray


class Law(Protocol):
    """A noise law of scale 1."""

    def sf(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return P(noise >= t)."""
        ...

    def isf(self, v: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return noise(v), given v and its complement w = 1 - v, each accurate when it is small."""
        ...

    def isf_decimal(self, v: Decimal) -> Decimal:
        """Return noise(v) in the precision of the current decimal context, 0 < v < 1."""
        ...


@dataclass(frozen=True, slots=True)
class Gumbel:
    """-log(Exp(1)): the largest of scores plus Gumbel noise is the exponential mechanism's choice."""

    def sf(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 - exp(-exp(-t))."""
        return -np.expm1(-np.exp(np.minimum(-t, 700.0)))

    def isf(self, v: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return -log(-log(1 - v))."""
        return -np.log(np.where(v < 0.5, -np.log1p(-np.minimum(v, 0.5)), -np.log(w)))

    def isf_decimal(self, v: Decimal) -> Decimal:
        """Return -log(-log(1 - v))."""
        return -(-(1 - v).ln()).ln()


@dataclass(frozen=True, slots=True)
class Laplace:
    """Density exp(-|t|)/2: the paper's noise."""

    def sf(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-t)/2 above 0 and 1 - exp(t)/2 below."""
        tail = 0.5 * np.exp(-np.abs(t))
        return np.where(t > 0, tail, 1.0 - tail)

    def isf(self, v: NDArray[np.float64], w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return -log(2v) for v <= 1/2, else log(2w)."""
        return np.where(v <= 0.5, -1.0, 1.0) * np.log(2.0 * np.minimum(v, w))

    def isf_decimal(self, v: Decimal) -> Decimal:
        """Return -log(2v) for v <= 1/2, else log(2(1 - v))."""
        return -(2 * v).ln() if 2 * v <= 1 else (2 * (1 - v)).ln()


GUMBEL = Gumbel()
LAPLACE = Laplace()
