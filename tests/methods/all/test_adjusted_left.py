"""What weights and slopes leave of the covariates is no more than is said, where covariates hardly vary."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.methods.all.adjusted import left
from discreet.methods.all.adjusted.balance import LEFT, Balance
from discreet.methods.all.record import Noisy
from discreet.methods.all.rows import FINE, LARGEST
from discreet.methods.all.sums import row_lengths

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


def test_the_last_step_is_longer_where_the_one_before_was_too_short():
    """By one over the share that it took; what noise may have made of both counts as nothing."""
    known = replace(balance(1.0), before=np.array([900.0, 0.0]))
    assert known.pace(np.array([450.0, 0.0]), 1.0) == pytest.approx(2.0, rel=1e-3)
    assert known.pace(np.array([0.0, 450.0]), 1.0) == known.pace(np.array([-450.0, 0.0]), 1.0) == 1.0
    assert known.pace(np.array([890.0, 0.0]), 1.0) < 4
    assert known.pace(np.array([450.0, 0.0]), 900.0) < 1.2
    assert balance(1.0).pace(np.array([450.0, 0.0]), 1.0) == 1.0


def test_a_planted_fault_is_found(monkeypatch):
    """The wrong twin: variances that are as if all covariates varied alike."""
    monkeypatch.setattr(Balance, "left_with", left_as_if_all_varied_alike)
    with pytest.raises(AssertionError):
        short_steps_are_covered(5.0)
    with pytest.raises(AssertionError):
        test_steps_that_do_not_arrive_are_noticed()


@pytest.mark.parametrize("noise", [1e-6, 0.1, 0.5])
def test_what_slopes_leave_is_known_where_they_are_too_small(noise, monkeypatch):
    """Slopes along a covariate of less variance are too small by as much, drawn toward 0 or not."""
    monkeypatch.setattr(left, "with_noise", lambda total, _moved, _rho, unit: Noisy(total * unit, told))
    n, slope = 4000, 0.9
    for variance in VARIANCES[1:]:
        told = noise * n
        signs = np.resize([1.0, -1.0], n)
        u = np.column_stack([np.ones(n), np.sqrt(variance) * signs])
        rows = np.trunc(left.FINE * slope * u[:, 1:])
        short = np.array([0.0, 1 - variance])
        slopes, unknown = left._learn_slopes(u, short, rows, 4000.0, np.array([float(n)]), 1.0)
        # As they were told, but for steps: what is left of them afterwards is what noise is charged for.
        raw = variance * slope
        rest = slope - raw
        assert unknown[0] >= 0.97 * rest**2
        assert abs(slopes[1, 0]) <= 1.01 * raw


def test_slopes_are_drawn_toward_what_columns_have_in_common():
    """Of noise little is left but along the direction that all follow; of one column all are drawn alike.

    Wrong twin: drawn column by column, slopes keep several times the error.
    """
    rng = np.random.default_rng(3)
    way, size, m = np.eye(8)[:, :1], 3.0, 200
    truth = way * rng.normal(size, 0.5, m)
    told = truth + rng.normal(size=(8, m))
    slopes, unknown = left.drawn(told, np.ones(m))
    error = np.sum((slopes - truth) ** 2, axis=0).mean()
    assert error < 2.5
    assert np.sum((told - truth) ** 2, axis=0).mean() > 6
    assert error / 1.5 < unknown.mean() < 2 * error
    alone = np.hstack([left.drawn(told[:, [place]], np.ones(1))[0] for place in range(m)])
    assert np.sum((alone - truth) ** 2, axis=0).mean() > 2 * error
    assert np.allclose(alone[:, 0] / told[:, 0], 1 - 4.5 / np.sum(told[:, 0] ** 2))


def test_a_column_that_follows_what_no_other_does_keeps_it():
    """No more than a few deviations of the noise are taken off, and what is says so."""
    rng = np.random.default_rng(4)
    told = rng.normal(size=(5, 300))
    told[2, 7] += 12.0
    slopes, unknown = left.drawn(told, np.ones(300))
    assert slopes[2, 7] > 9.0
    told[:, 9] = 2.0
    unlike = left.drawn(told, np.ones(300))[1]
    assert unlike[9] > 5 * np.median(unknown)


def widest():
    """Return what is left of two people's rows of eight columns, as far out as can be, and the ends."""
    rules = np.tile([0.0, 0.0, FINE, 0.0, -left._BEYOND, left._BEYOND, 0.0], (8, 1))
    known = left.Left(rules, np.full(8, 15.0 * FINE), np.zeros((2, 8)), np.ones(8))
    rows = known.whole(np.repeat([[1e300], [-np.inf]], 8, axis=1), np.zeros((2, 2)))
    return rows, known


def kernels_have_room():
    """Check that ends are those that rows may have anywhere, and that lengths are those of the rows."""
    rows, known = widest()
    assert known.ends.max() <= LARGEST
    assert np.array_equal(np.abs(rows), np.tile(known.ends, (2, 1)))
    assert np.array_equal(row_lengths(rows), np.linalg.norm(rows.astype(float), axis=1))
    assert known.box.radius >= row_lengths(rows).max()


def test_entries_are_no_larger_than_kernels_have_room_for():
    """Ranges of 15 deviations, and 2.5 more where slopes are not known, are cut to 16."""
    kernels_have_room()


def test_entries_of_16_bits_are_found(monkeypatch):
    """The wrong twin: entries as large as their type allows."""
    monkeypatch.setattr(left, "LARGEST", 2**15 - 1)
    with pytest.raises(AssertionError):
        kernels_have_room()
