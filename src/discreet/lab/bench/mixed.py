"""`discreet bench mixed`: what a user gets from raw data, by the number of people, beside other ways.

One invented table as surveys and registers are: numbers of every unit and shape, answers, missing entries,
and effects of many sizes, so that more people find more with privacy and without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.api import release
from discreet.evidence.core.compared import compared
from discreet.evidence.core.people import People, Question
from discreet.lab.bench.contenders import CONTENDERS
from discreet.lab.bench.moments import DELTA, Q
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

PEOPLE = (5_000, 20_000, 50_000, 300_000)
_NUMBERS, _ANSWERS = 24, 24
_REAL = 0.5  # of the columns, by odds of their place
_SIZES = (0.02, 0.4)  # of real effects, in standard deviations
_MISSING = 0.1
_BOUNDS = (
    (0.0, 100.0),
    (0.0, 600.0),
    (0.0, 20.0),
)  # of a scale, an amount and a count, as a code book has them
_ENOUGH = 0.5  # of what is real


@dataclass(frozen=True, slots=True)
class Result:
    """Means over tables of so many people: discoveries without privacy, the share found, power, others."""

    people: int
    plain: float
    share: dict[str, float]
    power: dict[str, float]
    false: dict[str, float]


def _paper(people: People, epsilon: float, _: np.random.Generator) -> NDArray[np.int64]:
    """Return the discoveries of the paper's Algorithm 4, k by doubling, on the scores of "aware"."""
    return release(compared(people), q=Q, epsilon=epsilon, delta=DELTA, method="peel").indices


WAYS: dict[str, Callable[[People, float, np.random.Generator], NDArray[np.int64]]] = {
    "default": CONTENDERS["us"],
    "proved": CONTENDERS["us, proved"],
    "noise by hand": CONTENDERS["by hand"],
    "the paper's": _paper,
}
"""This library by default and with proved p-values; sums with Gaussian noise, bounds given; Algorithm 4."""


def invented(n: int, rng: np.random.Generator) -> tuple[People, NDArray[np.bool_]]:
    """Return n people, half of them in each group, and which hypotheses are really false."""
    m = _NUMBERS + _ANSWERS
    group = (np.arange(n) % 2).astype(np.int8)
    real = np.arange(m) % round(1 / _REAL) == 0
    size = np.where(real, np.geomspace(*_SIZES, m)[np.argsort(rng.random(m))], 0.0)
    values = np.empty((n, m), dtype=np.float32)
    for place in range(m):
        normal = rng.standard_normal(n, dtype=np.float32) + np.float32(size[place]) * group
        if place >= _NUMBERS:
            values[:, place] = normal > 1.2 * (place % 3)  # rates of 1/2, 1/9 and 1/120
        else:
            drawn = (50 + 12 * normal, 30 * np.exp(0.8 * normal), np.floor(4 + 2 * normal))
            values[:, place] = np.clip(drawn[place % 3], *_BOUNDS[place % 3])
    values[rng.random((n, m), dtype=np.float32) < _MISSING] = np.nan
    questions = tuple(
        Question(
            f"c{place}",
            slice(place, place + 1),
            place >= _NUMBERS,
            None if place >= _NUMBERS else _BOUNDS[place % 3],
        )
        for place in range(m)
    )
    names = tuple(question.column for question in questions)
    return People(names, questions, "two-sided", "everything", values, group), real


def run(sizes: Sequence[int], tables: int, epsilon: float, tick: Callable[[int], None]) -> list[Result]:
    """Return what each way finds of the discoveries without privacy, and of what is real."""
    results: list[Result] = []
    for n in sizes:
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in WAYS}
        plain: list[int] = []
        for seed in range(tables):
            rng = np.random.default_rng([n, seed])
            people, real = invented(n, rng)
            known = CONTENDERS["not private"](people, epsilon, rng)
            plain.append(known.size)
            for name, way in WAYS.items():
                places = way(people, epsilon, rng)
                share = np.intersect1d(known, places).size / max(1, known.size)
                hits = int(np.count_nonzero(real[places]))
                false = (places.size - hits) / max(1, places.size)
                found[name].append((share, hits / int(real.sum()), false))
            tick(1)
        means = {name: np.mean(each, axis=0) for name, each in found.items()}
        share, power, false = ({name: float(mean[i]) for name, mean in means.items()} for i in range(3))
        results.append(Result(n, float(np.mean(plain)), share, power, false))
    return results


def needed(results: Sequence[Result], name: str) -> str:
    """Return about how many people find half of what is real, between the sizes that were tried."""
    power = [result.power[name] for result in results]
    for before, after, low, high in zip(results, results[1:], power, power[1:], strict=False):
        if low < _ENOUGH <= high:
            part = (_ENOUGH - low) / (high - low)
            people = before.people * (after.people / before.people) ** part
            return f"{float(f'{people:.2g}'):,.0f}"
    return f"fewer than {results[0].people:,}" if power[0] >= _ENOUGH else f"over {results[-1].people:,}"


def in_words(results: Sequence[Result], tables: int, epsilon: float) -> str:
    """Return the shares by the number of people, and how many people it takes."""
    m = _NUMBERS + _ANSWERS
    title = (
        f"An invented table: {_NUMBERS} numbers, {_ANSWERS} yes/no answers, {_MISSING:.0%} missing, "
        f"{m // 2} real effects of {_SIZES[0]:g} to {_SIZES[1]:g} standard deviations.\n"
        "The share found of the discoveries of BH without privacy, and how many people find half of what is "
        f"real;\nepsilon = {epsilon:g}, delta = {DELTA:g}, q = {Q:g}, groups protected; means of {tables} "
        "tables of each size."
    )
    rows = [
        [f"{result.people:,}", f"{result.plain:.1f}", *(f"{result.share[name]:.2f}" for name in WAYS)]
        for result in results
    ]
    rows.append(["half of what is real", "", *(needed(results, name) for name in WAYS)])
    false = {name: float(np.mean([result.false[name] for result in results])) for name in WAYS}
    rows.append(["false, on average", "", *(f"{false[name]:.2f}" for name in WAYS)])
    return f"{title}\n\n{table(['people', 'without privacy', *WAYS], rows)}"
