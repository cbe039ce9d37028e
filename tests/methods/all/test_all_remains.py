"""What clipping and cutting leave of each group; groups that differ in nothing else do not differ."""

import math

import numpy as np
import pytest

from discreet.evidence.core.people import People, Question
from discreet.methods.all import learn, spread, sums
from discreet.methods.all.clipping import Ball
from discreet.methods.all.method import ready_all
from discreet.methods.all.record import Retained, retained_of
from discreet.methods.all.rows import FINE, Columns, Rows, Scaling, can_be_cut
from discreet.methods.all.sums import with_noise
from discreet.methods.all.where import retained_sums
from discreet.methods.method import Parameters

COLUMNS = 30


@pytest.fixture
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(11)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def table(values, group, protect="everything"):
    """Return people with columns of numbers without bounds."""
    count = values.shape[1]
    questions = tuple(Question("", slice(place, place + 1), False, None) for place in range(count))
    return People([""] * count, questions, "two-sided", protect, values, group)


def constants(m, most=1.0):
    """Return rows of `m` columns in which numbers beyond 1 are cut, the first of them being 0 and 1."""
    reach = np.where(np.arange(m) == 0, 0.5, 1.0)
    scaling = Scaling(np.where(np.arange(m) == 0, 0.5, 0.0), reach, np.full(m, 0.3))
    rows = Rows(np.full(m, 0.5), np.full(m, 2.0), most, *np.zeros((3, m), dtype=bool))
    empty = np.zeros(0, dtype=np.intp)
    return scaling, rows, Columns(empty, empty, np.arange(m), np.zeros(0), np.zeros(0), np.arange(m))


@pytest.mark.parametrize("radius", [math.inf, 900.0])
def test_sums_are_of_weights_times_shares(radius):
    """Inside and cut, by group; people without an entry, and those in neither group, add nothing."""
    rng, m = np.random.default_rng(3), 9
    values = rng.normal(0, 1, (200, m))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[7], group = np.nan, rng.integers(-1, 2, 200).astype(np.int8)
    scaling, rows, columns = constants(m)
    cut = can_be_cut(columns, scaling, rows)
    assert cut.tolist() == [False] + [True] * (m - 1)
    rules = rows.rules(scaling, columns)
    ball = Ball(radius, FINE)
    signed = np.ones(m, dtype=bool)
    found = retained_sums(values, group, [rules] * 3, signed, cut, cut, ball)
    whole = sums.whole_numbers(values, scaling, columns, rows).astype(float)
    weight = ball.weight(np.linalg.norm(whole, axis=1))
    inside = (np.abs(values[:, 1:]) < 1).sum(axis=1) / (m - 1)
    beyond = (np.abs(values[:, 1:]) >= 1).sum(axis=1) / (m - 1)
    for side in (0, 1):
        for place, share in enumerate((inside, beyond)):
            assert found[side, place] == np.trunc(FINE * (weight * share)[group == side]).sum()


def test_bounds_that_are_all_inside_cut_nothing():
    """A range may end where the bounds do."""
    scaling, rows, _ = constants(2)
    empty = np.zeros(0, dtype=np.intp)
    for most, expected in ((1.0, [False, False]), (0.4, [True, True])):
        columns = Columns(empty, np.arange(2), empty, np.array([0.0, -1.0]), np.ones(2), np.arange(2))
        _, rows, _ = constants(2, most)
        assert can_be_cut(columns, scaling, rows).tolist() == expected


@pytest.mark.usefixtures("rng")
def test_little_noise_tells_what_is_left():
    """Of the second group half as much: the difference is told, and what is not known of it is small."""
    people = np.array([8_000.0, 2_000.0])
    total = np.array([[0.9 * 8_000, 0.05 * 8_000], [0.35 * 2_000, 0.2 * 2_000]]) * FINE
    found = retained_of(with_noise(total.astype(np.int64), FINE, 1.0, 1 / FINE), people, 0.87, cut=True)
    assert found.gap == pytest.approx(0.35 - 0.9, abs=0.02)
    assert found.unsure < 0.02
    assert found.within_range[0] == pytest.approx(0.9 / 0.95, abs=0.03)
    assert found.within_range[1] == pytest.approx(0.35 / 0.55, abs=0.05)
    vague = retained_of(with_noise(total.astype(np.int64), FINE, 1e-7, 1 / FINE), people, 0.87, cut=True)
    assert abs(vague.gap) < 0.1
    assert vague.unsure > 0.2


def small(rng, invent, runs=12, people=3_000, share=0.2, level=0.01, columns=COLUMNS):
    """Return the share of p-values below a level, of the first columns, where no column differs."""
    asked, found = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all"), []
    for _ in range(runs):
        group = (rng.random(people) < share).astype(np.int8)
        told = ready_all(table(invent(rng, group), group), asked).draw().told
        found.append(told.p_value[:columns] <= level)
    return float(np.mean(found))


def wider(rng, group):
    """Return columns of which the second group has three times the deviation, around the same centre."""
    return 3 + rng.normal(size=(group.size, COLUMNS)) * np.where(group == 1, 3.0, 1.0)[:, None]


def absent(rng, group):
    """Return columns of which half of the second group has none."""
    values = 3 + rng.normal(size=(group.size, COLUMNS))
    values[(rng.random(group.size) < 0.7) & (group == 1)] = np.nan
    return values


@pytest.mark.slow
@pytest.mark.parametrize("invent", [wider, absent])
def test_groups_of_which_less_is_left_do_not_differ(rng, invent):
    """About one p-value in a hundred is below a hundredth; seeded, 360 of them."""
    assert small(rng, invent) < 0.03


@pytest.mark.slow
def test_as_much_left_of_both_groups_is_caught(rng, monkeypatch):
    """Wrong twin: as if clipping and cutting took the same from both."""
    monkeypatch.setattr(learn, "retained_of", lambda *_, **__: Retained())
    monkeypatch.setattr(spread, "unlike_within_range", lambda *_: 0.0)
    assert small(rng, wider) > 0.06


def some_wider(rng, group):
    """Return columns of which a third have three times the deviation in the second group."""
    ratio = np.where(np.arange(COLUMNS) < COLUMNS // 3, 3.0, 1.0)
    return 100 + rng.normal(size=(group.size, COLUMNS)) * np.where(group[:, None] == 1, ratio, 1.0)


@pytest.mark.slow
def test_columns_that_alone_are_wider_in_one_group_do_not_differ(rng):
    """Some ranges are too narrow, and off their centre; seeded, 500 p-values of wide columns."""
    assert small(rng, some_wider, runs=50, share=0.3, level=0.001, columns=COLUMNS // 3) < 0.006


@pytest.mark.slow
def test_ranges_that_are_too_narrow_are_caught(rng, monkeypatch):
    """Wrong twin: as if as many numbers of both groups were inside of every range."""
    monkeypatch.setattr(spread, "unlike_within_range", lambda *_: 0.0)
    assert small(rng, some_wider, runs=50, share=0.3, level=0.001, columns=COLUMNS // 3) > 0.01
