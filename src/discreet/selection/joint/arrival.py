"""The largest of many exponential variables, known to as many bits as it takes.

If E is exponential, so is s = -log(1 - exp(-E)), and the largest of c independent E belongs to the smallest
s: an exponential variable of rate c, the first arrival among c. Later ones are s plus fresh exponentials, so
an arrival is a sum of Y/c over exponentials Y = -log(U), each with a count c of its own.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import entropy
from discreet.noise.samplers import decimals

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIRST, _MORE = 64, 128
_EDGE = 1 << 24  # closer to an end than this, 64 bits do not give log U well enough
_ULPS = 2.0**-46  # 64 units in the last place, for each of a handful of roundings


class Words:
    """Random 64-bit words, fetched many at a time; those of `first` are given out before, the last first."""

    def __init__(self, first: NDArray[np.uint64]) -> None:
        self._left: list[int] = first.tolist()

    def next(self) -> int:
        """Return a fresh word."""
        if not self._left:
            self._left = entropy.words(64, np.uint64).tolist()
        return self._left.pop()

    def below(self, bound: int) -> int:
        """Return a uniform whole number below `bound` >= 1, at most 2**64."""
        bits = (bound - 1).bit_length()
        while True:
            drawn = self.next() >> _FIRST - bits
            if drawn < bound:
                return drawn

    def happens(self, part: int, whole: int) -> bool:
        """Tell, True with chance part/whole exactly, whether a uniform real lies below; sizes of any length.

        The real's bits are read 64 at a time until they differ from those of the chance.
        """
        while True:
            cut, part = divmod(part << _FIRST, whole)
            word = self.next()
            if word != cut:
                return word < cut


class Uniform:
    """A uniform real U in [value, value + 1) / 2**bits. Private; shared by all arrivals that stand on it."""

    __slots__ = ("bits", "log", "slack", "value")

    def __init__(self, word: int) -> None:
        self.value, self.bits = word, _FIRST
        rest = (1 << _FIRST) - word
        tail = min(word, rest)
        if tail < _EDGE:
            self.log, self.slack = 0.0, math.inf
            return
        # log of Y = -log(U), and how far the bits not read and the roundings can move it.
        y = -math.log((word + 0.5) * 2.0**-64) if word < rest else -math.log1p(-(rest - 0.5) * 2.0**-64)
        self.log = math.log(y)
        self.slack = 1.0 / tail + _ULPS

    def read_to(self, bits: int) -> None:
        """Read on until `bits` bits are known."""
        if self.bits < bits:
            more = bits - self.bits
            self.value, self.bits = self.value << more | entropy.integer(more), bits


class Arrival:
    """The first of `count` arrivals after an earlier one, and the noise it stands for. Private.

    `low` and `high` enclose E/epsilon, E = -log(1 - exp(-s)) the noise of an arrival at s; `log` is log s up
    to `slack`, and `terms` are the uniforms and counts that s stands on.
    """

    __slots__ = ("_epsilon", "_whole", "high", "log", "low", "slack", "terms")

    def __init__(
        self, uniform: Uniform, count: int, epsilon: Fraction, before: Arrival | None = None
    ) -> None:
        self._epsilon = epsilon
        log_count = math.log(count)
        self.log = uniform.log - log_count
        self.slack = uniform.slack + _ULPS * (1.0 + log_count)
        self.terms: tuple[tuple[Uniform, int], ...] = ((uniform, count),)
        if before is not None:
            self.terms = (*before.terms, *self.terms)
            large, small = max(self.log, before.log), min(self.log, before.log)
            self.log = large + math.log1p(math.exp(small - large))
            self.slack = max(self.slack, before.slack) + _ULPS * (1.0 + abs(large))
        noise = _noise(self.log)
        # |dE / d log s| = s / (exp(s) - 1) <= 1.
        reach = self.slack + _ULPS * (1.0 + noise)
        unit = epsilon.numerator / epsilon.denominator  # as float(epsilon), ten times as fast
        middle, reach = noise / unit, reach / unit + _ULPS * noise / unit
        self.low: float | Fraction = middle - reach
        self.high: float | Fraction = middle + reach
        self._whole: int | None = None

    def whole(self) -> int:
        """Return the whole part of E/epsilon, reading on where the bits so far leave it open."""
        if self._whole is None:
            while not (math.isfinite(self.high) and math.floor(self.low) == math.floor(self.high)):
                self.sharpen()
            self._whole = math.floor(self.low)
        return self._whole

    def part_below(self, other: Arrival) -> bool:
        """Tell whether the part of E/epsilon behind the point is smaller than the other's."""
        while True:
            ours, theirs = self.whole(), other.whole()
            if self.high - ours < other.low - theirs:
                return True
            if other.high - theirs < self.low - ours:
                return False
            self.sharpen()
            other.sharpen()

    def sharpen(self) -> None:
        """Read 128 more bits of every uniform and enclose E/epsilon in decimals."""
        bits = max(uniform.bits for uniform, _ in self.terms) + _MORE
        digits = bits // 3
        for uniform, _ in self.terms:
            uniform.read_to(bits)
        with decimal.localcontext(decimals(2 * digits + 60)):
            late = sum((_exponential(u.value, bits) / count for u, count in self.terms), Decimal(0))
            early = sum((_exponential(u.value + 1, bits) / count for u, count in self.terms), Decimal(0))
            low, high = _exact_noise(late, digits), _exact_noise(early, digits)
            doubt = Fraction(1, 10**digits)
            self.low = (Fraction(low) - doubt * (1 + Fraction(low))) / self._epsilon
            if high.is_finite():
                self.high = (Fraction(high) + doubt * (1 + Fraction(high))) / self._epsilon


def _noise(log_s: float) -> float:
    """Return E = -log(1 - exp(-s)) for the logarithm of s."""
    if log_s < -40.0:
        return -log_s
    s = math.exp(min(log_s, 7.0))  # exp(-exp(7)) is 0 beside any rounding
    return -math.log1p(-math.exp(-s)) if s > 0.5 else -math.log(-math.expm1(-s))


def _exponential(value: int, bits: int) -> Decimal:
    """Return -log(value / 2**bits), and infinity for 0."""
    return -(Decimal(value) / Decimal(1 << bits)).ln() if value else Decimal("Infinity")


def _exact_noise(s: Decimal, digits: int) -> Decimal:
    """Return -log(1 - exp(-s)) up to a relative 10**-(digits + 10); below 10**-(digits + 20) it is -log s."""
    if s == 0:
        return Decimal("Infinity")
    small = s.adjusted() < -(digits + 20)
    return -s.ln() if small else -(1 - (-s).exp()).ln()
