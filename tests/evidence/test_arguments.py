"""Public arguments: impossible ones are refused with a reason, before any data is seen."""

from __future__ import annotations

import numpy as np
import pytest
from neighbour_tables import evidence_of

import discreet

REFUSED = [
    (discreet.Mean, {"bounds": (1, 0), "null": 0.5}, "low < high"),
    (discreet.Mean, {"bounds": 3, "null": 0.5}, "pair"),
    (discreet.Mean, {"bounds": (0, np.inf), "null": 0.5}, "finite"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "sd": 0.6}, "share of the width"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "alternative": "upper"}, "alternative"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "ceiling": 99}, "ceiling"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "tail": "fat"}, "tail"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "adjacency": "add-remove"}, "least"),
    (discreet.Mean, {"bounds": (0, 1), "null": 0.5, "least": 10}, "add-remove"),
    (discreet.Proportion, {"null": 1.0}, "null"),
    (discreet.Proportion, {"null": 0.1, "adjacency": "both"}, "adjacency"),
    (discreet.TwoGroups, {"group": "g", "bounds": (0, 1), "adjacency": "add-remove"}, "public"),
    (discreet.TwoGroups, {"group": "g", "bounds": (0, 1), "sd": 0.2, "floor": 0.1}, "exclude"),
    (discreet.TwoGroups, {"group": "g", "bounds": (0, 1), "levels": (0, 0)}, "different"),
    (discreet.TwoGroups, {"group": "g", "bounds": (0, 1), "levels": (0, 1, 2)}, "2 values"),
    (discreet.TwoGroups, {"group": "g", "bounds": {"a": (2, 1)}}, "'a'"),
    (discreet.TwoByTwo, {"group": "g", "floor": 0}, "floor"),
    (discreet.TwoByTwo, {"group": "g", "adjacency": "add-remove"}, "public"),
    (discreet.Trend, {"adjacency": "add-remove"}, "number of people"),
    (discreet.Allelic, {"adjacency": "add-remove"}, "number of people"),
    (discreet.Trend, {"maf_floor": 0.9}, "maf_floor"),
    (discreet.Allelic, {"case_floor": 0}, "case_floor"),
    (discreet.Allelic, {"protect": "nothing"}, "protect"),
    (discreet.Allelic, {"strata": (1, 2)}, "stratum"),
    (discreet.Genotypic, {"levels": (1, 1)}, "levels"),
    (discreet.Score, {"bounds": (1, 1)}, "bounds"),
    (discreet.Score, {"bounds": (0, 1), "sd_floor": 0.7}, "sd_floor"),
    (discreet.Stratified, {"group": "g", "stratum": "s", "strata": (), "bounds": (0, 1)}, "strata"),
    (
        discreet.Stratified,
        {"group": "g", "stratum": "s", "strata": (0,), "bounds": (0, 1), "sd": 0.2, "floor": 0.1},
        "exclude",
    ),
    (discreet.RankSum, {"group": "g", "adjacency": "add-remove"}, "public"),
    (discreet.SignedRank, {"adjacency": "add-remove"}, "number of people"),
    (discreet.Correlation, {"partner": "y", "method": "spearman"}, "method"),
    (discreet.Correlation, {"partner": "y", "method": "product"}, "partner_bounds"),
    (discreet.Correlation, {"partner": "y", "bounds": (0, 1)}, "product"),
    (discreet.Correlation, {"partner": "y", "partner_bounds": (0, 1)}, "product"),
    (discreet.Vote, {"test": 3}, "function"),
    (discreet.Vote, {"test": np.mean, "blocks": 1}, "blocks"),
    (discreet.PValues, {"eta": 0, "nu": 0.1}, "eta"),
    (discreet.PValues, {"eta": 1, "nu": 1}, "nu"),
]


@pytest.mark.parametrize(("kind", "arguments", "reason"), REFUSED)
def test_impossible_arguments_are_refused_with_a_reason(kind, arguments, reason):
    """The message names the argument or the reason."""
    with pytest.raises(discreet.DiscreetError, match=reason):
        kind(**arguments)


def test_public_facts_that_do_not_fit_the_table_are_refused():
    """A null outside the bounds, columns without bounds, an empty group: refused, nothing private said."""
    values, labels = np.zeros((10, 2)), {"g": np.zeros(10)}
    for test, reason in (
        (discreet.Mean(bounds=(0, 1), null=1.5, alternative="greater"), "strictly inside"),
        (discreet.Mean(bounds={"0": (0, 1)}, null=0.5, alternative="greater"), "'1' has none"),
        (discreet.Mean(bounds=(0, 1), null={"0": 0.5}, alternative="greater"), "'1' has none"),
        (discreet.TwoGroups(group="g", bounds=(0, 1), alternative="greater"), "both groups"),
        (discreet.TwoByTwo(group="g", alternative="greater"), "both groups"),
    ):
        with pytest.raises(discreet.DiscreetError, match=reason):
            evidence_of(test, values, labels)


def test_a_design_that_can_find_nothing_is_refused():
    """Too few people for any score above 0: said at once, from public sizes alone."""
    test = discreet.TwoGroups(group="g", bounds=(0, 1), floor=0.01, ceiling=1, alternative="greater")
    with pytest.raises(discreet.DiscreetError, match="no table of this size"):
        evidence_of(test, np.zeros((4, 1)), {"g": np.arange(4) % 2})


def test_bounds_and_nulls_can_differ_between_columns():
    """A mapping gives each column its own; scaling a column and its bounds changes nothing."""
    values = np.random.default_rng(0).random((200, 2))
    values[:, 1] = 100 * values[:, 0] - 50
    test = discreet.Mean(
        bounds={"0": (0, 1), "1": (-50, 50)}, null={"0": 0.4, "1": -10}, alternative="greater"
    )
    score = evidence_of(test, values).score
    assert np.isclose(score[0], score[1], atol=1e-2)


def test_tests_print_their_public_arguments_only():
    """A test's printed form is its constructor call; it holds no data."""
    assert repr(discreet.Sign(null=0.5)).startswith("Sign(null=0.5, alternative='two-sided'")
    assert "key" not in repr(discreet.Vote(test=np.mean))


def test_p_values_are_taken_as_declared():
    """A vector, a mapping and a one-row table give the same evidence."""
    test = discreet.PValues(eta=0.1, nu=1e-3)
    p = np.array([0.5, 1e-9, 0.2])
    table = evidence_of(test, np.array([[0.5, 1e-9, 0.2]]))
    for evidence in (discreet.measure(p, test), discreet.measure(dict(enumerate(p)), test), table):
        assert np.allclose(evidence.score, -np.log(np.maximum(p, 1e-3)))
        assert evidence.certificate.proof == "declared"
    with pytest.raises(discreet.DiscreetError, match="single row"):
        evidence_of(test, np.ones((2, 3)))
    assert evidence_of(test, np.array([[np.nan, 0.5]])).score[0] == 0


def test_a_vote_that_fails_is_not_cast():
    """A test that raises, warns, or returns nonsense gives no vote, and says nothing."""

    def broken(values):
        np.log(values - 1e9)
        raise ValueError(f"row {values[0]}")

    for bad in (broken, str, np.negative, lambda values: values[0] * np.nan):
        assert np.all(evidence_of(discreet.Vote(test=bad, blocks=4), np.ones((20, 3))).score == 0)


def test_a_vote_can_read_labels():
    """Columns named in `reads` arrive with the values."""
    test = discreet.Vote(
        test=lambda values, labels: np.full(values.shape[1], labels["g"].mean()),
        blocks=4,
        level=0.2,
        reads=("g",),
    )
    assert np.all(evidence_of(test, np.ones((20, 3)), {"g": np.zeros(20)}).score > 0)


def test_add_remove_votes_need_identifiers():
    """Without them one removal would shift every later row into another block."""
    with pytest.raises(discreet.DiscreetError, match="person="):
        evidence_of(discreet.Vote(test=np.mean, adjacency="add-remove"), np.ones((20, 3)))
