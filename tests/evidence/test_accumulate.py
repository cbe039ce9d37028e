"""Accumulators: any split, any order, any cluster gives the same evidence; nothing in the data can speak."""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neighbour_tables import evidence_of

import discreet
from discreet.block import Block, codes

BOUNDS = (0.0, 1.0)


def first_column_low(values):
    """Return the same p-value for all columns: something that depends on which people share a block."""
    return np.full(values.shape[1], values[:, 0].mean())


TESTS = [
    discreet.Mean(bounds=BOUNDS, null=0.4, alternative="two-sided"),
    discreet.Mean(bounds=BOUNDS, null=0.4, adjacency="add-remove", least=20, alternative="greater"),
    discreet.Proportion(null=0.4, alternative="two-sided"),
    discreet.Sign(null=0.5, alternative="greater"),
    discreet.SignedRank(null=0.5, alternative="greater"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, alternative="greater"),
    discreet.TwoGroups(group="g", bounds=BOUNDS, floor=0.1, alternative="greater"),
    discreet.TwoByTwo(group="g", alternative="greater"),
    discreet.Allelic(group="g", levels=(0, 1)),
    discreet.Trend(group="g", levels=(0, 1), protect="genotypes"),
    discreet.Trend(group="g", levels=(0, 1), stratum="s", strata=(0, 1, 2)),
    discreet.Genotypic(group="g", levels=(0, 1)),
    discreet.Score(trait="y", bounds=BOUNDS),
    discreet.Score(trait="y", bounds=BOUNDS, protect="genotypes"),
    discreet.RankSum(group="g", alternative="greater"),
    discreet.Stratified(group="g", stratum="s", strata=(0, 1, 2), bounds=BOUNDS, alternative="greater"),
    discreet.Stratified(
        group="g", stratum="s", strata=(0, 1, 2), bounds=BOUNDS, floor=0.1, alternative="greater"
    ),
    discreet.Correlation(partner="y", alternative="greater"),
    discreet.Correlation(
        partner="y", method="product", bounds=BOUNDS, partner_bounds=BOUNDS, alternative="greater"
    ),
    discreet.Vote(test=first_column_low, blocks=5, level=0.5),
]


def people(n, seed=0):
    """Return values with missing entries and labels for n people."""
    rng = np.random.default_rng(seed)
    values = rng.random((n, 5))
    values[rng.random((n, 5)) < 0.1] = np.nan
    return values, {"g": np.arange(n) % 3 == 0, "s": np.arange(n) // 3 % 3, "y": rng.random(n)}


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 60), min_size=1, max_size=5), order=st.randoms(use_true_random=False))
def test_any_split_and_any_order_of_merging_is_bit_identical(test, cuts, order):
    """Cut the people anywhere, accumulate the parts apart, merge in any order: the same bits."""
    values, labels = people(60)
    whole = evidence_of(test, values, labels)
    edges = [0, *sorted(cuts), 60]
    parts = []
    for low, high in itertools.pairwise(edges):
        part = test.start(whole.names)
        part.update(
            Block(values[low:high], {name: label[low:high] for name, label in labels.items()}, first=low)
        )
        parts.append(part)
    order.shuffle(parts)
    for part in parts[1:]:
        parts[0].merge(part)
    assert np.array_equal(parts[0].finish().score, whole.score)


@pytest.mark.parametrize("test", TESTS[:-1], ids=lambda test: type(test).__name__)
def test_accumulators_travel_between_processes(test):
    """A pickled accumulator finishes with the same bits: one code path for memory, files and clusters."""
    values, labels = people(60)
    accumulator = test.start([str(i) for i in range(5)])
    accumulator.update(Block(values, labels))
    arrived = pickle.loads(pickle.dumps(accumulator))  # noqa: S301 - our own bytes
    assert np.array_equal(arrived.finish().score, accumulator.finish().score)


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-320])
def test_no_value_raises_warns_or_leaves_the_range(test, entry):
    """Whatever one person or everybody holds, there is no exception, no warning, no NaN score."""
    for dtype in (np.float64, np.float32):
        values, labels = people(30)
        with np.errstate(over="ignore"):
            values = values.astype(dtype)
            values[0], values[:, 1] = entry, entry
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            evidence = evidence_of(test, values, labels)
        assert np.all((evidence.score >= 0) & (evidence.score <= evidence.null.ceiling))


@pytest.mark.parametrize("test", TESTS[:-1], ids=lambda test: type(test).__name__)
def test_a_column_of_missing_values_is_no_evidence(test):
    """All missing: the score is 0, as for a column that says nothing."""
    values, labels = people(40)
    values[:, 2] = np.nan
    assert evidence_of(test, values, labels).score[2] == 0


@pytest.mark.parametrize("test", TESTS, ids=lambda test: type(test).__name__)
def test_every_certificate_names_a_proof_that_exists(test):
    """The proof is a page of this repository, or every neighbour was tried."""
    values, labels = people(40)
    proof = evidence_of(test, values, labels).certificate.proof
    assert proof == "enumerated" or (Path(__file__).parents[2] / proof).is_file()


def test_values_outside_the_bounds_count_as_the_bounds():
    """Clipping is silent: 5 and 1 are the same in bounds (0, 1)."""
    values = np.random.default_rng(1).random((50, 3))
    wild = values.copy()
    values[:10], wild[:10] = 1.0, 5.0
    test = discreet.Mean(bounds=BOUNDS, null=0.2, alternative="greater")
    assert np.array_equal(evidence_of(test, values).score, evidence_of(test, wild).score)


def test_labels_are_matched_as_numbers_or_as_text():
    """1, 1.0, True and "1" are one level when levels are numbers; others belong to none."""
    for labels in ([0, 1, 2], [0.0, 1.0, np.nan], [False, True, False], ["0", "1.0", "x"]):
        found = codes(
            np.array(labels, dtype=object) if isinstance(labels[0], str) else np.array(labels), (0, 1)
        )
        assert found.tolist() == [0, 1, 0 if labels[2] is False else -1]
    assert codes(np.array(["a", None, "b"], dtype=object), ("a", "b")).tolist() == [0, -1, 1]


def test_float32_columns_give_nearly_the_same_scores():
    """Single precision moves a mean's score by far less than one person does."""
    values = np.random.default_rng(2).random((500, 4))
    test = discreet.Mean(bounds=BOUNDS, null=0.45, alternative="greater")
    single, double = evidence_of(test, values.astype(np.float32)), evidence_of(test, values)
    assert np.max(np.abs(single.score - double.score)) <= double.certificate.sensitivity / 8


def test_float32_far_from_zero_keeps_its_precision():
    """Bounds far from 0 are not rounded to single precision: no shift of every contribution."""
    values = (2.0**20 + np.random.default_rng(3).integers(0, 17, (900, 4)) / 16).astype(np.float32)
    test = discreet.Mean(bounds=(2**20 + 0.01, 2**20 + 1.01), null=2**20 + 0.47, alternative="greater")
    assert np.array_equal(evidence_of(test, values).score, evidence_of(test, values.astype(np.float64)).score)
