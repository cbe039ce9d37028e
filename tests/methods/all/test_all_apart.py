"""Rows around the own centre of a group: what is taken off is what is added again, whatever was cut."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all import clipping, learn, method, sums
from discreet.methods.all.method import ready_all
from discreet.methods.all.record import Learned
from discreet.methods.all.rows import FINE, LARGEST, Rows
from discreet.methods.method import Parameters

ASKED = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all")
PEOPLE, COLUMNS, SHIFT = 20_000, 200, 0.06  # a column that differs by this is about 6 deviations from 0


@pytest.fixture
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(8)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def moved_range(known):
    """Return the rows of both groups, what is cut moving with their centre."""
    second = known.shares * known.difference
    return known.rows.moved_by(-second), known.rows.moved_by(known.difference - second)


def test_what_is_cut_is_moved_too():
    """Numbers and centred answers less an offset, cut ones among them; missing entries are 0."""
    rng = np.random.default_rng(2)
    answers = np.array([False, False, True])
    rows = Rows(np.array([0.5, 0.2, 0.3]), np.array([20.0, 4.0, 2.0]), 2.5, answers, answers & False, answers)
    offset = np.array([700.0, -1500.0, 40.0])
    share = rng.random((50, 3))
    share[:, 2] = share[:, 2] > 0.7
    less = replace(rows, less=offset).whole(share)
    assert np.array_equal(less + offset, rows.whole(share))
    assert (np.abs(rows.whole(share)[:, 0]) == 2.5 * FINE).mean() > 0.5
    assert not np.array_equal(
        rows.moved_by(offset / FINE).whole(share)[:, 0] + offset[0], rows.whole(share)[:, 0]
    )
    assert not replace(rows, less=offset).whole(np.full((1, 3), np.nan)).any()


def test_no_entry_is_too_large():
    """Centres far apart are moved as far as entries have room."""
    rows = Rows(np.array([0.5]), np.array([20.0]), 15.0, *np.zeros((3, 1), dtype=bool))
    known = object.__new__(Learned)
    for name, given in (("rows", rows), ("shares", np.array([0.5])), ("difference", np.array([90.0]))):
        object.__setattr__(known, name, given)
    for side in known.sides:
        assert np.abs(side.whole(np.array([[0.0], [1.0]])).astype(int)).max() <= LARGEST


def told_over_true(rng):
    """Return the median of estimates over what they estimate: means cut as the name says."""
    group = (np.arange(PEOPLE) % 2).astype(np.int8)
    rates = rng.uniform(0.3, 0.5, COLUMNS)
    values = (rng.random((2, PEOPLE, COLUMNS)) < rates + SHIFT / 2 * group[:, None]).sum(axis=0).astype(float)
    questions = tuple(Question("", slice(place, place + 1), False, (0.0, 2.0)) for place in range(COLUMNS))
    table = People([""] * COLUMNS, questions, "two-sided", "columns", values, group)
    told = ready_all(table, ASKED).draw().told
    ratios = []
    for place in range(COLUMNS):
        ends = told.effect[place].partition("cut to ")[2].split(" to ")
        cut = np.clip(values[:, place], *map(float, ends)) if len(ends) == 2 else values[:, place]
        true = cut[group == 1].mean() - cut[group == 0].mean()
        ratios.append(told.estimate[place] / true)
    return float(np.median(ratios))


@pytest.mark.slow
def test_counts_are_estimated_as_they_are(rng, monkeypatch):
    """Of 0, 1 and 2, of which many are cut: within a tenth of the truth in the median."""
    monkeypatch.setattr(clipping, "_ENTRIES", (1.0,))  # deviations
    assert abs(told_over_true(rng) - 1) < 0.1


def test_a_range_that_moves_with_the_centre_is_caught(rng, monkeypatch):
    """Wrong twin: what is cut is not moved, but is added again."""
    monkeypatch.setattr(clipping, "_ENTRIES", (1.0,))
    monkeypatch.setattr(Learned, "sides", property(moved_range))
    assert told_over_true(rng) > 1.15


def least_p_value(rng):
    """Return the least p-value of 400 columns in which 200 people do not differ: noise is all there is."""
    people, columns = 200, 400
    group = (np.arange(people) % 2).astype(np.int8)
    questions = tuple(Question("", slice(place, place + 1), False, None) for place in range(columns))
    values = rng.normal(size=(people, columns))
    table = People([""] * columns, questions, "two-sided", "columns", values, group)
    return float(ready_all(table, ASKED).draw().told.p_value.min())


def test_noise_is_not_taken_for_a_distance_of_centres(rng):
    """More columns than people: a first look that is mostly noise moves no centre far."""
    assert least_p_value(rng) > 1e-7


def test_centres_as_far_as_noise_has_them_are_caught(rng, monkeypatch):
    """Wrong twin: what stands out of its noise is taken as it is, however large that noise."""

    def as_it_is(contrast, deviation, size, positive):
        return np.where((np.abs(contrast / deviation) > 2.5) & ~positive, contrast / size, 0.0)

    for module in (learn, method):
        monkeypatch.setattr(module, "clear_difference", as_it_is)
    assert least_p_value(rng) < 1e-20
