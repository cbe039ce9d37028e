"""The laboratory's own figures about evidence: type-I error by simulation, and the benchmark's wiring."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.lab import type_one
from discreet.lab.bench import evidence as bench
from discreet.lab.null_cases import STATUS, Case, genotypes


@pytest.mark.statistical(6)
def test_null_columns_pass_no_more_often_than_alpha():
    """At 500 against 4,500 people and rate 2%, safe tails keep their level; the normal tail does not."""
    rng = np.random.default_rng(7)
    alpha = 1e-3
    group, coin = {"g": np.array([0, 1])}, {0.0: 0.98, 1.0: 0.02}
    for test, law, labels in (
        (discreet.TwoByTwo(group="g", floor=0.01), coin, group),
        (discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.05), coin, group),
        (discreet.Trend(protect="genotypes", maf_floor=0.01, sides=1), genotypes(0.02), STATUS),
        (discreet.Allelic(maf_floor=0.01, sides=1), genotypes(0.02), STATUS),
        (discreet.Proportion(null=0.02), coin, {}),
    ):
        sizes = (4500, 500) if labels else (5000,)
        score = type_one.null_scores(Case("", test, law, sizes, labels), 300_000, rng)
        assert_mean_at_most(score >= -ndtri(alpha), alpha)
    wrong = discreet.TwoByTwo(group="g", floor=0.01, tail="normal")
    score = type_one.null_scores(Case("", wrong, coin, (4500, 500), group), 300_000, rng)
    must_fail(lambda: assert_mean_at_most(score >= -ndtri(alpha), alpha))


def test_the_table_of_type_one_errors_marks_what_is_above():
    """A row whose rate is shown above alpha gets a star, others do not."""
    rows = [
        type_one.Row("good", 0.5, 0.5, 10**6, (9_900, 950, 90, 8)),
        type_one.Row("bad", 0.5, 0.5, 10**6, (9_900, 950, 90, 80)),
    ]
    good, bad = type_one.in_words(rows).splitlines()[2:4]
    assert not good.endswith("*")
    assert bad.endswith("*")


def test_the_benchmark_runs_small():
    """Every job runs on a small table; ratios and verdicts are printed."""
    words = bench.in_words(bench.run(people=3000, columns=4, repeats=1))
    assert "time over ours" in words
    assert words.count("target") == 5
