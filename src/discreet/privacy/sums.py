"""What a filter needs to know of all charges so far: a few exact sums, whatever their number."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError
from discreet.privacy import events as event_kinds
from discreet.privacy.account import squared_mu
from discreet.privacy.curves import pure_rho, range_rho
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Event, Gaussian, Pure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HUGE = 1e50


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
        R, of all events, approximate ones apart from their slips.
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
