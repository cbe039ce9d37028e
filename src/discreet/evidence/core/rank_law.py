"""Rank sums and Kendall's K without ties are nearly normal, far out too: bounds, for any of them present."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Variances of z, where a cap divides by more, and numbers of people, that share a bound.
_SHARES = (*(0.95**k for k in range(14)), *(0.5 * 0.85**k for k in range(22)), 0.0)
_COARSE = (*(0.9**k for k in range(20)), 0.0)
_TIED = (0.0, 0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)  # shares of people whose partners are equal, at most
_APART, _FARTHEST = 0.03, 0.25
_FEWEST, _FEWEST_PAIRS = 25, 4  # with fewer, nothing is nearly normal
_ESSEEN = 24 / np.pi**2 / np.sqrt(2 * np.pi)
_KNOTS = 1024  # of the bounds of all cells
_SPENT = 40.0  # exponents are clipped here: bounds say nothing beyond


def untied_tail(first: float, second: float, t: Floats) -> Floats:
    """Bound P(z >= t), t > 0, of capped rank sums without ties, whichever people are present.

    z is U - n1 n2/2 over its own deviation, or over more where `Cap.of_ranks` for groups of these sizes says
    so. The larger the variance of z is, the more people are present. Proof: docs/proofs/ranks.md.
    """
    few, many = sorted((first, second))
    cells: list[_Cell] = []
    for large, small in pairwise(_SHARES):
        # The ratio of those present, times one more than their number, is at least this.
        least = small * few / many * (first + second + 1)
        present = _numbers(least, first + second) if least > _FEWEST else (None,)
        cells += [_Cell(large, each) for each in present]
    return _largest(cells, t)


def kendall_tail(people: int, t: Floats) -> Floats:
    """Bound P(z >= t), t > 0, of Kendall's z if no values are tied, whatever ties the partner has.

    Whoever of the people has both values. The larger the variance of z, the more of them; the larger the
    largest set of people whose partners are equal, the smaller it is. Proof: docs/proofs/correlation.md.
    """
    scale = people * (2 * people + 5) / (people - 1)
    cells: list[_Cell] = []
    # Of three or four people, two alone have a larger variance than all.
    for large, small in pairwise((max(1.0, 18 / scale), *_COARSE[1:])):
        fewest = (small * scale - 10.5) / 2
        for low, high in pairwise(_TIED):
            present = None
            if fewest > _FEWEST and high < 1:
                kept = 1 - high * high - 3 * high / (2 * fewest)
                pairs = kept * (fewest - 1) * (2 * fewest + 5) / (6 * (fewest + 1))
                present = _Present(fewest, people, (1 - high) / (1 + high), pairs)
            cells.append(_Cell(large * (1 - low**3), present))
    return _largest(cells, t)


def _largest(cells: list[_Cell], t: Floats) -> Floats:
    """Return the largest of the cells' bounds on P(z >= t), each the least of some at t and below.

    Of many t, most cells are left out for most of them: where the bound at a knot below t is no more than
    the largest bound at the knot above t, which is what is returned at least.
    """
    if t.size <= 2 * _KNOTS:
        return np.max([cell.tail(t) for cell in cells], axis=0)
    knots = np.linspace(float(t.min()), float(t.max()), _KNOTS)
    place = np.clip(np.searchsorted(knots, t, side="right") - 1, 0, _KNOTS - 2)
    # What bounds a chance bounds all that are further out, too.
    bounds = np.array([np.minimum.accumulate(cell.tail(knots)) for cell in cells])
    least = np.max(bounds, axis=0)[1:]
    worst = least[place]
    for cell, bound in zip(cells, bounds, strict=True):
        those = np.flatnonzero((bound[:-1] > least)[place])
        tail = np.minimum(cell.tail(t[those]), bound[place[those]])
        worst[those] = np.maximum(worst[those], tail)
    return worst


@dataclass(frozen=True, slots=True)
class _Cell:
    """Laws of z, of at most this variance: those of the people `present`, if that many are nearly normal."""

    variance: float
    present: _Present | None

    def tail(self, t: Floats) -> Floats:
        """Bound P(z >= t): by Chebyshev's, the sub-Gaussian one, or the law of those present."""
        y = t / np.sqrt(self.variance)
        bound = np.minimum(np.minimum(0.5, 0.5 / (y * y)), np.exp(-0.5 * y * y))
        return bound if self.present is None else np.minimum(bound, self.present.tail(y))


def _numbers(least: float, everyone: float) -> Iterator[_Present]:
    """Yield cells of those who may be present: (smaller over larger group) * (people + 1) >= least."""
    fewest, apart = least - 1, _APART
    while True:
        most = min(fewest * (1 + apart), everyone)
        ratio = min(1.0, least / (most + 1))
        yield _Present(fewest, most, ratio, fewest * ratio / (1 + ratio) ** 2)
        if most >= everyone:
            return
        fewest, apart = most, min(1.6 * apart, _FARTHEST)


@dataclass(frozen=True, slots=True)
class _Present:
    """Laws that share a bound: N people, fewest <= N <= most, of variance at least pairs * N (N + 1)/12.

    Of the rank sum `pairs` is n1 n2/N, and the smaller group is at least `ratio` of the larger; of Kendall's
    K one of two sets of people whose partners differ is.
    """

    fewest: float
    most: float
    ratio: float
    pairs: float

    def tail(self, t: Floats) -> Floats:
        """Bound P(Y >= t) of U without ties, standardised: by Esseen's inequality, or under a tilt."""
        normal = np.asarray(scipy.special.ndtr(-t), dtype=np.float64)
        return np.minimum(normal + self._error(), self._tilted(t))

    @property
    def _swaps(self) -> float:
        """Pairs of ranks, at one distance, that can be chosen apart from one another."""
        return 0.4375 * self.fewest - 0.5

    @property
    def _kurtosis(self) -> float:
        """The most of three sums of squares of v, over the square of their sum."""
        return (1.2 + 12 / (self.fewest * (self.fewest + 1))) / self.pairs

    @property
    def _bend(self) -> float:
        """The most of Q y / (2 V) at the frequency pi/N."""
        return np.pi**2 / 12 * (1 / self.fewest**2 + (1 + 1 / self.fewest) / 10)

    def _error(self) -> float:
        """Return how far the law is from the normal one at most."""
        wave = np.pi**2 / (12 * self.fewest**2)
        deviation = np.sqrt(self.pairs * self.fewest * (self.fewest + 1) / 12)
        far = np.sqrt(2 * self.most) * np.exp(-self._swaps * self.ratio / (1 + self.ratio) ** 2) + 2 * np.exp(
            -self._fallen(1.0)
        )
        near = self._kurtosis / (3 * np.pi * (1 - wave) ** 2)
        return float(near + _ESSEEN / deviation + 2 / np.pi * np.log(self.most) * far)

    def _fallen(self, narrower: float | Floats) -> float | Floats:
        """Return minus the log of what the characteristic function is at most, from pi/N to 2 pi/N."""
        wave = np.pi**2 / (12 * self.fewest**2)
        first = (1 - wave) * (narrower - self._bend)
        second = 4 * (1 - 4 * wave) * (narrower - 4 * self._bend)
        return self.pairs * np.pi**2 / 24 * np.minimum(first, second)

    def _tilted(self, t: Floats) -> Floats:
        """Return exp(-t^2/2) times what the tilted law has at one place at most, summed over places."""
        fewest, pairs = self.fewest, self.pairs
        wave = np.pi**2 / (12 * fewest**2)
        s = t / np.sqrt(pairs * fewest * (fewest + 1) / 12)
        tilt = np.clip(t * np.sqrt(3 * (fewest + 1) / (pairs * fewest)), 1e-3, _SPENT)
        narrower = 1 - self._kurtosis * t * t * np.cosh(np.minimum(s, _SPENT)) / 2
        usable = (narrower > 5 * self._bend) & (pairs >= _FEWEST_PAIRS)
        narrower = np.where(usable, narrower, 1.0)
        near = 1 / np.sqrt(2 * np.pi * (1 - wave) * (narrower - self._bend))
        between = np.sqrt(pairs * (fewest + 1) / (12 * fewest)) * np.exp(-self._fallen(narrower))
        odds = self.ratio * np.exp(-tilt)
        mixed = 2 * odds / (1 + odds) ** 2  # of a pair, one in each group, whatever the ranks
        turned = 1 - np.sqrt((np.cosh(tilt) - 0.5) / (np.cosh(tilt) + 1))
        wider = np.minimum(2 * (np.cosh(tilt) - 1) / tilt**2, (1 + self.ratio) ** 2 / (4 * self.ratio)) - 1
        deviation = self.most * np.sqrt((self.most + 1.5) / 36)
        log_far = 0.5 * t * t * wider - self._swaps * turned * mixed + 0.5 * np.log(2 * self.most)
        far = deviation * np.exp(np.minimum(log_far, _SPENT))
        places = s / -np.expm1(-s) / t
        return np.where(usable, np.exp(-0.5 * t * t) * places * (near + between + far), 1.0)
