"""Where the groups do not differ, p-values are uniform or larger, noise and all."""

from dataclasses import replace

import numpy as np
import pytest

from budget import assert_mean_at_most, must_fail
from discreet.evidence.core.people import People, Question
from discreet.methods.all import noisy
from discreet.methods.all.after import results
from discreet.methods.all.measure import learn, measure
from discreet.methods.all.shares import schedule, shares

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
        noisy, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def p_values(rng, runs, protect, noise=1.0):
    """Return one p-value of each of many releases, of each kind of column in turn: they are independent.

    `noise` is the share of the noise in contrasts that the variance is told of. No column is dropped.
    """
    found = []
    for run in range(runs):
        people = alike(rng, PEOPLE, protect)
        budget = shares(people, RHO, schedule(1, len(people))).of(RHO)
        budget = replace(budget, contrast=budget.contrast + budget.stages, stages=0.0)
        known = learn(people, budget)
        told = measure(people, known, budget)
        variance = np.full(len(people), noise * told.contrast.deviation**2)
        found.append(results(people, known, told, told.contrast.sums, variance).p[run % len(KINDS)])
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
