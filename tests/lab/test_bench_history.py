"""Benches over time: runs are added to a file and read side by side."""

import json

import pytest
from typer.testing import CliRunner

from discreet.cli import app
from discreet.errors import InputError
from discreet.lab.bench import history


def test_runs_are_recorded_and_read_side_by_side(tmp_path):
    """What a bench prints is printed and kept; the history says when, of what version, which targets."""
    file, run = tmp_path / "history.jsonl", CliRunner().invoke
    for _ in range(2):
        printed = run(app, ["bench", "--record", str(file), "scales"])
        assert printed.exit_code == 0
        assert printed.stdout
    kept = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(kept) == 2
    assert kept[0]["printed"] == printed.stdout
    shown = run(app, ["bench", "history", str(file)]).stdout
    assert shown.count("0 of 0") == 2
    assert "No run" in run(app, ["bench", "history", str(file), "--bench", "topk"]).stdout


def test_targets_are_counted_as_they_were_said(tmp_path):
    """Met and missed targets of the latest run are listed; a file of something else is refused."""
    file = tmp_path / "history.jsonl"
    history.append(file, history.finished_run("topk", 1.0, "target met: a\n"))
    history.append(file, history.finished_run("topk", 2.0, "x\ntarget met: a\ntarget NOT MET: b\n"))
    words = history.in_words(history.read(file))
    assert "1 of 1" in words
    assert "1 of 2" in words
    assert words.count("target NOT MET: b") == 1
    file.write_text('{"no": "run"}\n')
    with pytest.raises(InputError, match="no history"):
        history.read(file)
    with pytest.raises(InputError, match="cannot be read"):
        history.read(tmp_path / "none.jsonl")
