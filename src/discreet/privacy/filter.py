"""A privacy filter: one total for releases whose very costs are chosen after seeing the releases before."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet import check
from discreet.privacy.account import account
from discreet.privacy.events import ZCDP, Event, Gaussian
from discreet.privacy.sums import HUGE, Sums, up

if TYPE_CHECKING:
    from collections.abc import Sequence

Charges: TypeAlias = "Sequence[Sequence[Event]] | Sums"
"""Charges one by one, or all that matters about them."""

_BISECTIONS = 60
_MOST = 1e6
_UP = 1 + 1e-12
# A search for epsilon ends a little above the smallest.
_INSIDE = 1 - 1e-8
_CLEARLY = 1 - 1e-6


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

    def admits(self, charges: Charges) -> bool:
        """Return whether these charges, in this order, may all be made."""
        sums = _sums(charges)
        if sums.slips <= Fraction(self.aside):
            # Far from the total one look at the curve will do, where `spent` searches.
            clearly = account([_smooth(sums)], epsilon=self.epsilon * _CLEARLY) <= self._smooth_delta
            if clearly and self._smooth_delta:
                return True
        return self.spent(sums) <= self.epsilon

    def spent(self, charges: Charges) -> float:
        """Return the smallest epsilon, at the same delta, whose filter admits `charges`; inf if none does."""
        sums = _sums(charges)
        best = math.inf
        if sums.slips <= Fraction(self.aside):
            basic = math.inf if sums.pure is None else up(sums.pure)
            best = min(account([_smooth(sums)], delta=self._smooth_delta), basic)
        if sums.count == 1:
            # Nothing about the data was seen yet, so this list of events is a fixed one.
            best = min(best, account(sums.first, delta=self.delta))
        return best

    def left(self, charges: Charges) -> float:
        """Return an epsilon, at the total delta, that one more release may have: nearly the largest."""
        sums = _sums(charges)
        if not sums.count and self.delta:
            return self.epsilon
        delta = self._smooth_delta
        if delta == 0.0 or sums.slips > Fraction(self.aside):
            return 0.0
        so_far = _smooth(sums)

        def one_more(rho: float) -> Event:
            return Gaussian(math.sqrt(2 * rho)) if sums.gaussian else ZCDP(rho)

        # A loss of mean rho passes epsilon far too often when rho is as large: no need to look beyond.
        low, high = 0.0, self.epsilon
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            fits = account([so_far, one_more(middle)], epsilon=self.epsilon) <= delta
            low, high = (middle, high) if fits else (low, middle)
        return account([one_more(low)], delta=self.delta) * _INSIDE

    @property
    def _smooth_delta(self) -> float:
        """What is not kept aside, rounded down."""
        exact = Fraction(self.delta) - Fraction(self.aside)
        rounded = float(exact)
        return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _sums(charges: Charges) -> Sums:
    return charges if isinstance(charges, Sums) else Sums.of(charges)


def _smooth(sums: Sums) -> Event:
    """Return what adds up over charges as one event, approximate ones apart from their slips."""
    if not sums.gaussian:
        return ZCDP(up(sums.rho))
    return ZCDP(HUGE) if sums.square is None else Gaussian(math.sqrt(up(sums.square)) * _UP)
