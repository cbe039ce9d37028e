"""Answers come at public times alone."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server.jobs.grid import Grid

SECONDS = st.floats(1e-6, 1e6)


@given(SECONDS, st.floats(1e-3, 1e3))
def test_a_slot_is_a_doubling_at_or_after_the_end(seconds, first):
    """No answer is shown before it is there, nor later than twice the time, and only at a doubling."""
    slot = Grid(first, 1e6).slot(seconds)
    assert slot >= seconds
    assert slot == first or slot < 2 * seconds * (1 + 1e-12)
    assert math.log2(slot / first) == pytest.approx(round(math.log2(slot / first)), abs=1e-9)


@given(SECONDS, SECONDS)
def test_what_ends_within_a_slot_looks_the_same(one, other):
    """Two ends between the same two slots cannot be told apart; later ends have later slots."""
    grid = Grid(0.5, 1e6)
    first, second = sorted((one, other))
    assert grid.slot(first) <= grid.slot(second)
    if grid.slot(first) >= second:
        assert grid.slot(first) == grid.slot(second)


@given(st.floats(1e-3, 10), st.floats(10, 1e6))
def test_the_bits_are_those_of_the_slots(first, horizon):
    """As many different slots occur up to the horizon as are counted."""
    grid = Grid(first, horizon)
    seen = {grid.slot(horizon * share) for share in (*(2.0**-k for k in range(60)), 0.999, 0.7)}
    assert len(seen) == grid.slots
    assert grid.bits == math.log2(len(seen))


def test_a_fixed_time_tells_nothing():
    """With one slot every job within its limits is answered at the same time."""
    grid = Grid(2.0, 100.0, fixed=True)
    assert {grid.slot(seconds) for seconds in (0.1, 5, 99, 100)} == {128.0}
    assert (grid.slots, grid.bits) == (1, 0.0)


def test_when_to_look_again_depends_on_public_times():
    """Whoever waits is told the next slot after now."""
    grid = Grid(2.0, 100.0)
    assert grid.next_look(1000.0, 1000.0) == 1002.0
    assert grid.next_look(1000.0, 1002.0) == 1004.0
    assert grid.next_look(1000.0, 1005.0) == 1008.0
