"""Several people at once, audited: the exact law of releases that use up what one step allows.

A release says "leak" with a probability that grows as fast as (epsilon, delta)-DP lets it from table to
table: docs/proofs/opendp.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from discreet.lab import outcomes
from discreet.privacy.group import several

EPSILON, DELTA, STEPS = 0.5, 1e-3, (2, 3)


def leaks(steps: int) -> list[float]:
    """Return the probability of a leak at each of so many steps from the first table."""
    chances = [0.0]
    for _ in range(steps):
        chances.append(math.exp(EPSILON) * chances[-1] + DELTA)
    return chances


def step_holds(chances: list[float]) -> bool:
    """Tell whether neighbouring tables keep to (EPSILON, DELTA), for both outcomes and both ways."""
    return all(
        delta_needed(first, second, EPSILON) <= DELTA * (1 + 1e-12)
        for pair in pairwise(chances)
        for first, second in (pair, pair[::-1])
    )


def delta_needed(first: float, second: float, epsilon: float) -> float:
    """Return the smallest delta for two probabilities of a leak at this epsilon."""
    factor = math.exp(epsilon)
    return max(first - factor * second, (1.0 - first) - factor * (1.0 - second), 0.0)


def found(steps: int) -> float:
    """Return the smallest delta between the first table and the one so many steps on."""
    chances = leaks(steps)
    epsilon = several(EPSILON, DELTA, steps)[0]
    return max(delta_needed(chances[-1], chances[0], epsilon), delta_needed(chances[0], chances[-1], epsilon))


def naive(steps: int) -> float:
    """Return the delta of the planted fault: that of one step, so many times."""
    return steps * DELTA


def choice_loss(steps: int) -> float:
    """Return the loss of choosing one of five at epsilon 1 between scores so many sensitivities apart."""
    near, far = np.zeros(5), np.zeros(5)
    near[1:], far[0] = steps, steps
    first, second = (outcomes.joint_sets(x, 2.0, 1, 1.0, 0.125) for x in (near, far))
    return outcomes.loss(first, second)
