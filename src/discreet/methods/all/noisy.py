"""Whole-number sums told with Gaussian noise: the only place of this method where noise is drawn."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.methods.all.record import Noisy
from discreet.noise.samplers import SIGMAS, rounded_gaussian

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_UP = 1 + 2.0**-40  # more than the rounding of a sensitivity and of a deviation


def check_noise(least: float, most: float) -> None:
    """Refuse, before anything is spent, deviations of noise that cannot be drawn."""
    if not SIGMAS[0] <= least <= most <= SIGMAS[1]:
        raise InputError(
            "epsilon and delta ask for more, or for less, noise than can be drawn: take epsilon nearer to 1"
        )


def with_noise(total: ArrayLike, sensitivity: float, rho: float, unit: float = 1.0) -> Noisy:
    """Return `total`, whole numbers of which one person moves the vector by `sensitivity`, with noise.

    Guarantee: Gaussian(sqrt(2 rho)), since the sum of a whole number and a rounded normal variable is the
    rounding of their sum (docs/proofs/samplers.md). `unit` says what one whole number stands for.
    """
    exact = np.asarray(total)
    deviation = max(sensitivity, 1.0) / math.sqrt(2 * rho) * _UP
    noise = rounded_gaussian(deviation, exact.size).reshape(exact.shape)
    return Noisy((exact.astype(np.int64) + noise).astype(np.float64) * unit, deviation * unit, unit)
