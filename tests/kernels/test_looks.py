"""Looks at columns in C: the same whole numbers as in NumPy, for every processor, on odd entries too."""

import numpy as np
import pytest

from discreet.kernels import compiled
from discreet.methods.all import in_numpy, sums
from discreet.methods.all.sums import Statistic

pytestmark = pytest.mark.skipif(compiled is None, reason="no compiler built the kernels")
ODD = (0.0, -0.0, 0.5, 1.0, -1.0, -1e308, 1e308, 5e-324, 2.0**-31, 2.0**80, np.inf, -np.inf, np.nan)


def invented(rng, kind):
    """Return entries, some of them odd, the columns that are looked at, and windows."""
    n, m = int(rng.integers(1, 5000)), int(rng.integers(1, 9))
    values = rng.normal(0, 1, (n, m)) * 2.0 ** rng.integers(-40, 40, m)
    odd = rng.random((n, m)) < 0.3
    values[odd] = rng.choice(ODD, odd.sum())
    with np.errstate(all="ignore"):
        values = values.astype(kind)
    places = rng.permutation(m)[: rng.integers(1, m + 1)]
    centre = rng.choice([0.0, 1.0, -3.5, 1.7e308, -1e-300], places.size)
    window = rng.choice([1.0, 0.3, 1e-290, 1e307, 2.0**20], places.size)
    return values if rng.random() < 0.5 else np.asfortranarray(values), places, centre, window


def everything(values, places, centre, window, group, norm):
    """Return all that is asked of columns."""
    whole = np.nan_to_num(np.clip(values, -16000, 16000)).astype(np.int16)
    return (
        *(sums.column_statistics(what, values, places, centre, window) for what in Statistic),
        sums.sum_lacking(values, places, group, norm),
        sums.row_lengths(whole),
    )


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_looks_are_the_same_whole_numbers_as_in_numpy(level, kind, monkeypatch):
    """Sizes, places, distances, parts of a window, missing entries and lengths of rows."""
    for seed in range(30):
        rng = np.random.default_rng([seed, level])
        given = invented(rng, kind)
        group = rng.integers(-1, 2, len(given[0])).astype(np.int8)
        norm = float(rng.choice([0.5, 1.0, 1.7, 3.0]))
        found = []
        for kernels in (compiled, None):
            monkeypatch.setattr(sums, "compiled", kernels)
            compiled.limit(level)
            found.append(everything(*given, group, norm))
        compiled.limit(2)
        for first, second in zip(*found, strict=True):
            assert np.array_equal(first, second)


def test_everybody_is_counted_once():
    """Histograms have everyone but missing entries and what is outside: a wrong bin would be seen."""
    x = np.array([[1.0], [0.0], [np.nan], [3.0], [2.0**-40], [np.inf]])
    sizes = sums.column_statistics(
        Statistic.SIZES, np.vstack([x, -x]), np.array([0]), np.zeros(1), np.ones(1)
    )[:, 0]
    assert sizes.sum() == 10
    zero = in_numpy.SIZES
    assert [sizes[zero], sizes[zero + 1], sizes[zero + 32], sizes[zero + 33], sizes[-1]] == [2, 1, 1, 1, 1]
    assert np.array_equal(sizes, sizes[::-1])
    parts = sums.column_statistics(Statistic.PLACES, x, np.array([0]), np.array([2.0]), np.array([2.0]))[:, 0]
    assert parts.sum() == 4
    assert [parts[0], parts[4], parts[12]] == [2, 1, 1]


def test_sizes_that_do_not_fit_are_refused():
    """Columns that are not there, windows of another number, and results of another size."""
    table, places, one = np.zeros((3, 5)), np.array([2], dtype=np.int64), np.ones(1)
    out, group = np.zeros((1, 2), dtype=np.int64), np.zeros(5, dtype=np.int8)
    for given in (
        (table, 8, 3, places + 1, 1, one, one, 0, 1, out),
        (table, 8, 3, places - 3, 1, one, one, 0, 1, out),
        (table, 8, 3, places, 4, one, one, 0, 1, out),
        (table, 8, 3, places, 1, one[:0], one, 0, 1, out),
        (table, 8, 3, places, 1, one, one, 0, 2, out),
        (table, 8, 3, places, 3, one, one, 0, 1, out),
        (table, 2, 3, places, 1, one, one, 0, 1, out),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.look(*given)
    for given in (
        (table, 8, 3, places + 1, 0, 5, group, 1.0, 1.0, out),
        (table, 8, 3, places, 0, 6, group, 1.0, 1.0, out),
        (table, 8, 3, places, 0, 5, group[:4], 1.0, 1.0, out),
        (table, 8, 3, places, 0, 5, group, 0.0, 1.0, out),
        (table, 8, 3, places, 0, 5, group, 1.0, 1.0, out[:, :1].copy()),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.lacking(*given)
    whole, rule, lengths = table.astype(np.int16), np.zeros((1, 7)), np.zeros(5, dtype=np.int64)
    for given in (
        (whole, 2, 3, places, rule, 0, 5, lengths[:4]),
        (whole, 2, 3, places, rule, 0, 6, lengths),
        (table, 8, 3, places + 1, rule, 0, 5, lengths),
        (table, 8, 3, places, rule[:0], 0, 5, lengths),
        (table, 8, 3, places, rule + 1e9, 0, 5, lengths),
    ):
        with pytest.raises(ValueError, match="sizes"):
            compiled.lengths(*given)
