"""The smallest noise, or the largest step, that fits a budget; rounded to the safe side and checked."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.privacy.account import account
from discreet.privacy.curves import INSIDE, log_excess, range_rho, smallest, zcdp_delta
from discreet.privacy.events import BoundedRange, Event

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_TOLERANCE = 1e-4
_STEP_TOLERANCE = 3e-5
_DOUBLINGS = 200


def smallest_scale(
    events_at: Callable[[float], Sequence[Event]], *, epsilon: float, delta: float, start: float = 1.0
) -> float:
    """Return the smallest noise scale whose events fit in (epsilon, delta), rounded up by at most 0.01%.

    Guarantee: account(events_at(scale), delta=delta) <= epsilon has been checked for the scale returned.

    Parameters
    ----------
    events_at : callable
        The events of a release at a given noise scale; a larger scale must never cost more.
    epsilon, delta : float
        The budget: epsilon > 0, delta in [0, 1).
    start : float, optional
        A first guess; it changes the time this takes, and the answer within the tolerance alone.
    """
    epsilon, delta = check.positive(epsilon, "epsilon"), check.delta(delta)
    start = check.positive(start, "start")

    def excess(scale: float) -> float:
        # One evaluation at a given epsilon is cheaper than a search for epsilon.
        spent = account(events_at(scale), epsilon=epsilon * INSIDE)
        return log_excess(spent, delta) if delta > 0 else (spent or -math.inf)

    low, high = start / 2, start
    for _ in range(_DOUBLINGS):
        if excess(high) <= 0:
            break
        low, high = high, 2 * high
    else:
        raise InputError(
            "no noise scale meets this epsilon and delta: raise them, or drop events that do not use it"
        )
    for _ in range(_DOUBLINGS):
        if excess(low) > 0:
            break
        low, high = low / 2, low
    else:
        return high
    scale = smallest(excess, low, high, _TOLERANCE)
    while account(events_at(scale), delta=delta) > epsilon:
        scale *= 1 + _TOLERANCE / 10
    return scale


@lru_cache(maxsize=1024)
def bounded_range_step(epsilon: float, delta: float, rounds: int) -> float:
    """Return the largest e such that `rounds` adaptive e-bounded-range rounds are (epsilon, delta)-DP.

    Rounded down, by at most 0.01%; at delta = 0 it is epsilon/rounds. An exponential mechanism with spread w
    then needs the scale w/e.
    """
    epsilon, delta = check.positive(epsilon, "epsilon"), check.delta(delta)
    rounds = check.whole(rounds, "rounds")
    inside = epsilon * INSIDE
    basic = epsilon / rounds
    if Fraction(basic) * rounds > Fraction(epsilon):
        basic = math.nextafter(basic, 0.0)
    if delta == 0.0:
        return basic

    def excess(inverse: float) -> float:
        return log_excess(account([BoundedRange(1 / inverse, rounds)], epsilon=inside), delta)

    def zcdp_excess(inverse: float) -> float:
        return log_excess(zcdp_delta(inside, rounds * range_rho(1 / inverse)), delta)

    # zCDP fits and costs nothing to ask; the recursion gains a tenth or so on it, more when rounds are few.
    roomy = math.sqrt(rounds / (8 * (epsilon - math.log(delta))))
    wide = roomy
    while zcdp_excess(wide) > 0:
        wide *= 2
    by_zcdp = smallest(zcdp_excess, roomy / 2, wide, _STEP_TOLERANCE) * (1 + 1e-9)
    inverse = min(by_zcdp, 1 / (basic * INSIDE**2))
    low = inverse / 1.12
    while excess(low) <= 0:
        low, inverse = low / 1.5, low
    return max(basic, 1 / smallest(excess, low, inverse, _STEP_TOLERANCE) * (1 - 1e-15))
