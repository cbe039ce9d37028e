"""Several groups: how far one person moves ranks and tables, their null law, and the tests made of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaincc, gammaln, ndtr
from scipy.stats import chi2, chi2_contingency, f_oneway, kruskal

import discreet
from discreet.errors import InputError
from discreet.evidence.core import several
from discreet.evidence.core.several import (
    answer_size,
    even,
    full_size,
    mean_influence,
    mean_norm,
    rank_influence,
    rank_norm,
    table_influence,
    table_norm,
    usual_size,
    weights,
)
from discreet.methods.all.scores import noisy_tail

NAN = np.nan
ROOM = 1 + 1e-9


def ranked(table, groups, full):
    """Return t of a table of (value, group) for each person."""
    values, place = np.array(table, dtype=np.float64).T
    return rank_norm(values, place.astype(np.intp), groups, full)


def counted(table, shape, full):
    """Return t of a table of (answer, group) for each person."""
    answer, place = np.array(table, dtype=np.intp).T
    return table_norm(answer, place, shape, full)


def mean_of(values, place, groups, people, full, floor):
    """Return t of values in [0, 1] and the groups of people."""
    known = ~np.isnan(values)
    sums = [
        np.bincount(place[known], part[known], minlength=groups)[:, None].astype(np.float64)
        for part in (values, values**2, np.ones(values.size))
    ]
    return float(mean_norm(*sums, people, full, floor)[0])


def worst_ratio(statistic, states, n, influence, grow, *, kept=None):
    """Return the largest rise over influence + grow * t, one person of n being anybody of `states`.

    `kept` says which part of a person neighbours share.
    """
    worst = 0.0
    for others in combinations_with_replacement(states, n - 1):
        t = {state: statistic((*others, state)) for state in states}
        for one, two in product(states, repeat=2):
            if kept is None or one[kept] == two[kept]:
                worst = max(worst, (t[two] - t[one]) / (influence + grow * t[one]))
    return worst


@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
@pytest.mark.parametrize("full", [2.0, 2.7])
def test_no_table_of_ranks_exceeds_the_influence(full, protected):
    """All tables of six people in three groups, who may be absent."""
    states = [(value, group) for value in (0, 1, NAN) for group in (0, 1, 2)]
    influence, grow = rank_influence(6, full, protected=protected)
    kept = None if protected else 1
    assert worst_ratio(lambda t: ranked(t, 3, full), states, 5, influence, grow, kept=kept) <= ROOM


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
@pytest.mark.parametrize("floor", [0.2, 0.5])
def test_no_table_of_means_exceeds_the_influence(floor, protected):
    """All tables of five people in three groups, who may be absent."""
    states = [(value, group) for value in (0.0, 1.0, NAN) for group in (0, 1, 2)]
    influence, grow = mean_influence(5, 2.5, floor, protected=protected)
    kept = None if protected else 1

    def statistic(table):
        values, place = np.array(table, dtype=np.float64).T
        return mean_of(values, place.astype(np.intp), 3, 5, 2.5, floor)

    assert 0.2 < worst_ratio(statistic, states, 5, influence, grow, kept=kept) <= ROOM


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
def test_no_table_of_answers_exceeds_the_influence(protected):
    """All tables of six people, three answers and two groups, who may be absent."""
    states = [(answer, group) for answer in (0, 1, 2, -1) for group in (0, 1)]
    full = (2.5, 2.0)
    influence, grow = table_influence(6, *full, protected=protected)
    kept = None if protected else 1
    assert worst_ratio(lambda t: counted(t, (3, 2), full), states, 6, influence, grow, kept=kept) <= ROOM


def climb(rng, kind, n, *, protected, steps, influence=None):
    """Return the largest ratio found by changing other people one at a time, from even tables on."""
    groups = int(rng.integers(2, 5))
    answers = int(rng.integers(2, 5))
    if kind == "ranks":
        full = n / rng.uniform(groups, 3 * groups)
        bound = rank_influence(n, full, protected=protected)
        draw = lambda: float(rng.choice([*range(7), NAN]))  # noqa: E731
        statistic = lambda x, g: rank_norm(x, g, groups, full)  # noqa: E731
        values = rng.permutation(np.arange(n) % 7).astype(np.float64)
        new = float(rng.choice([-1.0, 9.0, NAN]))
    elif kind == "means":
        full, floor = n / rng.uniform(groups, 3 * groups), float(rng.choice([0.1, 0.2, 0.5]))
        bound = mean_influence(n, full, floor, protected=protected)
        draw = lambda: float(rng.choice([0, 0, 1, 1, 0.5, NAN]))  # noqa: E731
        statistic = lambda x, g: mean_of(x, g, groups, n, full, floor)  # noqa: E731
        values = (rng.random(n) < rng.choice([0.5, 0.95])).astype(np.float64)
        new = float(rng.choice([0.0, 1.0, NAN]))
    else:
        full = (n / rng.uniform(answers, 3 * answers), n / rng.uniform(groups, 3 * groups))
        bound = table_influence(n, *full, protected=protected)
        draw = lambda: int(rng.integers(-1, answers))  # noqa: E731
        statistic = lambda x, g: table_norm(x, g, (answers, groups), full)  # noqa: E731
        values = np.arange(n) % answers
        new = int(rng.integers(-1, answers))
    place = np.arange(n) // answers % groups
    to = int(rng.integers(groups))

    def ratio(x, g):
        other, moved = x.copy(), g.copy()
        other[0], moved[0] = new, to if protected else g[0]
        low, high = sorted((statistic(x, g), statistic(other, moved)))
        return (high - low) / ((influence or bound[0]) + (0 if influence else bound[1]) * low)

    best = ratio(values, place)
    for _ in range(steps):
        x, g = values.copy(), place.copy()
        at = int(rng.integers(n))
        if rng.random() < 0.5:
            x[at] = draw()
        else:
            g[at] = rng.integers(groups)
        tried = ratio(x, g)
        if tried >= best:
            values, place, best = x, g, tried
    return best


@pytest.mark.slow
@pytest.mark.parametrize("protected", [True, False], ids=["protected", "public"])
@pytest.mark.parametrize("kind", ["ranks", "answers", "means"])
def test_climbing_finds_nothing_beyond_the_influence(kind, protected):
    """Larger tables, pushed toward the largest move; the bound is near what is found."""
    rng = np.random.default_rng([3, protected, len(kind)])
    found = [climb(rng, kind, int(rng.integers(30, 120)), protected=protected, steps=80) for _ in range(16)]
    assert (0.3 if kind == "means" else 0.5) < max(found) <= ROOM


def test_weights_that_do_not_shrink_are_refused(monkeypatch):
    """Wrong twin: 1/n for small groups too, as in the textbook; whoever joins one moves it too far."""
    before = [(value, group) for value in range(30) for group in (0, 1)]
    influence, grow = rank_influence(61, 25.0, protected=True)

    def rise():
        joined = ranked([*before, (99, 2)], 3, 25.0)
        return joined - ranked([*before, (99, 0)], 3, 25.0)

    assert rise() <= influence
    textbook = lambda counts, full: 1 / np.maximum(counts, 1.0)  # noqa: E731, ARG005
    monkeypatch.setattr("discreet.evidence.core.several.weights", textbook)
    assert rise() > 1.2 * (influence + grow)


def test_means_that_forget_the_deviation_are_refused():
    """Wrong twin: the deviation is not half the width; as if it were, one person moves t too far."""
    people, full, floor = 60, 20.0, 0.02
    values = np.zeros(people)
    values[0] = 1.0
    place = np.arange(people) % 3
    influence, grow = mean_influence(people, full, 0.5, protected=False)
    low, high = sorted(mean_of(x, place, 3, people, full, floor) for x in (values, np.zeros(people)))
    assert high - low > 1.2 * (influence + grow * low)
    right, growing = mean_influence(people, full, floor, protected=False)
    assert high - low <= right + growing * low


def test_scores_pay_for_growth():
    """Beyond 5 a rise of influence + grow * t is one of the certificate; below it scores are t."""
    influence, grow = 0.2, 0.01
    t = np.linspace(0, 60, 4001)
    score, sensitivity = even(t, influence, grow)
    higher, _ = even(t + influence + grow * t, influence, grow)
    assert np.array_equal(score[t <= 5], t[t <= 5])
    assert np.max(higher - score) <= sensitivity
    assert np.max(higher - score) > 0.99 * sensitivity
    assert np.max(t + influence + grow * t - t) > 2 * sensitivity  # without: growth is not paid for


def test_textbook_statistics_where_groups_are_large():
    """Of full weight, t^2 is H of Kruskal and Wallis, F's share of N - 1, and Pearson's with N - 1 for N."""
    rng = np.random.default_rng(1)
    place = rng.integers(0, 3, 300)
    values = rng.random(300)
    h = kruskal(*(values[place == group] for group in range(3))).statistic
    assert rank_norm(values, place, 3, 50.0) ** 2 == pytest.approx(h)
    answer = rng.integers(0, 4, 300)
    table = np.zeros((4, 3))
    np.add.at(table, (answer, place), 1)
    f = f_oneway(*(values[place == group] for group in range(3))).statistic
    between = 299 * 2 * f / (2 * f + 297)  # (n - 1) times the share of the variance
    assert mean_of(values, place, 3, 300, 50.0, 0.01) ** 2 == pytest.approx(between)
    pearson = chi2_contingency(table, correction=False).statistic
    assert table_norm(answer, place, (4, 3), (20.0, 20.0)) ** 2 == pytest.approx(pearson * 299 / 300)


def test_the_size_of_full_weight():
    """Groups of one size have it; a few people in one more do not spoil the others."""
    assert full_size(np.array([100.0, 100.0, 100.0])) == 100
    assert full_size(np.array([1000.0, 900.0, 10.0])) >= 900
    assert weights(np.array([0.0, 50.0, 200.0]), 100.0).tolist() == [0.0, 0.005, 0.005]


def laws(sizes, values, floor=None):
    """Return t of ranks, or of means above a floor, for every way to fill groups, all as likely."""
    n, places = sum(sizes), [()]
    for _ in range(n):
        places = [
            (*place, group)
            for place in places
            for group in range(len(sizes))
            if place.count(group) < sizes[group]
        ]
    full = full_size(np.array(sizes, dtype=np.float64))
    x = np.array(values, dtype=np.float64)
    if floor is None:
        influence, _ = rank_influence(n, full, protected=False)
        t = np.array([rank_norm(x, np.array(place), len(sizes), full) for place in places])
    else:
        influence, _ = mean_influence(n, full, floor, protected=False)
        t = np.array([mean_of(x, np.array(place), len(sizes), n, full, floor) for place in places])
    return np.maximum(np.sort(t)[::-1] - influence / 2, 0.0)


@pytest.mark.parametrize("values", [range(8), [0, 0, 0, 1, 1, 1, 2, 2], [0] * 7 + [1]])
@pytest.mark.parametrize("sizes", [(3, 3, 2), (4, 3, 1), (2, 2, 2, 2)])
def test_ranks_are_no_more_extreme_than_chi(sizes, values):
    """Exact laws with and without ties, whatever the sizes of groups."""
    t = laws(sizes, values)
    tail = np.arange(1, t.size + 1) / t.size
    last = np.append(t[1:] < t[:-1] - 1e-12, True)
    bound = np.where(t > 0, chi2.sf(t**2, len(sizes) - 1), 1.0)
    assert np.all(tail[last] <= bound[last] + 1e-12)


@pytest.mark.parametrize("values", [np.linspace(0, 1, 8), [0, 0, 0, 0.5, 0.5, 1, 1, 1], [0] * 7 + [1]])
@pytest.mark.parametrize("sizes", [(3, 3, 2), (4, 3, 1)])
def test_means_are_no_more_extreme_than_chi(sizes, values):
    """Exact laws of evenly spread, tied and rare values; at 8 people a floor of 0.2 is never reached."""
    t = laws(sizes, values, 0.2)
    tail = np.arange(1, t.size + 1) / t.size
    last = np.append(t[1:] < t[:-1] - 1e-12, True)
    bound = np.where(t > 0, chi2.sf(t**2, len(sizes) - 1), 1.0)
    assert np.all(tail[last] <= bound[last] + 1e-12)


@pytest.mark.slow
def test_tables_are_no_more_extreme_than_chi():
    """Exact laws of two answers in three groups, rare and common ones, deep into the tail."""
    worst = 0.0
    for n, shares in product((40, 120, 300), ((1 / 3, 1 / 3, 1 / 3), (0.6, 0.3, 0.1), (0.8, 0.15, 0.05))):
        columns = np.round(n * np.array(shares)).astype(int)
        columns[0] += n - columns.sum()
        for protected in (True, False):
            group = usual_size(n, 3) if protected else full_size(columns.astype(np.float64))
            full = (answer_size(n, 2), group)
            influence, _ = table_influence(n, *full, protected=protected)
            for yes in {1, 3, n // 20, n // 5, n // 2}:
                t, chance = exact_tables(yes, columns, full)
                order = np.argsort(-t)
                tail = np.cumsum(chance[order])
                late = np.maximum(t[order] - influence / 2, 0.0)
                bound = gammaincc(1.0, late**2 / 2)
                seen = (tail > 1e-12) & (bound < 0.5)  # elsewhere the score is 0
                worst = max(worst, float(np.max(np.where(seen, tail / bound, 0.0))))
    assert 0.8 < worst <= 1


def exact_tables(yes, columns, full):
    """Return t and its chance over all ways that so many yes fall into three groups."""
    n = int(columns.sum())
    a, b = np.arange(yes + 1)[:, None], np.arange(yes + 1)
    seen = [a + 0 * b, b + 0 * a, yes - a - b]
    inside = np.logical_and.reduce([(x >= 0) & (x <= size) for x, size in zip(seen, columns, strict=True)])
    seen = [x[inside] for x in seen]
    choose = lambda size, x: gammaln(size + 1) - gammaln(x + 1) - gammaln(size - x + 1)  # noqa: E731
    chance = np.exp(sum(choose(size, x) for size, x in zip(columns, seen, strict=True)) - choose(n, yes))
    of_rows = weights(np.array([yes, n - yes], dtype=np.float64), full[0]).sum()
    of_columns = weights(columns.astype(np.float64), full[1])
    squares = sum(w * (x - yes * size / n) ** 2 for w, x, size in zip(of_columns, seen, columns, strict=True))
    return np.sqrt((n - 1) * of_rows * squares), chance


def test_the_chi_null_and_its_sum_with_noise():
    """One degree is the folded normal; far tails are finite; with noise it is a bound and a close one."""
    t = np.linspace(0.1, 30, 200)
    one = discreet.Null("chi", 36.0, degrees=1)
    folded = discreet.Null("folded normal", 36.0)
    assert one.log_survival(t) == pytest.approx(folded.log_survival(t), rel=1e-6)
    three = discreet.Null("chi", 36.0, "checked", 3)
    assert np.isfinite(three.log_survival(36.0))
    assert three.survival(three.cutoff(1e-5)) == pytest.approx(1e-5)
    exact, close = noisy_tail(t[:60], 0.3, folded), noisy_tail(t[:60], 0.3, one)
    assert np.all(close >= exact * (1 - 1e-9))
    assert np.all(close <= exact * 1.15 + 1e-18)
    with pytest.raises(InputError, match="degrees"):
        discreet.Null("normal", 8.0, degrees=2)


@pytest.mark.parametrize("times", [1.0, 1.5, 2.0, 6.0])
@pytest.mark.parametrize("noise", [0.05, 0.6, 4.0])
def test_a_multiple_of_a_normal_tail_with_noise(times, noise):
    """P(X + N >= t), X with so many times the normal tail, is bounded closely; the tail alone is less."""
    t = np.array([0.5, 1.5, 3.0, 6.0, 9.0])
    z = np.linspace(0.0, 12.0, 200_001)
    for law, sides in (("normal", 1), ("folded normal", 2)):
        held = np.minimum(times * sides * ndtr(-z), 1.0)
        beyond = ndtr((z - t[:, None]) / noise)
        exact = beyond[:, 0] + np.sum(held[1:] * np.diff(beyond, axis=1), axis=1)
        found = noisy_tail(t, noise, discreet.Null(law, 37.0, multiple=times))
        assert np.all(found >= exact * (1 - 1e-3) - 1e-15)
        assert np.all(found <= exact * 1.04 + 1e-15)
        if times > 1:
            assert np.any(noisy_tail(t, noise, discreet.Null(law, 37.0)) < exact * (1 - 1e-3))


def people(n=900):
    """Return a table with numbers, answers, an empty and a constant column, in three groups."""
    rng = np.random.default_rng(4)
    group = np.arange(n) % 3
    return pd.DataFrame(
        {
            "x": rng.random(n) + (group == 1),
            "flat": np.ones(n),
            "empty": np.full(n, NAN),
            "said": np.where(rng.random(n) < 0.3 + 0.5 * (group == 2), "yes", "no"),
            "g": group,
        }
    )


COLUMNS = {"x": None, "flat": None, "empty": None}


@pytest.mark.parametrize("protect", ["everything", "columns"])
def test_scores_of_several_groups(protect):
    """What differs has a score, constant and empty columns have none; unknown levels get a clear word."""
    test = discreet.KruskalWallis(group="g", levels=(0, 1, 2), protect=protect)
    score = discreet.measure(people(), test, columns=COLUMNS).score
    assert score[0] > 5
    assert not score[1:].any()
    means = discreet.Anova(group="g", levels=(0, 1, 2), protect=protect, bounds=(0, 2))
    score = discreet.measure(people(), means, columns=COLUMNS).score
    assert score[0] > 3
    assert not score[1:].any()
    answers = discreet.Contingency(group="g", levels=(0, 1, 2), protect=protect)
    assert discreet.measure(people(), answers, columns={"said": ["yes", "no"]}).score[0] > 4
    with pytest.raises(InputError, match="holds numbers"):
        discreet.measure(people(), answers, columns={"x": None})
    strange = [replace(one, levels=(0, 7)) for one in (test, means, answers)]
    for one, columns in zip(strange, (COLUMNS, COLUMNS, {"said": ["yes", "no"]}), strict=True):
        if protect == "columns":
            with pytest.raises(InputError, match="nobody is in 7"):
                discreet.measure(people(), one, columns=columns)
        else:
            assert not discreet.measure(people(), one, columns=columns).score.any()
    with pytest.raises(InputError, match="two values or more"):
        discreet.KruskalWallis(group="g", levels=(1,))


def test_pairs_of_columns():
    """Each two columns once, numbers and answers; what goes together has a score, what is constant none."""
    table = people()
    table["twin"] = table["x"] ** 3
    evidence = discreet.measure(table, discreet.Pairs(), columns={**COLUMNS, "twin": None, "said": ["yes"]})
    score = dict(zip(evidence.names, evidence.score, strict=True))
    assert len(score) == 10
    assert score["x & twin"] > 5
    assert score["x & said=yes"] == score["twin & said=yes"]
    assert not any(value for name, value in score.items() if "flat" in name or "empty" in name)
    with pytest.raises(InputError, match="two columns"):
        discreet.measure(table, discreet.Pairs(), columns=["x"])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_one_person_moves_pairs_by_no_more_than_the_certificate(seed):
    """Numbers and answers replaced or lost, all at once; scores and effects."""
    rng = np.random.default_rng(seed)
    table = people(60)
    table["y"] = table["x"].round(1) + 0.3 * rng.random(60)
    columns = {"x": None, "y": None, "said": ["yes", "no"], "g": ["0", "1", "2"]}
    first = discreet.measure(table, discreet.Pairs(), columns=columns)
    for _ in range(8):
        other = table.copy()
        at = int(rng.integers(60))
        other.loc[at, "x"], other.loc[at, "y"] = rng.choice([-9, 0.5, 9, NAN], 2)
        other.loc[at, "said"], other.loc[at, "g"] = rng.choice(["yes", "no", "?"]), rng.integers(4)
        second = discreet.measure(other, discreet.Pairs(), columns=columns)
        assert np.max(np.abs(first.score - second.score)) <= first.certificate.sensitivity * ROOM
        assert np.max(np.abs(first.effect.share - second.effect.share)) <= first.effect.sensitivity


def test_the_cells_are_fine_enough():
    """The bound is little above the supremum that finer cells give."""
    known = rank_influence(3000, 1000.0, protected=True)[0]
    assert known < 1.02 * 0.0975
    assert several.rank_influence(3000, 1000.0, protected=False)[0] < 1.04 * np.sqrt(
        12 * 2000 / (1000 * 3001)
    )
