"""The false-alarm budget of the suite: every statistical assertion spends ALPHA, all of them at most TOTAL.

A test that uses these assertions declares how many with `@pytest.mark.statistical(n)`; `conftest.py` fails a
test that spends more than it declared, and `test_budget.py` adds up what all tests declare.

Each assertion rests on an inequality that holds for every sample size, so ALPHA is not an approximation:
Hoeffding's bound P(mean >= x) <= exp(-n kl(x, mu)) for values in [0, 1], kl the divergence between coins, and
the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant.
"""

import math

import numpy as np

ALPHA = 1e-9
TOTAL = 1e-6


class Ledger:
    """How many statistical assertions the running test has made."""

    spent = 0


def assert_mean_at_most(sample, bound, scale=1.0):
    """Fail if values in [0, scale] show, at level ALPHA, a mean above `bound`."""
    _spend()
    mean, n = _mean(sample, scale)
    assert not _shown_above(mean, bound / scale, n, ALPHA), f"mean {mean * scale} is above {bound}"


def assert_mean_is(sample, value, scale=1.0):
    """Fail if values in [0, scale] show, at level ALPHA, a mean different from `value`."""
    _spend()
    mean, n = _mean(sample, scale)
    assert not _shown_above(mean, value / scale, n, ALPHA / 2), f"mean {mean * scale} is above {value}"
    assert not _shown_above(1 - mean, 1 - value / scale, n, ALPHA / 2), (
        f"mean {mean * scale} is below {value}"
    )


def assert_law(sample, cdf):
    """Fail if the sample shows, at level ALPHA, a law other than that of the continuous `cdf`."""
    _spend()
    x = np.sort(np.asarray(sample, dtype=float))
    n = x.size
    expected = cdf(x)
    gap = max(np.max(np.arange(1, n + 1) / n - expected), np.max(expected - np.arange(n) / n))
    assert gap <= math.sqrt(math.log(2 / ALPHA) / (2 * n)), f"distance {gap} from the law"


def must_fail(assertion):
    """Run a wrong twin: an assertion of something false, which the same data must refute."""
    try:
        assertion()
    except AssertionError:
        return
    raise RuntimeError("the wrong twin passed: this test could not tell right from wrong")


def _spend():
    Ledger.spent += 1


def _mean(sample, scale):
    values = np.asarray(sample, dtype=float) / scale
    assert values.min() >= 0
    assert values.max() <= 1
    return float(values.mean()), values.size


def _shown_above(mean, bound, n, level):
    if bound >= 1 or mean <= bound:
        return False
    if bound <= 0:
        return True
    gap = mean * math.log(mean / bound)
    if mean < 1:
        gap += (1 - mean) * math.log((1 - mean) / (1 - bound))
    return n * gap > math.log(1 / level)


def assert_frequencies(counts, probabilities):
    """Fail if counts of outcomes show, at level ALPHA, other probabilities; cells share the level equally."""
    _spend()
    counts = np.asarray(counts, dtype=float)
    n = int(counts.sum())
    level = ALPHA / (2 * counts.size)
    for count, p in zip(counts, probabilities, strict=True):
        assert not _shown_above(count / n, p, n, level), f"frequency {count / n} is above {p}"
        assert not _shown_above(1 - count / n, 1 - p, n, level), f"frequency {count / n} is below {p}"
