"""Numbers that were told with normal noise: the one record of them. Public; it draws nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Noisy:
    """Sums with noise, the standard deviation of that noise, and the unit they are rounded to. Public.

    Attributes
    ----------
    sums : array of float
        What was told.
    deviation : float, or array of float
        Of the noise; 0 if there is none.
    unit : float, or array of float
        Rounding moved what was told by half of this at most.
    """

    sums: Floats
    deviation: Floats | float = 0.0
    unit: Floats | float = 1.0

    def at(self, places: Any) -> Noisy:
        """Return some of them."""
        deviation = np.broadcast_to(self.deviation, self.sums.shape)[places]
        return Noisy(self.sums[places], deviation, self.unit)

    def over(self, divisor: Floats) -> Noisy:
        """Return them divided by public numbers above 0."""
        return Noisy(self.sums / divisor, self.deviation / divisor, self.unit / divisor)

    def interval(self, chance: float) -> tuple[Floats, Floats]:
        """Return a lower and an upper bound, each wrong with at most this chance."""
        reach = -float(ndtri(chance)) * (1 + 1e-9) * np.asarray(self.deviation) + np.asarray(self.unit) / 2
        return self.sums - reach, self.sums + reach
