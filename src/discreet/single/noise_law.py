"""Tails of a whole-number statistic plus discrete Laplace noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_REACH = 50.0  # noise beyond so many scales has a chance below 1e-21, and is added to every tail
_AT_ONCE = 1 << 18  # values of the noise: a few megabytes


def noise_chances(scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whole numbers and the chances that discrete Laplace noise of this scale takes them."""
    values = np.arange(-math.ceil(_REACH * scale), math.ceil(_REACH * scale) + 1, dtype=np.float64)
    return values, _chances(values, scale)


def tail(survival: Callable[[NDArray[np.float64]], NDArray[np.float64]], at: float, scale: float) -> float:
    """Return an upper bound, to within 1e-20 and rounding, of P(statistic + noise >= at).

    `survival` gives P(statistic >= t). At large scales the noise takes many values: they are summed in parts.
    """
    end, total = math.ceil(_REACH * scale), 0.0
    for start in range(-end, end + 1, _AT_ONCE):
        values = np.arange(start, min(start + _AT_ONCE, end + 1), dtype=np.float64)
        total += float(_chances(values, scale) @ survival(at - values))
    return min(1.0, total * (1 + 1e-12) + 2 * math.exp(-_REACH))


def _chances(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    return np.exp(-np.abs(values) / scale) * math.tanh(0.5 / scale)
