"""Many processes at once, and processes killed at random: no overspend, no lost charge, no lost result."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
PROGRAM = Path(__file__).with_name("ledger_stress.py")
WRONG = (
    "overspent",
    "lost charge",
    "lost result",
    "shown twice",
    "drawn too often",
    "wrong result",
    "broken chain",
)


def findings(kind, kills, workers, fault="none"):
    """Return what the program found, and everything wrong in it."""
    command = [sys.executable, PROGRAM, kind, str(kills), str(workers), fault]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return found, {key: found[key] for key in found if (key in WRONG and found[key]) or "error" in key}


def test_killed_hundreds_of_times():
    """400 processes are killed with `kill -9` while three at a time charge: nothing is wrong afterwards."""
    found, wrong = findings("kill", 400, 3)
    assert found["killed"] >= 400
    assert not wrong
    # Some were killed between charge and result, and completed afterwards, but for a few killed each time.
    assert found["interrupted"] > 0
    assert found["charges"] - found["worn out"] <= found["results"] > 0


def test_sixteen_processes_at_once():
    """They race for the same release ids until the total is reached: exactly what fits, each drawn once."""
    found, wrong = findings("crowd", 0, 16)
    assert not wrong
    assert found["charges"] == found["results"] == found["most"]


@pytest.mark.parametrize(
    ("kind", "fault", "noticed"),
    [
        ("kill", "shown before charge", {"lost charge", "wrong result", "shown twice"}),
        ("kill", "shown before result", {"wrong result", "shown twice"}),
        ("kill", "torn write", {"broken chain", "error"}),
        ("crowd", "check before transaction", {"overspent"}),
    ],
)
def test_planted_faults_are_noticed(kind, fault, noticed):
    """The same checks catch results shown too early, torn writes, and a check outside the lock."""
    _, wrong = findings(kind, 100, 16 if kind == "crowd" else 3, fault)
    assert {key.split()[0] if "error" in key else key for key in wrong} & noticed


def test_through_two_names_nothing_is_charged():
    """With the check in place, every use through either of two hard links is refused."""
    found, wrong = findings("kill", 30, 3, "two names")
    assert all("has 2 names" in key for key in wrong)
    assert wrong
    assert found["charges"] == 0
