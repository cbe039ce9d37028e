"""Fresh noisy values of what was selected, on a lattice fine enough not to matter.

A score is rounded down to a power-of-two step, which floats do exactly; one person then moves it by at most
ceil(sup/step) steps, and that, not sup, is what the noise is scaled to.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.gaussian import discrete_gaussian
from discreet.noise.laplace import discrete_laplace

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FINE = 10  # at least 2**10 steps to one sensitivity: rounding costs under 0.1% more noise
_RANGE = 2.0**50


@dataclass(frozen=True, slots=True)
class Lattice:
    """Multiples of `step`, on which one person moves a rounded score by at most `sup` steps."""

    step: float
    sup: int


def lattice_for(sensitivity: float) -> Lattice:
    """Return the lattice for scores that one person moves by at most `sensitivity`."""
    step = 2.0 ** (math.frexp(sensitivity)[1] - 1 - _FINE)
    return Lattice(step, math.ceil(Fraction(sensitivity) / Fraction(step)))


def laplace_values(
    x: NDArray[np.float64], lattice: Lattice, epsilon: float
) -> tuple[NDArray[np.float64], float]:
    """Return x plus discrete Laplace noise, each value epsilon-DP, and the noise scale."""
    scale = Fraction(lattice.sup) / Fraction(epsilon)
    return _onto(x, lattice, discrete_laplace(scale, x.size)), float(scale) * lattice.step


def gaussian_values(
    x: NDArray[np.float64], lattice: Lattice, rho: float
) -> tuple[NDArray[np.float64], float]:
    """Return x plus discrete Gaussian noise, each value rho-zCDP, and the noise's sigma."""
    sigma = math.nextafter(lattice.sup / math.sqrt(2.0 * rho), math.inf) * (1 + 2.0**-50)
    return _onto(x, lattice, discrete_gaussian(sigma, x.size)), sigma * lattice.step


def _onto(x: NDArray[np.float64], lattice: Lattice, noise: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return x rounded down, plus noise, clamped.

    The clamp is a function of the exact sum: noise is itself cut only at twice the clamp, beyond any score
    (docs/proofs/samplers.md).
    """
    with np.errstate(over="ignore"):
        steps = np.fmax(np.clip(np.floor(x / lattice.step), -_RANGE, _RANGE), -_RANGE).astype(np.int64)
    limit = 1 << 60
    return np.clip(steps + noise, -limit, limit).astype(np.float64) * lattice.step
