"""Time and memory in the benchmarks: repeats in one process, so that ratios compare like with like."""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock, and seconds of all processors together."""

    wall: float
    processor: float

    def times(self, factor: float) -> Cost:
        """Return the cost of a job so many times as long."""
        return Cost(self.wall * factor, self.processor * factor)


@contextmanager
def as_installed() -> Generator[dict[str, str]]:
    """Yield an environment in which modules are compiled once, as those of an installed package are."""
    with tempfile.TemporaryDirectory() as cache:
        plain = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        yield {**plain, "PYTHONPYCACHEPREFIX": cache}


def interleaved(jobs: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, Cost]:
    """Return each job's smallest times over rounds in which all jobs take turns.

    What else the machine does in a round then meets all of them, and the smallest time is the one it
    disturbed least. Every other round runs backwards, so that no job always follows the same one.
    """
    least = {name: Cost(float("inf"), float("inf")) for name in jobs}
    order = list(jobs.items())
    for turn in range(repeats):
        for name, job in order if turn % 2 == 0 else reversed(order):
            wall, processor = time.perf_counter(), time.process_time()
            job()
            wall, processor = time.perf_counter() - wall, time.process_time() - processor
            least[name] = Cost(min(wall, least[name].wall), min(processor, least[name].processor))
    return least


def median_seconds(job: Callable[[], object], *, budget: float = 1.0, most: int = 9, least: int = 3) -> float:
    """Return the median seconds of `job` over `least` runs, and more while `budget` seconds last."""
    taken: list[float] = []
    while len(taken) < least or (len(taken) < most and sum(taken) < budget):
        start = time.perf_counter()
        job()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def verdict(met: bool, target: str) -> str:
    """Return the line that says whether a target is met."""
    return f"target {'met' if met else 'NOT MET'}: {target}"


def most_memory() -> float:
    """Return the most bytes this process has held; NaN where the system does not say."""
    status = Path("/proc/self/status")
    if status.exists():  # as Linux counts it: getrusage there includes what the parent held at the fork
        lines = status.read_text(encoding="ascii").splitlines()
        return 1024.0 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
    try:
        resource: Any = import_module("resource")
    except ImportError:  # Windows
        return math.nan
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
