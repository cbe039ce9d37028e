"""The numbers of docs/errata.md."""

import math

import numpy as np
import pytest

from budget import assert_law, assert_mean_at_most, assert_mean_is, must_fail
from discreet.lab.errata import _least, missed_accuracy


@pytest.mark.statistical(2, twins=1)
def test_least_of_many_laplace():
    """The minimum drawn directly has the law of a minimum: 1 - (1 - F)^n; another n must fail."""
    rng = np.random.default_rng(0)
    drawn = [_least(rng, 50) for _ in range(20_000)]

    def law(n):
        def cdf(x):
            below = np.where(x < 0, 0.5 * np.exp(-np.abs(x)), 1 - 0.5 * np.exp(-np.abs(x)))
            return 1 - (1 - below) ** n

        return cdf

    assert_law(drawn, law(50))
    must_fail(assert_law, drawn, wrong=law(60), truth=law(50))


@pytest.mark.slow
@pytest.mark.statistical(1, twins=1)
def test_item_5_peeled_values_exceed_their_bound():
    """Some noisy value exceeds x_(j) + b log m in most runs, far from probability o(1)."""
    runs = 600
    missed = np.arange(runs) < round(runs * missed_accuracy(runs))
    must_fail(assert_mean_at_most, missed, wrong=0.5, truth=0.78)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_item_5_equal_values_do_not_show_it():
    """With every value equal only the fresh noise counts: a share 1 - (1 - 1/2m)^k of runs exceeds."""
    runs, m, k = 4000, 50, 20
    missed = np.arange(runs) < round(runs * missed_accuracy(runs, m=m, k=k, gap=0.0))
    share = -math.expm1(k * math.log1p(-1 / (2 * m)))
    assert_mean_is(missed, share)
    must_fail(assert_mean_is, missed, wrong=0.5, truth=share)
