"""The suite's own honesty: its false-alarm budget and the power of its assertions."""

import numpy as np
import pytest

from budget import ALPHA, TOTAL, assert_law, assert_mean_at_most, assert_mean_is, must_fail


def test_the_whole_suite_stays_within_its_false_alarm_budget(request):
    """All statistical assertions declared by collected tests, each at ALPHA, cost at most TOTAL."""
    markers = [item.get_closest_marker("statistical") for item in request.session.items]
    declared = sum(marker.args[0] for marker in markers if marker)
    assert declared * ALPHA <= TOTAL


@pytest.mark.statistical(6)
def test_assertions_pass_on_truth_and_fail_on_falsehood():
    """Each assertion accepts a true statement about uniforms and refutes one that is 5% off."""
    sample = np.random.default_rng(0).random(100_000)
    assert_mean_at_most(sample, 0.5)
    must_fail(lambda: assert_mean_at_most(sample, 0.475))
    assert_mean_is(sample, 0.5)
    must_fail(lambda: assert_mean_is(sample, 0.525))
    assert_law(sample, lambda x: x)
    must_fail(lambda: assert_law(sample, lambda x: x**1.1))


def test_a_twin_that_passes_is_an_error():
    """A wrong twin that is not refuted stops the test with an error, not an assertion."""
    with pytest.raises(RuntimeError, match="wrong twin"):
        must_fail(lambda: None)
