"""Groups with the same centre but another spread: p-values are not small, and estimates are what they say."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all import after, sums
from discreet.methods.all.method import ready_all
from discreet.methods.all.rows import Columns, Scaling
from discreet.methods.method import Parameters

ASKED = Parameters(q=0.1, epsilon=10.0, delta=1e-6, method="all")
COLUMNS = 12


@pytest.fixture(autouse=True)
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def told(values, group):
    """Return what a release tells of columns of numbers without bounds."""
    count = values.shape[1]
    questions = tuple(Question("", slice(place, place + 1), False, None) for place in range(count))
    table = People([""] * count, questions, "two-sided", "columns", values, group)
    return ready_all(table, ASKED).draw().told


def small(rng, share, ratio, people=20_000, runs=20):
    """Return the share of p-values below a tenth of columns with the same centre, one group wider."""
    found = []
    for _ in range(runs):
        group = (rng.random(people) < share).astype(np.int8)
        values = 3 + rng.normal(size=(people, COLUMNS)) * np.where(group == 1, ratio, 1.0)[:, None]
        found.append(told(values, group).p_value <= 0.1)
    return float(np.mean(found))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "ratio"), [(0.3, 2.0), (0.1, 2.0), (0.1, 0.5)])
def test_another_spread_is_no_difference(rng, share, ratio):
    """About one p-value in ten is below a tenth; seeded, 240 of them."""
    assert small(rng, share, ratio) < 0.16


@pytest.mark.slow
def test_the_variance_of_everybody_is_caught(rng, monkeypatch):
    """Wrong twin: the squares of both groups pooled, as if they spread alike."""
    honest = after.spread_of

    def pooled(known, measured, weights, there, *others):
        spread = honest(known, measured, weights, there, *others)
        part = there[1] / (there[0] + there[1])
        both = spread.squares[0] + spread.squares[1]
        return replace(spread, squares=((1 - part) * both, part * both))

    monkeypatch.setattr(after, "spread_of", pooled)
    assert small(rng, 0.1, 4.0) > 0.2


def test_zeros_and_ones_are_told_within_zero_to_one(rng):
    """The estimate is the difference of rates, within five errors: of means within 0 to 1, or of signs."""
    group = (np.arange(20_000) % 2).astype(np.int8)
    values = (rng.random((group.size, 3)) < np.where(group == 1, 0.35, 0.25)[:, None]).astype(float)
    numbers = told(values, group)
    assert set(numbers.effect) <= {f"{after.MEANS}, cut to 0 to 1{after.OF_ZEROS_AND_ONES}", after.SIGNS}
    assert np.all(np.abs(numbers.estimate - 0.1) < 5 * numbers.standard_error)


def test_signs_are_worth_one_each():
    """Of numbers around 0 whose size was not seen, half a range is one sign."""
    columns = Columns(*(np.zeros(0, dtype=np.intp),) * 2, np.arange(2), *np.zeros((2, 0)), np.arange(2))
    unit, names = after.units(Scaling(np.zeros(2), np.array([2.0**-30, 1.0]), np.full(2, 0.3)), columns)
    assert unit.tolist() == [2.0, 2.0]
    assert names == (after.SIGNS, "difference of means, cut to -1 to 1")
