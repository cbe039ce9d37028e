"""Any list of events, composed adaptively, as one (epsilon, delta)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from discreet import check
from discreet.errors import InputError
from discreet.privacy import curves
from discreet.privacy.bounded_range import MOST_ROUNDS, composed_delta
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Event, Gaussian, Pure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TOLERANCE = 1e-9
_RECURSION_TOLERANCE = 1e-6
_UP = 1 + 1e-14
_LEAST = 1e-100


def account(events: Iterable[Event], *, delta: float | None = None, epsilon: float | None = None) -> float:
    """Return the smallest certified epsilon at `delta`, or the smallest certified delta at `epsilon`.

    The promise: releases with these events, made in any order, each chosen after seeing the ones before, are
    together (epsilon, delta)-DP.

    Parameters
    ----------
    events : iterable of events
        What was spent, in any order; n equal events are the same as one with `count` n.
    delta : float, optional
        In [0, 1). The answer is then epsilon; infinity where no epsilon is certified at this delta.
    epsilon : float, optional
        At least 0. The answer is then delta; 1 where none below is certified.

    Returns
    -------
    float
        epsilon if `delta` is given, delta if `epsilon` is given; rounded outward.

    Raises
    ------
    InputError
        Both are given, or neither.

    Notes
    -----
    The best of the bounds that apply, each rounded outward: basic composition; zCDP with the tight conversion
    (never above advanced composition); exact composition of pure events (at most two different epsilons);
    the exact Gaussian curve, into which bounded-range and pure events fit too; the exact adaptive recursion
    for up to 5,000 equal bounded-range ones. Where pure events stand beside zCDP or Gaussian ones, also the
    sum of the former on top of the curve of the latter. Proofs: docs/proofs/accounting.md,
    docs/proofs/rounds.md.

    References
    ----------
    - Kairouz, Oh & Viswanath (2015), The Composition Theorem for Differential Privacy: pure events.
    - Bun & Steinke (2016), Concentrated Differential Privacy, and Canonne, Kamath & Steinke (2020), The
      Discrete Gaussian for Differential Privacy: zCDP and its conversion.
    - Dong, Roth & Su (2022), Gaussian Differential Privacy: Gaussian events.
    - Cesar & Rogers (2021), Bounding, Concentrating, and Truncating: bounded range.

    Examples
    --------
    >>> import discreet
    >>> round(discreet.account([discreet.BoundedRange(0.05, count=100)], delta=1e-6), 3)
    1.062
    """
    if (delta is None) == (epsilon is None):
        raise InputError("give exactly one of delta (to learn epsilon) and epsilon (to learn delta)")
    spent = _Spent.of(check.entries(events, "events"))
    if epsilon is not None:
        target = check.real(epsilon, "epsilon")
        if target < 0:
            raise InputError(f"epsilon must be at least 0; got {target:g}")
        least = 0.0 if target >= spent.basic else min(bound(target) for bound, _ in spent.bounds())
        return min(1.0, _add_up(least, spent.slip))
    left = check.delta(delta) - spent.slip
    if left < 0:
        return math.inf
    return spent.epsilon(math.nextafter(left, 0.0) if spent.slip else left)


def squared_mu(events: Iterable[Event]) -> float:
    """Return the square of the mu of events without zCDP, of approximate ones all but their slips.

    Pure events are rounds of twice their range.
    """
    spent = _Spent.of(events)
    return spent.gaussian_square + curves.squared(spent.rounds)


@dataclass(frozen=True, slots=True)
class _Spent:
    """Events of one list gathered by kind: {parameter: count}."""

    pure: Counter[float] = field(default_factory=Counter[float])
    ranged: Counter[float] = field(default_factory=Counter[float])
    zcdp: Counter[float] = field(default_factory=Counter[float])
    gaussian: Counter[float] = field(default_factory=Counter[float])
    slips: Counter[float] = field(default_factory=Counter[float])
    gaussian_square: float = 0.0  # of the mu of all Gaussian events together

    @classmethod
    def of(cls, events: Iterable[Event]) -> _Spent:
        spent = cls()
        for event in events:
            match event:
                case Pure(parameter) | Approximate(parameter):
                    # An approximate event is pure except on an event of probability delta, which does not
                    # depend on the data.
                    kind = spent.pure
                case BoundedRange(parameter):
                    kind = spent.ranged
                case ZCDP(parameter):
                    kind = spent.zcdp
                case Gaussian(parameter):
                    kind = spent.gaussian
                case _:  # pyright: ignore[reportUnnecessaryComparison]  # callers without a type checker
                    raise InputError(f"events must hold privacy events; got {type(event).__name__}")
            if parameter:
                kind[max(parameter, _LEAST)] += event.count  # its square is still a number
            if isinstance(event, Approximate):
                spent.slips[event.delta] += event.count
        square = math.fsum(mu * mu * count for mu, count in spent.gaussian.items())
        return replace(spent, gaussian_square=square)

    @property
    def slip(self) -> float:
        """The sum of all delta of approximate events."""
        return _total(self.slips)

    @property
    def as_pure(self) -> Counter[float]:
        """Everything that is pure, bounded range included."""
        return self.pure + self.ranged

    @property
    def basic(self) -> float:
        """Basic composition: the epsilon that holds at delta = 0."""
        return math.inf if self.zcdp or self.gaussian else _total(self.as_pure)

    @property
    def rounds(self) -> list[tuple[float, int]]:
        """Rounds of bounded range; pure events are rounds of twice their range."""
        return [*self.ranged.items(), *((2 * e, count) for e, count in self.pure.items())]

    @property
    def rhos(self) -> tuple[float, float]:
        """The rho of everything, and that of the events that are never pure."""
        zcdp = [rho * count for rho, count in self.zcdp.items()]
        smooth = math.fsum([self.gaussian_square / 2, *zcdp]) * _UP
        pure = [count * curves.pure_rho(e) for e, count in self.pure.items()]
        ranged = [count * curves.range_rho(e) for e, count in self.ranged.items()]
        return math.fsum([smooth, *pure, *ranged]) * _UP, smooth

    def bounds(self) -> list[tuple[Callable[[float], float], float]]:
        """Return every bound that applies, as a function from epsilon to delta, with a search tolerance."""
        rho, smooth_rho = self.rhos
        pure = self.as_pure
        bounds: list[tuple[Callable[[float], float], float]] = []
        bounds.append((lambda epsilon: curves.zcdp_delta(epsilon, rho), _TOLERANCE))
        squares: list[tuple[float, Counter[float]]] = []  # of mu, and the pure events beside
        if self.zcdp:
            smooth = partial(curves.zcdp_delta, rho=smooth_rho)
            bounds.append((_shifted(smooth, _total(pure)), _TOLERANCE))
        elif self.gaussian:
            squares.append((self.gaussian_square, pure))
        if not self.zcdp and self.ranged:
            squares.append((self.gaussian_square + curves.squared(self.ranged.items()), self.pure))
        if not self.zcdp and self.pure:
            squares.append((self.gaussian_square + curves.squared(self.rounds), Counter()))
        for square, beside in squares:
            gaussian = partial(curves.gaussian_delta, mu=math.sqrt(square) * _UP)
            bounds.append((_shifted(gaussian, _total(beside)), _TOLERANCE))
        if pure and not self.zcdp and not self.gaussian:
            groups = sorted(pure.items())
            if len(groups) <= 2 and math.prod(count + 1 for _, count in groups) <= curves.MOST_TERMS:
                bounds.append((lambda epsilon: curves.pure_delta(epsilon, groups), _TOLERANCE))
            if len(self.ranged) == 1 and not self.pure:
                ((e, rounds),) = self.ranged.items()
                if rounds <= MOST_ROUNDS:
                    bounds.append((lambda epsilon: composed_delta(epsilon, e, rounds), _RECURSION_TOLERANCE))
        return bounds

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon any bound certifies at `delta`."""
        best = self.basic
        if delta == 0.0 or best == 0.0:
            return best
        rho, _ = self.rhos
        best = min(best, (rho + 2 * math.sqrt(-rho * math.log(delta))) * _UP)
        for bound, tolerance in self.bounds():

            def excess(epsilon: float, bound: Callable[[float], float] = bound) -> float:
                return curves.log_excess(bound(epsilon), delta)

            if excess(best) <= 0:
                # Bounds differ by little as a rule: try just below before the whole range.
                low = 0.8 * best if excess(0.8 * best) > 0 else 0.0
                best = curves.smallest(excess, low, best, tolerance)
        return best


def _shifted(bound: Callable[[float], float], base: float) -> Callable[[float], float]:
    """Return the bound for what `bound` covers together with pure events, whose epsilons add up to `base`."""
    return lambda epsilon: bound(math.nextafter(epsilon - base, -math.inf)) if epsilon >= base else 1.0


def _total(counter: Counter[float]) -> float:
    """Return the sum of value*count, exact and then rounded up."""
    exact = sum((Fraction(value) * count for value, count in counter.items()), Fraction(0))
    rounded = float(exact)
    return rounded if Fraction(rounded) >= exact else math.nextafter(rounded, math.inf)


def _add_up(a: float, b: float) -> float:
    """Return a + b, rounded up where it is not exact."""
    return a + b if a == 0.0 or b == 0.0 else math.nextafter(a + b, math.inf)
