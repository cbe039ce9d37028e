"""One sample, or pairs: whether values lie above the null as often as below.

The statistic is how many values lie above; ties and missing values are decided by a fair coin each. One
person moves it by at most 1, and discrete Laplace noise is the noise of the most powerful private tests of a
binomial count.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from discreet.noise.laplace import discrete_laplace
from discreet.noise.samplers import fair
from discreet.single.noise_law import tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.alternative import Alternative

EFFECT = "share of values above the null, ties and missing values halved"


def draw(x: NDArray[np.float64], null: float, epsilon: float) -> int:
    """Return the number of values above `null` plus discrete Laplace noise of scale 1/epsilon.

    epsilon-DP for neighbours that replace one value (docs/proofs/single.md).
    """
    above, below = x > null, x < null
    # A coin for everyone, so that time and bits read do not tell how many ties there are.
    count = int(np.count_nonzero(above | (~below & fair(x.size))))
    return count + int(discrete_laplace(math.nextafter(1.0 / epsilon, math.inf), 1)[0])


def p_value(noisy: int, n: int, epsilon: float, alternative: Alternative) -> float:
    """Return the p-value of a noisy count under the null that above and below are equally likely."""
    greater, less = at_least(noisy, n, 0.5, epsilon), at_least(n - noisy, n, 0.5, epsilon)
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2.0 * min(greater, less))}[alternative]


def interval(noisy: int, n: int, epsilon: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval for the share above, with the law of count plus noise."""
    half = (1.0 - confidence) / 2.0
    return _low(noisy, n, epsilon, half), 1.0 - _low(n - noisy, n, epsilon, half)


def at_least(noisy: int, n: int, share: float, epsilon: float) -> float:
    """Return P(count + noise >= noisy) where each value lies above with chance `share`."""
    return tail(lambda t: binom.sf(np.ceil(t) - 1.0, n, share), float(noisy), 1.0 / epsilon)


def _low(noisy: int, n: int, epsilon: float, level: float) -> float:
    """Return the smallest share that makes so large a noisy count no rarer than `level`."""

    def excess(share: float) -> float:
        return at_least(noisy, n, share, epsilon) - level

    if excess(0.0) >= 0:
        return 0.0
    return 1.0 if excess(1.0) <= 0 else float(brentq(excess, 0.0, 1.0, xtol=1e-9))
