"""`discreet discover`, as somebody with a file would type it."""

import json
import os
import re
import shlex
import stat
import subprocess
import sys
import tempfile
import warnings
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.cli.options import BELONGING, DISCOVER, SWITCHES
from discreet.cli.plan_file import OWN
from discreet.evidence.core.registry import own_classes, own_names
from discreet.methods.method import Parameters
from discreet.privacy.ledger import Ledger

RUN = CliRunner()
TWO_GROUPS = ["--test", "two-groups", "--group", "treated", "--levels", "0", "1", "--bounds", "0", "1"]


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Return a CSV file of 5,000 people in which the measure `rise` differs."""
    rng = np.random.default_rng(1)
    treated = np.arange(5000) % 2
    table = rng.random((5000, 6))
    table[:, 2] = np.clip(table[:, 2] * 0.5 + 0.5 * treated, 0, 1)
    names = ["a", "b", "rise", "=cmd()", "<b>d</b>", "e"]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    lines = [",".join(["treated", *names])]
    lines += [",".join(map(repr, [int(g), *row.tolist()])) for g, row in zip(treated, table, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return path


def run(*arguments):
    """Run the program and return its result."""
    return RUN.invoke(app, [str(argument) for argument in arguments])


def test_a_file_a_test_and_out_comes_a_folder(people, tmp_path):
    """The report, the table and the record are written; words are printed."""
    aware = ("--method", "aware", "--values")
    done = run("discover", people, *TWO_GROUPS, *aware, "--out", tmp_path / "new" / "folder")
    assert done.exit_code == 0, done.output
    assert "rise" in done.output
    assert "difference of means" in done.output
    record = json.loads((tmp_path / "new" / "folder" / "release.json").read_text())
    assert [one["name"] for one in record["discoveries"]] == ["rise"]
    assert "rise" in (tmp_path / "new" / "folder" / "discoveries.csv").read_text()
    assert (tmp_path / "new" / "folder" / "report.html").read_text().startswith("<!")


def test_json_is_json_alone(people):
    """With --json standard output holds one JSON text."""
    done = run("discover", people, *TWO_GROUPS, "--json", "--epsilon", "0.5", "--q", "0.05")
    record = json.loads(done.stdout)
    assert record["privacy"]["epsilon"] == 0.5
    assert record["q"] == 0.05


def test_a_plan_file_describes_the_same_job(people, tmp_path):
    """Options override the file; the file may hold per-column bounds."""
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f'data = {json.dumps(str(people))}\nepsilon = 0.7\ncolumns = ["rise", "a"]\n'
        '[test]\nname = "two-groups"\ngroup = "treated"\nlevels = [0, 1]\n'
        "[test.bounds]\nrise = [0, 1]\na = [0, 2]\n"
    )
    record = json.loads(run("discover", "--config", plan, "--json").stdout)
    assert record["m"] == 2
    assert record["privacy"]["epsilon"] == 0.7
    record = json.loads(run("discover", "--config", plan, "--json", "--epsilon", "0.9").stdout)
    assert record["privacy"]["epsilon"] == 0.9


def test_a_dry_run_reads_nothing(tmp_path):
    """No file is needed to learn what would be done."""
    done = run("discover", tmp_path / "absent.parquet", *TWO_GROUPS, "--dry-run")
    assert done.exit_code == 0, done.output
    assert "two-groups" in done.output


def test_a_budget_is_charged_and_ends(people, tmp_path):
    """The first release fits, the second exits with 3, the first can be had again."""
    ledger = tmp_path / "b.ledger"
    assert (
        run("budget", "create", "trial", "--epsilon", 1, "--delta", 1e-6, "--ledger", ledger).exit_code == 0
    )
    asked = ["discover", people, *TWO_GROUPS, "--ledger", ledger, "--dataset", "trial", "--json"]
    first = run(*asked, "--release-id", "one")
    assert first.exit_code == 0, first.output
    refused = run(*asked, "--release-id", "two")
    assert refused.exit_code == 3
    assert "exceed" in refused.output
    assert run(*asked, "--release-id", "one").stdout == first.stdout
    assert Ledger(ledger).budget("trial").releases == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--test", "two-groups", "--bounds", "0", "1"], "group"),
        (["--epsilon", "1"], "which test"),
        (["--test", "anova"], "anova"),
        ([*TWO_GROUPS, "--epsilon", "-1"], "epsilon"),
        ([*TWO_GROUPS, "--partner", "x"], "partner"),
        ([*TWO_GROUPS, "--columns", "absent"], "absent"),
        ([*TWO_GROUPS, "--option", "nonsense"], "name=value"),
        ([*TWO_GROUPS, "--reduce", "mean"], "person"),
        (["--test", "vote", "--option", "test=os:nothing"], "package.module:name"),
        ([*TWO_GROUPS, "--levels", "0", "1", "2"], "two at a time"),
        (["--test", "correlation", "--partner", "a", "--bounds", "0", "1"], "method=product"),
        (["--test", "p-values", "--column", "a", "--eta", "0.1", "--nu", "0.5"], "q/m"),
        ([*TWO_GROUPS, "--ledger", "b.ledger"], "--dataset"),
        ([*TWO_GROUPS, "--person", "treated"], "--reduce"),
    ],
)
def test_mistakes_are_one_line_and_exit_code_2(people, arguments, words):
    """No traceback, and the line names what to change."""
    done = run("discover", people, *arguments)
    assert done.exit_code == 2
    assert words in done.output
    assert "Traceback" not in done.output


def test_a_folder_that_cannot_be_written_is_noticed_first(people, tmp_path):
    """Nothing is spent on a release that could not be kept."""
    (tmp_path / "file").write_text("")
    done = run("discover", people, *TWO_GROUPS, "--out", tmp_path / "file" / "folder")
    assert done.exit_code == 2
    assert "--out" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x" * 300, "new/" + "x" * 300, "x/" * 5000])
def test_a_folder_that_cannot_be_named_is_refused(people, tmp_path, name):
    """Before anything is spent, and nothing is made, also where its parents are not there yet."""
    done = run("discover", people, *TWO_GROUPS, "--out", tmp_path / "out" / name)
    assert done.exit_code == 2
    assert "give another --out" in " ".join(done.output.split())
    assert not (tmp_path / "out").exists()


def full(*_, **__):
    """Fail as a full disk does."""
    raise OSError(28, "No space left on device")


def test_a_full_disk_does_not_lose_what_was_paid_for(people, tmp_path, monkeypatch):
    """When no file can be written after the release is made, the release is printed whole."""
    monkeypatch.setattr(os, "fdopen", full)
    done = run("discover", people, *TWO_GROUPS, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "No space left" in done.output
    assert "Written" not in done.output
    kept = next(line for line in done.output.splitlines() if line.startswith("{"))
    assert discreet.Release.from_json(kept).m == 6


def test_what_cannot_be_written_is_kept_elsewhere(people, tmp_path, monkeypatch):
    """In a private file, or in the ledger, with the command that fetches it."""
    monkeypatch.setattr("discreet.report.save._replace", full)  # of --out and of the folder for all others
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = run("discover", people, *TWO_GROUPS, "--out", tmp_path / "out")
    (kept,) = tmp_path.glob("discreet-release-*.json")
    assert done.exit_code == 2
    assert str(kept) in done.stderr
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert discreet.Release.from_json(kept.read_text()).m == 6
    ledger = tmp_path / "b.ledger"
    run("budget", "create", "trial", "--epsilon", 1, "--delta", 1e-6, "--ledger", ledger)
    asked = ["discover", people, *TWO_GROUPS, "--ledger", ledger, "--dataset", "trial"]
    done = run(*asked, "--out", tmp_path / "out")
    assert done.exit_code == 2
    words = shlex.split(done.stderr[done.stderr.index("show ") :].splitlines()[0])
    monkeypatch.undo()
    again = run(*words, "--out", tmp_path / "again")
    assert again.exit_code == 0, again.output
    assert discreet.Release.from_json((tmp_path / "again" / "release.json").read_text()).m == 6
    assert json.loads(run(*words, "--json").stdout)["budget"]["release"] == words[1]
    assert Ledger(ledger).budget("trial").releases == 1


def test_without_a_place_a_release_is_kept_and_found_again(people, tmp_path, monkeypatch):
    """In a private file of one folder, or in the ledger; `discreet show` finds both, also as a report."""
    folder = tmp_path / "kept"
    monkeypatch.setenv("DISCREET_RELEASES", str(folder))
    assert "No release is kept" in run("show").output
    first = run("discover", people, *TWO_GROUPS)
    (path,) = folder.glob("*.json")
    assert f"Kept in {path}" in first.stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (folder / "note.json").write_text("{}")
    listed = run("show").stdout
    assert path.stem in listed
    assert "note" not in listed
    (folder / "note.json").unlink()
    assert json.loads(run("show", "last", "--json").stdout) == json.loads(path.read_text())
    assert run("show", path.stem, "--out", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "report.html").exists()
    assert json.loads(run("show", path, "--json").stdout)["m"] == 6
    assert len(list(folder.iterdir())) == 1
    ledger = tmp_path / "b.ledger"
    run("budget", "create", "trial", "--epsilon", 1, "--delta", 1e-6, "--ledger", ledger)
    budget = ["--ledger", ledger, "--dataset", "trial"]
    assert "no release" in run("show", "last", *budget).output
    paid = run("discover", people, *TWO_GROUPS, *budget)
    words = shlex.split(
        next(line for line in paid.stdout.splitlines() if line.startswith("Kept in the ledger"))
    )
    again = run(*words[words.index("show") :], "--json")
    assert json.loads(again.stdout) == json.loads(run("show", "last", *budget, "--json").stdout)
    assert discreet.stored(ledger, "trial").m == 6
    assert len(list(folder.iterdir())) == 1
    for wrong in (["show", "absent"], ["show", "last", "--dataset", "x"], ["show", "--json"]):
        assert run(*wrong).exit_code == 2


def test_files_are_private_and_a_refused_run_leaves_none(people, tmp_path):
    """Folder 0700, files 0600, unless they were there; nothing is made before the release is."""
    out = tmp_path / "a" / "b"
    assert run("discover", people, *TWO_GROUPS, "--columns", "absent", "--out", out).exit_code == 2
    assert run("discover", tmp_path / "absent.csv", *TWO_GROUPS, "--out", out).exit_code == 2
    assert list(tmp_path.iterdir()) == []
    assert run("discover", people, *TWO_GROUPS, "--out", out).exit_code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in out.iterdir()} == {0o600}
    (out / "release.json").chmod(0o644)
    assert run("discover", people, *TWO_GROUPS, "--out", out).exit_code == 0
    assert stat.S_IMODE((out / "release.json").stat().st_mode) == 0o644
    assert len(list(out.iterdir())) == 3
    taken = tmp_path / "taken"
    (taken / "report.html").mkdir(parents=True)
    done = run("discover", people, *TWO_GROUPS, "--out", taken)
    assert done.exit_code == 2
    assert "is a folder where a file" in done.output


SHELL = {
    "closed pipe": "{} | head -0",
    "full": "{} > /dev/full",
    "both full": "{} > /dev/full 2> /dev/full",
    "closed": "{} >&-",
    "both closed": "{} >&- 2>&-",
    "latin-1": "PYTHONIOENCODING=latin-1 {}",
    "ascii": "PYTHONIOENCODING=ascii {}",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kept", "how"),
    [
        *(("out", how) for how in SHELL),
        *(("ledger", how) for how in ("closed pipe", "both full")),
        *(("neither", how) for how in ("closed pipe", "full", "closed", "ascii")),
    ],
)
def test_words_that_cannot_be_printed_fail_no_run(people, tmp_path, how, kept):
    """Exit code 0, and the release is in its files, in the ledger, or in a private file."""
    path = tmp_path / "people.csv"
    path.write_text(people.read_text().replace("rise", "räteΔ", 1), encoding="utf-8")
    ledger, out = tmp_path / "b.ledger", tmp_path / "out"
    Ledger(ledger).create("trial", epsilon=1.0, delta=1e-6)
    more = {"out": ["--out", out], "ledger": ["--ledger", ledger, "--dataset", "trial"], "neither": []}[kept]
    command = shlex.join(map(str, [sys.executable, "-m", "discreet", "discover", path, *TWO_GROUPS, *more]))
    ran = subprocess.run(
        ["bash", "-o", "pipefail", "-c", SHELL[how].format(f"{command} --values")],
        env={**os.environ, "DISCREET_RELEASES": str(tmp_path / "kept")},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert b"Traceback" not in ran.stderr
    assert b"Exception" not in ran.stderr
    private = list(tmp_path.glob("kept/*.json"))
    if kept == "out":
        text = (out / "release.json").read_text()
    elif kept == "ledger":
        (entry,) = Ledger(ledger).history("trial")
        text = Ledger(ledger).result("trial", entry.release_id).result
    else:
        text = private[0].read_text()
    assert "rise" in text or "\\u0394" in text
    assert len(private) == (kept == "neither")


def test_any_argument_of_any_test_can_be_given(people):
    """What has no option of its own goes through --option; votes name their function."""
    done = run("discover", people, *TWO_GROUPS, "--option", "ceiling=9.5", "--json")
    assert json.loads(done.stdout)["parameters"]["test"]["ceiling"] == 9.5
    vote = ["--test", "vote", "--option", "test=numpy:mean", "--option", "blocks=50", "--columns", "a"]
    assert run("discover", people, *vote, "--json").exit_code == 0


def test_the_help_names_every_test():
    """Whoever reads the help knows what can be asked."""
    words = " ".join(run("discover", "--help").output.split())
    assert all(name in words for name in own_names())


def test_every_option_is_taken_by_a_release_or_a_test():
    """And declared once: its own options, and those of the test, the method and the file."""
    taken = {name for kind in own_classes() for name in kind.arguments()}
    taken |= {field.name for field in fields(Parameters)} | {*OWN, *SWITCHES, "test", "option"}
    declared = [name for panel in (*DISCOVER.values(), *BELONGING.values()) for name in panel]
    assert set(declared) <= taken
    assert len(set(declared)) == len(declared)
    assert {field.name for field in fields(Parameters)} <= set(declared)


def test_the_twelve_options_that_most_people_need_come_first():
    """The command itself has about as many more; the others belong to what is asked for."""
    first, *_ = DISCOVER.values()
    assert len(first) == 12
    assert {"group", "levels", "epsilon", "out", "dry_run"} <= {*first}
    command = typer.main.get_command(app).commands["discover"]
    assert len(command.params) <= 25


def test_help_explains_the_options_of_what_is_on_the_line():
    """Of the test, the method and the kind of file; the others it names."""
    plain = run("discover", "--help").output
    assert "--sd " in plain
    assert "The null value" not in plain
    assert "The null value" in run("discover", "--test=mean", "--help").output
    assert "for the share of cases" in run("discover", "cohort.bed", "--help").output
    assert "plain, paper" in run("discover", "--method", "peel", "--help").output
    assert "decimals" in run("discover", "people.csv", "--group", "arm", "--help").output


@pytest.mark.parametrize("plan", ["test = 3", '[[test]]\nname = "mean"'])
def test_a_plan_whose_test_is_no_table_is_refused_in_words(tmp_path, plan):
    """With exit code 2, not with a traceback."""
    path = tmp_path / "plan.toml"
    path.write_text(f"{plan}\n[unused]\n")
    done = run("discover", "people.csv", "--config", path)
    assert done.exit_code == 2
    assert "must be a table" in done.output


def test_names_cannot_command_the_terminal(tmp_path):
    """Control characters in a header are spelled out."""
    path = tmp_path / "people.csv"
    path.write_text("g,\x1b[31mred\n" + "".join(f"{i % 2},{i % 2}\n" for i in range(3000)))
    done = run(
        "discover",
        path,
        "--test",
        "two-groups",
        "--group",
        "g",
        "--levels",
        "0",
        "1",
        "--bounds",
        "0",
        "1",
        "--values",
    )
    assert done.exit_code == 0, done.output
    assert "\\u001b[31mred" in done.output
    assert "\x1b[31mred" not in done.output


def test_a_refusal_spells_out_control_characters(tmp_path):
    """A file's name may hold what a terminal obeys."""
    (tmp_path / "a\x1b[31m.parquet").write_text("no")
    done = run("discover", tmp_path, "--test", "sign")
    assert done.exit_code == 2
    assert "\x1b" not in done.output
    assert "\\u001b[31m" in done.output


@pytest.fixture
def survey(tmp_path):
    """Return a CSV file with row numbers, text, yes/no as numbers and as words, and people's names."""
    path = tmp_path / "survey.csv"
    lines = ["," + ",".join(["who", "arm", "trust", "moved", *(f"q{i}" for i in range(7)), "\x1b[31m"])]
    for i in range(400):
        answers = ["yes" if i % 3 else "no"] * 7
        lines.append(",".join([str(i), f"p{i}", str(i % 2), str(i % 5), str(i % 7 < 3), *answers, "1"]))
    path.write_text("\n".join(lines) + "\n")
    return path


def told(done):
    """Return what was said beside the result."""
    assert done.exit_code == 0, done.output
    return done.stderr.splitlines()


def test_what_is_tested_and_what_is_not_is_said_first(survey):
    """By name and type alone; numbers that a test of yes and no takes for yes are named."""
    table = pd.read_csv(survey)
    parquet, numbers = survey.with_suffix(".parquet"), survey.with_name("numbers.csv")
    table.to_parquet(parquet, index=False)
    table[[*table.columns[:5], "\x1b[31m"]].to_csv(
        numbers, index=False, header=["", *table.columns[1:5], "\x1b[31m"]
    )
    ask = ["--test", "two-by-two", "--group", "arm", "--person", "who"]
    named = [*ask, "--levels", "0", "1"]  # in a file that declares no types
    assert told(run("discover", parquet, *ask, "--columns", "[!U]*")) == [
        "Testing 3 columns: trust, moved, \\u001b[31m.",
        (
            "The groups are 1 and 0 in 'arm'. Whoever has another number is in neither: of other codes, such "
            "as 1 and 2, name the two that are meant, --levels 1 2."
        ),
        (
            "Left out, not numbers: 7 columns: q0, q1, q2, q3, q4 and 2 more. "
            "To test answers: --columns 'q0=yes,no'."
        ),
        "A value of 0.5 or more counts as yes: 2 columns: trust, \\u001b[31m.",
    ]
    assert told(run("discover", numbers, *named)) == [
        "Testing 3 columns: trust, moved, \\u001b[31m.",
        "Left out, row numbers: 1 column: ''. To test it too: --columns '' --columns '*'.",
        "A value of 0.5 or more counts as yes: 3 columns: trust, moved, \\u001b[31m.",
    ]
    assert told(run("discover", survey, "--test", "sign", "--columns", "trust")) == [
        "Testing 1 column: trust."
    ]
    assert told(run("discover", survey, "--test", "sign", "--columns", "")) == ["Testing 1 column: column."]


def test_text_in_a_csv_file_is_refused_with_a_list_that_works(survey):
    """A file without types is asked for numbers; the message names the text and what to type instead."""
    ask = [
        "discover",
        survey,
        "--test",
        "two-by-two",
        "--group",
        "arm",
        "--levels",
        "0",
        "1",
        "--person",
        "who",
    ]
    done = run(*ask)
    assert done.exit_code == 2
    said = done.stderr.replace("\\u001b", "\x1b")
    assert "column 'q0', line 2: not a number, nor in 'q1', 'q2', 'q3', 'q4', 'q5' and 1 more" in said
    offered = re.search(r"test the others: (.*), in Python columns=(.*)$", said, re.MULTILINE)
    assert shlex.split(offered[1]) == ["--columns", "trust", "--columns", "moved", "--columns", "\x1b[31m"]
    assert told(run(*ask, *shlex.split(offered[1])))[0].startswith("Testing 3 columns: trust, moved")


def test_answers_in_words_are_tested_by_their_levels(survey):
    """Each entry may declare a column's levels; one alone has no "other"."""
    asked = ["--columns", "q1=yes,no", "--columns", "q2=yes", "--columns", "moved", "--json"]
    done = run("discover", survey, "--test", "proportion", "--null", "0.5", *asked)
    none_of_them = "Whoever has another counts as none of them."
    assert told(done) == [
        "Testing 3 columns: q1=yes, q2=yes, moved.",
        f"Levels of 'q1' are compared letter by letter: 'yes', 'no'. {none_of_them}",
        f"Levels of 'q2' are compared letter by letter: 'yes'. {none_of_them}",
        "A value of 0.5 or more counts as yes: 1 column: moved.",
    ]
    assert json.loads(done.stdout)["m"] == 3


@pytest.mark.slow
def test_notes_do_not_stand_in_the_way_of_a_stored_release(people, tmp_path):
    """A result that was paid for comes back although the data is gone."""
    ledger, copy = tmp_path / "b.ledger", tmp_path / "copy.csv"
    copy.write_bytes(people.read_bytes())
    run("budget", "create", "trial", "--epsilon", 1, "--delta", 1e-6, "--ledger", ledger)
    asked = ["discover", copy, *TWO_GROUPS, "--ledger", ledger, "--dataset", "trial", "--release-id", "one"]
    first = run(*asked, "--json")
    assert first.exit_code == 0, first.output
    copy.unlink()
    again = run(*asked, "--json")
    assert again.stdout == first.stdout
    assert again.stderr == ""
    assert run(*asked, "--dry-run").exit_code == 0
    refused = run(*asked[:-1], "two", "--dry-run")
    assert refused.exit_code == 3
    assert "two-groups" in refused.stdout
    assert "would exceed the budget" in refused.stderr


def test_a_warning_is_one_line(people):
    """Without the line of code it comes from."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        done = run("discover", people, *TWO_GROUPS, "--columns", "a", "--delta", "0.01")
    assert told(done)[-1].startswith("warning: delta = 0.01 may expose")
    assert len(told(done)) == 2


def test_a_misspelt_word_of_a_plan_is_found(people, tmp_path):
    """It is not taken for an argument of the test; what the test takes may stand outside its table."""
    plan = tmp_path / "plan.toml"
    plan.write_text('epsilom = 2\n[test]\nname = "sign"\n')
    done = run("discover", people, "--config", plan)
    assert done.exit_code == 2
    assert "did you mean 'epsilon'?" in done.output
    plan.write_text('alternative = "greater"\n[test]\nname = "sign"\n')
    assert run("discover", people, "--config", plan).exit_code == 0


def test_a_plan_declares_levels(survey, tmp_path):
    """In a table of columns."""
    plan = tmp_path / "plan.toml"
    plan.write_text('[test]\nname = "proportion"\nnull = 0.5\n[columns]\nq1 = ["yes", "no"]\n')
    done = run("discover", survey, "--config", plan, "--json")
    assert json.loads(done.stdout)["m"] == 1  # no is not yes


def test_a_hopeless_preview_says_where_to_read_what_it_takes(tmp_path):
    """Where the forecast finds nothing, the next command is named."""
    file = tmp_path / "few.csv"
    file.write_text("arm,a,b\n0,1,2\n")
    told = run("discover", file, "--group", "arm", "--levels", "0", "1", "--dry-run", "--people", "40").output
    assert "it takes: discreet plan --n 40 --m 2 --epsilon 1 --q 0.1" in told, told
