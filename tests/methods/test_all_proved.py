"""Proved p-values: super-uniform by exact computation, with noise in all that they are made of."""

from itertools import combinations

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr
from scipy.stats import norm

from budget import assert_mean_at_most, must_fail
from discreet.methods.all.proved import Noisy, proved_p_values, two_valued_squares

LEVELS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


def arrangements(v, k, f):
    """Return the contrast sum (y_i - f) v_i of every arrangement of k ones."""
    return np.array([v[list(chosen)].sum() for chosen in combinations(range(len(v)), k)]) - f * v.sum()


def chances(v, k, share, noises, claimed=None, alternative="two-sided", **options):
    """Return P(p <= alpha) for each level, over all arrangements and the noise of U, S and Q.

    The noise of U is a fine grid, that of S and Q Gauss-Hermite nodes. `claimed` are the variances the
    p-values are told, if other than the true ones.
    """
    contrast_noise, total_noise, squares_noise = noises
    told = noises if claimed is None else claimed
    sums = arrangements(v, k, share)
    edges = np.linspace(
        sums.min() - 9 * np.sqrt(contrast_noise), sums.max() + 9 * np.sqrt(contrast_noise), 501
    )
    below = ndtr((edges[:, None] - sums) / np.sqrt(contrast_noise)).mean(axis=1)
    mass, middle = np.diff(below), (edges[1:] + edges[:-1]) / 2
    nodes, weights = hermegauss(5)
    weights = weights / weights.sum()
    found = np.zeros(len(LEVELS))
    for x, wx in zip(nodes, weights, strict=True):
        for y, wy in zip(nodes, weights, strict=True):
            p = proved_p_values(
                Noisy(middle, told[0]),
                total=Noisy(v.sum() + x * np.sqrt(total_noise), told[1]),
                squares=Noisy((v**2).sum() + y * np.sqrt(squares_noise), told[2]),
                labels=Noisy(k - share * len(v)),
                present=Noisy(len(v)),
                share=share,
                low=-1.0,
                high=1.0,
                expected=(v**2).sum(),
                failure=1e-6,
                alternative=alternative,
                **options,
            )
            found += wx * wy * np.array([mass[p <= level].sum() for level in LEVELS])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("alternative", ["two-sided", "less"])
@pytest.mark.parametrize(("k", "share"), [(7, 0.5), (2, 0.3)])
def test_super_uniform(k, share, alternative):
    """All arrangements of 14 labels, entries even or lopsided, a share that is off."""
    rng = np.random.default_rng(k)
    for v in (rng.uniform(-1, 1, 14), np.r_[1.0, 0.9, np.full(12, -0.1)]):
        variance = share * (1 - share) * (v**2).sum()
        for noise in (0.3 * variance, 3 * variance):
            found = chances(v, k, share, (noise, 0.5, 0.5), alternative=alternative)
            assert np.all(found <= LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "square_noise", "told"),
    [(1.0, 1.0, (1.0, 0.0)), (4.0, 0.25, (1.0, 0.25))],
    ids=["of the variance", "of the contrast"],
)
def test_noise_may_not_be_left_out(noise, square_noise, told):
    """Wrong twins: p-values told too little of the noise are not super-uniform; the right ones are."""
    v = np.linspace(-1, 1, 14)
    square = (v**2).sum()
    variance = square / 4

    def found(noise, square_noise):
        return noise * variance, 0.01, square_noise * square**2

    true = found(noise, square_noise)
    assert np.all(chances(v, 7, 0.5, true) <= LEVELS)
    assert np.any(chances(v, 7, 0.5, true, claimed=found(*told)) > 1.5 * np.array(LEVELS))


def many(n, m, f, missing, seed):
    """Return a generator, labels, null columns of two values, and which entries are there."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < f) * 1.0
    x = (rng.random((n, m)) < 0.3) * 1.0
    return rng, y, x, rng.random((n, m)) >= missing * (1 + y[:, None])


@pytest.mark.statistical(2, twins=1)
def test_null_columns_with_missing_entries():
    """Labels protected, centres and share off, entries missing by group: at most 5% of p-values below 0.05.

    The wrong twin takes the drift of the share among those present for nothing.
    """
    n, m, share, centre, deviation = 2000, 3000, 0.2, 0.0, 6.0
    rng, y, x, here = many(n, m, 0.3, 0.15, 8)
    v = np.where(here, x - centre, 0.0)

    def noisy(values):
        return Noisy(values + rng.normal(size=np.shape(values)) * deviation, deviation**2)

    present = Noisy(n) - noisy((~here).sum(axis=0))
    total = noisy(v.sum(axis=0))
    options = {
        "total": total,
        "squares": two_valued_squares(total, present, -centre, 1 - centre),
        "present": present,
        "share": share,
        "low": -centre,
        "high": 1 - centre,
        "expected": 0.8 * n * (0.3 - 0.6 * centre + centre**2),
        "failure": 1e-4,
        "two_valued": True,
    }
    contrast = noisy((y - share) @ v)
    labels = noisy((y - share).sum()) - noisy((y - share) @ ~here)
    assert_mean_at_most(proved_p_values(contrast, labels=labels, **options) <= 0.05, 0.05)
    wrong = proved_p_values(contrast, labels=Noisy(0.0), **options) <= 0.05
    must_fail(assert_mean_at_most, wrong, wrong=0.05, truth=0.2)


def test_how_near_it_is():
    """With noise as large as sampling and well measured nuisances, z = 4.5 counts as more than 4.3."""
    n, noise = 10_000, 200.0
    squares = n / 12
    z = np.array([3.0, 4.5, 6.0])
    p = proved_p_values(
        Noisy(z * np.sqrt(noise + squares / 4), noise),
        total=Noisy(20.0, 400.0),
        squares=Noisy(squares, 400.0),
        labels=Noisy(0.0, 400.0),
        present=Noisy(n),
        share=0.5,
        low=-0.5,
        high=0.5,
        expected=1.3 * squares,
        failure=1e-10,
    )
    assert np.all(norm.isf(p / 2) >= z - [0.2, 0.2, 0.25])
    assert np.all(norm.isf(p / 2) < z)


def test_extremes_stay_p_values():
    """Hardly any people, noise far larger than all else, values beyond all reason: still in (0, 1]."""
    for value in (0.0, -1e9, 1e9):
        for noise in (1e-12, 1.0, 1e12):
            p = proved_p_values(
                Noisy(np.array([value]), noise),
                total=Noisy(0.0, noise),
                squares=Noisy(-5.0, noise),
                labels=Noisy(0.0, noise),
                present=Noisy(3.0, noise),
                share=0.5,
                low=-1.0,
                high=1.0,
                expected=1.0,
                failure=1e-6,
            )
            assert 1e-6 <= p[0] <= 1
