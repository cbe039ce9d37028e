"""`discreet describe` drafts a plan that `discover --config` takes, from the head of a table alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from typer.testing import CliRunner

from discreet.cli import app

BOOK = "name,label,levels,low,high\nsmokes,Do you smoke?,1=yes|2=no,,\nage,Age in years,,0,110\n"


def run(*words):
    """Run a command."""
    return CliRunner().invoke(app, [str(word) for word in words])


def people(rows=600):
    """Return a table with an identifier, text and odd names."""
    rng = np.random.default_rng(8)
    columns = {
        "patient_nbr": range(rows),
        "arm": np.arange(rows) % 2,
        "age": rng.integers(20, 90, rows),
        "smokes": rng.integers(1, 3, rows),
        'odd "name"\n\x7f💡': rng.random(rows),
    }
    return pd.DataFrame(columns)


def test_a_draft_with_a_group_is_a_plan(tmp_path):
    """Of a file with a dictionary: answers and bounds are declared, identifiers are comments."""
    (tmp_path / "book.csv").write_text(BOOK, "utf-8")
    people().to_parquet(tmp_path / "people.parquet")
    plan = tmp_path / "plan.toml"
    how = [tmp_path / "people.parquet", "--dictionary", tmp_path / "book.csv"]
    assert run("describe", *how, "--out", plan).exit_code == 0
    text = plan.read_text("utf-8")
    assert '"smokes" = "declared"  # Do you smoke?: yes, no' in text
    assert '"age" = "number"  # Age in years' in text
    assert '"age" = [0.0, 110.0]' in text
    assert '# "patient_nbr" = "number"' in text
    assert "say which test" in run("discover", "--config", plan, "--dry-run").output
    plan.write_text(text.replace('# group = "treated"', 'group = "arm"'), "utf-8")
    told = run("discover", "--config", plan, "--dry-run")
    assert told.exit_code == 0, told.output
    assert "Testing 3 columns: age, smokes=1, " in told.output
    assert "exists" in run("describe", *how, "--out", plan).output


def test_a_draft_does_not_depend_on_the_rows(tmp_path):
    """Other people, the same draft; categories that occur are not listed, declared ones are."""
    drafts = []
    for rows, city in ((5, "Rome"), (9, "Oslo")):
        table = people(rows).drop(columns="smokes").assign(city=city)
        pl.DataFrame(table).cast({"arm": pl.Int64}).with_columns(
            pl.lit("a").cast(pl.Enum(["a", "b"])).alias("kind")
        ).write_parquet(tmp_path / "people.parquet")
        drafts.append(run("describe", tmp_path / "people.parquet").output)
    assert drafts[0] == drafts[1]
    assert '"kind" = "declared"  # a, b' in drafts[0]
    assert '# "city" = []  # (text: list the answers to test)' in drafts[0]
    assert "genotypes" in run("describe", tmp_path / "people.bed").output


def test_people_are_offered_before_what_happened_to_them(tmp_path):
    """The draft offered the number of the encounter, of which nobody has two, as the name of a person."""
    (tmp_path / "stays.csv").write_text("encounter_id,patient_nbr,days\n1,1,2\n")
    said = run("describe", tmp_path / "stays.csv").output
    assert '# person = "patient_nbr"' in said
    assert '# "encounter_id"' in said
