"""The suite's own honesty: its budget of errors, and the power of its assertions."""

import numpy as np
import pytest
from scipy.stats import binom

from budget import (
    ALPHA,
    BETA,
    TOTAL,
    Ledger,
    assert_frequencies,
    assert_law,
    assert_mean_at_most,
    assert_mean_is,
    declared,
    escape,
    must_fail,
)
from discreet.noise import entropy
from flicker import Row, watched


def test_the_whole_suite_stays_within_its_budget(request):
    """False alarms of all declared assertions, and escapes of all declared twins, cost at most TOTAL each."""
    made = [declared(item.get_closest_marker("statistical")) for item in request.session.items]
    assertions, twins = (sum(counts) for counts in zip(*made, strict=True))
    assert assertions * ALPHA <= TOTAL
    assert twins * BETA <= TOTAL


@pytest.mark.statistical(6, twins=3)
def test_assertions_pass_on_truth_and_fail_on_falsehood():
    """Each assertion accepts a true statement about uniforms and refutes one that is 5% off."""
    sample = np.random.default_rng(0).random(100_000)
    assert_mean_at_most(sample, 0.5)
    must_fail(assert_mean_at_most, sample, wrong=0.475, truth=0.5)
    assert_mean_is(sample, 0.5)
    must_fail(assert_mean_is, sample, wrong=0.525, truth=0.5)
    assert_law(sample, lambda x: x)
    must_fail(assert_law, sample, wrong=lambda x: x**1.1, truth=lambda x: x)


@pytest.mark.parametrize(
    ("assertion", "sample", "wrong", "truth"),
    [
        (assert_mean_at_most, np.arange(400) % 2, 0.4, 0.5),
        (assert_mean_at_most, np.arange(400) % 2, 0.4, 0.3),
        (assert_mean_is, np.arange(400) % 2, 0.6, 0.5),
        (assert_law, np.linspace(0, 1, 1000), lambda x: x**1.1, lambda x: x),
        (assert_frequencies, [200, 200], [0.4, 0.6], [0.5, 0.5]),
    ],
)
def test_a_twin_that_may_escape_is_refused(assertion, sample, wrong, truth):
    """A falsehood too near for the sample's size is an error before the sample is looked at."""
    assert escape(assertion, sample, wrong, truth) > BETA
    with pytest.raises(RuntimeError, match="escapes with chance"):
        must_fail(assertion, sample, wrong, truth)


@pytest.mark.statistical(2, twins=3)
def test_a_twin_that_passes_is_an_error_and_so_is_an_untrue_truth():
    """A falsehood that is not refuted stops the test with an error; a truth that is refuted fails it."""
    coins = np.arange(4000) % 2
    must_fail(assert_mean_is, coins, wrong=0.9, truth=0.5)
    with pytest.raises(AssertionError, match="below"):
        must_fail(assert_mean_is, coins, wrong=0.1, truth=0.9)
    with pytest.raises(RuntimeError, match="wrong twin passed"):
        must_fail(lambda *_: None, coins, wrong=0.1, truth=0.5)


def test_a_truth_that_holds_of_one_seed_only_shows_over_many():
    """Where the declared mean is too large for most samples, the table of `flicker.py` has it far below 0."""
    rng = np.random.default_rng(7)
    exact, lucky = Row("exact"), Row("lucky")
    for _ in range(50):
        sample = rng.random(1000)
        for row, truth in ((exact, 0.5), (lucky, 0.52)):
            row.truths.append(((truth, sample.mean(), sample.var() / sample.size),))
    assert abs(exact.margin()) < 7
    assert lucky.margin() < -7


def test_flicker_sees_what_draws_afresh(monkeypatch):
    """The program that repeats tests sees every draw of private randomness, and no other."""
    drawn = []
    monkeypatch.setattr(entropy, "_Stream", watched(lambda: drawn.append(True)))
    monkeypatch.setattr(entropy._local, "stream", None)
    np.random.default_rng(7).random(3)
    assert not drawn
    entropy.integer(5)
    assert drawn == [True]


@pytest.mark.parametrize(("n", "wrong", "truth"), [(400, 0.2, 0.5), (2000, 0.5, 0.6), (800, 0.9, 0.6)])
def test_escapes_are_no_likelier_than_stated(n, wrong, truth):
    """The exact binomial chance that a twin escapes is below the bound, by a factor of less than 100."""

    def passes(hits):
        try:
            assert_mean_is(np.arange(n) < hits, wrong)
        except AssertionError:
            return False
        finally:
            Ledger.spent -= 1  # nothing is drawn
        return True

    exact = binom.pmf([hits for hits in range(n + 1) if passes(hits)], n, truth).sum()
    assert exact <= escape(assert_mean_is, np.zeros(n), wrong, truth) <= 100 * exact
