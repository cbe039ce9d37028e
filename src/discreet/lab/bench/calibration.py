"""`discreet bench plan`: what the planner predicts beside what releases find.

Half of the thirty settings have normal numbers and answers, as the planner assumes. The others are as data
are: the planner is given that numbers are skewed, counts or heavy in the tails, as a user could say it, but
each column has a law of its own. Columns are independent, which the planner is told where they are normal or
answers. Of the others it is told nothing, and takes any two to be weakly correlated, whether they are
independent or half of their variance is common to all of them. To these come wide tables, and tables that are
not the planner's own (`lifelike`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from discreet.evidence.compare import Compare
from discreet.lab.bench.contenders import ours
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import power_and_fdp
from discreet.lab.bench.timing import verdict
from discreet.planner import plan
from discreet.planner.cohort import Cohort
from discreet.planner.column import Column
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.lab.bench import lifelike
    from discreet.typing import Shape

_MORE = {10: 6, 20: 2}  # where fewer columns differ, power varies more: so many times as often
_LARGE, _LESS = 4_000_000, 2  # tables of more entries have many columns that differ, and take their time
_WITHIN = 0.10  # of the power that is predicted


@dataclass(frozen=True, slots=True)
class Setting:
    """People, columns, what really differs and by how much, and how the columns look."""

    n: int
    m: int
    effect: float
    signals: int
    shape: str = "normal"
    missing: float = 0.0
    share: float = 0.5
    rate: float | None = None
    epsilon: float = 1.0
    centre: float | None = None

    def __str__(self) -> str:
        parts = [f"n = {self.n:,}", f"m = {self.m:,}", f"{self.signals:,} of {self.effect:g}", self.shape]
        parts += [f"{self.missing:.0%} missing"] if self.missing else []
        parts += [f"{self.share:g} in the second group"] if self.share != 0.5 else []
        parts += [f"rate {self.rate:g}"] if self.rate is not None else []
        parts += [f"mean {self.centre:g} sd"] if self.centre is not None else []
        parts += [f"epsilon = {self.epsilon:g}"] if self.epsilon != 1 else []
        return ", ".join(parts)

    @property
    def answers(self) -> bool:
        """Whether the columns are yes/no answers."""
        return self.shape == "yes/no"

    def invented(self, rng: np.random.Generator) -> People:
        """Return a table whose first columns differ by the effect, in standard deviations of the column."""
        return invented(self, rng)

    def stated(self) -> dict[str, Any]:
        """Return what the planner is given."""
        answers = {f"c{column}": ["yes"] for column in range(self.m)} if self.answers else None
        return {
            "m": None if answers else self.m,
            "signals": self.signals,
            "columns": answers,
            "missing": self.missing or None,
            "share": self.share,
            "rate": self.rate,
            "shape": self.stated_shape,
            "centre": self.centre,
            "correlation": 0.0 if self.shape in {"normal", "yes/no"} else None,
        }

    @property
    def stated_shape(self) -> Shape | None:
        """What the planner is given of the numbers, as a user could: their shape by name."""
        if self.answers:
            return None
        return "normal" if self.shape == "correlated" else cast("Shape", self.shape)


SETTINGS = (
    Setting(500, 10, 0.6, 5),
    Setting(1_000, 20, 0.5, 5),
    Setting(2_000, 30, 0.22, 10),
    Setting(5_000, 100, 0.15, 20),
    Setting(5_000, 100, 0.13, 20, centre=0.0),
    Setting(10_000, 200, 0.085, 20),
    Setting(30_000, 300, 0.042, 30),
    Setting(20_000, 50, 0.05, 10, epsilon=0.5),
    Setting(20_000, 50, 0.04, 10, epsilon=3.0),
    Setting(5_000, 50, 0.13, 10, missing=0.2),
    Setting(5_000, 50, 0.21, 10, share=0.2),
    Setting(2_000, 30, 0.15, 10, "yes/no"),
    Setting(5_000, 50, 0.11, 10, "yes/no", rate=0.1),
    Setting(20_000, 50, 0.05, 10, "yes/no", rate=0.02),
    Setting(5_000, 50, 0.12, 10, "yes/no", missing=0.2),
    Setting(2_000, 30, 0.13, 10, "skewed"),
    Setting(5_000, 100, 0.08, 20, "skewed"),
    Setting(60_000, 50, 0.015, 10, "skewed"),
    Setting(2_000, 30, 0.25, 10, "counts"),
    Setting(5_000, 100, 0.14, 20, "counts"),
    Setting(20_000, 50, 0.045, 10, "counts"),
    Setting(2_000, 30, 0.22, 10, "uniform"),
    Setting(5_000, 100, 0.14, 20, "uniform"),
    Setting(5_000, 50, 0.1, 10, "skewed", missing=0.2),
    Setting(5_000, 50, 0.2, 10, "counts", share=0.2),
    Setting(2_000, 30, 0.22, 10, "correlated"),
    Setting(5_000, 100, 0.15, 20, "correlated"),
    Setting(20_000, 50, 0.045, 10, "correlated"),
    Setting(5_000, 100, 0.12, 20, "heavy-tailed"),
    Setting(20_000, 50, 0.04, 10, "heavy-tailed"),
)
"""Fifteen as the planner assumes, fifteen whose columns differ from one another, or hang together."""
WIDE = (
    Setting(3_000, 2_000, 0.4, 100),
    Setting(20_000, 1_000, 0.08, 100, "correlated"),
    Setting(20_000, 1_000, 0.08, 100),
    Setting(8_000, 3_000, 0.25, 150, "skewed"),
)
"""Tables of very many columns, which the planner stands for by smaller ones; one of them with and without the
correlation that the planner does not know of."""


@dataclass(frozen=True, slots=True)
class Result:
    """The power that was predicted and the power that releases had, with its standard error."""

    setting: Setting | lifelike.Setting
    predicted: float
    realised: float
    error: float

    @property
    def off(self) -> float:
        """By how much releases found more than was predicted."""
        return self.realised - self.predicted


def invented(setting: Setting, rng: np.random.Generator) -> People:
    """Return a table whose first columns differ by the effect, in standard deviations of the column."""
    column = Column(
        answers=setting.answers, missing=setting.missing, rate=setting.rate, centre=setting.centre
    )
    cohort = Cohort(Compare(group="group"), (column,) * setting.m, setting.share, together=0.0)
    effects = np.zeros(setting.m)
    effects[: setting.signals] = setting.effect * np.where(np.arange(setting.signals) % 2, -1.0, 1.0)
    people = cohort.people(setting.n, effects, rng)
    if setting.answers or setting.shape == "normal":
        return people
    shift = np.where((people.group == 1)[:, None], effects, 0.0)
    values = _shaped(setting.shape, shift, rng)
    if setting.shape != "counts":  # everything else is measured, each column in units of its own
        values = values * np.exp(rng.normal(0.0, np.log(10.0), setting.m))
    return replace(people, values=np.where(np.isnan(people.values), np.nan, values))


def _shaped(shape: str, shift: NDArray[np.float64], rng: np.random.Generator) -> NDArray[Any]:
    """Return columns of deviation 1 and means `shift`, shape (n, m), of many laws that have this name."""
    m = int(shift.shape[1])
    away: NDArray[Any] = rng.uniform(2.0, 6.0, m)  # from 0, where it is open
    if shape == "skewed":
        spread: NDArray[Any] = rng.uniform(0.6, 1.0, m)  # of the logarithms
        sd = np.exp(spread**2 / 2) * np.sqrt(np.expm1(spread**2))
        return rng.lognormal(0.0, spread, shift.shape) / sd + shift
    if shape == "counts":
        mean: NDArray[Any] = rng.uniform(1.0, 4.0, m)
        return rng.poisson(np.maximum(mean + np.sqrt(mean) * shift, 0.0)) / np.sqrt(mean)
    if shape == "correlated":  # a half of the variance is common to all columns
        common = rng.standard_normal((len(shift), 1))
        return np.sqrt(0.5) * (rng.standard_normal(shift.shape) + common) + shift + away
    if shape == "heavy-tailed":
        freedom: NDArray[Any] = rng.uniform(3.0, 6.0, m)
        return rng.standard_t(freedom, shift.shape) / np.sqrt(freedom / (freedom - 2)) + shift + away
    return rng.uniform(-np.sqrt(3.0), np.sqrt(3.0), shift.shape) + shift + away


def run(
    settings: Sequence[Setting | lifelike.Setting],
    releases: int,
    tick: Callable[[int], None],
    seed: int = 0,
    kept: Path | None = None,
) -> list[Result]:
    """Return the prediction of each setting beside what releases of the default find.

    With `kept`, a file that need not exist, results are written there as they come, and those that an earlier
    run left there are read: a long run may stop and go on.
    """
    results: list[Result] = []
    before: dict[str, tuple[float, float, float]] = (
        {} if kept is None or not kept.exists() else json.loads(kept.read_text("utf-8"))
    )
    for place, setting in enumerate(settings):
        name = f"{setting} ({releases} releases, seed {seed})"
        if name in before:
            results.append(Result(setting, *before[name]))
            tick(1)
            continue
        entries = setting.n * setting.m
        each = releases * next((more for few, more in _MORE.items() if setting.signals < few), 1)
        each = max(2, each // _LESS) if entries > _LARGE else each
        planned = plan(
            setting.n,
            effects=setting.effect,
            epsilon=setting.epsilon,
            delta=DELTA,
            q=Q,
            methods=["auto"],
            quick=True,
            repetitions=each,
            **setting.stated(),
        )
        powers: list[float] = []
        for release in range(each):
            people = setting.invented(np.random.default_rng([seed, place, release]))
            discoveries = ours(people, setting.epsilon)
            powers.append(power_and_fdp(discoveries, setting.signals)[0])
        error = float(np.std(powers, ddof=1) / np.sqrt(each))
        results.append(Result(setting, planned["auto"].power, float(np.mean(powers)), error))
        if kept is not None:
            before[name] = results[-1].predicted, results[-1].realised, error
            kept.write_text(json.dumps(before, indent=1), "utf-8")
        tick(1)
    return results


def in_words(results: Sequence[Result], releases: int) -> str:
    """Return the predictions beside the outcomes, and which are within ten points."""
    rows = [
        [
            str(each.setting),
            f"{each.predicted:.2f}",
            f"{each.realised:.2f} ({each.error:.2f})",
            f"{each.off:+.2f}",
        ]
        for each in results
    ]
    often = ", ".join(f"{more} times as many of both where fewer than {few}" for few, more in _MORE.items())
    head = (
        f"Power predicted by the planner from {releases} invented studies, and of {releases} releases "
        f"(standard error);\n{often} columns differ, "
        f"1/{_LESS} of them for tables of more than {_LARGE:,} entries."
    )
    within = [abs(each.off) <= _WITHIN for each in results]
    said = verdict(all(within), f"{sum(within)} of {len(within)} settings within {100 * _WITHIN:.0f} points")
    return f"{head}\n\n{table(['setting', 'predicted', 'realised', 'off'], rows)}\n\n{said}"
