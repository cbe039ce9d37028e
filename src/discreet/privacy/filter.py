"""A privacy filter: one total for releases whose very costs are chosen after seeing the releases before.

What it needs to know of all charges so far are a few exact sums, whatever their number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet import check
from discreet.errors import InputError
from discreet.privacy import events as event_kinds
from discreet.privacy.account import account, squared_mu
from discreet.privacy.curves import pure_rho, range_rho
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Event, Gaussian, Pure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Charges: TypeAlias = "Sequence[Sequence[Event]] | Sums"
"""Charges one by one, or all that matters about them."""

HUGE = 1e50
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
    >>> from discreet import Gaussian
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

    def pure_left(self, charges: Charges) -> float:
        """Return what epsilons may still add up to where every event has one; 0 where one has none."""
        sums = _sums(charges)
        if sums.pure is None or sums.slips > Fraction(self.aside):
            return 0.0
        return max(0.0, self.epsilon - up(sums.pure))

    @property
    def _smooth_delta(self) -> float:
        """What is not kept aside, rounded down."""
        exact = Fraction(self.delta) - Fraction(self.aside)
        rounded = float(exact)
        return rounded if Fraction(rounded) <= exact else math.nextafter(rounded, 0.0)


def _sums(charges: Charges) -> Sums:
    return charges if isinstance(charges, Sums) else Sums.of(charges)


def _smooth(sums: Sums) -> Event:
    """Return what adds up over charges as one event, of approximate ones all but their slips."""
    if not sums.gaussian:
        return ZCDP(up(sums.rho))
    return ZCDP(HUGE) if sums.square is None else Gaussian(math.sqrt(up(sums.square)) * _UP)


@dataclass(frozen=True, slots=True)
class Sums:
    """The sums R, S, E and D of docs/proofs/ledger over charges, as fractions: adding up rounds nothing.

    Attributes
    ----------
    count : int
        How many charges there are.
    first : tuple of events
        The first charge: it decides what adds up, and alone it may fit as a whole.
    rho : Fraction
        R, of all events, of approximate ones all but their slips.
    square : Fraction or None
        S, of squares of mu; None, that is infinite, with a zCDP event.
    pure : Fraction or None
        E, of epsilons; None, that is infinite, where an event that costs something has none.
    slips : Fraction
        D, of all delta of approximate events.
    """

    count: int = 0
    first: tuple[Event, ...] = ()
    rho: Fraction = Fraction(0)
    square: Fraction | None = Fraction(0)
    pure: Fraction | None = Fraction(0)
    slips: Fraction = Fraction(0)

    @classmethod
    def of(cls, charges: Iterable[Sequence[Event]]) -> Sums:
        """Return the sums over some charges."""
        sums = cls()
        for charge in charges:
            sums = sums.plus(charge)
        return sums

    def plus(self, charge: Sequence[Event]) -> Sums:
        """Return the sums with one more charge."""
        pure, slips = self.pure, self.slips
        for event in charge:
            match event:
                case Pure(epsilon, count) | BoundedRange(epsilon, count):
                    pure = None if pure is None else pure + Fraction(epsilon) * count
                case Approximate(epsilon, delta, count):
                    pure = None if pure is None else pure + Fraction(epsilon) * count
                    slips += Fraction(delta) * count
                case _:
                    pure = None if _rho(event) else pure
        endless = self.square is None or has_zcdp(charge)
        return replace(
            self,
            count=self.count + 1,
            first=self.first if self.count else tuple(charge),
            rho=self.rho + sum((Fraction(_rho(event)) * event.count for event in charge), Fraction(0)),
            square=None if endless or self.square is None else self.square + Fraction(squared_mu(charge)),
            pure=pure,
            slips=slips,
        )

    @property
    def gaussian(self) -> bool:
        """Whether squares of mu add up here: the first charge, made before any output, decides for good."""
        return any(isinstance(event, Gaussian) for event in self.first) and not has_zcdp(self.first)

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as plain JSON values, exactly."""
        return {
            "count": self.count,
            "first": [event_kinds.to_dict(event) for event in self.first],
            **{name: _text(getattr(self, name)) for name in ("rho", "square", "pure", "slips")},
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Sums:
        """Return the sums that `to_dict` wrote."""
        exact = {
            name: None if fields[name] is None else Fraction(fields[name])
            for name in ("rho", "square", "pure", "slips")
        }
        first = tuple(map(event_kinds.from_dict, fields["first"]))
        return cls(int(fields["count"]), first, **exact)  # pyright: ignore[reportArgumentType]


def has_zcdp(charge: Iterable[Event]) -> bool:
    """Tell whether something in the charge has a rho and no mu."""
    return any(isinstance(event, ZCDP) and event.rho > 0 for event in charge)


def up(exact: Fraction) -> float:
    """Return the fraction as a float, rounded up; at most `HUGE`, which fits no budget."""
    if exact >= HUGE:
        return HUGE
    rounded = float(exact)
    return rounded if Fraction(rounded) >= exact else math.nextafter(rounded, math.inf)


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
    return min(max(rho, math.ulp(0.0)), HUGE) if number else 0.0


def _text(exact: Fraction | None) -> str | None:
    return None if exact is None else str(exact)
