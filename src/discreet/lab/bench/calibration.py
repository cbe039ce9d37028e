"""`discreet bench plan`: what the planner predicts beside what releases find, in thirty settings.

Half of the settings are as the planner assumes: normal numbers and answers, independent columns. The others
are as data are: skewed, counted, correlated, heavy in the tails; the planner knows nothing of that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from discreet.evidence.compare import Compare
from discreet.lab.bench.contenders import ours
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.timing import verdict
from discreet.planner import plan
from discreet.planner.people import Cohort
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People

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

    def __str__(self) -> str:
        parts = [f"n = {self.n:,}", f"m = {self.m:,}", f"{self.signals:,} of {self.effect:g}", self.shape]
        parts += [f"{self.missing:.0%} missing"] if self.missing else []
        parts += [f"{self.share:g} in the second group"] if self.share != 0.5 else []
        parts += [f"rate {self.rate:g}"] if self.rate is not None else []
        parts += [f"epsilon = {self.epsilon:g}"] if self.epsilon != 1 else []
        return ", ".join(parts)

    @property
    def answers(self) -> bool:
        """Whether the columns are yes/no answers."""
        return self.shape == "yes/no"


SETTINGS = (
    Setting(500, 10, 0.4, 5),
    Setting(1_000, 20, 0.4, 5),
    Setting(2_000, 30, 0.2, 10),
    Setting(5_000, 100, 0.15, 20),
    Setting(5_000, 100, 0.12, 20),
    Setting(10_000, 200, 0.1, 20),
    Setting(20_000, 50, 0.05, 10),
    Setting(20_000, 50, 0.06, 10, epsilon=0.5),
    Setting(20_000, 50, 0.035, 10, epsilon=3.0),
    Setting(5_000, 50, 0.16, 10, missing=0.2),
    Setting(5_000, 50, 0.2, 10, share=0.2),
    Setting(2_000, 30, 0.15, 10, "yes/no"),
    Setting(5_000, 50, 0.11, 10, "yes/no", rate=0.1),
    Setting(20_000, 50, 0.05, 10, "yes/no", rate=0.02),
    Setting(5_000, 50, 0.12, 10, "yes/no", missing=0.2),
    Setting(2_000, 30, 0.2, 10, "skewed"),
    Setting(5_000, 100, 0.13, 20, "skewed"),
    Setting(20_000, 50, 0.05, 10, "skewed"),
    Setting(2_000, 30, 0.2, 10, "counts"),
    Setting(5_000, 100, 0.13, 20, "counts"),
    Setting(20_000, 50, 0.05, 10, "counts"),
    Setting(2_000, 30, 0.2, 10, "uniform"),
    Setting(5_000, 100, 0.13, 20, "uniform"),
    Setting(5_000, 50, 0.15, 10, "skewed", missing=0.2),
    Setting(5_000, 50, 0.2, 10, "counts", share=0.2),
    Setting(2_000, 30, 0.2, 10, "correlated"),
    Setting(5_000, 100, 0.13, 20, "correlated"),
    Setting(20_000, 50, 0.05, 10, "correlated"),
    Setting(5_000, 100, 0.13, 20, "heavy tails"),
    Setting(20_000, 50, 0.05, 10, "heavy tails"),
)
"""Fifteen as the planner assumes, fifteen that look otherwise."""


@dataclass(frozen=True, slots=True)
class Result:
    """The power that was predicted and the power that releases had, each with its standard error."""

    setting: Setting
    predicted: float
    realised: float
    error: float

    @property
    def off(self) -> float:
        """By how much releases found more than was predicted."""
        return self.realised - self.predicted


def invented(setting: Setting, rng: np.random.Generator) -> People:
    """Return a table whose first columns differ by the effect, in standard deviations of the column."""
    kinds = ((1,) * setting.m, (setting.answers,) * setting.m)
    cohort = Cohort(Compare(group="group"), *kinds, setting.share, None, setting.missing, setting.rate)
    effects = np.zeros(setting.m)
    effects[: setting.signals] = setting.effect * np.where(np.arange(setting.signals) % 2, -1.0, 1.0)
    if setting.answers or setting.shape == "normal":
        return cohort.people(setting.n, effects, rng)
    people = cohort.people(setting.n, np.zeros(setting.m), rng)
    second = (people.group == 1)[:, None]
    return replace(people, values=_shaped(setting.shape, people.values, rng) + effects * second)


def _shaped(shape: str, z: NDArray[np.floating], rng: np.random.Generator) -> NDArray[np.floating]:
    """Return columns of deviation 1 that look as named, from normal ones."""
    if shape == "skewed":
        return np.exp(0.8 * z) / np.sqrt(np.exp(0.64) * (np.exp(0.64) - 1))
    if shape == "counts":
        return np.floor(np.maximum(2 + 1.5 * z, 0)) / 1.4
    if shape == "correlated":
        common = rng.standard_normal((len(z), 1))
        return np.sqrt(0.5) * z + np.sqrt(0.5) * common
    if shape == "heavy tails":
        return z / np.sqrt(rng.chisquare(4, z.shape) / 4) / np.sqrt(2)
    return (rng.random(z.shape) - 0.5) * np.sqrt(12) + 0 * z


def run(
    settings: Sequence[Setting], releases: int, tick: Callable[[int], None], seed: int = 0
) -> list[Result]:
    """Return the prediction of each setting beside what releases of the default find."""
    results: list[Result] = []
    for place, setting in enumerate(settings):
        answers = {f"c{column}": ["yes"] for column in range(setting.m)} if setting.answers else None
        planned = plan(
            setting.n,
            None if answers else setting.m,
            effects=setting.effect,
            signals=setting.signals,
            epsilon=setting.epsilon,
            delta=DELTA,
            q=Q,
            columns=answers,
            missing=setting.missing or None,
            share=setting.share,
            rate=setting.rate,
            methods=["auto"],
            quick=True,
            repetitions=releases,
        )
        powers: list[float] = []
        for release in range(releases):
            people = invented(setting, np.random.default_rng([seed, place, release]))
            found = ours(people, setting.epsilon)
            powers.append(np.count_nonzero(found < setting.signals) / setting.signals)
        error = float(np.std(powers, ddof=1) / np.sqrt(releases)) if releases > 1 else float("nan")
        results.append(Result(setting, planned["auto"].power, float(np.mean(powers)), error))
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
    head = f"Power predicted by the planner, and of {releases} releases (standard error)."
    within = [abs(each.off) <= _WITHIN for each in results]
    said = verdict(all(within), f"{sum(within)} of {len(within)} settings within {_WITHIN:.0%}")
    return f"{head}\n\n{table(['setting', 'predicted', 'realised', 'off'], rows)}\n\n{said}"
