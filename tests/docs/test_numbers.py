"""Numbers in the docs are numbers a command prints."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet.cli import app

ROOT = Path(__file__).parents[2]


def test_the_headline_is_what_was_printed():
    """The table at the head of README is that of docs/printed, as percentages."""
    shown = re.findall(
        r"^\| ([\d,]+) \| ([\d.]+) ((?:\| \d+% ){4})\|$", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    lines = (ROOT / "docs/printed/bench-mixed.txt").read_text().splitlines()
    printed = [re.split(r" {2,}", line) for line in lines if re.match(r"[\d,]+ {2,}", line)]
    assert [(n, plain, re.findall(r"\d+", each)) for n, plain, each in shown] == [
        (n, plain, [f"{100 * float(share):.0f}" for share in shares]) for n, plain, *shares in printed
    ]
    assert len(shown) == 4


def test_tables_are_followed_through_their_commits(tmp_path):
    """The numbers of each row, by the first cell, of every commit that changed the table."""
    script = tmp_path / "history.py"
    script.write_text((ROOT / "docs/printed/history.py").read_text())
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    for share in (0.5, 0.75):
        (tmp_path / "power.txt").write_text(f"$ discreet bench power\npeople  found\n1,000  {share} (0.02)\n")
        subprocess.run([*git, "add", "power.txt"], check=True)
        subprocess.run([*git, "commit", "-qm", "Printed"], check=True)
    said = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout
    assert [each["rows"] for each in json.loads(said)["power"]] == [
        {"1,000": [0.5, 0.02]},
        {"1,000": [0.75, 0.02]},
    ]
    lines = [sys.executable, script, "power", "1,"]
    said = subprocess.run(lines, check=True, capture_output=True, text=True).stdout
    assert [line.partition(": ")[2] for line in said.splitlines()] == ["0.5 0.02", "0.75 0.02"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "command", "numbers"),
    [
        ("docs/proofs/adaptive.md", "bounds", ["2.431", "1.862", "1.327", "2.4287", "7.91", "10.12"]),
        ("docs/errata.md", "bounds", ["7.91", "10.12", "1.862", "1.327"]),
        ("docs/errata.md", "audit --errata", ["0.84", "7.91", "10.12"]),
    ],
)
def test_numbers_are_printed(page, command, numbers):
    """Each number stands both on the page and in the command's output."""
    page, printed = (ROOT / page).read_text(), CliRunner().invoke(app, command.split()).stdout
    assert all(number in page and number in printed for number in numbers)
