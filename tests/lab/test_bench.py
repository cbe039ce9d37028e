"""The benchmarks run, and `import discreet` stays light."""

import subprocess
import sys
from dataclasses import replace

import pytest

from discreet.lab.bench import bh, choice, imports, small
from discreet.lab.bench.timing import median_seconds, verdict

HEAVY = (
    "typer",
    "rich",
    "matplotlib",
    "pandas",
    "cryptography",
    "scipy.stats",
    "statsmodels",
    "discreet.lab",
)


@pytest.mark.slow
def test_bench_of_small_inputs_has_every_signal():
    """A row for each strength and k, noisy_min where k is 1, and a verdict on the worst of them."""
    rows = list(small.run(turns=2))
    assert len(rows) == len(small.SIGNALS) * len(small.COUNTS)
    assert all((row.least is not None) == (row.k == 1) for row in rows)
    said = small.in_words([replace(rows[0], approximate=10.5)])
    assert "target NOT MET" in said
    assert "10.5x" in said


def test_bench_bh_compares_equal_sets():
    """The benchmark yields a row for each size and share, and prints ratios with a verdict."""
    rows = list(bh.run(sizes=(10_000,), shares=(0.0, 0.1)))
    assert [(row.m, row.share) for row in rows] == [(10_000, 0.0), (10_000, 0.1)]
    text = bh.in_words(rows)
    assert "x" in text
    assert "never slower at m = 10^4" in text


def test_verdicts_can_be_bad():
    """A target that is missed says so."""
    slow = bh.Row(10_000, 0.0, step_up=2.0, step_up_indices=2.0, step_down=2.0, statsmodels=1.0, scipy=1.0)
    assert "NOT MET" in bh.in_words([slow])
    assert verdict(True, "fast") == "target met: fast"


def test_the_stopwatch_takes_several_runs():
    """At least three runs are timed, and more while the budget lasts."""
    runs = []
    assert median_seconds(lambda: runs.append(1), budget=0.0) >= 0
    assert len(runs) == 3


@pytest.mark.slow
def test_import_loads_no_heavy_module():
    """`import discreet` brings in numpy and its own modules, nothing heavy."""
    script = "import sys, discreet; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.slow
def test_import_cost_is_printed():
    """The check prints the cost beside its target."""
    assert "target met" in imports.in_words(0.01)
    assert "NOT MET" in imports.in_words(0.5)
    assert imports.seconds(repeats=3) < 2 * imports.TARGET


def test_what_choosing_adds_is_said_beside_its_goal():
    """The longest choice is judged: what a release by default takes beyond the one it chose."""
    rows = [choice.Taken("40 scores", 0.2, 0.1, 0.1), choice.Taken("500 columns", 0.9, 0.5, 0.4)]
    text = choice.in_words(rows)
    assert "target NOT MET: the choice takes less than 0.3 s: 0.400 s of 500 columns" in text
    assert "target met: the choice takes less than 0.3 s: 0.100 s" in choice.in_words(rows[:1])


def test_a_choice_is_timed_anew_each_time(monkeypatch):
    """Scores and tables are both timed, a default release beside the one that it chose."""
    monkeypatch.setattr(choice, "SCORES", (60,))
    monkeypatch.setattr(choice, "TABLES", (30,))
    monkeypatch.setattr(choice, "_REPEATS", 1)
    rows = choice.run(lambda _: None)
    assert [row.what for row in rows] == ["60 scores", "30 columns, 2,000 people"]
    assert all(row.default > 0 and row.named > 0 and row.choice >= 0 for row in rows)
