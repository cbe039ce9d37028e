"""`discreet bench people --panels`: telling variants by rows against scores, by their number."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.api import release
from discreet.evidence.carriers import Carriers
from discreet.evidence.core.people import People, Question
from discreet.lab.bench.contenders import ours
from discreet.lab.bench.kinds import noncentrality, sizes
from discreet.lab.bench.moments import DELTA, Q
from discreet.lab.bench.rates import power_and_fdp
from discreet.report.text_table import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SETTINGS = ((100, 5), (100, 30), (500, 5), (500, 25), (500, 150), (2_000, 5), (2_000, 40))
"""Variants, and how many of them are real."""
PEOPLE = (3_000, 10_000)
_FREQUENCY, _STRENGTH, _EPSILON = 0.25, 1.8, 1.0

Powers = dict[tuple[int, int, int], tuple[float, float]]


def run(studies: int, tick: Callable[[int], None]) -> Powers:
    """Return the mean power by rows and by scores for each number of variants, real ones and people."""
    powers: Powers = {}
    for (m, signals), n in product(SETTINGS, PEOPLE):
        shares: list[tuple[float, float]] = []
        for seed in range(studies):
            people = _people(m, signals, n, np.random.default_rng([seed, m, n]))
            places = ours(people, _EPSILON), _scored(people)
            shares.append((power_and_fdp(places[0], signals)[0], power_and_fdp(places[1], signals)[0]))
        by_rows, by_scores = np.mean(shares, axis=0).tolist()
        powers[m, signals, n] = by_rows, by_scores
        tick(1)
    return powers


def _people(m: int, signals: int, n: int, rng: np.random.Generator) -> People:
    """Return people, about half of them cases, whose first variants differ in frequency."""
    group = (rng.random(n) < 0.5).astype(np.int8)
    difference = np.zeros(m)
    unit = np.sqrt(2 * _FREQUENCY * (1 - _FREQUENCY) / n)
    difference[:signals] = _STRENGTH * noncentrality(m, signals) * unit * sizes(signals, rng)
    rate = np.clip(_FREQUENCY + np.outer(group - 0.5, difference), 0, 1)
    values = rng.binomial(2, rate).astype(np.float32)
    names = tuple(map(str, range(m)))
    questions = tuple(
        Question(name, slice(i, i + 1), answers=False, bounds=None) for i, name in enumerate(names)
    )
    return People(names, questions, "two-sided", "everything", values, group)


def _scored(people: People) -> NDArray[np.int64]:
    """Return the discoveries by scores of carriers."""
    counts = Carriers().start(people.names)
    for group, alleles in product((0, 1), (0, 1, 2)):
        counts.counts[0, group, alleles] = (people.values[people.group == group] == alleles).sum(axis=0)
    counts.members[0] = np.bincount(people.group, minlength=2)
    counts.slots[0] = people.rows
    return release(counts.finish(), q=Q, epsilon=_EPSILON, delta=DELTA, method="aware").indices


def in_words(powers: Powers, studies: int) -> str:
    """Return the table of power, rows beside scores."""
    rows = [
        [f"{m:,}", f"{signals}", f"{n:,}", f"{by_rows:.2f}", f"{by_scores:.2f}"]
        for (m, signals, n), (by_rows, by_scores) in powers.items()
    ]
    title = (
        f"Power on allele counts of frequency {_FREQUENCY:g}, half cases, both protected, epsilon = "
        f"{_EPSILON:g}, q = {Q:g}; {studies} studies each"
    )
    return f"{title}\n\n{table(['variants', 'real', 'people', 'by rows', 'by scores'], rows)}"
