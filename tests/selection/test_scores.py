"""Scores as the caller holds them: nothing is rounded past a claim, nothing private is told."""

import numpy as np
import pytest

import discreet
from discreet.errors import InputError
from discreet.selection.scores import read_scores

BIG = 1 << 53


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("masked", [False, True])
def test_whole_numbers_beyond_2_to_53_are_clipped_not_rounded(dtype, masked):
    """2**53 + 1 and 2**60 both become 2**53: rounding would move neighbours apart by more than they are."""
    raw = np.array([BIG + 1, BIG + 3, 1 << 60, 7], dtype=dtype)
    scores = np.ma.array(raw, mask=[False, False, False, True]) if masked else raw
    read = read_scores(scores, "scores", largest=True)
    assert read[:3].tolist() == [BIG] * 3
    assert np.isnan(read[3]) == masked
    assert raw[3] == 7


def test_the_callers_array_is_left_alone():
    """Masked entries become NaN in a copy."""
    scores = np.ma.array([1.0, 2.0], mask=[True, False])
    read_scores(scores, "scores", largest=True)
    assert scores.data.tolist() == [1.0, 2.0]


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is float64 here")
def test_wider_floats_are_refused():
    """A float wider than float64 would be rounded; its owner converts it."""
    for scores in (np.arange(3, dtype=np.longdouble), np.ma.array(np.arange(3, dtype=np.longdouble))):
        with pytest.raises(InputError, match=r"scores must be float64 or narrower.*sensitivity"):
            read_scores(scores, "scores", largest=True)


@pytest.mark.parametrize("wrap", [np.array, np.ma.array])
def test_text_is_refused_without_a_word_of_it(wrap):
    """Neither an entry nor the length of the longest one is in the message."""
    with pytest.raises(InputError, match="scores must hold numbers; got text") as refusal:
        discreet.top_k(wrap(["12.5", "private-name"]), 1, sensitivity=1, epsilon=1)
    assert "private" not in str(refusal.value)
    assert "12" not in str(refusal.value)
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize("method", discreet.selection.top_k.METHODS)
def test_no_value_raises_even_where_the_caller_wants_errors(method):
    """Under np.errstate(all="raise") no score, however odd, makes a call fail."""
    signalling = np.array([0x7FA00000, 0x3F800000, 0xFF800000, 1], dtype=np.uint32).view(np.float32)
    odd = np.array([np.inf, -np.inf, np.nan, 1e308, -1e308, 5e-324, 0.0])
    many = np.full(5000, 1e308)
    many[:7] = odd
    with np.errstate(all="raise"):
        for scores in (signalling, odd, many):
            for largest in (False, True):
                chosen = discreet.top_k(
                    scores, 2, sensitivity=1e-3, epsilon=1, method=method, values=True, largest=largest
                )
                assert len(chosen) == 2
        assert discreet.noisy_min(many, sensitivity=1e-3, epsilon=1).index >= 0
