"""The laboratory's own figures about evidence: type-I error by simulation, and the benchmark's wiring."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import ndtri

import discreet
from budget import assert_mean_at_most, must_fail
from discreet.evidence.accumulate import Rows
from discreet.lab import type_one
from discreet.lab.bench import evidence as bench
from discreet.lab.null_cases import STATUS, Case, cases, genotypes

SAFE = [case for case in cases(0.02, 0.1) if "normal" not in case.name]
SAFE += [
    Case(f"{type(test).__name__}, MAF floor .01", test, genotypes(0.02), (4500, 500), STATUS)
    for test in (
        discreet.Trend(protect="genotypes", maf_floor=0.01, sides=1),
        discreet.Allelic(maf_floor=0.01, sides=1),
    )
]
TAILED = [case for case in SAFE if case.law and type(case.test).__name__ in ("TwoByTwo", "Mean")]
TAILED += [case for case in SAFE if "floor" in case.name and hasattr(case.test, "sd")]


def hits(case, columns):
    """Say of each null column whether it passes alpha = 1e-3."""
    return type_one.null_scores(case, min(columns, case.most), np.random.default_rng(7)) >= -ndtri(1e-3)


@pytest.mark.statistical(1)
@pytest.mark.parametrize("case", SAFE, ids=lambda case: case.name)
def test_null_columns_pass_no_more_often_than_alpha(case):
    """At 500 against 4,500 people and rate 2%, and without ties, every test keeps its level."""
    ranked = isinstance(case.test.start(("",)), Rows)
    kendall = ranked and "Kendall" in case.name
    assert_mean_at_most(hits(case, 4_000 if kendall else 20_000 if ranked else 200_000), 1e-3)


@pytest.mark.statistical(1)
@pytest.mark.parametrize("case", TAILED, ids=lambda case: case.name)
def test_the_normal_tail_is_shown_to_be_unsafe(case):
    """The wrong twin of each test with a safe tail for rare values: its normal tail passes too often."""
    wrong = dataclasses.replace(case, test=dataclasses.replace(case.test, tail="normal"))
    must_fail(lambda: assert_mean_at_most(hits(wrong, 300_000), 1e-3))


@pytest.mark.statistical(3)
@pytest.mark.parametrize("share", [0.5, 0.1])
def test_exact_and_rank_tests_would_be_caught(share):
    """The wrong twin where there is no unsafe tail: scores a sixth too large pass too often."""
    for case in cases(0.5, share):
        if case.name in ("Proportion", "TwoByTwo, floor .005", "RankSum, no ties"):
            test = dataclasses.replace(case.test, tail="normal") if "Rank" in case.name else case.test
            score = type_one.null_scores(
                dataclasses.replace(case, test=test), 30_000, np.random.default_rng(8)
            )
            must_fail(lambda score=score: assert_mean_at_most(7 / 6 * score >= -ndtri(1e-2), 1e-2))


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
