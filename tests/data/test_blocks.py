"""Blocks: pieces cover everything once, and are copies."""

from __future__ import annotations

import numpy as np
import pytest

from discreet import block


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


def test_a_column_keeps_its_own_precision():
    """A column of doubles beside singles changes nothing for them: rounding is a column's own affair."""
    columns = [np.ones(8, dtype=np.float32), np.ones(8), np.ones(8, dtype=np.float32)]
    kinds = [(columns.start, piece.dtype.itemsize) for _, columns, piece in block.Block(columns).tiles()]
    assert kinds == [(0, 4), (1, 8), (2, 4)]
