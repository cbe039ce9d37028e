"""Every table over a small alphabet, and how far one person moves a score between neighbouring ones."""

from __future__ import annotations

from itertools import product

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


def moves_of_times(test):
    """Return how far one of three people moves a score and an effect of times to an event, and some evidence.

    All tables: time, event, presence, and the group where it is protected, are replaced.
    """
    n, protected = 3, test.protect == "everything"
    states = list(product([0, 1, -1] if protected else [0], [0, 1]))
    tables, scores, effects = all_tables([0, 1, np.nan], n), [], []
    evidence = None
    for kinds in product(states, repeat=n):
        group, event = np.array(kinds).T
        labels = {"g": group if protected else np.array([0, 1, 1]), "e": event}
        evidence = evidence_of(test, tables, labels)
        scores.append(evidence.score)
        effects.append(evidence.effect.share)
    cubes = [np.array(moved).reshape((len(states),) * n + (3,) * n) for moved in (scores, effects)]
    worst = [max(float(np.max(np.ptp(cube, axis=(i, n + i)))) for i in range(n)) for cube in cubes]
    return *worst, evidence
