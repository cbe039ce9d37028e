"""Calibration: the smallest scale that fits, checked, and the reference figures."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.privacy.account import account
from discreet.privacy.calibrate import bounded_range_step, smallest_scale
from discreet.privacy.events import ZCDP, Approximate, BoundedRange, Gaussian, Pure

KINDS = {
    "laplace": lambda s: [Pure(1 / s, 10)],
    "two pure": lambda s: [Pure(1 / s, 5), Pure(2 / s, 7)],
    "gaussian": lambda s: [Gaussian(1 / s, 10)],
    "zcdp": lambda s: [ZCDP(1 / s**2)],
    "peel": lambda s: [BoundedRange(2 / s, 10)],
    "peel with values": lambda s: [BoundedRange(2 / s, 5), Gaussian(1 / s, 5)],
    "with a fixed part": lambda s: [Approximate(0.1, 1e-8), Gaussian(1 / s)],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("start", [1.0, 1e-4, 1e5])
def test_smallest_scale_fits_and_is_smallest(kind, start):
    """The scale returned fits; 0.02% less does not."""
    events_at = KINDS[kind]
    scale = smallest_scale(events_at, epsilon=1.0, delta=1e-6, start=start)
    assert account(events_at(scale), delta=1e-6) <= 1.0
    assert account(events_at(scale * (1 - 2e-4)), delta=1e-6) > 1.0


def test_smallest_scale_at_pure_budget():
    """With delta = 0 ten Laplace releases of sensitivity 1 need the scale 10/epsilon."""
    assert smallest_scale(KINDS["laplace"], epsilon=0.5, delta=0.0) == pytest.approx(20.0, rel=1e-4)


def test_no_scale_fits():
    """A fixed event that overspends is reported, not searched for ever."""
    with pytest.raises(InputError, match="no noise scale"):
        smallest_scale(lambda s: [Pure(2.0), Gaussian(1 / s)], epsilon=1.0, delta=1e-6)
    with pytest.raises(InputError, match="no noise scale"):
        smallest_scale(lambda s: [Gaussian(1 / s)], epsilon=1.0, delta=0.0)


@pytest.mark.slow
@pytest.mark.parametrize(("rounds", "scale"), [(1, 2.0), (10, 13.1), (100, 42.3), (1000, 134.0)])
def test_reference_scales(rounds, scale):
    """Spread 2, epsilon = 1, delta = 1e-6: the scales of the design, or smaller."""
    e = bounded_range_step(1.0, 1e-6, rounds)
    assert 2 / e <= scale
    assert 2 / e >= 0.99 * scale


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(st.floats(0.05, 8.0), st.sampled_from([1e-10, 1e-6, 1e-2]), st.sampled_from([1, 2, 7, 30, 7000]))
def test_step_fits_and_is_largest(epsilon, delta, rounds):
    """The step returned fits; 0.02% more does not."""
    e = bounded_range_step(epsilon, delta, rounds)
    assert account([BoundedRange(e, rounds)], delta=delta) <= epsilon
    assert account([BoundedRange(e * (1 + 2e-4), rounds)], delta=delta) > epsilon


@pytest.mark.parametrize("rounds", [1, 3, 10, 49])
def test_step_at_pure_budget(rounds):
    """With delta = 0 the rounds share epsilon equally and never sum above it."""
    e = bounded_range_step(0.7, 0.0, rounds)
    assert e == pytest.approx(0.7 / rounds, rel=1e-15)
    assert account([BoundedRange(e, rounds)], delta=0.0) <= 0.7


@pytest.mark.parametrize(
    ("epsilon", "delta", "rounds"),
    [(0.0, 1e-6, 1), (-1.0, 1e-6, 1), (math.inf, 1e-6, 1), (1.0, 1.0, 1), (1.0, -1e-9, 1), (1.0, 1e-6, 0)],
)
def test_bad_budgets(epsilon, delta, rounds):
    """A budget is epsilon > 0, delta in [0, 1) and at least one round."""
    with pytest.raises(InputError):
        bounded_range_step(epsilon, delta, rounds)
    if rounds:
        with pytest.raises(InputError):
            smallest_scale(KINDS["gaussian"], epsilon=epsilon, delta=delta)
