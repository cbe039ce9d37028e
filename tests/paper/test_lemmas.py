"""The lemmas of section 3, checked numerically, each beside a statement that must fail."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta

from budget import assert_law, assert_mean_at_most, assert_mean_is, must_fail
from discreet.classical.bounds import crossing_tail
from discreet.lab.words import limit_of_fdr_2, printed_constants

M = 40
RUNS = 40_000


@pytest.fixture(scope="module")
def sums():
    """T_1, ..., T_{M+1}: partial sums of independent exponentials; shape (RUNS, M + 1)."""
    return np.cumsum(np.random.default_rng(1).exponential(size=(RUNS, M + 1)), axis=1)


@pytest.fixture(scope="module")
def uniforms():
    """Order statistics of M uniforms; shape (RUNS, M)."""
    return np.sort(np.random.default_rng(2).random((RUNS, M)), axis=1)


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("j", [1, 5])
def test_exponential_representation(sums, j):
    """T_j / T_{m+1} has the law of U_(j), Beta(j, m+1-j), here at m = 8; T_j / T_m has not."""
    law = beta(j, 9 - j).cdf
    assert_law(sums[:, j - 1] / sums[:, 8], law)
    must_fail(assert_law, sums[:, j - 1] / sums[:, 7], wrong=law, truth=beta(j, 8 - j).cdf)


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("i", "j"), [(1, 2), (3, 10)])
def test_exponential_representation_is_joint(sums, uniforms, i, j):
    """T_i / T_j, like U_(i) / U_(j), is Beta(i, j-i); Beta(i, j-i+1) must fail."""
    assert_law(sums[:, i - 1] / sums[:, j - 1], beta(i, j - i).cdf)
    wrong, truth = beta(i, j - i + 1).cdf, beta(i, j - i).cdf
    must_fail(assert_law, uniforms[:, i - 1] / uniforms[:, j - 1], wrong=wrong, truth=truth)


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("j", [1, 7])
def test_backward_submartingale_conditional_law(sums, j):
    """Lemma 3.2: given the future, T_j / T_{j+1} has law b^j, whatever T_{j+1} is; b^(j+1) must fail."""
    ratio = sums[:, j - 1] / sums[:, j]
    late = sums[:, j] > np.median(sums[:, j])
    assert_law(ratio[late], lambda b: b**j)
    must_fail(assert_law, ratio[late], wrong=lambda b: b ** (j + 1), truth=lambda b: b**j)


@pytest.mark.parametrize("j", [2, 3, 10, 100])
def test_backward_submartingale(j):
    """Lemma 3.2: E[W_j | F_{j+1}] / W_{j+1} = j/(j+1) E[1/B] = j^2/(j^2-1) >= 1; it is no martingale."""
    inverse, _ = quad(lambda b: j * b ** (j - 2), 0, 1)
    ratio = j / (j + 1) * inverse
    assert ratio == pytest.approx(j**2 / (j**2 - 1))
    assert ratio > 1


def test_backward_submartingale_at_one():
    """Lemma 3.2 at j = 1: the conditional mean of W_1 is infinite, as its partial integrals show."""
    partial = [quad(lambda b: 1 / b, cut, 1)[0] for cut in (1e-2, 1e-4, 1e-8)]
    assert partial == pytest.approx([math.log(1e2), math.log(1e4), math.log(1e8)])


@pytest.mark.slow
@pytest.mark.statistical(3, twins=1)
def test_lemma_behind_fdr_2():
    """Lemma 3.1: E max_{j>=2} j/(m U_(j)) <= C with C = 2.43; C = 2 must fail."""
    j = np.arange(2, M + 1)
    uniforms = np.sort(np.random.default_rng(3).random((5 * RUNS, M)), axis=1)
    largest = np.max(j / (M * uniforms[:, 1:]), axis=1)
    cut = np.minimum(20.0, largest)  # the variance of the maximum itself is infinite
    exact = 1 + quad(lambda t: crossing_tail(1 / t, 2, M), 1, 20)[0]  # the maximum exceeds t >= 1, or 1
    assert_mean_at_most(cut, 2.43, scale=20.0)
    assert_mean_is(cut, exact, scale=20.0)
    must_fail(assert_mean_at_most, cut, wrong=2.0, truth=exact, scale=20.0)


def test_constant_of_lemma_3_1():
    """Lemma 3.1: the exact constant is 1 + the integral of P(J_a >= 2)/a^2 = 2.4287: below 3, above 2."""
    integral, _ = quad(lambda a: (crossing_tail(a, 2) - 1e-9) / a**2, 1e-3, 1, limit=200)
    closed, _ = quad(lambda a: (1 - (1 - a) * math.exp(-a)) / a, 0, 1)  # P(J_a >= 2) = a - a(1-a)e^-a
    assert 1 + integral + 2e-3 == pytest.approx(1 + closed, abs=1e-4)
    assert 1 + closed == pytest.approx(limit_of_fdr_2())
    assert limit_of_fdr_2() == pytest.approx(2.4287, abs=1e-4)


def test_constants_of_the_printed_proof():
    """The printed proof's own constants are 7.91 and 10.12, not below 3: its integral is 4."""
    integral, _ = quad(lambda v: 2 * math.log(2 / v), 0, 2)
    fdr_2, fdr = printed_constants()
    assert fdr_2 == pytest.approx((1 + integral) / (1 - math.exp(-1)))
    assert (round(fdr_2, 1), round(fdr, 1)) == (7.9, 10.1)


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("q", [0.05, 0.2])
def test_lemma_3_3(uniforms, q):
    """Lemma 3.3: E min(1/ceil(m U_(1)/q), 1) <= q log(1/q) + C_0 q, C_0 = 1 + 2/sqrt(e); q must fail."""
    payoff = 1 / np.maximum(1, np.ceil(M * uniforms[:, 0] / q))
    reach = np.arange(1, math.ceil(M / q) + 1)
    above = np.clip(1 - q * (reach - 1) / M, 0, 1) ** M
    exact = np.sum((above - np.append(above[1:], 0.0)) / reach)
    assert exact <= q * math.log(1 / q) + (1 + 2 / math.sqrt(math.e)) * q
    assert_mean_is(payoff, exact)
    must_fail(assert_mean_at_most, payoff, wrong=q, truth=exact)


@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("a", "k"), [(0.5, 1), (0.8, 5), (0.95, 30)])
def test_last_crossing_in_simulation(uniforms, a, k):
    """Crossings at or after k happen as often as the exact law says; at a smaller slope the law must fail."""
    j = np.arange(1, M + 1)
    crossed = (uniforms <= a * j / M)[:, k - 1 :].any(axis=1)
    exact = crossing_tail(a, k, M)
    assert_mean_is(crossed, exact)
    must_fail(assert_mean_is, crossed, wrong=crossing_tail(0.9 * a, k, M), truth=exact)
