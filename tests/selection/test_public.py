"""Public numbers: refused before any noise is drawn, recorded to the safe side."""

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.noise import entropy
from discreet.selection import scales as plans
from discreet.selection.top_k import METHODS

BUDGETS = [(e, s, k) for e in (0.1, 0.7, 1.0, 3.3) for s in (1.0, 0.3, 1e-7, 3.1) for k in (1, 3, 7, 49)]


@pytest.fixture
def _no_noise(monkeypatch):
    """Make any draw an error."""

    def refuse(*_):
        raise RuntimeError("noise was drawn")

    monkeypatch.setattr(entropy, "words", refuse)


@pytest.mark.usefixtures("_no_noise")
@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"sensitivity": 5e-324}, "sensitivity"),
        ({"sensitivity": 1e308}, "sensitivity"),
        ({"sensitivity": 2.0**890, "epsilon": 2.0**-30}, "sensitivity and epsilon"),
        ({"sensitivity": 2.0**-890, "epsilon": 2.0**30}, "sensitivity and epsilon"),
        ({"epsilon": 5e-324}, "epsilon"),
        ({"epsilon": 1e300}, "epsilon"),
        ({"epsilon": 1e-16, "values": True}, "epsilon"),
        ({"epsilon": 1e-12, "values": True, "delta": 1e-100}, "epsilon"),
        ({"epsilon": 1e16, "values": True}, "epsilon"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_public_numbers_are_refused_before_anything_is_drawn(method, change, names):
    """A sensitivity, epsilon or scale that cannot be worked with is an InputError, and no noise was used."""
    arguments = {"sensitivity": 1.0, "epsilon": 1.0} | change
    with pytest.raises(InputError, match=names):
        discreet.top_k(np.arange(5.0), 2, method=method, **arguments)
    release = arguments.pop("values", False)
    arguments.pop("delta", None)
    with pytest.raises(InputError, match=names):
        discreet.noisy_min(np.arange(5.0), release_value=release, **arguments)


@pytest.mark.usefixtures("_no_noise")
def test_a_scale_whose_range_overflows_is_refused():
    """Before this was refused, an infinite score lost to finite ones: the sieve's threshold overflowed."""
    x = np.full(5000, np.finfo(float).max)
    x[7] = np.inf
    with pytest.raises(InputError, match="sensitivity"):
        discreet.top_k(x, 1, sensitivity=5e299, epsilon=1, largest=True)


def check_events(events, parts, scale, epsilon):
    """Check that each event covers part/scale exactly, and that their exact sum is within epsilon."""
    for event, part in zip(events, parts, strict=True):
        assert Fraction(event.epsilon) * Fraction(scale) >= Fraction(part)
    assert sum(Fraction(e.epsilon) * e.count for e in events) <= Fraction(epsilon)


@pytest.mark.parametrize(("epsilon", "sensitivity", "k"), BUDGETS)
def test_events_cover_the_exact_cost_and_stay_within_the_budget(epsilon, sensitivity, k):
    """In exact arithmetic, no event is an ulp too small and no sum an ulp too large."""
    width = 2 * sensitivity
    for values in (False, True):
        parts = (width, sensitivity) if values else (width,)
        peel = plans.peel_plan(k, epsilon, 0.0, width, sensitivity, values)
        check_events(peel.events, parts, peel.scale, epsilon)
        assert not values or peel.value_epsilon == peel.events[1].epsilon
        oneshot = plans.oneshot_plan(k, epsilon, 0.0, width, sensitivity, values, 100)
        check_events(oneshot.events[:1], (width,), oneshot.scale, epsilon)
        assert sum(Fraction(e.epsilon) * e.count for e in oneshot.events) <= Fraction(epsilon)
        assert not values or oneshot.value_epsilon == oneshot.events[1].epsilon
        gumbel = plans.gumbel_plan(k, epsilon, 0.0, width, values)
        check_events(gumbel.events[:1], (width,), gumbel.scale, epsilon)
        found = discreet.noisy_min([0.0], sensitivity=sensitivity, epsilon=epsilon, release_value=values)
        check_events(found.privacy.events, parts, found.scale, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("values", [False, True])
def test_delta_never_costs_noise(k, values):
    """A positive delta is never worse than none."""
    for epsilon in (0.1, 1.0, 5.0):
        pure = plans.gumbel_plan(k, epsilon, 0.0, 2.0, values).scale
        assert plans.gumbel_plan(k, epsilon, 1e-9, 2.0, values).scale <= pure
        assert plans.peel_plan(k, epsilon, 1e-9, 2.0, 1.0, values).scale <= plans.peel_plan(
            k, epsilon, 0.0, 2.0, 1.0, values
        ).scale * (1 + 1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_no_evidence_is_released_at_the_worse_end(delta):
    """A chosen NaN is released with the worst value of the direction asked for, not the best."""
    arguments = {"sensitivity": 1, "epsilon": 50, "delta": delta, "values": True}
    holes = np.full(20, math.nan)
    smallest = discreet.top_k(holes, 20, **arguments)
    largest = discreet.top_k(holes, 20, largest=True, **arguments)
    assert (smallest.values > 2.0**39).all()
    assert (largest.values < -(2.0**39)).all()
    found = discreet.noisy_min([math.nan], sensitivity=1, epsilon=1)
    assert found.value > 2.0**39
    assert found.value_scale == pytest.approx(3.0, rel=2e-3)
