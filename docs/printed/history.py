"""Benchmarks over time: what every table here said in earlier commits, as JSON or as lines.

`python docs/printed/history.py` prints all of it as JSON: for each table its versions, oldest first, each
with commit, date, and the numbers of each row. `python docs/printed/history.py bench-mixed 20,000` prints
the rows of one table that begin like that, a line for each version in which they are another.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
NUMBER = re.compile(r"[+-]?\d[\d,]*\.?\d*(?:e[+-]?\d+)?")


def git(*words: str) -> str:
    """Return what git says, nothing where it refuses."""
    ran = subprocess.run(["git", *words], cwd=HERE, check=False, capture_output=True, text=True)  # noqa: S603, S607
    return ran.stdout if ran.returncode == 0 else ""


def rows(text: str) -> dict[str, list[float]]:
    """Return the rows of a printed table by their first cell: the numbers of the other cells."""
    table: dict[str, list[float]] = {}
    for line in text.splitlines()[1:]:
        name, *cells = re.split(r" {2,}", line.strip())
        numbers = [float(each.replace(",", "")) for cell in cells for each in NUMBER.findall(cell)]
        if numbers:
            table.setdefault(name, []).extend(numbers)
    return table


class Version(NamedTuple):
    """A table as it was printed at some commit."""

    commit: str
    date: str
    rows: dict[str, list[float]]


def versions(file: Path) -> list[Version]:
    """Return the versions of one table, oldest first."""
    log = git("log", "--reverse", "--format=%H %cs", "--", file.name).split("\n")
    found: list[Version] = []
    for line in filter(None, log):
        commit, date = line.split()
        text = git("show", f"{commit}:./{file.name}")
        if text:  # it may have been absent in between
            found.append(Version(commit[:8], date, rows(text)))
    return found


def main(words: list[str]) -> None:
    """Print all tables as JSON, or rows of one as lines."""
    if not words:
        tables = sorted(HERE.glob("*.txt"))
        everything = {file.stem: [each._asdict() for each in versions(file)] for file in tables}
        sys.stdout.write(json.dumps(everything, indent=1) + "\n")
        return
    table, *begins = words
    before = None
    for version in versions(HERE / f"{table}.txt"):
        chosen = {name: each for name, each in version.rows.items() if name.startswith(" ".join(begins))}
        if chosen != before:
            for name, numbers in chosen.items():
                figures = " ".join(f"{number:g}" for number in numbers)
                sys.stdout.write(f"{version.date} {version.commit} {name}: {figures}\n")
        before = chosen


if __name__ == "__main__":
    main(sys.argv[1:])
