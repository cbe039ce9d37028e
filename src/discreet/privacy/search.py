"""The smallest number that fits, by false position: each trial may cost a whole recursion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# A bracket narrower than this is closed, whatever the tolerance: the answer may be 0.
_LEAST = 1e-300


def smallest(excess: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return x in [low, high] with excess(x) <= 0, within relative `tolerance` of the smallest such x.

    `excess` is nonincreasing and excess(high) <= 0, which the caller has checked; the value returned has been
    tried too, so it fits whatever the shape of `excess`.
    """
    above = excess(low)
    if above <= 0:
        return low
    below = excess(high)
    slow = side = 0
    while (gap := high - low) > (step := max(tolerance * high, _LEAST)):
        if slow < 3 and math.isfinite(above) and math.isfinite(below) and below < 0:
            x = low + gap * above / (above - below)
        else:
            x, slow = low + gap / 2, 0
        # Half a tolerance inside both ends, so that a hit on one side closes the bracket from the other.
        x = min(max(x, low + step / 2), high - step / 2)
        value = excess(x)
        # The Illinois rule: an end that stays twice counts half, or it would stay for ever.
        if value > 0:
            low, above, below = x, value, below / 2 if side > 0 else below
            side = 1
        else:
            high, below, above = x, value, above / 2 if side < 0 else above
            side = -1
        slow = slow + 1 if high - low > gap / 2 else 0
    return high


def log_excess(value: float, target: float) -> float:
    """Return log(value/target), made to have the sign of value - target whatever the rounding; target > 0."""
    if value <= 0:
        return -math.inf
    difference = math.log(value) - math.log(target)
    return max(difference, math.ulp(0.0)) if value > target else min(difference, 0.0)
