"""NumPy arrays: masks are missing values, and a column's type follows from the array's type alone."""

import numpy as np
import pytest

import discreet
from discreet.data.tables.arrays import ArraySource
from discreet.errors import InputError

TYPES = [*"?bBhHiIlLqQefdg", ">f4", ">i2"]
WIDE = {"i", "I", "l", "L", "q", "Q", "d", "g"}


@pytest.mark.parametrize("kind", TYPES)
def test_one_type_whoever_is_missing(kind):
    """Masked or not, in a masked array or a plain one, all others keep their bits and their type."""
    values = np.array([[0, 1], [1, 0], [1, 1]]).astype(kind)
    (plain,) = ArraySource(values).batches(["0", "1"])
    (masked,) = ArraySource(np.ma.array(values, mask=[[0, 0], [1, 0], [0, 0]])).batches(["0", "1"])
    expected = np.float64 if np.dtype(kind).char in WIDE else np.float32
    assert {column.dtype for column in (*plain.values(), *masked.values())} == {np.dtype(expected)}
    assert np.isnan(masked["0"][1])
    assert masked["0"][[0, 2]].tobytes() == plain["0"][[0, 2]].tobytes()
    assert masked["1"].tobytes() == plain["1"].tobytes()


def test_a_mask_is_not_written_into_the_data():
    """The caller's array is only read."""
    values = np.ma.array(np.ones((3, 1)), mask=[[0], [1], [0]])
    list(ArraySource(values).batches(["0"]))
    assert values.data.tolist() == [[1], [1], [1]]


@pytest.mark.parametrize("structured", [False, True])
def test_a_fully_masked_column_is_no_evidence(structured):
    """What lies under a mask is nobody's value."""
    values = np.ma.array(np.ones((500, 2)), mask=np.tile([True, False], (500, 1)))
    if structured:
        table = np.ma.zeros(500, dtype=[("a", "f8"), ("b", "f8")])
        table["a"], table["b"] = values[:, 0], values[:, 1]
        values = table
    score = discreet.measure(values, discreet.Mean(bounds=(0, 1), null=0.5)).score
    assert score[0] == 0
    assert score[1] > 5


def test_structured_masks_hide_text_and_objects():
    """A masked label is missing, whatever is written under it."""
    table = np.ma.array(
        [(0.1, "a", 1), (0.2, "b", None), (0.3, "a", np.nan)],
        mask=[(0, 0, 0), (0, 1, 0), (1, 0, 0)],
        dtype=[("v", "f4"), ("g", "U1"), ("o", "O")],
    )
    (batch,) = ArraySource(table).batches(["v", "g", "o"])
    assert batch["g"].tolist() == ["a", None, "a"]
    assert batch["o"].tolist() == [1, None, None]
    assert np.isnan(batch["v"]).tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["c8", "m8[s]", "M8[D]", "S3", "V4"])
def test_what_is_neither_number_nor_text_is_refused(kind):
    """Complex numbers, times and bytes are refused by type, before any entry is looked at."""
    with pytest.raises(InputError, match="hold numbers"):
        ArraySource(np.zeros((4, 2), dtype=kind))
    table = np.zeros(4, dtype=[("v", "f8"), ("g", kind)])
    with pytest.raises(InputError, match="neither numbers nor text"):
        discreet.measure(table, discreet.RankSum(group="g"), columns=["v"])


def test_shapes_that_are_no_table_are_refused():
    """One dimension of plain numbers, or two of structured ones, have no columns."""
    for values in (np.zeros(4), np.zeros((2, 2, 2)), np.zeros((2, 2), dtype=[("a", "f8")])):
        with pytest.raises(InputError, match="two-dimensional"):
            ArraySource(values)


def test_a_matrix_is_a_table():
    """Subclasses that keep two dimensions are read as the array they hold."""
    values = np.random.default_rng(0).random((50, 2))
    test = discreet.Mean(bounds=(0, 1), null=0.4)
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(values)
    assert np.array_equal(discreet.measure(matrix, test).score, discreet.measure(values, test).score)
