"""Adaptive BH: its definition, what it promises, and why its estimate of true nulls is as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from test_laws import GRID, P, Q

import budget
from discreet.classical.q_values import q_values
from discreet.classical.step_up import adaptive_bh, null_share, step_up_positions


def written_out(p, q, m):
    """Reject the largest j hypotheses with p_(j) <= min(q, q*j/(m*pi0)), as the definition says."""
    pi0 = (1 + sum(x > q for x in p) + m - len(p)) / (m * (1 - q))
    ordered = sorted(p)
    critical = [min(q, q * j / (m * pi0)) for j in range(1, len(p) + 1)]
    count = max((j for j in range(1, len(p) + 1) if ordered[j - 1] <= critical[j - 1]), default=0)
    return [i for i, x in enumerate(p) if count and x <= critical[count - 1]]


@pytest.mark.slow
@given(P, Q, st.integers(0, 30))
def test_adaptive_bh_is_its_definition(p, q, more):
    """Also with hypotheses that are not told, which count as p = 1."""
    m = p.size + more
    expected = written_out(p.tolist(), q, m)
    assert adaptive_bh(p, q, m).tolist() == expected
    assert adaptive_bh(np.append(p, np.ones(more)), q).tolist() == expected


@given(st.lists(GRID, min_size=1, max_size=30).map(np.array), st.sampled_from([0.1, 0.25, 0.3]))
def test_q_values_tell_what_is_rejected(p, q):
    """A q-value is at most q where the procedure rejects, and where p is smaller it is no larger."""
    for procedure, positions in [("BH", step_up_positions(p, q)), ("adaptive BH", adaptive_bh(p, q))]:
        found = q_values(p, q, p.size, procedure)
        # On the line itself the two may round apart.
        assert {*np.flatnonzero(found <= q * (1 - 1e-12))} <= {*positions}
        assert (found[positions] <= q * (1 + 1e-12)).all()
        assert (np.diff(found[np.argsort(p, kind="stable")]) >= 0).all()


def exact_fdr(m, q, share):
    """Return the FDR where all m nulls are true and pi0 is share(k), k the number of p-values up to q.

    Given k, these are q times uniforms, and some U_(j) <= b*j/k with probability min(1, b): Daniels' theorem.
    """
    k = np.arange(m + 1)
    return float(binom.pmf(k, m, q) @ np.minimum(1, k / (m * share(k))))


@pytest.mark.parametrize("m", [1, 2, 5, 10, 30, 100])
def test_no_cap_on_the_share_of_true_nulls(m):
    """In exact law: FDR is at most q with the estimate as it is, and above q once it is cut at 1."""
    q = 0.1

    def share(k):
        return (1 + m - k) / (m * (1 - q))

    assert exact_fdr(m, q, share) <= q
    capped = exact_fdr(m, q, lambda k: np.minimum(1, share(k)))
    assert capped > q * (1 + 1e-9) if m > 2 else capped == pytest.approx(q)
    if m == 5:
        assert capped / q == pytest.approx(1.062, abs=5e-4)


@pytest.mark.slow
@pytest.mark.statistical(3, twins=2)
def test_the_rate_of_false_discoveries():
    """At most q where all nulls are true; without the 1 in the estimate, or without BH, far above."""
    q, m, n = 0.1, 2, 10_000
    samples = np.random.default_rng(5).random((n, m))
    budget.assert_mean_at_most([adaptive_bh(p, q).size > 0 for p in samples], q)

    def careless(p):
        # The same without the 1, and with nothing left above q a share of 0.
        share = null_share(p, q, m) - 1 / (m * (1 - q))
        return p.min() <= q and (share == 0 or step_up_positions(p, min(q / share, 0.99)).size > 0)

    truth = exact_fdr(m, q, lambda k: np.maximum(m - k, 1e-9) / (m * (1 - q)))
    budget.must_fail(budget.assert_mean_at_most, [careless(p) for p in samples], q, truth=truth)
    unadjusted = [p.min() <= q for p in samples]
    budget.must_fail(budget.assert_mean_at_most, unadjusted, q, truth=1 - (1 - q) ** m)
