"""Bad input in CI: a sample of what the fuzzers of this folder try by the hour; and they do see faults.

Each runs in a process of its own, because it limits its memory and rings an alarm.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import discreet

pytestmark = pytest.mark.slow
FOLDER = Path(__file__).parent


def fuzz(program, *arguments):
    """Return the exit code of a fuzzer, and what it printed."""
    line = [sys.executable, str(FOLDER / program), *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def test_wrong_arguments_are_refused_or_right():
    """Public functions and wrong values: no traceback, no hang, no word of a value."""
    code, told = fuzz("api_fuzzer.py", 2500, 11)
    assert code == 0, told


def test_everything_public_is_called(tmp_path, monkeypatch):
    """Every public name that takes an argument is a target, but for what the library alone makes."""
    monkeypatch.syspath_prepend(FOLDER)
    known = importlib.import_module("targets")
    named = " ".join(target.name for target in known.targets(tmp_path))
    made = {kind.__name__ for kind in known.RECORDS} | {"DiscreetError", "__version__"}
    assert [name for name in discreet.__all__ if name not in named and name not in made] == []


def test_damaged_files_are_refused_or_read():
    """Files of every kind after an accident: no traceback, no hang, no entry repeated."""
    code, told = fuzz("file_fuzzer.py", 40, 11)
    assert code == 0, told


def test_commands_with_wrong_options_end_with_a_line():
    """Commands: an exit code and a message."""
    code, told = fuzz("cli_fuzzer.py", 100, 11)
    assert code == 0, told


def test_the_fuzzer_sees_planted_faults():
    """A raw error, a hang, a refusal that repeats a value."""
    script = f"""
import sys; sys.path.insert(0, {str(FOLDER)!r})
import signal, discreet, api_fuzzer as api
from targets import Target
api.SECONDS = 1
signal.signal(signal.SIGALRM, api.ring)
def raises(x):
    1 / 0
def hangs(x):
    while True: pass
def repeats(x):
    raise discreet.DiscreetError(api.SECRET * 3)
for broken in (raises, hangs, repeats):
    assert api.fault(Target("broken", broken, {{"x": 1}}), {{}}) is not None, broken
assert api.fault(Target("right", lambda x: x, {{"x": 1}}), {{}}) is None
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_an_interrupt_passes_through():
    """Ctrl-C in the middle of a foreign object's work is nobody's bad input."""

    class Interrupted:
        def __array__(self, *_, **__):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        discreet.step_up(Interrupted(), q=0.1)
