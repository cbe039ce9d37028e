"""What stages and clipping make of the budget: few that differ are dropped, rows keep most of their size."""

import math

import numpy as np
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all import method, sums
from discreet.methods.all.budget import planned
from discreet.methods.all.clipping import Ball
from discreet.methods.all.learn import learn_norms
from discreet.methods.all.method import measured
from discreet.methods.all.rows import Box
from discreet.methods.all.sums import row_lengths

RHO = 0.028
COLUMNS, PEOPLE = 200, 8_000


@pytest.fixture(autouse=True)
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def dropped(rng):
    """Return the share that is dropped of a hundred columns that differ, where few are expected to."""
    group = (np.arange(PEOPLE) % 2).astype(np.int8)
    values = rng.normal(size=(PEOPLE, COLUMNS))
    values[:, : COLUMNS // 2] += 0.12 * (group[:, None] - 0.5)
    questions = tuple(Question("", slice(place, place + 1), False) for place in range(COLUMNS))
    people = People([""] * COLUMNS, questions, "two-sided", "columns", values, group)
    p = measured(people, planned(people, RHO).of(RHO), 5).p
    return float(np.mean(p[: COLUMNS // 2] == 1))


@pytest.mark.slow
def test_where_many_differ_few_of_them_are_dropped(rng, monkeypatch):
    """Seeded. Wrong twin: stages that go by what was expected, whatever the first one shows."""
    assert dropped(rng) < 0.2
    schedule = method.schedule
    monkeypatch.setattr(method, "schedule", lambda _, m: schedule(5, m))
    assert dropped(rng) > 0.3


@pytest.mark.parametrize(
    ("columns", "people"),
    [pytest.param(500, 20_000, marks=pytest.mark.slow), (30, 20_000), (200, 3_000)],
)
def test_lengths_of_rows_are_told_as_closely_as_noise_allows(rng, columns, people):
    """The mean weight that a ball leaves is known within a few hundredths, whatever its radius."""
    whole = np.trunc(rng.normal(0, 1000, (people, columns))).astype(np.int16)
    radius = 5000 * math.sqrt(columns)
    box = Box(2 * radius, 2 * radius, radius, 5000 * radius, 5000.0, columns)
    inside = np.ones(people, dtype=bool)
    norms = learn_norms(
        row_lengths(whole), box, 1000 * math.sqrt(columns), 0.003 * RHO, inside, float(people)
    )
    length = np.linalg.norm(whole.astype(float), axis=1)
    for part in (0.8, 0.95, 1.1, 1.3):
        ball = Ball(part * 1000 * math.sqrt(columns), 2500.0)
        assert abs(norms.mean_weight(ball) - ball.weight(length).mean()) < 0.05
