"""Up to three columns of numbers are cut to their ranges alone: a ball would be a second range."""

import numpy as np
import pytest

from discreet.methods.all import clipping
from discreet.methods.all.clipping import Norms, best_balls, sensitivities_of
from discreet.methods.all.rows import FINE, Box


def a_box(columns):
    """Return the box of so many columns, cut at two deviations, and that of no answers."""
    end, sizes = 2.0 * FINE, columns**0.5
    box = Box(2 * end * sizes, 2 * end * sizes, end * sizes, end**2 * sizes, end, columns)
    return Box(0.0, 0.0, 0.0, 0.0, 1.0, 0), box


def chosen(columns):
    """Return the clipping of rows of normal numbers, where there is much noise."""
    none, lengths = Norms(np.ones(1), np.ones(1)), np.array([0.5, 0.9, 1.0, 1.1, 1.5])
    norms = none, Norms(np.full(5, 0.2), FINE * np.sqrt(columns) * lengths)
    positive = np.zeros(columns, dtype=np.bool_)
    parts = (norms, a_box(columns), np.full(columns, 0.3), positive, 1000.0, 1e-4, 0.0, 0.0)
    return best_balls(*parts, protected=True).signed


def nothing_is_cut_twice(columns):
    """Check that rows at the ends of their ranges stay as they are, and that one person moves them so far."""
    ball, boxes = chosen(columns), a_box(columns)
    ends = 2.0 * FINE * np.array([[1.0] * columns, [-1.0] * columns, [1.0] + [0.0] * (columns - 1)])
    assert np.array_equal(ball.clip(ends), ends)
    pull = ((0.0, 0.3), (0.0, 0.7))
    moved = sensitivities_of(boxes, clipping.Balls(ball, ball), pull, protected=True).contrast
    # From one corner to the opposite one of the larger weight, or with both labels to it.
    corners = [0.7 * np.linalg.norm(ends[0] - ends[1]), np.linalg.norm(0.3 * ends[0] - 0.7 * ends[1])]
    assert max(corners) <= moved <= max(corners) * (1 + 1e-9)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_few_columns_are_cut_once(columns):
    """What their ranges let through is what is told, and a person moves that from corner to corner."""
    nothing_is_cut_twice(columns)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_a_ball_that_cuts_once_more_is_found(columns, monkeypatch):
    """The wrong twin: a ball wherever there is much noise."""
    monkeypatch.setattr(clipping, "_FEW", 0)
    with pytest.raises(AssertionError):
        nothing_is_cut_twice(columns)


def test_many_columns_are_clipped_to_a_ball():
    """Corners of many ranges are far beyond the rows there are."""
    assert chosen(4).radius < a_box(4)[1].radius
    assert chosen(50).radius < a_box(50)[1].radius / 1.3
