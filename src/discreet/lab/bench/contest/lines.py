"""A rival in one line: its published figure, what its definition gives here, ours, and who wins."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


NONE = "gives none"
"""Of who has no interval."""


@dataclass(frozen=True, slots=True)
class Line:
    """A rival in one of its settings; figures are accuracies or powers, the more the better.

    `theirs` is the rival here, `ours` our studies; `note` is said in place of a verdict.
    """

    rival: str
    setting: str
    published: str
    theirs: NDArray[np.float64] | float | None = None
    ours: NDArray[np.float64] | None = None
    note: str = ""

    def verdict(self) -> str:
        """Return who is ahead by more than two standard errors of the difference."""
        if self.note or self.ours is None or self.theirs is None:
            return self.note
        rival, ours = np.atleast_1d(np.asarray(self.theirs)), self.ours
        gap = float(np.nanmean(ours) - np.nanmean(rival))
        error = float(np.hypot(error_of(rival), error_of(ours)))
        if abs(gap) <= 2.0 * error:
            return "level"
        return "ours ahead" if gap > 0 else "RIVAL AHEAD"


def summary(lines: Sequence[Line]) -> str:
    """Return all lines as one table."""
    header = ["rival", "setting", "published", "here (se)", "ours (se)", "verdict"]
    rows = [
        [
            line.rival,
            line.setting,
            line.published,
            "-" if line.theirs is None else cell(np.atleast_1d(np.asarray(line.theirs))),
            "-" if line.ours is None else cell(line.ours),
            line.verdict(),
        ]
        for line in lines
    ]
    words = "Every rival; ahead means by more than two standard errors of the difference, in this run:"
    return f"{words}\n\n{table(header, rows)}"


def error_of(values: NDArray[np.float64]) -> float:
    """Return the standard error of a mean; 0 of a single figure, which has a formula behind it."""
    known = values[~np.isnan(values)]
    return float(known.std(ddof=1)) / known.size**0.5 if known.size > 1 else 0.0


def cell(values: NDArray[np.float64]) -> str:
    """Return a mean with its standard error; - where nothing was measured."""
    known = values[~np.isnan(values)]
    if not known.size:
        return "-"
    return f"{known.mean():.3f} ({error_of(known):.3f})" if known.size > 1 else f"{known.mean():.3f}"


def cost(job: Callable[[], object]) -> list[str]:
    """Return the milliseconds of processor time of one call, and its memory: of another, as that slows it."""
    start = time.process_time()
    job()
    return [f"{1e3 * (time.process_time() - start):.1f}", peak(job)]


def peak(job: Callable[[], object]) -> str:
    """Return the most memory that one call asks for, in MiB; what a package in Rust holds is not seen."""
    tracemalloc.start()
    job()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"{most / 2**20:.1f}"
