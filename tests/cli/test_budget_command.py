"""`discreet budget`: each command does its work, prints safely, and exits with a meaningful code."""

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from typer.testing import CliRunner

import discreet
from discreet.cli import app
from discreet.privacy.events import ZCDP
from discreet.privacy.ledger import Ledger


@pytest.fixture
def path(tmp_path):
    """Return the path of a ledger with one data set and one release."""
    ledger = Ledger(tmp_path / "budget.ledger")
    ledger.create("cohort", epsilon=1.0, delta=1e-6)
    charge = ledger.charge("cohort", [ZCDP(0.005)], "replace", {"q": 0.1}, "first")
    ledger.settle(charge, "{}")
    return ledger.path


def run(*words, code=0):
    """Run `discreet budget` with these words and return what it printed."""
    ran = CliRunner().invoke(app, ["budget", *map(str, words)])
    assert ran.exit_code == code, ran.output
    return ran.stdout if code != 2 else ran.stderr


def test_create_makes_ledger_and_data_set(tmp_path):
    """The first `create` makes the file; the words and the JSON say the same."""
    path = tmp_path / "new.ledger"
    words = run("create", "cohort", "--epsilon", 1, "--delta", "1e-6", "--ledger", path)
    assert "cohort: Epsilon 0 of 1 at delta = 1e-06 is spent, by 0 releases." in words
    more = ("--adjacency", "add-remove", "--aside", "1e-7", "--json")
    made = json.loads(run("create", "b", "--epsilon", 2, "--delta", "1e-6", "--ledger", path, *more))
    assert (made["epsilon"], made["aside"], made["adjacency"], made["spent"]) == (2.0, 1e-7, "add-remove", 0)
    assert Ledger(path).budgets() == ("cohort", "b")


def test_show(path):
    """One data set in words, all in a table, both as JSON."""
    assert "Epsilon 0.4299 of 1" in run("show", "cohort", "--ledger", path)
    assert run("show", "--ledger", path).splitlines()[2].split()[:5] == [
        "cohort",
        "1",
        "1e-06",
        "0.4299",
        "0.8843",
    ]
    assert json.loads(run("show", "cohort", "--json", "--ledger", path))["releases"] == 1
    assert [each["name"] for each in json.loads(run("show", "--json", "--ledger", path))] == ["cohort"]


def test_what_is_left_is_said_in_releases_like_the_last_one(path):
    """As many as are admitted, and not one more; nothing is said before the first."""
    words = run("show", "cohort", "--ledger", path)
    more = int(re.search(r"room for (\d+) more", words)[1])
    ledger = Ledger(path)
    for _ in range(more):
        ledger.charge("cohort", [ZCDP(0.005)], "replace", {})
    assert "room for no more" in run("show", "cohort", "--ledger", path)
    with pytest.raises(discreet.DiscreetError):
        ledger.charge("cohort", [ZCDP(0.005)], "replace", {})
    assert more > 1
    ledger.create("empty", epsilon=1.0, delta=1e-6)
    assert "room for" not in run("show", "empty", "--ledger", path)


def test_history(path):
    """Who asked what, when, at what cost and what was found; as JSON with request, events and hash."""
    evidence = discreet.Evidence.from_z({"diet": 12.0, "luck": 0.3}, sensitivity=0.005, adjacency="replace")
    budget = {"ledger": path, "dataset": "cohort", "release_id": "second"}
    discreet.release(evidence, q=0.1, epsilon=0.2, delta=1e-6, **budget)
    lines = run("history", "cohort", "--ledger", path).splitlines()
    assert re.fullmatch(r"1\. first: \d{4}-\d\d-\d\d \d\d:\d\d UTC, by .+, epsilon 0.4299", lines[0])
    assert lines[1].startswith("2. second: ")
    assert "1 discovery among 2 hypotheses: diet." in lines[2]
    assert max(map(len, lines)) <= 100
    entry, _ = json.loads(run("history", "cohort", "--ledger", path, "--json"))
    assert entry["events"] == [{"kind": "zcdp", "rho": 0.005, "count": 1}]
    assert (entry["request"], entry["state"]) == ({"q": 0.1}, "released")
    assert len(entry["hash"]) == 64
    Ledger(path).create("empty", epsilon=1.0, delta=1e-6)
    assert run("history", "empty", "--ledger", path) == "Nothing was charged yet.\n"


def test_verify(path):
    """Whole: 0 and the head; with a known hash: 0; with an unknown hash or an edit: 1 and the reason."""
    head = run("verify", "--ledger", path).split()[-1]
    assert head == Ledger(path).head()
    run("verify", "--ledger", path, "--head", head)
    assert "rewritten" in run("verify", "--ledger", path, "--head", "0" * 64, code=1)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DELETE FROM chain WHERE position = 3")
    assert "rows after row 2 are missing" in run("verify", "--ledger", path, code=1)
    found = json.loads(run("verify", "--ledger", path, "--json", code=1))
    assert (found["good"], found["rows"]) == (False, 2)


@pytest.mark.slow
def test_user_errors_exit_with_2(path, tmp_path):
    """Missing files and data sets, bad numbers and repeated names: one line, code 2, no traceback."""
    cases = [
        (("show", "--ledger", tmp_path / "absent"), "there is no ledger"),
        (("verify", "--ledger", tmp_path / "absent"), "there is no ledger"),
        (("show", "absent", "--ledger", path), "no data set 'absent'"),
        (("create", "cohort", "--epsilon", 1, "--delta", 0, "--ledger", path), "already has a data set"),
        (("create", "x", "--epsilon", -1, "--delta", 0, "--ledger", path), "epsilon must be above 0"),
        (("create", "\x1b[31mred", "--epsilon", 1, "--delta", 0, "--ledger", path), "name must be printable"),
        (("create", "x", "--epsilon", 1, "--delta", 0, "--ledger", tmp_path), "is a folder"),
    ]
    for words, message in cases:
        printed = run(*words, code=2)
        assert printed.startswith("error: ")
        assert message in printed
        assert "\x1b" not in printed
    assert "Missing option '--ledger'" in run("show", code=2)


def test_the_ledger_may_come_from_the_environment(path, monkeypatch):
    """DISCREET_LEDGER stands for --ledger."""
    monkeypatch.setenv("DISCREET_LEDGER", str(path))
    assert "cohort" in run("show")


def test_help_teaches_with_an_example():
    """Every command's help has an example that names the command."""
    for command in ("create", "show", "history", "verify"):
        assert f"Example: discreet budget {command}" in " ".join(run(command, "--help").split())


@pytest.mark.slow
def test_hostile_names_do_not_reach_the_terminal(path):
    """On a terminal too, markup is shown as it is and control characters are spelled out."""
    Ledger(path).create("[red]x[/red]", epsilon=1.0, delta=1e-6)
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "discreet", "budget", "show", "--ledger", path]
    environment = {**os.environ, "TERM": "dumb"}
    subprocess.run(command, stdout=child, check=True, env=environment)
    os.close(child)
    shown = os.read(parent, 1 << 16).decode()
    os.close(parent)
    assert "[red]x[/red]" in shown
    assert "│" in shown

    from discreet.cli.drawn import safe

    assert safe("a\x1b[2J\u202eb\nc") == "a\\x1b[2J\\u202eb\\nc"
