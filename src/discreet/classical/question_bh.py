"""BH where hypotheses come in questions, inside which anything may depend on anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]


def question_bh(p: Floats, question: Places, q: float) -> tuple[Places, Places]:
    """Reject by BH, where a hypothesis counts on one rejection in its own question, and on all in the others.

    Guarantee: FDR <= q m0/m if for every question, given all others, each p-value of a true null is
    super-uniform, whatever the dependence inside questions (docs/proofs/question-bh.md). With one hypothesis
    a question this is BH.

    Parameters
    ----------
    p : array of float, shape (m,)
        P-values.
    question : array of int, shape (m,)
        The number of each hypothesis' question, from 0 on.
    q : float
        The level.

    Returns
    -------
    positions : array of int
        Rejected hypotheses, ascending.
    counted : array of int, shape (positions,)
        The r that each counts on: its p-value is at most q r/m, and given the other questions r does not
        depend on it. Intervals of miss rate q r/m have FCR <= q.
    """
    least = _least(p, question)
    lines = q * np.arange(1, least.size + 1) / p.size
    passing = np.flatnonzero(np.sort(least) <= lines)
    if passing.size == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    first = p <= lines[passing[-1]]
    inside = np.bincount(question, first, minlength=least.size).astype(np.int64)
    sure = (1 + inside.sum() - inside)[question]
    positions = np.flatnonzero((inside[question] > 0) & (p <= q * sure / p.size))
    return positions.astype(np.int64), sure[positions]


def question_q_values(p: Floats, question: Places) -> Floats:
    """Return the smallest level at which `question_bh` rejects each hypothesis, at most 1; shape (m,)."""
    m, least = p.size, _least(p, question)
    order = np.sort(least)
    ranks = np.arange(1, least.size + 1)
    # The smallest level at which so many questions have a rejection; it does not fall with their number.
    level = np.minimum.accumulate((m * order / ranks)[::-1])[::-1]
    first = _smallest(m * p, ranks, level)
    adjusted = first.copy()
    for number in np.flatnonzero(np.bincount(question) > 1).tolist():
        own = question == number
        others = np.sort(first[~own])
        reached = np.concatenate([[0.0], others])
        later = _smallest(m * p[own], np.arange(1, reached.size + 1), reached)
        adjusted[own] = np.minimum(first[own], np.maximum(later, first[own].min()))
    return np.minimum(adjusted, 1.0)


def _least(p: Floats, question: Places) -> Floats:
    least = np.full(int(question.max(initial=-1)) + 1, np.inf)
    np.minimum.at(least, question, p)
    return least


def _smallest(scaled: Floats, ranks: Places, level: Floats) -> Floats:
    """Return the least, over r, of max(level_r, scaled/r), level ascending in r."""
    # As r grows the first grows and the second falls: the best r is where they cross, or the one before.
    crossed = np.searchsorted(level * ranks, scaled, side="left")
    at = np.minimum(crossed, ranks.size - 1)
    before = np.maximum(at - 1, 0)
    each = [np.maximum(level[place], scaled / ranks[place]) for place in (at, before)]
    return np.minimum(*each)
