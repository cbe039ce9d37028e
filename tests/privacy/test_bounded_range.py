"""The recursion: above every attained value, close to it, and safe for any grid and window."""

from __future__ import annotations

import math

import numpy as np
import pytest
from exact import attained, hockey_stick, one_round, peeled
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.privacy import bounded_range
from discreet.privacy.bounded_range import composed_delta
from discreet.privacy.curves import range_rho, zcdp_delta

# e, rounds, epsilon, and the grid of the attained value.
CASES = [
    (1.0, 2, 0.0, 400),
    (1.0, 2, 0.7, 400),
    (0.3, 2, 0.4, 400),
    (0.1, 3, 0.15, 200),
    (2.0, 4, 3.0, 100),
    (0.5, 10, 2.0, 60),
    (0.1, 20, 1.0, 40),
    (0.15, 10, 1.0, 60),
    (0.07, 40, 1.2, 24),
    (0.047, 100, 1.0, 30),
    (6.0, 5, 9.0, 60),
]


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-3, 20.0), st.floats(-1.5, 1.5))
def test_one_round_is_exact(e, share):
    """The closed form for one round equals a search over t."""
    epsilon = share * e
    exact = one_round(epsilon, e)
    found = float(bounded_range.one_round(np.array(epsilon), e))
    assert exact * (1 - 1e-9) - 1e-15 <= found <= exact * (1 + 1e-5) + 1e-9


def covers(delta_of):
    """Tell whether delta_of(epsilon, e, rounds) is above every attained value of CASES."""
    return all(delta_of(eps, e, k) >= attained(eps, e, k, n) * (1 - 1e-12) for e, k, eps, n in CASES)


@pytest.mark.parametrize(("e", "rounds", "epsilon", "n"), CASES)
def test_close_to_attained(e, rounds, epsilon, n):
    """The recursion lies above what a real strategy reaches, by less than 0.3% of the noise scale."""
    low = attained(epsilon, e, rounds, n)
    assert composed_delta(epsilon, e / 1.003, rounds) <= low <= composed_delta(epsilon, e, rounds)


def test_wrong_twins_are_caught():
    """Half the range, one round too few, a frozen strategy and a sum for a supremum are all flagged."""
    assert covers(composed_delta)
    assert not covers(lambda eps, e, k: composed_delta(eps, e / 2, k))
    assert not covers(lambda eps, e, k: composed_delta(eps, e, k - 1))
    assert not covers(lambda eps, e, k: attained(eps, e, k, 2))
    assert not covers(lambda eps, e, k: 0.98 * composed_delta(eps, e, k))


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(CASES[:6]))
def test_any_window_and_any_cells_are_safe(seed, case):
    """Windows and cells chosen at random only ever raise the answer."""
    rng = np.random.default_rng(seed)
    e, rounds, epsilon, n = case
    half = int(rng.integers(2, 12))
    inner = np.flatnonzero(rng.random(2 * half + 1) < 0.5)
    edges = np.unique(np.concatenate([[0], inner, [2 * half]]))
    low = np.minimum(0, np.cumsum(rng.integers(-2 * half, half, rounds + 1)))
    high = low + rng.integers(0, 3 * half, rounds + 1)
    low[rounds] = 0
    high = np.maximum(high, low)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounded_range, "_cells", lambda _e, _k: (edges, 2 * half))
        patch.setattr(bounded_range, "_windows", lambda *_: (low.tolist(), high.tolist()))
        found = composed_delta.__wrapped__(epsilon, e, rounds)
    assert found >= attained(epsilon, e, rounds, n)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 3), st.floats(0.3, 3.0))
def test_the_exponential_mechanism_is_covered(seed, k, scale):
    """Peeling by the exponential mechanism, enumerated, stays under the recursion at e = spread/scale."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=4) * 3
    moved = scores + rng.uniform(-0.5, 0.5, 4).round(rng.integers(0, 2))
    spread = float(np.ptp(moved - scores))
    law, other = peeled(scores, scale, k), peeled(moved, scale, k)
    for epsilon in (0.0, 0.3, 1.0):
        bound = composed_delta(epsilon, spread / scale, k)
        assert hockey_stick(law, other, epsilon) <= bound + 1e-12


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(st.floats(0.01, 3.0), st.integers(1, 30), st.floats(0.0, 0.95))
def test_monotone(e, rounds, share):
    """More epsilon never costs more delta; a wider range or another round never costs less."""
    epsilon = share * rounds * e
    here = composed_delta(epsilon, e, rounds)
    room = 1e-3
    assert composed_delta(epsilon * 1.05, e, rounds) <= here * (1 + room)
    assert composed_delta(epsilon, e * 1.05, rounds) >= here * (1 - room)
    assert composed_delta(epsilon, e, rounds + 1) >= here * (1 - 0.03)


@pytest.mark.parametrize("rounds", [10, 100, 1000])
def test_better_than_zcdp(rounds):
    """The recursion is what makes the scale 7-9% smaller than zCDP's."""
    e = math.sqrt(8 * 0.0161 / rounds)
    assert composed_delta(1.0, e, rounds) < 0.4 * zcdp_delta(1.0, rounds * range_rho(e))


@pytest.mark.parametrize("rounds", [1, 2, 9, 10, 99, 1000, 1001, bounded_range.MOST_ROUNDS])
@pytest.mark.parametrize("e", [1e-6, 0.3, 8.0])
def test_cells_cover_the_whole_range(e, rounds):
    """For any number of rounds the cells are ascending and tile [0, n]."""
    edges, n = bounded_range._cells(e, rounds)
    assert edges[0] == 0
    assert edges[-1] == n
    assert np.all(np.diff(edges) > 0)


def test_limits():
    """Nothing is lost at epsilon >= k*e, nor at e = 0; beyond the largest e the answer is 1."""
    assert composed_delta(1.25, 0.125, 10) == 0.0
    assert composed_delta(0.0, 0.0, 10) == 0.0
    assert composed_delta(1.0, 50.0, 3) == 1.0
