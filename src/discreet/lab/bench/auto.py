"""`discreet bench auto`: the method that is chosen beside each single method, on scores and on tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.api import release
from discreet.evidence.core.evidence import Evidence
from discreet.lab.bench.kinds import N0, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.raw import Cell, rates
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMES = ("auto", "all", "focus", "aware")
_BEHIND = 0.05  # of power, by which the choice may be behind the best of them
_FEWEST, _MOST = 2, 40  # studies of a table
_SMALL, _MORE = 500, 4  # up to so many scores, so many times the studies


@dataclass(frozen=True, slots=True)
class Scored:
    """z scores: how many, how many of them real, their mean there, and how far one person moves each."""

    m: int
    real: int
    mean: float
    sensitivity: float

    def __str__(self) -> str:
        return f"{self.m:,} scores, {self.real:,} real at {self.mean:g}, moved by {self.sensitivity:g}"

    def rates(self, name: str, studies: int) -> tuple[float, float]:
        """Return power and false discovery rate; the same studies for all methods."""
        options: dict[str, Any] = {} if name == "auto" else {"method": name}
        outcomes: list[tuple[float, float]] = []
        for seed in range(studies):
            rng = np.random.default_rng([seed, self.m, self.real])
            z = rng.standard_normal(self.m)
            z[: self.real] += self.mean * sizes(self.real, rng)
            evidence = Evidence.from_z(z, sensitivity=self.sensitivity, adjacency="replace")
            places = release(evidence, q=Q, epsilon=1.0, delta=DELTA, **options).indices
            true = int(np.count_nonzero(places < self.real))
            outcomes.append((true / self.real, (places.size - true) / max(1, places.size)))
        power, fdr = np.mean(outcomes, axis=0).tolist()
        return power, fdr


SCORES = (
    Scored(50, 2, 6, 0.08),
    Scored(50, 25, 6, 0.08),
    Scored(200, 10, 6, 0.05),
    Scored(200, 100, 5, 0.05),
    Scored(500, 5, 6, 0.04),
    Scored(500, 25, 6, 0.04),
    Scored(500, 250, 6, 0.03),
    Scored(2_000, 20, 6, 0.02),
    Scored(2_000, 20, 6, 0.04),
    Scored(2_000, 100, 7, 0.03),
    Scored(2_000, 1_000, 8, 0.02),
    Scored(20_000, 50, 8, 0.02),
    Scored(20_000, 1_000, 10, 0.01),
)
_SHARES = (0.01, 0.05, 0.5)
_UNIFORM = [Cell("uniform", m, share) for m in (30, 100, 500) for share in _SHARES]
_OTHERS = [
    Cell("yes/no .1", 500, 0.05),
    Cell("yes/no .01", 500, 0.05),
    Cell("20% missing", 500, 0.05),
    Cell("narrow", 500, 0.05),
]
LARGE = [Cell("uniform", 5_000, share) for share in _SHARES]
"""Tables of 600 MB to 1.3 GB, minutes each."""
TABLES = [*_UNIFORM, *_OTHERS]


@dataclass(frozen=True, slots=True)
class Row:
    """What each method finds in one setting: power and false discovery rate."""

    setting: str
    studies: int
    found: dict[str, tuple[float, float]]

    @property
    def behind(self) -> tuple[float, str]:
        """How far the choice is behind the best single method, and which that is."""
        best = max(NAMES[1:], key=lambda name: self.found[name][0])
        return self.found[best][0] - self.found["auto"][0], best


def people(cell: Cell) -> int:
    """Return how many people a table has: those with which privacy may cost no power."""
    return round(N0 * (cell.target or 3.0))


def run(
    scores: Sequence[Scored], tables: Sequence[Cell], studies: int, tick: Callable[[int], None]
) -> list[Row]:
    """Return what each method finds; tables stand on about five times as many signals as `studies`."""
    rows: list[Row] = []
    for scored in scores:
        count = studies * (_MORE if scored.m <= _SMALL else 1)
        rows.append(Row(str(scored), count, {name: scored.rates(name, count) for name in NAMES}))
        tick(1)
    for cell in tables:
        count = min(max(_FEWEST, -(-5 * studies // cell.signals)), _MOST)
        outcomes: dict[str, tuple[float, float]] = {}
        for name in NAMES:
            met = rates(cell, "us" if name == "auto" else name, people(cell), count)
            outcomes[name] = met.power, met.fdr
        rows.append(Row(f"{cell}, {people(cell):,} people", count, outcomes))
        tick(1)
    return rows


def in_words(rows: list[Row]) -> str:
    """Return the table, and in which settings the choice is nearly as good as the best method."""
    cells = [
        [row.setting, str(row.studies), *("{:.2f} ({:.3f})".format(*row.found[name]) for name in NAMES)]
        for row in rows
    ]
    title = (
        f"Power (realised FDR) of the method chosen and of each; epsilon = 1, delta = {DELTA:g}, q = {Q:g}"
    )
    lines = [title, "", table(["setting", "studies", *NAMES], cells), ""]
    for row in rows:
        behind, best = row.behind
        lines.append(verdict(behind <= _BEHIND, f"{row.setting}: {behind:+.2f} behind {best}, at most 0.05"))
    worst = max(row.found["auto"][1] for row in rows)
    lines.append(verdict(worst <= Q, f"FDR of the method chosen at most q: {worst:.3f} where it is largest"))
    return "\n".join(lines)
