"""The adversary obeys adaptivity, and nobody who obeys does worse."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import is_adaptive
from discreet.lab.adversary import attack

NULLS = st.lists(st.one_of(st.integers(0, 32).map(lambda i: i / 32), st.floats(0, 1)), min_size=1, max_size=6)


@pytest.mark.slow
@given(NULLS, st.integers(0, 4), st.floats(0.01, 0.99), st.integers(1, 3))
def test_no_adaptive_subset_is_worse(nulls, spare, q, k):
    """The attack is adaptive and attains the largest V/R with V >= k over all adaptive subsets."""
    m = len(nulls) + spare
    found = attack(np.array(nulls), m, q, k)
    assert is_adaptive(found.p, found.rejected, q)
    false = np.count_nonzero(found.rejected < len(nulls))
    assert found.false == false
    assert found.fdp == false / max(found.rejected.size, 1)
    best = 0.0
    for size in range(1, m + 1):
        for subset in combinations(range(m), size):
            count = sum(i < len(nulls) for i in subset)
            if count >= k and count / size > best and is_adaptive(found.p, list(subset), q):
                best = count / size
    assert found.fdp == best


def test_zero_p_values_of_nulls_need_no_help():
    """Nulls at p = 0 are rejected alone: a false discovery proportion of 1."""
    found = attack(np.zeros(3), 5, 0.1)
    assert found.fdp == 1.0
    assert found.false == found.rejected.size


def test_nothing_to_attack():
    """Nulls above q, or fewer than k of them, leave nothing to reject."""
    assert attack(np.array([0.5, 0.9]), 10, 0.1).rejected.size == 0
    assert attack(np.array([0.0]), 10, 0.1, k=2).fdp == 0.0
