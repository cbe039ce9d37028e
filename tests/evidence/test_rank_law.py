"""Rank sums and Kendall's K without ties: bounds against exact laws, and what ties cost."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

from discreet.evidence.core import rank_law, ranks
from discreet.evidence.core.cap import caps

ROOM = 1 + 1e-9


def counted(blocks):
    """Return how many orders of people in tied blocks have 0, 1, ... inversions: a product of binomials."""
    here, law = 0, np.ones(1 + sum(a * b for i, a in enumerate(blocks) for b in blocks[:i]))
    law[1:] = 0
    for size in blocks:
        for j in range(1, size + 1):
            for start in range(j):
                law[start::j] = np.cumsum(law[start::j])
            law[here + j :] -= law[: max(law.size - here - j, 0)].copy()
        here += size
    return np.maximum(law, 0.0)


def standardised(blocks):
    """Return (centred inversions over their deviation, chances), the upper half of the law."""
    count = counted(blocks)
    law = count[: count.size // 2 + 1]
    full = np.concatenate([law, law[: count.size - law.size][::-1]])
    z = np.arange(full.size) - (full.size - 1) / 2
    mass = full / full.sum()
    return z / np.sqrt(np.sum(mass * z * z)), mass


def upper(z, mass):
    """Return the places above 0 and the chances of as much or more."""
    tail = np.cumsum(mass[::-1])[::-1]
    return z[z > 1e-9], tail[z > 1e-9]


@pytest.mark.parametrize(("first", "second"), [(20, 20), (30, 60), (60, 60), (130, 130), (40, 200)])
def test_rank_sums_without_ties_stay_under_their_bound(first, second):
    """At every value of U, everyone present; it is near where there are enough people."""
    t, tail = upper(*standardised((first, second)))
    few, many = sorted((first, second))
    people, ratio = first + second, few / many
    present = rank_law._Present(people, people, ratio, people * ratio / (1 + ratio) ** 2)
    assert np.all(tail <= present.tail(t) * ROOM)
    assert np.all(tail <= rank_law.untied_tail(first, second, t) * ROOM)
    if people >= 260:
        inside = (t > 0.5) & (t < 4)
        assert np.max(present.tail(t[inside]) / tail[inside]) < 1.6
    narrow = rank_law._Present(people * 10, people * 10, ratio, people * 10 * ratio / (1 + ratio) ** 2)
    assert not np.all(tail <= narrow.tail(t))  # the twin: the bound of ten times as many


@pytest.mark.parametrize("blocks", [(1,) * 40, (1,) * 90, (10,) * 6, (40, 1, 1, 18), (70, 30), (3,) * 40])
def test_kendall_with_tied_partners_stays_under_its_bound(blocks):
    """Inversions among people in blocks of equal partners, over the deviation of none equal."""
    n = sum(blocks)
    z, mass = standardised(blocks)
    own = n * (n - 1) * (2 * n + 5) - sum(m * (m - 1) * (2 * m + 5) for m in blocks)
    t, tail = upper(z * np.sqrt(own / (n * (n - 1) * (2 * n + 5))), mass)
    assert np.all(tail <= rank_law.kendall_tail(n, t) * ROOM)


def test_kendall_of_many_people_is_nearly_normal():
    """At 2,000 people within a sixth of the normal tail where cutoffs lie; of 40 people nothing is said."""
    t = np.linspace(2.5, 6, 30)
    assert np.max(rank_law.kendall_tail(2000, t) / ndtr(-t)) < 1.17
    assert np.min(rank_law.untied_tail(1000, 1000, t) / ndtr(-t)) > 1
    assert np.max(rank_law.untied_tail(1000, 1000, t) / ndtr(-t)) < 1.17
    assert np.all(rank_law.kendall_tail(40, t) > 2 * ndtr(-t))


@pytest.mark.parametrize(("first", "second"), [(40, 40), (80, 20)])
def test_whoever_is_present_is_covered(first, second):
    """The capped z of all who may be present has a smaller tail than the bound, which is for all of them."""
    cap = caps(first, second, protected=False)[0]
    t = np.linspace(0.05, 6, 60)
    bound = rank_law.untied_tail(first, second, t)
    for here, there in product(range(1, first + 1, 13), range(1, second + 1, 6)):
        z, mass = standardised((here, there))
        own = np.sqrt(here * there * (here + there + 1) / 12)
        capped = z * own / cap.of_ranks(np.array(float(here)), np.array(float(there)))
        tail = np.array([mass[capped >= one - 1e-9].sum() for one in t])
        assert np.all(tail <= bound * ROOM)


@pytest.mark.parametrize("blocks", [(8, 5), (7, 7), (2, 9), (3, 2, 4, 1), (1,) * 7])
def test_the_characteristic_function_falls_as_the_proof_says(blocks):
    """|E exp((s + iw) I)| over E exp(s I), at all tilts and frequencies; not without the second term."""
    n, law = sum(blocks), counted(blocks)
    mass = law / law.sum()
    place = np.arange(mass.size) - (mass.size - 1) / 2
    variance = float(np.sum(mass * place**2))
    squares = (variance - (np.sum(mass * place**4) - 3 * variance**2)) / 3
    if len(blocks) == 2:
        assert np.isclose(3 * squares, variance * (1 + (n * (n + 1) - blocks[0] * blocks[1]) / 10))
    assert 3 * squares <= variance * (1 + n * (n + 1) / 10) * ROOM
    above = 0.0
    for s in np.linspace(0, 4 / np.sqrt(variance), 9):
        tilted = mass * np.exp(s * place)
        tilted /= tilted.sum()
        mean = np.sum(tilted * place)
        own = float(np.sum(tilted * (place - mean) ** 2))
        assert own >= variance - 3 * (np.cosh(s) - 1) * squares - 1e-9
        for w in np.linspace(0.01, np.pi, 60):
            y = 1 - np.cos(w)
            size = abs(np.sum(tilted * np.exp(1j * w * place)))
            assert np.log(size + 1e-300) <= -own * y + squares * y * y / 2 + 1e-9
            above = max(above, np.log(size + 1e-300) + own * y)
    assert above > 1e-3


@pytest.mark.parametrize(("first", "second"), [(12, 12), (20, 8), (30, 30)])
def test_swaps_keep_the_characteristic_function_small_far_out(first, second):
    """From 2 pi/N on, at all tilts: below the bound by pairs of ranks at one distance."""
    law, people = counted((first, second)), first + second
    mass = law / law.sum()
    place = np.arange(mass.size) - (mass.size - 1) / 2
    few, many = sorted((first, second))
    deviation = np.sqrt(first * second * (people + 1) / 12)
    for t in (0.0, 1.0, 3.0):
        s, tilt = t / deviation, t / deviation * (people + 1) / 2
        odds = few / many * np.exp(-tilt)
        fallen = (1 - np.sqrt((np.cosh(tilt) - 0.5) / (np.cosh(tilt) + 1))) * 2 * odds / (1 + odds) ** 2
        wide = 2 * (np.cosh(tilt) - 1) / tilt**2 if tilt else 1.0
        bound = np.sqrt(2 * people) * np.exp(0.5 * t * t * wide - (0.4375 * people - 0.5) * fallen)
        for w in np.linspace(2 * np.pi / people, np.pi, 80):
            assert abs(np.sum(mass * np.exp((s + 1j * w) * place))) <= bound


@pytest.mark.parametrize("people", range(24, 60))
def test_enough_pairs_of_ranks_are_at_a_distance(people):
    """At every frequency some distance has its cosine at -1/2 or below, and .4375 N - .5 pairs apart."""
    for w in np.linspace(2 * np.pi / people, np.pi, 300):
        most = 0
        for d in range(1, people // 2 + 1):
            if np.cos(d * w) <= -0.5 + 1e-9:
                rest = people % (2 * d)
                most = max(most, people // (2 * d) * d + max(0, rest - d))
        assert most >= 0.4375 * people - 0.5


@pytest.mark.parametrize(
    "values", [[0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 0, 1, 2], [0, 1, 1, 1, 1, 2, 3, 4]]
)
def test_ties_at_most_double_the_tail_of_rank_sums(values):
    """P(X >= t) <= 2 P(Y >= t), Y the same without ties, over all divisions in halves; not without the 2."""
    members = np.array([bits for bits in product((0, 1), repeat=8) if sum(bits) == 4])
    column = np.array(values, dtype=np.float64)
    tied = np.array([ranks.rank_excess(column, group == 1) for group in members])
    plain = np.array([ranks.rank_excess(np.arange(8.0), group == 1) for group in members])
    ratios = [np.mean(tied >= t) / max(np.mean(plain >= t), 1e-12) for t in np.unique(tied[tied > 0])]
    assert 1 < max(ratios) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("x", [[0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 2], [0, 1, 1, 1, 1, 2]])
@pytest.mark.parametrize("y", [[0, 1, 2, 3, 4, 5], [0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1]])
def test_ties_at_most_double_the_tail_of_kendall(x, y):
    """The same of K over all orders, partners tied as they are; somewhere it is above without the 2."""
    partner = np.array(y, dtype=np.float64)
    orders = [np.array(order) for order in permutations(range(6))]
    tied = np.array([ranks.kendall(np.array(x, dtype=np.float64)[order], partner) for order in orders])
    plain = np.array([ranks.kendall(np.arange(6.0)[order], partner) for order in orders])
    ratios = [np.mean(tied >= t) / max(np.mean(plain >= t), 1e-12) for t in np.unique(tied[tied > 0])]
    assert max(ratios) <= 2


def test_the_scores_of_ranks_are_at_most_half_as_frequent_as_their_p_values():
    """What is paid for ties at 1,000 and 1,000 people: a factor 2 and a few per cent, no more."""
    t = np.linspace(2.5, 6, 30)
    assert np.max(ranks.rank_sum_tail(1000, 1000, t) / norm.sf(t)) < 2.4


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second"), [(40_000, 40_000), (300, 2700)])
def test_of_many_places_most_bounds_need_not_be_computed(first, second):
    """At many places at once the bound is what it is at a few, to the last bit."""
    t = np.linspace(0.01, 12, 3 * rank_law._KNOTS)
    few = [rank_law.untied_tail(first, second, part) for part in np.array_split(t, 3)]
    assert np.array_equal(rank_law.untied_tail(first, second, t), np.concatenate(few))


def test_a_bound_that_rises_again_is_taken_from_further_in():
    """What bounds a chance bounds all that are further out: no place has more than the knot below says."""
    t = np.linspace(0.01, 12, 3 * rank_law._KNOTS)
    tail = rank_law.untied_tail(1000, 2000, t)
    knots = np.linspace(t[0], t[-1], rank_law._KNOTS)
    inside = np.minimum.accumulate(rank_law.untied_tail(1000, 2000, knots))
    place = np.searchsorted(knots, t, side="right") - 1
    assert (tail <= inside[np.clip(place, 0, None)] * (1 + 1e-12)).all()


@given(
    st.lists(
        st.tuples(st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, np.inf, np.nan]), st.booleans()),
        max_size=12,
    )
)
def test_rank_excess_counts_pairs(members):
    """It is half of: pairs in which the second group is larger, less those in which it is smaller."""
    column = np.array([value for value, _ in members])
    second = np.array([inside for _, inside in members], dtype=bool)
    first = column[~second]
    pairs = sum(np.count_nonzero(first < value) - np.count_nonzero(first > value) for value in column[second])
    assert ranks.rank_excess(column, second) == pairs / 2
