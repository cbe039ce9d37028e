"""Few people and columns of unlike numbers: ranks are told, which need nothing to be known of the columns."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from budget import assert_mean_at_most, must_fail
from discreet.evidence.core.people import People, Question
from discreet.methods.all import method, ranks, sums
from discreet.methods.all.budget import each_located, where_share
from discreet.methods.all.method import columns_alike, ready_all
from discreet.methods.all.ranks import RANKS, by_ranks
from discreet.methods.all.record import Groups
from discreet.methods.method import Parameters

ASKED = Parameters(q=0.1, epsilon=1.0, delta=1e-6, method="all")
RHO = 0.028
LAWS = {
    "standard": lambda rng, shape: rng.normal(size=shape),
    "scores around 50": lambda rng, shape: rng.normal(50, 10, shape),
    "ratings": lambda rng, shape: np.clip(np.rint(rng.normal(3, 1.1, shape)), 1, 5),
    "days, mostly none": lambda rng, shape: np.where(rng.random(shape) < 0.6, 0, rng.integers(1, 8, shape)),
}


@pytest.fixture
def rng(monkeypatch):
    """Return the generator of people and of noise, the same each time."""
    rng = np.random.default_rng(4)
    monkeypatch.setattr(
        sums, "rounded_gaussian", lambda sigma, count: np.rint(rng.normal(0, sigma, count)).astype(np.int64)
    )
    return rng


def numbers(values, group, protect="columns"):
    """Return people whose columns are all numbers without bounds."""
    m = values.shape[1]
    questions = tuple(Question(str(place), slice(place, place + 1), False) for place in range(m))
    return People(list(map(str, range(m))), questions, "two-sided", protect, values, group.astype(np.int8))


def unlike(rng, n=600, m=20, apart=0.9):
    """Return people of whose columns, each in units of its own, the first half differ between the groups."""
    group = rng.random(n) < 0.5
    values = rng.normal(size=(n, m)) + apart * np.outer(group, np.arange(m) < m // 2)
    return numbers((values + rng.uniform(0, 6, m)) * 10.0 ** rng.uniform(-3, 4, m), group)


def found(rng):
    """Return the share of what differs that is found, and of discoveries that do not, over some studies."""
    places = [ready_all(unlike(rng), ASKED).draw().indices for _ in range(5)]
    return np.mean([np.sum(each < 10) / 10 for each in places]), sum(np.sum(each >= 10) for each in places)


@pytest.mark.slow
def test_unlike_columns_of_few_people_are_found_by_ranks(rng, monkeypatch):
    """At epsilon 1, seeded. Wrong twin: one range for all columns."""
    share, others = found(rng)
    assert share > 0.7
    assert others <= 5
    monkeypatch.setattr(method, "may_need_ranks", lambda *_: False)
    assert found(rng)[0] < 0.3


def test_scores_tell_the_direction(rng):
    """They have the sign of the difference, and say what they are."""
    people = unlike(rng, apart=2.0)
    people.values[:, :5] *= -1
    told = ready_all(people, ASKED).draw().told
    assert set(told.effect) == {RANKS}
    assert (told.estimate[:5] < -2).sum() >= 4
    assert (told.estimate[5:10] > 2).sum() >= 4


@pytest.mark.parametrize("law", LAWS)
def test_columns_on_one_scale_are_alike(rng, law):
    """Means show more of them than ranks do, and keep being told."""
    values = LAWS[law](rng, (800, 20)).astype(float)
    assert columns_alike(numbers(values, np.arange(800) % 2), 0.05 * RHO)


def test_columns_in_units_of_their_own_are_not(rng):
    """A few hundred people tell that, as a rule."""
    assert np.mean([columns_alike(unlike(rng, 400), 0.05 * RHO) for _ in range(40)]) < 0.15


def test_ranks_are_for_people_too_few_to_locate_columns(rng):
    """Below about 280 times the root of the columns at epsilon 1; and where few columns are answers."""
    for n, located in ((1300, True), (1150, False)):
        assert each_located(20, 0, where_share(0, 20, RHO, n) * RHO, n) == located
    people = unlike(rng)
    answers = tuple(replace(asked, answers=asked.places.start < 10) for asked in people.questions)
    told = ready_all(replace(people, questions=answers), ASKED).draw().told
    assert RANKS not in told.effect


def nulls(rng, alternative="two-sided", runs=150):
    """Return scores with noise, their errors and p-values, of columns that say nothing of the group."""
    told = []
    for _ in range(runs):
        group = rng.random(120) < 0.3
        values = np.rint(rng.exponential(size=(120, 8)) * 10.0 ** rng.integers(0, 4, 8))
        values[rng.random(values.shape) < 0.2] = np.nan
        people = replace(numbers(values, group, "everything"), alternative=alternative)
        sizes = Groups(float(np.sum(~group)), float(np.sum(group)), 0.0)
        told.append(by_ranks(people, sizes, 1.0, 1))
    return np.concatenate(
        [np.array([one.results.estimate, one.results.error, one.p]) for one in told], axis=1
    )


@pytest.mark.slow
@pytest.mark.statistical(2)
def test_p_values_of_ranks_are_not_too_small(rng):
    """Ties, missing entries and noise included, on either side and on one."""
    assert_mean_at_most(nulls(rng)[2] <= 0.1, 0.1)
    assert_mean_at_most(nulls(rng, "greater")[2] <= 0.1, 0.1)


@pytest.mark.statistical(1, twins=1)
def test_scores_without_their_noise_are_caught(rng):
    """Wrong twin: p-values that take the noise for none."""
    estimate, _, _ = nulls(rng)
    must_fail(assert_mean_at_most, 2 * ndtr(-np.abs(estimate)) <= 0.1, wrong=0.1, truth=0.25)


def spread_apart(rng, runs=300, columns=20):
    """Return p-values of columns with one centre, of which a tenth of the people are far on either side."""
    told = []
    for _ in range(runs):
        group = np.arange(2_000) < 200
        people = numbers(rng.normal(size=(2_000, columns)) * np.where(group, 30.0, 1.0)[:, None], group)
        told.append(by_ranks(people, Groups(1800.0, 200.0, 0.0), 50.0, 1).p)
    return np.concatenate(told)


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_groups_that_spread_unlike_one_another_are_allowed_for(rng, monkeypatch):
    """Half of the most that this may do to a rank sum; wrong twin: nothing of it."""
    assert_mean_at_most(spread_apart(rng) <= 0.1, 0.18)
    monkeypatch.setattr(ranks, "wider_by", lambda _: 1.0)
    must_fail(assert_mean_at_most, spread_apart(rng) <= 0.1, wrong=0.18, truth=0.25)
