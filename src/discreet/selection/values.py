"""Fresh noisy values of what was selected, on a lattice fine enough not to matter.

A score is rounded down to a power-of-two step, which floats do exactly; one person then moves it by at most
ceil(sensitivity/step) steps, and that, not the sensitivity, is what the noise is scaled to. The noise is
planned, and refused
where it cannot be drawn, before anything is selected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InputError
from discreet.noise.laplace import discrete_laplace
from discreet.noise.samplers import SCALES, rounded_gaussian

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FINE = 10  # at least 2**10 steps to one sensitivity: rounding costs under 0.1% more noise
_RANGE = 2.0**50


@dataclass(frozen=True, slots=True)
class Lattice:
    """Multiples of `step`, on which one person moves a rounded score by at most `sensitivity` steps."""

    step: float
    sensitivity: int


def lattice_for(sensitivity: float) -> Lattice:
    """Return the lattice for scores that one person moves by at most `sensitivity`."""
    step = 2.0 ** (math.frexp(sensitivity)[1] - 1 - _FINE)
    return Lattice(step, math.ceil(Fraction(sensitivity) / Fraction(step)))


@dataclass(frozen=True, slots=True)
class ValueNoise:
    """Noise for values on a lattice: Laplace of scale, or Gaussian of sigma, `spread` steps."""

    lattice: Lattice
    spread: Fraction
    gaussian: bool

    def __post_init__(self) -> None:
        low, high = SCALES[0], SCALES[1] / 2
        if not low <= self.spread <= high:
            raise InputError(
                f"epsilon leaves released values with noise of {float(self.spread):g} steps (2**10 or more "
                f"to one sensitivity), outside [{low:g}, {high:g}]: change epsilon, or do without values"
            )

    @property
    def scale(self) -> float:
        """The scale or sigma in the units of the scores."""
        return float(self.spread) * self.lattice.step

    def added_to(self, better: NDArray[np.float64], *, largest: bool) -> NDArray[np.float64]:
        """Return scores, given so that larger is better, with noise and in the caller's direction.

        NaN is at the worse end, as in the selection. The clamp is a function of the exact sum: noise is
        itself cut only at twice the clamp, beyond any score (docs/proofs/samplers.md).
        """
        size = better.size
        noise = (
            rounded_gaussian(float(self.spread), size)
            if self.gaussian
            else discrete_laplace(self.spread, size)
        )
        with np.errstate(all="ignore"):
            known = np.fmax(better, -np.inf)
            steps = np.floor((known if largest else -known) / self.lattice.step)
            steps = steps.clip(-_RANGE, _RANGE).astype(np.int64)
        limit = 1 << 60
        return (steps + noise).clip(-limit, limit) * self.lattice.step


@lru_cache(maxsize=1024)
def laplace_noise(sensitivity: float, epsilon: float) -> ValueNoise:
    """Return noise that makes each value exactly epsilon-DP."""
    lattice = lattice_for(sensitivity)
    return ValueNoise(lattice, Fraction(lattice.sensitivity) / Fraction(epsilon), gaussian=False)


@lru_cache(maxsize=1024)
def gaussian_noise(sensitivity: float, rho: float) -> ValueNoise:
    """Return noise that makes each value Gaussian(sqrt(2 rho))."""
    lattice = lattice_for(sensitivity)
    sigma = math.nextafter(lattice.sensitivity / math.sqrt(2.0 * rho), math.inf) * (1 + 2.0**-50)
    return ValueNoise(lattice, Fraction(sigma), gaussian=True)
