"""Power and false discoveries of simulated studies whose real hypotheses are known: one study, and means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.lab.bench.moments import Q
from discreet.lab.bench.timing import verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray


def power_and_fdp(discoveries: NDArray[np.int64], real: int) -> tuple[float, float]:
    """Return the share discovered of the `real` hypotheses, which come first, and the false share."""
    true = int(np.count_nonzero(discoveries < real))
    return true / real, (discoveries.size - true) / max(1, discoveries.size)


@dataclass(frozen=True, slots=True)
class Rates:
    """Means over studies: power, false discovery proportion, and the standard error of the latter."""

    power: float
    fdr: float
    error: float

    @classmethod
    def of(cls, studies: Iterable[NDArray[np.int64]], real: int) -> Rates:
        """Return the rates over the discoveries of each study."""
        outcomes: list[tuple[float, float]] = []
        count = 1
        for discoveries in studies:
            outcomes.append(power_and_fdp(discoveries, real))
            count += discoveries.size
        power, fdp = np.array(outcomes).T
        # A few studies may agree by chance: the error is no less than if false discoveries came one by one.
        error = max(fdp.std() / np.sqrt(len(outcomes)), np.sqrt(Q / count))
        return cls(float(power.mean()), float(fdp.mean()), float(error))


def controlled(rates: Iterable[Rates], of: str = "") -> str:
    """Return whether the FDR is at most q everywhere, as far as the studies can tell."""
    worst = max((met.fdr - Q) / met.error for met in rates)
    return verdict(worst <= 4, f"FDR {of}at most q within 4 standard errors everywhere")


@dataclass(frozen=True, slots=True)
class Alarms:
    """Of one way to analyse: shares of nulls below alpha, of false discoveries, of real ones discovered.

    `error` is the standard error of the share of false discoveries.
    """

    setting: str
    way: str
    null: float
    fdr: float
    power: float
    error: float = 0.0

    def in_words(self, alpha: float, widths: tuple[int, int]) -> str:
        """Return a line of a table, its first two columns of these widths."""
        figures = f"null {self.null / alpha:6.2f} alpha   FDR {self.fdr:.3f}   power {self.power:.2f}"
        return f"{self.setting:{widths[0]}} {self.way:{widths[1]}} {figures}"


def mean_alarms(setting: str, seen: dict[str, list[tuple[float, float, float]]]) -> Iterator[Alarms]:
    """Yield the means over studies of each way."""
    for way, parts in seen.items():
        null, fdr, power = np.mean(parts, axis=0).tolist()
        error = float(np.std(parts, axis=0)[1] / np.sqrt(len(parts)))
        yield Alarms(setting, way, null, fdr, power, error)


def few_alarms(rows: Sequence[Alarms], alpha: float, most: float, nulls: int) -> str:
    """Return whether at most `most` alpha of so many nulls are below alpha, but for three standard errors."""
    error = 3 * np.sqrt(alpha / nulls)
    return verdict(
        max(row.null for row in rows) <= most * alpha + error, f"false alarms at most {most:g} alpha"
    )
