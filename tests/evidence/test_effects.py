"""Effects: the numbers a reader knows, and how far one person moves them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_tables import evidence_of
from scipy import stats
from test_neighbours import BOUNDS, ENTRIES, TESTS

import discreet

WITH_EFFECT = [test for test in TESTS if getattr(test, "method", "") != "product"]
PEOPLE = 40
FIRST = np.arange(PEOPLE) % 4 == 0  # ten people in the second group: the smaller one
LABELS = {"g": FIRST, "s": np.zeros(PEOPLE), "y": np.arange(PEOPLE, dtype=float)}


def moves(test, values, changed, labels, moved):
    """Return how far each effect moves, over its certificate."""
    before, after = evidence_of(test, values, labels), evidence_of(test, changed, moved)
    assert after.effect.sensitivity == before.effect.sensitivity
    return np.abs(after.effect.share - before.effect.share) / before.effect.sensitivity


@pytest.mark.slow
@pytest.mark.parametrize(
    "test", WITH_EFFECT, ids=lambda test: f"{type(test).__name__}-{getattr(test, 'alternative', '')}"
)
@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 100),
    new=st.lists(ENTRIES, min_size=4, max_size=4),
    partner=ENTRIES,
)
def test_one_person_moves_no_effect_beyond_its_certificate(test, seed, n, new, partner):
    """Replace one person's whole row by anything at all."""
    rng = np.random.default_rng(seed)
    labels = {"g": np.arange(n) % 4 == 0, "s": np.arange(n) // 3 % 3, "y": rng.random(n)}
    values = rng.random((n, 4)).round(1)
    person = int(rng.integers(n))
    changed, moved = values.copy(), labels | {"y": labels["y"].copy()}
    changed[person], moved["y"][person] = new, partner
    assert moves(test, values, changed, labels, moved).max() <= 1


@pytest.mark.parametrize(
    "test", WITH_EFFECT, ids=lambda test: f"{type(test).__name__}-{getattr(test, 'alternative', '')}"
)
def test_a_certificate_of_an_effect_is_attained(test):
    """Somebody of the smaller group goes from one end to the other: a certificate a tenth smaller fails."""
    if isinstance(test, discreet.Stratified):
        test = discreet.Stratified(group="g", stratum="s", strata=(0,), bounds=BOUNDS, alternative="greater")
    rank = np.linspace(0.1, 0.9, PEOPLE)
    low, high = rank.copy(), rank.copy()
    person = int(np.flatnonzero(FIRST)[-1]) if not isinstance(test, discreet.Correlation) else PEOPLE - 1
    low[person], high[person] = 0.0, 1.0
    if isinstance(test, (discreet.RankSum, discreet.TwoByTwo, discreet.TwoGroups, discreet.Stratified)):
        few = FIRST.nonzero()[0][:3]
        low[few] = high[few] = np.nan  # most moves where few are present
    if isinstance(test, discreet.Correlation):
        low[: PEOPLE // 5] = high[: PEOPLE // 5] = np.nan
    if isinstance(test, discreet.SignedRank):
        low = high = 1 - rank  # everyone else is close to the null, so that this person ranks first
        low, high = np.clip(low, 0.49, 0.51), np.clip(high, 0.49, 0.51)
        low[person], high[person] = 0.0, 1.0
    worst = moves(test, low[:, None], high[:, None], LABELS, LABELS).max()
    assert 0.9 < worst <= 1


@pytest.mark.parametrize(
    "test",
    [
        discreet.Mean(bounds=(-1, 3), null=1.2, adjacency="add-remove", least=20, alternative="greater"),
        discreet.Proportion(null=0.2, adjacency="add-remove", least=20, alternative="greater"),
        discreet.Sign(null=0.5, adjacency="add-remove", least=20, alternative="greater"),
    ],
    ids=lambda test: type(test).__name__,
)
@pytest.mark.parametrize("n", [5, 19, 20, 21, 60])
def test_one_person_more_moves_no_effect_beyond_its_certificate(test, n):
    """Add one person with either extreme value to tables of every make."""
    rng = np.random.default_rng(n)
    values = (rng.random((n, 50)) < np.linspace(0, 1, 50)).astype(float) * 4 - 1
    for new in (-1.0, 3.0):
        changed = np.vstack([values, np.full((1, 50), new)])
        worst = moves(test, values, changed, {}, {}).max()
        assert worst <= 1


def test_effects_are_the_textbook_numbers():
    """Each effect equals its definition, computed elsewhere."""
    rng = np.random.default_rng(3)
    x = rng.random((PEOPLE, 3)) * 4 - 1
    one, two = x[~FIRST], x[FIRST]

    def found(test):
        effect = evidence_of(test, x, LABELS).effect
        return effect.share * effect.unit

    bounds = (-1.0, 3.0)
    close = {"atol": 1e-5, "rtol": 0}
    assert np.allclose(
        found(discreet.Mean(bounds=bounds, null=0.5, alternative="greater")), x.mean(axis=0) - 0.5, **close
    )
    assert np.allclose(
        found(discreet.Proportion(null=0.3, alternative="greater")), (x >= 0.5).mean(axis=0) - 0.3, **close
    )
    difference = two.mean(axis=0) - one.mean(axis=0)
    assert np.allclose(
        found(discreet.TwoGroups(group="g", bounds=bounds, alternative="greater")), difference, **close
    )
    coarse = found(discreet.TwoGroups(group="g", bounds=bounds, floor=0.1, alternative="greater"))
    assert np.allclose(coarse, difference, atol=4 / 2**10)
    rates = (two >= 0.5).mean(axis=0) - (one >= 0.5).mean(axis=0)
    assert np.allclose(found(discreet.TwoByTwo(group="g", alternative="greater")), rates, **close)
    signs = np.sign(x - 0.5).mean(axis=0)
    assert np.allclose(found(discreet.Sign(null=0.5, alternative="greater")), signs, **close)
    u = stats.mannwhitneyu(two, one).statistic
    assert np.allclose(
        found(discreet.RankSum(group="g", alternative="greater")), 2 * u / (10 * 30) - 1, **close
    )
    tau = [stats.kendalltau(column, LABELS["y"]).statistic for column in x.T]
    assert np.allclose(found(discreet.Correlation(partner="y", alternative="greater")), tau, **close)


def test_an_effect_shows_and_pickles_nothing():
    """Printing gives the name alone; pickling is refused."""
    effect = evidence_of(discreet.Sign(null=0.5, alternative="greater"), np.ones((PEOPLE, 2)), LABELS).effect
    assert repr(effect) == "Effect(share above less share below, private)"
    with pytest.raises(TypeError, match="private"):
        pickle.dumps(effect)
