"""A release survives JSON; nothing else passes for one."""

import json
import math
import re
from dataclasses import fields, replace
from functools import cache
from importlib.metadata import version

import jsonschema
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sample_releases import releases, sample, told

import discreet
from discreet import DiscreetError, Release
from discreet.errors import InputError
from discreet.report.record import schema


@cache
def checker():
    return jsonschema.Draft202012Validator(schema())


def test_the_schema_is_a_schema():
    """The published schema is valid draft 2020-12."""
    jsonschema.Draft202012Validator.check_schema(schema())


@given(releases(), st.sampled_from([None, 2]))
@example(sample(1, names=["\ud83d\ude00 two halves of one character"]), None)
def test_round_trip(release, indent):
    """What is written obeys the schema, is ASCII, and reads back equal, twice."""
    text = release.to_json(indent)
    assert text.isascii()
    checker().validate(json.loads(text))
    again = Release.from_json(text)
    assert again == release
    assert hash(again) == hash(release)
    assert again.to_json(indent) == text
    assert Release.from_json(text.encode()) == release


def test_what_comes_back_is_what_was_there():
    """Field by field, not only by the record's own notion of equality."""
    release = sample(4, names=["a", "b", "c", "\ud800"], version="9.9")
    again = Release.from_json(release.to_json())
    for field in (
        "method",
        "m",
        "q",
        "discoveries",
        "ordered",
        "privacy",
        "fdr",
        "parameters",
        "frame",
        "budget",
        "version",
    ):
        assert getattr(again, field) == getattr(release, field)
    assert again.indices.tolist() == release.indices.tolist()
    assert again.indices.dtype == release.indices.dtype
    assert again.values.noisy.tolist() == release.values.noisy.tolist()
    assert again.values.noise.tolist() == release.values.noise.tolist()
    assert again.values.name == release.values.name
    assert str(again) == str(release)


def test_equality_sees_every_field():
    """Releases that differ in one thing are not equal, nor is anything else."""
    release = sample()
    others = [
        sample(6), sample(values=False), sample(budget=False), sample(ordered=False), sample(q=0.2),
        sample(m=401), sample(version="0"), sample(frame="polars"), sample(method="x"), sample(parameters={}),
        sample(privacy=discreet.Privacy(2.0, 0.0, (), "replace")),
        sample(privacy=replace(release.privacy, assumption="Each row was taken to be one person.")),
        sample(fdr=discreet.FdrPromise(math.inf, "none", "a", "b")),
        told(),
    ]  # fmt: skip
    assert release == sample()
    assert all(release != other for other in others)
    assert release != release.to_json()


def test_infinite_level_is_null():
    """JSON has no infinity: no promised level is written as null."""
    fdr = discreet.FdrPromise(math.inf, "none", "noise", "here")
    text = sample(fdr=fdr).to_json()
    assert json.loads(text)["fdr"]["level"] is None
    assert Release.from_json(text).fdr == fdr


def test_the_version_is_the_package_s():
    """The record names the version that made it, and there is one version."""
    assert json.loads(sample().to_json())["discreet_version"] == discreet.__version__ == version("discreet")


def changed(*path_and_value, record=None):
    *path, last, value = path_and_value
    record = json.loads(sample().to_json() if record is None else json.dumps(record))
    place = record
    for step in path:
        place = place[step]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a release in JSON"),
        ("{", "not a release in JSON"),
        (b"\xff\xfe\xff", "not a release in JSON"),
        (None, "not a release in JSON"),
        ("[" * 100_000, "not a release in JSON"),
        ("[]", "format"),
        ("{}", "format"),
        ('{"format": "other"}', "format"),
        ('{"format": "discreet-release", "format": "discreet-release"}', "twice"),
        ('{"format": NaN}', "not JSON"),
        (changed("format_version", 3), "update discreet"),
        (changed("format_version", 0), "update discreet"),
        (changed("format_version", 1), "more fields"),
        (changed("format_version", 1.5), "update discreet"),
        (changed("format_version", True), "update discreet"),
        (changed("m", KeyError), "lacks m"),
        (changed("extra", 1), "more fields"),
        (changed("m", 0), "m must"),
        (changed("m", 10**40), "m must"),
        (changed("m", 400.0), "m must be a whole number"),
        (changed("q", "0.1"), "q in the release must be a number"),
        (changed("q", True), "number"),
        (changed("q", 1), "q must"),
        (changed("ordered", 1), "true or false"),
        (changed("discoveries", {}), "a list"),
        (changed("discoveries", 0, "index", 400), "index must"),
        (changed("discoveries", 0, "index", -1), "index must"),
        (changed("discoveries", 0, "name", 3), "name in the release must be text"),
        (changed("discoveries", 0, "value", "1"), "value in the release must be a number"),
        (changed("values", None), "values does not describe"),
        (changed("discoveries", 0, "noise", -1), "noise must"),
        (changed("privacy", "epsilon", -1), "epsilon must"),
        (changed("privacy", "epsilon", 10**400), "epsilon must"),
        (changed("privacy", "delta", 1), "delta must"),
        (changed("privacy", "events", 0, "kind", "free"), "kind must"),
        (changed("privacy", "events", 0, "rho", -1), "rho must"),
        (changed("privacy", "events", 0, "count", 0.5), "count must"),
        (changed("privacy", "events", 0, "sigma", 1), "does not have these fields"),
        (changed("fdr", "guarantee", "certain"), "guarantee must"),
        (changed("fdr", "level", -0.1), "level must"),
        (changed("frame", "excel"), "frame must"),
        (changed("budget", "spent", -1), "spent must"),
        (changed("budget", "next", -1), "next must"),
        (changed("privacy", "assumption", 3), "assumption in the release must be text"),
        (changed("budget", "head", None), "head in the release must be text"),
        (sample().to_json().replace('"q": 0.1', f'"q": {"9" * 5000}'), "not a release in JSON"),
    ],
)
def test_what_is_not_a_release_is_refused(text, words):
    """Corrupt, foreign and hostile input ends in an InputError that says what is wrong."""
    with pytest.raises(InputError, match=words):
        Release.from_json(text)


def told_with(name, value):
    record = json.loads(told(2, m=4).to_json())
    record["told"][name] = value
    return json.dumps(record)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("procedure", "lasso", "procedure must be one of"),
        ("indices", [0, 1, 2, 4], "indices must be between 0 and 3"),
        ("indices", [0, 1, 3, 2], "ascend"),
        ("indices", [0, 1, 2], "4 entries"),
        ("effect", ["a"], "4 entries"),
        ("effect", 3, "effect in the release must be a list"),
        ("hypotheses", ["a", "b", "c", "d"], "every discovery under its name"),
        ("estimate", [0, 0, "1", 0], "estimate in the release must be a number"),
        ("standard_error", [0, 1, -1, 0], "standard_error must be at least 0"),
        ("degrees", [1, 1, 1, 0], "degrees must be above 0"),
        ("p_value", [0.5, 0.5, 0.5, 1.5], "p_value must lie in"),
        ("p_value", [0.5, 0.5, 0.5, None], "p_value in the release must be a number"),
    ],
)
def test_what_cannot_be_told_is_refused(name, value, words):
    """Each field of what is told is checked, and the discoveries must be among them."""
    with pytest.raises(InputError, match=words):
        Release.from_json(told_with(name, value))


def test_what_is_told_comes_back():
    """Field by field; numbers that are not finite become null and come back."""
    release = told(3, m=9, k=6)
    again = Release.from_json(release.to_json()).told
    for field in fields(release.told):
        there, back = getattr(release.told, field.name), getattr(again, field.name)
        assert there is back is None or list(there) == list(back)
    question = np.array([0, 0, 1, 1, 1, 2])
    release = replace(release, told=replace(release.told, procedure="BH by question", question=question))
    assert Release.from_json(release.to_json()).told.question.tolist() == question.tolist()
    text = told_with("estimate", [1, 2, 3, None])
    one = Release.from_json(text).told
    assert math.isnan(one.estimate[3])
    assert math.isnan(one.standard_error[3])
    assert one.degrees.tolist() == [math.inf, 40, math.inf, 40]


def test_releases_of_version_1_are_read():
    """They told nothing but discoveries, and are written again in version 2."""
    record = json.loads(sample().to_json())
    record["format_version"] = 1
    del record["told"]
    checker().validate(record)
    assert Release.from_json(json.dumps(record)) == sample()
    assert not checker().is_valid(record | {"told": None})
    assert not checker().is_valid(record | {"format_version": 2})


def test_an_index_counts_once():
    """One hypothesis cannot be discovered twice."""
    record = json.loads(sample().to_json())
    record["discoveries"][1]["index"] = record["discoveries"][0]["index"]
    with pytest.raises(InputError, match="twice"):
        Release.from_json(json.dumps(record))


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


RECORDS = [json.loads(one.to_json()) for one in (sample(), told(2, m=4))]
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.slow
@given(st.sampled_from([(r, path) for r in RECORDS for path in places(r) if path]), anything)
def test_any_one_change_is_refused_or_read(place, value):
    """A record with one part replaced is refused, or obeys the schema: the reader is as strict."""
    record, path = place
    text = changed(*path, value, record=record)
    try:
        release = Release.from_json(text)
    except DiscreetError:
        return
    for one in (text, release.to_json()):
        checker().validate(json.loads(one))


def test_parameters_nested_beyond_reason_are_refused():
    """They could be read and never be written again; how many levels that is differs between Pythons."""
    record = json.loads(sample(1).to_json())
    record["parameters"] = {"z": "here"}
    refused = []
    for levels in (10, 700, 7_000, 200_000):
        text = json.dumps(record).replace('"here"', "[" * levels + "]" * levels)
        try:
            Release.from_json(text).to_json()
        except InputError as error:
            assert re.search("nested too deeply|not a release", str(error))  # noqa: PT017 (either will do)
            refused.append(levels)
    assert 10 not in refused
    assert 200_000 in refused


def test_printed_names_hold_no_control_characters():
    """A terminal would obey them."""
    assert "\x1b" not in str(sample(1, names=["\x1b[31mred"]))
