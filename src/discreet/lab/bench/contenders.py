"""Who is compared on raw data: this library in several ways, noise on all by hand, and BH without privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.api import release
from discreet.evidence.core.evidence import Evidence
from discreet.evidence.rank_sum import RankSum
from discreet.evidence.two_by_two import TwoByTwo
from discreet.lab.bench.moments import DELTA, Q, bounds_of, not_private
from discreet.lab.bench.rival import by_hand
from discreet.measure import measure

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.evidence.core.people import People


def ours(people: People, epsilon: float, **options: Any) -> NDArray[np.int64]:
    """Return our discoveries."""
    return aware(people, epsilon, **options)


def aware(people: People, epsilon: float, **options: Any) -> NDArray[np.int64]:
    """Return the discoveries of noise-aware BH: rank sums of numbers, 2x2 tables of answers."""
    return release(_scores(people), q=Q, epsilon=epsilon, delta=DELTA, **options).indices


def _scores(people: People) -> Evidence:
    """Return the scores of all columns under the larger of the two certificates."""
    answers = bounds_of(people)[2]
    parts: list[tuple[NDArray[np.intp], Evidence]] = []
    for test, places in ((RankSum, np.flatnonzero(~answers)), (TwoByTwo, np.flatnonzero(answers))):
        if places.size:
            table = np.column_stack([people.values[:, places], people.group])
            parts.append((places, measure(table, test(group=str(places.size)))))
    score = np.empty(len(people))
    for places, evidence in parts:
        score[places] = evidence.score
    widest = max((evidence for _, evidence in parts), key=lambda evidence: evidence.certificate.sup)
    return Evidence(people.names, score, widest.null, widest.certificate)


def _without_bounds(people: People) -> People:
    return replace(people, questions=tuple(replace(one, bounds=None) for one in people.questions))


CONTENDERS: dict[str, Callable[[People, float, np.random.Generator], NDArray[np.int64]]] = {
    "us": lambda people, epsilon, _: ours(_without_bounds(people), epsilon),
    "us, bounds": lambda people, epsilon, _: ours(people, epsilon),
    "us, proved": lambda people, epsilon, _: ours(_without_bounds(people), epsilon, guarantee="proved"),
    "aware": lambda people, epsilon, _: aware(people, epsilon),
    "by hand": by_hand,
    "not private": lambda people, _, __: not_private(people),
}
"""How each finds discoveries in a table of people, at a given epsilon."""
