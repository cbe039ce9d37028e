"""Values missing more in one group than in the other: nothing is found, and no sign turns."""

from __future__ import annotations

import numpy as np
import pytest
from neighbour_tables import evidence_of

import discreet
from budget import assert_mean_at_most, must_fail

COMPLETE = [
    discreet.TwoGroups(group="g", bounds=(0, 1)),
    discreet.TwoGroups(group="g", bounds=(0, 1), sd=0.2),
    discreet.Stratified(group="g", stratum="s", strata=(0, 1, 2), bounds=(0, 1), sd=0.2),
    discreet.RankSum(group="g"),
    discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1),
    discreet.Stratified(group="g", stratum="s", strata=(0, 1, 2), bounds=(0, 1), floor=0.1),
    discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1, protect="everything"),
]
NAMES = ["capped", "known sd", "strata", "ranks", "floor", "strata floor", "floor protected"]
FILLED = discreet.TwoGroups(group="g", bounds=(0, 1), sd=0.2)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(("lost", "other"), [(0.1, 0.03), (0.3, 0.1)])
@pytest.mark.parametrize("test", COMPLETE, ids=NAMES)
def test_missing_more_in_one_group_finds_nothing(test, lost, other):
    """p-values of null columns stay valid; with missing values in the middle most columns would be found."""
    rng = np.random.default_rng(5)
    labels = {"g": rng.integers(0, 2, 4_000), "s": rng.integers(0, 3, 4_000)}
    values = rng.beta(2, 8, (4_000, 1_000))
    values[rng.random(values.shape) < np.where(labels["g"] == 1, lost, other)[:, None]] = np.nan
    evidence = evidence_of(test, values, labels)
    assert_mean_at_most(evidence.null.survival(evidence.score) <= 0.05, 0.05)
    filled = evidence_of(FILLED, np.where(np.isnan(values), 0.5, values), labels)
    must_fail(assert_mean_at_most, filled.null.survival(filled.score) <= 0.05, wrong=0.05, truth=0.3)


@pytest.mark.parametrize("test", COMPLETE, ids=NAMES)
def test_missing_values_turn_no_sign(test):
    """The group with larger values, all below the middle, misses more: imputed, it would come out higher."""
    rng = np.random.default_rng(6)
    group = np.arange(20_000) % 2
    values = 0.1 * rng.random((20_000, 1)) + 0.1 * (group == 0)[:, None]
    values[(rng.random(20_000) < 0.4) & (group == 1)] = np.nan
    labels = {"g": group, "s": np.arange(20_000) // 2 % 3}
    evidence = evidence_of(test, values, labels)
    assert evidence.effect.share[0] < 0
    assert evidence.score[0] > 4
    filled = np.where(np.isnan(values), 0.5, values)
    assert evidence_of(FILLED, filled, labels).effect.share[0] > 0


@pytest.mark.parametrize("test", COMPLETE[:2], ids=["capped", "known sd"])
def test_the_effect_is_that_of_the_people_present(test):
    """While four in five are present, the effect is the difference of their means."""
    rng = np.random.default_rng(7)
    group = np.arange(1_000) % 2
    values = rng.random((1_000, 1))
    values[::7] = np.nan
    means = [np.nanmean(values[group == one]) for one in (0, 1)]
    assert np.isclose(evidence_of(test, values, {"g": group}).effect.share[0], means[1] - means[0], atol=1e-5)


@pytest.mark.parametrize("test", COMPLETE, ids=NAMES)
def test_nobody_present_scores_nothing(test):
    """A column without a value, or with those of one group: a score of 0, no error."""
    group = np.arange(100) % 2
    values = np.full((100, 2), np.nan)
    values[group == 0, 1] = 0.3
    assert not evidence_of(test, values, {"g": group, "s": np.arange(100) // 2 % 3}).score.any()


CORRELATED = [
    discreet.Correlation(partner="g"),
    discreet.Correlation(partner="g", method="product", bounds=(0, 1), partner_bounds=(0, 1)),
]


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
@pytest.mark.parametrize(
    "test",
    [discreet.TwoByTwo(group="g"), discreet.TwoByTwo(group="g", protect="everything"), CORRELATED[1]],
    ids=["public", "protected", "product"],
)
def test_answers_missing_more_in_one_group_find_nothing(test):
    """A missing yes/no is no no: that twin finds most null columns."""
    rng = np.random.default_rng(8)
    group = rng.integers(0, 2, 4_000)
    values = (rng.random((4_000, 1_000)) < 0.6).astype(float)
    values[rng.random(values.shape) < np.where(group == 1, 0.3, 0.1)[:, None]] = np.nan
    evidence, filled = (evidence_of(test, table, {"g": group}) for table in (values, np.nan_to_num(values)))
    assert_mean_at_most(evidence.null.survival(evidence.score) <= 0.05, 0.05)
    must_fail(assert_mean_at_most, filled.null.survival(filled.score) <= 0.05, wrong=0.05, truth=0.3)


def test_a_partner_that_is_missing_leaves_nobody_else_out():
    """Who lacks the partner's value is left out, whatever the column holds, and says nothing."""
    rng = np.random.default_rng(9)
    partner, column = rng.random(2_000), rng.random((2_000, 1))
    partner[:500] = np.nan
    for test in CORRELATED:
        kept = {"g": partner}
        other = column.copy()
        other[:500] = 1.0
        assert evidence_of(test, column, kept).score == evidence_of(test, other, kept).score
