"""The one stopwatch of the benchmarks: a median over repeats in one process."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


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
