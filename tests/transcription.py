"""Algorithms 1 and 2 as the paper prints them, line by line, over sorted p-values."""

import numpy as np


def algorithm_1(p, q):
    """Return the positions step-up BHq rejects: from j = m down, reject all up to the first pass."""
    order = np.argsort(p, kind="stable")
    m = len(p)
    for j in range(m, 0, -1):
        if p[order[j - 1]] > q * j / m:
            continue
        return set(order[:j].tolist())
    return set()


def algorithm_2(p, q):
    """Return the positions step-down BHq rejects: from j = 1 up, halt at the first failure."""
    order = np.argsort(p, kind="stable")
    m = len(p)
    rejected = set()
    for j in range(1, m + 1):
        if p[order[j - 1]] <= q * j / m:
            rejected.add(int(order[j - 1]))
        else:
            break
    return rejected
