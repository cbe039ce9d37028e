"""Laws of the classical procedures, for any p-values Hypothesis can think of."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet import benjamini_yekutieli, is_adaptive, step_down, step_up
from transcription import algorithm_1, algorithm_2

# A coarse grid makes ties and p exactly on the line common; free floats make everything else.
GRID = st.integers(0, 64).map(lambda i: i / 64)
P = st.lists(st.one_of(GRID, st.floats(0, 1)), min_size=1, max_size=40).map(np.array)
Q = st.one_of(st.sampled_from([0.05, 0.1, 0.125, 0.25, 0.5]), st.floats(0.001, 0.999))


def rejected(found):
    return set(found.indices.tolist())


@given(P, Q)
def test_step_up_is_algorithm_1(p, q):
    """Step-up rejects what the paper's Algorithm 1 rejects, ties and equality included."""
    assert rejected(step_up(p, q)) == algorithm_1(p, q)


@given(P, Q)
def test_step_down_is_algorithm_2(p, q):
    """Step-down rejects what the paper's Algorithm 2 rejects, ties and equality included."""
    assert rejected(step_down(p, q)) == algorithm_2(p, q)


@given(P, Q)
def test_each_procedure_contains_the_more_cautious_one(p, q):
    """Step-down and Benjamini-Yekutieli reject subsets of what step-up rejects."""
    up = rejected(step_up(p, q))
    assert rejected(step_down(p, q)) <= up
    assert rejected(benjamini_yekutieli(p, q)) <= up


@given(P, Q, Q)
def test_a_larger_level_rejects_no_less(p, q, other):
    """Every procedure is monotone in q."""
    low, high = sorted((q, other))
    for procedure in (step_up, step_down, benjamini_yekutieli):
        assert rejected(procedure(p, low)) <= rejected(procedure(p, high))


@given(P, Q, st.randoms(use_true_random=False))
def test_order_of_hypotheses_does_not_matter(p, q, random):
    """Permuting the hypotheses permutes the rejections."""
    order = list(range(p.size))
    random.shuffle(order)
    for procedure in (step_up, step_down, benjamini_yekutieli):
        moved = {order[i] for i in rejected(procedure(p[order], q))}
        assert moved == rejected(procedure(p, q))


@given(P, Q, st.data())
def test_stronger_evidence_never_loses_a_rejection(p, q, data):
    """Lowering one p-value loses no rejection."""
    i = data.draw(st.integers(0, p.size - 1))
    stronger = p.copy()
    stronger[i] *= data.draw(st.floats(0, 1))
    for procedure in (step_up, step_down, benjamini_yekutieli):
        assert rejected(procedure(p, q)) <= rejected(procedure(stronger, q))


@given(P, Q)
def test_one_more_hypothesis_without_evidence_gains_nothing(p, q):
    """Adding a hypothesis with p = 1 adds no rejection and never rejects the newcomer."""
    for procedure in (step_up, step_down, benjamini_yekutieli):
        assert rejected(procedure(np.append(p, 1.0), q)) <= rejected(procedure(p, q))


@given(P, Q)
def test_the_record_is_consistent(p, q):
    """Count, mask, indices, threshold and adaptivity of a record tell one story."""
    for procedure in (step_up, step_down, benjamini_yekutieli):
        found = procedure(p, q)
        assert len(found) == found.count == found.mask.sum() == found.indices.size
        assert np.all(np.diff(p[found.indices]) >= 0)
        assert found.count == 0 or p[found.mask].max() <= found.threshold
        assert is_adaptive(p, found, q)


@given(st.integers(0, 6).map(lambda e: 2**e), st.data())
def test_equality_is_exact_where_the_line_is_representable(m, data):
    """With m a power of two and dyadic q, rejections equal those of exact rational arithmetic."""
    q = data.draw(st.sampled_from([Fraction(1, 8), Fraction(1, 4), Fraction(3, 4)]))
    ranks = data.draw(st.lists(st.integers(0, 2 * m), min_size=m, max_size=m))
    p = [min(Fraction(1), q * r / m) for r in ranks]
    exact = max((j for j in range(1, m + 1) if sorted(p)[j - 1] <= q * j / m), default=0)
    assert step_up([float(x) for x in p], float(q)).count == exact
