"""The front doors: what they return, what they charge, what they refuse."""

import math

import numpy as np
import pytest

import discreet
from budget import assert_mean_is, must_fail
from discreet.errors import DiscreetError
from discreet.privacy.account import account
from discreet.privacy.events import Approximate, BoundedRange, Pure
from discreet.selection import scales as plans
from discreet.selection.joint.joint import MOST
from discreet.selection.top_k import METHODS
from discreet.selection.values import lattice_for

SCORES = np.array([5200.0, 410.0, 9800.0, 77.0, 8100.0])


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("k", [1, 2, 30, 300])
def test_events_never_cost_more_than_asked(method, delta, values, k):
    """The events of every plan compose, with the library's own accountant, to at most (epsilon, delta)."""
    if method == "joint":
        k = min(k, MOST)
    chosen = discreet.top_k(
        np.arange(400.0) * 1e4, k, sensitivity=1, epsilon=0.8, delta=delta, method=method, values=values
    )
    assert account(chosen.privacy.events, delta=delta) <= 0.8 * (1 + 1e-12)
    assert (chosen.privacy.epsilon, chosen.privacy.delta) == (0.8, delta)
    assert (chosen.values is None) != values
    assert len(chosen) == k


@pytest.mark.slow
@pytest.mark.parametrize(("k", "largest_scale"), [(1, 2.0), (10, 13.1), (100, 42.3), (1000, 134.0)])
def test_reference_scales(k, largest_scale):
    """At epsilon 1, delta 1e-6, sensitivity 1: the scales of the exact recursion, or smaller."""
    plan = plans.gumbel_plan(k, 1.0, 1e-6, 2.0, False)
    assert plan.scale <= largest_scale * (1 + 1e-9)
    assert account(plan.events, delta=1e-6) <= 1.0


def test_less_noise_would_cost_more():
    """Wrong twin of the calibration: 1% less noise does not fit the budget."""
    for k in (10, 100):
        scale = plans.gumbel_plan(k, 1.0, 1e-6, 2.0, False).scale * 0.99
        assert account([BoundedRange(2.0 / scale, k)], delta=1e-6) > 1.0
        scale = plans.peel_plan(k, 1.0, 1e-6, 2.0, 1.0, True).scale * 0.99
        assert account([Pure(2.0 / scale, k), Pure(1.0 / scale, k)], delta=1e-6) > 1.0


def test_noisy_min_uses_three_and_two():
    """Lap(3/eps) with the value, Lap(2/eps) without: the corrected constants of Algorithm 3."""
    with_value = discreet.noisy_min(SCORES, sensitivity=1, epsilon=0.5)
    without = discreet.noisy_min(SCORES, sensitivity=1, epsilon=0.5, release_value=False)
    assert with_value.scale == pytest.approx(6.0)
    assert without.scale == pytest.approx(4.0)
    assert without.value is None
    assert sum(e.epsilon for e in with_value.privacy.events) <= 0.5
    assert with_value.index == without.index == 3
    assert discreet.noisy_min(SCORES, sensitivity=1, epsilon=0.5, spread=1).scale == pytest.approx(4.0)
    assert abs(with_value.value - 77) < 200
    assert "position 3" in str(with_value)


def test_oneshot_takes_the_smaller_proved_scale_and_hides_order_where_it_must():
    """Few items: pure and ordered. Many: the sqrt form, ascending, charged as approximate."""
    few = discreet.top_k(np.arange(50.0), 5, sensitivity=1, epsilon=1, delta=1e-6, method="oneshot")
    assert few.ordered
    assert few.scale == pytest.approx(10.0)
    m, k = 20_000, 5000
    many = discreet.top_k(np.arange(float(m)), k, sensitivity=1, epsilon=0.2, delta=1e-3, method="oneshot")
    assert not many.ordered
    assert many.scale == pytest.approx(8 * math.sqrt(k * math.log(m / 1e-3)) / 0.2)
    assert (np.diff(many.indices) > 0).all()
    assert many.privacy.events == (Approximate(0.2, 1e-3),)
    assert "no particular order" in str(many)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("scores", "k"),
    [
        ([1.0], 1),
        ([3, 3, 3, 3], 4),
        (np.zeros(9), 3),
        ([math.inf, -math.inf, math.nan, 0.0], 2),
        (np.array([2**63 - 1, -(2**63), 5]), 2),
        (np.array([2**64 - 1, 7], dtype=np.uint64), 1),
        (np.array([True, False]), 1),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), 3),
        (np.arange(6, dtype=np.float16), 5),
        ([1e308, -1e308, 5e-324], 2),
    ],
)
def test_unusual_scores(method, scores, k):
    """Ties, k = m, m = 1, infinities, NaN, masked, huge integers and tiny floats all work."""
    for largest in (False, True):
        chosen = discreet.top_k(
            scores, k, sensitivity=1, epsilon=1, method=method, largest=largest, values=True
        )
        assert len(set(chosen.indices.tolist())) == k
        assert np.isfinite(chosen.values).all()


def test_direction_and_missing():
    """Smallest by default, largest on request, and NaN never before a number."""
    few = {"sensitivity": 1e-3, "epsilon": 1, "method": "gumbel"}
    assert discreet.top_k(SCORES, 2, **few).indices.tolist() == [3, 1]
    assert discreet.top_k(SCORES, 2, largest=True, **few).indices.tolist() == [2, 4]
    holes = [math.nan, 5.0, math.nan, 1.0]
    assert discreet.top_k(holes, 2, **few).indices.tolist() == [3, 1]
    assert discreet.top_k(holes, 2, largest=True, **few).indices.tolist() == [1, 3]


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_released_values_have_the_stated_noise(delta):
    """The median of |released - true| is what the stated noise says, and not two thirds of it."""
    x = np.full(3000, 10.0)
    chosen = discreet.top_k(x, 3000, sensitivity=0.5, epsilon=3000, delta=delta, values=True, largest=True)
    median = chosen.value_scale * (math.log(2) if delta == 0 else 0.67449)
    off = np.abs(chosen.values - 10.0)
    assert_mean_is(off <= median, 0.5)
    within = 1 - 2**-1.5 if delta == 0 else math.erf(1.5 * 0.67449 / math.sqrt(2))
    must_fail(assert_mean_is, off <= 1.5 * median, wrong=0.5, truth=within)


def test_lattice_charges_the_rounding():
    """On the lattice one person moves a value by at most `sensitivity` steps, rounding included."""
    rng = np.random.default_rng(0)
    for sensitivity in (1.0, 0.3, 1e-7, 7e9):
        lattice = lattice_for(sensitivity)
        x = rng.normal(size=20_000) * sensitivity * 100
        moved = np.floor((x + sensitivity) / lattice.step) - np.floor(x / lattice.step)
        assert moved.max() <= lattice.sensitivity <= 2**11
        assert lattice.sensitivity * lattice.step <= sensitivity * (1 + 2.0**-9)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"k": 0}, "k"),
        ({"k": 6}, "k"),
        ({"k": 2.5}, "k"),
        ({"k": True}, "k"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"sensitivity": math.nan}, "sensitivity"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": math.inf}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"method": "magic"}, "method"),
        ({"spread": 0.5}, "spread"),
        ({"spread": 3}, "spread"),
        ({"scores": []}, "scores"),
        ({"scores": [[1.0], [2.0]]}, "scores"),
        ({"scores": ["a", "b"]}, "scores"),
        ({"scores": [1.0, None]}, "scores"),
        ({"scores": [1j, 2j]}, "scores"),
        ({"scores": [[1.0], [2.0, 3.0]]}, "scores"),
    ],
)
def test_bad_input_is_refused_by_name(change, names):
    """Every bad argument is a DiscreetError that names it and shows no score."""
    arguments = {"scores": SCORES, "k": 2, "sensitivity": 1, "epsilon": 1} | change
    with pytest.raises(DiscreetError, match=names) as refusal:
        discreet.top_k(arguments.pop("scores"), arguments.pop("k"), **arguments)
    assert "9800" not in str(refusal.value)


def test_result_shows_only_the_release():
    """Neither the record nor its text holds scores that were not released."""
    chosen = discreet.top_k(SCORES, 2, sensitivity=1, epsilon=1, largest=True, method="gumbel")
    assert "9800" not in repr(chosen) + str(chosen)
    with pytest.raises(AttributeError):
        chosen.k = 3
    assert "best first" in str(chosen)
