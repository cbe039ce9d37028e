"""Certificates on larger tables: random neighbours, and pairs that come within a tenth of the bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_tables import evidence_of

import discreet

ROOM = 1 + 1e-9
BOUNDS = (0.0, 1.0)
TESTS = [
    discreet.Mean(bounds=BOUNDS, null=0.1, alternative="two-sided"),
    discreet.Mean(bounds=BOUNDS, null=0.7, sd=0.3, alternative="greater"),
    discreet.Proportion(null=0.05, alternative="two-sided"),
    discreet.Sign(null=0.5, alternative="two-sided"),
    discreet.SignedRank(null=0.5, alternative="two-sided"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, alternative="two-sided"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.1, alternative="two-sided"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.05, alternative="two-sided", tail="normal"),
    discreet.TwoByTwo(group="g", floor=0.05, alternative="two-sided"),
    discreet.TwoByTwo(group="g", floor=0.02, tail="normal", alternative="greater"),
    discreet.RankSum(group="g", alternative="two-sided"),
    discreet.Stratified(group="g", stratum="s", strata=(0, 1, 2), bounds=BOUNDS, alternative="two-sided"),
    discreet.Stratified(
        group="g", stratum="s", strata=(0, 1, 2), bounds=BOUNDS, alternative="two-sided", floor=0.1
    ),
    discreet.Correlation(partner="y", alternative="two-sided"),
    discreet.Correlation(
        partner="y",
        method="product",
        bounds=BOUNDS,
        partner_bounds=BOUNDS,
        floor=0.05,
        alternative="two-sided",
    ),
]
ENTRIES = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, -np.inf, np.inf, 1e300, np.nan])


@pytest.mark.slow
@pytest.mark.parametrize(
    "test", TESTS, ids=lambda test: f"{type(test).__name__}-{getattr(test, 'alternative', '')}"
)
@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(12, 300),
    rare=st.floats(0, 1),
    new=st.lists(ENTRIES, min_size=6, max_size=6),
    partner=ENTRIES,
)
def test_one_person_replaced_by_anyone_stays_within_the_certificate(test, seed, n, rare, new, partner):
    """Replace one person's whole row by anything: sensitivity and spread hold over the columns together."""
    rng = np.random.default_rng(seed)
    labels = {"g": np.arange(n) % 4 == 0, "s": np.arange(n) // 3 % 3, "y": rng.random(n)}
    drift = labels["g"] * rng.random()  # so that scores are not all zero
    values = np.clip((rng.random((n, 6)) < rare) * rng.random((n, 6)).round(1) + drift[:, None], 0, 1)
    before = evidence_of(test, values, labels)
    person = int(rng.integers(n))
    changed, moved = values.copy(), labels | {"y": labels["y"].copy()}
    changed[person], moved["y"][person] = new, partner
    after = evidence_of(test, changed, moved)
    d = after.score - before.score
    assert after.certificate == before.certificate
    assert np.max(np.abs(d)) <= before.certificate.sensitivity * ROOM
    assert max(d.max(), 0) - min(d.min(), 0) <= before.certificate.spread * ROOM


def pair_moves(test, values, person, new, labels):
    """Return how far each column moves when `person` takes the value `new`, over the certificate."""
    before = evidence_of(test, values, labels)
    changed = values.copy()
    changed[person] = new
    return np.abs(evidence_of(test, changed, labels).score - before.score) / before.certificate.sensitivity


def close_pairs(test, *, people, share, rate):
    """Return the moves of a person of the smaller group over tables near the floor, of every strength."""
    small = int(people * share)
    # The last tenth of each group is another stratum.
    last = (np.arange(people) % 10 == 9).astype(int)
    labels = {"g": np.array([1] * small + [0] * (people - small)), "s": last}
    yes = round(people * rate)
    inside = np.arange(max(0, yes - (people - small)), min(small - 1, yes))
    # Column j: inside[j] yes in the smaller group; person small - 1 has none yet.
    row = np.arange(people)[:, None]
    values = np.where(row < small, row < inside, row - small < yes - inside).astype(float)
    return pair_moves(test, values, small - 1, 1.0, labels)


FLOORED = [
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.3, ceiling=4, alternative="greater"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.3, ceiling=4, tail="normal", alternative="greater"),
    discreet.TwoByTwo(group="g", floor=0.1, ceiling=4, alternative="greater"),
    discreet.Stratified(
        group="g", stratum="s", strata=(0, 1), bounds=BOUNDS, floor=0.3, ceiling=4, alternative="greater"
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("test", FLOORED, ids=lambda test: f"{type(test).__name__}-{test.tail}")
def test_floored_tests_come_within_a_tenth(test):
    """With enough people some pair near the floor moves by more than 90% of the certificate, none by more."""
    moves = close_pairs(test, people=8000, share=0.25, rate=0.1)
    assert 0.9 < moves.max() <= ROOM


def test_product_correlation_comes_within_a_tenth():
    """Both variables at their floor, one person moved from a corner to the opposite side."""
    n, rate = 40_000, 0.08
    test = discreet.Correlation(
        partner="y",
        method="product",
        bounds=BOUNDS,
        partner_bounds=BOUNDS,
        floor=0.3,
        ceiling=2,
        tail="normal",
        alternative="greater",
    )
    yes = round(n * rate)
    row, overlap = np.arange(n)[:, None], np.arange(240, 360, 6)
    values = ((row < overlap) | ((row >= yes) & (row < 2 * yes - overlap))).astype(float)
    y = (np.arange(n) < yes).astype(float)
    y[-1] = 1.0  # the last person has partner value 1 and x = 0, then x = 1
    moves = pair_moves(test, values, n - 1, 1.0, {"y": y})
    assert 0.9 < moves.max() <= ROOM


def test_kendall_comes_within_a_tenth():
    """The person on top of both orders falls to the bottom of one: every pair of theirs turns over."""
    n = 60
    values, labels = (
        np.repeat(np.arange(n, dtype=float)[:, None], 2, axis=1),
        {"y": np.arange(n, dtype=float)},
    )
    values[: n // 2, 1] = values[: n // 2, 1][::-1]
    moves = pair_moves(
        discreet.Correlation(partner="y", tail="normal", alternative="greater"), values, n - 1, -1.0, labels
    )
    assert 0.9 < moves.max() <= ROOM


def test_kendall_with_the_safe_tail_comes_within_a_tenth():
    """The same person on tables of every strength: some meet the score map where it is steepest."""
    n = 400
    rng = np.random.default_rng(6)
    order = np.arange(n, dtype=float)
    values = np.array(
        [order[np.argsort(order + rng.normal(0, noise, n))] for noise in np.linspace(50, 900, 80)]
    ).T
    values[-1] = n
    moves = pair_moves(
        discreet.Correlation(partner="y", alternative="greater"), values, n - 1, -1.0, {"y": order}
    )
    assert 0.9 < moves.max() <= ROOM


def test_signed_rank_with_the_safe_tail_comes_within_a_tenth():
    """Somebody moves from the far right to the far left of everybody: twice the highest rank."""
    n = 400
    rng = np.random.default_rng(7)
    values = rng.normal(0, 1, (n, 200)) + np.linspace(0, 1, 200)
    values[0] = 1e6
    moves = pair_moves(discreet.SignedRank(alternative="greater"), values, 0, -1e6, None)
    assert 0.9 < moves.max() <= ROOM


def test_rank_sum_with_the_safe_tail_comes_within_a_tenth():
    """Somebody of the smaller group moves from last to first: the whole pull on U."""
    n, small = 400, 100
    values = np.zeros((n, 200))
    labels = {"g": np.array([1] * small + [0] * (n - small))}
    rng = np.random.default_rng(5)
    for column in range(200):
        values[:, column] = rng.permutation(n) + 1.0 + 0.3 * column * labels["g"]
    values[0] = -1.0
    moves = pair_moves(discreet.RankSum(group="g", alternative="greater"), values, 0, 1e6, labels)
    assert 0.9 < moves.max() <= ROOM
