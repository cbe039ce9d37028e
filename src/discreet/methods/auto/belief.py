"""How many signals there may be and how strong, from a few noisy order statistics; and how many to measure.

What there may be is a table of states: a number of signals, their strength, how alike they are. In each of
them the law of the scores says what their order statistics are, and what share of the signals is found if so
many are selected and measured afresh. A look weighs the states; what is chosen then falls least behind the
best choice in each, squared, on average: a large loss counts more than several small ones. All of this
follows from public numbers and from what was told: nothing here sees data or draws noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri_exp

from discreet.methods.all.budget import FEWEST, LATER_SHARE, LATERS, cutoffs
from discreet.methods.focus import SELECTION
from discreet.privacy.curves import effective

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.evidence.core.certificate import Null
    from discreet.typing import RawArray

    Floats = NDArray[np.float64]
    Singles = NDArray[np.float32]

_STRENGTHS = np.geomspace(0.5, 6.0, 9)
"""Times the least score that so many signals need to be found: below all is lost, above all is found."""
_PARTS = (np.arange(8) + 0.5) / 8
_SHAPES = np.stack([0.5 + _PARTS, -np.log1p(-_PARTS)])
"""Sizes of signals over their mean: all alike within a half, or many small ones and a few large."""
_USUAL = 1.3  # so many times the signals are measured where it matters: what the least score is reckoned with
_CELLS, _CUTS, _LEVELS = 128, 96, 160
_FINE = 8  # levels of noise to a doubling
_ANSWERS = 32
_UNLIKELY = 1e-9  # times the likeliest state: such states decide no question
_FLOOR, _STEEP = 1e-300, 30.0
_SMALL = 400_000  # multiplications of a product of matrices


@dataclass(frozen=True, slots=True)
class Public:
    """What a choice goes by: how many scores, their null law, one person's pull, budget and q.

    `each` is the variance of the noise in a score if it alone were told with all of the budget; that of
    several is as many times as large, and that of more than `most` no larger.
    """

    m: int
    null: Null
    pull: float
    each: float
    most: float
    rho: float
    q: float

    def noise(self, signals: Floats, count: NDArray[np.int64]) -> Floats:
        """Return the variance of the noise in scores after all stages, if so many are measured.

        Of those that are no signals later stages keep what chance lets pass.
        """
        real = np.minimum(signals, count)[..., None]
        least = cutoffs(np.maximum(np.rint(real[..., 0]), 1), count)
        left = real + (count[..., None] - real) * 2 * ndtr(-least)
        later = np.where(count[..., None] < FEWEST, 0.0, LATER_SHARE / np.minimum(left, self.most)).sum(
            axis=-1
        )
        first = np.where(count < FEWEST, 1.0, 1 - LATERS * LATER_SHARE) / np.minimum(count, self.most)
        return self.each / (first + later)


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """What there may be, and what follows from it; S states, R ranks, C numbers to measure.

    Attributes
    ----------
    signals : array of float, shape (S,)
    ranks : array of int, shape (R,)
        Of the scores that may be asked for.
    expected, variance : array of float, shape (S, R)
        Of these scores, before noise.
    measured : array of int, shape (C,)
        How many may be measured afresh; the last of them is m: all are told.
    power : array of float, shape (S, C)
        About the share of the signals that is found so.
    """

    signals: Floats
    ranks: NDArray[np.int64]
    expected: Floats
    variance: Floats
    measured: NDArray[np.int64]
    power: Floats

    @property
    def loss(self) -> Floats:
        """How far each number to measure is behind the best of them, squared."""
        return (self.power.max(axis=1, keepdims=True) - self.power) ** 2


def counts(most: int, steps: int) -> NDArray[np.int64]:
    """Return whole numbers from 1 to `most`, so many steps to a doubling."""
    many = math.ceil(steps * math.log2(max(most, 2))) + 1
    return np.unique(np.rint(np.geomspace(1, max(most, 2), many))).astype(np.int64)


def measured_of(m: int) -> NDArray[np.int64]:
    """Return how many of `m` may be measured: some number from 2 to half of them, or all."""
    return np.append(counts(m // 2, 3)[1:], m)


@lru_cache(maxsize=64)
def states_of(public: Public) -> States:
    """Return what there may be among so many scores, and what would be found."""
    numbers, null = counts(public.m // 2, 2), public.null
    edges = null.ceiling * np.linspace(0, 1, _CELLS + 1) ** 2
    # Scores as normal deviates of the same p-value: those of signals are normal about their mean.
    deviate = -ndtri_exp(np.maximum(null.log_survival(edges), math.log(_FLOOR)) - math.log(2))
    nulls = 2 * ndtr(-deviate)
    tails: list[Floats] = []
    for number in numbers.tolist():
        mean = _interpolated(_least(public, number, edges) * _STRENGTHS, edges, deviate)
        means = mean[:, None, None, None] * _SHAPES[:, :, None]
        tail: Floats = (ndtr(means - deviate) + ndtr(-means - deviate)).mean(axis=2)
        tails.append(tail.reshape(-1, edges.size))
    tail, k = np.concatenate(tails), np.repeat(numbers, len(tails[0])).astype(np.float64)
    above = k[:, None] * tail + (public.m - k)[:, None] * nulls
    # The score of rank r is where r - 1/2 are expected above it; its error is that of their number.
    ranks = numbers - 0.5
    wanted = np.maximum(ranks + np.array([[1], [0], [-1]]) * np.sqrt(numbers), 0.2)
    low, middle, high = _crossing(above, edges, wanted.ravel()).reshape(-1, *wanted.shape).swapaxes(0, 1)
    measured = measured_of(public.m)
    power = _power(public, measured, (-np.diff(tail, append=0.0), -np.diff(nulls, append=0.0)), k, edges)
    return States(k, numbers, middle, ((high - low) / 2) ** 2, measured, power)


def _least(public: Public, number: int, edges: Floats) -> float:
    """Return the score that so many signals need, about: BH's, with the noise of measuring a few more."""
    tail = public.null.log_survival(edges)
    at = float(np.interp(-math.log(public.q * number / public.m), -np.maximum(tail, math.log(_FLOOR)), edges))
    count = min(_USUAL * number, public.m, public.most)
    noise = math.sqrt(public.each * count / (1 - SELECTION))
    return math.hypot(at, noise * -float(ndtri_exp(math.log(public.q * number / public.m / 2))))


def _crossing(falling: Floats, at: Floats, wanted: Floats) -> Floats:
    """Return where each row, which falls along `at`, comes down to the wanted numbers."""
    depth = -np.log(np.maximum(falling, _FLOOR))
    return np.stack([_interpolated(-np.log(wanted), row, at) for row in depth])


def _interpolated(at: Floats, x: Floats, y: Floats) -> Floats:
    """Return y as a function of x, which rises, at some places."""
    return np.asarray(np.interp(at, x, y), dtype=np.float64)


def _power(
    public: Public, measured: NDArray[np.int64], laws: tuple[Floats, Floats], k: Floats, edges: Floats
) -> Floats:
    """Return the share of the signals that is selected, and then found by BH, for each number to measure.

    It is about that: single precision does.
    """
    middle = np.append((edges[1:] + edges[:-1]) / 2, edges[-1])
    numbers, which = np.unique(k, return_inverse=True)
    noise = public.noise(numbers[:, None], measured[None, :])
    noise /= np.where(measured < public.m, 1 - SELECTION, 1.0)
    levels = np.rint(_FINE * np.log2(noise) / 2).astype(np.int64)
    told = {level: _told(public, 2.0 ** (level / _FINE), middle, laws[1]) for level in np.unique(levels)}
    real, nulls = _single(k)[:, None], _single(public.m - k)[:, None]
    signal, null = map(_single, laws)
    everything = _single(real * signal + nulls * null)
    q = np.where(measured < public.m, 1.0, 1 / np.maximum(nulls / public.m, 0.1))  # all: as adaptive BH does
    found, p = (np.empty((k.size, _CUTS), dtype=np.float32) for _ in range(2))
    power = np.empty((k.size, measured.size))
    for place, count in enumerate(measured.tolist()):
        selected = signal
        if count < public.m:
            scale = public.pull * math.sqrt(float(effective(count)) / (2 * SELECTION * public.rho))
            selected = signal * _selected(everything, middle, scale, count)
        level = levels[which, place]
        for each in np.unique(level):
            those = level == each
            passes, p[those] = told[each]
            found[those] = _product(selected[those], passes)
        threshold = _single(public.q * q[:, place] / public.m)[:, None]
        enough = p <= threshold * np.maximum(real * found, np.float32(0.5))
        first = found[np.arange(k.size), enough.argmax(axis=1)]
        power[:, place] = np.where(enough.any(axis=1), np.minimum(first, 1), 0.0)
    return power


def _selected(everything: Singles, middle: Floats, scale: float, count: int) -> Singles:
    """Return the chance of each score to be among the `count` largest with Gumbel noise, for each state."""
    at = np.linspace(-_STEEP / 4 * scale, float(middle[-1]) + _STEEP / 4 * scale, _LEVELS)
    many = _product(everything, _beyond(_single((middle[:, None] - at) / scale)))
    # More than `count` are above the one level, and no more above the next: between them by a straight line.
    last = np.clip(np.count_nonzero(many > count, axis=1) - 1, 0, _LEVELS - 2)
    more, fewer = (many[np.arange(len(many)), last + step].astype(np.float64) for step in (0, 1))
    part = np.clip((more - count) / np.maximum(more - fewer, _FLOOR), 0, 1)
    level = at[last] + part * (at[1] - at[0])
    return _beyond(_single(middle / scale) - _single(level / scale)[:, None])


def _beyond(distance: Singles) -> Singles:
    """Return the chance of Gumbel noise to be above -distance, in place of the distances."""
    np.minimum(distance, np.float32(_STEEP), out=distance)
    for step in (np.exp, np.negative, np.expm1, np.negative):
        step(distance, out=distance)
    return distance


def _single(x: Floats) -> Singles:
    return x.astype(np.float32)


def _product(left: RawArray, right: RawArray) -> RawArray:
    """Return the matrix product, some rows at a time.

    The threads of BLAS, which share larger products, wait for one another: on a busy machine far longer than
    the work takes.
    """
    product = np.empty((len(left), right.shape[1]), dtype=left.dtype)
    some = max(1, _SMALL // right.size)
    for row in range(0, len(left), some):
        np.matmul(left[row : row + some], right, out=product[row : row + some])
    return product


def _told(public: Public, deviation: float, middle: Floats, null: Floats) -> tuple[Singles, Singles]:
    """Return for some cutoffs the chance of each score to pass with noise, and that of a null."""
    tail = np.maximum(np.cumsum(null[::-1])[::-1], _FLOOR)
    surest = float(np.interp(-math.log(public.q / public.m), -np.log(tail), middle))
    cut = np.linspace(0.0, surest + 6 * deviation, _CUTS)
    passes = ndtr((middle[:, None] - cut) / deviation)
    return _single(passes), _single(null @ passes)


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """How likely each state is after what was told."""

    states: States
    weight: Floats
    asked: tuple[int, ...] = ()

    @classmethod
    def before(cls, states: States) -> Belief:
        """Return what is believed before anything was told.

        Halfway between every octave of numbers alike and every number alike: neither few signals nor many
        are to be lost.
        """
        weight = np.sqrt(states.signals)
        return cls(states, weight / weight.sum())

    def question(self, deviation: float) -> int:
        """Return the rank whose score, told with this noise, lets the next choice lose least on average."""
        states = self.states
        error = np.sqrt(states.variance + deviation**2)
        lost = np.full(states.ranks.size, np.inf)
        likely = np.flatnonzero(self.weight > _UNLIKELY * self.weight.max())
        weight, loss = self.weight[likely], states.loss[likely]
        for place in np.flatnonzero(~np.isin(states.ranks, self.asked)).tolist():
            mean, spread = states.expected[:, place], error[:, place]
            least, most = float((mean - 3 * spread).min()), float((mean + 3 * spread).max())
            answers = np.linspace(least, most, _ANSWERS)
            mean, spread = mean[likely], spread[likely]
            joint = np.exp(-(((answers[:, None] - mean) / spread) ** 2) / 2) * (weight / spread)
            lost[place] = float(_product(joint, loss).min(axis=1).sum() * (most - least))
        return int(states.ranks[int(np.argmin(lost))])

    def after(self, rank: int, score: float, deviation: float) -> Belief:
        """Return what is believed once the score of a rank was told."""
        place = int(np.searchsorted(self.states.ranks, rank))
        variance = self.states.variance[:, place] + deviation**2
        likely = -((score - self.states.expected[:, place]) ** 2) / variance / 2 - np.log(variance) / 2
        weight = self.weight * np.exp(likely - likely.max()) + _FLOOR
        return replace(self, weight=weight / weight.sum(), asked=(*self.asked, rank))

    @property
    def signals(self) -> int:
        """How many signals there are: half of the weight is on fewer."""
        order = np.argsort(self.states.signals, kind="stable")
        half = int(np.searchsorted(np.cumsum(self.weight[order]), 0.5))
        return int(self.states.signals[order[min(half, order.size - 1)]])

    def best(self, most: int) -> int:
        """Return how many to measure, at most so many."""
        offered = int(np.searchsorted(self.states.measured, most, side="right"))
        return int(self.states.measured[int(np.argmin((self.weight @ self.states.loss)[:offered]))])
