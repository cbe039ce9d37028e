"""Compiled sums: the same whole numbers as NumPy's, whatever the values, their precision and their layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import discreet
from discreet import kernels
from discreet.block import Block
from discreet.errors import InputError

BOUNDS = (0.0, 1.0)
TESTS = [
    discreet.Mean(bounds=BOUNDS, null=0.4, alternative="greater"),
    discreet.Mean(bounds=(1e6, 1e6 + 1), null=1e6 + 0.4, alternative="greater"),
    discreet.Mean(bounds=(-1e-40, 1e-40), null=1e-42, alternative="greater"),
    discreet.Mean(
        bounds={"0": (-2, 3), "1": (0, 1e30), "2": (5, 9)},
        null={"0": 0, "1": 1e29, "2": 6},
        alternative="greater",
    ),
    discreet.Proportion(null=0.4, alternative="greater"),
    discreet.Sign(null=0.0, alternative="greater"),
    discreet.Sign(null=0.3, alternative="greater"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, alternative="greater"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.1, alternative="greater"),
    discreet.TwoByTwo(group="g", alternative="greater"),
    discreet.Stratified(
        group="g", stratum="s", strata=(0, 1, 2), bounds=BOUNDS, floor=0.1, alternative="greater"
    ),
    discreet.Correlation(
        partner="y", method="product", bounds=BOUNDS, partner_bounds=BOUNDS, alternative="greater"
    ),
]
ODD = [0.0, -0.0, 0.3, 0.5, 1.0, np.nan, np.inf, -np.inf, 1e-40, -1e-45, 1e38, -1e300, 2**-21, 1e6 + 0.5]
needs_kernels = pytest.mark.skipif(kernels.compiled is None, reason="the kernels were not built")


def both(test, columns, monkeypatch):
    """Return the accumulators of the same people, by compiled code and by NumPy."""
    rows = len(columns[0])
    labels = {"g": np.arange(rows) % 3 == 0, "s": np.arange(rows) // 3 % 4, "y": np.linspace(-0.1, 1.1, rows)}
    found = []
    for compiled in (kernels.compiled, None):
        monkeypatch.setattr(kernels, "compiled", compiled)
        accumulator = test.start([str(i) for i in range(len(columns))])
        with np.errstate(all="ignore"):
            accumulator.update(Block(columns, labels))
        found.append(accumulator)
    return found


def assert_equal(fast, slow):
    """Both have the same counts, sums, sums of squares and numbers of people present."""
    assert np.array_equal(fast.count, slow.count)
    assert np.array_equal(fast.total, slow.total)
    assert np.array_equal(fast.square, slow.square)
    assert np.array_equal(fast.present, slow.present)


@pytest.mark.slow
@needs_kernels
@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
@settings(max_examples=25)
@given(
    values=arrays(np.float64, st.tuples(st.just(3), st.integers(1, 40)), elements=st.sampled_from(ODD)),
    single=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_no_value_is_counted_otherwise(test, values, single):
    """Edges, missing, infinite and tiny values count the same in both, columns of both precisions mixed."""
    with pytest.MonkeyPatch.context() as patch, np.errstate(over="ignore"):
        columns = [one.astype(np.float32) if few else one for one, few in zip(values, single, strict=True)]
        assert_equal(*both(test, columns, patch))


@needs_kernels
@pytest.mark.parametrize("rows", [1, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_many_rows_are_summed_alike(test, rows, monkeypatch):
    """Whole and broken pieces of 1,024 rows give NumPy's sums."""
    rng = np.random.default_rng(rows)
    values = rng.normal(0.5, 0.6, (3, rows)).astype(np.float32)
    values[rng.random((3, rows)) < 0.1] = np.nan
    assert_equal(*both(test, [*values[:2], values[2].astype(np.float64)], monkeypatch))


@pytest.mark.parametrize("compiled", [kernels.compiled, None], ids=["compiled", "NumPy"])
@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_a_number_counts_the_same_in_either_precision(test, compiled, monkeypatch):
    """What single precision holds counts, stored so or in double, as the same whole number."""
    monkeypatch.setattr(kernels, "compiled", compiled)
    rng = np.random.default_rng(1)
    values = np.concatenate([rng.random(500), rng.integers(0, 31, 500), [np.nan, np.inf]]).astype(np.float32)
    if isinstance(test, discreet.Sign):
        values = np.round(values * 8) / 8  # the null is rounded as a column's numbers are
    rows, found = values.size, []
    labels = {"g": np.arange(rows) % 3 == 0, "s": np.arange(rows) // 3 % 4, "y": np.linspace(-0.1, 1.1, rows)}
    for kind in (np.float32, np.float64):
        accumulator = test.start(["0", "1", "2"])
        accumulator.update(Block([values.astype(kind)] * 3, labels))
        found.append(accumulator)
    assert_equal(*found)


def test_a_null_ties_with_what_is_written_alike():
    """0.3 in single precision is neither above nor below 0.3."""
    for kind in (np.float32, np.float64):
        accumulator = discreet.Sign(null=0.3, alternative="greater").start(["0"])
        accumulator.update(Block([np.full(9, 0.3, dtype=kind)]))
        assert accumulator.total.tolist() == [[0.0]]


@needs_kernels
def test_any_layout_is_read(monkeypatch):
    """Strided, unaligned and byte-swapped columns are the numbers they say."""
    values = np.random.default_rng(0).random((70, 3), dtype=np.float32)
    shifted = np.frombuffer(b"." + values[:, 1].tobytes(), dtype=np.float32, count=70, offset=1)
    columns = [values[:, 0], shifted, values[:, 2].astype(">f4")]
    fast, slow = both(TESTS[0], columns, monkeypatch)
    assert_equal(fast, slow)
    plain, _ = both(TESTS[0], list(values.T.copy()), monkeypatch)
    assert_equal(fast, plain)


@needs_kernels
def test_columns_of_different_lengths_are_refused(monkeypatch):
    """A damaged file never makes compiled code read beyond a column."""
    with pytest.raises(InputError, match="differ in length"):
        both(TESTS[0], [np.zeros(9), np.zeros(8)], monkeypatch)


@pytest.mark.parametrize("short", [1, 8])
def test_columns_and_labels_of_different_lengths_are_refused(short):
    """A single entry is not spread over everyone either."""
    for columns, labels in (([np.zeros(9), np.zeros(short)], {}), ([np.zeros(9)], {"g": np.zeros(short)})):
        with pytest.raises(InputError, match="differ in length"):
            list(Block(columns, labels).tiles())
    with pytest.raises(InputError, match="differ in length"):
        Block([np.zeros(9), np.zeros(short)]).values.sum()


def test_a_wrong_sum_is_seen(monkeypatch):
    """The comparison refuses sums that differ by a single unit: its wrong twin."""
    fast, slow = both(TESTS[0], [np.linspace(0, 1, 9)], monkeypatch)
    fast.total[0, 0] += 1
    with pytest.raises(AssertionError):
        assert_equal(fast, slow)
