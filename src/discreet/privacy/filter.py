"""A privacy filter: one total for releases whose very costs are chosen after seeing the releases before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.privacy.account import account, squared_mu
from discreet.privacy.curves import pure_rho, range_rho
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Event, Gaussian, Pure

if TYPE_CHECKING:
    from collections.abc import Sequence

_BISECTIONS = 60
_MOST = 1e6
_HUGE = 1e50
_UP = 1 + 1e-12
# A search for epsilon ends a little above the smallest.
_INSIDE = 1 - 1e-8


@dataclass(frozen=True, slots=True)
class Filter:
    """The rule that keeps all releases about one data set together (epsilon, delta)-DP.

    The promise: if every release is made only while `admits(charges)` holds for the charges so far and its
    own, then all releases together are (epsilon, delta)-DP, even when mechanisms *and their events* are
    chosen after seeing earlier outputs.

    Parameters
    ----------
    epsilon, delta : float
        The total: epsilon > 0, 0 <= delta < 1.
    aside : float, optional
        The part of delta kept for `Approximate` events, whose deltas may add up to it; 0 refuses them. It is
        fixed beforehand, because a share chosen on the way would not be safe.

    Notes
    -----
    Admitted is what fits one of: the sum, at delta - aside, of squares of mu if the first charge has Gaussian
    events, of rho if it has none, or zCDP; the sum of epsilons, where every event has one; a first charge
    that fits as a whole by `account`. The other bounds of `account` are *not* used beyond the first charge:
    the smallest of several bounds, taken after the fact, is not a filter. Proof and counterexample:
    docs/proofs/ledger.

    Examples
    --------
    >>> from discreet.privacy.events import Gaussian
    >>> from discreet.privacy.filter import Filter
    >>> Filter(1.0, 1e-6).admits([[Gaussian(0.1)]] * 5), Filter(1.0, 1e-6).admits([[Gaussian(0.1)]] * 6)
    (True, False)
    """

    epsilon: float
    delta: float
    aside: float = 0.0

    def __post_init__(self) -> None:
        check.positive(self.epsilon, "epsilon")
        object.__setattr__(self, "epsilon", check.between(self.epsilon, "epsilon", 0.0, _MOST))
        object.__setattr__(self, "delta", check.delta(self.delta))
        object.__setattr__(self, "aside", check.between(self.aside, "aside", 0.0, self.delta))

    def admits(self, charges: Sequence[Sequence[Event]]) -> bool:
        """Return whether these charges, in this order, may all be made."""
        return self.spent(charges) <= self.epsilon

    def spent(self, charges: Sequence[Sequence[Event]]) -> float:
        """Return the smallest epsilon, at the same delta, whose filter admits `charges`; inf if none does."""
        events = [event for charge in charges for event in charge]
        best = math.inf
        if _slips(events) <= Fraction(self.aside):
            best = min(account(_smooth(charges), delta=self._smooth_delta), _basic(events))
        if len(charges) == 1:
            # Nothing about the data was seen yet, so this list of events is a fixed one.
            best = min(best, account(events, delta=self.delta))
        return best

    def left(self, charges: Sequence[Sequence[Event]]) -> float:
        """Return an epsilon, at the total delta, that one more release may have: nearly the largest."""
        if not charges and self.delta:
            return self.epsilon
        events = [event for charge in charges for event in charge]
        delta = self._smooth_delta
        if delta == 0.0 or _slips(events) > Fraction(self.aside):
            return 0.0
        so_far = _smooth(charges)

        def one_more(rho: float) -> Event:
            return Gaussian(math.sqrt(2 * rho)) if is_gaussian(charges) else ZCDP(rho)

        # A loss of mean rho passes epsilon far too often when rho is as large: no need to look beyond.
        low, high = 0.0, self.epsilon
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            fits = account([*so_far, one_more(middle)], epsilon=self.epsilon) <= delta
            low, high = (middle, high) if fits else (low, middle)
        return account([one_more(low)], delta=self.delta) * _INSIDE

    @property
    def _smooth_delta(self) -> float:
        """What is not kept aside, rounded down."""
        exact = Fraction(self.delta) - Fraction(self.aside)
        rounded = float(exact)
        return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _slips(events: Sequence[Event]) -> Fraction:
    """Return the sum of all delta of approximate events, exactly."""
    slips = (Fraction(event.delta) * event.count for event in events if isinstance(event, Approximate))
    return sum(slips, Fraction(0))


def is_gaussian(charges: Sequence[Sequence[Event]]) -> bool:
    """Tell whether squares of mu add up here: the first charge, made before any output, decides for good."""
    first = charges[0] if charges else ()
    return any(isinstance(event, Gaussian) for event in first) and not has_zcdp(first)


def has_zcdp(charge: Sequence[Event]) -> bool:
    """Tell whether something in the charge has a rho and no mu."""
    return any(isinstance(event, ZCDP) and event.rho > 0 for event in charge)


def _smooth(charges: Sequence[Sequence[Event]]) -> list[Event]:
    """Return what adds up over charges, approximate events apart from their slips."""
    if is_gaussian(charges):
        if any(map(has_zcdp, charges)):
            return [ZCDP(_HUGE)]
        return [Gaussian(math.sqrt(min(math.fsum(map(squared_mu, charges)), _HUGE)) * _UP)]
    return [ZCDP(_rho(event), event.count) for charge in charges for event in charge]


def _rho(event: Event) -> float:
    match event:
        case ZCDP(number):
            rho = number
        case Pure(number) | Approximate(number):
            rho = pure_rho(number)
        case BoundedRange(number):
            rho = range_rho(number)
        case Gaussian(number):
            rho = number * number / 2
        case _:  # pyright: ignore[reportUnnecessaryComparison]  # callers without a type checker
            raise InputError(f"events must hold privacy events; got {type(event).__name__}")
    # What is too small for a float must not become free; what is huge fits no budget either way.
    return min(max(rho, math.ulp(0.0)), _HUGE) if number else 0.0


def _basic(events: Sequence[Event]) -> float:
    """Return the sum of epsilons, rounded up; infinity where an event that costs something has none."""
    pure: list[Event] = []
    for event in events:
        match event:
            case Pure(epsilon, count) | BoundedRange(epsilon, count) | Approximate(epsilon, _, count):
                pure.append(Pure(epsilon, count))
            case _:
                if _rho(event):
                    return math.inf
    return account(pure, delta=0.0)
