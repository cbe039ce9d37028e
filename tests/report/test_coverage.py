"""How often the intervals of discoveries miss, where the truth is known."""

import numpy as np
import pytest
from sample_releases import sample
from scipy import stats

import budget
from discreet import Told
from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.report.table import limits, of_discoveries, told_columns

Q = 0.2
RULES = {"BH": step_up_positions, "adaptive BH": adaptive_bh}
# Many weak ones, which are discovered only when they look far stronger.
TRUTH = np.repeat([0, 0.5, 1, 4], [15, 10, 4, 1])


def release_of(estimate, error, degrees, procedure):
    """Return the release that tells these estimates and reports what the procedure rejects."""
    m = estimate.size
    names = tuple(map(str, range(m)))
    p = 2 * stats.t.sf(np.abs(estimate / error), degrees)
    told = Told(np.arange(m), names, ("mean",) * m, estimate, error, np.full(m, degrees), p, procedure)
    found = RULES[procedure](p, Q)
    return sample(
        found.size, m=m, q=Q, values=False, indices=found, names=[names[i] for i in found], told=told
    )


def missed(low, high, release):
    """Return the share of the discoveries whose interval misses."""
    truth = TRUTH[release.indices]
    return ((low > truth) | (high < truth)).mean() if len(release) else 0.0


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize("procedure", RULES)
@pytest.mark.parametrize("degrees", [6.0, np.inf])
def test_intervals_of_discoveries(procedure, degrees):
    """FCR is at most q for independent estimates; intervals at level 1 - q for all would miss more often."""
    rng = np.random.default_rng(11)
    adjusted, plain = [], []
    for _ in range(2000):
        error = np.sqrt(rng.chisquare(degrees, TRUTH.size) / degrees) if degrees < np.inf else np.ones(30)
        release = release_of(TRUTH + rng.normal(size=30), error, degrees, procedure)
        told = of_discoveries(release)
        adjusted.append(missed(told["low"], told["high"], release))
        low, high = limits(release.told, np.full(30, Q))
        plain.append(missed(low[release.indices], high[release.indices], release))
    budget.assert_mean_at_most(adjusted, Q)
    # By 3,000 studies each, 0.386 to 0.423.
    budget.must_fail(budget.assert_mean_at_most, plain, Q, truth=0.35)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_intervals_one_by_one():
    """Those of the others are at level 1 - q, each for itself, whatever was discovered; not at 1 - q/2."""
    rng = np.random.default_rng(12)
    inside = []
    for _ in range(2500):
        release = release_of(TRUTH + rng.normal(size=30), np.ones(30), np.inf, "BH")
        low, high = limits(release.told, np.full(30, Q))
        told = told_columns(release)
        rest = ~told["discovered"]
        assert np.array_equal(told["low"][rest], low[rest])
        assert np.array_equal(told["high"][rest], high[rest])
        inside.append((low[20] <= TRUTH[20]) & (high[20] >= TRUTH[20]))
    budget.assert_mean_is(inside, 1 - Q)
    budget.must_fail(budget.assert_mean_is, inside, 1 - Q / 2, truth=1 - Q)


def coupled(rng, n):
    """Return errors of two estimates, normal each, with the coupling of docs/proofs/intervals.md."""
    low, high, theta = stats.norm.isf(0.1), stats.norm.isf(0.05), 0.5
    first = rng.normal(size=n)
    # Where the second error makes a discovery: below `left`, or above 1 - `right`, of its own law.
    left, right = stats.norm.cdf(-low - theta), stats.norm.sf(low - theta)
    rest = (left + right - 0.1) / 0.8  # what is left of discoveries, where the first asks for nothing
    size = np.abs(first)
    found = np.where(size > high, False, (size > low) | (rng.random(n) < rest))
    place = rng.random(n)
    inner = left + place * (1 - left - right)
    outer = place * (left + right)
    outer = np.where(outer < left, outer, outer + 1 - left - right)
    return first, stats.norm.ppf(np.where(found, outer, inner)), theta


@pytest.mark.statistical(3, twins=1)
def test_dependence_that_breaks_the_promise():
    """Two false nulls, coupled: the errors are normal, and FCR is 0.2187 at q = 0.2, as the page computes."""
    n = 200_000
    first, second, theta = coupled(np.random.default_rng(13), n)
    budget.assert_law(second, stats.norm.cdf)
    both = np.abs(second + theta) >= stats.norm.isf(0.1)  # the first is always discovered
    miss = np.abs(np.array([first, second])) > stats.norm.isf(np.where(both, 0.1, 0.05))
    share = np.where(both, miss.mean(axis=0), miss[0])
    exact = 0.1 + 0.05 + (0.1 + stats.norm.cdf(-stats.norm.isf(0.1) - 0.5)) / 2
    assert round(exact, 4) == 0.2187
    budget.assert_mean_is(share, exact)
    budget.must_fail(budget.assert_mean_at_most, share, Q, truth=exact)
