"""Where numbers lie: a centre and a reach for each column, found by looking closer, and closer again.

Each look tells sums with noise (docs/proofs/all-privacy.md). Which columns need another one depends on what
was told before; what is not needed is left for the rest of the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.methods.all.looks import (
    PARTS_OF_WINDOW,
    SIZES,
    SMALLEST,
    count_places,
    count_sizes,
    sum_distances,
    sum_places,
)
from discreet.methods.all.noisy import with_noise
from discreet.methods.all.reading import FINE, Scaling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.methods.all.reading import Columns
    from discreet.methods.all.record import Noisy

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

PRESENT = math.isqrt(3 * FINE * FINE // 4)
"""What being present counts beside a share in +-1/2: together they move by one at most."""
_LOOKS = 8  # at one column, at most
_USUAL = (2.0**-8, 2.0**18)
_TYPICAL = 0.5  # the mean of min(1, size/scale)
_AROUND, _SURE = 1.5, 2.5  # the next window: so many scales, and deviations of the noise in its centre
_CROWD = 0.5  # of those present are a crowd
_BEYOND = 1.4  # a scale larger than this, in windows, says that numbers lie beyond
_CLOSE = 2.5  # where the scale is this much smaller than the window, another look is taken
_NEAREST = 1 / 32  # of the window: no scale is taken to be smaller
_SMALL, _LARGE = 1e-290, 1e307  # no scale is taken to be smaller, or larger: windows are finite, and not 0
FARTHEST = 1.7e308  # nor is a centre further out: with an infinite one, sums would not be numbers
# Errors aimed at, as shares of all people: of sizes; of means and distances at the first look, and then.
_ERRORS = (0.08, 0.06, 0.03)
_COARSE = 2.2  # times these: with larger errors bounds are kept, or all columns are looked at as one
_LOOK = 0.4  # of the budget, at most, for a later look at all columns; less if others are answers
_FIRST = 0.8  # of the budget, at most, for the first two looks
_BOUNDED, _FREE = 2.0, 1.25  # scales taken in: with bounds nearly all numbers, so that means are theirs
_SPREAD = 0.3  # about the deviation of numbers, in double scales


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where numbers lie, the mean of their shares, how many people are present, the noise in that. Public.

    `doubt` is infinite where nothing was learned; `left` is the budget that was not needed.
    """

    scaling: Scaling
    mean: Floats
    present: Floats
    doubt: Floats
    left: float


@dataclass(slots=True, eq=False, repr=False)
class _Look:
    """Columns of numbers, private; of each its centre, window, how many are present, and the noise in that.

    Where they are `pooled`, all columns are looked at as one.
    """

    values: NDArray[Any]
    at: Places
    centre: Floats
    window: Floats
    present: Floats
    doubt: Floats
    pooled: bool = False

    def told(self, total: NDArray[Any], moved: float, rho: float) -> Noisy:
        """Tell sums over columns, shape (.., columns), of which one person moves each by `moved`.

        Together these move by sqrt(columns) times as much; their own sum by as many times.
        """
        k = total.shape[-1]
        if not self.pooled:
            return with_noise(total, moved * math.sqrt(k), rho)
        noisy = with_noise(total.sum(axis=-1, keepdims=True), moved * k, rho)
        return replace(noisy, sums=np.repeat(noisy.sums / k, k, axis=-1), deviation=noisy.deviation / k)

    def __repr__(self) -> str:
        return "Look(private)"


def learn_where(values: NDArray[Any], columns: Columns, rho: float, size: float) -> Where:
    """Return where the numbers of each column lie; `size` is about how many people have any.

    Guarantee: Gaussian(sqrt(2 (rho - left))), `left` being what is left; which may depend on what was told.
    """
    m, n = int(values.shape[1]), max(size, 1.0)
    at = columns.numbers
    bounded, free = np.arange(columns.bounded.size), np.arange(columns.bounded.size, at.size)
    half = columns.high / 2 - columns.low / 2
    blank = np.zeros(at.size)
    look = _Look(values, at, blank, blank + 1, blank + n, blank + math.inf)
    look.centre[bounded], look.window[bounded] = columns.low + half, np.maximum(half, _SMALL)
    reach = look.window.copy()
    left, dear = rho, _LOOK * rho * at.size / max(m, 1)
    costs = tuple(2 / error**2 for error in _ERRORS)
    aim, worst = 0.5 / n**2, 0.5 / (_COARSE * n) ** 2
    kinds = ((bounded, sum(costs[1:]), _BOUNDED), (free, sum(costs), _FREE))
    whole = sum(kind.size * cost for kind, cost, _ in kinds)
    for kind, cost, taken in kinds:
        some = kind
        part = _FIRST * rho * some.size * cost / max(whole, 1.0)  # what the first looks at these may cost
        look.pooled = part < worst * cost * some.size
        if not some.size or (look.pooled and kind is bounded):
            continue
        unit = min(aim, part / (cost * (1 if look.pooled else some.size)))
        if kind is free:
            price = unit * costs[0] * (1 if look.pooled else some.size)
            left -= price
            _sizes(look, some, price)
        for number in range(_LOOKS):
            price = unit * costs[1 if number == 0 else 2] * (1 if look.pooled else some.size)
            price = min(price, dear) if number else price
            if not some.size or price > left:
                break
            left -= price
            doubt = _means(look, some, price / 2)
            scale = _distances(look, some, price / 2)
            reach[some] = scale * taken
            window = look.window[some]
            again = (scale * _CLOSE < window) | (scale > _BEYOND * window) | (number == 0)
            before, some = look.window[some[again]], some[again]
            look.window[some] = np.clip((_AROUND * scale + _SURE * doubt)[again], _SMALL, _LARGE)
            price = min(unit * costs[2] * some.size, dear)
            if number == 0 and some.size and not look.pooled and price < left:
                left -= price
                _narrow(look, some, before, price)
    return _found(look, reach, columns, m, left)


def _found(look: _Look, reach: Floats, columns: Columns, m: int, left: float) -> Where:
    """Return what was found of the numbers, at their places among all columns."""
    low, high, bounded = look.centre - reach, look.centre + reach, slice(columns.bounded.size)
    low[bounded] = np.maximum(low[bounded], columns.low)
    high[bounded] = np.minimum(high[bounded], columns.high)
    around, centre = np.maximum(high / 2 - low / 2, _SMALL), low / 2 + high / 2
    mean = np.clip(0.5 + (look.centre - centre) / around / 2, 0.0, 1.0)
    taken = np.where(np.arange(reach.size) < columns.bounded.size, _BOUNDED, _FREE)
    spread = np.where(np.isinf(look.doubt), 1 / math.sqrt(12), _SPREAD * reach / (taken * around))
    table = np.repeat([[0.5], [0.5], [1 / math.sqrt(12)], [0.5], [1.0], [math.inf]], m, axis=1)
    table[:, columns.numbers] = centre, around, np.clip(spread, 0.05, 0.5), mean, look.present, look.doubt
    mean, present, doubt = table[3:]
    return Where(Scaling(*table[:3]), mean, present, doubt, left)


def _sizes(look: _Look, some: Places, rho: float) -> None:
    """Find the size of numbers without bounds, from how many people have one of each size.

    A histogram moves by sqrt(2) a column. Zeros are of no size.
    """
    counts = count_sizes(look.values, look.at[some])
    noisy = look.told(counts, math.sqrt(2), rho)
    size = np.exp2(SMALLEST + 2.0 * np.arange(SIZES))  # about the middle of a pair of octaves
    # Very large and very small numbers must stand out more.
    usual = np.where((size > _USUAL[0]) & (size < _USUAL[1]), 2.0, 4.0)[:, None]
    clear = np.where(noisy.sums > usual * noisy.deviation, noisy.sums, 0.0)
    best = noisy.sums - usual * noisy.deviation
    clear = np.where(clear.any(axis=0), clear, best == best.max(axis=0))
    tried = np.exp2(SMALLEST + np.arange(2.0 * SIZES + 2))[::-1]
    mean = np.minimum(size / tried[:, None], 1.0) @ clear / clear.sum(axis=0)
    look.window[some] = 1.5 * tried[np.argmax(mean >= _TYPICAL, axis=0)]


def _means(look: _Look, some: Places, rho: float) -> Floats:
    """Move the centre of some columns to the mean of what is in their window; learn how many are present.

    Returns the deviations of the noise in these centres. A share in +-1/2 beside its presence, of weight
    sqrt(3)/2, moves by at most 1.
    """
    total, present = sum_places(look.values, look.at[some], look.centre[some], look.window[some])
    noisy = look.told(np.stack([total, present * PRESENT]), FINE, rho)
    look.doubt[some] = noisy.deviation / PRESENT
    look.present[some] = np.clip(noisy.sums[1] / PRESENT, 1.0, max(len(look.values), 1.0))
    mean = np.clip(noisy.sums[0] / (FINE / 2) / look.present[some], -1.0, 1.0)
    centre = look.centre[some] + mean * look.window[some]
    look.centre[some] = np.clip(centre, -FARTHEST, FARTHEST)
    return np.minimum(noisy.deviation / (FINE / 2) / look.present[some], 1.0) * look.window[some]


def _narrow(look: _Look, some: Places, window: Floats, rho: float) -> None:
    """Move the windows of some columns to where most numbers crowd, if they do, in the `window` before.

    A histogram moves by sqrt(2) a column. It shows a narrow column within a wide window, where the noise in
    a mean is wider than the column.
    """
    centre = look.centre[some]
    counts = count_places(look.values, look.at[some], centre, window)
    noisy = look.told(counts, math.sqrt(2), rho)
    total = np.concatenate([np.zeros((1, some.size)), np.cumsum(noisy.sums, axis=0)])
    seen = np.zeros(some.size, dtype=np.bool_)
    for width in range(1, PARTS_OF_WINDOW // 3):
        sums = total[width:] - total[:-width]
        first, most = np.argmax(sums, axis=0), sums.max(axis=0)
        crowd = ~seen & (most - 2 * math.sqrt(width) * noisy.deviation > _CROWD * look.present[some])
        middle = centre + ((2 * first + width) / PARTS_OF_WINDOW - 1) * window
        at = some[crowd]
        look.centre[at] = np.clip(middle, -FARTHEST, FARTHEST)[crowd]
        look.window[at] = np.clip((width + 2) / PARTS_OF_WINDOW * window, _SMALL, _LARGE)[crowd]
        seen |= crowd


def _distances(look: _Look, some: Places, rho: float) -> Floats:
    """Return the scale of some columns: twice the mean distance from the centre, at most the window's end.

    A distance in [0, 1] moves by at most 1.
    """
    total = sum_distances(look.values, look.at[some], look.centre[some], look.window[some])
    noisy = look.told(total, FINE, rho)
    mean = (noisy.sums + noisy.deviation / 2) / FINE / look.present[some]  # rather too large than too small
    return np.clip(2 * np.clip(mean, _NEAREST / 2, 1.0) * look.window[some], _SMALL, _LARGE)
