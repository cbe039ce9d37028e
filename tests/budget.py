"""The suite's two errors: a right assertion that fails by chance, and a wrong twin that passes by chance.

Every assertion fails falsely with chance ALPHA at most, every twin escapes with chance BETA at most, and all
of either kind cost TOTAL at most. A test declares how many of each it makes,
`@pytest.mark.statistical(n, twins=t)`; `conftest.py` fails a test that makes more, and `test_budget.py` adds
up what all tests declare.

Both rest on the same inequalities, which hold for every sample size, so no chance is an approximation:
Hoeffding's bound P(mean >= x) <= exp(-n kl(x, mu)) for independent values in [0, 1], kl the divergence
between coins, and the Dvoretzky-Kiefer-Wolfowitz inequality with Massart's constant. They bound how far a
right sample strays from the truth; a twin escapes only where the sample strays from the truth almost as far
as the false claim.
"""

import math

import numpy as np

ALPHA = 1e-9
BETA = 1e-9
TOTAL = 1e-6


class Ledger:
    """What the running test has done: how many assertions and twins it made, and what is claimed of twins.

    `escapes` adds up the twins' chances to escape; `truths` holds, for each twin about a mean, the mean that
    is declared true, the mean of the sample and its squared error.
    """

    spent = 0
    twins = 0
    escapes = 0.0
    truths = ()

    @classmethod
    def reset(cls):
        """Begin the account of the next test."""
        cls.spent = cls.twins = 0
        cls.escapes = 0.0
        cls.truths = ()


def declared(marker):
    """Return how many assertions and how many twins a test's marker declares."""
    return (marker.args[0], marker.kwargs.get("twins", 0)) if marker else (0, 0)


def assert_mean_at_most(sample, bound, scale=1.0):
    """Fail if values in [0, scale] show, at level ALPHA, a mean above `bound`."""
    Ledger.spent += 1
    mean, n = _mean(sample, scale)
    assert not _shown_above(mean, bound / scale, n, ALPHA), f"mean {mean * scale} is above {bound}"


def assert_mean_is(sample, value, scale=1.0):
    """Fail if values in [0, scale] show, at level ALPHA, a mean different from `value`."""
    Ledger.spent += 1
    mean, n = _mean(sample, scale)
    assert not _shown_above(mean, value / scale, n, ALPHA / 2), f"mean {mean * scale} is above {value}"
    assert not _shown_above(1 - mean, 1 - value / scale, n, ALPHA / 2), (
        f"mean {mean * scale} is below {value}"
    )


def assert_law(sample, cdf):
    """Fail if the sample shows, at level ALPHA, a law other than that of the continuous `cdf`."""
    Ledger.spent += 1
    x = np.sort(np.asarray(sample, dtype=float))
    n = x.size
    expected = cdf(x)
    gap = max(np.max(np.arange(1, n + 1) / n - expected), np.max(expected - np.arange(n) / n))
    assert gap <= _band(n), f"distance {gap} from the law"


def assert_frequencies(counts, probabilities):
    """Fail if counts of outcomes show, at level ALPHA, other probabilities; cells share the level equally."""
    Ledger.spent += 1
    counts = np.asarray(counts, dtype=float)
    n = int(counts.sum())
    level = ALPHA / (2 * counts.size)
    for count, p in zip(counts, probabilities, strict=True):
        assert not _shown_above(count / n, p, n, level), f"frequency {count / n} is above {p}"
        assert not _shown_above(1 - count / n, 1 - p, n, level), f"frequency {count / n} is below {p}"


def must_fail(assertion, sample, wrong, truth, **options):
    """Run a wrong twin: the sample must refute `assertion(sample, wrong)`, for what holds is `truth`.

    `truth` is in the assertion's own terms: the mean, law or probabilities that the sample has; under
    `assert_mean_at_most`, a number that its mean is at least. The sample must not refute it. From the two
    and the sample's size follows the chance that the twin escapes, which must be BETA at most.
    """
    chance = escape(assertion, sample, wrong, truth, **options)
    if chance > BETA:
        raise RuntimeError(
            f"this twin escapes with chance {chance:.1e}: draw more, or claim something wilder"
        )
    Ledger.twins += 1
    Ledger.escapes += chance
    if assertion in (assert_mean_at_most, assert_mean_is):
        values = np.asarray(sample, dtype=float)
        Ledger.truths += ((truth, values.mean(), values.var() / values.size),)
    if assertion is assert_mean_at_most:
        scale = options.get("scale", 1.0)
        assertion(scale - np.asarray(sample, dtype=float), scale - truth, scale)
    else:
        assertion(sample, truth, **options)
    try:
        assertion(sample, wrong, **options)
    except AssertionError:
        Ledger.spent -= 1  # meant to fail, so no false alarm
        return
    raise RuntimeError("the wrong twin passed: this test could not tell right from wrong")


def escape(assertion, sample, wrong, truth, scale=1.0):
    """Return a bound on the chance that a sample of this size, of which `truth` holds, passes as `wrong`."""
    n = np.size(sample)
    if assertion is assert_law:
        x = np.asarray(sample, dtype=float)
        clear = np.max(np.abs(wrong(x) - truth(x))) - _band(n)  # the laws are at least so far apart
        return min(1.0, 2 * math.exp(-2 * n * clear**2)) if clear > 0 else 1.0
    if assertion is assert_frequencies:
        n = int(np.sum(sample))
        cells = list(zip(wrong, truth, strict=True))
        return min(_taken_for(w, t, n, ALPHA / (2 * len(cells))) for w, t in cells)
    wrong, truth = wrong / scale, truth / scale
    if assertion is assert_mean_at_most:
        return _taken_for(wrong, max(wrong, truth), n, ALPHA)
    return _taken_for(wrong, truth, n, ALPHA / 2)


def _taken_for(wrong, truth, n, level):
    """Return a bound on the chance that the mean of n values, `truth` expected, is not told from `wrong`."""
    if truth < wrong:
        wrong, truth = 1 - wrong, 1 - truth
    low, high = wrong, 1.0  # bisection for the largest mean that is not shown to be above
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if _shown_above(middle, wrong, n, level) else (middle, high)
    return math.exp(-n * _kl(high, truth)) if high < truth else 1.0


def _mean(sample, scale):
    values = np.asarray(sample, dtype=float) / scale
    assert values.min() >= 0
    assert values.max() <= 1
    return float(values.mean()), values.size


def _band(n):
    return math.sqrt(math.log(2 / ALPHA) / (2 * n))


def _shown_above(mean, bound, n, level):
    if bound >= 1 or mean <= bound:
        return False
    return bound <= 0 or n * _kl(mean, bound) > math.log(1 / level)


def _kl(x, p):
    """Return the divergence of a coin of chance x from one of chance p; infinite where p rules x out."""
    if p >= 1:
        return math.inf if x < 1 else 0.0
    return (x * math.log(x / p) if x > 0 else 0.0) + ((1 - x) * math.log((1 - x) / (1 - p)) if x < 1 else 0.0)
