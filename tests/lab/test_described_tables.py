"""Tables of your own in `discreet bench tables`: a file beside them says what their columns are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.cli.app import app
from discreet.errors import InputError
from discreet.lab.bench import surveys
from discreet.lab.bench.described import LIST, described, in_folder

TEXT = """
["clinic, smokers"]
file = "clinic.parquet"
group = "smoker"
levels = ["no", "yes"]
person = "who"

["clinic, smokers".numbers]
age = [0, 100]

["clinic, smokers".answers]
town = ["A", "B"]
"""


def test_a_table_is_read_as_it_is_described(tmp_path):
    """Numbers by their bounds, answers by their levels, the first row of each person."""
    smoker = np.arange(40) % 2
    columns = {"who": np.arange(40), "smoker": np.where(smoker, "yes", "no"), "age": 30.0 + smoker}
    columns["town"] = np.where(np.arange(40) < 10, "A", "C")
    pq.write_table(pa.table(columns), tmp_path / "clinic.parquet")
    assert in_folder(tmp_path) == {}
    (tmp_path / LIST).write_text(TEXT, encoding="utf-8")
    found = in_folder(tmp_path)
    assert list(found) == ["clinic, smokers"]
    people = surveys.read(found["clinic, smokers"], tmp_path, "columns")
    assert people.names == ("age", "town=A", "town=B", "town=other")
    assert people.rows == 40
    assert people.questions[0].bounds == (0, 100)


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("levels", "groups"),
        TEXT.replace('"no", "yes"', '"no"'),
        TEXT.replace('file = "clinic.parquet"', ""),
        "clinic = 1",
        "[clinic",
    ],
    ids=["another word", "one level", "no file", "no section", "no TOML"],
)
def test_what_describes_no_table_is_refused(text):
    """The refusal names the file, and what a section must have."""
    with pytest.raises(InputError, match=LIST):
        described(text)


@pytest.mark.slow
def test_described_tables_are_compared(tmp_path):
    """With everyone, beside noise by hand, under the name that was given."""
    rng = np.random.default_rng(1)
    smoker = rng.random(300) < 0.5
    table = {"smoker": np.where(smoker, "yes", "no"), "age": rng.normal(40 + 30 * smoker, 10)}
    pq.write_table(
        pa.table({**table, "who": np.arange(300), "town": rng.choice(["A", "B"], 300)}),
        tmp_path / "clinic.parquet",
    )
    (tmp_path / LIST).write_text(TEXT, encoding="utf-8")
    command = ["bench", "tables", "--folder", str(tmp_path), "--quick", "--whole", "--only", "clinic"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "clinic, smokers: 4 hypotheses" in done.output
    assert "300 people" in done.output
    assert "skipped" in CliRunner().invoke(app, [*command[:-1], "other"]).output
