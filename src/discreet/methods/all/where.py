"""Where columns lie: a centre and a reach for numbers, by looking closer and closer; means of answers.

Each look tells sums with noise (docs/proofs/all-privacy.md). Which columns need another one depends on what
was told before; what is not needed is left for the rest of the release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.methods.all.budget import COARSE, FIRST_LOOKS, LOOK_COSTS
from discreet.methods.all.in_numpy import PARTS_OF_WINDOW
from discreet.methods.all.record import Means
from discreet.methods.all.rows import FARTHEST, FINE, NO_SIZE, Scaling, beyond
from discreet.methods.all.sizes import MARGIN, SURELY, crowded, zeros_and_ones
from discreet.methods.all.sums import Statistic, column_statistics, row_lengths, with_noise

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.all.clipping import Ball
    from discreet.methods.all.record import Noisy
    from discreet.methods.all.rows import Columns
    from discreet.typing import RawArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_PRESENT = math.isqrt(3 * FINE * FINE // 4)  # counts for being present: with a share in +-1/2, one at most
# How far one person moves what is asked of a column: from one bin of a histogram to another; a share in
# +-1/2, beside presence of weight sqrt(3)/2, by at most 1, and so a distance in [0, 1].
_MOVED = dict(zip(Statistic, (math.sqrt(2), FINE, FINE, math.sqrt(2)), strict=True))
_THERE, _VARIED = 0.9, 0.3  # about the share of the people that have an entry, and how far off that may be
_UNLIKE = 0.05  # about how far from each other's the shares of two columns are, at least
_RATES = 0.3  # about how far from one half the rates of answers are
_LOOKS = 8  # at one column, at most
_MOST_OF = 0.8  # likewise, of parts of a window: the same number may be that of most people
_SEEN = 2.0  # deviations of its noise: a scale that needs no closer look
_AROUND, _SURE = 1.5, 2.5  # the next window: so many scales, and deviations of the noise in its centre
_BEYOND = 1.4  # a scale larger than this, in windows, says that numbers lie beyond
_CLOSE = 2.5  # where the scale is this much smaller than the window, another look is taken
_NEAREST = 1 / 32  # of the window: no scale is taken to be smaller
_SMALL, _LARGE = 1e-290, 1e307  # no scale is taken to be smaller, or larger: windows are finite, and not 0
_NEAR_ONE = 1 / 8
_BOUNDED, _FREE = 2.0, 1.25  # scales taken in: with bounds nearly all numbers, so that means are theirs
_LEAST = 0.02  # no deviation is taken to be smaller, in widths of the range
_SPREAD = 0.3  # about the deviation of numbers, in double scales


@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where numbers lie, the mean of their shares, how many people are present, the noise in that. Public.

    `present_sd` is infinite where nothing was learned, or the range is another than what was looked at;
    `unspent` is the budget that was not needed.
    """

    scaling: Scaling
    mean: Floats
    present: Floats
    present_sd: Floats
    unspent: float


@dataclass(slots=True, eq=False, repr=False)
class _Numbers:
    """Columns of numbers, private; of each its centre, window, how many are present, and the noise in that.

    Where they are `pooled`, all columns are looked at as one.
    """

    values: RawArray
    at: Places
    centre: Floats
    window: Floats
    present: Floats
    present_sd: Floats
    two_valued: NDArray[np.bool_]
    no_others: NDArray[np.bool_]
    pooled: bool = False

    def sums(self, what: Statistic, some: Places) -> tuple[NDArray[np.int64], float]:
        """Return what is asked of some columns, shape (.., columns), and how far one person moves it.

        Together k columns move by sqrt(k) times as much as one; their own sum by as many times.
        """
        total = column_statistics(what, self.values, self.at[some], self.centre[some], self.window[some])
        if what is Statistic.MEANS:
            total = total * np.array([[1], [_PRESENT]])
        if not self.pooled:
            return total, _MOVED[what] * math.sqrt(some.size)
        return total.sum(axis=-1, keepdims=True), _MOVED[what] * some.size

    def each(self, noisy: Noisy, some: Places) -> Noisy:
        """Return what was told of each column: of all together, the same of each."""
        k = some.size
        if not self.pooled:
            return noisy
        return replace(noisy, sums=np.repeat(noisy.sums / k, k, axis=-1), deviation=noisy.deviation / k)

    def __repr__(self) -> str:
        return "Numbers(private)"


def learn_where(values: RawArray, columns: Columns, rho: float, size: float) -> Where:
    """Return where the numbers of each column lie; `size` is about how many people have any.

    Guarantee: Gaussian(sqrt(2 (rho - unspent))); what is unspent may depend on what was told.
    """
    m, n = int(values.shape[1]), max(size, 1.0)
    at = columns.numbers
    bounded, free = np.arange(columns.bounded.size), np.arange(columns.bounded.size, at.size)
    half = columns.high / 2 - columns.low / 2
    blank = np.zeros(at.size)
    numbers = _Numbers(values, at, blank, blank + 1, blank + n, blank + math.inf, blank > 0, blank > 0)
    numbers.centre[bounded], numbers.window[bounded] = columns.low + half, np.maximum(half, _SMALL)
    half_width, scales = numbers.window.copy(), numbers.window.copy()
    unspent, aim, worst = rho, 0.5 / n**2, 0.5 / (COARSE * n) ** 2
    kinds = ((bounded, sum(LOOK_COSTS[1:]), _BOUNDED), (free, sum(LOOK_COSTS), _FREE))
    whole = sum(kind.size * cost for kind, cost, _ in kinds)
    # What the first looks at each kind may cost:
    parts = [FIRST_LOOKS * rho * kind.size * cost / max(whole, 1.0) for kind, cost, _ in kinds]
    for place, (kind, cost, taken) in enumerate(kinds):
        some, part, set_aside = kind, parts[place], _for_first_looks(parts, place)
        numbers.pooled = part < worst * cost * some.size
        if not some.size or (numbers.pooled and kind is bounded):
            continue
        count = 1 if numbers.pooled else some.size
        unit = min(aim, part / cost) if numbers.pooled else part / (cost * count)
        if kind is free:
            price = unit * LOOK_COSTS[0] * count
            unspent -= price
            _sizes(numbers, some, with_noise(*numbers.sums(Statistic.SIZES, some), price), n)
        narrowed = numbers.pooled
        for number in range(_LOOKS):
            # Within bounds all numbers are looked at first, without bounds where they crowd.
            first = kind is bounded and number == 0
            if not narrowed and not first and some.size:
                narrowed, price = True, unit * LOOK_COSTS[1] * some.size
                unspent -= price
                _narrow(numbers, some, with_noise(*numbers.sums(Statistic.PLACES, some), price))
            price = unit * LOOK_COSTS[2] * (1 if numbers.pooled else some.size)
            if not some.size or price > unspent - set_aside:
                break
            unspent -= price
            centre_sd = _means(numbers, some, with_noise(*numbers.sums(Statistic.MEANS, some), price / 2))
            distances = numbers.sums(Statistic.DISTANCES, some)
            scale, noise = _scales(numbers, some, with_noise(*distances, price / 2))
            window = numbers.window[some]
            again = (scale * _CLOSE < window) | (scale > _BEYOND * window)
            if first:
                # Most may have the same number, and a closer look would see nothing else.
                again &= scale < _SEEN * noise
            scales[some], half_width[some] = scale, np.where(first & ~again, 2 * window, scale * taken)
            some = some[again]
            numbers.window[some] = np.clip((_AROUND * scale + _SURE * centre_sd)[again], _SMALL, _LARGE)
        if kind is free:
            # Where all numbers seem to be 1 and nothing is seen of the others, these are zeros.
            ones = (np.abs(numbers.centre[some] - 1) < half_width[some]) & (half_width[some] < _NEAR_ONE)
            numbers.two_valued[some[ones]] = True
            _join_others(numbers, kind, half_width[kind])
    seen = np.isfinite(numbers.present_sd)
    likely = _likely_present(numbers.present[seen], numbers.present_sd[seen], n)
    numbers.present[seen], numbers.present_sd[seen] = likely
    return _found(numbers, scales, half_width, columns, m, unspent)


def _for_first_looks(parts: list[float], place: int) -> float:
    """Return what closer looks at one kind must leave for the first looks at those that follow."""
    return sum(parts[place + 1 :])


def _found(
    numbers: _Numbers, scales: Floats, half_width: Floats, columns: Columns, m: int, unspent: float
) -> Where:
    """Return what was found of the numbers, at their places among all columns."""
    low, high, bounded = numbers.centre - half_width, numbers.centre + half_width, slice(columns.bounded.size)
    low[bounded] = np.maximum(low[bounded], columns.low)
    high[bounded] = np.minimum(high[bounded], columns.high)
    around, centre = np.maximum(high / 2 - low / 2, _SMALL), low / 2 + high / 2
    # Zeros and ones have these for their range; where nothing but zeros was seen, signs are compared.
    free = np.arange(half_width.size) >= columns.bounded.size
    signs = free & ~numbers.two_valued & (np.abs(centre) <= around) & (around < NO_SIZE)
    centre = np.where(signs, 0.0, np.where(numbers.two_valued, 0.5, centre))
    around = np.where(numbers.two_valued, 0.5, around)
    numbers.present_sd[numbers.two_valued | signs] = math.inf
    mean = np.clip(0.5 + (numbers.centre - centre) / around / 2, 0.0, 1.0)
    spread = np.where(np.isinf(numbers.present_sd), 1 / math.sqrt(12), _SPREAD * scales / around)
    table = np.repeat([[0.5], [0.5], [1 / math.sqrt(12)], [0.5], [1.0], [math.inf]], m, axis=1)
    spread = np.clip(spread, _LEAST, 0.5)
    table[:, columns.numbers] = centre, around, spread, mean, numbers.present, numbers.present_sd
    mean, present, present_sd = table[3:]
    return Where(Scaling(*table[:3]), mean, present, present_sd, unspent)


def _sizes(numbers: _Numbers, some: Places, noisy: Noisy, people: float) -> None:
    """Find where numbers without bounds crowd, and zeros and ones, from how many have one of each size."""
    noisy = numbers.each(noisy, some)
    sums, deviation = noisy.sums, float(noisy.deviation)
    numbers.centre[some], numbers.window[some] = crowded(sums, deviation)
    numbers.two_valued[some], numbers.no_others[some] = zeros_and_ones(sums, deviation, people)


def _join_others(numbers: _Numbers, kind: Places, half_width: Floats) -> None:
    """Take columns without other sizes for zeros and ones too, if some are, and a range is around 0 or 1.

    Most people have the same of the two then: a closer look sees nothing else.
    """
    centre = numbers.centre[kind]
    around = (half_width < _AROUND) & ((np.abs(centre) <= half_width) | (np.abs(centre - 1) <= half_width))
    if numbers.two_valued[kind].any():
        numbers.two_valued[kind] |= numbers.no_others[kind] & around


def _means(numbers: _Numbers, some: Places, noisy: Noisy) -> Floats:
    """Move the centre of some columns to the mean of what is in their window; learn how many are present.

    Returns the deviations of the noise in these centres.
    """
    noisy = numbers.each(noisy, some)
    numbers.present_sd[some] = noisy.deviation / _PRESENT
    numbers.present[some] = np.clip(noisy.sums[1] / _PRESENT, 1.0, max(len(numbers.values), 1.0))
    mean = np.clip(noisy.sums[0] / (FINE / 2) / numbers.present[some], -1.0, 1.0)
    centre = numbers.centre[some] + mean * numbers.window[some]
    numbers.centre[some] = np.clip(centre, -FARTHEST, FARTHEST)
    return np.minimum(noisy.deviation / (FINE / 2) / numbers.present[some], 1.0) * numbers.window[some]


def _narrow(numbers: _Numbers, some: Places, noisy: Noisy) -> None:
    """Move the windows of some columns to where most numbers crowd.

    A histogram shows a narrow column within a wide window, where the noise in a mean would be wider than the
    column. Of all runs of bins the shortest is taken that surely holds nearly as many as any other.
    """
    centre, window = numbers.centre[some], numbers.window[some]
    total = np.concatenate([np.zeros((1, some.size)), np.cumsum(noisy.sums, axis=0)])
    width = np.arange(1, PARTS_OF_WINDOW + 1)
    runs = [total[wide:] - total[:-wide] for wide in width]
    least = np.stack([run.max(axis=0) for run in runs]) - SURELY * np.sqrt(width)[:, None] * noisy.deviation
    shortest = np.argmax(least >= _MOST_OF * least.max(axis=0), axis=0)
    first = np.stack([run.argmax(axis=0) for run in runs])[shortest, np.arange(some.size)]
    wide = width[shortest]
    middle = centre + ((2 * first + wide) / PARTS_OF_WINDOW - 1) * window
    numbers.centre[some] = np.clip(middle, -FARTHEST, FARTHEST)
    numbers.window[some] = np.clip(MARGIN * (wide + 1) / PARTS_OF_WINDOW * window, _SMALL, _LARGE)


def _scales(numbers: _Numbers, some: Places, noisy: Noisy) -> tuple[Floats, Floats]:
    """Return the scale of some columns, twice the mean distance from the centre, and its noise.

    It is at most the window's end, and rather too large than too small.
    """
    noisy = numbers.each(noisy, some)
    mean = (noisy.sums[0] + noisy.deviation / 2) / FINE / numbers.present[some]
    noise = 2 * noisy.deviation / FINE / numbers.present[some] * numbers.window[some]
    return np.clip(2 * np.clip(mean, _NEAREST / 2, 1.0) * numbers.window[some], _SMALL, _LARGE), noise


def retained_sums(
    values: RawArray,
    group: NDArray[np.int8],
    rules: list[Floats],
    signed: NDArray[np.bool_],
    counted: NDArray[np.bool_],
    cut: NDArray[np.bool_],
    ball: Ball,
) -> NDArray[np.int64]:
    """Return in steps, for both groups, the weights of rows times the share of their numbers inside, and cut.

    Shape (2, 2). `rules` are those of rows, and of rows around the own centre of each group; `signed` are the
    columns that are clipped together, and the shares are those of the columns that are `counted`. A person
    adds two numbers that are not negative and together at most 1, less where entries are missing. Private.
    """
    total = np.zeros((2, 2), dtype=np.int64)
    many = int(np.count_nonzero(counted))
    outside = beyond(rules[0], cut)
    lacks = 2.0 ** math.ceil(math.log2(many + 1) / 2 + 0.5)  # its square is more than `many`
    outside[:, 6] = lacks
    squared = np.rint(row_lengths(values, outside, counted) ** 2)
    missing = np.floor(squared / lacks**2)
    outer = squared - missing * lacks**2
    lengths = row_lengths(values, rules[1], signed)
    for side in (0, 1):
        if side and not np.array_equal(rules[1], rules[2]):
            lengths = row_lengths(values, rules[2], signed)
        weight = ball.weight(lengths)
        here = group == side
        for place, number in enumerate((many - missing - outer, outer)):
            total[side, place] = int(np.trunc(FINE * (weight * number / many)[here]).sum())
    return total


def learn_means(share: Floats, people: People, wanted: NDArray[np.bool_], rho: float) -> Means:
    """Return the mean of the columns that are sought, all answers among them, of shares in [0, 1].

    A share less 1/2, beside its presence of weight sqrt(3)/2, moves by at most 1. The answers to one
    question, of which a person gives one, beside its presence of weight 1, move by at most sqrt(2).
    """
    several = [
        range(len(people))[asked.places]
        for asked in people.questions
        if asked.answers and len(range(len(people))[asked.places]) > 1
    ]
    sizes = [len(places) for places in several]
    chosen = np.array([place for places in several for place in places], dtype=np.intp)
    single = np.setdiff1d(np.flatnonzero(wanted), chosen)
    known = ~np.isnan(share[:, single])
    alone = np.trunc(np.where(known, share[:, single] - 0.5, 0.0) * FINE).sum(axis=0)
    present = np.count_nonzero(known, axis=0) * _PRESENT
    given = np.nansum(share[:, chosen], axis=0) * FINE
    firsts = np.array([places[0] for places in several], dtype=np.intp)
    asked = np.count_nonzero(~np.isnan(share[:, firsts]), axis=0) * FINE
    norm = FINE * math.sqrt(single.size + 2 * len(several))
    noisy = with_noise(np.concatenate([alone, present, given, asked]), norm, rho)
    ends = np.cumsum([single.size, single.size, chosen.size])
    alone, present, given, asked = np.split(noisy.sums, ends)
    rows = max(len(share), 1.0)
    present, present_sd = _likely_present(present / _PRESENT, float(noisy.deviation) / _PRESENT, rows)
    asked, unsure = _likely_present(asked / FINE, float(noisy.deviation) / FINE, rows)
    asked, unsure = np.repeat(asked, sizes), np.repeat(unsure, sizes)
    means = Means(*(np.ones(len(people)) for _ in range(3)))
    order = np.concatenate([single, chosen])
    mean = np.concatenate([alone / FINE / present, given / FINE / asked - 0.5])
    present = np.concatenate([present, asked])
    trust = 1 / (1 + np.square(noisy.deviation / FINE / present / _RATES))
    means.mean[order], means.present[order] = np.clip(0.5 + trust * mean, 0.0, 1.0), present
    means.present_sd[order] = np.concatenate([present_sd, unsure])
    return means


def _likely_present(counts: Floats, deviation: Floats | float, rows: float) -> tuple[Floats, Floats]:
    """Return about how many people have an entry in each column, and what is not known of it.

    Most people have most entries, and columns are much alike in that: what noise hides of a column is taken
    from the others, and what it hides of all from `_THERE`.
    """
    if not counts.size:
        return counts, counts
    variance = np.broadcast_to(np.square(deviation), counts.shape)
    between = max(float(np.var(counts) - np.mean(variance)), (_UNLIKE * rows) ** 2)
    noise, before = (between + float(np.mean(variance))) / counts.size, (_VARIED * rows) ** 2
    level = _THERE * rows + (float(np.mean(counts)) - _THERE * rows) / (1 + noise / before)
    own = between / (between + variance)
    present = np.clip(level + own * (counts - level), 1.0, rows)
    return present, np.sqrt(own * variance + (1 - own) ** 2 / (1 / noise + 1 / before))
