"""What a release costs for inputs that differ by several steps: docs/proofs/opendp."""

from __future__ import annotations

import math

_UP = 1 + 2.0**-40  # so that rounding never makes a cost smaller


def several(epsilon: float, delta: float, steps: int) -> tuple[float, float]:
    """Return the cost of an (epsilon, delta)-DP release at so many steps, rounded up."""
    if steps <= 1:
        return steps * epsilon, steps * delta
    if steps * epsilon > 700:  # beyond what floats hold, and nothing is promised
        return math.inf, 1.0
    more = math.expm1(steps * epsilon) / math.expm1(epsilon)
    return steps * epsilon * _UP, min(1.0, delta * more * _UP)
