"""Rows made whole, clipped and added up in C: the same bits as in NumPy, for every processor."""

import math

import numpy as np
import pytest

from discreet.kernels import compiled
from discreet.methods.all import adding
from discreet.methods.all.geometry import Ball, Balls
from discreet.methods.all.reading import FINE, Columns, Rows, Scaling

pytestmark = pytest.mark.skipif(compiled is None, reason="no compiler built the kernels")
ODD = (0.0, -0.0, 0.5, 1.0, -1e308, 1e308, 5e-324, np.inf, -np.inf, np.nan)


def invented(rng, n, m, kind):
    """Return entries, some of them odd, groups, and constants that might have been learned."""
    values = rng.normal(0, 3, (n, m))
    odd = rng.random((n, m)) < 0.2
    values[odd] = rng.choice(ODD, odd.sum())
    answers = rng.random(m) < 0.5
    with np.errstate(all="ignore"):
        values = values.astype(kind)
    reach = 10.0 ** rng.uniform(-3, 3, m)
    scaling = Scaling(rng.normal(0, 1, m), np.where(rng.random(m) < 0.1, 1e-290, reach), np.full(m, 0.3))
    most = float(rng.choice([2.5, 7.0, 15.0]))
    scale = np.where(answers, np.minimum(rng.uniform(0.1, 20, m), most), rng.uniform(0.1, 20, m))
    flags = (answers, answers & (rng.random(m) < 0.5), answers & (rng.random(m) < 0.5))
    rows = Rows(rng.random(m), scale, most, *flags)
    places = np.flatnonzero(answers), np.zeros(0, dtype=np.intp), np.flatnonzero(~answers)
    columns = Columns(*places, np.zeros(0), np.zeros(0), np.arange(m))
    group = rng.integers(-1, 2, n).astype(np.int8)
    radii = [math.inf if rng.random() < 0.2 else FINE * 10 ** rng.uniform(-1, 2) for _ in range(2)]
    balls = Balls(Ball(radii[0], FINE * most), Ball(radii[1], FINE * most), (1.0, 0.7))
    return values, group, scaling, columns, rows, balls


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_are_the_same_bits_as_in_numpy(level, kind, monkeypatch):
    """Whole numbers, sums of both groups, squares and weights, whatever is clipped."""
    for seed in range(40):
        rng = np.random.default_rng([seed, level])
        values, group, scaling, columns, rows, balls = invented(rng, int(rng.integers(1, 50)), 1 + seed, kind)
        found = []
        for kernels in (compiled, None):
            monkeypatch.setattr(adding, "compiled", kernels)
            compiled.limit(level)
            with np.errstate(all="ignore"):
                whole = adding.whole_numbers(values, scaling, columns, rows)
                total = adding.Totals.blank(1 + seed)
                total.add(whole, group, balls, rows.positive)
            found.append((whole, total.rows, total.weights, total.squares))
        compiled.limit(2)
        for first, second in zip(*found, strict=True):
            assert np.array_equal(first, second)


def test_sizes_that_do_not_fit_are_refused():
    """Buffers shorter or longer than the numbers say, and entries that 16 bits cannot hold."""
    rule, whole = np.zeros((8, 3)), np.zeros((2, 3), dtype=np.int16)
    for values, end in ((np.zeros((3, 3)), 1.0), (np.zeros((2, 2)), 1.0), (np.zeros((2, 3)), 20000.0)):
        with pytest.raises(ValueError, match="sizes"):
            compiled.whole(values, 8, 3, rule, end, whole)
    group, balls, out = (
        np.zeros(2, dtype=np.int8),
        np.ones((2, 2, 2)),
        (np.zeros((2, 3)), np.zeros(3), np.zeros(2)),
    )
    for given in (
        (whole[:1], np.zeros(3), balls),
        (whole, np.zeros(2), balls),
        (whole, np.zeros(3), balls[:1]),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.add(given[0], group, given[1], given[2], True, 1.0, *out)
