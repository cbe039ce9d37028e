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
_INNER = 4  # octaves below the end of an interval that begins at zero; the others hold little
_SURELY = 1.5  # deviations of noise that are taken off the number of people in an interval
_NEARLY = 0.6  # of the most that any interval holds
_CLEARLY, _NOTHING = 3.0, 4.0  # deviations: people who are there, and none who are
_FEW = 0.25  # of the people may seem to have other sizes, for noise adds up over bins
_MARGIN = 1.5  # times as wide as the interval is the window
_AROUND, _SURE = 1.5, 2.5  # the next window: so many scales, and deviations of the noise in its centre
_BEYOND = 1.4  # a scale larger than this, in windows, says that numbers lie beyond
_CLOSE = 2.5  # where the scale is this much smaller than the window, another look is taken
_NEAREST = 1 / 32  # of the window: no scale is taken to be smaller
_SMALL, _LARGE = 1e-290, 1e307  # no scale is taken to be smaller, or larger: windows are finite, and not 0
FARTHEST = 1.7e308  # nor is a centre further out: with an infinite one, sums would not be numbers
# Errors aimed at, as shares of all people: of sizes; of places in a window; of means and of distances.
_ERRORS = (0.06, 0.06, 0.04)
_COSTS = tuple(2 / error**2 for error in _ERRORS)
_COARSE = 2.2  # times these: with larger errors bounds are kept, or all columns are looked at as one
_FIRST = 0.8  # of the budget for the first looks at all columns; the rest is for those that need more
_WORTH, _MOST = 0.3, 0.25  # see `where_share`
_BOUNDED, _FREE = 2.0, 1.25  # scales taken in: with bounds nearly all numbers, so that means are theirs
_SPREAD = 0.3  # about the deviation of numbers, in double scales


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where numbers lie, the mean of their shares, how many people are present, the noise in that. Public.

    `doubt` is infinite where nothing was learned; `two_valued` are columns without bounds that seem to hold 0
    and 1 and nothing else, as yes and no are often written; `left` is the budget that was not needed.
    """

    scaling: Scaling
    mean: Floats
    present: Floats
    doubt: Floats
    two_valued: NDArray[np.bool_]
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
    two_valued: NDArray[np.bool_]
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


def where_share(bounded: int, free: int, rho: float, size: int) -> float:
    """Return the share of the budget that is best spent on where so many columns of numbers lie.

    With a share s errors are sqrt(full/s) times those aimed at, `full` being the share that reaches them.
    Power is lost in proportion to their squares, full/s, and to s, which contrasts do not get: together the
    least at a multiple of the root of `full`. The factor was tried on columns of a dozen laws.
    """
    full = (bounded * sum(_COSTS[1:]) + free * sum(_COSTS)) * 0.5 / (max(size, 1) ** 2 * rho)
    return min(max(_WORTH * math.sqrt(full), full / (_FIRST * _COARSE**2)), _MOST)


def learn_where(values: NDArray[Any], columns: Columns, rho: float, size: float) -> Where:
    """Return where the numbers of each column lie; `size` is about how many people have any.

    Guarantee: Gaussian(sqrt(2 (rho - left))), `left` being what is left; which may depend on what was told.
    """
    m, n = int(values.shape[1]), max(size, 1.0)
    at = columns.numbers
    bounded, free = np.arange(columns.bounded.size), np.arange(columns.bounded.size, at.size)
    half = columns.high / 2 - columns.low / 2
    blank = np.zeros(at.size)
    look = _Look(values, at, blank, blank + 1, blank + n, blank + math.inf, blank > 0)
    look.centre[bounded], look.window[bounded] = columns.low + half, np.maximum(half, _SMALL)
    reach = look.window.copy()
    left = rho
    aim, worst = 0.5 / n**2, 0.5 / (_COARSE * n) ** 2
    kinds = ((bounded, sum(_COSTS[1:]), _BOUNDED), (free, sum(_COSTS), _FREE))
    whole = sum(kind.size * cost for kind, cost, _ in kinds)
    for kind, cost, taken in kinds:
        some = kind
        part = _FIRST * rho * some.size * cost / max(whole, 1.0)  # what the first looks at these may cost
        look.pooled = part < worst * cost * some.size
        if not some.size or (look.pooled and kind is bounded):
            continue
        count = 1 if look.pooled else some.size
        unit = min(aim, part / cost) if look.pooled else part / (cost * count)
        if kind is free:
            left -= unit * _COSTS[0] * count
            _sizes(look, some, unit * _COSTS[0] * count)
        if not look.pooled:
            left -= unit * _COSTS[1] * count
            _narrow(look, some, unit * _COSTS[1] * count)
        for _ in range(_LOOKS):
            price = unit * _COSTS[2] * (1 if look.pooled else some.size)
            if not some.size or price > left:
                break
            left -= price
            doubt = _means(look, some, price / 2)
            scale = _distances(look, some, price / 2)
            reach[some] = scale * taken
            window = look.window[some]
            again = (scale * _CLOSE < window) | (scale > _BEYOND * window)
            some = some[again]
            look.window[some] = np.clip((_AROUND * scale + _SURE * doubt)[again], _SMALL, _LARGE)
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
    two_valued = np.zeros(m, dtype=np.bool_)
    two_valued[columns.numbers] = look.two_valued
    return Where(Scaling(*table[:3]), mean, present, doubt, two_valued, left)


def _sizes(look: _Look, some: Places, rho: float) -> None:
    """Find an interval where numbers without bounds crowd, from how many people have one of each size.

    A histogram moves by sqrt(2) a column. Its bins are octaves of positive and of negative numbers, and zero.
    Of all runs of bins the shortest is taken that surely holds nearly as many as any other.
    """
    counts = count_sizes(look.values, look.at[some])
    noisy = look.told(counts, math.sqrt(2), rho)
    low, high, score = _crowds(noisy.sums, float(noisy.deviation))
    enough = score >= _NEARLY * score.max(axis=0)
    length = np.where(enough, (high - low)[:, None], np.inf)
    chosen = np.argmin(length, axis=0)
    look.centre[some] = (low + high)[chosen] / 2
    look.window[some] = _MARGIN * (high - low)[chosen] / 2
    look.two_valued[some] = _two_valued(noisy.sums, float(noisy.deviation))


def _two_valued(sums: Floats, deviation: float) -> NDArray[np.bool_]:
    """Say which columns seem to hold zeros and ones: of all sizes these two, both of them clearly.

    Where one column does, so do those that seem to hold nothing but zeros: their ones are few.
    """
    place = SIZES + 2 - SMALLEST  # the octave from 1 to 2
    zero, one = sums[SIZES], sums[place]
    rest = np.delete(sums, [SIZES, place], axis=0)
    none = (rest.max(axis=0) < _NOTHING * deviation) & (rest.sum(axis=0) < _FEW * (zero + one))
    zeros = none & (zero > _CLEARLY * deviation)
    both = zeros & (one > _CLEARLY * deviation)
    return zeros if both.any() else both


def _crowds(sums: Floats, deviation: float) -> tuple[Floats, Floats, Floats]:
    """Return the ends of intervals, and how many people each holds at least, in each column.

    From 1 to 3 octaves on one side of zero, from zero to the end of an octave, or as far on both sides: of
    these last ones the bins near zero, which hold few, are left out, for the noise of many would hide them.
    Unusual sizes must stand out more.
    """
    ends = np.exp2(SMALLEST + np.arange(float(SIZES)))
    negative, zero, positive = sums[:SIZES][::-1], sums[SIZES], sums[SIZES + 1 :]
    strange = 2 * deviation * ((ends < _USUAL[0]) | (ends > _USUAL[1]))[:, None]

    def run(side: Floats, width: int) -> Floats:
        total = np.cumsum(side, axis=0)
        total[width:] = total[width:] - total[:-width]
        return total - strange

    intervals: list[tuple[Floats, Floats, Floats]] = []
    for side, sign in ((positive, 1.0), (negative, -1.0)):
        for width in (1, 2, 3):
            near, far = sign * ends * 2.0**-width, sign * ends
            sure = run(side, width) - _SURELY * math.sqrt(width) * deviation
            intervals.append((np.minimum(near, far), np.maximum(near, far), sure))
        sure = run(side, _INNER) + zero - _SURELY * math.sqrt(_INNER + 1) * deviation
        intervals.append((np.minimum(sign * ends, 0.0), np.maximum(sign * ends, 0.0), sure))
    both = run(positive, _INNER) + run(negative, _INNER) + zero
    intervals.append((-ends, ends, both - _SURELY * math.sqrt(2 * _INNER + 1) * deviation))
    low, high, score = (np.concatenate(part) for part in zip(*intervals, strict=True))
    return low, high, score


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


def _narrow(look: _Look, some: Places, rho: float) -> None:
    """Move the windows of some columns to where most numbers crowd.

    A histogram moves by sqrt(2) a column. It shows a narrow column within a wide window, where the noise in
    a mean would be wider than the column. Of all runs of bins the shortest is taken that surely holds nearly
    as many as any other.
    """
    centre, window = look.centre[some], look.window[some]
    counts = count_places(look.values, look.at[some], centre, window)
    noisy = look.told(counts, math.sqrt(2), rho)
    total = np.concatenate([np.zeros((1, some.size)), np.cumsum(noisy.sums, axis=0)])
    width = np.arange(1, PARTS_OF_WINDOW + 1)
    runs = [total[wide:] - total[:-wide] for wide in width]
    least = np.stack([run.max(axis=0) for run in runs]) - _SURELY * np.sqrt(width)[:, None] * noisy.deviation
    shortest = np.argmax(least >= _NEARLY * least.max(axis=0), axis=0)
    first = np.stack([run.argmax(axis=0) for run in runs])[shortest, np.arange(some.size)]
    wide = width[shortest]
    middle = centre + ((2 * first + wide) / PARTS_OF_WINDOW - 1) * window
    look.centre[some] = np.clip(middle, -FARTHEST, FARTHEST)
    look.window[some] = np.clip(_MARGIN * (wide + 1) / PARTS_OF_WINDOW * window, _SMALL, _LARGE)


def _distances(look: _Look, some: Places, rho: float) -> Floats:
    """Return the scale of some columns: twice the mean distance from the centre, at most the window's end.

    A distance in [0, 1] moves by at most 1.
    """
    total = sum_distances(look.values, look.at[some], look.centre[some], look.window[some])
    noisy = look.told(total, FINE, rho)
    mean = (noisy.sums + noisy.deviation / 2) / FINE / look.present[some]  # rather too large than too small
    return np.clip(2 * np.clip(mean, _NEAREST / 2, 1.0) * look.window[some], _SMALL, _LARGE)
