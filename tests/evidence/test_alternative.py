"""The direction a test looks in: "less" is "greater" in the mirror, two-sided the stronger of both."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from neighbour_tables import evidence_of

import discreet
from discreet.alternative import ALTERNATIVES, directions, in_todays_words, toward
from discreet.errors import InputError

RNG = np.random.default_rng(11)
PARTS = 64
BOUNDS = {"bounds": (0, 1)}
LABELS = {
    "g": np.repeat([0, 1], [20, 40]),
    "s": np.tile(["a", "b", "c"], 20),
    "y": RNG.integers(0, PARTS + 1, 60) / PARTS,
    "status": np.repeat([1, 2], [24, 36]),
}
VALUES = np.where(RNG.random((60, 300)) < 0.05, np.nan, RNG.integers(0, PARTS + 1, (60, 300)) / PARTS)
VALUES[:, :100] = np.where(VALUES[:, :100] < 0.1, VALUES[:, :100], VALUES[:, :100] / 8)  # most are small
VALUES[40:, 100:200] /= 4  # small in the second group
DOSES = RNG.binomial(2, np.linspace(0.05, 0.95, 300), (60, 300)).astype(float)
DOSES[:40, :150] = np.maximum(DOSES[:40, :150] - 1, 0)
LAYERS = {"stratum": "s", "strata": tuple("abc")}
SWAPPED = {"levels": (1, 0)}
CASES = {"levels": (1, 2)}
CONTROLS = {"levels": (2, 1)}


def mirrored(values):
    """Return values turned over inside [0, 1], exactly."""
    return 1 - values


def same(values):
    """Return the values."""
    return values


def turned(values):
    """Return values turned over at 1/4, exactly."""
    return 0.5 - values


# A test without its alternative, what else its mirror image is asked, and how the table is turned over.
MIRRORS = {
    "mean": (discreet.Mean(**BOUNDS, null=0.25), {"null": 0.75}, mirrored),
    "mean, sd": (discreet.Mean(**BOUNDS, null=0.25, sd=0.3), {"null": 0.75}, mirrored),
    "mean, add": (
        discreet.Mean(**BOUNDS, null=0.25, adjacency="add-remove", least=50),
        {"null": 0.75},
        mirrored,
    ),
    "mean, normal": (discreet.Mean(**BOUNDS, null=0.25, tail="normal"), {"null": 0.75}, mirrored),
    "proportion": (discreet.Proportion(null=0.25), {"null": 0.75}, lambda values: 63 / 64 - values),
    "proportion, add": (
        discreet.Proportion(null=0.25, adjacency="add-remove", least=50),
        {"null": 0.75},
        lambda values: 63 / 64 - values,
    ),
    "sign": (discreet.Sign(null=0.25), {}, turned),
    "sign, add": (discreet.Sign(null=0.25, adjacency="add-remove", least=50), {}, turned),
    "signed rank": (discreet.SignedRank(null=0.25), {}, turned),
    "two groups": (discreet.TwoGroups(group="g", **BOUNDS), SWAPPED, same),
    "two groups, floor": (discreet.TwoGroups(group="g", **BOUNDS, floor=0.2), SWAPPED, same),
    "stratified": (discreet.Stratified(group="g", **LAYERS, **BOUNDS), SWAPPED, same),
    "two by two": (discreet.TwoByTwo(group="g"), SWAPPED, same),
    "two by two, normal": (discreet.TwoByTwo(group="g", tail="normal"), SWAPPED, same),
    "rank sum": (discreet.RankSum(group="g"), SWAPPED, same),
    "kendall": (discreet.Correlation(partner="y"), {}, turned),
    "product": (
        discreet.Correlation(partner="y", method="product", **BOUNDS, partner_bounds=(0, 1)),
        {},
        mirrored,
    ),
}
GENETIC = {
    f"{kind.__name__}, {protect}, {tail}": kind(group="status", protect=protect, tail=tail)
    for kind in (discreet.Allelic, discreet.Trend)
    for protect in ("both", "genotypes")
    for tail in ("safe", "proved")
}


def looking(test, alternative, **other):
    """Return the test with another alternative."""
    return dataclasses.replace(test, alternative=alternative, **other)


def assert_same(one, other):
    """Fail if two pieces of evidence differ in scores, null law or certificate; rounding aside."""
    assert np.allclose(one.score, other.score, rtol=0, atol=1e-9)
    assert one.null.law == other.null.law
    assert one.null.ceiling == pytest.approx(other.null.ceiling, rel=1e-9)
    assert one.certificate.sensitivity == pytest.approx(other.certificate.sensitivity, rel=1e-9)
    assert one.certificate.spread == pytest.approx(other.certificate.spread, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", MIRRORS)
def test_less_is_greater_in_the_mirror(name):
    """Values turned over, or groups exchanged: the same scores, null law and certificate."""
    test, change, turn = MIRRORS[name]
    less = evidence_of(looking(test, "less"), VALUES, LABELS)
    assert_same(less, evidence_of(looking(test, "greater", **change), turn(VALUES), LABELS))
    assert less.score.max() > 0.3
    assert not np.allclose(less.score, evidence_of(looking(test, "greater"), VALUES, LABELS).score)


@pytest.mark.parametrize("name", GENETIC)
def test_less_is_greater_with_cases_and_controls_exchanged(name):
    """Of allelic and trend tests, whatever is protected and whichever tail."""
    test = GENETIC[name]
    less = evidence_of(looking(test, "less"), DOSES, LABELS)
    assert_same(less, evidence_of(looking(test, "greater", **CONTROLS), DOSES, LABELS))
    assert not np.allclose(less.score, evidence_of(looking(test, "greater", **CASES), DOSES, LABELS).score)


@pytest.mark.parametrize("protect", ["both", "genotypes"])
def test_less_is_greater_with_the_trait_turned_over(protect):
    """Of the score test."""
    test = discreet.Score(trait="y", bounds=(0, 1), protect=protect)
    less = evidence_of(looking(test, "less"), DOSES, LABELS)
    turned_over = LABELS | {"y": 1 - LABELS["y"]}
    assert_same(less, evidence_of(looking(test, "greater"), DOSES, turned_over))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MIRRORS, *GENETIC])
def test_two_sided_is_the_stronger_of_both(name):
    """Its scores and its certificate are the larger of those of one side, and it is the default."""
    test, values = (MIRRORS[name][0], VALUES) if name in MIRRORS else (GENETIC[name], DOSES)
    assert test.alternative == "two-sided"
    both, greater, less = (evidence_of(looking(test, one), values, LABELS) for one in ALTERNATIVES)
    assert np.array_equal(both.score, np.maximum(greater.score, less.score))
    assert both.certificate.sensitivity == max(greater.certificate.sensitivity, less.certificate.sensitivity)
    assert (both.null.law, greater.null.law, less.null.law) == ("folded normal", "normal", "normal")


def test_declared_scores_look_where_they_are_told():
    """Less negates z scores, with their signs for the mirror; two-sided ones have no signs."""
    z = np.array([-9.0, -1.0, 0.0, 4.0])
    promise = {"sensitivity": 0.1, "adjacency": "replace", "ceiling": 8.0}
    both, greater, less = (discreet.Evidence.from_z(z, alternative=one, **promise) for one in ALTERNATIVES)
    assert both.score.tolist() == [8, 1, 0, 4]
    assert greater.score.tolist() == [0, 0, 0, 4]
    assert less.score.tolist() == [8, 1, 0, 0]
    assert both.signed is None
    assert greater.signed.tolist() == [-8, -1, 0, 4]
    assert less.signed.tolist() == [8, 1, 0, -4]
    assert discreet.Evidence.from_z(z, **promise).null == both.null


def test_the_mirror_finds_what_is_less():
    """Of strong scores on both sides it reports those on the side asked for."""
    z = np.concatenate([np.full(30, -12.0), np.full(3, 12.0)])
    for alternative, sign in (("less", 1), ("greater", -1)):
        evidence = discreet.Evidence.from_z(
            sign * z, sensitivity=1e-4, adjacency="replace", alternative=alternative
        )
        found = discreet.release(evidence, q=0.2, epsilon=1, delta=1e-6, method="mirror", k=33)
        assert set(found.indices.tolist()) == set(range(30))


@pytest.mark.parametrize("wrong", ["both", "Greater", 1, 2, None, ["less"]])
def test_other_words_are_refused(wrong):
    """By tests, declared scores, the sensitivity of p-values and the planner alike."""
    for ask in (
        lambda: discreet.Sign(alternative=wrong),
        lambda: discreet.Evidence.from_z([1.0], sensitivity=1, adjacency="replace", alternative=wrong),
        lambda: discreet.truncated_sensitivity(0.1, 1e-6, alternative=wrong),
    ):
        with pytest.raises(InputError, match="alternative must be one of 'two-sided', 'greater', 'less'"):
            ask()


def test_directions():
    """What looks upwards, what looks downwards, or both; a statistic so that larger is stronger."""
    assert [directions(one, "up", "down") for one in ALTERNATIVES] == [("up", "down"), ("up",), ("down",)]
    z = np.array([-2.0, 1.0])
    assert [toward(z, one).tolist() for one in ALTERNATIVES] == [[2, 1], [-2, 1], [2, -1]]


@pytest.mark.parametrize(
    ("record", "alternative"),
    [
        ({"name": "mean"}, "greater"),
        ({"name": "mean", "sides": 2}, "two-sided"),
        ({"name": "trend"}, "two-sided"),
        ({"name": "trend", "sides": 1}, "greater"),
        ({"name": "sign", "alternative": "less"}, "less"),
        ({"name": "genotypic"}, None),
        ({"name": "Mine", "sides": 1}, None),
        ({"name": ["mean"]}, None),
    ],
)
def test_earlier_records_are_read_in_todays_words(record, alternative):
    """`sides`, or the default it had then, becomes an alternative; all else stays."""
    read = in_todays_words(record)
    assert read.get("alternative") == alternative
    if alternative is None:
        assert read == record
