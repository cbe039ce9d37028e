"""The records: what they promise, what they refuse, and that they say nothing private."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighbour_tables import evidence_of
from scipy.stats import norm

import discreet
from discreet import Certificate, Evidence, Null

SECRET = 3.14159265


def test_a_certificate_needs_sup_and_spread_that_fit():
    """The spread lies between sensitivity and twice sensitivity; adjacency and proof are named."""
    good = Certificate(0.5, 0.75, "replace", "declared")
    assert (good.sensitivity, good.spread) == (0.5, 0.75)
    for arguments in (
        (0.0, 0.0, "replace", "declared"),
        (0.5, 0.4, "replace", "declared"),
        (0.5, 1.1, "replace", "declared"),
        (np.nan, 1.0, "replace", "declared"),
        (0.5, 1.0, "swap", "declared"),
        (0.5, 1.0, "replace", ""),
    ):
        with pytest.raises(discreet.DiscreetError):
            Certificate(*arguments)


def test_scores_with_signs_have_a_plain_law():
    """Their tails with noise are computed from the normal law itself, so a multiple of it is refused."""
    certificate, score = Certificate(0.5, 1.0, "replace", "enumerated"), np.array([0.5, 2.0])
    Evidence(("a", "b"), score, Null("folded normal", 3.0), certificate, signed=-score)
    Evidence(("a", "b"), score, Null("folded normal", 3.0, multiple=2.0), certificate)
    with pytest.raises(discreet.InputError, match="multiple"):
        Evidence(("a", "b"), score, Null("folded normal", 3.0, multiple=2.0), certificate, signed=-score)


def test_a_certificate_repeats_its_adjacency_in_words():
    """Its printed form says what was done to one person, and by which proof."""
    assert "replaced" in str(Certificate(0.5, 1.0, "replace", "enumerated"))
    assert "added or removed" in str(Certificate(0.5, 1.0, "add-remove", "enumerated"))
    assert "enumerated" in str(Certificate(0.5, 1.0, "replace", "enumerated"))


def test_a_certificate_says_what_is_not_protected():
    """Tests with public groups say so in their certificate; others have nothing to say."""
    values, labels = np.zeros((12, 1)), {"g": np.arange(12) % 2, "s": np.arange(12) // 6}
    for test in (
        discreet.TwoGroups(group="g", bounds=(0, 1), alternative="greater"),
        discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.1, alternative="greater"),
        discreet.TwoByTwo(group="g", alternative="greater"),
        discreet.RankSum(group="g", alternative="greater"),
    ):
        certificate = evidence_of(test, values, labels).certificate
        assert str(certificate).endswith("Not protected: who is in which group.")
    trend = discreet.Trend(group="g", levels=(0, 1), protect="genotypes")
    assert str(evidence_of(trend, values, labels).certificate).endswith(
        "Not protected: everyone's phenotype."
    )
    strata = discreet.Stratified(group="g", stratum="s", strata=(0, 1), bounds=(0, 1), alternative="greater")
    assert "stratum" in str(evidence_of(strata, values, labels).certificate)
    assert "Not protected" not in str(evidence_of(discreet.Sign(alternative="greater"), values).certificate)


def test_null_laws_are_survival_functions_with_an_atom_at_zero():
    """Survival is 1 up to 0, the law's tail inside, 0 past the ceiling; accurate far out."""
    for law, tail in (
        ("normal", norm.sf),
        ("folded normal", lambda t: 2 * norm.sf(t)),
        ("exponential", lambda t: np.exp(-t)),
    ):
        null = Null(law, 30.0)
        t = np.array([0.7, 1.0, 5.0, 9.0, 29.9])
        assert np.allclose(null.survival(t), tail(t), rtol=1e-12)
        assert np.array_equal(null.survival([-1.0, 0.0, 30.1]), [1.0, 1.0, 0.0])
        assert np.all(np.diff(null.log_survival(np.linspace(-1, 30, 500))) <= 0)
        assert np.isclose(null.survival(null.cutoff(1e-5)), 1e-5, rtol=1e-9)
        twice = Null(law, 30.0, multiple=2.0)
        assert np.allclose(twice.survival(t), np.minimum(2 * tail(t), 1), rtol=1e-12)
        assert np.isclose(twice.survival(twice.cutoff(1e-5)), 1e-5, rtol=1e-9)
    with pytest.raises(discreet.DiscreetError, match="multiple"):
        Null("normal", 5.0, multiple=0.5)


def test_null_cutoffs_stay_inside_the_scores():
    """A level that even no evidence meets has cutoff 0; one beyond the ceiling has the ceiling."""
    assert Null("normal", 5.0).cutoff(0.9) == 0.0
    assert Null("normal", 5.0).cutoff(1e-12) == 5.0


def test_p_values_become_the_papers_scores():
    """Score -log max(p, nu), null Exp(1), certificate as declared."""
    evidence = Evidence.from_p({"a": 1e-9, "b": 0.5, "c": 1.0}, eta=0.01, nu=1e-6)
    assert evidence.names == ("a", "b", "c")
    assert np.allclose(evidence.score, [-np.log(1e-6), np.log(2), 0])
    assert evidence.null == Null("exponential", -np.log(1e-6))
    assert evidence.certificate == Certificate(0.01, 0.02, "add-remove", "declared")


def test_z_scores_are_clipped_where_there_is_no_evidence():
    """One-sided at 0 and the ceiling; two-sided by absolute value."""
    one = Evidence.from_z(
        [-3.0, 2.0, 99.0], sensitivity=0.1, adjacency="replace", ceiling=10, alternative="greater"
    )
    two = Evidence.from_z(
        [-3.0, 2.0, 99.0], sensitivity=0.1, adjacency="replace", ceiling=10, alternative="two-sided"
    )
    assert np.array_equal(one.score, [0, 2, 10])
    assert np.array_equal(two.score, [3, 2, 10])
    assert (one.null.law, two.null.law) == ("normal", "folded normal")


@given(
    z=st.lists(st.floats(-20, 20), min_size=4, max_size=4),
    d=st.lists(st.floats(0.5, 1.0), min_size=4, max_size=4),
    low=st.floats(0, 2),
    high=st.floats(3, 9),
)
def test_spread_with_its_zeros_survives_clipping(z, d, low, high):
    """A common shift clipped at either end keeps max(d, 0) - min(d, 0); without the zeros it would not."""
    z, d = np.array(z), np.array(d)
    moved = np.clip(z + d, low, high) - np.clip(z, low, high)
    assert max(moved.max(), 0) - min(moved.min(), 0) <= max(d.max(), 0) - min(d.min(), 0) + 1e-12


@pytest.mark.parametrize(
    "make",
    [
        lambda: Evidence.from_p([0.1, np.nan], eta=1, nu=1e-3),
        lambda: Evidence.from_p([0.1, 1.1], eta=1, nu=1e-3),
        lambda: Evidence.from_p([0.1], eta=0, nu=1e-3),
        lambda: Evidence.from_p([0.1], eta=1, nu=0),
        lambda: Evidence.from_p([], eta=1, nu=1e-3),
        lambda: Evidence.from_p([[0.1]], eta=1, nu=1e-3),
        lambda: Evidence.from_p(["a"], eta=1, nu=1e-3),
        lambda: Evidence.from_p([0.1], eta=1, nu=1e-3, names=["a", "b"]),
        lambda: Evidence.from_z([np.nan], sensitivity=1, adjacency="replace", alternative="greater"),
        lambda: Evidence.from_z([1.0], sensitivity=1, adjacency="replace", alternative="both"),
        lambda: Evidence.from_z([1.0], sensitivity=1, spread=3, adjacency="replace", alternative="greater"),
        lambda: Evidence(("a",), np.array([np.nan]), Null("normal", 1), Certificate(1, 1, "replace", "x")),
        lambda: Evidence(("a",), np.array([2.0]), Null("normal", 1), Certificate(1, 1, "replace", "x")),
    ],
)
def test_evidence_that_cannot_be_is_refused(make):
    """Wrong shapes, NaN, impossible levels and scores outside the null's range raise, without values."""
    with pytest.raises(discreet.DiscreetError) as refusal:
        make()
    assert "1.1" not in str(refusal.value)


def test_nothing_printed_or_pickled_shows_a_score_or_a_count_of_people():
    """Printed forms of evidence, accumulators and blocks hold no data; evidence is not pickled."""
    values = np.full((41, 2), SECRET)
    test = discreet.Mean(bounds=(0, 10), null=1.0, alternative="greater")
    accumulator = test.start(["a", "b"])
    accumulator.update(block := discreet.block.Block(values))
    ranked = discreet.SignedRank(alternative="greater").start(["a", "b"])
    ranked.update(block)
    evidence = Evidence.from_z([SECRET, 1.0], sensitivity=0.1, adjacency="replace", alternative="greater")
    for thing in (evidence, accumulator, ranked, block, evidence_of(test, values)):
        for text in (repr(thing), str(thing), f"{thing}"):
            assert "3.14" not in text
            assert "41" not in text
    for spill in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private"):
            spill(evidence)


def test_scores_cannot_be_changed_behind_the_certificate():
    """The score array is a read-only copy."""
    z = np.array([1.0, 2.0])
    evidence = Evidence.from_z(z, sensitivity=0.1, adjacency="replace", alternative="greater")
    z[0] = 9
    assert evidence.score[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        evidence.score[0] = 5
