"""Order the few items whose noisy scores floats cannot tell apart."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import entropy
from discreet.noise.samplers import decimals
from discreet.selection.contest.drawn import RANGE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.laws import Law
    from discreet.selection.contest.drawn import Drawn

_MORE = 128


def exact_order(scale: float, law: Law, drawn: Drawn, group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the permutation that puts `group` (positions in `drawn`) in order, largest first.

    Each uniform is read on by 128 bits at a time and its noise enclosed in decimals until no two enclosures
    overlap: two continuous draws differ, so this ends, after one round but for a chance below 2**-60.
    """
    level = [_level(float(x), scale) for x in drawn.score[group]]
    value = [(int(drawn.high[g]) << 64) | int(drawn.low[g]) for g in group]
    bits = 80
    while True:
        value = [(v << _MORE) | entropy.integer(_MORE) for v in value]
        bits += _MORE
        ends = [_enclosure(law, v, bits, at) for v, at in zip(value, level, strict=True)]
        order = sorted(range(len(ends)), key=lambda i: ends[i], reverse=True)
        if all(ends[a][0] > ends[b][1] for a, b in pairwise(order)):
            return np.array(order, dtype=np.int64)


def _level(score: float, scale: float) -> Fraction:
    """Return the exact rational score/scale, clipped as `in_scales` clips it."""
    if math.isnan(score):
        return Fraction(-RANGE)
    if math.isinf(score):
        return Fraction(math.copysign(RANGE, score))
    return min(Fraction(RANGE), max(Fraction(-RANGE), Fraction(score) / Fraction(scale)))


def _enclosure(law: Law, value: int, bits: int, level: Fraction) -> tuple[Decimal, Decimal]:
    """Return decimals around level + noise(V) for V in [value, value + 1) / 2**bits.

    |noise'(v)| <= 2 / min(v, 1 - v), so half a unit moves the noise by at most 2/tail units.
    """
    tail = min(value, (1 << bits) - 1 - value)
    if tail < 16:
        return Decimal("-Infinity"), Decimal("Infinity")
    with decimal.localcontext(decimals(bits // 3 + 40)):
        noise = law.isf_decimal((value + Decimal("0.5")) / Decimal(1 << bits))
        middle = Decimal(level.numerator) / Decimal(level.denominator) + noise
        reach = 4 / Decimal(tail) + (1 + abs(middle)) / Decimal(10) ** (bits // 3)
        return middle - reach, middle + reach
