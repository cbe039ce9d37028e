"""Invented people for a comparison of two groups, and what each method finds in them.

Unlike scores, which follow a law whatever the columns are, sums told with noise depend on how people's rows
look. So whole tables are invented, and the methods' own code runs on them. A table of very many people is
stood for by one of fewer, with effects and budget so much larger that z scores and noise keep their ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy

from discreet.alternative import toward
from discreet.classical.adaptive_bh import adaptive_bh
from discreet.classical.step_up import step_up_positions
from discreet.evidence.core.people import People, Question
from discreet.methods.all.budget import planned, schedule
from discreet.methods.all.method import measured
from discreet.methods.common import expected, gaussian_budget
from discreet.methods.registry import METHODS
from discreet.planner.study import Rates

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from discreet.evidence.compare import Compare
    from discreet.methods.parameters import Parameters

_ENTRIES = 600_000  # of one invented table, about
_FEWEST = 400  # people who stand for all
_WIDTH = 6.0  # standard deviations between the bounds, where nothing is said


@dataclass(frozen=True, slots=True)
class Cohort:
    """What is assumed of the people and of their columns; all public.

    Attributes
    ----------
    test : Compare
        What will be asked.
    sizes : tuple of int
        How many hypotheses each column makes: 1 for a number, the number of its levels for answers.
    answers : tuple of bool
        Which columns hold answers.
    share : float
        The second group's share of the people.
    sd : float or None
        Standard deviation of numbers with bounds, as a share of their width.
    missing : float
        The share of entries that are missing, in both groups.
    rate : float or None
        How frequent the first answer to each question is; equally frequent answers when absent.
    """

    test: Compare
    sizes: tuple[int, ...]
    answers: tuple[bool, ...]
    share: float = 0.5
    sd: float | None = None
    missing: float = 0.0
    rate: float | None = None

    @property
    def largest_effect(self) -> float:
        """The largest effect there can be."""
        return math.inf

    @property
    def unit(self) -> str:
        """What an effect of 1 is."""
        return "a difference between groups in standard deviations"

    @property
    def assumed(self) -> str:
        """What the invented people are like, in words."""
        numbers, asked = self.answers.count(False), self.answers.count(True)
        bounded = self.test.bounds is not None
        law = f"normal, {self._deviation:.3g} of the width of the bounds wide" if bounded else "normal"
        frequent = "equally frequent" if self.rate is None else f"the first given by {self.rate:.3g}"
        words = [
            *([f"{numbers:,} columns of numbers, {law}"] if numbers else []),
            *([f"{asked:,} columns of answers, {frequent}"] if asked else []),
            f"{self.missing:.0%} of the entries missing" if self.missing else "no entries missing",
            f"{1 - self.share:.3g} and {self.share:.3g} of the people in the two groups",
            "columns independent of one another",
        ]
        return "Assumed: " + "; ".join(words) + "."

    @property
    def _deviation(self) -> float:
        return 1 / _WIDTH if self.sd is None else self.sd

    def questions(self) -> tuple[Question, ...]:
        """Return the columns, numbers with bounds of 0 and 1 if the test has some."""
        ends = np.cumsum(self.sizes).tolist()
        bounds = None if self.test.bounds is None else (0.0, 1.0)
        return tuple(
            Question(str(place), slice(end - size, end), answers, None if answers else bounds)
            for place, (end, size, answers) in enumerate(zip(ends, self.sizes, self.answers, strict=True))
        )

    def people(self, n: int, effects: NDArray[np.float64], rng: np.random.Generator) -> People:
        """Return n invented people whose groups differ by `effects`, in deviations; shape (m,)."""
        second = min(max(1, round(n * self.share)), n - 1)
        group = (np.arange(n) >= n - second).astype(np.int8)
        questions = self.questions()
        values = np.empty((n, effects.size))
        for asked in questions:
            if asked.answers:
                values[:, asked.places] = self._chosen(group, effects[asked.places], rng)
            else:
                values[:, asked.places] = self._measured(group, effects[asked.places], rng)
            if self.missing:
                values[rng.random(n) < self.missing, asked.places] = np.nan
        names = [str(place) for place in range(effects.size)]
        return People(names, questions, self.test.alternative, self.test.protect, values, group)

    def _measured(
        self, group: NDArray[np.int8], effect: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return a normal column; with bounds, of deviation `sd` around their middle."""
        z = rng.standard_normal(group.size) + effect[0] * (group - self.share)
        column = z if self.test.bounds is None else np.clip(0.5 + self._deviation * z, 0.0, 1.0)
        return column[:, None]

    def _chosen(
        self, group: NDArray[np.int8], effects: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Return one answer of several for each person; a single level is said yes or no to."""
        count = effects.size
        if count == 1:
            first = 0.5 if self.rate is None else self.rate
            rates = np.array([first])
        else:
            first = 1 / count if self.rate is None else self.rate
            rates = np.concatenate([[first], np.full(count - 1, (1 - first) / (count - 1))])
        moved = effects * np.sqrt(rates * (1 - rates))
        moved = moved if count == 1 else moved - moved.mean()
        drawn = rng.random(group.size)
        entries = np.zeros((group.size, count))
        for side in (0, 1):
            at = np.flatnonzero(group == side)
            law = np.clip(rates + moved * (side - self.share), 0.0, 1.0)
            if count == 1:
                entries[at, 0] = drawn[at] < law[0]
            else:
                chosen = np.searchsorted(np.cumsum(law / law.sum())[:-1], drawn[at], side="right")
                entries[at, chosen] = 1.0
        return entries


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
        count, touched = len(self.effects), np.zeros(self.m, dtype=np.bool_)
        for asked in self.setting.questions():  # an answer more is another one less
            touched[asked.places] = asked.places.start < count
        hits: list[NDArray[np.bool_]] = []
        false: list[int] = []
        for chosen in self._chosen(method):
            reported = np.zeros(self.m, dtype=np.bool_)
            reported[chosen] = True
            hits.append(reported[:count])
            false.append(int(np.count_nonzero(reported & ~touched)))
        return Rates(np.array(false, dtype=np.float64), np.array(hits, dtype=float), self.asked[method].q)

    def certificate(self) -> str:
        """Return what one person can move, in words."""
        group = "the group included" if self.setting.test.protect == "everything" else "but for the group"
        return f"Protected: all entries of a person, {group}."

    def noise_on_z(self, method: str) -> float | None:
        """Return nothing: the noise of a column depends on what is learned of it."""
        del method

    @property
    def z_per_effect(self) -> float:
        """How fast a z score without privacy rises with the effect."""
        share = self.setting.share
        return math.sqrt(self.n * (1 - self.setting.missing) * share * (1 - share))

    def _effects(self) -> NDArray[np.float64]:
        """Return the effect of every hypothesis, in alternating directions unless one side is looked at."""
        effects, count = np.zeros(self.m), len(self.effects)
        sign = np.where(np.arange(count) % 2, -1.0, 1.0)
        if self.setting.test.alternative != "two-sided":
            sign[:] = 1.0 if self.setting.test.alternative == "greater" else -1.0
        effects[:count] = np.array(self.effects) * sign
        return effects

    def _chosen(self, method: str) -> Iterator[NDArray[np.int64]]:
        """Yield what is reported of each study."""
        asked = self.asked[method]
        few = self.n if self.n * self.m <= 2 * _ENTRIES else min(self.n, max(_FEWEST, _ENTRIES // self.m))
        times = self.n / few
        effects = self._effects() * math.sqrt(times)
        for study in range(self.repetitions):
            people = self.setting.people(few, effects, np.random.default_rng((self.seed, study)))
            if method == "bh":
                yield step_up_positions(_textbook(people), asked.q)
            else:
                yield _reported(people, asked, times, self.n)


def _reported(people: People, asked: Parameters, times: float, n: int) -> NDArray[np.int64]:
    """Return what a method reports where each invented person stands for `times` people, `n` in all."""
    # A table of n rows that nobody has to make: which method is chosen depends on public numbers alone.
    all_of_them = replace(people, values=np.zeros((0, len(people))), group=np.resize(people.group, n))
    asked, _ = METHODS[asked.method].settle(asked, all_of_them)
    rho = gaussian_budget(asked.epsilon, asked.delta)
    if asked.method == "all" and asked.guarantee != "proved":
        later = schedule(expected(asked.expect, len(people)), len(people))
        budget = planned(all_of_them, rho, later).of(rho).of_a_sample(times)
        return adaptive_bh(measured(people, budget, later).p, asked.q)
    larger = replace(asked, epsilon=_epsilon(rho * times, asked.delta)) if times > 1 else asked
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


def _textbook(people: People) -> NDArray[np.float64]:
    """Return the p-values of the test without privacy: a difference of means among those present."""
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
    z = np.divide(means[1] - means[0], error, out=np.zeros(len(people)), where=error > 0)
    sides = 2 if people.alternative == "two-sided" else 1
    return np.minimum(sides * np.asarray(scipy.special.ndtr(-toward(z, people.alternative))), 1.0)
