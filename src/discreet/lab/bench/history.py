"""Benches over time: a file of JSON lines, one for each run, and what it says when read side by side."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import InputError
from discreet.report.text_table import table
from discreet.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

_MET, _MISSED = "target met: ", "target NOT MET: "


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a bench.

    Attributes
    ----------
    date : str
        When it ended, in UTC.
    version, commit : str
        Of this library; the commit is empty outside a repository.
    machine : str
        The system, its processor and how many there are, and Python's version.
    command : str
        What was run, such as "topk --quick".
    seconds : float
        How long it took on the clock.
    printed : str
        All that it printed.
    """

    date: str
    version: str
    commit: str
    machine: str
    command: str
    seconds: float
    printed: str

    @property
    def targets(self) -> list[str]:
        """The lines that say whether a target is met."""
        return [line for line in self.printed.splitlines() if line.startswith((_MET, _MISSED))]


def finished_run(command: str, seconds: float, printed: str) -> Run:
    """Return the record of a run that has just ended, here and now."""
    processor = platform.processor() or platform.machine()
    machine = f"{platform.system()} {processor}, {os.cpu_count()} cores, Python {platform.python_version()}"
    date = datetime.now(UTC).isoformat(timespec="minutes")
    return Run(date, __version__, _commit(), machine, command, round(seconds, 1), printed)


def append(path: Path, run: Run) -> None:
    """Add a run to the end of a history; the file is made if there is none."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(run)) + "\n")


def read(path: Path) -> list[Run]:
    """Return the runs of a history, oldest first."""
    try:
        lines = path.read_text("utf-8").splitlines()
        return [Run(**json.loads(line)) for line in lines if line.strip()]
    except OSError:
        raise InputError(f"{path} cannot be read: give a file that `discreet bench --record` wrote") from None
    except (TypeError, ValueError):
        raise InputError(f"{path} is no history of benches: `discreet bench --record` writes one") from None


def in_words(runs: Sequence[Run]) -> str:
    """Return the runs of each command side by side: when, of what, how long, and which targets it met."""
    parts: list[str] = []
    for command in dict.fromkeys(run.command for run in runs):
        same = [run for run in runs if run.command == command]
        rows = [
            [
                run.date,
                run.version,
                run.commit or "-",
                f"{run.seconds:g} s",
                f"{sum(line.startswith(_MET) for line in run.targets)} of {len(run.targets)}",
            ]
            for run in same
        ]
        latest = [f"  {line}" for line in same[-1].targets]
        head = f"discreet bench {command} ({same[-1].machine})"
        listing = table(["date", "version", "commit", "took", "targets met"], rows)
        parts.append("\n".join([head, listing, *latest]))
    return "\n\n".join(parts) if parts else "No run is recorded."


def _commit() -> str:
    """Return the commit of the repository this file lies in; nothing where it lies in none."""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    try:
        said = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError:
        return ""
    return said.stdout.strip() if said.returncode == 0 else ""
