"""Many processes at once, and processes killed at random: no overspend, no lost charge, no double spend."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("ledger_stress.py")
WRONG = ("overspent", "lost charge", "double spend", "wrong result", "broken chain")


def findings(kind, kills, workers, fault="none"):
    """Return what the program found, and everything wrong in it."""
    command = [sys.executable, PROGRAM, kind, str(kills), str(workers), fault]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found, {key: found[key] for key in found if (key in WRONG and found[key]) or "error" in key}


def test_killed_a_thousand_times():
    """1,000 processes are killed with `kill -9` while three at a time charge: nothing is wrong afterwards."""
    found, wrong = findings("kill", 1000, 3)
    assert found["killed"] >= 1000
    assert not wrong
    # Some were killed between charge and result, which counts as spent.
    assert found["charges"] > found["results"] > 0


def test_sixteen_processes_at_once():
    """They race for the same release ids until the total is reached: exactly what fits, each drawn once."""
    found, wrong = findings("crowd", 0, 16)
    assert not wrong
    assert found["charges"] == found["results"] == found["most"]


@pytest.mark.parametrize(
    ("kind", "fault", "noticed"),
    [
        ("kill", "noise before charge", {"lost charge"}),
        ("kill", "torn write", {"broken chain", "error"}),
        ("crowd", "check before transaction", {"overspent"}),
    ],
)
def test_planted_faults_are_noticed(kind, fault, noticed):
    """The same checks catch noise before the charge, a write in two parts, and a check outside the lock."""
    _, wrong = findings(kind, 100, 16 if kind == "crowd" else 3, fault)
    assert {key.split()[0] if "error" in key else key for key in wrong} & noticed
