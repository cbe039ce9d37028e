"""What weights and slopes leave of the covariates is no more than is said, where covariates hardly vary."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.methods.all.adjusted import measure
from discreet.methods.all.adjusted.balance import LEFT, Balance
from discreet.methods.all.record import Noisy

VARIANCES = (1.0, 0.7, 0.3, 0.12)


def balance(variance):
    """Return a balance of one covariate of which u has this variance."""
    short = np.array([0.0, 1 - variance])
    return Balance(np.zeros(1), np.eye(1), 2.0, np.zeros(2), short)


def left_as_if_all_varied_alike(self, excess, deviation):
    """Return the balance as if no column could follow a covariate that hardly varies more steeply."""
    missed = self.short**2 @ np.maximum(excess**2 - deviation**2, 0.0)
    return replace(self, imbalance=LEFT * deviation**2 + float(missed))


def short_steps_are_covered(excess):
    """Check what a last step leaves that goes as far as if u had variance 1."""
    for variance in VARIANCES:
        told = balance(variance).left_with(np.array([0.0, np.hypot(excess, 1.0)]), 1.0).imbalance
        # Of what was told noise is a part. A column of deviation 1 follows the covariate by 1/sqrt(variance).
        assert told >= ((1 - variance) * excess) ** 2 / variance


@pytest.mark.parametrize("excess", [2.0, 5.0, 40.0])
def test_short_steps_count_as_much_as_a_column_can_follow_them(excess):
    """Whatever the last step leaves where u varies little is in the variance."""
    short_steps_are_covered(excess)


def test_steps_that_do_not_arrive_are_noticed():
    """Where nobody is within a width, the last step leaves the excess as it is; noise alone adds nothing."""
    for excess in (6.0, 100.0):
        told = balance(1.0).left_with(np.array([excess, 0.0]), 1.0).imbalance
        assert told >= excess**2
    assert balance(1.0).left_with(np.array([4.0, -4.0]), 1.0).imbalance == LEFT


def test_a_planted_fault_is_found(monkeypatch):
    """The wrong twin: variances that are as if all covariates varied alike."""
    monkeypatch.setattr(Balance, "left_with", left_as_if_all_varied_alike)
    with pytest.raises(AssertionError):
        short_steps_are_covered(5.0)
    with pytest.raises(AssertionError):
        test_steps_that_do_not_arrive_are_noticed()


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.5])
def test_what_slopes_leave_is_known_where_they_are_too_small(noise, monkeypatch):
    """Slopes along a covariate of less variance are too small by as much, drawn toward 0 or not."""
    monkeypatch.setattr(measure, "with_noise", lambda total, _moved, _rho, unit: Noisy(total * unit, told))
    n, slope = 4000, 0.9
    for variance in VARIANCES[1:]:
        told = noise * n
        signs = np.resize([1.0, -1.0], n)
        u = np.column_stack([np.ones(n), np.sqrt(variance) * signs])
        rows = np.trunc(measure.FINE * slope * u[:, 1:])
        short = np.array([0.0, 1 - variance])
        slopes, unknown = measure._learn_slopes(u, short, rows, 4000.0, np.array([float(n)]), 1.0)
        # As they were told, but for steps: what is left of them afterwards is what noise is charged for.
        raw = variance * slope
        left = slope - raw
        assert unknown[0] >= 0.97 * left**2
        assert abs(slopes[1, 0]) <= 1.01 * raw
