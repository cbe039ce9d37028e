"""A simulated mean with its standard error and 95% confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Estimate:
    """The mean of values in [0, 1] over independent repetitions."""

    mean: float
    error: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(values: NDArray[np.float64]) -> Estimate:
    """Average values in [0, 1]: mean +- 1.96 standard errors, at least log(40)/n on either side.

    The floor is what n equal runs still allow: an event never seen in n runs has probability at most
    log(40)/n at 97.5% confidence.
    """
    n = values.size
    mean = float(values.mean())
    error = float(values.std(ddof=1)) / math.sqrt(n) if n > 1 else math.inf
    half = max(1.959964 * error, math.log(40) / n)
    return Estimate(mean, error, max(0.0, mean - half), min(1.0, mean + half))
