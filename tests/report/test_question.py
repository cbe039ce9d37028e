"""The line under the title says what was asked, from public arguments alone."""

import dataclasses

import numpy as np
import pytest
from sample_releases import HOSTILE, sample, told

import discreet
from discreet.evidence.core.registry import own_classes
from discreet.report import asked as phrases
from discreet.report.page import page
from discreet.report.words import needed


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
    assert test.in_words() == words
    assert f">{words}.<" in page(sample(parameters={"question": test.in_words()}))


def test_the_record_of_a_release_holds_the_question():
    """It is asked once, when the test is at hand: a reader of the record needs no test."""
    rows = np.arange(4000).reshape(-1, 4) % 7 > 2
    release = discreet.discover(rows, discreet.Proportion(null=0.5), q=0.1, epsilon=1, delta=1e-6)
    assert release.parameters["question"] == "Shares of yes, against 0.5, two-sided"
    read = discreet.Release.from_json(release.to_json())
    assert ">Shares of yes, against 0.5, two-sided.<" in page(read)


def test_every_test_has_words():
    """No test of the library is left without a question, and no two ask the same."""
    questions = [kind.question for kind in own_classes()]
    assert all(questions)
    assert len(set(questions)) == len(questions)


@pytest.mark.parametrize("strange", [None, "mean", {}, {"name": 3}])
def test_what_is_not_known_is_not_said(strange):
    """Evidence handed to `release`, a record from elsewhere: no question at the head of the page."""
    assert 'class="lead"' not in page(sample(parameters={"test": strange}))


def test_earlier_records_hold_no_question():
    """A release written before records held the question names its test."""
    assert ">Test sign.<" in page(sample(parameters={"test": {"name": "sign", "sides": 2}}))


@pytest.mark.parametrize("strange", [*HOSTILE, 3, None, {}, [1], [1, 2, 3], 1e300])
def test_any_record_has_a_page(strange):
    """Whatever stands in the record of a test or as its question, it is text, and short."""
    for parameters in (
        {"question": strange},
        {"test": {"name": strange}},
        {"test": {"name": "mean", "null": strange}},
    ):
        assert "<img" not in page(sample(parameters=parameters))


@pytest.mark.parametrize("strange", [text for text in HOSTILE if "\ud800" not in text])
def test_long_or_strange_arguments_are_cut(strange):
    """An argument that is any text makes a question of bounded length."""
    assert len(discreet.TwoGroups(group=strange, levels=(strange, "b"), bounds=(0, 1)).in_words()) < 600


def test_groups_have_the_labels_of_the_dictionary():
    """Codes stand beside what they mean, in the question and at the head of the directions."""
    named = {
        "question": "Differences, arm 2 against 1",
        "compared": {"group": "arm", "first": 1, "second": 2},
    }
    labels = {"labels": {"arm=1": "Study arm: Control", "arm=2": "Study arm: Intervention"}}
    plain, labelled = (dataclasses.replace(sample(2), parameters={**named, **more}) for more in ({}, labels))
    assert phrases.question(plain) == "Differences, arm 2 against 1"
    assert (
        phrases.question(labelled)
        == "Differences, arm 2 against 1 (Study arm: Intervention, against Control)"
    )
    assert phrases.compared(plain).whom == "arm = 2"
    assert phrases.compared(labelled).whom == "arm = 2 (Intervention)"


def test_groups_that_hardly_anybody_is_in_are_asked_about():
    """Where no difference could be seen, the values of the groups are doubted, not the number of people."""
    release = told(0)
    deviation = np.full(len(release.told), 1e-6)
    release = dataclasses.replace(release, told=dataclasses.replace(release.told, deviation=deviation))
    assert "are their two values written as they are in the data?" in " ".join(needed(release))


def test_what_it_takes_is_planned_with_the_test_that_was_asked():
    """A plan for another test would promise something else; the default needs no name."""
    for name, which in (("allelic", "--m 400 --test allelic --epsilon"), ("compare", "--m 400 --epsilon")):
        release = sample(0, parameters={"test": {"name": name, "alternative": "two-sided"}})
        assert which in " ".join(needed(release))
    assert "--m 400 --epsilon" in " ".join(needed(sample(0, parameters={})))
