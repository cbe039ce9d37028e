"""Which columns go with a number, what covariates explain taken off both."""

import numpy as np
import pandas as pd
import pytest

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.gather import gathered
from discreet.methods.all.adjusted.method import measured
from discreet.methods.all.adjusted.parts import parts_of
from discreet.privacy.curves import gaussian_budget

ADJUST = {"age": (18, 90), "bmi": (10, 50), "sex": ["female", "male"]}


def confounded(n, columns, seed, slope=0.0):
    """Return columns and a dose that depend on age, weight and sex; `slope` is what a unit of dose adds."""
    rng = np.random.default_rng(seed)
    age, bmi, sex = rng.uniform(18, 90, n), rng.normal(26, 5, n), rng.integers(0, 2, n)
    lean = (age - 54) / 21 + (bmi - 26) / 5 + sex - 0.5
    dose = 100 + 20 * lean + 10 * rng.normal(size=n)
    values = rng.normal(size=(n, columns)) + lean[:, None] + slope * dose[:, None]
    table = pd.DataFrame(values, columns=[f"x{place}" for place in range(columns)])
    table["dose"], table["age"], table["bmi"] = dose, age, bmi
    table["sex"] = np.where(sex, "male", "female")
    return table


def told(table, *, epsilon=1.0, adjust=ADJUST, alternative="two-sided"):
    """Return what an adjusted correlation comes to."""
    test = discreet.Correlation(partner="dose", adjust=adjust, alternative=alternative)
    people = gathered(table, test, person=None, columns="x*")
    rho = gaussian_budget(epsilon, 1e-6)
    return measured(people, parts_of(people, rho).of(rho), None)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_confounding_finds_nothing():
    """Null columns that share strong causes with the number pass .1 no more often; unadjusted, all do.

    One mean for each study: columns of one share the noise in its weights.
    """
    tables = [confounded(3000, 4, seed) for seed in range(36)]
    assert_mean_at_most([np.mean(told(table).p <= 0.1) for table in tables], 0.1)
    naive = [discreet.measure(table, discreet.Correlation(partner="dose"), columns="x*") for table in tables]
    passing = [np.mean(each.null.survival(each.score) <= 0.1) for each in naive]
    must_fail(assert_mean_at_most, passing, wrong=0.1, truth=0.95)


def test_a_slope_is_estimated():
    """With a large budget the estimate is the slope given the covariates, within its error, and signed."""
    table = confounded(20_000, 3, 5, slope=0.05)
    table["x1"] -= 0.1 * table["dose"]
    found = told(table, epsilon=20.0)
    assert np.all(found.p < 1e-6)
    truth = np.array([0.05, -0.05, 0.05])
    assert np.all(np.abs(found.results.estimate - truth) < 6 * found.results.error)
    assert np.all(found.results.error < 0.01)
    assert found.effects[0].startswith("adjusted slope of means")
    upward = told(table, epsilon=20.0, alternative="greater")
    assert upward.p[0] < 1e-6
    assert upward.p[1] > 0.999


def test_answers_and_missing_entries():
    """Yes/no columns that rise with the number are found; constant, empty and missing ones are not."""
    table = confounded(10_000, 5, 6)
    rng = np.random.default_rng(7)
    lean = (table["dose"] - 100) / 30
    table["x1"] = (rng.random(10_000) < 0.2 + 0.6 / (1 + np.exp(-4 * lean))).astype(float)
    table["x2"], table["x3"] = 1.0, np.nan
    table["x4"] = table["x4"].mask(rng.random(10_000) < 0.3)
    table.loc[:50, "dose"] = [np.nan, np.inf, -np.inf] * 17
    found = told(table, epsilon=5.0, adjust={"age": (18, 90), "sex": ["female", "male"]})
    assert found.p[1] < 1e-6
    assert np.all(found.p[2:4] > 1e-4)
    assert np.isfinite(found.results.estimate).all()
    assert np.isfinite(found.p).all()
    adjusted = told(table, epsilon=5.0)
    assert adjusted.p[4] > 1e-4


@pytest.mark.parametrize("seed", [8, 9, 11])
def test_a_partner_that_covariates_explain(seed):
    """Where nothing is left of the number, nothing is found."""
    table = confounded(3000, 4, seed)
    table["dose"] = 2.0 * table["age"] + table["bmi"]
    assert np.all(told(table).p > 1e-5)
    table["dose"] = 1.0
    assert np.all(told(table).p > 1e-5)


def test_rows_are_compared_only_where_numbers_are_adjusted_for():
    """Levels alone keep their proved scores, "aware" scores in bands; the report names the covariates."""
    table = confounded(3000, 3, 9)
    asked = {"q": 0.1, "epsilon": 1, "delta": 1e-6, "columns": "x*"}
    test = discreet.Correlation(partner="dose", adjust=ADJUST)
    release = discreet.discover(table, test, **asked)
    assert release.told is not None
    assert "adjusted for age and bmi and sex" in str(release)
    strata = discreet.Correlation(partner="dose", adjust={"sex": ["female", "male"]})
    assert strata.comparison() is None
    assert discreet.Correlation(partner="dose", adjust={"age": (18, 90)}, ceiling=5).comparison() is None
    one = discreet.Correlation(partner="dose", adjust={"age": (18, 90), "sex": ["female"]})
    assert one.comparison() is None
    bands = discreet.Correlation(partner="dose", adjust={"age": (18, 90)})
    assert bands.comparison() is not None
    discreet.discover(table, bands, method="aware", guarantee="calibrated", **asked)
    for wrong in ({"method": "focus"}, {"guarantee": "proved"}):
        with pytest.raises(InputError):
            discreet.discover(table, test, **asked, **wrong)
