"""Noise scales of the top-k methods: public functions of public parameters, and the events they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.privacy.calibrate import bounded_range_step, smallest_scale
from discreet.privacy.events import Approximate, BoundedRange, Gaussian, Pure

if TYPE_CHECKING:
    from discreet.privacy.events import Event


@dataclass(frozen=True, slots=True)
class NoisePlan:
    """Selection noise of scale `scale * unit`; what each value then costs; the events; is order private."""

    scale: float
    events: tuple[Event, ...]
    ordered: bool = True
    value_epsilon: float | None = None
    value_rho: float | None = None
    selection_epsilon: float = 0.0


@lru_cache(maxsize=1024)
def gumbel_plan(k: int, epsilon: float, delta: float, width: float, values: bool) -> NoisePlan:
    """Plan k rounds of the exponential mechanism: each is (width/scale)-bounded-range.

    With values, half of the cost goes to them: Gaussian when delta > 0 and that needs less noise, Laplace
    otherwise.
    """
    if not values:
        step = bounded_range_step(epsilon, delta, k)
        return NoisePlan(rounded_up(width / step), (BoundedRange(step, k),))
    share = rounded_down(epsilon / (2 * k))
    pure = NoisePlan(rounded_up(width / share), (BoundedRange(share, k), Pure(share, k)), value_epsilon=share)
    if delta == 0:
        return pure

    def events_at(u: float) -> tuple[Event, ...]:
        return BoundedRange(1 / u, k), Gaussian(1 / (2 * u), k)

    u = smallest_scale(events_at, epsilon=epsilon, delta=delta, start=math.sqrt(k) / epsilon)
    plan = NoisePlan(rounded_up(width * u), events_at(u), value_rho=1 / (8 * u * u))
    # Where this holds the Gaussian's sigma, 2 u sensitivity, exceeds the Laplace noise's deviation too.
    return pure if pure.scale <= plan.scale else plan


@lru_cache(maxsize=1024)
def joint_plan(k: int, epsilon: float, width: float, values: bool) -> NoisePlan:
    """Plan one choice among all sets of k: it costs `selection_epsilon`, half of the budget with values."""
    if not values:
        return NoisePlan(width / epsilon, (Pure(epsilon),), ordered=k == 1, selection_epsilon=epsilon)
    half, share = rounded_down(epsilon / 2), rounded_down(epsilon / (2 * k))
    events = Pure(half), Pure(share, k)
    return NoisePlan(width / half, events, k == 1, value_epsilon=share, selection_epsilon=half)


@lru_cache(maxsize=1024)
def peel_plan(
    k: int, epsilon: float, delta: float, width: float, sensitivity: float, values: bool
) -> NoisePlan:
    """Plan k rounds of Report Noisy Min: width/scale each for the index, sensitivity/scale for the value."""

    def events_at(scale: float) -> tuple[Event, ...]:
        index = Pure(ratio_up(width, scale), k)
        return (index, Pure(ratio_up(sensitivity, scale), k)) if values else (index,)

    basic = rounded_up(k * (width + (sensitivity if values else 0.0)) / epsilon)
    scale = basic
    if delta > 0:
        scale = min(basic, smallest_scale(events_at, epsilon=epsilon, delta=delta, start=basic))
    return NoisePlan(scale, events_at(scale), value_epsilon=ratio_up(sensitivity, scale) if values else None)


@lru_cache(maxsize=1024)
def oneshot_plan(
    k: int, epsilon: float, delta: float, width: float, sensitivity: float, values: bool, m: int
) -> NoisePlan:
    """Plan Algorithm 5 at the smaller of two proved scales; with values, half of the budget goes to them.

    Pure: k*width/epsilon, and then the order is private too. Qiao, Su and Zhang (ICML 2021):
    8 sensitivity sqrt(k log(m/delta))/epsilon for epsilon <= 0.2 and delta <= 0.05, as a set without order.
    """
    share = 0.5 if values else 1.0
    eps, dlt = epsilon * share, delta * share
    pure = rounded_up(k * width / eps)
    plan = NoisePlan(pure, (Pure(ratio_up(width, pure), k),))
    if dlt > 0:
        used_eps, used_delta = min(eps, 0.2), min(dlt, 0.05)
        root = rounded_up(8 * sensitivity * math.sqrt(k * math.log(m / used_delta)) / used_eps)
        if root < pure:
            plan = NoisePlan(root, (Approximate(used_eps, used_delta),), ordered=False)
    if not values:
        return plan

    def events_at(scale: float) -> tuple[Event, ...]:
        return (Pure(ratio_up(sensitivity, scale), k),)

    scale = smallest_scale(events_at, epsilon=eps, delta=dlt, start=k * sensitivity / eps)
    share = ratio_up(sensitivity, scale)
    return NoisePlan(plan.scale, (*plan.events, *events_at(scale)), plan.ordered, value_epsilon=share)


def rounded_up(x: float) -> float:
    """Return a little more than x: more than the rounding of the formula that made it, and of `ratio_up`."""
    return math.nextafter(x * (1 + 2.0**-50), math.inf)


def ratio_up(part: float, scale: float) -> float:
    """Return the cost part/scale as an event must record it: never less than the exact quotient.

    At most 3 * 2**-53 above it, which a scale that was `rounded_up` by 8 * 2**-53 makes good.
    """
    return math.nextafter(part / scale, math.inf)


def rounded_down(x: float) -> float:
    """Return a little less than x."""
    return math.nextafter(x * (1 - 2.0**-50), 0.0)
