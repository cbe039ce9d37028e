"""One function for each way to bound delta at a given epsilon, rounded up, and how a bound is searched.

Statements, proofs and citations: docs/proofs/accounting; for rounds of bounded range as Gaussian releases,
docs/proofs/rounds.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

MOST_TERMS = 1_000_000
"""The largest number of outcomes that `pure_delta` sums over."""

# Beyond these a bound answers 1 (or the smallest float), which is safe, instead of overflowing.
_HUGE = 1e100
_FAR = 50.0
# A few units in the last place, relative: what a short chain of correctly coded float operations may lose.
_ULPS = 1e-14
# A bracket narrower than this is closed, whatever the tolerance: the answer may be 0.
_NARROWEST = 1e-300
INSIDE = 1 - 2e-6
"""Aim this far inside epsilon, so that a check by `account`, with its own rounding, passes."""
_TOLERANCE = 1e-4
_DOUBLINGS = 200


def pure_rho(epsilon: float) -> float:
    """Return the smallest rho such that every epsilon-DP release is rho-zCDP: epsilon*tanh(epsilon/2)."""
    return epsilon * math.tanh(epsilon / 2)


def range_rho(epsilon: float) -> float:
    """Return rho = epsilon^2/8 of an epsilon-bounded-range release, or as it is pure if that is less."""
    return min(epsilon * epsilon / 8, pure_rho(epsilon))


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Return min over a > 1 of exp((a-1)(a*rho - epsilon)) (1 - 1/a)^a / (a-1): delta of a rho-zCDP release.

    The logarithm is convex in a; with x = a - 1 its slope is (2x+1)*rho - epsilon + log(x/(1+x)). Every a
    gives a valid delta, so stopping short of the minimum is safe.
    """
    if rho == 0.0:
        return 0.0
    if rho > _HUGE:
        return 1.0
    epsilon = min(epsilon, _HUGE)
    low, high = 1e-9, 1.0
    while (2 * high + 1) * rho - epsilon - math.log1p(1 / high) < 0 and high < 1e150:
        low, high = high, 2 * high
    for _ in range(50):
        x = (low + high) / 2
        if (2 * x + 1) * rho - epsilon - math.log1p(1 / x) < 0:
            low = x
        else:
            high = x
    x = high
    terms = (x * (x + 1) * rho, -x * epsilon, -x * math.log1p(1 / x), -math.log1p(x))
    exponent = math.fsum(terms) + _ULPS * (1 + math.fsum(map(abs, terms)))
    return 1.0 if exponent >= 0 else max(math.exp(exponent), math.ulp(0.0))


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), exact for Gaussian releases.

    With u, v = epsilon/mu -+ mu/2 and v^2 = u^2 + 2*epsilon, both terms share the factor exp(-u^2/2).
    """
    if mu == 0.0:
        return 0.0
    if mu > _HUGE:
        return 1.0
    u, v = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if u > _FAR:
        return math.ulp(0.0)
    common = math.exp(-u * u / 2) / 2
    head = float(scipy.special.ndtr(-u)) if u < 0 else common * float(scipy.special.erfcx(u / math.sqrt(2)))
    tail = common * float(scipy.special.erfcx(v / math.sqrt(2)))
    # exp loses u^2 ulps; u and v lose v ulps, and delta moves by at most 3*common for each unit of them.
    lost = _ULPS * ((1 + u * u) * head + (1 + v) * common)
    return min(1.0, head - tail + lost + math.ulp(0.0))


def pure_delta(epsilon: float, groups: list[tuple[float, int]]) -> float:
    """Return delta of pure releases, `count` at each eps of `groups` (one or two of them), exactly.

    E (1 - e^(epsilon - L))_+ where L is the loss of a product of randomised responses: the sum over groups of
    eps*(2*Binomial(count, e^eps/(1+e^eps)) - count).
    """
    if any(eps * count > _HUGE for eps, count in groups):
        return 1.0
    loss, log_p, lost = np.zeros(1), np.zeros(1), 0.0
    for eps, count in groups:
        heads = np.arange(count + 1, dtype=np.float64)
        choose = (
            scipy.special.gammaln(count + 1.0)
            - scipy.special.gammaln(heads + 1)
            - scipy.special.gammaln(count - heads + 1)
        )
        # log P(heads) = -log(1 + e^-eps), log P(tails) = that - eps.
        log_each = choose - count * math.log1p(math.exp(-eps)) - (count - heads) * eps
        loss = np.add.outer(loss, eps * (2 * heads - count)).ravel()
        log_p = np.add.outer(log_p, log_each).ravel()
        lost += 4 * float(scipy.special.gammaln(count + 1.0)) + 2 * count * (eps + 1)
    slack = _ULPS * (1 + lost)
    short = np.minimum(epsilon * (1 - _ULPS) - loss - slack, 0.0)
    total = float(np.sum(np.exp(log_p) * -np.expm1(short)))
    return min(1.0, total * (1 + slack + _ULPS * loss.size**0.5) + math.ulp(0.0))


# c_1, c_2, ..., c_128 of docs/proofs/rounds, rounded up; `discreet.lab.walks` computes them.
# fmt: off
CONSTANTS = np.array((
    1.25342, 1.11724, 1.08551, 1.06744, 1.05588, 1.04886, 1.04253, 1.03855, 1.03461, 1.03199, 1.02934,
    1.02746, 1.02557, 1.02413, 1.02272, 1.02157, 1.02048, 1.01954, 1.01866, 1.01789, 1.01716, 1.01651,
    1.01590, 1.01534, 1.01482, 1.01434, 1.01389, 1.01347, 1.01308, 1.01271, 1.01236, 1.01203, 1.01172,
    1.01143, 1.01115, 1.01089, 1.01064, 1.01040, 1.01017, 1.00996, 1.00975, 1.00955, 1.00936, 1.00918,
    1.00901, 1.00884, 1.00868, 1.00853, 1.00838, 1.00824, 1.00810, 1.00797, 1.00784, 1.00771, 1.00759,
    1.00748, 1.00737, 1.00726, 1.00715, 1.00705, 1.00695, 1.00686, 1.00676, 1.00667, 1.00659, 1.00650,
    1.00642, 1.00634, 1.00626, 1.00618, 1.00611, 1.00603, 1.00596, 1.00589, 1.00583, 1.00576, 1.00570,
    1.00564, 1.00557, 1.00551, 1.00546, 1.00540, 1.00534, 1.00529, 1.00524, 1.00518, 1.00513, 1.00508,
    1.00503, 1.00499, 1.00494, 1.00489, 1.00485, 1.00480, 1.00476, 1.00472, 1.00468, 1.00464, 1.00460,
    1.00456, 1.00452, 1.00448, 1.00444, 1.00441, 1.00437, 1.00434, 1.00430, 1.00427, 1.00423, 1.00420,
    1.00417, 1.00414, 1.00410, 1.00407, 1.00404, 1.00401, 1.00398, 1.00396, 1.00393, 1.00390, 1.00387,
    1.00384, 1.00382, 1.00379, 1.00377, 1.00374, 1.00372, 1.00369,
))
# fmt: on
_MOST_ROUNDS = 1 << 62
_EFFECTIVE = np.arange(CONSTANTS.size + 1) * np.append(0.0, CONSTANTS) ** 2 * (1 + 1e-12)


def effective(rounds: ArrayLike) -> NDArray[np.float64]:
    """Return, for each number k of rounds, v such that k e-bounded-range rounds are (e/2)*sqrt(v)-Gaussian.

    More than 128 rounds come in blocks of 128, which add up.
    """
    blocks, rest = np.divmod(np.asarray(rounds, dtype=np.int64), CONSTANTS.size)
    return blocks * _EFFECTIVE[-1] + _EFFECTIVE[rest]


def squared(rounds: Iterable[tuple[float, int]]) -> float:
    """Return the square of the mu of rounds (range, how many), in any order: each count with its range.

    They count all as large as the largest, or each by itself, whichever is less.
    """
    costly = [(e, count) for e, count in rounds if e > 0]
    if not costly:
        return 0.0
    each = math.fsum(e * e / 4 * count for e, count in costly) * float(effective(1))
    widest, total = max(e for e, _ in costly), sum(count for _, count in costly)
    return min(each, widest * widest / 4 * float(effective(total))) if total < _MOST_ROUNDS else each


@lru_cache(maxsize=256)
def gaussian_budget(epsilon: float, delta: float) -> float:
    """Return half of mu^2 for the largest mu, rounded down, with Gaussian(mu) in (epsilon, delta).

    mu is rounded down by 0.01% at most. Shares of the result add up: parts rho_1 + rho_2 = rho are Gaussian
    releases with mu_i = sqrt(2 rho_i).
    """
    inside = epsilon * INSIDE

    def excess(inverse: float) -> float:
        return log_excess(gaussian_delta(inside, (1 + _ULPS) / inverse), delta)

    low, high = 3.5, 7.0  # 1/mu at epsilon and delta as people take them
    for _ in range(_DOUBLINGS):
        if excess(high) <= 0:
            break
        low, high = high, 2 * high
    else:
        raise InputError("no Gaussian noise meets this epsilon and delta: raise them")
    for _ in range(_DOUBLINGS):
        if excess(low) > 0:
            break
        low, high = low / 2, low
    inverse = smallest(excess, low, high, _TOLERANCE)
    return 0.5 / (inverse * inverse)


def smallest(excess: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return x in [low, high] with excess(x) <= 0, within relative `tolerance` of the smallest such x.

    `excess` is nonincreasing and excess(high) <= 0, which the caller has checked; the value returned has been
    tried too, so it fits whatever the shape of `excess`.
    """
    above = excess(low)
    if above <= 0:
        return low
    below = excess(high)
    slow = side = 0
    while (gap := high - low) > (step := max(tolerance * high, _NARROWEST)):
        if slow < 3 and math.isfinite(above) and math.isfinite(below) and below < 0:
            x = low + gap * above / (above - below)
        else:
            x, slow = low + gap / 2, 0
        # Half a tolerance inside both ends, so that a hit on one side closes the bracket from the other.
        x = min(max(x, low + step / 2), high - step / 2)
        value = excess(x)
        # The Illinois rule: an end that stays twice counts half, or it would stay for ever.
        if value > 0:
            low, above, below = x, value, below / 2 if side > 0 else below
            side = 1
        else:
            high, below, above = x, value, above / 2 if side < 0 else above
            side = -1
        slow = slow + 1 if high - low > gap / 2 else 0
    return high


def log_excess(value: float, target: float) -> float:
    """Return log(value/target), made to have the sign of value - target whatever the rounding; target > 0."""
    if value <= 0:
        return -math.inf
    difference = math.log(value) - math.log(target)
    return max(difference, math.ulp(0.0)) if value > target else min(difference, 0.0)
