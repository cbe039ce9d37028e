"""Every table over a small alphabet, and how far one person moves a score between neighbouring ones."""

from __future__ import annotations

import numpy as np

from discreet.block import Block


def all_tables(alphabet, n):
    """Return all len(alphabet)^n tables of one column, as the columns of an array (n, tables)."""
    grid = np.indices((len(alphabet),) * n).reshape(n, -1)
    return np.asarray(alphabet, dtype=np.float64)[grid]


def evidence_of(test, values, labels=None, people=None):
    """Return the evidence of all columns of `values`."""
    accumulator = test.start([str(i) for i in range(values.shape[1])])
    accumulator.update(Block(np.asarray(values), labels or {}, people))
    return accumulator.finish()


def replace_moves(score, letters, n):
    """Return, for each person, the largest move of the score of one column when that person is replaced."""
    cube = score.reshape((letters,) * n)
    return np.array([np.max(np.ptp(cube, axis=person)) for person in range(n)])


def add_moves(small, large, letters, n):
    """Return the largest rise and the largest fall of a score when one person joins n others."""
    small, large = small.reshape((letters,) * n), large.reshape((letters,) * (n + 1))
    moves = [large - np.expand_dims(small, person) for person in range(n + 1)]
    return max(float(np.max(move)) for move in moves), max(float(-np.min(move)) for move in moves)
