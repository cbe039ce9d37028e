"""The tail of a noisy sum: against exact laws, and with what it may not leave out."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from discreet.methods.all.proved.tail import log_arranged, log_mean, log_noise

SCORES = np.array([2.0, 2.5, 3.0, 3.5, 4.0, 4.5])


def noisy_sum_tail(t, *, noise, variance, bound, skew=1.0):
    """Return the smallest of the bounds on P(U + N >= t) at 1,000 rates."""
    with np.errstate(over="ignore"):
        rate = np.geomspace(0.01, 64, 1000)[:, None] / np.sqrt(noise + variance)
        mean = log_mean(rate, np.asarray(bound), skew)
        exponent = log_noise(rate, noise) + (variance * mean if variance else 0.0) - rate * np.asarray(t)
    return np.exp(np.minimum(np.fmin.reduce(exponent) + 1e-9, 0.0))


def exact(t, values, chances, noise):
    """Return P(U + N >= t), U with these values and chances, N normal."""
    return ndtr((np.asarray(values) - np.asarray(t)[:, None]) / np.sqrt(noise)) @ chances


def coins(weights, f):
    """Return all values of sum (y_i - f) a_i, y_i independent of mean f, and their chances."""
    y = np.array(list(product((0, 1), repeat=len(weights))))
    return (y - f) @ weights, np.prod(np.where(y, f, 1 - f), axis=1)


def moments(weights, f):
    """Return variance, bound and skew of sum (y_i - f) a_i."""
    bound = max(f, 1 - f) * np.abs(weights).max()
    variance = f * (1 - f) * (weights**2).sum()
    return variance, bound, (1 - 2 * f) * (weights**3).sum() / (weights**2).sum() / bound


def cases():
    """Return weights and rates: equal, random and lopsided."""
    rng = np.random.default_rng(5)
    shapes = [np.ones(12), rng.normal(size=12), rng.exponential(size=12), np.r_[np.full(11, 0.1), 3.0]]
    return [(weights, f) for weights in shapes for f in (0.05, 0.3, 0.5, 0.9)]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.05, 0.3, 1.0, 5.0])
def test_above_every_exact_law(share):
    """2^12 outcomes, convolved with the noise: the bound holds out to 8 deviations, on both sides."""
    for weights, f in cases():
        for side in (weights, -weights):
            variance, bound, skew = moments(side, f)
            noise = share * variance
            t = np.linspace(-1, 8, 60) * np.sqrt(variance + noise)
            tail = noisy_sum_tail(t, noise=noise, variance=variance, bound=bound, skew=skew)
            assert np.all(tail >= exact(t, *coins(side, f), noise))


@pytest.mark.parametrize(
    ("f", "wrong"),
    [
        (0.5, {"noise": 0.0}),
        (0.5, {"variance": 0.0}),
        (0.05, {"skew": -0.9}),
        (0.05, {"skew": 0.0}),
        (0.05, {"bound": 0.2}),
    ],
)
def test_what_may_not_be_left_out(f, wrong):
    """Wrong twins: without the noise or the sampling, with skewness turned round or dropped, it is broken."""
    weights = np.ones(12)
    variance, bound, skew = moments(weights, f)
    right = {"noise": variance, "variance": variance, "bound": bound, "skew": skew}
    t = np.linspace(2, 8, 40) * np.sqrt(2 * variance)
    truth = exact(t, *coins(weights, f), variance)
    assert np.all(noisy_sum_tail(t, **right) >= truth)
    assert np.any(noisy_sum_tail(t, **right | wrong) < truth)


@pytest.mark.parametrize(("share", "most"), [(0.1, 3.3), (1.0, 1.5), (5.0, 1.11)])
def test_how_near_it_is(share, most):
    """A factor over the truth that falls with the noise: 3 at a tenth of the variance, 1.1 at five times."""
    variance = 100.0
    t = SCORES * np.sqrt((1 + share) * variance)
    k = np.arange(401)
    truth = exact(t, k - 200, binom.pmf(k, 400, 0.5), share * variance)
    ratio = noisy_sum_tail(t, noise=share * variance, variance=variance, bound=0.5, skew=0.0) / truth
    assert np.all(ratio >= 1)
    assert np.all(ratio <= most)


def test_exact_without_sampling():
    """Where there is only noise it is the normal tail."""
    z = np.array([0.5, 1, 2, 4, 8, 20])
    tail = noisy_sum_tail(3 * z, noise=9.0, variance=0.0, bound=0.0)
    np.testing.assert_allclose(tail, ndtr(-z), rtol=2e-3)
    assert np.all(tail >= ndtr(-z))


@pytest.mark.parametrize("skew", [-1.0, -0.9, 0.0, 1.0])
def test_falls_in_t_and_never_overflows(skew):
    """From 0 to 200 deviations, with terms as large as the deviation or tiny, with noise or without."""
    t = np.linspace(0, 200, 4001)
    for noise, variance, bound in ((1, 1, 0.3), (0.01, 1, 2.0), (0, 1, 0.1), (1, 1e-9, 1e-3), (1, 1, 30.0)):
        tail = noisy_sum_tail(
            t * np.sqrt(noise + variance), noise=noise, variance=variance, bound=bound, skew=skew
        )
        assert tail[0] <= 1
        assert np.all(np.diff(tail) <= 0)


def arranged_excess(weights, k, rate):
    """Return log E e^(rate U) over all arrangements of k ones, less that of independent coins."""
    n, f = len(weights), k / len(weights)
    sums = np.array([weights[list(chosen)].sum() for chosen in combinations(range(n), k)])
    return np.log(np.mean(np.exp(rate * sums))) - np.log1p(f * np.expm1(rate * weights)).sum()


@pytest.mark.slow
def test_arrangements():
    """Fixed numbers of ones: every arrangement of up to 11 labels stays within what is added for them."""
    rng = np.random.default_rng(7)
    largest = -np.inf
    for _ in range(150):
        n = int(rng.integers(2, 12))
        k = int(rng.integers(1, n))
        weights = [rng.normal(size=n), rng.exponential(size=n) ** 2, (rng.random(n) < 0.4) * 1.0][k % 3]
        weights = weights - weights.mean()
        if np.abs(weights).max() < 1e-9:
            continue
        square, size = np.mean(weights**2), k * (n - k) / n
        for rate in np.geomspace(0.05, 12, 12) / np.sqrt(size * square):
            added = log_arranged(np.float64(rate), square, np.float64(size)) + rate**2 * square / 8
            for sign in (rate, -rate):
                excess = arranged_excess(weights, k, sign)
                assert excess <= added
                largest = max(largest, excess)
    assert largest > 0.1  # wrong twin: adding nothing is not enough
