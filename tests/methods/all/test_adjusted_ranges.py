"""Ranges that noise made too narrow beside covariates, and what cutting entries does there."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import discreet
from discreet.gather import gathered
from discreet.methods.all.adjusted import measure, ranges
from discreet.methods.all.adjusted.measure import public_weights
from discreet.methods.all.adjusted.method import measured
from discreet.methods.all.adjusted.parts import parts_of
from discreet.methods.all.record import Noisy
from discreet.methods.all.rows import Columns, Scaling
from discreet.privacy.curves import gaussian_budget

ADJUST = {"age": (-4, 4), "bmi": (-4, 4)}


def nearly_explained(n, seed):
    """Return columns that covariates nearly explain, a yes/no partner, and a number that bends along them."""
    rng = np.random.default_rng(seed)
    covariates = rng.normal(size=(n, 2))
    line = covariates.sum(axis=1) / np.sqrt(2)
    values = np.sqrt(0.95) * line[:, None] + np.sqrt(0.05) * rng.normal(size=(n, 4))
    table = pd.DataFrame(values, columns=[f"x{place}" for place in range(4)])
    table["age"], table["bmi"] = covariates.T
    table["yes"] = (rng.random(n) < 1 / (1 + np.exp(-1.5 * line))).astype(float)
    table["bent"] = line**3 / 3 + line + rng.normal(size=n)
    table["half"] = (rng.random(n) < np.where(line > 0.5, 0.8, 0.2)).astype(float)
    return table


def p_values(table, test):
    """Return those of a release with much budget, in which noise hides nothing."""
    people = gathered(table, test, person=None, columns="x*")
    rho = gaussian_budget(20.0, 1e-6)
    return measured(people, parts_of(people, rho).of(rho), public_weights(people)).p


QUESTIONS = {
    "yes": discreet.Correlation(partner="yes", adjust=ADJUST),
    "bent": discreet.Correlation(partner="bent", adjust=ADJUST),
    "half": discreet.Compare(group="half", adjust=ADJUST),
    "half, public": discreet.Compare(group="half", adjust=ADJUST, protect="columns"),
}


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_columns_that_covariates_nearly_explain_go_with_nothing_else(question):
    """The mean of each column is linear in the covariates; neither partner nor log odds need be."""
    assert np.all(p_values(nearly_explained(40_000, 3), QUESTIONS[question]) > 1e-8)


@pytest.mark.slow
def test_entries_cut_before_slopes_come_off_are_found(monkeypatch):
    """The wrong twin: what cutting hides of a column goes with all that is not linear in the covariates."""
    real = measure.without_covariates

    def cut(scaling, columns, rows, covariates):
        left = real(scaling, columns, rows, covariates)
        left.rules[:, 4:6] = rows.rules(scaling, columns)[:, 4:6]
        return left

    monkeypatch.setattr(measure, "without_covariates", cut)
    table = nearly_explained(40_000, 3)
    assert np.all(p_values(table, QUESTIONS["yes"]) < 1e-12)
    assert np.all(p_values(table, QUESTIONS["bent"]) < 1e-12)


def narrow(times):
    """Return ranges of three columns of numbers, one of answers; the first two so many times too narrow."""
    none, free = np.zeros(0, dtype=np.intp), np.arange(4)[:3]
    columns = Columns(np.array([3]), none, free, np.zeros(0), np.zeros(0), np.arange(4))
    reach = np.array([2.0 / times, 2.0 / times, 0.5, 0.5])
    return Scaling(np.array([0.0, 0.0, 0.5, 0.5]), reach, np.full(4, 0.25)), columns


@pytest.mark.parametrize("times", [1.0, 2.0, 3.0, 100.0])
def test_ranges_are_widened_by_what_lies_beyond(times, monkeypatch):
    """To about two deviations; where nothing is known of a column, to where it says nothing."""
    noise = 50.0
    monkeypatch.setattr(ranges, "with_noise", lambda total, *_: Noisy(total + noise, noise))
    rng = np.random.default_rng(5)
    values = np.column_stack([rng.normal(size=(4000, 2)), rng.integers(0, 2, (4000, 2))])
    values[::7, 1] = np.nan
    scaling, columns = narrow(times)
    found, factor = ranges.widened(values, scaling, columns, np.full(4, 4000.0), 1.0)
    assert np.all(factor[2:] == 1.0)
    if times == 100:
        assert np.all(factor[:2] > 1000)
    else:
        assert np.all((found.half_width[:2] > 1.5) & (found.half_width[:2] <= 2.1))


def test_nothing_is_told_where_there_are_no_numbers():
    """Answers have no range that could be too narrow."""
    none = np.zeros(0, dtype=np.intp)
    columns = Columns(np.arange(4), none, none, np.zeros(0), np.zeros(0), np.arange(4))
    scaling = narrow(1.0)[0]
    found, factor = ranges.widened(np.zeros((5, 4)), scaling, columns, np.full(4, 5.0), 1.0)
    assert found is scaling
    assert np.all(factor == 1)


def seeming(monkeypatch, noise=50.0):
    """Return what becomes of columns that seem zeros, or zeros and ones, and of which every second does not.

    In order: zeros but for a fifth, normal numbers, zeros and ones, normal numbers.
    """
    monkeypatch.setattr(ranges, "with_noise", lambda total, *_: Noisy(total + noise, noise))
    rng = np.random.default_rng(6)
    normal = rng.normal(size=(4000, 4))
    rare, ones = (rng.random((4000, 1)) < 0.2) * normal[:, :1], rng.integers(0, 2, (4000, 1))
    values = np.hstack([rare, normal[:, 1:2], ones, normal[:, 3:]])
    none = np.zeros(0, dtype=np.intp)
    columns = Columns(none, none, np.arange(4), np.zeros(0), np.zeros(0), np.arange(4))
    centre, reach = np.array([0.0, 0.0, 0.5, 0.5]), np.array([1e-9, 1e-9, 0.5, 0.5])
    scaling = Scaling(centre, reach, np.full(4, 0.25))
    assert np.all(scaling.signs(columns) | scaling.zero_to_one(columns))
    found, _ = ranges.widened(values, scaling, columns, np.full(4, 4000.0), 1.0)
    return found, columns


def test_what_noise_made_seem_zeros_is_not_compared_by_its_signs(monkeypatch):
    """Zeros stay zeros; of others next to nothing is left. What is not 0 and 1 has a range like others."""
    found, columns = seeming(monkeypatch)
    assert found.signs(columns).tolist() == [True, False, False, False]
    assert found.zero_to_one(columns).tolist() == [False, False, True, False]
    assert found.half_width[1] > 1e100
    assert 0.8 < found.half_width[3] < 3
    assert np.all(np.isfinite(found.half_width))


def test_zeros_that_may_be_none_are_not_compared_either(monkeypatch):
    """Where noise leaves open whether most are zeros."""
    found, columns = seeming(monkeypatch, noise=1000.0)
    assert not found.signs(columns).any()


def test_signs_of_whatever_seems_zeros_are_found(monkeypatch):
    """The wrong twin: a column is what it seems to be."""
    monkeypatch.setattr(ranges, "_ZEROS", -1.0)
    with pytest.raises(AssertionError):
        test_what_noise_made_seem_zeros_is_not_compared_by_its_signs(monkeypatch)


def p_of_seeming_zeros(monkeypatch):
    """Return p-values of columns on a line with covariates, which seem zeros; the partner is not on one."""
    real = measure.learn_where

    def seems(values, columns, *given):
        where = real(values, columns, *given)
        zeros, tiny = np.zeros(len(where.mean)), np.full(len(where.mean), 1e-9)
        scaling = Scaling(zeros, tiny, where.scaling.spread)
        return replace(where, scaling=scaling, present_sd=zeros + np.inf)

    monkeypatch.setattr(measure, "learn_where", seems)
    return p_values(nearly_explained(20_000, 3), QUESTIONS["bent"])


def test_nothing_is_found_in_what_seems_zeros(monkeypatch):
    """Signs of a line are none: they go with whatever else is not."""
    assert np.all(p_of_seeming_zeros(monkeypatch) > 1e-8)


def test_signs_beside_covariates_find_what_is_not_there(monkeypatch):
    """The wrong twin of the release: columns are what they seem to be."""
    monkeypatch.setattr(ranges, "_ZEROS", -1.0)
    assert np.all(p_of_seeming_zeros(monkeypatch) < 1e-12)
