"""Three public tables about people: what their documentation says of each column, and how they are read.

Levels and bounds are those of the code books and of common knowledge, not of the data. Numbers are tested by
their bounds, answers by their levels; other levels than those declared are one more, "other".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.data.tables.person import Person
from discreet.evidence.compare import Compare
from discreet.gather import gathered

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from discreet.evidence.core.people import People
    from discreet.typing import Protect


@dataclass(frozen=True, slots=True)
class Survey:
    """A public table: its file, the groups that are compared, and its columns.

    Attributes
    ----------
    file : str
        Its name in the folder.
    group, levels : str, (first, second)
        The column that says who is in which group, and its two values; others are left out.
    numbers : mapping from column to (low, high)
        Columns of numbers with their bounds.
    answers : mapping from column to levels
        Columns of answers; of one level alone, yes/no questions.
    person : str, optional
        The column that says whose row it is: the first row of each person counts.
    """

    file: str
    group: str
    levels: tuple[Any, Any]
    numbers: Mapping[str, tuple[float, float]]
    answers: Mapping[str, tuple[Any, ...]]
    person: str | None = None

    @property
    def columns(self) -> dict[str, tuple[Any, ...] | None]:
        """What is tested, as `discreet.discover` takes it."""
        return {**dict.fromkeys(self.numbers), **self.answers}


def read(survey: Survey, folder: Path, protect: Protect) -> People:
    """Return those of either group, with an entry for each hypothesis; missing where the file has nothing."""
    test = Compare(group=survey.group, levels=survey.levels, protect=protect, bounds=survey.numbers)
    person = None if survey.person is None else Person(survey.person, reduce="first")
    people = gathered(folder / survey.file, test, person=person, columns=survey.columns)
    assert people is not None  # noqa: S101  a comparison always gathers
    either = people.group >= 0
    return replace(people, values=people.values[either].astype(np.float32), group=people.group[either])


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_YES = (1,)
_BRFSS = Survey(
    "brfss2015_diabetes.parquet",
    "Diabetes_binary",
    (0, 1),
    numbers={"BMI": (12, 99), "MentHlth": (0, 30), "PhysHlth": (0, 30)},
    answers={
        **dict.fromkeys(
            ("HighBP", "HighChol", "CholCheck", "Smoker", "Stroke", "HeartDiseaseorAttack"), _YES
        ),
        **dict.fromkeys(("PhysActivity", "Fruits", "Veggies", "HvyAlcoholConsump", "AnyHealthcare"), _YES),
        **dict.fromkeys(("NoDocbcCost", "DiffWalk", "Sex"), _YES),
        "GenHlth": tuple(range(1, 6)),
        "Age": tuple(range(1, 14)),
        "Education": tuple(range(1, 7)),
        "Income": tuple(range(1, 9)),
    },
)

_DRUGS = _words(
    "metformin repaglinide nateglinide chlorpropamide glimepiride acetohexamide glipizide glyburide "
    "tolbutamide pioglitazone rosiglitazone acarbose miglitol troglitazone tolazamide insulin "
    "glyburide-metformin glipizide-metformin"
)
_SPECIALTIES = _words(
    "InternalMedicine Family/GeneralPractice Emergency/Trauma Cardiology Surgery-General Orthopedics "
    "Orthopedics-Reconstructive Radiologist Nephrology Pulmonology Psychiatry ObstetricsandGynecology "
    "Urology Surgery-Neuro Gastroenterology Oncology Neurology Endocrinology"
)
_DIAGNOSES = _words("250 276 285 401 403 410 411 414 427 428 434 486 491 496 584 585 599 682 707 715 780 786")
_HOSPITALS = Survey(
    "diabetes130_us_hospitals.parquet",
    "readmitted",
    ("NO", "<30"),
    person="patient_nbr",
    numbers={
        "time_in_hospital": (1, 14),
        "num_lab_procedures": (0, 130),
        "num_procedures": (0, 6),
        "num_medications": (0, 80),
        "number_outpatient": (0, 40),
        "number_emergency": (0, 40),
        "number_inpatient": (0, 20),
        "number_diagnoses": (1, 16),
    },
    answers={
        "race": ("Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"),
        "gender": ("Female",),
        "age": tuple(f"[{age}-{age + 10})" for age in range(0, 100, 10)),
        "admission_type_id": tuple(range(1, 9)),
        "discharge_disposition_id": tuple(range(1, 31)),
        "admission_source_id": tuple(range(1, 27)),
        "payer_code": _words("BC CH CM CP DM FR HM MC MD MP OG OT PO SI SP UN WC"),
        "medical_specialty": _SPECIALTIES,
        **dict.fromkeys(("diag_1", "diag_2", "diag_3"), _DIAGNOSES),
        "max_glu_serum": ("Norm", ">200", ">300"),
        "A1Cresult": ("Norm", ">7", ">8"),
        **dict.fromkeys(_DRUGS, ("No", "Steady", "Up", "Down")),
        "change": ("Ch",),
        "diabetesMed": ("Yes",),
    },
)

_HOURS = ("0_hrs", "0_to_1_hr", "1_hr", "2_hr", "3_hr", "4_hr", "More_4_hr")
_NHANES = Survey(
    "nhanes_raw_2009_2012.parquet",
    "Diabetes",
    ("No", "Yes"),
    numbers={
        "Age": (0, 80),
        "Poverty": (0, 5),
        "HomeRooms": (1, 13),
        "Weight": (0, 250),
        "Height": (70, 210),
        "BMI": (10, 90),
        "Pulse": (0, 180),
        "BPSysAve": (60, 240),
        "BPDiaAve": (0, 140),
        "Testosterone": (0, 2600),
        "DirectChol": (0, 5),
        "TotChol": (0, 15),
        "UrineVol1": (0, 550),
        "UrineFlow1": (0, 40),
        "DaysPhysHlthBad": (0, 30),
        "DaysMentHlthBad": (0, 30),
        "nPregnancies": (0, 32),
        "nBabies": (0, 20),
        "Age1stBaby": (10, 40),
        "SleepHrsNight": (0, 24),
        "PhysActiveDays": (0, 7),
        "AlcoholDay": (0, 82),
        "AlcoholYear": (0, 365),
        "SmokeAge": (0, 80),
        "AgeFirstMarij": (0, 60),
        "AgeRegMarij": (0, 60),
        "SexAge": (0, 60),
        "SexNumPartnLife": (0, 2000),
        "SexNumPartYear": (0, 100),
    },
    answers={
        "Gender": ("female",),
        "SexOrientation": ("Heterosexual", "Bisexual", "Homosexual"),
        "Race1": ("Black", "Hispanic", "Mexican", "White", "Other"),
        "Race3": ("Asian", "Black", "Hispanic", "Mexican", "White", "Other"),
        "Education": ("8th Grade", "9 - 11th Grade", "High School", "Some College", "College Grad"),
        "MaritalStatus": ("Divorced", "LivePartner", "Married", "NeverMarried", "Separated", "Widowed"),
        "HHIncome": (
            *("0-4999", "5000-9999", "10000-14999", "15000-19999", "20000-24999", "25000-34999"),
            *("35000-44999", "45000-54999", "55000-64999", "65000-74999", "75000-99999", "more 99999"),
        ),
        "HomeOwn": ("Own", "Rent", "Other"),
        "Work": ("Looking", "NotWorking", "Working"),
        "BMI_WHO": ("12.0_18.5", "18.5_to_24.9", "25.0_to_29.9", "30.0_plus"),
        "HealthGen": ("Excellent", "Vgood", "Good", "Fair", "Poor"),
        **dict.fromkeys(("LittleInterest", "Depressed"), ("None", "Several", "Most")),
        **dict.fromkeys(("TVHrsDay", "CompHrsDay"), _HOURS),
        **dict.fromkeys(("SleepTrouble", "PhysActive", "Alcohol12PlusYr", "SmokeNow", "Smoke100"), ("Yes",)),
        **dict.fromkeys(("Marijuana", "RegularMarij", "HardDrugs", "SexEver", "SameSex"), ("Yes",)),
    },
)

SURVEYS = {
    "BRFSS 2015, diabetes": _BRFSS,
    "hospitals, readmitted within 30 days or never": _HOSPITALS,
    "NHANES 2009-2012, diabetes": _NHANES,
}
"""The CDC's telephone survey; UCI data set 296, the first stay of each patient; the CDC's examinations."""
