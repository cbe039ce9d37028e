"""The log-rank test: the statistic, the certificate over all small tables and by climbing, the null law."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import pytest
from neighbour_tables import evidence_of, moves_of_times

import discreet
from discreet.evidence.core.survival import Times, lattice_tail
from discreet.evidence.log_rank import _Known

NAN = np.nan
ROOM = 1 + 1e-9


def by_hand(group, times, event, c):
    """Return C, V and the pull of one person of either group, event by event."""
    contrast = variance = 0.0
    own, others = [0.0, 0.0], [0.0, 0.0]
    for at in times:
        first, second = (np.sum((group == g) & (times >= at)) for g in (0, 1))
        own = [max(own[0], second / (first + second + c)), max(own[1], first / (first + second + c))]
    for at, g in zip(times[event], group[event], strict=True):
        first, second = (np.sum((group == g) & (times >= at)) for g in (0, 1))
        z = first + second + c
        contrast += (g - second / (first + second)) * (first + second) / z
        variance += first * second / z**2
        others[0] += (second + c * (g == 1)) / (z * (z + 1))
        others[1] += (first + c * (g == 0)) / (z * (z + 1))
    return contrast, variance, own, others


@pytest.mark.parametrize("protected", [False, True])
def test_the_statistic_is_observed_less_expected(protected):
    """Against the definition, event by event, with ties and censoring."""
    rng = np.random.default_rng(1)
    times, event, group = rng.integers(0, 9, 40).astype(float), rng.random(40) < 0.6, rng.integers(0, 2, 40)
    known = _Known.of(20, 20, protected=protected)
    contrast, variance, own, others = by_hand(group, times, event, known.weight)
    pull = max(own[0] + others[0], own[1] + others[1])
    if protected:
        pull = max(pull, sum(own), sum(others))
    found = known.measured(Times(times, event, group == 1))
    assert np.allclose(found, (contrast, variance, pull + 3 / known.weight))


def test_it_looks_where_it_says():
    """Longer times in the second group are "greater"; a late difference weighs more than for Gehan."""
    rng = np.random.default_rng(2)
    group = np.arange(4000) % 2
    times = rng.exponential(1, (4000, 1))
    times[:, 0] += np.where((group == 1) & (times[:, 0] > 0.8), 0.5, 0.0)
    labels = {"g": group, "e": np.ones(4000)}
    kinds = discreet.LogRank, discreet.Gehan
    ours, ranks = (
        evidence_of(kind(group="g", event="e", alternative="greater"), times, labels) for kind in kinds
    )
    assert ours.score[0] > 1.1 * ranks.score[0] > 4
    assert np.isclose(ours.effect.share[0], ranks.effect.share[0])
    less = discreet.LogRank(group="g", event="e", alternative="less")
    assert evidence_of(less, times, labels).score[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_no_neighbouring_table_exceeds_the_influence(protect):
    """All tables of three people; time, event, presence, and the group where protected, are replaced."""
    score, effect, evidence = moves_of_times(discreet.LogRank(group="g", event="e", protect=protect))
    assert score <= evidence.certificate.sensitivity * ROOM  # so few people have none: z is looked at below
    assert 0 < effect <= evidence.effect.sensitivity * ROOM


def taken_apart(known, people):
    """Return C, V, A and the sum of 1/(Z + 1/2), of people given by (group, time, event)."""
    people = np.array(people, dtype=float).reshape(-1, 3)
    group, times, event = people[people[:, 0] >= 0].T
    contrast, variance, pull = known.measured(Times(times, event > 0, group == 1))
    risk = [np.sum(times >= at) for at in times[event > 0]]
    return contrast, variance, pull - known.slack, sum(1 / (y + known.weight + 0.5) for y in risk)


@pytest.mark.slow
@pytest.mark.parametrize("protected", [False, True])
def test_every_step_of_the_proof_holds_in_all_small_tables(protected):
    """Whoever joins three others: C moves within A of the others, A by 3/c, V as stated; A is reached."""
    known = replace(_Known.of(2, 2, protected=protected), weight=1.0)
    states = [(-1, 0, 0), *product([0, 1], [0, 1, 2], [0, 1])]
    reached = 0.0
    for others in combinations_with_replacement(states, 3):
        _, variance, most, halves = taken_apart(known, others)
        joined = np.array([taken_apart(known, [own, *others]) for own in states])
        groups = [range(len(states))] if protected else [range(7), [0, *range(7, 13)]]
        moved = max(float(np.ptp(joined[list(kinds), 0])) for kinds in groups)
        assert moved <= most + 1e-12
        assert np.all(np.abs(joined[:, 2] - most) <= 3 / known.weight)
        assert np.all(joined[:, 1] <= variance + most + 1e-12)
        assert np.all(joined[:, 1] >= variance - halves / 8 - 1e-12)
        reached = max(reached, moved / most if most > 0 else 0.0)
    assert 0.8 < reached <= ROOM


def standardised(known, people):
    """Return z, C and the pull of people given by (group, time, event)."""
    group, times, event = people[people[:, 0] >= 0].T
    contrast, variance, pull = known.measured(Times(times, event > 0, group == 1))
    pull = max(pull, known.least)
    return contrast / max(np.sqrt(variance), pull / known.influence), contrast, pull


def climbed(n, seed, *, protected, steps=250):
    """Return the largest (z' - z)/(D + e z) and |C' - C|/a found by changing one person after the other."""
    rng = np.random.default_rng(seed)
    known = _Known.of(n / 2, n / 2, protected=protected)

    def person(group):
        return np.array([group, rng.choice([rng.integers(0, n), 0, n]), rng.integers(0, 2)], dtype=float)

    def any_group():
        return rng.choice([0, 1, -1], p=[0.45, 0.45, 0.1])

    table = np.array([person(any_group() if protected else place % 2) for place in range(n)])
    table[:, 1] += n * rng.choice([-1, 0, 1]) * rng.random() * table[:, 0]
    other, best, most = person(table[0, 0]), -1.0, 0.0
    for _ in range(steps):
        tried, new = table.copy(), other
        for place in rng.integers(0, n, rng.integers(0, 3)):
            tried[place] = person(any_group() if protected else tried[place, 0])
        if rng.random() < 0.4:
            new = person(any_group() if protected else table[0, 0])
        z, contrast, pull = standardised(known, tried)
        moved, its_contrast, its_pull = standardised(known, np.vstack([new, tried[1:]]))
        most = max(most, abs(its_contrast - contrast) / min(pull, its_pull))
        found = (abs(moved) - abs(z)) / (known.influence + known.grow * abs(z))
        if found >= best:
            table, other, best = tried, new, found
    return best, most


@pytest.mark.slow
@pytest.mark.parametrize("protected", [False, True])
def test_climbing_finds_no_more(protected):
    """Neither z' - z beyond D + e z, nor C' - C beyond one person's pull."""
    for n, seeds in ((13, 4), (60, 2)):
        found = np.array([climbed(n, seed, protected=protected) for seed in range(seeds)])
        assert found.max() <= ROOM
        assert found[:, 1].max() > 0.5


@pytest.mark.parametrize("protected", [False, True])
def test_some_pair_of_tables_comes_close(protected):
    """Somebody at risk to the end, without an event: replaced by an early event, or in the other group."""
    n = 4000
    known = _Known.of(n / 2, n / 2, protected=protected)
    table = np.column_stack([np.arange(n) % 2, np.arange(n), np.ones(n)]).astype(float)
    table[-1] = 1, n, 0
    other = table.copy()
    other[-1] = (0, n, 0) if protected else (1, -1, 1)
    (z, contrast, pull), (moved, its_contrast, its_pull) = (
        standardised(known, people) for people in (table, other)
    )
    assert 0.98 < abs(its_contrast - contrast) / min(pull, its_pull) <= 1
    assert 0.9 < abs(moved - z) / known.influence < 1.01


def excess_over_tail(times, event, second):
    """Return the largest P(z >= t)/tail(t) over all ways to draw the second group by lot."""
    n = times.size
    known = _Known.of(n - second, second, protected=False)
    z = []
    for chosen in combinations(range(n), second):
        group = np.zeros(n, dtype=bool)
        group[list(chosen)] = True
        contrast, variance, pull = known.measured(Times(times, event, group))
        z.append(-contrast / max(np.sqrt(variance), max(pull, known.least) / known.influence))
    worst = 0.0
    for side in (np.sort(z), np.sort(np.negative(z))):
        beyond = 1 - np.searchsorted(side, side - 1e-12) / side.size
        bound = lattice_tail(known.influence, side)
        used = (bound < 0.5) & (side > 0)
        worst = max(worst, float(np.max(beyond[used] / bound[used], initial=0.0)))
    return worst


@pytest.mark.slow
def test_the_tail_covers_exact_laws():
    """All draws of the groups among a few people, with and without ties and censoring."""
    rng = np.random.default_rng(5)
    found = []
    for (n, second), censored, levels in product([(12, 6), (12, 3), (12, 9)], [0.0, 0.4], [3, 100]):
        times, event = rng.integers(0, levels, n).astype(float), rng.random(n) >= censored
        found.append(excess_over_tail(times, event, second))
    assert 0.2 < max(found) <= 1


@pytest.mark.slow
def test_censoring_may_differ_between_the_groups():
    """The second group is lost sooner, and nothing is found; where its rates differ it is."""
    rng = np.random.default_rng(6)
    n, m = 1000, 400
    group = np.arange(n) % 2
    lost = rng.exponential(np.where(group == 1, 0.4, 2.0)[:, None], (n, m))
    names = tuple(map(str, range(m)))
    test = discreet.LogRank(
        group="g", event=dict(zip(names, names, strict=True)), alternative="greater", protect="columns"
    )
    for ratio, least, most in ((1.0, 0, 0.08 * m), (1.6, 0.8 * m, m)):
        times = rng.exponential(np.where(group == 1, ratio, 1.0)[:, None], (n, m))
        labels = {"g": group, **{name: times[:, int(name)] <= lost[:, int(name)] for name in names}}
        score = evidence_of(test, np.minimum(times, lost), labels).score
        assert least <= np.count_nonzero(score > 1.645) <= most


def test_who_lacks_a_time_or_an_event_is_left_out():
    """And what they hold otherwise says nothing; columns of nobody, and of one time, have scores of 0."""
    rng = np.random.default_rng(4)
    group, event = np.arange(600) % 2, rng.random(600) < 0.5
    values = rng.random((600, 1)) + 0.5 * group[:, None]
    labels = {"g": group, "e": np.where(np.arange(600) < 200, NAN, event)}
    test = discreet.LogRank(group="g", event="e", protect="columns")
    before = evidence_of(test, values, labels)
    changed = values.copy()
    changed[:200] = 99.0
    assert np.array_equal(before.score, evidence_of(test, changed, labels).score)
    assert before.score[0] > 2
    for nothing in (np.full((600, 1), NAN), np.ones((600, 1))):
        assert evidence_of(test, nothing, {"g": group, "e": np.zeros(600)}).score[0] == 0
    alone = discreet.LogRank(group="g", event="e")
    assert evidence_of(alone, values, {"g": np.arange(600) == 0, "e": event}).score[0] < 1
