"""Upper bounds on the tail of a standardised statistic that hold for every n, not only in the limit.

Most rest on Markov's inequality for (X - h)_+^power: for every h < t,

    P(X >= t) <= E (X - h)_+^power / (t - h)^power <= E (Y - h)_+^power / (t - h)^power

when Y dominates X for these functions. Any h gives a valid bound; the best of a few is taken. The price is at
most a factor e (power 1), e^2/2 (power 2) or 2e^3/9 (power 3) against Y's own tail. Sums of many small
independent terms are nearly normal under an exponential tilt, too: that costs a few per cent where there are
enough of them. See docs/proofs/tails.md.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Survival = Callable[[NDArray[np.float64]], NDArray[np.float64]]
    from collections.abc import Iterable

# Distances t - h to try, in units of 1/t: the best is the local decay length of the tail.
_DISTANCES = np.array([0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6, 8.0, 11.0])
# Standard deviations, as shares of the one divided by, between which the normal approximation is bounded.
_DEVIATIONS = (*(0.9**k for k in range(20)), 0.0)
_BERRY_ESSEEN = 0.56  # for terms that differ: Shevtsova 2010
_SIGNS = 0.25 / float(
    np.asarray(scipy.special.ndtr(-np.sqrt(2.0)), dtype=np.float64)
)  # 3.18; no smaller will do
_SPANS = 4.0  # of values in [0, 1] divided by the largest deviation there is
_STEEPEST = 30.0  # a tilt beyond which nothing is gained
_OUTWARD = 1.0 + 1e-5  # covers the rounding of log-gamma in the mass functions


def normal(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normal tail: an approximation, not a bound, except for statistics proved lighter."""
    return scipy.special.ndtr(-t)


def normal_cubed(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the power-3 bound with Y standard normal: for sums of weighted fair signs and of uniforms."""
    best = np.ones_like(t)
    for distance in _DISTANCES:
        h = t - distance / np.maximum(t, 0.5)
        density = np.exp(-0.5 * h * h) / np.sqrt(2 * np.pi)
        beyond = np.asarray(scipy.special.ndtr(-h), dtype=np.float64)
        moment = (h * h + 2) * density - h * (h * h + 3) * beyond  # E (Y - h)_+^3
        best = np.minimum(best, np.maximum(moment, 0.0) / (t - h) ** 3)
    return np.minimum(best * _OUTWARD, 1.0)


def bernoulli_sum(n: int, rate: float, top: float) -> Survival:
    """Bound the tail of a standardised sum of n independent [0, 1] variables with mean at most `rate`.

    The least of three: power 1 with Y binomial(n, rate), the largest such sum in convex order (Hoeffding
    1956, 1963; Bentkus 2004); the tilted bound with Y's exponential moments; near the middle Berry and
    Esseen's.
    """
    step = float(1.0 / np.sqrt(n * rate * (1 - rate)))

    def log_moment(s: NDArray[np.float64]) -> NDArray[np.float64]:
        return n * (np.logaddexp(np.log1p(-rate), np.log(rate) + s * step) - rate * s * step)

    once = _lattice_bound(_binomial(n, rate), n, n * rate, step, top, 1)
    spans = 1 / (rate * (1 - rate))
    middle = partial(near_normal, step, spans=spans)
    return least(once, tilted_sum(step, log_moment, spans=spans), middle)


def bounded_sum(n: int, bound: float, top: float, *, both: bool = False, light: bool = False) -> Survival:
    """Bound the tail of a sum of n independent mean-zero terms, each at most `bound`, total variance 1.

    Power 2 with Y the sum of n equal two-point variables: `bound` or -1/(n*bound) (Bentkus 2004, Theorem
    1.1). `both`: no term is below -bound either; the tilted bound may be smaller, and near the middle Berry
    and Esseen's. `light`: terms lie in intervals no longer than `bound`, whose squared lengths add up to at
    most 4; so E exp(sX) is at most exp(s^2/2), too.
    """
    variance = 1.0 / n
    rate = variance / (variance + bound * bound)
    step = bound + variance / bound
    squares = _lattice_bound(_binomial(n, rate), n, n * rate, step, top, 2)
    if not both:
        return squares
    if not light:
        return least(squares, tilted_sum(bound), partial(near_normal, bound))
    middle = partial(near_normal, bound, spans=_SPANS)
    return least(squares, tilted_sum(bound, _half_square, spans=_SPANS), middle)


def signs(bound: float) -> Survival:
    """Bound the tail of a sum of weighted fair signs: no weight above `bound`, squares add up to at most 1.

    The least of three: a multiple of the normal tail (Bentkus and Dzindzalieta 2015), the tilted
    bound, and near the middle Berry and Esseen's.
    """

    def multiple(t: NDArray[np.float64]) -> NDArray[np.float64]:
        return _SIGNS * _OUTWARD * np.asarray(scipy.special.ndtr(-t), dtype=np.float64)

    return least(multiple, tilted_sum(bound, fair=True), partial(near_normal, bound))


def any_bounded_sum(bound: float, top: float) -> Survival:
    """As `bounded_sum`, for any number of terms: Y is bound*(K - mean), K Poisson with mean 1/bound^2."""
    mean = 1.0 / (bound * bound)

    def log_mass(k: NDArray[np.float64]) -> NDArray[np.float64]:
        return scipy.special.xlogy(k, mean) - mean - scipy.special.gammaln(k + 1)

    return _lattice_bound(log_mass, None, mean, bound, top, 2)


def skewed_sum(bound: float, skew: float, top: float) -> Survival:
    """Bound the tail of a sum of independent mean-zero terms, each within +-bound, of variance at most 1.

    Their third moments add up to at most skew * bound, 0 <= skew <= 1. The least of four bounds: power 3 with
    Y = bound * (K - L - mean), K and L Poisson of means (1 + skew)/(2 bound^2) and (1 - skew)/(2 bound^2);
    the tilted one; `any_bounded_sum`; and near the middle Berry and Esseen's.
    """
    rise, fall = ((1 + by) / (2 * bound * bound) for by in (skew, -min(skew, 1 - 1e-9)))

    def log_mass(k: NDArray[np.float64]) -> NDArray[np.float64]:
        place = k.astype(np.int64)
        up = _log_ratios(rise, fall, max(int(place[-1]), 0))
        down = _log_ratios(fall, rise, max(-int(place[0]), 0))
        mass = np.where(place >= 0, up[np.maximum(place, 0)], down[np.maximum(-place, 0)])
        high = float(mass.max())
        return mass - high - np.log(np.sum(np.exp(mass - high)))

    cubes = _lattice_bound(log_mass, None, rise - fall, bound, top, 3, fewest=None)

    return least(
        cubes, tilted_sum(bound, skew=skew), any_bounded_sum(bound, top), partial(near_normal, bound)
    )


def _log_ratios(rise: float, fall: float, most: int) -> NDArray[np.float64]:
    """Return log P(K - L = k)/P(K - L = 0) for k = 0..most, K and L Poisson with means `rise` and `fall`.

    From rise f(k - 1) = k f(k) + fall f(k + 1), downwards: nothing cancels, nothing underflows.
    """
    start = most + 200 + int(np.sqrt(rise + fall))
    ratio = (start + 1 + np.sqrt((start + 1.0) ** 2 + 4 * rise * fall)) / (2 * rise)
    falls = np.zeros(most + 1)
    for k in range(start, 0, -1):
        ratio = (k + fall / ratio) / rise
        if k <= most:
            falls[k] = ratio
    falls[1:] = -np.log(falls[1:])
    return np.cumsum(falls)


def least(*bounds: Survival) -> Survival:
    """Return the least of several bounds."""
    return lambda t: np.min([bound(t) for bound in bounds], axis=0)


def _half_square(s: NDArray[np.float64]) -> NDArray[np.float64]:
    return 0.5 * s * s


def tilted_sum(
    bound: float,
    log_moment: Survival | None = None,
    *,
    skew: float | None = None,
    spans: float | None = None,
    fair: bool = False,
) -> Survival:
    """Bound the tail of a sum of independent mean-zero terms, each within +-bound, of variance v at most 1.

    For every s > 0: exp(log E exp(sX) - st) times the mean of exp(-s(X - t)) over X >= t under the law tilted
    by s, which Berry and Esseen's theorem bounds; at the v where that is largest. log E exp(sX) is at most
    v (exp(s bound) - 1 - s bound)/bound^2, and at most `log_moment`(s), if given. `skew`: third moments add
    up to at most skew * bound. `spans`: each term lies in an interval no longer than `bound`, and the squares
    of these lengths add up to at most `spans`. `fair`: terms are weighted fair signs.
    """

    def survival(t: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.ones_like(t)
        for tilt in (t * bound, np.log1p(t * bound)):
            shift = np.clip(tilt, 1e-9, _STEEPEST)
            s = shift / bound
            rate = (np.expm1(shift) - shift) / (bound * bound) if not fair else _half_square(s)
            most = np.inf if log_moment is None else log_moment(s)
            even = rate if skew is None else (np.cosh(shift) - 1) / (bound * bound)
            odd = 0.0 if skew is None else skew * (rate - even)
            kept, third = _tilted_terms(shift, whole=spans is not None, fair=fair)
            density = 1 / np.sqrt(2 * np.pi * kept) / s
            share = density + 2 * _BERRY_ESSEEN * bound * third / np.sqrt(kept)
            # Of an interval the third moment is at most an eighth of its length cubed, whatever the variance.
            length = np.inf if spans is None else spans / 8 / kept
            worst = np.zeros_like(t)
            kink = skew if skew is not None else np.minimum(most / rate, 1.0)
            for number, end in enumerate((0.0, kink, length, 1.0)):
                v = np.clip(end, np.minimum(share * share, 1.0), 1.0)
                exponent = np.minimum(np.minimum(rate * v, even * v + odd), most) - s * t
                factor = share / np.sqrt(v)
                if number:
                    less = np.minimum(1.0, length / v)
                    factor = (density + (share - density) * less) / np.sqrt(v)
                tail = np.exp(np.minimum(exponent, 0.0)) * np.minimum(1.0, factor)
                worst = np.maximum(worst, np.where(exponent < 0, tail, 1.0))
            best = np.minimum(best, worst)
        return np.minimum(best * _OUTWARD, 1.0)

    return survival


def _tilted_terms(
    shift: NDArray[np.float64], *, whole: bool, fair: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64] | float]:
    """Return what a tilt leaves of the variance, at least; and third moments over it, in bounds, at most."""
    if fair:
        return 1 / np.cosh(shift) ** 2, 1 + np.tanh(shift) ** 2
    if whole:
        return np.exp(-shift), 1.0
    return np.exp(-shift) / np.cosh(shift), np.minimum(1 + shift, 2.0)


def near_normal(bound: float, t: NDArray[np.float64], spans: float = np.inf) -> NDArray[np.float64]:
    """Return the largest of Phi_bar(t/s) + 0.56 bound/s over deviations s <= 1, or Cantelli's bound there.

    `spans` as in `tilted_sum`.
    """
    worst = np.zeros_like(t)
    for large, small in pairwise(_DEVIATIONS):
        cantelli = 1 / (1 + (t / large) ** 2)
        normal_too = 1.0
        if small > 0:
            third = bound / small * min(1.0, spans / 8 / small**2)
            normal_too = scipy.special.ndtr(-t / large) + _BERRY_ESSEEN * third
        worst = np.maximum(worst, np.minimum(cantelli, normal_too))
    return worst


def _binomial(n: int, rate: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def log_mass(k: NDArray[np.float64]) -> NDArray[np.float64]:
        return log_choose(n, k) + scipy.special.xlogy(k, rate) + scipy.special.xlog1py(n - k, -rate)

    return log_mass


def _lattice_bound(
    log_mass: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    most: int | None,
    mean: float,
    step: float,
    top: float,
    power: int,
    *,
    fewest: int | None = 0,
) -> Survival:
    """Return the bound from Y = step * (K - mean), K at least `fewest`, for 0 < t <= top."""
    low = int(np.floor(mean - 12.0 / step))
    if fewest is not None:
        low = max(fewest, low)
    # Far enough that what lies beyond weighs less than 1e-20 of what is kept.
    high = int(np.ceil(mean + top / step + 60.0 / np.log1p(step * top))) + 60
    if most is not None:
        high = min(high, most)
    k = np.arange(low, high + 1, dtype=np.float64)
    mass = np.exp(log_mass(k))
    atoms = step * (k - mean)
    above = _from_the_right(mass) - mass  # P(Y > atom)
    moment = step * _from_the_right(above)  # E (Y - atom)_+
    if power >= 2:
        first = np.append(moment[1:], 0.0)
        moment = _from_the_right(2 * step * first + step**2 * above)
        if power == 3:
            second = np.append(moment[1:], 0.0)
            moment = _from_the_right(3 * step * second + 3 * step**2 * first + step**3 * above)

    def survival(t: NDArray[np.float64]) -> NDArray[np.float64]:
        best = np.ones_like(t)
        for distance in _DISTANCES:
            at = np.floor((t - distance / np.maximum(t, 0.5)) / step + mean).astype(np.int64) - low
            for shift in (-1, 0):
                place = np.clip(at + shift, 0, atoms.size - 1)
                gap = t - atoms[place]
                usable = gap > 0
                bound = moment[place] / np.where(usable, gap, 1.0) ** power
                best = np.minimum(best, np.where(usable, bound, 1.0))
        return np.minimum(best * _OUTWARD, 1.0)

    return survival


def _from_the_right(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.cumsum(x[::-1])[::-1]


def log_choose(n: float, k: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log of n over k."""
    return scipy.special.gammaln(n + 1) - scipy.special.gammaln(k + 1) - scipy.special.gammaln(n - k + 1)


def hypergeometric_tail(own: int, other: int, numbers_of_yes: Iterable[int], clip: float) -> Survival:
    """Return t -> the largest P(z >= t) over some numbers of yes, for 0 < t <= clip.

    z is how many yes are in the group of `own`, beside `other` people, standardised. For each number of yes
    the exact tail is a step function of t; the chords through its upper corners lie above it.
    """
    people = own + other
    tried = [_corners(own, other, yes, clip) for yes in numbers_of_yes if 0 < yes < people]

    def largest(t: NDArray[np.float64]) -> NDArray[np.float64]:
        log_p = np.full(t.shape, -np.inf)
        for z, log_tail in tried:
            # Left of the first corner the tail is at most 1, right of the last it is 0.
            log_p = np.maximum(log_p, np.interp(t, z, log_tail, left=0.0, right=-np.inf))
        return np.minimum(np.exp(log_p) * _OUTWARD, 1.0)

    return largest


def _corners(own: int, other: int, yes: int, clip: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners (z_T, log P(T or more)) of one tail, from just under 0 to past the clip."""
    people = own + other
    centre = own / people * yes
    deviation = float(np.sqrt(own * other / people**2 * yes * (people - yes) / (people - 1)))
    low = max(0, yes - other, int(np.floor(centre)) - 1)
    # The mass beyond falls at least as fast as at the clip: what is left out is below 1e-20 of the last.
    reach = clip * deviation + 60 * (1 + deviation / clip)
    high = min(own, yes, int(np.ceil(centre + reach)))
    count = np.arange(low, high + 1, dtype=np.float64)
    mass = np.exp(
        log_choose(float(own), count)
        + log_choose(float(other), yes - count)
        - log_choose(float(people), np.array(float(yes)))
    )
    tail = np.cumsum(mass[::-1])[::-1]
    kept = tail > 0
    return (count[kept] - centre) / deviation, np.log(np.minimum(tail[kept], 1.0))
