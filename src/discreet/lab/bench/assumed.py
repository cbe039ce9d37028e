"""What anyone may assume of the columns of three public tables before they are read.

Rounded figures of the kind that code books, reports on earlier years and common knowledge give: who is asked
a question and hence how many entries are missing, how common an illness or a drug is, whether a number is a
measure, a count or an amount, and about where it lies. No figure was computed from the tables. But they were
not written blind: their authors had seen how skewed the numbers are and where they lie, and rates of answers
to questions with many levels were added where an earlier version was off. Tables that nobody has seen yet
would be the fairer trial.
"""

from __future__ import annotations

from typing import Any

_Assumed = dict[str, dict[str, Any]]


def _rates(rates: dict[str, float]) -> _Assumed:
    return {name: {"rate": rate} for name, rate in rates.items()}


def _measures(centres: dict[str, float]) -> _Assumed:
    """Return measures, which are about normal, by how many standard deviations they lie from 0."""
    return {name: {"shape": "normal", "centre": centre} for name, centre in centres.items()}


def _missing(assumed: _Assumed, missing: dict[float, str]) -> _Assumed:
    """Return the same with the share of people who have no entry, by the names of columns."""
    lost = {name: share for share, names in missing.items() for name in names.split()}
    return {
        name: {**assumed.get(name, {}), **({"missing": lost[name]} if name in lost else {})}
        for name in {**assumed, **lost}
    }


def _some(levels: int, common: dict[int, float], left: float = 0.0) -> dict[str, Any]:
    """Return rates of answers, some of them common, by their places; `left` give one that is not listed."""
    rest = (1 - left - sum(common.values())) / (levels - len(common))
    return {"rate": tuple(common.get(place, rest) for place in range(levels))}


_MOSTLY_ZERO, _COUNTS, _SKEWED = ({"shape": shape} for shape in ("mostly-zero", "counts", "skewed"))

BRFSS: _Assumed = {
    **_measures({"BMI": 4.5}),
    **dict.fromkeys(("MentHlth", "PhysHlth"), _MOSTLY_ZERO),
    **_rates({"HighBP": 0.4, "HighChol": 0.4, "CholCheck": 0.95, "Smoker": 0.45, "Stroke": 0.04}),
    **_rates({"HeartDiseaseorAttack": 0.1, "PhysActivity": 0.75, "Fruits": 0.6, "Veggies": 0.8}),
    **_rates({"HvyAlcoholConsump": 0.06, "AnyHealthcare": 0.95, "NoDocbcCost": 0.1, "DiffWalk": 0.15}),
    "Sex": {"rate": 0.45},
    "GenHlth": {"rate": (0.2, 0.35, 0.3, 0.1, 0.05)},
    "Age": {"rate": (0.02, 0.03, 0.04, 0.06, 0.06, 0.08, 0.1, 0.12, 0.13, 0.13, 0.09, 0.07, 0.07)},
    "Education": {"rate": (0.01, 0.02, 0.04, 0.25, 0.28, 0.4)},
    "Income": {"rate": (0.04, 0.05, 0.06, 0.08, 0.1, 0.14, 0.17, 0.36)},
}
"""Adults who were asked by telephone."""

_TAKEN = {  # of 100 patients with diabetes, so many do not take the drug
    0.8: "metformin",
    0.5: "insulin",
    0.9: "glipizide glyburide",
    0.94: "glimepiride pioglitazone rosiglitazone",
    0.98: "repaglinide",
    0.995: "nateglinide acarbose glyburide-metformin",
    0.999: "chlorpropamide acetohexamide tolbutamide miglitol troglitazone tolazamide glipizide-metformin",
}
HOSPITALS: _Assumed = _missing(
    {
        **_measures({"num_lab_procedures": 2, "num_medications": 2, "number_diagnoses": 4}),
        **dict.fromkeys(("time_in_hospital", "num_procedures"), _COUNTS),
        **dict.fromkeys(("number_outpatient", "number_emergency", "number_inpatient"), _MOSTLY_ZERO),
        "race": {"rate": (0.75, 0.18, 0.03, 0.01, 0.03)},
        "age": {"rate": (0.01, 0.01, 0.02, 0.04, 0.1, 0.17, 0.22, 0.25, 0.15, 0.03)},
        **_rates({"gender": 0.5, "change": 0.5, "diabetesMed": 0.8, "admission_type_id": 0.5}),
        "discharge_disposition_id": _some(30, {0: 0.6, 2: 0.15, 5: 0.15}),
        "admission_source_id": _some(26, {0: 0.3, 6: 0.55}),
        "payer_code": _some(17, {7: 0.5}),
        "medical_specialty": _some(18, {0: 0.3, 1: 0.15, 2: 0.15, 3: 0.1}),
        **dict.fromkeys(("diag_1", "diag_2", "diag_3"), _some(22, {}, left=0.5)),
        **{name: {"rate": rate} for rate, names in _TAKEN.items() for name in names.split()},
    },
    {0.5: "payer_code medical_specialty", 0.95: "max_glu_serum", 0.8: "A1Cresult"},
)
"""Stays of patients with diabetes in American hospitals."""

NHANES: _Assumed = _missing(
    {
        "Age": {"shape": "uniform", "centre": 1.5},
        "Poverty": {"shape": "uniform", "centre": 1.5},
        **_measures({"HomeRooms": 2.5, "Weight": 2, "Height": 6, "BMI": 3.5, "Pulse": 6, "BPSysAve": 6.5}),
        **_measures(
            {"BPDiaAve": 4.5, "DirectChol": 3.5, "TotChol": 4.5, "Age1stBaby": 5, "SleepHrsNight": 5}
        ),
        **_measures({"PhysActiveDays": 2, "SmokeAge": 4, "AgeFirstMarij": 5, "AgeRegMarij": 5, "SexAge": 5}),
        **dict.fromkeys(("Testosterone", "UrineVol1", "UrineFlow1", "AlcoholDay", "AlcoholYear"), _SKEWED),
        **dict.fromkeys(("DaysPhysHlthBad", "DaysMentHlthBad"), _MOSTLY_ZERO),
        **dict.fromkeys(("nPregnancies", "nBabies", "SexNumPartYear"), _COUNTS),
        "SexNumPartnLife": _SKEWED,
        **_rates({"Gender": 0.5, "SleepTrouble": 0.25, "PhysActive": 0.5, "Alcohol12PlusYr": 0.75}),
        **_rates({"SmokeNow": 0.45, "Smoke100": 0.45, "Marijuana": 0.55, "RegularMarij": 0.3}),
        **_rates({"HardDrugs": 0.2, "SexEver": 0.95, "SameSex": 0.07, "SexOrientation": 0.95}),
    },
    {
        0.1: "Weight Height BMI BMI_WHO Poverty HHIncome",
        0.25: "Pulse BPSysAve BPDiaAve DirectChol TotChol UrineVol1 UrineFlow1",
        0.35: "DaysPhysHlthBad DaysMentHlthBad SleepHrsNight SleepTrouble Work HealthGen PhysActive",
        0.45: "MaritalStatus Education Smoke100 LittleInterest Depressed Alcohol12PlusYr",
        0.55: "Race3 HardDrugs SexEver SexAge SexNumPartnLife SexNumPartYear SameSex AlcoholYear",
        0.6: "TVHrsDay CompHrsDay",
        0.65: "Testosterone PhysActiveDays AlcoholDay Marijuana RegularMarij SexOrientation",
        0.8: "nPregnancies nBabies Age1stBaby SmokeNow SmokeAge AgeFirstMarij",
        0.9: "AgeRegMarij",
    },
)
"""People of all ages who were examined; many questions are put to adults, to women or to those who smoke."""

REGISTER: tuple[dict[str, Any], ...] = (
    {"shape": "normal", "centre": None},
    {},
    {"shape": "skewed"},
    {},
    {"shape": "counts"},
)
"""Of the invented register, kind by kind: blood pressures, answers, amounts, answers, visits."""
