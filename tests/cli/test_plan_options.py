"""Every option of `discreet discover` may stand in a plan file, and does there what it does when typed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.cli.options import BELONGING, DISCOVER
from discreet.cli.plan_file import read_plan, read_words

NEVER = {"config", "token"}
OPTIONS = {name: given for panel in {**DISCOVER, **BELONGING}.values() for name, given in panel.items()}


def run(*words):
    """Run a command."""
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.fixture
def people(tmp_path):
    """Return a file of people in two groups, separated by semicolons."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"id": range(900), "arm": np.arange(900) % 2, "a": rng.random(900)})
    table["b"] = table["arm"] + rng.random(900)
    table["city"] = np.where(table["arm"] == 1, "Paris, France", "Rome")
    table.to_csv(tmp_path / "people.csv", index=False, sep=";", decimal=",")
    return tmp_path / "people.csv"


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_every_option_is_known_in_a_plan_file(name, tmp_path):
    """Written with an underscore or a hyphen; two are refused in words, and no other as unknown."""
    spelled = "json" if name == "as_json" else name
    value = {bool: "true", int: "7", float: "0.5"}.get(_kind(OPTIONS[name].kind), '"word"')
    value = '["a=1"]' if name == "option" else value
    for key in {spelled, spelled.replace("_", "-")}:
        plan = tmp_path / "plan.toml"
        plan.write_text(f"{key} = {value}\n")
        if name in NEVER:
            assert "may not stand in a plan file" in run("discover", "people.csv", "--config", plan).output
            continue
        job, switches = read_plan(plan)
        assert {*job, *switches} == {name}
        if name in job:
            typed = {"data": "people.csv", "group": "arm"} if name != "group" else {"data": "people.csv"}
            assert read_words(job, typed) == read_words({}, {**typed, **job})


def _kind(kind):
    return next((one for one in (bool, int, float) if one.__name__ in str(kind)), str)


def test_a_plan_file_can_hold_the_whole_job(people, tmp_path):
    """File, test, columns of several kinds, what to write and where; a typed option wins."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = "{people}"\nseparator = ";"\ndecimal = ","\nout = "{tmp_path / "kept"}"\njson = true\n'
        'values = true\ngroup = "arm"\nlevels = [0, 1]\nepsilon = 3.0\n'
        '[columns]\na = "number"\nb = "number"\ncity = ["Paris, France"]\n'
    )
    done = run("discover", "--config", plan)
    assert done.exit_code == 0, done.output
    record = json.loads(done.stdout)
    assert record["m"] == 3
    assert Path(tmp_path / "kept/release.json").exists()
    assert json.loads(run("discover", "--config", plan, "--epsilon", "0.9").stdout)["privacy"]["epsilon"] < 1


def test_identifiers_are_left_out_and_a_comma_in_quotes_splits_nothing(people):
    """The preview reads the head alone and says what is tested, what is not, and how to have it."""
    how = [people, "--separator", ";", "--decimal", ",", "--group", "arm", "--levels", "0", "1"]
    how = [*how, "--dry-run"]
    told = run("discover", *how, "--columns", 'city="Paris, France",Rome', "--columns", "*").output
    assert "Testing 5 hypotheses on 3 columns: city=Paris, France, city=Rome, city=other, a, b" in told, told
    told = run("discover", *how).output
    assert "identifiers, by their names: 1 column: id. To test it too: --columns id --columns '*'." in told
    assert "Add --people to see" in told
    assert "do not match" in run("discover", *how, "--columns", 'city="Paris').output


def test_a_column_of_subgroups_can_be_typed(people):
    """--within is a file beside genotypes, and a column of a table."""
    how = [
        "--separator",
        ";",
        "--decimal",
        ",",
        "--group",
        "arm",
        "--levels",
        "0",
        "1",
        "--within",
        "b",
        "--levels-within",
        "1",
    ]
    assert "within each b" in run("discover", people, *how, "--columns", "a", "--dry-run").output


def test_a_wrong_separator_is_said_by_the_header_alone(people):
    """Names of columns are public; how entries look is not asked."""
    told = run("discover", people, "--group", "arm").output
    assert "the header has semicolons where commas are expected" in told
    assert "--separator ';'" in told
    head, rows = people.read_text().split("\n", 1)
    for first in ("a, in kg", '"a"'):  # a comma in a name, and quotes, as R writes them
        people.write_text(f"{first};{head}\n{rows}")
        assert "the header has semicolons" in run("discover", people, "--group", "arm").output
    assert (
        "--separator tab" in run("discover", people.rename(people.with_suffix(".txt")), "--group", "a").output
    )
