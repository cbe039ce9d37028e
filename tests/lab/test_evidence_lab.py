"""The laboratory's own figures about evidence: type-I error by simulation, and the benchmark's wiring."""

from __future__ import annotations

import dataclasses
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom, multinomial

import discreet
from budget import assert_mean_at_most, assert_mean_is, must_fail
from discreet.block import Block
from discreet.evidence.core.accumulate import Rows
from discreet.evidence.core.invented import STATUS, NullCase, genotypes
from discreet.lab import type_one
from discreet.lab.bench import evidence as bench

SAFE = [case for case in type_one.cases(0.02, 0.1) if "normal" not in case.name]
SIDED = ("Proportion", "Mean", "TwoGroups", "TwoByTwo", "Stratified", "Allelic", "Trend", "Score")
LESS = [
    case
    for case in type_one.cases(0.98, 0.1, "less")
    if type(case.test).__name__ in SIDED and case.law and "normal" not in case.name
]
RARE = discreet.Genotypic(protect="genotypes", maf_floor=0.0005)
SAFE += [NullCase("Genotypic, rate 5%", RARE, genotypes(0.05), (4500, 500), STATUS)]
TAILED = [case for case in SAFE if case.law and type(case.test).__name__ in ("TwoByTwo", "Mean")]
TAILED += [case for case in SAFE if "floor" in case.name and hasattr(case.test, "sd")]
TAILED += [case for case in SAFE if case.name.endswith(("MAF floor .005", "rate 5%"))]
# With the influence cap in place of a floor no rate is so rare that the normal tail would show.
CAPPED = [case for case in TAILED if getattr(case.test, "floor", 0) is None or "Carriers" in case.name]
TAILED = [case for case in TAILED if case not in CAPPED]


def hits(case, columns):
    """Say of each null column whether it passes alpha = 1e-3."""
    score = type_one.null_scores(case, min(columns, case.most), np.random.default_rng(7))
    return score >= -ndtri(1e-3 / case.sides)


def outcomes(size, chance, least=5e-5):
    """Return how many of so many people may hold each value, and the chance of that; the rarest left out."""
    usual = [np.flatnonzero(binom.pmf(np.arange(size + 1), size, p) > least) for p in chance[1:]]
    rest = np.stack(np.meshgrid(*usual), axis=-1).reshape(-1, len(usual))
    counts = np.column_stack([size - rest.sum(axis=1), rest])
    p = multinomial.pmf(counts, size, chance)
    return counts[p > least], p[p > least]


def surely_passes(case):
    """Return how likely a null column is at least to pass alpha = 1e-3: outcomes are counted, not drawn."""
    kinds = [outcomes(size, list(case.law.values())) for size in case.sizes]
    at = [place.ravel() for place in np.meshgrid(*(np.arange(p.size) for _, p in kinds))]
    chance = np.prod([p[place] for (_, p), place in zip(kinds, at, strict=True)], axis=0)
    every = Mock(**{"multinomial.side_effect": [n[place] for (n, _), place in zip(kinds, at, strict=True)]})
    return chance[type_one.null_scores(case, chance.size, every) >= -ndtri(1e-3 / case.sides)].sum()


@pytest.mark.slow
@pytest.mark.statistical(2, twins=1)
def test_weighed_columns_stand_for_plain_ones():
    """Columns drawn where they matter, weighed back, have the chances of the null law; unweighed not."""
    case = next(case for case in type_one.cases(0.5, 0.1) if case.name == "Proportion")
    score, weight, basis = type_one.weighted_scores(case, 40_000, np.random.default_rng(5))
    assert basis == "proved"
    assert_mean_is(weight, 1.0, scale=10.0)
    assert weight.max() <= 10.0
    passed = score >= -ndtri(1e-6)
    exact = binom.sf(np.arange(5001) - 1, 5000, 0.5)
    truth = exact[exact <= 1e-6].max()  # an exact test passes with the largest attainable level
    mean, error = np.mean(weight * passed), np.std(weight * passed) / 200
    assert abs(mean - truth) < 6.5 * error < truth / 2
    must_fail(assert_mean_at_most, passed, wrong=0.1, truth=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.5, 0.02])
def test_every_case_can_be_drawn_where_it_matters(rate):
    """Every case of every test has directions, finite weights and a basis."""
    for case in type_one.cases(rate, 0.1, drawn=40):
        if case.draw is None:
            score, weight, basis = type_one.weighted_scores(case, 12, np.random.default_rng(1))
            assert score.shape == weight.shape
            assert np.all(np.isfinite(weight) & (weight >= 0) & (weight <= 10.0 + 1e-9))
            assert basis in ("proved", "checked", "approximate")


@pytest.mark.slow
@pytest.mark.statistical(1)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.name)
def test_null_columns_pass_no_more_often_than_alpha(case):
    """At 500 against 4,500 people and rate 2%, and without ties, every test keeps its level."""
    ranked = case.law is None or case.test.needs_rows or isinstance(case.test.start(("",)), Rows)
    slow = case.test.needs_rows or "Kendall" in case.name or type(case.test) is discreet.Adjusted
    assert_mean_at_most(hits(case, 500 if slow else 20_000 if ranked else 200_000), 1e-3)


@pytest.mark.slow
@pytest.mark.statistical(1)
@pytest.mark.parametrize("case", LESS, ids=lambda case: case.name)
def test_null_columns_are_less_no_more_often_than_alpha(case):
    """The other side of tests whose two sides differ, at common rates of yes, keeps its level too."""
    assert_mean_at_most(hits(case, 200_000), 1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("case", TAILED, ids=lambda case: case.name)
def test_the_normal_tail_is_shown_to_be_unsafe(case):
    """The wrong twin of each test with a safe tail for rare values: its normal tail passes too often."""
    wrong = dataclasses.replace(case, test=dataclasses.replace(case.test, tail="normal"))
    assert surely_passes(case) <= 1e-3 < surely_passes(wrong)


@pytest.mark.slow
@pytest.mark.statistical(3, twins=3)
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_exact_and_rank_tests_would_be_caught(share):
    """The wrong twin where there is no unsafe tail: scores a quarter too large pass too often."""
    for case in type_one.cases(0.5, share):
        if case.name in ("Proportion", "TwoByTwo, floor .005", "RankSum, no ties"):
            test = case.test if case.name == "Proportion" else dataclasses.replace(case.test, tail="normal")
            score = type_one.null_scores(
                dataclasses.replace(case, test=test), 30_000, np.random.default_rng(8)
            )
            must_fail(assert_mean_at_most, 5 / 4 * score >= -ndtri(1e-2), wrong=1e-2, truth=2.3e-2)


def test_the_table_of_type_one_errors_marks_what_is_above():
    """A row whose rate is shown above alpha gets a star, others do not."""
    rows = [
        type_one.Row("good", "proved", 100, 0.5, 0.5, 10**6, (0.9, 1.0, 1.1, 0.5, 0.4), (0.1,) * 5),
        type_one.Row("bad", "proved", 100, 0.5, 0.5, 10**6, (0.9, 1.0, 1.5, 0.5, 0.4), (0.1,) * 5),
    ]
    good, bad = type_one.in_words(rows).splitlines()[2:4]
    assert not good.endswith("*")
    assert bad.endswith("*")


@pytest.mark.parametrize("name", ["Trend", "Allelic", "Genotypic", "Score"])
def test_drawn_counts_are_scored_like_people(name):
    """Genotypes known by their counts alone give the scores of a table of these people."""
    case = next(case for case in type_one.cases(0.5, 0.1) if case.name == f"{name}, MAF floor .05")
    score = type_one.null_scores(case, 5, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    drawn = [rng.multinomial(size, list(case.law.values()), size=5) for size in case.sizes]
    people = np.concatenate([[np.repeat([0.0, 1.0, 2.0], row) for row in kind] for kind in drawn], axis=1).T
    labels = {key: np.repeat(kinds, case.sizes) for key, kinds in case.labels.items()}
    accumulator = case.test.start([str(i) for i in range(5)])
    accumulator.update(Block(people, labels))
    assert np.array_equal(type_one._as_z(accumulator.finish()), score)
    assert np.any(score > 0)


@pytest.mark.slow
def test_the_benchmark_runs_small():
    """Every job runs on a small table; ratios and verdicts are printed."""
    words = bench.in_words(bench.run(people=3000, columns=4, repeats=1))
    assert "time over ours" in words
    assert words.count("target") == 8
