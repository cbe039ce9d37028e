"""A column that does not differ, but goes with columns that do: clipping hardly moves it."""

import numpy as np
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all import clipping, learn, method, sums
from discreet.methods.all.method import ready_all
from discreet.methods.method import Parameters

ASKED = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all")
SETTINGS = ((5, 0.5, 0.5), (5, 0.9, 1.0), (20, 0.5, 0.5), (20, 0.6, 1.5))


@pytest.fixture(autouse=True)
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(3)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def moved(rng, columns, correlation, shift, people=20_000, runs=3):
    """Return how far the last column's z score is, on average, from that of its entries without privacy."""
    side = np.arange(people) % 2
    questions = tuple(Question("", slice(place, place + 1), False, None) for place in range(columns))
    apart = []
    for _ in range(runs):
        common = np.sqrt(correlation) * rng.normal(size=(people, 1))
        values = common + np.sqrt(1 - correlation) * rng.normal(size=(people, columns))
        values[:, :-1] += shift * (side[:, None] - 0.5)
        group = side.astype(np.int8)
        table = People([""] * columns, questions, "two-sided", "columns", values, group)
        told = ready_all(table, ASKED).draw().told
        last = values[:, -1]
        exact = (last[side == 1].mean() - last[side == 0].mean()) / np.sqrt(4 / people)
        apart.append(told.estimate[-1] / told.standard_error[-1] - exact)
    return float(np.mean(apart))


@pytest.mark.parametrize(("columns", "correlation", "shift"), SETTINGS)
def test_columns_that_differ_hardly_move_one_that_does_not(rng, columns, correlation, shift):
    """By less than one deviation on average, though the others are 35 deviations or more from 0."""
    assert abs(moved(rng, columns, correlation, shift)) < 1.0


def test_clipping_around_one_centre_is_caught(rng, monkeypatch):
    """Wrong twin: rows of both groups clipped around the same centre, as if columns were independent."""
    monkeypatch.setattr(clipping, "_BIAS", 0.0)
    for module in (learn, method):
        monkeypatch.setattr(module, "clear_difference", lambda contrast, *_: np.zeros(contrast.size))
    assert abs(moved(rng, 5, 0.9, 1.5, people=60_000)) > 3.0  # three times what is claimed above
