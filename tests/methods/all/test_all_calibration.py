"""Where the groups do not differ, p-values are uniform or larger, noise and all."""

import math
from dataclasses import replace

import numpy as np
import pytest

from budget import assert_mean_at_most, must_fail
from discreet.evidence.core.people import People, Question
from discreet.methods.all import clipping, sums
from discreet.methods.all import learn as learning
from discreet.methods.all.after import results
from discreet.methods.all.budget import planned, settled
from discreet.methods.all.learn import learn, learn_start
from discreet.methods.all.method import measure

KINDS = ("number", "bounded", "common", "rare", "missing", "answers", "answers", "answers")
LEVEL, CLAIMED, TWIN = 0.1, 0.12, 0.45
RHO, PEOPLE = 0.002, 1500


def alike(rng, n, protect):
    """Return people whose columns, of all kinds, have nothing to do with their groups."""
    answer = rng.choice(3, n, p=(0.6, 0.3, 0.1))
    values = np.column_stack(
        [
            rng.lognormal(size=n),
            rng.beta(2, 5, n),
            rng.random(n) < 0.4,
            rng.random(n) < 0.05,
            np.where(rng.random(n) < 0.3, np.nan, rng.normal(3, 1, n)),
            *(answer == place for place in range(3)),
        ]
    )
    bounds = {"bounded": (0.0, 1.0), "missing": (-2.0, 8.0)}
    questions = [
        Question(kind, slice(place, place + 1), kind in ("common", "rare"), bounds.get(kind))
        for place, kind in enumerate(KINDS[:5])
    ]
    questions.append(Question("answers", slice(5, 8), True))
    group = (rng.random(n) < 0.35).astype(np.int8)
    return People(KINDS, tuple(questions), "two-sided", protect, values, group)


@pytest.fixture
def rng(monkeypatch):
    """Return the generator of people and of noise; that of the law itself takes ten times as long."""
    rng = np.random.default_rng(1)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def in_one_stage(people, rho):
    """Return the budget of a release that drops no column."""
    budget = planned(people, rho).of(rho)
    return replace(budget, contrast=budget.contrast + budget.stages, stages=0.0)


def p_values(rng, runs, protect, noise=1.0):
    """Return one p-value of each of many releases, of each kind of column in turn: they are independent.

    `noise` is the share of the noise in contrasts that the variance is told of. No column is dropped.
    """
    found = []
    for run in range(runs):
        people = alike(rng, PEOPLE, protect)
        budget = in_one_stage(people, RHO)
        known = learn(people, budget, learn_start(people, budget))
        told = measure(people, known, budget)
        variance = np.full(len(people), noise * told.contrast.deviation**2)
        found.append(
            results(people.alternative, known, told, told.contrast.sums, variance).p[run % len(KINDS)]
        )
    return np.array(found)


@pytest.mark.slow
@pytest.mark.statistical(2)
@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_p_values_of_columns_alike_are_not_too_small(rng, protect):
    """One in ten is below a tenth, or hardly more, whatever the kind of column; few are below a hundredth."""
    p = p_values(rng, 200, protect)
    assert_mean_at_most(p <= LEVEL, CLAIMED)
    assert_mean_at_most(p <= LEVEL / 10, 0.02)


@pytest.mark.slow
@pytest.mark.statistical(1, twins=1)
def test_a_variance_without_noise_is_caught(rng):
    """Wrong twin: z scores that leave the noise of the contrast out of their variance."""
    p = p_values(rng, 300, "columns", noise=0.0)
    must_fail(assert_mean_at_most, p <= LEVEL, wrong=CLAIMED, truth=TWIN)


def shared_errors(rng, runs):
    """Return for each of many releases whether the z scores of its columns, all alike, lean to one side."""
    columns, n, rho = 30, 600, 0.1
    questions = tuple(Question(str(place), slice(place, place + 1), True) for place in range(columns))
    found = []
    for _ in range(runs):
        values = (rng.random((n, columns)) < 0.5).astype(float)
        group = (rng.random(n) < 0.5).astype(np.int8)
        people = People([""] * columns, questions, "two-sided", "everything", values, group)
        budget = in_one_stage(people, rho)
        known = learn(people, budget, learn_start(people, budget))
        told = measure(people, known, budget)
        outcome = results(
            people.alternative, known, told, told.contrast.sums, np.full(columns, told.contrast.deviation**2)
        )
        z = outcome.contrast / np.sqrt(outcome.variance)
        found.append(abs(np.mean(z)) > 0.3)  # 0.18 is the deviation of a mean of 30
    return np.array(found)


@pytest.mark.slow
@pytest.mark.statistical(1)
def test_columns_do_not_share_an_error(rng):
    """Labels protected: what is not known of the groups' sizes does not move all columns at once."""
    assert_mean_at_most(shared_errors(rng, 100), 0.12)


@pytest.mark.slow
@pytest.mark.statistical(1, twins=1)
def test_an_error_that_columns_share_is_caught(rng, monkeypatch):
    """Wrong twin: frequent answers that are not centred."""
    monkeypatch.setattr(clipping, "_CENTRED_FROM", (1.0,))
    monkeypatch.setattr(clipping, "_COMMON", math.inf)
    must_fail(assert_mean_at_most, shared_errors(rng, 300), wrong=0.12, truth=0.45)


def small_when_missing(rng, runs=30, columns=6, n=6_000, rho=0.02):
    """Return the share of p-values below a tenth of columns that are missing in one group alone."""
    questions = tuple(Question(str(place), slice(place, place + 1), False) for place in range(columns))
    found = []
    for _ in range(runs):
        group = (rng.random(n) < 0.5).astype(np.int8)
        values = rng.exponential(size=(n, columns))
        values[(rng.random((n, columns)) < 0.6) & (group == 1)[:, None]] = np.nan
        people = People([""] * columns, questions, "two-sided", "columns", values, group)
        budget = in_one_stage(people, rho)
        known = learn(people, budget, learn_start(people, budget))
        told = measure(people, known, settled(people, known, budget))
        variance = np.full(columns, told.contrast.deviation**2)
        found.append(results(people.alternative, known, told, told.contrast.sums, variance).p <= LEVEL)
    return np.mean(found)


@pytest.mark.slow
def test_entries_missing_in_one_group_alone_find_nothing(rng, monkeypatch):
    """What is not known of who is missing is in the variance; seeded. The wrong twin leaves it out."""
    assert small_when_missing(rng) < 0.2
    monkeypatch.setattr(learning, "alike", lambda told, *_: (0 * told.sums, 0 * told.sums))
    assert small_when_missing(rng) > 0.3
