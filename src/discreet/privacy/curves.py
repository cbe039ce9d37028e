"""One function for each way to bound delta at a given epsilon; every rounding is outward (upward).

Statements, proofs and citations: docs/proofs/accounting.
"""

from __future__ import annotations

import math

import numpy as np
import scipy

MOST_TERMS = 1_000_000
"""The largest number of outcomes that `pure_delta` sums over."""

# Beyond these a bound answers 1 (or the smallest float), which is safe, instead of overflowing.
_HUGE = 1e100
_FAR = 50.0
# A few units in the last place, relative: what a short chain of correctly coded float operations may lose.
_ULPS = 1e-14


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
