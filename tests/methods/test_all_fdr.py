"""False discoveries when everything is told: the theorems by exact enumeration, with wrong twins."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import cauchy, multivariate_normal, norm

GRID = 8  # each column is in one of so many equally likely states
STATES = np.array(list(product(range(GRID), repeat=3)))


def rejected(p, q, m=None):
    """Return BH's rejections, one row of p-values at a time; `m` other than their number is a wrong twin."""
    p = np.asarray(p, dtype=float)
    line = np.arange(1, p.shape[1] + 1) * np.asarray(q)[..., None] / (m or p.shape[1])
    passes = np.sort(p, axis=1) <= line + 1e-12
    count = np.where(passes.any(axis=1), p.shape[1] - np.argmax(passes[:, ::-1], axis=1), 0)
    limit = np.where(
        count > 0, np.take_along_axis(line + 0 * p, np.maximum(count, 1)[:, None] - 1, 1)[:, 0], -1
    )
    return p <= limit[:, None] + 1e-12


def fdr(found, nulls):
    """Return the false discovery rate of equally likely rows."""
    return np.mean(found[:, nulls].sum(axis=1) / np.maximum(found.sum(axis=1), 1))


def uniform(rng):
    """Return p-values of the states, uniform on 1/GRID, .., 1, in random order."""
    return (1 + rng.permutation(GRID)) / GRID


def test_adaptive_bh():
    """Independent uniform p-values: at most q, and not if pi0 is not divided by 1 - q."""
    p = (1 + np.array(list(product(range(40), repeat=3)))) / 40
    for q in (0.3, 0.5):
        above = (p > q).sum(axis=1)
        right = fdr(rejected(p, q * 3 * (1 - q) / (1 + above)), [0, 1, 2])
        wrong = fdr(rejected(p, q * 3 / (1 + above)), [0, 1, 2])
        assert right <= q < wrong


def staged(rng, m0, *, own=False, smallest=False):
    """Return the FDR of two stages with random bits and random p-values for each set of survivors."""
    bits = rng.random((3, GRID)) < rng.choice([0.3, 0.5, 0.8])
    first = np.array([uniform(rng) for _ in range(3)])
    final = np.array([[uniform(rng) for _ in range(8)] for _ in range(3)])  # column, survivors, state
    final[m0:] = np.minimum(final[m0:], rng.random() ** 3)
    if own:  # wrong: the noise depends on the column's own state beyond its bit
        final = np.broadcast_to(final.min(axis=1, keepdims=True), final.shape)
    columns = np.arange(3)
    alive = bits[columns, STATES]
    survivors = alive @ [1, 2, 4]
    p = final[columns, survivors[:, None], STATES]
    if smallest:  # wrong: the better of two looks
        p = np.minimum(p, first[columns, STATES])
    return fdr(rejected(np.where(alive, p, 1.0), 0.5), list(range(m0)))


@pytest.mark.slow
@pytest.mark.parametrize("m0", [1, 2, 3])
def test_stages(m0):
    """Three columns, two stages, p-values that depend on who survives in any way: at most q m0/m."""
    rng = np.random.default_rng(m0)
    found = [staged(rng, m0) for _ in range(400)]
    assert max(found) <= 0.5 * m0 / 3 + 1e-12
    assert max(staged(rng, m0, own=True) for _ in range(100)) > 0.5 * m0 / 3
    assert max(staged(rng, m0, smallest=True) for _ in range(100)) > 0.5 * m0 / 3


def focused(rng, m0, m):
    """Return the FDR when the best two of three scores are measured, and BH is run as if of m."""
    score = rng.normal(size=(3, GRID))
    p = np.array([np.sort(uniform(rng))[np.argsort(np.argsort(-score[j]))] for j in range(3)])
    p[m0:] = np.minimum(p[m0:], rng.random() ** 3)
    columns = np.arange(3)
    seen = score[columns, STATES]
    chosen = seen > seen.min(axis=1, keepdims=True)
    return fdr(rejected(np.where(chosen, p[columns, STATES], 1.0), 0.5, m), list(range(m0)))


@pytest.mark.parametrize("m0", [2, 3])
def test_select_then_measure(m0):
    """p-values as dependent on the scores as can be: BH over all hypotheses holds, over the selected not."""
    rng = np.random.default_rng(10 + m0)
    assert max(focused(rng, m0, 3) for _ in range(300)) <= 0.5 * m0 / 3 + 1e-12
    assert max(focused(rng, m0, 2) for _ in range(300)) > 0.5 * m0 / 3


def test_negatively_dependent_answers():
    """Two normal answers, one-sided: BH exceeds q, by less than a hundredth at q = 0.1, a seventh at 0.5."""

    def rate(q, rho):
        def under(a, b):
            ends = norm.isf([a, b])
            return multivariate_normal.cdf(-ends, cov=[[1, -rho], [-rho, 1]])

        return q + under(q, q) - 2 * under(q / 2, q)

    rhos = np.linspace(0, 0.95, 20)
    assert 1.005 < max(rate(0.1, rho) for rho in rhos) / 0.1 < 1.01
    assert 1.12 < max(rate(0.5, rho) for rho in rhos) / 0.5 < 1.15


def test_log_concave_noise_keeps_positive_dependence():
    """Equal scores of 0 or 5 plus normal noise are PRDS; plus Cauchy noise they are not."""
    y = np.linspace(-20, 40, 601)

    def other_is_large(noise):
        odds = noise.pdf(y - 5) / np.maximum(noise.pdf(y), 1e-300)
        five = odds / (1 + odds)  # the chance that the scores are 5, given one noisy score
        return five * noise.sf(3 - 5) + (1 - five) * noise.sf(3)

    assert np.all(np.diff(other_is_large(norm)[100:300]) >= -1e-12)
    assert np.any(np.diff(other_is_large(cauchy)) < -1e-4)
