"""Invented comparisons of two groups, and what each method finds in them.

Unlike scores, which follow a law whatever the columns are, sums told with noise depend on how people's rows
look. So whole tables are invented, and the methods' own code runs on them. A table of very many people is
stood for by one of fewer, with effects and budget so much larger that z scores and noise keep their ratio;
that holds while people are many beside the columns. A table that is too wide for it has fewer columns, with
so much less of the budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.classical.step_up import adaptive_bh, step_up_positions
from discreet.methods.all.budget import may_need_ranks, planned
from discreet.methods.all.method import measured
from discreet.methods.method import expected
from discreet.methods.registry import METHODS
from discreet.planner.study import Rates
from discreet.privacy.curves import gaussian_budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.methods.method import Parameters
    from discreet.planner.cohort import Cohort

ENTRIES = 4_000_000
"""Of one invented table, about, where fewer people may stand for all."""
LARGEST = 20_000_000
"""Entries of one invented table, at most."""
_FEWEST = 400  # people who stand for all
_PER_COLUMN = 15  # people who stand for all, for each column: with 4 the power of wide tables is overstated


@dataclass(frozen=True, slots=True)
class Comparison:
    """The public parameters of studies to be invented: the interface of `Study`, for comparisons of groups.

    The same seed invents the same people whatever epsilon and the effects are.
    """

    setting: Cohort
    n: int
    m: int
    asked: Mapping[str, Parameters]
    effects: tuple[float, ...]
    k: int
    repetitions: int
    seed: int

    def run(self, method: str) -> Rates:
        """Return what `method` finds in each of the invented studies."""
        few, columns = stand_in(self.n, self.m)
        if columns < self.m:
            smaller, part = self._narrower(columns)
            rates = smaller._run(method, few, self)  # noqa: SLF001 - of the same class
            return replace(rates, false=rates.false / part)
        return self._run(method, few, self)

    def _narrower(self, m: int) -> tuple[Comparison, float]:
        """Return the study with about `m` of its hypotheses, of every kind alike, and the part they are."""
        # Those of which something is real come first, so that a like part of them is kept.
        columns = sorted(self.setting.columns, key=lambda column: not column.real)
        step = np.linspace(0, len(columns) - 1, max(2, round(len(columns) * m / self.m))).round()
        kept = tuple(columns[int(place)] for place in np.unique(step))
        setting = replace(self.setting, columns=kept)
        hypotheses = sum(column.hypotheses for column in kept) * setting.subgroups
        count = min(max(1, round(len(self.effects) * hypotheses / self.m)), setting.real_places.size)
        effects = tuple(np.resize(np.array(self.effects), count).tolist())
        return replace(self, setting=setting, m=hypotheses, effects=effects), hypotheses / self.m

    def _run(self, method: str, few: int, whole: Comparison) -> Rates:
        """Return what `method` finds where `few` people and these columns stand for those of `whole`."""
        widths = np.array([column.hypotheses for column in self.setting.columns])
        hits: list[NDArray[np.bool_]] = []
        false: list[int] = []
        for study, chosen in enumerate(self._chosen(method, few, whole)):
            real, reported = self._real(study), np.zeros(self.m, dtype=np.bool_)
            reported[chosen] = True
            hits.append(reported[real])
            false.append(int(np.count_nonzero(reported & ~self._touched(real, widths))))
        return Rates(np.array(false, dtype=np.float64), np.array(hits, dtype=float), self.asked[method].q)

    def _touched(self, real: NDArray[np.int64], widths: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the hypotheses that are not null: an answer more is another one less, in that subgroup."""
        differs = np.zeros(self.m, dtype=np.bool_)
        differs[real] = True
        questions = np.logical_or.reduceat(
            differs.reshape(self.setting.subgroups, -1), np.cumsum(widths) - widths, axis=1
        )
        return np.repeat(questions, widths, axis=1).ravel()

    def certificate(self) -> str:
        """Return what one person can move, in words."""
        test = self.setting.test
        beside = {"the group": True, "the subgroup": test.within, "covariates": test.adjust}
        labels = " and ".join(name for name, asked in beside.items() if asked)
        how = f"{labels} included" if test.protect == "everything" else f"but for {labels}"
        return f"Protected: all entries of a person, {how}."

    def places_unsure(self, method: str) -> bool:
        """Say whether people are too few to learn where each column of measured numbers lies."""
        if self.setting.test.adjust is not None or not any(each.in_units for each in self.setting.columns):
            return False
        people = self.setting.nobody(np.zeros(self.n, dtype=np.int8), self.n)
        rho = gaussian_budget(self.asked[method].epsilon, self.asked[method].delta)
        return may_need_ranks(people, planned(people, rho).of(rho))

    def noise_on_z(self, method: str) -> float | None:
        """Return nothing: the noise of a column depends on what is learned of it."""
        del method

    @property
    def z_per_effect(self) -> float:
        """How fast a z score without privacy rises with the effect."""
        share = self.setting.share
        return math.sqrt(self.n / self.setting.subgroups * (1 - self.setting.missing) * share * (1 - share))

    def _real(self, study: int) -> NDArray[np.int64]:
        """Return the hypotheses that have effects in that study, drawn at random where there is a choice."""
        rng = np.random.default_rng((self.seed, study, 1))
        return rng.permutation(self.setting.real_places)[: len(self.effects)]

    def _effects(self, study: int) -> NDArray[np.float64]:
        """Return the effect of every hypothesis, in alternating directions unless one side is looked at."""
        effects, count = np.zeros(self.m), len(self.effects)
        sign = np.where(np.arange(count) % 2, -1.0, 1.0)
        if self.setting.test.alternative != "two-sided":
            sign[:] = 1.0 if self.setting.test.alternative == "greater" else -1.0
        effects[self._real(study)] = np.array(self.effects) * sign
        return effects

    def _chosen(self, method: str, few: int, whole: Comparison) -> Iterator[NDArray[np.int64]]:
        """Yield what is reported of each study."""
        asked = self.asked[method]
        times, part = self.n / few, self.m / whole.m
        for study in range(self.repetitions):
            effects = self._effects(study) * math.sqrt(times)
            people = self.setting.people(few, effects, np.random.default_rng((self.seed, study)))
            if method == "bh":
                yield step_up_positions(textbook(people), asked.q)
            else:
                yield _reported(people, asked, whole.setting.nobody(people.group, self.n), times, part)


def stand_in(n: int, m: int) -> tuple[int, int]:
    """Return how many people and how many hypotheses stand for `n` and `m` in an invented table."""
    if n * m <= 2 * ENTRIES:
        return n, m
    few = min(n, max(_FEWEST, _PER_COLUMN * m, ENTRIES // m))
    if few * m <= LARGEST:
        return few, m
    columns = math.isqrt(LARGEST // _PER_COLUMN)
    return (n, LARGEST // n) if n < _PER_COLUMN * columns else (_PER_COLUMN * columns, columns)


def _reported(
    people: People, asked: Parameters, everyone: People, times: float, part: float
) -> NDArray[np.int64]:
    """Return what a method reports where each invented person stands for `times` people.

    `everyone` is the table that is stood for, without its rows, and `part` the part of its columns that there
    are: which method is chosen, and how its budget is divided, depends on public numbers alone.
    """
    asked, _ = METHODS[asked.method].settle(asked, everyone)
    rho = gaussian_budget(asked.epsilon, asked.delta)
    if asked.method == "all" and asked.guarantee != "proved" and people.covariates is None:
        signals = round(part * (expected(asked.expect, len(everyone)) // everyone.subgroups))
        p: list[NDArray[np.float64]] = []
        for some, of_all in zip(people.parts(), everyone.parts(), strict=True):
            budget = planned(of_all, rho).of(rho)
            # A person's row is so much shorter; one count of the groups and one of the lengths remain.
            budget = replace(budget.of(part), groups=budget.groups, norms=budget.norms).of_a_sample(times)
            p.append(measured(some, budget, max(signals, 1)).p)
        return adaptive_bh(np.concatenate(p), asked.q)
    times *= part
    larger = replace(asked, epsilon=_epsilon(rho * times, asked.delta)) if times != 1 else asked
    return METHODS[larger.method].ready(larger, people).draw().indices


@lru_cache(maxsize=256)
def _epsilon(rho: float, delta: float) -> float:
    """Return the epsilon at which the whole budget is `rho`."""
    low, high = 1e-6, 1.0
    while gaussian_budget(high, delta) < rho:
        low, high = high, 2 * high
    for _ in range(30):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if gaussian_budget(middle, delta) < rho else (low, middle)
    return high


def textbook(people: People) -> NDArray[np.float64]:
    """Return the p-values of the test without privacy, for every hypothesis."""
    z = np.concatenate([_difference(part) for part in people.parts()])
    sides = 2 if people.alternative == "two-sided" else 1
    return np.minimum(sides * np.asarray(scipy.special.ndtr(-toward(z, people.alternative))), 1.0)


def _difference(people: People) -> NDArray[np.float64]:
    """Return z of the difference of means among those present; with covariates, of their regression."""
    if people.covariates is not None:
        return _regression(people, people.covariates.values)
    present = ~np.isnan(people.values)
    means: list[NDArray[np.float64]] = []
    errors: list[NDArray[np.float64]] = []
    for side in (0, 1):
        rows = people.group == side
        count = np.maximum(present[rows].sum(axis=0), 2)
        entries = np.where(present[rows], people.values[rows], 0.0)
        mean = entries.sum(axis=0) / count
        spread = (np.where(present[rows], entries - mean, 0.0) ** 2).sum(axis=0) / (count - 1)
        means.append(mean)
        errors.append(spread / count)
    error = np.sqrt(errors[0] + errors[1])
    return np.divide(means[1] - means[0], error, out=np.zeros(len(people)), where=error > 0)


def _regression(people: People, covariates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return z of the group in a regression of each column on group and covariates."""
    z = np.zeros(len(people))
    for place, column in enumerate(people.values.T):
        known = ~np.isnan(column)
        count = int(np.count_nonzero(known))
        rest = np.column_stack([np.ones(count), covariates[known]])
        both = np.column_stack([column[known], people.group[known]])
        value, group = (both - rest @ np.linalg.lstsq(rest, both, rcond=None)[0]).T
        left = float(group @ group)
        slope = float(group @ value) / max(left, 1e-12)
        error = math.sqrt(float(np.sum((value - slope * group) ** 2)) / count / max(left, 1e-12))
        z[place] = slope / error if error > 0 else 0.0
    return z
