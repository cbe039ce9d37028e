"""Private synthetic data, then ordinary tests: what that does to the false discovery rate and to intervals.

An analyst tests every column of a synthetic table against the group by chi-square, applies BH, and takes
Wald's interval for each difference of shares, as if the people were real. Beside that: the people themselves,
noise on every count by hand, and ours, with the noise in p-values and intervals.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import chdtrc, ndtr, ndtri

from discreet.classical.step_up import step_up_positions
from discreet.lab.bench.contest import aim, packaged, synthetic
from discreet.lab.bench.contest.synthetic import DELTA, EPSILON, Q

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from discreet.lab.bench.contest.synthetic import Maker, Synthesizer

    Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
    Contender = Callable[[NDArray[np.int64], Generator], "Report"]

LEVEL = 0.05
_REACH = float(ndtri(1.0 - LEVEL / 2.0))


@dataclass(frozen=True, slots=True)
class Report:
    """Which columns are reported, the ends of 95% intervals for differences of shares, p-values if any."""

    reported: NDArray[np.bool_]
    ends: Ends
    p: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True)
class Marks:
    """Of every study: false share, real share found, share of intervals that hold the truth, seconds.

    And the share of the columns without a difference whose p-value is at most LEVEL.
    """

    false: NDArray[np.float64]
    power: NDArray[np.float64]
    coverage: NDArray[np.float64]
    seconds: NDArray[np.float64]
    level: NDArray[np.float64]


def ordinary(people: NDArray[np.int64]) -> Report:
    """Return what an analyst reports: chi-square for each column against the first, BH, Wald's intervals."""
    group, rest = people[:, 0] == 1, people[:, 1:]
    n, size = people.shape[0], int(group.sum())
    total, inside = rest.sum(axis=0), rest[group].sum(axis=0)
    spread = size * (n - size) / n * (total / n) * (1.0 - total / n)
    statistic = np.where(spread > 0, (inside - size * total / n) ** 2 / np.maximum(spread, 1e-12), 0.0)
    p = np.asarray(chdtrc(1, statistic))
    first, second = (total - inside) / max(n - size, 1), inside / max(size, 1)
    error = np.sqrt(first * (1.0 - first) / max(n - size, 1) + second * (1.0 - second) / max(size, 1))
    return Report(_rejected(p), _around(second - first, error), p)


def _rejected(p: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.isin(np.arange(p.size), step_up_positions(p, Q))


def _around(difference: NDArray[np.float64], error: NDArray[np.float64]) -> Ends:
    return difference - _REACH * error, difference + _REACH * error


def by_hand(people: NDArray[np.int64], rng: Generator) -> Report:
    """Return BH on z scores of counts with Gaussian noise: the group of each person is protected too.

    Intervals have the same standard error as z.
    """
    from discreet.evidence.core.people import People, Question
    from discreet.lab.bench import rival

    names = [f"c{j}" for j in range(people.shape[1] - 1)]
    questions = tuple(Question(name, slice(j, j + 1), True, None) for j, name in enumerate(names))
    values, group = people[:, 1:].astype(np.float64), people[:, 0].astype(np.int8)
    everyone = People(names, questions, "two-sided", "everything", values, group)
    difference, error = rival.differences(everyone, EPSILON, rng)
    p: NDArray[np.float64] = 2.0 * ndtr(-np.abs(difference / error))
    return Report(_rejected(p), _around(difference, error), p)


def ours(people: NDArray[np.int64]) -> Report:
    """Return the discoveries and intervals of `discover` by default, given which columns are yes/no."""
    import polars as pl

    from discreet.api import discover
    from discreet.evidence.compare import Compare

    columns = [f"c{j}" for j in range(people.shape[1] - 1)]
    frame = {"group": people[:, 0], **{c: people[:, 1 + j] == 1 for j, c in enumerate(columns)}}
    release = discover(pl.DataFrame(frame), Compare(group="group"), q=Q, epsilon=EPSILON, delta=DELTA)
    intervals: Any = release.confidence_interval()
    low, high = np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
    place = [columns.index(name) for name in intervals["hypothesis"]]
    low[place], high[place] = intervals["low"], intervals["high"]
    return Report(np.isin(columns, release.discoveries), (low, high))


def written() -> dict[str, Synthesizer]:
    """Return the synthesizers written from their papers."""
    return {
        "MST (written from the paper)": synthetic.synthesize,
        "AIM (written from the paper)": lambda people, rng: aim.synthesize(people, rng)[0],
    }


def contenders() -> dict[str, Contender]:
    """Return who takes part in every study: functions of people and chance."""
    return {
        "no privacy, BH": _tested(lambda people, _: people),
        "noise by hand, BH": by_hand,
        **{f"{name}, BH": _tested(synthesize) for name, synthesize in written().items()},
        "ours": lambda people, _: ours(people),
    }


def slow() -> dict[str, Contender]:
    """Return who takes part in the first few studies alone: a minute each."""
    return {f"{name}, BH": _tested(synthesize) for name, synthesize in packaged.synthesizers().items()}


def _tested(synthesize: Synthesizer) -> Contender:
    return lambda people, rng: ordinary(synthesize(people, rng))


def run(
    studies: int, seed: int, make: Maker, gap: float | None = None, packages: int = 0
) -> dict[str, Marks]:
    """Return everyone's marks on the same tables; `gap` is the difference of shares in real columns.

    The synthesizers of packages take part in the first `packages` studies.
    """
    everyone, few = contenders(), slow() if packages else {}
    marks = {name: Marks(*np.full((5, studies), np.nan)) for name in everyone | few}
    for i in range(studies):
        rng = np.random.default_rng([seed, i])
        people, real = make(rng)
        for name, contender in (everyone | (few if i < packages else {})).items():
            mark = marks[name]
            start = time.process_time()
            report = contender(people, rng)
            mark.seconds[i] = time.process_time() - start
            mark.false[i] = (report.reported & ~real).sum() / max(1, report.reported.sum())
            mark.power[i] = report.reported[real].mean() if real.any() else np.nan
            if report.p is not None:
                mark.level[i] = np.mean(report.p[~real] <= LEVEL)
            if gap is not None:
                truth = np.where(real, gap, 0.0)
                mark.coverage[i] = np.mean((report.ends[0] <= truth) & (truth <= report.ends[1]))
    return marks
