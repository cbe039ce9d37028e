"""Each conversion, next to an exact value it must never undercut, and a wrong twin it must catch."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from exact import hockey_stick, laplace_max, renyi, responses, two_points
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy import curves

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.0, 5.0]
ORDERS = [1.0 + 1e-6, 1.1, 1.5, 2.0, 4.0, 16.0, 100.0]


def above_randomised_response(rho, e):
    """Tell whether rho*a is at least the Renyi divergence of randomised response at every order tried."""
    return all(renyi(*responses([e]), a) <= rho * a * (1 + 1e-9) for a in ORDERS)


@pytest.mark.parametrize("e", EPSILONS)
def test_pure_is_zcdp_exactly(e):
    """eps*tanh(eps/2) covers randomised response, with equality as the order falls to 1."""
    rho = curves.pure_rho(e)
    assert above_randomised_response(rho, e)
    assert renyi(*responses([e]), 1.0 + 1e-6) == pytest.approx(rho, rel=1e-4)


@pytest.mark.parametrize("e", EPSILONS)
def test_pure_with_the_bounded_range_constant_is_caught(e):
    """The twin that charges a pure release eps^2/8 fails the same check."""
    assert not above_randomised_response(curves.range_rho(e), e)


def above_two_points(rho, e):
    """Tell whether rho*a covers every extremal e-bounded-range pair at every order tried."""
    for t in np.linspace(0.0, e, 41)[1:-1]:
        p = two_points(t, e)
        q = p * math.exp(-t)
        laws = np.array([p, 1 - p]), np.array([q, 1 - q])
        if any(renyi(*laws, a) > rho * a * (1 + 1e-9) for a in ORDERS[1:]):
            return False
    return True


@pytest.mark.parametrize("e", EPSILONS[:5])
def test_bounded_range_is_zcdp(e):
    """eps^2/8 covers every two-point bounded-range pair; three quarters of it does not."""
    assert above_two_points(curves.range_rho(e), e)
    assert not above_two_points(0.75 * curves.range_rho(e), e)


def test_laplace_noisy_max_is_pure_and_not_bounded_range():
    """Four equal scores, two moved by w: pure w/b covers it; range w/b, and rho = (w/b)^2/8, do not."""
    w = 0.1
    p, q = laplace_max([w, w, 0.0, 0.0]), laplace_max([0.0] * 4)
    losses = np.log(p / q)
    assert np.ptp(losses) == pytest.approx(7 / 6 * w, rel=1e-2)
    assert np.abs(losses).max() <= w
    divergence = renyi(p, q, 1.0 + 1e-6)
    assert curves.range_rho(w) < divergence <= curves.pure_rho(w)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.0, 20.0), st.floats(1e-6, 20.0))
def test_zcdp_is_the_minimum_over_orders(epsilon, rho):
    """The tight conversion equals a fine search over orders, from above."""
    x = np.exp(np.linspace(math.log(1e-8), math.log(1e8), 40_001))
    log_delta = x * ((1 + x) * rho - epsilon) - x * np.log1p(1 / x) - np.log1p(x)
    best = min(1.0, float(np.exp(min(0.0, log_delta.min()))))
    found = curves.zcdp_delta(epsilon, rho)
    assert found <= best * (1 + 1e-6) + 1e-300
    assert found >= best * (1 - 1e-4)


@settings(max_examples=100, deadline=None)
@given(st.floats(0.0, 20.0), st.floats(1e-3, 6.0))
def test_zcdp_never_undercuts_the_gaussian(epsilon, mu):
    """A Gaussian release is mu^2/2-zCDP, so the conversion may not go below its exact delta."""
    assert curves.zcdp_delta(epsilon, mu * mu / 2) >= curves.gaussian_delta(epsilon, mu) * (1 - 1e-9)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.floats(0.0, 60.0), st.floats(1e-4, 30.0))
def test_gaussian_against_forty_digits(epsilon, mu):
    """The Gaussian curve is above the exact value and within rounding of it."""
    with mpmath.workdps(60):
        eps, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        exact = mpmath.ncdf(m / 2 - eps / m) - mpmath.exp(eps) * mpmath.ncdf(-m / 2 - eps / m)
    found = curves.gaussian_delta(epsilon, mu)
    assert found >= exact
    # exp(-u^2/2) loses u^2 ulps, and the difference of the two terms is a share mu/u of the first.
    u = abs(epsilon / mu) + mu
    assert (
        found <= exact * (1 + 1e-12 * (1 + u) ** 4 / mu) + 1e-13 * (u < 40) * math.exp(-min(u, 1.0)) + 1e-300
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([0.3, 1.1]), min_size=1, max_size=10), st.floats(0.0, 8.0))
def test_pure_composition_is_exact(epsilons, epsilon):
    """One or two different epsilons: the sum equals the enumeration of all 2^n outcomes, from above."""
    exact = hockey_stick(*responses(epsilons), epsilon)
    groups = [(e, epsilons.count(e)) for e in sorted(set(epsilons))]
    found = curves.pure_delta(epsilon, groups)
    assert found >= exact * (1 - 1e-13)
    assert found <= exact * (1 + 1e-10) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("e", "count", "epsilon"), [(0.01, 5000, 2.0), (0.1, 1000, 12.0), (1.0, 300, 200.0)])
def test_many_pure_releases_against_forty_digits(e, count, epsilon):
    """With thousands of rounds the sum still lies above the exact value, by next to nothing."""
    with mpmath.workdps(60):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(e)))
        exact = mpmath.mpf(0)
        for heads in range(count + 1):
            loss = mpmath.mpf(e) * (2 * heads - count)
            if loss > epsilon:
                chance = mpmath.binomial(count, heads) * p**heads * (1 - p) ** (count - heads)
                exact += chance * (1 - mpmath.exp(epsilon - loss))
    found = curves.pure_delta(epsilon, [(e, count)])
    assert exact <= found <= exact * (1 + 1e-7)


def advanced(epsilon, e, n):
    """Advanced composition of n pure releases of e, its drift n*e*tanh(e/2)."""
    return math.exp(-(max(epsilon - n * curves.pure_rho(e), 0.0) ** 2) / (2 * n * e * e))


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 3.0), st.integers(1, 500), st.floats(0.0, 1.0))
def test_advanced_composition_never_beats_zcdp(e, n, share):
    """The tight zCDP conversion is never above advanced composition."""
    epsilon = share * n * e
    rho = n * curves.pure_rho(e)
    assert curves.zcdp_delta(epsilon, rho) <= advanced(epsilon, e, n) * (1 + 1e-9)
