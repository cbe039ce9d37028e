"""Tables for `discreet bench plan` that the planner did not invent, and for which it is given what is public.

A register that is made by other rules than the planner's, with columns of many scales that hang together,
heaps, zeros, and entries missing where they are missing in life; five tables that nothing was fitted to
(`unseen`); and, where a folder has them, rows of public tables, drawn anew. Groups are assigned at random, so
that what differs, and by how much, is known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.evidence.core.people import People, Question
from discreet.lab.bench import unseen
from discreet.lab.bench.assumed import BRFSS, HOSPITALS, NHANES, REGISTER
from discreet.lab.bench.contenders import unbounded
from discreet.lab.bench.surveys import SURVEYS, read
from discreet.planner.column import Column

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_BLOCK = 12  # columns of the register that hang together
_STEPS = 10  # of a scale, at most
_LEAST_RATE = 0.02  # of the rarer answer of a column that differs


@dataclass(frozen=True, slots=True)
class Setting:
    """People, what differs and by how much, and the table of their rows: invented, or in a folder."""

    n: int
    effect: float
    signals: int
    source: str
    m: int = 0
    epsilon: float = 1.0
    folder: Path | None = None

    def __str__(self) -> str:
        m = f", m = {self.m:,}" if self.m else ""
        epsilon = f", epsilon = {self.epsilon:g}" if self.epsilon != 1 else ""
        return f"n = {self.n:,}{m}, {self.signals:,} of {self.effect:g}, {self.source}{epsilon}"

    def invented(self, rng: np.random.Generator) -> People:
        """Return a table whose first columns differ by the effect, in standard deviations of the column."""
        return _with_effects(self, rng)

    def stated(self) -> dict[str, Any]:
        """Return what the planner is given, as a user could: which columns there are, and which differ.

        Of the table's entries nothing: kinds and levels as declared, and of each column what is `assumed`.
        """
        questions = self.invented(np.random.default_rng(0)).questions
        columns = tuple(_declared(question) for question in questions)
        said = PUBLISHED[self.source] if self.folder else _said(self.source, self.m)
        return {
            "columns": columns,
            "assume": {column.name: said[column.name] for column in columns if column.name in said},
            "signals": [column.names[0] for column in columns[: self.signals]],
        }


def _said(source: str, m: int) -> dict[str, dict[str, Any]]:
    """Return what a user would say of the columns of an invented table."""
    if source == "register":
        return _earlier_year(m)
    return {str(place): column.said for place, column in enumerate(unseen.described(source, m))}


def _earlier_year(m: int) -> dict[str, dict[str, Any]]:
    """Return what a report on an earlier year of the register says of each column, in round figures."""
    values = _register(2_000, m, np.random.default_rng(1))
    said: dict[str, dict[str, Any]] = {}
    for place, entries in enumerate(values.T):
        present = entries[~np.isnan(entries)]
        own: dict[str, Any] = dict(REGISTER[place % len(REGISTER)])
        if _KINDS[place % len(_KINDS)] is _yes:
            own["rate"] = max(0.02, round(20 * float(present.mean())) / 20)
        elif "centre" in own:
            own["centre"] = float(round(float(present.mean() / present.std())))
        said[str(place)] = {**own, "missing": round(10 * (1 - present.size / entries.size)) / 10}
    return said


def _declared(question: Question) -> Column:
    """Return a column as the planner knows it."""
    size, name = question.places.stop - question.places.start, question.column
    names = (name,) if size == 1 else tuple(f"{name}={place}" for place in range(size))
    return Column(size, question.answers, other=question.answers and size > 1, name=name, names=names)


INVENTED = (
    Setting(1_000, 0.4, 5, "register", 20),
    Setting(2_000, 0.22, 10, "register", 40),
    Setting(5_000, 0.12, 20, "register", 100),
    Setting(20_000, 0.06, 30, "register", 200),
    Setting(50_000, 0.03, 10, "register", 60),
    Setting(5_000, 0.16, 20, "register", 100, epsilon=0.5),
)
"""Of a register, which anyone can make."""
UNSEEN = (
    Setting(1_500, 0.3, 8, "clinical cohort", 40),
    Setting(8_000, 0.1, 15, "clinical cohort", 80),
    Setting(3_000, 0.17, 10, "questionnaire", 40),
    Setting(4_000, 0.12, 10, "claims", 50),
    Setting(10_000, 0.07, 15, "rare diagnoses", 100),
    Setting(6_000, 0.18, 30, "markers", 300),
)
"""Of tables that nothing was fitted to."""
_BRFSS, _HOSPITALS, _NHANES = SURVEYS
PUBLISHED = {_BRFSS: BRFSS, _HOSPITALS: HOSPITALS, _NHANES: NHANES}
"""What may be assumed of the columns of each public table."""
PUBLIC = (
    Setting(2_000, 0.25, 8, _BRFSS),
    Setting(10_000, 0.07, 8, _BRFSS),
    Setting(3_000, 0.3, 10, _NHANES),
    Setting(10_000, 0.12, 10, _NHANES),
    Setting(10_000, 0.09, 8, _HOSPITALS),
    Setting(40_000, 0.03, 8, _HOSPITALS),
)
"""Of rows of public tables, where a folder has them."""


def of_folder(folder: Path) -> tuple[Setting, ...]:
    """Return the settings of public tables, with the folder that they are in."""
    return tuple(replace(setting, folder=folder) for setting in PUBLIC)


def _with_effects(setting: Setting, rng: np.random.Generator) -> People:
    people = _drawn(setting, rng) if setting.folder else _made(setting, rng)
    group = rng.permutation((np.arange(setting.n) % 2).astype(np.int8))
    questions: list[Question] = []
    columns: list[NDArray[np.float64]] = []
    end = 0
    for rank, place in enumerate(_signals_first(people, setting.signals)):
        question = people.questions[place]
        entries = people.values[:, question.places].astype(np.float64)
        if rank < setting.signals:
            effect = setting.effect * (-1.0 if rank % 2 else 1.0)
            entries = _moved(entries[:, 0], group == 1, effect, rng, answers=question.answers)[:, None]
        columns.append(entries)
        questions.append(replace(question, places=slice(end, end + entries.shape[1])))
        end += int(entries.shape[1])
    return _people(np.concatenate(columns, axis=1), tuple(questions), group)


def _people(values: NDArray[Any], questions: tuple[Question, ...], group: NDArray[np.int8]) -> People:
    names = [str(place) for place in range(values.shape[1])]
    return People(names, questions, "two-sided", "everything", values, group)


def _signals_first(people: People, signals: int) -> list[int]:
    """Return the places of the columns, those that will differ first: single hypotheses, spread evenly."""
    single = [
        place
        for place, asked in enumerate(people.questions)
        if asked.places.stop - asked.places.start == 1 and _varies(people.values[:, asked.places.start])
    ]
    first = [single[int(place)] for place in np.linspace(0, len(single) - 1, signals).round()]
    return [*first, *(place for place in range(len(people.questions)) if place not in set(first))]


def _varies(entries: NDArray[np.generic]) -> bool:
    present = entries[~np.isnan(entries)]
    common = max(np.unique(present, return_counts=True)[1], default=0)
    return bool(common < (1 - _LEAST_RATE) * present.size)


def _moved(
    entries: NDArray[np.float64],
    second: NDArray[np.bool_],
    effect: float,
    rng: np.random.Generator,
    *,
    answers: bool,
) -> NDArray[np.float64]:
    """Return a column whose second group lies higher by `effect` of its deviations; whole ones stay whole."""
    shift = effect * float(np.nanstd(entries))
    if answers:  # some of those who say no say yes, or the other way round
        rate = float(np.nanmean(entries))
        turned = rng.random(entries.size) < abs(shift) / (1 - rate if shift > 0 else rate)
        return np.where(second & turned & ~np.isnan(entries), float(shift > 0), entries)
    present = entries[~np.isnan(entries)]
    whole = bool(np.all(present == np.rint(present)))
    if whole and np.unique(present).size <= _STEPS:  # ratings stay on their scale: those who can, go a step
        end = float(present.max() if shift > 0 else present.min())
        steps = rng.random(entries.size) < abs(shift) * present.size / np.count_nonzero(present != end)
        return np.where(second & steps & (entries != end), entries + np.sign(shift), entries)
    if whole and shift < 0 <= present.min():  # counts stay counts: those who have any, or some, have fewer
        fewer = np.floor(-shift / np.mean(present >= 1) + rng.random(entries.size))
        return np.where(second, np.maximum(entries - fewer, np.minimum(entries, 0)), entries)
    moves = np.floor(shift + rng.random(entries.size)) if whole else shift
    return np.where(second, entries + moves, entries)


@cache
def _table(source: str, folder: Path) -> People:
    return unbounded(read(SURVEYS[source], folder, "everything"))


def _drawn(setting: Setting, rng: np.random.Generator) -> People:
    """Return rows of a public table, drawn with replacement."""
    assert setting.folder is not None  # noqa: S101  asked by the caller
    table = _table(setting.source, setting.folder)
    rows = rng.integers(0, table.size, setting.n)
    return replace(table, values=table.values[rows], group=table.group[rows])


def _made(setting: Setting, rng: np.random.Generator) -> People:
    """Return people of an invented table."""
    n, m = setting.n, setting.m
    if setting.source == "register":
        values, answers = _register(n, m, rng), [_KINDS[place % len(_KINDS)] is _yes for place in range(m)]
    else:
        values, answers = unseen.drawn(setting.source, n, m, rng)
    questions = tuple(Question(str(place), slice(place, place + 1), answers[place]) for place in range(m))
    return _people(values, questions, np.zeros(n, np.int8))


def _register(n: int, m: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return entries of an invented register: of five columns two are yes/no and three are numbers."""
    values = np.empty((n, m))
    made = np.random.default_rng(m)  # what the columns are is the same in every study
    for first in range(0, m, _BLOCK):
        common = rng.standard_normal(n)
        for column in range(first, min(first + _BLOCK, m)):
            tie = made.uniform(0, 0.6)
            z = tie * common + np.sqrt(1 - tie**2) * rng.standard_normal(n)
            values[:, column] = _KINDS[column % len(_KINDS)](z, made, rng)
            lost = made.beta(0.7, 6.0)  # most columns miss little, some miss much, and the ill miss more
            values[rng.random(n) < lost * np.exp(0.3 * common) / 1.05, column] = np.nan
    return values


def _heaped(z: NDArray[Any], made: np.random.Generator, rng: np.random.Generator) -> NDArray[Any]:
    """Return blood pressures: whole numbers, a third of them rounded to tens."""
    mean, sd = made.uniform(60, 180), made.uniform(8, 25)
    exact = np.rint(mean + sd * z)
    return np.where(rng.random(z.size) < 1 / 3, 10 * np.rint(exact / 10), exact)


def _yes(z: NDArray[Any], made: np.random.Generator, rng: np.random.Generator) -> NDArray[Any]:
    """Return answers, of rates from rare to usual."""
    del rng
    return (z > made.uniform(-0.5, 1.8)).astype(np.float64)


def _amount(z: NDArray[Any], made: np.random.Generator, rng: np.random.Generator) -> NDArray[Any]:
    """Return amounts of money or of a marker: skewed, some exactly 0."""
    amount = np.exp(made.uniform(0, 9) + made.uniform(0.4, 1.0) * z)
    return np.where(rng.random(z.size) < made.uniform(0, 0.25), 0.0, np.round(amount, 2))


def _visits(z: NDArray[Any], made: np.random.Generator, rng: np.random.Generator) -> NDArray[Any]:
    """Return counts, more varied than Poisson's."""
    return rng.poisson(made.uniform(1, 6) * np.exp(0.5 * z)).astype(np.float64)


_KINDS = (_heaped, _yes, _amount, _yes, _visits)
