"""`discreet bench topk`, its second table: the defaults on 10,000 scores, whatever the signals are.

How long the joint choice takes depends on the scores, so these are medians over draws, not smallest times.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table
from discreet.selection.noisy_min import noisy_min
from discreet.selection.top_k import top_k

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

SIZE, COUNTS, TURNS, TARGET = 10_000, (1, 2, 5, 10, 24), 200, 10.0
SIGNALS = {"none": 0.0, "weak": 0.25, "middling": 0.5, "strong": 3.0}
"""How far k signals are raised, in units of log(m) times the noise scale of choices one after another."""
_DEVIATION = 10.0  # of all scores, in spreads


@dataclass(frozen=True, slots=True)
class Row:
    """Median times over that of the floor: top_k without and with delta, and noisy_min where k is 1."""

    signals: str
    k: int
    pure: float
    approximate: float
    least: float | None


def run(turns: int = TURNS, seed: int = 1) -> Iterator[Row]:
    """Time the defaults on whole numbers, as counts are; epsilon 1, sensitivity 1."""
    rng = np.random.default_rng(seed)
    for name, height in SIGNALS.items():
        for k in COUNTS:
            x = rng.standard_normal(SIZE) * 2.0 * _DEVIATION
            x[rng.choice(SIZE, k, replace=False)] += height * 2.0 * k * np.log(SIZE)
            yield _row(name, k, np.round(x), turns)


def _row(signals: str, k: int, x: NDArray[np.float64], turns: int) -> Row:
    jobs: dict[str, Callable[[], object]] = {
        "floor": lambda: np.argpartition(x, SIZE - k)[SIZE - k :],
        "pure": lambda: top_k(x, k, sensitivity=1, epsilon=1, largest=True),
        "approximate": lambda: top_k(x, k, sensitivity=1, epsilon=1, delta=1e-6, largest=True),
    }
    if k == 1:
        jobs["least"] = lambda: noisy_min(x, sensitivity=1, epsilon=1)
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(turns):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            taken[name].append(time.perf_counter() - start)
    median = {name: statistics.median(times) for name, times in taken.items()}
    ratio = {name: seconds / median["floor"] for name, seconds in median.items()}
    return Row(signals, k, ratio["pure"], ratio["approximate"], ratio.get("least"))


def in_words(rows: Sequence[Row]) -> str:
    """Return the table and whether the target is met."""
    body = [
        [
            r.signals,
            f"{r.k}",
            f"{r.pure:.1f}x",
            f"{r.approximate:.1f}x",
            f"{r.least:.1f}x" if r.least else "-",
        ]
        for r in rows
    ]
    worst = max(max(r.pure, r.approximate, r.least or 0.0) for r in rows)
    lines = [
        f"The defaults on {SIZE:,} whole numbers of deviation {_DEVIATION:g} spreads, epsilon 1, over",
        "np.argpartition; medians, because how long the joint choice takes depends on what is drawn:",
        "",
        table(["signals", "k", "top_k, delta 0", "top_k, delta 1e-6", "noisy_min"], body),
        "",
        verdict(worst <= TARGET, f"defaults at m = 10,000 at most 10x the floor ({worst:.1f}x)"),
    ]
    return "\n".join(lines)
