"""`discreet bench tables`: which discoveries without privacy are found, on public tables about people."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.described import in_folder
from discreet.lab.bench.moments import DELTA, Q, not_private
from discreet.lab.bench.surveys import SURVEYS, read
from discreet.lab.bench.timing import verdict
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People
    from discreet.typing import Protect

K = TypeVar("K")
NAMES = ("us", "us, bounds", "us, proved", "aware", "by hand")
FILES = tuple(survey.file for survey in SURVEYS.values())
_AHEAD = 0.05  # of the discoveries, by which we are to be ahead of noise by hand at epsilon 1
_CHECKED = 20_000  # people in the tables that check the FDR


@dataclass(frozen=True, slots=True)
class How:
    """Budgets, numbers of people (None is all), releases that are averaged, releases that check the FDR."""

    epsilons: tuple[float, ...] = (0.5, 1.0, 3.0)
    people: tuple[int | None, ...] = (2_000, 5_000, 20_000, 100_000, None)
    releases: int = 10
    checks: int = 100
    protect: Protect = "columns"


QUICK = How(epsilons=(1.0,), people=(2_000,), releases=2, checks=2)


@dataclass(frozen=True, slots=True)
class Task:
    """What one process does: a table of the folder, and so many of its people."""

    folder: Path
    survey: str
    people: int | None
    how: How


@dataclass(frozen=True, slots=True)
class Found:
    """Means over releases, by contender: the share found of discoveries without privacy, and others found."""

    people: int
    hypotheses: int
    plain: float
    share: dict[tuple[float, str], float]
    beyond: dict[tuple[float, str], float]


@dataclass(frozen=True, slots=True)
class Checked:
    """The share of releases with a discovery though labels are permuted; of copies among discoveries."""

    permuted: dict[str, float]
    copies: dict[str, float]


@lru_cache(maxsize=1)
def _table(folder: Path, survey: str, protect: Protect) -> People:
    return read(in_folder(folder)[survey], folder, protect)


def compare(task: Task) -> Found | None:
    """Return what each contender finds of the discoveries without privacy; None if people are too few."""
    everyone = _table(task.folder, task.survey, task.how.protect)
    if task.people is not None and task.people > everyone.rows:
        return None
    plain: list[int] = []
    share: dict[tuple[float, str], list[float]] = {}
    beyond: dict[tuple[float, str], list[float]] = {}
    for seed in range(task.how.releases):
        rng = np.random.default_rng(seed)
        people = some(everyone, task.people, rng)
        known = not_private(people)
        plain.append(known.size)
        for epsilon in task.how.epsilons:
            for name in NAMES:
                places = CONTENDERS[name](people, epsilon, rng)
                both = np.intersect1d(known, places).size
                share.setdefault((epsilon, name), []).append(both / max(1, known.size))
                beyond.setdefault((epsilon, name), []).append(places.size - both)
    size = everyone.rows if task.people is None else task.people
    return Found(size, len(everyone), float(np.mean(plain)), _means(share), _means(beyond))


def check(task: Task) -> Checked:
    """Return how often labels that were permuted are found to matter, and columns that were shuffled."""
    everyone = _table(task.folder, task.survey, task.how.protect)
    permuted: dict[str, list[float]] = {}
    copies: dict[str, list[float]] = {}
    for seed in range(task.how.checks):
        rng = np.random.default_rng(seed)
        people = some(everyone, task.people, rng)
        null = replace(people, group=rng.permutation(people.group))
        doubled = with_copies(people, rng)
        for name in NAMES:
            places = CONTENDERS[name](null, 1.0, rng)
            permuted.setdefault(name, []).append(float(places.size > 0))
            places = CONTENDERS[name](doubled, 1.0, rng)
            false = np.count_nonzero(places >= len(people))
            copies.setdefault(name, []).append(false / max(1, places.size))
    return Checked(_means(permuted), _means(copies))


def some(people: People, n: int | None, rng: np.random.Generator) -> People:
    """Return n of these people, drawn without replacement; all of them if n is None or too many."""
    if n is None or n >= people.rows:
        return people
    chosen = rng.choice(people.rows, n, replace=False)
    return replace(people, values=people.values[chosen], group=people.group[chosen])


def with_copies(people: People, rng: np.random.Generator) -> People:
    """Return the table with every question asked twice, the second time answered by somebody else."""
    m = len(people)
    copied: NDArray[np.floating[Any]] = np.empty_like(people.values)
    for question in people.questions:
        copied[:, question.places] = people.values[rng.permutation(people.rows)][:, question.places]
    again = tuple(
        replace(
            question,
            column=f"{question.column}, shuffled",
            places=slice(question.places.start + m, question.places.stop + m),
        )
        for question in people.questions
    )
    return replace(
        people,
        names=(*people.names, *(f"{name}, shuffled" for name in people.names)),
        questions=people.questions + again,
        values=np.column_stack([people.values, copied]),
    )


def _means(lists: dict[K, list[float]]) -> dict[K, float]:
    return {key: float(np.mean(values)) for key, values in lists.items()}


def run(
    folder: Path, tables: Sequence[str], how: How, tick: Callable[[int], None], workers: int = 2
) -> tuple[dict[str, list[Found]], dict[str, Checked]]:
    """Return what is found on these tables of the folder, and the checks of the FDR at epsilon 1."""
    tasks = [Task(folder, name, n, how) for name in tables for n in how.people]
    checks = [Task(folder, name, _CHECKED, how) for name in tables]
    results: dict[str, list[Found]] = {name: [] for name in tables}
    checked: dict[str, Checked] = {}
    with ProcessPoolExecutor(workers) as pool:
        for task, result in zip(tasks, pool.map(compare, tasks), strict=True):
            results[task.survey] += [] if result is None else [result]
            tick(1)
        for task, result in zip(checks, pool.map(check, checks), strict=True):
            checked[task.survey] = result
            tick(1)
    return results, checked


def in_words(results: dict[str, list[Found]], checked: dict[str, Checked], how: How) -> str:
    """Return the tables and whether the targets are met."""
    labels = "public" if how.protect == "columns" else "protected"
    title = (
        f"The share found of the discoveries of BH without privacy, and how many others; means; q = {Q:g}, "
        f"delta = {DELTA:g}, {labels} labels, {how.releases} releases"
    )
    parts = [title]
    verdicts: list[str] = []
    for survey, sizes in results.items():
        rows: list[list[str]] = []
        for row in sizes:
            for epsilon in dict.fromkeys(key[0] for key in row.share):
                cells = [
                    f"{row.share[epsilon, name]:.2f} + {row.beyond[epsilon, name]:.1f}" for name in NAMES
                ]
                rows.append([f"{row.people:,}", f"{epsilon:g}", f"{row.plain:.1f}", *cells])
                if epsilon == 1:
                    verdicts += _beside(survey, row)
        title = f"{survey}: {sizes[0].hypotheses} hypotheses" if sizes else survey
        parts.append(f"{title}\n{table(['people', 'epsilon', 'not private', *NAMES], rows)}")
    rows = [
        [f"{survey}, {what}", *(f"{getattr(checks, field)[name]:.3f}" for name in NAMES)]
        for survey, checks in checked.items()
        for what, field in (
            ("labels permuted: any discovery", "permuted"),
            ("shuffled copies found", "copies"),
        )
    ]
    parts.append(f"Checks of the FDR, epsilon = 1, {how.checks} releases\n{table(['', *NAMES], rows)}")
    most = Q + 3 * np.sqrt(Q * (1 - Q) / how.checks)
    for survey, checks in checked.items():
        for name in NAMES[:-1]:
            worst = max(checks.permuted[name], checks.copies[name])
            verdicts.append(verdict(worst <= most, f"{survey}: nothing beyond q from {name} on null columns"))
    return "\n\n".join([*parts, "\n".join(verdicts)])


def _beside(survey: str, result: Found) -> list[str]:
    rival = result.share[1.0, "by hand"]
    goal = min(_AHEAD, 1 - rival)
    ours, proved = result.share[1.0, "us"] - rival, result.share[1.0, "us, proved"] - rival
    words = f"{survey}, {result.people:,} people"
    return [
        verdict(ours >= goal, f"{words}: {ours:+.3f} beside noise by hand, at least {goal:+.3f}"),
        verdict(proved >= 0, f"{words}: proved {proved:+.3f} beside noise by hand, not behind"),
    ]
