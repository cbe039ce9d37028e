"""`discreet bench auto`: the method that is chosen beside each single method, on scores and on tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from discreet.api import release
from discreet.evidence.core.evidence import Evidence
from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.kinds import KINDS, N0, simulate, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import power_and_fdp
from discreet.lab.bench.raw import LABELS, Cell, rates
from discreet.lab.bench.timing import verdict
from discreet.privacy.curves import gaussian_budget
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NAMES = ("auto", "all", "focus", "aware")
_BEHIND = 0.05  # of power, by which the choice may be behind the best of them
_FEWEST, _MOST = 2, 40  # studies of a table
_SMALL, _MORE = 500, 4  # up to so many scores, so many times the studies
_SIGNALS = 20  # in a study of a random setting, or more studies are taken
_ENTRIES = 4_000_000  # of a table drawn at random, at most

Outcome = tuple[float, float]
"""Power and false discovery proportion of one study."""


@dataclass(frozen=True, slots=True)
class Scored:
    """z scores: how many, how many of them real, their mean there, and how far one person moves each."""

    m: int
    real: int
    mean: float
    sensitivity: float

    def __str__(self) -> str:
        return f"{self.m:,} scores, {self.real:,} real at {self.mean:g}, moved by {self.sensitivity:g}"

    def outcomes(self, name: str, studies: int) -> list[Outcome]:
        """Return power and false discovery proportion of each study; the same studies for all methods."""
        options: dict[str, Any] = {} if name == "auto" else {"method": name}
        outcomes: list[Outcome] = []
        for seed in range(studies):
            rng = np.random.default_rng([seed, self.m, self.real])
            z = rng.standard_normal(self.m)
            z[: self.real] += self.mean * sizes(self.real, rng)
            evidence = Evidence.from_z(z, sensitivity=self.sensitivity, adjacency="replace")
            places = release(evidence, q=Q, epsilon=1.0, delta=DELTA, **options).indices
            outcomes.append(power_and_fdp(places, self.real))
        return outcomes


@dataclass(frozen=True, slots=True)
class Drawn:
    """A random table: what columns are like, how many, how many real, their mean z, people, and budget."""

    kind: str
    m: int
    real: int
    mean: float
    people: int
    labels: str
    epsilon: float

    def __str__(self) -> str:
        about = f"{self.m:,} columns, {self.kind}, {self.real:,} real at {self.mean:.1f}"
        return f"{about}, {self.people:,} people, {self.labels} labels, epsilon {self.epsilon:g}"

    def outcomes(self, name: str, studies: int) -> list[Outcome]:
        """Return power and false discovery proportion of each study; the same studies for all methods."""
        outcomes: list[Outcome] = []
        kind = KINDS[self.kind]
        for seed in range(studies):
            rng = np.random.default_rng([seed, self.m, self.real, self.people])
            shift = self.mean / np.sqrt(kind.information(self.people)) * sizes(self.real, rng)
            study = simulate(kind, self.people, self.m, shift, LABELS[self.labels], rng)
            places = CONTENDERS["us" if name == "auto" else name](study, self.epsilon, rng)
            outcomes.append(power_and_fdp(places, self.real))
        return outcomes


def at_random(count: int, seed: int) -> tuple[list[Scored], list[Drawn]]:
    """Return settings drawn at random, scores and tables: nothing in the library was chosen on them.

    Sizes, shares of signals and budgets are drawn evenly on the scale of logarithms; signals are from barely
    to easily found with about the noise that selecting them would leave.
    """
    rng = np.random.default_rng(seed)
    scores: list[Scored] = []
    tables: list[Drawn] = []

    def between(low: float, high: float) -> float:
        return low * (high / low) ** float(rng.random())

    def strength(m: int, real: int, noise: float) -> float:
        """Return a mean z: so many times the least that BH reports, under the noise of twice as many."""
        least = -float(ndtri(Q * real / (2 * m))) + 1
        return round(between(1.0, 1.8) * least * float(np.sqrt(1 + noise * min(1.0, 2 * real / m))), 1)

    for _ in range(count):
        m = round(between(40, 5_000))
        real = max(1, round(between(0.004, 0.5) * m))
        moved = round(between(0.01, 0.1), 3)
        noise = moved**2 * m / (2 * gaussian_budget(1.0, DELTA))
        scores.append(Scored(m, real, strength(m, real, noise), moved))
        m = round(between(40, 1_500))
        real = max(1, round(between(0.004, 0.5) * m))
        people = round(between(1_000, min(20_000, _ENTRIES / m)))
        epsilon = round(between(0.5, 3), 1)
        noise = 4 * m / (people * 2 * gaussian_budget(epsilon, DELTA))
        kind, labels = (str(rng.choice(names)) for names in (list(KINDS), list(LABELS)))
        tables.append(Drawn(kind, m, real, strength(m, real, 2 * noise), people, labels, epsilon))
    return scores, tables


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
    """What each method finds in one setting: power and false discovery rate.

    `error` is the standard error of how far the choice is behind each method, where that is known.
    """

    setting: str
    studies: int
    found: dict[str, tuple[float, float]]
    error: dict[str, float]

    @property
    def behind(self) -> tuple[float, str]:
        """How far the choice is behind the best single method, and which that is."""
        best = max(NAMES[1:], key=lambda name: self.found[name][0])
        return self.found[best][0] - self.found["auto"][0], best


def people(cell: Cell) -> int:
    """Return how many people a table has: those with which privacy may cost no power."""
    return round(N0 * (cell.target or 3.0))


def run(
    scores: Sequence[Scored | Drawn], tables: Sequence[Cell], studies: int, tick: Callable[[int], None]
) -> list[Row]:
    """Return what each method finds; cells stand on about five times as many signals as `studies`."""
    rows: list[Row] = []
    for setting in scores:
        more = _MORE if setting.m <= _SMALL else 1
        count = studies * more if isinstance(setting, Scored) else _enough(setting, studies)
        each = {name: np.array(setting.outcomes(name, count)) for name in NAMES}
        found = {name: (float(met[:, 0].mean()), float(met[:, 1].mean())) for name, met in each.items()}
        behind = {name: (met - each["auto"])[:, 0].std(ddof=1) / np.sqrt(count) for name, met in each.items()}
        rows.append(Row(str(setting), count, found, {name: float(error) for name, error in behind.items()}))
        tick(1)
    for cell in tables:
        count = min(max(_FEWEST, -(-5 * studies // cell.signals)), _MOST)
        outcomes: dict[str, tuple[float, float]] = {}
        for name in NAMES:
            met = rates(cell, "us" if name == "auto" else name, people(cell), count)
            outcomes[name] = met.power, met.fdr
        rows.append(Row(f"{cell}, {people(cell):,} people", count, outcomes, {}))
        tick(1)
    return rows


def _enough(setting: Drawn, studies: int) -> int:
    """Return how many studies of a table make up for how few of its columns are real."""
    return min(max(studies, _SIGNALS * studies // setting.real), _MORE * studies)


def in_words(rows: list[Row]) -> str:
    """Return the table, and in which settings the choice is nearly as good as the best method."""
    cells = [
        [row.setting, str(row.studies), *("{:.2f} ({:.3f})".format(*row.found[name]) for name in NAMES)]
        for row in rows
    ]
    title = (
        "Power (realised FDR) of the method chosen and of each; epsilon = 1 unless it is given, "
        f"delta = {DELTA:g}, q = {Q:g}"
    )
    lines = [title, "", table(["setting", "studies", *NAMES], cells), ""]
    for row in rows:
        behind, best = row.behind
        error = f" (error {row.error[best]:.3f})" if best in row.error else ""
        words = f"{row.setting}: {behind:+.2f}{error} behind {best}, at most 0.05"
        lines.append(verdict(behind <= _BEHIND, words))
    worst = max(row.found["auto"][1] for row in rows)
    lines.append(verdict(worst <= Q, f"FDR of the method chosen at most q: {worst:.3f} where it is largest"))
    return "\n".join(lines)
