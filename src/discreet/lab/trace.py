"""How far a job travels through the code: `python -m discreet.lab.trace` prints files, functions and depth.

Counted are functions of this package that run while the job does, in all threads; modules are loaded before.
Depth is the largest number of them on one stack. The goals are of jobs whose method public numbers settle;
where a first look decides, as of genotypes of which nobody said how many are expected to be real, what may
follow depends on the look: such a job is printed beside its goal, and not held to it.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_ROOT = str(Path(discreet.__file__).parent)
_TARGETS = {"a CSV file": (30, 10), "PLINK files": (32, 10), "p-values": (20, 10), "with a ledger": (36, 10)}
LOOKED = "PLINK files, a first look"
"""The job that is not held to its goal, that of PLINK files."""
_EXPECTED = 20
_ASKED: dict[str, Any] = {"q": 0.1, "epsilon": 1.0, "delta": 1e-6}


def traced(job: Callable[[], object]) -> tuple[int, int, int]:
    """Return how many files and functions of the package `job` runs through, and how deep it goes."""
    functions: set[tuple[str, str]] = set()
    deepest = 0

    def look(frame: FrameType, event: str, _: object) -> None:
        nonlocal deepest
        if event == "call" and _is_ours(frame):
            functions.add((frame.f_code.co_filename, frame.f_code.co_qualname))
            deepest = max(deepest, _depth(frame))

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len({file for file, _ in functions}), len(functions), deepest


def _is_ours(frame: FrameType) -> bool:
    """Tell functions of the package from others, from modules being loaded, and from comprehensions."""
    return frame.f_code.co_filename.startswith(_ROOT) and not frame.f_code.co_name.startswith("<")


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None and frame.f_code is not traced.__code__:
        depth += _is_ours(frame)
        frame = frame.f_back
    return depth


def jobs(folder: Path) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the jobs that are traced, on invented data written to `folder`."""
    from discreet.lab.cohort import Simulated
    from discreet.privacy.ledger import Ledger

    rng = np.random.default_rng(1)
    people, csv = 2000, folder / "people.csv"
    rows = zip(np.arange(people) % 2, rng.random(people), rng.random(people), strict=True)
    csv.write_text("\n".join(["arm,a,b", *(f"{g},{a:.4f},{b:.4f}" for g, a, b in rows)]) + "\n", "utf-8")
    test = discreet.TwoGroups(group="arm", levels=(0, 1), bounds=(0, 1))
    yield "a CSV file", lambda: discreet.discover(csv, test, **_ASKED)
    bed = Simulated(people=400, variants=300).write(folder / "cohort.bed")
    yield "PLINK files", lambda: discreet.discover(bed, discreet.Allelic(), expect=_EXPECTED, **_ASKED)
    yield LOOKED, lambda: discreet.discover(bed, discreet.Allelic(), **_ASKED)
    p = rng.random(1000)
    yield "p-values", lambda: discreet.private_bh(p, eta=0.01, nu=1e-6, **_ASKED)
    ledger = Ledger(folder / "budget.ledger")
    ledger.create("people", epsilon=3.0, delta=1e-5)
    yield "with a ledger", lambda: discreet.discover(csv, test, ledger=ledger, dataset="people", **_ASKED)


def paths() -> Iterator[tuple[str, tuple[int, int, int], tuple[int, int]]]:
    """Yield each path; its files, functions and depth; how many files, and how deep, it should be at most."""
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        elsewhere = module.name.endswith(("__main__", "sklearn", "sklearn_data"))
        if not elsewhere and not module.name.startswith("discreet.server"):
            importlib.import_module(module.name)
    with tempfile.TemporaryDirectory() as folder:
        for name, job in jobs(Path(folder)):
            yield name, traced(job), _TARGETS["PLINK files" if name == LOOKED else name]


def in_words() -> str:
    """Return the table of the paths, with what each should be at most."""
    rows = [
        [name, f"{files} ({most})", str(functions), f"{depth} ({deepest})"]
        for name, (files, functions, depth), (most, deepest) in paths()
    ]
    return table(["path", "files (at most)", "functions", "depth (at most)"], rows)


if __name__ == "__main__":
    print(in_words())  # noqa: T201
