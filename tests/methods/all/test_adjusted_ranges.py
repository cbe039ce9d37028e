"""Ranges that noise made too narrow beside covariates, and what cutting entries does there."""

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
    """Zeros and ones, and answers, have no range that could be too narrow."""
    scaling, columns = narrow(1.0)
    scaling.half_width[:2], scaling.centre[:2] = 0.5, 0.5
    found, factor = ranges.widened(np.zeros((5, 4)), scaling, columns, np.full(4, 5.0), 1.0)
    assert found is scaling
    assert np.all(factor == 1)
