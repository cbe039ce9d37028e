"""The line under the title says what was asked, from public arguments alone."""

import pytest
from sample_releases import HOSTILE, sample

import discreet
from discreet.named import TESTS, described
from discreet.report.page import page
from discreet.report.question import question


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (
            discreet.TwoGroups(group="arm", levels=("A", "B"), bounds=(0, 30), alternative="two-sided"),
            "Differences of means, arm B against A, two-sided, bounds 0 to 30",
        ),
        (discreet.TwoByTwo(group="ill"), "Differences of shares of yes, ill 1 against 0, two-sided"),
        (
            discreet.Mean(bounds={"a": (0, 1)}, null=0.5, alternative="greater"),
            "Means, against 0.5, one-sided (greater), bounds by column",
        ),
        (
            discreet.Mean(bounds=(0, 1), null={"a": 0.5}, alternative="less"),
            "Means, against a value for each column, one-sided (less), bounds 0 to 1",
        ),
        (discreet.Correlation(partner="age"), "Correlations, with age, two-sided"),
        (discreet.Allelic(), "Allele frequencies of cases against controls, two-sided"),
        (discreet.Genotypic(), "Genotypes of cases against controls"),
        (discreet.PValues(eta=0.1, nu=1e-4), "p-values computed elsewhere"),
        (
            discreet.Stratified(group="g", stratum="site", strata=(0, 1), bounds=(0, 1)),
            "Differences of means within strata, g 1 against 0, by site, two-sided, bounds 0 to 1",
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_words(test, words):
    """Compared with what, on how many sides, within which bounds."""
    asked = {"test": described(test)}
    assert question(asked) == words
    assert f">{words}; by noise-aware BH, under" in page(sample(parameters=asked))


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"name": "sign"}, "Signs, one-sided (greater)"),
        ({"name": "sign", "sides": 1}, "Signs, one-sided (greater)"),
        ({"name": "sign", "sides": 2}, "Signs, two-sided"),
        ({"name": "allelic"}, "Allele frequencies of cases against controls, two-sided"),
        (
            {"name": "allelic", "sides": 1},
            "Allele frequencies of cases against controls, one-sided (greater)",
        ),
    ],
)
def test_earlier_records_said_sides(record, words):
    """Releases that were written with `sides`, and without where it had its default, mean what they meant."""
    assert question({"test": record}) == words


def test_every_test_has_words():
    """No test of the library is left without."""
    assert all(question({"test": {"name": name}}) for name in TESTS)


@pytest.mark.parametrize("strange", [None, "mean", {}, {"name": "mine"}, {"name": 3}])
def test_what_is_not_known_is_not_said(strange):
    """Evidence handed to `release`, a test of one's own, a record from elsewhere: the method alone."""
    assert question({"test": strange}) == ""
    assert ">By noise-aware BH, under differential privacy.<" in page(sample(parameters={"test": strange}))


@pytest.mark.parametrize("strange", [*HOSTILE, 3, None, {}, [1], [1, 2, 3], 1e300])
def test_any_record_has_a_page(strange):
    """Whatever stands in the record of a test, it is text, and short."""
    fields = (
        "group",
        "levels",
        "bounds",
        "null",
        "partner",
        "sides",
        "alternative",
        "stratum",
        "trait",
        "test",
    )
    given = {"name": "mean", **dict.fromkeys(fields, strange)}
    assert len(question({"test": given})) < 600
    assert "<img" not in page(sample(parameters={"test": given}))
