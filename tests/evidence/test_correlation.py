"""Correlations within strata: the statistic, all small tables, a pair at the bound, confounding."""

from __future__ import annotations

from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pandas as pd
import pytest
from neighbour_tables import all_tables, evidence_of
from scipy.stats import kendalltau

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.errors import InputError
from discreet.evidence.core import ranks

NAN = np.nan
ROOM = 1 + 1e-9
TEST = discreet.Correlation(partner="y", adjust={"s": [0, 1]})


def labels_of(states):
    """Return the labels of people given by (partner, stratum)."""
    partner, stratum = np.array(states).T
    return {"y": partner.astype(float), "s": stratum}


def test_the_statistic_is_that_of_every_stratum():
    """The effect is the mean of Kendall's tau of the strata, by their people; z follows from it."""
    rng = np.random.default_rng(1)
    values, partner, stratum = rng.random((900, 1)), rng.random(900), rng.integers(0, 2, 900)
    values[:, 0] += 0.3 * partner
    evidence = evidence_of(TEST, values, {"y": partner, "s": stratum})
    each = [
        np.sum(stratum == s) * kendalltau(values[stratum == s, 0], partner[stratum == s]).statistic
        for s in (0, 1)
    ]
    assert np.isclose(evidence.effect.share[0], sum(each) / 900)
    assert np.isclose(evidence.certificate.sensitivity, 3 / np.sqrt((900 + 14) / 9), rtol=0.16)
    alike = discreet.Correlation(partner="y", adjust={"s": [0]})
    whole = evidence_of(alike, values, {"y": partner, "s": np.zeros(900)})
    plain = evidence_of(discreet.Correlation(partner="y"), values, {"y": partner})
    assert np.isclose(whole.effect.share[0], plain.effect.share[0])
    assert np.isclose(whole.score[0], plain.score[0], rtol=0.02)


def largest_move(each):
    """Return how far the first of five people moves a column, by labels and by one of three values."""
    return float(np.max(np.ptp(np.array(each).reshape(len(each), 3, -1), axis=(0, 1))))


@pytest.mark.slow
def test_no_neighbouring_table_exceeds_the_influence():
    """All tables of five people: value, presence, partner and stratum of one of them are replaced."""
    states, tables = list(product([0, 1], [0, 1])), all_tables([0, 1, NAN], 5)
    worst, shares = 0.0, 0.0
    for others in combinations_with_replacement(states, 4):  # people may stand in any order
        found = [evidence_of(TEST, tables, labels_of([own, *others])) for own in states]
        scores, effects = [one.score for one in found], [one.effect.share for one in found]
        worst, shares = max(worst, largest_move(scores)), max(shares, largest_move(effects))
    assert 0 < worst <= found[0].certificate.sensitivity * ROOM
    assert 0 < shares <= found[0].effect.sensitivity * ROOM


def test_some_pair_of_tables_comes_to_the_bound():
    """Somebody leaves a stratum where all others are discordant, and joins one where they are concordant."""
    m = 200
    up, down = np.arange(m, dtype=float), np.arange(m, 0, -1, dtype=float)
    values = np.concatenate([[m + 1.0], up, up])[:, None]
    partner = np.concatenate([[m + 1.0], down, up])
    before = {"y": partner, "s": np.repeat([0, 0, 1], [1, m, m])}
    after = {"y": np.concatenate([[-1.0], partner[1:]]), "s": np.repeat([1, 0, 1], [1, m, m])}
    first, second = (evidence_of(TEST, values, labels) for labels in (before, after))
    moved = abs(first.effect.share[0] - second.effect.share[0]) * (2 * m + 1) / 2
    assert np.isclose(moved, 3)
    # A bound of 2, that of people who stay in their stratum, would be passed.
    assert moved > 2.9


def test_the_tail_covers_exact_laws():
    """All orders of the partner within two strata: P(z >= t) is at most the safe tail."""
    stratum = np.array([0, 0, 0, 0, 1, 1, 1])
    orders = [
        (*first, *(4 + np.array(second)))
        for first in permutations(range(4))
        for second in permutations(range(3))
    ]
    values = np.array(orders, dtype=float).T
    test = discreet.Correlation(partner="y", adjust={"s": [0, 1]}, alternative="greater")
    evidence = evidence_of(test, values, {"y": np.array([0, 1, 2, 3, 4, 5, 6.0]), "s": stratum})
    score = np.sort(evidence.score[evidence.score > 0])
    beyond = (score.size - np.searchsorted(score, score)) / values.shape[1]
    assert score.size
    assert np.all(beyond <= evidence.null.survival(score) * ROOM)


def test_what_the_strata_explain_is_not_found():
    """Column and partner both follow the clinic: correlated over all, not within; another one is found."""
    rng = np.random.default_rng(3)
    clinic = rng.integers(0, 2, 6000)
    partner = rng.normal(clinic)
    values = np.column_stack([rng.normal(clinic), rng.normal(0.2 * partner)])
    labels = {"y": partner, "s": clinic}
    plain = evidence_of(discreet.Correlation(partner="y"), values, labels).score
    within = evidence_of(TEST, values, labels).score
    assert plain.min() > 8
    assert within[0] < 4
    assert within[1] > 8


def test_odd_input_is_said_or_scores_nothing():
    """The partner as its own stratum, products, levels nobody has, nobody present, one value."""
    with pytest.raises(InputError, match="other columns than partner"):
        discreet.Correlation(partner="y", adjust={"y": [0, 1]})
    with pytest.raises(InputError, match="kendall"):
        discreet.Correlation(
            partner="y", adjust={"s": [0]}, method="product", bounds=(0, 1), partner_bounds=(0, 1)
        )
    with pytest.raises(InputError, match="levels"):
        discreet.Correlation(partner="y", adjust={"s": []})
    rng = np.random.default_rng(4)
    values, partner = rng.random((50, 3)), rng.random(50)
    values[:, 1], values[:, 2] = NAN, 1.0
    nobody = evidence_of(TEST, values, {"y": partner, "s": np.full(50, 7)})
    assert not nobody.score.any()
    alone = discreet.Correlation(partner="y", adjust={"s": list(range(50))})
    assert not evidence_of(alone, values, {"y": partner, "s": np.arange(50)}).score.any()
    assert not evidence_of(TEST, values, {"y": partner, "s": np.arange(50) % 2}).score[1:].any()


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_numbers_are_adjusted_for_in_bands():
    """A strong confounder that is a number, protected: columns keep their level; not adjusted, none does."""
    rng = np.random.default_rng(4)
    age = rng.random(4000)
    table = pd.DataFrame(age[:, None] + 0.29 * rng.standard_normal((4000, 60)))
    table.columns = [f"c{place}" for place in range(60)]
    names = list(table)
    table["age"], table["y"] = 17 + 73 * age, age + 0.29 * rng.standard_normal(4000)
    alike = discreet.measure(
        table, discreet.Correlation(partner="y", adjust={"age": (17, 90)}), columns=names
    )
    assert alike.null.basis == "checked"
    assert_mean_at_most(alike.null.survival(alike.score) <= 0.05, 0.05)
    plain = discreet.measure(table, discreet.Correlation(partner="y"), columns=names)
    must_fail(assert_mean_at_most, plain.null.survival(plain.score) <= 0.05, wrong=0.05, truth=0.99)
    assert alike.certificate.sensitivity < 2 * plain.certificate.sensitivity


def test_bands_of_numbers_are_checked():
    """Too many numbers for so few people are refused; 0 and 1 are two answers; those without are left out."""
    few = pd.DataFrame({"y": np.arange(100.0), "x": np.arange(100.0), "a": 1.5, "b": 2.5, "s": 1})
    with pytest.raises(InputError, match="too few for so many covariates"):
        discreet.measure(
            few, discreet.Correlation(partner="y", adjust={"a": (0, 9), "b": (0, 9)}), columns=["x"]
        )
    answers = discreet.measure(few, discreet.Correlation(partner="y", adjust={"s": [0, 1]}), columns=["x"])
    assert answers.null.basis == "proved"
    assert answers.score[0] > 3
    few["a"] = np.nan
    lost = discreet.measure(few, discreet.Correlation(partner="y", adjust={"a": (0.0, 9.0)}), columns=["x"])
    assert lost.score[0] == 0


def test_few_people_are_compared_pair_by_pair_alike():
    """All pairs at once give the K of sorting, with ties and missing values."""
    rng = np.random.default_rng(4)
    columns = rng.integers(0, 5, (20, 30)).astype(np.float64)
    columns[rng.random(columns.shape) < 0.1] = np.nan
    partner = np.append(rng.integers(0, 6, 19).astype(np.float64), np.nan)
    expected = [ranks.kendall(column, partner) for column in columns.T]
    assert np.array_equal(ranks.kendall_of_few(columns, partner), expected)
    assert not np.array_equal(ranks.kendall_of_few(columns, partner[::-1]), expected)
