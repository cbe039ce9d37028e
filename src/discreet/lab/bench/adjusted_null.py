"""`discreet bench adjusted --null`: releases in which nothing is real but what covariates explain.

The mean of every column is linear in the covariates, of which they explain up to 99%. What columns are
compared with, groups or a partner, follows the covariates too, and not as a line where that is said: a
regression by least squares is valid in all of these settings, and is printed beside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from discreet.classical.step_up import adaptive_bh
from discreet.lab.bench.adjusted import ALPHA, MOST, Q, Study
from discreet.lab.bench.timing import verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_EXPLAINED = (0.5, 0.8, 0.95, 0.99)
_WAYS = ("adjusted", "OLS")


def _logistic(odds: float) -> Callable[[Floats, np.random.Generator], Floats]:
    """Return a rule by which a yes follows a line with log odds, `odds` at its mean."""
    return lambda line, rng: (rng.random(line.size) < 1 / (1 + np.exp(-odds - 1.5 * line))).astype(float)


def _steps(line: Floats, rng: np.random.Generator) -> Floats:
    return (rng.random(line.size) < np.where(line > 0.5, 0.8, 0.2)).astype(float)


def _number(line: Floats, rng: np.random.Generator) -> Floats:
    return 1.5 * line + rng.normal(size=line.size)


def _bent(line: Floats, rng: np.random.Generator) -> Floats:
    return line**3 / 3 + line + rng.normal(size=line.size)


Kind = Literal["groups", "groups public", "partner"]
_LABELS: dict[str, tuple[Kind, Callable[[Floats, np.random.Generator], Floats]]] = {
    "groups": ("groups", _logistic(0.0)),
    "groups, rare": ("groups", _logistic(-3.5)),
    "groups, in steps": ("groups", _steps),
    "public groups, in steps": ("groups public", _steps),
    "yes/no partner": ("partner", _logistic(0.0)),
    "yes/no partner, rare": ("partner", _logistic(-3.5)),
    "yes/no partner, in steps": ("partner", _steps),
    "a number": ("partner", _number),
    "a number, bent": ("partner", _bent),
}
_HARD = ("groups, in steps", "public groups, in steps", "yes/no partner", "a number, bent")


@dataclass(frozen=True, slots=True)
class Setting:
    """What columns are compared with, and how covariates and columns are made.

    `explained` is the share of each column's variance that covariates explain; in turn, where there are
    several.
    """

    label: str
    people: int
    columns: int
    explained: tuple[float, ...] = (0.95,)
    covariates: int = 2
    law: str = "normal"

    @property
    def name(self) -> str:
        """What it is called in a table."""
        shares = " ".join(f"{share:g}" for share in self.explained)
        law = "" if self.law == "normal" else f", {self.law}"
        return f"{self.label}, R2 {shares}, {self.people:,} x {self.columns}, p {self.covariates}{law}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one way: the share of releases with any discovery, and the share of p-values up to alpha."""

    setting: Setting
    way: str
    any: float
    null: float


def settings(people: int, columns: int) -> Iterator[Setting]:
    """Yield the settings: all labels, and the hard ones where people are few, columns many, laws unkind."""
    for label in _LABELS:
        for share in _EXPLAINED:
            yield Setting(label, people, columns, (share,))
    for label in _HARD:
        usual = Setting(label, people, columns)
        few = max(people // 3, 20)
        yield replace(usual, people=few, explained=(0.99,))
        yield replace(usual, people=few, columns=5 * columns)
        yield replace(usual, people=5 * people)
        yield replace(usual, explained=(0.0, 0.5, 0.9, 0.99))
        yield replace(usual, covariates=10)
        for law in ("heavy tails", "lognormal", "collinear", "some missing", "bounds 25 times too wide"):
            yield replace(usual, covariates=3, law=law)


def study(setting: Setting, rng: np.random.Generator) -> Study:
    """Return one study of this setting."""
    n, p = setting.people, setting.covariates
    end, z = 4.0, rng.normal(size=(n, p))
    if setting.law == "heavy tails":
        end, z = 30.0, rng.standard_t(3, size=(n, p))
    elif setting.law == "lognormal":
        end, z = 60.0, rng.lognormal(size=(n, p))
    elif setting.law == "collinear":
        z = z[:, :1] + 0.05 * z
    elif setting.law == "bounds 25 times too wide":
        end = 100.0
    z = np.clip(z, -end, end)
    line = z.sum(axis=1)
    line = (line - line.mean()) / line.std()
    if setting.law == "some missing":
        z[rng.random(z.shape) < 0.03] = np.nan
    explained = np.resize(setting.explained, setting.columns)
    own = rng.normal(size=(n, setting.columns))
    values = np.sqrt(explained) * line[:, None] + np.sqrt(1 - explained) * own
    return Study(values, z, _LABELS[setting.label][1](line, rng), (-end, end))


def run(people: int, columns: int, releases: int, epsilon: float = 1.0, seed: int = 1) -> list[Outcome]:
    """Return the outcomes of so many releases of each setting."""
    rows: list[Outcome] = []
    for place, setting in enumerate(settings(people, columns)):
        seen: dict[str, list[Floats]] = {way: [] for way in _WAYS}
        kind = _LABELS[setting.label][0]
        for number in range(releases):
            made = study(setting, np.random.default_rng([seed, 2, place, number]))
            if kind == "partner":
                p = made.correlated(epsilon)
            else:
                p = made.p_values(epsilon, "columns" if kind == "groups public" else "everything")
            for way, values in zip(_WAYS, (p, made.by_ols()), strict=True):
                seen[way].append(values)
        for way, each in seen.items():
            some = float(np.mean([adaptive_bh(values, Q).size > 0 for values in each]))
            rows.append(Outcome(setting, way, some, float(np.mean(np.stack(each) <= ALPHA))))
    return rows


def in_words(rows: list[Outcome], releases: int) -> str:
    """Return the table, and whether releases have discoveries more often than they may."""
    lines = [f"{releases} releases of each setting, nothing real; any discovery at q = {Q:g}"]
    ours, theirs = ([row for row in rows if row.way == way] for way in _WAYS)
    for own, other in zip(ours, theirs, strict=True):
        figures = (f"any {row.any:.2f}, null {row.null / ALPHA:.1f} alpha" for row in (own, other))
        lines.append(f"{own.setting.name:62} {'   OLS '.join(figures)}")
    means = [float(np.mean([row.null for row in some])) / ALPHA for some in (ours, theirs)]
    lines.append(f"null over all settings: {means[0]:.2f} alpha, OLS {means[1]:.2f} alpha")
    most = Q + 3 * np.sqrt(Q * (1 - Q) / releases)
    met = max(row.any for row in ours) <= most
    lines.append(verdict(met, f"any discovery in at most {Q:g} of the releases within 3 standard errors"))
    return "\n".join([*lines, verdict(means[0] <= MOST, f"false alarms at most {MOST:g} alpha in all")])
