"""Data dictionaries of every make say the same, and change what an entry becomes by public things alone."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyreadstat
import pytest
import yaml
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.data.source import open_source
from discreet.data.tables.dictionary import Dictionary, Variable
from discreet.privacy.ledger import Ledger

ASKED = {"q": 0.1, "epsilon": 3.0, "delta": 1e-6}
OURS = """name;type;label;levels;low;high;missing
who;id;;;;;
smokes;answers;Do you smoke?;1=yes|2=no;;;9
town;;Where do you live?;Paris, France|Rome;;;
age;number;Age in years;;0;110;999
"""
REDCAP = """"Variable / Field Name","Field Type","Field Label","Choices, Calculations, OR Slider Labels",\
"Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max","Identifier?"
who,text,Record,,,,,
smokes,radio,"<b>Do you smoke?</b>","1, yes | 2, no",,,,
likes,checkbox,Likes,"1, tea | 2, milk, cold",,,,
age,text,Age in years,,integer,0,110,
born,text,Born,,date_ymd,,,
name,text,Name,,,,,y
"""
SCHEMA = {
    "fields": [
        {"name": "who", "type": "string"},
        {"name": "smokes", "type": "integer", "title": "Do you smoke?", "categories": [
            {"value": 1, "label": "yes"}, {"value": 2, "label": "no"}]},
        {"name": "town", "type": "string", "constraints": {"enum": ["Paris, France", "Rome"]}},
        {"name": "age", "type": "number", "title": "Age in years",
         "constraints": {"minimum": 0, "maximum": 110}},
        {"name": "well", "type": "boolean"},
    ],
    "primaryKey": "who",
    "missingValues": ["", "999"],
}  # fmt: skip


def people(rows=400):
    """Return a table with codes for missing, and answers that no dictionary knows."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "who": np.arange(rows),
            "arm": np.arange(rows) % 2,
            "smokes": rng.choice([1, 2, 9, 4], rows),
            "town": rng.choice(["Paris, France", "Rome", "Oslo"], rows),
            "age": rng.choice([20, 40, 999], rows) + np.arange(rows) % 2,
        }
    )


@pytest.fixture
def codebook(tmp_path):
    """Return our own form of a dictionary."""
    (tmp_path / "codebook.csv").write_text(OURS, "utf-8")
    return tmp_path / "codebook.csv"


@pytest.mark.usefixtures("codebook")
def test_every_make_of_dictionary_says_the_same(tmp_path):
    """Labels, answers, bounds, identifiers; checkboxes of REDCap are columns of their own."""
    (tmp_path / "redcap.csv").write_text(REDCAP, "utf-8")
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA), "utf-8")
    (tmp_path / "package.yaml").write_text(yaml.safe_dump({"resources": [{"schema": SCHEMA}]}), "utf-8")
    for name in ("codebook.csv", "redcap.csv", "schema.json", "package.yaml"):
        said = Dictionary.read(tmp_path / name)
        assert said.bounds == {"age": (0.0, 110.0)}
        assert said.labels["smokes=1"] == "Do you smoke?: yes"
        assert said.labels["age"] == "Age in years"
        assert said.get("who").kind == "identifier"
    kinds = {variable.name: variable.kind for variable in Dictionary.read(tmp_path / "redcap.csv").variables}
    assert kinds["likes___2"] == "yes/no"
    assert (kinds["born"], kinds["name"]) == ("date", "identifier")
    assert Dictionary.read(tmp_path / "redcap.csv").labels["likes___2"] == "Likes: milk, cold"
    assert Dictionary.read(tmp_path / "schema.json").get("well").levels == (0, 1)


@pytest.mark.parametrize("as_file", [True, False])
def test_a_dictionary_says_what_is_tested_and_how(tmp_path, codebook, as_file):
    """Answers by their levels, one of two; bounds and labels reach the release; identifiers are left out."""
    table = people()
    if as_file:
        table.to_csv(tmp_path / "people.csv", index=False)
        table = tmp_path / "people.csv"
    test = discreet.Compare(group="arm", levels=(0, 1))
    found = discreet.discover(discreet.Table(table, dictionary=codebook), test, method="all", **ASKED)
    assert found.told.hypotheses == ("smokes=1", "town=Rome", "age")
    assert found.parameters["labels"]["smokes=1"] == "Do you smoke?: yes"
    assert found.parameters["test"]["bounds"] == {"age": [0.0, 110.0]}
    assert discreet.Release.from_json(found.to_json()).parameters["labels"]["age"] == "Age in years"


def test_codes_for_missing_and_unknown_answers_are_missing(codebook):
    """Wrong twin: without a dictionary they count as numbers and as "other"."""
    table = people()
    said = discreet.Table(table, dictionary=codebook)
    (block,) = _blocks(said, None)
    smokes, town, age = (np.isnan(column) for column in block.columns)
    assert np.array_equal(smokes, table["smokes"].isin([9, 4]))
    assert np.array_equal(town, table["town"] == "Oslo")
    assert np.array_equal(age, table["age"] == 999)
    (block,) = _blocks(table, {"smokes": None, "age": None})
    assert not any(np.isnan(column).any() for column in block.columns)


def _blocks(data, columns):
    from discreet.data.source import open_source

    return list(open_source(data).read(["arm"], columns=columns, person=None).blocks())


def test_a_dictionary_is_part_of_what_a_release_id_stands_for(tmp_path, codebook):
    """Another one is another question, and so is another separator."""
    people().drop(columns="town").to_csv(tmp_path / "people.csv", index=False)
    ledger = Ledger(tmp_path / "b.ledger")
    ledger.create("trial", epsilon=9.0, delta=1e-5)
    asked = {"ledger": ledger, "dataset": "trial", "release_id": "one", **ASKED}
    test = discreet.TwoByTwo(group="arm", levels=(0, 1))
    table = discreet.Table(tmp_path / "people.csv", dictionary=codebook)
    first = discreet.discover(table, test, **asked)
    assert discreet.discover(table, test, **asked) == first
    codebook.write_text(OURS.replace("110", "120"), "utf-8")
    with pytest.raises(discreet.DiscreetError, match="other parameters"):
        discreet.discover(discreet.Table(tmp_path / "people.csv", dictionary=codebook), test, **asked)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b\n1,2\n", "a column called name"),
        ("name,type\nage,nonsense\n", "'nonsense'"),
        ("name,type\nage,answers\n", "say which, in its levels"),
        ("name,low,high\nage,5,1\n", "the lower one first"),
        ("name,low,high\nage,a,1\n", "must be two numbers"),
        ("name\nage\nage\n", "two variables of one name"),
        ("name\n", "no line below its header"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(tmp_path, text, told):
    """A dictionary is public: the message may quote it."""
    (tmp_path / "d.csv").write_text(text, "utf-8")
    with pytest.raises(discreet.DiscreetError, match=told):
        Dictionary.read(tmp_path / "d.csv")


@pytest.mark.slow
def test_labels_of_spss_and_stata_are_a_dictionary(tmp_path):
    """Nominal ones are answers; a scale with labels at its ends, and what is called ordinal, stay numbers."""
    table = people(50)[["smokes", "age", "arm"]].assign(trust=3.0)
    labels = {"smokes": {1: "yes", 2: "no"}, "trust": {1: "none", 10: "full"}, "arm": {0: "old", 1: "new"}}
    how = {"column_labels": {"age": "Age in years"}, "variable_value_labels": labels}
    measures = {"smokes": "nominal", "arm": "ordinal"}
    pyreadstat.write_sav(table, tmp_path / "p.sav", variable_measure=measures, **how)
    pyreadstat.write_dta(table, tmp_path / "p.dta", **how)
    for name, arm in (("p.sav", None), ("p.dta", "answers")):
        said = Dictionary.read(tmp_path / name)
        kinds = {variable.name: variable.kind for variable in said.variables}
        assert kinds == {"smokes": "answers", "age": None, "arm": arm, "trust": None}
        assert said.labels["smokes=2"] == "smokes: no"
    names = discreet.measure(tmp_path / "p.sav", discreet.Sign(null=0.5)).names
    assert names == ("smokes=1", "age", "arm", "trust")


def test_words_for_missing_may_stand_among_numbers(tmp_path):
    """In text and in worksheets; a word that was not declared is refused without being repeated."""
    table = pd.DataFrame({"g": [0, 1, 0, 1], "age": ["20", " don't know ", "30", "secret"]})
    table.to_csv(tmp_path / "people.csv", index=False)
    table.to_excel(tmp_path / "people.xlsx", index=False)
    for name in ("people.csv", "people.xlsx"):
        for words, known in ((("don't know", "secret"), True), (("don't know",), False)):
            said = Dictionary((Variable("age", missing=words),))
            data = discreet.Table(tmp_path / name, dictionary=said)
            if known:
                assert discreet.measure(data, discreet.Sign(null=25), columns=["age"]).names == ("age",)
                continue
            with pytest.raises(discreet.DiscreetError, match=r"column 'age', (line|row) 5") as refusal:
                discreet.measure(data, discreet.Sign(), columns=["age"])
            assert "secret" not in str(refusal.value)


def test_a_level_is_refused_with_the_answers_in_words():
    """Who misspells the label of a value is told labels and codes."""
    said = Dictionary((Variable("arm", "answers", levels=(0, 1), answers=("old", "new")),))
    table = discreet.Table(people(), dictionary=said)
    with pytest.raises(discreet.DiscreetError, match=r"'0' \(old\), '1' \(new\)"):
        discreet.measure(table, discreet.Compare(group="arm", levels=("older", "new")), columns=["age"])


def test_the_users_dictionary_is_right_where_two_speak():
    """And the other is kept elsewhere."""
    theirs = Dictionary((Variable("a", label="theirs"), Variable("b", label="theirs")))
    assert Dictionary((Variable("a", label="ours"),)).over(theirs).labels == {"a": "ours", "b": "theirs"}


def test_groups_may_be_named_by_their_labels(tmp_path):
    """A label stands for its code, in SPSS files of any measure too; one that two codes share is refused."""
    table = people().assign(arm=lambda frame: frame["arm"] + 1)
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "arms.csv").write_text(
        "name,levels\narm,1=control|2=new drug\nsmokes,1=a|2=a\ntown,Rome\n", "utf-8"
    )
    pyreadstat.write_sav(
        table, tmp_path / "people.sav",
        variable_value_labels={"arm": {1: "control", 2: "new drug"}}, variable_measure={"arm": "scale"},
    )  # fmt: skip
    said = discreet.Table(tmp_path / "people.csv", dictionary=tmp_path / "arms.csv")
    for data in (said, tmp_path / "people.sav"):
        by_label, by_code = (
            discreet.measure(data, discreet.RankSum(group="arm", levels=levels), columns=["age"]).score
            for levels in (("control", "new drug"), (1, 2))
        )
        assert np.array_equal(by_label, by_code)
    with pytest.raises(discreet.DiscreetError, match=r"no level 'new'.*'1' \(control\), '2' \(new"):
        discreet.measure(said, discreet.RankSum(group="arm", levels=("control", "new")), columns=["age"])
    with pytest.raises(discreet.DiscreetError, match=r"no level 'a'"):
        discreet.measure(said, discreet.RankSum(group="smokes", levels=("a", "2")), columns=["age"])
    asked = ["discover", str(said.data), "--dictionary", str(tmp_path / "arms.csv"), "--group", "arm"]
    asked += ["--columns", "age", "--levels", "control", "new drug", "--dry-run"]
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output


def test_answers_and_covariates_may_be_named_by_their_labels(tmp_path):
    """`columns` and `adjust` take labels for codes; what is neither is refused before anything is spent."""
    book = tmp_path / "book.csv"
    book.write_text("name,type,levels\nwork,answers,1=none|2=some|3=much\nsex,answers,1=man|2=woman\n")
    rng, n = np.random.default_rng(5), 600
    table = {"g": np.arange(n) % 2, "work": rng.integers(1, 4, n), "sex": rng.integers(1, 3, n)}
    table["x"] = rng.normal(size=n)
    data = discreet.Table(pd.DataFrame(table), dictionary=book)
    rates = discreet.TwoByTwo(group="g")
    by_label, by_code = (
        discreet.measure(data, rates, columns={"work": levels}) for levels in (["some", "much"], [2, 3])
    )
    assert by_label.names == by_code.names == ("work=2", "work=3", "work=other")
    assert np.array_equal(by_label.score, by_code.score)
    listed = discreet.measure(data, rates, columns=["work=some,much"])
    assert listed.names == by_code.names
    completed = open_source(data).completed(discreet.Compare(group="g", adjust={"sex": ["man", "woman"]}))
    assert completed.adjust == {"sex": ("1", "2")}
    for wrong in ({"adjust": {"sex": ["man", "womann"]}}, {}):
        asked = {"columns": {"x": None} if wrong else {"work": ["some", "lots"]}}
        with pytest.raises(discreet.DiscreetError, match="has no level"):
            discreet.discover(
                data, discreet.Compare(group="g", **wrong), q=0.1, epsilon=1, delta=1e-6, **asked
            )


def test_labelled_codes_that_spss_declares_missing_are_no_answers(tmp_path):
    """Neither single codes nor ranges of them, of numbers and of text, make a hypothesis."""
    rng, n = np.random.default_rng(6), 300
    table = pd.DataFrame({"g": np.arange(n) % 2.0, "smokes": rng.choice([1.0, 2.0, 9.0], n)})
    table["trust"] = rng.choice([1.0, 2.0, 3.0, 97.0, 98.0], n)
    table["town"] = rng.choice(["a", "b", "x"], n)
    labels = {"smokes": {1: "yes", 2: "no", 9: "no answer"}, "town": {"a": "A", "b": "B", "x": "refused"}}
    labels["trust"] = {1: "none", 2: "some", 3: "full", 97: "refused", 98: "unknown"}
    pyreadstat.write_sav(
        table, tmp_path / "s.sav", variable_value_labels=labels,
        missing_ranges={"smokes": [9], "trust": [{"lo": 97, "hi": 99}], "town": ["x"]},
        variable_measure=dict.fromkeys(labels, "nominal"),
    )  # fmt: skip
    names = discreet.measure(tmp_path / "s.sav", discreet.TwoByTwo(group="g", levels=(0, 1))).names
    assert names == ("smokes=1", "trust=1", "trust=2", "trust=3", "town=b")
