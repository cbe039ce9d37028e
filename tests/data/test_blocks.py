"""Blocks and reading ahead: pieces cover everything once, in order; errors arrive where awaited."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from discreet import block
from discreet.data.ahead import ahead


@pytest.mark.parametrize("tile", [1, 7, 64, 2**16])
@pytest.mark.parametrize("as_columns", [True, False])
def test_tiles_cover_every_value_once(monkeypatch, tile, as_columns):
    """Whatever their size, tiles put together give back the values, rows and columns."""
    monkeypatch.setattr(block, "TILE", tile)
    values = np.random.default_rng(0).random((23, 5))
    one = block.Block(list(values.T.copy()) if as_columns else values)
    back = np.full(values.shape, np.nan)
    for rows, columns, piece in one.tiles():
        assert np.all(np.isnan(back[rows, columns]))
        back[rows, columns] = piece
    assert np.array_equal(back, values)
    assert np.array_equal(one.values, values)
    assert one.rows == 23


def test_tiles_may_be_overwritten_without_touching_the_data():
    """What a test does to a tile stays in the tile."""
    values = np.ones((10, 3))
    for source in (values, list(values.T)):
        for _, _, piece in block.Block(source).tiles():
            piece[...] = 9
    assert np.all(values == 1)


def test_mixed_precision_columns_are_rounded_alike():
    """One column of doubles makes all tiles doubles: rounding does not depend on neighbours in a tile."""
    columns = [np.ones(8, dtype=np.float32), np.ones(8), np.ones(8, dtype=np.float32)]
    assert {piece.dtype for _, _, piece in block.Block(columns).tiles()} == {np.dtype(np.float64)}


def test_reading_ahead_keeps_order_and_uses_another_thread():
    """Items arrive in order, made elsewhere."""
    made = []

    def items():
        for i in range(5):
            made.append(threading.get_ident())
            yield i

    assert list(ahead(items())) == [0, 1, 2, 3, 4]
    assert threading.get_ident() not in made


def test_an_error_while_reading_ahead_is_raised_to_the_reader():
    """What was read before arrives first, then the error."""

    def items():
        yield 1
        raise OSError("gone")

    reading = ahead(items())
    assert next(reading) == 1
    with pytest.raises(OSError, match="gone"):
        next(reading)


def test_reading_ahead_can_be_abandoned():
    """Closing early stops the other thread."""
    reading = ahead(iter(range(1, 1000)))
    assert next(reading) == 1
    reading.close()
    assert not any(thread.name.startswith("ThreadPoolExecutor") for thread in threading.enumerate())
