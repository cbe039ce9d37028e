"""Proved p-values: super-uniform by exact computation, with noise in all that they are made of."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import ndtr
from scipy.stats import norm

from budget import assert_mean_at_most, must_fail
from discreet.methods.all.proved.p_values import NoisySums, proved_p_values
from discreet.methods.all.record import Noisy

LEVELS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)


def exact(value):
    """Return a number that was told as it is."""
    return Noisy(np.asarray(value, dtype=float), 0.0, 0.0)


def noisy(value, variance):
    """Return numbers told with noise of this variance, not rounded."""
    return Noisy(np.asarray(value, dtype=float), float(np.sqrt(variance)), 0.0)


def told(v, k, share, **changes):
    """Return what is told of one column of entries in [-1, 1] without noise; `contrast` is to be given."""
    fields = {
        "labels": exact(k - share * len(v)),
        "total": exact(v.sum()),
        "present": exact(len(v)),
        "squares": exact((v**2).sum()),
        "groups": (exact(len(v) - k), exact(k)),
        "share": share,
        "low": np.float64(-1.0),
        "high": np.float64(1.0),
        "two_valued": np.array(False),
    }
    return NoisySums(**fields | changes)


def arrangements(v, k, f):
    """Return the contrast sum (y_i - f) v_i of every arrangement of k ones."""
    return np.array([v[list(chosen)].sum() for chosen in combinations(range(len(v)), k)]) - f * v.sum()


def chances(v, k, share, noises, claimed=None, alternative="two-sided", **changes):
    """Return P(p <= alpha) for each level, over all arrangements and the noise of U, S, Q and D.

    The noise of U is a fine grid, that of the others Gauss-Hermite nodes. `claimed` are the variances the
    p-values are told, if other than the true ones.
    """
    said = noises if claimed is None else claimed
    sums = arrangements(v, k, share)
    edges = np.linspace(sums.min() - 9 * np.sqrt(noises[0]), sums.max() + 9 * np.sqrt(noises[0]), 501)
    below = ndtr((edges[:, None] - sums) / np.sqrt(noises[0])).mean(axis=1)
    mass, middle = np.diff(below), (edges[1:] + edges[:-1]) / 2
    nodes, weights = hermegauss(5)
    weights = weights / weights.sum()
    found = np.zeros(len(LEVELS))
    third = zip(nodes, weights, strict=True) if noises[3] else [(0.0, 1.0)]
    for z, wz in third:
        for x, wx in zip(nodes, weights, strict=True):
            for y, wy in zip(nodes, weights, strict=True):
                column = told(
                    v,
                    k,
                    share,
                    contrast=noisy(middle, said[0]),
                    total=noisy(v.sum() + x * np.sqrt(noises[1]), said[1]),
                    squares=noisy((v**2).sum() + y * np.sqrt(noises[2]), said[2]),
                    labels=noisy(k - share * len(v) + z * np.sqrt(noises[3]), said[3]),
                    **changes,
                )
                p = proved_p_values(
                    column, expected=np.float64((v**2).sum()), failure=1e-6, alternative=alternative
                )
                found += wx * wy * wz * np.array([mass[p <= level].sum() for level in LEVELS])
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
            found = chances(v, k, share, (noise, 0.5, 0.5, 0.0), alternative=alternative)
            assert np.all(found <= LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.0, 0.4])
def test_labels_with_noise(mean):
    """The drift of the labels is told with noise as well, and multiplies a sum that is not small."""
    v = np.clip(np.linspace(-0.6, 0.6, 14) + mean, -1, 1)
    variance = (v**2).sum() / 4
    assert np.all(chances(v, 6, 0.5, (variance, 2.0, 0.5, 1.0)) <= LEVELS)


@pytest.mark.slow
def test_two_values_with_noise():
    """Columns of two values: their variance follows from a sum with noise."""
    v = np.r_[np.ones(4), np.full(10, -1.0)]
    for noise in (1.0, 8.0):
        found = chances(v, 6, 0.5, (noise, 3.0, 0.0, 0.5), two_valued=np.array(True))
        assert np.all(found <= LEVELS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("true", "claimed"),
    [
        ((1.0, 0.01, 1.0, 0.0), (1.0, 0.01, 0.0, 0.0)),
        ((4.0, 0.01, 0.25, 0.0), (1.0, 0.01, 0.25, 0.0)),
    ],
    ids=["of the variance", "of the contrast"],
)
def test_noise_may_not_be_left_out(true, claimed):
    """Wrong twins: p-values told too little of the noise are not super-uniform; the right ones are."""
    v = np.linspace(-1, 1, 14)
    square = (v**2).sum()
    scale = np.array([square / 4, 1.0, square**2, 1.0])
    right, wrong = tuple(scale * true), tuple(scale * claimed)
    assert np.all(chances(v, 7, 0.5, right) <= LEVELS)
    assert np.any(chances(v, 7, 0.5, right, claimed=wrong) > 1.5 * np.array(LEVELS))


def many(n, m, f, missing, seed):
    """Return a generator, labels, null columns of two values, and which entries are there."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < f) * 1.0
    x = (rng.random((n, m)) < 0.3) * 1.0
    return rng, y, x, rng.random((n, m)) >= missing * (1 + y[:, None])


@pytest.mark.slow
@pytest.mark.statistical(4, twins=2)
def test_null_columns_with_missing_entries():
    """Centres and share off, entries missing by group: at most 5% of p-values below 0.05.

    One wrong twin takes the drift of the share among those present for nothing, another forgets its noise.
    """
    n, m, share, deviation = 2000, 3000, 0.2, 6.0
    rng, y, x, here = many(n, m, 0.3, 0.15, 8)
    v = np.where(here, x, 0.0)

    def drawn(values):
        return noisy(values + rng.normal(size=np.shape(values)) * deviation, deviation**2)

    zeros = np.zeros(m)
    column = NoisySums(
        drawn((y - share) @ v),
        drawn((y - share) @ here),
        drawn(v.sum(axis=0)),
        drawn(here.sum(axis=0)),
        exact(zeros),
        (drawn((1 - y).sum()), drawn(y.sum())),
        share,
        zeros,
        zeros + 1,
        np.ones(m, dtype=bool),
    )
    options = {"expected": zeros + 0.8 * n * 0.3, "failure": 1e-4}
    assert_mean_at_most(proved_p_values(column, **options) <= 0.05, 0.05)
    wrong = proved_p_values(replace(column, labels=exact(zeros)), **options) <= 0.05
    must_fail(assert_mean_at_most, wrong, wrong=0.05, truth=0.2)
    rough = noisy((y - share) @ here + rng.normal(0, 60, m), 3600.0)
    assert_mean_at_most(proved_p_values(replace(column, labels=rough), **options) <= 0.05, 0.05)
    wrong = proved_p_values(replace(column, labels=exact(rough.sums)), **options) <= 0.05
    must_fail(assert_mean_at_most, wrong, wrong=0.05, truth=0.15)


def test_noise_of_a_product():
    """E exp of noise in both factors of a bias, less what is charged for it, is at most 1: closed form.

    X and Y are D and S with noise, in deviations of it, `c` the part of Y's noise that the variance has.
    """
    rng = np.random.default_rng(3)
    for _ in range(2000):
        a, c = rng.uniform(0.01, 0.9), rng.choice([0.0, rng.uniform(0, 1.5)])
        room = 0.4 if c else 0.0
        delta, s = rng.normal(size=2) * 10 ** rng.uniform(-1, 1.5)

        def log_mean(more, delta=delta, s=s, a=a, c=c):
            form = np.array([[1 + more * a**2, a], [a, 1 + more * a**2]])
            linear = np.array([delta, s - c])
            return (
                linear @ np.linalg.solve(form, linear) / 2
                - np.log(np.linalg.det(form)) / 2
                - (delta**2 + s**2) / 2
                + a * delta * s
                + c * s
            )

        more = (1 + room) / (1 - a)
        charged = c**2 / 2 * (1 + (1 + more * a**2) / 0.4) if c else 0.0
        assert log_mean(more) <= charged + 1e-9
    assert log_mean(0.5, delta=30.0, s=-30.0, a=0.5, c=0.0) > 1


def test_how_near_it_is():
    """With noise as large as sampling and nuisances told with noise, z = 4.5 counts as more than 4.35."""
    n, noise = 10_000, 200.0
    squares = n / 12
    z = np.array([3.0, 4.5, 6.0])
    column = NoisySums(
        noisy(z * np.sqrt(noise + squares / 4), noise),
        noisy(np.zeros(3), 400.0),
        noisy(np.full(3, 20.0), 400.0),
        noisy(np.full(3, float(n)), 400.0),
        noisy(np.full(3, squares), 400.0),
        (exact(n / 2), exact(n / 2)),
        0.5,
        np.full(3, -0.5),
        np.full(3, 0.5),
        np.zeros(3, dtype=bool),
    )
    p = proved_p_values(column, expected=np.full(3, 1.3 * squares), failure=1e-10)
    assert np.all(norm.isf(p / 2) >= z - [0.15, 0.15, 0.2])
    assert np.all(norm.isf(p / 2) < z)


def test_extremes_stay_p_values():
    """Hardly any people, noise far larger than all else, values beyond all reason: still in (0, 1]."""
    v = np.array([0.0, 1.0, -1.0])
    for value in (0.0, -1e9, 1e9):
        for noise in (1e-12, 1.0, 1e12):
            one = {name: noisy([0.0], noise) for name in ("labels", "total")}
            one |= {"squares": noisy([-5.0], noise), "present": noisy([3.0], noise)}
            with np.errstate(all="ignore"):
                column = told(v, 1, 0.5, contrast=noisy([value], noise), **one)
                p = proved_p_values(column, expected=np.ones(1), failure=1e-6)
            assert 1e-6 <= p[0] <= 1
