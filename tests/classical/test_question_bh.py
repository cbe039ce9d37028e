"""BH by question: FDR under the worst dependence inside a question, by linear programs; q-values."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.classical.question_bh import question_bh, question_q_values
from discreet.classical.step_up import step_up_positions

P = st.sampled_from([0.0, 1e-9, 0.5, 1.0]) | st.floats(0, 1)


@st.composite
def questions(draw):
    """Draw p-values and the question that each belongs to."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=6))
    question = np.repeat(np.arange(len(sizes)), sizes)
    p = np.array(draw(st.lists(P, min_size=question.size, max_size=question.size)))
    return p ** draw(st.sampled_from([1, 4])), question


def by_bh(p, question, q):
    """Return what BH rejects, whatever the questions."""
    del question
    return step_up_positions(p, q), None


def worst(procedure, q, mine, others, theirs):
    """Return the largest FDR over all joint laws of uniform null p-values of one question.

    `mine` nulls make the question; `others` are p-values that are false nulls, in questions `theirs`. A
    p-value matters by the critical value it is under; a linear program finds the worst law.
    """
    m = mine + len(others)
    question = np.concatenate([np.zeros(mine, dtype=np.int64), 1 + np.asarray(theirs, dtype=np.int64)])
    ends = np.append(q * np.arange(1, m + 1) / m, 1.0)
    mass = np.diff(ends, prepend=0.0)
    cells = np.array(list(product(range(m + 1), repeat=mine)))
    gain = np.zeros(len(cells))
    for place, cell in enumerate(cells):
        found, _ = procedure(np.concatenate([ends[cell] * (1 - 1e-12), others]), question, q)
        gain[place] = np.count_nonzero(found < mine) / max(1, found.size)
    sums = [cells[:, side] == cell for side in range(mine) for cell in range(m + 1)]
    equal = {"A_eq": np.array(sums, dtype=float), "b_eq": np.tile(mass, mine)}
    return -linprog(-gain, bounds=(0, 1), **equal).fun


CASES = [
    (2, [], []),
    (2, [0.0], [0]),
    (2, [0.0, 0.0, 0.0, 1.0], [0, 0, 1, 1]),
    (2, [0.03, 0.04, 0.05, 0.06, 0.07, 0.08], [0, 0, 1, 1, 2, 2]),
    (2, [0.02, 0.04, 0.05, 0.06, 0.07], [0, 1, 2, 3, 4]),
    (3, [0.03, 0.05], [0, 0]),
    (3, [], []),
]


@pytest.mark.parametrize(("mine", "others", "theirs"), CASES)
def test_worst_dependence_inside_a_question(mine, others, theirs):
    """No law of the p-values of one question makes FDR larger than q m0/m."""
    for q in (0.1, 0.5):
        limit = q * mine / (mine + len(others))
        assert worst(question_bh, q, mine, others, theirs) <= limit + 1e-9


def test_bh_itself_is_worse():
    """Wrong twin: BH, which counts on the whole question, has 1.5 q for two answers alone."""
    assert worst(by_bh, 0.1, 2, [], []) == pytest.approx(0.15)
    limit = 0.1 * 2 / 8
    assert worst(by_bh, 0.1, *CASES[3]) > 1.1 * limit


@given(questions(), st.sampled_from([0.05, 0.1, 0.3, 0.9]))
def test_q_values_are_the_smallest_levels(drawn, q):
    """A hypothesis is rejected at level q if its q-value is at most q; numbers on the line aside."""
    p, question = drawn
    found, counted = question_bh(p, question, q)
    values = question_q_values(p, question)
    clear = np.abs(values - q) > 1e-9
    told = np.isin(np.arange(p.size), found)
    assert np.array_equal(told[clear], (values <= q)[clear])
    assert np.all(p[found] <= q * counted / p.size * (1 + 1e-12))
    assert np.all(counted <= found.size)


@given(st.lists(P, min_size=1, max_size=20), st.sampled_from([0.05, 0.2, 0.7]))
def test_one_hypothesis_a_question(entries, q):
    """It is BH then, and never rejects more than BH otherwise."""
    p = np.array(entries)
    found, counted = question_bh(p, np.arange(p.size), q)
    assert np.array_equal(found, step_up_positions(p, q))
    assert np.all(counted == found.size)
    together, _ = question_bh(p, np.arange(p.size) // 3, q)
    assert np.isin(together, found).all()
