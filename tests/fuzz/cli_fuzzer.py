"""Every command with wrong options: an exit code and a line, never a traceback.

Run as a program: `python tests/fuzz/cli_fuzzer.py 10000 [SEED]`.
"""

import contextlib
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import typer
from api_fuzzer import SECONDS, Slow, ring, where
from file_fuzzer import KINDS
from typer.testing import CliRunner

from discreet.cli import app

WORDS = (
    *(
        "",
        " ",
        "0",
        "-1",
        "1",
        "2",
        "0.5",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "1e-400",
        "9" * 5000,
        "true",
        "None",
    ),
    *("a", "g", "who", "city", "a=1,1", "city=", "=", "*", "[", "[a", "a,b", "é", "\u200b=1", "x" * 10_000),
    *("mean", "two-groups", "vote", "aware", "peel", "mirror", "calibrated", "any", "add-remove", "replace"),
    *("absent.csv", "absent.bed", "whole.csv", "whole.parquet", "whole.bed", "whole.toml", "whole.ledger"),
    *(
        "test=os:getpid",
        "test=absent:x",
        "bounds=[0,1]",
        "floor=0.2",
        "x=[",
        "--",
        "a\0b",
        "\udcff",
        "cohort",
    ),
)
RIGHT = {
    "discover": [
        *("whole.csv", "--test", "two-groups", "--group", "g", "--bounds", "0", "1", "--columns", "a"),
    ],
    "plan": ["--n", "100", "--m", "5", "--quick", "--repetitions", "2", "--method", "calibrated"],
    "budget create": ["other", "--epsilon", "1", "--delta", "1e-6", "--ledger", "whole.ledger"],
    "budget show": ["--ledger", "whole.ledger"],
    "budget history": ["cohort", "--ledger", "whole.ledger"],
    "budget verify": ["--ledger", "whole.ledger"],
    "serve init": ["new-home"],
    "serve describe": ["whole.parquet"],
    "serve register": [
        *("home", "cohort", "whole.parquet", "--metadata", "about.toml", "--epsilon", "1", "--delta", "1e-6"),
    ],
    "serve metadata": ["home", "trial"],
    "serve share": ["home", "trial", "everyone", "--epsilon", "0.5"],
    "serve account": ["home", "ana"],
    "serve role": ["home", "ana", "auditor"],
    "serve token": ["home", "ana"],
    "serve charges": ["home", "trial"],
    "serve review": ["home"],
    "serve state": ["home", "trial", "paused"],
    "serve verify": ["home"],
    "serve doctor": ["home"],
    "serve backup": ["home", "copy.db"],
    "serve restore": ["home", "copy.db"],
    "serve migrate": ["home"],
}
"""Commands that read what people type. The others do much work by design: their sizes are not tried."""


def _options(command):
    group = typer.main.get_command(app)
    for name in command.split():
        group = group.commands[name]
    options = [*group.params, *getattr(group, "belonging", ())]
    return [option for option in options if hasattr(option, "is_flag") and option.name != "help"]


def commands(count, seed):
    """Yield command lines with one to three wrong options."""
    rng = random.Random(seed)
    known = {command: _options(command) for command in RIGHT}
    for _ in range(count):
        command = rng.choice(["discover"] * 12 + list(RIGHT))
        line = [*command.split(), *RIGHT[command]]
        if command.startswith("serve") and rng.random() < 0.3:  # what has to be said, too
            line[rng.randrange(2, len(line))] = rng.choice(WORDS)
        for option in rng.sample(known[command], min(len(known[command]), rng.choice((1, 1, 2, 3)))):
            typed = [] if option.is_flag else [rng.choice(WORDS) for _ in range(max(1, option.nargs))]
            line += [rng.choice(option.opts + option.secondary_opts), *typed]
        if rng.random() < 0.3 and command == "discover":
            line.append("--dry-run")
        yield line


def make_home(folder):
    """Make a server's home with a data set and an account."""
    (folder / "about.toml").write_text("people = 100\n[columns.a]\n[columns.g]\n")
    for line in (
        ["init", "home"],
        ["register", "home", "trial", "whole.parquet", *RIGHT["serve register"][3:]],
        ["account", "home", "ana"],
    ):
        told = CliRunner().invoke(app, ["serve", *line])
        assert told.exit_code == 0, told.output


def run(count, seed=0):
    """Return exit codes with how often each came, and the faults."""
    signal.signal(signal.SIGALRM, ring)
    codes, faults = Counter(), {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for kind in ("csv", "parquet", "bed", "plan", "ledger"):
            KINDS[kind].whole(Path(folder))
        make_home(Path(folder))
        for line in commands(count, seed):
            signal.alarm(SECONDS)
            try:
                told = CliRunner().invoke(app, line)
            except Slow:
                faults.setdefault(f"more than {SECONDS} seconds", line)
                continue
            finally:
                signal.alarm(0)
            codes[told.exit_code] += 1
            if isinstance(told.exception, Slow):
                faults.setdefault(f"more than {SECONDS} seconds", line)
            elif told.exception is not None and not isinstance(told.exception, SystemExit):
                faults.setdefault(where(told.exception), line)
    return codes, faults


if __name__ == "__main__":
    codes, found = run(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    for what, line in found.items():
        print(what, "e.g.", [word[:40] for word in line])
    print(f"{sum(codes.values()):,} commands, exit codes {dict(codes)}, {len(found)} kinds of faults")
    sys.stdout.flush()
    os._exit(bool(found))
