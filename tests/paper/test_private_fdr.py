"""Section 4 of the paper: Algorithm 4, its fast form, Theorem 6 (and 2, 3) and the corollary."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.evidence.core.certificate import Null
from discreet.lab import theorem
from discreet.methods.paper import cutoffs
from discreet.methods.paper.cutoffs import KINDS
from discreet.privacy.account import account
from discreet.selection.top_k import top_k

M, K, Q, NU = 400, 20, 0.2, 1e-6
NULL = Null("exponential", -math.log(NU))


def algorithm_4(p, scale, kind, miss):
    """Run peeling, fresh values and step-down at a given noise scale, without calibration."""
    x = -np.log(np.maximum(p, NU))
    epsilon = K * 3e-6 / scale  # sensitivity 1e-6 at delta = 0: scale = 3 k eta/epsilon
    chosen = top_k(x, K, sensitivity=1e-6, epsilon=epsilon, method="peel", largest=True, values=True)
    assert chosen.scale == pytest.approx(scale, rel=1e-6)
    line = cutoffs.cutoffs(NULL, M, K, Q, chosen.value_scale, kind, miss)
    return chosen.indices[cutoffs.step_down_scores(chosen.values, line.score)], line


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_theorem_6_b_at_least_as_many_as_step_down():
    """With the paper's cutoffs, and the Delta that holds for noisy values, fewer than k' is rare."""
    rng = np.random.default_rng(0)
    fewer, plainly_fewer = [], []
    for _ in range(120):
        p = rng.random(M)
        p[:12] = ndtr(-rng.uniform(3, 5, 12))
        least = min(K, discreet.step_down(p, Q).count)
        fewer.append(algorithm_4(p, 0.3, "paper", 0.01)[0].size < least)
        plainly_fewer.append(algorithm_4(p, 0.3, "conservative", 0.01)[0].size < least)
    assert_mean_at_most(fewer, 0.01)
    must_fail(assert_mean_at_most, plainly_fewer, wrong=0.01, truth=0.5)


@pytest.mark.slow
@pytest.mark.statistical(3)
@pytest.mark.parametrize("kind", KINDS)
def test_theorem_6_c_fdr_within_the_stated_level(kind):
    """FDR stays within what the cutoffs earn when false nulls are 1 minus the median of the true ones."""
    rng = np.random.default_rng(1)
    false, stated = [], 1.0
    for _ in range(150):
        p = rng.random(M)
        p[:40] = (1 - np.median(p[40:])) * 1e-4
        found, line = algorithm_4(p, 0.05, kind, 0.01)
        stated = line.fdr
        false.append(np.mean(found >= 40) if found.size else 0.0)
    assert_mean_at_most(false, stated)
    if kind == "conservative":
        assert line.adaptive_level <= Q * (1 + 1e-3)


@pytest.mark.slow
@pytest.mark.statistical(20)
def test_theorem_6_as_simulate_prints_it():
    """Both selections: (b) misses, and FDR, FDR_2, FDR_10 of (c), within what is stated; half is not."""
    promises = theorem.theorem_6(repetitions=150)
    assert {(p.part, p.method) for p in promises} == {(b, s) for b in "bc" for s in theorem.SELECTIONS}
    for promise in promises:
        hits = round(promise.simulated.mean * 150)  # of values in [0, 1] with this mean, coins vary most
        assert_mean_at_most(np.arange(150) < hits, promise.stated)
        assert promise.kept
    assert not any(replace(p, stated=p.simulated.mean / 2).kept for p in promises if p.quantity == "FDR")


def test_paper_cutoffs_know_the_noise_of_the_selection():
    """Theorem 6 (b) for the fast form: the cutoffs fall by the selection's noise, and the level says so."""
    peel, fast = (cutoffs.cutoffs(NULL, M, K, Q, 0.01, "paper", 0.01, s) for s in (None, 0.05))
    gap = 2 * 0.04 * (math.log(M) + math.log(2 * K / 0.01))
    assert peel.score - fast.score == pytest.approx(np.full(K, gap))
    assert fast.adaptive_level > peel.adaptive_level


def test_levels_follow_the_cutoffs():
    """Raising by the noise earns q, doing nothing earns more, lowering by Delta the most."""
    earned = {kind: cutoffs.cutoffs(NULL, M, K, Q, 0.05, kind, 0.01).adaptive_level for kind in KINDS}
    assert earned["conservative"] <= Q * (1 + 1e-3) < earned["plain"] < earned["paper"]
    slack = 0.05 * math.log(K / 0.02)
    assert earned["plain"] == pytest.approx(math.exp(slack) * (Q + NU * M), rel=1e-3)
    doubled = math.exp(slack + cutoffs.accuracy(M, K, 0.05, 0.01)) * (Q + NU * M)
    assert earned["paper"] == pytest.approx(doubled, rel=1e-3)
    assert cutoffs.cutoffs(NULL, M, K, Q, 5.0, "paper", 0.01).fdr == 1.0


@pytest.mark.parametrize("method", ["peel", "oneshot", "aware"])
def test_corollary_for_binary_data(method):
    """Binary columns end to end: exact proportions from raw data to a private list, nu and all."""
    rng = np.random.default_rng(2)
    n, m = 100_000, 60
    rates = np.where(np.arange(m) < 10, 0.53, 0.5)
    table = (rng.random((n, m)) < rates).astype(float)
    evidence = discreet.measure(table, discreet.Proportion(null=0.5, alternative="greater"))
    k = None if method == "aware" else 15
    found = discreet.release(evidence, q=0.1, epsilon=1, delta=1e-6, method=method, k=k)
    assert account(found.privacy.events, delta=1e-6) <= 1.0
    assert np.count_nonzero(found.indices < 10) >= 8
    assert np.count_nonzero(found.indices >= 10) <= 3
