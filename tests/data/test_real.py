"""Real surveys and hospital records, where they are at hand: the library survives data nobody here wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet

FOLDER = Path(__file__).parents[2].parent / "shared" / "data"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the shared data is not here")

SURVEY = FOLDER / "brfss2015_diabetes.parquet"
HOSPITAL = FOLDER / "diabetes130_us_hospitals.parquet"
NHANES = FOLDER / "nhanes_raw_2009_2012.parquet"


@pytest.mark.slow
def test_yes_no_columns_of_a_survey_against_diabetes():
    """Blood pressure, cholesterol and walking are strong; every test agrees on that."""
    columns = ["HighBP", "HighChol", "DiffWalk", "AnyHealthcare"]
    for test in (
        discreet.TwoByTwo(group="Diabetes_binary"),
        discreet.TwoGroups(group="Diabetes_binary", bounds=(0, 1)),
        discreet.RankSum(group="Diabetes_binary"),
    ):
        score = dict(zip(columns, discreet.measure(SURVEY, test, columns=columns).score, strict=True))
        assert min(score["HighBP"], score["HighChol"], score["DiffWalk"]) > 15
        assert score["AnyHealthcare"] < 10


def test_bounds_differ_between_the_columns_of_a_survey():
    """Body mass, age and income on their own scales; richer people have less diabetes."""
    bounds = {"BMI": (10, 60), "Age": (1, 13), "Income": (1, 8)}
    test = discreet.TwoGroups(group="Diabetes_binary", bounds=bounds, floor=0.1, alternative="greater")
    evidence = discreet.measure(SURVEY, test, columns=list(bounds))
    assert evidence.score[0] > 10
    assert evidence.score[1] > 10
    assert evidence.score[2] == 0
    assert evidence.certificate.sensitivity < 0.1


@pytest.mark.slow
def test_hospital_records_are_reduced_to_patients():
    """Encounters repeat patients: refused without a reduction, tested with one, by declared levels too."""
    test = discreet.TwoByTwo(group="diabetesMed", levels=("No", "Yes"))
    columns = {"A1Cresult": [">8", ">7", "Norm"], "race": ["Caucasian"]}
    with pytest.raises(discreet.DiscreetError, match="reduce"):
        discreet.measure(HOSPITAL, test, person="patient_nbr", columns=columns)
    evidence = discreet.measure(HOSPITAL, test, person=discreet.Person("patient_nbr", "any"), columns=columns)
    assert evidence.names[:4] == ("A1Cresult=>8", "A1Cresult=>7", "A1Cresult=Norm", "A1Cresult=other")
    assert evidence.score[0] > 10


def test_a_health_survey_full_of_missing_values():
    """Mixed types and many gaps: no NaN score; height differs by sex, pregnancies are asked of women only."""
    evidence = discreet.measure(
        NHANES, discreet.RankSum(group="Sex", levels=("female", "male"), alternative="two-sided")
    )
    score = dict(zip(evidence.names, evidence.score, strict=True))
    assert np.isfinite(evidence.score).all()
    assert score["Height"] > 15
    assert score["nPregnancies"] == 0
    assert not {"Race1", "Education"} & set(evidence.names)
