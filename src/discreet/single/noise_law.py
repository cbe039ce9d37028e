"""Tails of a whole-number statistic plus discrete Laplace noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_REACH = 50.0  # noise beyond so many scales has a chance below 1e-21, and is added to every tail


def noise_chances(scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return whole numbers and the chances that discrete Laplace noise of this scale takes them."""
    values = np.arange(-math.ceil(_REACH * scale), math.ceil(_REACH * scale) + 1, dtype=np.float64)
    return values, np.exp(-np.abs(values) / scale) * math.tanh(0.5 / scale)


def tail(survival: Callable[[NDArray[np.float64]], NDArray[np.float64]], at: float, scale: float) -> float:
    """Return an upper bound, to within 1e-20 and rounding, of P(statistic + noise >= at).

    `survival` gives P(statistic >= t).
    """
    values, chances = noise_chances(scale)
    return float(min(1.0, chances @ survival(at - values) * (1 + 1e-12) + 2 * math.exp(-_REACH)))
