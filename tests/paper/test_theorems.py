"""Theorems 1 and 5 against the worst adaptive procedure, and against honest procedures under dependence."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from budget import assert_mean_at_most, must_fail
from discreet import fdr_bound
from discreet.classical.step_up import step_up_positions
from discreet.lab.adversary import worst_fdp
from discreet.lab.scenarios import SCENARIOS

Q = 0.1


def rng(seed):
    return np.random.default_rng(seed)


def least_bound(q, k, given="false"):
    """Return the least of the bounds, which is the exact one."""
    return min(fdr_bound(q, k, given=given, version=v).value for v in ("paper", "simple", "exact"))


def never(line, n):
    """Return P(U_(j) > line[j - 1] for every j), U_(j) the order statistics of n uniforms; the line rises."""
    law, last = np.ones(1), 0.0  # of how many uniforms lie below the line, none of them too early
    for j, at in enumerate(line, 1):
        below = np.arange(law.size)
        law = binom.pmf(np.arange(j)[:, None] - below, n - below, (at - last) / (1 - last)) @ law
        last = at
    return law.sum()


def least_mean(reach, n, m, q, steps=6, most=20):
    """Return a lower bound on E X, if X >= t whenever U_(j) <= q/m * reach(j, floor(j/t)) for some j.

    P(X >= t) falls with t, so that its values at some t bound the integral; only j up to `most` count.
    """
    inverse, j = np.arange(steps, round(2.2 * steps / q)) / steps, np.arange(1, most + 1)
    reached = [1 - never(q / m * reach(j, np.floor(j * u)), n) for u in inverse]
    return -np.diff(1 / inverse, append=0.0) @ reached


def least_worst_fdp(m, q, share, k=1):
    """Return a lower bound on the adversary's FDR_k: V = j needs R - j <= all false nulls."""
    spare = round(m * share)
    return least_mean(lambda j, r: np.where(j >= k, np.minimum(r, j + spare), 0.0), m - spare, m, q)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("k", "exceeded"), [(2, Q), (10, 0.8 * Q)])
def test_theorem_1(k, exceeded):
    """The adversary's FDR_k stays below every bound of Theorem 1; FDR_2 is shown to exceed q itself."""
    fdp = worst_fdp(rng(k), 20_000, 5000, Q, k, share=0.03)
    assert_mean_at_most(fdp, least_bound(Q, k))
    must_fail(assert_mean_at_most, fdp, wrong=exceeded, truth=least_worst_fdp(5000, Q, 0.03, k))


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("q", "reached"), [(0.05, 0.14), (0.1, 0.25), (0.2, 0.42)])
def test_theorem_1_at_its_supremum(q, reached):
    """The adversary's FDR is near .18, .30 and .48: below every bound, shown above .14, .25 and .42."""
    fdp = worst_fdp(rng(9), 20_000, 5000, q, share=0.02)
    assert_mean_at_most(fdp, least_bound(q, None))
    must_fail(assert_mean_at_most, fdp, wrong=reached, truth=least_worst_fdp(5000, q, 0.02))


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("k", [5, 50])
def test_theorem_5(k):
    """E max of V_j/j over j >= k, which bounds FDR^k, stays below every bound and is shown to exceed q."""
    m = 2000
    draws = rng(k)
    worst = np.empty(20_000)
    for run in range(worst.size):
        crossed = np.ceil(np.sort(draws.random(m)) * m / Q)  # the first j with U_(i) <= q*j/m
        false = np.searchsorted(crossed, np.arange(k, m + 1), side="right")
        worst[run] = min(1.0, np.max(false / np.arange(k, m + 1)))
    assert_mean_at_most(worst, least_bound(Q, k, "rejections"))
    truth = least_mean(lambda _, r: np.where(r >= k, r, 0.0), m, m, Q, most=30)
    must_fail(assert_mean_at_most, worst, wrong=Q, truth=truth)


@pytest.mark.statistical(2, twins=1)
def test_theorem_1_in_the_papers_example():
    """False nulls tied to the median of the nulls: FDR within the bound; rejecting all p <= q is not."""
    draws = rng(3)
    studies = [SCENARIOS["median"].draw(draws, 200) for _ in range(3000)]
    bound = fdr_bound(Q).value

    def fdp(study, rejected):
        return np.count_nonzero(study.null[rejected]) / max(rejected.size, 1)

    assert_mean_at_most([fdp(s, step_up_positions(s.p, Q)) for s in studies], bound)
    all_small = [fdp(s, np.flatnonzero(s.p <= Q)) for s in studies]
    must_fail(assert_mean_at_most, all_small, wrong=bound, truth=0.8)


def test_fdr_k_needs_qk_to_grow():
    """FDR_k <= (1 + o(1)) q of Corollary 4.2 needs qk -> infinity: at fixed k it stays above q."""
    for k in (2, 3, 10):
        assert fdr_bound(1e-6, k).value > 1.3 * 1e-6
    assert fdr_bound(0.1, 10**6).value < 0.1 * (1 + 2 / math.sqrt(0.1 * 10**6))
