"""Never below the figures of an independent accountant, one event at a time.

Its optimistic privacy loss distributions are lower bounds for one mechanism, so for the worst one an event
allows too. Composition is by separate calls: its own count argument under-counts some events.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
import pytest

from discreet.privacy.account import account
from discreet.privacy.events import ZCDP, BoundedRange, Gaussian, Pure

pytest.importorskip("dp_accounting")

from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import rdp_privacy_accountant as rdp

STEP = 1e-3


def composed(one, count):
    """Return `count` copies of a privacy loss distribution, composed one by one."""
    return reduce(lambda a, b: a.compose(b), [one] * count)


def optimistic(make, size, count):
    """Return the optimistic distribution of `count` releases of scale `size`."""
    one = make(size, pessimistic_estimate=False, value_discretization_interval=STEP, use_connect_dots=False)
    return composed(one, count)


@pytest.mark.parametrize(("scale", "count"), [(1.0, 1), (2.0, 5), (10.0, 30)])
def test_laplace(scale, count):
    """Pure events cover Laplace releases."""
    theirs = optimistic(pld.from_laplace_mechanism, scale, count)
    for share in (0.1, 0.4, 0.8):
        epsilon = share * count / scale
        assert account([Pure(1 / scale, count)], epsilon=epsilon) >= theirs.get_delta_for_epsilon(epsilon)


@pytest.mark.parametrize(("sigma", "count"), [(1.0, 1), (3.0, 5), (10.0, 30)])
def test_gaussian(sigma, count):
    """The Gaussian curve is never below their lower figure and next to it."""
    theirs = optimistic(pld.from_gaussian_mechanism, sigma, count)
    for delta in (1e-3, 1e-6):
        low = theirs.get_epsilon_for_delta(delta)
        ours = account([Gaussian(1 / sigma, count)], delta=delta)
        assert low <= ours <= low + 2 * STEP * count


@pytest.mark.parametrize("rho", [0.01, 0.1, 1.0])
def test_zcdp(rho):
    """A zCDP event covers the Gaussian release of that rho, and equals their conversion at its best order."""
    theirs = optimistic(pld.from_gaussian_mechanism, 1 / np.sqrt(2 * rho), 1)
    ours = account([ZCDP(rho)], delta=1e-6)
    assert ours >= theirs.get_epsilon_for_delta(1e-6)
    orders = 1 + np.exp(np.linspace(-3, 6, 4000))
    converted, _ = rdp.compute_epsilon(list(orders), list(rho * orders), 1e-6)
    assert ours == pytest.approx(converted, rel=1e-4)
    assert ours <= converted * (1 + 1e-9)


@pytest.mark.parametrize(("e", "count"), [(0.5, 5), (0.1, 30)])
def test_randomised_response_as_pure(e, count):
    """Pure events cover randomised response, which they describe exactly."""
    keep = 2 / (1 + np.exp(e))
    one = pld.from_randomized_response(
        keep, 2, pessimistic_estimate=False, value_discretization_interval=STEP
    )
    theirs = composed(one, count)
    for share in (0.1, 0.4, 0.8):
        epsilon = share * count * e
        assert account([Pure(e, count)], epsilon=epsilon) >= theirs.get_delta_for_epsilon(epsilon)


@pytest.mark.parametrize(("e", "count"), [(0.5, 5), (0.1, 30)])
def test_bounded_range_two_point_law(e, count):
    """Bounded-range events cover the fixed strategy t = e/2, which is randomised response at e/2."""
    keep = 2 / (1 + np.exp(e / 2))
    one = pld.from_randomized_response(
        keep, 2, pessimistic_estimate=False, value_discretization_interval=STEP
    )
    theirs = composed(one, count)
    for share in (0.1, 0.3):
        epsilon = share * count * e
        assert account([BoundedRange(e, count)], epsilon=epsilon) >= theirs.get_delta_for_epsilon(epsilon)
