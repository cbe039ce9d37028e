"""Times to an event: the statistic, the certificate over all small tables and by climbing, the null law."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from neighbour_tables import evidence_of, moves_of_times

import discreet
from discreet.errors import InputError
from discreet.evidence.core.cap import caps
from discreet.evidence.core.survival import Times, lattice_tail

NAN = np.nan
ROOM = 1 + 1e-9


def outlived(times, event):
    """Return Gehan's scores, whoever is in which group."""
    return Times(times, event, event).outlived()


def test_pairs_are_counted_as_gehan_does():
    """Against the definition, pair by pair; without censoring it is the statistic of ranks."""
    rng = np.random.default_rng(1)
    times, event = rng.integers(0, 6, 40).astype(float), rng.random(40) < 0.6
    longer = (times[:, None] > times) | ((times[:, None] == times) & ~event[:, None])
    known = event & longer & (np.arange(40)[:, None] != np.arange(40))
    assert np.array_equal(outlived(times, event), (known.sum(1) - known.sum(0)).astype(float))
    order = outlived(np.arange(9.0), np.ones(9, dtype=bool))
    assert np.array_equal(order, np.arange(-8, 9, 2))
    group = np.arange(400) % 2
    values = rng.random((400, 1)) + 0.3 * group[:, None]
    test = discreet.Gehan(group="g", event="e", protect="columns")
    ours = evidence_of(test, values, {"g": group, "e": np.ones(400)})
    ranks = evidence_of(discreet.RankSum(group="g"), values, {"g": group})
    assert np.isclose(ours.effect.share[0], ranks.effect.share[0])


@pytest.mark.slow
@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_no_neighbouring_table_exceeds_the_influence(protect):
    """All tables of three people; time, event, presence, and the group where protected, are replaced."""
    score, effect, evidence = moves_of_times(discreet.Gehan(group="g", event="e", protect=protect))
    assert score <= evidence.certificate.sensitivity * ROOM  # so few people have none: climbing looks at z
    assert 0 < effect <= evidence.effect.sensitivity * ROOM


def standardised(people, influence):
    """Return |z| of people given by (group, time, event)."""
    inside = people[:, 0] >= 0
    group, times, event = people[inside].T
    score = Times(times, event > 0, group == 1).outlived()
    first, second = np.sum(group == 0), np.sum(group == 1)
    pairs = max(group.size * (group.size - 1), 1)
    own = np.sqrt(first * second * np.sum(score**2) / (4 * pairs))
    pull = max(first, second, 4 / influence**2)
    return abs(np.sum(score[group == 1]) / 2) / max(own, pull / influence)


def climbed(n, grow, seed, steps=250):
    """Return the largest (z' - z)/(D + e z) found by changing one person after the other."""
    rng = np.random.default_rng(seed)
    influence = caps(n / 2, n / 2, protected=True)[0].influence

    def person():
        return np.array([rng.choice([0, 1, -1], p=[0.45, 0.45, 0.1]), rng.integers(0, n), rng.integers(0, 2)])

    def ratio(table, other):
        z, moved = standardised(table, influence), standardised(np.vstack([other, table[1:]]), influence)
        return (moved - z) / (influence + grow(influence) * z)

    table = np.array([person() for _ in range(n)], dtype=float)
    table[:, 1] += n * rng.random() * table[:, 0]
    other, best = person(), -1.0
    for _ in range(steps):
        tried, new = table.copy(), other if rng.random() < 0.7 else person()
        for place in rng.integers(0, n, rng.integers(0, 3)):
            tried[place] = person()
        found = ratio(tried, new)
        if found >= best:
            table, other, best = tried, new, found
    return best


def grows(influence):
    """Return the proved growth of one person's influence."""
    return np.sqrt(1 + 7 / 8 * influence**2 + influence**4 / 8) - 1


@pytest.mark.slow
def test_climbing_from_larger_tables_finds_no_more():
    """Z' - z <= D + e z, and it is reached; without e it is passed."""
    assert 0.95 < max(climbed(13, grows, seed) for seed in range(4)) <= ROOM
    assert climbed(40, grows, 0) <= ROOM
    assert max(climbed(13, lambda _: 0.0, seed) for seed in range(4)) > 1.02


def law_of(score, drawn):
    """Return the sums of the scores of so many people drawn by lot, and their chances."""
    shifted = (score - score.min()).astype(int)
    ways = np.zeros((drawn + 1, int(shifted.sum()) + 1))
    ways[0, 0] = 1.0
    for one in shifted:
        ways[1:, one:] += ways[:-1, : ways.shape[1] - one].copy()
    at = np.flatnonzero(ways[drawn])
    return at + drawn * score.min(), ways[drawn, at] / ways[drawn].sum()


def excess_over_tail(first, second, censored, levels, tail):
    """Return the largest P(z >= t)/tail(t), where a score is above 0, of one pattern of times and events."""
    n = first + second
    rng = np.random.default_rng(int(1000 * censored) + levels)
    times = rng.permutation(n).astype(float) // max(1, n // levels)
    score = outlived(times, np.arange(n) >= round(censored * n))
    sums, law = law_of(score, second)
    influence = caps(first, second, protected=False)[0].influence
    own = np.sqrt(first * second * np.sum(score**2) / (4 * n * (n - 1)))
    z = sums / 2 / max(own, max(first, second, 4 / influence**2) / influence)
    worst = 0.0
    for side in (z, -z):
        order = np.argsort(side)
        beyond = np.cumsum(law[order][::-1])[::-1]
        bound = tail(influence, side[order])
        used = (bound < 0.5) & (beyond > 1e-12) & (side[order] > 0)
        worst = max(worst, float(np.max(beyond[used] / bound[used], initial=0.0)))
    return worst


@pytest.mark.slow
def test_the_tail_covers_exact_laws():
    """Sizes, censoring and ties; without room for the lattice it would not."""
    patterns = list(product([(20, 20), (30, 10), (10, 30), (45, 15)], [0.0, 0.3, 0.6, 0.9], [2, 5, 1000]))
    found = [excess_over_tail(*sizes, censored, levels, lattice_tail) for sizes, censored, levels in patterns]
    assert 0.5 < max(found) <= 1
    tight = [
        excess_over_tail(*sizes, censored, levels, lambda d, t: lattice_tail(d, t + d / 2 + 0.1))
        for sizes, censored, levels in patterns
    ]
    assert max(tight) > 1


def test_who_lacks_a_time_or_an_event_is_left_out():
    """And what they hold otherwise says nothing; one event column for each column of times."""
    rng = np.random.default_rng(4)
    group, event = np.arange(600) % 2, rng.random(600) < 0.5
    values = rng.random((600, 2)) + 0.5 * group[:, None]
    test = discreet.Gehan(group="g", event={"0": "e", "1": "f"}, protect="columns")
    labels = {"g": group, "e": event.astype(float), "f": np.where(np.arange(600) < 200, NAN, event)}
    before = evidence_of(test, values, labels)
    changed = values.copy()
    changed[:200, 1] = 99.0
    assert np.array_equal(before.score, evidence_of(test, changed, labels).score)
    assert before.score[0] > before.score[1] > 2
    assert not evidence_of(test, np.full((600, 2), NAN), labels).score.any()


def test_what_cannot_be_asked_is_said():
    """An event that is the group, and a column of times without one."""
    with pytest.raises(InputError, match="other columns"):
        discreet.Gehan(group="g", event="g")
    with pytest.raises(InputError, match="cover every column"):
        discreet.Gehan(group="g", event={"a": "e"}).start(("b",))
